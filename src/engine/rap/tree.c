/* tree.c - the tree of range-adaptive profiling: ranges that are as fine as their events are many.
 *
 * Mysore et al., "Formulating and Implementing Profiling over Adaptive Ranges", sections 2 and 3.
 *
 *     [0,ff] 5                           An event counts in the smallest range that holds it. A range
 *       |                                whose count reaches the limit, eps n / log_b(R), splits: b
 *       +-- [0,3f] 7                     children with count 0, while it keeps its own count.
 *       |     |
 *       |     :    a gap                 At n = n0, q n0, q^2 n0, ... ranges that have become too light
 *       |     +-- [c,c] 90               are merged, children before parents: siblings go into their
 *       |     +-- [d,d] 2                parent if together they stay below the limit.
 *       |     +-- [e,e] 1
 *       |     +-- [f,f] 0                A sibling that goes may have children of its own: they stay
 *       +-- [40,7f] 3                    and now cover only part of their new parent (an "interior
 *       +-- [80,bf] 0                    merge"). When that parent splits later, they move below the
 *       +-- [c0,ff] 4                    new child that covers them.
 *
 * Siblings come and go together, as a set, and at most one of the siblings that go may have children.
 * So a node has no children or one set of b, and a node's place in the pool follows from its set's:
 *
 *     sets[s] = { lo, up, shift }        nodes[s * b .. s * b + b - 1] = { count, below, ... }
 *     set 0 holds the root alone         all of it two arrays that never move or grow
 *
 * Two dimensions: a value is a pair, a range a square, the digit of a level takes bits of both words.
 *
 * Guarantee: counts are never taken back, so those of all nodes add up to the events. A node of more than
 * one value holds at most limit(n) = max(1, n / per_limit) events, per_limit = cut / eps, where `cut` is
 * how many such nodes can lie across the ends of a range: one path (log_b R) for a range of the tree, two
 * that share the root (2 log_b R - 1) for any range. Hence for a range
 *
 *     lower = counts of the nodes inside it;    lower <= true <= lower + max(eps n, cut)
 *
 * Memory: let M be the limit at a merge of n events. A set that survives it either has two or more siblings
 * with children, or weighs at least M together with its parent. Each node is a member of one set and the parent
 * of one, so there are at most 2n/M sets of the second kind, n/M of them with nothing below; there are fewer
 * of the first kind than of those. That makes 3 n/M sets after a merge. Until the next merge each split takes
 * a node that holds limit(t) of the t events so far: n/M + per_limit ln q more. rf_rap_plan_ceiling works
 * this out. A node takes 16 bytes, and a set 16 more (24 in two dimensions). Where the user gives less room, a
 * split that finds none merges at once. If that is not enough it takes a quarter off per_limit: the tree goes
 * on with a wider eps, which is reported. A later merge that leaves more than a quarter of the room gives per_limit back
 * in that proportion. Nodes may then hold more than the new limit, never more than the old one (`wide`). That is a
 * fixed number of events, so what holds narrows as the stream goes on: eps = cut max(limit, wide) / n.
 *
 * Departures: (1) a node splits when it reaches the limit rounded down, not when it exceeds it, so that
 * eps n holds to the event; (2) the paper's threshold bounds ranges of the tree; plans can have it halved
 * so that any range is within eps n; (3) the merge rule's "at most one sibling with children" is ours, and
 * is what makes the bound on memory provable.
 * Cannot: tell a value from its range before the range has had limit events since it was last merged. */
#include "engine/rap/rap.h"
#include "engine/rap/find.h"
#include <string.h>

/* --- the plan --- */

/* numerator / eps, rounded up. */
static uint64_t divide_up(unsigned numerator, double eps)
{
    double quotient = (double)numerator / eps;
    if (quotient >= 1e18)
        return UINT64_C(1000000000000000000);
    uint64_t whole = (uint64_t)quotient;
    return (double)whole * eps < (double)numerator ? whole + 1 : whole;
}

