/* multihash: hand-made streams, agreement with the paper's plain transcription, merge, options. */
#include "test.h"
#include "base/hash.h"
#include "base/random.h"
#include "engine/multihash/multihash.h"
#include "reference/multihash.h"
#include <riffle/engine.h>

enum { ITEMS_MAX = 4096 };

/* What the engine reported last, in order of tuples. */
struct seen {
    struct rf_item items[ITEMS_MAX];
    size_t n;
    struct rf_summary summary;
    uint64_t reports;
    double changed, changed_mean, promotions, replaced;
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
    if (strcmp(figure->name, "candidates-changed") == 0)
        seen->changed = figure->value;
    if (strcmp(figure->name, "candidates-changed-mean") == 0)
        seen->changed_mean = figure->value;
    if (strcmp(figure->name, "promotions") == 0)
        seen->promotions = figure->value;
    if (strcmp(figure->name, "entries-replaced") == 0)
        seen->replaced = figure->value;
    return RF_OK;
}

static int by_tuple(const void *left, const void *right)
{
    const struct rf_item *l = left, *r = right;
    if (l->a != r->a)
        return l->a < r->a ? -1 : 1;
    return l->b < r->b ? -1 : l->b > r->b;
}

static rf_status see_end(void *context, const struct rf_summary *summary)
{
    struct seen *seen = context;
    seen->summary = *summary;
    seen->reports++;
    qsort(seen->items, seen->n, sizeof *seen->items, by_tuple);
    return RF_OK;
}

static struct rf_engine *open_engine(const char *text, const struct rf_engine_setup *setup)
{
    struct rf_engine *engine;
    struct rf_error error = {""};
    if (rf_engine_open(&engine, text, setup, &error) != RF_OK) {
        printf("# %s: %s\n", text, error.message);
        exit(1);
    }
    return engine;
}

static void look(const struct rf_engine *engine, struct seen *seen)
{
    struct rf_sink sink = {see_item, see_figure, see_end, seen};
    seen->n = 0;
    rf_engine_report(engine, &sink);
}

static void feed_times(struct rf_engine *engine, uint64_t a, uint64_t times)
{
    struct rf_tuple tuple = {a, 1};
    rf_engine_feed(engine, &(struct rf_tuples){&tuple, &times, 1}, NULL);
}

static const struct rf_item *item_of(const struct seen *seen, uint64_t a)
{
    for (size_t i = 0; i < seen->n; i++)
        if (seen->items[i].a == a)
            return &seen->items[i];
    return NULL;
}

/* Threshold 10 of 100 events; tables so wide that nothing collides. */
#define TINY "multihash(paper, counters=64Ki, interval=100, threshold=10%"

TEST(candidates_by_hand)
{
    static struct seen seen;
    struct rf_engine *engine = open_engine(TINY ")", NULL);
    feed_times(engine, 1, 9);
    feed_times(engine, 2, 10);
    feed_times(engine, 3, 30);
    look(engine, &seen);
    CHECK_EQ(seen.n, 2);
    REQUIRE(item_of(&seen, 2) != NULL && item_of(&seen, 3) != NULL);
    CHECK_EQ(item_of(&seen, 2)->count, 10);
    CHECK_EQ(item_of(&seen, 2)->lower, 1);
    CHECK_EQ(item_of(&seen, 3)->count, 30);
    CHECK_EQ(item_of(&seen, 3)->lower, 21); /* 30 less the 9 that came before the promotion */
    CHECK_EQ(item_of(&seen, 3)->upper, 30);
    CHECK_EQ(seen.summary.events, 49);
    CHECK_EQ(seen.summary.absent_upper, 10); /* the counters of 2 still stand at 10 */
    rf_engine_close(engine);
}

/* Two entries. 1 and 2 fill them, 3 and 4 replace them one interval later and stay for the next. */
TEST(figures_are_of_the_whole_run)
{
    static struct seen seen;
    struct rf_engine *engine = open_engine(TINY ", accumulator=2)", NULL);
    static const uint64_t pairs[][2] = {{1, 2}, {3, 4}, {3, 4}};
    static const double promotions[] = {2, 4, 4}, replaced[] = {0, 2, 2}, mean[] = {0, 1, 0.5};
    for (unsigned i = 0; i < 3; i++) {
        feed_times(engine, pairs[i][0], 50);
        feed_times(engine, pairs[i][1], 50);
        look(engine, &seen);
        CHECK_EQ((uint64_t)seen.promotions, (uint64_t)promotions[i]);
        CHECK_EQ((uint64_t)seen.replaced, (uint64_t)replaced[i]);
        CHECK(seen.changed_mean == mean[i]);
    }
    rf_engine_close(engine);
}

