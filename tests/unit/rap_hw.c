/* rap as hardware: what its parts cost, and what small streams leave in it. */
#include "engine/rap/clock.h"
#include "test.h"
#include <math.h>
#include <riffle/engine.h>
#include <riffle/profiler.h>
#include <riffle/rap.h>

static int is_near(double found, double wanted)
{
    return fabs(found - wanted) < 1e-9;
}

static void check_part(const struct rf_rap_part *part, const char *name, double area, double delay,
                       double energy)
{
    CHECK_TEXT(part->name, name);
    CHECK_ROW(name, is_near(part->area_mm2, area));
    CHECK_ROW(name, is_near(part->delay_ns, delay));
    CHECK_ROW(name, is_near(part->energy_nj, energy));
}

TEST(the_size_of_the_paper_costs_what_the_paper_says)
{
    struct rf_rap_cost cost;
    memset(&cost, 0x7f, sizeof cost);
    rf_rap_cost(&cost, 4096, 36, 32);
    check_part(&cost.parts[0], "TCAM", 19.32, 7, 0.426);
    check_part(&cost.parts[1], "priority arbiter", 0.3, 1.16, 0.063);
    check_part(&cost.parts[2], "counter SRAM", 3.17, 1.26, 0.54);
    check_part(&cost.parts[3], "comparator", 0.00034, 0.572, 0.0016);
    check_part(&cost.parts[4], "registers", 0.0106, 0.164, 0.002828);
    CHECK(is_near(cost.area_mm2, 24.73));
    CHECK(is_near(cost.energy_nj, 1.272));
    CHECK(is_near(cost.delay_ns, 7));
}

/* Four times the lines, twice the key and the counter: bits, sides and logarithms each scale as cost.c says. */
TEST(other_sizes_are_scaled)
{
    struct rf_rap_cost cost;
    memset(&cost, 0x7f, sizeof cost);
    rf_rap_cost(&cost, 16384, 72, 64);
    check_part(&cost.parts[0], "TCAM", 8 * 19.32, sqrt(8) * 7, 8 * 0.426);
    check_part(&cost.parts[1], "priority arbiter", 4 * 0.3, 1.16 * 14 / 12, 4 * 0.063);
    check_part(&cost.parts[2], "counter SRAM", 8 * 3.17, sqrt(8) * 1.26, sqrt(8) * 0.54);
    check_part(&cost.parts[3], "comparator", 2 * 0.00034, 0.572 * 6 / 5, 2 * 0.0016);
    double parts = 8 * 19.32 + 4 * 0.3 + 8 * 3.17 + 2 * 0.00034 + 0.0106;
    double side = sqrt(parts / 22.80094);
    check_part(&cost.parts[5], "buses", 1.92906 * side, 0, 0.238572 * side);
    CHECK(is_near(cost.area_mm2, parts + 1.92906 * side));
    CHECK(is_near(cost.delay_ns, sqrt(8) * 7));
    rf_rap_cost(&cost, 6144, 36, 48); /* between powers of two logarithms are lines */
    CHECK(is_near(cost.parts[1].delay_ns, 1.16 * 12.5 / 12));
    CHECK(is_near(cost.parts[3].delay_ns, 0.572 * 5.5 / 5));
    rf_rap_cost(&cost, 64, 36, 32); /* smaller than the paper's */
    CHECK(is_near(cost.parts[0].delay_ns, 7.0 / 8));
}

static struct rf_profile *profile_of(const struct rf_tuple *tuples, size_t n)
{
    struct rf_profiler *profiler;
    struct rf_profile *profile = NULL;
    if (rf_profiler_open(&profiler, "rap-hw(eps=20%, tcam=512)", NULL, NULL) != RF_OK)
        abort();
    CHECK_EQ(rf_profiler_feed(profiler, &(struct rf_tuples){tuples, NULL, n}, NULL), RF_OK);
    CHECK_EQ(rf_profiler_profile(profiler, &profile, NULL), RF_OK);
    rf_profiler_close(profiler);
    return profile;
}

static double figure_of(const struct rf_profile *profile, const char *name)
{
    for (size_t i = 0; i < profile->n_figures; i++)
        if (strcmp(profile->figures[i].name, name) == 0)
            return profile->figures[i].value;
    return -1;
}

