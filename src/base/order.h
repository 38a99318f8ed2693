/* order.h - numbers compared as qsort wants it, and searches of sorted lists. */
#ifndef RF_BASE_ORDER_H
#define RF_BASE_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Below 0, 0 or above 0, as x is less than, equal to or greater than y. */
static inline int rf_order(uint64_t x, uint64_t y)
{
    return (x > y) - (x < y);
}

/* The first number that decides. */
static inline int rf_order_two(uint64_t x1, uint64_t y1, uint64_t x2, uint64_t y2)
{
    return x1 != y1 ? rf_order(x1, y1) : rf_order(x2, y2);
}

/* Does element i of `list` stand before `key`? */
typedef bool rf_is_before(const void *list, size_t i, uint64_t key);

/* How many of the n elements stand before `key`; they are the first ones. */
static inline size_t rf_search(const void *list, size_t n, uint64_t key, rf_is_before *is_before)
{
    size_t lo = 0, hi = n;
    while (lo < hi) {
        size_t middle = lo + (hi - lo) / 2;
        if (is_before(list, middle, key))
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo;
}

/* As for qsort. */
typedef int rf_compare(const void *left, const void *right);

/* How many of the n elements are less than `key`, an element like them: the first that is not less stands there. */
static inline size_t rf_first_not_below(const void *list, size_t n, size_t size, const void *key,
                                        rf_compare *compare)
{
    const char *at = list;
    size_t lo = 0, hi = n;
    while (lo < hi) {
        size_t middle = lo + (hi - lo) / 2;
        if (compare(at + middle * size, key) < 0)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo;
}

/* Leave one of the elements of a sorted list that compare as equal, the first. Returns how many there are then. */
static inline size_t rf_unique(void *list, size_t n, size_t size, rf_compare *compare)
{
    char *at = list;
    size_t kept = n > 0;
    for (size_t i = 1; i < n; i++)
        if (compare(at + (kept - 1) * size, at + i * size) != 0) {
            if (kept != i)
                memcpy(at + kept * size, at + i * size, size);
            kept++;
        }
    return kept;
}

#endif
