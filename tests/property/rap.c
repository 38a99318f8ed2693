/* Range-adaptive profiling: the shipped tree against the plain one, node for node, and against the
 * truth, over streams that are random, sorted, change in phases, or are made by an adversary.
 *
 *     agreement    after every merge and at the end the same ranges with the same counts
 *     guarantee    lower <= true <= lower + max(eps n, cut) for any range, upper always
 *     memory       never more sets than the ceiling that was computed from the options beforehand
 *     counts       those of all nodes add up to the events
 */
#include "base/random.h"
#include "engine/rap/rap_engine.h"
#include "reference/rap.h"
#include "test.h"

enum kind { RANDOM, ZIPF, SORTED, PHASES, DEEP, KINDS };
static const char *const kind_names[] = {"random", "zipf", "sorted", "phases", "adversary"};

/* An engine without its handle: the test looks inside. */
struct bare {
    struct rf_rap_config config;
    void *block;
    struct rf_rap_state *state;
};

static struct rf_rap_config standard_config(void)
{
    return (struct rf_rap_config){
        .eps = 0.01, .b = 4, .bits = 64, .q = 2, .first_merge = 1024, .ends = 2, .cache = 4096};
}

static void bare_open(struct bare *bare, struct rf_rap_config config)
{
    bare->config = config;
    if (rf_rap_check(&bare->config, NULL) != RF_OK)
        abort();
    size_t size = (rf_rap.state_size(&bare->config) + 63) & ~(size_t)63;
    bare->block = aligned_alloc(64, size);
    if (bare->block == NULL)
        abort();
    memset(bare->block, 0, size);
    struct rf_engine_env env = {0};
    if (rf_rap.init(bare->block, &bare->config, &env, NULL) != RF_OK)
        abort();
    bare->state = bare->block;
}

static void bare_close(struct bare *bare)
{
    free(bare->block);
}

static uint64_t below_power(struct rf_random *random, unsigned bits)
{
    return bits == 0 ? 0 : rf_random_next(random) >> (64 - bits);
}

/* A stream that depends, for the adversary, on the tree as it stands. */
struct stream {
    enum kind kind;
    unsigned bits, dims;
    uint64_t n, i;
    uint64_t base_a, base_b;
    struct rf_random random;
};

static uint64_t zipf_like(struct rf_random *random, unsigned bits)
{
    uint64_t rank = below_power(random, (unsigned)rf_random_below(random, 16));
    return (rank * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - bits);
}

/* The adversary stays in a narrow band below a prefix, then leaves it half-refined for another. */
static struct rf_tuple deep_key(struct stream *s)
{
    if (rf_random_below(&s->random, 200) == 0) {
        s->base_a = below_power(&s->random, s->bits);
        s->base_b = below_power(&s->random, s->bits);
    }
    unsigned free_bits = (unsigned)rf_random_below(&s->random, s->bits / 2 + 1);
    uint64_t mask = free_bits == 0 ? 0 : UINT64_MAX >> (64 - free_bits);
    return (struct rf_tuple){s->base_a ^ (rf_random_next(&s->random) & mask),
                             s->base_b ^ (rf_random_next(&s->random) & mask)};
}

static struct rf_tuple next_key(struct stream *s)
{
    struct rf_tuple key = {0, 0};
    uint64_t i = s->i++, phase = i * 5 / s->n;
    switch (s->kind) {
    case RANDOM:
        key = (struct rf_tuple){below_power(&s->random, s->bits), below_power(&s->random, s->bits)};
        break;
    case ZIPF:
        key = (struct rf_tuple){zipf_like(&s->random, s->bits), zipf_like(&s->random, s->bits)};
        break;
    case SORTED:
        key.a = (uint64_t)((double)i / (double)s->n * 0x1p64) >> (64 - s->bits);
        key.b = key.a;
        break;
    case PHASES:
        key.a = (phase * UINT64_C(0x5bd1e9955bd1e995) >> (64 - s->bits)) ^
                below_power(&s->random, (unsigned)rf_random_below(&s->random, s->bits / 2));
        key.b = key.a ^ rf_random_below(&s->random, 3);
        break;
    default:
        key = deep_key(s);
    }
    return s->dims == 1 ? (struct rf_tuple){key.a, 0} : key;
}

/* --- node for node --- */

struct seen_node {
    struct rf_rap_box box;
    uint64_t count;
};

struct seen_tree {
    struct seen_node *nodes;
    size_t n, room;
};

