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
    enum rf_multihash_width width;
    enum rf_multihash_hash hash;
    bool plain; /* not the conservative update */
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

/* What a loop keeps at hand: the compiler cannot know that the counts it stores are none of these. */
struct hot {
    struct rf_multihash *state;
    struct rf_accumulator_view view;
    uint32_t *counts;
    const struct rf_multihash_lookup *lookup;
    void *counters;
    uint64_t seed;
    uint32_t table_size, cap, bar;
};

static ALWAYS_INLINE struct hot take_hot(struct rf_multihash *state)
{
    return (struct hot){state,
                        rf_accumulator_view(&state->accumulator),
                        state->accumulator.counts,
                        state->lookup,
                        state->counters,
                        state->seed,
                        state->table_size,
                        state->cap,
                        state->bar};
}

/* bump for a known shape. */
static ALWAYS_INLINE uint32_t bump_shaped(const struct hot *hot, struct rf_tuple t, uint64_t hash,
                                          struct shape shape)
{
    uint64_t signature[RF_MULTIHASH_WORDS_MAX];
    size_t place[RF_MULTIHASH_TABLES_MAX];
    uint32_t count[RF_MULTIHASH_TABLES_MAX], least = hot->cap - 1;
    for (unsigned w = 0; w * RF_MULTIHASH_LANES < shape.tables; w++)
        signature[w] = rf_multihash_signature_of(shape.hash, hot->lookup, t, hash, w);
    for (unsigned i = 0; i < shape.tables; i++) {
        place[i] = rf_multihash_place_of(shape.hash, hot->table_size, signature, i);
        count[i] = rf_multihash_load_of(shape.width, hot->counters, place[i]);
        least = count[i] < least ? count[i] : least;
    }
    least++;
    for (unsigned i = 0; i < shape.tables; i++) {
        uint32_t more = shape.plain ? count[i] + (count[i] < hot->cap) : least;
        rf_multihash_store_of(shape.width, hot->counters, place[i],
                              count[i] > more ? count[i] : more);
    }
    return least;
}

static ALWAYS_INLINE void feed_singly(struct rf_multihash *state, const struct rf_tuple *tuples,
                                      size_t n, struct shape shape)
{
    struct hot hot = take_hot(state);
    for (size_t i = 0; i < n; i++) {
        uint64_t hash = rf_hash_multiply(tuples[i], hot.seed);
        uint32_t slot = rf_accumulator_find_by(hot.view, &state->accumulator, tuples[i], hash);
        if (slot != RF_ACCUMULATOR_ABSENT) {
            hot.counts[slot]++;
            continue;
        }
        uint32_t least = bump_shaped(&hot, tuples[i], hash, shape);
        if (__builtin_expect(least >= hot.bar, 0)) {
            rf_multihash_promote(state, tuples[i], hash, least);
            hot.bar = state->bar;
        }
    }
}

/* What the first half of a batch leaves for the second. */
struct batch {
    uint64_t hash[BATCH];
    uint16_t slot[BATCH];
    uint16_t absent[BATCH + 1];
};

/* How many of them were absent. */
static ALWAYS_INLINE size_t look_up(const struct hot *hot, const struct rf_tuple *tuples, size_t n,
                                    struct batch *batch)
{
    size_t absent = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t hash = rf_hash_multiply(tuples[i], hot->seed);
        uint32_t slot =
            rf_accumulator_find_by(hot->view, &hot->state->accumulator, tuples[i], hash);
        hot->counts[slot]++;
        batch->hash[i] = hash;
        batch->slot[i] = (uint16_t)slot;
        batch->absent[absent] = (uint16_t)i;
        absent += slot == RF_ACCUMULATOR_ABSENT;
    }
    return absent;
}

/* The batch up to a promotion; how many tuples that was. */
static ALWAYS_INLINE size_t feed_batch(struct hot *hot, const struct rf_tuple *tuples, size_t n,
                                       struct shape shape)
{
    struct batch batch;
    size_t absent = look_up(hot, tuples, n, &batch);
    for (size_t k = 0; k < absent; k++) {
        size_t i = batch.absent[k];
        uint32_t least = bump_shaped(hot, tuples[i], batch.hash[i], shape);
        if (__builtin_expect(least < hot->bar, 1))
            continue;
        for (size_t later = i + 1; later < n; later++)
            hot->counts[batch.slot[later]]--;
        rf_multihash_promote(hot->state, tuples[i], batch.hash[i], least);
        hot->bar = hot->state->bar;
        return i + 1;
    }
    return n;
}

