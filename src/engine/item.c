/* item.c - what the fields of an item mean, shape by shape. */
#include <riffle/item.h>

int rf_shape_has_tuples(unsigned shape)
{
    return shape == RF_SHAPE_TUPLE || shape == RF_SHAPE_STREAM;
}

uint64_t rf_stream_place(uint32_t length, uint32_t position)
{
    return (uint64_t)length << 32 | position;
}

uint32_t rf_stream_length(const struct rf_item *item)
{
    return (uint32_t)(item->b_hi >> 32);
}

uint32_t rf_stream_position(const struct rf_item *item)
{
    return (uint32_t)item->b_hi;
}
