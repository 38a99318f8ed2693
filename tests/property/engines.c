/* Every engine in the registry against the truth, over streams of many kinds.
 *
 * To add an engine there is nothing to do here: it is tried with its standard options. To try others,
 * give it a row in trials.h. What must hold for each:
 *
 *     bounds       lower <= truth <= upper for every item, truth <= absent_upper for every other
 *                  tuple; always for hard bounds, in the stated share of items for the rest
 *     totals       consumed is what was fed, produced = consumed + lost, exact counts are exact
 *     determinism  same text, same seed, same stream: the same profile
 *     batches      however the stream is cut into calls, the same profile
 *     counts       a tuple with a count is that many tuples
 *     order        an engine that takes tuples in any order keeps its bounds when they are sorted and merged
 *     memory       an engine that does not grow allocates nothing after it was opened; what it says
 *                  it holds covers what it asked for
 */
#include "base/random.h"
#include "engine/engine.h"
#include "failing.h"
#include "test.h"
#include "trials.h"
#include <riffle/engine.h>
#include <riffle/profiler.h>

enum { WHOLE = 0 }; /* as a batch: everything in one call */

/* Feed in batches of `batch` tuples; of random length where batch is 1000 or more. */
static rf_status feed(struct rf_profiler *profiler, const struct stream *stream, size_t batch)
{
    struct rf_random random;
    rf_random_seed(&random, batch);
    for (size_t done = 0; done < stream->n;) {
        size_t n = batch == WHOLE ? stream->n : batch;
        if (batch >= 1000)
            n = (size_t)rf_random_below(&random, batch);
        n = n < stream->n - done ? n : stream->n - done;
        rf_status status =
            rf_profiler_feed(profiler, &(struct rf_tuples){stream->tuples + done, NULL, n}, NULL);
        if (status != RF_OK)
            return status;
        done += n;
    }
    return RF_OK;
}

static struct rf_profile *profile_of(const char *text, const struct stream *stream, size_t batch)
{
    const struct rf_profiler_setup setup = {.seed = 99, .keep_intervals = 1};
    struct rf_profiler *profiler;
    struct rf_profile *profile = NULL;
    struct rf_error error = {""};
    if (rf_profiler_open(&profiler, text, &setup, &error) != RF_OK ||
        feed(profiler, stream, batch) != RF_OK ||
        rf_profiler_profile(profiler, &profile, &error) != RF_OK) {
        printf("# %s: %s\n", label(text, stream), error.message);
        CHECK_ROW(text, 0 && "the engine can be opened, fed and asked");
    }
    rf_profiler_close(profiler);
    return profile;
}

/* All intervals of a profile, each against its own piece of the stream. */
static struct verdict judge_intervals(const struct rf_profile *profile, const struct stream *stream)
{
    struct verdict sum = {.items = 0};
    size_t start = 0;
    for (size_t i = 0; i < profile->n_intervals; i++) {
        const struct rf_interval *interval = &profile->intervals[i];
        struct truth truth;
        if (start + interval->events > stream->n) {
            sum.disorder++;
            return sum;
        }
        truth_make(&truth, stream->tuples + start, interval->events);
        struct verdict verdict = judge(profile, profile->interval_items + interval->first,
                                       interval->n, interval->absent_upper, &truth);
        add_verdict(&sum, &verdict);
        truth_free(&truth);
        start += interval->events;
    }
    sum.disorder += profile->n_intervals > 0 && start != stream->n;
    return sum;
}

static void check_totals(const char *name, const struct rf_profile *profile, size_t n)
{
    CHECK_ROW(name, profile->consumed == n);
    CHECK_ROW(name, profile->produced == profile->consumed + profile->lost);
    CHECK_ROW(name, profile->absent_upper <= profile->consumed);
    CHECK_ROW(name, profile->bound <= RF_BOUND_CONFIDENCE);
    CHECK_ROW(name, profile->bound != RF_BOUND_CONFIDENCE ||
                        (profile->confidence > 0 && profile->confidence < 1));
    if (profile->bound != RF_BOUND_EXACT)
        return;
    uint64_t sum = 0;
    for (size_t i = 0; i < profile->n_items; i++)
        sum += profile->items[i].count;
    CHECK_ROW(name, sum == n);
}

