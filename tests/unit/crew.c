/* Engines on threads: the same profiles whatever their number, and nothing lost when one fails. */
#include <riffle/collect.h>
#include "base/random.h"
#include "source/source.h"
#include "test.h"
#include <pthread.h>

enum { EVENTS = 100000, BATCH = 1777, STREAMS = 3 };

/* Batches of every third length counted, of all streams in turn, a loss now and then. */
struct stream {
    struct rf_source base;
    size_t at;
    unsigned n_batches;
    struct rf_tuple tuples[EVENTS];
    uint64_t counts[EVENTS];
};

static rf_status next(struct rf_source *source, struct rf_batch *batch, struct rf_error *error)
{
    struct stream *stream = (struct stream *)source;
    size_t left = EVENTS - stream->at, n = left < BATCH ? left : BATCH;
    (void)error;
    if (n == 0)
        return RF_OK;
    batch->tuples.tuples = stream->tuples + stream->at;
    batch->tuples.counts = stream->n_batches % 3 == 2 ? stream->counts + stream->at : NULL;
    batch->tuples.n = batch->n = n;
    batch->stream = stream->n_batches % STREAMS;
    batch->lost = stream->n_batches % 10 == 9 ? 5 : 0;
    stream->at += n;
    stream->n_batches++;
    return RF_OK;
}

static void stay(struct rf_source *source)
{
    (void)source;
}

static const struct rf_source_ops ops = {.name = "stream", .next = next, .close = stay};

static struct stream stream;

static void rewind_stream(void)
{
    struct rf_random random;
    rf_random_seed(&random, test_seed(1));
    stream.base = (struct rf_source){.ops = &ops};
    stream.at = stream.n_batches = 0;
    for (size_t i = 0; i < EVENTS; i++) {
        stream.tuples[i] =
            (struct rf_tuple){rf_random_below(&random, 5000), rf_random_below(&random, 9)};
        stream.counts[i] = 1 + rf_random_below(&random, 3);
    }
}

static const struct rf_lane lanes[] = {
    {"load -> pc,value", "multihash(interval=1000)", 0, 0},
    {"branch -> pc,target", "exact", 1, 0},
    {"call -> pc,target", "rap(eps=5%)", 2, 0},
    {"load -> pc,value", "H[P8]64", 0, 0},
    {"call -> pc,target", "exact", 2, 0},
};
enum { LANES = sizeof lanes / sizeof *lanes };

static rf_status collect(struct rf_run **run, const struct rf_lane *with, size_t threads,
                         struct rf_error *error)
{
    struct rf_collect_setup setup = {
        .lanes = with, .n_lanes = LANES, .selected = 1, .threads = threads};
    rewind_stream();
    return rf_collect(run, &stream.base, &setup, error);
}

static bool same(const struct rf_profile *a, const struct rf_profile *b)
{
    return a->n_items == b->n_items && a->produced == b->produced && a->consumed == b->consumed &&
           a->lost == b->lost && a->n_intervals == b->n_intervals &&
           memcmp(a->items, b->items, a->n_items * sizeof *a->items) == 0;
}

TEST(any_number_of_threads_finds_the_same)
{
    static const size_t threads[] = {1, 2, 3, 5, 40};
    struct rf_run *alone, *run;
    REQUIRE(collect(&alone, lanes, 0, NULL) == RF_OK);
    for (size_t t = 0; t < sizeof threads / sizeof *threads; t++) {
        REQUIRE(collect(&run, lanes, threads[t], NULL) == RF_OK);
        REQUIRE(run->n_profiles == LANES);
        for (size_t i = 0; i < LANES; i++) {
            CHECK(run->profiles[i]->consumed > 20000);
            CHECK(run->profiles[i]->lost > 0);
            CHECK(same(run->profiles[i], alone->profiles[i]));
        }
        rf_run_free(run);
    }
    rf_run_free(alone);
}

/* Room for a few hundred of 45,000 tuples. */
TEST(a_lane_that_fails_keeps_what_all_had_counted)
{
    struct rf_lane small[LANES];
    memcpy(small, lanes, sizeof small);
    small[1].engine = "exact(memory=16Ki)";
    for (size_t threads = 0; threads <= 3; threads++) {
        struct rf_run *run;
        struct rf_error error = {""};
        CHECK(collect(&run, small, threads, &error) != RF_OK);
        CHECK(strstr(error.message, "exact") != NULL);
        REQUIRE(run != NULL && run->n_profiles == LANES);
        CHECK(run->profiles[1]->lost > 0);
        for (size_t i = 0; i < LANES; i++)
            CHECK_EQ(run->profiles[i]->produced,
                     run->profiles[i]->consumed + run->profiles[i]->lost);
        rf_run_free(run);
    }
}

static size_t on_other_threads;
static pthread_t caller;

static void note_thread(void *context, size_t lane, const struct rf_tuples *tuples)
{
    (void)context;
    (void)lane;
    (void)tuples;
    on_other_threads += !pthread_equal(pthread_self(), caller);
}

TEST(the_tap_stays_on_the_callers_thread)
{
    struct rf_collect_setup setup = {
        .lanes = lanes, .n_lanes = LANES, .selected = 1, .threads = 3, .tap = note_thread};
    struct rf_run *run;
    rewind_stream();
    caller = pthread_self();
    REQUIRE(rf_collect(&run, &stream.base, &setup, NULL) == RF_OK);
    CHECK_EQ(on_other_threads, 0);
    rf_run_free(run);
}

TEST_MAIN()
