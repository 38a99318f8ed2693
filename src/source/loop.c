/* loop.c - a synthetic program whose loads give tuples <pc, value>.
 *
 *     program = nests of loops                 nest = outer { outer loads; inner { inner loads } }
 *     load    = a static pc with one pattern of values:
 *
 *         constant    30%  always the same value
 *         favourites  30%  four values, 9:4:2:1
 *         stride      22%  walks an array of 16 to 256 elements, round and round
 *         pool        18%  any of 16 to 1024 values: what looks like noise
 *
 * The program alternates between three nests. Every sixteenth visit replaces one of them by a nest drawn from
 * 32 active places, some of which are much likelier than others. Every fourth place always holds the same
 * nest (the main loop, the library); the others are exchanged with each phase. Therefore the tuples that are
 * hot in one interval of a million events are mostly not hot in the next, while little changes over ten
 * thousand events. The authors of the interval profiler saw this in real programs (Narayanasamy et al.,
 * section 5.1).
 *
 * Values come in four kinds as in real memory: small numbers, 32-bit numbers, pointers, full words.
 *
 * Speed: a block (inner loads x trips) is written load by load, so that what a load does is decided
 * once for all its trips and the inner loop has no branches; random numbers are hashes of a counter and do
 * not depend on each other.
 *
 * Memory: 64 bytes per load, about keys / 64 loads.
 * Cannot: call, recurse, or let one value depend on another. */
#include "source/loop.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/random.h"
#include <stdbool.h>
#include <string.h>

enum habit { CONSTANT, FAVOURITES, STRIDE, POOL };

enum {
    TUPLES_PER_LOAD = 64, /* distinct, on average over the habits */
    LOADS_MIN = 256,
    LOADS_MAX = 1 << 20,
    OUTER_MAX = 6,
    INNER_MAX = 40,
    ACTIVE = 32,
    RECENT = 3,
    BLOCK_MAX = RF_LOOP_ROOM_MIN,
};

struct load {
    uint64_t pc;
    uint64_t value[4]; /* favourites; [0] is the constant, the array's begin, the pool's root */
    uint64_t stride;
    uint64_t step; /* trips so far */
    uint16_t mask; /* of the pool's or array's index */
    uint8_t habit;
    uint8_t bits; /* of a value from the pool */
};

struct nest {
    uint32_t first; /* load: outer ones, then inner ones */
    uint8_t n_outer, n_inner;
    uint16_t trips; /* of the inner loop, on average */
};

/* The state of the run: the nest, the trips left of its outer loop and of its inner loop. */
struct rf_loop {
    struct rf_alloc alloc;
    struct rf_random random;
    uint64_t seed, phase, produced;
    uint64_t draws; /* counter behind the values' random numbers */
    const struct nest *nest, *recent[RECENT];
    uint32_t outer_left, trips_left;
    size_t n_loads, n_nests;
    struct load *loads;
    struct nest *nests;
};

static inline uint64_t scatter(uint64_t x)
{
    x *= 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 32) * 0xd1342543de82ef95u;
    return x ^ x >> 29;
}

static uint64_t draw_value(struct rf_random *random, unsigned *bits)
{
    static const uint8_t widths[] = {8, 8, 16, 16, 32, 28, 28, 64};
    uint64_t r = rf_random_next(random);
    *bits = widths[r & 7];
    uint64_t value = rf_random_next(random) >> (64 - *bits);
    return *bits == 28 ? 0x7f0000000000 + (value << 4) : value; /* a pointer */
}

static void make_load(struct rf_loop *loop, struct load *load, uint64_t pc)
{
    static const uint8_t strides[] = {1, 4, 8, 8, 16, 24, 64, 0};
    unsigned percent = (unsigned)rf_random_below(&loop->random, 100), bits;
    *load = (struct load){.pc = pc};
    for (int i = 0; i < 4; i++)
        load->value[i] = draw_value(&loop->random, &bits);
    load->bits = (uint8_t)bits;
    uint64_t r = rf_random_next(&loop->random);
    if (percent < 30) {
        load->habit = CONSTANT;
    } else if (percent < 60) {
        load->habit = FAVOURITES;
    } else if (percent < 82) {
        load->habit = STRIDE;
        load->stride = strides[r & 7];
        load->mask = (uint16_t)((16u << (r >> 8) % 5) - 1);
    } else {
        load->habit = POOL;
        load->mask = (uint16_t)((16u << (r >> 8) % 7) - 1);
    }
}

static struct nest make_nest(struct rf_loop *loop, uint32_t first)
{
    struct nest nest = {.first = first};
    nest.n_outer = (uint8_t)(1 + rf_random_below(&loop->random, OUTER_MAX));
    nest.n_inner = (uint8_t)(4 + rf_random_below(&loop->random, INNER_MAX - 3));
    nest.trips =
        (uint16_t)(4 + rf_random_below(&loop->random, 28) * rf_random_below(&loop->random, 8));
    return nest;
}

/* Nests until the loads are used up; pcs as a compiler would lay them out, functions apart. */
static void make_program(struct rf_loop *loop)
{
    uint64_t pc = 0x400000;
    size_t used = 0;
    while (used + OUTER_MAX + INNER_MAX <= loop->n_loads) {
        struct nest nest = make_nest(loop, (uint32_t)used);
        for (int i = 0; i < nest.n_outer + nest.n_inner; i++) {
            make_load(loop, &loop->loads[used++], pc);
            pc += 3 + rf_random_below(&loop->random, 13);
        }
        pc = (pc + 4096) & ~UINT64_C(15);
        loop->nests[loop->n_nests++] = nest;
    }
}

