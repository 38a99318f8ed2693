/* exact.c - counts every tuple: the judge of all other engines, and the answer when memory is plenty.
 *
 *     hash(tuple) = home | tag                       entries, in the order of first appearance
 *              |                                          +----------------+
 *     hint   [ tag | index ] ------equal tag----------->  | a  b  count    |
 *              | another                                  | a  b  count    |
 *     bucket [ 8 tags | 8 indices ] --equal tag-------->  | a  b  count    |
 *     bucket [ 8 tags | 8 indices ]                       | a  b  count    |
 *
 * A bucket is one cache line; its eight tags, 32 bits of the hash each, are compared at once, so
 * that finding a tuple takes no branch that depends on where it stands. A full bucket runs over
 * into the next.
 *
 * Entries stand in the order in which tuples first appeared. Programs use together what they first used
 * together, and frequent tuples appear early, so the hot entries share cache lines, which they never
 * do when they are scattered by a hash. The buckets alone move on growth, in one pass over the entries.
 *
 * A hint says where the last tuple with that home was found. Eight hints share a cache line, so the hints of
 * a loop fit the nearest caches; its buckets, a line for each tuple, would not.
 *
 * A batch goes through in sweeps, each prefetching what the next one needs, so that misses in the cache
 * overlap: hash all and ask the hints; find the entries of those that they do not know; count in all.
 * The unknown ones are listed without a branch, since no predictor could guess it.
 *
 * Guarantee: lower = count = upper. Memory: 24 bytes per distinct tuple and 16 to 32 for its place in a
 * bucket, both growing by doubling, and at most 64 KiB of hints (8 bytes per bucket while there are few).
 * While it grows, old and new tables exist side by side; the `memory` ceiling counts both. Cannot: be
 * bounded by anything but that ceiling; past it, feeding fails and what was counted before stands. No more
 * than 2^32 distinct tuples. */
#include "engine/ahead.h"
#include "engine/engine.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/hash.h"
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

struct config {
    uint64_t memory;
    uint64_t interval;
};

static const struct rf_option options[] = {
    {.name = "memory",
     .type = RF_OPTION_COUNT,
     .standard = "0",
     .brief = "ceiling in bytes; 0: none",
     .offset = offsetof(struct config, memory)},
    {.name = "interval",
     .type = RF_OPTION_COUNT,
     .standard = "0",
     .brief = "cut the stream after every N events and start anew; 0: do not",
     .offset = offsetof(struct config, interval)},
    {
        .type = RF_OPTION_END,
    },
};

struct entry {
    struct rf_tuple tuple;
    uint64_t count;
};

enum { LANES = 8 };

struct bucket {
    uint32_t tag[LANES];   /* 0: empty */
    uint32_t index[LANES]; /* of the entry; lanes fill from 0 on */
};

_Static_assert(sizeof(struct bucket) == 64, "a bucket is a cache line");

struct hint {
    uint32_t tag; /* 0: none */
    uint32_t index;
};

struct state {
    struct config config;
    const struct rf_alloc *alloc;
    struct bucket *buckets; /* aligned to a cache line inside `block` */
    struct hint *hints;     /* behind them */
    void *block;
    struct entry *entries;
    unsigned bits;          /* 1 << bits buckets */
    size_t used;            /* entries */
    size_t room;            /* for entries */
    struct rf_hash_key key; /* a secret: nothing that is reported depends on it */
    uint64_t events;
    size_t peak; /* most bytes held at once */
};

/* BITS_MAX: home and tag are the two halves of one hash. */
enum { BITS_FIRST = 7, BITS_MAX = 30, HINT_BITS_MAX = 13 };
enum { ENTRIES_FIRST = 256, BATCH = 64, LINE = 64 };

static size_t bucket_count(const struct state *state)
{
    return (size_t)1 << state->bits;
}

static unsigned hint_bits(unsigned bits)
{
    return bits < HINT_BITS_MAX ? bits : HINT_BITS_MAX;
}

/* Buckets and hints. */
static size_t tables_size(unsigned bits)
{
    /* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): bits <= BITS_MAX */
    return (sizeof(struct bucket) << bits) + (sizeof(struct hint) << hint_bits(bits));
}

static size_t block_size(unsigned bits)
{
    return tables_size(bits) + LINE;
}

static size_t bytes_held(const struct state *state)
{
    return sizeof *state + block_size(state->bits) + state->room * sizeof(struct entry);
}

static size_t state_size(const void *config)
{
    (void)config;
    return sizeof(struct state);
}

