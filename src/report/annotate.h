/* annotate.h - what annotate.c, sheet.c, hits.c and disassembly.c share: counts by line or by address.
 * html/sources.c uses them, too. */
#ifndef RF_REPORT_ANNOTATE_H
#define RF_REPORT_ANNOTATE_H

#include "report/report.h"

/* Where everything goes. */
struct rf_annotate_page {
    FILE *out;
    const struct rf_run *run;
    struct rf_symbols *symbols;
    const struct rf_alloc *alloc;
    const struct rf_report_setup *setup;
    unsigned
        kept; /* arguments in so many brackets stay in heads; RF_VIEW_WHOLE: all, and parameters */
};

/* Is the profile shown beside source: by pc, and asked for? */
bool rf_annotate_counts(const struct rf_profile *profile);
/* sheet.c: one function. `written` counts them. */
rf_status rf_annotate_function(const struct rf_annotate_page *page,
                               const struct rf_symbol_range *range, size_t *written);

/* annotate.c: the hottest functions, each handed to `to`; anything but RF_OK ends it. */
typedef rf_status rf_annotate_visit(void *context, const struct rf_annotate_page *page,
                                    const struct rf_symbol_range *range);
rf_status rf_annotate_hottest(const struct rf_annotate_page *page, size_t most,
                              rf_annotate_visit *to, void *context, struct rf_error *error);

/* How often something was counted at a key: a line, or a link address. */
struct rf_hit {
    uint64_t key;
    uint64_t pc;
    uint64_t word; /* the other word of the tuple */
    uint64_t count, lower, upper;
};

/* The hits of one function in one profile, by key and word. */
struct rf_hits {
    const struct rf_run *run;
    const struct rf_profile *profile;
    const struct rf_profile *totals; /* exact, by pc; NULL: none */
    struct rf_words words;
    struct rf_symbols *symbols;
    struct rf_hit *at;
    size_t n, room;
    struct rf_hit *sums; /* of the totals; only count is used */
    size_t n_sums, sums_room;
    uint64_t lower; /* sum over all items of the profile */
};

/* Which key an address has: its line in `file`, 0 elsewhere; or its link address where `file` is NULL. The line is that
 * of the call where something was inlined; with `inlined`, the line in the copy of that function. */
struct rf_hit_keys {
    struct rf_symbols *symbols;
    const char *file;
    const struct rf_symbol_range *inlined; /* NULL: none */
};
uint64_t rf_hit_key(const struct rf_hit_keys *keys, uint64_t pc);

/* hits.c: does an instruction belong to the range? Of a function that was inlined, to any of its copies. */
bool rf_hits_are_of(struct rf_symbols *symbols, const struct rf_symbol_range *range, uint64_t pc);
/* The place in the copy of a function that was inlined at an address; NULL: it was not. */
const struct rf_frame *rf_hits_frame(struct rf_symbols *symbols,
                                     const struct rf_symbol_range *copies, uint64_t pc);
/* The hits of a range's addresses. */
rf_status rf_hits_find(struct rf_hits *hits, const struct rf_run *run,
                       const struct rf_profile *profile, struct rf_symbols *symbols,
                       const struct rf_symbol_range *range);
void rf_hits_free(struct rf_hits *hits);
void rf_hits_set_keys(struct rf_hits *hits, const struct rf_hit_keys *keys);
/* All events at a key, with bounds, as a share of the profile's; false: there are none. */
bool rf_hits_share(const struct rf_hits *hits, uint64_t key, struct rf_view_cell *cell);
/* Is there a most frequent word that can be named? */
bool rf_hits_have_top(const struct rf_hits *hits);
/* "0x2a (98.2%)": the most frequent word at a key; empty where there is none. */
void rf_hits_print_top(const struct rf_hits *hits, uint64_t key, char *text, size_t size);
uint64_t rf_hits_count(const struct rf_hits *hits); /* of the whole function */

/* disassembly.c: the instructions of a range, by objdump. */
struct rf_instruction {
    uint64_t link;
    char text[112]; /* cut, if it is longer */
};
struct rf_instructions {
    struct rf_instruction *at;
    size_t n, room;
    bool cut; /* there were too many */
};
/* RF_ENOTSUP: there is no objdump, or it prints nothing for the range. */
rf_status rf_disassemble(struct rf_instructions *list, const struct rf_alloc *alloc,
                         const struct rf_symbol_range *range);
void rf_instructions_free(struct rf_instructions *list, const struct rf_alloc *alloc);

/* ---- sheet.c: what is known of one function ---- */

/* A function in its source: the lines that its code comes from. */
struct rf_sheet_source {
    const char *file; /* NULL: not known */
    uint32_t first, last;
};

/* Its hits in each profile, and its instructions. */
enum { RF_SHEET_COLUMNS_MAX = 4 };
struct rf_sheet {
    const struct rf_annotate_page *page;
    const struct rf_symbol_range *range;
    struct rf_hits hits[RF_SHEET_COLUMNS_MAX];
    size_t n, top; /* the profile whose most frequent words are shown; n: none */
    int top_width;
    struct rf_sheet_source source;
    FILE *file;                  /* the source, at its beginning; NULL: it cannot be read */
    struct rf_instructions code; /* without source, or where it is asked for */
};
/* Must be closed, whatever is returned. */
rf_status rf_sheet_open(struct rf_sheet *sheet, const struct rf_annotate_page *page,
                        const struct rf_symbol_range *range);
void rf_sheet_close(struct rf_sheet *sheet);
/* Hits are found by their line in `file`, or by address where it is NULL. */
void rf_sheet_set_keys(struct rf_sheet *sheet, const char *file);

#endif
