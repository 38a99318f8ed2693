/* The pipeline over a ternary memory against the tree in software: the same nodes with the same counts,
 * whatever the stream, the options and the size of the memory; and its clock against what can be reckoned. */
#include "base/error.h"
#include "base/random.h"
#include "test.h"
#include <stdbool.h>
#include <riffle/engine.h>

enum { ITEMS_MAX = 1 << 16, EVENTS = 12000 };

struct seen {
    struct rf_item items[ITEMS_MAX];
    size_t n;
    double figures[32];
    char names[32][32];
    size_t n_figures;
};

static rf_status see_item(void *context, const struct rf_item *item)
{
    struct seen *seen = context;
    if (seen->n == ITEMS_MAX)
        return RF_ENOMEM;
    seen->items[seen->n++] = *item;
    return RF_OK;
}

static rf_status see_figure(void *context, const struct rf_figure *figure)
{
    struct seen *seen = context;
    seen->figures[seen->n_figures] = figure->value;
    strcpy(seen->names[seen->n_figures++], figure->name);
    return RF_OK;
}

static rf_status see_end(void *context, const struct rf_summary *summary)
{
    (void)context;
    (void)summary;
    return RF_OK;
}

static int by_range(const void *left, const void *right)
{
    const struct rf_item *x = left, *y = right;
    if (x->a != y->a)
        return x->a < y->a ? -1 : 1;
    return (x->a_hi < y->a_hi) - (x->a_hi > y->a_hi);
}

static void look(struct seen *seen, const struct rf_engine *engine)
{
    struct rf_sink sink = {see_item, see_figure, see_end, seen};
    seen->n = seen->n_figures = 0;
    if (rf_engine_report(engine, &sink) != RF_OK)
        abort();
    qsort(seen->items, seen->n, sizeof *seen->items, by_range);
}

static double figure(const struct seen *seen, const char *name)
{
    for (size_t i = 0; i < seen->n_figures; i++)
        if (strcmp(seen->names[i], name) == 0)
            return seen->figures[i];
    return -1;
}

static struct seen soft, hard;

static bool same(const struct rf_engine *software, const struct rf_engine *hardware, uint64_t b)
{
    look(&soft, software);
    look(&hard, hardware);
    double nodes = 1 + figure(&hard, "sets") * (double)b;
    return soft.n == hard.n && memcmp(soft.items, hard.items, soft.n * sizeof *soft.items) == 0 &&
           figure(&soft, "nodes") == nodes &&
           figure(&soft, "eps-max") == figure(&hard, "eps-max") &&
           figure(&soft, "splits") == figure(&hard, "splits");
}

static uint64_t next_value(struct rf_random *random, unsigned bits, unsigned kind, uint64_t i)
{
    unsigned width = (unsigned)rf_random_below(random, bits + 1);
    uint64_t value = width == 0 ? 0 : rf_random_next(random) >> (64 - width);
    uint64_t phase = (i / 3000 + 1) * UINT64_C(0x9e3779b97f4a7c15) >> (64 - bits);
    return kind == 0 ? value : kind == 1 ? (phase ^ (value >> bits / 2)) : rf_random_next(random);
}

/* Both get the same pieces and are held against each other after each. */
static bool agree(const char *soft_text, const char *hard_text, struct rf_random *random,
                  unsigned bits, uint64_t b)
{
    struct rf_engine *software, *hardware;
    struct rf_error error = {""};
    if (rf_engine_open(&software, soft_text, NULL, &error) != RF_OK ||
        rf_engine_open(&hardware, hard_text, NULL, &error) != RF_OK) {
        printf("# %s\n", error.message);
        fflush(stdout);
        abort();
    }
    struct rf_tuple piece[997];
    unsigned kind = (unsigned)rf_random_below(random, 3);
    bool fine = true;
    for (uint64_t i = 0; fine && i < EVENTS;) {
        size_t n = 1 + (size_t)rf_random_below(random, 997);
        for (size_t k = 0; k < n; k++)
            piece[k] = (struct rf_tuple){next_value(random, bits, kind, i++), 0};
        struct rf_tuples tuples = {piece, NULL, n};
        if (rf_engine_feed(software, &tuples, NULL) != RF_OK ||
            rf_engine_feed(hardware, &tuples, NULL) != RF_OK)
            abort();
        fine = same(software, hardware, b);
    }
    rf_engine_close(software);
    rf_engine_close(hardware);
    return fine;
}

