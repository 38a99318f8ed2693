/* view.c - a question put to a profile: which rows, in which order, how many. */
#include "view/view.h"
#include "base/alloc.h"
#include "base/error.h"
#include <stdlib.h>
#include <string.h>

static const char *const by_names[RF_BY_COUNT] = {
    [RF_BY_ITEM] = "item",     [RF_BY_FUNCTION] = "function",
    [RF_BY_LINE] = "line",     [RF_BY_MODULE] = "module",
    [RF_BY_PC] = "pc",         [RF_BY_VALUE] = "value",
    [RF_BY_TARGET] = "target", [RF_BY_REGION] = "region",
    [RF_BY_THREAD] = "thread", [RF_BY_PROCESS] = "process",
    [RF_BY_STACK] = "stack",   [RF_BY_CALLER] = "caller"};
static const char *const sort_names[RF_SORT_END] = {"count", "share", "address", "name", "mixed"};

const char *rf_view_by_name(unsigned by)
{
    return by < RF_BY_COUNT ? by_names[by] : NULL;
}

const char *rf_view_sort_name(unsigned sort)
{
    return sort < RF_SORT_END ? sort_names[sort] : NULL;
}

unsigned rf_view_by_find(const char *name)
{
    unsigned by = RF_BY_ITEM;
    while (by < RF_BY_COUNT && strcmp(by_names[by], name) != 0)
        by++;
    return by;
}

unsigned rf_view_sort_find(const char *name)
{
    unsigned sort = 0;
    while (sort < RF_SORT_END && strcmp(sort_names[sort], name) != 0)
        sort++;
    return sort;
}

int rf_view_estimates(const struct rf_view *view)
{
    return view->bound == RF_BOUND_ESTIMATE;
}

/* Nobody knows how far an estimate is off: its bounds are the count. */
static void drop_bounds(struct rf_row *row)
{
    row->lower = row->upper = row->count;
    row->more = false;
    if (row->item != NULL)
        row->low = row->high = row->count > 0 ? (double)row->item->count / (double)row->count : 0;
}

bool rf_view_add_row(struct rf_view_work *work, const struct rf_row *row)
{
    struct rf_rows *rows = &work->rows;
    if (!rf_list_add(&work->view->alloc, rows, *row))
        return false;
    if (rf_view_estimates(work->view))
        drop_bounds(&rows->at[rows->n - 1]);
    return true;
}

/* ---- what is asked ---- */

static enum rf_view_by standard(const struct rf_view_work *work)
{
    if (rf_view_has_stacks(&work->words) && work->setup->symbols != NULL)
        return RF_BY_STACK;
    bool tells_more = work->words.by_pc && work->words.b.name[0] != '\0';
    return work->table.profile->shape == RF_SHAPE_TUPLE && tells_more ? RF_BY_PC : RF_BY_ITEM;
}

/* The first field of those that the profile has: 0 for a, 1 for b, -1: none. */
static int find_first(const struct rf_words *words, const unsigned *fields, size_t n)
{
    int which = -1;
    for (size_t i = 0; i < n && which < 0; i++)
        which = rf_view_find_word(words, fields[i]);
    return which;
}

/* The word that tells what rows are by: 0 for a, 1 for b, -1: none does. */
static int word_for(const struct rf_profile *profile, enum rf_view_by by)
{
    static const unsigned code[] = {RF_FIELD_PC, RF_FIELD_TARGET};
    static const unsigned values[] = {RF_FIELD_VALUE, RF_FIELD_TAKEN, RF_FIELD_WIDTH, RF_FIELD_SIZE,
                                      RF_FIELD_MISS};
    struct rf_words words;
    rf_view_words(&words, profile);
    switch (by) {
    case RF_BY_VALUE:
        if (words.a.field == RF_FIELD_NONE) /* bare tuples */
            return words.b.name[0] != '\0' ? 1 : 0;
        return find_first(&words, values, sizeof values / sizeof *values);
    case RF_BY_TARGET:
        return rf_view_find_word(&words, RF_FIELD_TARGET);
    case RF_BY_REGION:
        return rf_view_find_word(&words, RF_FIELD_ADDR);
    case RF_BY_THREAD:
        return rf_view_find_word(&words, RF_FIELD_THREAD);
    case RF_BY_ITEM:
        return 0;
    case RF_BY_STACK:
    case RF_BY_CALLER:
        return rf_view_has_stacks(&words) ? 0 : -1;
    case RF_BY_PROCESS:
        return rf_profile_figure(profile, "process", 0) > 0 ? 0 : find_first(&words, code, 2);
    default:
        return find_first(&words, code, 2);
    }
}

int rf_view_knows(const struct rf_profile *profile, enum rf_view_by by)
{
    bool fits = by == RF_BY_ITEM || by == RF_BY_STANDARD || profile->shape == RF_SHAPE_TUPLE;
    return fits && (by == RF_BY_STANDARD || word_for(profile, by) >= 0);
}

static bool is_tree(enum rf_view_by by)
{
    return by == RF_BY_STACK || by == RF_BY_CALLER;
}

