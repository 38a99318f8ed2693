/* accumulator.h - a fully associative table of tuples with counts, as a dense list and an index.
 *
 *     hash -> bucket of 8 words [tag|slot] ...        tuples[slot]  counts[slot]  doubts[slot]
 *             compare all 8 tags at once
 *             no match: next bucket if this one is full, else absent
 *
 * The list is what hardware would have as an associative memory; the index finds a slot in it in a few
 * instructions. A word is 16 bits: the slot's number below, a tag of the hash above, 0 where empty,
 * so that a tuple that is absent is told without touching the list, mostly. Half of the words or
 * more are always empty.
 *
 * Slots 0 .. used-1 are taken, in the order in which they came. Slot number `slots` is a dummy: what
 * find hands out for an absent tuple, so that a count can be added without a branch. */
#ifndef RF_ENGINE_ACCUMULATOR_H
#define RF_ENGINE_ACCUMULATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <riffle/event.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum {
    RF_ACCUMULATOR_BUCKET = 8,
    RF_ACCUMULATOR_SLOTS_MAX = (1 << 14) - 1, /* leaves two bits of tag */
};

struct rf_accumulator {
    uint16_t *index;
    struct rf_tuple *tuples; /* slots + 1 */
    uint32_t *counts;        /* slots + 1 */
    uint32_t *doubts;        /* the caller's, kept with the tuple */
    uint32_t slots, used;
    unsigned slot_bits;
    unsigned bucket_bits;
};

/* Bytes that `slots` slots want, and their place in a block of as many, aligned to 16. */
size_t rf_accumulator_size(size_t slots);
void rf_accumulator_place(struct rf_accumulator *accumulator, size_t slots, void *block);

/* The list was changed as a whole: make the index anew. `hash` is what find is called with. */
void rf_accumulator_reindex(struct rf_accumulator *accumulator,
                            uint64_t (*hash)(const void *context, struct rf_tuple tuple),
                            const void *context);

/* Put the tuple of a slot into the index. */
void rf_accumulator_enter(struct rf_accumulator *accumulator, uint32_t slot, uint64_t hash);

/* Take it out. False: its bucket was full, so that others may have been pushed on from there; the
 * caller must reindex. */
bool rf_accumulator_leave(struct rf_accumulator *accumulator, uint32_t slot, uint64_t hash);

static inline size_t rf_accumulator_bucket(const struct rf_accumulator *accumulator, uint64_t hash)
{
    return (size_t)(hash >> (64 - accumulator->bucket_bits)) * RF_ACCUMULATOR_BUCKET;
}

/* The tag in its place in a word; never 0. */
static inline uint16_t rf_accumulator_tag(const struct rf_accumulator *accumulator, uint64_t hash)
{
    uint32_t tag = (uint32_t)(hash >> 24) & 0xffffu >> accumulator->slot_bits;
    return (uint16_t)((tag + (tag == 0)) << accumulator->slot_bits);
}

/* One bit a word of the bucket, spread over 16: those whose tag is `tag`. */
static inline uint32_t rf_accumulator_match(const uint16_t *bucket, uint16_t tag, uint16_t tag_mask)
{
#ifdef __SSE2__
    __m128i words;
    memcpy(&words, bucket, sizeof words);
    words = _mm_and_si128(words, _mm_set1_epi16((short)tag_mask));
    return (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi16(words, _mm_set1_epi16((short)tag)));
#else
    uint32_t mask = 0;
    for (unsigned i = 0; i < RF_ACCUMULATOR_BUCKET; i++)
        mask |= (uint32_t)((bucket[i] & tag_mask) == tag) * 3u << 2 * i;
    return mask;
#endif
}

static inline bool rf_accumulator_is(const struct rf_accumulator *accumulator, uint32_t slot,
                                     struct rf_tuple t)
{
    const struct rf_tuple *u = &accumulator->tuples[slot];
    return ((u->a ^ t.a) | (u->b ^ t.b)) == 0;
}

/* The slot of the tuple, or `slots`. */
static inline uint32_t rf_accumulator_find(const struct rf_accumulator *accumulator,
                                           struct rf_tuple t, uint64_t hash)
{
    uint16_t tag = rf_accumulator_tag(accumulator, hash);
    uint16_t tag_mask = (uint16_t)(0xffffu << accumulator->slot_bits);
    size_t words = (size_t)RF_ACCUMULATOR_BUCKET << accumulator->bucket_bits;
    size_t at = rf_accumulator_bucket(accumulator, hash);
    for (;;) {
        const uint16_t *bucket = accumulator->index + at;
        uint32_t match = rf_accumulator_match(bucket, tag, tag_mask);
        for (; match != 0; match &= match - 1, match &= match - 1) {
            uint32_t slot = bucket[__builtin_ctz(match) / 2] & ~(uint32_t)tag_mask & 0xffffu;
            if (__builtin_expect(rf_accumulator_is(accumulator, slot, t), 1))
                return slot;
        }
        if (__builtin_expect(bucket[RF_ACCUMULATOR_BUCKET - 1] == 0, 1))
            return accumulator->slots;
        at = (at + RF_ACCUMULATOR_BUCKET) & (words - 1);
    }
}

#endif
