/* spread.h - a distance that is random and has a given mean.
 *
 * Equal distances between samples beat with the loops of a program: a loop of three calls that is sampled every 99 calls is
 * sampled at the same call each time. So a coin is thrown at each interval, which comes up in 2 of mean + 2 throws; the second
 * time that it does, the distance is over:
 *
 *     interval   .  .  x  .  .  .  .  x  | sample            p = 2 / (mean + 2), distance = 6: those without an x
 *
 * Why the second time: samples that are independent of each other have some variance, and bounds are made for that. With these
 * distances the variance is at most as large, whatever the program does, and half of it where behaviour changes slowly. For
 * a loop of L intervals, z = e^(2 pi i / L), q = 1 - p and f = z (p / (1 - q z))^2, it is (1 - |f|^2) / |1 - f|^2 times that of
 * independent samples. That is at most 1 because Re f = p^2 ((1 + q^2) cos - 2 q) / |1 - q z|^4 is at most |f|^2. Distances
 * that end abruptly (0 to 2 * mean, each as likely) have 1.26 for a loop of 5/3 of the mean. A coin that decides the first
 * time has 1 everywhere.
 *
 * Guarantee: the mean is right to 2^-24 of itself. Plain C99 without a library and without floating point, so that it runs in
 * the simulated core's engine and inside the probe, and gives the same in both. */
#ifndef RF_BASE_SPREAD_H
#define RF_BASE_SPREAD_H

#include "base/random.h"

/* Means below are drawn by throwing the coin, larger ones by logarithms. Means above `most` / 32 have no room for rare long
 * distances: those go from 0 to twice the mean. */
enum { RF_SPREAD_COINS = 32, RF_SPREAD_ROOM = 32, RF_SPREAD_BITS = 24 };

/* How many throws go by before the coin comes up twice. */
static inline uint64_t rf_spread_coins(uint64_t *state, uint64_t mean)
{
    uint64_t distance = 0;
    for (unsigned hits = 0; hits < 2;)
        if (rf_splitmix(state) % (mean + 2) < 2)
            hits++;
        else
            distance++;
    return distance;
}

/* -ln(u) of a number u between 0 and 1, RF_SPREAD_BITS bits of it behind the point. `random` is 2^64 u. */
static inline uint64_t rf_spread_logarithm(uint64_t random)
{
    const uint64_t ln2 = 0xb17217f8; /* 2^32 ln 2 */
    unsigned zeros = (unsigned)__builtin_clzll(random | 1);
    uint64_t x = (random | 1) << zeros >> 32; /* 1 to 2, 31 bits behind the point */
    uint64_t bits = 0;
    for (unsigned i = 0; i < RF_SPREAD_BITS; i++) { /* squaring doubles the logarithm */
        x = x * x >> 31;
        bits = bits << 1 | x >> 32;
        x >>= x >> 32;
    }
    return (((uint64_t)(zeros + 1) << RF_SPREAD_BITS) - bits) * ln2 >> 32;
}

/* ln((mean + 2) / mean), 58 bits behind the point; by the series of artanh(1 / (mean + 1)). */
static inline uint64_t rf_spread_rate(uint64_t mean)
{
    uint64_t sum = 0, term = (UINT64_C(1) << 59) / (mean + 1);
    for (uint64_t k = 1; term > 0; k += 2) {
        sum += term / k;
        term = term / (mean + 1) / (mean + 1);
    }
    return sum;
}

static inline uint64_t rf_spread_half(uint64_t *state, uint64_t rate)
{
    return (rf_spread_logarithm(rf_splitmix(state)) << (58 - RF_SPREAD_BITS)) / rate;
}

/* `random` is 64 random bits; a distance up to `most`. */
static inline uint64_t rf_spread(uint64_t random, uint64_t mean, uint64_t most)
{
    uint64_t aside = most - mean < mean ? most - mean : mean;
    if (mean > most / RF_SPREAD_ROOM)
        return mean - aside + random % (2 * aside + 1);
    if (mean < RF_SPREAD_COINS)
        return rf_spread_coins(&random, mean);
    uint64_t rate = rf_spread_rate(mean);
    uint64_t distance = rf_spread_half(&random, rate) + rf_spread_half(&random, rate);
    return distance < most ? distance : most;
}

#endif
