/* tables.c - rows of views: one panel for each thing that a profile can be grouped by. */
#include "report/html/html.h"

enum { ROWS = 5000 };

/* ---- one view ---- */

/* Addresses and bounds are there, too, for those who ask; columns for tools alone are not. */
static bool is_shown(const struct rf_view *view, const struct rf_view_column *column)
{
    bool of_bounds = column->id == RF_COLUMN_LOWER || column->id == RF_COLUMN_UPPER;
    if (of_bounds && view->bound == RF_BOUND_EXACT)
        return false;
    return (column->shown & (RF_FOR_PEOPLE | RF_FOR_DETAILS)) != 0;
}

/* Columns in the order of their ids, as in text. */
static size_t order_columns(const struct rf_view *view, size_t *order)
{
    size_t n = 0;
    for (unsigned id = 0; id < RF_COLUMN_COUNT_OF; id++)
        for (size_t i = 0; i < view->n_columns; i++)
            if (view->columns[i].id == id && is_shown(view, &view->columns[i]))
                order[n++] = i;
    return n;
}

static void write_column(struct rf_html *html, const struct rf_view_column *column)
{
    static const char *const types[] = {[RF_CELL_COUNT] = "count",
                                        [RF_CELL_SHARE] = "share",
                                        [RF_CELL_HEX] = "hex",
                                        [RF_CELL_NUMBER] = "count",
                                        [RF_CELL_TEXT] = "text"};
    bool is_source = column->id == RF_COLUMN_SOURCE;
    rf_html_open(html, NULL, '{');
    rf_html_text(html, "name", column->name);
    rf_html_text(html, "heading", column->heading);
    rf_html_text(html, "type", is_source ? "source" : types[column->type]);
    if ((column->shown & RF_FOR_PEOPLE) == 0)
        rf_html_count(html, "more", 1);
    rf_html_close(html, '}');
}

static void write_cell(struct rf_html *html, const struct rf_view *view,
                       const struct rf_view_column *column, const struct rf_view_cell *cell)
{
    char text[RF_REPORT_NUMBER_MAX];
    if (cell->is_empty)
        rf_html_text(html, NULL, "");
    else if (column->type == RF_CELL_SHARE)
        rf_html_share(html, cell);
    else if (column->type == RF_CELL_TEXT)
        rf_html_text(html, NULL, cell->text);
    else if (column->type == RF_CELL_HEX || cell->is_least) {
        rf_report_cell(text, sizeof text, view, column, cell, true);
        rf_html_text(html, NULL, text);
    } else
        rf_html_count(html, NULL, cell->number);
}

static void write_rows(struct rf_html *html, const struct rf_view *view, const size_t *order,
                       size_t n)
{
    rf_html_open(html, "rows", '[');
    for (size_t row = 0; row < view->n_rows && !ferror(html->out); row++) {
        rf_html_open(html, NULL, '[');
        for (size_t i = 0; i < n; i++)
            write_cell(html, view, &view->columns[order[i]],
                       &view->cells[row * view->n_columns + order[i]]);
        rf_html_close(html, ']');
    }
    rf_html_close(html, ']');
}

/* How firm the numbers are, in a sentence. */
static void write_bound(struct rf_html *html, const struct rf_view *view)
{
    char absent[RF_REPORT_NUMBER_MAX];
    const struct rf_profile *profile = view->profile;
    const char *noun = rf_view_noun(profile, profile->absent_upper);
    if (view->bound == RF_BOUND_EXACT)
        rf_html_format(html, "bound", "Counts %sare exact.",
                       rf_report_exact_of(html->run, profile));
    else if (view->bound == RF_BOUND_CONFIDENCE)
        rf_html_format(html, "bound",
                       "Counts are estimates; whiskers hold %.4g%% of the true ones. What is not "
                       "listed has at most %s %s.",
                       100 * (profile->confidence > 0 ? profile->confidence : 0.95),
                       rf_report_group(absent, profile->absent_upper), noun);
    else
        rf_html_format(html, "bound",
                       "Whiskers always hold the true count. What is not listed has at most %s %s.",
                       rf_report_group(absent, profile->absent_upper), noun);
}

void rf_html_view(struct rf_html *html, const struct rf_view *view, const char *title)
{
    char group[RF_REPORT_TEXT_MAX];
    size_t order[RF_COLUMN_COUNT_OF], n = order_columns(view, order);
    rf_html_panel(html, "table", rf_html_group(html, view->profile, group, sizeof group), title);
    rf_html_text(html, "noun", rf_view_noun(view->profile, 2));
    rf_html_count(html, "events", view->events);
    rf_html_count(html, "found", view->n_found);
    rf_html_count(html, "rest", view->rest);
    write_bound(html, view);
    rf_html_open(html, "columns", '[');
    for (size_t i = 0; i < n; i++)
        write_column(html, &view->columns[order[i]]);
    rf_html_close(html, ']');
    write_rows(html, view, order, n);
    rf_html_close(html, '}');
}

/* ---- which views ---- */

struct question {
    enum rf_view_by by;
    const char *title;
    size_t least; /* fewer rows tell nothing */
};

static const struct question questions[] = {
    {RF_BY_FUNCTION, "functions", 1}, {RF_BY_LINE, "lines", 1},     {RF_BY_PC, "instructions", 1},
    {RF_BY_VALUE, "values", 1},       {RF_BY_TARGET, "targets", 1}, {RF_BY_REGION, "regions", 1},
    {RF_BY_MODULE, "files", 2},       {RF_BY_THREAD, "threads", 2}, {RF_BY_PROCESS, "processes", 2},
    {RF_BY_ITEM, "items", 1},
};

static bool needs_names(enum rf_view_by by)
{
    return by == RF_BY_FUNCTION || by == RF_BY_LINE || by == RF_BY_MODULE || by == RF_BY_REGION;
}

/* Items of one word are what the other tables show already. */
static bool is_plain(const struct rf_profile *profile)
{
    struct rf_words words;
    rf_view_words(&words, profile);
    return profile->shape == RF_SHAPE_TUPLE && words.by_pc && words.b.name[0] == '\0';
}

static bool is_wanted(const struct rf_html *html, const struct rf_profile *profile,
                      const struct question *question)
{
    enum rf_view_by asked = html->setup->view.by;
    if (!rf_view_knows(profile, question->by))
        return false;
    if (asked != RF_BY_STANDARD)
        return asked == question->by;
    if (question->by == RF_BY_ITEM && is_plain(profile))
        return false;
    if (rf_view_knows(profile, RF_BY_STACK) && question->by != RF_BY_FUNCTION)
        return false; /* frames are shown as trees */
    return html->setup->view.symbols != NULL || !needs_names(question->by);
}

static rf_status write_table(struct rf_html *html, const struct rf_profile *profile,
                             const struct question *question)
{
    struct rf_view view;
    struct rf_view_setup setup = html->setup->view;
    setup.by = question->by;
    setup.rows = setup.rows == 0 || setup.rows > ROWS ? setup.rows : ROWS;
    rf_status status = rf_view_open(&view, html->run, profile, &setup, html->error);
    if (status != RF_OK)
        return status;
    if (view.n_rows >= question->least)
        rf_html_view(html, &view, question->title);
    rf_view_close(&view);
    return RF_OK;
}

rf_status rf_html_tables(struct rf_html *html, const struct rf_profile *profile)
{
    rf_status status = RF_OK;
    for (size_t i = 0; i < sizeof questions / sizeof *questions && status == RF_OK; i++)
        if (is_wanted(html, profile, &questions[i]))
            status = write_table(html, profile, &questions[i]);
    return status;
}