/* Write every load's tuples of `trips` trips through a block of n loads. */
static void run_block(struct rf_loop *loop, struct load *loads, size_t n, size_t trips,
                      struct rf_tuple *out)
{
    static const uint8_t slots[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 3};
    for (size_t i = 0; i < n; i++) {
        struct load load = loads[i];
        struct rf_tuple *to = out + i;
        uint64_t draws = loop->draws + i * trips;
        switch ((enum habit)load.habit) {
        case CONSTANT:
            for (size_t t = 0; t < trips; t++, to += n)
                *to = (struct rf_tuple){load.pc, load.value[0]};
            break;
        case FAVOURITES:
            for (size_t t = 0; t < trips; t++, to += n)
                *to = (struct rf_tuple){load.pc, load.value[slots[scatter(draws + t) & 15]]};
            break;
        case STRIDE:
            for (size_t t = 0; t < trips; t++, to += n)
                *to = (struct rf_tuple){load.pc, load.value[0] +
                                                     ((load.step + t) & load.mask) * load.stride};
            break;
        case POOL:
            for (size_t t = 0; t < trips; t++, to += n) {
                uint64_t index = load.value[0] + (scatter(draws + t) & load.mask);
                *to = (struct rf_tuple){load.pc, scatter(index) >> (64 - load.bits)};
            }
            break;
        }
        loads[i].step += trips;
    }
    loop->draws += n * trips;
    loop->produced += n * trips;
}

/* The nest at one of the active places, the first ones more often. */
static const struct nest *choose_nest(const struct rf_loop *loop, uint64_t r)
{
    uint64_t place = (r & (ACTIVE - 1)) * (r >> 8 & (ACTIVE - 1)) / ACTIVE;
    uint64_t phase = place % 4 == 1 ? 0 : 1 + loop->produced / loop->phase;
    uint64_t which = scatter(loop->seed ^ scatter(phase * ACTIVE + place));
    return &loop->nests[which % loop->n_nests];
}

/* Mostly return to one of the recent nests; now and then replace one of them. */
static void enter_nest(struct rf_loop *loop)
{
    uint64_t r = rf_random_next(&loop->random);
    const struct nest **recent = &loop->recent[(r >> 32) % RECENT];
    if (*recent == NULL || (r >> 24 & 15) == 0)
        *recent = choose_nest(loop, r);
    loop->nest = *recent;
    loop->outer_left = 1 + (r >> 16 & 3);
    loop->trips_left = 0;
}

/* Run the outer loads once; the inner loop is next. */
static size_t run_outer(struct rf_loop *loop, struct rf_tuple *out)
{
    const struct nest *nest = loop->nest;
    run_block(loop, loop->loads + nest->first, nest->n_outer, 1, out);
    uint64_t spread = rf_random_below(&loop->random, 1 + nest->trips / 2u);
    loop->trips_left = (uint32_t)(nest->trips - nest->trips / 4u + spread);
    loop->outer_left--;
    return nest->n_outer;
}

static size_t run_inner(struct rf_loop *loop, struct rf_tuple *out)
{
    const struct nest *nest = loop->nest;
    size_t most = BLOCK_MAX / nest->n_inner;
    size_t trips = loop->trips_left < most ? loop->trips_left : most;
    run_block(loop, loop->loads + nest->first + nest->n_outer, nest->n_inner, trips, out);
    loop->trips_left -= (uint32_t)trips;
    return trips * nest->n_inner;
}

size_t rf_loop_run(struct rf_loop *loop, struct rf_tuple *out, size_t room)
{
    size_t n = 0;
    while (room - n >= BLOCK_MAX) {
        if (loop->trips_left > 0)
            n += run_inner(loop, out + n);
        else if (loop->outer_left > 0)
            n += run_outer(loop, out + n);
        else
            enter_nest(loop);
    }
    return n;
}

rf_status rf_loop_new(struct rf_loop **loop_out, uint64_t keys, uint64_t phase, uint64_t seed,
                      const struct rf_alloc *alloc, struct rf_error *error)
{
    alloc = rf_alloc_or_standard(alloc);
    uint64_t n_loads = keys / TUPLES_PER_LOAD;
    n_loads = n_loads < LOADS_MIN ? LOADS_MIN : n_loads > LOADS_MAX ? LOADS_MAX : n_loads;
    struct rf_loop *loop = rf_alloc_zeroed(alloc, sizeof *loop);
    if (loop == NULL)
        return rf_fail(error, RF_ENOMEM, "no memory for a synthetic program");
    loop->alloc = *alloc;
    loop->n_loads = (size_t)n_loads;
    loop->loads = rf_alloc_get(alloc, loop->n_loads * sizeof *loop->loads);
    loop->nests = rf_alloc_get(alloc, loop->n_loads * sizeof *loop->nests);
    if (loop->loads == NULL || loop->nests == NULL) {
        rf_loop_free(loop);
        return rf_fail(error, RF_ENOMEM, "no memory for a synthetic program");
    }
    loop->seed = seed;
    loop->phase = phase;
    rf_random_seed(&loop->random, seed);
    make_program(loop);
    *loop_out = loop;
    return RF_OK;
}

void rf_loop_free(struct rf_loop *loop)
{
    if (loop == NULL)
        return;
    rf_alloc_free(&loop->alloc, loop->loads, loop->n_loads * sizeof *loop->loads);
    rf_alloc_free(&loop->alloc, loop->nests, loop->n_loads * sizeof *loop->nests);
    rf_alloc_free(&loop->alloc, loop, sizeof *loop);
}
