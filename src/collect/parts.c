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
    bool is_running;
    struct rf_source *source;
    struct rf_collect_setup setup;
    struct rf_run *run;
    rf_status status;
    struct rf_error error;
};

struct parts {
    struct lookup lookup;
    struct part *list;
    size_t n;
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

/* Returns the first failure of a piece; whatever the failure, all that was counted is in the run. */
static rf_status join(struct parts *parts, struct rf_run **run, struct rf_error *error)
{
    rf_status status = RF_OK, merged = RF_OK;
    *run = NULL;
    for (size_t i = 0; i < parts->n && merged == RF_OK; i++) {
        struct part *part = &parts->list[i];
        if (part->status != RF_OK && status == RF_OK)
            status = rf_fail(error, part->status, "%s", part->error.message);
        if (part->run == NULL)
            continue;
        if (*run != NULL) {
            merged = rf_run_add_part(*run, part->run, error);
            continue;
        }
        *run = part->run;
        part->run = NULL;
    }
    return merged != RF_OK ? merged : status;
}

static void close_parts(struct parts *parts, const struct rf_alloc *alloc)
{
    for (size_t i = 0; i < parts->n; i++) {
        rf_source_close(parts->list[i].source);
        rf_run_free(parts->list[i].run);
    }
    rf_alloc_free(alloc, parts->list, parts->n * sizeof *parts->list);
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
                        .n = parts};
    *run = NULL;
    if (parts == 0 || parts > PARTS_MAX || !is_plain(setup))
        return rf_fail(error, RF_EINVAL, "a trace is read in 1 to %d parts, as a whole and alone",
                       PARTS_MAX);
    all.list = rf_alloc_zeroed(alloc, parts * sizeof *all.list);
    if (all.list == NULL)
        return rf_fail(error, RF_ENOMEM, "no memory for %zu parts", parts);
    pthread_mutex_init(&all.lookup.mutex, NULL);
    rf_status status = open_parts(&all, path, setup, error);
    if (status == RF_OK) {
        run_parts(&all);
        status = join(&all, run, error);
    }
    close_parts(&all, alloc);
    return status;
}
