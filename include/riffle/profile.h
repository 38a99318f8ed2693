/* profile.h - what an engine found, and how sure it is.
 *
 * A profile is a list of items (item.h) with the totals that go with it. An item that is not listed
 * has at most `absent_upper` events. Every profile obeys produced = consumed + lost.
 *
 * A run is what one command did: where it came from and the profiles it made, one for each
 * selector. It is what a .rfp file holds. */
#ifndef RIFFLE_PROFILE_H
#define RIFFLE_PROFILE_H

#include <riffle/alloc.h>
#include <riffle/item.h>
#include <riffle/module.h>
#include <riffle/selector.h>
#include <riffle/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One interval's items are items[first] .. items[first + n - 1] of interval_items. */
struct rf_interval {
    uint64_t events;
    uint64_t absent_upper;
    size_t first, n;
};

struct rf_profile {
    struct rf_alloc alloc;

    char *selector; /* canonical text, or "" for a stream of bare tuples */
    char *engine;   /* full text; an option in which the parts of a sum differ is "mixed" */
    uint64_t seed;  /* of a sum: that of its first part */
    uint8_t shape;  /* enum rf_shape */
    uint8_t bound;  /* enum rf_bound */
    double confidence;

    uint64_t produced, consumed, lost;
    uint64_t memory; /* bytes the engine held */
    uint64_t bits;   /* of hardware storage, 0: no such form */
    uint64_t absent_upper;

    struct rf_item *items; /* heaviest first, ties by a, then b, then a_hi, b_hi */
    size_t n_items;

    uint64_t
        interval_length; /* events; 0: the run was not cut; of a sum the longest (RF_FIGURE_LEAST) */
    uint64_t n_intervals_seen;
    struct rf_interval *intervals; /* only where asked for */
    size_t n_intervals;
    struct rf_item *interval_items;
    size_t n_interval_items;

    struct rf_figure *figures;
    size_t n_figures;
};

/* Name and text, for what has no field of its own: "cpu-seconds", "exit-status", "host". */
struct rf_note {
    char *name;
    char *text;
};

struct rf_run {
    struct rf_alloc alloc;
    char *command; /* what was profiled */
    char *version; /* of riffle that made it */
    struct rf_profile **profiles;
    size_t n_profiles;
    struct rf_module *modules;
    size_t n_modules;
    struct rf_note *notes;
    size_t n_notes;
    struct {
        size_t profiles, modules, notes;
    } room; /* how many the arrays hold, where that is more than there are */
};

void rf_profile_free(struct rf_profile *profile); /* NULL is fine */

/* What the words of its items mean: the selector that made them. RF_ENOTSUP for a stream of bare tuples and
 * for a text that this version does not understand; all of *selector is then 0. */
rf_status rf_profile_selector(const struct rf_profile *profile, struct rf_selector *selector);

/* A number with a name, for what has no field of its own; a longer name is cut. A value that is not finite, such
 * as a share of nothing, is left out. RF_ENOMEM or RF_OK. */
rf_status rf_profile_add_figure(struct rf_profile *profile, const char *name, double value);

/* An empty run; the caller frees it with rf_run_free, which frees its profiles too. */
rf_status rf_run_new(struct rf_run **run, const char *command, const struct rf_alloc *alloc);
void rf_run_free(struct rf_run *run);
rf_status rf_run_add_profile(struct rf_run *run, struct rf_profile *profile); /* takes it over */

/* Keep the profiles that `keep` says yes to, in their order, and free the others. RF_ENOMEM changes nothing. */
typedef int (*rf_run_keep)(void *context, size_t i, const struct rf_profile *profile);
rf_status rf_run_filter(struct rf_run *run, rf_run_keep keep, void *context);

rf_status rf_run_add_module(struct rf_run *run, const struct rf_module *module); /* copies */
rf_status rf_run_add_note(struct rf_run *run, const char *name, const char *text);
#define RF_NOTE_PROGRAM "program" /* the name of what ran */
#define RF_NOTE_RUNS    "runs"    /* how many were merged */
#define RF_NOTE_MISSING "missing" /* what is not in it; a sum keeps all such notes */
const char *rf_run_note(const struct rf_run *run, const char *name); /* NULL: no such note */
void rf_run_drop_notes(struct rf_run *run, const char *name);        /* all of that name */

/* The exact totals per pc of what a profile counts: the profile of the same run, and of the same process where
 * processes are apart, with the same classes and conditions and the projection `pc`, of an exact engine. It is the
 * true denominator of shares per pc. NULL: there is none beside the profile itself. */
const struct rf_profile *rf_run_totals(const struct rf_run *run, const struct rf_profile *profile);

/* A collector adds this figure to totals that nobody asked for; reports use them and do not show them. */
#define RF_FIGURE_COMPANION "companion"
int rf_profile_is_companion(const struct rf_profile *profile);
/* A sum of profiles with intervals of different lengths has the shortest as this figure. */
#define RF_FIGURE_LEAST "interval-least"
/* The value of a figure; `otherwise` where there is none of that name. */
double rf_profile_figure(const struct rf_profile *profile, const char *name, double otherwise);

/* Save under a temporary name in the same folder, mode 0600, then rename. Load checks everything. */
rf_status rf_run_save(const struct rf_run *run, const char *path, struct rf_error *error);
rf_status rf_run_load(struct rf_run **run, const char *path, const struct rf_alloc *alloc,
                      struct rf_error *error);
/* The bytes of such a file, from the run's allocator; the caller frees them with rf_run_free_packed. */
rf_status rf_run_pack(const struct rf_run *run, void **bytes, size_t *n, struct rf_error *error);
void rf_run_free_packed(const struct rf_run *run, void *bytes, size_t n);
/* Load from memory, for embedders and the fuzzer. */
rf_status rf_run_decode(struct rf_run **run, const void *bytes, size_t n,
                        const struct rf_alloc *alloc, struct rf_error *error);

/* Add `other` to `run`: profiles with the same selector and engine add up item by item, bounds included (an item that one
 * side lacks may have had its absent_upper there); others are appended. Profiles of multihash add up whatever its options
 * are, where each run has one of the selector. Sums do not depend on the order and grouping of merges, but that where a run has
 * several of multihash, which of them add up may; bounds hold in any. What a run holds grows with what its profiles list, not with
 * how many are merged: of commands and notes only some are kept, and the note RF_NOTE_RUNS counts the runs. */
rf_status rf_run_merge(struct rf_run *run, const struct rf_run *other, struct rf_error *error);
/* The same for a part of one run, of which somebody else did the rest: it is not counted as a run. */
rf_status rf_run_add_part(struct rf_run *run, const struct rf_run *part, struct rf_error *error);

/* Do the addresses of both mean the same? RF_EINVAL, with a sentence, where different files lie at the same addresses:
 * files with different build ids, or, if one has none, with different paths. The same for one file whose code lies
 * elsewhere, so that one address means two places of it. RF_ENOMEM. rf_run_merge does not ask. */
rf_status rf_run_same_builds(const struct rf_run *run, const struct rf_run *other,
                             struct rf_error *error);
/* A file that lies at the same addresses in both and has no build id in one of them: nobody can tell whether it is of
 * the same build. *path is the name of one such file, which its run owns; NULL: there is none. RF_ENOMEM or RF_OK. */
rf_status rf_run_unproven_build(const struct rf_run *run, const struct rf_run *other,
                                const char **path);

#ifdef __cplusplus
}
#endif
#endif
