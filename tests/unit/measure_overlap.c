/* The overlap of two profiles, computed by hand. */
#include <riffle/measure.h>
#include "failing.h"
#include "test.h"

enum { ITEMS_MAX = 6 };

static struct failing failing;

/* Counts of the keys 1, 2, 3, ...; 0: not listed. */
static struct rf_profile make(struct rf_item *items, const uint64_t *counts)
{
    struct rf_profile profile = {
        .alloc = failing_alloc(&failing), .items = items, .shape = RF_SHAPE_TUPLE};
    for (uint64_t i = 0; i < ITEMS_MAX; i++)
        if (counts[i] > 0)
            items[profile.n_items++] = (struct rf_item){.a = i, .a_hi = i, .count = counts[i]};
    return profile;
}

TEST(the_smaller_of_both_shares)
{
    static const struct {
        const char *name;
        uint64_t x[ITEMS_MAX], y[ITEMS_MAX];
        double top, overlap;
    } rows[] = {
        {"the same", {60, 30, 10}, {60, 30, 10}, 0.9, 1},
        {"the same, ten times as long", {60, 30, 10}, {600, 300, 100}, 0.9, 1},
        {"nothing in common", {60, 40}, {0, 0, 50, 50}, 0.9, 0},
        {"both are empty", {0}, {0}, 0.9, 0},
        {"one is empty", {60, 40}, {0}, 0.9, 0},
        /* top of x: 60 and 30 of 90; of y: 45 and 45 of 90. They share the first: 2/3 and 1/2. */
        {"top members alone", {60, 30, 10}, {45, 10, 45}, 0.9, 0.5},
        /* all of them: 0.45 of the first, 0.1 of the second, 0.1 of the third */
        {"all members", {60, 30, 10}, {45, 10, 45}, 1, 0.65},
        /* 0.5 is reached by the first of each */
        {"half of it", {60, 30, 10}, {60, 10, 30}, 0.5, 1},
        {"shares, not counts", {1, 1}, {300, 100}, 1, 0.75},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct rf_item items[2][ITEMS_MAX] = {{{0}}};
        struct rf_profile x = make(items[0], rows[i].x), y = make(items[1], rows[i].y);
        double forth, back;
        CHECK_ROW(rows[i].name, rf_measure_overlap(&forth, &x, &y, rows[i].top, NULL) == RF_OK);
        CHECK_ROW(rows[i].name, rf_measure_overlap(&back, &y, &x, rows[i].top, NULL) == RF_OK);
        CHECK_ROW(rows[i].name, forth > rows[i].overlap - 1e-9 && forth < rows[i].overlap + 1e-9);
        CHECK_ROW(rows[i].name, back > forth - 1e-9 && back < forth + 1e-9);
    }
}

/* One stream of three references that occurs 20 times and one of two that occurs 20 times: heats 60 and 40. */
TEST(streams_count_by_heat)
{
    struct rf_item items[2][ITEMS_MAX] = {{{0}}};
    struct rf_profile profiles[2];
    for (size_t k = 0; k < 2; k++) {
        for (uint32_t i = 0; i < 5; i++)
            items[k][i] =
                (struct rf_item){.a = i,
                                 .a_hi = i < 3 ? 77 : 88,
                                 .b_hi = rf_stream_place(i < 3 ? 3 : 2, i < 3 ? i : i - 3),
                                 .count = k == 0 || i < 3 ? 20 : 120};
        profiles[k] = (struct rf_profile){.alloc = failing_alloc(&failing),
                                          .shape = RF_SHAPE_STREAM,
                                          .items = items[k],
                                          .n_items = 5};
    }
    double overlap;
    CHECK(rf_measure_overlap(&overlap, &profiles[0], &profiles[0], 0.9, NULL) == RF_OK);
    CHECK(overlap > 1 - 1e-9 && overlap < 1 + 1e-9);
    /* heats 60, 40 and 60, 240: shares 0.6, 0.4 and 0.2, 0.8 */
    CHECK(rf_measure_overlap(&overlap, &profiles[0], &profiles[1], 0.9, NULL) == RF_OK);
    CHECK(overlap > 0.6 - 1e-9 && overlap < 0.6 + 1e-9);
}

TEST(what_cannot_be_compared_is_refused)
{
    static const uint64_t counts[ITEMS_MAX] = {5, 4, 3};
    struct rf_item items[ITEMS_MAX] = {{0}};
    struct rf_profile x = make(items, counts), ranges = x;
    struct rf_error error = {""};
    double overlap;
    ranges.shape = RF_SHAPE_RANGE_A;
    CHECK(rf_measure_overlap(&overlap, &x, &ranges, 0.9, &error) == RF_EINVAL);
    CHECK_TEXT(error.message, "profiles of different kinds cannot be compared");
    CHECK(rf_measure_overlap(&overlap, &x, &x, 0, &error) == RF_EINVAL);
    CHECK(rf_measure_overlap(&overlap, &x, &x, 1.1, &error) == RF_EINVAL);
}

TEST(no_memory_is_told)
{
    static const uint64_t counts[ITEMS_MAX] = {5, 4, 3};
    struct rf_item items[ITEMS_MAX] = {{0}};
    struct rf_profile x = make(items, counts);
    size_t failures = 0;
    double overlap;
    for (uint64_t n = 1; n < 20; n++) {
        failing = (struct failing){.fail_at = n};
        failures += rf_measure_overlap(&overlap, &x, &x, 0.9, NULL) == RF_ENOMEM;
        CHECK_EQ(failing.held, 0);
    }
    failing = (struct failing){.fail_at = 0};
    CHECK(failures > 1);
}

TEST_MAIN()