TEST(retained_entries_count_from_the_start)
{
    static struct seen seen, last;
    struct rf_sink sink = {see_item, see_figure, see_end, &last};
    struct rf_engine_setup setup = {.intervals = &sink};
    struct rf_engine *engine = open_engine(TINY ")", &setup);
    feed_times(engine, 7, 60);
    feed_times(engine, 8, 40);
    CHECK_EQ(last.reports, 1);
    feed_times(engine, 7, 5);
    look(engine, &seen);
    CHECK_EQ(seen.n, 0); /* 5 events make no candidate, although it has an entry */
    CHECK_EQ(seen.summary.absent_upper, 5);
    feed_times(engine, 7, 10);
    look(engine, &seen);
    REQUIRE(seen.n == 1);
    CHECK_EQ(seen.items[0].lower, 15); /* exact: it never was in the tables */
    CHECK_EQ(seen.items[0].upper, 15);
    CHECK(seen.changed == 0.5); /* 7 stayed, 8 went */
    rf_engine_close(engine);
}

TEST(without_retaining_the_next_interval_starts_empty)
{
    static struct seen seen;
    struct rf_engine *engine = open_engine(TINY ", retain=no)", NULL);
    feed_times(engine, 7, 100);
    feed_times(engine, 7, 15);
    look(engine, &seen);
    REQUIRE(seen.n == 1);
    CHECK_EQ(seen.items[0].lower, 6);
    rf_engine_close(engine);
}

TEST(lingering_entries_stay_below_the_threshold_and_make_room)
{
    static struct seen seen;
    struct rf_engine *engine = open_engine(TINY ", accumulator=2, retain=no, linger=yes)", NULL);
    feed_times(engine, 7, 60);
    feed_times(engine, 8, 40);
    feed_times(engine, 7, 95); /* 8 is no candidate here, but stays */
    feed_times(engine, 8, 5);
    feed_times(engine, 8, 20);
    look(engine, &seen);
    CHECK(seen.changed == 1);        /* 8 is one now, which it was not; 7 is none */
    CHECK(seen.changed_mean == 0.5); /* 7 and 8, then 7 alone */
    REQUIRE(seen.n == 1);
    CHECK_EQ(seen.items[0].lower, 20); /* exact: it never was in the tables */
    feed_times(engine, 9, 20);         /* takes the place of 7, the first that may be replaced */
    look(engine, &seen);
    CHECK_EQ(seen.n, 2);
    CHECK_EQ((uint64_t)seen.replaced, 1);
    rf_engine_close(engine);
}

TEST(a_full_accumulator_refuses_in_the_paper_and_replaces_by_default)
{
    static struct seen seen;
    struct rf_engine *paper = open_engine(TINY ", accumulator=2)", NULL);
    struct rf_engine *ours = open_engine(TINY ", accumulator=2, replace=coldest)", NULL);
    for (uint64_t a = 1; a <= 3; a++) {
        feed_times(paper, a, 10 * a);
        feed_times(ours, a, 10 * a);
    }
    look(paper, &seen);
    CHECK_EQ(seen.n, 2);
    CHECK(item_of(&seen, 3) == NULL);
    CHECK_EQ(seen.summary.absent_upper, 30);
    look(ours, &seen);
    CHECK_EQ(seen.n, 2);
    CHECK(item_of(&seen, 1) == NULL);
    REQUIRE(item_of(&seen, 3) != NULL);
    CHECK_EQ(item_of(&seen, 3)->count, 30);
    feed_times(ours, 1, 30); /* its 10 went back into the counters: 40 in all */
    look(ours, &seen);
    REQUIRE(item_of(&seen, 1) != NULL);
    CHECK_EQ(item_of(&seen, 1)->count, 40);
    rf_engine_close(paper);
    rf_engine_close(ours);
}

/* The paper's index, with the steps written out. */
struct paper_index {
    struct rf_hash_paper hash[RF_MULTIHASH_TABLES_MAX];
};

