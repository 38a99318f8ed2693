/* chain.c - makes linked parts of a list of specs, and runs an operation on all parts of a chain.
 *
 *     specs of H[P256 A4]64 A16:    H n=64 inside=2 | P n=256 | A n=4 | A n=16
 *
 *     chain -> H -----------------------------> A16
 *              | inside
 *              +-> P -> A4
 *
 *     cell of the chain:  [ P A4 | P A4 | ... 64 times ][ A16 ]                                  */
#include "engine/stratified/part.h"

static const struct rf_part_ops *const ops_of_kind[] = {
    [RF_PART_PERIODIC] = &rf_part_periodic,   [RF_PART_RANDOM] = &rf_part_random,
    [RF_PART_COUNTDOWN] = &rf_part_countdown, [RF_PART_COUNTER] = &rf_part_counter,
    [RF_PART_SPLITTER] = &rf_part_splitter,   [RF_PART_TABLE] = &rf_part_table,
    [RF_PART_TAGGED] = &rf_part_tagged,
};

/* The memory that is left while chain_build runs. */
struct builder {
    const struct rf_chain_setup *setup;
    struct rf_part *parts;
    struct rf_hash_paper *papers;
};

static unsigned log2_of(uint64_t power)
{
    return (unsigned)__builtin_ctzll(power);
}

static void init_hash(struct builder *builder, struct rf_part *part, unsigned bits, uint64_t seed)
{
    rf_stratum_init(&part->stratum, builder->setup->hash, bits, seed, builder->papers);
    if (builder->setup->hash == RF_STRATUM_PAPER)
        builder->papers++;
}

static size_t aligned(size_t offset)
{
    return (offset + 7) & ~(size_t)7;
}

/* Bits of a counter of a table A. */
static unsigned width_of(const struct rf_part_spec *spec)
{
    return spec->width != 0 ? spec->width : RF_TABLE_COUNT_BITS;
}

static void build(struct builder *builder, struct rf_chain *chain, uint32_t from, uint32_t to);

static void build_part(struct builder *builder, struct rf_part *part, uint32_t i)
{
    const struct rf_chain_setup *setup = builder->setup;
    const struct rf_part_spec *spec = &setup->specs[i];
    uint64_t seed = setup->seed + i * UINT64_C(0x9e3779b97f4a7c15);
    *part = (struct rf_part){.ops = ops_of_kind[spec->kind],
                             .n = spec->n,
                             .count_max = (UINT64_C(1) << width_of(spec)) - 1};
    rf_random_seed(&part->random, seed);
    part->key = rf_hash_secret(part);
    if (spec->kind == RF_PART_SPLITTER)
        init_hash(builder, part, log2_of(spec->n), seed);
    if (spec->kind == RF_PART_TAGGED) {
        part->tagged = *setup->tagged;
        init_hash(builder, part, log2_of(part->tagged.entries / part->tagged.ways), seed);
    }
    build(builder, &part->inside, i + 1, i + 1 + spec->inside);
}

/* A lone part takes just what it needs, so that H[P256]2048 is an array of 4-byte counters. */
static void build(struct builder *builder, struct rf_chain *chain, uint32_t from, uint32_t to)
{
    struct rf_part **link = &chain->first;
    size_t size = 0;
    for (uint32_t i = from; i < to; i += 1 + builder->setup->specs[i].inside) {
        struct rf_part *part = builder->parts++;
        build_part(builder, part, i);
        part->offset = size = i == from ? 0 : aligned(size);
        size += part->ops->cell_size(part);
        *link = part;
        link = &part->next;
    }
    *link = NULL;
    bool alone = chain->first == NULL || chain->first->next == NULL;
    chain->cell_size = alone ? size : aligned(size);
}

void rf_chain_build(struct rf_chain *chain, struct rf_part *parts, struct rf_hash_paper *papers,
                    const struct rf_chain_setup *setup)
{
    struct builder builder = {setup, parts, papers};
    build(&builder, chain, 0, setup->n_specs);
}

void rf_chain_start(const struct rf_chain *chain, void *cell)
{
    for (struct rf_part *part = chain->first; part != NULL; part = part->next)
        if (part->ops->start != NULL)
            part->ops->start(part, (char *)cell + part->offset);
}

