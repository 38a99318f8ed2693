/* inlined.h - code of functions that the compiler put into others: how much of it ran, and where it stands. */
#ifndef RF_VIEW_INLINED_H
#define RF_VIEW_INLINED_H

#include <riffle/diff.h>

struct rf_inlined {
    const char *function, *host; /* texts of the symbols; the host is the outermost function */
    uint64_t count;
};

struct rf_inlined_list {
    const struct rf_alloc *alloc;
    struct rf_inlined *at; /* by function and host, each pair once */
    size_t n, room;
};

/* Makes the list from all instructions of the profile. RF_ENOMEM or RF_OK; rf_list_free it in any case. */
rf_status rf_inlined_open(struct rf_inlined_list *list, const struct rf_diff_side *side,
                          const struct rf_alloc *alloc);
/* The events of the function that happened inside other functions; count 0: there are none. */
struct rf_diff_inlined rf_inlined_find(const struct rf_inlined_list *list, const char *function);

#endif
