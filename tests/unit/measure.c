/* Error measures, computed by hand. */
#include <riffle/measure.h>
#include "failing.h"
#include "test.h"

enum { ITEMS_MAX = 8, INTERVALS_MAX = 4 };

/* Counts of the keys 1, 2, 3, ... in one interval; 0: not listed. */
struct written {
    uint64_t counts[ITEMS_MAX];
};

struct made {
    struct rf_profile profile;
    struct rf_interval intervals[INTERVALS_MAX];
    struct rf_item items[ITEMS_MAX * INTERVALS_MAX];
};

static struct failing failing;

static void sort_heaviest_first(struct rf_item *items, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = i + 1; k < n; k++)
            if (items[k].count > items[i].count) {
                struct rf_item kept = items[i];
                items[i] = items[k];
                items[k] = kept;
            }
}

static void make(struct made *made, const struct written *written, size_t n, const uint64_t *events)
{
    memset(made, 0, sizeof *made);
    struct rf_profile *profile = &made->profile;
    profile->alloc = failing_alloc(&failing);
    profile->intervals = made->intervals;
    profile->interval_items = made->items;
    profile->n_intervals = profile->n_intervals_seen = n;
    for (size_t i = 0; i < n; i++) {
        struct rf_interval *interval = &made->intervals[i];
        interval->first = profile->n_interval_items;
        interval->events = events[i];
        for (uint64_t k = 0; k < ITEMS_MAX; k++)
            if (written[i].counts[k] != 0)
                made->items[interval->first + interval->n++] =
                    (struct rf_item){.a = k + 1, .a_hi = k + 1, .count = written[i].counts[k]};
        sort_heaviest_first(made->items + interval->first, interval->n);
        profile->n_interval_items += interval->n;
    }
}

static int near(double x, double y)
{
    return x - y < 1e-12 && y - x < 1e-12;
}

/* 1000 events, threshold 1%: candidates have at least 10. */
static const struct {
    const char *label;
    struct written perfect, measured;
    double false_positive, false_negative, neutral_positive, neutral_negative;
} rows[] = {
    {"the same", {{100, 50, 9}}, {{100, 50, 9}}, 0, 0, 0, 0},
    {"nothing at all", {{0}}, {{0}}, 0, 0, 0, 0},
    {"no candidates", {{9, 9}}, {{8, 9}}, 0, 0, 0, 0},
    {"exactly at the threshold", {{10}}, {{0}}, 0, 1, 0, 0},
    {"too high", {{100, 50}}, {{115, 50}}, 0, 0, 0.1, 0},
    {"too low", {{100, 50}}, {{85, 50}}, 0, 0, 0, 0.1},
    {"missing", {{100, 50}}, {{100, 0}}, 0, 50.0 / 150, 0, 0},
    {"listed below the threshold", {{100, 50}}, {{100, 5}}, 0, 45.0 / 150, 0, 0},
    {"promoted by mistake", {{100, 8}}, {{100, 20}}, 12.0 / 108, 0, 0, 0},
    {"invented", {{100}}, {{100, 20}}, 20.0 / 100, 0, 0, 0},
    {"nothing but inventions", {{0}}, {{20}}, 20.0 / 1000, 0, 0, 0},
    {"everything at once",
     {{100, 50, 30, 5, 0}},
     {{110, 40, 0, 15, 12}},
     22.0 / 185,
     30.0 / 185,
     10.0 / 185,
     10.0 / 185},
};

TEST(one_interval_by_hand)
{
    static struct made perfect, measured;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct rf_measure_interval measure;
        make(&perfect, &rows[i].perfect, 1, (uint64_t[]){1000});
        make(&measured, &rows[i].measured, 1, (uint64_t[]){1000});
        CHECK_ROW(rows[i].label, rf_measure_interval(&measure, &perfect.profile, &measured.profile,
                                                     0.01, NULL) == RF_OK);
        CHECK_ROW(rows[i].label, near(measure.false_positive, rows[i].false_positive));
        CHECK_ROW(rows[i].label, near(measure.false_negative, rows[i].false_negative));
        CHECK_ROW(rows[i].label, near(measure.neutral_positive, rows[i].neutral_positive));
        CHECK_ROW(rows[i].label, near(measure.neutral_negative, rows[i].neutral_negative));
        CHECK_ROW(rows[i].label,
                  near(measure.error, rows[i].false_positive + rows[i].false_negative +
                                          rows[i].neutral_positive + rows[i].neutral_negative));
        CHECK_ROW(rows[i].label, measure.intervals == 1);
    }
    CHECK_EQ(failing.held, 0);
}

