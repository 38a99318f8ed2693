/* splitter.c - H[x]n: the stream split by a hash of the tuple into n substreams, each with a chain x.
 *
 * Sastry, Bodik, Smith, sections 3.2 and 3.5.
 *
 *     tuple -> hash -> stratum --+--> x of stratum 0 --+
 *                                +--> x of stratum 1 --+--> messages
 *                                +--> ...            --+
 *
 * All events of a tuple fall into one stratum. Therefore only a few tuples share a sampler, and a sample is more likely to
 * be of the tuple whose events it stands for. Memory: n times that of x, plus the hash
 * (17 KiB of tables for the paper's). Splitters inside splitters have hashes of their own. */
#include "engine/stratified/part.h"

static size_t cell_size(const struct rf_part *part)
{
    return part->n * part->inside.cell_size;
}

static const void *cell_of(const struct rf_part *part, const void *cell, uint32_t stratum)
{
    return (const char *)cell + stratum * part->inside.cell_size;
}

static void start(struct rf_part *part, void *cell)
{
    for (uint32_t i = 0; i < part->n; i++)
        rf_chain_start(&part->inside, rf_splitter_cell(part, cell, i));
}

static bool take(struct rf_part *part, void *cell, struct rf_message *message)
{
    uint32_t stratum = rf_stratum_of(&part->stratum, message->tuple);
    return rf_chain_take(part->inside.first, rf_splitter_cell(part, cell, stratum), message);
}

static void take_run(struct rf_part *part, void *cell, const struct rf_part_run *run,
                     const struct rf_way *way)
{
    uint32_t stratum = rf_stratum_of(&part->stratum, run->message.tuple);
    const struct rf_way inside = {
        .next = part->inside.first, .cell = rf_splitter_cell(part, cell, stratum), .outer = way};
    rf_chain_take_run(&inside, run);
}

static uint64_t pending_of(const struct rf_part *part, const void *cell, uint32_t stratum)
{
    return rf_chain_pending(&part->inside, cell_of(part, cell, stratum));
}

static uint64_t pending(const struct rf_part *part, const void *cell)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < part->n; i++)
        sum += pending_of(part, cell, i);
    return sum;
}

static void visit(const struct rf_part *part, const void *cell, rf_message_visit *visitor,
                  void *context)
{
    for (uint32_t i = 0; i < part->n; i++)
        rf_chain_visit(&part->inside, cell_of(part, cell, i), visitor, context);
}

static void forget(struct rf_part *part, void *cell)
{
    for (uint32_t i = 0; i < part->n; i++)
        rf_chain_forget(&part->inside, rf_splitter_cell(part, cell, i));
}

static void merge(const struct rf_part *part, void *cell, const void *other)
{
    for (uint32_t i = 0; i < part->n; i++)
        rf_chain_merge(&part->inside, rf_splitter_cell(part, cell, i), cell_of(part, other, i));
}

const struct rf_part_ops rf_part_splitter = {
    .letter = 'H',
    .cell_size = cell_size,
    .start = start,
    .take = take,
    .take_run = take_run,
    .pending = pending,
    .pending_of = pending_of,
    .visit = visit,
    .forget = forget,
    .merge = merge,
};
