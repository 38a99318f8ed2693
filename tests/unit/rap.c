/* The tree of range-adaptive profiling in cases that can be followed by hand.
 *
 * eps = 1 and b = 4 over 8 bits: 4 levels, so with ends = 1 the threshold is n / 4, at least 1. */
#include "base/error.h"
#include "engine/rap/rap_engine.h"
#include "test.h"
#include <riffle/engine.h>

static char memory[1 << 16];

static struct rf_rap_tree tree;

static void make_tree(unsigned dims, unsigned bits, unsigned b, double eps, uint64_t first_merge)
{
    struct rf_rap_plan plan = {0};
    rf_rap_plan_make(&plan, dims, bits, b, eps, 1);
    plan.q = 2;
    plan.first_merge = first_merge;
    plan.sets = 64;
    rf_rap_tree_init(&tree, &plan, memory);
}

static void write_node(void *context, const struct rf_rap_tree *t, uint32_t x, uint64_t above)
{
    (void)above;
    char *text = context;
    size_t n = strlen(text);
    struct rf_rap_box box = rf_rap_tree_box(t, x);
    if (t->nodes[x].count == 0)
        return;
    rf_format(text + n, 512 - n, "%s%llx-%llx:%llu", n > 0 ? " " : "", (unsigned long long)box.a,
              (unsigned long long)box.a_hi, (unsigned long long)t->nodes[x].count);
}

/* Nodes with a count, parents first: "0-ff:1 0-3f:2". */
static const char *nodes_as_text(void)
{
    static char text[512];
    text[0] = '\0';
    struct rf_rap_visit visit = {write_node, text};
    rf_rap_tree_walk(&tree, &visit);
    return text;
}

static void add(uint64_t value, uint64_t count)
{
    rf_rap_tree_add(&tree, (struct rf_tuple){value, 0}, count);
}

TEST(one_value_takes_one_split_a_level)
{
    make_tree(1, 8, 4, 1, 1000);
    CHECK_EQ(tree.plan.levels, 4);
    CHECK_EQ(tree.plan.per_limit, 4);
    add(12, 1);
    CHECK_TEXT(nodes_as_text(), "0-ff:1");
    CHECK_EQ(tree.splits, 1);
    add(12, 1);
    add(12, 1);
    CHECK_TEXT(nodes_as_text(), "0-ff:1 0-3f:1 0-f:1");
    add(12, 2);
    CHECK_TEXT(nodes_as_text(), "0-ff:1 0-3f:1 0-f:1 c-f:1 c-c:1");
    CHECK_EQ(tree.splits, 4);
    add(12, 100);
    CHECK_TEXT(nodes_as_text(), "0-ff:1 0-3f:1 0-f:1 c-f:1 c-c:101");
}

TEST(a_count_is_so_many_events)
{
    for (uint64_t count = 1; count < 300; count += 7) {
        char one_by_one[512];
        make_tree(1, 8, 4, 0.5, 16);
        for (uint64_t i = 0; i < 3 * count; i++)
            add(i < count ? 200 : i < 2 * count ? 7 : 201, 1);
        rf_format(one_by_one, sizeof one_by_one, "%s", nodes_as_text());
        make_tree(1, 8, 4, 0.5, 16);
        add(200, count);
        add(7, count);
        add(201, count);
        CHECK_TEXT(nodes_as_text(), one_by_one);
    }
}

/* The path to 12 is light by then: its sets go, all but the last, whose parent is now the root. */
TEST(an_interior_merge_leaves_the_heavy_leaf_with_a_gap_above)
{
    make_tree(1, 8, 4, 1, 64);
    add(12, 64);
    CHECK_EQ(tree.merges, 1);
    CHECK_TEXT(nodes_as_text(), "0-ff:4 c-c:60");
    CHECK_EQ(tree.used, 1);
    CHECK_EQ(tree.nodes[0].gap, 1);
    CHECK_EQ(rf_rap_tree_find(&tree, (struct rf_tuple){16, 0}), 0);
    struct rf_rap_box box =
        rf_rap_tree_box(&tree, rf_rap_tree_find(&tree, (struct rf_tuple){13, 0}));
    CHECK_EQ(box.a, 13);
    CHECK_EQ(box.a_hi, 13);
}

