/* leaf_cache.h - where the last events went in the tree of range-adaptive profiling. leaf_cache.c explains it.
 *
 * All memory is the engine's, which lays it out by the sizes here. */
#ifndef RF_ENGINE_RAP_CACHE_H
#define RF_ENGINE_RAP_CACHE_H

#include "engine/rap/rap.h"

enum { RF_RAP_A, RF_RAP_B, RF_RAP_BOTH }; /* the choices of `key` */

/* A node that covers an event. It is the smallest that does, if what lies below it is still that set. */
struct rf_rap_place {
    uint32_t node;
    uint32_t below;
};

struct rf_rap_cache;
typedef void rf_rap_locate(const struct rf_rap_cache *cache, const struct rf_tuple *tuples,
                           size_t n, struct rf_rap_place *places);

struct rf_rap_cache {
    uint64_t key;
    size_t entries; /* of the leaf cache, a power of two from 2 on; 0: there is no cache */
    void *leaves;
    union {
        uint32_t *jump; /* one dimension */
        void *squares;  /* two */
    };
    uint64_t classes;    /* parts of the jump table that are in use */
    unsigned hash_shift; /* from a product to an entry of the leaf cache */
    unsigned slot_bits;  /* slots of a class are 1 << slot_bits */
    unsigned zeros_base; /* leading zeros that every value of the universe has */
    rf_rap_locate *locate;
};

/* Bytes behind `leaves`, and behind `jump` or `squares`. */
size_t rf_rap_cache_leaves_size(const struct rf_rap_plan *plan, size_t entries);
size_t rf_rap_cache_near_size(const struct rf_rap_plan *plan, size_t entries);

void rf_rap_cache_init(struct rf_rap_cache *cache, const struct rf_rap_plan *plan, uint64_t key,
                       size_t entries, void *leaves, void *near);
/* Node numbers have changed. */
void rf_rap_cache_forget(struct rf_rap_cache *cache);

/* The smallest node that covers the key, from node x on, which does. The way is remembered. */
uint32_t rf_rap_cache_descend(struct rf_rap_cache *cache, const struct rf_rap_tree *tree,
                              uint32_t x, struct rf_tuple key);

/* The ways to locate in one dimension that this processor has, portable first; NULL past the last. */
struct rf_rap_locate_way {
    const char *name;
    rf_rap_locate *locate;
};
const struct rf_rap_locate_way *rf_rap_locate_way(size_t i);

/* What of a tuple the tree is over. */
static inline struct rf_tuple rf_rap_key(struct rf_tuple tuple, uint64_t key)
{
    if (key == RF_RAP_BOTH)
        return tuple;
    return (struct rf_tuple){key == RF_RAP_A ? tuple.a : tuple.b, 0};
}

#endif
