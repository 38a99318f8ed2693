/* pipeline.h - an out-of-order core the slow way: cycle by cycle, every structure as a list.
 *
 * The judge of src/machine/timing/timing.c, written for clarity. In each cycle, from the back of the pipeline
 * to its front: commit, issue, dispatch, fetch. Each access reaches the caches in the cycle in which it
 * happens, so loads reach them out of order. The one-pass model cannot do that. Configuration, predictor and caches are the shipped ones. */
#ifndef RF_REFERENCE_PIPELINE_H
#define RF_REFERENCE_PIPELINE_H

#include "machine/timing/timing.h"

/* How many cycles the n instructions take. */
uint64_t pipeline_cycles(const struct rf_timing_config *config, const struct rf_retired *stream,
                         size_t n);

#endif
