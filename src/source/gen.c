/* gen.c - the synthetic streams of gen.h as sources: a key drawn, a tuple made of it.
 *
 *     key --bijection of 32 bits (64 where there are more keys)--> b,  and a pc-like a hashed from b
 *
 * `keys` keys give `keys` distinct tuples, over 16 Ki different a's, whose bits look random; the seed chooses
 * the bijection and the draws. Everything but Zipf's weights is integer
 * arithmetic, and those are made to be the same everywhere (zipf.c). */
#include "source/loop.h"
#include "source/source.h"
#include "source/zipf.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/random.h"
#include "base/text.h"
#include <riffle/gen.h>

enum { KEYS_STANDARD = 1000000, PHASE_STANDARD = 1000000 };
enum { HOT_LEAST = 20, HOT_MOST = 400 }; /* tuples of a phase of drift */
#define KEYS_MAX (UINT64_C(1) << 40)

struct gen {
    struct rf_source base;
    const struct kind *kind;
    struct rf_gen asked;
    uint64_t flip; /* xored into every key: another set of tuples for every seed */
    bool wide;     /* keys need more than 32 bits */
    struct rf_random random;
    struct rf_zipf zipf;
    struct rf_loop *loop;
    struct rf_tuple *tuples;
};

struct kind {
    const char *name;
    bool draws_zipf, runs_loop;
    size_t (*fill)(struct gen *gen, size_t n);
};

static inline struct rf_tuple tuple_of(uint64_t b)
{
    uint64_t a = b * 0x9e3779b97f4a7c15u >> 50;
    return (struct rf_tuple){0x400000 + 4 * a, b};
}

/* Both steps are invertible: multiplying by an odd number, and xoring with a right shift. */
static inline struct rf_tuple tuple_narrow(const struct gen *gen, uint64_t key)
{
    uint32_t x = (uint32_t)(key ^ gen->flip) * 0x9e3779b1u;
    x = (x ^ x >> 15) * 0x85ebca77u;
    return tuple_of(x ^ x >> 16);
}

static inline struct rf_tuple tuple_wide(const struct gen *gen, uint64_t key)
{
    uint64_t x = (key ^ gen->flip) * 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 31) * 0xd1342543de82ef95u;
    return tuple_of(x ^ x >> 29);
}

static size_t fill_uniform(struct gen *gen, size_t n)
{
    struct rf_random random = gen->random;
    if (gen->wide)
        for (size_t i = 0; i < n; i++)
            gen->tuples[i] = tuple_wide(gen, rf_random_below(&random, gen->asked.keys));
    else
        for (size_t i = 0; i < n; i++)
            gen->tuples[i] = tuple_narrow(gen, rf_random_below(&random, gen->asked.keys));
    gen->random = random;
    return n;
}

static void draw_zipf(struct gen *gen, struct rf_tuple *out, size_t n, uint64_t first_key)
{
    struct rf_random random = gen->random;
    for (size_t i = 0; i < n; i++) {
        uint64_t key = first_key + rf_zipf_draw(&gen->zipf, &random);
        out[i] = gen->wide ? tuple_wide(gen, key) : tuple_narrow(gen, key);
    }
    gen->random = random;
}

static size_t fill_zipf(struct gen *gen, size_t n)
{
    draw_zipf(gen, gen->tuples, n, 0);
    return n;
}

static size_t fill_phases(struct gen *gen, size_t n)
{
    uint64_t left = gen->asked.phase - gen->base.done % gen->asked.phase;
    n = n < left ? n : (size_t)left;
    draw_zipf(gen, gen->tuples, n, gen->base.done / gen->asked.phase * gen->asked.keys);
    return n;
}

/* One of the first `n` ranks: what lies behind them is drawn again, which leaves the weights of the others as they are. */
static uint64_t draw_rank(const struct rf_zipf *zipf, struct rf_random *random, uint64_t n)
{
    uint64_t rank;
    do
        rank = rf_zipf_draw(zipf, random);
    while (rank > n);
    return rank;
}

/* The hot keys of a phase lie behind the keys of all others; their number follows from that of the phase. */
static size_t fill_drift(struct gen *gen, size_t n)
{
    uint64_t phase = gen->base.done / gen->asked.phase,
             left = gen->asked.phase - gen->base.done % gen->asked.phase;
    uint64_t first = gen->asked.keys + phase * HOT_MOST, seed = gen->flip ^ phase;
    uint64_t hot = HOT_LEAST + rf_splitmix(&seed) % (HOT_MOST - HOT_LEAST + 1);
    struct rf_random random = gen->random;
    n = n < left ? n : (size_t)left;
    for (size_t i = 0; i < n; i++) {
        bool is_hot = rf_random_below(&random, 5) < 2;
        uint64_t key = is_hot ? first + draw_rank(&gen->zipf, &random, hot) - 1
                              : rf_random_below(&random, gen->asked.keys);
        gen->tuples[i] = gen->wide ? tuple_wide(gen, key) : tuple_narrow(gen, key);
    }
    gen->random = random;
    return n;
}

static size_t fill_loop(struct gen *gen, size_t n)
{
    size_t made = rf_loop_run(gen->loop, gen->tuples, RF_SOURCE_BATCH);
    return made < n ? made : n;
}

