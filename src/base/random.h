/* random.h - seeded random numbers: the same seed gives the same sequence on every machine.
 *
 * xoshiro256** (Blackman, Vigna) for software, seeded through splitmix64; a 32-bit Galois LFSR for
 * the models of hardware, which would not have the multiplier. */
#ifndef RF_BASE_RANDOM_H
#define RF_BASE_RANDOM_H

#include <stdint.h>

struct rf_random {
    uint64_t s[4];
};

static inline uint64_t rf_splitmix(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static inline void rf_random_seed(struct rf_random *random, uint64_t seed)
{
    for (int i = 0; i < 4; i++)
        random->s[i] = rf_splitmix(&seed);
}

static inline uint64_t rf_random_next(struct rf_random *random)
{
    uint64_t *s = random->s;
    uint64_t x = s[1] * 5;
    uint64_t result = (x << 7 | x >> 57) * 9;
    uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = s[3] << 45 | s[3] >> 19;
    return result;
}

/* Uniform in 0 .. n-1, with a bias of at most 2^-64; n > 0. */
static inline uint64_t rf_random_below(struct rf_random *random, uint64_t n)
{
    return (uint64_t)((unsigned __int128)rf_random_next(random) * n >> 64);
}

/* Uniform in [0, 1). */
static inline double rf_random_unit(struct rf_random *random)
{
    return (double)(rf_random_next(random) >> 11) * 0x1p-53;
}

/* One step of x^32 + x^22 + x^2 + x + 1: every state but 0 in a cycle of 2^32 - 1. */
static inline uint32_t rf_lfsr_next(uint32_t state)
{
    return (state >> 1) ^ ((0u - (state & 1)) & 0x80200003u);
}

#endif
