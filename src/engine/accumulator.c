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

/* A power of two of buckets, so that half of the words stay empty. */
static size_t index_bytes(size_t slots)
{
    size_t buckets = (2 * slots + RF_ACCUMULATOR_BUCKET - 1) / RF_ACCUMULATOR_BUCKET;
    return (RF_ACCUMULATOR_BUCKET * sizeof(uint16_t)) << bits_for(buckets);
}

static size_t index_words(const struct rf_accumulator *accumulator)
{
    return index_bytes(accumulator->slots) / sizeof(uint16_t);
}

static size_t round_up(size_t bytes)
{
    return (bytes + 15) & ~(size_t)15;
}

size_t rf_accumulator_size(size_t slots)
{
    return index_bytes(slots) + (slots + 1) * sizeof(struct rf_tuple) +
           2 * round_up((slots + 1) * sizeof(uint32_t));
}

void rf_accumulator_place(struct rf_accumulator *accumulator, size_t slots, void *block)
{
    char *p = block;
    size_t bucket_bytes = RF_ACCUMULATOR_BUCKET * sizeof(uint16_t);
    accumulator->slots = (uint32_t)slots;
    accumulator->used = 0;
    accumulator->tag_low = (uint16_t)(1u << bits_for(slots + 1));
    accumulator->slot_mask = (uint16_t)(accumulator->tag_low - 1);
    accumulator->bucket_mask = (uint32_t)(index_bytes(slots) - bucket_bytes);
    accumulator->index = (uint16_t *)(void *)p;
    p += index_bytes(slots);
    accumulator->tuples = (struct rf_tuple *)(void *)p;
    p += (slots + 1) * sizeof(struct rf_tuple);
    accumulator->counts = (uint32_t *)(void *)p;
    p += round_up((slots + 1) * sizeof(uint32_t));
    accumulator->doubts = (uint32_t *)(void *)p;
}

static size_t home(const struct rf_accumulator *accumulator, uint64_t hash)
{
    return rf_accumulator_bucket(accumulator, hash) / sizeof(uint16_t);
}

static bool is_tuple(const struct rf_tuple *u, struct rf_tuple t)
{
    return u->a == t.a && u->b == t.b;
}

uint32_t rf_accumulator_search(const struct rf_accumulator *accumulator, struct rf_tuple t,
                               uint64_t hash)
{
    uint16_t tag = rf_accumulator_tag(accumulator, hash);
    size_t mask = index_words(accumulator) - 1;
    for (size_t at = home(accumulator, hash);; at = (at + RF_ACCUMULATOR_BUCKET) & mask) {
        const uint16_t *bucket = accumulator->index + at;
        for (unsigned i = 0; i < RF_ACCUMULATOR_BUCKET; i++) {
            uint32_t slot = bucket[i] & accumulator->slot_mask;
            if (bucket[i] == 0)
                return RF_ACCUMULATOR_ABSENT;
            if ((bucket[i] & ~accumulator->slot_mask & 0xffff) == tag &&
                is_tuple(&accumulator->tuples[slot], t))
                return slot;
        }
    }
}

void rf_accumulator_enter(struct rf_accumulator *accumulator, uint32_t slot, uint64_t hash)
{
    size_t mask = index_words(accumulator) - 1;
    size_t at = home(accumulator, hash);
    while (accumulator->index[at] != 0)
        at = (at + 1) & mask;
    accumulator->index[at] = (uint16_t)(rf_accumulator_tag(accumulator, hash) | slot);
}

bool rf_accumulator_leave(struct rf_accumulator *accumulator, uint32_t slot, uint64_t hash)
{
    size_t mask = index_words(accumulator) - 1;
    size_t at = home(accumulator, hash);
    uint16_t word = (uint16_t)(rf_accumulator_tag(accumulator, hash) | slot);
    while (accumulator->index[at] != word)
        at = (at + 1) & mask;
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
    memset(accumulator->index, 0, index_bytes(accumulator->slots));
    for (uint32_t slot = 1; slot <= accumulator->used; slot++)
        rf_accumulator_enter(accumulator, slot, hash(context, accumulator->tuples[slot]));
}
