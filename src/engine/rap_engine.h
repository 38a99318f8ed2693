/* rap_engine.h - the state of the rap engine, as rap.c, rap_feed.c and the embedder's calls share it. */
#ifndef RF_ENGINE_RAP_ENGINE_H
#define RF_ENGINE_RAP_ENGINE_H

#include "engine/engine.h"
#include "engine/rap.h"

enum { RF_RAP_A, RF_RAP_B, RF_RAP_BOTH }; /* the choices of `key` */
enum { RF_RAP_SETS_MAX = 1 << 26 };       /* 1 GiB and more */

struct rf_rap_config {
    double eps;
    uint64_t b;
    uint64_t bits;
    uint64_t key;
    uint64_t q;
    uint64_t first_merge;
    uint64_t buffer;
    uint64_t nodes;
    uint64_t ends;
    uint64_t cache;
};

struct rf_rap_buffer {
    size_t entries; /* a power of two, or 0 */
    uint64_t events;
    uint64_t *counts; /* 0: the entry is empty */
    uint64_t *a;
    uint64_t *b; /* NULL in one dimension */
};

struct rf_rap_state {
    struct rf_rap_config config;
    struct rf_rap_tree tree;
    struct rf_rap_buffer buffer;
    void *cache; /* rap_feed.c has these */
    size_t cache_entries;
    uint32_t *jump;
    uint64_t jump_classes; /* parts of it that are in use */
    uint64_t outside;
};

extern const struct rf_engine_ops rf_rap_engine, rf_rap_hw_engine;

rf_status rf_rap_check(void *config, struct rf_error *error);
void rf_rap_plan_from(struct rf_rap_plan *plan, const struct rf_rap_config *config);
uint64_t rf_rap_events(const struct rf_rap_state *state);
struct rf_rap_bounds rf_rap_query_state(const struct rf_rap_state *state, struct rf_rap_box box);

/* rap_feed.c: straight into the tree, without the buffer. */
void rf_rap_feed(struct rf_rap_state *state, const struct rf_tuple *tuples, size_t n);
void rf_rap_forget(struct rf_rap_state *state); /* node numbers have changed */
size_t rf_rap_cache_entry_size(const struct rf_rap_plan *plan);
size_t rf_rap_jump_size(const struct rf_rap_plan *plan, size_t cache_entries); /* bytes */

#endif