static void check_bounds(const char *text)
{
    struct verdict sum = {.items = 0};
    double confidence = 0;
    for (size_t i = 0; i < n_streams; i++) {
        const struct stream *stream = &streams[i];
        struct rf_profile *profile = profile_of(text, stream, WHOLE);
        if (profile == NULL)
            continue;
        struct truth truth;
        truth_make(&truth, stream->tuples, stream->n);
        struct verdict verdict =
            judge(profile, profile->items, profile->n_items, profile->absent_upper, &truth);
        struct verdict inside = judge_intervals(profile, stream);
        truth_free(&truth);
        check_totals(label(text, stream), profile, stream->n);
        add_verdict(&verdict, &inside);
        CHECK_ROW(label(text, stream), verdict.disorder == 0);
        if (profile->bound == RF_BOUND_CONFIDENCE) {
            confidence = profile->confidence;
            add_verdict(&sum, &verdict);
        } else {
            CHECK_ROW(label(text, stream), verdict.outside == 0);
            CHECK_ROW(label(text, stream), verdict.forgotten == 0);
        }
        rf_profile_free(profile);
    }
    check_confidence(text, confidence, &sum);
}

TEST(bounds_hold)
{
    for_each_text(check_bounds);
}

/* The checks above can fail: a profile with one number changed is found out. */
TEST(a_wrong_profile_is_found_out)
{
    make_streams();
    const struct stream *stream = &streams[n_streams - 1];
    struct rf_profile *profile = profile_of("exact", stream, WHOLE);
    struct truth truth;
    truth_make(&truth, stream->tuples, stream->n);
    struct rf_item *last = &profile->items[profile->n_items - 1], kept = *last;
    REQUIRE(profile->n_items > 2);
#define JUDGE(n_used) judge(profile, profile->items, (n_used), 0, &truth)
    CHECK_EQ(JUDGE(profile->n_items).disorder, 0);
    CHECK_EQ(JUDGE(profile->n_items - 1).forgotten, 1);
    last->upper--;
    CHECK_EQ(JUDGE(profile->n_items).outside, 1);
    *last = kept;
    last->lower++;
    CHECK_EQ(JUDGE(profile->n_items).outside, 1);
    *last = kept;
    last->count++;
    CHECK_EQ(JUDGE(profile->n_items).disorder, 1);
    *last = profile->items[0];
    CHECK(JUDGE(profile->n_items).disorder > 0);
    *last = (struct rf_item){0, 0, UINT64_MAX, UINT64_MAX, stream->n, stream->n, stream->n, 0};
    CHECK_EQ(JUDGE(profile->n_items).outside, 0);
    last->a = 1; /* events with a = 0 there are none */
    CHECK_EQ(JUDGE(profile->n_items).outside, 0);
    last->b = 1;
    CHECK_EQ(JUDGE(profile->n_items).outside, truth_span(&truth, true, 0, 0) > 0);
#undef JUDGE
    truth_free(&truth);
    rf_profile_free(profile);
}

static bool same_items(const struct rf_item *x, const struct rf_item *y, size_t n)
{
    return n == 0 || memcmp(x, y, n * sizeof *x) == 0;
}

/* Whether all that an engine found is the same. Frees y. */
static bool same_profiles(const struct rf_profile *x, struct rf_profile *y)
{
    bool same = x != NULL && y != NULL && x->n_items == y->n_items &&
                x->n_interval_items == y->n_interval_items && x->consumed == y->consumed &&
                x->absent_upper == y->absent_upper && x->n_intervals == y->n_intervals &&
                same_items(x->items, y->items, x->n_items) &&
                same_items(x->interval_items, y->interval_items, x->n_interval_items);
    rf_profile_free(y);
    return same;
}

