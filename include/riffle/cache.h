/* cache.h - which loads and stores would have missed: a model of set-associative LRU caches.
 *
 *     struct rf_cache *cache;
 *     rf_cache_open(&cache, NULL, NULL, &error);               L1 32 KB 8-way, L2 1 MB 16-way
 *     missed = rf_cache_access(cache, addr, bytes, RF_CACHE_LOAD);
 *     rf_cache_close(cache);
 *
 * A shape is written as text, each level as size/ways/bytes of a line, the one next to the core
 * first: `l1=32Ki/8/64,l2=1Mi/16/64`. All state is one block whose size is known beforehand; an
 * embedder that brings the block itself uses rf_cache_size and rf_cache_init. One thread at a time. */
#ifndef RIFFLE_CACHE_H
#define RIFFLE_CACHE_H

#include <riffle/alloc.h>
#include <riffle/event.h>
#include <riffle/status.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { RF_CACHE_LEVELS_MAX = 3, RF_CACHE_WAYS_MAX = 16 };

enum rf_cache_use { RF_CACHE_LOAD, RF_CACHE_STORE };

/* size = sets x ways x line, all but the ways powers of two; lines do not get shorter downwards. */
struct rf_cache_level {
    uint64_t size; /* bytes */
    uint32_t ways;
    uint32_t line; /* bytes */
};

struct rf_cache_shape {
    struct rf_cache_level levels[RF_CACHE_LEVELS_MAX];
    unsigned n_levels;
};

/* Of one level. An access that touches two lines counts once here, and as a miss if either missed. */
struct rf_cache_stats {
    uint64_t accesses[2]; /* by enum rf_cache_use; of a lower level: what missed above it */
    uint64_t misses[2];
};

struct rf_cache;

/* The default shape. */
#define RF_CACHE_STANDARD "l1=32Ki/8/64,l2=1Mi/16/64"

/* NULL is the default shape. Errors name the level. */
rf_status rf_cache_parse(struct rf_cache_shape *shape, const char *text, struct rf_error *error);
/* The shape as text that parses back, terminated, cut to `size`. Returns the length needed. */
size_t rf_cache_print(const struct rf_cache_shape *shape, char *text, size_t size);

/* The block: its size for a shape that was parsed (or built to the rule above), and its making. The
 * block is aligned to 64 bytes, belongs to the caller and holds no other resource. */
size_t rf_cache_size(const struct rf_cache_shape *shape);
struct rf_cache *rf_cache_init(void *block, const struct rf_cache_shape *shape);

/* Both in one, with a block from `alloc`. */
rf_status rf_cache_open(struct rf_cache **cache, const char *shape, const struct rf_alloc *alloc,
                        struct rf_error *error);
void rf_cache_close(struct rf_cache *cache); /* NULL is fine; only for what was opened */

/* Let what misses all of `cache` go on to the second and later levels of `other`: an instruction
 * cache of one level that shares its L2 with the data cache. `other` must outlive `cache`, and its
 * second level's lines must not be shorter than those of `cache`: RF_EINVAL otherwise. */
rf_status rf_cache_join(struct rf_cache *cache, struct rf_cache *other);

/* One access of `bytes` bytes (0 counts as 1), every line of it touched and brought in. Returns how
 * many levels were missed: 0 a hit in the first. */
unsigned rf_cache_access(struct rf_cache *cache, uint64_t addr, unsigned bytes,
                         enum rf_cache_use use);

/* Run the loads and stores among n records through the cache, in order, and fill their `miss`. */
void rf_cache_fill(struct rf_cache *cache, struct rf_record *records, size_t n);

/* Counts since init of level 0, 1, ...; zeros past the last. */
struct rf_cache_stats rf_cache_stats(const struct rf_cache *cache, unsigned level);
void rf_cache_flush(struct rf_cache *cache); /* empties every level of its own; counts stay */

#ifdef __cplusplus
}
#endif
#endif
