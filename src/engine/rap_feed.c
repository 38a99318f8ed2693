/* rap_feed.c - the fast way into the tree of rap_tree.c: where an event went last time is where it goes.
 *
 *     leaf cache    hash(value) -> { value, node }               the same value again
 *     jump table    (leading zeros, the bits behind) -> node     a neighbour: start most of the way down
 *     tree          from there on
 *
 * Both are exact. A node number stays the number of a range that covers the value until the next merge:
 * splits only add nodes below. So a stale entry is a good place to start from, an empty one (0, the root)
 * too, and a merge clears both. Only what lies deeper than a slot of the jump table goes to the leaf
 * cache: a value out of a crowd of rare ones does not drive out a frequent one. Between two merges the
 * threshold changes only every per_limit events; inside such a stretch the loop neither counts events nor
 * computes thresholds, and the choice between cache and table is arithmetic, not a branch.
 *
 * The jump table goes by leading zeros first because values crowd at the small end: one that were indexed
 * by the top bits of a 64-bit universe would have all 32-bit numbers in its first slot. With as many slots
 * for each number of zeros as there can be leaves of equal weight, a leaf that is not hot by itself is
 * mostly found without a step. It was tried: with a quarter of the slots a third of the speed is lost on Zipf; a hashed
 * table of blocks whose width follows the leaves is smaller but costs more than it saves.
 *
 * In two dimensions a second cache of squares takes the place of the jump table.
 *
 * Memory: an entry of the leaf cache 16 bytes, a slot of the jump table 4; in two dimensions 24 bytes an
 * entry and 4 x 24 for squares; all of it in the engine's block. */
#include "engine/rap_engine.h"
#include "engine/rap_find.h"
#include <string.h>

enum { SQUARE_BITS = 12, SQUARES_LOG = 2 }; /* 4 squares for each entry of the leaf cache */

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
    return plan->dims == 2 ? sizeof(struct entry_pair) * (1 + (1 << SQUARES_LOG))
                           : sizeof(struct entry);
}

/* Slots for each number of leading zeros: as many as there can be leaves of equal weight, but no more than
 * the leaf cache has entries. */
static unsigned jump_bits(const struct rf_rap_plan *plan, size_t cache_entries)
{
    unsigned bits = 0;
    while (cache_entries >> bits > 1 && plan->per_limit >> bits > 0)
        bits++;
    return bits;
}

size_t rf_rap_jump_size(const struct rf_rap_plan *plan, size_t cache_entries)
{
    if (plan->dims != 1 || cache_entries == 0)
        return 0;
    return ((size_t)plan->bits << jump_bits(plan, cache_entries)) * sizeof(uint32_t);
}

/* Only classes that were written to are cleared: most streams touch few. */
void rf_rap_forget(struct rf_rap_state *state)
{
    const struct rf_rap_plan *plan = &state->tree.plan;
    size_t slots = (size_t)1 << jump_bits(plan, state->cache_entries);
    memset(state->cache, 0, state->cache_entries * rf_rap_cache_entry_size(plan));
    for (unsigned class = 0; class < 64; class ++)
        if (state->jump_classes >> class & 1)
            memset(state->jump + class * slots, 0, slots * sizeof *state->jump);
    state->jump_classes = 0;
}

/* One stretch of events under one threshold. */
struct stretch {
    struct rf_rap_state *state;
    const struct rf_tuple *tuples;
    size_t n;
    uint64_t events_before;
    unsigned hash_shift;
    unsigned slot_bits;  /* of the jump table, for each class */
    unsigned zeros_base; /* leading zeros that every value of the universe has */
};

RF_RAP_INLINE struct rf_tuple key_of(struct rf_tuple tuple, uint64_t choice)
{
    if (choice == RF_RAP_A)
        return (struct rf_tuple){tuple.a, 0};
    if (choice == RF_RAP_B)
        return (struct rf_tuple){tuple.b, 0};
    return tuple;
}

/* Values with as many leading zeros (a class) and the same bits behind the first one share a slot. So do 0
 * and 1. */
RF_RAP_INLINE size_t jump_slot(const struct stretch *s, uint64_t value)
{
    unsigned zeros = (unsigned)__builtin_clzll(value | 1);
    uint64_t behind = value << zeros << 1;
    return ((size_t)(zeros - s->zeros_base) << s->slot_bits) |
           (size_t)(behind >> (63 - s->slot_bits) >> 1);
}

/* A slot covers 1 << slot_shift values. */
static unsigned slot_shift(const struct stretch *s, uint64_t value)
{
    unsigned rest = 63 - (unsigned)__builtin_clzll(value | 1);
    return rest > s->slot_bits ? rest - s->slot_bits : rest == 0;
}

/* From node x down, and remember the way: what covers a whole slot there, the rest with the value. */
static __attribute__((noinline)) uint32_t descend_and_learn(const struct stretch *s, uint32_t x,
                                                            struct rf_tuple key, struct entry *leaf)
{
    struct rf_rap_state *state = s->state;
    const struct rf_rap_tree *tree = &state->tree;
    unsigned whole = slot_shift(s, key.a);
    uint32_t start = x;
    for (;;) {
        const struct rf_rap_node *node = &tree->nodes[x];
        if (node->shift >= whole)
            start = x;
        if (node->below == 0)
            break;
        unsigned shift = node->below_shift;
        if (node->gap && !rf_rap_set_covers(tree, node->below, shift, key, 1))
            break;
        x = (node->below << tree->plan.fan_bits) + rf_rap_digit(&tree->plan, key, shift, 1);
    }
    if (tree->nodes[start].shift >= whole) {
        size_t slot = jump_slot(s, key.a);
        state->jump[slot] = start;
        state->jump_classes |= UINT64_C(1) << (slot >> s->slot_bits);
    }
    if (start != x)
        *leaf = (struct entry){key.a, x};
    return x;
}