static void check_same(const char *text)
{
    static const size_t batches[] = {WHOLE, 1, 7, 1000};
    for (size_t i = 0; i < n_streams; i++) {
        struct rf_profile *once = profile_of(text, &streams[i], WHOLE);
        for (size_t k = 0; k < sizeof batches / sizeof *batches; k++)
            CHECK_ROW(label(text, &streams[i]),
                      same_profiles(once, profile_of(text, &streams[i], batches[k])));
        rf_profile_free(once);
    }
}

TEST(same_stream_same_profile_however_it_is_fed)
{
    for_each_text(check_same);
}

/* The stream's tuples, each standing for 1 to 9 of its kind or, rarely, none or a thousand. */
static uint64_t repeats(size_t i)
{
    return i % 97 == 0 ? 0 : i % 89 == 0 ? 1000 : i % 9 + 1;
}

static struct rf_profile *profile_counted(const char *text, const struct stream *stream, size_t n)
{
    struct rf_profiler *profiler;
    struct rf_profile *profile = NULL;
    uint64_t *counts = malloc((n + 1) * sizeof *counts);
    if (counts == NULL)
        abort();
    for (size_t i = 0; i < n; i++)
        counts[i] = repeats(i);
    const struct rf_profiler_setup setup = {.seed = 99, .keep_intervals = 1};
    if (rf_profiler_open(&profiler, text, &setup, NULL) == RF_OK &&
        rf_profiler_feed(profiler, &(struct rf_tuples){stream->tuples, counts, n}, NULL) == RF_OK)
        rf_profiler_profile(profiler, &profile, NULL);
    rf_profiler_close(profiler);
    free(counts);
    return profile;
}

static void check_counted(const char *text)
{
    for (size_t i = 0; i < n_streams; i++) {
        size_t n = streams[i].n < 3000 ? streams[i].n : 3000, total = 0;
        for (size_t k = 0; k < n; k++)
            total += repeats(k);
        struct rf_tuple *written_out = malloc((total + 1) * sizeof *written_out);
        if (written_out == NULL)
            abort();
        for (size_t k = 0, at = 0; k < n; k++)
            for (uint64_t r = repeats(k); r > 0; r--)
                written_out[at++] = streams[i].tuples[k];
        const struct stream repeated = {streams[i].name, written_out, total};
        struct rf_profile *expected = profile_of(text, &repeated, WHOLE);
        CHECK_ROW(label(text, &streams[i]),
                  same_profiles(expected, profile_counted(text, &streams[i], n)));
        rf_profile_free(expected);
        free(written_out);
    }
}

TEST(a_count_is_that_many_tuples)
{
    for_each_text(check_counted);
}

/* The stream in another order, equal tuples as one with a count. */
static struct rf_profile *profile_gathered(const char *text, const struct truth *truth)
{
    struct rf_profiler *profiler;
    struct rf_profile *profile = NULL;
    struct rf_tuple *tuples = malloc((truth->n + 1) * sizeof *tuples);
    uint64_t *counts = malloc((truth->n + 1) * sizeof *counts);
    if (tuples == NULL || counts == NULL)
        abort();
    for (size_t i = 0; i < truth->n; i++) {
        tuples[i] = (struct rf_tuple){truth->by_a[i].a, truth->by_a[i].b};
        counts[i] = truth->by_a[i].count;
    }
    const struct rf_profiler_setup setup = {.seed = 99};
    if (rf_profiler_open(&profiler, text, &setup, NULL) == RF_OK &&
        rf_profiler_feed(profiler, &(struct rf_tuples){tuples, counts, truth->n}, NULL) == RF_OK)
        rf_profiler_profile(profiler, &profile, NULL);
    rf_profiler_close(profiler);
    free(tuples);
    free(counts);
    return profile;
}

