/* Questions to profiles of ranges, and the calls of riffle/rap.h. */
#include "test.h"
#include "failing.h"
#include <riffle/profiler.h>
#include <riffle/range.h>
#include <riffle/rap.h>

static struct failing failing;

/* The tree of the paper's figure 7 in small: 0..fe with 0..e inside, and a range elsewhere. */
static struct rf_item items[] = {
    {.a = 0x0, .a_hi = 0xf, .b_hi = UINT64_MAX, .count = 14},
    {.a = 0x0, .a_hi = 0xff, .b_hi = UINT64_MAX, .count = 17},
    {.a = 0x0, .a_hi = UINT64_MAX, .b_hi = UINT64_MAX, .count = 9},
    {.a = 0x80, .a_hi = 0x8f, .b_hi = UINT64_MAX, .count = 3},
    {.a = 0x1000, .a_hi = 0x1fff, .b_hi = UINT64_MAX, .count = 57},
};

static struct rf_profile ranges(void)
{
    struct rf_profile profile = {.shape = RF_SHAPE_RANGE_A,
                                 .bound = RF_BOUND_HARD,
                                 .consumed = 100,
                                 .items = items,
                                 .n_items = sizeof items / sizeof *items};
    profile.alloc = failing_alloc(&failing);
    return profile;
}

TEST(a_query_sums_what_lies_inside)
{
    static const struct {
        const char *label;
        uint64_t lo, hi, lower, upper;
    } rows[] = {
        {"everything", 0, UINT64_MAX, 100, 100}, {"a range of it", 0, 0xff, 34, 43},
        {"part of one", 0x1, 0x2, 0, 40},        {"nothing", 0x2000, 0x2fff, 0, 9},
        {"two", 0x80, 0x1fff, 60, 86},
    };
    struct rf_profile profile = ranges();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct rf_range_box box = {rows[i].lo, rows[i].hi, 0, UINT64_MAX};
        struct rf_range_answer answer;
        rf_range_query(&profile, &box, &answer);
        CHECK_ROW(rows[i].label, answer.lower == rows[i].lower);
        CHECK_ROW(rows[i].label, answer.upper == rows[i].upper);
        CHECK_EQ(answer.events, 100);
    }
}

TEST(hot_is_what_is_hot_without_hot_ranges_inside)
{
    struct rf_profile profile = ranges();
    struct rf_range_tree tree;
    REQUIRE(rf_range_tree_make(&tree, &profile, 0.1) == RF_OK);
    REQUIRE(tree.n == 5);
    static const struct {
        uint64_t hi, total, weight;
        unsigned depth;
        int hot;
    } rows[] = {
        {UINT64_MAX, 100, 9, 0, 0}, {0xff, 34, 20, 1, 1},   {0xf, 14, 14, 2, 1},
        {0x8f, 3, 3, 2, 0},         {0x1fff, 57, 57, 1, 1},
    };
    for (size_t i = 0; i < tree.n; i++) {
        CHECK_EQ(tree.nodes[i].box.a_hi, rows[i].hi);
        CHECK_EQ(tree.nodes[i].total, rows[i].total);
        CHECK_EQ(tree.nodes[i].weight, rows[i].weight);
        CHECK_EQ(tree.nodes[i].depth, rows[i].depth);
        CHECK_EQ(tree.nodes[i].hot, rows[i].hot);
    }
    CHECK_EQ(tree.n_hot, 3);
    rf_range_tree_free(&tree);
    CHECK_EQ(failing.held, 0);
    CHECK_EQ(failing.mistakes, 0);
}

