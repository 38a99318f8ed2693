/* accumulator.h - a fully associative table of tuples with counts, as a dense list and an index.
 *
 *     hash -> bucket of 8 words [tag|slot] ...        tuples[slot]  counts[slot]  doubts[slot]  since[slot]
 *             compare all 8 tags at once
 *             no match: next bucket if this one is full, else absent
 *
 * The list is what hardware would have as an associative memory; the index finds a slot in it in a few
 * instructions. A word has 16 bits: the number of the slot below, a tag of the hash above. An empty word is 0
 * (no tuple has slot 0). Most absent tuples are recognised by their tag, without touching the list. At least
 * half of the words are always empty.
 *
 * Slots 1 .. used are taken, in the order in which they came. Slot 0 is a dummy: what find hands out
 * for an absent tuple, so that a count can be added without a branch. */
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
    RF_ACCUMULATOR_ABSENT = 0,
};

_Static_assert((RF_ACCUMULATOR_SLOTS_MAX + 1) << 2 == 1 << 16,
               "a word has 16 bits, two of them tag");

struct rf_accumulator {
    uint16_t *index;
    struct rf_tuple *tuples; /* slots + 1 */
    uint32_t *counts;        /* slots + 1 */
    uint32_t *doubts;        /* slots + 1; the caller's, kept with the tuple */
    uint8_t *since;          /* slots + 1; as doubts */
    uint32_t buckets;
    uint16_t slot_mask; /* of a word; the rest is the tag */
    uint32_t slots, used;
};

/* Bytes that `slots` slots want, and their place in a block of as many, aligned to 16. */
size_t rf_accumulator_size(size_t slots);
void rf_accumulator_place(struct rf_accumulator *accumulator, size_t slots, void *block);

/* The hash that a tuple is found by; `context` is the caller's. */
typedef uint64_t rf_accumulator_hash(const void *context, struct rf_tuple tuple);

/* The list was changed as a whole: make the index anew. False: it is crowded, and not complete. */
bool rf_accumulator_reindex(struct rf_accumulator *accumulator, rf_accumulator_hash *hash,
                            const void *context);

/* Put the tuple of a slot into the index. False: so far from where its hash says that this is no chance, and
 * whoever made the tuples knew the hash. Find them by another. */
bool rf_accumulator_enter(struct rf_accumulator *accumulator, uint32_t slot, uint64_t hash);

/* Take it out; it is still in its slot. */
void rf_accumulator_leave(struct rf_accumulator *accumulator, uint32_t slot,
                          rf_accumulator_hash *hash, const void *context);

/* Keeps the compiler from turning what was computed without a branch into one. */
#define RF_OPAQUE(x) __asm__("" : "+r"(x))

/* Where the bucket of a hash begins, in bytes, and the tag: the upper and the lower half of it. */
static inline size_t rf_accumulator_bucket(uint32_t buckets, uint64_t hash)
{
    return (size_t)((hash >> 32) * buckets >> 32) * (RF_ACCUMULATOR_BUCKET * sizeof(uint16_t));
}

static inline uint16_t rf_accumulator_tag(uint32_t tag_mask, uint64_t hash)
{
    return (uint16_t)((uint32_t)hash >> 16 & tag_mask);
}

/* Two bits for each word of the bucket that has the tag. */
static inline uint32_t rf_accumulator_match_plain(const uint16_t *bucket, uint16_t tag,
                                                  uint16_t tag_mask)
{
    uint32_t match = 0;
    for (unsigned i = 0; i < RF_ACCUMULATOR_BUCKET; i++)
        match |= (uint32_t)((bucket[i] & tag_mask) == tag) * 3u << 2 * i;
    return match;
}

static inline uint32_t rf_accumulator_match(const uint16_t *bucket, uint16_t tag, uint16_t tag_mask)
{
#ifdef __SSE2__
    __m128i words;
    memcpy(&words, bucket, sizeof words);
    words = _mm_and_si128(_mm_set1_epi16((short)tag_mask), words);
    return (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi16(words, _mm_set1_epi16((short)tag)));
#else
    return rf_accumulator_match_plain(bucket, tag, tag_mask);
#endif
}

/* What finding reads, by value, so that a loop can keep it in registers. */
struct rf_accumulator_view {
    const char *index;
    const struct rf_tuple *tuples;
    uint32_t buckets, tag_mask;
};

static inline struct rf_accumulator_view
rf_accumulator_view(const struct rf_accumulator *accumulator)
{
    return (struct rf_accumulator_view){(const char *)accumulator->index, accumulator->tuples,
                                        accumulator->buckets, 0xffffu ^ accumulator->slot_mask};
}

/* The whole search, bucket by bucket. */
uint32_t rf_accumulator_search(const struct rf_accumulator *accumulator, struct rf_tuple t,
                               uint64_t hash);

/* The slot of the tuple, or RF_ACCUMULATOR_ABSENT. Without a branch that depends on the answer, but
 * for the rare case that the first word with this tag is another's or the bucket is full. Where no
 * word has the tag, the last one is looked at; like an empty one whose 0 is the tag it is the dummy's. */
static inline uint32_t rf_accumulator_find_by(struct rf_accumulator_view view,
                                              const struct rf_accumulator *accumulator,
                                              struct rf_tuple t, uint64_t hash)
{
    uint16_t tag = rf_accumulator_tag(view.tag_mask, hash);
    const char *bucket = view.index + rf_accumulator_bucket(view.buckets, hash);
    uint32_t match =
        rf_accumulator_match((const uint16_t *)(const void *)bucket, tag, (uint16_t)view.tag_mask);
    uint16_t word, last;
    memcpy(&word, bucket + (unsigned)__builtin_ctz(match | 0x4000u), sizeof word);
    memcpy(&last, bucket + 14, sizeof last);
    size_t slot = word & ~view.tag_mask;
    const struct rf_tuple *u = &view.tuples[slot];
    uint32_t is = ((u->a ^ t.a) | (u->b ^ t.b)) == 0;
    RF_OPAQUE(is);
    uint32_t doubt = ((uint32_t)slot | last) & (is - 1);
    if (__builtin_expect(doubt != 0, 0))
        return rf_accumulator_search(accumulator, t, hash);
    return (uint32_t)slot & (0 - is);
}

static inline uint32_t rf_accumulator_find(const struct rf_accumulator *accumulator,
                                           struct rf_tuple t, uint64_t hash)
{
    return rf_accumulator_find_by(rf_accumulator_view(accumulator), accumulator, t, hash);
}

#endif
