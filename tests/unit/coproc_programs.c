/* The co-processor's programs beside exact trackers: what they find of random streams, to the last event where all
 * tuples have slots, and as good as stated where they do not. */
#include <stdbool.h>
#include "test.h"
#include "base/random.h"
#include "reference/trackers.h"
#include <riffle/coproc.h>

enum { ITEMS_MAX = 20000, SEEDS = 20, RECORDS = 20000 };

/* --- streams: a size of about 1 fits into the slots, of 20 does not -------------------------------- */

struct stream {
    struct rf_random *random;
    unsigned size, depth, climb;
};
typedef struct rf_record maker(struct stream *stream);

/* Small numbers more often. */
static uint64_t skewed(struct rf_random *random, uint64_t n)
{
    return rf_random_below(random, 1 + rf_random_below(random, n));
}

static struct rf_record make_edge(struct stream *stream)
{
    struct rf_random *random = stream->random;
    uint64_t pc = UINT64_C(0x555500400000) + 4 * skewed(random, 50 * stream->size);
    bool taken = rf_random_below(random, 1 + pc / 4 % 8) == 0;
    struct rf_record r = {.pc = pc, .kind = RF_CLASS_BRANCH, .flags = taken ? RF_RECORD_TAKEN : 0};
    r.target = taken ? pc + 0x1000 : pc + 4;
    if (pc / 4 % 5 == 0) {
        r.kind = pc / 4 % 2 == 0 ? RF_CLASS_CALL : RF_CLASS_JUMP;
        r.flags =
            rf_random_below(random, 10) == 0 ? 0 : RF_RECORD_INDIRECT; /* direct: not wanted */
        r.target = UINT64_C(0x555500500000) + 64 * skewed(random, 5);
    }
    return r;
}

/* Calls from few places, three deep, and rarely a recursion far deeper than the stack of the program. */
static struct rf_record make_context(struct stream *stream)
{
    struct rf_random *random = stream->random;
    uint64_t kind = rf_random_below(random, 6), sites = 1 + stream->size / 4;
    if (stream->size > 1 && rf_random_below(random, 2000) == 0)
        stream->climb = 300;
    if (stream->climb > 0 || (kind < 2 && stream->depth < 3)) {
        uint64_t site = stream->climb > 0 ? 0 : rf_random_below(random, sites);
        stream->climb -= stream->climb > 0;
        stream->depth++;
        return (struct rf_record){.pc = 0x1000 + 16 * site,
                                  .kind = RF_CLASS_CALL,
                                  .flags = kind == 0 ? RF_RECORD_INDIRECT : 0};
    }
    if (kind < 4) {
        stream->depth -= stream->depth > 0;
        return (struct rf_record){.pc = 0x2000, .kind = RF_CLASS_RETURN};
    }
    return (struct rf_record){.pc = 0x3000 + 4 * skewed(random, 1 + stream->size),
                              .kind = RF_CLASS_LOAD,
                              .miss = (uint8_t)rf_random_below(random, 3)};
}

static struct rf_record make_access(struct stream *stream)
{
    struct rf_random *random = stream->random;
    bool store = rf_random_below(random, 3) == 0;
    uint64_t number = skewed(random, stream->size > 1 ? 100 : 4);
    return (struct rf_record){.pc = (store ? 0x1000 : 0x2000) + 4 * number,
                              .addr = 0x10000 + number * 64 + 4 * skewed(random, 30) +
                                      rf_random_below(random, 4),
                              .width = 64,
                              .kind = store ? RF_CLASS_STORE : RF_CLASS_LOAD};
}

static struct rf_record make_miss(struct stream *stream)
{
    struct rf_random *random = stream->random;
    uint64_t addr = UINT64_C(0x100000000) + 4096 * skewed(random, 10 * stream->size) +
                    64 * rf_random_below(random, 4) + rf_random_below(random, 64);
    return (struct rf_record){.addr = addr,
                              .pc = 0x1000 + 4 * rf_random_below(random, 2),
                              .width = 8,
                              .miss = (uint8_t)rf_random_below(random, 3),
                              .kind = (uint8_t)rf_random_below(random, 2)};
}

static const struct {
    const char *name;
    maker *make;
    struct tracker_rules rules; /* of the base size */
    double error_most;          /* weighted, where slots are short */
} programs[] = {
    {"edges", make_edge, {0}, 0.12},
    {"contexts", make_context, {.depth = 128, .level = 1}, 0.14},
    {"dependences", make_access, {.ring = 128, .grain = 2}, 0.17},
    {"conflicts", make_miss, {.ring = 128}, 0.16},
};
enum { PROGRAMS = sizeof programs / sizeof *programs };

/* --- both of them ----------------------------------------------------------------------------------- */

struct found {
    struct rf_item items[ITEMS_MAX];
    size_t n;
    double interrupts;
};

static rf_status take_item(void *context, const struct rf_item *item)
{
    struct found *found = context;
    if (found->n == ITEMS_MAX)
        return RF_EINVAL;
    found->items[found->n++] = *item;
    return RF_OK;
}

