/* leaf_cache.c - the shortcuts into the tree of tree.c: where an event went last time is where it goes.
 *
 *     leaf cache    hash(value) -> { value, node, below }        the same value again
 *     jump table    (leading zeros, the bits behind) -> node     a neighbour: start most of the way down
 *     tree          from there on
 *
 * Both are exact. A node number stays the number of a range that covers the value until the next merge:
 * splits only add nodes below. So a stale entry is a good place to start from, an empty one (0, the root)
 * too, and a merge clears both. Whether the node is still the smallest range is seen in the node itself:
 * its set of children, none mostly, is the one that the entry knows. A gap above children that do not
 * cover the value is thereby remembered as well as a leaf. Only what lies deeper than a slot of the jump
 * table, or in a gap, goes to the leaf cache: a value out of a crowd of rare ones does not drive out a
 * frequent one.
 *
 * The jump table goes by leading zeros first because most values are small: a table indexed by the top bits
 * of a 64-bit universe would have all 32-bit numbers in its first slot. For each number of zeros it has as
 * many slots as there can be leaves of equal weight, so a leaf that is not hot by itself is mostly found
 * without a step. With a quarter of the slots a third of the speed is lost on Zipf. A hashed table of blocks
 * whose width follows the leaves was tried, too: it is smaller but costs more than it saves.
 *
 * In two dimensions a second cache takes the place of the jump table, of squares, with two entries for each
 * place in it: with one, squares of different sizes drove each other out, and a third of all events of a
 * Zipf stream began at the root.
 *
 * Places are looked up for a block of events at once, before any of them counts. No branch and no store
 * stands between the lookups, so their misses overlap; and AVX-512 does eight of them in step, of which
 * only those that miss the leaf cache go to the jump table. All ways give the same places.
 *
 * Memory: 16 bytes per entry of the leaf cache and 4 per slot of the jump table; in two dimensions 24 bytes
 * per entry and 4 x 24 for squares. */
#include "engine/rap/leaf_cache.h"
#include "engine/ahead.h"
#include "engine/rap/find.h"
#include <string.h>

#define HASH_MULTIPLY UINT64_C(0x9e3779b97f4a7c15)

enum { SQUARE_BITS = 12, SQUARES_LOG = 2 }; /* 4 squares for each entry of the leaf cache */

struct leaf {
    uint64_t a;
    struct rf_rap_place place;
};

struct square { /* and a leaf in two dimensions */
    struct rf_tuple corner;
    struct rf_rap_place place;
};

/* --- memory --- */

size_t rf_rap_cache_leaves_size(const struct rf_rap_plan *plan, size_t entries)
{
    return entries * (plan->dims == 2 ? sizeof(struct square) : sizeof(struct leaf));
}

/* Slots for each number of leading zeros: as many as there can be leaves of equal weight, but no more than
 * the leaf cache has entries. */
static unsigned jump_bits(const struct rf_rap_plan *plan, size_t entries)
{
    unsigned bits = 0;
    while (entries >> bits > 1 && plan->per_limit >> bits > 0)
        bits++;
    return bits;
}

size_t rf_rap_cache_near_size(const struct rf_rap_plan *plan, size_t entries)
{
    if (plan->dims == 2)
        return (entries << SQUARES_LOG) * sizeof(struct square);
    return entries == 0 ? 0 : ((size_t)plan->bits << jump_bits(plan, entries)) * sizeof(uint32_t);
}

/* Only classes that were written to are cleared: most streams touch few. */
void rf_rap_cache_forget(struct rf_rap_cache *cache)
{
    size_t slots = (size_t)1 << cache->slot_bits;
    if (cache->key == RF_RAP_BOTH) {
        memset(cache->leaves, 0, cache->entries * sizeof(struct square));
        memset(cache->squares, 0, (cache->entries << SQUARES_LOG) * sizeof(struct square));
        return;
    }
    memset(cache->leaves, 0, cache->entries * sizeof(struct leaf));
    for (unsigned class = 0; class < 64; class ++)
        if (cache->classes >> class & 1)
            memset(cache->jump + class * slots, 0, slots * sizeof *cache->jump);
    cache->classes = 0;
}

