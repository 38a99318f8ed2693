/* twins.c - equal elements of two lists.
 *
 * A merge sort: it is stable, so equal elements keep the order of their lists, and it takes n log n comparisons
 * whatever a file from outside holds. */
#include "profile/twins.h"
#include "base/alloc.h"

static void put_list(struct rf_twin *at, struct rf_twins_list list, size_t size, bool there)
{
    for (size_t i = 0; i < list.n; i++)
        at[i] = (struct rf_twin){(const char *)list.elements + i * size, i, there};
}

/* Merge from[0, half) and from[half, n) into `into`. */
static void merge(const struct rf_twins *twins, const struct rf_twin *from, size_t half, size_t n,
                  struct rf_twin *into)
{
    size_t left = 0, right = half;
    while (left < half && right < n)
        *into++ = twins->compare(from[left].element, from[right].element) <= 0 ? from[left++]
                                                                               : from[right++];
    while (left < half)
        *into++ = from[left++];
    while (right < n)
        *into++ = from[right++];
}

static size_t smaller(size_t x, size_t y)
{
    return x < y ? x : y;
}

/* Runs of `length` are in order; each pass doubles it. */
static void sort(struct rf_twins *twins, struct rf_twin *spare)
{
    for (size_t length = 1; length < twins->n; length *= 2) {
        for (size_t i = 0; i < twins->n; i += 2 * length) {
            size_t n = smaller(2 * length, twins->n - i);
            merge(twins, twins->twins + i, smaller(length, n), n, spare + i);
        }
        memcpy(twins->twins, spare, twins->n * sizeof *spare);
    }
}

rf_status rf_twins_make(struct rf_twins *twins, const struct rf_alloc *alloc,
                        struct rf_twins_list here, struct rf_twins_list there, size_t size,
                        int (*compare)(const void *left, const void *right))
{
    void *array = NULL, *spare = NULL;
    *twins = (struct rf_twins){.n = here.n + there.n, .compare = compare};
    if (twins->n == 0)
        return RF_OK;
    if (!rf_alloc_array(alloc, &array, 0, twins->n, sizeof *twins->twins))
        return RF_ENOMEM;
    twins->twins = array;
    if (!rf_alloc_array(alloc, &spare, 0, twins->n, sizeof *twins->twins)) {
        rf_twins_free(twins, alloc);
        return RF_ENOMEM;
    }
    put_list(twins->twins, here, size, false);
    put_list(twins->twins + here.n, there, size, true);
    sort(twins, spare);
    rf_alloc_free(alloc, spare, twins->n * sizeof *twins->twins);
    return RF_OK;
}

void rf_twins_free(struct rf_twins *twins, const struct rf_alloc *alloc)
{
    rf_alloc_free(alloc, twins->twins, twins->n * sizeof *twins->twins);
    *twins = (struct rf_twins){.twins = NULL};
}

size_t rf_twins_end(const struct rf_twins *twins, size_t first)
{
    size_t end = first + 1;
    while (end < twins->n &&
           twins->compare(twins->twins[first].element, twins->twins[end].element) == 0)
        end++;
    return end;
}

void rf_twins_mark_fresh(const struct rf_twins *twins, bool *fresh)
{
    for (size_t i = 0, end; i < twins->n; i = end) {
        end = rf_twins_end(twins, i);
        for (size_t k = i; k < end; k++)
            if (twins->twins[k].there)
                fresh[twins->twins[k].i] = k == i;
    }
}
