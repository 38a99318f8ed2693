/* diff.c - the rows of two views, matched by names that outlive a rebuild.
 *
 *     view of before --entries, by key--+
 *                                       +--joined--> rows: new, gone, changed, same
 *     view of after  --entries, by key--+
 *
 * Lines are matched by their distance from the beginning of their function (starts.c). Where counts have bounds, a side may
 * have had events of a row that it does not list: at most as many as all its events outside of the list. */
#include "view/view.h"
#include "view/inlined.h"
#include "view/starts.h"
#include "base/alloc.h"
#include "base/error.h"
#include <inttypes.h>
#include <math.h>
#include <riffle/diff.h>
#include <stdlib.h>
#include <string.h>

struct entry {
    const char *key; /* what it is matched by */
    const char *name, *module;
    struct rf_diff_count count;
};

struct entries {
    struct entry *at;
    size_t n, room;
    uint64_t absent; /* at most this many events of a row that is not listed */
};

const char *rf_diff_kind_name(enum rf_diff_kind kind)
{
    static const char *const names[] = {"same", "new", "gone", "changed", "inlined"};
    return names[kind];
}

/* ---- keys ---- */

/* "find_match" for "find_match.constprop.0": the copies that compilers make. */
static void cut_suffix(char *name)
{
    static const char *const suffixes[] = {".constprop.", ".part.", ".isra.", ".cold",
                                           ".lto_priv."};
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        char *at = strstr(name, suffixes[i]);
        if (at != NULL && at != name)
            *at = '\0';
    }
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL && slash[1] != '\0' ? slash + 1 : path;
}

/* The program's own file may have another name in the other run, so it counts as "". */
static const char *module_of(const struct rf_run *run, const char *module)
{
    const char *program = rf_run_note(run, RF_NOTE_PROGRAM);
    return program != NULL && strcmp(last_part(program), last_part(module)) == 0
               ? ""
               : last_part(module);
}

static const char *text_at(const struct rf_view *view, size_t row, enum rf_column_id id)
{
    const struct rf_view_cell *cell = rf_view_cell(view, row, id);
    return cell != NULL ? cell->text : "";
}

static uint64_t number_at(const struct rf_view *view, size_t row, enum rf_column_id id)
{
    const struct rf_view_cell *cell = rf_view_cell(view, row, id);
    return cell != NULL ? cell->number : 0;
}

/* "spread+0x1c": an instruction by where it is in its function. */
static void print_instruction(const struct rf_diff_side *side, uint64_t address, char *text,
                              size_t size)
{
    struct rf_place_name name = {.function = ""};
    if (side->symbols != NULL)
        rf_symbols_lookup(side->symbols, address, RF_SYMBOLS_ANY_PROCESS, RF_SYMBOLS_ANY_TIME,
                          &name);
    if (name.function == NULL || name.function[0] == '\0') {
        snprintf(text, size, "0x%" PRIx64, address);
        return;
    }
    snprintf(text, size, "%s", name.function);
    cut_suffix(text);
    size_t n = strlen(text);
    snprintf(text + n, size - n, "+0x%" PRIx64, name.offset);
}

static void print_words(const struct rf_view *view, size_t row, char *text, size_t size)
{
    int n = snprintf(text, size, "0x%" PRIx64, number_at(view, row, RF_COLUMN_A));
    if (rf_view_column(view, RF_COLUMN_B) != NULL)
        snprintf(text + n, size - (size_t)n, " 0x%" PRIx64, number_at(view, row, RF_COLUMN_B));
}

/* "find_match+5 lz.c": a line by where it is in its function. The text stays as it is where that is not known. */
static void print_line_key(const struct rf_starts *starts, const struct rf_view *view, size_t row,
                           char *text, size_t size)
{
    uint32_t line = (uint32_t)number_at(view, row, RF_COLUMN_LINE);
    const char *file = last_part(text_at(view, row, RF_COLUMN_FILE));
    const struct rf_start *start = line > 0 ? rf_starts_find(starts, file, line) : NULL;
    if (start == NULL || !start->moved)
        return;
    snprintf(text, size, "%s", start->function);
    cut_suffix(text);
    size_t n = strlen(text);
    snprintf(text + n, size - n, "+%" PRIu32 " %s", line - start->line, file);
}

