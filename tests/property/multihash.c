/* multihash on streams made against it: tuples that share all their counters with one another.
 *
 * For a given seed and options the tuples that fall on a chosen place in every table are found by
 * trying. A stream of such crowds is the worst that can be done to counters; the bounds must hold
 * all the same, interval by interval, and so must what the profile adds up. */
#include "test.h"
#include "base/random.h"
#include "engine/multihash/multihash.h"
#include <riffle/gen.h>
#include <riffle/measure.h>
#include <riffle/profiler.h>

enum { EVENTS = 30000, CROWD = 40, CROWDS = 6, INTERVAL = 3000 };

static const char *const texts[] = {
    "multihash(interval=3K, threshold=1%, tables=2, counters=64, accumulator=20)",
    "multihash(interval=3K, threshold=1%, tables=2, counters=64, accumulator=3, promote=100%)",
    "multihash(interval=3K, threshold=1%, tables=2, counters=64, reset=yes)",
    "multihash(interval=3K, threshold=1%, tables=2, counters=64, conservative=no, shield=no)",
    "multihash(interval=3K, threshold=1%, tables=2, counters=64, counter_bits=3, promote=10%)",
    "multihash(paper, interval=3K, threshold=1%, tables=2, counters=64)",
    "multihash(paper, interval=3K, threshold=1%, tables=2, counters=64, accumulator=3)",
    "multihash(paper-single, interval=3K, threshold=1%, counters=32)",
};

/* The state of an engine with these options, for its hashes alone. */
static struct rf_multihash *open_state(const char *text, uint64_t seed)
{
    const struct rf_engine_ops *ops;
    static unsigned char config[RF_ENGINE_CONFIG_MAX];
    struct rf_error error;
    if (rf_engine_parse(&ops, config, sizeof config, text, &error) != RF_OK) {
        printf("# %s\n", error.message);
        abort();
    }
    size_t size = (ops->state_size(config) + 63) / 64 * 64;
    void *state = aligned_alloc(64, size);
    struct rf_engine_env env = {.seed = seed};
    memset(state, 0, size);
    if (ops->init(state, config, &env, &error) != RF_OK)
        abort();
    return state;
}

static uint64_t where(const struct rf_multihash *state, struct rf_tuple t)
{
    size_t places[RF_MULTIHASH_TABLES_MAX];
    uint64_t all = 0;
    rf_multihash_places(state, t, rf_multihash_hash(state, t), places);
    for (unsigned i = 0; i < state->tables; i++)
        all = all * 4096 + places[i];
    return all;
}

/* Crowds of tuples that share all counters. */
static void find_crowds(const struct rf_multihash *state, struct rf_tuple crowds[CROWDS][CROWD],
                        struct rf_random *random)
{
    for (unsigned c = 0; c < CROWDS; c++) {
        struct rf_tuple t = {rf_random_below(random, 1 << 20), c};
        uint64_t place = where(state, t);
        for (unsigned n = 0; n < CROWD; t.a++)
            if (where(state, t) == place)
                crowds[c][n++] = t;
    }
}

static void make_stream(struct rf_tuple *stream, const char *text, struct rf_random *random)
{
    static struct rf_tuple crowds[CROWDS][CROWD];
    struct rf_multihash *state = open_state(text, 3);
    find_crowds(state, crowds, random);
    free(state);
    for (size_t i = 0; i < EVENTS; i++) {
        /* Within a crowd sometimes all alike, sometimes one far ahead; crowds come and go. */
        size_t crowd = (i / 2000 + rf_random_below(random, 2)) % CROWDS;
        size_t range = i / 1000 % 2 == 0 ? CROWD : 1 + i / 500 % 4;
        stream[i] = crowds[crowd][rf_random_below(random, range)];
    }
}

static uint64_t true_count(const struct rf_tuple *stream, size_t n, uint64_t a, uint64_t b)
{
    uint64_t count = 0;
    for (size_t i = 0; i < n; i++)
        count += stream[i].a == a && stream[i].b == b;
    return count;
}

static bool lists(const struct rf_item *items, size_t n, struct rf_tuple t)
{
    for (size_t i = 0; i < n; i++)
        if (items[i].a == t.a && items[i].b == t.b)
            return true;
    return false;
}

static void check_piece(const char *text, const struct rf_tuple *stream, size_t n_events,
                        const struct rf_item *items, size_t n, uint64_t absent_upper)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t truth = true_count(stream, n_events, items[i].a, items[i].b);
        CHECK_ROW(text, items[i].lower <= truth && truth <= items[i].upper);
    }
    for (size_t i = 0; i < n_events; i += 7)
        if (!lists(items, n, stream[i]))
            CHECK_ROW(text, true_count(stream, n_events, stream[i].a, stream[i].b) <= absent_upper);
}