TEST(a_split_takes_the_children_along)
{
    make_tree(1, 8, 4, 1, 64);
    add(12, 64);
    uint64_t splits = tree.splits;
    add(99, 12); /* the root holds 4, at n = 76 the threshold is 19, at 79 it is 19 */
    CHECK_EQ(tree.splits, splits);
    add(99, 3);
    CHECK_TEXT(nodes_as_text(), "0-ff:19 c-c:60");
    CHECK_EQ(tree.splits, splits + 1);
    CHECK_EQ(tree.nodes[0].gap, 0);
    uint32_t first = rf_rap_tree_find(&tree, (struct rf_tuple){63, 0});
    CHECK_EQ(rf_rap_tree_box(&tree, first).a_hi, 63);
    CHECK_EQ(tree.nodes[first].gap, 1);
    add(12, 1);
    CHECK_TEXT(nodes_as_text(), "0-ff:19 c-c:61");
}

TEST(bits_that_the_step_does_not_divide)
{
    make_tree(1, 9, 8, 1, 1000); /* 3 levels */
    CHECK_EQ(tree.plan.levels, 3);
    make_tree(1, 10, 8, 1, 1000); /* 4, the first of which has two children */
    CHECK_EQ(tree.plan.levels, 4);
    add(1023, 9);
    CHECK_TEXT(nodes_as_text(), "0-3ff:1 200-3ff:1 3c0-3ff:1 3f8-3ff:1 3ff-3ff:5");
    make_tree(1, 64, 8, 1, 1000);
    CHECK_EQ(tree.plan.levels, 22);
    add(UINT64_MAX, 2);
    CHECK_TEXT(nodes_as_text(), "0-ffffffffffffffff:1 8000000000000000-ffffffffffffffff:1");
}

TEST(a_query_counts_what_lies_inside_and_bounds_the_rest)
{
    make_tree(1, 8, 4, 1, 1000);
    add(12, 5); /* 0-ff:1 0-3f:1 0-f:1 c-f:1 c-c:1 */
    static const struct {
        const char *label;
        uint64_t lo, hi, lower, upper;
    } rows[] = {
        {"everything", 0, 255, 5, 5}, {"the value", 12, 12, 1, 5},  {"its set", 12, 15, 2, 5},
        {"half", 0, 127, 4, 5},       {"elsewhere", 64, 127, 0, 1}, {"a neighbour", 13, 13, 0, 4},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct rf_rap_box box = {rows[i].lo, rows[i].hi, 0, UINT64_MAX};
        struct rf_rap_bounds bounds = rf_rap_tree_query(&tree, box);
        CHECK_ROW(rows[i].label, bounds.lower == rows[i].lower);
        CHECK_ROW(rows[i].label, bounds.upper == rows[i].upper);
    }
}

TEST(two_dimensions_split_into_squares)
{
    make_tree(2, 8, 4, 1, 1000);
    CHECK_EQ(tree.plan.levels, 8);
    rf_rap_tree_add(&tree, (struct rf_tuple){200, 3}, 2);
    CHECK_EQ(tree.splits, 2);
    struct rf_rap_box box =
        rf_rap_tree_box(&tree, rf_rap_tree_find(&tree, (struct rf_tuple){200, 3}));
    CHECK_EQ(box.a, 192);
    CHECK_EQ(box.a_hi, 255);
    CHECK_EQ(box.b, 0);
    CHECK_EQ(box.b_hi, 63);
}

