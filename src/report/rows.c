/* rows.c - a view as a table of text.
 *
 *     loads      count  values  top value  of this load  place
 *     49.9%     21.6 M     64+  0                 98.7%  rank.c:44 spread
 *
 * Numbers are aligned right, words left. A table is written in two passes, the first to see how wide its columns are.
 * On a terminal the last column gives way, with a mark; numbers are never cut. Where the rows and the rest are all there
 * is, their shares add up to 100%: what rounding leaves goes to those that lost most by it. */
#include "report/report.h"
#include "base/alloc.h"
#include <math.h>
#include <riffle/text.h>
#include <stdlib.h>
#include <string.h>

enum { LAST_COLUMN_MIN = 16, NAME_MAX_COLUMNS = 30, STRONG_PERCENT = 10 };

struct layout {
    const struct rf_view *view;
    const struct rf_report_setup *setup;
    size_t order[RF_COLUMN_COUNT_OF]; /* of the view's columns */
    size_t widths[RF_COLUMN_COUNT_OF];
    size_t n;
    int *
        tenths; /* of a percent, for each row and the rest, where they add up; NULL: they need not */
};

/* A name that nothing has needs no column. */
static bool is_blank(const struct rf_view *view, const struct rf_view_column *column)
{
    bool blank = column->type == RF_CELL_TEXT;
    for (size_t row = 0; row < view->n_rows && blank; row++)
        blank =
            view->cells[row * view->n_columns + (size_t)(column - view->columns)].text[0] == '\0';
    return blank;
}

static bool is_shown(const struct layout *layout, const struct rf_view_column *column)
{
    unsigned wanted = RF_FOR_PEOPLE | (layout->setup->details ? RF_FOR_DETAILS : 0u);
    bool of_bounds = column->id == RF_COLUMN_LOWER || column->id == RF_COLUMN_UPPER;
    if ((of_bounds && (layout->view->bound == RF_BOUND_EXACT || rf_view_estimates(layout->view))) ||
        is_blank(layout->view, column))
        return false;
    return (column->shown & wanted) != 0;
}

/* Columns in the order of their ids. */
static void order_columns(struct layout *layout)
{
    for (unsigned id = 0; id < RF_COLUMN_COUNT_OF; id++)
        for (size_t i = 0; i < layout->view->n_columns; i++)
            if (layout->view->columns[i].id == id && is_shown(layout, &layout->view->columns[i]))
                layout->order[layout->n++] = i;
}

/* ---- shares that add up ---- */

static bool adds_up(const struct rf_view *view, size_t share)
{
    uint64_t sum = view->rest;
    const struct rf_view_column *count = rf_view_column(view, RF_COLUMN_COUNT);
    for (size_t row = 0; row < view->n_rows; row++) {
        const struct rf_view_cell *cells = &view->cells[row * view->n_columns];
        if (cells[share].low < cells[share].high)
            return false;
        sum += cells[count - view->columns].number;
    }
    return view->events > 0 && sum == view->events;
}

static double exact_tenths(const struct rf_view *view, size_t share, size_t row)
{
    if (row == view->n_rows)
        return 1000 * ((double)view->rest / (double)view->events);
    return 1000 * view->cells[row * view->n_columns + share].share;
}

/* Round down, then give the missing tenths to those with the largest remainders. */
static void round_shares(const struct rf_view *view, size_t share, int *tenths)
{
    int left = 1000;
    for (size_t row = 0; row <= view->n_rows; row++)
        left -= tenths[row] = (int)floor(exact_tenths(view, share, row) + 1e-9);
    for (; left > 0; left--) {
        size_t best = 0;
        double most = -1;
        for (size_t row = 0; row <= view->n_rows; row++) {
            double missing = exact_tenths(view, share, row) - tenths[row];
            if (missing > most) {
                most = missing;
                best = row;
            }
        }
        tenths[best]++;
    }
}

static rf_status add_up(struct layout *layout)
{
    const struct rf_view *view = layout->view;
    const struct rf_view_column *share = rf_view_column(view, RF_COLUMN_SHARE);
    enum { FEW = 1000 }; /* rows: of more than that nobody adds up the shares */
    if (share == NULL || view->n_rows > FEW || !adds_up(view, (size_t)(share - view->columns)))
        return RF_OK;
    layout->tenths = rf_alloc_get(&view->alloc, (view->n_rows + 1) * sizeof *layout->tenths);
    if (layout->tenths == NULL)
        return RF_ENOMEM;
    round_shares(view, (size_t)(share - view->columns), layout->tenths);
    return RF_OK;
}

/* ---- cells ---- */

/* Of a stream, only the first line has its figures. */
static bool is_continued(const struct rf_view *view, size_t row,
                         const struct rf_view_column *column)
{
    const struct rf_view_cell *position = rf_view_cell(view, row, RF_COLUMN_POSITION);
    return position != NULL && position->number > 0 && column->id < RF_COLUMN_A;
}

static void make_cell(const struct layout *layout, size_t row, size_t k, char *text, size_t size)
{
    const struct rf_view *view = layout->view;
    const struct rf_view_column *column = &view->columns[layout->order[k]];
    text[0] = '\0';
    if (is_continued(view, row, column))
        return;
    if (column->id == RF_COLUMN_SHARE && layout->tenths != NULL)
        snprintf(text, size, "%d.%d%%", layout->tenths[row] / 10, layout->tenths[row] % 10);
    else
        rf_report_cell(text, size, view, column,
                       &view->cells[row * view->n_columns + layout->order[k]],
                       layout->setup->details != 0);
}

