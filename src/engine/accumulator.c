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

/* So many that half of the words stay empty. */
static size_t buckets_for(size_t slots)
{
    return (2 * slots + RF_ACCUMULATOR_BUCKET - 1) / RF_ACCUMULATOR_BUCKET;
}

static size_t index_words(size_t slots)
{
    return buckets_for(slots) * RF_ACCUMULATOR_BUCKET;
}

static size_t round_up(size_t bytes)
{
    return (bytes + 15) & ~(size_t)15;
}

size_t rf_accumulator_size(size_t slots)
{
    return index_words(slots) * sizeof(uint16_t) + (slots + 1) * sizeof(struct rf_tuple) +
           2 * round_up((slots + 1) * sizeof(uint32_t));
}

void rf_accumulator_place(struct rf_accumulator *accumulator, size_t slots, void *block)
{
    char *p = block;
    accumulator->slots = (uint32_t)slots;
    accumulator->used = 0;
    accumulator->tag_low = (uint16_t)(1u << bits_for(slots + 1));
    accumulator->slot_mask = (uint16_t)(accumulator->tag_low - 1);
    accumulator->buckets = (uint32_t)buckets_for(slots);
    accumulator->index = (uint16_t *)(void *)p;
    p += index_words(slots) * sizeof(uint16_t);
    accumulator->tuples = (struct rf_tuple *)(void *)p;
    p += (slots + 1) * sizeof(struct rf_tuple);
    accumulator->counts = (uint32_t *)(void *)p;
    p += round_up((slots + 1) * sizeof(uint32_t));
    accumulator->doubts = (uint32_t *)(void *)p;
}

static size_t home(const struct rf_accumulator *accumulator, uint64_t hash)
{
    return rf_accumulator_bucket(accumulator->buckets, hash) / sizeof(uint16_t);
}

static uint16_t tag_of(const struct rf_accumulator *accumulator, uint64_t hash)
{
    return rf_accumulator_tag(0xffffu ^ accumulator->slot_mask, accumulator->tag_low, hash);
}

/* The word behind another, around the end. */
static size_t behind(const struct rf_accumulator *accumulator, size_t at)
{
    return at + 1 < index_words(accumulator->slots) ? at + 1 : 0;
}

static bool is_tuple(const struct rf_tuple *u, struct rf_tuple t)
{
    return u->a == t.a && u->b == t.b;
}

uint32_t rf_accumulator_search(const struct rf_accumulator *accumulator, struct rf_tuple t,
                               uint64_t hash)
{
    uint16_t tag = tag_of(accumulator, hash);
    for (size_t at = home(accumulator, hash);; at = behind(accumulator, at)) {
        uint16_t word = accumulator->index[at];
        uint32_t slot = word & accumulator->slot_mask;
        if (word == 0)
            return RF_ACCUMULATOR_ABSENT;
        if ((word ^ slot) == tag && is_tuple(&accumulator->tuples[slot], t))
            return slot;
    }
}

void rf_accumulator_enter(struct rf_accumulator *accumulator, uint32_t slot, uint64_t hash)
{
    size_t at = home(accumulator, hash);
    while (accumulator->index[at] != 0)
        at = behind(accumulator, at);
    accumulator->index[at] = (uint16_t)(tag_of(accumulator, hash) | slot);
}

bool rf_accumulator_leave(struct rf_accumulator *accumulator, uint32_t slot, uint64_t hash)
{
    size_t at = home(accumulator, hash);
    uint16_t word = (uint16_t)(tag_of(accumulator, hash) | slot);
    while (accumulator->index[at] != word)
        at = behind(accumulator, at);
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
    for (uint32_t slot = 1; slot <= accumulator->used; slot++)
        rf_accumulator_enter(accumulator, slot, hash(context, accumulator->tuples[slot]));
}
