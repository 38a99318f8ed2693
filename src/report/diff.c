/* diff.c - what changed between two runs, for people and tools.
 *
 *     instructions   130.2 M -> 4.90 M   -96.2%
 *
 *          old      new    change          function
 *      129.9 M        -  -129.9 M  gone    spread
 *            -   2.62 M   +2.62 M  new     spread_lists
 *      1.28 M        -   -1.28 M  inlined insert  1.05 M in main
 *     258 more rows are the same or within their bounds */
#include "report/html/html.h"
#include <inttypes.h>
#include <math.h>
#include <riffle/diff.h>
#include <riffle/text.h>
#include <string.h>

enum {
    NAME = 46,  /* columns before a row's name */
    INDENT = 6, /* the same, where the name has a line of its own */
    LEAST = 16, /* columns of a name; with fewer it gets that line */
};

/* ---- text ---- */

static const char *heading_of(enum rf_view_by by)
{
    const char *name = rf_view_by_name(by);
    return by == RF_BY_PC ? "instruction" : name;
}

static void print_change(char *text, size_t size, double change)
{
    char number[RF_REPORT_NUMBER_MAX];
    snprintf(text, size, "%s%s",
             change > 0   ? "+"
             : change < 0 ? "-"
                          : "",
             rf_report_short(number, (uint64_t)fabs(change)));
}

static void print_count(char *text, size_t size, const struct rf_diff_count *count)
{
    char number[RF_REPORT_NUMBER_MAX];
    bool bounded = count->lower < count->upper && count->count > 0;
    if (count->count == 0)
        snprintf(text, size, "-");
    else
        snprintf(text, size, "%s%s", bounded ? "~" : "", rf_report_short(number, count->count));
}

void rf_report_inlined(char *text, size_t size, const struct rf_diff_row *row)
{
    char number[RF_REPORT_NUMBER_MAX], host[RF_REPORT_TEXT_MAX], more[40] = "";
    const struct rf_diff_inlined *inlined = &row->inlined;
    text[0] = '\0';
    if (inlined->count == 0)
        return;
    rf_text_readable(host, sizeof host, inlined->host);
    if (inlined->hosts > 1)
        snprintf(more, sizeof more, " and %zu more", inlined->hosts - 1);
    snprintf(text, size, "%s%s%s in %.4000s%s", row->change > 0 ? "was " : "",
             row->kind == RF_DIFF_INLINED ? "" : "inlined: ",
             rf_report_short(number, inlined->count), host, more);
}

static int indent_of(const struct rf_report_setup *setup)
{
    return setup->width > 0 && setup->width < NAME + LEAST ? INDENT : NAME;
}

/* What stands before the name; on a narrow terminal, with the end of its line. */
static void write_cells(FILE *out, const struct rf_report_setup *setup, const char *before,
                        const char *after, const char *change, const char *kind)
{
    fprintf(out, " %10s  %10s  %10s", before, after, change);
    if (indent_of(setup) == NAME)
        fprintf(out, "  %-7s  ", kind);
    else
        fprintf(out, "%s%s\n%*s", kind[0] != '\0' ? "  " : "", kind, INDENT, "");
}

static void write_row(FILE *out, const struct rf_diff_row *row, const struct rf_report_setup *setup)
{
    char before[40], after[40], change[40], name[RF_REPORT_TEXT_MAX], inlined[RF_REPORT_TEXT_MAX];
    print_count(before, sizeof before, &row->before);
    print_count(after, sizeof after, &row->after);
    print_change(change, sizeof change, row->change);
    rf_text_readable(name, sizeof name, row->name);
    size_t used = strlen(name);
    if (row->module[0] != '\0' && used + 8 < sizeof name) {
        snprintf(name + used, sizeof name - used, "  ");
        rf_text_readable(name + used + 2, sizeof name - used - 2, row->module);
    }
    rf_report_inlined(inlined, sizeof inlined, row);
    int indent = indent_of(setup);
    size_t columns = setup->width <= 0                ? sizeof name
                     : setup->width >= indent + LEAST ? (size_t)(setup->width - indent)
                                                      : LEAST;
    bool fits = rf_text_width(name) + 2 + rf_text_width(inlined) <= columns;
    rf_report_cut(name, columns);
    rf_report_cut(inlined, columns);
    write_cells(out, setup, before, after, change, rf_diff_kind_name(row->kind));
    fputs(name, out);
    if (inlined[0] != '\0' && !fits)
        fprintf(out, "\n%*s", indent - 2, "");
    fprintf(out, inlined[0] != '\0' ? "  %s\n" : "%s\n", inlined);
}

/* Where several are compared, which one this is. */
static void write_title(FILE *out, const struct rf_diff *diff)
{
    const struct rf_profile *profile = diff->profile;
    rf_write_readable(out, profile->selector[0] != '\0' ? profile->selector : profile->engine);
    fputs("\n", out);
}