TEST(one_event_is_one_item)
{
    const struct rf_tuple one = {7, 7};
    struct rf_profile *profile = profile_of(&one, 1);
    REQUIRE(profile != NULL);
    CHECK_EQ(profile->n_items, 1);
    CHECK_EQ(profile->items[0].count, 1);
    CHECK_EQ((int64_t)figure_of(profile, "queue-max"), 1);
    rf_profile_free(profile);
}

/* A free entry looks like the range of the value 0 alone: nothing of it may be told. */
TEST(counts_of_all_ranges_add_up)
{
    enum { N = 3000 };
    static struct rf_tuple zeros[N];
    struct rf_profile *profile = profile_of(zeros, N);
    uint64_t sum = 0;
    REQUIRE(profile != NULL);
    for (size_t i = 0; i < profile->n_items; i++)
        sum += profile->items[i].count;
    CHECK_EQ(sum, N);
    CHECK(profile->items[0].a == 0 && profile->items[0].a_hi == 0);
    for (size_t i = 1; i < profile->n_items; i++)
        CHECK(profile->items[i].a_hi != profile->items[i - 1].a_hi);
    CHECK(figure_of(profile, "splits") > 0);
    rf_profile_free(profile);
}

enum { PLACES = 5, BEFORE = 12, RUN = 60 };

/* The same events, one by one or as a run; some of those before it make the pipeline wait. */
static struct rf_rap_clock clock_after(uint64_t *left_at, unsigned setup, bool one_by_one)
{
    struct rf_rap_clock clock = {.queue = 1 + setup % PLACES,
                                 .arrival = setup / PLACES % 7,
                                 .pipelined = setup / PLACES / 7 % 2 == 0,
                                 .left_at = left_at};
    for (uint64_t i = 0; i < BEFORE; i++)
        rf_rap_clock_tick(
            &clock, i,
            (struct rf_rap_stall){i % 5 == setup % 11 ? setup % 40 : 0, i == setup % 13});
    for (uint64_t i = 0; one_by_one && i < RUN; i++)
        rf_rap_clock_tick(&clock, BEFORE + i, (struct rf_rap_stall){0, 0});
    if (!one_by_one)
        rf_rap_clock_run(&clock, BEFORE, RUN);
    return clock;
}

TEST(a_run_of_events_takes_the_time_of_each)
{
    for (unsigned setup = 0; setup < 2 * 7 * PLACES * 40; setup++) {
        uint64_t left_at[2][PLACES] = {{0}};
        struct rf_rap_clock x = clock_after(left_at[0], setup, true);
        struct rf_rap_clock y = clock_after(left_at[1], setup, false);
        CHECK_EQ(x.overflow, y.overflow);
        CHECK_EQ(x.tail, y.tail);
        CHECK_EQ(x.deepest, y.deepest);
        CHECK(x.waited == y.waited);
        CHECK_EQ(x.finished, y.finished + (uint64_t)y.skipped);
    }
}

/* An event is matched in the cycle after it came, and takes two cycles there and two at its counter. */
TEST(the_first_events_by_hand)
{
    uint64_t left_at[2] = {0};
    struct rf_rap_clock clock = {.queue = 2, .arrival = 4, .left_at = left_at};
    rf_rap_clock_tick(&clock, 0, (struct rf_rap_stall){0, 0});
    CHECK_EQ(clock.arrived, 0);
    CHECK_EQ(clock.finished, 5);
    rf_rap_clock_tick(&clock, 1, (struct rf_rap_stall){0, 0});
    CHECK_EQ(clock.arrived, 4);
    CHECK_EQ(clock.finished, 9);
    rf_rap_clock_tick(&clock, 2, (struct rf_rap_stall){10, 0});
    CHECK_EQ(clock.arrived, 8);
    CHECK_EQ(clock.finished, 23);
}

/* A line has a prefix, its mask and a counter of 32 bits; a place of the queue has a value. */
TEST(bits_of_hardware)
{
    struct rf_engine *engine;
    REQUIRE(rf_engine_open(&engine, "rap-hw(bits=36, tcam=512, queue=16)", NULL, NULL) == RF_OK);
    CHECK_EQ(rf_engine_bits(engine), 512 * (36 + 36 + 32) + 16 * 36);
    rf_engine_close(engine);
}

TEST_MAIN()
