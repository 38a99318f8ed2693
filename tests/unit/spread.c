/* Random distances: their mean, their variance and how often they are 0 are those of a coin's second hit. */
#include "base/spread.h"
#include "test.h"
#include <math.h>
#include <stdbool.h>

enum { DRAWS = 100000 };

struct seen {
    double mean, variance, zero;
};

static struct seen draw(uint64_t mean, uint64_t most)
{
    struct rf_random random;
    double sum = 0, squares = 0, zero = 0;
    rf_random_seed(&random, test_seed(7));
    for (unsigned i = 0; i < DRAWS; i++) {
        double d = (double)rf_spread(rf_random_next(&random), mean, most);
        CHECK(d <= (double)most);
        sum += d;
        squares += d * d;
        zero += d == 0;
    }
    sum /= DRAWS;
    return (struct seen){sum, squares / DRAWS - sum * sum, zero / DRAWS};
}

/* Five deviations of what is expected; that of a variance is below three of the variance / sqrt(n). */
static bool is_near(double found, double expected, double deviation)
{
    bool near = fabs(found - expected) <= 5 * deviation;
    if (!near)
        printf("# %g where %g +- %g is expected\n", found, expected, deviation);
    return near;
}

/* Coins below 32, logarithms from there on. */
TEST(the_second_hit_of_a_coin)
{
    static const uint64_t means[] = {1, 2, 9, 31, 32, 33, 99, 1000, 99999, 100000000};
    for (size_t i = 0; i < sizeof means / sizeof *means; i++) {
        struct seen seen = draw(means[i], UINT64_C(1) << 35);
        double p = 2 / ((double)means[i] + 2), variance = 2 * (1 - p) / (p * p);
        CHECK(is_near(seen.mean, (double)means[i], sqrt(variance / DRAWS)));
        CHECK(is_near(seen.variance, variance, 3 * variance / sqrt(DRAWS)));
        CHECK(is_near(seen.zero, p * p, sqrt(p * p / DRAWS)));
    }
}

TEST(no_distance_is_none)
{
    CHECK_EQ((unsigned)draw(0, 1000).mean, 0);
}

/* No room for rare long distances: 0 to twice the mean, or as far aside as there is room. */
TEST(near_the_most_the_mean_is_kept)
{
    static const uint64_t means[] = {100, 500, 900, 1000};
    for (size_t i = 0; i < sizeof means / sizeof *means; i++)
        CHECK(is_near(draw(means[i], 1000).mean, (double)means[i], 300 / sqrt(DRAWS)));
}

TEST(the_same_bits_give_the_same_distance)
{
    CHECK_EQ(rf_spread(12345, 9, 1 << 20), rf_spread(12345, 9, 1 << 20));
    CHECK_EQ(rf_spread(0, 99, 1 << 20), rf_spread(0, 99, 1 << 20));
    CHECK(rf_spread(1, 1000, 1 << 20) != rf_spread(2, 1000, 1 << 20));
}

TEST_MAIN()
