/* estimate.c - score intervals of a share and of a count, without libm. */
#include "engine/estimate.h"
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

struct rf_estimate rf_estimate_share(double mine, double samples, double length, double spread,
                                     double z)
{
    double k = mine / spread, m = samples / spread, zz = z * z;
    double middle = k + zz / 2;
    double reach = z * square_root(k * (m - k) / m + zz / 4);
    return (struct rf_estimate){
        .count = length * k / m,
        .lower = length * (middle - reach) / (m + zz),
        .upper = length * (middle + reach) / (m + zz),
    };
}

struct rf_estimate rf_estimate_binomial(double mine, double rate, double z)
{
    double q = 1 - 1 / rate, zz = z * z;
    double reach = z * square_root(mine * q + q * q * zz / 4);
    return (struct rf_estimate){
        .count = rate * mine,
        .lower = rate * (mine + q * zz / 2 - reach),
        .upper = rate * (mine + q * zz / 2 + reach),
    };
}
