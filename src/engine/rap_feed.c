/* rap_feed.c - the fast way into the tree of rap_tree.c: where an event went last time is where it goes.
 *
 *     leaf cache   hash(value) -> { value, node }           the same value again
 *     jump table   (leading zeros, next 10 bits) -> node    a value like others: start half way down
 *     tree         from there on
 *
 * Both are exact. A node number stays the number of a range that covers the value until the next merge:
 * splits only add nodes below. So a stale entry is a good place to start from, an empty one (0) is the
 * root, and a merge clears both. Between two merges the threshold changes only every per_limit events;
 * inside such a stretch the loop neither counts events nor computes thresholds.
 *
 * The jump table goes by leading zeros first because values crowd at the small end: one that were indexed
 * by the top bits of a 64-bit universe would have all 32-bit numbers in its first entry.
 *
 * Memory: 16 bytes an entry of the leaf cache (24 in two dimensions), 256 KiB for the jump table, which
 * one dimension has alone; both are part of the engine's block. */
#include "engine/rap_engine.h"
#include "engine/rap_find.h"
#include <string.h>

enum { JUMP_BITS = 10, JUMP_ENTRIES = 64 << JUMP_BITS };

struct entry {
    uint64_t a;
    uint64_t node;
};

struct entry_pair {
    uint64_t a, b;
    uint64_t node;
};

size_t rf_rap_cache_entry_size(const struct rf_rap_plan *plan)
{
    return plan->dims == 2 ? sizeof(struct entry_pair) : sizeof(struct entry);
}

size_t rf_rap_jump_size(const struct rf_rap_plan *plan, size_t cache_entries)
{
    return plan->dims == 1 && cache_entries > 0 ? JUMP_ENTRIES * sizeof(uint32_t) : 0;
}

void rf_rap_forget(struct rf_rap_state *state)
{
    const struct rf_rap_plan *plan = &state->tree.plan;
    if (state->cache_entries == 0)
        return;
    memset(state->cache, 0, state->cache_entries * rf_rap_cache_entry_size(plan));
    memset(state->jump, 0, rf_rap_jump_size(plan, state->cache_entries));
}

/* One stretch of events under one threshold. */
struct stretch {
    struct rf_rap_state *state;
    const struct rf_tuple *tuples;
    size_t n;
    unsigned hash_shift;
    uint64_t events_before;
};

RF_RAP_INLINE struct rf_tuple key_of(struct rf_tuple tuple, uint64_t choice)
{
    if (choice == RF_RAP_A)
        return (struct rf_tuple){tuple.a, 0};
    if (choice == RF_RAP_B)
        return (struct rf_tuple){tuple.b, 0};
    return tuple;
}

/* From the jump table down, and leave the deepest node that covers the slot there for the next time.
 * 0 and 1 share a slot, all others of less than JUMP_BITS bits have one of their own. */
RF_RAP_INLINE uint32_t find_from_jump(struct rf_rap_state *state, struct rf_tuple key)
{
    const struct rf_rap_tree *tree = &state->tree;
    unsigned zeros = (unsigned)__builtin_clzll(key.a | 1);
    uint64_t behind = zeros == 63 ? 0 : key.a << (zeros + 1);
    uint32_t *slot = &state->jump[(zeros << JUMP_BITS) | (unsigned)(behind >> (64 - JUMP_BITS))];
    unsigned slot_shift = zeros + JUMP_BITS < 63 ? 63 - JUMP_BITS - zeros : zeros == 63;
    uint32_t x = *slot, start = x;
    for (;;) {
        const struct rf_rap_node *node = &tree->nodes[x];
        if (node->shift >= slot_shift)
            start = x;
        if (node->below == 0)
            break;
        unsigned shift = node->below_shift;
        if (node->gap && !rf_rap_set_covers(tree, node->below, shift, key, 1))
            break;
        x = (node->below << tree->plan.fan_bits) + rf_rap_digit(&tree->plan, key, shift, 1);
    }
    *slot = start;
    return x;
}

/* Count event i of the stretch in node x. True: stop there, a merge made room and moved the threshold. */
RF_RAP_INLINE bool count_in(const struct stretch *s, uint32_t x, uint64_t limit,
                            struct rf_tuple key, size_t i)
{
    struct rf_rap_tree *tree = &s->state->tree;
    struct rf_rap_node *node = &tree->nodes[x];
    if (__builtin_expect(++node->count < limit, 1) || node->shift == 0)
        return false;
    tree->events = s->events_before + i + 1;
    return rf_rap_tree_split(tree, x, key);
}

