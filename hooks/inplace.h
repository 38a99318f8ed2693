/* inplace.h - what code that stands in place of calls of hooks (cli/inplace.c) knows of the run-time.
 *
 *     rf_hooks_merging_1      of a thread: its lane, where loads are merged; else one that is always busy
 *     rf_hooks_wanted_1       a byte each: are loads, stores, calls wanted?
 *     rf_hooks_other_1_8      a word that the table does not count yet; the lane is entered
 *
 * Programs keep such code. Whoever changes any of this gives the three names another number. */
#ifndef RF_HOOKS_INPLACE_H
#define RF_HOOKS_INPLACE_H

enum {
    RF_INPLACE_BUSY = 0,       /* in struct rf_hooks_lane */
    RF_INPLACE_WORDS = 8,      /* the same */
    RF_INPLACE_KEY = 0,        /* in struct rf_ring_word */
    RF_INPLACE_WORD = 8,       /* the same */
    RF_INPLACE_COUNT = 16,     /* the same */
    RF_INPLACE_MASK = 0x1ffe0, /* of a hash: where the entry lies among the words */
    RF_INPLACE_LOADS = 0,      /* in rf_hooks_wanted_1 */
    RF_INPLACE_STORES = 1,
    RF_INPLACE_CALLS = 2,
    RF_INPLACE_WANTED,
};

#endif