/* --- one dimension --- */

RF_RAP_INLINE struct leaf *leaf_of(const struct rf_rap_cache *cache, uint64_t value)
{
    return (struct leaf *)cache->leaves + (value * HASH_MULTIPLY >> cache->hash_shift);
}

/* Values with as many leading zeros (a class) and the same bits behind the first one share a slot. So do 0
 * and 1. */
RF_RAP_INLINE size_t jump_slot(const struct rf_rap_cache *cache, uint64_t value)
{
    unsigned zeros = (unsigned)__builtin_clzll(value | 1);
    uint64_t behind = value << zeros << 1;
    return ((size_t)(zeros - cache->zeros_base) << cache->slot_bits) |
           (size_t)(behind >> (63 - cache->slot_bits) >> 1);
}

/* A slot covers 1 << slot_shift values. */
static unsigned slot_shift(const struct rf_rap_cache *cache, uint64_t value)
{
    unsigned rest = 63 - (unsigned)__builtin_clzll(value | 1);
    return rest > cache->slot_bits ? rest - cache->slot_bits : rest == 0;
}

/* `then` where the mask is all ones, `otherwise` where it is 0. */
RF_RAP_INLINE uint32_t choose(uint32_t mask, uint32_t then, uint32_t otherwise)
{
    return otherwise ^ ((otherwise ^ then) & mask);
}

static void locate_line(const struct rf_rap_cache *shared, const struct rf_tuple *tuples, size_t n,
                        struct rf_rap_place *places)
{
    const struct rf_rap_cache cache = *shared; /* so that all of it can stay in registers */
    for (size_t i = 0; i < n; i++) {
        rf_ahead(&tuples[i]);
        uint64_t value = rf_rap_key(tuples[i], cache.key).a;
        const struct leaf *leaf = leaf_of(&cache, value);
        uint32_t hit = 0u - (leaf->a == value);
        places[i].node = choose(hit, leaf->place.node, cache.jump[jump_slot(&cache, value)]);
        places[i].below = leaf->place.below & hit;
    }
}

#if defined __x86_64__
#include <immintrin.h>

__attribute__((target("avx512f,avx512dq,avx512cd"))) static void
locate_line_avx512(const struct rf_rap_cache *cache, const struct rf_tuple *tuples, size_t n,
                   struct rf_rap_place *places)
{
    const long long *leaves = cache->leaves; /* value, place, value, place, ... */
    const __m512i pick = _mm512_add_epi64(_mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14),
                                          _mm512_set1_epi64(cache->key == RF_RAP_B));
    const __m512i multiply = _mm512_set1_epi64((long long)HASH_MULTIPLY);
    const __m128i hash_shift = _mm_cvtsi32_si128((int)cache->hash_shift);
    const __m128i slot_bits = _mm_cvtsi32_si128((int)cache->slot_bits);
    const __m128i slot_rest = _mm_cvtsi32_si128(64 - (int)cache->slot_bits);
    const __m512i zeros_base = _mm512_set1_epi64(cache->zeros_base);
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        rf_ahead(&tuples[i]);
        rf_ahead(&tuples[i + RF_AHEAD_LINE]);
        __m512i value = _mm512_permutex2var_epi64(_mm512_loadu_si512(tuples + i), pick,
                                                  _mm512_loadu_si512(tuples + i + 4));
        __m512i hash = _mm512_srl_epi64(_mm512_mullo_epi64(value, multiply), hash_shift);
        __m512i at = _mm512_slli_epi64(hash, 1);
        __m512i known = _mm512_i64gather_epi64(at, leaves, 8);
        __m512i place = _mm512_i64gather_epi64(at, leaves + 1, 8);
        __mmask8 miss = _mm512_cmpneq_epi64_mask(known, value);

        __m512i zeros = _mm512_lzcnt_epi64(_mm512_or_si512(value, _mm512_set1_epi64(1)));
        __m512i behind = _mm512_slli_epi64(_mm512_sllv_epi64(value, zeros), 1);
        __m512i class = _mm512_sll_epi64(_mm512_sub_epi64(zeros, zeros_base), slot_bits);
        __m512i slot = _mm512_or_si512(class, _mm512_srl_epi64(behind, slot_rest));
        __m256i start = _mm512_mask_i64gather_epi32(_mm256_setzero_si256(), miss, slot, cache->jump,
                                                    sizeof *cache->jump);
        place = _mm512_mask_cvtepu32_epi64(place, miss, start);
        _mm512_storeu_si512(places + i, place);
    }
    locate_line(cache, tuples + i, n - i, places + i);
}

