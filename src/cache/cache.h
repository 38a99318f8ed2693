/* cache.h - the internals of the cache model, for callers that ask it millions of times per second. */
#ifndef RF_CACHE_CACHE_H
#define RF_CACHE_CACHE_H

#include <riffle/cache.h>
#include <stdbool.h>

struct rf_cache_tags {
    uint64_t *tags;  /* `room` words per set */
    uint64_t *order; /* one word per set: nibble 0 is the most recent way */
    uint64_t set_mask;
    uint32_t ways;
    uint32_t room; /* 8 or 16: ways past the last are EMPTY for ever */
    uint32_t line_shift;
    struct rf_cache_stats stats;
};

struct rf_cache {
    struct rf_cache_tags own[RF_CACHE_LEVELS_MAX];
    struct rf_cache_tags *levels[2 * RF_CACHE_LEVELS_MAX]; /* own, then those it was joined to */
    unsigned n_levels;
    unsigned n_own;
    size_t block_size;
    void *raw; /* what the allocator gave, where rf_cache_open asked it */
    struct rf_alloc alloc;
};

/* Is the whole access in the line of its set that was used last? Such an access is a hit and changes nothing.
 * A caller that does not read the counts need not make it. */
static inline bool rf_cache_is_recent(const struct rf_cache *cache, uint64_t addr, unsigned bytes)
{
    const struct rf_cache_tags *first = &cache->own[0];
    uint64_t line = addr >> first->line_shift, set = line & first->set_mask;
    uint64_t way = first->order[set] & 15;
    return first->tags[set * first->room + way] == line &&
           (addr + bytes - 1) >> first->line_shift == line;
}

#endif
