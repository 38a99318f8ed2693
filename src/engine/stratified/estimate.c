/* estimate.c - score intervals of a share and of a count, without libm. */
#include "engine/stratified/estimate.h"
#include <string.h>

/* Halving the exponent is right to 6%; every step of Newton's doubles the digits. 0 for what is not
 * positive. */
static double square_root(double x)
{
    if (!(x > 0))
        return 0;
    uint64_t word;
    memcpy(&word, &x, sizeof word);
    word = (word >> 1) + (UINT64_C(0x3ff0000000000000) >> 1);
    double root;
    memcpy(&root, &word, sizeof root);
    for (int i = 0; i < 5; i++)
        root = (root + x / root) / 2;
    return root;
}

/* Of k samples, those that say how often; see the header. */
static double without_the_first(double k)
{
    return k > 1.5 ? k - 1.5 : 0;
}

static double reach_of_share(double k, double m, double z)
{
    return z * square_root(k * (m - k) / m + z * z / 4);
}

struct rf_estimate rf_estimate_share(double mine, double samples, double length, double spread,
                                     double z)
{
    double k = mine / spread, m = samples / spread, zz = z * z;
    double least = without_the_first(mine) / spread;
    return (struct rf_estimate){
        .count = length * k / m,
        .lower = length * (least + zz / 2 - reach_of_share(least, m, z)) / (m + zz),
        .upper = length * (k + zz / 2 + reach_of_share(k, m, z)) / (m + zz),
    };
}

static double reach_of_count(double k, double q, double z)
{
    return z * square_root(k * q + q * q * z * z / 4);
}

struct rf_estimate rf_estimate_binomial(double mine, double rate, double z)
{
    double q = 1 - 1 / rate, half = q * z * z / 2, least = without_the_first(mine);
    return (struct rf_estimate){
        .count = rate * mine,
        .lower = rate * (least + half - reach_of_count(least, q, z)),
        .upper = rate * (mine + half + reach_of_count(mine, q, z)),
    };
}
