/* multihash_feed.c - the loops that every tuple goes through.
 *
 * Two ways to do the same. One at a time, each tuple branches on whether the accumulator has it. That
 * is the faster way while the processor can foretell the branch, as in the loops of programs. In
 * batches nothing depends on a branch:
 *
 *     look up all of them; add one to each slot found, or to the dummy slot
 *     list those that were absent, without a branch              -> absent[]
 *     update the counters of the listed
 *
 * which costs more instructions and no mispredictions. A promotion (rare) changes what the rest of the
 * batch should have found: the counts of what comes behind it are taken back and the rest is done
 * one at a time. So both ways give the same results, to the event.
 *
 * Which one: every so often a stretch is watched, and a small model of a branch predictor says how many of its
 * branches it would have missed. (A clock would say it more directly, but then a run would not
 * repeat.)
 *
 * Conservative update without a branch: the smallest counters go from m to m + 1, the others are
 * above m already, so max(c, m + 1) is right for all of them. Plain: all go up by one. Either way the
 * smallest is then m + 1.
 *
 * The usual numbers of tables, widths and hashes get loops of their own by inlining with constants
 * (struct shape); anything else takes the general one. */
#include "engine/multihash.h"

#define ALWAYS_INLINE inline __attribute__((always_inline))

enum { BATCH = 128 };

/* What a loop is made for. A constant in each of its copies. */
struct shape {
    unsigned tables;
    bool wide;
    enum rf_multihash_hash hash;
};

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

/* Any options. */
static void feed_any(struct rf_multihash *state, struct rf_tuple t)
{
    uint64_t hash = rf_multihash_hash(state, t);
    uint32_t slot = rf_accumulator_find(&state->accumulator, t, hash);
    bool inside = slot != RF_ACCUMULATOR_ABSENT;
    if (inside) {
        state->accumulator.counts[slot]++;
        if (state->config.shield)
            return;
    }
    size_t places[RF_MULTIHASH_TABLES_MAX];
    rf_multihash_places(state, t, hash, places);
    uint32_t least = bump(state, places);
    if (!inside && least >= state->bar)
        rf_multihash_promote(state, t, hash, least);
}

static ALWAYS_INLINE uint32_t load(const void *counters, size_t place, struct shape shape)
{
    return shape.wide ? ((const uint32_t *)counters)[place] : ((const uint16_t *)counters)[place];
}

static ALWAYS_INLINE void store(void *counters, size_t place, uint32_t count, struct shape shape)
{
    if (shape.wide)
        ((uint32_t *)counters)[place] = count;
    else
        ((uint16_t *)counters)[place] = (uint16_t)count;
}

/* bump for a known shape with conservative update. */
static ALWAYS_INLINE uint32_t bump_shaped(struct rf_multihash *state, struct rf_tuple t,
                                          uint64_t hash, struct shape shape)
{
    uint64_t signature = rf_multihash_signature_of(shape.hash, state->lookup, t, hash, 0);
    size_t place[RF_MULTIHASH_LANES];
    uint32_t count[RF_MULTIHASH_LANES], least = state->cap - 1;
    for (unsigned i = 0; i < shape.tables; i++) {
        place[i] = rf_multihash_place_of(shape.hash, state->table_size, &signature, i);
        count[i] = load(state->counters, place[i], shape);
        least = count[i] < least ? count[i] : least;
    }
    least++;
    for (unsigned i = 0; i < shape.tables; i++)
        store(state->counters, place[i], count[i] > least ? count[i] : least, shape);
    return least;
}

/* True: the tuple was promoted, or could have been. */
static ALWAYS_INLINE bool feed_absent(struct rf_multihash *state, struct rf_tuple t, uint64_t hash,
                                      struct shape shape)
{
    uint32_t least = bump_shaped(state, t, hash, shape);
    if (__builtin_expect(least < state->bar, 1))
        return false;
    rf_multihash_promote(state, t, hash, least);
    return true;
}

static ALWAYS_INLINE void feed_singly(struct rf_multihash *state, const struct rf_tuple *tuples,
                                      size_t n, struct shape shape)
{
    struct rf_accumulator *accumulator = &state->accumulator;
    for (size_t i = 0; i < n; i++) {
        uint64_t hash = rf_multihash_hash(state, tuples[i]);
        uint32_t slot = rf_accumulator_find(accumulator, tuples[i], hash);
        if (slot != RF_ACCUMULATOR_ABSENT)
            accumulator->counts[slot]++;
        else
            feed_absent(state, tuples[i], hash, shape);
    }
}

/* What the first half of a batch leaves for the second. */
struct batch {
    uint64_t hash[BATCH];
    uint16_t slot[BATCH];
    uint16_t absent[BATCH + 1];
    size_t n_absent;
};

