/* rap.c - range-adaptive profiling as an engine: the stream as ranges, the finer the hotter.
 *
 * Mysore et al., "Formulating and Implementing Profiling over Adaptive Ranges". tree.c has the tree
 * with its guarantee, feed.c and leaf_cache.c the fast way in; here are the options, the one block of
 * memory, the merging-event buffer of section 3.2.1, and reports.
 *
 *     event -> [buffer] same value there: count it there, done
 *                 | another: the older one leaves with its count
 *                 v
 *              [leaf cache] -> [jump table] -> tree
 *
 *     block: state | nodes | sets | leaf cache | jump table | buffer
 *
 * Guarantee: for any range (ends=2) or any range of the tree (ends=1, the paper's threshold), with n
 * events and `cut` as in tree.c: lower <= true <= lower + max(eps n, cut). In two dimensions that is
 * for the squares of the tree; any other rectangle gets bounds that hold but may be wider. Events in the
 * buffer are known exactly and belong to every answer. Values outside the universe of `bits` bits are
 * counted apart, exactly, as one range above it.
 *
 * Memory: known from the options. The tree: the ceiling of tree.c or `nodes`, 20 bytes per node (b = 4, one
 * dimension). The caches (leaf_cache.c): 16 bytes per cache entry and 4 per slot of the jump table; in two
 * dimensions 120 per cache entry. */
#include "engine/rap/rap_engine.h"
#include "engine/rap/find.h"
#include "base/error.h"
#include "base/text.h"
#include <string.h>

static const struct rf_option options[] = {
    RF_RAP_TREE_ROWS("2, 4, 8 or 16; in two dimensions 4 or 16", "a|b|both",
                     "which word of the tuple; both: rectangles"),
    RF_RAP_TREE_ROW(buffer, COUNT, "0",
                    "bytes of a buffer that merges identical events before the tree; 0: none",
                    .max = 1e9),
    RF_RAP_TREE_ROW(nodes, COUNT, "0",
                    "room for this many nodes; past it eps widens; 0: as many as eps can need",
                    .max = 1e9),
    RF_RAP_ENDS_ROW("2"),
    RF_RAP_TREE_ROW(cache, COUNT, "4096",
                    "entries of the leaf cache, a power of two from 2 on; 0: none",
                    .max = 16777216),
    {.type = RF_OPTION_END},
};

_Static_assert(RF_RAP_A == 0 && RF_RAP_B == 1 && RF_RAP_BOTH == 2, "the choices of key, in order");

static bool preset(void *config, const char *word)
{
    struct rf_rap_config *c = config;
    if (!rf_text_equal("paper", word, rf_text_length(word)))
        return false;
    c->ends = 1;
    return true;
}

void rf_rap_plan_from(struct rf_rap_plan *plan, const struct rf_rap_config *c)
{
    memset(plan, 0, sizeof *plan);
    rf_rap_plan_make(plan, c->key == RF_RAP_BOTH ? 2 : 1, (unsigned)c->bits, (unsigned)c->b, c->eps,
                     (unsigned)c->ends);
    plan->q = c->q;
    plan->first_merge = c->first_merge;
    uint64_t sets = rf_rap_plan_ceiling(plan);
    uint64_t asked = c->nodes >> plan->fan_bits;
    if (c->nodes != 0 && asked < sets)
        sets = asked;
    plan->sets = sets < RF_RAP_SETS_MAX ? (uint32_t)sets + 1 : RF_RAP_SETS_MAX + 1;
}

rf_status rf_rap_check_fan(const struct rf_rap_config *c, const char *engine, const char *option,
                           uint64_t room, struct rf_error *error)
{
    if ((c->b & (c->b - 1)) != 0)
        return rf_fail(error, RF_EINVAL, "engine '%s': b must be 2, 4, 8 or 16, got %llu", engine,
                       (unsigned long long)c->b);
    if (room != 0 && room < RF_RAP_SETS_MIN * c->b)
        return rf_fail(error, RF_EINVAL, "engine '%s': %s must be at least %llu for b=%llu", engine,
                       option, (unsigned long long)(RF_RAP_SETS_MIN * c->b),
                       (unsigned long long)c->b);
    return RF_OK;
}