static bool needs_names(enum rf_view_by by)
{
    return by == RF_BY_FUNCTION || by == RF_BY_LINE || by == RF_BY_MODULE || by == RF_BY_REGION ||
           is_tree(by);
}

static rf_status choose(struct rf_view_work *work)
{
    struct rf_view *view = work->view;
    view->by = work->setup->by != RF_BY_STANDARD ? work->setup->by : standard(work);
    work->which = word_for(view->profile, view->by);
    const char *selector = view->profile->selector;
    if (work->which < 0)
        return rf_fail(
            work->error, RF_ENOTSUP, "'%s' cannot be grouped by %s: it has no such field",
            selector[0] != '\0' ? selector : "a stream of tuples", rf_view_by_name(view->by));
    if (needs_names(view->by) && work->setup->symbols == NULL)
        return rf_fail(work->error, RF_ENOTSUP,
                       "there are no names in this run, so nothing can be grouped by %s",
                       rf_view_by_name(view->by));
    return rf_view_check_filter(work);
}

rf_status rf_view_check(const struct rf_profile *profile, const struct rf_view_setup *setup,
                        struct rf_error *error)
{
    struct rf_view view = {.profile = profile};
    struct rf_view_work work = {
        .view = &view, .setup = setup, .table.profile = profile, .error = error};
    rf_view_words(&work.words, profile);
    rf_status status = choose(&work);
    if (status != RF_OK || rf_view_knows(profile, view.by))
        return status;
    return rf_fail(error, RF_ENOTSUP, "ranges and streams cannot be grouped by %s",
                   rf_view_by_name(view.by));
}

/* ---- rows ---- */

static int by_count(const void *left, const void *right)
{
    const struct rf_row *l = left, *r = right;
    if (l->count != r->count)
        return l->count > r->count ? -1 : 1;
    return (l->word > r->word) - (l->word < r->word);
}

static int by_share(const void *left, const void *right)
{
    const struct rf_row *l = left, *r = right;
    if (l->low < r->low || l->low > r->low)
        return l->low > r->low ? -1 : 1;
    return by_count(left, right);
}

/* A row without a top value may be anything. */
static int by_mixture(const void *left, const void *right)
{
    const struct rf_row *l = left, *r = right;
    double l_high = l->high > 0 ? l->high : 1, r_high = r->high > 0 ? r->high : 1;
    if (l_high < r_high || l_high > r_high)
        return l_high < r_high ? -1 : 1;
    return by_count(left, right);
}

static int by_address(const void *left, const void *right)
{
    const struct rf_row *l = left, *r = right;
    if (l->word != r->word)
        return l->word < r->word ? -1 : 1;
    return by_count(left, right);
}

static int by_name(const void *left, const void *right)
{
    const struct rf_row *l = left, *r = right;
    int order = strcmp(l->name, r->name);
    if (order == 0 && l->line != r->line)
        order = l->line < r->line ? -1 : 1;
    return order != 0 ? order : by_count(left, right);
}

static void name_rows(const struct rf_view_work *work)
{
    for (size_t i = 0; i < work->rows.n; i++) {
        struct rf_place_name name;
        rf_view_lookup(work, work->rows.at[i].word, &name);
        work->rows.at[i].name = name.function[0] != '\0' ? name.function : name.module;
        work->rows.at[i].line = rf_view_innermost(&name).line;
    }
}

/* Items come in the order of their counts already, and the items of a stream belong together. */
static void sort_rows(struct rf_view_work *work)
{
    static int (*const orders[RF_SORT_END])(const void *,
                                            const void *) = {[RF_SORT_COUNT] = by_count,
                                                             [RF_SORT_SHARE] = by_share,
                                                             [RF_SORT_ADDRESS] = by_address,
                                                             [RF_SORT_NAME] = by_name,
                                                             [RF_SORT_MIXED] = by_mixture};
    enum rf_view_sort sort = work->setup->sort < RF_SORT_END ? work->setup->sort : RF_SORT_COUNT;
    bool streams = work->table.streams != NULL;
    if (streams || work->rows.n == 0 || is_tree(work->view->by) ||
        (sort == RF_SORT_COUNT && work->view->by == RF_BY_ITEM))
        return;
    if (sort == RF_SORT_NAME)
        name_rows(work);
    qsort(work->rows.at, work->rows.n, sizeof *work->rows.at, orders[sort]);
}

/* They are found, and not shown. */
static void drop_small(struct rf_view_work *work)
{
    const double least = work->setup->share_min * (double)work->view->events;
    struct rf_rows *rows = &work->rows;
    size_t n = 0;
    for (size_t i = 0; i < rows->n; i++)
        if ((double)rows->at[i].count >= least)
            rows->at[n++] = rows->at[i];
        else
            work->view->rest += rows->at[i].count;
    work->view->n_found = rows->n;
    rows->n = n;
}

/* Whole streams are shown, the first `wanted` of them. */
static size_t rows_of_streams(const struct rf_view_work *work, uint64_t wanted)
{
    size_t n = 0;
    for (size_t i = 0; i < work->rows.n; i++) {
        n += rf_stream_position(work->rows.at[i].item) == 0;
        if (wanted > 0 && n > wanted)
            return i;
    }
    return work->rows.n;
}

