/* cache.h - LRU caches the slow way: every set a linked list of lines, most recent first.
 *
 * The judge of src/cache/cache.c. Written from the definition (a hit moves to the front; a miss goes
 * to the front and the last one leaves when the list is longer than the ways), one line at a time,
 * with a division where the model has a shift. */
#ifndef RF_REFERENCE_CACHE_H
#define RF_REFERENCE_CACHE_H

#include <stdlib.h>
#include <riffle/cache.h>

struct slow_line {
    uint64_t number;
    struct slow_line *next;
};

struct slow_level {
    struct rf_cache_level shape;
    uint64_t n_sets;
    struct slow_line **sets;
};

struct slow_cache {
    struct slow_level levels[RF_CACHE_LEVELS_MAX];
    unsigned n_levels;
};

static inline void slow_cache_init(struct slow_cache *cache, const struct rf_cache_shape *shape)
{
    cache->n_levels = shape->n_levels;
    for (unsigned i = 0; i < shape->n_levels; i++) {
        struct slow_level *level = &cache->levels[i];
        level->shape = shape->levels[i];
        level->n_sets = level->shape.size / level->shape.line / level->shape.ways;
        level->sets = calloc(level->n_sets, sizeof *level->sets);
    }
}

static inline void slow_cache_release(struct slow_cache *cache)
{
    for (unsigned i = 0; i < cache->n_levels; i++) {
        for (uint64_t set = 0; set < cache->levels[i].n_sets; set++) {
            struct slow_line *line = cache->levels[i].sets[set];
            while (line != NULL) {
                struct slow_line *next = line->next;
                free(line);
                line = next;
            }
        }
        free(cache->levels[i].sets);
    }
}

/* Take the line out of its list, or make a new one; 1 when it was there. */
static inline int slow_take(struct slow_line **list, uint64_t number, struct slow_line **taken)
{
    for (; *list != NULL; list = &(*list)->next) {
        if ((*list)->number == number) {
            *taken = *list;
            *list = (*list)->next;
            return 1;
        }
    }
    *taken = malloc(sizeof **taken);
    (*taken)->number = number;
    return 0;
}

static inline void slow_cut(struct slow_line **list, unsigned ways)
{
    for (unsigned i = 0; i < ways && *list != NULL; i++)
        list = &(*list)->next;
    free(*list);
    *list = NULL;
}

static inline int slow_level_touch(struct slow_level *level, uint64_t addr)
{
    uint64_t number = addr / level->shape.line;
    struct slow_line **set = &level->sets[number % level->n_sets], *line;
    int hit = slow_take(set, number, &line);
    line->next = *set;
    *set = line;
    slow_cut(set, level->shape.ways);
    return hit;
}

static inline unsigned slow_cache_touch(struct slow_cache *cache, uint64_t addr)
{
    unsigned missed = 0;
    while (missed < cache->n_levels && !slow_level_touch(&cache->levels[missed], addr))
        missed++;
    return missed;
}

/* Byte by byte: whatever line a byte lies on is touched once, in order of address. */
static inline unsigned slow_cache_access(struct slow_cache *cache, uint64_t addr, unsigned bytes)
{
    unsigned worst = slow_cache_touch(cache, addr);
    for (unsigned i = 1; i < bytes; i++) {
        if ((addr + i) / cache->levels[0].shape.line ==
            (addr + i - 1) / cache->levels[0].shape.line)
            continue;
        unsigned missed = slow_cache_touch(cache, addr + i);
        worst = missed > worst ? missed : worst;
    }
    return worst;
}

#endif
