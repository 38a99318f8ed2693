/* accumulator_batch.h - which tuples of a batch an accumulator has, told of all of them at once.
 *
 *     tuples    t0  t1  t2  t3  t4
 *     slot       7   0   7   3   0           0 where it is absent
 *     found      7   7   3                   the slots alone: what is to be counted
 *     absent     1   4                       numbers of tuples: what is still to be done
 *     hash      h1  h4                       of the absent ones
 *
 * Tuples are found by rf_hash_multiply with the key. Every way gives the same. */
#ifndef RF_ENGINE_ACCUMULATOR_BATCH_H
#define RF_ENGINE_ACCUMULATOR_BATCH_H

#include "base/hash.h"
#include "engine/multihash/accumulator.h"

enum {
    RF_ACCUMULATOR_BATCH = 128,
    RF_ACCUMULATOR_SPARE = 32, /* lists are written up to 32 at a time, past their ends */
};

_Static_assert(RF_ACCUMULATOR_BATCH % 64 == 0, "doubts are kept in words of 64 bits");

struct rf_accumulator_batch {
    uint64_t hash[RF_ACCUMULATOR_BATCH + RF_ACCUMULATOR_SPARE];
    uint16_t slot[RF_ACCUMULATOR_BATCH];
    uint16_t found[RF_ACCUMULATOR_BATCH + RF_ACCUMULATOR_SPARE];
    uint16_t absent[RF_ACCUMULATOR_BATCH + RF_ACCUMULATOR_SPARE];
    size_t n_found, n_absent;
};

/* At most RF_ACCUMULATOR_BATCH tuples. */
typedef void rf_accumulator_find_batch(const struct rf_accumulator *accumulator,
                                       struct rf_hash_key key, const struct rf_tuple *tuples,
                                       size_t n, struct rf_accumulator_batch *batch);

/* The ways this processor can go: plain C is way 0, a later one is faster; NULL: there is no more. */
rf_accumulator_find_batch *rf_accumulator_way(size_t i);

#endif
