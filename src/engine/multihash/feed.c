/* feed.c - the loops that every tuple goes through.
 *
 * There are two ways to do the same. One at a time, each tuple branches on whether the accumulator has it. In
 * batches nothing depends on a branch:
 *
 *     look up all of them              accumulator_batch.h       -> found[], absent[]
 *     add one to each slot found
 *     where are the counters of the absent ones?                 -> refs[table][]
 *     raise the counters, in order
 *
 * A promotion (rare) changes what the rest of the batch should have found: the counts of what comes
 * behind it are taken back and the rest is a batch of its own. So both ways give the same results,
 * to the event.
 *
 * Which one to take: where the processor looks up several tuples at once, batches are always faster. Elsewhere
 * one at a time is faster as long as the processor predicts the branch, as it does in the loops of programs. So
 * from time to time a stretch is watched: a small model of a branch predictor counts the branches that it
 * would have missed. (A clock would tell more directly, but then runs would not repeat.)
 *
 * Conservative update without a branch: the smallest counters go from m to m + 1, the others are
 * above m already, so those that are m or less go up by one. Plain: all go up by one. Either way the smallest
 * is then m + 1. A counter that was at its cap is put right afterwards: one comparison, which is rarely true,
 * finds both that case and promotions.
 *
 * The usual numbers of tables, widths and hashes get loops of their own by inlining with constants
 * (struct shape); anything else takes the general one. */
#include "engine/multihash/multihash.h"
#include "engine/multihash/newer.h"

#define ALWAYS_INLINE inline __attribute__((always_inline))

/* What a loop is made for. A constant in each of its copies. */
struct shape {
    unsigned tables;
    enum rf_multihash_width width;
    enum rf_multihash_hash hash;
    bool plain; /* not the conservative update */
};

/* As far as the cap. */
static uint32_t raised(const struct rf_multihash *state, uint32_t count, uint32_t by)
{
    return by < state->cap - count ? count + by : state->cap;
}

/* `times` events of one tuple, one after the other. The least of its counters then. */
static uint32_t bump(struct rf_multihash *state, const size_t *places, uint32_t times)
{
    uint32_t least = raised(state, rf_multihash_least(state, places), times);
    for (unsigned i = 0; i < state->tables; i++) {
        uint32_t count = rf_multihash_load(state, places[i]);
        if (state->config.conservative)
            count = count > least ? count : least;
        else
            count = raised(state, count, times);
        rf_multihash_store(state, places[i], count);
    }
    return least;
}

/* Any options. */
static void feed_any(struct rf_multihash *state, struct rf_tuple t)
{
    uint64_t hash = rf_multihash_hash(state, t);
    uint32_t slot = rf_multihash_find(state, t, hash);
    bool inside = slot != RF_ACCUMULATOR_ABSENT;
    if (inside) {
        state->accumulator.counts[slot]++;
        if (state->config.shield)
            return;
    }
    size_t places[RF_MULTIHASH_TABLES_MAX];
    rf_multihash_places(state, t, hash, places);
    uint32_t least = bump(state, places, 1);
    if (!inside && least >= state->bar)
        rf_multihash_promote(state, t, hash, least, 1);
}

/* Up to `count` events of an absent tuple: all, or as many as lift its counters to the bar. Returns how many
 * that was. A promotion that finds no room has put the bar above these counters. */
static uint32_t feed_absent(struct rf_multihash *state, struct rf_tuple tuple, uint64_t hash,
                            uint32_t count)
{
    size_t places[RF_MULTIHASH_TABLES_MAX];
    rf_multihash_places(state, tuple, hash, places);
    uint32_t least = rf_multihash_least(state, places), step = count;
    if (state->bar <= state->cap && (least >= state->bar || state->bar - least < count))
        step = least < state->bar ? state->bar - least : 1;
    least = bump(state, places, step);
    if (least >= state->bar)
        rf_multihash_promote(state, tuple, hash, least, step);
    return step;
}

