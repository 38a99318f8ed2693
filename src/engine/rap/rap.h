/* rap.h - the tree of range-adaptive profiling, as its files share it. tree.c explains it.
 *
 *     tree.c        the tree: splits, merges, the ceiling on its size, questions
 *     find.h        the way down, written once for one and for two dimensions
 *     points.c      the calls of riffle/rap.h for embedders
 *     rap.c         the engine: options, the block of memory, the buffer, reports
 *     feed.c        the fast way in
 *     leaf_cache.c  its shortcuts: leaf cache and jump table
 *     rap_hw.c      the same tree as a pipeline over a ternary memory, cycle by cycle
 *     clock.c       the time that it takes
 */
#ifndef RF_ENGINE_RAP_H
#define RF_ENGINE_RAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <riffle/event.h>
#include <riffle/item.h>
#include <riffle/status.h>

/* 16 bytes, the paper's 128 bits. */
struct rf_rap_node {
    uint64_t count;
    uint32_t below;      /* the set of children, 0: none */
    uint8_t below_shift; /* of that set */
    uint8_t shift;       /* the node covers 1 << shift values (in each dimension) */
    uint8_t gap;         /* the children cover only part of it */
    uint8_t reserved;
};

/* b siblings that were made by one split. They are nodes[set * b] and up. */
struct rf_rap_set {
    uint64_t lo;    /* first value of the range that the siblings cover together */
    uint32_t up;    /* their parent; in a free set: the next free one */
    uint32_t shift; /* of each sibling */
};

_Static_assert(sizeof(struct rf_rap_node) == 16 && sizeof(struct rf_rap_set) == 16,
               "the memory that tree.c and the documents promise");

/* What the options say of a tree. */
struct rf_rap_plan {
    unsigned dims;        /* 1 or 2 */
    unsigned bits;        /* of the universe, in each dimension */
    unsigned step;        /* bits of each dimension that a level decides */
    unsigned fan_bits;    /* b = 1 << fan_bits = 1 << step * dims */
    unsigned levels;      /* log_b(R), rounded up */
    unsigned cut;         /* nodes that a range can cut through at most: levels, or 2 levels - 1 */
    uint64_t per_limit;   /* events for which the split threshold grows by one: cut / eps */
    uint64_t q;           /* each merge comes after q times as many events as the one before */
    uint64_t first_merge; /* after this many events */
    uint32_t sets;        /* there is room for, set 0 included */
};

struct rf_rap_tree {
    struct rf_rap_plan plan;
    struct rf_rap_node *nodes; /* nodes[0] is the root */
    struct rf_rap_set *sets;
    uint64_t *sets_b; /* two dimensions: first value of the range in b */

    uint64_t events;
    uint64_t limit;     /* the split threshold now: max(1, events / per_limit) */
    uint64_t per_limit; /* as planned, or less after the ceiling was hit */
    uint64_t wide;      /* the highest limit before per_limit rose again; 0: it never did */
    uint64_t next_merge;

    uint32_t free;  /* list of free sets */
    uint32_t fresh; /* sets from here on were never used */
    uint32_t used;  /* sets in use */
    uint32_t used_max;
    uint64_t splits, merges, folds;
    uint64_t early; /* merges because the ceiling was hit */
};

/* Fill in the plan but for `sets`. eps in 0..1; ends 1 or 2; b a power of two. */
void rf_rap_plan_make(struct rf_rap_plan *plan, unsigned dims, unsigned bits, unsigned b,
                      double eps, unsigned ends);
/* A node holds `held` of `events`, and gets `most` more in a row: after how many of them does it split? `most`
 * where it does not. */
uint64_t rf_rap_room(uint64_t events, uint64_t per_limit, uint64_t held, uint64_t most);
/* What per_limit becomes after a merge that left `used` sets, and the eps that holds. */
uint64_t rf_rap_narrowed(const struct rf_rap_plan *plan, uint64_t per_limit, uint32_t used);
double rf_rap_eps(const struct rf_rap_plan *plan, uint64_t per_limit, uint64_t wide,
                  uint64_t events);
/* The most sets that a stream can need under this plan. */
uint64_t rf_rap_plan_ceiling(const struct rf_rap_plan *plan);
/* The same at each merge: worst cases just after and just before it. For the papers' figures. */
struct rf_rap_worst {
    uint64_t from, to;      /* events */
    uint64_t after, before; /* sets after the merge at `from`, and before that at `to` */
};
struct rf_rap_worst rf_rap_plan_worst(const struct rf_rap_plan *plan, struct rf_rap_worst last);

size_t rf_rap_tree_size(const struct rf_rap_plan *plan); /* bytes behind nodes, sets, sets_b */
void rf_rap_tree_init(struct rf_rap_tree *tree, const struct rf_rap_plan *plan, void *memory);
void rf_rap_tree_clear(struct rf_rap_tree *tree);

/* Count `key` `count` times, as if one by one. In one dimension the value is key.a. Returns true when a
 * merge happened, which makes all node numbers invalid. */
bool rf_rap_tree_add(struct rf_rap_tree *tree, struct rf_tuple key, uint64_t count);

/* The node that an event would count in. */
uint32_t rf_rap_tree_find(const struct rf_rap_tree *tree, struct rf_tuple key);

/* nodes[x] has reached the limit on the way to `key`: give it children. Returns true when there was no
 * room and a merge had to make some. */
bool rf_rap_tree_split(struct rf_rap_tree *tree, uint32_t x, struct rf_tuple key);

/* The merge that is due at next_merge. */
void rf_rap_tree_merge_due(struct rf_rap_tree *tree);

/* Add all of `other`, which has the same plan. */
void rf_rap_tree_unite(struct rf_rap_tree *tree, const struct rf_rap_tree *other);

/* A box a..a_hi, b..b_hi. In one dimension b is 0 and b_hi all ones. */
struct rf_rap_box {
    uint64_t a, a_hi;
    uint64_t b, b_hi;
};

struct rf_rap_bounds {
    uint64_t lower, upper;
};

struct rf_rap_box rf_rap_tree_box(const struct rf_rap_tree *tree, uint32_t x);
struct rf_rap_bounds rf_rap_tree_query(const struct rf_rap_tree *tree, struct rf_rap_box box);

/* Every node, parents first, siblings in order. `above` is the sum of the counts of its ancestors. */
struct rf_rap_visit {
    void (*node)(void *context, const struct rf_rap_tree *tree, uint32_t x, uint64_t above);
    void *context;
};
void rf_rap_tree_walk(const struct rf_rap_tree *tree, const struct rf_rap_visit *visit);

uint64_t rf_rap_tree_total(const struct rf_rap_tree *tree, uint32_t x); /* with all below */
uint64_t rf_rap_tree_node_count(const struct rf_rap_tree *tree, uint32_t sets);
double rf_rap_tree_eps(const struct rf_rap_tree *tree); /* that holds now, widened or not */

#endif
