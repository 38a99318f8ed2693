/* truth.h - the true counts of a stream, found in the plainest way: sort it and count runs.
 *
 * It owes nothing to the library, the exact engine included, which it judges too. */
#ifndef RF_TESTS_TRUTH_H
#define RF_TESTS_TRUTH_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <riffle/event.h>
#include <riffle/item.h>

struct truth_point {
    uint64_t a, b, count;
    uint64_t before; /* events of all points that stand before this one */
};

struct truth {
    struct truth_point *by_a, *by_b; /* sorted by a then b, and by b then a */
    size_t n;
    uint64_t events;
};

static int truth_order(uint64_t x, uint64_t y, uint64_t x2, uint64_t y2)
{
    if (x != y)
        return x < y ? -1 : 1;
    return x2 == y2 ? 0 : x2 < y2 ? -1 : 1;
}

static int truth_tuple_order(const void *x, const void *y)
{
    const struct rf_tuple *s = x, *t = y;
    return truth_order(s->a, t->a, s->b, t->b);
}

static int truth_b_order(const void *x, const void *y)
{
    const struct truth_point *s = x, *t = y;
    return truth_order(s->b, t->b, s->a, t->a);
}

static void truth_add_before(struct truth_point *points, size_t n)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        points[i].before = sum;
        sum += points[i].count;
    }
}

static void truth_make(struct truth *truth, const struct rf_tuple *tuples, size_t n)
{
    struct rf_tuple *sorted = malloc((n + 1) * sizeof *sorted);
    truth->by_a = malloc((n + 1) * sizeof *truth->by_a);
    truth->by_b = malloc((n + 1) * sizeof *truth->by_b);
    if (sorted == NULL || truth->by_a == NULL || truth->by_b == NULL)
        abort();
    if (n > 0)
        memcpy(sorted, tuples, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, truth_tuple_order);
    truth->events = n;
    truth->n = 0;
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || truth_tuple_order(&sorted[i - 1], &sorted[i]) != 0)
            truth->by_a[truth->n++] = (struct truth_point){sorted[i].a, sorted[i].b, 0, 0};
        truth->by_a[truth->n - 1].count++;
    }
    free(sorted);
    memcpy(truth->by_b, truth->by_a, truth->n * sizeof *truth->by_a);
    qsort(truth->by_b, truth->n, sizeof *truth->by_b, truth_b_order);
    truth_add_before(truth->by_a, truth->n);
    truth_add_before(truth->by_b, truth->n);
}

static void truth_free(struct truth *truth)
{
    free(truth->by_a);
    free(truth->by_b);
}

/* Events of points with by_b ? b : a below `word`. */
static uint64_t truth_below(const struct truth *truth, bool by_b, uint64_t word)
{
    const struct truth_point *points = by_b ? truth->by_b : truth->by_a;
    size_t lo = 0, hi = truth->n;
    while (lo < hi) {
        size_t middle = (lo + hi) / 2;
        if ((by_b ? points[middle].b : points[middle].a) < word)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo < truth->n ? points[lo].before : truth->events;
}

static uint64_t truth_span(const struct truth *truth, bool by_b, uint64_t lo, uint64_t hi)
{
    uint64_t up_to = hi == UINT64_MAX ? truth->events : truth_below(truth, by_b, hi + 1);
    return up_to - truth_below(truth, by_b, lo);
}

static uint64_t truth_tuple(const struct truth *truth, uint64_t a, uint64_t b)
{
    size_t lo = 0, hi = truth->n;
    while (lo < hi) {
        size_t middle = (lo + hi) / 2;
        const struct truth_point *point = &truth->by_a[middle];
        int order = truth_order(point->a, a, point->b, b);
        if (order == 0)
            return point->count;
        if (order < 0)
            lo = middle + 1;
        else
            hi = middle;
    }
    return 0;
}

/* The true count of an item's whole box. */
__attribute__((unused)) static uint64_t truth_box(const struct truth *truth,
                                                  const struct rf_item *item)
{
    if (item->a == item->a_hi && item->b == item->b_hi)
        return truth_tuple(truth, item->a, item->b);
    if (item->b == 0 && item->b_hi == UINT64_MAX)
        return truth_span(truth, false, item->a, item->a_hi);
    if (item->a == 0 && item->a_hi == UINT64_MAX)
        return truth_span(truth, true, item->b, item->b_hi);
    uint64_t sum = 0;
    for (size_t i = 0; i < truth->n; i++) {
        const struct truth_point *point = &truth->by_a[i];
        if (point->a >= item->a && point->a <= item->a_hi && point->b >= item->b &&
            point->b <= item->b_hi)
            sum += point->count;
    }
    return sum;
}

#endif