rf_status rf_rap_check(void *config, struct rf_error *error)
{
    const struct rf_rap_config *c = config;
    rf_status status = rf_rap_check_fan(c, "rap", "nodes", c->nodes, error);
    if (status != RF_OK)
        return status;
    if (c->key == RF_RAP_BOTH && c->b != 4 && c->b != 16)
        return rf_fail(error, RF_EINVAL,
                       "engine 'rap': in two dimensions b must be 4 or 16, got %llu",
                       (unsigned long long)c->b);
    struct rf_rap_plan plan;
    rf_rap_plan_from(&plan, c);
    if (plan.sets > RF_RAP_SETS_MAX)
        return rf_fail(error, RF_EINVAL,
                       "engine 'rap': eps is so small that a stream can need more than %llu nodes; "
                       "say how many it may have with nodes=",
                       (unsigned long long)RF_RAP_SETS_MAX << plan.fan_bits);
    return RF_OK;
}

/* The power of two nearest to n; 0 stays 0. */
static size_t power_near(uint64_t n)
{
    size_t power = 1;
    if (n == 0)
        return 0;
    while (power + power / 2 < n)
        power *= 2;
    return power;
}

static size_t round64(size_t n)
{
    return (n + 63) & ~(size_t)63;
}

/* Where everything lies in the block; with state NULL only its size. */
static size_t lay_out(struct rf_rap_state *state, const struct rf_rap_config *c,
                      const struct rf_rap_plan *plan)
{
    char *block = (char *)state;
    size_t pair = plan->dims * sizeof(uint64_t);
    size_t cache = power_near(c->cache), buffer = power_near(c->buffer / (pair + 8));
    if (c->buffer != 0 && buffer == 0)
        buffer = 1;
    if (cache == 1)
        cache = 2;
    size_t tree_at = round64(sizeof *state);
    size_t cache_at = round64(tree_at + rf_rap_tree_size(plan));
    size_t near_at = round64(cache_at + rf_rap_cache_leaves_size(plan, cache));
    size_t buffer_at = round64(near_at + rf_rap_cache_near_size(plan, cache));
    size_t end = buffer_at + buffer * (pair + 8);
    if (state == NULL)
        return end;
    rf_rap_tree_init(&state->tree, plan, block + tree_at);
    rf_rap_cache_init(&state->cache, plan, c->key, cache, block + cache_at, block + near_at);
    state->buffer.entries = buffer;
    state->buffer.counts = (void *)(block + buffer_at);
    state->buffer.a = state->buffer.counts + buffer;
    state->buffer.b = plan->dims == 2 ? state->buffer.a + buffer : NULL;
    return end;
}

static size_t state_size(const void *config)
{
    struct rf_rap_plan plan;
    rf_rap_plan_from(&plan, config);
    return lay_out(NULL, config, &plan);
}

static rf_status init(void *memory, const void *config, const struct rf_engine_env *env,
                      struct rf_error *error)
{
    (void)env;
    (void)error;
    struct rf_rap_state *state = memory;
    struct rf_rap_plan plan;
    rf_rap_plan_from(&plan, config);
    state->config = *(const struct rf_rap_config *)config;
    lay_out(state, config, &plan);
    return RF_OK;
}

/* --- the merging-event buffer --- */

static size_t buffer_slot(const struct rf_rap_buffer *buffer, struct rf_tuple key)
{
    uint64_t mixed = (key.a ^ (key.b << 32 | key.b >> 32)) * UINT64_C(0x9e3779b97f4a7c15);
    return (size_t)(mixed >> 32) & (buffer->entries - 1);
}

static struct rf_tuple buffer_key(const struct rf_rap_buffer *buffer, size_t i)
{
    return (struct rf_tuple){buffer->a[i], buffer->b != NULL ? buffer->b[i] : 0};
}

static void buffer_add(struct rf_rap_state *state, struct rf_tuple key, uint64_t count)
{
    struct rf_rap_buffer *buffer = &state->buffer;
    size_t i = buffer_slot(buffer, key);
    struct rf_tuple has = buffer_key(buffer, i);
    buffer->events += count;
    if (has.a == key.a && has.b == key.b) {
        buffer->counts[i] += count;
        return;
    }
    uint64_t leaves = buffer->counts[i];
    buffer->events -= leaves;
    buffer->counts[i] = count;
    buffer->a[i] = key.a;
    if (buffer->b != NULL)
        buffer->b[i] = key.b;
    if (leaves == 0)
        return;
    buffer->left++;
    if (rf_rap_tree_add(&state->tree, has, leaves))
        rf_rap_cache_forget(&state->cache);
}

static void buffer_flush(struct rf_rap_state *state)
{
    struct rf_rap_buffer *buffer = &state->buffer;
    for (size_t i = 0; i < buffer->entries; i++) {
        if (buffer->counts[i] > 0)
            rf_rap_tree_add(&state->tree, buffer_key(buffer, i), buffer->counts[i]);
        buffer->counts[i] = 0;
    }
    buffer->events = 0;
    rf_rap_cache_forget(&state->cache);
}

