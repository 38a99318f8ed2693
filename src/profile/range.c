/* range.c - queries to a profile of ranges: sums of boxes, and the tree that the boxes form.
 *
 * Boxes of one profile nest or are disjoint. In the order of the curve that goes through a square quarter
 * by quarter (the bits of a and b taken in turns; of a alone for ranges), wider ones first, everything
 * inside a box follows it without a gap, so one pass with the chain of open boxes finds the parents:
 *
 *     0..255   0..63   0..15   16..31   64..127         open: 0..255 > 0..63 > 16..31
 *
 * and one pass backwards, children before parents, the totals and what is hot.
 *
 * An engine may have merged the range away that held some of them together: rap may keep the quarters of c000..c3ff
 * directly inside c000..cfff. Where such siblings are hot together, the smallest range around them is put back. */
#include <riffle/range.h>
#include "base/alloc.h"
#include "base/order.h"
#include "profile/profile.h"
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static struct rf_range_box box_of(const struct rf_item *item)
{
    return (struct rf_range_box){item->a, item->a_hi, item->b, item->b_hi};
}

static bool inside(const struct rf_range_box *inner, const struct rf_range_box *outer)
{
    return outer->a <= inner->a && inner->a_hi <= outer->a_hi && outer->b <= inner->b &&
           inner->b_hi <= outer->b_hi;
}

static bool disjoint(const struct rf_range_box *x, const struct rf_range_box *y)
{
    return x->a_hi < y->a || y->a_hi < x->a || x->b_hi < y->b || y->b_hi < x->b;
}

/* For tuples, upper bounds inside a box cannot be added up, because tuples that are not listed may be there.
 * What surely lies outside is not inside, which gives the upper bound. */
static void query_tuples(const struct rf_profile *profile, const struct rf_range_box *box,
                         struct rf_range_answer *answer)
{
    uint64_t outside = 0;
    for (size_t i = 0; i < profile->n_items; i++) {
        const struct rf_item *item = &profile->items[i];
        const struct rf_range_box own = {item->a, item->a, item->b, item->b};
        if (inside(&own, box))
            answer->lower += profile->items[i].lower;
        else
            outside += profile->items[i].lower;
    }
    answer->upper = outside < answer->events ? answer->events - outside : 0;
    if (answer->lower > answer->upper) /* bounds that need not hold all at once: a confidence */
        answer->lower = answer->upper;
}

void rf_range_query(const struct rf_profile *profile, const struct rf_range_box *box,
                    struct rf_range_answer *answer)
{
    *answer = (struct rf_range_answer){0, 0, profile->consumed};
    if (rf_shape_has_tuples(profile->shape)) {
        query_tuples(profile, box, answer);
        return;
    }
    for (size_t i = 0; i < profile->n_items; i++) {
        struct rf_range_box own = box_of(&profile->items[i]);
        if (inside(&own, box))
            answer->lower += profile->items[i].count;
        if (!disjoint(&own, box))
            answer->upper += profile->items[i].count;
    }
}

/* Along the curve: the word whose first difference is in the higher bit decides, a before b. */
static int by_curve(const void *left, const void *right)
{
    const struct rf_range_box *x = &((const struct rf_range_node *)left)->box;
    const struct rf_range_box *y = &((const struct rf_range_node *)right)->box;
    uint64_t in_a = x->a ^ y->a, in_b = x->b ^ y->b;
    if (in_a == 0 && in_b == 0) {
        int wider = rf_order(y->a_hi - y->a, x->a_hi - x->a);
        return wider != 0 ? wider : rf_order(y->b_hi - y->b, x->b_hi - x->b);
    }
    bool b_decides = in_a < in_b && in_a < (in_a ^ in_b);
    return b_decides ? rf_order(x->b, y->b) : rf_order(x->a, y->a);
}

static void find_parents(struct rf_range_tree *tree)
{
    size_t open = SIZE_MAX;
    for (size_t i = 0; i < tree->n; i++) {
        struct rf_range_node *node = &tree->nodes[i];
        while (open != SIZE_MAX && !inside(&node->box, &tree->nodes[open].box))
            open = tree->nodes[open].parent;
        node->parent = open;
        node->depth = open == SIZE_MAX ? 0 : tree->nodes[open].depth + 1;
        open = i;
    }
}

static void weigh(struct rf_range_tree *tree, double threshold)
{
    tree->n_hot = 0;
    for (size_t i = 0; i < tree->n; i++)
        tree->nodes[i].total = tree->nodes[i].weight = 0;
    for (size_t i = tree->n; i-- > 0;) {
        struct rf_range_node *node = &tree->nodes[i];
        node->total += node->count;
        node->weight += node->count;
        node->hot = (double)node->weight > threshold;
        tree->n_hot += (size_t)node->hot;
        if (node->parent == SIZE_MAX)
            continue;
        tree->nodes[node->parent].total += node->total;
        tree->nodes[node->parent].weight += node->hot ? 0 : node->weight;
    }
}

/* --- ranges that were merged away --- */

/* All bits from the first one on in which two words differ. */
static uint64_t spread(uint64_t x, uint64_t y)
{
    return x == y ? 0 : UINT64_MAX >> __builtin_clzll(x ^ y);
}

/* The smallest range of the tree around both; of rectangles the smallest square. */
static struct rf_range_box join(const struct rf_range_box *x, const struct rf_range_box *y,
                                bool square)
{
    uint64_t in_a = spread(x->a, x->a_hi) | spread(y->a, y->a_hi) | spread(x->a, y->a);
    uint64_t in_b = spread(x->b, x->b_hi) | spread(y->b, y->b_hi) | spread(x->b, y->b);
    if (square)
        in_a = in_b = in_a | in_b;
    return (struct rf_range_box){x->a & ~in_a, x->a | in_a, x->b & ~in_b, x->b | in_b};
}