static int has_avx512(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512cd");
}
#endif

/* From node x down: the smallest node around the key, and the smallest of those that are `whole` at least. */
struct way_down {
    uint32_t node;
    uint32_t start;
};

RF_RAP_INLINE struct way_down descend(const struct rf_rap_tree *tree, uint32_t x,
                                      struct rf_tuple key, unsigned whole, unsigned dims)
{
    struct way_down way = {x, x};
    for (;;) {
        const struct rf_rap_node *node = &tree->nodes[way.node];
        if (node->shift >= whole)
            way.start = way.node;
        if (node->below == 0)
            return way;
        unsigned shift = node->below_shift;
        if (node->gap && !rf_rap_set_covers(tree, node->below, shift, key, dims))
            return way;
        way.node =
            (node->below << tree->plan.fan_bits) + rf_rap_digit(&tree->plan, key, shift, dims);
    }
}

/* What covers a whole slot is remembered there, the rest with the value. */
static uint32_t descend_line(struct rf_rap_cache *cache, const struct rf_rap_tree *tree, uint32_t x,
                             struct rf_tuple key)
{
    unsigned whole = slot_shift(cache, key.a);
    struct way_down way = descend(tree, x, key, whole, 1);
    uint32_t below = tree->nodes[way.node].below;
    if (tree->nodes[way.start].shift >= whole) {
        size_t slot = jump_slot(cache, key.a);
        cache->jump[slot] = way.start;
        cache->classes |= UINT64_C(1) << (slot >> cache->slot_bits);
    }
    if (way.start != way.node || below != 0)
        *leaf_of(cache, key.a) = (struct leaf){key.a, {way.node, below}};
    return way.node;
}

/* --- two dimensions: there are too many squares for a table without tags --- */

/* The side of a square is 1 << square_shift: the larger word has SQUARE_BITS bits left behind its first. */
RF_RAP_INLINE unsigned square_shift(struct rf_tuple key)
{
    unsigned rest = 63 - (unsigned)__builtin_clzll(key.a | key.b | 1);
    return rest > SQUARE_BITS ? rest - SQUARE_BITS : 0;
}

RF_RAP_INLINE struct rf_tuple square_corner(struct rf_tuple key, unsigned shift)
{
    return (struct rf_tuple){key.a >> shift << shift, key.b >> shift << shift};
}

RF_RAP_INLINE uint64_t hash_pair(struct rf_tuple key)
{
    return (key.a * UINT64_C(0xd1342543de82ef95) + key.b) * HASH_MULTIPLY;
}

RF_RAP_INLINE struct square *pair_of(const struct rf_rap_cache *cache, struct rf_tuple key)
{
    return (struct square *)cache->leaves + (hash_pair(key) >> cache->hash_shift);
}

/* The first of two. */
RF_RAP_INLINE struct square *squares_of(const struct rf_rap_cache *cache, struct rf_tuple corner)
{
    uint64_t i = hash_pair(corner) >> (cache->hash_shift - SQUARES_LOG);
    return (struct square *)cache->squares + (i & ~UINT64_C(1));
}

