/* A program that is one loop: bursts at random distances hold the truth as often as they say, whatever the loop's length, in the
 * probe's way and in the simulated core's, 1000 trials each. Bursts at equal distances do not; a case shows that.
 *
 * An interval has one event. The loop has four items, a quarter of its length each, or three in a loop of three. */
#include "profile/bursts.h"
#include "base/random.h"
#include "base/spread.h"
#include "dise/engine.h"
#include "test.h"
#include <riffle/profiler.h>

enum {
    INTERVALS = 6000,
    ITEMS = 4,
    TRIALS = 1000,
    LEAST = 950 - 21, /* three deviations below */
    CALL = 0x000000ef
};

static struct rf_dise_program program;

/* Who says which intervals are told. */
struct sampler {
    struct rf_random random;
    uint64_t burst, sparsity;
    uint64_t skip, left;           /* the probe's counters */
    struct rf_dise_engine *engine; /* NULL: the probe's way */
    struct rf_insn call;
    uint64_t registers[RF_DISE_REGISTERS];
    unsigned n_states;
    uint32_t states[4];
    struct rf_expansion expansions[4];
};

static void arm(struct sampler *sampler)
{
    sampler->skip =
        rf_spread(rf_random_next(&sampler->random), sampler->sparsity, UINT64_C(1) << 32);
    sampler->left = sampler->burst;
}

/* As probe/clock.c does it. *over: a burst ends with this interval. */
static bool probe_tells(struct sampler *sampler, bool *over)
{
    if (sampler->skip > 0) {
        sampler->skip--;
        return false;
    }
    *over = --sampler->left == 0;
    if (*over)
        arm(sampler);
    return true;
}

/* What becomes of a call in this state; decoded once, as the machine does it. */
static const struct rf_expansion *expand(struct sampler *sampler)
{
    uint32_t state = rf_dise_state(sampler->engine);
    unsigned i = 0;
    while (i < sampler->n_states && sampler->states[i] != state)
        i++;
    if (i == sampler->n_states) {
        sampler->states[sampler->n_states++] = state;
        rf_dise_expand(sampler->engine, &sampler->call, 64, state, &sampler->expansions[i]);
    }
    return &sampler->expansions[i];
}

static bool core_tells(struct sampler *sampler, bool *over)
{
    const struct rf_expansion *out = expand(sampler);
    rf_dise_watch(sampler->engine, out->watch);
    *over = out->n > 0 &&
            (!rf_dise_is_on(sampler->engine, 0) || rf_dise_restarted(sampler->engine) != 0);
    return out->n > 0;
}

static unsigned item_of(unsigned i, unsigned period)
{
    return period < ITEMS ? i % period : i % period * ITEMS / period;
}

/* One run of the loop; how often each item was there, and what its bounds are. */
static void run(struct sampler *sampler, unsigned period, struct rf_bursts *bursts,
                uint64_t told[ITEMS])
{
    memset(told, 0, ITEMS * sizeof *told);
    for (unsigned i = 0; i < INTERVALS; i++) {
        const struct rf_tuple tuple = {item_of(i, period), 0};
        bool over = false;
        if (!(sampler->engine != NULL ? core_tells : probe_tells)(sampler, &over)) {
            rf_bursts_skip(bursts, 1, 0);
            continue;
        }
        rf_bursts_feed(bursts, &tuple, 1);
        told[tuple.a]++;
        if (over) {
            rf_bursts_end(bursts, 1);
            rf_bursts_skip(bursts, 0, 1);
        }
    }
    rf_bursts_end(bursts, 1);
}

static struct rf_profile *profile_of(const uint64_t told[ITEMS])
{
    struct rf_profiler *profiler;
    struct rf_profile *profile = NULL;
    if (rf_profiler_open(&profiler, "exact", NULL, NULL) != RF_OK)
        return NULL;
    for (unsigned i = 0; i < ITEMS; i++) {
        const struct rf_tuple tuple = {i, 0};
        rf_profiler_feed(profiler, &(struct rf_tuples){&tuple, &told[i], told[i] > 0}, NULL);
    }
    rf_profiler_profile(profiler, &profile, NULL);
    rf_profiler_close(profiler);
    return profile;
}

static bool holds(const struct rf_profile *profile, unsigned item, uint64_t truth)
{
    for (size_t i = 0; i < profile->n_items; i++)
        if (profile->items[i].a == item)
            return profile->items[i].lower <= truth && truth <= profile->items[i].upper;
    return truth <= profile->absent_upper;
}

