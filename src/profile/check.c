/* check.c - whether the numbers of a profile agree with each other.
 *
 * The library relies on these; a file from outside must be checked for them.
 *
 *     1  produced = consumed + lost
 *     2  lower <= upper <= events and count <= events, for every item and every interval; so no sum overflows.
 *        Of a tuple lower <= count <= upper, and all three are the same where counts are exact
 *     3  a <= a_hi, b <= b_hi; a tuple is one point, a range leaves the other word free, a rectangle is an
 *        aligned square with a power of two as its side. A position of a stream lies within its length
 *     4  absent_upper <= events
 *     5  items stand heaviest first
 *     6  where bounds always hold, lower bounds of tuples, or counts of ranges, add up to no more than the events
 *     7  an interval's items lie within the list, and intervals have no more events than the whole
 *     8  no two items are the same box; of two ranges one lies inside the other or they are disjoint; a stream has
 *        all its positions, with the same numbers
 *     9  figures are finite numbers, and there are not more of them than a reader can look through one by one
 *
 * Only rf_profile_check checks number 8: it needs memory, and only a file from outside can break it. */
#include <riffle/range.h>
#include "profile/file.h"
#include "profile/fold.h"
#include "profile/profile.h"
#include "base/alloc.h"
#include "base/order.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FIGURES_MAX = 256 };

/* What one list of items must agree with. */
struct frame {
    uint64_t events, intervals;
    uint8_t shape, bound;
};

static bool is_point(const struct rf_item *item)
{
    return item->a == item->a_hi && item->b == item->b_hi;
}

static bool is_aligned(uint64_t lo, uint64_t hi)
{
    uint64_t span = hi - lo; /* all ones below the side */
    return (span & (span + 1)) == 0 && (lo & span) == 0;
}

static bool is_box(const struct rf_item *item, unsigned shape)
{
    bool free_a = item->a == 0 && item->a_hi == UINT64_MAX;
    bool free_b = item->b == 0 && item->b_hi == UINT64_MAX;
    if (shape != RF_SHAPE_STREAM && (item->a > item->a_hi || item->b > item->b_hi))
        return false;
    switch (shape) {
    case RF_SHAPE_TUPLE:
        return is_point(item);
    case RF_SHAPE_RANGE_A:
        return free_b;
    case RF_SHAPE_RANGE_B:
        return free_a;
    case RF_SHAPE_STREAM:
        return rf_stream_position(item) < rf_stream_length(item);
    default:
        return is_aligned(item->a, item->a_hi) && is_aligned(item->b, item->b_hi) &&
               item->a_hi - item->a == item->b_hi - item->b;
    }
}

static const char *check_item(const struct rf_item *item, const struct frame *frame)
{
    if (item->lower > item->upper || item->upper > frame->events)
        return "an item's bounds cross or exceed the events";
    if (item->count > frame->events || item->intervals > frame->intervals)
        return "an item's count exceeds the events";
    if (rf_shape_has_tuples(frame->shape) &&
        (item->count < item->lower || item->count > item->upper))
        return "an item's count lies outside its bounds";
    if (frame->bound == RF_BOUND_EXACT && rf_shape_has_tuples(frame->shape) &&
        item->lower != item->upper)
        return "an exact count has bounds";
    return is_box(item, frame->shape) ? NULL : "an item is no tuple, range or rectangle";
}

/* What surely belongs to this item and to no other. */
static uint64_t share_of(const struct rf_item *item, unsigned shape)
{
    return rf_shape_has_tuples(shape) ? item->lower : item->count;
}

static const char *check_items(const struct rf_item *items, size_t n, const struct frame *frame)
{
    uint64_t left = frame->events;
    for (size_t i = 0; i < n; i++) {
        const char *wrong = check_item(&items[i], frame);
        if (wrong != NULL)
            return wrong;
        if (i > 0 && rf_items_order(&items[i], &items[i - 1]) < 0)
            return "items are not in order";
        uint64_t share = share_of(&items[i], frame->shape);
        if (frame->bound < RF_BOUND_CONFIDENCE && share > left)
            return "the items add up to more than the events";
        left -= share < left ? share : left;
    }
    return NULL;
}

static const char *check_intervals(const struct rf_profile *profile)
{
    uint64_t events = 0;
    for (size_t i = 0; i < profile->n_intervals; i++) {
        const struct rf_interval *interval = &profile->intervals[i];
        if (interval->first > profile->n_interval_items ||
            interval->n > profile->n_interval_items - interval->first)
            return "an interval's items are not there";
        if (interval->absent_upper > interval->events ||
            interval->events > profile->consumed - events)
            return "an interval's events do not add up";
        events += interval->events;
        const struct frame frame = {interval->events, 1, profile->shape, profile->bound};
        const char *wrong = check_items(rf_profile_interval_items(profile, i), interval->n, &frame);
        if (wrong != NULL)
            return wrong;
    }
    return NULL;
}

static const char *check_figures(const struct rf_profile *profile)
{
    if (profile->n_figures > FIGURES_MAX)
        return "there are too many figures";
    for (size_t i = 0; i < profile->n_figures; i++)
        if (!isfinite(profile->figures[i].value))
            return "a figure is infinite or no number";
    return NULL;
}

