/* view.h - a question put to a profile, answered in rows.
 *
 *     struct rf_view view;
 *     rf_view_open(&view, run, profile, &(struct rf_view_setup){.by = RF_BY_FUNCTION, .symbols = symbols}, &error);
 *     for (size_t row = 0; row < view.n_rows; row++)
 *         ... rf_view_cell(&view, row, RF_COLUMN_FUNCTION)->text ...
 *     rf_view_close(&view);
 *
 * Every form of report prints rows of a view; none of them looks into a profile's items. Bounds are honest: what a
 * profile does not list may belong to any group and counts to its upper bound. Where the run has exact totals per pc
 * (rf_run_totals), groups of instructions are exact. Names are shown as they are found, which may be any bytes.
 *
 * A view must not outlive its run and symbols. One thread at a time. */
#ifndef RIFFLE_VIEW_H
#define RIFFLE_VIEW_H

#include <riffle/profile.h>
#include <riffle/symbol.h>

#ifdef __cplusplus
extern "C" {
#endif

enum rf_view_by {
    RF_BY_STANDARD, /* what suits the profile: RF_BY_PC where it tells more than a pc, else RF_BY_ITEM */
    RF_BY_ITEM, /* items as the profile has them: tuples, ranges, rectangles, streams */
    RF_BY_FUNCTION,
    RF_BY_LINE,
    RF_BY_MODULE,
    RF_BY_PC, /* instructions, each with the value, target, ... that it had most often */
    RF_BY_VALUE,
    RF_BY_TARGET,
    RF_BY_REGION, /* of memory: an object, a section, the heap, a stack */
    RF_BY_THREAD,
    RF_BY_PROCESS,
    RF_BY_STACK,  /* of samples of the stack: functions with what they call, as a tree */
    RF_BY_CALLER, /* the same turned around: functions with who calls them */
    RF_BY_COUNT
};

enum rf_view_sort {
    RF_SORT_COUNT,   /* most events first */
    RF_SORT_SHARE,   /* of RF_BY_PC: the most one-sided first */
    RF_SORT_ADDRESS, /* or value, or number */
    RF_SORT_NAME,
    RF_SORT_MIXED, /* of RF_BY_PC: the least one-sided first; those of which that is not known last */
    RF_SORT_END
};

/* "function", "count"; NULL for RF_BY_STANDARD and past the last. */
const char *rf_view_by_name(unsigned by);
const char *rf_view_sort_name(unsigned sort);
unsigned rf_view_by_find(const char *name); /* RF_BY_COUNT: no such name */
unsigned rf_view_sort_find(const char *name);

/* A column has one meaning in every view. */
enum rf_column_id {
    RF_COLUMN_SHARE, /* of all events */
    RF_COLUMN_SELF,  /* of all samples of the stack: on top of it */
    RF_COLUMN_HEAT,  /* of a stream of tuples: all its events */
    RF_COLUMN_COUNT,
    RF_COLUMN_LOWER,
    RF_COLUMN_UPPER,
    RF_COLUMN_BOUND,     /* "exact", "hard", "confidence" */
    RF_COLUMN_TOTAL,     /* of a range: with those inside it */
    RF_COLUMN_INTERVALS, /* in how many it was found */
    RF_COLUMN_STREAM,    /* which one, how long it is, where in it */
    RF_COLUMN_LENGTH,
    RF_COLUMN_POSITION,
    RF_COLUMN_A, /* the words; named after the fields of the selector */
    RF_COLUMN_A_HI,
    RF_COLUMN_B,
    RF_COLUMN_B_HI,
    RF_COLUMN_KINDS, /* of an instruction: how many values, targets, ... */
    RF_COLUMN_TOP,   /* the most frequent of them */
    RF_COLUMN_TOP_NAME,
    RF_COLUMN_TOP_COUNT,
    RF_COLUMN_TOP_LOWER,
    RF_COLUMN_TOP_UPPER,
    RF_COLUMN_TOP_SHARE, /* of the instruction's events */
    RF_COLUMN_SELF_COUNT,
    RF_COLUMN_DEPTH,  /* in a tree of functions */
    RF_COLUMN_NUMBER, /* of a thread or process */
    RF_COLUMN_NAME,   /* of a thread, process or region */
    RF_COLUMN_FUNCTION,
    RF_COLUMN_FILE,
    RF_COLUMN_LINE,
    RF_COLUMN_MODULE,
    RF_COLUMN_CALLEE, /* the function at a target */
    RF_COLUMN_PLACE,  /* all of that for people: "rank.c:44 spread" */
    RF_COLUMN_SOURCE, /* the text of the line */
    RF_COLUMN_WORD, /* of RF_BY_PC, shown by no form: the address as the profile has it, for rf_symbols_lookup */
    RF_COLUMN_COUNT_OF
};

enum rf_cell_type { RF_CELL_COUNT, RF_CELL_SHARE, RF_CELL_HEX, RF_CELL_NUMBER, RF_CELL_TEXT };

enum rf_column_for { RF_FOR_PEOPLE = 1, RF_FOR_TOOLS = 2, RF_FOR_DETAILS = 4 };

struct rf_view_column {
    enum rf_column_id id;
    enum rf_cell_type type;
    const char *name; /* in data: "pc", "top_value" */
    char heading[40]; /* for people */
    unsigned shown;   /* enum rf_column_for */
};

struct rf_view_cell {
    const char
        *text;       /* "" in cells of other types; of an empty one, what people read there or "" */
    uint64_t number; /* counts, words, numbers */
    double share, low, high; /* 0 to 1; low = high: exactly so */
    unsigned char is_empty;  /* nothing is known that a tool could use */
    unsigned char is_least;  /* there may be more than `number` */
};

/* Zero is a good default for all. */
struct rf_view_setup {
    enum rf_view_by by;
    enum rf_view_sort sort;
    uint64_t rows;                /* at most; 0: all */
    double share_min;             /* leave out rows with less */
    const char *const *functions; /* only these, written as for rf_symbols_find; closed by NULL */
    const char *const *modules;   /* the same for files: a path, or its last part; NULL: all */
    const uint64_t *thread;       /* only this one; NULL: all */
    const size_t *interval;       /* of the profile; NULL: the whole */
    int full_names; /* else C++ and Rust names are shortened to what tells them apart */
    int sources;    /* read the text of lines */
    int stretches;  /* of RF_BY_PC: neighbours that run about equally often are one row */
    struct rf_symbols *symbols; /* NULL: no names */
};

struct rf_view {
    struct rf_alloc alloc;
    const struct rf_run *run;
    const struct rf_profile *profile;
    enum rf_view_by by;
    int stretches;   /* rows are not single instructions */
    uint8_t bound;   /* enum rf_bound, of the rows */
    uint64_t events; /* that shares are of */
    struct rf_view_column columns[RF_COLUMN_COUNT_OF];
    size_t n_columns;
    struct rf_view_cell *cells;
    size_t n_rows;       /* that are shown */
    size_t n_found;      /* that there are */
    uint64_t rest;       /* events of those that are found and not shown */
    uint64_t rest_upper; /* events that may belong to no shown row */
    struct rf_view_text *texts;
    size_t n_cells;
};

/* Do the words of a profile tell it? */
int rf_view_knows(const struct rf_profile *profile, enum rf_view_by by);

/* RF_ENOTSUP, with a sentence: the profile does not know what is asked for. The first only looks whether it does. */
rf_status rf_view_check(const struct rf_profile *profile, const struct rf_view_setup *setup,
                        struct rf_error *error);
rf_status rf_view_open(struct rf_view *view, const struct rf_run *run,
                       const struct rf_profile *profile, const struct rf_view_setup *setup,
                       struct rf_error *error);
void rf_view_close(struct rf_view *view);

/* NULL: the view has no such column. */
const struct rf_view_column *rf_view_column(const struct rf_view *view, enum rf_column_id id);
/* Are there no bounds, because counts are estimates? */
int rf_view_estimates(const struct rf_view *view);
const struct rf_view_cell *rf_view_cell(const struct rf_view *view, size_t row,
                                        enum rf_column_id id);

/* What the events of a profile are called: "loads", "indirect calls", "events". `n` 1: "load". */
const char *rf_view_noun(const struct rf_profile *profile, uint64_t n);

#ifdef __cplusplus
}
#endif
#endif
