/* invariance.h - how wrong a profile of values is, for who would specialise code by it.
 *
 * Sastry, Bodik, Smith, section 5.3.1. A tuple is <pc, value>; its invariance is the share of the pc's
 * executions that it makes. Looked at are tuples of the perfect profile that an optimizer would use:
 *
 *     a pc counts when it executes at least `executions` times and at least `pc_share` of that is in
 *     tuples that make at least `tuple_share` of it each; those tuples are looked at
 *
 *     error = sum of n(v) |I(v) - I'(v)| / sum of n(v)       n, I perfect; I' measured, 0 for a pc never seen
 *
 * The samples of a pc are what its tuples count together. A profile that knows better says so with a figure
 * "totals-in-bounds": there they are what any of its tuples may have at most and the others have at least.
 *
 * The perfect profile is taken once, then any number of profiles or engines of the same stream is held against
 * it, also while the stream still runs: that gives the curve of error over progress. */
#ifndef RIFFLE_INVARIANCE_H
#define RIFFLE_INVARIANCE_H

#include <riffle/alloc.h>
#include <riffle/engine.h>
#include <riffle/profile.h>

#ifdef __cplusplus
extern "C" {
#endif

struct rf_invariance_filter {
    uint64_t executions; /* the paper's 1000 */
    double tuple_share;  /* 10% */
    double pc_share;     /* 40% */
};

extern const struct rf_invariance_filter rf_invariance_paper;

struct rf_measure_invariance {
    double error;
    double
        rms; /* the root of the mean of the squares, weighted alike (Zilles, Sohi, section 4.3) */
    double
        unseen; /* share of what is looked at, by events, that the measured profile has not at all */
    double covered;       /* share of all events that is looked at */
    uint64_t tuples, pcs; /* looked at */
};

struct rf_invariance;

/* `filter` NULL: the paper's. */
rf_status rf_invariance_open(struct rf_invariance **invariance,
                             const struct rf_invariance_filter *filter,
                             const struct rf_alloc *alloc, struct rf_error *error);
void rf_invariance_close(struct rf_invariance *invariance); /* NULL is fine */

/* Take this for the truth, in place of what was before. The engine should be exact. */
rf_status rf_invariance_truth_profile(struct rf_invariance *invariance,
                                      const struct rf_profile *perfect, struct rf_error *error);
rf_status rf_invariance_truth_engine(struct rf_invariance *invariance,
                                     const struct rf_engine *perfect, struct rf_error *error);

/* Hold it against the truth. */
rf_status rf_invariance_profile(struct rf_invariance *invariance,
                                struct rf_measure_invariance *measure,
                                const struct rf_profile *measured, struct rf_error *error);
rf_status rf_invariance_engine(struct rf_invariance *invariance,
                               struct rf_measure_invariance *measure,
                               const struct rf_engine *measured, struct rf_error *error);

/* All of it in one call. */
rf_status rf_measure_invariance(struct rf_measure_invariance *measure,
                                const struct rf_profile *perfect, const struct rf_profile *measured,
                                const struct rf_invariance_filter *filter, struct rf_error *error);

#ifdef __cplusplus
}
#endif
#endif
