/* accumulator.c - the index behind a fully associative table. accumulator.h has the picture.
 *
 * Words are probed linearly: from the front of the home bucket on, across the end of a bucket where it is
 * full, around the end of the index. Invariant: no word between the front of a word's home and the word itself
 * is empty. So the empty words of a bucket come last, its last word tells whether it is full, and a tuple is
 * absent if a bucket with an empty word does not have it. Where a word leaves, the words behind it move up
 * one after the other, but none moves in front of its home. */
#include "engine/multihash/accumulator.h"

static unsigned bits_for(size_t values)
{
    unsigned bits = 1;
    while (((size_t)1 << bits) < values)
        bits++;
    return bits;
}

/* Enough to keep half of the words empty. */
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
           2 * round_up((slots + 1) * sizeof(uint32_t)) + round_up(slots + 1);
}

void rf_accumulator_place(struct rf_accumulator *accumulator, size_t slots, void *block)
{
    char *p = block;
    accumulator->slots = (uint32_t)slots;
    accumulator->used = 0;
    accumulator->slot_mask = (uint16_t)((1u << bits_for(slots + 1)) - 1);
    accumulator->buckets = (uint32_t)buckets_for(slots);
    accumulator->index = (uint16_t *)(void *)p;
    p += index_words(slots) * sizeof(uint16_t);
    accumulator->tuples = (struct rf_tuple *)(void *)p;
    p += (slots + 1) * sizeof(struct rf_tuple);
    accumulator->counts = (uint32_t *)(void *)p;
    p += round_up((slots + 1) * sizeof(uint32_t));
    accumulator->doubts = (uint32_t *)(void *)p;
    p += round_up((slots + 1) * sizeof(uint32_t));
    accumulator->since = (uint8_t *)(void *)p;
}

static size_t home(const struct rf_accumulator *accumulator, uint64_t hash)
{
    return rf_accumulator_bucket(accumulator->buckets, hash) / sizeof(uint16_t);
}

static uint16_t tag_of(const struct rf_accumulator *accumulator, uint64_t hash)
{
    return rf_accumulator_tag(0xffffu ^ accumulator->slot_mask, hash);
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
    uint16_t tag = tag_of(accumulator, hash), tag_mask = 0xffffu ^ accumulator->slot_mask;
    size_t at = home(accumulator, hash);
    for (;;) {
        const uint16_t *bucket = &accumulator->index[at];
        uint32_t match = rf_accumulator_match(bucket, tag, tag_mask);
        for (; match != 0; match &= match - 1) {
            uint32_t slot = bucket[__builtin_ctz(match) / 2] & accumulator->slot_mask;
            if (slot != RF_ACCUMULATOR_ABSENT && is_tuple(&accumulator->tuples[slot], t))
                return slot;
            match &= match - 1;
        }
        if (bucket[RF_ACCUMULATOR_BUCKET - 1] == 0)
            return RF_ACCUMULATOR_ABSENT;
        at = behind(accumulator, at + RF_ACCUMULATOR_BUCKET - 1);
    }
}

/* Half of the words are empty. A random hash fills 128 words in a row with a probability of 2e-11 (Chernoff's
 * bound, for twice the mean of 64). */
enum { CROWDED = 128 };

bool rf_accumulator_enter(struct rf_accumulator *accumulator, uint32_t slot, uint64_t hash)
{
    size_t at = home(accumulator, hash), passed = 0;
    for (; accumulator->index[at] != 0; passed++)
        at = behind(accumulator, at);
    accumulator->index[at] = (uint16_t)(tag_of(accumulator, hash) | slot);
    return passed < CROWDED;
}

static size_t home_of_word(const struct rf_accumulator *accumulator, uint16_t word,
                           rf_accumulator_hash *hash, const void *context)
{
    return home(accumulator, hash(context, accumulator->tuples[word & accumulator->slot_mask]));
}

/* The words behind a gap move up. A word whose home lies between the gap and itself stays; words behind it may
 * still move. */
static void close_gap(struct rf_accumulator *accumulator, size_t gap, rf_accumulator_hash *hash,
                      const void *context)
{
    uint16_t *index = accumulator->index;
    size_t words = index_words(accumulator->slots);
    for (size_t at = behind(accumulator, gap); index[at] != 0; at = behind(accumulator, at)) {
        size_t from = home_of_word(accumulator, index[at], hash, context);
        /* NOLINTNEXTLINE(clang-analyzer-core.DivideZero): there is at least one bucket of words */
        size_t way = (at + words - from) % words, way_to_gap = (at + words - gap) % words;
        if (way < way_to_gap)
            continue;
        index[gap] = index[at];
        gap = at;
    }
    index[gap] = 0;
}

void rf_accumulator_leave(struct rf_accumulator *accumulator, uint32_t slot,
                          rf_accumulator_hash *hash, const void *context)
{
    uint64_t own = hash(context, accumulator->tuples[slot]);
    size_t at = home(accumulator, own);
    uint16_t word = (uint16_t)(tag_of(accumulator, own) | slot);
    while (accumulator->index[at] != word)
        at = behind(accumulator, at);
    close_gap(accumulator, at, hash, context);
}

bool rf_accumulator_reindex(struct rf_accumulator *accumulator, rf_accumulator_hash *hash,
                            const void *context)
{
    memset(accumulator->index, 0, index_words(accumulator->slots) * sizeof(uint16_t));
    for (uint32_t slot = 1; slot <= accumulator->used; slot++)
        if (!rf_accumulator_enter(accumulator, slot, hash(context, accumulator->tuples[slot])))
            return false;
    return true;
}
