/* feed.c - the fast way into the tree of tree.c, in stretches of events under one threshold.
 *
 *     block of events -> places (leaf_cache.c) -> count, one event after the other
 *                                                   | no longer the smallest range: down the tree
 *                                                   | the threshold reached: split
 *
 * Between two merges the threshold changes only once per per_limit events; inside such a stretch the loop
 * neither counts events nor computes thresholds. Places are looked up for a block before any of its events
 * counts. That is exact: what a split changes is seen in the node when its event's turn comes, and a merge
 * ends the stretch. */
#include "engine/rap/rap_engine.h"
#include "engine/rap/find.h"

enum { BLOCK = 64 };

/* One stretch of events under one threshold. */
struct stretch {
    struct rf_rap_state *state;
    const struct rf_tuple *tuples;
    size_t n;
    uint64_t events_before;
};

/* Count event i of the stretch in node x. True: stop there, a merge made room and moved the threshold. */
RF_RAP_INLINE bool count_in(const struct stretch *s, uint32_t x, uint64_t limit, size_t i)
{
    struct rf_rap_tree *tree = &s->state->tree;
    struct rf_rap_node *node = &tree->nodes[x];
    uint64_t most =
        node->shift != 0 ? limit : UINT64_MAX; /* without a branch: it is hard to predict */
    if (__builtin_expect(++node->count < most, 1))
        return false;
    tree->events = s->events_before + i + 1;
    return rf_rap_tree_split(tree, x, rf_rap_key(s->tuples[i], s->state->config.key));
}

/* Each returns how many events it took: all, or up to the one that made it stop. */
static size_t run_cached(const struct stretch *s)
{
    struct rf_rap_tree *tree = &s->state->tree;
    struct rf_rap_cache *cache = &s->state->cache;
    const struct rf_rap_node *nodes = tree->nodes;
    uint64_t limit = tree->limit;
    struct rf_rap_place places[BLOCK];
    for (size_t i = 0; i < s->n;) {
        size_t begin = i, end = s->n - i < BLOCK ? s->n : i + BLOCK;
        cache->locate(cache, s->tuples + begin, end - begin, places);
        for (; i < end; i++) {
            struct rf_rap_place place = places[i - begin];
            if (__builtin_expect(nodes[place.node].below != place.below, 0))
                place.node = rf_rap_cache_descend(cache, tree, place.node,
                                                  rf_rap_key(s->tuples[i], cache->key));
            if (count_in(s, place.node, limit, i))
                return i + 1;
        }
    }
    return s->n;
}

static size_t run_plain(const struct stretch *s)
{
    struct rf_rap_tree *tree = &s->state->tree;
    for (size_t i = 0; i < s->n; i++) {
        struct rf_tuple key = rf_rap_key(s->tuples[i], s->state->config.key);
        if (count_in(s, rf_rap_tree_find(tree, key), tree->limit, i))
            return i + 1;
    }
    return s->n;
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
    struct stretch s = {.state = state};
    while (n > 0) {
        uint64_t length = stretch_length(tree), early = tree->early;
        s.tuples = tuples;
        s.n = length < n ? (size_t)length : n;
        s.events_before = tree->events;
        size_t taken = state->cache.entries > 0 ? run_cached(&s) : run_plain(&s);
        tree->events = s.events_before + taken;
        tuples += taken;
        n -= taken;
        if (tree->events == tree->next_merge)
            rf_rap_tree_merge_due(tree);
        else if (tree->early == early)
            continue;
        rf_rap_cache_forget(&state->cache);
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
        while (run < n && (key = rf_rap_key(tuples[run], choice), (key.a | key.b) >> bits == 0))
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