/* Squares nest along the curve, whatever the order they come in. */
/* Three quarters of 0x40..0x7f lie directly inside 0..0xfff: what was between was merged away. */
TEST(a_hot_range_that_was_merged_away_comes_back)
{
    struct rf_item gap[] = {
        {.a = 0x0, .a_hi = 0xfff, .b_hi = UINT64_MAX, .count = 8},
        {.a = 0x40, .a_hi = 0x4f, .b_hi = UINT64_MAX, .count = 4},
        {.a = 0x50, .a_hi = 0x5f, .b_hi = UINT64_MAX, .count = 4},
        {.a = 0x60, .a_hi = 0x6f, .b_hi = UINT64_MAX, .count = 4},
        {.a = 0x1000, .a_hi = 0x1fff, .b_hi = UINT64_MAX, .count = 80},
    };
    struct rf_profile profile = ranges();
    profile.items = gap;
    struct rf_range_tree tree;
    REQUIRE(rf_range_tree_make(&tree, &profile, 0.1) == RF_OK);
    CHECK_EQ(tree.n, 6);
    CHECK_EQ(tree.n_hot, 2);
    CHECK(tree.nodes[1].hot && tree.nodes[1].box.a == 0x40 && tree.nodes[1].box.a_hi == 0x7f);
    CHECK(tree.nodes[1].item == SIZE_MAX && tree.nodes[1].weight == 12);
    CHECK(!tree.nodes[0].hot && tree.nodes[0].weight == 8 && tree.nodes[0].total == 20);
    rf_range_tree_free(&tree);
    REQUIRE(rf_range_tree_make(&tree, &profile, 0.12) == RF_OK); /* not hot enough */
    CHECK_EQ(tree.n, 5);
    rf_range_tree_free(&tree);
}

TEST(rectangles_find_their_parents)
{
    static struct rf_item squares[] = {
        {.a = 4, .a_hi = 7, .b = 0, .b_hi = 3, .count = 1},
        {.a = 6, .a_hi = 7, .b = 2, .b_hi = 3, .count = 2},
        {.a = 0, .a_hi = 7, .b = 0, .b_hi = 7, .count = 3},
        {.a = 0, .a_hi = 1, .b = 6, .b_hi = 7, .count = 4},
    };
    struct rf_profile profile = {.shape = RF_SHAPE_RECTANGLE,
                                 .consumed = 10,
                                 .items = squares,
                                 .n_items = sizeof squares / sizeof *squares};
    profile.alloc = failing_alloc(&failing);
    struct rf_range_tree tree;
    REQUIRE(rf_range_tree_make(&tree, &profile, 0.15) == RF_OK);
    CHECK_EQ(tree.nodes[0].total, 10);
    CHECK_EQ(tree.nodes[1].box.b, 6);
    CHECK_EQ(tree.nodes[1].parent, 0);
    CHECK_EQ(tree.nodes[2].box.a_hi - tree.nodes[2].box.a, 3);
    CHECK_EQ(tree.nodes[2].total, 3);
    CHECK_EQ(tree.nodes[3].parent, 2);
    CHECK_EQ(tree.nodes[2].hot, 0);
    CHECK_EQ(tree.nodes[0].weight, 4);
    rf_range_tree_free(&tree);
}

TEST(tuples_have_no_tree_but_answer)
{
    struct rf_item tuple[] = {{.a = 5, .a_hi = 5, .lower = 8, .count = 9, .upper = 10},
                              {.a = 9, .a_hi = 9, .lower = 3, .count = 3, .upper = 3}};
    struct rf_profile profile = {.consumed = 20, .items = tuple, .n_items = 2};
    struct rf_range_tree tree;
    struct rf_range_answer answer;
    CHECK(rf_range_tree_make(&tree, &profile, 0.1) == RF_EINVAL);
    struct rf_range_box box = {0, 7, 0, UINT64_MAX};
    rf_range_query(&profile, &box, &answer);
    CHECK_EQ(answer.lower, 8);
    CHECK_EQ(answer.upper, 17);
}

