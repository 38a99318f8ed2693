/* engine.h - a bounded summary of a stream of tuples.
 *
 *     struct rf_engine *engine;
 *     if (rf_engine_open(&engine, "multihash(tables=4, threshold=0.1%)", NULL, &error) != RF_OK) ...
 *     rf_engine_feed(engine, &tuples, &error);         as often as there are tuples
 *     rf_engine_report(engine, &sink);                 what was found
 *     rf_engine_close(engine);
 *
 * Most users want a profiler (profiler.h): an engine with a profile growing behind it.
 *
 * An engine is written as text: a name and options. rf_engine_list names them all. An engine is
 * used by one thread at a time. Its memory is known before anything is fed; only engines that say
 * so (exact) grow, up to their `memory` option. */
#ifndef RIFFLE_ENGINE_H
#define RIFFLE_ENGINE_H

#include <riffle/alloc.h>
#include <riffle/event.h>
#include <riffle/item.h>
#include <riffle/option.h>
#include <riffle/status.h>

#ifdef __cplusplus
extern "C" {
#endif

struct rf_engine;

/* What can be known of an engine without running it. */
struct rf_engine_info {
    const char *name;
    const char *brief;
    const struct rf_option *options;
    int grows;     /* its memory is not fixed beforehand */
    int any_order; /* inside an interval tuples may come in any order, equal ones as one with a count */
    const char *merging; /* what merging two of its states or profiles means */
    int merges_states;   /* rf_engine_merge works; profiles of all engines merge (rf_run_merge) */
};

/* The i-th registered engine; RF_EINVAL past the last. */
rf_status rf_engine_list(size_t i, struct rf_engine_info *info);
/* The engine that a text is about. Its options must make sense. */
rf_status rf_engine_describe(const char *text, struct rf_engine_info *info, struct rf_error *error);

/* Options of the caller, not of the algorithm. Zero is a good default for all. */
struct rf_engine_setup {
    const struct rf_alloc *alloc;
    uint64_t seed;
    uint64_t interval; /* length of an interval in events; 0: as the engine's options say */
    const struct rf_sink *intervals; /* gets the items of every interval as it ends */
    const volatile int *stop; /* becomes non-zero: feeding counted tuples ends with RF_ESTOPPED */
};

rf_status rf_engine_open(struct rf_engine **engine, const char *text,
                         const struct rf_engine_setup *setup, struct rf_error *error);

/* Feed tuples. A count is taken in a time that does not grow with it. A failure (exact past its ceiling, a
 * stream past RF_EVENTS_MAX) leaves what was counted valid: what was consumed shows in the profile. */
rf_status rf_engine_feed(struct rf_engine *engine, const struct rf_tuples *tuples,
                         struct rf_error *error);

/* What comes next does not follow what was fed before: events in between were not watched, or were lost. Engines
 * of sequences (streams) begin a new one; others do not mind. */
void rf_engine_gap(struct rf_engine *engine);
int rf_engine_minds_gaps(const struct rf_engine *engine);

/* End the current interval now, wherever it stands. Does nothing at its very beginning. */
rf_status rf_engine_end_interval(struct rf_engine *engine, struct rf_error *error);

/* Within a call of setup.intervals: the interval ends early, because the engine has no more memory. */
int rf_engine_is_full(const struct rf_engine *engine);

/* Add what `other` has seen. Both must have been opened with the same text and seed. */
rf_status rf_engine_merge(struct rf_engine *engine, const struct rf_engine *other,
                          struct rf_error *error);

/* What was found in the current interval so far; where the stream is not cut, in all of it. */
rf_status rf_engine_report(const struct rf_engine *engine, const struct rf_sink *sink);

void rf_engine_close(struct rf_engine *engine); /* NULL is fine */

/* The engine's full text: every option spelled out, terminated, cut to `size`. Returns the length
 * needed. Opening that text again gives the same engine. */
size_t rf_engine_print(const struct rf_engine *engine, char *text, size_t size);
/* An engine's text without the options that are as they would be anyhow, for people: what cannot be read
 * stays as it is. Terminated, cut to `size`. Returns the length needed. */
size_t rf_engine_shorten(const char *engine, char *text, size_t size);

enum rf_shape rf_engine_shape(const struct rf_engine *engine); /* of its items */
uint64_t rf_engine_events(const struct rf_engine *engine);     /* fed so far, counts included */
size_t rf_engine_memory(const struct rf_engine *engine);       /* bytes held now, caches included */
uint64_t
rf_engine_bits(const struct rf_engine *engine); /* of storage in hardware; 0: no such form */
uint64_t rf_engine_interval(const struct rf_engine *engine); /* its length in events; 0: not cut */

#ifdef __cplusplus
}
#endif
#endif