void rf_rap_plan_make(struct rf_rap_plan *plan, unsigned dims, unsigned bits, unsigned b,
                      double eps, unsigned ends)
{
    plan->dims = dims;
    plan->bits = bits;
    plan->fan_bits = (unsigned)__builtin_ctz(b);
    plan->step = plan->fan_bits / dims;
    plan->levels = (bits + plan->step - 1) / plan->step;
    plan->cut = ends == 2 && dims == 1 ? 2 * plan->levels - 1 : plan->levels;
    plan->per_limit = divide_up(plan->cut, eps);
}

static uint64_t limit_at(uint64_t events, uint64_t per_limit)
{
    uint64_t limit = events / per_limit;
    return limit > 0 ? limit : 1;
}

static uint64_t times(uint64_t n, uint64_t q)
{
    uint64_t product;
    return __builtin_mul_overflow(n, q, &product) ? UINT64_MAX : product;
}

/* Splits that fresh events can cause in (from, to]: at the limit L, one per L events. */
static uint64_t fresh_splits(uint64_t from, uint64_t to, uint64_t per_limit)
{
    double splits = 0;
    while (from < to) {
        uint64_t limit = limit_at(from + 1, per_limit);
        uint64_t end = times(limit + 1, per_limit) - 1;
        end = end < to ? end : to;
        splits += (double)(end - from) / (double)limit;
        from = end;
    }
    return (uint64_t)splits + 1;
}

struct rf_rap_worst rf_rap_plan_worst(const struct rf_rap_plan *plan, struct rf_rap_worst last)
{
    struct rf_rap_worst worst = {last.to,
                                 last.to == 0 ? plan->first_merge : times(last.to, plan->q), 0, 0};
    uint64_t primed = 0;
    if (worst.from > 0) {
        primed = worst.from / limit_at(worst.from, plan->per_limit);
        worst.after = last.before < 3 * primed ? last.before : 3 * primed;
    }
    uint64_t splits = primed + fresh_splits(worst.from, worst.to, plan->per_limit);
    uint64_t events = worst.to - worst.from;
    worst.before = worst.after + (splits < events ? splits : events);
    return worst;
}

/* From a limit of 64 on n / limit(n) is within 2% of per_limit and the worst case only falls. */
uint64_t rf_rap_plan_ceiling(const struct rf_rap_plan *plan)
{
    enum { SETTLED = 64 };
    uint64_t most = 0;
    struct rf_rap_worst worst = {0};
    do {
        worst = rf_rap_plan_worst(plan, worst);
        most = worst.before > most ? worst.before : most;
    } while (limit_at(worst.from, plan->per_limit) < SETTLED && worst.to != UINT64_MAX);
    return most;
}

/* --- the pool --- */

size_t rf_rap_tree_size(const struct rf_rap_plan *plan)
{
    size_t set = (sizeof(struct rf_rap_node) << plan->fan_bits) + sizeof(struct rf_rap_set) +
                 (plan->dims == 2 ? sizeof(uint64_t) : 0);
    return plan->sets * set;
}

void rf_rap_tree_init(struct rf_rap_tree *tree, const struct rf_rap_plan *plan, void *memory)
{
    memset(tree, 0, sizeof *tree);
    tree->plan = *plan;
    tree->nodes = memory;
    tree->sets = (void *)(tree->nodes + ((size_t)plan->sets << plan->fan_bits));
    if (plan->dims == 2)
        tree->sets_b = (void *)(tree->sets + plan->sets);
    rf_rap_tree_clear(tree);
}

void rf_rap_tree_clear(struct rf_rap_tree *tree)
{
    tree->events = 0;
    tree->limit = 1;
    tree->wide = 0;
    tree->per_limit = tree->plan.per_limit;
    tree->next_merge = tree->plan.first_merge;
    tree->free = 0;
    tree->fresh = 1;
    tree->used = tree->used_max = 0;
    tree->splits = tree->merges = tree->folds = tree->early = 0;
    memset(&tree->nodes[0], 0, sizeof tree->nodes[0]);
    tree->nodes[0].shift = (uint8_t)tree->plan.bits;
}

static uint32_t sets_left(const struct rf_rap_tree *tree)
{
    return tree->plan.sets - 1 - tree->used;
}

static uint32_t fan(const struct rf_rap_tree *tree)
{
    return 1u << tree->plan.fan_bits;
}

