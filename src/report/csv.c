/* csv.c - one line per row, for tools; riffle/report.h says what they can rely on.
 *
 * A run of several profiles gives several tables, an empty line between two. */
#include "report/report.h"
#include <inttypes.h>
#include <string.h>

static bool is_shown(const struct rf_view_column *column)
{
    return (column->shown & RF_FOR_TOOLS) != 0;
}

/* Quoted where it must be. */
static void write_text(FILE *out, const char *text)
{
    if (strpbrk(text, ",\"\r\n ") == NULL && text[0] != '\0' && !rf_report_is_formula(text))
        rf_write_readable(out, text);
    else if (text[0] != '\0')
        rf_write_csv(out, text);
}

static void write_cell(FILE *out, const struct rf_view_column *column,
                       const struct rf_view_cell *cell)
{
    if (cell->is_empty)
        return;
    if (column->type == RF_CELL_TEXT)
        write_text(out, cell->text);
    else
        fprintf(out, column->type == RF_CELL_HEX ? "0x%" PRIx64 : "%" PRIu64, cell->number);
}

static void write_head(FILE *out, const struct rf_view *view, const struct rf_report_setup *setup)
{
    fputs(setup->per_interval ? "interval," : "", out);
    for (size_t i = 0; i < view->n_columns; i++)
        if (is_shown(&view->columns[i]))
            fprintf(out, "%s,", view->columns[i].name);
    fputs("profile\n", out);
}

static void write_rows(FILE *out, const struct rf_view *view, const size_t *interval)
{
    const char *selector = view->profile->selector;
    for (size_t row = 0; row < view->n_rows && !ferror(out); row++) {
        if (interval != NULL)
            fprintf(out, "%zu,", *interval);
        for (size_t i = 0; i < view->n_columns; i++)
            if (is_shown(&view->columns[i])) {
                write_cell(out, &view->columns[i], &view->cells[row * view->n_columns + i]);
                fputc(',', out);
            }
        write_text(out, selector[0] != '\0' ? selector : "tuples");
        fputc('\n', out);
    }
}

static rf_status write_profile(const struct rf_report_page *page, const struct rf_profile *profile)
{
    size_t n;
    rf_status status = rf_report_tables(profile, page->setup, &n, page->error);
    for (size_t i = 0; i < n && status == RF_OK; i++) {
        struct rf_view view;
        const size_t *interval = page->setup->per_interval ? &i : NULL;
        status = rf_report_view(&view, page->run, profile, page->setup, RF_BY_ITEM, interval,
                                page->error);
        if (status != RF_OK)
            return status;
        if (i == 0)
            write_head(page->out, &view, page->setup);
        write_rows(page->out, &view, interval);
        rf_view_close(&view);
    }
    return status;
}

static rf_status write_run(FILE *out, const struct rf_run *run, const struct rf_report_setup *asked,
                           struct rf_error *error)
{
    struct rf_report_setup setup = *asked;
    const struct rf_report_page page = {out, run, &setup, error};
    setup.view.full_names = 1;
    setup.view.sources = 0;
    rf_status status = rf_report_check(run, &setup, error);
    if (status == RF_OK)
        status = rf_report_each(&page, "\n", SIZE_MAX, write_profile);
    return status == RF_OK ? rf_report_end(out) : status;
}

const struct rf_report_form rf_report_csv = {
    .name = "csv",
    .brief = "one line per row, for tools",
    .write = write_run,
};
