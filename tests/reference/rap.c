/* rap.c - the plain tree; see rap.h. */
#include "reference/rap.h"
#include <stdlib.h>

static struct plain_node *new_node(uint64_t a, uint64_t a_hi, uint64_t b, uint64_t b_hi)
{
    struct plain_node *node = calloc(1, sizeof *node);
    if (node == NULL)
        abort();
    node->a = a;
    node->a_hi = a_hi;
    node->b = b;
    node->b_hi = b_hi;
    return node;
}

static unsigned log2_of(unsigned x)
{
    return x <= 1 ? 0 : 1 + log2_of(x / 2);
}

/* Bits of each dimension that one level decides. */
static unsigned level_bits(const struct plain_rap *rap)
{
    return log2_of(rap->b) / rap->dims;
}

static unsigned height(const struct plain_rap *rap)
{
    return (rap->bits + level_bits(rap) - 1) / level_bits(rap);
}

void plain_rap_init(struct plain_rap *rap)
{
    uint64_t last = rap->bits == 64 ? UINT64_MAX : (UINT64_C(1) << rap->bits) - 1;
    rap->root = new_node(0, last, 0, rap->dims == 2 ? last : 0);
    unsigned cut = rap->ends == 2 && rap->dims == 1 ? 2 * height(rap) - 1 : height(rap);
    rap->per_limit = 1;
    while ((double)rap->per_limit * rap->eps < (double)cut)
        rap->per_limit++;
    rap->planned = rap->per_limit;
    rap->n = rap->merges = 0;
    rap->nodes = rap->nodes_max = 0;
    rap->next_merge = rap->first_merge;
}

static bool covers(const struct plain_node *node, struct rf_tuple key)
{
    return node->a <= key.a && key.a <= node->a_hi && node->b <= key.b && key.b <= node->b_hi;
}

static struct plain_node *child_that_covers(const struct plain_rap *rap,
                                            const struct plain_node *node, struct rf_tuple key)
{
    for (unsigned i = 0; i < rap->b; i++)
        if (node->child[i] != NULL && covers(node->child[i], key))
            return node->child[i];
    return NULL;
}

/* "the smallest range that includes that event" */
static struct plain_node *smallest_range(const struct plain_rap *rap, struct rf_tuple key)
{
    struct plain_node *node = rap->root, *next;
    while ((next = child_that_covers(rap, node, key)) != NULL)
        node = next;
    return node;
}

/* SplitThreshold = eps n / log_b(R), in whole events */
static uint64_t threshold(const struct plain_rap *rap)
{
    uint64_t whole = rap->n / rap->per_limit;
    return whole < 1 ? 1 : whole;
}

static bool has_children(const struct plain_rap *rap, const struct plain_node *node)
{
    for (unsigned i = 0; i < rap->b; i++)
        if (node->child[i] != NULL)
            return true;
    return false;
}

/* The width of the children of a split, less one: widths are powers of b, that of the root is cut off. */
static uint64_t child_width(const struct plain_rap *rap, const struct plain_node *node)
{
    uint64_t digit = (1u << level_bits(rap)) - 1, width = 0, next;
    while ((next = (width << level_bits(rap)) | digit) < node->a_hi - node->a)
        width = next;
    return width;
}

static void make_children(struct plain_rap *rap, struct plain_node *node)
{
    uint64_t width = child_width(rap, node);
    unsigned n = 0;
    for (uint64_t a = node->a;; a += width + 1) {
        for (uint64_t b = node->b;; b += width + 1) {
            node->child[n++] = new_node(a, a + width, b, rap->dims == 2 ? b + width : 0);
            if (rap->dims == 1 || b + width >= node->b_hi)
                break;
        }
        if (a + width >= node->a_hi)
            break;
    }
    rap->nodes += rap->b; /* the pool gives b places, whether all are used or not */
    if (rap->nodes > rap->nodes_max)
        rap->nodes_max = rap->nodes;
}

static void merge_all(struct plain_rap *rap, struct plain_node *node);

/* What to do when there is no room: not in the paper. */
static void make_room(struct plain_rap *rap)
{
    size_t sets = rap->room / rap->b + 1;
    merge_all(rap, rap->root);
    while (sets - 1 - rap->nodes / rap->b < sets / 4 && rap->per_limit > 1) {
        rap->per_limit -= rap->per_limit / 4 > 0 ? rap->per_limit / 4 : 1;
        merge_all(rap, rap->root);
    }
}

/* More than a quarter of the room left after a merge: the threshold falls in that proportion. Not in the paper. */
static void narrow(struct plain_rap *rap)
{
    size_t enough = rap->room / rap->b / 4 * 3, used = rap->nodes / rap->b;
    if (used >= enough || rap->per_limit == rap->planned)
        return;
    double more = (double)rap->per_limit * (double)enough / (double)(used > 0 ? used : 1);
    rap->per_limit = more < (double)rap->planned ? (uint64_t)more : rap->planned;
}

/* Children with count 0; those that were there before become children of the one that covers them. */
static void split(struct plain_rap *rap, struct plain_node *node)
{
    struct plain_node *old[16];
    for (unsigned i = 0; i < 16; i++) {
        old[i] = node->child[i];
        node->child[i] = NULL;
    }
    make_children(rap, node);
    for (unsigned i = 0; i < 16; i++)
        if (old[i] != NULL)
            child_that_covers(rap, node, (struct rf_tuple){old[i]->a, old[i]->b})->child[i] =
                old[i];
}

/* "we simply sum together the count of the child nodes and add them into the parent" */
static void fold_children(struct plain_rap *rap, struct plain_node *node)
{
    struct plain_node *heirs[16] = {NULL};
    for (unsigned i = 0; i < rap->b; i++) {
        struct plain_node *child = node->child[i];
        if (child == NULL)
            continue;
        node->count += child->count;
        for (unsigned k = 0; k < rap->b; k++)
            if (child->child[k] != NULL)
                heirs[k] = child->child[k];
        free(child);
    }
    for (unsigned i = 0; i < rap->b; i++)
        node->child[i] = heirs[i];
    rap->nodes -= rap->b;
}

/* Bottom-up. */
static void merge_all(struct plain_rap *rap, struct plain_node *node)
{
    if (!has_children(rap, node))
        return;
    uint64_t weight = node->count;
    unsigned parents = 0;
    for (unsigned i = 0; i < rap->b; i++) {
        if (node->child[i] == NULL)
            continue;
        merge_all(rap, node->child[i]);
        weight += node->child[i]->count;
        parents += has_children(rap, node->child[i]);
    }
    if (parents <= 1 && weight < threshold(rap))
        fold_children(rap, node);
}

void plain_rap_add(struct plain_rap *rap, struct rf_tuple key)
{
    rap->n++;
    struct plain_node *node = smallest_range(rap, key);
    node->count++;
    bool full = rap->room < rap->nodes + rap->b;
    if (node->a != node->a_hi && node->count >= threshold(rap)) {
        if (full)
            make_room(rap);
        node = smallest_range(rap, key);
        if (node->a != node->a_hi && node->count >= threshold(rap))
            split(rap, node);
    }
    if (rap->n == rap->next_merge) {
        merge_all(rap, rap->root);
        narrow(rap);
        rap->merges++;
        rap->next_merge *= rap->q;
    }
}

static void free_below(struct plain_node *node)
{
    for (unsigned i = 0; i < 16; i++)
        if (node->child[i] != NULL)
            free_below(node->child[i]);
    free(node);
}

void plain_rap_free(struct plain_rap *rap)
{
    free_below(rap->root);
    rap->root = NULL;
}
