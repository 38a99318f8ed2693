/* starts.h - where the functions of a program begin, to find a line again after its source has changed. */
#ifndef RF_VIEW_STARTS_H
#define RF_VIEW_STARTS_H

#include <stdbool.h>
#include <riffle/diff.h>

struct rf_start {
    const char *file, *function; /* texts of the symbols; the file is without its folder */
    uint32_t line;
    bool moved; /* some function of the file begins elsewhere in the other run */
};

struct rf_starts {
    const struct rf_alloc *alloc;
    struct rf_start *at; /* by file and line */
    size_t n, room;
};

/* Lists all functions, inlined ones too, of which the profile has an instruction. RF_ENOMEM or RF_OK; rf_list_free it in
 * any case. */
rf_status rf_starts_open(struct rf_starts *starts, const struct rf_diff_side *side,
                         const struct rf_alloc *alloc);
/* Marks, in both lists, the starts of files in which a function has moved. */
void rf_starts_compare(struct rf_starts *before, struct rf_starts *after);
/* The last function that begins at the line or above it; NULL: none is known. The file is without its folder. */
const struct rf_start *rf_starts_find(const struct rf_starts *starts, const char *file,
                                      uint32_t line);

#endif