TEST(two_trees_become_one)
{
    static char other_memory[1 << 16];
    make_tree(1, 8, 4, 1, 64);
    add(12, 64); /* 0-ff:4 c-c:60 */
    struct rf_rap_tree other;
    rf_rap_tree_init(&other, &tree.plan, other_memory);
    rf_rap_tree_add(&other, (struct rf_tuple){77, 0}, 64);
    rf_rap_tree_unite(&tree, &other);
    CHECK_EQ(tree.events, 128);
    CHECK_TEXT(nodes_as_text(), "0-ff:8 c-c:60 4d-4d:60");
    rf_rap_tree_unite(&tree, &other);
    CHECK_TEXT(nodes_as_text(), "0-ff:12 c-c:60 4d-4d:120");
}

TEST(a_full_pool_merges_early_and_says_so)
{
    make_tree(1, 8, 2, 0.05, 1 << 20);
    double eps = rf_rap_tree_eps(&tree);
    for (uint64_t i = 0; i < 20000; i++)
        add(i * 37 % 256, 1);
    CHECK(tree.early > 0);
    CHECK(tree.used_max <= tree.plan.sets - 1);
    CHECK(rf_rap_tree_eps(&tree) > eps);
    CHECK_EQ(rf_rap_tree_total(&tree, 0), 20000);
}

/* 256 values at once need more room than there is; later there is but one. */
TEST(what_a_full_pool_lost_comes_back)
{
    make_tree(1, 8, 2, 0.05, 1024);
    double planned = rf_rap_tree_eps(&tree);
    for (uint64_t i = 0; i < 20000; i++)
        add(i * 37 % 256, 1);
    double widened = rf_rap_tree_eps(&tree);
    add(12, 200000);
    double later = rf_rap_tree_eps(&tree);
    add(12, 20000000);
    CHECK(widened > planned);
    CHECK(later < widened);
    CHECK(tree.wide > 0);
    CHECK_EQ(tree.per_limit, tree.plan.per_limit);
    CHECK(rf_rap_tree_eps(&tree) == planned);
}

/* What the options cost, and how they are refused. */
static const struct {
    const char *text;
    const char *message; /* NULL: fine */
} rows[] = {
    {"rap", NULL},
    {"rap(paper)", NULL},
    {"rap(key=both, b=16)", NULL},
    {"rap(b=3)", "engine 'rap': b must be 2, 4, 8 or 16, got 3"},
    {"rap(key=both, b=8)", "engine 'rap': in two dimensions b must be 4 or 16, got 8"},
    {"rap(nodes=60)", "engine 'rap': nodes must be at least 64 for b=4"},
    {"rap(eps=0.0001%)", "engine 'rap': eps is so small that a stream can need more than "
                         "268435456 nodes; say how many it may have with nodes="},
    {"rap(eps=0.0001%, nodes=1M)", NULL},
};

/* Three quarters of the sets may be used: so many times more than are. */
TEST(room_that_is_left_is_used)
{
    const struct rf_rap_plan plan = {.sets = 81, .per_limit = 1000};
    CHECK_EQ(rf_rap_narrowed(&plan, 10, 30), 20);
    CHECK_EQ(rf_rap_narrowed(&plan, 10, 60), 10);
    CHECK_EQ(rf_rap_narrowed(&plan, 10, 0), 600);
    CHECK_EQ(rf_rap_narrowed(&plan, 900, 30), 1000);
}

TEST(options)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct rf_engine *engine;
        struct rf_error error = {""};
        rf_status status = rf_engine_open(&engine, rows[i].text, NULL, &error);
        CHECK_ROW(rows[i].text, (status == RF_OK) == (rows[i].message == NULL));
        if (rows[i].message != NULL)
            CHECK_TEXT(error.message, rows[i].message);
        rf_engine_close(engine);
    }
}

TEST(values_outside_of_the_universe_are_counted_apart)
{
    struct rf_rap_config config = {
        .eps = 0.1, .b = 4, .bits = 8, .q = 2, .first_merge = 64, .ends = 2, .cache = 16};
    size_t size = (rf_rap.state_size(&config) + 63) & ~(size_t)63, consumed;
    struct rf_rap_state *state = aligned_alloc(64, size);
    struct rf_engine_env env = {0};
    REQUIRE(state != NULL);
    memset(state, 0, size);
    rf_rap.init(state, &config, &env, NULL);
    struct rf_tuple tuples[] = {{256, 0}, {255, 0}, {UINT64_MAX, 7}, {0, 9}};
    rf_rap.feed(state, tuples, 4, &consumed);
    rf_rap.feed_counted(state, tuples[0], 10);
    CHECK_EQ(state->outside, 12);
    CHECK_EQ(state->tree.events, 2);
    free(state);
}

