/* All parts of a run in every combination: engines, one to three lanes on one engine (`+`), cut by the caller or not,
 * with intervals kept or not, engines on the caller's thread or on their own. For each combination:
 *
 *     totals    every profile agrees with itself (profile/check.c), and consumed is what its selector selects
 *     bounds    lower <= truth <= upper for items of hard and exact bounds
 *     saved     the run can be written, and read again as the same bytes
 *     merged    with itself it has twice the events and still agrees with itself
 *     reported  every form that fits prints it */
#include "base/random.h"
#include "profile/file.h"
#include "profile/profile.h"
#include "source/source.h"
#include "test.h"
#include <riffle/collect.h>
#include <riffle/report.h>

enum { RECORDS = 2500, BATCH = 700, LANES = 3 };

static const char *const selectors[LANES] = {"branch,jump -> pc,target", "call -> pc,target",
                                             "call indirect==1 -> pc,target"};
static const char *const engines[] = {
    "exact",
    "exact(interval=1K)",
    "exact(interval=7)",
    "multihash",
    "multihash(interval=1K)",
    "multihash(interval=500, threshold=1%, counters=20, accumulator=5)",
    "multihash(interval=auto, threshold=1%)",
    "P256",
    "P7",
    "R7",
    "CR7",
    "D7",
    "A16",
    "H[P256]2048",
    "H[P16]64 A16",
    "H[H[P4]2]32 (hash=paper)",
    "tagged(entries=64, hit=5, evict=8)",
    "tagged(ways=1, entries=16, hit=4, evict=4) A8",
};

static struct rf_record records[RECORDS];

/* There are few indirect calls and many branches, so the last lane has a small share of its engine. */
static void make_records(void)
{
    struct rf_random random;
    rf_random_seed(&random, test_seed(71));
    for (size_t i = 0; i < RECORDS; i++) {
        uint64_t kind = rf_random_below(&random, 100), place = rf_random_below(&random, 12);
        place *= rf_random_below(&random, 4);
        records[i] = (struct rf_record){.pc = 0x400000 + 16 * place,
                                        .target = 0x500000 + rf_random_below(&random, place + 2)};
        records[i].kind = kind < 85 ? RF_CLASS_BRANCH : RF_CLASS_CALL;
        records[i].flags = kind == 99 ? RF_RECORD_INDIRECT : 0;
    }
}

struct stream {
    struct rf_source base;
    size_t at;
};

static rf_status next(struct rf_source *source, struct rf_batch *batch, struct rf_error *error)
{
    struct stream *stream = (struct stream *)source;
    (void)error;
    size_t left = RECORDS - stream->at, n = left < BATCH ? left : BATCH;
    *batch = (struct rf_batch){.records = records + stream->at, .n = n};
    stream->at += n;
    return RF_OK;
}

static void stay(struct rf_source *source)
{
    (void)source;
}

static const struct rf_source_ops ops = {.name = "records", .next = next, .close = stay};

static uint64_t truth_of(const struct rf_selector *selector, const struct rf_item *item)
{
    struct rf_tuple out;
    uint64_t n = 0;
    for (size_t i = 0; i < RECORDS; i++)
        n += rf_selector_run(selector, &records[i], 1, &out) == 1 &&
             (item == NULL || (out.a == item->a && out.b == item->b));
    return n;
}

static const char *check_profile(const struct rf_profile *profile)
{
    struct rf_selector selector;
    const char *wrong = rf_profile_contradiction(profile);
    if (wrong != NULL)
        return wrong;
    if (rf_profile_selector(profile, &selector) != RF_OK)
        return "no selector";
    if (profile->lost != 0 || profile->consumed != truth_of(&selector, NULL))
        return "other events than its selector selects";
    for (size_t i = 0; i < profile->n_items && profile->bound != RF_BOUND_CONFIDENCE; i++) {
        uint64_t truth = truth_of(&selector, &profile->items[i]);
        if (truth < profile->items[i].lower || truth > profile->items[i].upper)
            return "an item's bounds do not hold";
    }
    uint64_t events = 0;
    for (size_t i = 0; i < profile->n_intervals; i++)
        events += profile->intervals[i].events;
    return profile->n_intervals > 0 && events != profile->consumed ? "intervals lack events" : NULL;
}