TEST(hardware_and_software_have_the_same_tree)
{
    uint64_t seed = test_seed(60);
    uint64_t mixes = getenv("RIFFLE_TEST_LONG") != NULL ? 600 : 30;
    static const char *const eps[] = {"20%", "10%", "5%"};
    double early = 0;
    for (uint64_t i = 0; i < mixes; i++) {
        struct rf_random random;
        rf_random_seed(&random, seed * 1000 + i);
        uint64_t b = UINT64_C(2) << rf_random_below(&random, 4);
        unsigned bits = 8 + (unsigned)rf_random_below(&random, 57);
        uint64_t tcam = rf_random_below(&random, 2) ? 16 * b + 1 : 16384;
        char shared[256], soft_text[512], hard_text[512];
        rf_format(shared, sizeof shared, "eps=%s, b=%llu, bits=%u, q=%llu, first_merge=%u, ends=%u",
                  eps[rf_random_below(&random, 3)], (unsigned long long)b, bits,
                  (unsigned long long)(2 + rf_random_below(&random, 2)),
                  64u << rf_random_below(&random, 5), 1 + (unsigned)rf_random_below(&random, 2));
        rf_format(soft_text, sizeof soft_text, "rap(%s, nodes=%llu)", shared,
                  (unsigned long long)(tcam - 1));
        rf_format(hard_text, sizeof hard_text, "rap-hw(%s, tcam=%llu)", shared,
                  (unsigned long long)tcam);
        CHECK_ROW(hard_text, agree(soft_text, hard_text, &random, bits, b));
        early += figure(&hard, "early-merges");
    }
    CHECK(early > 0);
}

/* One value: after the splits on its path every event takes 4 cycles and waits for nobody. */
TEST(the_clock_of_a_steady_stream)
{
    struct rf_engine *engine;
    static struct rf_tuple tuples[1000];
    REQUIRE(rf_engine_open(&engine, "rap-hw(bits=8, eps=50%, first_merge=1M, arrival=10)", NULL,
                           NULL) == RF_OK);
    struct rf_tuples all = {tuples, NULL, 1000};
    REQUIRE(rf_engine_feed(engine, &all, NULL) == RF_OK);
    look(&hard, engine);
    CHECK_EQ(figure(&hard, "splits"), 4);
    CHECK_EQ(figure(&hard, "stall-split"), 4 * 16);
    CHECK_EQ(figure(&hard, "stall-merge"), 0);
    CHECK_EQ(figure(&hard, "queue-overflow"), 0);
    CHECK_EQ(figure(&hard, "cycles"), 999 * 10 + 1 + 4);
    rf_engine_close(engine);
}

/* Events come faster than they can be counted: the queue fills and the source waits, nothing is lost. */
TEST(the_clock_of_a_stream_that_is_too_fast)
{
    struct rf_engine *engine;
    static struct rf_tuple tuples[1000];
    REQUIRE(rf_engine_open(&engine, "rap-hw(bits=8, eps=50%, first_merge=1M, arrival=1, queue=16)",
                           NULL, NULL) == RF_OK);
    struct rf_tuples all = {tuples, NULL, 1000};
    REQUIRE(rf_engine_feed(engine, &all, NULL) == RF_OK);
    look(&hard, engine);
    CHECK_EQ(figure(&hard, "cycles"), 1 + 1000 * 4 + 4 * 16);
    CHECK_EQ(figure(&hard, "queue-max"), 16);
    CHECK(figure(&hard, "queue-overflow") > 900);
    CHECK_EQ(rf_engine_events(engine), 1000);
    rf_engine_close(engine);
}

TEST_MAIN()