/* An interval has at most 2^31 events, and `count` is never of more than one. */
static void take_counted(struct rf_multihash *state, struct rf_tuple tuple, uint64_t count)
{
    uint64_t hash = rf_multihash_hash(state, tuple);
    uint32_t left = (uint32_t)count, slot = RF_ACCUMULATOR_ABSENT;
    while (left > 0 && slot == RF_ACCUMULATOR_ABSENT) {
        slot = rf_multihash_find(state, tuple, hash);
        uint32_t step = slot == RF_ACCUMULATOR_ABSENT ? feed_absent(state, tuple, hash, left) : 0;
        state->events += step;
        left -= step;
    }
    if (left == 0)
        return;
    state->events += left;
    state->accumulator.counts[slot] += left;
    if (state->config.shield)
        return;
    size_t places[RF_MULTIHASH_TABLES_MAX];
    rf_multihash_places(state, tuple, hash, places);
    bump(state, places, left);
}

/* What a loop keeps in registers: the compiler cannot know that storing a count changes none of these. */
struct hot {
    struct rf_multihash *state;
    struct rf_accumulator_view view;
    uint32_t *counts;
    const struct rf_multihash_lookup *lookup;
    void *counters;
    struct rf_hash_key key;
    uint32_t table_size, cap, bar;
    uint32_t limit; /* a least counter below this neither promotes nor stands at its cap */
};

static ALWAYS_INLINE void set_bar(struct hot *hot)
{
    hot->bar = hot->state->bar;
    hot->limit = hot->bar <= hot->cap ? hot->bar - 1 : hot->cap;
}

static ALWAYS_INLINE struct hot take_hot(struct rf_multihash *state)
{
    struct hot hot = {.state = state,
                      .view = rf_accumulator_view(&state->accumulator),
                      .counts = state->accumulator.counts,
                      .lookup = state->lookup,
                      .counters = state->counters,
                      .key = state->key,
                      .table_size = state->table_size,
                      .cap = state->cap};
    set_bar(&hot);
    return hot;
}

/* Where a counter is, ready to use: its number, or for packed ones their byte and by how much to shift. */
struct ref {
    uint32_t at, shift;
};

static ALWAYS_INLINE struct ref ref_of(enum rf_multihash_width width, uint32_t place)
{
    if (width == RF_MULTIHASH_12)
        return (struct ref){place * 3 >> 1, (place & 1) << 2};
    return (struct ref){place, 0};
}

static ALWAYS_INLINE uint32_t load(enum rf_multihash_width width, const void *counters,
                                   struct ref ref)
{
    uint16_t pair;
    if (width == RF_MULTIHASH_32)
        return ((const uint32_t *)counters)[ref.at];
    if (width == RF_MULTIHASH_16)
        return ((const uint16_t *)counters)[ref.at];
    memcpy(&pair, (const char *)counters + ref.at, sizeof pair);
    return (uint32_t)pair >> ref.shift & 0xfff;
}

/* Beyond its cap a packed counter is carried into its neighbour, until as much is taken off again. */
static ALWAYS_INLINE void add(enum rf_multihash_width width, void *counters, struct ref ref,
                              uint32_t one)
{
    uint16_t pair;
    if (width == RF_MULTIHASH_32) {
        ((uint32_t *)counters)[ref.at] += one;
    } else if (width == RF_MULTIHASH_16) {
        ((uint16_t *)counters)[ref.at] = (uint16_t)(((uint16_t *)counters)[ref.at] + one);
    } else {
        memcpy(&pair, (char *)counters + ref.at, sizeof pair);
        pair = (uint16_t)(pair + (one << ref.shift));
        memcpy((char *)counters + ref.at, &pair, sizeof pair);
    }
}

/* The counters of one tuple. */
static ALWAYS_INLINE void locate(const struct hot *hot, struct rf_tuple t, uint64_t hash,
                                 struct ref *refs, struct shape shape)
{
    uint64_t signature[RF_MULTIHASH_WORDS_MAX];
    for (unsigned w = 0; w * RF_MULTIHASH_LANES < shape.tables; w++)
        signature[w] = rf_multihash_signature_of(shape.hash, hot->lookup, t, hash, w);
    for (unsigned i = 0; i < shape.tables; i++)
        refs[i] = ref_of(shape.width, (uint32_t)rf_multihash_place_of(shape.hash, hot->table_size,
                                                                      signature, i));
}

/* Those of a batch's absent tuples, [table][tuple]. They are computed 8 at a time, past the end, which
 * compilers turn into vector code. */
struct refs {
    uint32_t at[RF_MULTIHASH_TABLES_MAX][RF_ACCUMULATOR_BATCH];
    uint32_t shift[RF_MULTIHASH_TABLES_MAX][RF_ACCUMULATOR_BATCH];
};

