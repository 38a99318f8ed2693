/* json.c - the whole run as one JSON object: where it came from, totals, rows.
 *
 * "schema": 2 changes only when a reader of the old one would go wrong; new members may come. Addresses and values
 * are texts in hex, since many readers keep numbers as doubles; counts are plain numbers in full. Rows have the names of
 * the view's columns; what is not known is null.
 * Texts may hold any bytes (a command line does): what is no UTF-8 becomes U+FFFD. */
#include "report/report.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

/* A double in the fewest digits, 15 to 17, that read back as the same number, with a point in every locale. */
static void write_double(FILE *out, double value)
{
    char text[40];
    if (!isfinite(value)) {
        fputs("null", out);
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        double back;
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (sscanf(text, "%lf", &back) == 1 && memcmp(&back, &value, sizeof back) == 0)
            break;
    }
    char *comma = strchr(text, ',');
    if (comma != NULL)
        *comma = '.';
    fputs(text, out);
}

static void write_member(FILE *out, const char *indent, const char *name, const char *text)
{
    fprintf(out, "%s\"%s\": ", indent, name);
    rf_write_json(out, text);
    fputs(",\n", out);
}

static void write_number(FILE *out, const char *name, uint64_t value)
{
    fprintf(out, "      \"%s\": %" PRIu64 ",\n", name, value);
}

static void write_cell(FILE *out, const struct rf_view_column *column,
                       const struct rf_view_cell *cell)
{
    fprintf(out, "\"%s\": ", column->name);
    if (cell->is_empty)
        fputs("null", out);
    else if (column->type == RF_CELL_TEXT)
        rf_write_json(out, cell->text);
    else
        fprintf(out, column->type == RF_CELL_HEX ? "\"0x%" PRIx64 "\"" : "%" PRIu64, cell->number);
}

static void write_row(FILE *out, const struct rf_view *view, size_t row)
{
    const char *before = "";
    fputc('{', out);
    for (size_t i = 0; i < view->n_columns; i++) {
        if ((view->columns[i].shown & RF_FOR_TOOLS) == 0)
            continue;
        fputs(before, out);
        write_cell(out, &view->columns[i], &view->cells[row * view->n_columns + i]);
        before = ", ";
    }
    fputc('}', out);
}

static rf_status write_rows(const struct rf_report_page *page, const struct rf_profile *profile,
                            const size_t *interval)
{
    FILE *out = page->out;
    struct rf_view view;
    const char *indent = interval != NULL ? "        " : "      ";
    rf_status status =
        rf_report_view(&view, page->run, profile, page->setup, RF_BY_ITEM, interval, page->error);
    if (status != RF_OK)
        return status;
    fprintf(out, "\"by\": \"%s\", \"rows_found\": %zu, \"rows\": [", rf_view_by_name(view.by),
            view.n_found);
    for (size_t row = 0; row < view.n_rows && !ferror(out); row++) {
        fprintf(out, "%s\n%s  ", row > 0 ? "," : "", indent);
        write_row(out, &view, row);
    }
    fprintf(out, "%s%s]", view.n_rows > 0 ? "\n" : "", view.n_rows > 0 ? indent : "");
    rf_view_close(&view);
    return RF_OK;
}

static rf_status write_intervals(const struct rf_report_page *page,
                                 const struct rf_profile *profile)
{
    FILE *out = page->out;
    rf_status status = RF_OK;
    fputs(",\n      \"intervals\": [", out);
    for (size_t i = 0; i < profile->n_intervals && status == RF_OK && !ferror(out); i++) {
        const struct rf_interval *interval = &profile->intervals[i];
        fprintf(out,
                "%s\n        {\"interval\": %zu, \"events\": %" PRIu64
                ", \"absent_upper\": %" PRIu64 ", ",
                i > 0 ? "," : "", i, interval->events, interval->absent_upper);
        status = write_rows(page, profile, &i);
        fputc('}', out);
    }
    fprintf(out, "%s]", profile->n_intervals > 0 ? "\n      " : "");
    return status;
}

/* {"name": NAME, "MEMBER": and there its value follows */
static void begin_named(FILE *out, const char *before, const char *name, const char *member)
{
    fprintf(out, "%s{\"name\": ", before);
    rf_write_json(out, name);
    fprintf(out, ", \"%s\": ", member);
}

static void write_figures(FILE *out, const struct rf_profile *profile)
{
    fputs("      \"figures\": [", out);
    for (size_t i = 0; i < profile->n_figures; i++) {
        begin_named(out, i > 0 ? ", " : "", profile->figures[i].name, "value");
        write_double(out, profile->figures[i].value);
        fputc('}', out);
    }
    fputs("],\n", out);
}

