/* report.h - profiles for people and tools. One form, one file in src/report.
 *
 * CSV is a contract: a header line; tuple profiles `a,b,count,lower,upper`, a and b as 0x hex (threads
 * decimal), counts decimal, heaviest first, ties by a then b; per interval with `interval` in front. Ranges:
 * `lo,hi,count,total`. JSON carries "schema": 1, the same items and where they came from; with
 * symbols, a tuple's item has "symbol": {"a": {"module", "function", "offset", "file", "line"}}.
 * A note "thread-2" of the run is the name of thread 2; the text form shows it in the thread column. */
#ifndef RIFFLE_REPORT_H
#define RIFFLE_REPORT_H

#include <stdio.h>
#include <riffle/profile.h>

#ifdef __cplusplus
extern "C" {
#endif

struct rf_symbols; /* symbol.h; turns addresses into names */

struct rf_report_setup {
    uint64_t items; /* at most this many per profile; 0: all */
    int per_interval;
    double hot;                 /* tree, heat: the share that makes a range hot; 0: 2% */
    int colour;                 /* text only */
    int width;                  /* of the terminal, 0: unlimited */
    struct rf_symbols *symbols; /* NULL: addresses as numbers */
};

/* A form of report: a const descriptor, in a table. */
struct rf_report_form {
    const char *name;
    const char *brief;
    rf_status (*write)(FILE *out, const struct rf_run *run, const struct rf_report_setup *setup);
};

/* The form of that name ("text", "csv", "json"), or NULL. */
const struct rf_report_form *rf_report_find(const char *name);
const struct rf_report_form *const *rf_report_forms(void); /* closed by NULL */

/* Text that somebody else wrote, such as a name or a command: as a terminal may show it, as a JSON
 * string, and as a CSV field in quotes. See rf_text_readable. */
void rf_write_readable(FILE *out, const char *text);
void rf_write_json(FILE *out, const char *text);
void rf_write_csv(FILE *out, const char *text);

/* The source of one function with the counts of its lines, profile by profile; its disassembly where
 * there is no source. setup->symbols must be there. A name that nothing has is RF_EINVAL, with a
 * sentence that says which one is near. */
rf_status rf_report_annotate(FILE *out, const struct rf_run *run,
                             const struct rf_report_setup *setup, const char *function,
                             struct rf_error *error);

#ifdef __cplusplus
}
#endif
#endif
