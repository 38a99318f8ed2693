/* parts.h - a stream, dealt out at random to several engines. */
#ifndef RF_TESTS_PARTS_H
#define RF_TESTS_PARTS_H

#include "base/random.h"
#include <riffle/engine.h>
#include <stdlib.h>
#include <string.h>

enum { PARTS_MAX = 8 };

/* A stream, dealt out. */
struct parts {
    struct rf_tuple *tuples; /* one part behind the other */
    size_t n, ends[PARTS_MAX];
};

static inline size_t part_begin(const struct parts *parts, size_t i)
{
    return i == 0 ? 0 : parts->ends[i - 1];
}

static inline int compare_sizes(const void *left, const void *right)
{
    size_t x = *(const size_t *)left, y = *(const size_t *)right;
    return (x > y) - (x < y);
}

/* Pieces of random lengths, some of them perhaps empty. */
static inline void cut(struct parts *parts, const struct rf_tuple *tuples, size_t n,
                       struct rf_random *random)
{
    memcpy(parts->tuples, tuples, n * sizeof *tuples);
    for (size_t i = 0; i + 1 < parts->n; i++)
        parts->ends[i] = (size_t)rf_random_below(random, n + 1);
    parts->ends[parts->n - 1] = n;
    qsort(parts->ends, parts->n, sizeof *parts->ends, compare_sizes);
}

/* Each event goes to a part by chance; inside a part they keep their order. */
static inline void deal(struct parts *parts, const struct rf_tuple *tuples, size_t n,
                        struct rf_random *random)
{
    uint8_t *to = malloc(n + 1);
    if (to == NULL)
        abort();
    for (size_t i = 0; i < n; i++)
        to[i] = (uint8_t)rf_random_below(random, parts->n);
    for (size_t part = 0, at = 0; part < parts->n; part++) {
        for (size_t i = 0; i < n; i++)
            if (to[i] == part)
                parts->tuples[at++] = tuples[i];
        parts->ends[part] = at;
    }
    free(to);
}

static inline void split(struct parts *parts, const struct rf_tuple *tuples, size_t n,
                         struct rf_random *random)
{
    parts->n = 2 + (size_t)rf_random_below(random, PARTS_MAX - 1);
    parts->tuples = malloc((n + 1) * sizeof *tuples);
    if (parts->tuples == NULL)
        abort();
    if (n > 0 && rf_random_below(random, 2) == 0)
        deal(parts, tuples, n, random);
    else
        cut(parts, tuples, n, random);
}

static inline struct rf_tuples part_at(const struct parts *parts, size_t i)
{
    size_t begin = part_begin(parts, i);
    return (struct rf_tuples){parts->tuples + begin, NULL, parts->ends[i] - begin};
}

/* Two of n that are to be merged: the second into the first. */
static inline void choose_two(struct rf_random *random, size_t n, size_t *into, size_t *from)
{
    *into = (size_t)rf_random_below(random, n);
    *from = (size_t)rf_random_below(random, n - 1);
    *from += *from >= *into;
}

#endif
