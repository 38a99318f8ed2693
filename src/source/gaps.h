/* gaps.h - a batch of a source that tells its events in bursts, piece by piece. */
#ifndef RF_SOURCE_GAPS_H
#define RF_SOURCE_GAPS_H

#include <riffle/source.h>

/* Events `from` to `to` of a batch, without its gaps. */
struct rf_batch rf_batch_part(const struct rf_batch *batch, size_t from, size_t to);

/* What is behind the events in front of end number i, as a batch without events; where i is n_ends, what has no end. The
 * batch points into `hole`. */
struct rf_hole {
    uint64_t skips[2 * RF_CLASS_COUNT];
    uint32_t end;
    double weight;
};
struct rf_batch rf_batch_hole(const struct rf_batch *batch, size_t i, struct rf_hole *hole);

#endif
