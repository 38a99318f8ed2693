/* inplace.h - what code that stands in place of calls of hooks (cli/inplace.c) knows of the run-time.
 *
 *     rf_hooks_wanted_2       a byte each: are loads, stores, calls wanted?
 *     rf_hooks_pockets_2      of a thread: with the address of a site added, where that of its pocket is; 0: it has none
 *     section rf_hooks_rseq   of each object: where its code thinks that a thread keeps its restartable sequence, from %fs on
 *     rf_hooks_load_2_8       all other cases of a load
 *
 * A site is the description of a restartable sequence (struct rseq_cs), 32 bytes, of which the first eight are 0: a thread without
 * pockets reads those and finds no pocket. Programs keep such code. Whoever changes any of this gives the names another number. */
#ifndef RF_HOOKS_INPLACE_H
#define RF_HOOKS_INPLACE_H

enum {
    RF_INPLACE_MASK = 504,             /* of how many bytes of a pocket are in use */
    RF_INPLACE_SIGNATURE = 0x53053053, /* in front of where a sequence is left to */
    RF_INPLACE_LOADS = 0,              /* in rf_hooks_wanted_2 */
    RF_INPLACE_STORES = 1,
    RF_INPLACE_CALLS = 2,
    RF_INPLACE_WANTED,
    RF_INPLACE_SEQUENCE = 8, /* in struct rseq */
};

#endif