static ALWAYS_INLINE void look_up(struct rf_multihash *state, const struct rf_tuple *tuples,
                                  size_t n, struct batch *batch)
{
    struct rf_accumulator accumulator = state->accumulator;
    size_t absent = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t hash = rf_multihash_hash(state, tuples[i]);
        uint32_t slot = rf_accumulator_find(&accumulator, tuples[i], hash);
        accumulator.counts[slot]++;
        batch->hash[i] = hash;
        batch->slot[i] = (uint16_t)slot;
        batch->absent[absent] = (uint16_t)i;
        absent += slot == RF_ACCUMULATOR_ABSENT;
    }
    batch->n_absent = absent;
}

/* The batch up to a promotion; how many tuples that was. */
static ALWAYS_INLINE size_t feed_batch(struct rf_multihash *state, const struct rf_tuple *tuples,
                                       size_t n, struct shape shape)
{
    struct batch batch;
    look_up(state, tuples, n, &batch);
    for (size_t k = 0; k < batch.n_absent; k++) {
        size_t i = batch.absent[k];
        uint32_t least = bump_shaped(state, tuples[i], batch.hash[i], shape);
        if (__builtin_expect(least < state->bar, 1))
            continue;
        for (size_t later = i + 1; later < n; later++)
            state->accumulator.counts[batch.slot[later]]--;
        rf_multihash_promote(state, tuples[i], batch.hash[i], least);
        return i + 1;
    }
    return n;
}

static ALWAYS_INLINE void feed_batches(struct rf_multihash *state, const struct rf_tuple *tuples,
                                       size_t n, struct shape shape)
{
    while (n > 0) {
        size_t piece = n < BATCH ? n : BATCH;
        size_t done = feed_batch(state, tuples, piece, shape);
        feed_singly(state, tuples + done, piece - done, shape);
        tuples += piece;
        n -= piece;
    }
}

/* The copies. */
#define LOOPS(name, ...)                                                                           \
    static void singly_##name(struct rf_multihash *state, const struct rf_tuple *tuples, size_t n) \
    {                                                                                              \
        feed_singly(state, tuples, n, (struct shape){__VA_ARGS__});                                \
    }                                                                                              \
    static void batches_##name(struct rf_multihash *state, const struct rf_tuple *tuples,          \
                               size_t n)                                                           \
    {                                                                                              \
        feed_batches(state, tuples, n, (struct shape){__VA_ARGS__});                               \
    }

LOOPS(2_narrow, 2, false, RF_MULTIHASH_MULTIPLY)
LOOPS(3_narrow, 3, false, RF_MULTIHASH_MULTIPLY)
LOOPS(4_narrow, 4, false, RF_MULTIHASH_MULTIPLY)
LOOPS(4_wide, 4, true, RF_MULTIHASH_MULTIPLY)
LOOPS(4_paper, 4, true, RF_MULTIHASH_PAPER)

typedef void feed_loop(struct rf_multihash *state, const struct rf_tuple *tuples, size_t n);

static const struct {
    struct shape shape;
    feed_loop *singly, *batches;
} loops[] = {
    {{2, false, RF_MULTIHASH_MULTIPLY}, singly_2_narrow, batches_2_narrow},
    {{3, false, RF_MULTIHASH_MULTIPLY}, singly_3_narrow, batches_3_narrow},
    {{4, false, RF_MULTIHASH_MULTIPLY}, singly_4_narrow, batches_4_narrow},
    {{4, true, RF_MULTIHASH_MULTIPLY},  singly_4_wide,   batches_4_wide  },
    {{4, true, RF_MULTIHASH_PAPER},     singly_4_paper,  batches_4_paper },
};

enum { LOOPS_COUNT = sizeof loops / sizeof *loops };

void rf_multihash_choose_loop(struct rf_multihash *state)
{
    const struct rf_multihash_config *config = &state->config;
    state->loop = LOOPS_COUNT;
    if (!config->conservative || !config->shield)
        return;
    for (unsigned i = 0; i < LOOPS_COUNT; i++)
        if (loops[i].shape.tables == state->tables && loops[i].shape.wide == state->wide &&
            loops[i].shape.hash == config->hash)
            state->loop = i;
}

void rf_multihash_feed(struct rf_multihash *state, const struct rf_tuple *tuples, size_t n)
{
    state->events += n;
    if (state->loop == LOOPS_COUNT) {
        for (size_t i = 0; i < n; i++)
            feed_any(state, tuples[i]);
        return;
    }
    if (state->config.loop == RF_MULTIHASH_BATCH)
        loops[state->loop].batches(state, tuples, n);
    else
        loops[state->loop].singly(state, tuples, n);
}

void rf_multihash_feed_counted(struct rf_multihash *state, struct rf_tuple tuple, uint64_t count)
{
    uint64_t hash = rf_multihash_hash(state, tuple);
    state->events += count;
    while (count > 0) {
        uint32_t slot = rf_accumulator_find(&state->accumulator, tuple, hash);
        if (slot != RF_ACCUMULATOR_ABSENT && state->config.shield) {
            state->accumulator.counts[slot] += (uint32_t)count;
            return;
        }
        feed_any(state, tuple);
        count--;
    }
}