static bool get_buckets(struct state *state)
{
    state->block = rf_alloc_get(state->alloc, block_size(state->bits));
    if (state->block == NULL)
        return false;
    state->buckets =
        (struct bucket *)(((uintptr_t)state->block + LINE - 1) & ~(uintptr_t)(LINE - 1));
    state->hints = (struct hint *)(state->buckets + bucket_count(state));
    memset(state->buckets, 0, tables_size(state->bits));
    return true;
}

static rf_status init(void *memory, const void *config, const struct rf_engine_env *env,
                      struct rf_error *error)
{
    struct state *state = memory;
    state->config = *(const struct config *)config;
    state->alloc = env->alloc;
    state->key = rf_hash_secret(state);
    state->bits = BITS_FIRST;
    state->room = ENTRIES_FIRST;
    state->peak = bytes_held(state);
    if (state->config.memory != 0 && state->config.memory < state->peak)
        return rf_fail(error, RF_EINVAL, "engine 'exact': memory must be at least %zu bytes",
                       state->peak);
    state->entries = rf_alloc_get(state->alloc, state->room * sizeof(struct entry));
    if (state->entries == NULL || !get_buckets(state)) {
        rf_alloc_free(state->alloc, state->entries, state->room * sizeof(struct entry));
        return rf_fail(error, RF_ENOMEM, "engine 'exact': no memory for its first table");
    }
    return RF_OK;
}

static void release(void *memory)
{
    struct state *state = memory;
    rf_alloc_free(state->alloc, state->block, block_size(state->bits));
    rf_alloc_free(state->alloc, state->entries, state->room * sizeof(struct entry));
}

/* Whether the ceiling allows `more` bytes on top of what is held now. */
static bool within_ceiling(struct state *state, size_t more)
{
    size_t total = bytes_held(state) + more;
    if (state->config.memory != 0 && total > state->config.memory)
        return false;
    if (total > state->peak)
        state->peak = total;
    return true;
}

static rf_status grow_entries(struct state *state)
{
    size_t room = state->room * 2;
    void *entries = state->entries;
    if (!within_ceiling(state, room * sizeof(struct entry)) ||
        !rf_alloc_array(state->alloc, &entries, state->room, room, sizeof(struct entry)))
        return RF_ENOMEM;
    state->entries = entries;
    state->room = room;
    return RF_OK;
}

/* The home of a hash: its top bits. */
static size_t home(const struct state *state, uint64_t hash)
{
    return (size_t)(hash >> (64 - state->bits));
}

/* The tag: its low bits, which no home uses, and never 0. */
static uint32_t tag_of(uint64_t hash)
{
    return (uint32_t)hash | 1;
}

static uint64_t hash_of(const struct state *state, struct rf_tuple t)
{
    return rf_hash_multiply(t, state->key);
}

/* A bit for every lane whose tag is this one. */
static inline unsigned matching_lanes(const struct bucket *bucket, uint32_t tag)
{
#ifdef __SSE2__
    const __m128i *tags = (const __m128i *)(const void *)bucket->tag;
    __m128i wanted = _mm_set1_epi32((int)tag);
    __m128i low = _mm_cmpeq_epi32(_mm_load_si128(tags), wanted);
    __m128i high = _mm_cmpeq_epi32(_mm_load_si128(tags + 1), wanted);
    return (unsigned)_mm_movemask_ps(_mm_castsi128_ps(low)) |
           (unsigned)_mm_movemask_ps(_mm_castsi128_ps(high)) << 4;
#else
    unsigned lanes = 0;
    for (unsigned i = 0; i < LANES; i++)
        lanes |= (unsigned)(bucket->tag[i] == tag) << i;
    return lanes;
#endif
}

/* Put an entry's index into the first free lane from its home on. */
static void place(struct state *state, uint64_t hash, size_t index)
{
    size_t mask = bucket_count(state) - 1, at = home(state, hash);
    while (state->buckets[at].tag[LANES - 1] != 0)
        at = (at + 1) & mask;
    struct bucket *bucket = &state->buckets[at];
    unsigned lane = 0;
    while (bucket->tag[lane] != 0)
        lane++;
    bucket->tag[lane] = tag_of(hash);
    bucket->index[lane] = (uint32_t)index;
}

static rf_status grow_buckets(struct state *state)
{
    if (state->bits >= BITS_MAX || !within_ceiling(state, block_size(state->bits + 1)))
        return RF_ENOMEM;
    struct state old = *state;
    state->bits++;
    if (!get_buckets(state)) {
        *state = old;
        return RF_ENOMEM;
    }
    for (size_t i = 0; i < state->used; i++)
        place(state, hash_of(state, state->entries[i].tuple), i);
    rf_alloc_free(state->alloc, old.block, block_size(old.bits));
    return RF_OK;
}