/* Count event i of the stretch in node x. True: stop there, a merge made room and moved the threshold. */
RF_RAP_INLINE bool count_in(const struct stretch *s, uint32_t x, uint64_t limit,
                            struct rf_tuple key, size_t i)
{
    struct rf_rap_tree *tree = &s->state->tree;
    struct rf_rap_node *node = &tree->nodes[x];
    uint64_t most =
        node->shift != 0 ? limit : UINT64_MAX; /* a move: which it is is hard to predict */
    if (__builtin_expect(++node->count < most, 1))
        return false;
    tree->events = s->events_before + i + 1;
    return rf_rap_tree_split(tree, x, key);
}

/* Each returns how many events it took: all, or up to the one that made it stop. */
RF_RAP_INLINE size_t run_line(const struct stretch *s, uint64_t choice)
{
    struct rf_rap_tree *tree = &s->state->tree;
    struct entry *leaves = s->state->cache;
    const uint32_t *jump = s->state->jump;
    uint64_t limit = tree->limit;
    for (size_t i = 0; i < s->n; i++) {
        struct rf_tuple key = key_of(s->tuples[i], choice);
        struct entry *leaf = &leaves[key.a * UINT64_C(0x9e3779b97f4a7c15) >> s->hash_shift];
        uint32_t start = jump[jump_slot(s, key.a)];
        uint32_t x = start ^ ((start ^ (uint32_t)leaf->node) & (0u - (leaf->a == key.a)));
        if (tree->nodes[x].below != 0)
            x = descend_and_learn(s, x, key, leaf);
        if (count_in(s, x, limit, key, i))
            return i + 1;
    }
    return s->n;
}

/* --- two dimensions: blocks are squares, and there are too many of them for a table without tags --- */

/* The side of a block is 1 << square_shift: the larger word has SQUARE_BITS bits left behind its first. */
RF_RAP_INLINE unsigned square_shift(struct rf_tuple key)
{
    unsigned rest = 63 - (unsigned)__builtin_clzll(key.a | key.b | 1);
    return rest > SQUARE_BITS ? rest - SQUARE_BITS : 0;
}

RF_RAP_INLINE uint64_t hash_pair(struct rf_tuple key)
{
    return (key.a * UINT64_C(0xd1342543de82ef95) + key.b) * UINT64_C(0x9e3779b97f4a7c15);
}

static __attribute__((noinline)) uint32_t descend_plane(const struct stretch *s, uint32_t x,
                                                        struct rf_tuple key,
                                                        struct entry_pair *leaf,
                                                        struct entry_pair *square)
{
    const struct rf_rap_tree *tree = &s->state->tree;
    unsigned whole = square_shift(key);
    uint32_t start = x;
    for (;;) {
        const struct rf_rap_node *node = &tree->nodes[x];
        if (node->shift >= whole)
            start = x;
        if (node->below == 0)
            break;
        unsigned shift = node->below_shift;
        if (node->gap && !rf_rap_set_covers(tree, node->below, shift, key, 2))
            break;
        x = (node->below << tree->plan.fan_bits) + rf_rap_digit(&tree->plan, key, shift, 2);
    }
    if (tree->nodes[start].shift >= whole)
        *square = (struct entry_pair){key.a >> whole << whole, key.b >> whole << whole, start};
    if (start != x)
        *leaf = (struct entry_pair){key.a, key.b, x};
    return x;
}

RF_RAP_INLINE uint32_t node_if(const struct entry_pair *entry, struct rf_tuple key)
{
    return (uint32_t)entry->node & (0u - ((entry->a == key.a) & (entry->b == key.b)));
}

static size_t run_plane(const struct stretch *s)
{
    struct rf_rap_tree *tree = &s->state->tree;
    struct entry_pair *leaves = s->state->cache, *squares = leaves + s->state->cache_entries;
    uint64_t limit = tree->limit;
    for (size_t i = 0; i < s->n; i++) {
        struct rf_tuple key = s->tuples[i];
        unsigned shift = square_shift(key);
        struct rf_tuple corner = {key.a >> shift << shift, key.b >> shift << shift};
        struct entry_pair *leaf = &leaves[hash_pair(key) >> s->hash_shift];
        struct entry_pair *square = &squares[hash_pair(corner) >> (s->hash_shift - SQUARES_LOG)];
        uint32_t exact = node_if(leaf, key), near = node_if(square, corner);
        uint32_t x = exact | (near & (0u - (exact == 0)));
        if (tree->nodes[x].below != 0)
            x = descend_plane(s, x, key, leaf, square);
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
    struct stretch s = {.state = state,
                        .hash_shift = 64,
                        .slot_bits = jump_bits(&tree->plan, state->cache_entries),
                        .zeros_base = 64 - tree->plan.bits};
    for (size_t entries = state->cache_entries; entries > 1; entries /= 2)
        s.hash_shift--;
    while (n > 0) {
        uint64_t length = stretch_length(tree), early = tree->early;
        s.tuples = tuples;
        s.n = length < n ? (size_t)length : n;
        s.events_before = tree->events;
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