static void check_text(const char *text, const struct rf_tuple *stream)
{
    struct rf_profiler *profiler;
    struct rf_profile *profile;
    struct rf_profiler_setup setup = {.seed = 3, .keep_intervals = 1};
    struct rf_tuples all = {stream, NULL, EVENTS};
    REQUIRE(rf_profiler_open(&profiler, text, &setup, NULL) == RF_OK);
    CHECK_EQ(rf_profiler_feed(profiler, &all, NULL), RF_OK);
    REQUIRE(rf_profiler_profile(profiler, &profile, NULL) == RF_OK);
    CHECK_EQ(profile->n_intervals, EVENTS / INTERVAL);
    for (size_t i = 0; i < profile->n_intervals; i++) {
        const struct rf_interval *interval = &profile->intervals[i];
        check_piece(text, stream + i * INTERVAL, INTERVAL,
                    profile->interval_items + interval->first, interval->n, interval->absent_upper);
    }
    check_piece(text, stream, EVENTS, profile->items, profile->n_items, profile->absent_upper);
    rf_profile_free(profile);
    rf_profiler_close(profiler);
}

TEST(bounds_hold_where_everything_collides)
{
    static struct rf_tuple stream[EVENTS];
    struct rf_random random;
    rf_random_seed(&random, test_seed(41));
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        make_stream(stream, texts[i], &random);
        check_text(texts[i], stream);
    }
}

static void count(struct rf_profile **profile, const char *text, const struct rf_gen *gen)
{
    struct rf_profiler *profiler;
    struct rf_source *source;
    struct rf_batch batch;
    struct rf_profiler_setup setup = {.interval = 1000000, .keep_intervals = 1};
    if (rf_profiler_open(&profiler, text, &setup, NULL) != RF_OK ||
        rf_source_open_gen(&source, gen, NULL, NULL) != RF_OK)
        abort();
    while (rf_source_next(source, &batch, NULL) == RF_OK && batch.n > 0)
        CHECK_EQ(rf_profiler_feed(profiler, &batch.tuples, NULL), RF_OK);
    CHECK_EQ(rf_profiler_profile(profiler, profile, NULL), RF_OK);
    rf_source_close(source);
    rf_profiler_close(profiler);
}

/* What doc/engines/multihash.md promises of the standard options, in no more than 17 KiB. */
TEST(the_standard_options_are_as_accurate_as_promised)
{
    static const struct {
        const char *kind;
        double error_max;
    } rows[] = {
        {"loop", 0.005},
        {"zipf", 0.0001},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct rf_gen gen = {.kind = rows[i].kind, .events = 4000000, .seed = 1};
        struct rf_measure_interval measure;
        struct rf_profile *perfect, *measured;
        count(&perfect, "exact", &gen);
        count(&measured, "multihash", &gen);
        CHECK_EQ(rf_measure_interval(&measure, perfect, measured, 0.001, NULL), RF_OK);
        CHECK_EQ(measure.intervals, 4);
        CHECK_ROW(rows[i].kind, measure.error > 0 && measure.error <= rows[i].error_max);
        CHECK_ROW(rows[i].kind, measured->memory <= 17 * 1024);
        rf_profile_free(perfect);
        rf_profile_free(measured);
    }
}

static double too_high(const struct rf_profile *perfect, const char *text, const struct rf_gen *gen)
{
    struct rf_measure_interval measure;
    struct rf_profile *measured;
    count(&measured, text, gen);
    CHECK_EQ(rf_measure_interval(&measure, perfect, measured, 0.001, NULL), RF_OK);
    rf_profile_free(measured);
    return measure.neutral_positive;
}

/* Hot tuples that begin in the middle of an interval find their counters at the noise of that moment. */
TEST(the_rate_since_promotion_tells_what_others_had)
{
    for (uint64_t seed = 1; seed <= 2; seed++) {
        struct rf_gen gen = {
            .kind = "drift", .events = 12000000, .keys = 400000, .phase = 300000, .seed = seed};
        struct rf_profile *perfect;
        count(&perfect, "exact", &gen);
        double upper = too_high(perfect, "multihash(accumulator=auto, estimate=upper)", &gen);
        double rate = too_high(perfect, "multihash(accumulator=auto)", &gen);
        printf("# counts too high: %.2f%% with estimate=upper, %.2f%% by rate\n", 100 * upper,
               100 * rate);
        CHECK(upper > 0.01 && rate < 0.5 * upper);
        rf_profile_free(perfect);
    }
}

TEST_MAIN()