static uint32_t first_node(const struct rf_rap_tree *tree, uint32_t set)
{
    return set << tree->plan.fan_bits;
}

static uint64_t clear_low(uint64_t word, unsigned bits)
{
    return bits >= 64 ? 0 : word >> bits << bits;
}

/* A set of siblings with count 0 around the key, not yet linked to a parent. */
static uint32_t take_set(struct rf_rap_tree *tree, unsigned shift, struct rf_tuple key)
{
    uint32_t set = tree->free;
    if (set != 0)
        tree->free = tree->sets[set].up;
    else
        set = tree->fresh++;
    tree->used++;
    if (tree->used > tree->used_max)
        tree->used_max = tree->used;
    tree->sets[set].lo = clear_low(key.a, shift + tree->plan.step);
    tree->sets[set].shift = shift;
    if (tree->plan.dims == 2)
        tree->sets_b[set] = clear_low(key.b, shift + tree->plan.step);
    struct rf_rap_node blank = {.shift = (uint8_t)shift};
    for (uint32_t i = 0; i < fan(tree); i++)
        tree->nodes[first_node(tree, set) + i] = blank;
    return set;
}

static void free_set(struct rf_rap_tree *tree, uint32_t set)
{
    tree->sets[set].up = tree->free;
    tree->free = set;
    tree->used--;
}

/* The shift of the children that a split of x makes. */
static unsigned child_shift(const struct rf_rap_tree *tree, uint32_t x)
{
    const struct rf_rap_plan *plan = &tree->plan;
    return x == 0 ? (plan->levels - 1) * plan->step : tree->nodes[x].shift - plan->step;
}

static void link_set(struct rf_rap_tree *tree, uint32_t x, uint32_t set)
{
    struct rf_rap_node *node = &tree->nodes[x];
    tree->sets[set].up = x;
    node->below = set;
    node->below_shift = (uint8_t)tree->sets[set].shift;
    node->gap = tree->sets[set].shift != child_shift(tree, x);
}

static void unlink_set(struct rf_rap_tree *tree, uint32_t x)
{
    tree->nodes[x].below = 0;
    tree->nodes[x].gap = 0;
}

static struct rf_tuple corner(const struct rf_rap_tree *tree, uint32_t set)
{
    return (struct rf_tuple){tree->sets[set].lo, tree->plan.dims == 2 ? tree->sets_b[set] : 0};
}

static uint32_t member(const struct rf_rap_tree *tree, uint32_t set, struct rf_tuple key)
{
    return first_node(tree, set) +
           rf_rap_digit(&tree->plan, key, tree->sets[set].shift, tree->plan.dims);
}

/* A new set below x; what was below x goes below the sibling that covers it. */
static uint32_t insert_set(struct rf_rap_tree *tree, uint32_t x, unsigned shift,
                           struct rf_tuple key)
{
    uint32_t set = take_set(tree, shift, key);
    uint32_t inner = tree->nodes[x].below;
    link_set(tree, x, set);
    if (inner != 0)
        link_set(tree, member(tree, set, corner(tree, inner)), inner);
    return set;
}

/* --- merging --- */

static bool covered(const struct rf_rap_node *node)
{
    return node->below != 0 && !node->gap;
}

/* Fold the children of x into it if they have become too light; see the top. */
static void fold_children(struct rf_rap_tree *tree, uint32_t x)
{
    struct rf_rap_node *parent = &tree->nodes[x];
    uint32_t set = parent->below, inner = 0, with_children = 0;
    uint64_t weight = parent->count;
    for (uint32_t i = 0; i < fan(tree); i++) {
        const struct rf_rap_node *child = &tree->nodes[first_node(tree, set) + i];
        weight += child->count;
        if (child->below != 0) {
            inner = child->below;
            with_children++;
        }
    }
    if (with_children > 1 || weight >= tree->limit)
        return;
    parent->count = weight;
    free_set(tree, set);
    tree->folds++;
    if (with_children == 1)
        link_set(tree, x, inner);
    else
        unlink_set(tree, x);
}