static uint32_t index_paper(void *context, unsigned table, struct rf_tuple tuple)
{
    return rf_hash_paper_steps(&((struct paper_index *)context)->hash[table], tuple);
}

static uint32_t index_multiply(void *context, unsigned table, struct rf_tuple tuple)
{
    const struct rf_multihash *state = context;
    size_t places[RF_MULTIHASH_TABLES_MAX];
    rf_multihash_places(state, tuple, rf_multihash_hash(state, tuple), places);
    return (uint32_t)(places[table] - (size_t)table * state->table_size);
}

/* A mix of options, for both sides. */
struct mix {
    struct reference_multihash_options reference;
    struct paper_index paper;
    struct rf_multihash multiply; /* only what the hash needs is filled in */
    char text[512];
    uint64_t interval, seed;
    bool by_rate; /* estimate=rate, and the counters can tell */
};

static unsigned one_of(struct rf_random *random, const unsigned *values, size_t n)
{
    return values[rf_random_below(random, n)];
}
#define ONE_OF(random, ...)                                                                        \
    one_of(random, (const unsigned[]){__VA_ARGS__}, sizeof((const unsigned[]){__VA_ARGS__}) / 4)

static void choose_index(struct mix *mix, bool paper)
{
    struct reference_multihash_options *options = &mix->reference;
    uint64_t seeds = mix->seed;
    unsigned bits = (unsigned)__builtin_ctz(options->table_size);
    for (unsigned t = 0; paper && t < options->tables; t++)
        rf_hash_paper_init(&mix->paper.hash[t], bits, rf_splitmix(&seeds));
    mix->multiply.key = rf_hash_key(mix->seed);
    mix->multiply.tables = options->tables;
    mix->multiply.words = (options->tables + 3) / 4;
    mix->multiply.table_size = options->table_size;
    options->index = paper ? index_paper : index_multiply;
    options->context = paper ? (void *)&mix->paper : (void *)&mix->multiply;
}

/* Any combination of options; now and then one of those that have a loop of their own. */
static void choose_mix(struct mix *mix, struct rf_random *random)
{
    static const char *const loops[] = {"adapt", "singly", "batch", "portable", "plain"};
    struct reference_multihash_options *o = &mix->reference;
    bool fast = rf_random_below(random, 3) == 0;
    bool paper = rf_random_below(random, 2) == 0;
    unsigned bits = ONE_OF(random, 8, 12, 16, 24), percent = ONE_OF(random, 1, 2, 5);
    o->tables = fast ? ONE_OF(random, 2, 3, 4) : ONE_OF(random, 1, 2, 3, 4, 5, 8, 16);
    o->table_size =
        paper ? 4u << rf_random_below(random, 6) : 2 + (unsigned)rf_random_below(random, 150);
    mix->interval = 1000 + rf_random_below(random, 2000);
    unsigned whole = (unsigned)((mix->interval * percent + 99) / 100);
    o->threshold = whole;
    o->counter_max = (1u << bits) - 1;
    unsigned half = rf_random_below(random, 2) == 0 ? 100 : 50;
    o->promote_at = (whole * half + 99) / 100;
    o->entries = ONE_OF(random, 5, 20, 100);
    o->conservative = rf_random_below(random, fast ? 4 : 2) != 0;
    o->reset = !fast && rf_random_below(random, 2) != 0;
    o->retain = rf_random_below(random, 3) != 0;
    o->linger = rf_random_below(random, 4) == 0;
    o->shield = fast || rf_random_below(random, 3) != 0;
    o->coldest = rf_random_below(random, 2) != 0;
    o->interval = (unsigned)mix->interval;
    bool by_rate = rf_random_below(random, 2) != 0;
    mix->by_rate = by_rate && o->conservative && !o->reset;
    mix->seed = rf_random_next(random);
    snprintf(mix->text, sizeof mix->text,
             "multihash(tables=%u, counters=%u, interval=%" PRIu64 ", threshold=%u%%, "
             "conservative=%d, reset=%d, retain=%d, linger=%d, shield=%d, accumulator=%u, "
             "counter_bits=%u, hash=%s, promote=%u%%, replace=%s, estimate=%s, loop=%s)",
             o->tables, o->tables * o->table_size, mix->interval, percent, o->conservative,
             o->reset, o->retain, o->linger, o->shield, o->entries, bits,
             paper ? "paper" : "multiply", half, o->coldest ? "coldest" : "retained",
             by_rate ? "rate" : "upper", loops[rf_random_below(random, 5)]);
    choose_index(mix, paper);
}