const char *rf_profile_contradiction(const struct rf_profile *profile)
{
    uint64_t sum;
    if (__builtin_add_overflow(profile->consumed, profile->lost, &sum) || sum != profile->produced)
        return "produced is not consumed and lost";
    if (profile->shape > RF_SHAPE_STREAM || profile->bound > RF_BOUND_ESTIMATE)
        return "an unknown kind of item or bound";
    if (!(profile->confidence >= 0 && profile->confidence <= 1))
        return "a confidence that is no share";
    if (profile->absent_upper > profile->consumed)
        return "what is absent exceeds the events";
    if (profile->n_intervals > profile->n_intervals_seen)
        return "there are more intervals than were seen";
    const struct frame frame = {profile->consumed, profile->n_intervals_seen, profile->shape,
                                profile->bound};
    const char *wrong = check_figures(profile);
    if (wrong == NULL)
        wrong = check_items(profile->items, profile->n_items, &frame);
    return wrong != NULL ? wrong : check_intervals(profile);
}

/* --- no two items claim the same events ------------------------------------------------------- */

static int by_tuple(const void *left, const void *right)
{
    const struct rf_tuple *x = left, *y = right;
    return rf_order_two(x->a, y->a, x->b, y->b);
}

static rf_status check_tuples(const struct rf_item *items, size_t n, const struct rf_alloc *alloc,
                              const char **wrong)
{
    struct rf_tuple *tuples = rf_alloc_get(alloc, n * sizeof *tuples);
    if (tuples == NULL)
        return RF_ENOMEM;
    for (size_t i = 0; i < n; i++)
        tuples[i] = (struct rf_tuple){items[i].a, items[i].b};
    qsort(tuples, n, sizeof *tuples, by_tuple);
    for (size_t i = 1; i < n; i++)
        if (by_tuple(&tuples[i - 1], &tuples[i]) == 0)
            *wrong = "an item is listed twice";
    rf_alloc_free(alloc, tuples, n * sizeof *tuples);
    return RF_OK;
}

/* By stream, then by position. */
static int by_place(const void *left, const void *right)
{
    const struct rf_item *x = left, *y = right;
    return rf_order_two(x->a_hi, y->a_hi, x->b_hi, y->b_hi);
}

/* A stream has all of its positions, each once and with the same numbers. */
static const char *check_stream(const struct rf_item *items, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (items[i].b_hi != rf_stream_place((uint32_t)n, (uint32_t)i) ||
            items[i].count != items[0].count || items[i].lower != items[0].lower ||
            items[i].upper != items[0].upper)
            return "a stream is not whole";
    return NULL;
}

static rf_status check_streams(const struct rf_item *items, size_t n, const struct rf_alloc *alloc,
                               const char **wrong)
{
    struct rf_item *sorted = rf_alloc_get(alloc, n * sizeof *sorted);
    if (sorted == NULL)
        return RF_ENOMEM;
    memcpy(sorted, items, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, by_place);
    for (size_t i = 0, end; i < n && *wrong == NULL; i = end) {
        for (end = i + 1; end < n && sorted[end].a_hi == sorted[i].a_hi;)
            end++;
        *wrong = check_stream(sorted + i, end - i);
    }
    rf_alloc_free(alloc, sorted, n * sizeof *sorted);
    return RF_OK;
}

static bool same_box(const struct rf_range_box *x, const struct rf_range_box *y)
{
    return x->a == y->a && x->a_hi == y->a_hi && x->b == y->b && x->b_hi == y->b_hi;
}

static bool apart(const struct rf_range_box *x, const struct rf_range_box *y)
{
    return x->a_hi < y->a || y->a_hi < x->a || x->b_hi < y->b || y->b_hi < x->b;
}

/* No node may touch the boxes that lie on the way from the node before it up to its own parent. */
static const char *check_nodes(const struct rf_range_tree *tree)
{
    for (size_t i = 1; i < tree->n; i++) {
        const struct rf_range_node *node = &tree->nodes[i];
        if (same_box(&node->box, &tree->nodes[i - 1].box))
            return "an item is listed twice";
        for (size_t k = i - 1; k != node->parent && k != SIZE_MAX; k = tree->nodes[k].parent)
            if (!apart(&node->box, &tree->nodes[k].box))
                return "two ranges overlap";
    }
    return NULL;
}

static rf_status check_boxes(const struct rf_profile *profile, struct rf_item *items, size_t n,
                             const char **wrong)
{
    struct rf_range_tree tree;
    const struct rf_profile list = {
        .alloc = profile->alloc, .shape = profile->shape, .items = items, .n_items = n};
    if (n == 0 || *wrong != NULL)
        return RF_OK;
    if (profile->shape == RF_SHAPE_STREAM)
        return check_streams(items, n, &profile->alloc, wrong);
    if (n == 1)
        return RF_OK;
    if (profile->shape == RF_SHAPE_TUPLE)
        return check_tuples(items, n, &profile->alloc, wrong);
    rf_status status = rf_range_tree_make(&tree, &list, 1);
    if (status != RF_OK)
        return status;
    *wrong = check_nodes(&tree);
    rf_range_tree_free(&tree);
    return RF_OK;
}

rf_status rf_profile_check(const struct rf_profile *profile, const char **wrong)
{
    *wrong = rf_profile_contradiction(profile);
    rf_status status = check_boxes(profile, profile->items, profile->n_items, wrong);
    for (size_t i = 0; i < profile->n_intervals && status == RF_OK && *wrong == NULL; i++)
        status = check_boxes(profile, rf_profile_interval_items(profile, i),
                             profile->intervals[i].n, wrong);
    return status;
}
