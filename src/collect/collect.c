/* collect.c - the pump between one source and many engines.
 *
 *     source --batch--> trim [--> caches] --> record    (skip, limit; a trace that is written along)
 *                        |
 *                        +--> lane 0: [selector ->] profiler       on threads of their own, if there
 *                        +--> lane 1: [selector ->] profiler ...   are any (crew.c)
 *
 * Tuples are handed on where they lie. Records are selected chunk by chunk into one small buffer that
 * stays in the first-level cache and serves all lanes in turn.
 *
 * Guarantee: what was counted before a failure, a stop or a damaged end is in the run; in every
 * profile produced = consumed + lost. Memory: one chunk of 16 KiB, what the engines hold and what
 * their threads queue. */
#include <riffle/collect.h>
#include <riffle/engine.h>
#include <riffle/profiler.h>
#include <riffle/trace.h>
#include "base/alloc.h"
#include "base/error.h"
#include "collect/crew.h"
#include "collect/misses.h"
#include "collect/share.h"
#include <stdbool.h>
#include <string.h>
#include <time.h>

enum { CHUNK = 1024, SELECTOR_TEXT = 512 };

struct lane {
    struct rf_selector selector;
    bool selects;
    struct rf_profiler *profiler; /* NULL: that of `owner` */
    size_t owner;                 /* the lane whose engine it uses; itself as a rule */
    size_t sharing;               /* of an owner: so many lanes use its engine */
    struct rf_share share;
    char canonical[SELECTOR_TEXT];
};