/* Each returns how many events it took: all, or up to the one that made it stop. */
RF_RAP_INLINE size_t run_line(const struct stretch *s, uint64_t choice)
{
    struct rf_rap_tree *tree = &s->state->tree;
    struct entry *cache = s->state->cache;
    uint64_t limit = tree->limit;
    for (size_t i = 0; i < s->n; i++) {
        struct rf_tuple key = key_of(s->tuples[i], choice);
        struct entry *entry = &cache[key.a * UINT64_C(0x9e3779b97f4a7c15) >> s->hash_shift];
        uint32_t x = (uint32_t)entry->node;
        if (__builtin_expect(entry->a != key.a, 0)) {
            x = find_from_jump(s->state, key);
            *entry = (struct entry){key.a, x};
        } else if (tree->nodes[x].below != 0) {
            x = rf_rap_descend(tree, x, key, 1);
            entry->node = x;
        }
        if (count_in(s, x, limit, key, i))
            return i + 1;
    }
    return s->n;
}

RF_RAP_INLINE size_t run_plane(const struct stretch *s)
{
    struct rf_rap_tree *tree = &s->state->tree;
    struct entry_pair *cache = s->state->cache;
    uint64_t limit = tree->limit;
    for (size_t i = 0; i < s->n; i++) {
        struct rf_tuple key = s->tuples[i];
        uint64_t mixed =
            (key.a * UINT64_C(0xd1342543de82ef95) + key.b) * UINT64_C(0x9e3779b97f4a7c15);
        struct entry_pair *entry = &cache[mixed >> s->hash_shift];
        bool hit = entry->a == key.a && entry->b == key.b;
        uint32_t x = rf_rap_descend(tree, hit ? (uint32_t)entry->node : 0, key, 2);
        *entry = (struct entry_pair){key.a, key.b, x};
        if (count_in(s, x, limit, key, i))
            return i + 1;
    }
    return s->n;
}

static size_t run_plain(const struct stretch *s)
{
    struct rf_rap_tree *tree = &s->state->tree;
    for (size_t i = 0; i < s->n; i++) {
        struct rf_tuple key = key_of(s->tuples[i], s->state->config.key);
        if (count_in(s, rf_rap_tree_find(tree, key), tree->limit, key, i))
            return i + 1;
    }
    return s->n;
}

static size_t run_stretch(const struct stretch *s)
{
    if (s->state->cache_entries == 0)
        return run_plain(s);
    if (s->state->config.key == RF_RAP_BOTH)
        return run_plane(s);
    return s->state->config.key == RF_RAP_A ? run_line(s, RF_RAP_A) : run_line(s, RF_RAP_B);
}

/* How many events come under the same threshold, and before the next merge. */
static uint64_t stretch_length(struct rf_rap_tree *tree)
{
    uint64_t limit = (tree->events + 1) / tree->per_limit, end;
    tree->limit = limit > 0 ? limit : 1;
    if (__builtin_mul_overflow(tree->limit + 1, tree->per_limit, &end))
        end = UINT64_MAX;
    end--;
    if (tree->next_merge < end)
        end = tree->next_merge;
    return end - tree->events;
}

static void feed_inside(struct rf_rap_state *state, const struct rf_tuple *tuples, size_t n)
{
    struct rf_rap_tree *tree = &state->tree;
    unsigned hash_shift = 64;
    for (size_t entries = state->cache_entries; entries > 1; entries /= 2)
        hash_shift--;
    while (n > 0) {
        uint64_t length = stretch_length(tree);
        struct stretch s = {state, tuples, length < n ? (size_t)length : n, hash_shift,
                            tree->events};
        uint64_t early = tree->early;
        size_t taken = run_stretch(&s);
        tree->events = s.events_before + taken;
        tuples += taken;
        n -= taken;
        if (tree->events == tree->next_merge)
            rf_rap_tree_merge_due(tree);
        else if (tree->early == early)
            continue;
        rf_rap_forget(state);
    }
}

/* Cut out the tuples that lie outside of a universe of fewer than 64 bits. */
void rf_rap_feed(struct rf_rap_state *state, const struct rf_tuple *tuples, size_t n)
{
    uint64_t choice = state->config.key;
    unsigned bits = (unsigned)state->config.bits;
    if (bits == 64) {
        feed_inside(state, tuples, n);
        return;
    }
    while (n > 0) {
        size_t run = 0;
        struct rf_tuple key = {0, 0};
        while (run < n && (key = key_of(tuples[run], choice), (key.a | key.b) >> bits == 0))
            run++;
        feed_inside(state, tuples, run);
        if (run < n) {
            state->outside++;
            run++;
        }
        tuples += run;
        n -= run;
    }
}
