/* report.h - runs for people and tools. One form, one file in src/report; every form prints rows of a view (view.h).
 *
 * CSV is a contract: a header line; one line per row; columns are named after what they are: the fields of the selector
 * (pc, value, target, ...; a and b of bare tuples), then count,lower,upper,bound, then function,file,line,module where
 * names are known, and last the profile's selector. Addresses and values are 0x hex, all other numbers decimal. Rows are
 * sorted by count, ties by their words; with intervals, `interval` stands in front. Ranges have lo,hi,count,...,total.
 * JSON carries "schema": 2, the same rows with the same names, and where they came from.
 * A note "thread-2" of the run is the name of thread 2. */
#ifndef RIFFLE_REPORT_H
#define RIFFLE_REPORT_H

#include <stdio.h>
#include <riffle/diff.h>
#include <riffle/profile.h>
#include <riffle/view.h>

#ifdef __cplusplus
extern "C" {
#endif

struct rf_report_setup {
    struct rf_view_setup view; /* the question; its interval is set by the form */
    int per_interval;
    double hot;   /* tree, heat: the share that makes a range hot; 0: 2% */
    int details;  /* text: how it was counted, too */
    int colour;   /* text */
    int width;    /* text: of the terminal, 0: unlimited */
    int assembly; /* annotate: instructions below each line */
    int all_rows; /* text: view.rows holds for the tables of the first screen, too, not just what fits one */
};

/* A run with this note has the profiles of the default report: `code`, `values`, `types` and `bias`. */
#define RF_NOTE_OVERVIEW "overview"

/* A form of report: a const descriptor, in a table. */
struct rf_report_form {
    const char *name;
    const char *brief;
    const char *needs; /* it refuses a run without these; NULL: it shows every run */
    rf_status (*write)(FILE *out, const struct rf_run *run, const struct rf_report_setup *setup,
                       struct rf_error *error);
};

/* The form of that name ("text", "csv", "json"), or NULL. */
const struct rf_report_form *rf_report_find(const char *name);
const struct rf_report_form *const *rf_report_forms(void); /* closed by NULL */

/* Text that somebody else wrote, such as a name or a command: as a terminal may show it, as a JSON
 * string, and as a CSV field in quotes, where an apostrophe before =, +, - or @ keeps a spreadsheet from taking
 * a name for a formula. See rf_text_readable. */
void rf_write_readable(FILE *out, const char *text);
void rf_write_json(FILE *out, const char *text);
void rf_write_csv(FILE *out, const char *text);

/* The source of one function with the counts of its lines; its disassembly where there is no source. Without a name
 * (NULL): of the hottest functions. Symbols must be there. A name that nothing has is RF_EINVAL, with a sentence that
 * says which one is near. */
rf_status rf_report_annotate(FILE *out, const struct rf_run *run,
                             const struct rf_report_setup *setup, const char *function,
                             struct rf_error *error);

/* What changed between two runs, one diff for each profile, in the form "text", "csv", "json" or "html"; RF_ENOTSUP for
 * another. Of the setup, rows and width are used. runs: before and after. */
rf_status rf_report_diff(FILE *out, const char *form, const struct rf_diff *diffs, size_t n,
                         const struct rf_run *const runs[2], const struct rf_report_setup *setup);

#ifdef __cplusplus
}
#endif
#endif
