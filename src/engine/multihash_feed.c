/* multihash_feed.c - the loops that every tuple goes through. */
#include "engine/multihash.h"

/* A tuple that is not in the accumulator; the smallest of its counters afterwards.
 *
 * Conservative update without a branch: the smallest counters go from m to m + 1, the others are
 * above m already, so max(c, m + 1) is right for all of them. Plain: all go up by one. Either way the
 * smallest is then m + 1. */
static uint32_t bump(struct rf_multihash *state, const size_t *places)
{
    uint32_t least = rf_multihash_least(state, places);
    least += least < state->cap;
    for (unsigned i = 0; i < state->tables; i++) {
        uint32_t count = rf_multihash_load(state, places[i]);
        if (state->config.conservative)
            count = count > least ? count : least;
        else
            count += count < state->cap;
        rf_multihash_store(state, places[i], count);
    }
    return least;
}

static void feed_one(struct rf_multihash *state, struct rf_tuple t)
{
    uint64_t hash = rf_multihash_hash(state, t);
    uint32_t slot = rf_accumulator_find(&state->accumulator, t, hash);
    bool inside = slot < state->accumulator.slots;
    if (inside) {
        state->accumulator.counts[slot]++;
        if (state->config.shield)
            return;
    }
    size_t places[RF_MULTIHASH_TABLES_MAX];
    rf_multihash_places(state, t, hash, places);
    uint32_t least = bump(state, places);
    if (!inside && least >= state->promote_at)
        rf_multihash_promote(state, t, hash, least);
}

void rf_multihash_feed(struct rf_multihash *state, const struct rf_tuple *tuples, size_t n)
{
    for (size_t i = 0; i < n; i++)
        feed_one(state, tuples[i]);
    state->events += n;
}

void rf_multihash_feed_counted(struct rf_multihash *state, struct rf_tuple tuple, uint64_t count)
{
    uint64_t hash = rf_multihash_hash(state, tuple);
    state->events += count;
    while (count > 0) {
        uint32_t slot = rf_accumulator_find(&state->accumulator, tuple, hash);
        if (slot < state->accumulator.slots && state->config.shield) {
            state->accumulator.counts[slot] += (uint32_t)count;
            return;
        }
        feed_one(state, tuple);
        count--;
    }
}