static void see(struct seen_tree *seen, struct rf_rap_box box, uint64_t count)
{
    if (seen->n == seen->room) {
        seen->room = seen->room * 2 + 64;
        seen->nodes = realloc(seen->nodes, seen->room * sizeof *seen->nodes);
        if (seen->nodes == NULL)
            abort();
    }
    seen->nodes[seen->n++] = (struct seen_node){box, count};
}

static void see_shipped(void *context, const struct rf_rap_tree *tree, uint32_t x, uint64_t above)
{
    (void)above;
    struct rf_rap_box box = rf_rap_tree_box(tree, x);
    if (tree->plan.dims == 1)
        box.b_hi = 0;
    see(context, box, tree->nodes[x].count);
}

static void see_plain(struct seen_tree *seen, const struct plain_node *node)
{
    see(seen, (struct rf_rap_box){node->a, node->a_hi, node->b, node->b_hi}, node->count);
    for (unsigned i = 0; i < 16; i++)
        if (node->child[i] != NULL)
            see_plain(seen, node->child[i]);
}

static bool same_trees(const struct rf_rap_tree *tree, const struct plain_rap *plain)
{
    static struct seen_tree left, right;
    left.n = right.n = 0;
    struct rf_rap_visit visit = {see_shipped, &left};
    rf_rap_tree_walk(tree, &visit);
    see_plain(&right, plain->root);
    return left.n == right.n && memcmp(left.nodes, right.nodes, left.n * sizeof *left.nodes) == 0 &&
           tree->per_limit == plain->per_limit;
}

static struct rf_rap_config random_config(struct rf_random *random, unsigned dims)
{
    static const double eps[] = {0.5, 0.2, 0.1, 0.05, 0.03};
    struct rf_rap_config c = standard_config();
    c.eps = eps[rf_random_below(random, 5)];
    c.b = dims == 2 ? 4u << 2 * rf_random_below(random, 2) : 2u << rf_random_below(random, 4);
    c.bits = 8 + rf_random_below(random, 57);
    c.key = dims == 2 ? RF_RAP_BOTH : RF_RAP_A;
    c.q = 2 + rf_random_below(random, 3);
    c.first_merge = 16u << rf_random_below(random, 8);
    c.ends = 1 + rf_random_below(random, 2);
    c.nodes = rf_random_below(random, 3) == 0 ? (16 + 48 * rf_random_below(random, 2)) * c.b : 0;
    c.cache = rf_random_below(random, 4) == 0 ? 0 : 1u << rf_random_below(random, 12);
    return c;
}

static struct plain_rap plain_for(const struct bare *bare)
{
    const struct rf_rap_config *c = &bare->config;
    const struct rf_rap_plan *plan = &bare->state->tree.plan;
    struct plain_rap plain = {.dims = plan->dims,
                              .bits = plan->bits,
                              .b = (unsigned)c->b,
                              .eps = c->eps,
                              .ends = (unsigned)c->ends,
                              .q = c->q,
                              .first_merge = c->first_merge,
                              .room = (size_t)(plan->sets - 1) * c->b};
    plain_rap_init(&plain);
    return plain;
}

/* The shipped tree gets whole batches, up to where the plain one merges. */
static bool agree_on(struct bare *bare, struct stream *s)
{
    enum { BATCH = 777 };
    struct rf_tuple batch[BATCH];
    struct plain_rap plain = plain_for(bare);
    bool same = true;
    size_t n = 0, consumed;
    while (same && s->i < s->n) {
        uint64_t merges = plain.merges;
        batch[n] = next_key(s);
        plain_rap_add(&plain, batch[n++]);
        if (n < BATCH && plain.merges == merges && s->i < s->n)
            continue;
        rf_rap.feed(bare->state, batch, n, &consumed);
        n = 0;
        same = same_trees(&bare->state->tree, &plain);
    }
    plain_rap_free(&plain);
    return same;
}

TEST(the_same_tree_node_for_node_after_every_merge)
{
    uint64_t seed = test_seed(6);
    uint64_t mixes = getenv("RIFFLE_TEST_LONG") != NULL ? 2000 : 100;
    uint64_t merges = 0, early = 0;
    for (uint64_t i = 0; i < mixes; i++) {
        struct stream s = {.kind = (enum kind)(i % KINDS), .n = 4000};
        rf_random_seed(&s.random, seed * 1000 + i);
        s.dims = 1 + (i / KINDS) % 2;
        struct bare bare;
        bare_open(&bare, random_config(&s.random, s.dims));
        s.bits = (unsigned)bare.config.bits;
        bool same = agree_on(&bare, &s);
        merges += bare.state->tree.merges;
        early += bare.state->tree.early;
        if (!same)
            printf("# mix %" PRIu64 ", %s, at event %" PRIu64 "\n", i, kind_names[s.kind], s.i);
        CHECK(same);
        bare_close(&bare);
    }
    CHECK(merges > 3 * mixes);
    CHECK(early > 0);
}