static const char *check_saved(const struct rf_run *run)
{
    struct rf_bytes file = {0}, again = {0};
    struct rf_run *loaded = NULL;
    struct rf_error error = {""};
    static char wrong[600];
    snprintf(wrong, sizeof wrong, "the same bytes do not come back");
    bool same = rf_run_encode(run, &file, &error) == RF_OK &&
                rf_run_decode(&loaded, file.bytes, file.n, NULL, &error) == RF_OK &&
                rf_run_encode(loaded, &again, &error) == RF_OK && again.n == file.n &&
                memcmp(file.bytes, again.bytes, file.n) == 0;
    if (error.message[0] != '\0')
        snprintf(wrong, sizeof wrong, "%s", error.message);
    rf_bytes_free(&file, &run->alloc);
    rf_bytes_free(&again, &run->alloc);
    rf_run_free(loaded);
    return same ? NULL : wrong;
}

static const char *check_merged(struct rf_run *run, const struct rf_run *other)
{
    static struct rf_error error;
    if (rf_run_merge(run, other, &error) != RF_OK)
        return error.message;
    for (size_t i = 0; i < run->n_profiles; i++) {
        const char *wrong = rf_profile_contradiction(run->profiles[i]);
        if (wrong != NULL)
            return wrong;
        if (run->profiles[i]->consumed != 2 * other->profiles[i]->consumed)
            return "merged, it has not twice the events";
    }
    return check_saved(run);
}

static const char *check_reported(const struct rf_run *run, int per_interval)
{
    static char text[1 << 20];
    for (const struct rf_report_form *const *form = rf_report_forms(); *form != NULL; form++) {
        FILE *out = fmemopen(text, sizeof text, "w");
        const struct rf_report_setup setup = {.view.rows = 5, .per_interval = per_interval};
        rf_status status = out != NULL ? (*form)->write(out, run, &setup, NULL) : RF_ENOMEM;
        if (out != NULL)
            fclose(out);
        if (status != RF_OK && status != RF_ENOTSUP)
            return (*form)->name;
    }
    return NULL;
}

struct combination {
    const char *engine;
    size_t lanes;
    int joins, keep_intervals;
    uint64_t interval;
    size_t threads;
};

static struct rf_run *collect(const struct combination *c)
{
    struct rf_lane lanes[LANES];
    struct stream stream = {.base = {.ops = &ops}};
    struct rf_run *run = NULL;
    for (size_t i = 0; i < c->lanes; i++)
        lanes[i] = (struct rf_lane){selectors[i], c->engine, 0, c->joins && i > 0};
    const struct rf_collect_setup setup = {.lanes = lanes,
                                           .n_lanes = c->lanes,
                                           .seed = 5,
                                           .interval = c->interval,
                                           .keep_intervals = c->keep_intervals,
                                           .threads = c->threads};
    if (rf_collect(&run, &stream.base, &setup, NULL) != RF_OK) {
        rf_run_free(run);
        return NULL;
    }
    return run;
}

static const char *check_run(const struct combination *c)
{
    struct rf_run *run = collect(c), *other = collect(c);
    const char *wrong = run == NULL || other == NULL ? "it could not be collected" : NULL;
    for (size_t i = 0; wrong == NULL && i < run->n_profiles; i++)
        wrong = check_profile(run->profiles[i]);
    if (wrong == NULL && run->n_profiles != c->lanes)
        wrong = "a profile is missing";
    if (wrong == NULL)
        wrong = check_saved(run);
    if (wrong == NULL)
        wrong = check_reported(run, c->keep_intervals);
    if (wrong == NULL)
        wrong = check_merged(run, other);
    rf_run_free(run);
    rf_run_free(other);
    return wrong;
}

static void check_combination(const struct combination *c)
{
    const char *wrong = check_run(c);
    char label[1200];
    snprintf(label, sizeof label, "%s, %zu lanes%s%s, interval %d, %zu threads: %s", c->engine,
             c->lanes, c->joins ? " on one engine" : "",
             c->keep_intervals ? ", intervals kept" : "", (int)c->interval, c->threads,
             wrong != NULL ? wrong : "");
    CHECK_ROW(label, wrong == NULL);
}

TEST(every_combination_can_be_saved_loaded_merged_and_reported)
{
    make_records();
    for (size_t e = 0; e < sizeof engines / sizeof *engines; e++)
        for (unsigned bits = 0; bits < 16; bits++)
            check_combination(&(struct combination){.engine = engines[e],
                                                    .lanes = bits & 1 ? 3 : 2,
                                                    .joins = (bits & 2) == 0,
                                                    .keep_intervals = (bits & 4) != 0,
                                                    .interval = bits & 8 ? 900 : 0,
                                                    .threads = bits & 1 ? 2 : 0});
}

TEST_MAIN()