/* Skewed, with a set of favourites that moves, and now and then a run of one tuple. */
static struct rf_tuple draw(struct rf_random *random, uint64_t at)
{
    uint64_t range = UINT64_C(1) << rf_random_below(random, 12);
    uint64_t key = rf_random_below(random, range) + at / 3000 * 3;
    if (at / 64 % 5 == 0)
        key = at / 64;
    return (struct rf_tuple){0x400000 + key % 61 * 4, key / 61 * 0x10001};
}

/* A counter at its cap says nothing, and then there is no estimate. */
static uint64_t expected(const struct mix *mix, struct reference_multihash *reference,
                         const struct reference_multihash_entry *entry, bool saturated)
{
    return mix->by_rate && !saturated ? reference_multihash_by_rate(reference, entry)
                                      : entry->count;
}

static bool has_saturated(const struct mix *mix, const struct reference_multihash_entry *entries,
                          size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (entries[i].began == mix->reference.counter_max)
            return true;
    return false;
}

static void check_interval(const struct mix *mix, struct reference_multihash *reference,
                           const struct seen *seen)
{
    size_t n, candidates = 0;
    const struct reference_multihash_entry *entries = reference_multihash_entries(reference, &n);
    bool saturated = has_saturated(mix, entries, n);
    for (size_t i = 0; i < n; i++) {
        if (entries[i].count < mix->reference.threshold)
            continue;
        candidates++;
        struct rf_item key = {.a = entries[i].tuple.a, .b = entries[i].tuple.b};
        const struct rf_item *item = bsearch(&key, seen->items, seen->n, sizeof key, by_tuple);
        CHECK_ROW(mix->text, item != NULL);
        if (item != NULL && entries[i].count <= seen->summary.events)
            CHECK_EQ(item->count, expected(mix, reference, &entries[i], saturated));
    }
    CHECK_EQ(seen->n, candidates);
}

/* Both sides through `events` events, the engine in batches of any size. */
static void run_mix(struct mix *mix, struct rf_random *random, uint64_t events)
{
    static struct seen seen;
    static struct rf_tuple batch[3000];
    struct rf_sink sink = {see_item, NULL, see_end, &seen};
    struct rf_engine_setup setup = {.seed = mix->seed, .intervals = &sink};
    struct rf_engine *engine = open_engine(mix->text, &setup);
    struct reference_multihash *reference = reference_multihash_new(&mix->reference);
    uint64_t reports = seen.reports, inside = 0;
    for (uint64_t done = 0; done < events;) {
        size_t n = 1 + (size_t)rf_random_below(random, 700);
        n = n < mix->interval - inside ? n : (size_t)(mix->interval - inside);
        for (size_t i = 0; i < n; i++) {
            batch[i] = draw(random, done + i);
            reference_multihash_event(reference, batch[i]);
        }
        seen.n = 0;
        rf_engine_feed(engine, &(struct rf_tuples){batch, NULL, n}, NULL);
        done += n;
        inside += n;
        if (inside < mix->interval)
            look(engine, &seen);
        check_interval(mix, reference, &seen);
        if (inside == mix->interval) {
            CHECK_EQ(seen.reports, reports + 1);
            reference_multihash_end_interval(reference);
            inside = 0;
        }
        reports = seen.reports;
        if (test_failures > 0)
            break;
    }
    if (test_failures > 0)
        printf("# %s\n", mix->text);
    reference_multihash_free(reference);
    rf_engine_close(engine);
}

TEST(agrees_with_the_transcription)
{
    static struct mix mix;
    struct rf_random random;
    rf_random_seed(&random, test_seed(20031));
    unsigned rounds = getenv("RIFFLE_TEST_LONG") != NULL ? 3000 : 150;
    for (unsigned i = 0; i < rounds && test_failures == 0; i++) {
        choose_mix(&mix, &random);
        run_mix(&mix, &random, 12000);
    }
}

