/* curve.c - the error of engines and co-processors as a stream goes on: one point every N events, as CSV.
 *
 *     tuples of lane 0 --> exact                                +
 *                      --> every engine --> invariance of each -+--> events,engine,error,unseen,covered,overhead
 *     records          --> every co-processor ----------------- +
 *
 * The engines here are copies, as in timing.c, so that the collector needs no changes. The collector hands records to
 * co-processors batch by batch, behind the engines; a point may lie within a batch. So with co-processors the
 * curve reads the source itself and cuts the records where a point is due. */
#include "judge.h"
#include <riffle/coproc.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 1024 };

struct cli_curve {
    struct cli_curve_setup setup;
    struct rf_engine *exact;
    struct rf_engine **engines;
    struct rf_invariance *invariance;
    struct rf_selector selector;
    struct rf_tuple chunk[CHUNK];
    uint64_t events, shown;
    rf_status status;
    struct rf_error error;
};

static rf_status open_engines(struct cli_curve *curve, struct rf_error *error)
{
    const struct rf_engine_setup how = {.seed = curve->setup.seed};
    rf_status status = rf_engine_open(&curve->exact, "exact", &how, error);
    for (size_t i = 0; status == RF_OK && i < curve->setup.n_lanes; i++)
        status = rf_engine_open(&curve->engines[i], curve->setup.lanes[i].engine, &how, error);
    if (status == RF_OK)
        status = rf_invariance_open(&curve->invariance, &curve->setup.filter, NULL, error);
    return status;
}

rf_status cli_curve_new(struct cli_curve **made, const struct cli_curve_setup *setup,
                        struct rf_error *error)
{
    struct cli_curve *curve = *made = calloc(1, sizeof *curve);
    if (curve != NULL)
        curve->engines = calloc(setup->n_lanes + 1, sizeof(struct rf_engine *));
    if (curve == NULL || curve->engines == NULL) {
        snprintf(error->message, sizeof error->message, "no memory for the curve");
        return RF_ENOMEM;
    }
    curve->setup = *setup;
    if (setup->rms)
        curve->setup.filter.pc_share = 0;
    printf("events,engine,%s,unseen,covered,overhead\n", setup->rms ? "rms" : "error");
    return open_engines(curve, error);
}

/* ---- points ---- */

static void put_point(const struct cli_curve *curve, const char *engine,
                      const struct rf_measure_invariance *measure)
{
    printf("%llu,", (unsigned long long)curve->events);
    rf_write_csv(stdout, engine);
    printf(",%.17g,%.17g,%.17g,", curve->setup.rms ? measure->rms : measure->error, measure->unseen,
           measure->covered);
}

/* Cycles of the host in the handlers so far. */
static void put_overhead(const struct rf_profile *profile)
{
    for (size_t i = 0; i < profile->n_figures; i++)
        if (strcmp(profile->figures[i].name, "overhead-cycles") == 0)
            printf("%.17g", profile->figures[i].value);
}

static rf_status show_coproc(struct cli_curve *curve, const struct rf_coproc *coproc)
{
    struct rf_measure_invariance measure;
    struct rf_profile *profile;
    rf_status status = rf_collect_known(&profile, coproc, curve->setup.seed, NULL);
    if (status == RF_OK)
        status = rf_invariance_profile(curve->invariance, &measure, profile, &curve->error);
    if (status == RF_OK) {
        put_point(curve, rf_coproc_text(coproc), &measure);
        put_overhead(profile);
        putchar('\n');
    }
    rf_profile_free(profile);
    return status;
}

static rf_status show(struct cli_curve *curve)
{
    struct rf_measure_invariance measure;
    rf_status status = rf_invariance_truth_engine(curve->invariance, curve->exact, &curve->error);
    for (size_t i = 0; status == RF_OK && i < curve->setup.n_lanes; i++) {
        status =
            rf_invariance_engine(curve->invariance, &measure, curve->engines[i], &curve->error);
        if (status != RF_OK)
            break;
        put_point(curve, curve->setup.lanes[i].engine, &measure);
        putchar('\n');
    }
    for (size_t i = 0; status == RF_OK && i < curve->setup.n_coprocs; i++)
        status = show_coproc(curve, curve->setup.coprocs[i]);
    curve->shown = curve->events;
    return status;
}

static rf_status feed(struct cli_curve *curve, const struct rf_tuples *tuples)
{
    rf_status status = rf_engine_feed(curve->exact, tuples, &curve->error);
    for (size_t i = 0; status == RF_OK && i < curve->setup.n_lanes; i++)
        status = rf_engine_feed(curve->engines[i], tuples, &curve->error);
    curve->events = rf_engine_events(curve->exact);
    return status;
}

