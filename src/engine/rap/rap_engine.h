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

/* The options that the tree has as software and as hardware; each table puts its own among them. */
#define RF_RAP_OPTION_EPS                                                                          \
    {                                                                                              \
        .name = "eps", .type = RF_OPTION_SHARE, .standard = "1%",                                  \
        .brief = "the error allowed, as a share of all events", .min = 1e-6, .max = 1,             \
        .offset = offsetof(struct rf_rap_config, eps)                                              \
    }
#define RF_RAP_OPTION_B(brief_)                                                                    \
    {                                                                                              \
        .name = "b", .type = RF_OPTION_COUNT, .standard = "4", .brief = brief_, .min = 2,          \
        .max = 16, .offset = offsetof(struct rf_rap_config, b)                                     \
    }
#define RF_RAP_OPTION_BITS                                                                         \
    {                                                                                              \
        .name = "bits", .type = RF_OPTION_COUNT, .standard = "64",                                 \
        .brief = "of the universe: values are below 2^bits", .min = 8, .max = 64,                  \
        .offset = offsetof(struct rf_rap_config, bits)                                             \
    }
#define RF_RAP_OPTION_KEY(brief_, choices_)                                                        \
    {                                                                                              \
        .name = "key", .type = RF_OPTION_CHOICE, .standard = "a", .brief = brief_,                 \
        .choices = choices_, .offset = offsetof(struct rf_rap_config, key)                         \
    }
#define RF_RAP_OPTION_Q                                                                            \
    {                                                                                              \
        .name = "q", .type = RF_OPTION_COUNT, .standard = "2",                                     \
        .brief = "the next merge comes when there are q times as many events", .min = 2,           \
        .max = 1024, .offset = offsetof(struct rf_rap_config, q)                                   \
    }
#define RF_RAP_OPTION_FIRST_MERGE                                                                  \
    {                                                                                              \
        .name = "first_merge", .type = RF_OPTION_COUNT, .standard = "1024",                        \
        .brief = "events before the first merge", .min = 1, .max = 1e15,                           \
        .offset = offsetof(struct rf_rap_config, first_merge)                                      \
    }
#define RF_RAP_OPTION_ENDS(standard_)                                                              \
    {                                                                                              \
        .name = "ends", .type = RF_OPTION_COUNT, .standard = standard_,                            \
        .brief = "ends of a range that may lie across the tree: 2 any range, 1 the paper's",       \
        .min = 1, .max = 2, .offset = offsetof(struct rf_rap_config, ends)                         \
    }

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
    struct rf_rap_cache cache;
    uint64_t outside;
};

extern const struct rf_engine_ops rf_rap_engine, rf_rap_hw_engine;

rf_status rf_rap_check(void *config, struct rf_error *error);
void rf_rap_plan_from(struct rf_rap_plan *plan, const struct rf_rap_config *config);
uint64_t rf_rap_events(const struct rf_rap_state *state);
struct rf_rap_bounds rf_rap_query_state(const struct rf_rap_state *state, struct rf_rap_box box);

/* feed.c: straight into the tree, without the buffer. */
void rf_rap_feed(struct rf_rap_state *state, const struct rf_tuple *tuples, size_t n);

#endif
