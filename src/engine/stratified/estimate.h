/* estimate.h - from what was sampled to a count with an interval around it.
 *
 * Two situations. Where the length of a substream is known (P, C, tagged), the share of a tuple in it is in
 * question: k of the substream's m samples were the tuple's, and the share lies in Wilson's score interval
 *
 *     (k + z^2/2 -+ z sqrt(k (m - k) / m + z^2/4)) / (m + z^2)
 *
 * Where it is not known (R, D), k is a binomial draw with probability 1/r from the count itself, and the
 * same score test solved for the count gives, with q = 1 - 1/r,
 *
 *     r (k + q z^2/2 -+ z sqrt(k q + q^2 z^2/4))
 *
 * A tuple is only asked about because it was sampled at least once, so the lower ends are taken for k - 3/2
 * samples: one is what got it listed, half corrects for counting in wholes. (Solving P(K >= k | K >= 1) = 2.5%
 * for a Poisson mean gives 0, 0.051, 0.387, 0.93 for k = 1..4; this gives 0, 0.052, 0.346, 0.774.)
 *
 * Both suppose that samples are as good as independent: that the order of events inside a substream has
 * nothing to do with the sampler. A program that loops in step with a periodic sampler breaks that, which
 * is why this is a confidence and no bound. */
#ifndef RF_ENGINE_ESTIMATE_H
#define RF_ENGINE_ESTIMATE_H

#include <stdint.h>

struct rf_estimate {
    double count, lower, upper;
};

/* `length` events of which `samples` were looked at, `mine` of them the tuple's. `spread` >= 1: by how
 * much more than a sample of even steps these samples vary; it divides their number. */
struct rf_estimate rf_estimate_share(double mine, double samples, double length, double spread,
                                     double z);

struct rf_estimate rf_estimate_binomial(double mine, double rate, double z);

#endif
