/* spread.h - a distance that is random and has a given mean.
 *
 * Equal distances between samples beat with the loops of a program: a loop of three calls that is sampled every 99 calls is
 * sampled at the same call each time. A distance from 0 to 2 * mean, each as likely as the others, falls out of step after a few
 * samples, whatever the loop: also where the mean is 1, since one of the distances is 0 and the next one 1.
 *
 * No library, plain C99: it runs in the simulated core and inside the probe. */
#ifndef RF_BASE_SPREAD_H
#define RF_BASE_SPREAD_H

#include <stdint.h>

/* `random` is 64 random bits; a distance up to `most`. */
static inline uint64_t rf_spread(uint64_t random, uint64_t mean, uint64_t most)
{
    uint64_t aside = most - mean < mean ? most - mean : mean;
    return mean - aside + random % (2 * aside + 1);
}

#endif
