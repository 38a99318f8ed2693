/* table.c - which items go into a table, and the total of a range with everything inside it.
 *
 * Ranges nest: of two, one lies inside the other or they are disjoint. Sorted by where they begin,
 * wider ones first, everything inside a range follows it without a gap:
 *
 *     0..255   0..63   0..15   16..31   64..127   256..511
 *     [------- inside 0..255 ---------------]
 *
 * so that its total is a difference of two prefix sums, found by binary search. Rectangles have no such
 * order; each shown one is compared with all others.
 *
 * Streams are sorted by heat, and the items of a stream by position: a table shows whole streams. */
#include "report/report.h"
#include "profile/profile.h"
#include "base/alloc.h"
#include <stdlib.h>
#include <string.h>

rf_status rf_report_table_count(const struct rf_profile *profile,
                                const struct rf_report_setup *setup, size_t *n)
{
    *n = 1;
    if (!setup->per_interval || profile->n_intervals_seen == 0)
        return RF_OK;
    *n = profile->n_intervals;
    return profile->n_intervals == 0 ? RF_ENOTSUP : RF_OK;
}

struct span {
    uint64_t lo, hi;
    uint64_t sum; /* of the counts up to here, itself included */
};

static struct span span_of(const struct rf_report_table *table, const struct rf_item *item)
{
    if (table->profile->shape == RF_SHAPE_RANGE_B)
        return (struct span){item->b, item->b_hi, item->count};
    return (struct span){item->a, item->a_hi, item->count};
}

static bool span_before(const struct span *x, const struct span *y)
{
    return x->lo != y->lo ? x->lo < y->lo : x->hi > y->hi;
}

static void sift_down(struct span *spans, size_t root, size_t n)
{
    for (size_t child; (child = 2 * root + 1) < n; root = child) {
        if (child + 1 < n && span_before(&spans[child], &spans[child + 1]))
            child++;
        if (!span_before(&spans[root], &spans[child]))
            return;
        struct span kept = spans[root];
        spans[root] = spans[child];
        spans[child] = kept;
    }
}

static void sort_spans(struct span *spans, size_t n)
{
    for (size_t i = n / 2; i-- > 0;)
        sift_down(spans, i, n);
    for (size_t end = n; end-- > 1;) {
        struct span kept = spans[0];
        spans[0] = spans[end];
        spans[end] = kept;
        sift_down(spans, 0, end);
    }
}

