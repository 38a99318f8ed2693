/* live.c - samples of the stack, counted as they come, and put into a profile when somebody looks. */
#include "live.h"
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* ---- counting ---- */

static struct rf_item *find(struct rf_item *items, size_t room, uint64_t a, uint64_t b)
{
    uint64_t hash = (a * UINT64_C(0x9e3779b97f4a7c15) ^ b) * UINT64_C(0xbf58476d1ce4e5b9);
    size_t at = (size_t)(hash >> 32) & (room - 1);
    while (items[at].count > 0 && (items[at].a != a || items[at].b != b))
        at = (at + 1) & (room - 1);
    return &items[at];
}

static bool grow(struct cli_live *live)
{
    size_t room = live->room == 0 ? 4096 : 2 * live->room;
    struct rf_item *items = calloc(room, sizeof *items);
    if (items == NULL)
        return false;
    for (size_t i = 0; i < live->room; i++)
        if (live->items[i].count > 0)
            *find(items, room, live->items[i].a, live->items[i].b) = live->items[i];
    free(live->items);
    live->items = items;
    live->room = room;
    return true;
}

static void add(struct cli_live *live, const struct rf_tuple *tuple, uint64_t count)
{
    if (2 * live->n >= live->room && !grow(live)) {
        live->failed = 1;
        return;
    }
    struct rf_item *item = find(live->items, live->room, tuple->a, tuple->b);
    live->n += item->count == 0;
    item->a = item->a_hi = tuple->a;
    item->b = item->b_hi = tuple->b;
    item->count += count;
    live->frames += count;
    live->samples += tuple->b == 0 ? count : 0; /* the outermost frame of each stack */
}

/* Keep a copy of the modules for the thread that shows them. */
static void take_modules(struct cli_live *live, struct rf_source *source)
{
    size_t n;
    struct rf_run *run;
    const struct rf_module *modules;
    if (rf_source_modules(source, &modules, &n) != RF_OK || n == live->n_modules)
        return;
    rf_status status = rf_run_new(&run, "", NULL);
    for (size_t i = 0; i < n && status == RF_OK; i++)
        status = rf_run_add_module(run, &modules[i]);
    if (status != RF_OK) {
        live->failed = 1;
        rf_run_free(run);
        return;
    }
    rf_run_free(live->mapped);
    live->mapped = run;
    live->n_modules = n;
}

void cli_live_init(struct cli_live *live)
{
    *live = (struct cli_live){.n = 0};
    pthread_mutex_init(&live->lock, NULL);
}

void cli_live_add(struct cli_live *live, struct rf_source *source, const struct rf_tuples *tuples)
{
    pthread_mutex_lock(&live->lock);
    for (size_t i = 0; i < tuples->n; i++)
        if (tuples->counts == NULL || tuples->counts[i] > 0)
            add(live, &tuples->tuples[i], tuples->counts != NULL ? tuples->counts[i] : 1);
    take_modules(live, source);
    pthread_mutex_unlock(&live->lock);
}

uint64_t cli_live_samples(struct cli_live *live)
{
    pthread_mutex_lock(&live->lock);
    uint64_t samples = live->samples;
    pthread_mutex_unlock(&live->lock);
    return samples;
}

/* ---- looking ---- */

static int by_count(const void *left, const void *right)
{
    const struct rf_item *l = left, *r = right;
    return (l->count < r->count) - (l->count > r->count);
}

static bool fill_profile(struct cli_live *live)
{
    struct rf_item *items = realloc(live->profile.items, (live->n + 1) * sizeof *items);
    if (items == NULL)
        return false;
    size_t n = 0;
    for (size_t i = 0; i < live->room; i++)
        if (live->items[i].count > 0) {
            items[n] = live->items[i];
            items[n].lower = items[n].upper = items[n].count;
            n++;
        }
    if (n > 0)
        qsort(items, n, sizeof *items, by_count);
    live->profile = (struct rf_profile){.selector = (char *)CLI_LIVE_SELECTOR,
                                        .engine = (char *)"exact",
                                        .shape = RF_SHAPE_TUPLE,
                                        .bound = RF_BOUND_EXACT,
                                        .produced = live->frames,
                                        .consumed = live->frames,
                                        .items = items,
                                        .n_items = n};
    return true;
}

/* Take a profile of this moment, and the modules if there are new ones, both under the lock. */
static bool take(struct cli_live *live)
{
    pthread_mutex_lock(&live->lock);
    bool good = fill_profile(live);
    if (live->mapped != NULL) {
        rf_symbols_close(live->symbols);
        rf_run_free(live->run);
        live->symbols = NULL;
        live->run = live->mapped;
        live->mapped = NULL;
    }
    pthread_mutex_unlock(&live->lock);
    return good;
}

rf_status cli_live_view(struct cli_live *live, enum rf_view_by by, size_t rows,
                        struct rf_view *view, struct rf_error *error)
{
    rf_status status = RF_OK;
    if (!take(live) || live->run == NULL)
        return RF_ENOMEM;
    if (live->symbols == NULL)
        status = rf_symbols_open(&live->symbols, live->run, NULL, error);
    if (status != RF_OK)
        return status;
    const struct rf_view_setup setup = {.by = by, .rows = rows, .symbols = live->symbols};
    return rf_view_open(view, live->run, &live->profile, &setup, error);
}

void cli_live_free(struct cli_live *live)
{
    rf_symbols_close(live->symbols);
    rf_run_free(live->run);
    rf_run_free(live->mapped);
    free(live->profile.items);
    free(live->items);
    pthread_mutex_destroy(&live->lock);
}
