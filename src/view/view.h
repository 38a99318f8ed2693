/* view.h - inside of src/view: from items to rows, and from rows to cells.
 *
 *     profile's items --table.c--> items, totals of ranges
 *         --group.c, processes.c, items.c--> struct rf_row --view.c: filter, sort, limit--> --cells.c, names.c--> cells
 *
 * Rows are small; texts are made for shown rows only. */
#ifndef RF_VIEW_VIEW_H
#define RF_VIEW_VIEW_H

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <riffle/view.h>
#include "view/words.h"

struct rf_view_span {
    uint64_t lo, hi;
    uint64_t sum; /* of the counts up to here, itself included */
};

/* The items that a view is of: a profile's, or those of one of its intervals. */
struct rf_view_table {
    const struct rf_profile *profile;
    const struct rf_item *items;
    size_t n;
    uint64_t events;
    uint64_t absent_upper;
    struct rf_view_span *spans; /* of nested ranges, in order of where they begin; NULL: no such */
    struct rf_item
        *streams; /* `items`, stream by stream, the hottest first; NULL: not of streams */
    struct rf_item
        *merged;     /* `items`, of regions in place of addresses (data.c); NULL: as they are */
    size_t n_merged; /* that it has room for */
};

rf_status rf_view_table_open(struct rf_view_table *table, const struct rf_profile *profile,
                             const size_t *interval);
void rf_view_table_close(struct rf_view_table *table);
/* The count of a range with everything inside it. */
uint64_t rf_view_table_total(const struct rf_view_table *table, const struct rf_item *item);
uint64_t rf_view_heat(const struct rf_item *item); /* of an item of a stream: the stream's events */

struct rf_row {
    uint64_t word; /* that stands for the row: names come from it */
    uint64_t last; /* of a stretch of instructions: the last one's address */
    uint64_t count, lower, upper;
    const struct rf_item
        *item;      /* RF_BY_ITEM: itself. RF_BY_PC: the most frequent one; NULL: none is listed */
    uint64_t total; /* RF_BY_ITEM of ranges */
    size_t kinds;
    double low, high; /* share of `item` in the row's events; without one, of what is not listed */
    bool more;        /* kinds than those */
    const char
        *aside; /* what it is, where it is what the question is not about; NULL: an ordinary row */
    uint64_t self;    /* of a tree of functions: samples without callees */
    unsigned depth;   /* in that tree */
    const char *name; /* where rows are sorted by it */
    uint32_t line;
};

struct rf_rows {
    struct rf_row *at;
    size_t n, room;
};

#define RF_VIEW_WHOLE UINT_MAX

/* What is being made: the question, what is known, and the rows so far. */
struct rf_view_work {
    struct rf_view *view;
    const struct rf_view_setup *setup;
    struct rf_words words;
    struct rf_view_table table;
    const struct rf_profile *totals; /* exact, by pc; NULL: none */
    int which;                       /* the word that the question is about: 0 for a, 1 for b */
    struct rf_rows rows;
    unsigned
        kept; /* arguments in so many brackets stay in names; RF_VIEW_WHOLE: all, and parameters */
    struct rf_row aside; /* of the rows that were set aside; no events: there is none */
    struct rf_error *error;
};

rf_status rf_view_make_items(struct rf_view_work *work);     /* items.c */
rf_status rf_view_make_groups(struct rf_view_work *work);    /* group.c */
rf_status rf_view_make_stretches(struct rf_view_work *work); /* stretches.c: of rows by pc */
rf_status rf_view_make_processes(struct rf_view_work *work); /* processes.c */
rf_status rf_view_make_stacks(struct rf_view_work *work);    /* stacks.c */
rf_status rf_view_make_self(struct rf_view_work *work);      /* stacks.c: only tops of stacks */
void rf_view_bound_samples(uint64_t samples, uint64_t of, uint64_t *lower, uint64_t *upper);
bool rf_view_has_stacks(const struct rf_words *words);      /* is it a profile of frames? */
void rf_view_make_columns(const struct rf_view_work *work); /* columns.c */
rf_status rf_view_make_cells(struct rf_view_work *work);    /* cells.c */
/* group.c: read the names that filters and groups need. */
rf_status rf_view_prepare_items(const struct rf_view_work *work);
bool rf_view_add_row(struct rf_view_work *work, const struct rf_row *row);
/* aside.c: make one row of what has no line, or of stubs in a question for calls; it is the last one and always shown. */
void rf_view_set_aside(struct rf_view_work *work);
/* data.c: are instructions asked for that touch data? Then put their addresses together by region. */
bool rf_view_asks_data(const struct rf_view_work *work);
rf_status rf_view_merge_data(struct rf_view_work *work);
bool rf_view_asks_calls(const struct rf_view_work *work); /* indirect ones, by instruction */

bool rf_view_is_by_code(enum rf_view_by by); /* groups of instructions */
static inline uint64_t rf_view_word_of(const struct rf_view_work *work, const struct rf_item *item)
{
    return work->which == 0 ? item->a : item->b;
}

/* ---- filter.c: which items a question is about ---- */
rf_status rf_view_check_filter(const struct rf_view_work *work); /* is what it needs there? */
bool rf_view_keeps(const struct rf_view_work *work, const struct rf_item *item);
bool rf_view_keeps_code(const struct rf_view_work *work, uint64_t pc);

/* ---- texts.c: texts that live as long as the view ---- */

struct rf_view_text {
    struct rf_view_text *next;
    size_t size;
};
const char *rf_view_keep(struct rf_view *view, const char *text); /* NULL: no memory */

/* ---- names.c ---- */

/* The place of an address; all empty without symbols. */
void rf_view_lookup(const struct rf_view_work *work, uint64_t address, struct rf_place_name *name);
/* The innermost function, file and line: of code that was inlined, its own. */
struct rf_frame rf_view_innermost(const struct rf_place_name *name);
rf_status rf_view_prepare(const struct rf_view_work *work, const uint64_t *words, size_t n);

enum { RF_VIEW_TEXT_MAX = 16 * 1024 };
/* "rank.c:44 spread", "rank.c:54 make_lists in main", "libc.so.6 free+0x1c", "0x1234". */
void rf_view_print_place(const struct rf_view_work *work, uint64_t address, char *text,
                         size_t size);
/* The same of a stretch: "libc.so.6 free+0x1c..0x30". */
void rf_view_print_stretch(const struct rf_view_work *work, uint64_t first, uint64_t last,
                           char *text, size_t size);
/* "rank.c:44"; where no line is known, "libc.so.6 free" */
void rf_view_print_line(const struct rf_view_work *work, uint64_t address, char *text, size_t size);
/* "(make_lists)": of a line whose text is not there */
void rf_view_print_inner(const struct rf_view_work *work, uint64_t address, char *text,
                         size_t size);
/* "spread", "libc.so.6+0x1234" */
void rf_view_print_function(const struct rf_view_work *work, uint64_t address, char *text,
                            size_t size);
/* "table (.data of rank)", "[heap]" */
void rf_view_print_region(const struct rf_view_work *work, uint64_t address, char *text,
                          size_t size);

/* shorten.c: a C++ or Rust name without what does not tell it apart: "std::vector<...>::push_back". */
void rf_view_shorten(char *name);
/* The same, but arguments in up to so many brackets stay. */
void rf_view_shorten_to(char *name, unsigned kept);

/* source.c: a plain file or NULL; and one line, without its end and its indentation, empty where there is none. */
FILE *rf_view_open_source(const char *path);
void rf_view_source(const char *file, uint32_t line, char *text, size_t size);

#endif