/* 16 bytes an entry: as many as the power of two that is nearest, of two the smaller one. */
TEST(a_buffer_has_a_power_of_two_of_entries)
{
    static const struct {
        uint64_t bytes;
        size_t entries;
    } table[] = {{0, 0}, {1, 1}, {16, 1}, {32, 2}, {48, 2}, {64, 4}, {96, 4}, {112, 8}, {192, 8}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct rf_rap_config config = {.eps = 0.1,
                                       .b = 4,
                                       .bits = 8,
                                       .q = 2,
                                       .first_merge = 64,
                                       .ends = 2,
                                       .cache = 16,
                                       .buffer = table[i].bytes};
        size_t size = (rf_rap.state_size(&config) + 63) & ~(size_t)63;
        struct rf_rap_state *state = aligned_alloc(64, size);
        struct rf_engine_env env = {0};
        REQUIRE(state != NULL);
        memset(state, 0, size);
        rf_rap.init(state, &config, &env, NULL);
        CHECK_EQ(state->buffer.entries, table[i].entries);
        free(state);
    }
}

static rf_status keep_sent(void *context, const struct rf_figure *figure)
{
    if (strcmp(figure->name, "buffer-out") == 0)
        *(double *)context = figure->value;
    return RF_OK;
}

static rf_status any_item(void *context, const struct rf_item *item)
{
    (void)context;
    (void)item;
    return RF_OK;
}

static rf_status any_end(void *context, const struct rf_summary *summary)
{
    (void)context;
    (void)summary;
    return RF_OK;
}

/* A buffer of one entry: 1 1 1 2 2 3 sends on the 1 and the 2. */
TEST(a_buffer_says_what_it_sent_to_the_tree)
{
    static const struct rf_tuple tuples[] = {{1, 0}, {1, 0}, {1, 0}, {2, 0}, {2, 0}, {3, 0}};
    static const struct {
        const char *text;
        double sent; /* -1: it does not say */
    } table[] = {{"rap(buffer=16)", 2}, {"rap", -1}};
    for (size_t i = 0; i < 2; i++) {
        struct rf_engine *engine;
        double sent = -1;
        struct rf_sink sink = {any_item, keep_sent, any_end, &sent};
        REQUIRE(rf_engine_open(&engine, table[i].text, NULL, NULL) == RF_OK);
        REQUIRE(rf_engine_feed(engine, &(struct rf_tuples){tuples, NULL, 6}, NULL) == RF_OK);
        rf_engine_report(engine, &sink);
        CHECK_ROW(table[i].text, sent == table[i].sent);
        rf_engine_close(engine);
    }
}

/* The limit is n / 10, at least 1. Until the first merge at 100 events: 19 splits at a limit of 1, 10 events over each of 2 to
 * 9, and a tenth, which is 37.4; then 10 at most are left from before, 3 nodes each, and 7.1 come. Both are rounded up. */
TEST(splits_between_two_merges_by_hand)
{
    const struct rf_rap_plan plan = {.per_limit = 10, .first_merge = 100, .q = 2};
    struct rf_rap_worst first = rf_rap_plan_worst(&plan, (struct rf_rap_worst){0});
    CHECK_EQ(first.from, 0);
    CHECK_EQ(first.to, 100);
    CHECK_EQ(first.after, 0);
    CHECK_EQ(first.before, 38);
    struct rf_rap_worst second = rf_rap_plan_worst(&plan, first);
    CHECK_EQ(second.from, 100);
    CHECK_EQ(second.to, 200);
    CHECK_EQ(second.after, 30);
    CHECK_EQ(second.before, 30 + 10 + 8);
}

TEST_MAIN()
