/* rap.h - range-adaptive profiling the plain way: nodes with pointers, one event at a time.
 *
 * Written from sections 2 and 3 of Mysore et al., "Formulating and Implementing Profiling over Adaptive
 * Ranges", and from the rules at the top of src/engine/rap/tree.c where the paper leaves a choice. The
 * judge of the shipped tree, and the baseline of its speed. */
#ifndef RF_REFERENCE_RAP_H
#define RF_REFERENCE_RAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <riffle/event.h>

struct plain_node {
    uint64_t a, a_hi; /* the range; in two dimensions a square */
    uint64_t b, b_hi;
    uint64_t count;
    struct plain_node *child[16]; /* all NULL or b of them */
};

struct plain_rap {
    unsigned dims, bits, b; /* b: the branching factor */
    double eps;
    unsigned ends;
    uint64_t q, first_merge;
    size_t room; /* nodes but for the root; SIZE_MAX: no limit */

    struct plain_node *root;
    uint64_t n;          /* events */
    uint64_t next_merge; /* at this many events */
    uint64_t planned;    /* log_b(R) / eps */
    uint64_t per_limit;  /* the same, or less after the room was used up */
    size_t nodes;        /* but for the root */
    size_t nodes_max;
    uint64_t merges;
};

/* The first block of fields is the caller's. */
void plain_rap_init(struct plain_rap *rap);
void plain_rap_add(struct plain_rap *rap, struct rf_tuple key);
void plain_rap_free(struct plain_rap *rap);

#endif
