/* order.c - the order of items in a profile: heaviest first, ties by a, b, a_hi, b_hi.
 *
 * The C library's qsort allocates, but here the caller provides all memory. Therefore this is an in-place
 * sort of our own: quicksort around the median of three, short pieces by insertion, and
 * heapsort for a piece that has been halved badly too often, so that no input takes more than
 * n log n steps (a profile can come from a hostile file). */
#include "profile/fold.h"
#include <stdbool.h>

enum { SHORT_PIECE = 16 };

int rf_items_order(const struct rf_item *x, const struct rf_item *y)
{
    const uint64_t left[] = {y->count, x->a, x->b, x->a_hi, x->b_hi};
    const uint64_t right[] = {x->count, y->a, y->b, y->a_hi, y->b_hi};
    for (size_t i = 0; i < sizeof left / sizeof *left; i++)
        if (left[i] != right[i])
            return left[i] < right[i] ? -1 : 1;
    return 0;
}

/* The same, written out: sorting spends its time here. */
static bool before(const struct rf_item *x, const struct rf_item *y)
{
    if (x->count != y->count)
        return x->count > y->count;
    if (x->a != y->a)
        return x->a < y->a;
    if (x->b != y->b)
        return x->b < y->b;
    if (x->a_hi != y->a_hi)
        return x->a_hi < y->a_hi;
    return x->b_hi < y->b_hi;
}

static void swap(struct rf_item *x, struct rf_item *y)
{
    struct rf_item kept = *x;
    *x = *y;
    *y = kept;
}

static void sort_by_insertion(struct rf_item *items, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        struct rf_item item = items[i];
        size_t k = i;
        for (; k > 0 && before(&item, &items[k - 1]); k--)
            items[k] = items[k - 1];
        items[k] = item;
    }
}

static void sift_down(struct rf_item *items, size_t root, size_t n)
{
    for (size_t child; (child = 2 * root + 1) < n; root = child) {
        if (child + 1 < n && before(&items[child], &items[child + 1]))
            child++;
        if (!before(&items[root], &items[child]))
            return;
        swap(&items[root], &items[child]);
    }
}

static void sort_by_heap(struct rf_item *items, size_t n)
{
    for (size_t i = n / 2; i-- > 0;)
        sift_down(items, i, n);
    for (size_t end = n; end-- > 1;) {
        swap(&items[0], &items[end]);
        sift_down(items, 0, end);
    }
}

static void order_pair(struct rf_item *x, struct rf_item *y)
{
    if (before(y, x))
        swap(x, y);
}

/* Hoare's partition: [0, k] goes before [k + 1, n), both shorter than n. */
static size_t partition(struct rf_item *items, size_t n)
{
    order_pair(&items[0], &items[n / 2]);
    order_pair(&items[n / 2], &items[n - 1]);
    order_pair(&items[0], &items[n / 2]);
    struct rf_item pivot = items[n / 2];
    for (size_t i = 0, k = n - 1;; i++, k--) {
        while (before(&items[i], &pivot))
            i++;
        while (before(&pivot, &items[k]))
            k--;
        if (i >= k)
            return k;
        swap(&items[i], &items[k]);
    }
}

static void sort(struct rf_item *items, size_t n, unsigned patience)
{
    while (n > SHORT_PIECE) {
        if (patience-- == 0) {
            sort_by_heap(items, n);
            return;
        }
        size_t left = partition(items, n) + 1;
        sort(items, left, patience);
        items += left;
        n -= left;
    }
    sort_by_insertion(items, n);
}

void rf_items_sort(struct rf_item *items, size_t n)
{
    unsigned patience = 2;
    for (size_t k = n; k > 1; k /= 2)
        patience += 2;
    sort(items, n, patience);
}