static void check_any_order(const char *text)
{
    struct rf_engine_info info;
    REQUIRE(rf_engine_describe(text, &info, NULL) == RF_OK);
    for (size_t i = 0; info.any_order && i < n_streams; i++) {
        const char *name = label(text, &streams[i]);
        struct truth truth;
        truth_make(&truth, streams[i].tuples, streams[i].n);
        struct rf_profile *profile = profile_gathered(text, &truth);
        CHECK_ROW(name, profile != NULL);
        if (profile != NULL) {
            struct verdict verdict =
                judge(profile, profile->items, profile->n_items, profile->absent_upper, &truth);
            check_totals(name, profile, streams[i].n);
            CHECK_ROW(name, verdict.disorder + verdict.outside + verdict.forgotten == 0);
        }
        rf_profile_free(profile);
        truth_free(&truth);
    }
}

TEST(bounds_hold_in_any_order_where_an_engine_says_so)
{
    for_each_text(check_any_order);
}

/* ---- memory ---- */

enum { HANDLE_MAX = 4096 }; /* what the handle around the state may take on top */

static void check_memory_on(const char *text, const struct stream *stream)
{
    struct failing failing = {.fail_at = 0};
    struct rf_alloc alloc = failing_alloc(&failing);
    const struct rf_engine_setup setup = {.alloc = &alloc, .seed = 99};
    struct rf_engine *engine;
    REQUIRE(rf_engine_open(&engine, text, &setup, NULL) == RF_OK);
    uint64_t allocations = failing.allocations;
    size_t memory = rf_engine_memory(engine);
    CHECK_ROW(text, failing.held <= memory + HANDLE_MAX);
    CHECK_ROW(text, rf_engine_feed(engine, &(struct rf_tuples){stream->tuples, NULL, stream->n},
                                   NULL) == RF_OK);
    const struct rf_engine_ops *ops;
    _Alignas(16) unsigned char config[RF_ENGINE_CONFIG_MAX];
    REQUIRE(rf_engine_parse(&ops, config, sizeof config, text, NULL) == RF_OK);
    if (!ops->grows) {
        CHECK_ROW(label(text, stream), failing.allocations == allocations);
        CHECK_ROW(label(text, stream), rf_engine_memory(engine) == memory);
    }
    CHECK_ROW(label(text, stream), failing.held <= rf_engine_memory(engine) + HANDLE_MAX);
    rf_engine_close(engine);
    CHECK_ROW(label(text, stream), failing.held == 0 && failing.mistakes == 0);
}

static void check_memory(const char *text)
{
    for (size_t i = 0; i < n_streams; i++)
        check_memory_on(text, &streams[i]);
}

TEST(memory_is_as_promised)
{
    for_each_text(check_memory);
}

/* ---- text ---- */

static void check_print(const char *text)
{
    struct rf_engine *engine, *again;
    char full[1024], twice[1024];
    REQUIRE(rf_engine_open(&engine, text, NULL, NULL) == RF_OK);
    REQUIRE(rf_engine_print(engine, full, sizeof full) < sizeof full);
    CHECK_ROW(text, rf_engine_open(&again, full, NULL, NULL) == RF_OK);
    if (again != NULL) {
        rf_engine_print(again, twice, sizeof twice);
        CHECK_TEXT(twice, full);
    }
    rf_engine_close(engine);
    rf_engine_close(again);
}

TEST(an_engine_prints_as_text_that_makes_it_again)
{
    for_each_text(check_print);
}

static void check_no_memory(const char *text)
{
    for (uint64_t n = 1; n < 100; n++) {
        struct failing failing = {.fail_at = n};
        struct rf_alloc alloc = failing_alloc(&failing);
        struct rf_engine *engine;
        rf_status status =
            rf_engine_open(&engine, text, &(struct rf_engine_setup){.alloc = &alloc}, NULL);
        rf_engine_close(engine);
        CHECK_ROW(text, failing.held == 0);
        if (status == RF_OK)
            return;
        CHECK_ROW(text, status == RF_ENOMEM);
    }
}

TEST(opening_without_memory_fails_cleanly)
{
    for_each_text(check_no_memory);
}

TEST_MAIN()
