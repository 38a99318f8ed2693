/* merge.c - two states of the same make into one, as if their intervals were one.
 *
 * What each side knows of a tuple is an upper bound: its entry's count, or its smallest counter where
 * it has no entry. Upper bounds add up, and so do the doubts:
 *
 *     in both       count = count1 + count2          doubt = doubt1 + doubt2
 *     in one only   count = count1 + least2          doubt = doubt1 + least2
 *     in neither    every counter = counter1 + counter2
 *
 * The heaviest entries stay; those that find no room go back into the added-up counters. */
#include "engine/multihash/multihash.h"
#include "base/error.h"

/* What `state` knows at most of a tuple that has no entry there. */
static uint32_t least_outside(const struct rf_multihash *state, struct rf_tuple tuple)
{
    size_t places[RF_MULTIHASH_TABLES_MAX];
    rf_multihash_places(state, tuple, rf_multihash_hash(state, tuple), places);
    return rf_multihash_least(state, places);
}

static uint32_t find(const struct rf_multihash *state, struct rf_tuple tuple)
{
    return rf_multihash_find(state, tuple, rf_multihash_hash(state, tuple));
}

/* Add to the entry at `slot` what the other side knows. */
static void add_knowledge(struct rf_multihash *state, uint32_t slot,
                          const struct rf_multihash *other)
{
    struct rf_accumulator *mine = &state->accumulator;
    const struct rf_accumulator *theirs = &other->accumulator;
    uint32_t there = find(other, mine->tuples[slot]);
    bool was_candidate = mine->since[slot] != 0; /* where it is exact */
    mine->since[slot] = 0;                       /* of two intervals: no rate tells when it began */
    if (there != RF_ACCUMULATOR_ABSENT) {
        bool both_exact = (mine->doubts[slot] & theirs->doubts[there]) == RF_MULTIHASH_RETAINED_BIT;
        mine->counts[slot] += theirs->counts[there];
        mine->doubts[slot] = (mine->doubts[slot] & ~RF_MULTIHASH_RETAINED_BIT) +
                             (theirs->doubts[there] & ~RF_MULTIHASH_RETAINED_BIT);
        if (both_exact) {
            mine->doubts[slot] = RF_MULTIHASH_RETAINED_BIT;
            mine->since[slot] = was_candidate;
        }
        return;
    }
    uint32_t least = least_outside(other, mine->tuples[slot]);
    state->saturated |= least == other->cap;
    mine->counts[slot] += least;
    mine->doubts[slot] = (mine->doubts[slot] & ~RF_MULTIHASH_RETAINED_BIT) + least;
}

static uint32_t coldest(const struct rf_accumulator *accumulator)
{
    uint32_t slot = 1;
    for (uint32_t i = 2; i <= accumulator->used; i++)
        if (accumulator->counts[i] < accumulator->counts[slot])
            slot = i;
    return slot;
}

/* An entry, as it looks for a seat. */
struct entry {
    struct rf_tuple tuple;
    uint32_t count, doubt;
};

/* The lighter of the newcomer and the coldest entry goes back into the counters. */
static void seat(struct rf_multihash *state, struct entry entry)
{
    struct rf_accumulator *mine = &state->accumulator;
    uint32_t slot;
    if (mine->used < mine->slots) {
        slot = ++mine->used;
    } else {
        slot = coldest(mine);
        if (mine->counts[slot] >= entry.count) {
            rf_multihash_write_back(state, entry.tuple, entry.count);
            return;
        }
        rf_multihash_write_back(state, mine->tuples[slot], mine->counts[slot]);
    }
    mine->tuples[slot] = entry.tuple;
    mine->counts[slot] = entry.count;
    mine->doubts[slot] = entry.doubt;
    mine->since[slot] = 0;
}

/* An entry of theirs that we have none for. The counters are added up already: ours alone are the
 * difference, or less than that where something was written back since. */
static void adopt(struct rf_multihash *state, const struct rf_multihash *other, uint32_t there)
{
    const struct rf_accumulator *theirs = &other->accumulator;
    struct rf_tuple tuple = theirs->tuples[there];
    size_t places[RF_MULTIHASH_TABLES_MAX];
    uint32_t least = UINT32_MAX;
    rf_multihash_places(state, tuple, rf_multihash_hash(state, tuple), places);
    for (unsigned i = 0; i < state->tables; i++) {
        uint32_t count = rf_multihash_load(state, places[i]);
        state->saturated |= count == state->cap;
        count -= rf_multihash_load(other, places[i]);
        least = count < least ? count : least;
    }
    uint32_t doubt = (theirs->doubts[there] & ~RF_MULTIHASH_RETAINED_BIT) + least;
    seat(state, (struct entry){tuple, theirs->counts[there] + least, doubt});
}

static void add_counters(struct rf_multihash *state, const struct rf_multihash *other)
{
    for (size_t i = 0; i < state->config.counters; i++) {
        uint32_t sum = rf_multihash_load(state, i) + rf_multihash_load(other, i);
        rf_multihash_store(state, i, sum < state->cap ? sum : state->cap);
    }
}

static void add_totals(struct rf_multihash *state, const struct rf_multihash *other)
{
    state->events += other->events;
    state->promotions += other->promotions;
    state->replaced += other->replaced;
    state->comparisons += other->comparisons;
    state->changed += other->changed;
    state->slack += other->slack;
    state->slack_entry = 0; /* a tuple may have been replaced on both sides and now again */
    state->saturated |= other->saturated;
    state->bar = state->promote_at;
    state->cursor = 1;
}

rf_status rf_multihash_merge(void *memory, const void *other_memory, struct rf_error *error)
{
    struct rf_multihash *state = memory;
    const struct rf_multihash *other = other_memory;
    if (state->interval != other->interval)
        return rf_fail(error, RF_EINVAL,
                       "engine 'multihash': intervals of %llu and %llu events cannot merge",
                       (unsigned long long)state->interval, (unsigned long long)other->interval);
    if (state->events + other->events > RF_MULTIHASH_EVENTS_MAX)
        return rf_fail(error, RF_EINVAL,
                       "engine 'multihash': %llu events are too many for one interval",
                       (unsigned long long)(state->events + other->events));
    uint32_t mine = state->accumulator.used;
    for (uint32_t i = 1; i <= mine; i++)
        add_knowledge(state, i, other);
    add_counters(state, other);
    for (uint32_t i = 1; i <= other->accumulator.used; i++)
        if (find(state, other->accumulator.tuples[i]) == RF_ACCUMULATOR_ABSENT)
            adopt(state, other, i);
    add_totals(state, other);
    rf_multihash_reindex(state);
    return RF_OK;
}
