/* table.c - the items of a view, and the total of a range with everything inside it.
 *
 * Ranges nest: of two, one lies inside the other or they are disjoint. Sorted by where they begin,
 * wider ones first, everything inside a range follows it without a gap:
 *
 *     0..255   0..63   0..15   16..31   64..127   256..511
 *     [------- inside 0..255 ---------------]
 *
 * so that its total is a difference of two prefix sums, found by binary search. Rectangles have no such
 * order; each one that is asked for is compared with all others.
 *
 * Streams are sorted by heat, and the items of a stream by position. */
#include "view/view.h"
#include "profile/profile.h"
#include "base/alloc.h"
#include "base/order.h"
#include <stdlib.h>
#include <string.h>

static struct rf_view_span span_of(const struct rf_view_table *table, const struct rf_item *item)
{
    if (table->profile->shape == RF_SHAPE_RANGE_B)
        return (struct rf_view_span){item->b, item->b_hi, item->count};
    return (struct rf_view_span){item->a, item->a_hi, item->count};
}

/* By where they begin, wider ones first. */
static int by_place(const void *left, const void *right)
{
    const struct rf_view_span *l = left, *r = right;
    return rf_order_two(l->lo, r->lo, r->hi, l->hi);
}

/* How many spans come before `wanted`. */
static size_t rank(const struct rf_view_span *spans, size_t n, const struct rf_view_span *wanted)
{
    return rf_first_not_below(spans, n, sizeof *spans, wanted, by_place);
}

static uint64_t inside(const struct rf_view_span *spans, size_t n, struct rf_view_span span)
{
    size_t first = rank(spans, n, &span), behind = n;
    if (span.hi < UINT64_MAX)
        behind = rank(spans, n, &(struct rf_view_span){span.hi + 1, UINT64_MAX, 0});
    if (behind <= first) /* a hostile range that ends before it begins */
        return span.sum;
    return spans[behind - 1].sum - (first > 0 ? spans[first - 1].sum : 0);
}

static rf_status sort_ranges(struct rf_view_table *table)
{
    void *memory = NULL;
    bool nested =
        table->profile->shape == RF_SHAPE_RANGE_A || table->profile->shape == RF_SHAPE_RANGE_B;
    if (!nested || table->n == 0)
        return RF_OK;
    if (!rf_alloc_array(&table->profile->alloc, &memory, 0, table->n, sizeof *table->spans))
        return RF_ENOMEM;
    table->spans = memory;
    for (size_t i = 0; i < table->n; i++)
        table->spans[i] = span_of(table, &table->items[i]);
    if (table->n > 0)
        qsort(table->spans, table->n, sizeof *table->spans, by_place);
    for (size_t i = 1; i < table->n; i++)
        table->spans[i].sum += table->spans[i - 1].sum;
    return RF_OK;
}

static bool contains(const struct rf_item *outer, const struct rf_item *inner)
{
    return outer->a <= inner->a && inner->a_hi <= outer->a_hi && outer->b <= inner->b &&
           inner->b_hi <= outer->b_hi;
}

uint64_t rf_view_table_total(const struct rf_view_table *table, const struct rf_item *item)
{
    uint64_t total = 0;
    if (table->spans != NULL)
        return inside(table->spans, table->n, span_of(table, item));
    for (size_t i = 0; i < table->n; i++)
        if (contains(item, &table->items[i]))
            total += table->items[i].count;
    return total;
}

uint64_t rf_view_heat(const struct rf_item *item)
{
    return item->count * rf_stream_length(item);
}

static int by_heat(const void *left, const void *right)
{
    const struct rf_item *x = left, *y = right;
    const uint64_t a[] = {rf_view_heat(y), x->a_hi, x->b_hi};
    const uint64_t b[] = {rf_view_heat(x), y->a_hi, y->b_hi};
    for (size_t i = 0; i < 3; i++)
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    return 0;
}

/* Put the items of each stream together. */
static rf_status arrange_streams(struct rf_view_table *table)
{
    void *copy = NULL;
    if (table->profile->shape != RF_SHAPE_STREAM || table->n == 0)
        return RF_OK;
    if (!rf_alloc_array(&table->profile->alloc, &copy, 0, table->n, sizeof *table->streams))
        return RF_ENOMEM;
    table->streams = copy;
    memcpy(table->streams, table->items, table->n * sizeof *table->streams);
    qsort(table->streams, table->n, sizeof *table->streams, by_heat);
    table->items = table->streams;
    return RF_OK;
}

rf_status rf_view_table_open(struct rf_view_table *table, const struct rf_profile *profile,
                             const size_t *interval)
{
    *table = (struct rf_view_table){.profile = profile,
                                    .items = profile->items,
                                    .n = profile->n_items,
                                    .events = profile->consumed,
                                    .absent_upper = profile->absent_upper};
    if (interval != NULL && *interval < profile->n_intervals) {
        const struct rf_interval *one = &profile->intervals[*interval];
        table->items = rf_profile_interval_items(profile, *interval);
        table->n = one->n;
        table->events = one->events;
        table->absent_upper = one->absent_upper;
    }
    rf_status status = arrange_streams(table);
    if (status == RF_OK)
        status = sort_ranges(table);
    if (status != RF_OK)
        rf_view_table_close(table);
    return status;
}

void rf_view_table_close(struct rf_view_table *table)
{
    if (table->profile == NULL)
        return;
    const struct rf_alloc *alloc = &table->profile->alloc;
    rf_alloc_free(alloc, table->spans, table->n * sizeof *table->spans);
    rf_alloc_free(alloc, table->streams, table->n * sizeof *table->streams);
    table->spans = NULL;
    table->streams = NULL;
}
