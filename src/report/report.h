/* report.h - what the forms share: which items go into a table, how a word and a text are written.
 *
 * To add a form: one file with a `const struct rf_report_form rf_report_NAME`, a line in forms.c. */
#ifndef RF_REPORT_REPORT_H
#define RF_REPORT_REPORT_H

#include <stdbool.h>
#include <riffle/report.h>

extern const struct rf_report_form rf_report_text, rf_report_csv, rf_report_json;
extern const struct rf_report_form rf_report_tree, rf_report_heat;

/* One table: the items of a profile, or those of one of its intervals. */
struct rf_report_table {
    const struct rf_profile *profile;
    const struct rf_item *items;
    size_t n, shown;
    uint64_t events;       /* that shares are of */
    uint64_t absent_upper; /* the largest count of an item that is not listed */
    size_t interval;
    uint64_t *totals; /* for each shown item its count with those inside it; NULL for tuples */
    struct rf_item
        *streams; /* `items`, stream by stream, the hottest first; NULL: not of streams */
    size_t n_streams, shown_streams;
};

/* Of an item of a stream: the references that the stream made. */
uint64_t rf_report_table_heat(const struct rf_item *item);

/* How many tables a profile makes: one, or one per interval. A stream that was not cut is its own
 * interval 0. RF_ENOTSUP: intervals are asked for and the profile did not keep them. */
rf_status rf_report_table_count(const struct rf_profile *profile,
                                const struct rf_report_setup *setup, size_t *n);
rf_status rf_report_table_open(struct rf_report_table *table, const struct rf_profile *profile,
                               const struct rf_report_setup *setup, size_t i);
void rf_report_table_close(struct rf_report_table *table);

/* The names of a tuple's two words: the selector's fields, or "a" and "b". The name of b is empty where there
 * is only one. */
struct rf_column {
    const char *name;
    enum rf_meaning meaning;
};
struct rf_columns {
    struct rf_column a, b;
    bool by_pc; /* a is the address of the instruction itself */
    bool calls; /* the events are calls, nothing else */
};
void rf_report_table_columns(struct rf_columns *columns, const struct rf_profile *profile);

/* The note that holds a thread's name: this and its number. */
#define RF_REPORT_THREAD "thread-"

/* A code address as the program had it, without the collector's number of the program. */
uint64_t rf_report_address(uint64_t word);

/* A word as every form shows it: threads in decimal, everything else in hex, code addresses as the program had them.
 * `column` is the field it belongs to. Terminated, cut to `size`; returns the length. */
enum { RF_REPORT_WORD_MAX = 16 * 1024, RF_REPORT_NUMBER_MAX = 32 };
size_t rf_report_word(char *text, size_t size, const char *column, uint64_t word);
/* The same for a range, both ends in: "0x10..0x1f". */
size_t rf_report_range(char *text, size_t size, const char *column, uint64_t lo, uint64_t hi);
/* A box whose code addresses are as the program had them. A range over several programs stays as it is. */
struct rf_item rf_report_item(const struct rf_columns *columns, const struct rf_item *item);

/* Cut a readable text to `columns`, at least three, with "..." at the end where something is missing. */
void rf_report_cut(char *text, size_t columns);

/* Write every profile of a run by `write`, with an empty line between them, up to the first failure. */
typedef rf_status rf_report_profile(FILE *out, const struct rf_run *run,
                                    const struct rf_profile *profile,
                                    const struct rf_report_setup *setup);
rf_status rf_report_profiles(FILE *out, const struct rf_run *run,
                             const struct rf_report_setup *setup, rf_report_profile *write);

/* RF_EIO when a write failed. */
rf_status rf_report_end(FILE *out);

const char *rf_report_shape(unsigned shape); /* "tuple", "range-a", ... */
const char *rf_report_bound(unsigned bound); /* "exact", "hard", "confidence" */

#endif
