/* hot.h - which rules of a grammar are hot data streams, and how often each occurs. */
#ifndef RF_ENGINE_STREAMS_HOT_H
#define RF_ENGINE_STREAMS_HOT_H

#include "engine/streams/grammar.h"
#include <riffle/status.h>

/* A stream has a length from min to max and a heat, length x occurrences, of at least `heat`. */
struct rf_hot_limits {
    uint32_t min, max;
    uint64_t heat;
};

/* Called for each: the rule, and how often it occurs outside of longer streams. */
typedef rf_status rf_hot_found(void *context, uint32_t rule, uint32_t count);

/* A status other than RF_OK from `found` ends the search and is returned. Only the analysis fields of rules change. */
rf_status rf_hot_find(const struct rf_grammar *grammar, const struct rf_hot_limits *limits,
                      rf_hot_found *found, void *context);

/* The names of the tuples that a rule stands for. `names` and `work` have room for as many as its length. */
void rf_hot_expand(const struct rf_grammar *grammar, uint32_t rule, uint32_t *names,
                   uint32_t *work);

#endif
