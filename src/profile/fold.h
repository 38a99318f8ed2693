/* fold.h - adds up lists of items, box by box.
 *
 * Used where several reports become one profile: the intervals of a profiler, the runs of a merge. A fold
 * that failed for lack of memory is as it was before the call. */
#ifndef RF_PROFILE_FOLD_H
#define RF_PROFILE_FOLD_H

#include <stddef.h>
#include <stdint.h>
#include <riffle/alloc.h>
#include <riffle/item.h>
#include "base/hash.h"

/* A growing array of items. */
struct rf_items {
    struct rf_item *items;
    size_t n, room;
};

rf_status rf_items_reserve(struct rf_items *list, const struct rf_alloc *alloc, size_t more);
rf_status rf_items_trim(struct rf_items *list, const struct rf_alloc *alloc); /* room = n */
void rf_items_free(struct rf_items *list, const struct rf_alloc *alloc);

struct rf_fold {
    const struct rf_alloc *alloc; /* outlives the fold */
    struct rf_items list;
    uint32_t *slots;        /* 1 + index into the list, 0: empty */
    unsigned bits;          /* 1 << bits slots; 0: none yet */
    struct rf_hash_key key; /* a secret */
    uint64_t absent_upper;
};

void rf_fold_init(struct rf_fold *fold, const struct rf_alloc *alloc);
void rf_fold_free(struct rf_fold *fold);
rf_status rf_fold_copy(struct rf_fold *copy, const struct rf_fold *fold);

/* Add one list. An item that is not in the list may have occurred up to `absent_upper` times. */
rf_status rf_fold_add(struct rf_fold *fold, const struct rf_item *items, size_t n,
                      uint64_t absent_upper);

/* The sum for that box so far, `upper` not yet complete; NULL: never added. Valid until the next add. */
struct rf_item *rf_fold_find(const struct rf_fold *fold, const struct rf_item *box);

/* Take the sums in profile order, as an array of exactly that length; the fold is then empty. */
rf_status rf_fold_take(struct rf_fold *fold, struct rf_items *list);

/* Below 0: x comes before y in a profile. */
int rf_items_order(const struct rf_item *x, const struct rf_item *y);

/* Heaviest first, ties by a, b, a_hi, b_hi. In place. */
void rf_items_sort(struct rf_item *items, size_t n);

#endif
