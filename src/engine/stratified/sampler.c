/* sampler.c - the samplers P, R and D, and the counter C in front of one.
 *
 * Sastry, Bodik, Smith, "Rapid Profiling via Stratified Sampling", section 3.1.
 *
 *     P r    ..........x.........x.........x    every r-th; the message stands for r events
 *     R r    ...x..............x....x.......    each with probability 1/r
 *     D r    ......x.............x.....x....    after 1..2r events, all alike (DCPI, ProfileMe)
 *     C R r  ...4.............15....5.......    the same events as R r, each with the count since the
 *                                               one before it
 *
 * Guarantee: after k messages of P r, between rk and rk + r - 1 events came in; C's messages add up to
 * the events that came in but those since the last of them. R and D only estimate that length.
 * Memory: P and D 4 bytes, C 8, R none; each part has one generator of random numbers, as in hardware.
 * A run of more than RF_RUN_DRAWN events is not drawn event by event: R and D let out as many as they would
 * on average, rounded up or down by one draw, which is as true on average and varies less; C shares out
 * its count evenly among them.
 * Departure: D's mean is r + 1/2 as the interval 1..2r has it, so that its estimates are low by 1/(2r).
 * Cannot: P on a stream with a period that shares a factor with r sees the same place of it forever. */
#include "engine/stratified/part.h"

static size_t size_none(const struct rf_part *part)
{
    (void)part;
    return 0;
}

static size_t size_32(const struct rf_part *part)
{
    (void)part;
    return sizeof(uint32_t);
}

static size_t size_counter(const struct rf_part *part)
{
    return sizeof(uint64_t) + ((part->inside.cell_size + 7) & ~(size_t)7);
}

static bool say(const struct rf_part *part, struct rf_message *message)
{
    message->count = part->n;
    message->samples = 1;
    return true;
}

/* >= and not ==: two merged counters may stand above r. */
static bool take_periodic(struct rf_part *part, void *cell, struct rf_message *message)
{
    uint32_t *counter = cell;
    if (++*counter < part->n)
        return false;
    *counter -= part->n;
    return say(part, message);
}

static struct rf_part_run said(const struct rf_part *part, const struct rf_part_run *run,
                               uint64_t times)
{
    return (struct rf_part_run){{run->message.tuple, part->n, 1}, times};
}

static void run_periodic(struct rf_part *part, void *cell, const struct rf_part_run *run,
                         const struct rf_way *way)
{
    uint32_t *counter = cell;
    uint64_t left = run->times, n = 0;
    for (; left > 0 && *counter >= part->n; left--, n++)
        *counter -= part->n - 1;
    uint64_t all = *counter + left;
    n += all / part->n;
    *counter = (uint32_t)(all % part->n);
    struct rf_part_run out = said(part, run, n);
    rf_chain_take_run(way, &out);
}

static uint64_t pending_periodic(const struct rf_part *part, const void *cell)
{
    (void)part;
    return *(const uint32_t *)cell;
}

static void merge_periodic(const struct rf_part *part, void *cell, const void *other)
{
    (void)part;
    *(uint32_t *)cell += *(const uint32_t *)other;
}

const struct rf_part_ops rf_part_periodic = {
    .letter = 'P',
    .cell_size = size_32,
    .take = take_periodic,
    .take_run = run_periodic,
    .pending = pending_periodic,
    .merge = merge_periodic,
};

static bool take_random(struct rf_part *part, void *cell, struct rf_message *message)
{
    (void)cell;
    return rf_random_below(&part->random, part->n) == 0 && say(part, message);
}

/* amount / by, rounded up as often as the rest makes likely. */
static uint64_t divide_randomly(struct rf_part *part, uint64_t amount, uint64_t by)
{
    return amount / by + (rf_random_below(&part->random, by) < amount % by);
}

static void run_random(struct rf_part *part, void *cell, const struct rf_part_run *run,
                       const struct rf_way *way)
{
    struct rf_message ignored;
    uint64_t n = 0;
    if (run->times > RF_RUN_DRAWN)
        n = divide_randomly(part, run->times, part->n);
    else
        for (uint64_t i = 0; i < run->times; i++)
            n += take_random(part, cell, &ignored);
    struct rf_part_run out = said(part, run, n);
    rf_chain_take_run(way, &out);
}