/* Make sure that n more tuples fit, all of them new: half of the lanes in use at the most. */
static rf_status reserve(struct state *state, size_t n)
{
    rf_status status = RF_OK;
    while (status == RF_OK && state->used + n > bucket_count(state) * 4)
        status = grow_buckets(state);
    while (status == RF_OK && state->used + n > state->room)
        status = grow_entries(state);
    return status;
}

static bool is_entry_of(const struct entry *entry, struct rf_tuple t)
{
    return entry->tuple.a == t.a && entry->tuple.b == t.b;
}

/* The tuple's own entry; NULL: it has none. */
static struct entry *seek(const struct state *state, struct rf_tuple t, uint64_t hash)
{
    size_t mask = bucket_count(state) - 1;
    for (size_t at = home(state, hash);; at = (at + 1) & mask) {
        const struct bucket *bucket = &state->buckets[at];
        unsigned lanes = matching_lanes(bucket, tag_of(hash));
        for (; lanes != 0; lanes &= lanes - 1) {
            struct entry *entry = &state->entries[bucket->index[__builtin_ctz(lanes)]];
            if (is_entry_of(entry, t))
                return entry;
        }
        if (bucket->tag[LANES - 1] == 0)
            return NULL;
    }
}

/* The tuple's own entry, a new one where there is none; there is room for it. */
static struct entry *find(struct state *state, struct rf_tuple t, uint64_t hash)
{
    struct entry *entry = seek(state, t, hash);
    if (entry != NULL)
        return entry;
    place(state, hash, state->used);
    entry = &state->entries[state->used++];
    *entry = (struct entry){t, 0};
    return entry;
}

/* The entry of the first equal tag in the home bucket, which is nearly always the tuple's own. The
 * caller compares: another tuple may have the same tag. */
static inline struct entry *guess(struct state *state, struct rf_tuple t, uint64_t hash)
{
    const struct bucket *bucket = &state->buckets[home(state, hash)];
    unsigned lanes = matching_lanes(bucket, tag_of(hash));
    if (__builtin_expect(lanes == 0, 0))
        return find(state, t, hash);
    return &state->entries[bucket->index[__builtin_ctz(lanes)]];
}

/* What the sweeps over a batch hand on. */
struct batch {
    uint64_t hash[BATCH];
    struct entry *entry[BATCH];
    uint8_t unknown[BATCH]; /* events that the hints do not know */
    size_t n_unknown;
};

static struct hint *hint_of(const struct state *state, uint64_t hash)
{
    return &state->hints[hash >> (64 - hint_bits(state->bits))];
}

static void ask_hints(const struct state *state, const struct rf_tuple *tuples, size_t n,
                      struct batch *batch)
{
    size_t n_unknown = 0;
    for (size_t i = 0; i < n; i++) {
        rf_ahead(&tuples[i]);
        uint64_t hash = hash_of(state, tuples[i]);
        struct hint hint = *hint_of(state, hash);
        batch->hash[i] = hash;
        batch->entry[i] = &state->entries[hint.index];
        batch->unknown[n_unknown] = (uint8_t)i;
        n_unknown += hint.tag != tag_of(hash);
    }
    batch->n_unknown = n_unknown;
}

static void find_unknown(struct state *state, const struct rf_tuple *tuples, struct batch *batch)
{
    for (size_t k = 0; k < batch->n_unknown; k++)
        __builtin_prefetch(&state->buckets[home(state, batch->hash[batch->unknown[k]])]);
    for (size_t k = 0; k < batch->n_unknown; k++) {
        size_t i = batch->unknown[k];
        uint64_t hash = batch->hash[i];
        struct entry *entry = guess(state, tuples[i], hash);
        __builtin_prefetch(entry, 1);
        batch->entry[i] = entry;
        *hint_of(state, hash) = (struct hint){tag_of(hash), (uint32_t)(entry - state->entries)};
    }
}

/* No counts: one of each. */
static inline void feed_batch(struct state *state, const struct rf_tuple *tuples,
                              const uint64_t *counts, size_t n)
{
    struct batch batch;
    uint64_t events = 0;
    ask_hints(state, tuples, n, &batch);
    find_unknown(state, tuples, &batch);
    for (size_t i = 0; i < n; i++) {
        uint64_t count = counts != NULL ? counts[i] : 1;
        if (!is_entry_of(batch.entry[i], tuples[i]))
            batch.entry[i] = find(state, tuples[i], batch.hash[i]);
        batch.entry[i]->count += count;
        events += count;
    }
    state->events += events;
}