TEST(counted_tuples_are_as_many_single_ones)
{
    static struct mix mix;
    static struct seen once, many;
    struct rf_random random;
    rf_random_seed(&random, test_seed(77));
    for (unsigned round = 0; round < 30; round++) {
        choose_mix(&mix, &random);
        struct rf_engine *singles = open_engine(mix.text, NULL);
        struct rf_engine *counted = open_engine(mix.text, NULL);
        for (uint64_t i = 0; i < 300; i++) {
            struct rf_tuple tuple = draw(&random, i * 10);
            uint64_t count = 1 + rf_random_below(&random, 40);
            rf_engine_feed(counted, &(struct rf_tuples){&tuple, &count, 1}, NULL);
            for (uint64_t k = 0; k < count; k++)
                rf_engine_feed(singles, &(struct rf_tuples){&tuple, NULL, 1}, NULL);
        }
        look(singles, &once);
        look(counted, &many);
        CHECK_EQ(once.n, many.n);
        CHECK_ROW(mix.text, memcmp(once.items, many.items, once.n * sizeof *once.items) == 0);
        rf_engine_close(singles);
        rf_engine_close(counted);
    }
}

/* A program whose candidates change by this much from one interval to the next, on each rung. */
static uint64_t settle(const double change[3], uint64_t events)
{
    struct rf_multihash_pace pace;
    uint64_t spent[3] = {0, 0, 0};
    rf_multihash_pace_begin(&pace);
    for (uint64_t done = 0; done < events;) {
        uint64_t length = rf_multihash_pace_length(&pace);
        unsigned rung = length == 10000 ? 0 : length == 100000 ? 1 : 2;
        spent[rung] += length;
        done += length;
        rf_multihash_pace_step(&pace, change[rung]);
    }
    for (unsigned rung = 0; rung < 3; rung++)
        if (spent[rung] > events * 3 / 4)
            return rung;
    return 3;
}

