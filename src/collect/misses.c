/* misses.c - run the loads and stores of a stream through caches before anybody selects from it.
 *
 * A batch belongs to its source and is not written to: records are copied, a chunk at a time, and
 * the copies get their `miss`. Events that are skipped warm the caches all the same. */
#include "collect/misses.h"
#include "base/alloc.h"
#include "base/error.h"
#include <stdio.h>
#include <string.h>

struct rf_misses {
    const struct rf_alloc *alloc;
    struct rf_cache *cache;
    struct rf_cache_shape shape;
    struct rf_record chunk[RF_MISSES_CHUNK];
};

rf_status rf_misses_open(struct rf_misses **opened, const char *shape, const struct rf_alloc *alloc,
                         struct rf_error *error)
{
    struct rf_misses *misses = rf_alloc_get(alloc, sizeof *misses);
    if (misses == NULL)
        return rf_fail(error, RF_ENOMEM, "no memory for a model of the caches");
    misses->alloc = alloc;
    rf_status status = rf_cache_parse(&misses->shape, shape, error);
    if (status == RF_OK)
        status = rf_cache_open(&misses->cache, shape, alloc, error);
    if (status != RF_OK) {
        rf_alloc_free(alloc, misses, sizeof *misses);
        return status;
    }
    *opened = misses;
    return RF_OK;
}

void rf_misses_close(struct rf_misses *misses)
{
    if (misses == NULL)
        return;
    rf_cache_close(misses->cache);
    rf_alloc_free(misses->alloc, misses, sizeof *misses);
}

const struct rf_record *rf_misses_fill(struct rf_misses *misses, const struct rf_record *records,
                                       size_t n)
{
    memcpy(misses->chunk, records, n * sizeof *records);
    rf_cache_fill(misses->cache, misses->chunk, n);
    return misses->chunk;
}

static double percent(uint64_t part, uint64_t all)
{
    return all > 0 ? 100 * (double)part / (double)all : 0;
}

rf_status rf_misses_note(const struct rf_misses *misses, struct rf_run *run)
{
    char text[400];
    size_t n = rf_cache_print(&misses->shape, text, 200);
    uint64_t loads = rf_cache_stats(misses->cache, 0).accesses[RF_CACHE_LOAD];
    for (unsigned i = 0; i < misses->shape.n_levels; i++) {
        struct rf_cache_stats stats = rf_cache_stats(misses->cache, i);
        n += (size_t)snprintf(text + n, sizeof text - n, "%s %.2f%% of loads missed l%u",
                              i == 0 ? ":" : ",", percent(stats.misses[RF_CACHE_LOAD], loads),
                              i + 1);
    }
    return rf_run_add_note(run, "cache", text);
}