/* What is there already needs no room. */
static rf_status feed_counted(void *memory, struct rf_tuple tuple, uint64_t count)
{
    struct state *state = memory;
    uint64_t hash = hash_of(state, tuple);
    struct entry *entry = seek(state, tuple, hash);
    if (entry == NULL) {
        rf_status status = reserve(state, 1);
        if (status != RF_OK)
            return status;
        entry = find(state, tuple, hash);
    }
    entry->count += count;
    state->events += count;
    return RF_OK;
}

/* There is no room for a whole batch: take them singly, up to the first that does not fit. That is the same one
 * however the stream was cut into batches. Returns how many were taken. */
static size_t feed_singly(struct state *state, const struct rf_tuple *tuples,
                          const uint64_t *counts, size_t n)
{
    size_t done = 0;
    while (done < n &&
           feed_counted(state, tuples[done], counts != NULL ? counts[done] : 1) == RF_OK)
        done++;
    return done;
}

static inline rf_status feed_all(struct state *state, const struct rf_tuple *tuples,
                                 const uint64_t *counts, size_t n, size_t *consumed)
{
    for (size_t done = 0; done < n;) {
        size_t piece = n - done < BATCH ? n - done : BATCH, taken = piece;
        const uint64_t *of_piece = counts != NULL ? counts + done : NULL;
        if (reserve(state, piece) == RF_OK)
            feed_batch(state, tuples + done, of_piece, piece);
        else
            taken = feed_singly(state, tuples + done, of_piece, piece);
        done += taken;
        *consumed = done;
        if (taken < piece)
            return RF_ENOMEM;
    }
    return RF_OK;
}

static rf_status feed(void *memory, const struct rf_tuple *tuples, size_t n, size_t *consumed)
{
    return feed_all(memory, tuples, NULL, n, consumed);
}

static rf_status feed_weighted(void *memory, const struct rf_tuples *tuples, size_t *consumed)
{
    return feed_all(memory, tuples->tuples, tuples->counts, tuples->n, consumed);
}

static uint64_t interval(const void *memory)
{
    return ((const struct state *)memory)->config.interval;
}

static void end_interval(void *memory)
{
    struct state *state = memory;
    memset(state->buckets, 0, tables_size(state->bits));
    state->used = 0;
    state->events = 0;
}

static size_t count_new(const struct state *state, const struct state *other)
{
    size_t n = 0;
    for (size_t i = 0; i < other->used; i++) {
        struct rf_tuple t = other->entries[i].tuple;
        n += seek(state, t, hash_of(state, t)) == NULL;
    }
    return n;
}

/* All of it or, without memory, nothing. */
static rf_status merge(void *memory, const void *other_memory, struct rf_error *error)
{
    struct state *state = memory;
    const struct state *other = other_memory;
    rf_status status = reserve(state, count_new(state, other));
    if (status != RF_OK)
        return rf_fail(error, status, "engine 'exact': no memory to merge %zu tuples", other->used);
    for (size_t i = 0; i < other->used; i++)
        feed_counted(state, other->entries[i].tuple, other->entries[i].count);
    return RF_OK;
}

static rf_status report(const void *memory, const struct rf_sink *sink)
{
    const struct state *state = memory;
    for (size_t i = 0; i < state->used; i++) {
        const struct entry *entry = &state->entries[i];
        const struct rf_item item = rf_item_of_tuple(entry->tuple, entry->count);
        rf_status status = sink->item(sink->context, &item);
        if (status != RF_OK)
            return status;
    }
    struct rf_summary summary = {
        .events = state->events, .shape = RF_SHAPE_TUPLE, .bound = RF_BOUND_EXACT};
    return sink->end(sink->context, &summary);
}

static size_t items(const void *memory)
{
    return ((const struct state *)memory)->used;
}

static size_t memory_held(const void *memory)
{
    return ((const struct state *)memory)->peak;
}

const struct rf_engine_ops rf_exact = {
    .name = "exact",
    .brief = "every tuple with its exact count; grows",
    .options = options,
    .config_size = sizeof(struct config),
    .grows = true,
    .any_order = true,
    .state_size = state_size,
    .init = init,
    .release = release,
    .feed = feed,
    .feed_counted = feed_counted,
    .feed_weighted = feed_weighted,
    .interval = interval,
    .repeat_interval = rf_engine_starts_anew,
    .end_interval = end_interval,
    .merging = "states and profiles: counts add up, as of one run over everything",
    .merge = merge,
    .report = report,
    .items = items,
    .memory = memory_held,
};
