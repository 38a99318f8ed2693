/* curve.c - the error of engines as a stream goes on: one point every N events, as CSV.
 *
 *     tuples of lane 0 --> exact                                +
 *                      --> every engine --> invariance of each -+--> events,engine,error,unseen,covered
 *
 * The engines here are copies, as in timing.c, so that the collector needs no changes. */
#include "judge.h"
#include <stdlib.h>
#include <string.h>

struct cli_curve {
    struct cli_curve_setup setup;
    struct rf_engine *exact;
    struct rf_engine **engines;
    struct rf_invariance *invariance;
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
        curve->engines = calloc(setup->n_lanes, sizeof(struct rf_engine *));
    if (curve == NULL || curve->engines == NULL) {
        snprintf(error->message, sizeof error->message, "no memory for the curve");
        return RF_ENOMEM;
    }
    curve->setup = *setup;
    puts("events,engine,error,unseen,covered");
    return open_engines(curve, error);
}

static void put_point(const struct cli_curve *curve, size_t i,
                      const struct rf_measure_invariance *measure)
{
    printf("%llu,", (unsigned long long)curve->events);
    rf_write_csv(stdout, curve->setup.lanes[i].engine);
    printf(",%.17g,%.17g,%.17g\n", measure->error, measure->unseen, measure->covered);
}

static rf_status show(struct cli_curve *curve)
{
    struct rf_measure_invariance measure;
    rf_status status = rf_invariance_truth_engine(curve->invariance, curve->exact, &curve->error);
    for (size_t i = 0; status == RF_OK && i < curve->setup.n_lanes; i++) {
        status =
            rf_invariance_engine(curve->invariance, &measure, curve->engines[i], &curve->error);
        if (status == RF_OK)
            put_point(curve, i, &measure);
    }
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

/* Without counts a batch is cut where a point is due; with counts the point comes after its tuple. */
static size_t piece_of(const struct cli_curve *curve, const struct rf_tuples *in, size_t done)
{
    uint64_t due = curve->setup.every - curve->events % curve->setup.every;
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

rf_status cli_curve_end(struct cli_curve *curve, struct rf_error *error)
{
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