struct pump {
    const struct rf_collect_setup *setup;
    const struct rf_alloc *alloc;
    struct rf_source *source;
    struct lane *lanes;
    uint64_t skip, left; /* still to skip; still to take */
    uint64_t events;
    bool begun;               /* the first batch was seen */
    struct rf_misses *misses; /* NULL: the source tells them, or nobody asks */
    struct rf_crew *crew;     /* NULL: engines work on this thread */
    double next_progress;
    struct rf_tuple chunk[CHUNK];
    struct rf_tuple marked[CHUNK];
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static rf_status open_profiler(struct pump *pump, size_t i, const char *selector,
                               struct rf_error *error)
{
    const struct rf_collect_setup *setup = pump->setup;
    struct rf_profiler_setup how = {.alloc = pump->alloc,
                                    .seed = setup->seed,
                                    .interval = setup->interval,
                                    .selector = selector,
                                    .keep_intervals = setup->keep_intervals,
                                    .stop = setup->stop};
    return rf_profiler_open(&pump->lanes[i].profiler, setup->lanes[i].engine, &how, error);
}

static rf_status bind_selector(struct pump *pump, struct rf_selector *selector,
                               struct rf_error *error)
{
    if (!selector->unbound)
        return RF_OK;
    if (pump->setup->resolve == NULL)
        return rf_fail(error, RF_EINVAL,
                       "the selector names a symbol, and there is no program to look it up in");
    return rf_selector_bind(selector, pump->setup->resolve, pump->setup->resolve_context, error);
}

static rf_status open_selecting(struct pump *pump, size_t i, const char *text,
                                struct rf_error *error)
{
    struct lane *lane = &pump->lanes[i];
    rf_status status = rf_selector_parse(&lane->selector, text, error);
    if (status != RF_OK)
        return status;
    rf_selector_print(&lane->selector, lane->canonical, sizeof lane->canonical);
    lane->selects = true;
    if (!pump->setup->selected) {
        status = bind_selector(pump, &lane->selector, error);
        if (status != RF_OK)
            return status;
    }
    return lane->owner == i ? open_profiler(pump, i, lane->canonical, error) : RF_OK;
}

static rf_status note_shape(void *context, const struct rf_summary *summary)
{
    *(unsigned *)context = summary->shape;
    return RF_OK;
}

static rf_status no_item(void *context, const struct rf_item *item)
{
    (void)context;
    (void)item;
    return RF_OK;
}

/* A lane that joins needs an owner with a selector and an engine that counts tuples. */
static rf_status join(struct pump *pump, size_t i, struct rf_error *error)
{
    if (i == 0 || pump->setup->lanes[i].selector == NULL || !pump->lanes[i - 1].selects)
        return rf_fail(error, RF_EINVAL, "only lanes with selectors can share an engine");
    struct lane *lane = &pump->lanes[i], *owner = &pump->lanes[pump->lanes[i - 1].owner];
    unsigned shape = RF_SHAPE_TUPLE;
    struct rf_sink sink = {no_item, NULL, note_shape, &shape};
    rf_status status = rf_engine_report(rf_profiler_engine(owner->profiler), &sink);
    if (status != RF_OK || shape != RF_SHAPE_TUPLE || owner->sharing == RF_SHARE_MAX)
        return rf_fail(error, RF_EINVAL, "engine '%s' cannot serve several selectors at once",
                       pump->setup->lanes[i].engine);
    lane->owner = pump->lanes[i - 1].owner;
    lane->share.tag = (unsigned)owner->sharing++;
    return RF_OK;
}

static rf_status open_lanes(struct pump *pump, struct rf_error *error)
{
    for (size_t i = 0; i < pump->setup->n_lanes; i++) {
        const char *selector = pump->setup->lanes[i].selector;
        struct lane *lane = &pump->lanes[i];
        *lane = (struct lane){.owner = i, .sharing = 1};
        lane->share.selector = lane->canonical;
        rf_status status = pump->setup->lanes[i].joins ? join(pump, i, error) : RF_OK;
        if (status != RF_OK)
            return status;
        status = selector != NULL ? open_selecting(pump, i, selector, error)
                                  : open_profiler(pump, i, NULL, error);
        if (status != RF_OK)
            return status;
    }
    return RF_OK;
}

/* Only the first batch tells what the source is made of. */
static rf_status begin(struct pump *pump, const struct rf_batch *batch, struct rf_error *error)
{
    pump->begun = true;
    if (pump->setup->selected)
        return RF_OK;
    for (size_t i = 0; i < pump->setup->n_lanes; i++) {
        struct lane *lane = &pump->lanes[i];
        if (lane->selects && batch->records == NULL)
            return rf_fail(error, RF_EINVAL,
                           "the stream is made of tuples; a selector needs records");
        if (lane->selects || batch->records == NULL)
            continue;
        rf_profiler_close(lane->profiler);
        lane->profiler = NULL;
        rf_status status = open_selecting(pump, i, "values", error);
        if (status != RF_OK)
            return status;
    }
    return RF_OK;
}

/* Also called on the crew's threads. */
static rf_status feed_profiler(void *context, size_t i, const struct rf_tuples *tuples,
                               struct rf_error *error)
{
    const struct pump *pump = context;
    return rf_profiler_feed(pump->lanes[i].profiler, tuples, error);
}

static rf_status feed_engine(struct pump *pump, size_t i, const struct rf_tuples *tuples,
                             struct rf_error *error)
{
    if (pump->setup->tap != NULL)
        pump->setup->tap(pump->setup->tap_context, i, tuples);
    return pump->crew != NULL ? rf_crew_feed(pump->crew, i, tuples, error)
                              : feed_profiler(pump, i, tuples, error);
}

static rf_status feed_marked(struct pump *pump, size_t i, const struct rf_tuples *tuples,
                             struct rf_error *error)
{
    struct lane *lane = &pump->lanes[i];
    for (size_t done = 0; done < tuples->n; done += CHUNK) {
        size_t piece = tuples->n - done < CHUNK ? tuples->n - done : CHUNK;
        const uint64_t *counts = tuples->counts != NULL ? tuples->counts + done : NULL;
        rf_share_mark(pump->marked, tuples->tuples + done, piece, lane->share.tag);
        for (size_t k = 0; k < piece; k++)
            lane->share.consumed += counts != NULL ? counts[k] : 1;
        rf_status status =
            feed_engine(pump, lane->owner, &(struct rf_tuples){pump->marked, counts, piece}, error);
        if (status != RF_OK)
            return status;
    }
    return RF_OK;
}

static rf_status feed(struct pump *pump, size_t i, const struct rf_tuples *tuples,
                      struct rf_error *error)
{
    bool shared = pump->lanes[pump->lanes[i].owner].sharing > 1;
    return shared ? feed_marked(pump, i, tuples, error) : feed_engine(pump, i, tuples, error);
}

static rf_status feed_tuples(struct pump *pump, const struct rf_tuples *tuples, uint32_t stream,
                             struct rf_error *error)
{
    for (size_t i = 0; i < pump->setup->n_lanes; i++) {
        if (pump->setup->selected && pump->setup->lanes[i].stream != stream)
            continue;
        rf_status status = feed(pump, i, tuples, error);
        if (status != RF_OK)
            return status;
    }
    return RF_OK;
}

static rf_status feed_records(struct pump *pump, const struct rf_record *records, size_t n,
                              struct rf_error *error)
{
    for (size_t done = 0; done < n; done += CHUNK) {
        size_t piece = n - done < CHUNK ? n - done : CHUNK;
        for (size_t i = 0; i < pump->setup->n_lanes; i++) {
            struct rf_tuples tuples = {.tuples = pump->chunk};
            tuples.n =
                rf_selector_run(&pump->lanes[i].selector, records + done, piece, pump->chunk);
            rf_status status = tuples.n > 0 ? feed(pump, i, &tuples, error) : RF_OK;
            if (status != RF_OK)
                return status;
        }
    }
    return RF_OK;
}

static rf_status take_tuples(struct pump *pump, const struct rf_tuples *tuples, uint32_t stream,
                             struct rf_error *error)
{
    if (pump->setup->record != NULL) {
        rf_status status = rf_trace_write_tuples(pump->setup->record, tuples, error);
        if (status != RF_OK)
            return status;
    }
    return feed_tuples(pump, tuples, stream, error);
}

static rf_status keep_records(struct pump *pump, const struct rf_record *records, size_t n,
                              struct rf_error *error)
{
    if (pump->setup->record != NULL) {
        rf_status status = rf_trace_write_records(pump->setup->record, records, n, error);
        if (status != RF_OK)
            return status;
    }
    return feed_records(pump, records, n, error);
}

static rf_status take_records(struct pump *pump, const struct rf_record *records, size_t n,
                              struct rf_error *error)
{
    rf_status status = RF_OK;
    if (pump->misses == NULL)
        return keep_records(pump, records, n, error);
    for (size_t done = 0; done < n && status == RF_OK; done += RF_MISSES_CHUNK) {
        size_t piece = n - done < RF_MISSES_CHUNK ? n - done : RF_MISSES_CHUNK;
        status =
            keep_records(pump, rf_misses_fill(pump->misses, records + done, piece), piece, error);
    }
    return status;
}

/* Records that are skipped leave their lines in the caches. */
static void warm(struct pump *pump, const struct rf_record *records, uint64_t n)
{
    for (uint64_t done = 0; pump->misses != NULL && done < n; done += RF_MISSES_CHUNK)
        rf_misses_fill(pump->misses, records + done,
                       n - done < RF_MISSES_CHUNK ? (size_t)(n - done) : RF_MISSES_CHUNK);
}

/* `events` came in a row: how many of them to leave out in front and to take behind that. */
static void trim(struct pump *pump, uint64_t events, uint64_t *leave, uint64_t *take)
{
    *leave = pump->skip < events ? pump->skip : events;
    pump->skip -= *leave;
    *take = events - *leave < pump->left ? events - *leave : pump->left;
    if (pump->left != UINT64_MAX)
        pump->left -= *take;
    pump->events += *take;
}

/* Counted tuples while a limit is on: one by one, since any of them may have to be split. */
static rf_status trim_counted(struct pump *pump, const struct rf_batch *batch,
                              struct rf_error *error)
{
    for (size_t i = 0; i < batch->tuples.n && pump->left > 0; i++) {
        uint64_t leave, take;
        trim(pump, batch->tuples.counts[i], &leave, &take);
        struct rf_tuples one = {&batch->tuples.tuples[i], &take, 1};
        rf_status status = take > 0 ? take_tuples(pump, &one, batch->stream, error) : RF_OK;
        if (status != RF_OK)
            return status;
    }
    return RF_OK;
}

static rf_status take_whole(struct pump *pump, const struct rf_batch *batch, struct rf_error *error)
{
    for (size_t i = 0; i < batch->tuples.n; i++)
        pump->events += batch->tuples.counts[i];
    return take_tuples(pump, &batch->tuples, batch->stream, error);
}

static rf_status take_batch(struct pump *pump, const struct rf_batch *batch, struct rf_error *error)
{
    if (batch->tuples.counts != NULL)
        return pump->skip == 0 && pump->left == UINT64_MAX ? take_whole(pump, batch, error)
                                                           : trim_counted(pump, batch, error);
    uint64_t leave, take;
    trim(pump, batch->n, &leave, &take);
    if (batch->records != NULL)
        warm(pump, batch->records, leave);
    if (take == 0)
        return RF_OK;
    if (batch->records != NULL)
        return take_records(pump, batch->records + leave, (size_t)take, error);
    struct rf_tuples tuples = {batch->tuples.tuples + leave, NULL, (size_t)take};
    return take_tuples(pump, &tuples, batch->stream, error);
}

/* What was fed to an engine comes before what was lost. */
static void lose(struct pump *pump, const struct rf_batch *batch)
{
    if (batch->lost > 0 && pump->crew != NULL)
        rf_crew_wait(pump->crew, NULL);
    for (size_t i = 0; batch->lost > 0 && i < pump->setup->n_lanes; i++)
        if (!pump->setup->selected || pump->setup->lanes[i].stream == batch->stream) {
            rf_profiler_lose(pump->lanes[pump->lanes[i].owner].profiler, batch->lost);
            pump->lanes[i].share.lost += batch->lost;
        }
}

enum { PROGRESS_PER_SECOND = 10 };

static void show_progress(struct pump *pump)
{
    if (pump->setup->progress == NULL || now() < pump->next_progress)
        return;
    struct rf_collect_progress progress = {.events = pump->events};
    rf_source_progress(pump->source, &progress.done, &progress.total);
    pump->setup->progress(pump->setup->progress_context, &progress);
    pump->next_progress = now() + 1.0 / PROGRESS_PER_SECOND;
}

static bool stopped(const struct pump *pump)
{
    return pump->setup->stop != NULL && *pump->setup->stop;
}

/* The next batch, its losses noted. What comes after a stop may be half a line: it is left out. */
static rf_status next_batch(struct pump *pump, struct rf_batch *batch, struct rf_error *error)
{
    memset(batch, 0, sizeof *batch);
    rf_status status = RF_OK;
    if (!stopped(pump))
        status = rf_source_next(pump->source, batch, error);
    if (stopped(pump))
        return rf_fail(error, RF_ESTOPPED, "stopped after %llu events",
                       (unsigned long long)pump->events);
    if (status == RF_OK)
        lose(pump, batch);
    return status;
}

static rf_status pump_all(struct pump *pump, struct rf_error *error)
{
    while (pump->left > 0) {
        struct rf_batch batch;
        rf_status status = next_batch(pump, &batch, error);
        if (status != RF_OK || (batch.n == 0 && batch.lost == 0))
            return status;
        if (batch.n == 0)
            continue;
        status = pump->begun ? RF_OK : begin(pump, &batch, error);
        if (status == RF_OK)
            status = take_batch(pump, &batch, error);
        if (status != RF_OK)
            return status;
        show_progress(pump);
    }
    return RF_OK;
}

/* The run takes the profile over, or it is freed. */
static rf_status add_profile(struct rf_run *run, struct rf_profile *profile)
{
    rf_status status = rf_run_add_profile(run, profile);
    if (status != RF_OK)
        rf_profile_free(profile);
    return status;
}

static rf_status deal_out(struct pump *pump, struct rf_run *run, size_t owner,
                          const struct rf_profile *all)
{
    for (size_t i = owner; i < pump->setup->n_lanes && pump->lanes[i].owner == owner; i++) {
        struct rf_profile *part;
        rf_status status =
            rf_share_take(&part, all, &pump->lanes[i].share, pump->lanes[owner].sharing);
        if (status == RF_OK)
            status = add_profile(run, part);
        if (status != RF_OK)
            return status;
    }
    return RF_OK;
}

static rf_status add_profiles(struct pump *pump, struct rf_run *run, struct rf_error *error)
{
    for (size_t i = 0; i < pump->setup->n_lanes; i++) {
        struct rf_profile *profile;
        const struct lane *lane = &pump->lanes[i];
        if (lane->profiler == NULL)
            continue;
        rf_status status = rf_profiler_profile(lane->profiler, &profile, error);
        if (status != RF_OK)
            return status;
        if (lane->sharing > 1) {
            status = deal_out(pump, run, i, profile);
            rf_profile_free(profile);
        } else {
            status = add_profile(run, profile);
        }
        if (status != RF_OK)
            return rf_fail(error, status, "no memory for the profiles");
    }
    return RF_OK;
}

static rf_status make_run(struct pump *pump, struct rf_run **run, struct rf_error *error)
{
    const char *command = pump->setup->command != NULL ? pump->setup->command : "";
    if (rf_run_new(run, command, pump->alloc) != RF_OK) {
        *run = NULL;
        return rf_fail(error, RF_ENOMEM, "no memory for the profiles");
    }
    rf_status status = add_profiles(pump, *run, error);
    if (status == RF_OK && pump->misses != NULL)
        status = rf_misses_note(pump->misses, *run);
    if (status != RF_OK) {
        rf_run_free(*run);
        *run = NULL;
    }
    return status;
}

static rf_status open_pump(struct pump *pump, const struct rf_collect_setup *setup,
                           struct rf_error *error)
{
    pump->setup = setup;
    pump->alloc = rf_alloc_or_standard(setup->alloc);
    pump->skip = setup->skip;
    pump->left = setup->limit != 0 ? setup->limit : UINT64_MAX;
    pump->lanes = rf_alloc_get(pump->alloc, setup->n_lanes * sizeof *pump->lanes);
    if (pump->lanes == NULL)
        return rf_fail(error, RF_ENOMEM, "no memory for %zu lanes", setup->n_lanes);
    memset(pump->lanes, 0, setup->n_lanes * sizeof *pump->lanes);
    if (setup->cache != NULL) {
        rf_status status = rf_misses_open(&pump->misses, setup->cache, pump->alloc, error);
        if (status != RF_OK)
            return status;
    }
    rf_status status = open_lanes(pump, error);
    if (status == RF_OK)
        status = rf_crew_open(&pump->crew, setup->threads, setup->n_lanes, feed_profiler, pump,
                              pump->alloc, error);
    return status;
}

static void close_pump(struct pump *pump)
{
    rf_crew_close(pump->crew);
    rf_misses_close(pump->misses);
    for (size_t i = 0; pump->lanes != NULL && i < pump->setup->n_lanes; i++)
        rf_profiler_close(pump->lanes[i].profiler);
    rf_alloc_free(pump->alloc, pump->lanes, pump->setup->n_lanes * sizeof *pump->lanes);
}

rf_status rf_collect(struct rf_run **run, struct rf_source *source,
                     const struct rf_collect_setup *setup, struct rf_error *error)
{
    *run = NULL;
    if (setup->n_lanes == 0)
        return rf_fail(error, RF_EINVAL, "nothing to collect: no lanes");
    struct pump pump;
    memset(&pump, 0, sizeof pump);
    pump.source = source;
    rf_status status = open_pump(&pump, setup, error);
    if (status == RF_OK) {
        status = pump_all(&pump, error);
        struct rf_error second;
        rf_status done = pump.crew != NULL ? rf_crew_wait(pump.crew, &second) : RF_OK;
        if (status == RF_OK && done != RF_OK)
            status = rf_fail(error, done, "%s", second.message);
        rf_status made = make_run(&pump, run, status == RF_OK ? error : &second);
        if (status == RF_OK)
            status = made;
    }
    close_pump(&pump);
    return status;
}