static ALWAYS_INLINE void locate_table(const struct hot *hot, const uint64_t *signatures, size_t n,
                                       unsigned table, struct refs *refs, struct shape shape)
{
    uint32_t table_size = hot->table_size, first = table * table_size;
    uint32_t *at = refs->at[table], *shift = refs->shift[table];
    n = (n + 7) & ~(size_t)7;
    for (size_t k = 0; k < n; k++) {
        /* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): nobody reads past the end */
        uint32_t lane = (uint32_t)(signatures[k] >> rf_multihash_lane(table)) & 0xffff;
        uint32_t index = rf_multihash_index(shape.hash, table_size, lane);
        struct ref ref = ref_of(shape.width, first + index);
        at[k] = ref.at;
        if (shape.width == RF_MULTIHASH_12)
            shift[k] = ref.shift;
    }
}

static ALWAYS_INLINE void locate_all(const struct hot *hot, const struct rf_tuple *tuples,
                                     const struct rf_accumulator_batch *batch, struct refs *refs,
                                     struct shape shape)
{
    uint64_t words[RF_ACCUMULATOR_BATCH];
    const uint64_t *signatures = batch->hash;
    for (unsigned table = 0; table < shape.tables; table++) {
        unsigned w = table / RF_MULTIHASH_LANES;
        bool is_hash = shape.hash == RF_MULTIHASH_MULTIPLY && w == 0;
        if (!is_hash)
            signatures = words;
        for (size_t k = 0; !is_hash && table % RF_MULTIHASH_LANES == 0 && k < batch->n_absent; k++)
            words[k] = rf_multihash_signature_of(shape.hash, hot->lookup, tuples[batch->absent[k]],
                                                 batch->hash[k], w);
        locate_table(hot, signatures, batch->n_absent, table, refs, shape);
    }
}

static ALWAYS_INLINE void take_refs(const struct refs *refs, size_t k, struct ref *of_one,
                                    struct shape shape)
{
    for (unsigned i = 0; i < shape.tables; i++)
        of_one[i] =
            (struct ref){refs->at[i][k], shape.width == RF_MULTIHASH_12 ? refs->shift[i][k] : 0};
}

/* bump for a known shape. Returns the least counter as it was before. If that is below hot->limit, which is
 * usual, nothing else is to be done; otherwise call `settle`. */
static ALWAYS_INLINE uint32_t raise(const struct hot *hot, const struct ref *refs,
                                    struct shape shape)
{
    uint32_t count[RF_MULTIHASH_TABLES_MAX], least = UINT32_MAX;
    for (unsigned i = 0; i < shape.tables; i++) {
        count[i] = load(shape.width, hot->counters, refs[i]);
        least = count[i] < least ? count[i] : least;
    }
    for (unsigned i = 0; i < shape.tables; i++)
        add(shape.width, hot->counters, refs[i], count[i] <= (shape.plain ? hot->cap - 1 : least));
    return least;
}

/* The least counter now. Where it was at its cap all were, and what was added to them is taken off again, also
 * from the neighbours that it was carried into. */
static ALWAYS_INLINE uint32_t settle(const struct hot *hot, uint32_t least, const struct ref *refs,
                                     struct shape shape)
{
    if (least < hot->cap)
        return least + 1;
    for (unsigned i = 0; i < shape.tables && !shape.plain; i++)
        add(shape.width, hot->counters, refs[i], UINT32_MAX);
    return least;
}

/* Like all loops it returns how many tuples it took: n, or up to one that took the hashes apart. */
static ALWAYS_INLINE size_t feed_singly(struct rf_multihash *state, const struct rf_tuple *tuples,
                                        size_t n, struct shape shape)
{
    struct hot hot = take_hot(state);
    for (size_t i = 0; i < n; i++) {
        uint64_t hash = rf_hash_multiply(tuples[i], hot.key);
        uint32_t slot = rf_accumulator_find_by(hot.view, &state->accumulator, tuples[i], hash);
        if (slot != RF_ACCUMULATOR_ABSENT) {
            hot.counts[slot]++;
            continue;
        }
        struct ref refs[RF_MULTIHASH_TABLES_MAX];
        locate(&hot, tuples[i], hash, refs, shape);
        uint32_t least = raise(&hot, refs, shape);
        if (__builtin_expect(least < hot.limit, 1))
            continue;
        least = settle(&hot, least, refs, shape);
        if (least >= hot.bar) {
            rf_multihash_promote(state, tuples[i], hash, least, i + 1);
            set_bar(&hot);
            if (state->apart)
                return i + 1;
        }
    }
    return n;
}

