/* measure.h - how far a profile is from the truth.
 *
 * Narayanasamy et al., section 5.5: over the tuples that are candidates (at least threshold x events)
 * in the perfect or in the measured profile of an interval, error = sum |perfect - measured| / sum
 * perfect, split by what went wrong:
 *
 *     false positive    candidate only in the measured profile
 *     false negative    candidate only in the perfect one
 *     neutral positive  candidate in both, counted too high
 *     neutral negative  candidate in both, counted too low
 *
 * averaged over the whole intervals; a last one that was cut short counts only where there is no
 * other, since engines look for threshold x the full length. A tuple that the measured profile does
 * not list has 0 there. */
#ifndef RIFFLE_MEASURE_H
#define RIFFLE_MEASURE_H

#include <riffle/profile.h>

#ifdef __cplusplus
extern "C" {
#endif

struct rf_measure_interval {
    double error; /* the sum of the four parts */
    double false_positive, false_negative, neutral_positive, neutral_negative;
    uint64_t intervals; /* how many the averages are over */
};

/* Both profiles were made of the same stream with the same interval and keep_intervals; a stream that
 * was not cut counts as one interval. RF_EINVAL with a sentence when they do not fit together. */
rf_status rf_measure_interval(struct rf_measure_interval *measure, const struct rf_profile *perfect,
                              const struct rf_profile *measured, double threshold,
                              struct rf_error *error);
/* The same for the i-th interval alone. */
rf_status rf_measure_one_interval(struct rf_measure_interval *measure,
                                  const struct rf_profile *perfect,
                                  const struct rf_profile *measured, size_t i, double threshold,
                                  struct rf_error *error);

/* How alike two profiles are, 0 to 1: the members that make `top` (0.9, say) of each, by weight, and the sum of the
 * smaller of both shares over all of them. A member is an item, or a stream with its heat. The profiles need not be of
 * the same stream, but of the same shape. */
rf_status rf_measure_overlap(double *overlap, const struct rf_profile *x,
                             const struct rf_profile *y, double top, struct rf_error *error);

#ifdef __cplusplus
}
#endif
#endif
