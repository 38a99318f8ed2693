/* What rf_profile_check finds in a profile that breaks a promise, one promise at a time. */
#include "base/alloc.h"
#include "profile/file.h"
#include "test.h"
#include <math.h>
#include <riffle/profile.h>

static const struct {
    const char *label;
    struct rf_item items[2];
    uint8_t shape, bound;
    const char *wrong;
} broken[] = {
    {"a count above the events",
     {{1, 1, 1, 1, UINT64_MAX, 0, 10, 0}},
     RF_SHAPE_TUPLE,
     RF_BOUND_HARD,
     "an item's count exceeds the events"},
    {"a count outside its bounds",
     {{1, 1, 1, 1, 3, 4, 10, 0}},
     RF_SHAPE_TUPLE,
     RF_BOUND_HARD,
     "an item's count lies outside its bounds"},
    {"bounds of an exact count",
     {{1, 1, 1, 1, 3, 3, 4, 0}},
     RF_SHAPE_TUPLE,
     RF_BOUND_EXACT,
     "an exact count has bounds"},
    {"a range that ends before it begins",
     {{5, 0, 4, UINT64_MAX, 3, 3, 3, 0}},
     RF_SHAPE_RANGE_A,
     RF_BOUND_HARD,
     "an item is no tuple, range or rectangle"},
    {"a tuple that is a range",
     {{5, 1, 6, 1, 3, 3, 3, 0}},
     RF_SHAPE_TUPLE,
     RF_BOUND_EXACT,
     "an item is no tuple, range or rectangle"},
    {"a rectangle that is no square",
     {{0, 0, 3, 7, 3, 3, 3, 0}},
     RF_SHAPE_RECTANGLE,
     RF_BOUND_HARD,
     "an item is no tuple, range or rectangle"},
    {"lower bounds above the events",
     {{1, 1, 1, 1, 6, 6, 6, 0}, {2, 1, 2, 1, 5, 5, 5, 0}},
     RF_SHAPE_TUPLE,
     RF_BOUND_EXACT,
     "the items add up to more than the events"},
    {"counts of ranges above the events",
     {{0, 0, 1, UINT64_MAX, 6, 6, 6, 0}, {2, 0, 3, UINT64_MAX, 5, 5, 5, 0}},
     RF_SHAPE_RANGE_A,
     RF_BOUND_HARD,
     "the items add up to more than the events"},
    {"more intervals than there were",
     {{1, 1, 1, 1, 6, 6, 6, 2}},
     RF_SHAPE_TUPLE,
     RF_BOUND_EXACT,
     "an item's count exceeds the events"},
    {"a tuple twice",
     {{1, 1, 1, 1, 4, 4, 4, 0}, {1, 1, 1, 1, 4, 4, 4, 0}},
     RF_SHAPE_TUPLE,
     RF_BOUND_EXACT,
     "an item is listed twice"},
    {"a whole stream",
     {{5, 0, 77, UINT64_C(2) << 32 | 0, 3, 3, 3, 0}, {9, 0, 77, UINT64_C(2) << 32 | 1, 3, 3, 3, 0}},
     RF_SHAPE_STREAM,
     RF_BOUND_HARD,
     NULL},
    {"a position behind the end",
     {{5, 0, 77, UINT64_C(2) << 32 | 2, 3, 3, 3, 0}},
     RF_SHAPE_STREAM,
     RF_BOUND_HARD,
     "an item is no tuple, range or rectangle"},
    {"a stream without its end",
     {{5, 0, 77, UINT64_C(2) << 32 | 0, 3, 3, 3, 0}},
     RF_SHAPE_STREAM,
     RF_BOUND_HARD,
     "a stream is not whole"},
    {"a position twice",
     {{5, 0, 77, UINT64_C(2) << 32 | 0, 3, 3, 3, 0}, {9, 0, 77, UINT64_C(2) << 32 | 0, 3, 3, 3, 0}},
     RF_SHAPE_STREAM,
     RF_BOUND_HARD,
     "a stream is not whole"},
    {"a stream with two counts",
     {{5, 0, 77, UINT64_C(2) << 32 | 0, 3, 3, 3, 0}, {9, 0, 77, UINT64_C(2) << 32 | 1, 2, 2, 2, 0}},
     RF_SHAPE_STREAM,
     RF_BOUND_HARD,
     "a stream is not whole"},
    {"streams of more events than there were",
     {{5, 0, 77, UINT64_C(2) << 32 | 0, 6, 6, 6, 0}, {9, 0, 77, UINT64_C(2) << 32 | 1, 6, 6, 6, 0}},
     RF_SHAPE_STREAM,
     RF_BOUND_HARD,
     "the items add up to more than the events"},
    {"a range twice",
     {{0, 0, 1, UINT64_MAX, 4, 4, 4, 0}, {0, 0, 1, UINT64_MAX, 4, 4, 4, 0}},
     RF_SHAPE_RANGE_A,
     RF_BOUND_HARD,
     "an item is listed twice"},
    {"overlapping ranges",
     {{0, 0, 5, UINT64_MAX, 4, 4, 4, 0}, {4, 0, 7, UINT64_MAX, 3, 3, 3, 0}},
     RF_SHAPE_RANGE_A,
     RF_BOUND_HARD,
     "two ranges overlap"},
    {"overlapping ranges of b",
     {{0, 0, UINT64_MAX, 5, 4, 4, 4, 0}, {0, 4, UINT64_MAX, 7, 3, 3, 3, 0}},
     RF_SHAPE_RANGE_B,
     RF_BOUND_HARD,
     "two ranges overlap"},
    {"nested ranges",
     {{0, 0, 7, UINT64_MAX, 4, 7, 7, 0}, {4, 0, 5, UINT64_MAX, 3, 3, 7, 0}},
     RF_SHAPE_RANGE_A,
     RF_BOUND_HARD,
     NULL},
    {"estimates that add up to more",
     {{1, 1, 1, 1, 6, 6, 8, 0}, {2, 1, 2, 1, 5, 5, 8, 0}},
     RF_SHAPE_TUPLE,
     RF_BOUND_CONFIDENCE,
     NULL},
};