/* Entries may be found by a secret key, counters never are. */
static ALWAYS_INLINE void find_all(const struct hot *hot, const struct rf_tuple *tuples, size_t n,
                                   struct rf_accumulator_batch *batch)
{
    const struct rf_multihash *state = hot->state;
    struct rf_hash_key key = state->apart ? rf_multihash_secret(state) : hot->key;
    state->find(&state->accumulator, key, tuples, n, batch);
    for (size_t k = 0; state->apart && k < batch->n_absent; k++)
        batch->hash[k] = rf_hash_multiply(tuples[batch->absent[k]], hot->key);
}

/* Promote tuple i of the batch; the loop has taken `before` tuples in front of the batch. What was found for the
 * tuples behind tuple i may no longer hold: take their counts back. */
static void promote_in_batch(const struct hot *hot, const struct rf_tuple *tuples, size_t n,
                             const struct rf_accumulator_batch *batch, size_t k, uint32_t least,
                             size_t before)
{
    size_t i = batch->absent[k];
    for (size_t later = i + 1; later < n; later++)
        hot->counts[batch->slot[later]]--;
    rf_multihash_promote(hot->state, tuples[i], batch->hash[k], least, before + i + 1);
}

/* The batch up to a promotion; how many tuples that was. `before` it the loop has taken that many. */
static ALWAYS_INLINE size_t feed_batch(struct hot *hot, const struct rf_tuple *tuples, size_t n,
                                       size_t before, struct shape shape)
{
    struct rf_accumulator_batch batch;
    struct refs refs;
    find_all(hot, tuples, n, &batch);
    for (size_t k = 0; k < batch.n_found; k++)
        hot->counts[batch.found[k]]++;
    locate_all(hot, tuples, &batch, &refs, shape);
    for (size_t k = 0, absent = batch.n_absent; k < absent; k++) {
        struct ref of_one[RF_MULTIHASH_TABLES_MAX];
        take_refs(&refs, k, of_one, shape);
        uint32_t least = raise(hot, of_one, shape);
        if (__builtin_expect(least < hot->limit, 1))
            continue;
        least = settle(hot, least, of_one, shape);
        if (least < hot->bar)
            continue;
        promote_in_batch(hot, tuples, n, &batch, k, least, before);
        set_bar(hot);
        return batch.absent[k] + (size_t)1;
    }
    return n;
}

static ALWAYS_INLINE size_t feed_batches(struct rf_multihash *state, const struct rf_tuple *tuples,
                                         size_t n, struct shape shape)
{
    struct hot hot = take_hot(state);
    size_t done = 0;
    while (done < n) {
        size_t left = n - done;
        done += feed_batch(&hot, tuples + done,
                           left < RF_ACCUMULATOR_BATCH ? left : RF_ACCUMULATOR_BATCH, done, shape);
    }
    return done;
}

/* `weight` events of one tuple whose counters stay below the limit; false, and nothing done, where they do not. */
static ALWAYS_INLINE bool lift(const struct hot *hot, const struct ref *refs, uint64_t weight,
                               struct shape shape)
{
    uint32_t count[RF_MULTIHASH_TABLES_MAX], least = UINT32_MAX;
    for (unsigned i = 0; i < shape.tables; i++) {
        count[i] = load(shape.width, hot->counters, refs[i]);
        least = count[i] < least ? count[i] : least;
    }
    if (weight > hot->limit || least > hot->limit - weight)
        return false;
    least += (uint32_t)weight;
    for (unsigned i = 0; i < shape.tables; i++) {
        uint32_t is_below = count[i] < least; /* no predictor could guess it */
        RF_OPAQUE(is_below);
        add(shape.width, hot->counters, refs[i], (least - count[i]) & -is_below);
    }
    return true;
}

static ALWAYS_INLINE uint64_t sum(const uint64_t *weights, size_t n)
{
    uint64_t all = 0;
    for (size_t i = 0; i < n; i++)
        all += weights[i];
    return all;
}