static void print_name(const struct rf_diff_side *side, const struct rf_view *view, size_t row,
                       char *text, size_t size)
{
    switch (view->by) {
    case RF_BY_FUNCTION:
        snprintf(text, size, "%s", text_at(view, row, RF_COLUMN_FUNCTION));
        cut_suffix(text);
        return;
    case RF_BY_LINE:
        if (number_at(view, row, RF_COLUMN_LINE) == 0)
            snprintf(text, size, "%s", text_at(view, row, RF_COLUMN_FUNCTION));
        else
            snprintf(text, size, "%s:%" PRIu64, last_part(text_at(view, row, RF_COLUMN_FILE)),
                     number_at(view, row, RF_COLUMN_LINE));
        return;
    case RF_BY_PC:
        print_instruction(side, number_at(view, row, RF_COLUMN_A), text, size);
        return;
    case RF_BY_MODULE:
        snprintf(text, size, "%s", module_of(side->run, text_at(view, row, RF_COLUMN_MODULE)));
        return;
    case RF_BY_REGION:
        snprintf(text, size, "%s", text_at(view, row, RF_COLUMN_NAME));
        return;
    case RF_BY_TARGET:
        snprintf(text, size, "%s", text_at(view, row, RF_COLUMN_CALLEE));
        return;
    default:
        print_words(view, row, text, size);
    }
}

/* Functions without a name are called by their address, which tells nothing about another build. */
static bool is_nameless(const struct rf_view *view, const char *name)
{
    return (view->by == RF_BY_FUNCTION && strncmp(name, "function at 0x", 14) == 0) ||
           (view->by == RF_BY_PC && strncmp(name, "0x", 2) == 0);
}

static const char *build_of(const struct rf_run *run, const char *module)
{
    for (size_t i = 0; i < run->n_modules; i++)
        if (strcmp(last_part(run->modules[i].path), last_part(module)) == 0 &&
            run->modules[i].build_id != NULL)
            return run->modules[i].build_id;
    return "";
}

/* What a row is matched by. */
static void print_key(const struct rf_diff_side *side, const struct rf_view *view, size_t row,
                      const struct rf_starts *starts, char *text, size_t size)
{
    if (view->by == RF_BY_LINE)
        print_line_key(starts, view, row, text, size);
    else if (is_nameless(view, text)) {
        size_t n = strlen(text);
        snprintf(text + n, size - n, " %s",
                 build_of(side->run, text_at(view, row, RF_COLUMN_MODULE)));
    }
}

/* ---- entries ---- */

static int by_key(const void *left, const void *right)
{
    const struct entry *l = left, *r = right;
    int order = strcmp(l->key, r->key);
    return order != 0 ? order : strcmp(l->module, r->module);
}

/* Entries with the same key become one. */
static size_t settle(struct entry *entries, size_t n)
{
    size_t kept = 0;
    if (n > 0)
        qsort(entries, n, sizeof *entries, by_key);
    for (size_t i = 0; i < n; i++) {
        if (kept == 0 || by_key(&entries[kept - 1], &entries[i]) != 0) {
            entries[kept++] = entries[i];
            continue;
        }
        struct rf_diff_count *sum = &entries[kept - 1].count;
        sum->count += entries[i].count.count;
        sum->lower += entries[i].count.lower;
        sum->upper += entries[i].count.upper;
    }
    return kept;
}

static bool fill_from(struct entries *entries, const struct rf_diff_side *side,
                      struct rf_view *view, const struct rf_starts *starts)
{
    char text[RF_VIEW_TEXT_MAX];
    entries->room = view->n_rows + 1;
    entries->at = rf_alloc_get(&view->alloc, entries->room * sizeof *entries->at);
    if (entries->at == NULL)
        return false;
    bool with_module = view->by == RF_BY_FUNCTION || view->by == RF_BY_PC;
    for (size_t row = 0; row < view->n_rows; row++) {
        print_name(side, view, row, text, sizeof text);
        const char *name = rf_view_keep(view, text);
        print_key(side, view, row, starts, text, sizeof text);
        struct entry entry = {
            .name = name,
            .key = name != NULL && strcmp(text, name) != 0 ? rf_view_keep(view, text) : name,
            .module = with_module ? module_of(side->run, text_at(view, row, RF_COLUMN_MODULE)) : "",
            .count = {number_at(view, row, RF_COLUMN_COUNT), number_at(view, row, RF_COLUMN_LOWER),
                      number_at(view, row, RF_COLUMN_UPPER)}};
        if (entry.name == NULL || entry.key == NULL)
            return false;
        entries->at[entries->n++] = entry;
    }
    entries->n = settle(entries->at, entries->n);
    entries->absent = view->bound == RF_BOUND_EXACT ? 0 : view->rest_upper;
    return true;
}