static void measure(struct layout *layout, char *text, size_t size)
{
    for (size_t k = 0; k < layout->n; k++)
        layout->widths[k] = rf_text_width(layout->view->columns[layout->order[k]].heading);
    for (size_t row = 0; row < layout->view->n_rows; row++)
        for (size_t k = 0; k < layout->n; k++) {
            make_cell(layout, row, k, text, size);
            size_t width = rf_text_width(text);
            layout->widths[k] = width > layout->widths[k] ? width : layout->widths[k];
        }
}

static bool is_text(const struct layout *layout, size_t k)
{
    enum rf_cell_type type = layout->view->columns[layout->order[k]].type;
    return type == RF_CELL_TEXT || type == RF_CELL_HEX;
}

/* The last column gives way; before it, long names of what is no place. */
static void fit(struct layout *layout)
{
    size_t before = 1, last = layout->n - 1, width = (size_t)layout->setup->width;
    for (size_t k = 0; k < last; k++) {
        bool name = layout->view->columns[layout->order[k]].type == RF_CELL_TEXT;
        if (width > 0 && name && layout->widths[k] > NAME_MAX_COLUMNS)
            layout->widths[k] = NAME_MAX_COLUMNS;
        before += layout->widths[k] + 2;
    }
    bool text = layout->view->columns[layout->order[last]].type == RF_CELL_TEXT;
    if (width == 0 || !text || before + layout->widths[last] <= width)
        return;
    size_t left = width > before ? width - before : 0;
    layout->widths[last] = left > LAST_COLUMN_MIN ? left : LAST_COLUMN_MIN;
}

static void write_cell(FILE *out, const struct layout *layout, size_t k, char *text)
{
    bool is_last = k + 1 == layout->n, left = is_text(layout, k);
    if (layout->setup->width > 0 && layout->view->columns[layout->order[k]].type == RF_CELL_TEXT)
        rf_report_cut(text, layout->widths[k]);
    size_t width = rf_text_width(text);
    if (is_last && width == 0)
        return;
    int gap = width < layout->widths[k] ? (int)(layout->widths[k] - width) : 0;
    fprintf(out, "%s%*s%s%*s", k > 0 ? "  " : " ", left ? 0 : gap, "", text,
            left && !is_last ? gap : 0, "");
}

static bool is_strong(const struct rf_view *view, size_t row)
{
    const struct rf_view_cell *share = rf_view_cell(view, row, RF_COLUMN_SHARE);
    return share != NULL && 100 * share->share >= STRONG_PERCENT;
}

static void write_heading(FILE *out, const struct layout *layout, char *text, size_t size)
{
    fputs(layout->setup->colour ? "\033[1m" : "", out);
    for (size_t k = 0; k < layout->n; k++) {
        snprintf(text, size, "%s", layout->view->columns[layout->order[k]].heading);
        write_cell(out, layout, k, text);
    }
    fputs(layout->setup->colour ? "\033[0m\n" : "\n", out);
}

static void write_row(FILE *out, const struct layout *layout, size_t row, char *text, size_t size)
{
    bool strong = layout->setup->colour && is_strong(layout->view, row);
    fputs(strong ? "\033[1m" : "", out);
    for (size_t k = 0; k < layout->n; k++) {
        make_cell(layout, row, k, text, size);
        write_cell(out, layout, k, text);
    }
    fputs(strong ? "\033[0m\n" : "\n", out);
}

/* "7 more functions, 0.1%": what is found and not shown. */
static void write_rest(FILE *out, const struct layout *layout)
{
    static const char *const kinds[RF_BY_COUNT] = {
        [RF_BY_FUNCTION] = "functions", [RF_BY_LINE] = "lines",     [RF_BY_MODULE] = "files",
        [RF_BY_PC] = "instructions",    [RF_BY_VALUE] = "values",   [RF_BY_TARGET] = "targets",
        [RF_BY_REGION] = "regions",     [RF_BY_THREAD] = "threads", [RF_BY_PROCESS] = "processes"};
    const struct rf_view *view = layout->view;
    char more[RF_REPORT_NUMBER_MAX];
    size_t n = view->n_found - view->n_rows;
    if (n == 0)
        return;
    bool streams = rf_view_column(view, RF_COLUMN_STREAM) != NULL;
    const char *kind = kinds[view->by] != NULL ? kinds[view->by] : "rows";
    int letters = (int)strlen(kind) - (n > 1 ? 0 : view->by == RF_BY_PROCESS ? 2 : 1);
    fprintf(out, " %s more %.*s", rf_report_group(more, n), letters, kind);
    if (layout->tenths != NULL)
        fprintf(out, ", %d.%d%%", layout->tenths[view->n_rows] / 10,
                layout->tenths[view->n_rows] % 10);
    else if (view->events > 0 && !streams)
        fprintf(out, ", %.1f%%", 100 * (double)view->rest / (double)view->events);
    fputc('\n', out);
}

rf_status rf_report_rows(FILE *out, const struct rf_view *view, const struct rf_report_setup *setup)
{
    static const size_t size = RF_REPORT_TEXT_MAX;
    struct layout layout = {.view = view, .setup = setup};
    char text[RF_REPORT_TEXT_MAX];
    order_columns(&layout);
    if (layout.n == 0 || view->n_rows == 0)
        return RF_OK;
    if (add_up(&layout) != RF_OK)
        return RF_ENOMEM;
    measure(&layout, text, size);
    fit(&layout);
    write_heading(out, &layout, text, size);
    for (size_t row = 0; row < view->n_rows && !ferror(out); row++)
        write_row(out, &layout, row, text, size);
    write_rest(out, &layout);
    rf_alloc_free(&view->alloc, layout.tenths, (view->n_rows + 1) * sizeof *layout.tenths);
    return RF_OK;
}
