/* changes.c - what changed between two runs, as a page: a table per profile and question. Names only ever become text. */
#include "report/html/html.h"
#include <riffle/diff.h>
#include <string.h>

enum { ROWS = 5000 };

static void write_column(struct rf_html *html, const char *name, const char *type, bool more)
{
    rf_html_open(html, NULL, '{');
    rf_html_text(html, "name", name);
    rf_html_text(html, "heading", name);
    rf_html_text(html, "type", type);
    if (more)
        rf_html_count(html, "more", 1);
    rf_html_close(html, '}');
}

static void write_columns(struct rf_html *html, const struct rf_diff *diff)
{
    static const struct {
        const char *name, *type;
        bool more;
    } columns[] = {{"old", "count", false},         {"new", "count", false},
                   {"change", "change", false},     {"of all before", "share", false},
                   {"kind", "text", false},         {"old, at least", "count", true},
                   {"old, at most", "count", true}, {"new, at least", "count", true},
                   {"new, at most", "count", true}};
    rf_html_open(html, "columns", '[');
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        write_column(html, columns[i].name, columns[i].type, columns[i].more);
    write_column(html, diff->by == RF_BY_PC ? "instruction" : rf_view_by_name(diff->by), "text",
                 false);
    write_column(html, "module", "text", false);
    rf_html_close(html, ']');
}

static void write_signed(struct rf_html *html, double value)
{
    if (value < 0)
        rf_html_real(html, NULL, value);
    else
        rf_html_count(html, NULL, (uint64_t)value);
}

/* "insert (1.10 M in main)": of a function, where it runs inside others. */
static void write_name(struct rf_html *html, const struct rf_diff_row *row)
{
    char inlined[RF_REPORT_TEXT_MAX];
    rf_report_inlined(inlined, sizeof inlined, row);
    if (inlined[0] != '\0')
        rf_html_format(html, NULL, "%s (%s)", row->name, inlined);
    else
        rf_html_text(html, NULL, row->name);
}

static void write_row(struct rf_html *html, const struct rf_diff *diff,
                      const struct rf_diff_row *row)
{
    double all = diff->before > 0 ? (double)diff->before : 1;
    double part = (row->change < 0 ? -row->change : row->change) / all;
    rf_html_open(html, NULL, '[');
    rf_html_count(html, NULL, row->before.count);
    rf_html_count(html, NULL, row->after.count);
    write_signed(html, row->change);
    rf_html_real(html, NULL, part);
    rf_html_text(html, NULL, rf_diff_kind_name(row->kind));
    rf_html_count(html, NULL, row->before.lower);
    rf_html_count(html, NULL, row->before.upper);
    rf_html_count(html, NULL, row->after.lower);
    rf_html_count(html, NULL, row->after.upper);
    write_name(html, row);
    rf_html_text(html, NULL, row->module);
    rf_html_close(html, ']');
}

static void write_diff(struct rf_html *html, const struct rf_diff *diff)
{
    char title[64], before[RF_REPORT_NUMBER_MAX], after[RF_REPORT_NUMBER_MAX];
    char same[RF_REPORT_NUMBER_MAX], all[RF_REPORT_NUMBER_MAX];
    const char *selector = diff->profile->selector;
    size_t n = diff->n_rows < ROWS ? diff->n_rows : ROWS;
    snprintf(title, sizeof title, "%ss that changed",
             diff->by == RF_BY_PC ? "instruction" : rf_view_by_name(diff->by));
    rf_html_panel(html, "table", selector[0] != '\0' ? selector : "tuples", title);
    rf_html_text(html, "noun", rf_view_noun(diff->profile, 2));
    rf_html_count(html, "events", diff->before);
    rf_html_count(html, "found", diff->n_rows);
    rf_html_count(html, "rest", 0);
    rf_html_format(html, "bound",
                   "%s %s before, %s after. %s of %s rows are the same or within their bounds.%s",
                   rf_report_short(before, diff->before), rf_view_noun(diff->profile, 2),
                   rf_report_short(after, diff->after), rf_report_group(same, diff->n_same),
                   rf_report_group(all, diff->n_rows),
                   diff->n_nameless > 0 ? " Code without names matches only within one build."
                                        : "");
    write_columns(html, diff);
    rf_html_open(html, "rows", '[');
    for (size_t i = 0; i < n; i++)
        write_row(html, diff, &diff->rows[i]);
    rf_html_close(html, ']');
    rf_html_close(html, '}');
}

static void write_pair(struct rf_html *html, const char *first, const char *second)
{
    rf_html_open(html, NULL, '[');
    rf_html_text(html, NULL, first);
    rf_html_text(html, NULL, second);
    rf_html_close(html, ']');
}

/* Before, after and the change, of every profile once. */
static void write_totals(struct rf_html *html, const struct rf_diff *diffs, size_t n)
{
    char text[3 * RF_REPORT_NUMBER_MAX], before[RF_REPORT_NUMBER_MAX], after[RF_REPORT_NUMBER_MAX];
    rf_html_open(html, "totals", '[');
    for (size_t i = 0; i < n; i++) {
        if (i > 0 && diffs[i].profile == diffs[i - 1].profile)
            continue;
        double all = diffs[i].before > 0 ? (double)diffs[i].before : 1;
        snprintf(text, sizeof text, "%s \xe2\x86\x92 %s", rf_report_short(before, diffs[i].before),
                 rf_report_short(after, diffs[i].after));
        char label[128];
        snprintf(label, sizeof label, "%s, %+.1f%%", rf_view_noun(diffs[i].profile, 2),
                 100 * ((double)diffs[i].after - (double)diffs[i].before) / all);
        write_pair(html, text, label);
    }
    rf_html_close(html, ']');
}

rf_status rf_html_changes(struct rf_html *html, const struct rf_diff *diffs, size_t n,
                          const struct rf_run *const runs[2])
{
    const char *program = rf_run_note(runs[1], RF_NOTE_PROGRAM);
    const char *slash = program != NULL ? strrchr(program, '/') : NULL;
    rf_html_begin(html, "Riffle");
    rf_html_format(html, "title", "%s: what changed",
                   slash != NULL     ? slash + 1
                   : program != NULL ? program
                                     : "two runs");
    rf_html_format(html, "command", "%s  \xe2\x86\x92  %s", runs[0]->command, runs[1]->command);
    write_totals(html, diffs, n);
    rf_html_open(html, "findings", '[');
    rf_html_close(html, ']');
    rf_html_open(html, "panels", '[');
    for (size_t i = 0; i < n; i++)
        write_diff(html, &diffs[i]);
    rf_html_close(html, ']');
    return rf_html_end(html);
}