/* As deep as the tree: 64 levels at most. */
static void fold_below(struct rf_rap_tree *tree, uint32_t x)
{
    uint32_t set = tree->nodes[x].below;
    if (set == 0)
        return;
    for (uint32_t i = 0; i < fan(tree); i++)
        fold_below(tree, first_node(tree, set) + i);
    fold_children(tree, x);
}

/* Nodes are about as many as per_limit says. If they leave more than a quarter of the room, it may grow until they do
 * not. At most once per merge, so a guess that was too bold costs an early merge now and then. */
uint64_t rf_rap_narrowed(const struct rf_rap_plan *plan, uint64_t per_limit, uint32_t used)
{
    uint32_t enough = (plan->sets - 1) / 4 * 3;
    double more = (double)per_limit * enough / (used > 0 ? used : 1);
    if (used >= enough || per_limit >= plan->per_limit)
        return per_limit;
    return more < (double)plan->per_limit ? (uint64_t)more : plan->per_limit;
}

static void narrow(struct rf_rap_tree *tree)
{
    uint64_t per_limit = rf_rap_narrowed(&tree->plan, tree->per_limit, tree->used);
    if (per_limit == tree->per_limit)
        return;
    if (tree->limit > tree->wide)
        tree->wide = tree->limit;
    tree->per_limit = per_limit;
    tree->limit = limit_at(tree->events, per_limit);
}

void rf_rap_tree_merge_due(struct rf_rap_tree *tree)
{
    fold_below(tree, 0);
    narrow(tree);
    tree->merges++;
    while (tree->next_merge <= tree->events && tree->next_merge != UINT64_MAX)
        tree->next_merge = times(tree->next_merge, tree->plan.q);
}

/* The ceiling was hit: merge now, with an ever higher limit until a quarter of the room is free. */
static void make_room(struct rf_rap_tree *tree)
{
    fold_below(tree, 0);
    tree->early++;
    while (sets_left(tree) < tree->plan.sets / 4 && tree->per_limit > 1) {
        tree->per_limit -= tree->per_limit / 4 > 0 ? tree->per_limit / 4 : 1;
        tree->limit = limit_at(tree->events, tree->per_limit);
        fold_below(tree, 0);
    }
}

/* --- counting --- */

uint32_t rf_rap_tree_find(const struct rf_rap_tree *tree, struct rf_tuple key)
{
    return tree->plan.dims == 2 ? rf_rap_descend(tree, 0, key, 2) : rf_rap_descend(tree, 0, key, 1);
}

bool rf_rap_tree_split(struct rf_rap_tree *tree, uint32_t x, struct rf_tuple key)
{
    bool merged = sets_left(tree) == 0;
    if (merged) {
        make_room(tree);
        x = rf_rap_tree_find(tree, key);
        if (tree->nodes[x].shift == 0 || tree->nodes[x].count < tree->limit)
            return true;
    }
    insert_set(tree, x, child_shift(tree, x), key);
    tree->splits++;
    return merged;
}

/* Each step divides the distance to the answer by per_limit. If per_limit is 1 the limit is all events, and a
 * node that lacks one of them never reaches it. */
uint64_t rf_rap_room(uint64_t events, uint64_t per_limit, uint64_t held, uint64_t most)
{
    uint64_t room = 1, limit;
    if (per_limit == 1 && held < events)
        return most;
    do {
        limit = limit_at(events + room, per_limit);
        if (held + room >= limit)
            return room;
        room = limit - held;
    } while (room < most);
    return most;
}

/* How many of `count` events node x can take before it must split, or all. */
static uint64_t room_in(const struct rf_rap_tree *tree, const struct rf_rap_node *node,
                        uint64_t count)
{
    return node->shift == 0 ? count
                            : rf_rap_room(tree->events, tree->per_limit, node->count, count);
}

bool rf_rap_tree_add(struct rf_rap_tree *tree, struct rf_tuple key, uint64_t count)
{
    bool merged = false;
    while (count > 0) {
        uint32_t x = rf_rap_tree_find(tree, key);
        struct rf_rap_node *node = &tree->nodes[x];
        uint64_t until_merge = tree->next_merge - tree->events;
        uint64_t piece = room_in(tree, node, count < until_merge ? count : until_merge);
        node->count += piece;
        count -= piece;
        tree->events += piece;
        tree->limit = limit_at(tree->events, tree->per_limit);
        if (node->shift != 0 && node->count >= tree->limit)
            merged |= rf_rap_tree_split(tree, x, key);
        if (tree->events == tree->next_merge) {
            rf_rap_tree_merge_due(tree);
            merged = true;
        }
    }
    return merged;
}