/* In one dimension: the processor's best way is the standard one, so the others need a test of their own. */
TEST(the_same_tree_whichever_way_places_are_looked_up)
{
    uint64_t seed = test_seed(7);
    const struct rf_rap_locate_way *way;
    for (size_t w = 0; (way = rf_rap_locate_way(w)) != NULL; w++)
        for (uint64_t i = 0; i < 4 * KINDS; i++) {
            struct stream s = {.kind = (enum kind)(i % KINDS), .n = 20000, .dims = 1};
            rf_random_seed(&s.random, seed * 1000 + i);
            struct rf_rap_config config = random_config(&s.random, 1);
            config.cache = 2u << rf_random_below(&s.random, 12);
            struct bare bare;
            bare_open(&bare, config);
            bare.state->cache.locate = way->locate;
            s.bits = (unsigned)config.bits;
            CHECK_ROW(way->name, agree_on(&bare, &s));
            bare_close(&bare);
        }
}

/* --- against the truth --- */

/* --- what is reported --- */

struct reported {
    uint64_t items, without_own, expected;
};

static rf_status see_item(void *context, const struct rf_item *item)
{
    struct reported *reported = context;
    reported->items++;
    reported->without_own += item->count == 0;
    CHECK(item->lower > 0);
    return RF_OK;
}

static rf_status see_end(void *context, const struct rf_summary *summary)
{
    (void)context;
    (void)summary;
    return RF_OK;
}

static void expect_node(void *context, const struct rf_rap_tree *tree, uint32_t x, uint64_t above)
{
    (void)above;
    struct reported *reported = context;
    reported->expected += rf_rap_tree_total(tree, x) > 0;
}

/* Also those that only their children have events in: they may be the smallest range around a hot spot. */
TEST(every_range_with_anything_in_it_is_reported)
{
    uint64_t seed = test_seed(14), without_own = 0;
    for (uint64_t i = 0; i < 40; i++) {
        struct rf_random random;
        struct bare bare;
        rf_random_seed(&random, seed * 1000 + i);
        struct rf_rap_config config = random_config(&random, 1);
        config.buffer = config.nodes = 0;
        config.bits = 64;
        bare_open(&bare, config);
        struct stream s = {
            .random = random, .kind = (enum kind)(i % KINDS), .bits = 64, .dims = 1, .n = 5000};
        while (s.i < s.n) {
            struct rf_tuple key = next_key(&s);
            size_t consumed;
            rf_rap.feed(bare.state, &key, 1, &consumed);
        }
        struct reported reported = {0};
        const struct rf_sink sink = {see_item, NULL, see_end, &reported};
        const struct rf_rap_visit visit = {expect_node, &reported};
        CHECK(rf_rap.report(bare.state, &sink) == RF_OK);
        rf_rap_tree_walk(&bare.state->tree, &visit);
        CHECK_EQ(reported.items, reported.expected);
        without_own += reported.without_own;
        bare_close(&bare);
    }
    CHECK(without_own > 0);
}

static uint64_t true_count(const struct rf_tuple *keys, uint64_t n, struct rf_rap_box box)
{
    uint64_t count = 0;
    for (uint64_t i = 0; i < n; i++)
        count += box.a <= keys[i].a && keys[i].a <= box.a_hi && box.b <= keys[i].b &&
                 keys[i].b <= box.b_hi;
    return count;
}

static void order(uint64_t *lo, uint64_t *hi)
{
    if (*lo > *hi) {
        uint64_t x = *lo;
        *lo = *hi;
        *hi = x;
    }
}

/* Ends at random values, near values that occurred, and of every width. */
static void random_range(struct rf_random *random, unsigned bits, uint64_t near, uint64_t *lo,
                         uint64_t *hi)
{
    uint64_t last = UINT64_MAX >> (64 - bits);
    *lo = rf_random_below(random, 2) ? near : below_power(random, bits);
    *hi = *lo ^ below_power(random, (unsigned)rf_random_below(random, bits + 1));
    *lo = rf_random_below(random, 8) == 0 ? 0 : *lo & last;
    *hi = rf_random_below(random, 8) == 0 ? last : *hi & last;
    order(lo, hi);
}

