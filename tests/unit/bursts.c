/* Bursts: bounds by hand, and a table that grows. */
#include "profile/bursts.h"
#include "base/alloc.h"
#include "base/hash.h"
#include "test.h"
#include <math.h>
#include <stdlib.h>

static struct rf_bursts *open_bursts(void)
{
    struct rf_bursts *bursts;
    CHECK(rf_bursts_open(&bursts, NULL) == RF_OK);
    return bursts;
}

/* What an engine found that counts exactly: items with these counts. */
static void scale(const struct rf_bursts *bursts, struct rf_item *items, size_t n, uint64_t events)
{
    struct rf_profile profile = {.alloc = rf_alloc_standard,
                                 .produced = events,
                                 .consumed = events,
                                 .shape = RF_SHAPE_TUPLE,
                                 .bound = RF_BOUND_EXACT,
                                 .items = items,
                                 .n_items = n};
    REQUIRE(rf_bursts_scale(bursts, &profile) == RF_OK);
    rf_alloc_free(&profile.alloc, profile.figures, profile.n_figures * sizeof *profile.figures);
}

static struct rf_item item_of(struct rf_tuple tuple, uint64_t count)
{
    return (struct rf_item){tuple.a, tuple.b, tuple.a, tuple.b, count, count, count, 0};
}

/* Student's quantile of three degrees of freedom, as bursts.c comes by it. */
static double quantile_of_four(void)
{
    double z = 1.959963984540054;
    return z + (z * z * z + z) / 12 + (5 * pow(z, 5) + 16 * pow(z, 3) + 3 * z) / 864;
}

/* Four bursts of ten events, with 2, 3, 2 and 5 of <1, 0>, that stand for 40
 * events of 4000. p is 12/40, and sum (y - 10 p)^2 = 1 + 0 + 1 + 4; the design
 * effect is 4/3 * 6 / 40 / (0.3 * 0.7) below 1, so it is 1. */
TEST(bounds_by_hand)
{
    static const unsigned of_burst[] = {2, 3, 2, 5};
    struct rf_bursts *bursts = open_bursts();
    for (size_t i = 0; i < 4; i++) {
        struct rf_tuple tuples[10];
        for (unsigned k = 0; k < 10; k++)
            tuples[k] = (struct rf_tuple){k < of_burst[i] ? 1 : 2, 0};
        rf_bursts_feed(bursts, tuples, 10);
        rf_bursts_end(bursts, 1);
        rf_bursts_skip(bursts, 990, 1);
    }
    struct rf_item items[2] = {item_of((struct rf_tuple){2, 0}, 28),
                               item_of((struct rf_tuple){1, 0}, 12)};
    scale(bursts, items, 2, 40);
    double z = quantile_of_four(), p = 0.3, n = 40;
    double half = z * sqrt(p * (1 - p) / n + z * z / (4 * n * n)), middle = p + z * z / (2 * n);
    CHECK_EQ(items[1].a, 1);
    CHECK_EQ(items[1].count, 1200);
    CHECK_EQ(items[1].lower, (uint64_t)floor(4000 * (middle - half) / (1 + z * z / n)));
    CHECK_EQ(items[1].upper, (uint64_t)ceil(4000 * (middle + half) / (1 + z * z / n)));
    rf_bursts_close(bursts);
}

/* The same share in each burst, so that nothing but the weights 2, 2, 4 and, of the burst under way, 4 widens the bounds:
 * by 40 * (4 * 10 + 4 * 10 + 16 * 10 + 16 * 10) / 120^2, which leaves 36 of the 40 events. */
TEST(weights_that_differ_widen_the_bounds)
{
    static const double weights[] = {2, 2, 4};
    struct rf_bursts *bursts = open_bursts();
    struct rf_tuple tuples[10];
    for (unsigned k = 0; k < 10; k++)
        tuples[k] = (struct rf_tuple){k < 3 ? 1 : 2, 0};
    for (size_t i = 0; i < 3; i++) {
        rf_bursts_feed(bursts, tuples, 10);
        rf_bursts_end(bursts, weights[i]);
        rf_bursts_skip(bursts, 1320, 1);
    }
    rf_bursts_feed(bursts, tuples, 10);
    struct rf_item items[2] = {item_of((struct rf_tuple){2, 0}, 28),
                               item_of((struct rf_tuple){1, 0}, 12)};
    scale(bursts, items, 2, 40);
    double z = quantile_of_four(), p = 0.3, n = 36;
    double half = z * sqrt(p * (1 - p) / n + z * z / (4 * n * n)), middle = p + z * z / (2 * n);
    CHECK_EQ(items[1].count, 1200);
    CHECK_EQ(items[1].lower, (uint64_t)floor(4000 * (middle - half) / (1 + z * z / n)));
    CHECK_EQ(items[1].upper, (uint64_t)ceil(4000 * (middle + half) / (1 + z * z / n)));
    rf_bursts_close(bursts);
}

enum { ALIKE = 700, ROOM = 1024 };

/* The first one lies in the first slot of the table, which must not be lost
 * when that grows. */
static void make_alike(struct rf_tuple *tuples)
{
    uint64_t a = 1;
    while ((rf_hash_multiply((struct rf_tuple){a, 0}, rf_hash_key(0)) >> 32 & (ROOM - 1)) != 0)
        a++;
    for (size_t i = 0; i < ALIKE; i++)
        tuples[i] = (struct rf_tuple){a + i, 0};
}

TEST(alike_tuples_have_alike_bounds_when_the_table_has_grown)
{
    struct rf_bursts *bursts = open_bursts();
    struct rf_tuple tuples[ALIKE];
    struct rf_item items[ALIKE];
    make_alike(tuples);
    for (size_t i = 0; i < 4; i++) { /* it grows behind the first, which has most of the events */
        for (size_t k = 0; k < (i == 0 ? 50 : 1); k++)
            rf_bursts_feed(bursts, tuples, ALIKE);
        rf_bursts_end(bursts, 1);
        rf_bursts_skip(bursts, 100 * ALIKE, 1);
    }
    for (size_t i = 0; i < ALIKE; i++)
        items[i] = item_of(tuples[i], 53);
    scale(bursts, items, ALIKE, 53 * ALIKE);
    for (size_t i = 1; i < ALIKE; i++) {
        CHECK_EQ(items[i].lower, items[0].lower);
        CHECK_EQ(items[i].upper, items[0].upper);
    }
    rf_bursts_close(bursts);
}

TEST_MAIN()
