/* Counts of any size: every engine takes them at once, keeps its bounds and never counts past 2^63.
 *
 * Ten tuples with weights from 1 to 2^61. The truth is their sum, by hand; an engine that went through them
 * one by one would not come to an end. */
#include "base/random.h"
#include "test.h"
#include <stdbool.h>
#include <riffle/engine.h>
#include <riffle/profiler.h>

static const char *const texts[] = {
    "auto",
    "auto(interval=7)",
    "exact",
    "exact(interval=7)",
    "multihash",
    "multihash(paper)",
    "multihash(paper-single, counters=64)",
    "multihash(interval=1K, threshold=1%, retain=no)",
    "multihash(interval=1K, threshold=1%, linger=yes)",
    "multihash(interval=1K, threshold=1%, shield=no)",
    "multihash(interval=1G, threshold=100%)",
    "multihash(interval=2K, threshold=2%, tables=5, counters=50, accumulator=2, counter_bits=5)",
    "rap",
    "rap(eps=100%, b=2)",
    "rap(eps=1%, nodes=256)",
    "rap(key=both, buffer=1Ki)",
    "rap-hw(tcam=512)",
    "rap-hw(arrival=1, queue=16, pipelined=yes)",
    "rap-hw(arrival=1000000000)",
    "P7",
    "P1",
    "R7",
    "R1000000",
    "D70",
    "CR7",
    "CP1000000",
    "A2",
    "A16",
    "H[P256]2048",
    "H[P256]2048 A16",
    "H[P5 A2]16 A8",
    "H[H[CD4]2]32 (hash=paper)",
    "tagged",
    "tagged(ways=1, entries=2, hit=24, miss=7)",
    "tagged(ways=64, entries=128, hit=5, evict=8) A8",
};

enum { TEXTS = sizeof texts / sizeof *texts, N = 10 };

struct stream {
    struct rf_tuple tuples[N];
    uint64_t counts[N];
    uint64_t total;
};

static void make_stream(struct stream *stream, uint64_t seed)
{
    struct rf_random random;
    rf_random_seed(&random, seed);
    stream->total = 0;
    for (size_t i = 0; i < N; i++) {
        uint64_t a = UINT64_C(0x400000) << rf_random_below(&random, 40);
        stream->tuples[i] = (struct rf_tuple){a + i, i % 2 ? UINT64_MAX - i : i};
        stream->counts[i] = 1 + (rf_random_next(&random) >> (3 + rf_random_below(&random, 61)));
        if (stream->counts[i] > RF_EVENTS_MAX - stream->total)
            stream->counts[i] = 1;
        stream->total += stream->counts[i];
    }
}

static uint64_t truth_of(const struct stream *stream, const struct rf_item *item)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < N; i++) {
        struct rf_tuple t = stream->tuples[i];
        if (item->a <= t.a && t.a <= item->a_hi && item->b <= t.b && t.b <= item->b_hi)
            sum += stream->counts[i];
    }
    return sum;
}

static struct rf_profile *profile_of(const char *text, const struct stream *stream)
{
    struct rf_profiler *profiler;
    struct rf_profile *profile = NULL;
    struct rf_error error = {""};
    if (rf_profiler_open(&profiler, text, NULL, &error) != RF_OK ||
        rf_profiler_feed(profiler, &(struct rf_tuples){stream->tuples, stream->counts, N},
                         &error) != RF_OK ||
        rf_profiler_profile(profiler, &profile, &error) != RF_OK)
        printf("# %s: %s\n", text, error.message);
    rf_profiler_close(profiler);
    return profile;
}

static bool is_sane(const struct rf_profile *profile, const struct stream *stream)
{
    if (profile->consumed != stream->total || profile->lost != 0)
        return false;
    for (size_t i = 0; i < profile->n_items; i++) {
        const struct rf_item *item = &profile->items[i];
        uint64_t truth = truth_of(stream, item);
        if (item->lower > item->upper || item->upper > stream->total)
            return false;
        if (profile->bound != RF_BOUND_CONFIDENCE && (truth < item->lower || truth > item->upper))
            return false;
        if (profile->bound == RF_BOUND_EXACT && item->count != truth)
            return false;
    }
    return true;
}

/* What a sampler says of all tuples together is near the truth: hundreds of samples at least. */
static bool is_near(const struct rf_profile *profile, const struct stream *stream)
{
    double sum = 0, total = (double)stream->total;
    for (size_t i = 0; i < profile->n_items; i++)
        sum += (double)profile->items[i].count;
    return profile->bound != RF_BOUND_CONFIDENCE || total < 1e15 ||
           (sum > 0.95 * total && sum < 1.05 * total);
}

TEST(heavy_tuples_are_counted_at_once)
{
    uint64_t seed = test_seed(70);
    uint64_t mixes = getenv("RIFFLE_TEST_LONG") != NULL ? 1000 : 12;
    for (uint64_t mix = 0; mix < mixes; mix++) {
        struct stream stream;
        make_stream(&stream, seed * 100000 + mix);
        for (size_t i = 0; i < TEXTS; i++) {
            struct rf_profile *profile = profile_of(texts[i], &stream);
            CHECK_ROW(texts[i], profile != NULL);
            if (profile == NULL)
                continue;
            CHECK_ROW(texts[i], is_sane(profile, &stream));
            CHECK_ROW(texts[i], is_near(profile, &stream));
            rf_profile_free(profile);
        }
    }
}

