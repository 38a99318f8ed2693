/* profile.h - what the files of this folder share: making profiles and the pieces they own.
 *
 * Every array of a profile or run is exactly as long as its count says, so that it can be given back to an
 * allocator that wants the size. The size of a text is its length and one. */
#ifndef RF_PROFILE_PROFILE_H
#define RF_PROFILE_PROFILE_H

#include <stdbool.h>
#include <riffle/profile.h>

/* An empty profile with empty texts; NULL when there is no memory. */
struct rf_profile *rf_profile_new(const struct rf_alloc *alloc);

/* A copy of `n` characters, terminated; NULL when there is no memory. */
char *rf_profile_text(const struct rf_alloc *alloc, const char *text, size_t n);
void rf_profile_free_text(const struct rf_alloc *alloc, char *text);

/* Replace a text by a copy of another; false, and nothing changed, when there is no memory. */
bool rf_profile_set_text(const struct rf_alloc *alloc, char **place, const char *text);

/* profiler.c: events that still fit into the interval under way; UINT64_MAX: it has no end. */
struct rf_profiler;
struct rf_tuples;
uint64_t rf_profiler_left(const struct rf_profiler *profiler);
/* Bytes that rf_profiler_profile will need at most when `more` tuples have come; a guess for what is small. */
size_t rf_profiler_needs(const struct rf_profiler *profiler, size_t more);
/* These never reached the engine. */
void rf_profiler_lose_tuples(struct rf_profiler *profiler, const struct rf_tuples *tuples);

/* provenance.c: the command, modules and notes of `other`, behind those of `run`. RF_ENOMEM or RF_OK. */
rf_status rf_run_add_provenance(struct rf_run *run, const struct rf_run *other);
/* The note RF_NOTE_RUNS as a number; 1 where there is none. */
uint64_t rf_run_count_runs(const struct rf_run *run);
rf_status rf_run_set_runs(struct rf_run *run, uint64_t n);

/* range.c: set bounds that hold for a sum of profiles of ranges. Does nothing for tuples. */
rf_status rf_profile_bound_ranges(struct rf_profile *profile);

/* The first item of an interval; NULL where it has none. */
static inline struct rf_item *rf_profile_interval_items(const struct rf_profile *profile, size_t i)
{
    const struct rf_interval *interval = &profile->intervals[i];
    return interval->n > 0 ? profile->interval_items + interval->first : NULL;
}

#endif
