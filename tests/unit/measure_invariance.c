/* The invariance measure, computed by hand. */
#include <riffle/invariance.h>
#include "failing.h"
#include "test.h"
#include <math.h>

enum { ITEMS_MAX = 10 };

/* Items as pc, value, count; pc 0 ends the list. */
struct written {
    uint64_t pc, value, count;
};

static struct failing failing;

static void make(struct rf_profile *profile, struct rf_item *items, const struct written *written)
{
    *profile = (struct rf_profile){.alloc = failing_alloc(&failing), .items = items};
    for (; written->pc != 0; written++)
        items[profile->n_items++] = (struct rf_item){.a = written->pc,
                                                     .a_hi = written->pc,
                                                     .b = written->value,
                                                     .b_hi = written->value,
                                                     .count = written->count};
}

static int near(double x, double y)
{
    return x - y < 1e-12 && y - x < 1e-12;
}

/* Values that have less than a tenth of their pc each. */
#define SIX_OF_99                                                                                  \
    {1, 2, 99}, {1, 3, 99}, {1, 4, 99}, {1, 5, 99}, {1, 6, 99},                                    \
    {                                                                                              \
        1, 7, 99                                                                                   \
    }

static const struct {
    const char *label;
    struct written perfect[ITEMS_MAX], measured[ITEMS_MAX];
    double error, unseen, covered;
    uint64_t tuples, pcs;
} rows[] = {
    {"the same", {{1, 5, 700}, {1, 6, 300}}, {{1, 5, 700}, {1, 6, 300}}, 0, 0, 1, 2, 1},
    {"scaled is the same", {{1, 5, 700}, {1, 6, 300}}, {{1, 5, 7}, {1, 6, 3}}, 0, 0, 1, 2, 1},
    /* |0.7 - 1| * 700 + |0.3 - 0| * 300 over 1000 */
    {"one is not seen", {{1, 5, 700}, {1, 6, 300}}, {{1, 5, 7}}, 0.3, 0.3, 1, 2, 1},
    {"nothing is seen", {{1, 5, 700}, {1, 6, 300}}, {{2, 5, 7}}, 0.58, 1, 1, 2, 1},
    {"too seldom", {{1, 5, 999}}, {{1, 5, 7}}, 0, 0, 0, 0, 0},
    {"some are invariant enough",
     {{1, 1, 390}, {1, 2, 90}, {1, 3, 90}, {1, 4, 90}, {1, 5, 90}, {1, 6, 90}, {1, 7, 160}},
     {{1, 1, 1}},
     390 * 0.61 / 550 + 160 * 0.16 / 550,
     160.0 / 550,
     0.55,
     2,
     1},
    {"40% are just enough", {{1, 1, 400}, SIX_OF_99, {1, 8, 6}}, {{1, 1, 1}}, 0.6, 0, 0.4, 1, 1},
    {"39% are not", {{1, 1, 390}, SIX_OF_99, {1, 8, 16}}, {{1, 1, 1}}, 0, 0, 0, 0, 0},
    {"two pcs by their weight",
     {{1, 5, 3000}, {2, 5, 500}, {2, 6, 500}},
     {{1, 5, 9}, {2, 5, 1}},
     (500 * 0.5 + 500 * 0.5) / 4000,
     500.0 / 4000,
     1,
     3,
     2},
};

TEST(by_hand)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct rf_profile perfect, measured;
        struct rf_item p[ITEMS_MAX], m[ITEMS_MAX];
        make(&perfect, p, rows[i].perfect);
        make(&measured, m, rows[i].measured);
        struct rf_measure_invariance got;
        CHECK_EQ(rf_measure_invariance(&got, &perfect, &measured, NULL, NULL), RF_OK);
        CHECK_ROW(rows[i].label, near(got.error, rows[i].error));
        CHECK_ROW(rows[i].label, near(got.unseen, rows[i].unseen));
        CHECK_ROW(rows[i].label, near(got.covered, rows[i].covered));
        CHECK_ROW(rows[i].label, got.tuples == rows[i].tuples && got.pcs == rows[i].pcs);
    }
    CHECK_EQ(failing.held, 0);
}

/* 30% and 30% are invariant, 40 values make 1% each: 60% of the pc. */
TEST(filters_are_what_they_say)
{
    static const struct {
        const char *label;
        struct rf_invariance_filter filter;
        uint64_t tuples;
    } table[] = {
        {"the paper's", {1000, 0.1, 0.4}, 2},     {"more executions", {1001, 0.1, 0.4}, 0},
        {"a larger share", {1000, 0.31, 0.4}, 0}, {"every tuple", {0, 0, 0}, 42},
        {"more of the pc", {1000, 0.1, 0.61}, 0},
    };
    struct rf_item items[42];
    struct rf_profile perfect = {.alloc = failing_alloc(&failing), .items = items, .n_items = 42};
    for (uint64_t i = 0; i < 42; i++)
        items[i] =
            (struct rf_item){.a = 1, .a_hi = 1, .b = i, .b_hi = i, .count = i < 2 ? 300 : 10};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct rf_measure_invariance got;
        CHECK_EQ(rf_measure_invariance(&got, &perfect, &perfect, &table[i].filter, NULL), RF_OK);
        CHECK_ROW(table[i].label, got.tuples == table[i].tuples);
        CHECK_ROW(table[i].label, got.error == 0);
    }
}

