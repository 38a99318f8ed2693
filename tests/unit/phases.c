/* The detector of phases: which windows are new, by hand. */
#include "base/phases.h"
#include "base/random.h"
#include "test.h"

enum { WINDOW = 64, SETTLE = 4 };

/* A window of bursts of one interval each, which end at these places by turns. */
static void run_window(struct rf_phases *phases, uint64_t first, unsigned places)
{
    for (unsigned i = 0; i < WINDOW; i++) {
        rf_phases_interval(phases, rf_phases_bucket(first + 4 * (i % places)));
        rf_phases_burst(phases);
    }
}

static struct rf_phases begin(void)
{
    struct rf_phases phases;
    rf_phases_begin(&phases, &(struct rf_phases_setup){0});
    return phases;
}

TEST(a_loop_is_new_for_four_windows)
{
    struct rf_phases phases = begin();
    CHECK(rf_phases_is_new(&phases));
    for (unsigned i = 1; i <= 10; i++) {
        run_window(&phases, 0x1000, 3);
        CHECK_EQ(rf_phases_is_new(&phases) != 0, i < SETTLE);
        CHECK_EQ(phases.windows, i);
    }
    CHECK_EQ(phases.found, 1);
}

TEST(another_loop_is_new_and_the_first_one_is_remembered)
{
    struct rf_phases phases = begin();
    for (unsigned i = 0; i < SETTLE; i++)
        run_window(&phases, 0x1000, 2);
    run_window(&phases, 0x2000, 3);
    CHECK(rf_phases_is_new(&phases));
    CHECK_EQ(phases.found, 2);
    run_window(&phases, 0x1000, 2);
    CHECK(!rf_phases_is_new(&phases));
    CHECK_EQ(phases.found, 2);
    CHECK_EQ(phases.changes, 3);
    for (unsigned i = 0; i < SETTLE; i++)
        run_window(&phases, 0x2000, 3);
    CHECK(!rf_phases_is_new(&phases));
}

/* Windows of the same loops differ by chance, the more loops there are. */
TEST(chance_is_no_phase)
{
    struct rf_random random;
    for (unsigned places = 1; places <= 64; places *= 2) {
        struct rf_phases phases = begin();
        rf_random_seed(&random, test_seed(places));
        for (unsigned i = 0; i < 200 * WINDOW; i++) {
            rf_phases_interval(&phases, rf_phases_bucket(4 * rf_random_below(&random, places)));
            rf_phases_burst(&phases);
        }
        CHECK_EQ(phases.windows, 200);
        CHECK_EQ(phases.found, 1);
    }
}

TEST(a_window_has_enough_bursts)
{
    struct rf_phases phases = begin();
    for (unsigned i = 0; i < 15; i++) {
        for (unsigned k = 0; k < 100; k++)
            rf_phases_interval(&phases, 7);
        rf_phases_burst(&phases);
    }
    CHECK_EQ(phases.windows, 0);
    rf_phases_burst(&phases);
    CHECK_EQ(phases.windows, 1);
}

TEST(of_many_phases_the_last_ones_are_known)
{
    struct rf_phases phases = begin();
    for (unsigned round = 0; round < 2; round++)
        for (uint32_t i = 0; i < RF_PHASES_BUCKETS; i++)
            for (unsigned k = 0; k < WINDOW; k++) {
                rf_phases_interval(&phases, i);
                rf_phases_burst(&phases);
            }
    CHECK_EQ(phases.found, 2 * RF_PHASES_BUCKETS);
    CHECK_EQ(rf_phases_known(&phases), RF_PHASES_KNOWN);
    for (uint32_t i = RF_PHASES_BUCKETS - RF_PHASES_KNOWN; i < RF_PHASES_BUCKETS; i++)
        for (unsigned k = 0; k < WINDOW; k++) {
            rf_phases_interval(&phases, i);
            rf_phases_burst(&phases);
        }
    CHECK_EQ(phases.found, 2 * RF_PHASES_BUCKETS);
}

TEST(square_roots)
{
    CHECK_EQ(rf_phases_root(0), 0);
    CHECK_EQ(rf_phases_root(24), 4);
    CHECK_EQ(rf_phases_root(25), 5);
    CHECK_EQ(rf_phases_root(UINT64_MAX), UINT32_MAX);
}

TEST_MAIN()