/* All ones: it is. */
RF_RAP_INLINE uint32_t is_at(const struct square *square, struct rf_tuple corner)
{
    return 0u - (((square->corner.a ^ corner.a) | (square->corner.b ^ corner.b)) == 0);
}

static void locate_plane(const struct rf_rap_cache *shared, const struct rf_tuple *tuples, size_t n,
                         struct rf_rap_place *places)
{
    const struct rf_rap_cache cache = *shared;
    for (size_t i = 0; i < n; i++) {
        rf_ahead(&tuples[i]);
        struct rf_tuple corner = square_corner(tuples[i], square_shift(tuples[i]));
        const struct square *leaf = pair_of(&cache, tuples[i]), *two = squares_of(&cache, corner);
        uint32_t near = (two[0].place.node & is_at(&two[0], corner)) |
                        (two[1].place.node & is_at(&two[1], corner));
        uint32_t hit = is_at(leaf, tuples[i]);
        places[i].node = choose(hit, leaf->place.node, near);
        places[i].below = leaf->place.below & hit;
    }
}

/* The new square takes the first place, and the old first one the second. One that is still in use will come
 * back to the first. */
static void learn_square(struct rf_rap_cache *cache, struct rf_tuple corner, uint32_t node)
{
    struct square *two = squares_of(cache, corner), learned = {corner, {node, 0}};
    if (is_at(&two[1], corner)) {
        two[1] = learned;
        return;
    }
    if (!is_at(&two[0], corner))
        two[1] = two[0];
    two[0] = learned;
}

static uint32_t descend_plane(struct rf_rap_cache *cache, const struct rf_rap_tree *tree,
                              uint32_t x, struct rf_tuple key)
{
    unsigned whole = square_shift(key);
    struct way_down way = descend(tree, x, key, whole, 2);
    uint32_t below = tree->nodes[way.node].below;
    if (tree->nodes[way.start].shift >= whole)
        learn_square(cache, square_corner(key, whole), way.start);
    if (way.start != way.node || below != 0)
        *pair_of(cache, key) = (struct square){key, {way.node, below}};
    return way.node;
}

/* --- both --- */

__attribute__((noinline)) uint32_t rf_rap_cache_descend(struct rf_rap_cache *cache,
                                                        const struct rf_rap_tree *tree, uint32_t x,
                                                        struct rf_tuple key)
{
    return tree->plan.dims == 2 ? descend_plane(cache, tree, x, key)
                                : descend_line(cache, tree, x, key);
}

/* Slowest first; `has` NULL: always. */
static const struct {
    struct rf_rap_locate_way way;
    int (*has)(void);
} ways[] = {
    {{"portable", locate_line}, NULL},
#if defined __x86_64__
    {{"avx512", locate_line_avx512}, has_avx512},
#endif
};

const struct rf_rap_locate_way *rf_rap_locate_way(size_t i)
{
    for (size_t k = 0; k < sizeof ways / sizeof *ways; k++)
        if ((ways[k].has == NULL || ways[k].has()) && i-- == 0)
            return &ways[k].way;
    return NULL;
}

void rf_rap_cache_init(struct rf_rap_cache *cache, const struct rf_rap_plan *plan, uint64_t key,
                       size_t entries, void *leaves, void *near)
{
    *cache = (struct rf_rap_cache){.key = key,
                                   .entries = entries,
                                   .leaves = leaves,
                                   .jump = near,
                                   .hash_shift = 64,
                                   .slot_bits = jump_bits(plan, entries),
                                   .zeros_base = 64 - plan->bits,
                                   .locate = locate_plane};
    while (entries >> (64 - cache->hash_shift) > 1)
        cache->hash_shift--;
    const struct rf_rap_locate_way *way;
    for (size_t i = 0; plan->dims == 1 && (way = rf_rap_locate_way(i)) != NULL; i++)
        cache->locate = way->locate;
    rf_rap_cache_forget(cache);
}