TEST(ranges_have_no_invariance)
{
    struct rf_profile perfect = {.alloc = failing_alloc(&failing), .shape = RF_SHAPE_RANGE_A};
    struct rf_measure_invariance got;
    struct rf_error error;
    CHECK_EQ(rf_measure_invariance(&got, &perfect, &perfect, NULL, &error), RF_EINVAL);
    CHECK_TEXT(error.message, "invariance needs tuples <pc, value>, not ranges");
}

/* Engines on their way give what their profiles would. */
TEST(engines_while_they_run)
{
    struct rf_engine *exact, *sampled;
    REQUIRE(rf_engine_open(&exact, "exact", NULL, NULL) == RF_OK);
    REQUIRE(rf_engine_open(&sampled, "P3", NULL, NULL) == RF_OK);
    struct rf_invariance *invariance;
    REQUIRE(rf_invariance_open(&invariance, NULL, NULL, NULL) == RF_OK);
    struct rf_tuple tuples[4] = {{1, 5}, {1, 5}, {1, 6}, {1, 5}};
    struct rf_measure_invariance got = {0};
    for (int round = 1; round <= 300; round++) {
        rf_engine_feed(exact, &(struct rf_tuples){tuples, NULL, 4}, NULL);
        rf_engine_feed(sampled, &(struct rf_tuples){tuples, NULL, 4}, NULL);
        CHECK_EQ(rf_invariance_truth_engine(invariance, exact, NULL), RF_OK);
        CHECK_EQ(rf_invariance_engine(invariance, &got, sampled, NULL), RF_OK);
        CHECK_EQ(got.pcs, round >= 250 ? 1 : 0);
    }
    CHECK(near(got.error, 0)); /* every third of 5 5 6 5: three 5 to one 6 */
    rf_invariance_close(invariance);
    rf_engine_close(exact);
    rf_engine_close(sampled);
}

TEST(no_memory_is_said)
{
    struct rf_profile perfect, measured;
    struct rf_item p[ITEMS_MAX], m[ITEMS_MAX];
    for (uint64_t n = 1; n < 40; n++) {
        failing = (struct failing){.fail_at = n};
        make(&perfect, p, rows[0].perfect);
        make(&measured, m, rows[0].measured);
        struct rf_measure_invariance got;
        rf_status status = rf_measure_invariance(&got, &perfect, &measured, NULL, NULL);
        CHECK(status == RF_ENOMEM || (status == RF_OK && failing.allocations < n));
        CHECK_EQ(failing.held, 0);
        CHECK_EQ(failing.mistakes, 0);
    }
    failing = (struct failing){0};
}

/* The root of the mean square, by hand. */
TEST(root_mean_square)
{
    static const struct {
        const char *label;
        struct written perfect[ITEMS_MAX], measured[ITEMS_MAX];
        double squared;
    } cases[] = {
        {"the same", {{1, 5, 700}, {1, 6, 300}}, {{1, 5, 7}, {1, 6, 3}}, 0},
        {"one is not seen", {{1, 5, 700}, {1, 6, 300}}, {{1, 5, 7}}, 0.09},
        /* (700 * 0.7^2 + 300 * 0.3^2) / 1000 = 0.37 */
        {"nothing is seen", {{1, 5, 700}, {1, 6, 300}}, {{2, 5, 7}}, 0.37},
        /* (3000 * 0 + 2 * 500 * 0.5^2) / 4000 = 0.0625 */
        {"two pcs", {{1, 5, 3000}, {2, 5, 500}, {2, 6, 500}}, {{1, 5, 9}, {2, 5, 1}}, 0.0625},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rf_profile perfect, measured;
        struct rf_item p[ITEMS_MAX], m[ITEMS_MAX];
        struct rf_measure_invariance got;
        make(&perfect, p, cases[i].perfect);
        make(&measured, m, cases[i].measured);
        CHECK_EQ(rf_measure_invariance(&got, &perfect, &measured, NULL, NULL), RF_OK);
        CHECK_ROW(cases[i].label, near(got.rms * got.rms, cases[i].squared));
    }
}

/* 100 samples: 60 surely had 5, 10 surely 6, and 30 may have had either: 70 are taken for 5. */
TEST(totals_can_stand_in_the_bounds)
{
    struct rf_profile perfect, measured;
    struct rf_item p[ITEMS_MAX], m[ITEMS_MAX];
    struct rf_measure_invariance got;
    struct rf_figure figure = {"totals-in-bounds", 1};
    make(&perfect, p, (const struct written[]){{1, 5, 700}, {1, 6, 300}, {0, 0, 0}});
    make(&measured, m, (const struct written[]){{1, 5, 70}, {1, 6, 20}, {0, 0, 0}});
    m[0].lower = 60;
    m[0].upper = 90;
    m[1].lower = 10;
    m[1].upper = 40;
    measured.figures = &figure;
    measured.n_figures = 1;
    CHECK_EQ(rf_measure_invariance(&got, &perfect, &measured, NULL, NULL), RF_OK);
    CHECK(near(got.error, 300 * 0.1 / 1000)); /* 0.7 is right, 0.2 is not 0.3 */
    CHECK(near(got.rms, sqrt(300 * 0.1 * 0.1 / 1000)));
}

TEST_MAIN()
