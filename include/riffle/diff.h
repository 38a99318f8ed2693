/* diff.h - two runs of a program, row by row: what is new, gone, changed.
 *
 *     struct rf_diff diff;
 *     rf_diff_open(&diff, &before, &after, RF_BY_FUNCTION, &error);       two sides: run, profile, symbols
 *     for (size_t i = 0; i < diff.n_rows; i++) ... diff.rows[i].kind ...
 *     rf_diff_close(&diff);
 *
 * Rows are matched by what a rebuilt program keeps: the function's name, without the suffixes that compilers give to
 * copies (".constprop.0"), and its file; the source line; the offset in the function; the value. The program itself may be
 * called differently in both runs. A row has changed only where the bounds of both sides leave no doubt.
 *
 * A function that lost events may run inside others now, where the compiler inlined it: debug information tells. */
#ifndef RIFFLE_DIFF_H
#define RIFFLE_DIFF_H

#include <riffle/view.h>

#ifdef __cplusplus
extern "C" {
#endif

struct rf_diff_side {
    const struct rf_run *run;
    const struct rf_profile *profile;
    struct rf_symbols *symbols; /* of that run; NULL: no names */
};

enum rf_diff_kind {
    RF_DIFF_SAME, /* or within the bounds */
    RF_DIFF_NEW,
    RF_DIFF_GONE,
    RF_DIFF_CHANGED,
    RF_DIFF_INLINED, /* gone as a function of its own, and runs inside others */
};

struct rf_diff_count {
    uint64_t count, lower, upper;
};

/* Events of a function's code inside other functions. */
struct rf_diff_inlined {
    const char *host; /* the one with most of them; "": none */
    size_t hosts;
    uint64_t count; /* in all of them */
};

struct rf_diff_row {
    const char *name;   /* function, line, instruction, value; may hold any bytes */
    const char *module; /* "": the program itself, or not known */
    struct rf_diff_count before, after;
    enum rf_diff_kind kind;
    double change; /* of the counts */
    /* By function, of rows that are not the same: on the side with fewer events of its own, where more of the function is
     * inlined than on the other. A count of 0: nothing is known of that. */
    struct rf_diff_inlined inlined;
};

struct rf_diff {
    struct rf_alloc alloc;
    enum rf_view_by by;
    const struct rf_profile *profile; /* of the side before: for its noun */
    uint64_t before, after;           /* events in all */
    struct rf_diff_row *rows;         /* the largest change first */
    size_t n_rows, room;
    size_t n_same; /* of them; they come last */
    size_t
        n_nameless; /* of those that are new or gone: code without names, which matches only within one build */
    struct rf_view views[2];
};

const char *
rf_diff_kind_name(enum rf_diff_kind kind); /* "same", "new", "gone", "changed", "inlined" */

/* RF_ENOTSUP, with a sentence: the profiles do not know what is asked for, or are of different selectors. Both sides must
 * outlive the diff. */
rf_status rf_diff_open(struct rf_diff *diff, const struct rf_diff_side *before,
                       const struct rf_diff_side *after, enum rf_view_by by,
                       struct rf_error *error);
void rf_diff_close(struct rf_diff *diff);

/* The largest growth that the bounds leave no doubt of, as a share of all events before: of a row, or of the whole. */
double rf_diff_growth(const struct rf_diff *diff);

#ifdef __cplusplus
}
#endif
#endif