static rf_status take_figure(void *context, const struct rf_figure *figure)
{
    struct found *found = context;
    if (strcmp(figure->name, "interrupts") == 0)
        found->interrupts = figure->value;
    return RF_OK;
}

static rf_status take_end(void *context, const struct rf_summary *summary)
{
    (void)context;
    (void)summary;
    return RF_OK;
}

static struct tracker_error run(size_t program, unsigned size, uint64_t seed, struct found *found)
{
    struct tracker *tracker = tracker_new(programs[program].name, &programs[program].rules);
    const struct rf_coproc_setup setup = {.seed = seed};
    const struct rf_sink sink = {take_item, take_figure, take_end, found};
    struct rf_coproc_totals totals;
    struct rf_coproc *coproc;
    struct rf_error error = {""};
    struct rf_random random;
    struct stream stream = {&random, size, 0, 0};
    char name[40];
    snprintf(name, sizeof name, "%s.uc", programs[program].name);
    rf_random_seed(&random, seed);
    found->n = 0;
    rf_coproc_open(&coproc, name, &setup, &error);
    CHECK_TEXT(error.message, "");
    for (int i = 0; i < RECORDS; i++) {
        struct rf_record record = programs[program].make(&stream);
        tracker_record(tracker, &record);
        rf_coproc_feed(coproc, &record, 1, NULL);
    }
    CHECK_EQ(rf_coproc_end(coproc, NULL), RF_OK);
    CHECK_EQ(rf_coproc_report(coproc, &sink, &totals), RF_OK);
    CHECK_EQ(totals.drops, 0);
    CHECK_EQ(tracker_collisions(tracker), 0);
    struct tracker_error result = tracker_compare(tracker, found->items, found->n);
    rf_coproc_close(coproc);
    tracker_free(tracker);
    return result;
}

TEST(with_slots_for_all_tuples_counts_are_exact)
{
    static struct found found;
    uint64_t first = test_seed(1);
    for (size_t p = 0; p < PROGRAMS; p++)
        for (uint64_t seed = first; seed < first + SEEDS; seed++) {
            struct tracker_error error = run(p, 1, seed, &found);
            CHECK_ROW(programs[p].name, error.weighted == 0);
            CHECK_ROW(programs[p].name, error.tuples == found.n);
            CHECK_ROW(programs[p].name, error.tuples > 10 && error.events > 500);
        }
}

/* Nothing is ever counted that was not; most of what is frequent is found. */
TEST(where_slots_are_short_the_frequent_are_found)
{
    static struct found found;
    uint64_t first = test_seed(1);
    for (size_t p = 0; p < PROGRAMS; p++)
        for (uint64_t seed = first; seed < first + SEEDS; seed++) {
            struct tracker_error error = run(p, 20, seed, &found);
            CHECK_ROW(programs[p].name, error.above == 0);
            CHECK_ROW(programs[p].name, error.weighted < programs[p].error_most);
            CHECK_ROW(programs[p].name, error.hot_found * 100 >= error.hot * 90);
            CHECK_ROW(programs[p].name, error.tuples > 300 && found.interrupts > 0);
            if (getenv("RIFFLE_TEST_SHOW") != NULL)
                printf("# %s: %g events, %g tuples, hot %g of %g, error %.3f, interrupts %g\n",
                       programs[p].name, (double)error.events, (double)error.tuples,
                       (double)error.hot_found, (double)error.hot, error.weighted,
                       found.interrupts);
        }
}

/* A call that was dropped leaves a wrong stack. An edge that was dropped leaves nothing. */
TEST(what_is_kept_is_not_sure_where_samples_were_dropped)
{
    static struct found found;
    static const char *const texts[] = {"edges.uc(pace=1, buffer=64)",
                                        "contexts.uc(pace=1, buffer=64)"};
    for (unsigned i = 0; i < 2; i++) {
        struct rf_coproc *coproc;
        struct rf_coproc_totals totals;
        const struct rf_sink sink = {take_item, take_figure, take_end, &found};
        struct rf_record record = {.kind = i == 0 ? RF_CLASS_BRANCH : RF_CLASS_CALL, .pc = 4};
        found.n = 0;
        REQUIRE(rf_coproc_open(&coproc, texts[i], NULL, NULL) == RF_OK);
        for (int k = 0; k < 1000; k++)
            rf_coproc_feed(coproc, &record, 1, NULL);
        CHECK_EQ(rf_coproc_end(coproc, NULL), RF_OK);
        CHECK_EQ(rf_coproc_report(coproc, &sink, &totals), RF_OK);
        CHECK(totals.drops > 0 && found.n > 0);
        for (size_t k = 0; k < found.n; k++)
            CHECK_EQ(found.items[k].lower, i == 0 ? found.items[k].count : 0);
        rf_coproc_close(coproc);
    }
}

TEST_MAIN()
