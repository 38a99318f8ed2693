/* Estimates from bursts: an item's interval contains the true count as often as it promises, in 1000 trials per case.
 *
 * The program has loops: one runs for hundreds of intervals, then another. So the events of a burst are alike, and an
 * interval that takes them for independent is far too narrow: one case shows that. If the frequency depends on the last
 * burst, bursts need weights: another case shows the error without them. */
#include "profile/bursts.h"
#include "profile/file.h"
#include "base/phases.h"
#include "base/random.h"
#include "base/spread.h"
#include "test.h"
#include <math.h>
#include <stdbool.h>
#include <riffle/profiler.h>

enum { INTERVALS = 200000, EACH = 4, ITEMS = 8, LOOPS = 5, TRIALS = 1000 };

/* Events of interval i: program[i][0 .. sizes[i] - 1]. */
static uint8_t program[INTERVALS][EACH], sizes[INTERVALS], loops[INTERVALS];
static uint64_t truth[ITEMS], all;

/* The item of the k-th event of a loop: mostly the loop's own item, sometimes any item. Item 7 is rare everywhere. */
static uint8_t draw_item(struct rf_random *random, unsigned loop, unsigned k)
{
    uint64_t chance = rf_random_below(random, 1000);
    if (chance < 2)
        return 7;
    return chance < 100 ? (uint8_t)rf_random_below(random, 7) : (uint8_t)((loop + k) % 6);
}

/* The program has `phases` equal parts. In each part two loops run, in each part other ones. 1: all loops run. */
static unsigned draw_loop(struct rf_random *random, size_t i, unsigned phases)
{
    if (phases == 1)
        return (unsigned)rf_random_below(random, LOOPS);
    return ((unsigned)(i * phases / INTERVALS) + (unsigned)rf_random_below(random, 2)) % LOOPS;
}

static void make_program(uint64_t seed, unsigned phases)
{
    struct rf_random random;
    rf_random_seed(&random, seed);
    memset(truth, 0, sizeof truth);
    all = 0;
    for (size_t i = 0, left = 0, loop = 0; i < INTERVALS; i++, left--) {
        if (left == 0) {
            left = 1 + rf_random_below(&random, 600);
            loop = draw_loop(&random, i, phases);
        }
        loops[i] = (uint8_t)loop;
        sizes[i] = (uint8_t)(loop % EACH + rf_random_below(&random, 2));
        for (unsigned k = 0; k < sizes[i]; k++) {
            program[i][k] = draw_item(&random, (unsigned)loop, k);
            truth[program[i][k]]++;
        }
        all += sizes[i];
    }
}

struct sampled {
    uint64_t told[ITEMS];
    uint64_t n;
};

static struct rf_tuple tuple_of(unsigned item)
{
    return (struct rf_tuple){0x400000 + item * 16, item};
}

static void feed_interval(struct rf_bursts *bursts, struct sampled *sampled, size_t i)
{
    struct rf_tuple tuples[EACH];
    for (unsigned k = 0; k < sizes[i]; k++) {
        tuples[k] = tuple_of(program[i][k]);
        sampled->told[program[i][k]]++;
    }
    rf_bursts_feed(bursts, tuples, sizes[i]);
    sampled->n += sizes[i];
}

/* What makes bursts come more often. */
enum reason {
    NEVER,
    LAST_BURST, /* the one before had much of item 3 */
    PHASE,      /* what the program does is new; the program has phases */
};

struct sampling {
    uint64_t burst, sparsity;
    enum reason reason;
    uint64_t times;  /* this many times as often */
    bool unweighted; /* bursts carry no weight */
};

/* Was item 3 a third of the last burst's events? `before` is the sum up to that burst. */
static bool is_marked(const struct sampled *sampled, const struct sampled *before)
{
    return 3 * (sampled->told[3] - before->told[3]) > sampled->n - before->n;
}

static uint64_t next_sparsity(const struct sampling *how, const struct rf_phases *phases,
                              bool marked)
{
    bool often =
        how->reason == PHASE ? rf_phases_is_new(phases) != 0 : how->reason == LAST_BURST && marked;
    return often ? how->sparsity / how->times : how->sparsity;
}

static void sample_burst(struct rf_bursts *bursts, struct sampled *sampled,
                         struct rf_phases *phases, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) {
        feed_interval(bursts, sampled, i);
        rf_phases_interval(phases, rf_phases_bucket(loops[i] * 64));
    }
    rf_phases_burst(phases);
}

