/* rap_engine.h - the state of the rap engine, as rap.c, feed.c and the embedder's calls share it. */
#ifndef RF_ENGINE_RAP_ENGINE_H
#define RF_ENGINE_RAP_ENGINE_H

#include "engine/engine.h"
#include "engine/rap/rap.h"
#include "engine/rap/leaf_cache.h"

enum { RF_RAP_SETS_MAX = 1 << 26 }; /* 1 GiB and more */

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

/* A row of the option tables of both engines. What only some kinds have comes last. */
#define RF_RAP_ROW(config, field_, kind, value, text, ...)                                         \
    {                                                                                              \
        .name = #field_, .type = RF_OPTION_##kind, .standard = value, .brief = text,               \
        .offset = offsetof(config, field_), __VA_ARGS__                                            \
    }

/* The options that the tree has as software and as hardware, in front of those that either has alone. */
#define RF_RAP_TREE_ROW(...) RF_RAP_ROW(struct rf_rap_config, __VA_ARGS__)
#define RF_RAP_TREE_ROWS(fans, keys, word)                                                         \
    RF_RAP_TREE_ROW(eps, SHARE, "1%", "the error allowed, as a share of all events", .min = 1e-6,  \
                    .max = 1),                                                                     \
        RF_RAP_TREE_ROW(b, COUNT, "4", "children of a split: " fans, .min = 2, .max = 16),         \
        RF_RAP_TREE_ROW(bits, COUNT, "64", "of the universe: values are below 2^bits", .min = 8,   \
                        .max = 64),                                                                \
        RF_RAP_TREE_ROW(key, CHOICE, "a", word, .choices = keys),                                  \
        RF_RAP_TREE_ROW(q, COUNT, "2",                                                             \
                        "the next merge comes when there are q times as many events", .min = 2,    \
                        .max = 1024),                                                              \
        RF_RAP_TREE_ROW(first_merge, COUNT, "1024", "events before the first merge", .min = 1,     \
                        .max = 1e15)
#define RF_RAP_ENDS_ROW(any_range)                                                                 \
    RF_RAP_TREE_ROW(ends, COUNT, any_range,                                                        \
                    "ends of a range that may lie across the tree: 2 any range, 1 the paper's",    \
                    .min = 1, .max = 2)

struct rf_rap_buffer {
    size_t entries; /* a power of two, or 0 */
    uint64_t events;
    uint64_t left;    /* entries that went to the tree */
    uint64_t *counts; /* 0: the entry is empty */
    uint64_t *a;
    uint64_t *b; /* NULL in one dimension */
};

struct rf_rap_state {
    struct rf_rap_config config;
    struct rf_rap_tree tree;
    struct rf_rap_buffer buffer;
    struct rf_rap_cache cache;
    uint64_t outside;
};

extern const struct rf_engine_ops rf_rap, rf_rap_hw;

rf_status rf_rap_check(void *config, struct rf_error *error);
/* What both engines ask of b, and of the option that says how much `room` for nodes there is (0: any). */
enum { RF_RAP_SETS_MIN = 16 };
rf_status rf_rap_check_fan(const struct rf_rap_config *config, const char *engine,
                           const char *option, uint64_t room, struct rf_error *error);
enum rf_shape rf_rap_shape(const void *config);
void rf_rap_plan_from(struct rf_rap_plan *plan, const struct rf_rap_config *config);
uint64_t rf_rap_events(const struct rf_rap_state *state);
struct rf_rap_bounds rf_rap_query_state(const struct rf_rap_state *state, struct rf_rap_box box);

/* feed.c: straight into the tree, without the buffer. */
void rf_rap_feed(struct rf_rap_state *state, const struct rf_tuple *tuples, size_t n);

#endif
