/* collect.c - the pump between one source and many engines.
 *
 *     source --batch--> trim --> fill misses --> take piece --+--> record     a trace that is written along
 *                       (skip, limit)  (cache model)          +--> lanes.c    select, count
 *                                                             +--> coprocs.c  run microcode
 *
 * Guarantee: what was counted before a failure, a stop or a damaged end is in the run. An engine that runs
 * out of memory, or a recording that cannot be written, stops without stopping the others. The source is read
 * to its end, so that produced counts all events and lost is the difference. In every profile produced =
 * consumed + lost. */
#include <riffle/collect.h>
#include <riffle/trace.h>
#include "base/alloc.h"
#include "base/error.h"
#include "base/stop.h"
#include "collect/coprocs.h"
#include "collect/lanes.h"
#include "collect/misses.h"
#include "collect/notes.h"
#include "collect/snapshot.h"
#include "source/gaps.h"
#include <stdbool.h>
#include <string.h>
#include <time.h>

struct pump {
    const struct rf_collect_setup *setup;
    struct rf_source *source;
    struct rf_lanes *lanes;
    uint64_t skip, left; /* still to skip; still to take */
    uint64_t events;
    bool begun;                          /* the first batch was seen */
    bool in_bursts;                      /* the source tells its events in bursts */
    char ended[sizeof(struct rf_error)]; /* why the source ended early; empty: it did not */
    bool starved;                        /* for lack of memory: nobody knows what it has left */
    rf_status recorded;                  /* RF_OK as long as the recording goes well; else `why` */
    struct rf_error why;
    struct rf_misses *misses; /* NULL: the source has them, or no selector reads them */
    double next_progress;
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* A recording that fails stops; the profiles go on. */
static void record(struct pump *pump, const struct rf_batch *piece)
{
    if (pump->setup->record != NULL && pump->recorded == RF_OK)
        pump->recorded = rf_trace_write_batch(pump->setup->record, piece, &pump->why);
}

/* Everything between skip and limit comes through here: tuples, or records with their misses. */
static rf_status take_piece(struct pump *pump, const struct rf_batch *piece, struct rf_error *error)
{
    record(pump, piece);
    rf_status status = pump->in_bursts ? rf_lanes_burst(pump->lanes, piece, error) : RF_OK;
    if (status == RF_OK && piece->n > 0)
        status = rf_lanes_feed(pump->lanes, piece, error);
    return status == RF_OK ? rf_coprocs_feed(pump->setup, piece, error) : status;
}

static rf_status fill_misses(struct pump *pump, const struct rf_record *records, size_t n,
                             struct rf_error *error)
{
    rf_status status = RF_OK;
    for (size_t done = 0; done < n && status == RF_OK; done += RF_MISSES_CHUNK) {
        struct rf_batch piece = {.n = n - done < RF_MISSES_CHUNK ? n - done : RF_MISSES_CHUNK};
        piece.records = rf_misses_fill(pump->misses, records + done, piece.n);
        status = take_piece(pump, &piece, error);
    }
    return status;
}

/* Skipped records still warm the caches. */
static void warm(struct pump *pump, const struct rf_record *records, uint64_t n)
{
    for (uint64_t done = 0; pump->misses != NULL && done < n; done += RF_MISSES_CHUNK)
        rf_misses_fill(pump->misses, records + done,
                       n - done < RF_MISSES_CHUNK ? (size_t)(n - done) : RF_MISSES_CHUNK);
}

/* Of the next `events` events: how many to leave out at the front, and how many to take after those. */
static void trim(struct pump *pump, uint64_t events, uint64_t *leave, uint64_t *take)
{
    *leave = pump->skip < events ? pump->skip : events;
    pump->skip -= *leave;
    *take = events - *leave < pump->left ? events - *leave : pump->left;
    if (pump->left != UINT64_MAX)
        pump->left -= *take;
    pump->events += *take;
}

/* With a limit, counted tuples are taken one by one, since any of them may have to be split. */
static rf_status trim_counted(struct pump *pump, const struct rf_batch *batch,
                              struct rf_error *error)
{
    for (size_t i = 0; i < batch->tuples.n && pump->left > 0; i++) {
        uint64_t leave, take;
        trim(pump, batch->tuples.counts[i], &leave, &take);
        struct rf_batch one = {
            .tuples = {&batch->tuples.tuples[i], &take, 1}, .stream = batch->stream, .n = 1};
        rf_status status = take > 0 ? take_piece(pump, &one, error) : RF_OK;
        if (status != RF_OK)
            return status;
    }
    return RF_OK;
}

static rf_status take_whole(struct pump *pump, const struct rf_batch *batch, struct rf_error *error)
{
    for (size_t i = 0; i < batch->tuples.n; i++)
        pump->events += batch->tuples.counts[i];
    return take_piece(pump, batch, error);
}

static rf_status trim_records(struct pump *pump, const struct rf_batch *batch,
                              struct rf_error *error)
{
    uint64_t leave, take;
    trim(pump, batch->n, &leave, &take);
    warm(pump, batch->records, leave);
    const struct rf_batch piece = {.records = batch->records + leave, .n = (size_t)take};
    if (take == 0)
        return RF_OK;
    return pump->misses != NULL ? fill_misses(pump, piece.records, piece.n, error)
                                : take_piece(pump, &piece, error);
}

static rf_status trim_tuples(struct pump *pump, const struct rf_batch *batch,
                             struct rf_error *error)
{
    uint64_t leave, take;
    trim(pump, batch->n, &leave, &take);
    const struct rf_batch piece = {.tuples = {batch->tuples.tuples + leave, NULL, (size_t)take},
                                   .stream = batch->stream,
                                   .n = (size_t)take};
    return take > 0 ? take_piece(pump, &piece, error) : RF_OK;
}

/* Burst by burst, where events are left out, need their misses, or an engine must know where bursts end. */
static rf_status take_by_bursts(struct pump *pump, const struct rf_batch *batch,
                                struct rf_error *error)
{
    rf_status status = RF_OK;
    for (struct rf_burst burst = {.batch = batch};
         status == RF_OK && rf_batch_next_burst(&burst);) {
        const struct rf_batch *part = &burst.part;
        uint64_t before = pump->events;
        bool is_open = pump->skip == 0 && pump->left > 0;
        if (part->n > 0)
            status = batch->records != NULL ? trim_records(pump, part, error)
                                            : trim_tuples(pump, part, error);
        /* The skipped events of a gap lie before the burst. They count if some event of the burst does. */
        if (status == RF_OK && (part->n > 0 ? pump->events > before : is_open))
            status = take_piece(pump, &burst.behind, error);
        if (burst.has_end)
            rf_lanes_gap(pump->lanes, batch->stream);
    }
    return status;
}

static rf_status take_in_bursts(struct pump *pump, const struct rf_batch *batch,
                                struct rf_error *error)
{
    if (pump->skip > 0 || pump->left != UINT64_MAX || pump->misses != NULL ||
        (batch->n_ends > 0 && rf_lanes_mind_gaps(pump->lanes, batch->stream)))
        return take_by_bursts(pump, batch, error);
    pump->events += batch->n;
    return take_piece(pump, batch, error);
}

static rf_status take_batch(struct pump *pump, const struct rf_batch *batch, struct rf_error *error)
{
    if (pump->in_bursts)
        return take_in_bursts(pump, batch, error);
    if (batch->tuples.counts != NULL)
        return pump->skip == 0 && pump->left == UINT64_MAX ? take_whole(pump, batch, error)
                                                           : trim_counted(pump, batch, error);
    return batch->records != NULL ? trim_records(pump, batch, error)
                                  : trim_tuples(pump, batch, error);
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
    return rf_stop_is_set(pump->setup->stop);
}

/* The next batch; its losses are noted. After a stop the batch may end in half a line, so it is left out. */
static rf_status next_batch(struct pump *pump, struct rf_batch *batch, struct rf_error *error)
{
    memset(batch, 0, sizeof *batch);
    rf_status status = RF_OK;
    if (!stopped(pump))
        status = rf_source_next(pump->source, batch, error);
    if (stopped(pump))
        return rf_fail(error, RF_ESTOPPED, "stopped after %llu events",
                       (unsigned long long)pump->events);
    if (status == RF_OK && batch->lost > 0)
        rf_lanes_lose(pump->lanes, batch->stream, batch->lost);
    pump->in_bursts |= batch->ends != NULL || batch->skipped + batch->bursts > 0;
    if (status == RF_OK && (batch->lost > 0 || batch->gap))
        rf_lanes_gap(pump->lanes, batch->stream);
    return status;
}

/* A question that cannot be answered costs nothing but the answer. */
static void answer(struct pump *pump)
{
    struct rf_run *run;
    struct rf_error ignored;
    const struct rf_collect_setup *setup = pump->setup;
    if (setup->asked == NULL || !setup->asked(setup->now_context))
        return;
    if (rf_snapshot(&run, setup, pump->lanes, pump->source, &ignored) != RF_OK)
        return;
    setup->now(setup->now_context, run);
    rf_run_free(run);
}

static rf_status pump_all(struct pump *pump, struct rf_error *error)
{
    while (pump->left > 0 && pump->source != NULL) {
        struct rf_batch batch;
        rf_status status = next_batch(pump, &batch, error);
        if (status != RF_OK || rf_batch_is_end(&batch))
            return status;
        answer(pump);
        if (batch.n == 0 && batch.skipped + batch.bursts == 0)
            continue;
        status = pump->begun ? RF_OK : rf_lanes_begin(pump->lanes, &batch, error);
        pump->begun = true;
        if (status == RF_OK)
            status = take_batch(pump, &batch, error);
        if (status != RF_OK)
            return status;
        show_progress(pump);
    }
    return RF_OK;
}

static rf_status make_run(struct pump *pump, struct rf_run **run, struct rf_error *error)
{
    const char *command = pump->setup->command != NULL ? pump->setup->command : "";
    rf_lanes_make_room(pump->lanes);
    if (rf_run_new(run, command, pump->setup->alloc) != RF_OK) {
        *run = NULL;
        return rf_fail(error, RF_ENOMEM, "no memory for the profiles");
    }
    rf_status status = rf_lanes_end(pump->lanes, *run, error);
    if (status == RF_OK)
        status = rf_coprocs_add_profiles(pump->setup, *run, error);
    if (status == RF_OK && pump->ended[0] != '\0')
        status = rf_run_add_note(*run, "incomplete", pump->ended);
    if (status == RF_OK && pump->starved)
        status = rf_notes_starvation(*run);
    if (status == RF_OK && pump->misses != NULL)
        status = rf_misses_note(pump->misses, *run);
    if (status != RF_OK) {
        rf_run_free(*run);
        *run = NULL;
    }
    return status;
}

/* The first failure and that no run could be made after it. Its sentence may say that what was counted stands. */
static rf_status tell_both(rf_status status, const struct rf_error *first,
                           const struct rf_error *second, struct rf_error *error)
{
    const char *promise = strstr(first->message, "; what was counted before stands");
    size_t n = promise != NULL ? (size_t)(promise - first->message) : strlen(first->message);
    return rf_fail(error, status, "%.*s; what was counted before is lost: %s",
                   (int)(n < 200 ? n : 200), first->message, second->message);
}

static rf_status open_pump(struct pump *pump, const struct rf_collect_setup *setup,
                           struct rf_error *error)
{
    pump->setup = setup;
    pump->skip = setup->skip;
    pump->left = setup->limit != 0 ? setup->limit : UINT64_MAX;
    rf_status status = rf_lanes_open(&pump->lanes, setup, error);
    if (status == RF_OK && setup->cache != NULL)
        status =
            rf_misses_open(&pump->misses, setup->cache, rf_alloc_or_standard(setup->alloc), error);
    return status;
}

static void close_pump(struct pump *pump)
{
    rf_misses_close(pump->misses);
    rf_lanes_close(pump->lanes);
}

/* Pump until the end. Returns the first error: of the source, else of a lane, else of the recording. */
static rf_status run_dry(struct pump *pump, struct rf_error *error)
{
    struct rf_error first = {""}, second = {""};
    rf_status status = pump_all(pump, &first), counted = rf_lanes_wait(pump->lanes, &second);
    if (status != RF_OK) {
        rf_format(pump->ended, sizeof pump->ended, "%s",
                  first.message[0] != '\0' ? first.message : rf_status_text(status));
        pump->starved = status == RF_ENOMEM;
        return rf_fail(error, status, "%s", pump->ended);
    }
    if (counted != RF_OK)
        return rf_fail(error, counted, "%s", second.message);
    return pump->recorded != RF_OK ? rf_fail(error, pump->recorded, "%s", pump->why.message)
                                   : RF_OK;
}

rf_status rf_collect(struct rf_run **run, struct rf_source *source,
                     const struct rf_collect_setup *setup, struct rf_error *error)
{
    *run = NULL;
    if (setup->n_lanes == 0 && setup->n_coprocs == 0)
        return rf_fail(error, RF_EINVAL, "nothing to collect: no lanes");
    struct pump pump;
    memset(&pump, 0, sizeof pump);
    pump.source = source;
    rf_status status = open_pump(&pump, setup, error);
    if (status == RF_OK) {
        struct rf_error first = {""}, second = {""};
        status = run_dry(&pump, &first);
        rf_status made = make_run(&pump, run, &second);
        if (status != RF_OK && made != RF_OK)
            tell_both(status, &first, &second, error);
        else if (status != RF_OK || made != RF_OK)
            rf_fail(error, status != RF_OK ? status : made, "%s",
                    status != RF_OK ? first.message : second.message);
        status = status != RF_OK ? status : made;
    }
    close_pump(&pump);
    return status;
}