/* Both sides; views of lines need to know where functions begin. */
static bool fill(struct entries entries[2], const struct rf_diff_side *const sides[2],
                 struct rf_view views[2])
{
    struct rf_starts starts[2];
    bool good = true;
    for (size_t i = 0; i < 2; i++) {
        starts[i] = (struct rf_starts){.alloc = &views[i].alloc};
        if (views[i].by == RF_BY_LINE && good)
            good = rf_starts_open(&starts[i], sides[i], &views[i].alloc) == RF_OK;
    }
    if (good)
        rf_starts_compare(&starts[0], &starts[1]);
    for (size_t i = 0; i < 2 && good; i++)
        good = fill_from(&entries[i], sides[i], &views[i], &starts[i]);
    for (size_t i = 0; i < 2; i++)
        rf_list_free(starts[i].alloc, &starts[i]);
    return good;
}

/* ---- rows ---- */

/* "lz.c:63, was :58" for a line that has moved. */
static const char *name_of(struct rf_diff *diff, const struct entry *known,
                           const struct entry *before, const struct entry *after)
{
    char text[RF_VIEW_TEXT_MAX];
    if (before == NULL || after == NULL || strcmp(before->name, after->name) == 0)
        return known->name;
    const char *line = strrchr(before->name, ':');
    snprintf(text, sizeof text, "%s, was %s", after->name, line != NULL ? line : before->name);
    const char *kept = rf_view_keep(&diff->views[0], text);
    return kept != NULL ? kept : after->name;
}

static enum rf_diff_kind kind_of(const struct rf_diff_row *row, bool was, bool is)
{
    bool apart = row->before.upper < row->after.lower || row->after.upper < row->before.lower;
    if (!apart)
        return RF_DIFF_SAME;
    return !was ? RF_DIFF_NEW : !is ? RF_DIFF_GONE : RF_DIFF_CHANGED;
}

/* `known` is `before`, or `after` where there is no `before`. */
static void add_row(struct rf_diff *diff, const struct entry *known, const struct entry *before,
                    const struct entry *after, const struct entries *sides)
{
    struct rf_diff_row row = {
        .name = name_of(diff, known, before, after), .module = known->module, .inlined.host = ""};
    row.before = before != NULL ? before->count : (struct rf_diff_count){0, 0, sides[0].absent};
    row.after = after != NULL ? after->count : (struct rf_diff_count){0, 0, sides[1].absent};
    row.kind = kind_of(&row, before != NULL, after != NULL);
    row.change = (double)row.after.count - (double)row.before.count;
    diff->n_same += row.kind == RF_DIFF_SAME;
    diff->n_nameless += (row.kind == RF_DIFF_NEW || row.kind == RF_DIFF_GONE) &&
                        is_nameless(&diff->views[0], known->name);
    diff->rows[diff->n_rows++] = row;
}

static int by_change(const void *left, const void *right)
{
    const struct rf_diff_row *l = left, *r = right;
    if ((l->kind == RF_DIFF_SAME) != (r->kind == RF_DIFF_SAME))
        return l->kind == RF_DIFF_SAME ? 1 : -1;
    double x = fabs(l->change), y = fabs(r->change);
    if (x < y || x > y)
        return x > y ? -1 : 1;
    if (l->before.count != r->before.count)
        return l->before.count > r->before.count ? -1 : 1;
    return strcmp(l->name, r->name);
}

static bool join(struct rf_diff *diff, const struct entries *sides)
{
    size_t i = 0, k = 0;
    diff->room = sides[0].n + sides[1].n + 1;
    diff->rows = rf_alloc_get(&diff->alloc, diff->room * sizeof *diff->rows);
    if (diff->rows == NULL)
        return false;
    while (i < sides[0].n || k < sides[1].n) {
        const struct entry *before = i < sides[0].n ? &sides[0].at[i] : NULL;
        const struct entry *after = k < sides[1].n ? &sides[1].at[k] : NULL;
        int order = before == NULL ? 1 : after == NULL ? -1 : by_key(before, after);
        add_row(diff, order <= 0 ? before : after, order <= 0 ? before : NULL,
                order >= 0 ? after : NULL, sides);
        i += order <= 0;
        k += order >= 0;
    }
    if (diff->n_rows > 0)
        qsort(diff->rows, diff->n_rows, sizeof *diff->rows, by_change);
    return true;
}