/* ---- tuples, from the collector ---- */

/* Events until the next point. */
static uint64_t count_due(const struct cli_curve *curve)
{
    return curve->setup.every - curve->events % curve->setup.every;
}

/* Without counts a batch is cut where a point is due; with counts the point comes after its tuple. */
static size_t piece_of(const struct cli_curve *curve, const struct rf_tuples *in, size_t done)
{
    uint64_t due = count_due(curve);
    if (in->counts != NULL)
        return 1;
    return in->n - done < due ? in->n - done : (size_t)due;
}

void cli_curve_tap(void *context, size_t lane, const struct rf_tuples *in)
{
    struct cli_curve *curve = context;
    for (size_t done = 0; lane == 0 && curve->status == RF_OK && done < in->n;) {
        size_t piece = piece_of(curve, in, done);
        uint64_t before = curve->events / curve->setup.every;
        struct rf_tuples tuples = {in->tuples + done, in->counts != NULL ? in->counts + done : NULL,
                                   piece};
        curve->status = feed(curve, &tuples);
        done += piece;
        if (curve->status == RF_OK && curve->events / curve->setup.every > before)
            curve->status = show(curve);
    }
}

/* ---- records, from the source ---- */

/* The records until the next point, or fewer: their number, and their tuples in the chunk. */
static size_t select_piece(struct cli_curve *curve, const struct rf_record *records, size_t n,
                           size_t *n_tuples)
{
    n = n < CHUNK ? n : CHUNK;
    while ((*n_tuples = rf_selector_run(&curve->selector, records, n, curve->chunk)) >
           count_due(curve))
        n /= 2;
    return n;
}

static rf_status feed_records(struct cli_curve *curve, const struct rf_record *records, size_t n,
                              size_t n_tuples)
{
    rf_status status = feed(curve, &(struct rf_tuples){curve->chunk, NULL, n_tuples});
    for (size_t i = 0; status == RF_OK && i < curve->setup.n_coprocs; i++)
        status = rf_coproc_feed(curve->setup.coprocs[i], records, n, &curve->error);
    return status;
}

/* A point is shown when more records come: the last one is shown by cli_curve_end, when the co-processors have
 * told all. */
static rf_status take_records(struct cli_curve *curve, const struct rf_record *records, size_t n)
{
    rf_status status = RF_OK;
    for (size_t done = 0, piece; status == RF_OK && done < n; done += piece) {
        size_t n_tuples;
        if (curve->events > curve->shown && curve->events % curve->setup.every == 0)
            status = show(curve);
        piece = select_piece(curve, records + done, n - done, &n_tuples);
        if (status == RF_OK)
            status = feed_records(curve, records + done, piece, n_tuples);
    }
    return status;
}

rf_status cli_curve_run(struct cli_curve *curve, struct rf_source *source, const char *selector,
                        uint64_t skip, uint64_t limit, struct rf_error *error)
{
    const volatile int *stop = cli_catch_interrupt();
    uint64_t left = limit != 0 ? limit : UINT64_MAX;
    rf_status status =
        rf_selector_parse(&curve->selector, selector != NULL ? selector : "values", error);
    while (status == RF_OK && curve->status == RF_OK && left > 0) {
        struct rf_batch batch;
        status = *stop ? RF_ESTOPPED : rf_source_next(source, &batch, error);
        if (status != RF_OK || rf_batch_is_end(&batch))
            return status;
        if (batch.n > 0 && batch.records == NULL) {
            snprintf(error->message, sizeof error->message,
                     "the stream is made of tuples; a co-processor needs records");
            return RF_EINVAL;
        }
        uint64_t leave = skip < batch.n ? skip : batch.n;
        uint64_t take = batch.n - leave < left ? batch.n - leave : left;
        curve->status = take_records(curve, batch.records + leave, (size_t)take);
        skip -= leave;
        left -= take;
    }
    return status;
}

rf_status cli_curve_end(struct cli_curve *curve, struct rf_error *error)
{
    for (size_t i = 0; curve->status == RF_OK && i < curve->setup.n_coprocs; i++)
        curve->status = rf_coproc_end(curve->setup.coprocs[i], &curve->error);
    if (curve->status == RF_OK && curve->events > curve->shown)
        curve->status = show(curve);
    *error = curve->error;
    return curve->status;
}

void cli_curve_free(struct cli_curve *curve)
{
    if (curve == NULL)
        return;
    for (size_t i = 0; curve->engines != NULL && i < curve->setup.n_lanes; i++)
        rf_engine_close(curve->engines[i]);
    rf_engine_close(curve->exact);
    rf_invariance_close(curve->invariance);
    free(curve->engines);
    free(curve);
}
