/* verdict.h - a profile held against the truth (truth.h), item by item: what does it get wrong?
 *
 * Items of tuples and ranges must have the true count within their bounds. Items of hot data streams share no
 * event, so the sum of their lower bounds for a tuple must not exceed the tuple's true count. */
#ifndef RF_TESTS_VERDICT_H
#define RF_TESTS_VERDICT_H

#include "truth.h"
#include <riffle/profile.h>
#include <stdlib.h>
#include <string.h>

/* What a profile gets wrong. */
struct verdict {
    uint64_t items;     /* held against the truth */
    uint64_t outside;   /* truth not in lower..upper */
    uint64_t disorder;  /* not lower <= upper, or an exact count that is none */
    uint64_t forgotten; /* tuples that are not listed and have more than absent_upper */
};

static inline bool same_box(const struct rf_item *x, const struct rf_item *y)
{
    return x->a == y->a && x->b == y->b && x->a_hi == y->a_hi && x->b_hi == y->b_hi;
}

static inline int box_order(const void *x, const void *y)
{
    const struct rf_item *s = x, *t = y;
    int low = truth_order(s->a, t->a, s->b, t->b);
    return low != 0 ? low : truth_order(s->a_hi, t->a_hi, s->b_hi, t->b_hi);
}

static inline struct rf_item *sorted_by_box(const struct rf_item *items, size_t n)
{
    struct rf_item *sorted = malloc((n + 1) * sizeof *sorted);
    if (sorted == NULL)
        abort();
    if (n > 0)
        memcpy(sorted, items, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, box_order);
    return sorted;
}

static inline uint64_t count_forgotten(const struct rf_item *sorted, size_t n,
                                       const struct truth *truth, uint64_t absent_upper)
{
    uint64_t forgotten = 0;
    for (size_t i = 0, k = 0; i < truth->n; i++) {
        const struct truth_point *point = &truth->by_a[i];
        const struct rf_item box = {point->a, point->b, point->a, point->b, 0, 0, 0, 0};
        while (k < n && box_order(&sorted[k], &box) < 0)
            k++;
        if (k < n && same_box(&sorted[k], &box))
            continue;
        forgotten += point->count > absent_upper;
    }
    return forgotten;
}

/* Streams share no event: what they say of one tuple is no more than there were of it. */
static inline struct verdict judge_streams(const struct rf_item *items, size_t n,
                                           const struct truth *truth)
{
    struct verdict verdict = {.items = n};
    struct rf_item *sorted = sorted_by_box(items, n);
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        const struct rf_item *item = &sorted[i];
        const struct rf_item point = {.a = item->a, .a_hi = item->a, .b = item->b, .b_hi = item->b};
        bool first = i == 0 || truth_order(item->a, item[-1].a, item->b, item[-1].b) != 0;
        sum = first ? item->lower : sum + item->lower;
        verdict.outside += sum > truth_box(truth, &point);
        verdict.disorder += item->lower > item->upper || item->count < item->lower;
        verdict.disorder += i > 0 && same_box(&item[-1], item);
        verdict.disorder += rf_stream_position(item) >= rf_stream_length(item);
    }
    free(sorted);
    return verdict;
}

/* Duplicates count as disorder: a profile names a box once. */
static inline struct verdict judge(const struct rf_profile *profile, const struct rf_item *items,
                                   size_t n, uint64_t absent_upper, const struct truth *truth)
{
    if (profile->shape == RF_SHAPE_STREAM)
        return judge_streams(items, n, truth);
    struct verdict verdict = {.items = n};
    struct rf_item *sorted = sorted_by_box(items, n);
    for (size_t i = 0; i < n; i++) {
        const struct rf_item *item = &sorted[i];
        uint64_t true_count = truth_box(truth, item);
        verdict.outside += true_count < item->lower || true_count > item->upper;
        verdict.disorder += item->lower > item->upper;
        verdict.disorder += i > 0 && same_box(&sorted[i - 1], item);
        verdict.disorder += profile->bound == RF_BOUND_EXACT && item->count != true_count;
    }
    if (profile->shape == RF_SHAPE_TUPLE)
        verdict.forgotten = count_forgotten(sorted, n, truth, absent_upper);
    free(sorted);
    return verdict;
}

static inline void add_verdict(struct verdict *sum, const struct verdict *more)
{
    sum->items += more->items;
    sum->outside += more->outside;
    sum->disorder += more->disorder;
    sum->forgotten += more->forgotten;
}

#endif