static ALWAYS_INLINE void feed_batches(struct rf_multihash *state, const struct rf_tuple *tuples,
                                       size_t n, struct shape shape)
{
    struct hot hot = take_hot(state);
    for (size_t done = 0; done < n;)
        done += feed_batch(&hot, tuples + done, n - done < BATCH ? n - done : BATCH, shape);
}

/* The copies: for every shape, and again for processors that have the newer instructions. */
#define LOOP(name, feed, attribute, ...)                                                           \
    attribute static void name(struct rf_multihash *state, const struct rf_tuple *tuples,          \
                               size_t n)                                                           \
    {                                                                                              \
        const struct shape shape = {__VA_ARGS__};                                                  \
        feed(state, tuples, n, shape);                                                             \
    }
#ifdef __x86_64__
#define NEWER __attribute__((target("avx2,bmi,bmi2,lzcnt,popcnt")))
#else
#define NEWER
#endif
#define LOOPS(name, ...)                                                                           \
    LOOP(singly_##name, feed_singly, , __VA_ARGS__)                                                \
    LOOP(batches_##name, feed_batches, , __VA_ARGS__)                                              \
    LOOP(newer_singly_##name, feed_singly, NEWER, __VA_ARGS__)                                     \
    LOOP(newer_batches_##name, feed_batches, NEWER, __VA_ARGS__)

LOOPS(2_packed, 2, RF_MULTIHASH_12, RF_MULTIHASH_MULTIPLY, false)
LOOPS(2_narrow, 2, RF_MULTIHASH_16, RF_MULTIHASH_MULTIPLY, false)
LOOPS(3_packed, 3, RF_MULTIHASH_12, RF_MULTIHASH_MULTIPLY, false)
LOOPS(4_narrow, 4, RF_MULTIHASH_16, RF_MULTIHASH_MULTIPLY, false)
LOOPS(4_wide, 4, RF_MULTIHASH_32, RF_MULTIHASH_MULTIPLY, false)
LOOPS(1_paper, 1, RF_MULTIHASH_32, RF_MULTIHASH_PAPER, false)
LOOPS(2_paper, 2, RF_MULTIHASH_32, RF_MULTIHASH_PAPER, false)
LOOPS(4_paper, 4, RF_MULTIHASH_32, RF_MULTIHASH_PAPER, false)
LOOPS(8_paper, 8, RF_MULTIHASH_32, RF_MULTIHASH_PAPER, false)
LOOPS(16_paper, 16, RF_MULTIHASH_32, RF_MULTIHASH_PAPER, false)
LOOPS(2_plain, 2, RF_MULTIHASH_32, RF_MULTIHASH_PAPER, true)
LOOPS(4_plain, 4, RF_MULTIHASH_32, RF_MULTIHASH_PAPER, true)
LOOPS(8_plain, 8, RF_MULTIHASH_32, RF_MULTIHASH_PAPER, true)

typedef void feed_loop(struct rf_multihash *state, const struct rf_tuple *tuples, size_t n);

/* [newer][batches] */
#define SINGLY_AND_BATCHES(prefix, name)                                                           \
    {                                                                                              \
        prefix##singly_##name, prefix##batches_##name                                              \
    }
#define FOUR(name)                                                                                 \
    {                                                                                              \
        SINGLY_AND_BATCHES(, name), SINGLY_AND_BATCHES(newer_, name)                               \
    }

static const struct {
    struct shape shape;
    feed_loop *loop[2][2];
} loops[] = {
    {{2, RF_MULTIHASH_12, RF_MULTIHASH_MULTIPLY, false}, FOUR(2_packed)},
    {{2, RF_MULTIHASH_16, RF_MULTIHASH_MULTIPLY, false}, FOUR(2_narrow)},
    {{3, RF_MULTIHASH_12, RF_MULTIHASH_MULTIPLY, false}, FOUR(3_packed)},
    {{4, RF_MULTIHASH_16, RF_MULTIHASH_MULTIPLY, false}, FOUR(4_narrow)},
    {{4, RF_MULTIHASH_32, RF_MULTIHASH_MULTIPLY, false}, FOUR(4_wide)},
    {{1, RF_MULTIHASH_32, RF_MULTIHASH_PAPER, false}, FOUR(1_paper)},
    {{2, RF_MULTIHASH_32, RF_MULTIHASH_PAPER, false}, FOUR(2_paper)},
    {{4, RF_MULTIHASH_32, RF_MULTIHASH_PAPER, false}, FOUR(4_paper)},
    {{8, RF_MULTIHASH_32, RF_MULTIHASH_PAPER, false}, FOUR(8_paper)},
    {{16, RF_MULTIHASH_32, RF_MULTIHASH_PAPER, false}, FOUR(16_paper)},
    {{2, RF_MULTIHASH_32, RF_MULTIHASH_PAPER, true}, FOUR(2_plain)},
    {{4, RF_MULTIHASH_32, RF_MULTIHASH_PAPER, true}, FOUR(4_plain)},
    {{8, RF_MULTIHASH_32, RF_MULTIHASH_PAPER, true}, FOUR(8_plain)},
};

enum { LOOPS_COUNT = sizeof loops / sizeof *loops };

static bool has_newer(void)
{
#ifdef __x86_64__
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2");
#else
    return false;
#endif
}

void rf_multihash_choose_loop(struct rf_multihash *state)
{
    const struct rf_multihash_config *config = &state->config;
    state->loop = LOOPS_COUNT;
    state->newer = has_newer() && config->loop != RF_MULTIHASH_PORTABLE;
    bool plain = !config->conservative && state->tables > 1; /* the same with one table */
    if (!config->shield || config->loop == RF_MULTIHASH_PLAIN)
        return;
    for (unsigned i = 0; i < LOOPS_COUNT; i++)
        if (loops[i].shape.tables == state->tables && loops[i].shape.width == state->width &&
            loops[i].shape.hash == config->hash && loops[i].shape.plain == plain)
            state->loop = i;
}

/* A branch predictor in small: of the last HISTORY answers it takes a two-bit counter. What it
 * misses of a sample of branches, a large one would miss about as well. */
enum { HISTORY = 8, SAMPLE = 256, STRETCH = 1 << 15, MISSES_MAX = SAMPLE / 16 };

static unsigned foretell(struct rf_multihash *state, const struct rf_tuple *tuples)
{
    uint8_t counters[1 << HISTORY];
    unsigned history = 0, missed = 0;
    memset(counters, 1, sizeof counters);
    for (size_t i = 0; i < SAMPLE; i++) {
        uint64_t hash = rf_multihash_hash(state, tuples[i]);
        unsigned inside = rf_accumulator_find(&state->accumulator, tuples[i], hash) != 0;
        uint8_t *counter = &counters[history];
        missed += (*counter >= 2) != inside;
        *counter = (uint8_t)(inside ? *counter + (*counter < 3) : *counter - (*counter > 0));
        history = (history << 1 | inside) & ((1 << HISTORY) - 1);
    }
    return missed;
}

static bool wants_batches(struct rf_multihash *state, const struct rf_tuple *tuples, size_t n)
{
    if (state->config.loop == RF_MULTIHASH_SINGLY || state->config.loop == RF_MULTIHASH_BATCH)
        return state->config.loop == RF_MULTIHASH_BATCH;
    if (state->stretch < n && n >= SAMPLE) {
        state->stretch = STRETCH;
        state->batches = foretell(state, tuples) > MISSES_MAX;
    }
    state->stretch -= state->stretch < n ? state->stretch : (uint32_t)n;
    return state->batches;
}

void rf_multihash_feed(struct rf_multihash *state, const struct rf_tuple *tuples, size_t n)
{
    state->events += n;
    if (state->loop == LOOPS_COUNT)
        for (size_t i = 0; i < n; i++)
            feed_any(state, tuples[i]);
    else
        loops[state->loop].loop[state->newer][wants_batches(state, tuples, n)](state, tuples, n);
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