static const struct kind kinds[] = {
    {"zipf", true, false, fill_zipf},     {"uniform", false, false, fill_uniform},
    {"phases", true, false, fill_phases}, {"drift", true, false, fill_drift},
    {"loop", false, true, fill_loop},
};

static rf_status next(struct rf_source *source, struct rf_batch *batch, struct rf_error *error)
{
    struct gen *gen = (struct gen *)source;
    (void)error;
    uint64_t left = gen->asked.events - gen->base.done;
    size_t n = left < RF_SOURCE_BATCH ? (size_t)left : RF_SOURCE_BATCH;
    if (n > 0)
        n = gen->kind->fill(gen, n);
    gen->base.done += n;
    batch->tuples = (struct rf_tuples){gen->tuples, NULL, n};
    batch->n = n;
    return RF_OK;
}

static void close_gen(struct rf_source *source)
{
    struct gen *gen = (struct gen *)source;
    struct rf_alloc alloc = source->alloc;
    if (gen->kind != NULL && gen->kind->draws_zipf && gen->zipf.bins != NULL)
        rf_zipf_release(&gen->zipf);
    rf_loop_free(gen->loop);
    rf_alloc_free(&alloc, gen->tuples, RF_SOURCE_BATCH * sizeof *gen->tuples);
    rf_alloc_free(&alloc, gen, sizeof *gen);
}

static const struct rf_source_ops gen_ops = {
    .name = "gen",
    .next = next,
    .close = close_gen,
};

static const struct kind *find_kind(const char *name, struct rf_error *error)
{
    const struct kind *nearest = &kinds[0];
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (rf_text_equal(name, kinds[i].name, rf_text_length(kinds[i].name)))
            return &kinds[i];
        if (rf_text_distance(name, kinds[i].name) < rf_text_distance(name, nearest->name))
            nearest = &kinds[i];
    }
    rf_fail(error, RF_EINVAL, "gen: no stream is called '%s'; did you mean '%s'?", name,
            nearest->name);
    return NULL;
}

static rf_status check(struct rf_gen *asked, struct rf_error *error)
{
    asked->keys = asked->keys == 0 ? KEYS_STANDARD : asked->keys;
    asked->phase = asked->phase == 0 ? PHASE_STANDARD : asked->phase;
    asked->skew = asked->skew == 0 ? 1.0 : asked->skew;
    if (asked->keys > KEYS_MAX)
        return rf_fail(error, RF_EINVAL, "gen: keys must be at most 2^40, got %llu",
                       (unsigned long long)asked->keys);
    if (!(asked->skew > 0 && asked->skew <= 10))
        return rf_fail(error, RF_EINVAL, "gen: skew must be above 0 and at most 10");
    return RF_OK;
}

/* The number of keys that can occur in all is too large for 32 bits: each phase has a set of its own. */
static bool needs_wide(const struct gen *gen)
{
    uint64_t phases = gen->asked.events / gen->asked.phase + 1, keys = gen->asked.keys;
    if (gen->kind->fill == fill_phases && __builtin_mul_overflow(keys, phases, &keys))
        return true;
    if (gen->kind->fill == fill_drift && (__builtin_mul_overflow(phases, HOT_MOST, &phases) ||
                                          __builtin_add_overflow(keys, phases, &keys)))
        return true;
    return keys >= UINT32_MAX;
}

static rf_status set_up(struct gen *gen, struct rf_error *error)
{
    const struct rf_alloc *alloc = &gen->base.alloc;
    gen->wide = needs_wide(gen);
    gen->tuples = rf_alloc_get(alloc, RF_SOURCE_BATCH * sizeof *gen->tuples);
    if (gen->tuples == NULL)
        return rf_fail(error, RF_ENOMEM, "gen: no memory for a batch");
    rf_random_seed(&gen->random, gen->asked.seed);
    gen->flip = rf_random_next(&gen->random);
    if (gen->kind->draws_zipf)
        return rf_zipf_init(&gen->zipf, gen->kind->fill == fill_drift ? HOT_MOST : gen->asked.keys,
                            gen->asked.skew, alloc, error);
    if (gen->kind->runs_loop)
        return rf_loop_new(&gen->loop, gen->asked.keys, gen->asked.phase, gen->asked.seed, alloc,
                           error);
    return RF_OK;
}

rf_status rf_source_open_gen(struct rf_source **source, const struct rf_gen *asked,
                             const struct rf_alloc *alloc, struct rf_error *error)
{
    *source = NULL;
    const struct kind *kind = find_kind(asked->kind, error);
    if (kind == NULL)
        return RF_EINVAL;
    struct rf_gen full = *asked;
    rf_status status = check(&full, error);
    if (status != RF_OK)
        return status;
    struct gen *gen = rf_source_new(&gen_ops, sizeof *gen, alloc);
    if (gen == NULL)
        return rf_fail(error, RF_ENOMEM, "gen: no memory");
    gen->asked = full;
    gen->base.total = full.events;
    gen->asked.kind = kind->name;
    gen->kind = kind;
    status = set_up(gen, error);
    if (status != RF_OK)
        close_gen(&gen->base);
    else
        *source = &gen->base;
    return status;
}