TEST(auto_settles_on_the_steadiest_length)
{
    static const struct {
        const char *label;
        double change[3];
        uint64_t rung;
    } rows[] = {
        {"short is steadiest", {0.1, 0.5, 0.9}, 0},    {"middle is steadiest", {0.5, 0.1, 0.4}, 1},
        {"long is steadiest", {0.9, 0.5, 0.1}, 2},     {"a tie goes to short", {0.3, 0.3, 0.3}, 0},
        {"hardly better is not", {0.3, 0.29, 0.3}, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CHECK_ROW(rows[i].label, settle(rows[i].change, 100000000) == rows[i].rung);
}

TEST(merging_adds_up_what_both_know)
{
    static struct seen seen;
    struct rf_engine *left = open_engine(TINY ", replace=coldest, accumulator=2)", NULL);
    struct rf_engine *right = open_engine(TINY ", replace=coldest, accumulator=2)", NULL);
    feed_times(left, 1, 20);
    feed_times(left, 2, 15);
    feed_times(left, 3, 5);
    feed_times(right, 3, 20);
    feed_times(right, 1, 4);
    CHECK_EQ(rf_engine_merge(left, right, NULL), RF_OK);
    CHECK_EQ(rf_engine_events(left), 64);
    look(left, &seen);
    CHECK_EQ(seen.n, 2);
    REQUIRE(item_of(&seen, 1) != NULL && item_of(&seen, 3) != NULL);
    CHECK_EQ(item_of(&seen, 1)->count, 24);
    CHECK_EQ(item_of(&seen, 1)->lower, 11);
    CHECK_EQ(item_of(&seen, 3)->count, 25);
    CHECK_EQ(item_of(&seen, 3)->lower, 11);
    CHECK(seen.summary.absent_upper >= 15);
    feed_times(left, 9, 200); /* the interval was not full: it ends in these */
    CHECK_EQ(rf_engine_events(left), 264);
    rf_engine_close(left);
    rf_engine_close(right);
}

TEST(of_two_equally_heavy_the_one_that_is_there_stays)
{
    static struct seen seen;
    struct rf_engine *left = open_engine(TINY ", replace=coldest, accumulator=1)", NULL);
    struct rf_engine *right = open_engine(TINY ", replace=coldest, accumulator=1)", NULL);
    feed_times(left, 1, 15);
    feed_times(right, 2, 15);
    CHECK_EQ(rf_engine_merge(left, right, NULL), RF_OK);
    look(left, &seen);
    CHECK(seen.n == 1 && item_of(&seen, 1) != NULL);
    rf_engine_close(left);
    rf_engine_close(right);
}

/* 60 and 50 of a tuple are too few for either side, and enough for both: whichever of the two counters it has. */
TEST(merging_adds_up_every_counter)
{
    static const char *const text =
        "multihash(paper, tables=1, counters=2, interval=1000, threshold=10%)";
    static struct seen seen;
    for (uint64_t a = 1; a <= 8; a++) {
        struct rf_engine *left = open_engine(text, NULL), *right = open_engine(text, NULL);
        feed_times(left, a, 60);
        feed_times(right, a, 50);
        CHECK_EQ(rf_engine_merge(left, right, NULL), RF_OK);
        feed_times(left, a, 1);
        look(left, &seen);
        CHECK(item_of(&seen, a) != NULL && item_of(&seen, a)->count == 111);
        rf_engine_close(left);
        rf_engine_close(right);
    }
}

static const struct {
    const char *text;
    const char *message;
} refused[] = {
    {"multihash(tables=3, counters=2048)",
     "engine 'multihash': 2048 counters cannot be divided evenly among 3 tables of 2 to 65536"},
    {"multihash(paper, counters=3000)",
     "engine 'multihash': hash=paper needs a power of two of counters per table, not 750"},
    {"multihash(paper, counter_bits=8)",
     "engine 'multihash': counters of 8 bits cannot reach the 1000 events at which a tuple of an "
     "interval of 1000000 is promoted"},
    {"multihash(paper, counter_bits=1)",
     "engine 'multihash': counters of 1 bits cannot reach the 1000 events at which a tuple of an "
     "interval of 1000000 is promoted"},
    {"multihash(interval=auto, retain=no)",
     "engine 'multihash': interval=auto needs retain=yes and linger=no"},
    {"multihash(interval=auto, linger=yes)",
     "engine 'multihash': interval=auto needs retain=yes and linger=no"},
    {"multihash(papre)", "engine 'multihash': expected option=value at 'papre)'"},
    {"multihash(threshold=0)",
     "engine 'multihash': threshold must be between 0.0001% and 100%, got '0'"},
};

TEST(options_that_make_no_sense)
{
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct rf_engine *engine;
        struct rf_error error = {""};
        CHECK_ROW(refused[i].text,
                  rf_engine_open(&engine, refused[i].text, NULL, &error) == RF_EINVAL);
        CHECK_TEXT(error.message, refused[i].message);
        rf_engine_close(engine);
    }
}

/* Counters of 5 bits reach 31, those of 17 more than 16 bits hold. */
TEST(counters_are_as_wide_as_they_say)
{
    static struct seen seen;
    struct rf_engine *engine =
        open_engine("multihash(paper, interval=3100, threshold=1%, counter_bits=5)", NULL);
    struct rf_error error = {""};
    rf_engine_close(engine);
    CHECK_EQ(rf_engine_open(&engine,
                            "multihash(paper, interval=3101, threshold=1%, counter_bits=5)", NULL,
                            &error),
             RF_EINVAL);
    rf_engine_close(engine);
    engine = open_engine("multihash(paper, interval=200K, threshold=50%, counter_bits=17)", NULL);
    static struct rf_tuple fives[120000];
    for (size_t i = 0; i < 120000; i++)
        fives[i] = (struct rf_tuple){5, 1};
    rf_engine_feed(engine, &(struct rf_tuples){fives, NULL, 120000}, NULL);
    look(engine, &seen);
    CHECK(item_of(&seen, 5) != NULL && item_of(&seen, 5)->count == 120000);
    rf_engine_close(engine);
}

TEST(storage_as_the_paper_counts_it)
{
    struct rf_engine *engine = open_engine("multihash(paper)", NULL);
    /* 6 KB of counters; entries of two 64-bit words, a count of 20 bits, valid and replaceable. */
    CHECK_EQ(rf_engine_bits(engine), 2048 * 24 + 1000 * (128 + 20 + 2));
    CHECK_EQ(rf_engine_interval(engine), 1000000);
    rf_engine_close(engine);
}

TEST(the_callers_cut_is_the_interval)
{
    struct rf_engine_setup setup = {.interval = 5000};
    struct rf_engine *engine = open_engine("multihash(paper)", &setup);
    CHECK_EQ(rf_engine_interval(engine), 5000);
    rf_engine_close(engine);
}

TEST_MAIN()