/* But for rounding: n times a mean is not always the sum of n of them. */
static bool is_same(double left, double right)
{
    return left - right <= 1e-12 * left && right - left <= 1e-12 * left;
}

/* One after the other: the same items as at once. Where numbers are drawn at random, in short runs only. */
static void check_same(const char *text, const uint64_t *counts, size_t n)
{
    struct rf_profiler *once, *singly;
    struct rf_profile *x = NULL, *y = NULL;
    REQUIRE(rf_profiler_open(&once, text, NULL, NULL) == RF_OK);
    REQUIRE(rf_profiler_open(&singly, text, NULL, NULL) == RF_OK);
    for (size_t i = 0; i < n; i++) {
        struct rf_tuple tuple = {0x1000 * (i % 5), i % 3};
        rf_profiler_feed(once, &(struct rf_tuples){&tuple, &counts[i], 1}, NULL);
        for (uint64_t k = 0; k < counts[i]; k++)
            rf_profiler_feed(singly, &(struct rf_tuples){&tuple, NULL, 1}, NULL);
    }
    rf_profiler_profile(once, &x, NULL);
    rf_profiler_profile(singly, &y, NULL);
    REQUIRE(x != NULL && y != NULL);
    CHECK_ROW(text, x->n_items == y->n_items && x->absent_upper == y->absent_upper &&
                        (x->n_items == 0 ||
                         memcmp(x->items, y->items, x->n_items * sizeof *x->items) == 0));
    for (size_t i = 0; i < x->n_figures; i++)
        CHECK_ROW(text, is_same(x->figures[i].value, y->figures[i].value) ||
                            strcmp(x->figures[i].name, "software-bytes") == 0);
    rf_profile_free(x);
    rf_profile_free(y);
    rf_profiler_close(once);
    rf_profiler_close(singly);
}

TEST(at_once_is_as_one_by_one)
{
    static const uint64_t counts[] = {1, 2, 3000, 4000, 17, 1, 900, 2500, 60, 4096, 5, 1};
    static const uint64_t larger[] = {10, 50000, 3, 70000, 1234, 20000};
    for (size_t i = 0; i < TEXTS; i++) {
        check_same(texts[i], counts, sizeof counts / sizeof *counts);
        if (strpbrk(texts[i], "RCD") == NULL)
            check_same(texts[i], larger, sizeof larger / sizeof *larger);
    }
}

/* 2^63 events are the end: not one more, by feeding or by merging. */
TEST(a_stream_has_no_more_than_2_to_the_63_events)
{
    static const struct rf_tuple tuple = {1, 1};
    for (size_t i = 0; i < TEXTS; i++) {
        struct rf_engine *engine, *other;
        struct rf_error error;
        REQUIRE(rf_engine_open(&engine, texts[i], NULL, NULL) == RF_OK);
        REQUIRE(rf_engine_open(&other, texts[i], NULL, NULL) == RF_OK);
        uint64_t most = RF_EVENTS_MAX;
        CHECK_ROW(texts[i],
                  rf_engine_feed(engine, &(struct rf_tuples){&tuple, &most, 1}, &error) == RF_OK);
        CHECK_ROW(texts[i], rf_engine_feed(engine, &(struct rf_tuples){&tuple, NULL, 1}, &error) ==
                                RF_EINVAL);
        CHECK_ROW(texts[i], strstr(error.message, "2^63") != NULL);
        CHECK_EQ(rf_engine_events(engine), RF_EVENTS_MAX);
        REQUIRE(rf_engine_feed(other, &(struct rf_tuples){&tuple, NULL, 1}, NULL) == RF_OK);
        rf_status status = rf_engine_merge(engine, other, NULL);
        CHECK_ROW(texts[i], status == RF_EINVAL || status == RF_ENOTSUP);
        rf_engine_close(engine);
        rf_engine_close(other);
    }
}

/* Intervals that are not all alike cannot be taken at once: too many of them are refused, not begun. */
TEST(endless_intervals_are_refused)
{
    static const struct {
        const char *text;
        uint64_t cut;
    } rows[] = {{"multihash(interval=auto)", 0}, {"P7", 10}, {"tagged A16", 1000}};
    static const struct rf_tuple tuple = {1, 1};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct rf_engine *engine;
        struct rf_error error = {""};
        uint64_t many = RF_EVENTS_MAX;
        REQUIRE(rf_engine_open(&engine, rows[i].text,
                               &(struct rf_engine_setup){.interval = rows[i].cut}, NULL) == RF_OK);
        CHECK_ROW(rows[i].text, rf_engine_feed(engine, &(struct rf_tuples){&tuple, &many, 1},
                                               &error) == RF_EINVAL);
        CHECK_ROW(rows[i].text, strstr(error.message, "intervals") != NULL);
        rf_engine_close(engine);
    }
}

TEST(a_stop_is_seen_between_counts)
{
    static const struct rf_tuple tuples[2] = {{1, 1}, {2, 2}};
    static const uint64_t counts[2] = {5, 6};
    int stop = 1;
    struct rf_engine *engine;
    REQUIRE(rf_engine_open(&engine, "exact", &(struct rf_engine_setup){.stop = &stop}, NULL) ==
            RF_OK);
    CHECK_EQ(rf_engine_feed(engine, &(struct rf_tuples){tuples, counts, 2}, NULL), RF_ESTOPPED);
    CHECK_EQ(rf_engine_events(engine), 0);
    rf_engine_close(engine);
}

TEST_MAIN()
