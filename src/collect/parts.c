/* parts.c - a trace read in pieces, side by side.
 *
 *     piece 0  source -> lanes -> run --+
 *     piece 1  source -> lanes -> run --+--> one run, in the order of the pieces
 *     piece 2  source -> lanes -> run --+
 *
 * Each piece is a collection of its own (collect.c), on a thread of its own, with nothing shared but the flag that stops it
 * and the lookup of names, which is done by one at a time. Pieces are cut by the trace's index, and runs are merged in the order
 * of the pieces, so the result does not depend on which thread is faster. */
#include <riffle/collect.h>
#include "base/alloc.h"
#include "base/error.h"
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

enum { PARTS_MAX = 256 };

/* Names are looked up by one at a time. */
struct lookup {
    pthread_mutex_t mutex;
    rf_selector_resolve resolve;
    void *context;
};

struct part {
    pthread_t thread;
    bool is_running, is_missing;
    struct rf_source *source;
    struct rf_collect_setup setup;
    struct rf_run *run;
    rf_status status;
    struct rf_error error;
};

struct parts {
    struct lookup lookup;
    struct part *list;
    uint64_t *expected; /* events of each lane */
    size_t n, n_lanes;
};

static size_t resolve(void *context, unsigned field, const char *symbol, uint64_t *addresses,
                      size_t max)
{
    struct lookup *lookup = context;
    pthread_mutex_lock(&lookup->mutex);
    size_t n = lookup->resolve(lookup->context, field, symbol, addresses, max);
    pthread_mutex_unlock(&lookup->mutex);
    return n;
}

static void *work(void *context)
{
    struct part *part = context;
    part->status = rf_collect(&part->run, part->source, &part->setup, &part->error);
    rf_source_close(part->source); /* its memory is for the profiles of all */
    part->source = NULL;
    return NULL;
}

static rf_status open_parts(struct parts *parts, const char *path,
                            const struct rf_collect_setup *setup, struct rf_error *error)
{
    rf_status status = RF_OK;
    for (size_t i = 0; i < parts->n && status == RF_OK; i++) {
        struct part *part = &parts->list[i];
        part->setup = *setup;
        part->setup.threads = 0;
        if (i > 0)
            part->setup.progress = NULL; /* the first one tells for all */
        if (setup->resolve != NULL) {
            part->setup.resolve = resolve;
            part->setup.resolve_context = &parts->lookup;
        }
        status = rf_source_open_part(&part->source, path, i, parts->n, setup->alloc, error);
    }
    return status;
}

/* A piece that gets no thread is done at once; the last one always is, by the caller's thread. */
static void run_parts(struct parts *parts)
{
    for (size_t i = 0; i < parts->n; i++) {
        struct part *part = &parts->list[i];
        part->is_running = i + 1 < parts->n && pthread_create(&part->thread, NULL, work, part) == 0;
        if (!part->is_running)
            work(part);
    }
    for (size_t i = 0; i < parts->n; i++)
        if (parts->list[i].is_running)
            pthread_join(parts->list[i].thread, NULL);
}

/* What the profiles must come to, lane by lane. */
static void expect(struct parts *parts, const struct rf_run *run)
{
    for (size_t k = 0; k < parts->n_lanes && run->n_profiles == parts->n_lanes; k++)
        parts->expected[k] += run->profiles[k]->produced;
}

/* Of a piece that came to nothing nobody knows how many events it has. */
static void note_missing(struct rf_run *run, const struct parts *parts, size_t i)
{
    const struct part *part = &parts->list[i];
    char text[sizeof part->error.message + 64];
    rf_format(text, sizeof text, "piece %zu of %zu is missing: %s", i + 1, parts->n,
              part->error.message[0] != '\0' ? part->error.message : rf_status_text(part->status));
    rf_run_add_note(run, "blind", text);
}

