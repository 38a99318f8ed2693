/* find.h - the way down the tree of tree.c, written once for one and for two dimensions.
 *
 * `dims` is a constant wherever this is inlined, so that each use compiles to its own code. */
#ifndef RF_ENGINE_RAP_FIND_H
#define RF_ENGINE_RAP_FIND_H

#include "engine/rap/rap.h"

#define RF_RAP_INLINE static inline __attribute__((always_inline))

/* Which of the siblings of a set with that shift the key belongs to. */
RF_RAP_INLINE uint32_t rf_rap_digit(const struct rf_rap_plan *plan, struct rf_tuple key,
                                    unsigned shift, unsigned dims)
{
    uint32_t mask = (1u << plan->step) - 1;
    uint32_t digit = (uint32_t)(key.a >> shift) & mask;
    if (dims == 2)
        digit = digit << plan->step | ((uint32_t)(key.b >> shift) & mask);
    return digit;
}

/* Is the key inside the range that the siblings of a set cover together? */
RF_RAP_INLINE bool rf_rap_set_covers(const struct rf_rap_tree *tree, uint32_t set, unsigned shift,
                                     struct rf_tuple key, unsigned dims)
{
    unsigned above = shift + tree->plan.step; /* below 64: a set with a gap above is not the top */
    uint64_t differs = (key.a ^ tree->sets[set].lo) >> above;
    if (dims == 2)
        differs |= (key.b ^ tree->sets_b[set]) >> above;
    return differs == 0;
}

/* The smallest node that covers the key, from node x on, which covers it. */
RF_RAP_INLINE uint32_t rf_rap_descend(const struct rf_rap_tree *tree, uint32_t x,
                                      struct rf_tuple key, unsigned dims)
{
    for (;;) {
        const struct rf_rap_node *node = &tree->nodes[x];
        if (node->below == 0)
            return x;
        unsigned shift = node->below_shift;
        if (node->gap && !rf_rap_set_covers(tree, node->below, shift, key, dims))
            return x;
        x = (node->below << tree->plan.fan_bits) + rf_rap_digit(&tree->plan, key, shift, dims);
    }
}

#endif