/* --- two trees --- */

/* The shift of the smallest set of siblings that covers both sets. */
static unsigned common_shift(const struct rf_rap_tree *tree, uint32_t set, unsigned shift,
                             struct rf_tuple key)
{
    unsigned s = tree->sets[set].shift > shift ? tree->sets[set].shift : shift;
    struct rf_tuple has = corner(tree, set);
    while (clear_low(has.a ^ key.a, s + tree->plan.step) != 0 ||
           clear_low(has.b ^ key.b, s + tree->plan.step) != 0)
        s += tree->plan.step;
    return s;
}

/* The set with that shift around the key, made if it is not there. Takes two sets at most. */
static uint32_t want_set(struct rf_rap_tree *tree, unsigned shift, struct rf_tuple key)
{
    for (uint32_t x = 0;;) {
        uint32_t set = tree->nodes[x].below;
        if (set == 0)
            return insert_set(tree, x, shift, key);
        unsigned common = common_shift(tree, set, shift, key);
        if (common != tree->sets[set].shift)
            set = insert_set(tree, x, common, key);
        if (common == shift)
            return set;
        x = member(tree, set, key);
    }
}

static void unite_below(struct rf_rap_tree *tree, const struct rf_rap_tree *other, uint32_t x)
{
    uint32_t theirs = other->nodes[x].below;
    if (theirs == 0)
        return;
    if (sets_left(tree) < 2)
        make_room(tree);
    uint32_t ours = want_set(tree, other->sets[theirs].shift, corner(other, theirs));
    for (uint32_t i = 0; i < fan(tree); i++)
        tree->nodes[first_node(tree, ours) + i].count +=
            other->nodes[first_node(other, theirs) + i].count;
    for (uint32_t i = 0; i < fan(tree); i++)
        unite_below(tree, other, first_node(other, theirs) + i);
}

/* Two counts below the limit can reach it together: such nodes split, while there is room. */
static void split_full(struct rf_rap_tree *tree, uint32_t x)
{
    const struct rf_rap_node *node = &tree->nodes[x];
    if (node->shift != 0 && !covered(node) && node->count >= tree->limit && sets_left(tree) > 0) {
        struct rf_rap_box box = rf_rap_tree_box(tree, x);
        insert_set(tree, x, child_shift(tree, x), (struct rf_tuple){box.a, box.b});
        tree->splits++;
    }
    for (uint32_t i = 0; node->below != 0 && i < fan(tree); i++)
        split_full(tree, first_node(tree, node->below) + i);
}

/* What a node of more than one value may hold. */
static uint64_t held_most(const struct rf_rap_tree *tree)
{
    return tree->limit > tree->wide ? tree->limit : tree->wide;
}

void rf_rap_tree_unite(struct rf_rap_tree *tree, const struct rf_rap_tree *other)
{
    if (tree->wide + other->wide > 0)
        tree->wide = held_most(tree) + held_most(other);
    tree->events += other->events;
    if (other->per_limit < tree->per_limit)
        tree->per_limit = other->per_limit;
    tree->limit = limit_at(tree->events, tree->per_limit);
    tree->nodes[0].count += other->nodes[0].count;
    unite_below(tree, other, 0);
    rf_rap_tree_merge_due(tree);
    split_full(tree, 0);
}

/* --- questions --- */

struct rf_rap_box rf_rap_tree_box(const struct rf_rap_tree *tree, uint32_t x)
{
    const struct rf_rap_plan *plan = &tree->plan;
    unsigned shift = tree->nodes[x].shift;
    uint64_t width = shift >= 64 ? UINT64_MAX : (UINT64_C(1) << shift) - 1;
    struct rf_rap_box box = {0, width, 0, plan->dims == 2 ? width : UINT64_MAX};
    if (x == 0)
        return box;
    uint32_t set = x >> plan->fan_bits, digit = x & (fan(tree) - 1);
    uint32_t digit_b = plan->dims == 2 ? digit & ((1u << plan->step) - 1) : 0;
    uint32_t digit_a = plan->dims == 2 ? digit >> plan->step : digit;
    box.a = tree->sets[set].lo + ((uint64_t)digit_a << shift);
    box.a_hi = box.a + width;
    if (plan->dims == 2) {
        box.b = tree->sets_b[set] + ((uint64_t)digit_b << shift);
        box.b_hi = box.b + width;
    }
    return box;
}