/* Events that are in no profile for lack of memory are lost, and no profile says that it has seen all. */
static void tell_missing(struct rf_run *run, const struct parts *parts)
{
    bool unknown = false;
    for (size_t i = 0; i < parts->n; i++) {
        unknown |= parts->list[i].is_missing;
        if (parts->list[i].is_missing)
            note_missing(run, parts, i);
    }
    for (size_t k = 0; k < run->n_profiles; k++) {
        struct rf_profile *profile = run->profiles[k];
        uint64_t all = run->n_profiles == parts->n_lanes ? parts->expected[k] : 0;
        uint64_t missing = profile->produced < all ? all - profile->produced : 0;
        profile->lost += missing;
        profile->produced += missing;
        if ((unknown || missing > 0) && rf_profile_figure(profile, "blind-from", -1) < 0)
            rf_profile_add_figure(profile, "blind-from", (double)profile->consumed);
    }
}

/* The run takes what the piece has, which needs none of it any more. */
static rf_status add_part(struct rf_run **run, struct part *part, struct rf_error *error)
{
    rf_status status = RF_OK;
    if (*run == NULL) {
        *run = part->run;
    } else {
        status = rf_run_add_part(*run, part->run, error);
        rf_run_free(part->run);
    }
    part->run = NULL;
    return status;
}

/* Returns the first failure of a piece; whatever the failure, all that was counted is in the run, and how much that was
 * not. A piece that there is no memory to add is left out. */
static rf_status join(struct parts *parts, struct rf_run **run, struct rf_error *error)
{
    rf_status status = RF_OK, merged = RF_OK;
    *run = NULL;
    for (size_t i = 0; i < parts->n; i++) {
        struct part *part = &parts->list[i];
        if (part->status != RF_OK && status == RF_OK)
            status = rf_fail(error, part->status, "%s", part->error.message);
        part->is_missing = part->run == NULL;
        if (part->is_missing)
            continue;
        expect(parts, part->run);
        struct rf_error why = {""};
        rf_status added = add_part(run, part, &why);
        if (added != RF_OK && merged == RF_OK)
            merged = rf_fail(error, added, "%s", why.message);
    }
    if (*run != NULL)
        tell_missing(*run, parts);
    return merged != RF_OK ? merged : status;
}

static void close_parts(struct parts *parts, const struct rf_alloc *alloc)
{
    for (size_t i = 0; i < parts->n; i++) {
        rf_source_close(parts->list[i].source);
        rf_run_free(parts->list[i].run);
    }
    rf_alloc_free(alloc, parts->list, parts->n * sizeof *parts->list);
    rf_alloc_free(alloc, parts->expected, parts->n_lanes * sizeof *parts->expected);
    pthread_mutex_destroy(&parts->lookup.mutex);
}

static bool is_plain(const struct rf_collect_setup *setup)
{
    return setup->n_coprocs == 0 && setup->cache == NULL && setup->record == NULL &&
           setup->skip == 0 && setup->limit == 0 && setup->tap == NULL && setup->asked == NULL;
}

rf_status rf_collect_parts(struct rf_run **run, const char *path, size_t parts,
                           const struct rf_collect_setup *setup, struct rf_error *error)
{
    const struct rf_alloc *alloc = rf_alloc_or_standard(setup->alloc);
    struct parts all = {.lookup = {.resolve = setup->resolve, .context = setup->resolve_context},
                        .n = parts,
                        .n_lanes = setup->n_lanes};
    *run = NULL;
    if (parts == 0 || parts > PARTS_MAX || !is_plain(setup))
        return rf_fail(error, RF_EINVAL, "a trace is read in 1 to %d parts, as a whole and alone",
                       PARTS_MAX);
    all.list = rf_alloc_zeroed(alloc, parts * sizeof *all.list);
    all.expected = rf_alloc_zeroed(alloc, setup->n_lanes * sizeof *all.expected);
    if (all.list == NULL || all.expected == NULL) {
        rf_alloc_free(alloc, all.list, parts * sizeof *all.list);
        rf_alloc_free(alloc, all.expected, setup->n_lanes * sizeof *all.expected);
        return rf_fail(error, RF_ENOMEM, "no memory for %zu parts", parts);
    }
    pthread_mutex_init(&all.lookup.mutex, NULL);
    rf_status status = open_parts(&all, path, setup, error);
    if (status == RF_OK) {
        run_parts(&all);
        status = join(&all, run, error);
    }
    close_parts(&all, alloc);
    return status;
}