/* ---- inlined functions ---- */

static void explain_row(struct rf_diff_row *row, const struct rf_inlined_list sides[2])
{
    const struct rf_diff_inlined before = rf_inlined_find(&sides[0], row->name);
    const struct rf_diff_inlined after = rf_inlined_find(&sides[1], row->name);
    if (row->kind == RF_DIFF_SAME)
        return;
    if (row->change < 0 && after.count > before.count)
        row->inlined = after;
    else if (row->change > 0 && before.count > after.count)
        row->inlined = before;
    if (row->kind == RF_DIFF_GONE && row->inlined.count > 0)
        row->kind = RF_DIFF_INLINED;
}

static bool explain(struct rf_diff *diff, const struct rf_diff_side *before,
                    const struct rf_diff_side *after)
{
    struct rf_inlined_list sides[2] = {{.n = 0}, {.n = 0}};
    if (diff->by != RF_BY_FUNCTION || diff->n_same == diff->n_rows)
        return true;
    bool good = rf_inlined_open(&sides[0], before, &diff->alloc) == RF_OK &&
                rf_inlined_open(&sides[1], after, &diff->alloc) == RF_OK;
    for (size_t i = 0; i < diff->n_rows && good; i++)
        explain_row(&diff->rows[i], sides);
    for (size_t i = 0; i < 2; i++)
        rf_list_free(&diff->alloc, &sides[i]);
    return good;
}

static rf_status open_view(struct rf_view *view, const struct rf_diff_side *side,
                           enum rf_view_by by, struct rf_error *error)
{
    const struct rf_view_setup setup = {.by = by, .symbols = side->symbols, .full_names = 1};
    return rf_view_open(view, side->run, side->profile, &setup, error);
}

static rf_status make(struct rf_diff *diff, const struct rf_diff_side *before,
                      const struct rf_diff_side *after)
{
    struct entries sides[2] = {{.n = 0}, {.n = 0}};
    const struct rf_diff_side *const given[2] = {before, after};
    bool good = fill(sides, given, diff->views);
    good = good && join(diff, sides) && explain(diff, before, after);
    for (size_t i = 0; i < 2; i++)
        rf_list_free(&diff->views[i].alloc, &sides[i]);
    return good ? RF_OK : RF_ENOMEM;
}

rf_status rf_diff_open(struct rf_diff *diff, const struct rf_diff_side *before,
                       const struct rf_diff_side *after, enum rf_view_by by, struct rf_error *error)
{
    *diff = (struct rf_diff){.by = by, .profile = before->profile};
    if (strcmp(before->profile->selector, after->profile->selector) != 0)
        return rf_fail(error, RF_ENOTSUP, "'%s' and '%s' count different things",
                       before->profile->selector, after->profile->selector);
    rf_status status = open_view(&diff->views[0], before, by, error);
    if (status != RF_OK)
        return status;
    diff->alloc = diff->views[0].alloc;
    status = open_view(&diff->views[1], after, by, error);
    if (status == RF_OK) {
        diff->before = diff->views[0].events;
        diff->after = diff->views[1].events;
        status = make(diff, before, after);
    }
    if (status != RF_OK)
        rf_diff_close(diff);
    return status;
}

void rf_diff_close(struct rf_diff *diff)
{
    rf_alloc_free(&diff->alloc, diff->rows, diff->room * sizeof *diff->rows);
    diff->rows = NULL;
    for (size_t i = 0; i < 2; i++)
        if (diff->views[i].alloc.resize != NULL)
            rf_view_close(&diff->views[i]);
}

double rf_diff_growth(const struct rf_diff *diff)
{
    double all = diff->before > 0 ? (double)diff->before : 1;
    double most = (double)diff->after - (double)diff->before;
    for (size_t i = 0; i < diff->n_rows; i++) {
        double sure = (double)diff->rows[i].after.lower - (double)diff->rows[i].before.upper;
        most = sure > most ? sure : most;
    }
    return most > 0 ? most / all : 0;
}
