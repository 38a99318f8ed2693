/* profiler.h - an engine with a profile growing behind it. The library in five calls:
 *
 *     struct rf_profiler *profiler;
 *     rf_profiler_open(&profiler, "exact", NULL, &error);
 *     rf_profiler_feed(profiler, &(struct rf_tuples){tuples, NULL, n}, &error);
 *     rf_profiler_profile(profiler, &profile, &error);     rf_profile_free(profile) when done
 *     rf_profiler_close(profiler);
 *
 * Where the engine cuts its stream into intervals, the profile adds up what each of them found.
 * One thread at a time. */
#ifndef RIFFLE_PROFILER_H
#define RIFFLE_PROFILER_H

#include <riffle/alloc.h>
#include <riffle/event.h>
#include <riffle/profile.h>
#include <riffle/status.h>

#ifdef __cplusplus
extern "C" {
#endif

struct rf_profiler;
struct rf_engine;

/* Zero is a good default for all. */
struct rf_profiler_setup {
    const struct rf_alloc *alloc;
    uint64_t seed;
    uint64_t interval; /* cut whenever this many events have come; 0: as the engine's options say */
    const char *selector;     /* noted in the profile; NULL: bare tuples */
    int keep_intervals;       /* the profile also lists the items of every interval */
    const volatile int *stop; /* becomes non-zero: feeding counted tuples ends with RF_ESTOPPED */
};

rf_status rf_profiler_open(struct rf_profiler **profiler, const char *engine,
                           const struct rf_profiler_setup *setup, struct rf_error *error);

/* A failure (exact past its memory ceiling) leaves everything counted before it valid; the rest of
 * `tuples` counts as lost. */
rf_status rf_profiler_feed(struct rf_profiler *profiler, const struct rf_tuples *tuples,
                           struct rf_error *error);

/* What comes next does not follow what was fed before (rf_engine_gap). */
void rf_profiler_gap(struct rf_profiler *profiler);

/* Events that the source had to drop. */
void rf_profiler_lose(struct rf_profiler *profiler, uint64_t events);

/* Everything so far, as a profile of its own that the caller frees. Feeding may go on. */
rf_status rf_profiler_profile(const struct rf_profiler *profiler, struct rf_profile **profile,
                              struct rf_error *error);

const struct rf_engine *rf_profiler_engine(const struct rf_profiler *profiler);
void rf_profiler_close(struct rf_profiler *profiler); /* NULL is fine */

#ifdef __cplusplus
}
#endif
#endif
