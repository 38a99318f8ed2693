/* accumulator.c - the index behind a fully associative table. accumulator.h has the picture.
 *
 * The words of a bucket are filled from the front and stay packed, so its last word tells whether it
 * is full. Only when a tuple leaves a full bucket can the chain behind it be broken. */
#include "engine/accumulator.h"

static unsigned bits_for(size_t values)
{
    unsigned bits = 1;
    while (((size_t)1 << bits) < values)
        bits++;
    return bits;
}

static unsigned bucket_bits(size_t slots)
{
    return bits_for((2 * slots + RF_ACCUMULATOR_BUCKET - 1) / RF_ACCUMULATOR_BUCKET);
}

static size_t index_words(size_t slots)
{
    return (size_t)RF_ACCUMULATOR_BUCKET << bucket_bits(slots);
}

static size_t round_up(size_t bytes)
{
    return (bytes + 15) & ~(size_t)15;
}

size_t rf_accumulator_size(size_t slots)
{
    return round_up(index_words(slots) * sizeof(uint16_t)) + (slots + 1) * sizeof(struct rf_tuple) +
           2 * round_up((slots + 1) * sizeof(uint32_t));
}

void rf_accumulator_place(struct rf_accumulator *accumulator, size_t slots, void *block)
{
    char *p = block;
    accumulator->slots = (uint32_t)slots;
    accumulator->used = 0;
    accumulator->slot_bits = bits_for(slots + 1);
    accumulator->bucket_bits = bucket_bits(slots);
    accumulator->index = (uint16_t *)(void *)p;
    p += round_up(index_words(slots) * sizeof(uint16_t));
    accumulator->tuples = (struct rf_tuple *)(void *)p;
    p += (slots + 1) * sizeof(struct rf_tuple);
    accumulator->counts = (uint32_t *)(void *)p;
    p += round_up((slots + 1) * sizeof(uint32_t));
    accumulator->doubts = (uint32_t *)(void *)p;
}

void rf_accumulator_enter(struct rf_accumulator *accumulator, uint32_t slot, uint64_t hash)
{
    size_t mask = index_words(accumulator->slots) - 1;
    size_t at = rf_accumulator_bucket(accumulator, hash);
    while (accumulator->index[at] != 0)
        at = (at + 1) & mask;
    accumulator->index[at] = (uint16_t)(rf_accumulator_tag(accumulator, hash) | slot);
}

bool rf_accumulator_leave(struct rf_accumulator *accumulator, uint32_t slot, uint64_t hash)
{
    size_t words = index_words(accumulator->slots);
    size_t at = rf_accumulator_bucket(accumulator, hash);
    uint16_t word = (uint16_t)(rf_accumulator_tag(accumulator, hash) | slot);
    while (accumulator->index[at] != word)
        at = (at + 1) & (words - 1);
    size_t last = at | (RF_ACCUMULATOR_BUCKET - 1);
    if (accumulator->index[last] != 0)
        return false;
    while (accumulator->index[last] == 0)
        last--;
    accumulator->index[at] = accumulator->index[last];
    accumulator->index[last] = 0;
    return true;
}

void rf_accumulator_reindex(struct rf_accumulator *accumulator,
                            uint64_t (*hash)(const void *context, struct rf_tuple tuple),
                            const void *context)
{
    memset(accumulator->index, 0, index_words(accumulator->slots) * sizeof(uint16_t));
    for (uint32_t i = 0; i < accumulator->used; i++)
        rf_accumulator_enter(accumulator, i, hash(context, accumulator->tuples[i]));
}