/* One run of the program, bursts at random distances as the probe has them. */
static void run(struct rf_bursts *bursts, struct sampled *sampled, const struct sampling *how,
                struct rf_random *random)
{
    struct rf_phases phases;
    bool marked = false;
    rf_phases_begin(&phases, &(struct rf_phases_setup){.intervals = 32});
    memset(sampled, 0, sizeof *sampled);
    for (size_t i = 0; i < INTERVALS;) {
        const struct sampled before = *sampled;
        uint64_t sparsity = next_sparsity(how, &phases, marked), skipped = 0;
        for (uint64_t left = rf_spread(rf_random_next(random), sparsity, INTERVALS);
             left > 0 && i < INTERVALS; left--)
            skipped += sizes[i++];
        size_t to = how->burst < INTERVALS - i ? i + how->burst : INTERVALS;
        sample_burst(bursts, sampled, &phases, i, to);
        rf_bursts_end(bursts, how->unweighted ? 1 : 1 + (double)sparsity / (double)how->burst);
        rf_bursts_skip(bursts, skipped, 1);
        marked = is_marked(sampled, &before);
        i = to;
    }
}

/* A profile of what was told, as an exact engine has it. */
static rf_status make_profile(struct rf_profile **profile, const struct sampled *sampled)
{
    struct rf_profiler *profiler;
    struct rf_error error;
    rf_status status = rf_profiler_open(&profiler, "exact", NULL, &error);
    for (unsigned item = 0; status == RF_OK && item < ITEMS; item++) {
        struct rf_tuple tuple = tuple_of(item);
        const struct rf_tuples one = {&tuple, &sampled->told[item], sampled->told[item] > 0};
        status = rf_profiler_feed(profiler, &one, &error);
    }
    if (status == RF_OK)
        status = rf_profiler_profile(profiler, profile, &error);
    rf_profiler_close(profiler);
    return status;
}

static bool holds(const struct rf_profile *profile, unsigned item)
{
    for (size_t i = 0; i < profile->n_items; i++)
        if (profile->items[i].b == item)
            return profile->items[i].lower <= truth[item] && truth[item] <= profile->items[i].upper;
    return truth[item] <= profile->absent_upper;
}

/* The same, but as if events were independent. */
static bool holds_naively(const struct sampled *sampled, unsigned item)
{
    double p = (double)sampled->told[item] / (double)sampled->n;
    double half = 1.96 * sqrt(p * (1 - p) / (double)sampled->n);
    return fabs((double)truth[item] / (double)all - p) <= half;
}

struct tally {
    unsigned held[ITEMS], naively[ITEMS];
};

static bool try_once(struct tally *tally, const struct sampling *how, struct rf_random *random)
{
    struct rf_bursts *bursts;
    struct rf_profile *profile = NULL;
    struct sampled sampled;
    if (rf_bursts_open(&bursts, NULL) != RF_OK)
        return false;
    run(bursts, &sampled, how, random);
    rf_status status = make_profile(&profile, &sampled);
    if (status == RF_OK)
        status = rf_bursts_scale(bursts, profile);
    for (unsigned item = 0; status == RF_OK && item < ITEMS; item++) {
        tally->held[item] += holds(profile, item);
        tally->naively[item] += holds_naively(&sampled, item);
    }
    bool good = status == RF_OK && profile->produced == all && profile->consumed == all;
    rf_profile_free(profile);
    rf_bursts_close(bursts);
    return good;
}

static unsigned least(const unsigned *held)
{
    unsigned found = TRIALS;
    for (unsigned item = 0; item < ITEMS; item++)
        found = held[item] < found ? held[item] : found;
    return found;
}

/* Three standard deviations of 1000 trials below what is promised. */
enum { LEAST = 950 - 21 };

static void try_often(struct tally *tally, const struct sampling *how)
{
    struct rf_random random;
    uint64_t seed = test_seed(1);
    make_program(seed, how->reason == PHASE ? 8 : 1);
    rf_random_seed(&random, seed + 1);
    memset(tally, 0, sizeof *tally);
    for (unsigned i = 0; i < TRIALS; i++)
        REQUIRE(try_once(tally, how, &random));
}

static void check_coverage(struct tally *tally, const struct sampling *how)
{
    try_often(tally, how);
    for (unsigned item = 0; item < ITEMS; item++) {
        if (tally->held[item] < LEAST)
            printf("# burst %u, item %u: %u of %u\n", (unsigned)how->burst, item, tally->held[item],
                   (unsigned)TRIALS);
        CHECK(tally->held[item] >= LEAST);
    }
}

TEST(bursts_of_one_interval)
{
    struct tally tally;
    check_coverage(&tally, &(struct sampling){1, 99, NEVER, 1, false});
}

TEST(bursts_of_ten_intervals)
{
    struct tally tally;
    check_coverage(&tally, &(struct sampling){10, 990, NEVER, 1, false});
}

TEST(bursts_of_a_hundred_intervals)
{
    struct tally tally;
    check_coverage(&tally, &(struct sampling){100, 1900, NEVER, 1, false});
}

TEST(events_of_a_burst_are_not_independent)
{
    struct tally tally;
    check_coverage(&tally, &(struct sampling){100, 1900, NEVER, 1, false});
    CHECK(least(tally.naively) < TRIALS / 2);
}

/* After some bursts the next one comes ten times as soon. */
TEST(the_frequency_follows_the_program)
{
    struct tally tally;
    check_coverage(&tally, &(struct sampling){1, 199, LAST_BURST, 10, false});
    check_coverage(&tally, &(struct sampling){10, 1990, LAST_BURST, 10, false});
}

