/* gaps.h - a batch of a source that tells its events in bursts, piece by piece. */
#ifndef RF_SOURCE_GAPS_H
#define RF_SOURCE_GAPS_H

#include <stdbool.h>
#include <riffle/source.h>

/* Events `from` to `to` of a batch, without its gaps. */
struct rf_batch rf_batch_part(const struct rf_batch *batch, size_t from, size_t to);

/* The gap that was told with end number i, as a batch without events. With i = n_ends, what was told with no end. The
 * batch points into `hole`. */
struct rf_hole {
    uint64_t skips[2 * RF_CLASS_COUNT];
    uint32_t end;
    double weight;
};
struct rf_batch rf_batch_hole(const struct rf_batch *batch, size_t i, struct rf_hole *hole);

/* Both, burst by burst, for a batch that stays until the walk is over:
 *
 *     for (struct rf_burst burst = {.batch = batch}; rf_batch_next_burst(&burst);)
 *         use(&burst.part, &burst.behind); */
struct rf_burst {
    const struct rf_batch *batch;
    size_t n, done; /* bursts and events up to here */
    struct rf_hole hole;
    struct rf_batch part, behind;
    bool has_end; /* false: the last events, whose burst goes on in the next batch */
};
bool rf_batch_next_burst(struct rf_burst *burst);

#endif