static bool box_has(const struct rf_rap_box *box, struct rf_tuple key)
{
    return box->a <= key.a && key.a <= box->a_hi && box->b <= key.b && key.b <= box->b_hi;
}

/* Buffered events inside the box; with `leaf` not NULL only those that would count in that node. */
static uint64_t buffered(const struct rf_rap_state *state, const struct rf_rap_box *box,
                         const uint32_t *leaf)
{
    const struct rf_rap_buffer *buffer = &state->buffer;
    uint64_t sum = 0;
    for (size_t i = 0; i < buffer->entries && buffer->events > 0; i++)
        if (buffer->counts[i] > 0 && box_has(box, buffer_key(buffer, i)) &&
            (leaf == NULL || rf_rap_tree_find(&state->tree, buffer_key(buffer, i)) == *leaf))
            sum += buffer->counts[i];
    return sum;
}

/* --- feeding --- */

/* The tuple as the tree sees it; false: outside of the universe. */
static bool project(const struct rf_rap_state *state, struct rf_tuple tuple, struct rf_tuple *key)
{
    const struct rf_rap_config *c = &state->config;
    *key = rf_rap_key(tuple, c->key);
    return c->bits == 64 || (key->a | key->b) >> c->bits == 0;
}

static rf_status feed_counted(void *memory, struct rf_tuple tuple, uint64_t count)
{
    struct rf_rap_state *state = memory;
    struct rf_tuple key;
    if (!project(state, tuple, &key))
        state->outside += count;
    else if (state->buffer.entries > 0)
        buffer_add(state, key, count);
    else if (rf_rap_tree_add(&state->tree, key, count))
        rf_rap_cache_forget(&state->cache);
    return RF_OK;
}

static rf_status feed(void *memory, const struct rf_tuple *tuples, size_t n, size_t *consumed)
{
    struct rf_rap_state *state = memory;
    *consumed = n;
    if (state->buffer.entries == 0) {
        rf_rap_feed(state, tuples, n);
        return RF_OK;
    }
    for (size_t i = 0; i < n; i++)
        feed_counted(state, tuples[i], 1);
    return RF_OK;
}

static void end_interval(void *memory)
{
    struct rf_rap_state *state = memory;
    rf_rap_tree_clear(&state->tree);
    memset(state->buffer.counts, 0, state->buffer.entries * sizeof *state->buffer.counts);
    state->buffer.events = state->buffer.left = 0;
    state->outside = 0;
    rf_rap_cache_forget(&state->cache);
}

static rf_status merge(void *memory, const void *other_memory, struct rf_error *error)
{
    (void)error;
    struct rf_rap_state *state = memory;
    const struct rf_rap_state *other = other_memory;
    buffer_flush(state);
    rf_rap_tree_unite(&state->tree, &other->tree);
    for (size_t i = 0; i < other->buffer.entries; i++)
        rf_rap_tree_add(&state->tree, buffer_key(&other->buffer, i), other->buffer.counts[i]);
    state->outside += other->outside;
    rf_rap_cache_forget(&state->cache);
    return RF_OK;
}

/* --- reports --- */

struct reporter {
    const struct rf_rap_state *state;
    const struct rf_sink *sink;
    rf_status status;
    uint64_t hidden; /* most events that a range which is not listed can have */
};

/* One word free: the item's box spans all of it. */
static void item_box(const struct rf_rap_config *c, const struct rf_rap_box *box,
                     struct rf_item *item)
{
    item->a_hi = item->b_hi = UINT64_MAX;
    if (c->key != RF_RAP_B) {
        item->a = box->a;
        item->a_hi = box->a_hi;
    }
    if (c->key == RF_RAP_BOTH) {
        item->b = box->b;
        item->b_hi = box->b_hi;
    } else if (c->key == RF_RAP_B) {
        item->b = box->a;
        item->b_hi = box->a_hi;
    }
}

/* A range without events of its own may still be what holds those of its children together: only ranges
 * with nothing in them at all are left out. */
static void report_node(void *context, const struct rf_rap_tree *tree, uint32_t x, uint64_t above)
{
    struct reporter *reporter = context;
    const struct rf_rap_state *state = reporter->state;
    struct rf_rap_box box = rf_rap_tree_box(tree, x);
    struct rf_item item = {.count = tree->nodes[x].count + buffered(state, &box, &x)};
    if (tree->nodes[x].shift != 0 && above + item.count > reporter->hidden)
        reporter->hidden = above + item.count;
    item.lower = rf_rap_tree_total(tree, x) + buffered(state, &box, NULL);
    if (item.lower == 0 || reporter->status != RF_OK)
        return;
    item_box(&state->config, &box, &item);
    item.upper = item.lower + above;
    reporter->status = reporter->sink->item(reporter->sink->context, &item);
}

