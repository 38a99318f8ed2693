/* stratum.h - from a tuple to the substream that it belongs to.
 *
 * Two functions. `paper` is the one of Sastry et al., section 3.5 (base/hash.h). `mix` is
 *
 *     (a * K1 + b * K2) mod 2^64, the topmost bits of it
 *
 * with K1, K2 odd and drawn from the seed: two multiplications, which vector units do for eight tuples
 * at once. Both are done for whole batches by whatever the processor has; every way gives the same
 * numbers (a test holds them against each other). */
#ifndef RF_ENGINE_STRATUM_H
#define RF_ENGINE_STRATUM_H

#include <stddef.h>
#include <riffle/event.h>
#include "base/hash.h"

enum rf_stratum_kind { RF_STRATUM_MIX, RF_STRATUM_PAPER };

typedef void rf_stratum_tags(const struct rf_tuple *tuples, size_t n, unsigned bits,
                             uint64_t *tags);

struct rf_stratum {
    enum rf_stratum_kind kind;
    unsigned bits; /* 1..24 of the result */
    uint64_t multiply_a, multiply_b;
    const struct rf_hash_paper *paper;
    void (*batch)(const struct rf_stratum *stratum, const struct rf_tuple *tuples, size_t n,
                  uint32_t *index);
    rf_stratum_tags *tags; /* section 4.1: xorfold(a ^ b, bits) of n tuples, bits 1..32 */
};

/* `paper` is the caller's memory, filled in here; only used for RF_STRATUM_PAPER. */
void rf_stratum_init(struct rf_stratum *stratum, enum rf_stratum_kind kind, unsigned bits,
                     uint64_t seed, struct rf_hash_paper *paper);

static inline uint32_t rf_stratum_of(const struct rf_stratum *stratum, struct rf_tuple t)
{
    if (stratum->kind == RF_STRATUM_PAPER)
        return rf_hash_paper(stratum->paper, t);
    uint64_t h = t.a * stratum->multiply_a + t.b * stratum->multiply_b;
    return (uint32_t)(h >> (64 - stratum->bits));
}

/* The ways to do a batch that this processor has, portable first; NULL past the last. For tests. */
struct rf_stratum_way {
    const char *name;
    enum rf_stratum_kind kind;
    void (*batch)(const struct rf_stratum *stratum, const struct rf_tuple *tuples, size_t n,
                  uint32_t *index);
};
const struct rf_stratum_way *rf_stratum_way(size_t i);
rf_stratum_tags *rf_stratum_tags_way(size_t i); /* likewise */

#endif