void rf_chain_take_run(const struct rf_way *way, const struct rf_part_run *run)
{
    struct rf_part *part = way->next;
    if (run->times == 0)
        return;
    if (part != NULL) {
        struct rf_way behind = *way;
        behind.next = part->next;
        part->ops->take_run(part, (char *)way->cell + part->offset, run, &behind);
    } else if (way->outer != NULL) {
        rf_chain_take_run(way->outer, run);
    } else {
        way->end(way->context, run);
    }
}

uint64_t rf_chain_pending(const struct rf_chain *chain, const void *cell)
{
    uint64_t pending = 0;
    for (const struct rf_part *part = chain->first; part != NULL; part = part->next)
        if (part->ops->pending != NULL)
            pending += part->ops->pending(part, (const char *)cell + part->offset);
    return pending;
}

void rf_chain_visit(const struct rf_chain *chain, const void *cell, rf_message_visit *visit,
                    void *context)
{
    for (const struct rf_part *part = chain->first; part != NULL; part = part->next)
        if (part->ops->visit != NULL)
            part->ops->visit(part, (const char *)cell + part->offset, visit, context);
}

void rf_chain_forget(const struct rf_chain *chain, void *cell)
{
    for (struct rf_part *part = chain->first; part != NULL; part = part->next)
        if (part->ops->forget != NULL)
            part->ops->forget(part, (char *)cell + part->offset);
}

void rf_chain_merge(const struct rf_chain *chain, void *cell, const void *other)
{
    for (const struct rf_part *part = chain->first; part != NULL; part = part->next)
        if (part->ops->merge != NULL)
            part->ops->merge(part, (char *)cell + part->offset, (const char *)other + part->offset);
}

size_t rf_chain_size(const struct rf_part_spec *specs, uint32_t n_specs,
                     const struct rf_tagged_setup *tagged)
{
    struct rf_part parts[RF_PARTS_MAX];
    struct rf_chain chain;
    struct rf_chain_setup setup = {
        .specs = specs, .n_specs = n_specs, .tagged = tagged, .hash = RF_STRATUM_MIX};
    rf_chain_build(&chain, parts, NULL, &setup);
    return chain.cell_size;
}

static unsigned bits_to_count(uint64_t n)
{
    return n < 2 ? 0 : 64 - (unsigned)__builtin_clzll(n - 1);
}

enum { TUPLE_BITS = 128, LFSR_BITS = 32, COUNTER_SLACK_BITS = 8 };

/* The bits of one part; `inside` is how many a chain inside it has. */
static uint64_t part_bits(const struct rf_part_spec *spec, uint64_t inside,
                          const struct rf_tagged_setup *tagged)
{
    switch (spec->kind) {
    case RF_PART_PERIODIC:
        return bits_to_count(spec->n);
    case RF_PART_COUNTDOWN:
        return bits_to_count(2 * (uint64_t)spec->n);
    case RF_PART_COUNTER:
        return inside + bits_to_count(spec[1].n) + COUNTER_SLACK_BITS;
    case RF_PART_SPLITTER:
        return spec->n * inside;
    case RF_PART_TABLE:
        return spec->n * (uint64_t)(TUPLE_BITS + width_of(spec));
    case RF_PART_TAGGED:
        return tagged->entries * (tagged->tag + tagged->hit + tagged->miss + 1);
    default:
        return 0;
    }
}

static uint64_t cell_bits(const struct rf_part_spec *specs, uint32_t n,
                          const struct rf_tagged_setup *tagged)
{
    uint64_t bits = 0;
    for (uint32_t i = 0; i < n; i += 1 + specs[i].inside) {
        uint64_t inside = cell_bits(specs + i + 1, specs[i].inside, tagged);
        bits += part_bits(&specs[i], inside, tagged);
    }
    return bits;
}

uint64_t rf_chain_bits(const struct rf_part_spec *specs, uint32_t n_specs,
                       const struct rf_tagged_setup *tagged)
{
    uint64_t bits = cell_bits(specs, n_specs, tagged);
    for (uint32_t i = 0; i < n_specs; i++)
        if (specs[i].kind == RF_PART_RANDOM || specs[i].kind == RF_PART_COUNTDOWN)
            bits += LFSR_BITS;
    return bits;
}
