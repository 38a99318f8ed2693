/* rows.c - a view as a table of text.
 *
 *     loads      count  values  top value  of this load  place
 *     49.9%     21.6 M     64+  0                 98.7%  rank.c:44 spread
 *
 * Numbers are aligned right, words left. A table is written in two passes, the first to see how wide its columns are.
 * Where that is too wide, texts share the room that numbers leave: short ones get what they want, long ones are folded
 * (fold.c), source lines are cut. A name that is too long for the lines of a row is cut, too, unless full names are asked
 * for: these take as many lines as they need. Where numbers leave hardly any room, the last column has a line of its own. Numbers
 * are never cut. Where the rows and the rest are all there
 * is, their shares add up to 100%. Each is rounded up or down for that, the first rows to the nearest tenth: what is hot
 * in two tables has the same share in both. */
#include "report/report.h"
#include "base/alloc.h"
#include <limits.h>
#include <math.h>
#include <riffle/text.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_MIN = 16, TEXT_FAIR = 28, OWN_LINE_INDENT = 6, STRONG_PERCENT = 10 };
static const size_t HEADING = SIZE_MAX; /* in place of a row's number */

struct layout {
    const struct rf_view *view;
    const struct rf_report_setup *setup;
    size_t order[RF_COLUMN_COUNT_OF]; /* of the view's columns */
    size_t widths[RF_COLUMN_COUNT_OF];
    size_t n;
    unsigned lines; /* of a row, at most */
    bool own_line;  /* the last column stands below the others */
    int *
        tenths; /* of a percent, for each row and the rest, where they add up; NULL: they need not */
};