/* A square that the tree could have: aligned, its width a power of b. */
static void align(const struct rf_rap_plan *plan, struct rf_random *random, struct rf_rap_box *box)
{
    unsigned shift = (unsigned)rf_random_below(random, plan->levels) * plan->step;
    uint64_t mask = (UINT64_C(1) << shift) - 1;
    box->a_hi = box->a | mask;
    box->a &= ~mask;
    if (plan->dims == 2) {
        box->b_hi = box->b | mask;
        box->b &= ~mask;
    }
}

static struct rf_rap_box random_box(struct bare *bare, struct rf_random *random,
                                    struct rf_tuple near)
{
    const struct rf_rap_plan *plan = &bare->state->tree.plan;
    struct rf_rap_box box = {0, 0, 0, UINT64_MAX};
    random_range(random, plan->bits, near.a, &box.a, &box.a_hi);
    if (plan->dims == 2)
        random_range(random, plan->bits, near.b, &box.b, &box.b_hi);
    if (bare->config.ends == 1 || (plan->dims == 2 && rf_random_below(random, 2)))
        align(plan, random, &box);
    return box;
}

static bool aligned(const struct rf_rap_plan *plan, struct rf_rap_box box)
{
    return plan->dims == 1 ||
           (box.a_hi - box.a == box.b_hi - box.b && ((box.a | box.b) & (box.a_hi - box.a)) == 0 &&
            ((box.a_hi - box.a) & (box.a_hi - box.a + 1)) == 0);
}

static void check_box(struct bare *bare, const char *label, struct rf_rap_box box, uint64_t truth,
                      uint64_t n)
{
    struct rf_rap_bounds bounds = rf_rap_query_state(bare->state, box);
    double eps = rf_rap_tree_eps(&bare->state->tree), cut = bare->state->tree.plan.cut;
    double allowed = eps * (double)n > cut ? eps * (double)n : cut;
    CHECK_ROW(label, bounds.lower <= truth);
    CHECK_ROW(label, truth <= bounds.upper);
    if (aligned(&bare->state->tree.plan, box)) {
        CHECK_ROW(label, (double)(truth - bounds.lower) <= allowed);
        CHECK_ROW(label, (double)(bounds.upper - bounds.lower) <= allowed);
    }
}

static void check_guarantee(struct bare *bare, struct stream *s, struct rf_tuple *keys)
{
    struct rf_random random;
    rf_random_seed(&random, s->n);
    size_t consumed;
    while (s->i < s->n) {
        uint64_t n = s->i, more = 1 + rf_random_below(&random, 1 + s->n / 8);
        for (uint64_t i = n; i < s->n && i < n + more; i++)
            keys[i] = next_key(s);
        rf_rap.feed(bare->state, keys + n, s->i - n, &consumed);
        for (int i = 0; i < 40; i++) {
            struct rf_rap_box box = random_box(bare, &random, keys[rf_random_below(&random, s->i)]);
            check_box(bare, kind_names[s->kind], box, true_count(keys, s->i, box), s->i);
        }
        uint64_t pending = bare->state->buffer.events;
        CHECK_EQ(rf_rap_tree_total(&bare->state->tree, 0) + pending, s->i);
    }
}

static void guarantee(unsigned dims, uint64_t buffer, uint64_t standard_seed)
{
    uint64_t seed = test_seed(standard_seed);
    uint64_t n = getenv("RIFFLE_TEST_LONG") != NULL ? 400000 : 20000;
    struct rf_tuple *keys = malloc(n * sizeof *keys);
    if (keys == NULL)
        abort();
    for (uint64_t i = 0; i < 4 * KINDS; i++) {
        struct stream s = {.kind = (enum kind)(i % KINDS), .n = n, .dims = dims};
        rf_random_seed(&s.random, seed * 1000 + i);
        struct bare bare;
        struct rf_rap_config config = random_config(&s.random, dims);
        config.buffer = buffer;
        bare_open(&bare, config);
        s.bits = (unsigned)config.bits;
        check_guarantee(&bare, &s, keys);
        CHECK(bare.state->tree.used_max < bare.state->tree.plan.sets);
        CHECK(config.nodes != 0 || bare.state->tree.early == 0);
        bare_close(&bare);
    }
    free(keys);
}

TEST(the_guarantee_in_one_dimension)
{
    guarantee(1, 0, 1);
}

TEST(the_guarantee_in_one_dimension_behind_a_buffer)
{
    guarantee(1, 1024, 2);
}

TEST(the_guarantee_in_two_dimensions)
{
    guarantee(2, 0, 3);
}

TEST(the_guarantee_in_two_dimensions_behind_a_buffer)
{
    guarantee(2, 1024, 4);
}

TEST_MAIN()