TEST(the_frequency_follows_phases)
{
    struct tally tally;
    check_coverage(&tally, &(struct sampling){1, 199, PHASE, 10, false});
    check_coverage(&tally, &(struct sampling){10, 990, PHASE, 10, false});
}

TEST(without_weights_what_is_sampled_often_is_too_much)
{
    struct tally tally;
    try_often(&tally, &(struct sampling){1, 199, LAST_BURST, 10, true});
    CHECK(least(tally.held) < TRIALS / 2);
}

TEST(nothing_skipped_leaves_counts_alone)
{
    struct rf_bursts *bursts;
    struct rf_profile *profile;
    struct sampled sampled = {.told = {5, 3}, .n = 8};
    REQUIRE(rf_bursts_open(&bursts, NULL) == RF_OK);
    for (unsigned i = 0; i < 8; i++) {
        struct rf_tuple tuple = tuple_of(i < 5 ? 0 : 1);
        rf_bursts_feed(bursts, &tuple, 1);
        rf_bursts_end(bursts, 1);
    }
    rf_bursts_skip(bursts, 0, 8);
    REQUIRE(make_profile(&profile, &sampled) == RF_OK);
    CHECK(rf_bursts_scale(bursts, profile) == RF_OK);
    CHECK_EQ(profile->bound, RF_BOUND_EXACT);
    CHECK_EQ(profile->consumed, 8);
    CHECK_EQ(profile->items[0].count, 5);
    CHECK_EQ(profile->items[0].upper, 5);
    CHECK_EQ(profile->n_figures, 4);
    rf_profile_free(profile);
    rf_bursts_close(bursts);
}

/* Bursts of ten events, each of one item alone: ten events are worth one. */
static bool sample_uncounted(uint64_t seed, double share, unsigned n)
{
    struct rf_random random;
    struct rf_bursts *bursts;
    struct rf_profile *profile;
    struct sampled sampled = {.n = 10 * n};
    rf_random_seed(&random, seed);
    if (rf_bursts_open(&bursts, NULL) != RF_OK)
        return false;
    rf_bursts_uncounted(bursts);
    for (unsigned i = 0; i < n; i++) {
        unsigned item = rf_random_unit(&random) < share ? 0 : 1;
        struct rf_tuple tuple = tuple_of(item);
        for (unsigned k = 0; k < 10; k++)
            rf_bursts_feed(bursts, &tuple, 1);
        rf_bursts_end(bursts, 1);
        sampled.told[item] += 10;
    }
    rf_bursts_skip(bursts, 0, n);
    bool good =
        make_profile(&profile, &sampled) == RF_OK && rf_bursts_scale(bursts, profile) == RF_OK;
    CHECK(good && rf_profile_contradiction(profile) == NULL);
    CHECK_EQ(profile->bound, RF_BOUND_CONFIDENCE);
    CHECK_EQ(profile->consumed, 10 * n);
    CHECK(rf_profile_figure(profile, "clusters", 0) == n);
    bool held = false;
    for (size_t i = 0; i < profile->n_items; i++) {
        const struct rf_item *item = &profile->items[i];
        CHECK_EQ(item->count, sampled.told[item->a == tuple_of(0).a ? 0 : 1]);
        if (item->a == tuple_of(0).a && item->b == tuple_of(0).b)
            held = (double)item->lower <= share * 10 * n && share * 10 * n <= (double)item->upper;
    }
    rf_profile_free(profile);
    rf_bursts_close(bursts);
    return held;
}

TEST(what_is_skipped_need_not_be_counted)
{
    enum { TRIES = 1000 };
    uint64_t seed = test_seed(1);
    unsigned held = 0;
    for (unsigned i = 0; i < TRIES; i++)
        held += sample_uncounted(seed + i, 0.3, 80);
    printf("# %u of %d\n", held, TRIES);
    CHECK(held > TRIES * 93 / 100 && held < TRIES * 99 / 100);
}

TEST(a_program_that_lies_breaks_no_sum)
{
    struct rf_bursts *bursts;
    struct rf_profile *profile;
    struct sampled sampled = {.told = {5}, .n = 5};
    REQUIRE(rf_bursts_open(&bursts, NULL) == RF_OK);
    struct rf_tuple tuple = tuple_of(0);
    rf_bursts_feed(bursts, &tuple, 1);
    rf_bursts_end(bursts, 1);
    rf_bursts_skip(bursts, UINT64_MAX, UINT64_MAX);
    rf_bursts_skip(bursts, UINT64_MAX, UINT64_MAX);
    REQUIRE(make_profile(&profile, &sampled) == RF_OK);
    CHECK(rf_bursts_scale(bursts, profile) == RF_OK);
    CHECK(rf_profile_contradiction(profile) == NULL);
    rf_profile_free(profile);
    rf_bursts_close(bursts);
}

TEST_MAIN()