/* Where few of a batch are found, most would add to the dummy's count, each waiting for the one before. */
static ALWAYS_INLINE void weigh_found(const struct hot *hot, const uint64_t *weights, size_t n,
                                      const struct rf_accumulator_batch *batch)
{
    bool are_few = batch->n_found < n / 8;
    for (size_t i = 0; i < n && batch->n_found > 0; i++)
        if (!are_few || batch->slot[i] != RF_ACCUMULATOR_ABSENT)
            hot->counts[batch->slot[i]] += (uint32_t)weights[i];
}

/* A batch of counted tuples, up to one that may be promoted; how many tuples that was. Shapes with the conservative
 * update only. */
static ALWAYS_INLINE size_t weigh_batch(struct hot *hot, const struct rf_tuple *tuples,
                                        const uint64_t *weights, size_t n, struct shape shape)
{
    struct rf_accumulator_batch batch;
    struct refs refs;
    find_all(hot, tuples, n, &batch);
    weigh_found(hot, weights, n, &batch);
    hot->state->events += sum(weights, n);
    locate_all(hot, tuples, &batch, &refs, shape);
    for (size_t k = 0, absent = batch.n_absent; k < absent; k++) {
        struct ref of_one[RF_MULTIHASH_TABLES_MAX];
        size_t i = batch.absent[k];
        take_refs(&refs, k, of_one, shape);
        if (__builtin_expect(lift(hot, of_one, weights[i], shape), 1))
            continue;
        for (size_t later = i + 1; later < n; later++)
            hot->counts[batch.slot[later]] -= (uint32_t)weights[later];
        hot->state->events -= sum(weights + i, n - i);
        take_counted(hot->state, tuples[i], weights[i]);
        set_bar(hot);
        return i + 1;
    }
    return n;
}

static ALWAYS_INLINE size_t weigh_batches(struct rf_multihash *state,
                                          const struct rf_tuples *tuples, struct shape shape)
{
    struct hot hot = take_hot(state);
    size_t done = 0;
    while (done < tuples->n) {
        size_t left = tuples->n - done;
        done += weigh_batch(&hot, tuples->tuples + done, tuples->counts + done,
                            left < RF_ACCUMULATOR_BATCH ? left : RF_ACCUMULATOR_BATCH, shape);
    }
    return done;
}

/* The copies: for every shape, and again for processors that have the newer instructions. */
#define LOOP(name, feed, attribute, ...)                                                           \
    attribute static size_t name(struct rf_multihash *state, const struct rf_tuple *tuples,        \
                                 size_t n)                                                         \
    {                                                                                              \
        const struct shape shape = {__VA_ARGS__};                                                  \
        return feed(state, tuples, n, shape);                                                      \
    }