TEST(what_a_profile_promises_is_checked_when_it_is_read)
{
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        struct rf_item items[2];
        memcpy(items, broken[i].items, sizeof items);
        const struct rf_profile profile = {.alloc = rf_alloc_standard,
                                           .produced = 10,
                                           .consumed = 10,
                                           .n_intervals_seen = 1,
                                           .shape = broken[i].shape,
                                           .bound = broken[i].bound,
                                           .items = items,
                                           .n_items = items[1].count > 0 ? 2 : 1};
        const char *wrong;
        CHECK_ROW(broken[i].label, rf_profile_check(&profile, &wrong) == RF_OK);
        if (broken[i].wrong == NULL)
            CHECK_ROW(broken[i].label, wrong == NULL);
        else
            CHECK_TEXT(wrong != NULL ? wrong : broken[i].label, broken[i].wrong);
    }
}

/* Of two intervals with 10 events, each with an item, one is broken: the first or the second. */
TEST(every_interval_is_checked)
{
    static const struct {
        const char *label;
        struct rf_interval interval;
        uint64_t count;
        const char *wrong;
    } rows[] = {
        {"whole", {5, 0, 0, 1}, 5, NULL},
        {"as many absent as events", {5, 5, 0, 1}, 5, NULL},
        {"it begins behind the items", {5, 0, 3, 0}, 5, "an interval's items are not there"},
        {"it ends behind the items", {5, 0, 1, 2}, 5, "an interval's items are not there"},
        {"more events than the profile", {11, 0, 0, 1}, 5, "an interval's events do not add up"},
        {"both have more than the profile", {6, 0, 0, 1}, 5, "an interval's events do not add up"},
        {"absent above the events", {5, 6, 0, 1}, 5, "an interval's events do not add up"},
        {"a count above its events",
         {5, 0, 0, 1},
         6,
         "an item's bounds cross or exceed the events"},
    };
    for (size_t i = 0; i < 2 * sizeof rows / sizeof *rows; i++) {
        struct rf_interval intervals[2] = {{5, 0, 0, 1}, {5, 0, 1, 1}};
        struct rf_item items[2] = {{1, 1, 1, 1, 5, 5, 5, 0}, {1, 1, 1, 1, 5, 5, 5, 0}};
        const size_t row = i / 2, which = i % 2;
        const struct rf_profile profile = {.alloc = rf_alloc_standard,
                                           .produced = 10,
                                           .consumed = 10,
                                           .n_intervals_seen = 2,
                                           .intervals = intervals,
                                           .n_intervals = 2,
                                           .interval_items = items,
                                           .n_interval_items = 2};
        const char *wrong;
        intervals[which] = rows[row].interval;
        struct rf_item *item = &items[intervals[which].first == 1 ? 1 : 0];
        item->count = item->lower = item->upper = rows[row].count;
        CHECK_ROW(rows[row].label, rf_profile_check(&profile, &wrong) == RF_OK);
        CHECK_TEXT(wrong != NULL ? wrong : "", rows[row].wrong != NULL ? rows[row].wrong : "");
    }
}

/* Such a value is left out when it is added; a file from outside may hold it all the same. */
TEST(figures_are_finite_and_not_too_many)
{
    static const double values[] = {INFINITY, -INFINITY, NAN};
    struct rf_figure figures[257] = {{"splits", 3}};
    struct rf_profile profile = {.alloc = rf_alloc_standard, .figures = figures, .n_figures = 1};
    const char *wrong;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        figures[0].value = values[i];
        CHECK(rf_profile_check(&profile, &wrong) == RF_OK);
        CHECK_TEXT(wrong != NULL ? wrong : "nothing", "a figure is infinite or no number");
        CHECK(rf_profile_add_figure(&profile, "share", values[i]) == RF_OK);
        CHECK_EQ(profile.n_figures, 1);
    }
    figures[0].value = 3;
    profile.n_figures = 256;
    CHECK(rf_profile_check(&profile, &wrong) == RF_OK && wrong == NULL);
    profile.n_figures = 257;
    CHECK(rf_profile_check(&profile, &wrong) == RF_OK);
    CHECK_TEXT(wrong != NULL ? wrong : "nothing", "there are too many figures");
}

TEST_MAIN()
