/* range.h - questions to a profile of ranges or rectangles: how much is in this range, what is hot.
 *
 *     struct rf_range_answer answer;
 *     rf_range_query(profile, &(struct rf_range_box){0x1000, 0x1fff, 0, UINT64_MAX}, &answer);
 *
 *     struct rf_range_tree tree;
 *     rf_range_tree_make(&tree, profile, 0.1);       every range with what lies inside it
 *     for (size_t i = 0; i < tree.n; i++) ...        parents first
 *     rf_range_tree_free(&tree);
 *
 * An item of such a profile says that this many events lie somewhere in its box, more cannot be told of
 * them. So those of all boxes inside a range are surely in it, those of boxes that touch it may be. */
#ifndef RIFFLE_RANGE_H
#define RIFFLE_RANGE_H

#include <riffle/profile.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Both ends in. The word that a profile of ranges leaves free runs from 0 to UINT64_MAX. */
struct rf_range_box {
    uint64_t a, a_hi;
    uint64_t b, b_hi;
};

struct rf_range_answer {
    uint64_t lower, upper; /* the events in the box; as firm as the profile's bounds */
    uint64_t events;       /* in all */
};

/* Any profile can be asked; one of tuples answers from the bounds of its items. */
void rf_range_query(const struct rf_profile *profile, const struct rf_range_box *box,
                    struct rf_range_answer *answer);

struct rf_range_node {
    struct rf_range_box box;
    uint64_t count;  /* of the box alone */
    uint64_t total;  /* with all boxes inside it */
    uint64_t weight; /* with those inside it that are not hot */
    size_t item;   /* index of the item that it is; SIZE_MAX: an engine merged it away, see below */
    size_t parent; /* index of the smallest box around it; of an outermost one SIZE_MAX */
    unsigned depth;
    int hot; /* weight is above the threshold */
};

/* Parents before what they hold, neighbours in order. */
struct rf_range_tree {
    struct rf_alloc alloc;
    struct rf_range_node *nodes;
    size_t n;
    size_t n_hot;
    uint64_t events;
};

/* Hot as Mysore et al. have it (section 5.1): a range whose count, with all that is in it and not hot
 * itself, is above `hot` times the events. Where ranges are hot together and the range around them was merged
 * away, it comes back with a count of 0. RF_EINVAL for a profile of tuples, RF_ENOMEM. */
rf_status rf_range_tree_make(struct rf_range_tree *tree, const struct rf_profile *profile,
                             double hot);
void rf_range_tree_free(struct rf_range_tree *tree);

#ifdef __cplusplus
}
#endif
#endif