static void write_text(FILE *out, const struct rf_diff *diff, const struct rf_report_setup *setup)
{
    char before[RF_REPORT_NUMBER_MAX], after[RF_REPORT_NUMBER_MAX], number[RF_REPORT_NUMBER_MAX];
    size_t changed = diff->n_rows - diff->n_same;
    size_t n = setup->view.rows > 0 && setup->view.rows < changed ? setup->view.rows : changed;
    fprintf(out, "%s   %s -> %s", rf_view_noun(diff->profile, 2),
            rf_report_short(before, diff->before), rf_report_short(after, diff->after));
    if (diff->before > 0)
        fprintf(out, "   %+.1f%%",
                100 * ((double)diff->after - (double)diff->before) / (double)diff->before);
    fputs("\n\n", out);
    if (n > 0) {
        write_cells(out, setup, "old", "new", "change", "");
        fprintf(out, "%s\n", heading_of(diff->by));
    }
    if (diff->n_rows == 0)
        fputs(" nothing was found\n", out);
    for (size_t i = 0; i < n; i++)
        write_row(out, &diff->rows[i], setup);
    if (changed > n)
        fprintf(out, " %s more changed\n", rf_report_group(number, changed - n));
    if (diff->n_nameless > 0)
        rf_report_sentence(out, setup,
                           "%s of the new and gone have no name: addresses match only "
                           "within one build",
                           rf_report_group(number, diff->n_nameless));
    if (diff->n_same > 0)
        fprintf(out, " %s %s the same or within the bounds\n",
                rf_report_group(number, diff->n_same), diff->n_same == 1 ? "row is" : "rows are");
}

/* ---- tools ---- */

static void write_csv(FILE *out, const struct rf_diff *diff, const struct rf_report_setup *setup)
{
    size_t n =
        setup->view.rows > 0 && setup->view.rows < diff->n_rows ? setup->view.rows : diff->n_rows;
    for (size_t i = 0; i < n; i++) {
        const struct rf_diff_row *row = &diff->rows[i];
        rf_write_csv(out, row->name);
        fputc(',', out);
        rf_write_csv(out, row->module);
        fprintf(out, ",%s,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",",
                rf_diff_kind_name(row->kind), row->before.count, row->before.lower,
                row->before.upper, row->after.count, row->after.lower, row->after.upper);
        fprintf(out, "%" PRIu64 ",", row->inlined.count);
        rf_write_csv(out, row->inlined.host);
        fputc(',', out);
        rf_write_csv(out, diff->profile->selector);
        fputc('\n', out);
    }
}

static void write_json_count(FILE *out, const char *name, const struct rf_diff_count *count)
{
    fprintf(out,
            ", \"%s\": {\"count\": %" PRIu64 ", \"lower\": %" PRIu64 ", \"upper\": %" PRIu64 "}",
            name, count->count, count->lower, count->upper);
}

static void write_json(FILE *out, const struct rf_diff *diff, const struct rf_report_setup *setup)
{
    size_t n =
        setup->view.rows > 0 && setup->view.rows < diff->n_rows ? setup->view.rows : diff->n_rows;
    fputs("    {\"profile\": ", out);
    rf_write_json(out, diff->profile->selector);
    fprintf(out,
            ", \"by\": \"%s\", \"old_events\": %" PRIu64 ", \"new_events\": %" PRIu64
            ", \"rows_found\": %zu, \"rows_same\": %zu, \"rows\": [",
            rf_view_by_name(diff->by), diff->before, diff->after, diff->n_rows, diff->n_same);
    for (size_t i = 0; i < n; i++) {
        const struct rf_diff_row *row = &diff->rows[i];
        fputs(i > 0 ? ",\n      {\"name\": " : "\n      {\"name\": ", out);
        rf_write_json(out, row->name);
        fputs(", \"module\": ", out);
        rf_write_json(out, row->module);
        fprintf(out, ", \"kind\": \"%s\"", rf_diff_kind_name(row->kind));
        write_json_count(out, "old", &row->before);
        write_json_count(out, "new", &row->after);
        if (row->inlined.count > 0) {
            fprintf(out, ", \"inlined\": %" PRIu64 ", \"inlined_into\": ", row->inlined.count);
            rf_write_json(out, row->inlined.host);
        }
        fputc('}', out);
    }
    fputs("\n    ]}", out);
}

/* ---- the forms ---- */

static void write_objects(FILE *out, const struct rf_diff *diffs, size_t n,
                          const struct rf_report_setup *setup)
{
    fputs("{\n  \"schema\": 1,\n  \"profiles\": [\n", out);
    for (size_t i = 0; i < n; i++) {
        fputs(i > 0 ? ",\n" : "", out);
        write_json(out, &diffs[i], setup);
    }
    fputs("\n  ]\n}\n", out);
}

rf_status rf_report_diff(FILE *out, const char *form, const struct rf_diff *diffs, size_t n,
                         const struct rf_run *const runs[2], const struct rf_report_setup *setup)
{
    struct rf_html html = {.out = out, .run = runs[1], .setup = setup};
    bool text = strcmp(form, "text") == 0, csv = strcmp(form, "csv") == 0;
    if (csv)
        fputs("name,module,kind,old,old_lower,old_upper,new,new_lower,new_upper,inlined,"
              "inlined_into,profile\n",
              out);
    if (strcmp(form, "html") == 0)
        return rf_html_changes(&html, diffs, n, runs);
    if (strcmp(form, "json") == 0)
        write_objects(out, diffs, n, setup);
    else if (!text && !csv)
        return RF_ENOTSUP;
    for (size_t i = 0; i < n && text; i++) {
        fputs(i > 0 ? "\n" : "", out);
        if (n > 1)
            write_title(out, &diffs[i]);
        write_text(out, &diffs[i], setup);
    }
    for (size_t i = 0; i < n && csv; i++)
        write_csv(out, &diffs[i], setup);
    return rf_report_end(out);
}
