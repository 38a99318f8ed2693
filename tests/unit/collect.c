/* The pump, fed by a source made of hand-written batches. */
#include <riffle/collect.h>
#include "failing.h"
#include "scripted.h"
#include "test.h"
#include <riffle/trace.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

static const struct rf_lane plain_lane = {NULL, "exact", 0, 0};

TEST(skip_and_limit)
{
    static const struct {
        const char *label;
        const uint64_t *counts;
        uint64_t skip, limit;
        const char *expected;
    } rows[] = {
        {"all", NULL, 0, 0, "111111"},
        {"skip", NULL, 2, 0, "001111"},
        {"limit", NULL, 0, 4, "111100"},
        {"both", NULL, 1, 4, "011110"},
        {"skip more", NULL, 9, 0, "000000"},
        {"counted", twice, 0, 0, "222222"},
        {"counted, skip in it", twice, 3, 0, "012222"},
        {"counted, limit in it", twice, 0, 3, "210000"},
        {"counted, both in one", twice, 2, 1, "010000"},
        {"counted, skip of more", twice, 12, 0, "000000"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const uint64_t *counts = rows[i].counts;
        struct rf_batch batches[] = {
            {.tuples = {six, counts, 2}, .n = 2},
            {.tuples = {six + 2, counts != NULL ? counts + 2 : NULL, 4}, .n = 4},
        };
        struct scripted source = script(batches, 2);
        struct rf_collect_setup setup = {
            .lanes = &plain_lane, .n_lanes = 1, .skip = rows[i].skip, .limit = rows[i].limit};
        struct rf_run *run;
        REQUIRE(rf_collect(&run, &source.base, &setup, NULL) == RF_OK);
        char text[8];
        counts_text(run->profiles[0], text);
        CHECK_TEXT(text, rows[i].expected);
        rf_run_free(run);
    }
}

TEST(a_source_that_selects_feeds_each_stream_to_its_lanes)
{
    struct rf_batch batches[] = {
        {.tuples = {six, NULL, 2}, .n = 2, .stream = 0},
        {.tuples = {six + 2, NULL, 3}, .n = 3, .stream = 1, .lost = 7},
    };
    struct scripted source = script(batches, 2);
    static const struct rf_lane lanes[] = {
        {"load -> pc,value", "exact", 0, 0},
        {"branch -> pc,target", "exact", 1, 0},
        {"branch -> pc,target", "exact", 1, 0},
    };
    struct rf_collect_setup setup = {.lanes = lanes, .n_lanes = 3, .selected = 1};
    struct rf_run *run;
    REQUIRE(rf_collect(&run, &source.base, &setup, NULL) == RF_OK);
    REQUIRE(run->n_profiles == 3);
    CHECK_EQ(run->profiles[0]->consumed, 2);
    CHECK_EQ(run->profiles[0]->lost, 0);
    for (size_t i = 1; i < 3; i++) {
        CHECK_EQ(run->profiles[i]->consumed, 3);
        CHECK_EQ(run->profiles[i]->lost, 7);
        CHECK_EQ(run->profiles[i]->produced, 10);
    }
    CHECK_TEXT(run->profiles[0]->selector, "load -> pc,value");
    rf_run_free(run);
}

static const struct rf_record records[] = {
    {.kind = RF_CLASS_LOAD, .pc = 1, .value = 9},
    {.kind = RF_CLASS_STORE, .pc = 2, .value = 9},
    {.kind = RF_CLASS_LOAD, .pc = 1, .value = 9},
    {.kind = RF_CLASS_LOAD, .pc = 3, .value = 8},
};

TEST(records_are_selected_lane_by_lane)
{
    struct rf_batch batch = {.records = records, .n = 4};
    struct scripted source = script(&batch, 1);
    static const struct rf_lane lanes[] = {{NULL, "exact", 0, 0}, {"store -> pc", "exact", 0, 0}};
    struct rf_collect_setup setup = {.lanes = lanes, .n_lanes = 2};
    struct rf_run *run;
    REQUIRE(rf_collect(&run, &source.base, &setup, NULL) == RF_OK);
    const struct rf_profile *values = run->profiles[0], *stores = run->profiles[1];
    CHECK_TEXT(values->selector, "load -> pc,value");
    REQUIRE(values->n_items == 2 && stores->n_items == 1);
    CHECK_EQ(values->items[0].count, 2);
    CHECK_EQ(values->items[0].b, 9);
    CHECK_EQ(stores->items[0].a, 2);
    CHECK_EQ(stores->items[0].b, 0);
    rf_run_free(run);
}

/* Loads and stores of the same pc and value, then of their own. */
static const struct rf_record both[] = {
    {.kind = RF_CLASS_LOAD, .pc = 1, .value = 9},
    {.kind = RF_CLASS_STORE, .pc = 1, .value = 9},
    {.kind = RF_CLASS_LOAD, .pc = 1, .value = 9},
    {.kind = RF_CLASS_STORE, .pc = 2, .value = 8},
};

TEST(lanes_that_share_an_engine_are_dealt_out)
{
    struct rf_batch batch = {.records = both, .n = 4, .lost = 3};
    struct scripted source = script(&batch, 1);
    static const struct rf_lane lanes[] = {
        {"load -> pc,value", "exact(interval=3)", 0, 0},
        {"store -> pc,value", "exact(interval=3)", 0, 1},
        {"load -> pc,value", "exact", 0, 0},
    };
    struct rf_collect_setup setup = {.lanes = lanes, .n_lanes = 3, .keep_intervals = 1};
    struct rf_run *run;
    REQUIRE(rf_collect(&run, &source.base, &setup, NULL) == RF_OK);
    REQUIRE(run->n_profiles == 3);
    const struct rf_profile *loads = run->profiles[0], *stores = run->profiles[1];
    CHECK_TEXT(loads->selector, "load -> pc,value");
    CHECK_TEXT(stores->selector, "store -> pc,value");
    REQUIRE(loads->n_items == 1 && stores->n_items == 2 && run->profiles[2]->n_items == 1);
    CHECK_EQ(loads->items[0].a, 1);
    CHECK_EQ(loads->items[0].a_hi, 1);
    CHECK_EQ(loads->items[0].count, 2);
    CHECK_EQ(stores->items[0].a, 1);
    CHECK_EQ(stores->items[1].b, 8);
    for (size_t i = 0; i < 3; i++) {
        CHECK_EQ(run->profiles[i]->consumed, 2);
        CHECK_EQ(run->profiles[i]->lost, 3);
        CHECK_EQ(run->profiles[i]->produced, 5);
    }
    /* The engine counts 4 tuples in all: one interval of 3 and one of 1, which is a store's. */
    REQUIRE(stores->n_intervals == 2 && loads->n_intervals == 2);
    CHECK_EQ(loads->intervals[0].n, 1);
    CHECK_EQ(stores->intervals[0].n, 1);
    CHECK_EQ(loads->intervals[1].n, 0);
    CHECK_EQ(stores->intervals[1].n, 1);
    CHECK_EQ(stores->interval_items[stores->intervals[1].first].a, 2);
    CHECK_TEXT(stores->figures[stores->n_figures - 1].name, "sharing");
    rf_run_free(run);
}

TEST(what_cannot_share_is_refused)
{
    static const struct {
        const char *label;
        struct rf_lane lanes[2];
        const char *message;
    } rows[] = {
        {"nobody before it",
         {{"load -> pc,value", "exact", 0, 1}, {"load -> pc,value", "exact", 0, 0}},
         "only lanes with selectors can share an engine"},
        {"no selector",
         {{NULL, "exact", 0, 0}, {NULL, "exact", 0, 1}},
         "only lanes with selectors can share an engine"},
        {"values of the first lane",
         {{"load -> value", "exact", 0, 0}, {"store -> pc,value", "exact", 0, 1}},
         "selectors that share an engine cannot have a value as their first field"},
        {"values of the second lane",
         {{"load -> pc,value", "exact", 0, 0}, {"store -> value,pc", "exact", 0, 1}},
         "selectors that share an engine cannot have a value as their first field"},
        {"ranges",
         {{"load -> pc,value", "rap", 0, 0}, {"store -> pc,value", "rap", 0, 1}},
         "engine 'rap' cannot serve several selectors at once"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct rf_batch batch = {.records = both, .n = 4};
        struct scripted source = script(&batch, 1);
        struct rf_collect_setup setup = {.lanes = rows[i].lanes, .n_lanes = 2};
        struct rf_run *run;
        struct rf_error error = {""};
        CHECK_ROW(rows[i].label, rf_collect(&run, &source.base, &setup, &error) == RF_EINVAL);
        CHECK_TEXT(error.message, rows[i].message);
        rf_run_free(run);
    }
}

TEST(limits_of_records_count_records)
{
    struct rf_batch batch = {.records = records, .n = 4};
    struct scripted source = script(&batch, 1);
    struct rf_collect_setup setup = {.lanes = &plain_lane, .n_lanes = 1, .skip = 1, .limit = 2};
    struct rf_run *run;
    REQUIRE(rf_collect(&run, &source.base, &setup, NULL) == RF_OK);
    CHECK_EQ(run->profiles[0]->consumed, 1);
    rf_run_free(run);
}

TEST(what_cannot_be_is_refused_with_a_sentence)
{
    static const struct {
        struct rf_lane lane;
        const char *message;
    } rows[] = {
        {{"values", "exact", 0, 0}, "the stream is made of tuples; a selector needs records"},
        {{NULL, "exat", 0, 0}, "no engine 'exat'; did you mean 'exact'?"},
        {{"load pc in main..main+4 -> pc", "exact", 0, 0},
         "the selector names a symbol, and there is no program to look it up in"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct rf_batch batch = {.tuples = {six, NULL, 6}, .n = 6};
        struct scripted source = script(&batch, 1);
        struct rf_collect_setup setup = {.lanes = &rows[i].lane, .n_lanes = 1};
        struct rf_error error = {""};
        struct rf_run *run;
        CHECK_EQ(rf_collect(&run, &source.base, &setup, &error), RF_EINVAL);
        CHECK_TEXT(error.message, rows[i].message);
        rf_run_free(run);
    }
}

/* Distinct calls, so that exact soon needs more than its ceiling allows. */
enum { MANY = 8000 };

static const struct rf_record *many_calls(void)
{
    static struct rf_record calls[MANY];
    for (unsigned i = 0; i < MANY; i++)
        calls[i] = (struct rf_record){.kind = RF_CLASS_CALL,
                                      .pc = 0x1000 + i,
                                      .target = i,
                                      .flags = i % 4 == 0 ? RF_RECORD_INDIRECT : 0};
    return calls;
}

static double figure_of(const struct rf_profile *profile, const char *name)
{
    for (size_t i = 0; i < profile->n_figures; i++)
        if (strcmp(profile->figures[i].name, name) == 0)
            return profile->figures[i].value;
    return -1;
}

TEST(a_lane_that_runs_out_of_memory_ends_alone)
{
    static const char small[] = "exact(memory=64Ki)";
    static const struct rf_lane lanes[] = {
        {"call -> pc,target", small, 0, 0},
        {"call -> pc,target", "exact", 0, 0},
        {"call -> pc,target", small, 0, 0},
        {"call indirect==1 -> pc,target", small, 0, 1},
    };
    for (size_t threads = 0; threads < 5; threads++) {
        struct rf_batch batches[] = {{.records = many_calls(), .n = MANY / 2},
                                     {.records = many_calls() + MANY / 2, .n = MANY / 2}};
        struct scripted source = script(batches, 2);
        struct rf_collect_setup setup = {.lanes = lanes, .n_lanes = 4, .threads = threads};
        struct rf_run *run;
        struct rf_error error = {""};
        CHECK_EQ(rf_collect(&run, &source.base, &setup, &error), RF_ENOMEM);
        CHECK(strstr(error.message, "its memory ceiling was reached at event ") != NULL);
        REQUIRE(run != NULL && run->n_profiles == 4);
        for (size_t i = 0; i < 4; i++) {
            const struct rf_profile *profile = run->profiles[i];
            CHECK_EQ(profile->produced, i == 3 ? MANY / 4 : MANY);
            CHECK_EQ(profile->consumed + profile->lost, profile->produced);
            CHECK_EQ(profile->consumed == profile->produced, i == 1);
            CHECK_EQ((int64_t)figure_of(profile, "blind-from"),
                     i == 1 ? -1 : (int64_t)profile->consumed);
            uint64_t sum = 0;
            for (size_t k = 0; k < profile->n_items; k++)
                sum += profile->items[k].count;
            CHECK_EQ(sum, profile->consumed);
        }
        CHECK(rf_run_note(run, "blind") != NULL);
        rf_run_free(run);
    }
}

/* An allocator with so many bytes and no more. */
struct purse {
    size_t held, most;
};

static void *purse_resize(void *context, void *ptr, size_t old_size, size_t new_size)
{
    struct purse *purse = context;
    size_t had = ptr != NULL ? old_size : 0;
    if (new_size > had && purse->held - had + new_size > purse->most)
        return NULL;
    void *got = new_size > 0 ? realloc(ptr, new_size) : NULL;
    if (new_size == 0)
        free(ptr);
    else if (got == NULL)
        return NULL;
    purse->held += new_size - had;
    return got;
}

/* Whatever memory there is, and whoever comes first: counts that the sentence promises are there. */
TEST(what_was_counted_before_memory_ran_out_is_kept)
{
    static const struct rf_lane pair[] = {
        {"call -> pc,target", "multihash", 0, 0},
        {"call -> pc,target", "exact", 0, 0},
    };
    unsigned kept = 0;
    for (size_t most = 256 << 10; most < 4 << 20; most += 32 << 10) {
        struct purse purse = {.most = most};
        const struct rf_alloc alloc = {purse_resize, &purse};
        struct rf_batch batches[] = {{.records = many_calls(), .n = MANY / 2},
                                     {.records = many_calls() + MANY / 2, .n = MANY / 2}};
        struct scripted source = script(batches, 2);
        struct rf_collect_setup setup = {.lanes = pair, .n_lanes = 2, .alloc = &alloc};
        struct rf_run *run;
        struct rf_error error = {""};
        rf_status status = rf_collect(&run, &source.base, &setup, &error);
        CHECK(status == RF_OK || status == RF_ENOMEM);
        bool stands = strstr(error.message, "what was counted before stands") != NULL;
        if (stands)
            REQUIRE(run != NULL && run->n_profiles == 2);
        for (size_t i = 0; run != NULL && i < run->n_profiles; i++) {
            const struct rf_profile *profile = run->profiles[i];
            CHECK_EQ(profile->produced, MANY);
            CHECK_EQ(profile->consumed + profile->lost, MANY);
            CHECK_EQ((int64_t)figure_of(profile, "blind-from"),
                     profile->lost == 0 ? -1 : (int64_t)profile->consumed);
        }
        kept += stands && run->profiles[0]->consumed + run->profiles[1]->consumed > MANY;
        rf_run_free(run);
        CHECK_EQ(purse.held, 0);
    }
    CHECK(kept > 10);
}

/* A file that may not grow: the recording fails, and nothing else. */
TEST(a_recording_that_fails_ends_alone)
{
    char path[] = "/tmp/riffle-collect-XXXXXX";
    int fd = mkstemp(path);
    REQUIRE(fd >= 0);
    close(fd);
    struct rf_trace_writer *writer;
    struct rf_error error = {""};
    REQUIRE(rf_trace_create(&writer, path, RF_TRACE_RECORDS, "", NULL, NULL, &error) == RF_OK);
    struct rlimit before, none = {.rlim_cur = 0};
    getrlimit(RLIMIT_FSIZE, &before);
    none.rlim_max = before.rlim_max;
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &none);
    struct rf_batch batches[20];
    for (size_t i = 0; i < 20; i++)
        batches[i] = (struct rf_batch){.records = many_calls(), .n = MANY};
    struct scripted source = script(batches, 20);
    static const struct rf_lane lane = {"call -> pc,target", "exact", 0, 0};
    struct rf_collect_setup setup = {.lanes = &lane, .n_lanes = 1, .record = writer};
    struct rf_run *run;
    rf_status status = rf_collect(&run, &source.base, &setup, &error);
    setrlimit(RLIMIT_FSIZE, &before);
    CHECK_EQ(status, RF_EIO);
    CHECK(error.message[0] != '\0');
    REQUIRE(run != NULL);
    CHECK_EQ(run->profiles[0]->consumed, 20 * MANY);
    CHECK_EQ(run->profiles[0]->produced, 20 * MANY);
    CHECK(rf_run_note(run, "incomplete") == NULL);
    rf_run_free(run);
    rf_trace_abandon(writer);
    unlink(path);
}

TEST(a_damaged_end_keeps_what_was_whole)
{
    struct rf_batch batch = {.tuples = {six, NULL, 6}, .n = 6};
    struct scripted source = script(&batch, 1);
    source.end = RF_EDAMAGED;
    struct rf_collect_setup setup = {.lanes = &plain_lane, .n_lanes = 1};
    struct rf_error error = {""};
    struct rf_run *run;
    CHECK_EQ(rf_collect(&run, &source.base, &setup, &error), RF_EDAMAGED);
    CHECK_TEXT(error.message, "scripted end");
    REQUIRE(run != NULL);
    CHECK_EQ(run->profiles[0]->consumed, 6);
    rf_run_free(run);
}

TEST(a_stop_leaves_out_the_batch_that_came_after_it)
{
    struct rf_batch batches[] = {
        {.tuples = {six, NULL, 2}, .n = 2},
        {.tuples = {six + 2, NULL, 3}, .n = 3},
    };
    int stop = 0;
    struct scripted source = script(batches, 2);
    source.stop = &stop;
    struct rf_collect_setup setup = {.lanes = &plain_lane, .n_lanes = 1, .stop = &stop};
    struct rf_error error = {""};
    struct rf_run *run;
    CHECK_EQ(rf_collect(&run, &source.base, &setup, &error), RF_ESTOPPED);
    CHECK_TEXT(error.message, "stopped after 2 events");
    REQUIRE(run != NULL);
    CHECK_EQ(run->profiles[0]->consumed, 2);
    rf_run_free(run);
}

static void count_tuples(void *context, size_t lane, const struct rf_tuples *tuples)
{
    size_t *seen = context;
    seen[lane] += tuples->n;
}

TEST(the_tap_sees_what_each_lane_gets)
{
    struct rf_batch batch = {.records = records, .n = 4};
    struct scripted source = script(&batch, 1);
    static const struct rf_lane lanes[] = {{"values", "exact", 0, 0},
                                           {"store -> pc", "exact", 0, 0}};
    size_t seen[2] = {0, 0};
    struct rf_collect_setup setup = {
        .lanes = lanes, .n_lanes = 2, .tap = count_tuples, .tap_context = seen};
    struct rf_run *run;
    REQUIRE(rf_collect(&run, &source.base, &setup, NULL) == RF_OK);
    CHECK_EQ(seen[0], 3);
    CHECK_EQ(seen[1], 1);
    rf_run_free(run);
}

/* The stream is at its end: what is held from here on counts. */
static void forget_most(void *context, const struct rf_collect_progress *progress)
{
    (void)progress;
    ((struct failing *)context)->most = 0;
}

/* The most bytes that are held at once while so many profiles are made, each of 20,000 tuples. */
static size_t most_held(size_t n_lanes)
{
    enum { TUPLES = 20000 };
    static struct rf_tuple tuples[TUPLES];
    for (size_t i = 0; i < TUPLES; i++)
        tuples[i] = (struct rf_tuple){i, 0};
    const struct rf_batch batch = {.tuples = {tuples, NULL, TUPLES}, .n = TUPLES};
    const struct rf_lane lanes[] = {plain_lane, plain_lane, plain_lane, plain_lane};
    struct failing failing = {.fail_at = 0};
    struct rf_alloc alloc = failing_alloc(&failing);
    struct scripted source = script(&batch, 1);
    struct rf_collect_setup setup = {.lanes = lanes,
                                     .n_lanes = n_lanes,
                                     .alloc = &alloc,
                                     .progress = forget_most,
                                     .progress_context = &failing};
    struct rf_run *run;
    CHECK(rf_collect(&run, &source.base, &setup, NULL) == RF_OK);
    CHECK(run->n_profiles == n_lanes && run->profiles[n_lanes - 1]->n_items == TUPLES);
    rf_run_free(run);
    CHECK_EQ(failing.held, 0);
    return failing.most;
}

/* Engines and profiles take about the same. */
TEST(engines_are_gone_when_the_profiles_of_others_are_made)
{
    CHECK(most_held(4) < 3 * most_held(1));
}

TEST(every_allocation_may_fail)
{
    for (uint64_t n = 1;; n++) {
        struct failing failing = {.fail_at = n};
        struct rf_alloc alloc = failing_alloc(&failing);
        struct rf_batch batch = {.records = records, .n = 4};
        struct scripted source = script(&batch, 1);
        static const struct rf_lane lanes[] = {
            {NULL, "exact", 0, 0},
            {"store -> pc", "exact", 0, 0},
            {"load -> pc", "exact", 0, 1},
        };
        struct rf_collect_setup setup = {
            .lanes = lanes, .n_lanes = 3, .alloc = &alloc, .interval = 2, .keep_intervals = 1};
        struct rf_error error = {""};
        struct rf_run *run;
        rf_status status = rf_collect(&run, &source.base, &setup, &error);
        rf_run_free(run);
        CHECK_EQ(failing.held, 0);
        CHECK_EQ(failing.mistakes, 0);
        if (status == RF_OK) {
            CHECK(n > 5);
            break;
        }
        CHECK_EQ(status, RF_ENOMEM);
        CHECK(error.message[0] != '\0');
    }
}

/* Lines of 16 bytes, two of them in all: a third line pushes the oldest out. */
TEST(caches_fill_miss_before_anybody_selects)
{
    static const struct rf_record accesses[] = {
        {.kind = RF_CLASS_LOAD, .pc = 1, .addr = 0x100, .width = 32},
        {.kind = RF_CLASS_STORE, .pc = 2, .addr = 0x200, .width = 32},
        {.kind = RF_CLASS_LOAD, .pc = 3, .addr = 0x104, .width = 32},
        {.kind = RF_CLASS_LOAD, .pc = 4, .addr = 0x200, .width = 32},
        {.kind = RF_CLASS_LOAD, .pc = 5, .addr = 0x300, .width = 32},
        {.kind = RF_CLASS_LOAD, .pc = 6, .addr = 0x100, .width = 32},
    };
    static const struct {
        const char *label, *cache;
        uint64_t skip;
        const char *expected, *note;
    } rows[] = {
        {"the source tells", NULL, 0, "000000", NULL},
        {"modelled", "l1=32/2/16", 0, "100011", "l1=32/2/16: 60.00% of loads missed l1"},
        {"skipped events warm it", "l1=32/2/16", 2, "000011",
         "l1=32/2/16: 60.00% of loads missed l1"},
    };
    const struct rf_lane lane = {"load miss>=1 -> pc", "exact", 0, 0};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct rf_batch batch = {.records = accesses, .n = 6};
        struct scripted source = script(&batch, 1);
        struct rf_collect_setup setup = {
            .lanes = &lane, .n_lanes = 1, .skip = rows[i].skip, .cache = rows[i].cache};
        struct rf_run *run;
        REQUIRE(rf_collect(&run, &source.base, &setup, NULL) == RF_OK);
        char text[8];
        counts_text(run->profiles[0], text);
        CHECK_TEXT(text, rows[i].expected);
        const char *note = rf_run_note(run, "cache");
        CHECK_ROW(rows[i].label, (note == NULL) == (rows[i].note == NULL));
        CHECK_TEXT(note != NULL ? note : "", rows[i].note != NULL ? rows[i].note : "");
        rf_run_free(run);
    }
}

TEST(a_cache_that_makes_no_sense_is_refused)
{
    const struct rf_batch batch = {.n = 0};
    struct scripted source = script(&batch, 0);
    struct rf_collect_setup setup = {.lanes = &plain_lane, .n_lanes = 1, .cache = "l1=5"};
    struct rf_error error = {""};
    struct rf_run *run;
    CHECK_EQ(rf_collect(&run, &source.base, &setup, &error), RF_EINVAL);
    CHECK(run == NULL);
    CHECK_TEXT(error.message, "cache l1: expected SIZE/WAYS/LINE, got '5'");
}

/* 1 2 | 3 4 over and over; gaps come as ends of bursts, as a batch's own, and as losses, with threads and without. A stream
 * of four would go across one. */
TEST(no_stream_crosses_a_gap)
{
    static const struct rf_tuple eight[] = {{1, 0}, {2, 0}, {3, 0}, {4, 0},
                                            {1, 0}, {2, 0}, {3, 0}, {4, 0}};
    static const uint32_t ends[] = {2, 4, 6, 8};
    static const struct rf_batch whole[] = {{.tuples = {eight, NULL, 8}, .n = 8},
                                            {.tuples = {eight, NULL, 8}, .n = 8}};
    static const struct rf_batch bursts[] = {
        {.tuples = {eight, NULL, 8}, .n = 8, .ends = ends, .n_ends = 4},
        {.tuples = {eight, NULL, 8}, .n = 8, .ends = ends, .n_ends = 4}};
    static const struct rf_batch cut[] = {{.tuples = {eight, NULL, 2}, .n = 2},
                                          {.tuples = {eight + 2, NULL, 2}, .n = 2, .gap = 1},
                                          {.tuples = {eight, NULL, 2}, .n = 2, .lost = 5},
                                          {.tuples = {eight + 2, NULL, 2}, .n = 2, .gap = 1},
                                          {.tuples = {eight, NULL, 2}, .n = 2, .gap = 1},
                                          {.tuples = {eight + 2, NULL, 2}, .n = 2, .lost = 1}};
    static const struct {
        const char *label;
        const struct rf_batch *batches;
        size_t n, threads;
        uint64_t skip;
        uint32_t length; /* of every stream that is found */
        uint64_t events;
    } rows[] = {
        {"without gaps", whole, 2, 0, 0, 8, 16},
        {"bursts", bursts, 2, 0, 0, 2, 16},
        {"bursts on a thread", bursts, 2, 1, 0, 2, 16},
        {"bursts, skip", bursts, 2, 0, 3, 2, 13},
        {"gaps and losses", cut, 6, 0, 0, 2, 12},
        {"the same on a thread", cut, 6, 1, 0, 2, 12},
    };
    const struct rf_lane lane = {NULL, "streams(min=2, heat=0)", 0, 0};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct scripted source = script(rows[i].batches, rows[i].n);
        struct rf_collect_setup setup = {
            .lanes = &lane, .n_lanes = 1, .threads = rows[i].threads, .skip = rows[i].skip};
        struct rf_run *run;
        REQUIRE(rf_collect(&run, &source.base, &setup, NULL) == RF_OK);
        const struct rf_profile *profile = run->profiles[0];
        CHECK_ROW(rows[i].label, profile->n_items > 0 && profile->consumed == rows[i].events);
        for (size_t k = 0; k < profile->n_items; k++)
            CHECK_ROW(rows[i].label, rf_stream_length(&profile->items[k]) == rows[i].length);
        rf_run_free(run);
    }
}

TEST_MAIN()
