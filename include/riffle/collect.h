/* collect.h - the pump: source -> selectors -> engines -> profiles.
 *
 * A collector has lanes, one for each profile: a selector (for sources of records), an engine, the
 * profile that grows behind it. It pulls batches from one source until the source ends, a limit is
 * reached or it is asked to stop, and hands back a run with one profile per lane. Everything counted
 * before a failure is in that run. */
#ifndef RIFFLE_COLLECT_H
#define RIFFLE_COLLECT_H

#include <riffle/profile.h>
#include <riffle/selector.h>
#include <riffle/source.h>

#ifdef __cplusplus
extern "C" {
#endif

struct rf_coproc;
struct rf_trace_writer;

struct rf_lane {
    const char *selector; /* NULL: tuples as they are; of records, the preset "values" */
    const char *engine;
    uint32_t stream; /* of a source that selects by itself: which of its streams is meant */
    int joins; /* it shares the engine of the lane before it, told apart by a mark (collect/share.h) */
};

struct rf_collect_progress {
    uint64_t events;
    uint64_t done, total; /* of the source, in its own unit; total 0: unknown */
};

/* Zero is a good default for all but the lanes; with co-processors (coproc.h) there may be none. */
struct rf_collect_setup {
    const struct rf_lane *lanes;
    size_t n_lanes;
    struct rf_coproc *const
        *coprocs; /* each gets the records and adds a profile behind the lanes' */
    size_t n_coprocs;
    const char *command;
    uint64_t seed;
    uint64_t interval;
    int keep_intervals;
    uint64_t skip, limit; /* events of the source; limit 0: all */
    const struct rf_alloc *alloc;
    /* Threads for the engines, at most one per lane; 0: all work on the caller's thread. The result is the same.
     * With threads, `alloc` must be one that several may use at once. */
    size_t threads;
    int selected; /* the source selects by itself and marks its tuples with their stream */
    /* Model caches of this shape (cache.h) to fill `miss` of all loads and stores, which the source
     * must then hand out; NULL: it is what the source says. */
    const char *cache;
    struct rf_trace_writer *record; /* gets everything between skip and limit, too */
    const volatile int *stop;       /* becomes non-zero: end with what is there, RF_ESTOPPED */
    void (*progress)(void *context, const struct rf_collect_progress *progress);
    void *progress_context; /* called about ten times per second */
    /* Sees the tuples that go to a lane just before its engine does. */
    void (*tap)(void *context, size_t lane, const struct rf_tuples *tuples);
    void *tap_context;
    /* Asked between two batches, and where the source wakes; not 0: what was counted by now goes to `now` as a run that
     * is freed when it returns. */
    int (*asked)(void *context);
    void (*now)(void *context, struct rf_run *run);
    void *now_context;
    /* For names in selectors; as in rf_selector_bind. NULL: a name is refused. */
    rf_selector_resolve resolve;
    void *resolve_context;
};

/* *run is set whenever anything was counted, also when the status is not RF_OK; the caller frees it. A lane whose
 * engine runs out of memory ends alone, with a figure "blind-from" in its profile and a note "blind" in the run;
 * a recording that fails ends alone, too. Both show in the status, at the end. Without a source (NULL) the run has no
 * events: that tells what the setup would be refused for. */
rf_status rf_collect(struct rf_run **run, struct rf_source *source,
                     const struct rf_collect_setup *setup, struct rf_error *error);

/* The same for a trace, read in `parts` pieces of whole blocks by as many threads, each with engines of its own; what they
 * found is merged in the order of the trace (rf_run_add_part). The result depends on the number of parts, but not on time:
 * exact counts are those of one piece, other engines keep their bounds, and intervals and sequences begin anew with each
 * piece. Neither co-processors nor cache, record, skip, limit, tap and asked. RF_ENOTSUP, and nothing was done: the trace
 * cannot be read in parts (rf_source_open_part). */
rf_status rf_collect_parts(struct rf_run **run, const char *path, size_t parts,
                           const struct rf_collect_setup *setup, struct rf_error *error);

/* What the host of a co-processor knows by now, as a profile that the caller frees. It may be fed on. RF_ENOMEM, and
 * *profile is NULL. */
rf_status rf_collect_known(struct rf_profile **profile, const struct rf_coproc *coproc,
                           uint64_t seed, const struct rf_alloc *alloc);

#ifdef __cplusplus
}
#endif
#endif
