/* timing.c - how fast an engine is, alone.
 *
 * A second copy of each engine is fed the tuples of the stream, 64 Ki at a time, and only those calls are
 * timed: no reading, no selecting, no keeping of intervals. The engines
 * take turns, so each meets caches that another has used; with 1 MiB of tuples per turn that costs it
 * little. Ratios between engines of one run mean more than the figures. */
#include "judge.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TURN = 64 * 1024 };

struct timed {
    struct rf_engine *engine;
    double seconds;
    uint64_t tuples;
    bool failed;
};

struct cli_timing {
    size_t n_engines;
    struct timed *engines;
    size_t n;
    bool counted; /* some tuple of the turn occurred more than once */
    struct rf_tuple tuples[TURN];
    uint64_t counts[TURN];
};

static rf_status fail_memory(struct rf_error *error)
{
    snprintf(error->message, sizeof error->message, "no memory to time the engines");
    return RF_ENOMEM;
}

rf_status cli_timing_new(struct cli_timing **made, const struct rf_lane *lanes, size_t n,
                         const struct rf_engine_setup *setup, struct rf_error *error)
{
    struct cli_timing *timing = *made = calloc(1, sizeof *timing);
    if (timing == NULL)
        return fail_memory(error);
    timing->engines = calloc(n, sizeof *timing->engines);
    if (timing->engines == NULL)
        return fail_memory(error);
    timing->n_engines = n;
    for (size_t i = 0; i < n; i++) {
        rf_status status =
            rf_engine_open(&timing->engines[i].engine, lanes[i].engine, setup, error);
        if (status != RF_OK)
            return status;
    }
    return RF_OK;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void take_turns(struct cli_timing *timing)
{
    struct rf_tuples tuples = {timing->tuples, timing->counted ? timing->counts : NULL, timing->n};
    for (size_t i = 0; i < timing->n_engines; i++) {
        struct timed *timed = &timing->engines[i];
        if (timed->failed)
            continue;
        double start = now();
        timed->failed = rf_engine_feed(timed->engine, &tuples, NULL) != RF_OK;
        timed->seconds += now() - start;
        timed->tuples += timing->n;
    }
    timing->n = 0;
    timing->counted = false;
}

void cli_timing_tap(void *context, size_t lane, const struct rf_tuples *in)
{
    struct cli_timing *timing = context;
    for (size_t done = 0; lane == 0 && done < in->n;) {
        size_t room = TURN - timing->n, piece = in->n - done < room ? in->n - done : room;
        memcpy(timing->tuples + timing->n, in->tuples + done, piece * sizeof *in->tuples);
        for (size_t i = 0; i < piece; i++)
            timing->counts[timing->n + i] = in->counts != NULL ? in->counts[done + i] : 1;
        timing->counted |= in->counts != NULL;
        timing->n += piece;
        done += piece;
        if (timing->n == TURN)
            take_turns(timing);
    }
}

double cli_timing_speed(struct cli_timing *timing, size_t i)
{
    if (timing->n > 0)
        take_turns(timing);
    const struct timed *timed = &timing->engines[i];
    return timed->seconds > 0 ? (double)timed->tuples / timed->seconds : 0;
}

void cli_timing_free(struct cli_timing *timing)
{
    if (timing == NULL)
        return;
    for (size_t i = 0; i < timing->n_engines; i++)
        rf_engine_close(timing->engines[i].engine);
    free(timing->engines);
    free(timing);
}