static const struct written three_perfect[] = {{{100}}, {{100}}, {{50}}};
static const struct written three_measured[] = {{{110}}, {{70}}, {{0}}};

TEST(the_mean_is_over_whole_intervals)
{
    static struct made perfect, measured;
    struct rf_measure_interval measure;
    const uint64_t whole[] = {1000, 1000, 1000}, cut[] = {1000, 1000, 600};
    make(&perfect, three_perfect, 3, whole);
    make(&measured, three_measured, 3, whole);
    CHECK_EQ(rf_measure_interval(&measure, &perfect.profile, &measured.profile, 0.01, NULL), RF_OK);
    CHECK_EQ(measure.intervals, 3);
    CHECK(near(measure.error, (0.1 + 0.3 + 1) / 3));
    CHECK(near(measure.false_negative, 1.0 / 3));
    make(&perfect, three_perfect, 3, cut);
    make(&measured, three_measured, 3, cut);
    CHECK_EQ(rf_measure_interval(&measure, &perfect.profile, &measured.profile, 0.01, NULL), RF_OK);
    CHECK_EQ(measure.intervals, 2);
    CHECK(near(measure.error, (0.1 + 0.3) / 2));
    CHECK_EQ(rf_measure_one_interval(&measure, &perfect.profile, &measured.profile, 2, 0.01, NULL),
             RF_OK);
    CHECK(near(measure.error, 1));
}

TEST(a_stream_that_was_not_cut_is_one_interval)
{
    static struct made perfect, measured;
    struct rf_measure_interval measure;
    make(&perfect, three_perfect, 1, (uint64_t[]){1000});
    make(&measured, three_measured, 1, (uint64_t[]){1000});
    struct rf_profile *both[] = {&perfect.profile, &measured.profile};
    for (size_t i = 0; i < 2; i++) {
        both[i]->items = both[i]->interval_items;
        both[i]->n_items = 1;
        both[i]->consumed = 1000;
        both[i]->n_intervals = both[i]->n_intervals_seen = 0;
    }
    CHECK_EQ(rf_measure_interval(&measure, both[0], both[1], 0.01, NULL), RF_OK);
    CHECK(near(measure.neutral_positive, 0.1));
    CHECK(near(measure.error, 0.1));
}

TEST(what_does_not_fit_is_refused)
{
    static struct made perfect, measured;
    struct rf_measure_interval measure;
    struct rf_error error = {""};
    const uint64_t whole[] = {1000, 1000, 1000}, other[] = {1000, 900, 1000};
    make(&perfect, three_perfect, 3, whole);
    make(&measured, three_measured, 2, whole);
    CHECK_EQ(rf_measure_interval(&measure, &perfect.profile, &measured.profile, 0.01, &error),
             RF_EINVAL);
    CHECK_TEXT(error.message,
               "the profiles are cut differently: 3 intervals kept of 3, and 2 of 2");
    make(&measured, three_measured, 3, other);
    CHECK_EQ(rf_measure_interval(&measure, &perfect.profile, &measured.profile, 0.01, &error),
             RF_EINVAL);
    CHECK_TEXT(error.message, "interval 1 has 1000 events in one profile and 900 in the other");
    make(&measured, three_measured, 3, whole);
    CHECK_EQ(rf_measure_interval(&measure, &perfect.profile, &measured.profile, 0, &error),
             RF_EINVAL);
    CHECK_EQ(
        rf_measure_one_interval(&measure, &perfect.profile, &measured.profile, 3, 0.01, &error),
        RF_EINVAL);
    perfect.profile.n_intervals = measured.profile.n_intervals = 0;
    CHECK_EQ(rf_measure_interval(&measure, &perfect.profile, &measured.profile, 0.01, &error),
             RF_EINVAL);
    CHECK_TEXT(error.message, "the profiles did not keep their intervals");
}

TEST(without_memory)
{
    static struct made perfect, measured;
    struct rf_measure_interval measure;
    for (uint64_t n = 1; n <= 2; n++) {
        failing = (struct failing){.fail_at = n};
        make(&perfect, three_perfect, 1, (uint64_t[]){1000});
        make(&measured, three_measured, 1, (uint64_t[]){1000});
        CHECK_EQ(rf_measure_interval(&measure, &perfect.profile, &measured.profile, 0.01, NULL),
                 RF_ENOMEM);
        CHECK_EQ(failing.held, 0);
    }
    failing = (struct failing){.fail_at = 0};
}

TEST_MAIN()