static void try_once(struct sampler *sampler, unsigned period, unsigned held[ITEMS])
{
    uint64_t truth[ITEMS] = {0}, told[ITEMS];
    struct rf_bursts *bursts;
    for (unsigned i = 0; i < INTERVALS; i++)
        truth[item_of(i, period)]++;
    REQUIRE(rf_bursts_open(&bursts, NULL) == RF_OK);
    run(sampler, period, bursts, told);
    struct rf_profile *profile = profile_of(told);
    REQUIRE(profile != NULL && rf_bursts_scale(bursts, profile) == RF_OK);
    CHECK_EQ(profile->consumed, INTERVALS);
    for (unsigned i = 0; i < ITEMS; i++)
        held[i] += holds(profile, i, truth[i]);
    rf_profile_free(profile);
    rf_bursts_close(bursts);
}

enum how { PROBE, CORE, CORE_EQUAL };

static void set_up(struct sampler *sampler, enum how how, uint64_t seed)
{
    static const struct rf_dise_sizes sizes = {32, 2048, 16, 8, 32, 16};
    char text[64];
    rf_random_seed(&sampler->random, seed);
    arm(sampler);
    if (how == PROBE)
        return;
    snprintf(text, sizeof text, "sampleFreq=max%c%u", how == CORE ? '~' : '-',
             (unsigned)sampler->sparsity);
    REQUIRE(rf_dise_assign(&program, text, NULL, NULL) == RF_OK);
    snprintf(text, sizeof text, "burstLength=max-%u", (unsigned)sampler->burst - 1);
    REQUIRE(rf_dise_assign(&program, text, NULL, NULL) == RF_OK);
    sampler->call = rf_insn_decode(CALL);
    REQUIRE(rf_dise_open(&sampler->engine, &program, &sizes, sampler->registers, NULL, NULL) ==
            RF_OK);
    rf_dise_draw(sampler->engine, seed, 0);
}

/* How often the bounds of the item that fares worst hold. */
static unsigned worst(enum how how, unsigned burst, unsigned sparsity, unsigned period)
{
    unsigned held[ITEMS] = {0}, least = TRIALS;
    uint64_t seed = test_seed(13);
    for (unsigned i = 0; i < TRIALS; i++) {
        struct sampler sampler = {.burst = burst, .sparsity = sparsity};
        set_up(&sampler, how, seed * 100000 + i);
        try_once(&sampler, period, held);
        rf_dise_close(sampler.engine);
    }
    for (unsigned i = 0; i < ITEMS; i++)
        least = held[i] < least ? held[i] : least;
    return least;
}

static void read_framework(void)
{
    memset(&program, 0, sizeof program);
    REQUIRE(rf_dise_read(&program, PRODUCTIONS "/hot-call-pair.hps", NULL) == RF_OK);
}

TEST(random_distances_hold_what_they_promise)
{
    static const struct {
        unsigned burst, sparsity, period;
    } rows[] = {
        {1, 9, 2},    {1, 9, 3},   {1, 9, 10},    {1, 9, 15},    {1, 9, 20},   {1, 9, 100},
        {1, 1, 2},    {1, 1, 3},   {1, 19, 33},   {1, 99, 100},  {1, 99, 166}, {10, 90, 3},
        {10, 90, 21}, {10, 30, 3}, {10, 90, 100}, {10, 90, 158}, {10, 30, 19},
    };
    read_framework();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (enum how how = PROBE; how <= CORE; how++) {
            unsigned held = worst(how, rows[i].burst, rows[i].sparsity, rows[i].period);
            printf("# %s, bursts of %u, about %u apart, a loop of %u: %u of %u\n",
                   how == PROBE ? "probe" : "core", rows[i].burst, rows[i].sparsity, rows[i].period,
                   held, (unsigned)TRIALS);
            CHECK(held >= LEAST);
        }
}

/* So the report warns of them. */
TEST(long_bursts_close_to_each_other_beat_with_a_loop)
{
    read_framework();
    CHECK(worst(PROBE, 100, 10, 110) < TRIALS / 2);
    CHECK(worst(CORE, 100, 10, 110) < TRIALS / 2);
}

TEST(equal_distances_beat_with_a_loop)
{
    read_framework();
    CHECK_EQ(worst(CORE_EQUAL, 1, 99, 100), 0);
    CHECK_EQ(worst(CORE_EQUAL, 1, 9, 2), 0);
}

TEST_MAIN()