static bool is_empty(const struct rf_range_box *box)
{
    return box->a > box->a_hi;
}

/* For each node the smallest range around what is inside it and not hot; empty: there is none. */
static void find_hulls(const struct rf_range_tree *tree, struct rf_range_box *hulls, bool square)
{
    for (size_t i = 0; i < tree->n; i++)
        hulls[i] = (struct rf_range_box){1, 0, 1, 0};
    for (size_t i = 0; i < tree->n; i++) {
        const struct rf_range_node *node = &tree->nodes[i];
        if (node->parent == SIZE_MAX || node->hot || node->weight == 0)
            continue;
        struct rf_range_box *hull = &hulls[node->parent];
        *hull = is_empty(hull) ? node->box : join(hull, &node->box, square);
    }
}

/* Keep those that are hot and are no node yet, in front. Returns how many. */
static size_t keep_hot(const struct rf_range_tree *tree, struct rf_range_box *hulls,
                       double threshold)
{
    size_t n = 0;
    for (size_t i = 0; i < tree->n; i++) {
        const struct rf_range_node *node = &tree->nodes[i];
        bool narrower =
            !is_empty(&hulls[i]) && inside(&hulls[i], &node->box) && !inside(&node->box, &hulls[i]);
        if (narrower && (double)(node->weight - node->count) > threshold)
            hulls[n++] = hulls[i];
    }
    return n;
}

static rf_status add_nodes(struct rf_range_tree *tree, const struct rf_range_box *boxes, size_t n)
{
    size_t size = tree->n * sizeof *tree->nodes;
    struct rf_range_node *nodes = rf_alloc_get(&tree->alloc, size + n * sizeof *nodes);
    if (nodes == NULL)
        return RF_ENOMEM;
    memcpy(nodes, tree->nodes, size);
    for (size_t i = 0; i < n; i++)
        nodes[tree->n + i] = (struct rf_range_node){.box = boxes[i], .item = SIZE_MAX};
    rf_alloc_free(&tree->alloc, tree->nodes, size);
    tree->nodes = nodes;
    tree->n += n;
    return RF_OK;
}

static void arrange(struct rf_range_tree *tree, double threshold)
{
    qsort(tree->nodes, tree->n, sizeof *tree->nodes, by_curve);
    find_parents(tree);
    weigh(tree, threshold);
}

static rf_status put_back(struct rf_range_tree *tree, bool square, double threshold)
{
    size_t size = tree->n * sizeof(struct rf_range_box);
    struct rf_range_box *hulls = rf_alloc_get(&tree->alloc, size);
    if (hulls == NULL)
        return RF_ENOMEM;
    find_hulls(tree, hulls, square);
    size_t n = keep_hot(tree, hulls, threshold);
    rf_status status = n > 0 ? add_nodes(tree, hulls, n) : RF_OK;
    rf_alloc_free(&tree->alloc, hulls, size);
    if (status == RF_OK && n > 0)
        arrange(tree, threshold);
    return status;
}

rf_status rf_range_tree_make(struct rf_range_tree *tree, const struct rf_profile *profile,
                             double hot)
{
    *tree = (struct rf_range_tree){.alloc = profile->alloc, .events = profile->consumed};
    if (rf_shape_has_tuples(profile->shape))
        return RF_EINVAL;
    if (profile->n_items == 0)
        return RF_OK;
    tree->nodes = rf_alloc_get(&tree->alloc, profile->n_items * sizeof *tree->nodes);
    if (tree->nodes == NULL)
        return RF_ENOMEM;
    tree->n = profile->n_items;
    for (size_t i = 0; i < tree->n; i++)
        tree->nodes[i] = (struct rf_range_node){
            .box = box_of(&profile->items[i]), .count = profile->items[i].count, .item = i};
    double threshold = hot * (double)profile->consumed;
    arrange(tree, threshold);
    rf_status status = put_back(tree, profile->shape == RF_SHAPE_RECTANGLE, threshold);
    if (status != RF_OK)
        rf_range_tree_free(tree);
    return status;
}

void rf_range_tree_free(struct rf_range_tree *tree)
{
    rf_alloc_free(&tree->alloc, tree->nodes, tree->n * sizeof *tree->nodes);
    tree->nodes = NULL;
    tree->n = 0;
}

/* Sums of bounds would be too narrow: a range that one side lacks is not absent there if ranges inside it are
 * listed. Bounds that hold follow from the counts: all counts of ranges inside it belong to it, those of the
 * ranges around it may. */
rf_status rf_profile_bound_ranges(struct rf_profile *profile)
{
    struct rf_range_tree tree;
    if (rf_shape_has_tuples(profile->shape))
        return RF_OK;
    rf_status status = rf_range_tree_make(&tree, profile, 1);
    for (size_t i = 0; status == RF_OK && i < tree.n; i++) {
        struct rf_range_node *node = &tree.nodes[i];
        struct rf_item *item =
            &profile->items[node->item]; /* all are: none was hot enough to come back */
        const struct rf_range_node *parent =
            node->parent != SIZE_MAX ? &tree.nodes[node->parent] : NULL;
        node->weight = parent != NULL ? parent->weight + parent->count : 0; /* above it */
        item->lower = node->total;
        item->upper = node->total + node->weight;
    }
    rf_range_tree_free(&tree);
    return status;
}