enum rf_shape rf_rap_shape(const void *config)
{
    static const enum rf_shape shapes[] = {[RF_RAP_A] = RF_SHAPE_RANGE_A,
                                           [RF_RAP_B] = RF_SHAPE_RANGE_B,
                                           [RF_RAP_BOTH] = RF_SHAPE_RECTANGLE};
    return shapes[((const struct rf_rap_config *)config)->key];
}

/* Events above the universe, as one range. In two dimensions they are no box, so the item covers everything. */
static rf_status report_outside(const struct rf_rap_state *state, const struct rf_sink *sink)
{
    if (state->outside == 0)
        return RF_OK;
    struct rf_rap_box box = {0, UINT64_MAX, 0, UINT64_MAX};
    struct rf_item item = {
        .count = state->outside, .lower = state->outside, .upper = state->outside};
    if (state->config.key == RF_RAP_BOTH)
        item.lower = item.upper += state->tree.events + state->buffer.events;
    else
        box.a = UINT64_C(1) << state->config.bits;
    item_box(&state->config, &box, &item);
    return sink->item(sink->context, &item);
}

static rf_status report_figures(const struct rf_rap_state *state, const struct rf_sink *sink)
{
    const struct rf_rap_tree *tree = &state->tree;
    const struct rf_figure figures[] = {
        {"eps-max", rf_rap_tree_eps(tree)},
        {"nodes", (double)rf_rap_tree_node_count(tree, tree->used)},
        {"nodes-max", (double)rf_rap_tree_node_count(tree, tree->used_max)},
        {"nodes-room-max", (double)rf_rap_tree_node_count(tree, tree->plan.sets - 1)},
        {"splits", (double)tree->splits},
        {"merges", (double)tree->merges},
        {"early-merges", (double)tree->early},
        {"outside", (double)state->outside},
        {"buffer-out", (double)state->buffer.left},
    };
    size_t n = sizeof figures / sizeof *figures - (state->buffer.entries == 0);
    return rf_engine_report_figures(sink, figures, n);
}

uint64_t rf_rap_events(const struct rf_rap_state *state)
{
    return state->tree.events + state->buffer.events + state->outside;
}

static rf_status report(const void *memory, const struct rf_sink *sink)
{
    const struct rf_rap_state *state = memory;
    struct reporter reporter = {state, sink, RF_OK, 0};
    struct rf_rap_visit visit = {report_node, &reporter};
    rf_rap_tree_walk(&state->tree, &visit);
    rf_status status = reporter.status;
    if (status == RF_OK)
        status = report_outside(state, sink);
    if (status == RF_OK)
        status = report_figures(state, sink);
    if (status != RF_OK)
        return status;
    struct rf_summary summary = {
        .events = rf_rap_events(state),
        .absent_upper = reporter.hidden,
        .shape = (uint8_t)rf_rap_shape(&state->config),
        .bound = RF_BOUND_HARD,
    };
    return sink->end(sink->context, &summary);
}

struct rf_rap_bounds rf_rap_query_state(const struct rf_rap_state *state, struct rf_rap_box box)
{
    struct rf_rap_bounds bounds = rf_rap_tree_query(&state->tree, box);
    uint64_t exact = buffered(state, &box, NULL);
    return (struct rf_rap_bounds){bounds.lower + exact, bounds.upper + exact};
}

/* As the paper has it: 128 bits per node. */
static uint64_t bits(const void *config)
{
    struct rf_rap_plan plan;
    rf_rap_plan_from(&plan, config);
    return ((uint64_t)plan.sets << plan.fan_bits) * 128;
}

const struct rf_engine_ops rf_rap = {
    .name = "rap",
    .brief = "ranges of one word or rectangles of both, the finer the hotter",
    .options = options,
    .config_size = sizeof(struct rf_rap_config),
    .preset = preset,
    .check = rf_rap_check,
    .shape = rf_rap_shape,
    .state_size = state_size,
    .init = init,
    .feed = feed,
    .feed_counted = feed_counted,
    .repeat_interval = rf_engine_starts_anew,
    .end_interval = end_interval,
    .merging = "states: trees unite node by node, and eps of all events bounds each range still; "
               "profiles: counts and bounds add up",
    .merge = merge,
    .report = report,
    .bits = bits,
};
