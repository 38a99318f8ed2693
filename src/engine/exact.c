/* exact.c - counts every tuple: the judge of all other engines, and the answer when memory is plenty.
 *
 *     hash(tuple) -> slot, slot + 1, slot + 2, ...  until the tuple or an empty slot
 *     slot = { a, b, count }, count 0 = empty       24 bytes, at most 5/8 of them in use
 *
 * Open addressing with linear probing in a power of two of slots. A batch is hashed and its slots
 * prefetched before the first of them is touched, so that misses in the cache overlap.
 *
 * Guarantee: lower = count = upper. Memory: 24 bytes a slot, 38 to 77 bytes a distinct tuple while
 * growing by doubling; both tables exist for a moment when it doubles, and the `memory` ceiling
 * counts both. Cannot: be bounded by anything but that ceiling; past it, feeding fails and what was
 * counted before stands. */
#include "engine/engine.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/hash.h"
#include <string.h>

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
     .brief = "cut the stream every so many events and start anew; 0: do not",
     .offset = offsetof(struct config, interval)},
    {
     .type = RF_OPTION_END,
     },
};

struct slot {
    struct rf_tuple tuple;
    uint64_t count;
};

struct state {
    struct config config;
    const struct rf_alloc *alloc;
    struct slot *slots;
    unsigned bits; /* 1 << bits slots */
    size_t used;
    uint64_t seed;
    uint64_t events;
    size_t peak; /* most bytes held at once */
};

enum { BITS_FIRST = 10, BATCH = 32 };

static size_t slot_count(const struct state *state)
{
    return (size_t)1 << state->bits;
}

static size_t table_size(const struct state *state)
{
    return slot_count(state) * sizeof(struct slot);
}

static size_t state_size(const void *config)
{
    (void)config;
    return sizeof(struct state);
}

static rf_status init(void *memory, const void *config, const struct rf_engine_env *env,
                      struct rf_error *error)
{
    struct state *state = memory;
    state->config = *(const struct config *)config;
    state->alloc = env->alloc;
    state->seed = env->seed;
    state->bits = BITS_FIRST;
    size_t needed = table_size(state) + sizeof *state;
    if (state->config.memory != 0 && state->config.memory < needed)
        return rf_fail(error, RF_EINVAL, "engine 'exact': memory must be at least %zu bytes",
                       needed);
    state->slots = rf_alloc_get(state->alloc, table_size(state));
    if (state->slots == NULL)
        return rf_fail(error, RF_ENOMEM, "engine 'exact': no memory for its first table");
    memset(state->slots, 0, table_size(state));
    state->peak = needed;
    return RF_OK;
}

static void release(void *memory)
{
    struct state *state = memory;
    rf_alloc_free(state->alloc, state->slots, table_size(state));
}

static size_t home_slot(const struct state *state, struct rf_tuple t)
{
    return (size_t)(rf_hash_multiply(t, state->seed) >> (64 - state->bits));
}

/* The slot of the tuple, or the empty one where it belongs. */
static struct slot *find(const struct state *state, struct rf_tuple t, size_t home)
{
    size_t mask = slot_count(state) - 1;
    for (size_t i = home;; i = (i + 1) & mask) {
        struct slot *slot = &state->slots[i];
        if ((slot->tuple.a == t.a && slot->tuple.b == t.b) || slot->count == 0)
            return slot;
    }
}

static rf_status grow(struct state *state)
{
    struct state old = *state;
    size_t both = table_size(&old) * 3 + sizeof *state;
    if (state->config.memory != 0 && both > state->config.memory)
        return RF_ENOMEM;
    state->bits++;
    state->slots = rf_alloc_get(state->alloc, table_size(state));
    if (state->slots == NULL) {
        *state = old;
        return RF_ENOMEM;
    }
    memset(state->slots, 0, table_size(state));
    for (size_t i = 0; i < slot_count(&old); i++)
        if (old.slots[i].count != 0)
            *find(state, old.slots[i].tuple, home_slot(state, old.slots[i].tuple)) = old.slots[i];
    rf_alloc_free(state->alloc, old.slots, table_size(&old));
    if (both > state->peak)
        state->peak = both;
    return RF_OK;
}