/* Two profiles whose trees differ: a range that only one of them lists may be full in the other. */
static struct rf_profile *profile_of(uint64_t step, uint64_t span)
{
    struct rf_profiler *profiler;
    struct rf_profile *profile;
    if (rf_profiler_open(&profiler, "rap(eps=5%, bits=16)", NULL, NULL) != RF_OK)
        abort();
    for (uint64_t i = 0; i < 20000; i++) {
        struct rf_tuple tuple = {i * step % span, 0};
        rf_profiler_feed(profiler, &(struct rf_tuples){&tuple, NULL, 1}, NULL);
    }
    if (rf_profiler_profile(profiler, &profile, NULL) != RF_OK)
        abort();
    rf_profiler_close(profiler);
    return profile;
}

TEST(bounds_of_merged_profiles_hold)
{
    struct rf_run *left, *right;
    REQUIRE(rf_run_new(&left, "", NULL) == RF_OK && rf_run_new(&right, "", NULL) == RF_OK);
    rf_run_add_profile(left, profile_of(7, 64));
    rf_run_add_profile(right, profile_of(13, 5000));
    REQUIRE(rf_run_merge(left, right, NULL) == RF_OK);
    REQUIRE(left->n_profiles == 1);
    const struct rf_profile *sum = left->profiles[0];
    for (size_t i = 0; i < sum->n_items; i++) {
        uint64_t truth = 0;
        for (uint64_t k = 0; k < 20000; k++) {
            truth += sum->items[i].a <= k * 7 % 64 && k * 7 % 64 <= sum->items[i].a_hi;
            truth += sum->items[i].a <= k * 13 % 5000 && k * 13 % 5000 <= sum->items[i].a_hi;
        }
        CHECK(sum->items[i].lower <= truth);
        CHECK(truth <= sum->items[i].upper);
    }
    rf_run_free(left);
    rf_run_free(right);
}

/* --- riffle/rap.h --- */

static rf_status add_up(void *context, const struct rf_item *item)
{
    *(uint64_t *)context += item->count;
    return RF_OK;
}

static rf_status ignore(void *context, const struct rf_summary *summary)
{
    (void)context;
    (void)summary;
    return RF_OK;
}

TEST(profiles_of_an_embedder_do_not_mix)
{
    struct rf_rap *rap;
    struct rf_rap_answer answer;
    REQUIRE(rf_rap_init(&rap, 2, "eps=10%, bits=16", NULL, NULL) == RF_OK);
    for (uint64_t i = 0; i < 1000; i++)
        rf_rap_add_points(rap, i % 10, 1, 0);
    rf_rap_add_points(rap, 60000, 5000, 1);
    rf_rap_query(rap, 0, 0, 9, &answer);
    CHECK_EQ(answer.events, 1000);
    CHECK(answer.lower <= 1000 && answer.upper >= 1000 && answer.upper - answer.lower <= 100);
    rf_rap_query(rap, 1, 60000, 60000, &answer);
    CHECK_EQ(answer.events, 5000);
    CHECK(answer.lower >= 4500 && answer.lower <= 5000);
    uint64_t sum = 0;
    struct rf_sink sink = {add_up, NULL, ignore, &sum};
    CHECK(rf_rap_finalize(rap, 1, &sink) == RF_OK);
    CHECK_EQ(sum, 5000);
    rf_rap_free(rap);
}

TEST(an_embedder_without_memory_is_told)
{
    struct failing none = {.fail_at = 1};
    struct rf_alloc alloc = failing_alloc(&none);
    struct rf_rap *rap;
    CHECK(rf_rap_init(&rap, 3, NULL, &alloc, NULL) == RF_ENOMEM);
    CHECK(rap == NULL);
    CHECK_EQ(none.held, 0);
    rf_rap_free(NULL);
}

TEST(an_embedder_is_told_what_is_wrong)
{
    struct rf_rap *rap;
    struct rf_error error = {""};
    CHECK(rf_rap_init(&rap, 1, "epsilon=1%", NULL, &error) == RF_EINVAL);
    CHECK(rap == NULL);
    CHECK(strstr(error.message, "no option 'epsilon'") != NULL);
}

TEST_MAIN()