const struct rf_part_ops rf_part_random = {
    .letter = 'R',
    .cell_size = size_none,
    .take = take_random,
    .take_run = run_random,
};

static void restart_countdown(struct rf_part *part, void *cell)
{
    *(uint32_t *)cell = 1 + (uint32_t)rf_random_below(&part->random, 2 * (uint64_t)part->n);
}

static bool take_countdown(struct rf_part *part, void *cell, struct rf_message *message)
{
    if (--*(uint32_t *)cell != 0)
        return false;
    restart_countdown(part, cell);
    return say(part, message);
}

/* The mean of 1 .. 2r is (2r + 1) / 2. */
static void run_countdown(struct rf_part *part, void *cell, const struct rf_part_run *run,
                          const struct rf_way *way)
{
    struct rf_message ignored;
    uint64_t n = 0, twice = 2 * (uint64_t)part->n + 1;
    if (run->times > RF_RUN_DRAWN) {
        n = run->times / twice * 2 + divide_randomly(part, run->times % twice * 2, twice);
        restart_countdown(part, cell);
    } else {
        for (uint64_t i = 0; i < run->times; i++)
            n += take_countdown(part, cell, &ignored);
    }
    struct rf_part_run out = said(part, run, n);
    rf_chain_take_run(way, &out);
}

const struct rf_part_ops rf_part_countdown = {
    .letter = 'D',
    .cell_size = size_32,
    .start = restart_countdown,
    .take = take_countdown,
    .take_run = run_countdown,
};

static void start_counter(struct rf_part *part, void *cell)
{
    rf_chain_start(&part->inside, (uint64_t *)cell + 1);
}

static bool take_counter(struct rf_part *part, void *cell, struct rf_message *message)
{
    uint64_t *counter = cell;
    *counter += message->count;
    if (!rf_chain_take(part->inside.first, counter + 1, message))
        return false;
    message->count = *counter;
    *counter = 0;
    return true;
}

static void count_out(void *context, const struct rf_part_run *run)
{
    *(uint64_t *)context += run->times;
}

/* A long run: what comes out of the sampler shares out all that was counted. */
static void share_out(struct rf_part *part, uint64_t *counter, const struct rf_part_run *run,
                      const struct rf_way *way)
{
    uint64_t n = 0, counts = run->times * run->message.count;
    const struct rf_way inside = {
        .next = part->inside.first, .cell = counter + 1, .end = count_out, .context = &n};
    rf_chain_take_run(&inside, run);
    if (n == 0) {
        *counter += counts;
        return;
    }
    uint64_t each = counts / n;
    struct rf_part_run out = {{run->message.tuple, *counter + counts - each * (n - 1), 1}, 1};
    rf_chain_take_run(way, &out);
    out = (struct rf_part_run){{run->message.tuple, each, 1}, n - 1};
    rf_chain_take_run(way, &out);
    *counter = 0;
}

static void run_counter(struct rf_part *part, void *cell, const struct rf_part_run *run,
                        const struct rf_way *way)
{
    if (run->times > RF_RUN_DRAWN) {
        share_out(part, cell, run, way);
        return;
    }
    for (uint64_t i = 0; i < run->times; i++) {
        struct rf_part_run out = {run->message, 1};
        if (take_counter(part, cell, &out.message))
            rf_chain_take_run(way, &out);
    }
}

static uint64_t pending_counter(const struct rf_part *part, const void *cell)
{
    (void)part;
    return *(const uint64_t *)cell;
}

static void merge_counter(const struct rf_part *part, void *cell, const void *other)
{
    (void)part;
    *(uint64_t *)cell += *(const uint64_t *)other;
}

const struct rf_part_ops rf_part_counter = {
    .letter = 'C',
    .cell_size = size_counter,
    .start = start_counter,
    .take = take_counter,
    .take_run = run_counter,
    .pending = pending_counter,
    .merge = merge_counter,
};
