/* report.h - what the forms share: which items go into a table, how a word and a text are written.
 *
 * To add a form: one file with a `const struct rf_report_form rf_report_NAME`, a line in forms.c. */
#ifndef RF_REPORT_REPORT_H
#define RF_REPORT_REPORT_H

#include <stdbool.h>
#include <riffle/report.h>
#include "view/words.h"

extern const struct rf_report_form rf_report_text, rf_report_csv, rf_report_json;
extern const struct rf_report_form rf_report_tree, rf_report_heat, rf_report_html;

/* ---- fold.c: texts cut or folded to a number of columns, at least three ---- */
void rf_report_cut(char *text, size_t columns); /* "..." at the end */
void rf_report_cut_front(char *text,
                         size_t columns); /* "..." in front, since the end of a name tells more */
/* How many bytes go on the first line: all, or up to the best place to break. */
size_t rf_report_fold(const char *text, size_t columns);
/* The lines after the first are indented. Ends the last line. */
void rf_report_paragraph(FILE *out, const struct rf_report_setup *setup, size_t indent,
                         const char *text);
/* A remark below a table. */
void rf_report_sentence(FILE *out, const struct rf_report_setup *setup, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Is a profile shown by itself? Some only serve another profile: totals and, in a view by process, those of the second
 * process and all after it. */
bool rf_report_shows(const struct rf_run *run, size_t i, const struct rf_report_setup *setup);
/* Is it shown, and does it know what is asked for? Others are left out. */
bool rf_report_answers(const struct rf_run *run, size_t i, const struct rf_report_setup *setup);
/* Asked before anything is written: does some profile know it, and do all have the intervals that are asked for? */
rf_status rf_report_check(const struct rf_run *run, const struct rf_report_setup *setup,
                          struct rf_error *error);

/* How many tables a profile makes: one, or one per interval. A stream that was not cut is its own interval 0.
 * RF_ENOTSUP: intervals are asked for and the profile did not keep them. */
rf_status rf_report_tables(const struct rf_profile *profile, const struct rf_report_setup *setup,
                           size_t *n, struct rf_error *error);
/* The view of the i-th of them. `standard` is what a row is unless something else is asked for. */
rf_status rf_report_view(struct rf_view *view, const struct rf_run *run,
                         const struct rf_profile *profile, const struct rf_report_setup *setup,
                         enum rf_view_by standard, const size_t *interval, struct rf_error *error);

/* What is being written, and of what. */
struct rf_report_page {
    FILE *out;
    const struct rf_run *run;
    const struct rf_report_setup *setup;
    struct rf_error *error;
};
typedef rf_status rf_report_profile(const struct rf_report_page *page,
                                    const struct rf_profile *profile);
/* Calls `write` with each profile that knows what is asked for, at most `most` of them, and puts a text between two. */
rf_status rf_report_each(const struct rf_report_page *page, const char *between, size_t most,
                         rf_report_profile *write);

/* RF_EIO when a write failed. */
rf_status rf_report_end(FILE *out);

const char *rf_report_shape(unsigned shape); /* "tuple", "range-a", ... */
const char *rf_report_bound(unsigned bound); /* "exact", "hard", "confidence", "estimate" */

/* ---- diff.c ---- */
struct rf_diff_row;
/* Of a function that runs inside others: "1.05 M in main and 2 more", "was 1.05 M in main"; else "". */
void rf_report_inlined(char *text, size_t size, const struct rf_diff_row *row);

/* ---- cell.c: numbers as people read them ---- */

enum { RF_REPORT_NUMBER_MAX = 32, RF_REPORT_TEXT_MAX = 32 * 1024 };
const char *rf_report_group(char text[RF_REPORT_NUMBER_MAX], uint64_t n); /* 1,234,567 */
const char *rf_report_short(char text[RF_REPORT_NUMBER_MAX], uint64_t n); /* 43.3 M */
/* "98.7%", "98.6-98.7%", "12.4% +-0.3" */
void rf_report_share(char *text, size_t size, const struct rf_view_cell *cell, unsigned bound);
void rf_report_cell(char *text, size_t size, const struct rf_view *view,
                    const struct rf_view_column *column, const struct rf_view_cell *cell,
                    bool details);

/* ---- rows.c: a view as a table of text ---- */
enum { RF_REPORT_LINES = 4 }; /* that a row may take where the terminal is narrow */
rf_status rf_report_rows(FILE *out, const struct rf_view *view, const struct rf_report_setup *setup,
                         unsigned lines); /* RF_ENOMEM or RF_OK */

/* ---- details.c: how a run was counted ---- */
void rf_report_run_details(FILE *out, const struct rf_run *run,
                           const struct rf_report_setup *setup);
void rf_report_profile_details(FILE *out, const struct rf_run *run,
                               const struct rf_profile *profile,
                               const struct rf_report_setup *setup);
void rf_report_fact(FILE *out, const struct rf_report_setup *setup, const char *label,
                    const char *format, ...) __attribute__((format(printf, 4, 5)));
/* The same with a text that somebody else wrote. */
void rf_report_outside(FILE *out, const struct rf_report_setup *setup, const char *label,
                       const char *text);
/* A note; one that is a number is written in groups of digits. */
void rf_report_note(FILE *out, const struct rf_report_setup *setup, const struct rf_note *note);
/* "of what was told " and the like where exact counts are not of all events; "" where they are. */
const char *rf_report_exact_of(const struct rf_run *run, const struct rf_profile *profile);
bool rf_report_is_short(const struct rf_profile *profile);

/* ---- overview.c: the first screen ---- */
rf_status rf_report_overview(FILE *out, const struct rf_run *run,
                             const struct rf_report_setup *setup, struct rf_error *error);
/* The profile of tuples with this selector, of whatever thread; NULL: there is none. */
const struct rf_profile *rf_report_counted(const struct rf_run *run, const char *selector);
/* Readable, and with a mark where the room was too small. */
void rf_report_keep(char *out, size_t size, const char *text);
/* One line on the run. */
void rf_report_run_line(FILE *out, const struct rf_run *run, const struct rf_report_setup *setup,
                        size_t most);

/* ---- findings.c: what is worth a look, the most events first ---- */
rf_status rf_report_findings(FILE *out, const struct rf_run *run,
                             const struct rf_report_setup *setup, struct rf_error *error);
typedef void rf_report_tell(void *context, const char *sentence, const char *place);
rf_status rf_report_each_finding(const struct rf_run *run, const struct rf_report_setup *setup,
                                 rf_report_tell *tell, void *context, struct rf_error *error);

/* ---- write.c ---- */
/* Would a spreadsheet take the field for a formula? Quotes do not keep it from that. */
bool rf_report_is_formula(const char *text);

/* Made by a co-processor: its counts are those of samples. */
static inline bool rf_report_is_sampled(const struct rf_profile *profile)
{
    return rf_profile_figure(profile, "class-events", -1) >= 0;
}

#endif