static void limit(struct rf_view_work *work)
{
    struct rf_view *view = work->view;
    const uint64_t wanted = work->setup->rows;
    uint64_t lower = 0;
    bool streams = work->table.streams != NULL && view->by == RF_BY_ITEM;
    const size_t n = work->rows.n;
    view->n_rows = streams                    ? rows_of_streams(work, wanted)
                   : wanted > 0 && wanted < n ? (size_t)wanted
                                              : n;
    for (size_t i = 0; i < n; i++) {
        if (i < view->n_rows)
            lower += work->rows.at[i].lower;
        else
            view->rest += work->rows.at[i].count;
    }
    view->rest_upper = view->events > lower ? view->events - lower : 0;
}

/* What was set aside is the last row that is shown. */
static rf_status add_aside(struct rf_view_work *work)
{
    struct rf_view *view = work->view;
    if (work->aside.count == 0)
        return RF_OK;
    work->aside.upper = work->aside.upper < view->events ? work->aside.upper : view->events;
    work->aside.count =
        work->aside.count < work->aside.upper ? work->aside.count : work->aside.upper;
    view->n_found++;
    if ((double)work->aside.count < work->setup->share_min * (double)view->events) {
        view->rest += work->aside.count;
        return RF_OK;
    }
    work->rows.n = view->n_rows; /* the others are not shown */
    if (!rf_view_add_row(work, &work->aside))
        return RF_ENOMEM;
    view->n_rows++;
    return RF_OK;
}

static rf_status make_rows(struct rf_view_work *work)
{
    if (work->view->by == RF_BY_ITEM)
        return rf_view_make_items(work);
    if (work->view->by == RF_BY_PROCESS)
        return rf_view_make_processes(work);
    if (is_tree(work->view->by) ||
        (work->view->by == RF_BY_FUNCTION && rf_view_has_stacks(&work->words)))
        return rf_view_make_stacks(work);
    bool self = work->view->by == RF_BY_LINE || work->view->by == RF_BY_MODULE;
    return self && rf_view_has_stacks(&work->words) ? rf_view_make_self(work)
                                                    : rf_view_make_groups(work);
}

static rf_status fill(struct rf_view_work *work)
{
    rf_status status = choose(work);
    if (status == RF_OK)
        status = make_rows(work);
    if (status == RF_OK && work->setup->stretches && work->view->by == RF_BY_PC)
        status = rf_view_make_stretches(work);
    if (status != RF_OK)
        return status;
    struct rf_view *view = work->view;
    view->events = work->totals != NULL ? work->totals->consumed : work->table.events;
    rf_view_set_aside(work);
    drop_small(work);
    sort_rows(work);
    limit(work);
    status = add_aside(work);
    return status == RF_OK ? rf_view_make_cells(work) : status;
}

/* Totals are those of the whole run, of all threads. */
static bool wants_totals(const struct rf_profile *profile, const struct rf_view_setup *setup)
{
    return setup->interval == NULL && setup->thread == NULL && profile->bound != RF_BOUND_ESTIMATE;
}

rf_status rf_view_open(struct rf_view *view, const struct rf_run *run,
                       const struct rf_profile *profile, const struct rf_view_setup *setup,
                       struct rf_error *error)
{
    const struct rf_alloc *own = profile->alloc.resize != NULL ? &profile->alloc : NULL;
    *view = (struct rf_view){.alloc = *rf_alloc_or_standard(own),
                             .run = run,
                             .profile = profile,
                             .bound = profile->bound};
    struct rf_view_work work = {.view = view, .setup = setup, .error = error};
    rf_view_words(&work.words, profile);
    rf_status status = rf_view_table_open(&work.table, profile, setup->interval);
    work.totals = wants_totals(profile, setup) ? rf_run_totals(run, profile) : NULL;
    if (status == RF_OK)
        status = fill(&work);
    rf_list_free(&view->alloc, &work.rows);
    rf_alloc_free(&view->alloc, work.table.merged, work.table.n_merged * sizeof *work.table.merged);
    rf_view_table_close(&work.table);
    if (status != RF_OK)
        rf_view_close(view);
    return status;
}

void rf_view_close(struct rf_view *view)
{
    rf_alloc_free(&view->alloc, view->cells, view->n_cells * sizeof *view->cells);
    view->cells = NULL;
    while (view->texts != NULL) {
        struct rf_view_text *text = view->texts;
        view->texts = text->next;
        rf_alloc_free(&view->alloc, text, text->size);
    }
}

const struct rf_view_column *rf_view_column(const struct rf_view *view, enum rf_column_id id)
{
    for (size_t i = 0; i < view->n_columns; i++)
        if (view->columns[i].id == id)
            return &view->columns[i];
    return NULL;
}

const struct rf_view_cell *rf_view_cell(const struct rf_view *view, size_t row,
                                        enum rf_column_id id)
{
    const struct rf_view_column *column = rf_view_column(view, id);
    if (column == NULL || row >= view->n_rows)
        return NULL;
    return &view->cells[row * view->n_columns + (size_t)(column - view->columns)];
}