#ifdef __x86_64__
#define NEWER __attribute__((target("avx2,bmi,bmi2,lzcnt,popcnt"))) /* has_newer asks for each */
#else
#define NEWER
#endif
#define LOOPS(name, ...)                                                                           \
    LOOP(singly_##name, feed_singly, , __VA_ARGS__)                                                \
    LOOP(batches_##name, feed_batches, , __VA_ARGS__)                                              \
    LOOP(newer_singly_##name, feed_singly, NEWER, __VA_ARGS__)                                     \
    LOOP(newer_batches_##name, feed_batches, NEWER, __VA_ARGS__)

/* The shapes that have loops of their own: name, then struct shape. */
#define SHAPES(EACH)                                                                               \
    EACH(2_packed, 2, RF_MULTIHASH_12, RF_MULTIHASH_MULTIPLY, false)                               \
    EACH(2_narrow, 2, RF_MULTIHASH_16, RF_MULTIHASH_MULTIPLY, false)                               \
    EACH(3_packed, 3, RF_MULTIHASH_12, RF_MULTIHASH_MULTIPLY, false)                               \
    EACH(4_narrow, 4, RF_MULTIHASH_16, RF_MULTIHASH_MULTIPLY, false)                               \
    EACH(4_wide, 4, RF_MULTIHASH_32, RF_MULTIHASH_MULTIPLY, false)                                 \
    EACH(1_paper, 1, RF_MULTIHASH_32, RF_MULTIHASH_PAPER, false)                                   \
    EACH(2_paper, 2, RF_MULTIHASH_32, RF_MULTIHASH_PAPER, false)                                   \
    EACH(4_paper, 4, RF_MULTIHASH_32, RF_MULTIHASH_PAPER, false)                                   \
    EACH(8_paper, 8, RF_MULTIHASH_32, RF_MULTIHASH_PAPER, false)                                   \
    EACH(16_paper, 16, RF_MULTIHASH_32, RF_MULTIHASH_PAPER, false)                                 \
    EACH(2_plain, 2, RF_MULTIHASH_32, RF_MULTIHASH_PAPER, true)                                    \
    EACH(4_plain, 4, RF_MULTIHASH_32, RF_MULTIHASH_PAPER, true)                                    \
    EACH(8_plain, 8, RF_MULTIHASH_32, RF_MULTIHASH_PAPER, true)

SHAPES(LOOPS)

typedef size_t feed_loop(struct rf_multihash *state, const struct rf_tuple *tuples, size_t n);

static const struct {
    struct shape shape;
    feed_loop *loop[2][2]; /* [newer][batches] */
} loops[] = {
#define ROW(name, ...)                                                                             \
    {{__VA_ARGS__}, {{singly_##name, batches_##name}, {newer_singly_##name, newer_batches_##name}}},
    SHAPES(ROW)
#undef ROW
};

enum { LOOPS_COUNT = sizeof loops / sizeof *loops };

void rf_multihash_choose_loop(struct rf_multihash *state)
{
    const struct rf_multihash_config *config = &state->config;
    state->loop = LOOPS_COUNT;
    state->newer = rf_multihash_has_newer() && config->loop != RF_MULTIHASH_PORTABLE;
    size_t way = 0;
    while (state->newer && rf_accumulator_way(way + 1) != NULL)
        way++;
    state->wide = way > 0;
    state->find = rf_accumulator_way(way);
    bool plain = !config->conservative && state->tables > 1; /* the same with one table */
    if (!config->shield || config->loop == RF_MULTIHASH_PLAIN)
        return;
    for (unsigned i = 0; i < LOOPS_COUNT; i++)
        if (loops[i].shape.tables == state->tables && loops[i].shape.width == state->width &&
            loops[i].shape.hash == config->hash && loops[i].shape.plain == plain)
            state->loop = i;
}

/* A small branch predictor: the last HISTORY answers select a two-bit counter. What it misses in a sample, a
 * larger one would miss about as often. */
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
    if (state->apart)
        return true; /* the other way stops there */
    if (state->config.loop == RF_MULTIHASH_SINGLY)
        return false;
    if (state->config.loop == RF_MULTIHASH_BATCH || state->wide)
        return true;
    if (state->stretch < n && n >= SAMPLE) {
        state->stretch = STRETCH;
        state->batches = foretell(state, tuples) > MISSES_MAX;
    }
    state->stretch -= state->stretch < n ? state->stretch : (uint32_t)n;
    return state->batches;
}

void rf_multihash_feed(struct rf_multihash *state, const struct rf_tuple *tuples, size_t n)
{
    size_t done = 0;
    if (state->loop != LOOPS_COUNT)
        done = loops[state->loop].loop[state->newer][wants_batches(state, tuples, n)](state, tuples,
                                                                                      n);
    state->events += done;
    for (; done < n; done++) {
        feed_any(state, tuples[done]);
        state->events++;
    }
}

void rf_multihash_feed_counted(struct rf_multihash *state, struct rf_tuple tuple, uint64_t count)
{
    take_counted(state, tuple, count);
}

/* Counted tuples have loops for the usual shape only. */
static const struct shape usual = {2, RF_MULTIHASH_12, RF_MULTIHASH_MULTIPLY, false};

static size_t weigh(struct rf_multihash *state, const struct rf_tuples *tuples)
{
    return weigh_batches(state, tuples, usual);
}

NEWER static size_t newer_weigh(struct rf_multihash *state, const struct rf_tuples *tuples)
{
    return weigh_batches(state, tuples, usual);
}

static bool is_usual(const struct rf_multihash *state)
{
    const struct rf_multihash_config *config = &state->config;
    return state->tables == usual.tables && state->width == usual.width &&
           config->hash == usual.hash && config->conservative && config->shield &&
           config->loop != RF_MULTIHASH_PLAIN;
}

void rf_multihash_feed_weighted(struct rf_multihash *state, const struct rf_tuples *tuples)
{
    size_t done = 0;
    if (is_usual(state))
        done = state->newer ? newer_weigh(state, tuples) : weigh(state, tuples);
    for (; done < tuples->n; done++)
        take_counted(state, tuples->tuples[done], tuples->counts[done]);
}