uint64_t rf_rap_tree_total(const struct rf_rap_tree *tree, uint32_t x)
{
    uint64_t total = tree->nodes[x].count;
    uint32_t set = tree->nodes[x].below;
    for (uint32_t i = 0; set != 0 && i < fan(tree); i++)
        total += rf_rap_tree_total(tree, first_node(tree, set) + i);
    return total;
}

static bool disjoint(struct rf_rap_box x, struct rf_rap_box y)
{
    return x.a_hi < y.a || y.a_hi < x.a || x.b_hi < y.b || y.b_hi < x.b;
}

static bool inside(struct rf_rap_box inner, struct rf_rap_box outer)
{
    return outer.a <= inner.a && inner.a_hi <= outer.a_hi && outer.b <= inner.b &&
           inner.b_hi <= outer.b_hi;
}

static void query_below(const struct rf_rap_tree *tree, uint32_t x, struct rf_rap_box box,
                        struct rf_rap_bounds *bounds)
{
    struct rf_rap_box own = rf_rap_tree_box(tree, x);
    if (disjoint(own, box))
        return;
    uint64_t count = tree->nodes[x].count;
    bounds->upper += count;
    if (inside(own, box))
        bounds->lower += count;
    uint32_t set = tree->nodes[x].below;
    for (uint32_t i = 0; set != 0 && i < fan(tree); i++)
        query_below(tree, first_node(tree, set) + i, box, bounds);
}

struct rf_rap_bounds rf_rap_tree_query(const struct rf_rap_tree *tree, struct rf_rap_box box)
{
    struct rf_rap_bounds bounds = {0, 0};
    query_below(tree, 0, box, &bounds);
    return bounds;
}

/* The top set of a universe whose bits the step does not divide has siblings outside of it. */
static bool exists(const struct rf_rap_tree *tree, uint32_t x)
{
    const struct rf_rap_plan *plan = &tree->plan;
    unsigned shift = tree->nodes[x].shift;
    if (x == 0 || shift + plan->step <= plan->bits)
        return true;
    uint32_t digit = x & (fan(tree) - 1), inside_bits = plan->bits - shift;
    if (plan->dims == 1)
        return digit >> inside_bits == 0;
    return digit >> plan->step >> inside_bits == 0 &&
           (digit & ((1u << plan->step) - 1)) >> inside_bits == 0;
}

static void walk_below(const struct rf_rap_tree *tree, uint32_t x, uint64_t above,
                       const struct rf_rap_visit *visit)
{
    visit->node(visit->context, tree, x, above);
    uint32_t set = tree->nodes[x].below;
    above += tree->nodes[x].count;
    for (uint32_t i = 0; set != 0 && i < fan(tree); i++)
        if (exists(tree, first_node(tree, set) + i))
            walk_below(tree, first_node(tree, set) + i, above, visit);
}

void rf_rap_tree_walk(const struct rf_rap_tree *tree, const struct rf_rap_visit *visit)
{
    walk_below(tree, 0, 0, visit);
}

uint64_t rf_rap_tree_node_count(const struct rf_rap_tree *tree, uint32_t sets)
{
    return 1 + ((uint64_t)sets << tree->plan.fan_bits);
}

double rf_rap_eps(const struct rf_rap_plan *plan, uint64_t per_limit, uint64_t wide,
                  uint64_t events)
{
    double planned = (double)plan->cut / (double)per_limit;
    double held = events > 0 ? (double)plan->cut * (double)wide / (double)events : 0;
    return held > planned ? held : planned;
}

double rf_rap_tree_eps(const struct rf_rap_tree *tree)
{
    return rf_rap_eps(&tree->plan, tree->per_limit, tree->wide, tree->events);
}