/* What no row has needs no column. */
static bool is_blank(const struct rf_view *view, const struct rf_view_column *column)
{
    bool blank = true;
    for (size_t row = 0; row < view->n_rows && blank; row++) {
        const struct rf_view_cell *cell =
            &view->cells[row * view->n_columns + (size_t)(column - view->columns)];
        blank = cell->text[0] == '\0' && (column->type == RF_CELL_TEXT || cell->is_empty);
    }
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

/* Who gets the next tenth: the first row that misses half of one, else the rest, else who misses most. */
static size_t next_to_raise(const struct rf_view *view, size_t share, const int *tenths)
{
    const size_t n = view->n_rows;
    size_t best = n;
    double most = 0;
    for (size_t row = 0; row < n; row++) {
        double missing = exact_tenths(view, share, row) - tenths[row];
        if (missing >= 0.5)
            return row;
        if (missing > most) {
            most = missing;
            best = row;
        }
    }
    return exact_tenths(view, share, n) > tenths[n] ? n : best;
}

/* Round down, then give out the missing tenths. */
static void round_shares(const struct rf_view *view, size_t share, int *tenths)
{
    int left = 1000;
    for (size_t row = 0; row <= view->n_rows; row++)
        left -= tenths[row] = (int)floor(exact_tenths(view, share, row) + 1e-9);
    for (; left > 0; left--)
        tenths[next_to_raise(view, share, tenths)]++;
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

static bool gives_way(const struct layout *layout, size_t k)
{
    return layout->view->columns[layout->order[k]].type == RF_CELL_TEXT;
}

/* Texts share the room: those that want less than their part leave the rest to the others. False: there is too little. */
static bool share_room(const struct layout *layout, size_t n, size_t room, size_t *widths)
{
    size_t left = 0, fair;
    bool again = true;
    for (size_t k = 0; k < n; k++) {
        widths[k] = gives_way(layout, k) ? 0 : layout->widths[k];
        left += gives_way(layout, k);
        room -= widths[k] < room ? widths[k] : room;
    }
    for (fair = room; again && left > 0;) {
        again = false;
        fair = room / left;
        for (size_t k = 0; k < n; k++)
            if (widths[k] == 0 && layout->widths[k] <= fair) {
                widths[k] = layout->widths[k];
                room -= widths[k];
                left--;
                again = true;
            }
    }
    for (size_t k = 0; k < n; k++)
        if (widths[k] == 0)
            widths[k] = fair > TEXT_MIN ? fair : TEXT_MIN;
    return left == 0 || fair >= TEXT_FAIR;
}

static void fit(struct layout *layout)
{
    size_t widths[RF_COLUMN_COUNT_OF], wanted = 1, last = layout->n - 1;
    const size_t width = (size_t)layout->setup->width, gaps = 1 + 2 * last;
    for (size_t k = 0; k < layout->n; k++)
        wanted += layout->widths[k] + (k > 0 ? 2 : 0);
    if (width == 0 || wanted <= width)
        return;
    size_t room = width > gaps ? width - gaps : 0;
    layout->own_line =
        !share_room(layout, layout->n, room, widths) && last > 0 && gives_way(layout, last);
    if (layout->own_line) {
        share_room(layout, last, room + 2, widths);
        widths[last] = width > OWN_LINE_INDENT + TEXT_MIN ? width - OWN_LINE_INDENT : TEXT_MIN;
    }
    memcpy(layout->widths, widths, layout->n * sizeof *widths);
}

/* The given line of a text that is folded into `columns`: it is moved to the front; false: there is none. */
static bool take_line(const struct layout *layout, size_t k, char *text, unsigned line)
{
    const size_t indent = strspn(text, " ");
    bool cuts = layout->view->columns[layout->order[k]].id == RF_COLUMN_SOURCE;
    size_t columns = layout->widths[k];
    if (layout->setup->width == 0 || !gives_way(layout, k))
        return line == 0;
    for (unsigned i = 0;; i++) {
        bool is_end = cuts || i + 1 == layout->lines;
        size_t n = is_end ? strlen(text) : rf_report_fold(text, columns);
        if (i == line && is_end)
            (cuts ? rf_report_cut : rf_report_cut_front)(text, columns);
        else if (i == line)
            text[n] = '\0';
        if (i == line)
            return text[0] != '\0';
        const char *rest = text + n + strspn(text + n, " ");
        size_t length = strlen(rest), own = indent < columns / 2 ? indent : 0;
        if (length == 0)
            return false;
        memmove(text + own, rest, length + 1);
        memset(text, ' ', own);
    }
}

static bool is_strong(const struct rf_view *view, size_t row)
{
    const struct rf_view_cell *share = rf_view_cell(view, row, RF_COLUMN_SHARE);
    return share != NULL && 100 * share->share >= STRONG_PERCENT;
}

/* The given line of a cell; HEADING stands for the row of headings. */
static bool get_line(const struct layout *layout, size_t row, size_t k, unsigned line, char *text)
{
    if (row == HEADING)
        snprintf(text, RF_REPORT_TEXT_MAX, "%s", layout->view->columns[layout->order[k]].heading);
    else
        make_cell(layout, row, k, text, RF_REPORT_TEXT_MAX);
    return take_line(layout, k, text, line);
}

/* Spaces are written when something follows them. False: all cells have ended. */
static bool write_line(FILE *out, const struct layout *layout, size_t row, unsigned line,
                       bool strong)
{
    char text[RF_REPORT_TEXT_MAX];
    size_t spaces = 1;
    bool any = false;
    for (size_t k = 0; k < layout->n - layout->own_line; k++, spaces += 2) {
        if (!get_line(layout, row, k, line, text))
            text[0] = '\0';
        size_t width = rf_text_width(text);
        size_t gap = width < layout->widths[k] ? layout->widths[k] - width : 0;
        spaces += is_text(layout, k) ? 0 : gap;
        if (text[0] != '\0') {
            fprintf(out, "%s%*s%s", any || !strong ? "" : "\033[1m", (int)spaces, "", text);
            spaces = 0;
            any = true;
        }
        spaces += is_text(layout, k) ? gap : 0;
    }
    if (any)
        fputs(strong ? "\033[0m\n" : "\n", out);
    return any;
}

static void write_own_line(FILE *out, const struct layout *layout, size_t row)
{
    char text[RF_REPORT_TEXT_MAX];
    for (unsigned line = 0;
         line < layout->lines && get_line(layout, row, layout->n - 1, line, text); line++)
        fprintf(out, "%*s%s\n", OWN_LINE_INDENT, "", text);
}

static void write_row(FILE *out, const struct layout *layout, size_t row)
{
    bool strong = layout->setup->colour && (row == HEADING || is_strong(layout->view, row));
    unsigned line = 0;
    while (line < layout->lines && write_line(out, layout, row, line, strong))
        line++;
    if (layout->own_line)
        write_own_line(out, layout, row);
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
    kind = view->stretches ? "places" : kind;
    int letters = (int)strlen(kind) - (n > 1 ? 0 : view->by == RF_BY_PROCESS ? 2 : 1);
    fprintf(out, " %s more %.*s", rf_report_group(more, n), letters, kind);
    if (layout->tenths != NULL)
        fprintf(out, ", %d.%d%%", layout->tenths[view->n_rows] / 10,
                layout->tenths[view->n_rows] % 10);
    else if (view->events > 0 && !streams)
        fprintf(out, ", %.1f%%", 100 * (double)view->rest / (double)view->events);
    fputc('\n', out);
}

rf_status rf_report_rows(FILE *out, const struct rf_view *view, const struct rf_report_setup *setup,
                         unsigned lines)
{
    struct layout layout = {
        .view = view, .setup = setup, .lines = setup->view.full_names ? UINT_MAX : lines};
    char text[RF_REPORT_TEXT_MAX];
    order_columns(&layout);
    if (layout.n == 0 || view->n_rows == 0)
        return RF_OK;
    if (add_up(&layout) != RF_OK)
        return RF_ENOMEM;
    measure(&layout, text, sizeof text);
    fit(&layout);
    write_row(out, &layout, HEADING);
    for (size_t row = 0; row < view->n_rows && !ferror(out); row++)
        write_row(out, &layout, row);
    write_rest(out, &layout);
    rf_alloc_free(&view->alloc, layout.tenths, (view->n_rows + 1) * sizeof *layout.tenths);
    return RF_OK;
}