/* How many spans come before `wanted`. */
static size_t rank(const struct span *spans, size_t n, const struct span *wanted)
{
    size_t lo = 0, hi = n;
    while (lo < hi) {
        size_t middle = lo + (hi - lo) / 2;
        if (span_before(&spans[middle], wanted))
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo;
}

static uint64_t inside(const struct span *spans, size_t n, struct span span)
{
    size_t first = rank(spans, n, &span), behind = n;
    if (span.hi < UINT64_MAX)
        behind = rank(spans, n, &(struct span){span.hi + 1, UINT64_MAX, 0});
    if (behind <= first) /* a hostile range that ends before it begins */
        return span.sum;
    return spans[behind - 1].sum - (first > 0 ? spans[first - 1].sum : 0);
}

static rf_status sum_ranges(struct rf_report_table *table)
{
    const struct rf_alloc *alloc = &table->profile->alloc;
    void *memory = NULL;
    if (!rf_alloc_array(alloc, &memory, 0, table->n, sizeof(struct span)))
        return RF_ENOMEM;
    struct span *spans = memory;
    for (size_t i = 0; i < table->n; i++)
        spans[i] = span_of(table, &table->items[i]);
    sort_spans(spans, table->n);
    for (size_t i = 1; i < table->n; i++)
        spans[i].sum += spans[i - 1].sum;
    for (size_t i = 0; i < table->shown; i++)
        table->totals[i] = inside(spans, table->n, span_of(table, &table->items[i]));
    rf_alloc_free(alloc, memory, table->n * sizeof(struct span));
    return RF_OK;
}

static bool contains(const struct rf_item *outer, const struct rf_item *inner)
{
    return outer->a <= inner->a && inner->a_hi <= outer->a_hi && outer->b <= inner->b &&
           inner->b_hi <= outer->b_hi;
}

static void sum_rectangles(struct rf_report_table *table)
{
    for (size_t i = 0; i < table->shown; i++) {
        table->totals[i] = 0;
        for (size_t k = 0; k < table->n; k++)
            if (contains(&table->items[i], &table->items[k]))
                table->totals[i] += table->items[k].count;
    }
}

static rf_status add_totals(struct rf_report_table *table)
{
    void *totals = NULL;
    if (rf_shape_has_tuples(table->profile->shape) || table->shown == 0)
        return RF_OK;
    if (!rf_alloc_array(&table->profile->alloc, &totals, 0, table->shown, sizeof *table->totals))
        return RF_ENOMEM;
    table->totals = totals;
    if (table->profile->shape != RF_SHAPE_RECTANGLE)
        return sum_ranges(table);
    sum_rectangles(table);
    return RF_OK;
}

uint64_t rf_report_table_heat(const struct rf_item *item)
{
    return item->count * rf_stream_length(item);
}

static int by_heat(const void *left, const void *right)
{
    const struct rf_item *x = left, *y = right;
    const uint64_t a[] = {rf_report_table_heat(y), x->a_hi, x->b_hi};
    const uint64_t b[] = {rf_report_table_heat(x), y->a_hi, y->b_hi};
    for (size_t i = 0; i < 3; i++)
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    return 0;
}

/* Put the items of each stream together. `wanted` is how many streams to show; 0: all. */
static rf_status arrange_streams(struct rf_report_table *table, uint64_t wanted)
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
    table->shown = 0;
    for (size_t i = 0; i < table->n; i++) {
        table->n_streams += rf_stream_position(&table->items[i]) == 0;
        if (wanted == 0 || table->n_streams <= wanted) {
            table->shown = i + 1;
            table->shown_streams = table->n_streams;
        }
    }
    return RF_OK;
}

rf_status rf_report_table_open(struct rf_report_table *table, const struct rf_profile *profile,
                               const struct rf_report_setup *setup, size_t i)
{
    *table = (struct rf_report_table){.profile = profile,
                                      .items = profile->items,
                                      .n = profile->n_items,
                                      .events = profile->consumed,
                                      .absent_upper = profile->absent_upper,
                                      .interval = i};
    if (setup->per_interval && i < profile->n_intervals) {
        const struct rf_interval *interval = &profile->intervals[i];
        table->items = rf_profile_interval_items(profile, i);
        table->n = interval->n;
        table->events = interval->events;
        table->absent_upper = interval->absent_upper;
    }
    bool all = setup->items == 0 || setup->items > table->n;
    table->shown = all ? table->n : (size_t)setup->items;
    rf_status status = arrange_streams(table, setup->items);
    if (status == RF_OK)
        status = add_totals(table);
    if (status != RF_OK)
        rf_report_table_close(table);
    return status;
}

void rf_report_table_close(struct rf_report_table *table)
{
    rf_alloc_free(&table->profile->alloc, table->totals, table->shown * sizeof *table->totals);
    table->totals = NULL;
    if (table->streams != NULL)
        rf_alloc_free(&table->profile->alloc, table->streams, table->n * sizeof *table->streams);
    table->streams = NULL;
}

static struct rf_column column_of(const struct rf_field_info *info)
{
    return info != NULL ? (struct rf_column){info->name, info->meaning} : (struct rf_column){"", 0};
}

void rf_report_table_columns(struct rf_columns *columns, const struct rf_profile *profile)
{
    struct rf_selector selector;
    *columns = (struct rf_columns){.a = {"a", RF_MEANS_NUMBER}, .b = {"b", RF_MEANS_NUMBER}};
    if (rf_profile_selector(profile, &selector) != RF_OK)
        return;
    columns->a = column_of(rf_field_info(selector.project_a));
    columns->b = column_of(rf_field_info(selector.project_b));
    columns->by_pc = selector.project_a == RF_FIELD_PC;
    columns->calls = selector.classes == 1u << RF_CLASS_CALL;
}
