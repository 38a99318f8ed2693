/* promote.c - into the accumulator, and out of it again.
 *
 * Narayanasamy et al., sections 5.2 and 5.4: empty entries are taken first, then, with
 * replace=retained, those kept from the last interval that have not reached the threshold again
 * (the paper leaves open which: the first in the list), else the tuple stays outside. With
 * replace=coldest the entry with the smallest count goes, if that is smaller than the newcomer's,
 * and its count goes back into its counters, so that what they say of it stays an upper bound.
 *
 * Within an interval the counts of entries only grow. That keeps the search for a victim off the hot path: an
 * entry that could not be replaced once cannot be replaced later (`cursor`), and a count that was too small
 * for a newcomer is too small for the next one (`bar`). */
#include "engine/multihash/multihash.h"

enum { NO_SLOT = RF_ACCUMULATOR_ABSENT };

static bool is_replaceable(const struct rf_multihash *state, uint32_t slot)
{
    return (state->accumulator.doubts[slot] & RF_MULTIHASH_RETAINED_BIT) != 0 &&
           state->accumulator.counts[slot] < state->candidate;
}

static uint32_t first_retained(struct rf_multihash *state)
{
    uint32_t *slot = &state->cursor;
    for (; *slot <= state->accumulator.used; ++*slot)
        if (is_replaceable(state, *slot))
            return *slot;
    state->bar = UINT32_MAX;
    return NO_SLOT;
}

static uint32_t coldest(struct rf_multihash *state, uint32_t below)
{
    const uint32_t *counts = state->accumulator.counts;
    uint32_t least = UINT32_MAX, slot = 1;
    for (uint32_t i = 1; i <= state->accumulator.used; i++)
        least = counts[i] < least ? counts[i] : least;
    if (least >= state->bar)
        state->bar = least + 1;
    if (least >= below)
        return NO_SLOT;
    while (counts[slot] != least)
        slot++;
    return slot;
}

void rf_multihash_write_back(struct rf_multihash *state, struct rf_tuple tuple, uint32_t count)
{
    size_t places[RF_MULTIHASH_TABLES_MAX];
    rf_multihash_places(state, tuple, rf_multihash_hash(state, tuple), places);
    count = count < state->cap ? count : state->cap;
    for (unsigned i = 0; i < state->tables; i++)
        if (rf_multihash_load(state, places[i]) < count)
            rf_multihash_store(state, places[i], count);
}

static uint64_t hash_of(const void *context, struct rf_tuple tuple)
{
    const struct rf_multihash *state = context;
    return rf_hash_multiply(tuple, state->apart ? rf_multihash_secret(state) : state->key);
}

/* Whoever made this stream knows the seed. From now on entries are found by a hash of their own, which changes
 * no result. Only batches and the general loop compute two hashes, so those take over. */
static void take_apart(struct rf_multihash *state)
{
    state->apart = true;
    rf_accumulator_reindex(&state->accumulator, hash_of, state);
}

void rf_multihash_reindex(struct rf_multihash *state)
{
    if (!rf_accumulator_reindex(&state->accumulator, hash_of, state))
        take_apart(state);
}

static void enter(struct rf_multihash *state, uint32_t slot)
{
    uint64_t hash = hash_of(state, state->accumulator.tuples[slot]);
    if (!rf_accumulator_enter(&state->accumulator, slot, hash) && !state->apart)
        take_apart(state);
}

/* The entry's count goes where it is kept without a slot. */
static void evict(struct rf_multihash *state, uint32_t slot)
{
    struct rf_accumulator *accumulator = &state->accumulator;
    struct rf_tuple tuple = accumulator->tuples[slot];
    uint32_t count = accumulator->counts[slot];
    if (state->config.replace == RF_MULTIHASH_COLDEST) {
        rf_multihash_write_back(state, tuple, count);
    } else if (count > state->slack_entry) {
        state->slack += count - state->slack_entry;
        state->slack_entry = count;
    }
    state->replaced++;
}

static void put(struct rf_multihash *state, uint32_t slot, struct rf_tuple tuple, uint32_t count,
                uint64_t events)
{
    state->accumulator.tuples[slot] = tuple;
    state->accumulator.counts[slot] = count;
    state->accumulator.doubts[slot] = count - 1; /* one of them is certainly its own */
    state->accumulator.since[slot] = rf_multihash_moment(state, events);
    state->saturated |= count == state->cap;
    state->promotions++;
}

/* The paper's resetting. Part of what the counters lose may belong to other tuples. */
static void reset_counters(struct rf_multihash *state, struct rf_tuple tuple, uint64_t hash)
{
    size_t places[RF_MULTIHASH_TABLES_MAX];
    uint32_t most = 0;
    rf_multihash_places(state, tuple, hash, places);
    for (unsigned i = 0; i < state->tables; i++) {
        uint32_t count = rf_multihash_load(state, places[i]);
        most = count > most ? count : most;
        rf_multihash_store(state, places[i], 0);
    }
    state->slack += most;
    state->saturated |= most == state->cap;
}

void rf_multihash_promote(struct rf_multihash *state, struct rf_tuple tuple, uint64_t hash,
                          uint32_t count, uint64_t more)
{
    struct rf_accumulator *accumulator = &state->accumulator;
    uint64_t events = state->events + more;
    uint32_t slot;
    if (accumulator->used < accumulator->slots) {
        slot = ++accumulator->used;
        put(state, slot, tuple, count, events);
        enter(state, slot);
    } else {
        slot = state->config.replace == RF_MULTIHASH_COLDEST ? coldest(state, count)
                                                             : first_retained(state);
        if (slot == NO_SLOT)
            return;
        evict(state, slot);
        rf_accumulator_leave(accumulator, slot, hash_of, state);
        put(state, slot, tuple, count, events);
        enter(state, slot);
    }
    if (state->config.reset)
        reset_counters(state, tuple, hash);
}
