/* twins.h - equal elements of two lists, found by sorting both together: n log n comparisons, however many are equal. */
#ifndef RF_PROFILE_TWINS_H
#define RF_PROFILE_TWINS_H

#include <stdbool.h>
#include <stddef.h>
#include <riffle/alloc.h>
#include <riffle/status.h>

struct rf_twin {
    const void *element;
    size_t i;   /* its place in its list */
    bool there; /* in the second list */
};

struct rf_twins {
    struct rf_twin *twins;
    size_t n;
    int (*compare)(const void *left, const void *right);
};

struct rf_twins_list {
    const void *elements;
    size_t n;
};

/* Sort the elements of both lists. Equal ones stand together: those of `here` first, each list in its own order.
 * Elements are not copied. RF_ENOMEM or RF_OK; the caller frees it with rf_twins_free and the same allocator. */
rf_status rf_twins_make(struct rf_twins *twins, const struct rf_alloc *alloc,
                        struct rf_twins_list here, struct rf_twins_list there, size_t size,
                        int (*compare)(const void *left, const void *right));
void rf_twins_free(struct rf_twins *twins, const struct rf_alloc *alloc);

/* The end of the equal elements that begin at `first`. */
size_t rf_twins_end(const struct rf_twins *twins, size_t first);

/* Of each element that only the second list has: true at its first place there. `fresh` has there.n elements. */
void rf_twins_mark_fresh(const struct rf_twins *twins, bool *fresh);

#endif