/* Make sure that n more tuples fit, all of them new. */
static rf_status reserve(struct state *state, size_t n)
{
    while ((state->used + n) > slot_count(state) / 8 * 5) {
        rf_status status = grow(state);
        if (status != RF_OK)
            return status;
    }
    return RF_OK;
}

static void add(struct state *state, struct rf_tuple t, size_t home, uint64_t count)
{
    struct slot *slot = find(state, t, home);
    if (slot->count == 0) {
        slot->tuple = t;
        state->used++;
    }
    slot->count += count;
    state->events += count;
}

static void feed_batch(struct state *state, const struct rf_tuple *tuples, size_t n)
{
    size_t home[BATCH];
    for (size_t i = 0; i < n; i++) {
        home[i] = home_slot(state, tuples[i]);
        __builtin_prefetch(&state->slots[home[i]], 1);
    }
    for (size_t i = 0; i < n; i++)
        add(state, tuples[i], home[i], 1);
}

static rf_status feed(void *memory, const struct rf_tuple *tuples, size_t n, size_t *consumed)
{
    struct state *state = memory;
    for (size_t done = 0; done < n;) {
        size_t piece = n - done < BATCH ? n - done : BATCH;
        rf_status status = reserve(state, piece);
        if (status != RF_OK) {
            *consumed = done;
            return status;
        }
        feed_batch(state, tuples + done, piece);
        done += piece;
    }
    return RF_OK;
}

static rf_status feed_counted(void *memory, struct rf_tuple tuple, uint64_t count)
{
    struct state *state = memory;
    rf_status status = reserve(state, 1);
    if (status == RF_OK)
        add(state, tuple, home_slot(state, tuple), count);
    return status;
}

static uint64_t interval(const void *memory)
{
    return ((const struct state *)memory)->config.interval;
}

static void end_interval(void *memory)
{
    struct state *state = memory;
    memset(state->slots, 0, table_size(state));
    state->used = 0;
    state->events = 0;
}

static rf_status merge(void *memory, const void *other_memory, struct rf_error *error)
{
    struct state *state = memory;
    const struct state *other = other_memory;
    rf_status status = reserve(state, other->used);
    if (status != RF_OK)
        return rf_fail(error, status, "engine 'exact': no memory to merge %zu tuples", other->used);
    for (size_t i = 0; i < slot_count(other); i++)
        if (other->slots[i].count != 0)
            add(state, other->slots[i].tuple, home_slot(state, other->slots[i].tuple),
                other->slots[i].count);
    return RF_OK;
}

static rf_status report(const void *memory, const struct rf_sink *sink)
{
    const struct state *state = memory;
    for (size_t i = 0; i < slot_count(state); i++) {
        const struct slot *slot = &state->slots[i];
        if (slot->count == 0)
            continue;
        struct rf_item item = {
            .a = slot->tuple.a,
            .b = slot->tuple.b,
            .a_hi = slot->tuple.a,
            .b_hi = slot->tuple.b,
            .count = slot->count,
            .lower = slot->count,
            .upper = slot->count,
        };
        rf_status status = sink->item(sink->context, &item);
        if (status != RF_OK)
            return status;
    }
    struct rf_summary summary = {
        .events = state->events, .shape = RF_SHAPE_TUPLE, .bound = RF_BOUND_EXACT};
    return sink->end(sink->context, &summary);
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
    .state_size = state_size,
    .init = init,
    .release = release,
    .feed = feed,
    .feed_counted = feed_counted,
    .interval = interval,
    .end_interval = end_interval,
    .merge = merge,
    .report = report,
    .memory = memory_held,
};