static void write_totals(FILE *out, const struct rf_profile *profile)
{
    write_member(out, "      ", "selector", profile->selector);
    write_member(out, "      ", "engine", profile->engine);
    write_number(out, "seed", profile->seed);
    write_member(out, "      ", "shape", rf_report_shape(profile->shape));
    write_member(out, "      ", "bound", rf_report_bound(profile->bound));
    if (profile->bound == RF_BOUND_CONFIDENCE) {
        fputs("      \"confidence\": ", out);
        write_double(out, profile->confidence);
        fputs(",\n", out);
    }
    write_number(out, "produced", profile->produced);
    write_number(out, "consumed", profile->consumed);
    write_number(out, "lost", profile->lost);
    write_number(out, "memory_bytes", profile->memory);
    write_number(out, "hardware_bits", profile->bits);
    if (profile->bound != RF_BOUND_ESTIMATE)
        write_number(out, "absent_upper", profile->absent_upper);
    write_number(out, "interval_length", profile->interval_length);
    write_number(out, "intervals_seen", profile->n_intervals_seen);
    write_figures(out, profile);
}

static rf_status write_profile(const struct rf_report_page *page, const struct rf_profile *profile)
{
    FILE *out = page->out;
    fputs("\n    {\n", out);
    write_totals(out, profile);
    fputs("      ", out);
    rf_status status = write_rows(page, profile, NULL);
    if (status == RF_OK && page->setup->per_interval)
        status = write_intervals(page, profile);
    fputs("\n    }", out);
    return status;
}

static void write_notes(FILE *out, const struct rf_run *run)
{
    fputs("  \"notes\": [", out);
    for (size_t i = 0; i < run->n_notes; i++) {
        begin_named(out, i > 0 ? ",\n    " : "\n    ", run->notes[i].name, "text");
        rf_write_json(out, run->notes[i].text);
        fputc('}', out);
    }
    fprintf(out, "%s],\n", run->n_notes > 0 ? "\n  " : "");
}

static void write_modules(FILE *out, const struct rf_run *run)
{
    fputs("  \"modules\": [", out);
    for (size_t i = 0; i < run->n_modules; i++) {
        const struct rf_module *module = &run->modules[i];
        fprintf(out, "%s\n    {\"path\": ", i > 0 ? "," : "");
        rf_write_json(out, module->path);
        fputs(", \"build_id\": ", out);
        rf_write_json(out, module->build_id);
        fprintf(out,
                ", \"process\": %" PRIu32 ", \"start\": \"0x%" PRIx64 "\", \"end\": \"0x%" PRIx64
                "\", \"offset\": \"0x%" PRIx64 "\", \"from_event\": %" PRIu64
                ", \"to_event\": %" PRIu64 "}",
                module->process, rf_view_address(module->start), rf_view_address(module->end),
                module->offset, module->from_event, module->to_event);
    }
    fprintf(out, "%s],\n", run->n_modules > 0 ? "\n  " : "");
}

/* Profiles that do not know what is asked for. */
static void write_left_out(FILE *out, const struct rf_run *run, const struct rf_report_setup *setup)
{
    const char *before = "  \"left_out\": [";
    for (size_t i = 0; i < run->n_profiles; i++) {
        if (!rf_report_shows(run, i, setup) || rf_report_answers(run, i, setup))
            continue;
        fputs(before, out);
        rf_write_json(out, run->profiles[i]->selector);
        before = ", ";
    }
    fputs(before[0] == ',' ? "],\n" : "", out);
}

static rf_status write_run(FILE *out, const struct rf_run *run, const struct rf_report_setup *asked,
                           struct rf_error *error)
{
    struct rf_report_setup setup = *asked;
    const struct rf_report_page page = {out, run, &setup, error};
    rf_status status = rf_report_check(run, &setup, error);
    if (status != RF_OK)
        return status;
    setup.view.full_names = 1;
    setup.view.sources = 0;
    fputs("{\n  \"schema\": 2,\n", out);
    write_member(out, "  ", "riffle", run->version);
    write_member(out, "  ", "command", run->command);
    write_notes(out, run);
    write_modules(out, run);
    write_left_out(out, run, &setup);
    fputs("  \"profiles\": [", out);
    status = rf_report_each(&page, ",", SIZE_MAX, write_profile);
    fprintf(out, "%s]\n}\n", run->n_profiles > 0 ? "\n  " : "");
    rf_status end = rf_report_end(out);
    return status != RF_OK ? status : end;
}

const struct rf_report_form rf_report_json = {
    .name = "json",
    .brief = "the whole run as one object, \"schema\": 2",
    .write = write_run,
};
