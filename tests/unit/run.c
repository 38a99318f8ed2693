/* Which profile of a run has another one's totals. */
#include "test.h"
#include <riffle/profile.h>

static struct rf_figure first_process[] = {{"process", 1}}, second_process[] = {{"process", 2}};
static struct rf_figure companion[] = {{"messages", 3}, {RF_FIGURE_COMPANION, 1}};

enum { VALUES, ZEROS, TOTALS, ZERO_TOTALS, BOUNDED, OF_ANOTHER_PROCESS, BARE, STRANGE, N };

static const struct rf_profile profiles[N] = {
    [VALUES] = {.selector = (char *)"load -> pc,value", .bound = RF_BOUND_HARD},
    [ZEROS] = {.selector = (char *)"load value==0 -> pc,addr"},
    [OF_ANOTHER_PROCESS] = {.selector = (char *)"load -> pc",
                            .figures = second_process,
                            .n_figures = 1},
    [BOUNDED] = {.selector = (char *)"load -> pc", .bound = RF_BOUND_HARD},
    [TOTALS] = {.selector = (char *)"load -> pc", .figures = companion, .n_figures = 2},
    [ZERO_TOTALS] = {.selector = (char *)"load value==0 -> pc"},
    [BARE] = {.selector = (char *)""},
    [STRANGE] = {.selector = (char *)"from another version"},
};

static struct rf_run whole(struct rf_profile copies[N], struct rf_profile *list[N])
{
    for (size_t i = 0; i < N; i++) {
        copies[i] = profiles[i];
        list[i] = &copies[i];
    }
    return (struct rf_run){.profiles = list, .n_profiles = N};
}

TEST(totals_have_the_same_classes_and_conditions)
{
    struct rf_profile copies[N], *list[N];
    const struct rf_run run = whole(copies, list);
    CHECK(rf_run_totals(&run, list[VALUES]) == list[TOTALS]);
    CHECK(rf_run_totals(&run, list[BOUNDED]) == list[TOTALS]);
    CHECK(rf_run_totals(&run, list[ZEROS]) == list[ZERO_TOTALS]);
    CHECK(rf_run_totals(&run, list[TOTALS]) == NULL);
    CHECK(rf_run_totals(&run, list[BARE]) == NULL);
    CHECK(rf_run_totals(&run, list[STRANGE]) == NULL);
}

TEST(totals_are_of_the_same_process)
{
    struct rf_profile copies[N], *list[N];
    const struct rf_run run = whole(copies, list);
    copies[VALUES].figures = second_process;
    copies[VALUES].n_figures = 1;
    CHECK(rf_run_totals(&run, list[VALUES]) == list[OF_ANOTHER_PROCESS]);
    copies[VALUES].figures = first_process;
    CHECK(rf_run_totals(&run, list[VALUES]) == NULL);
}

TEST(a_companion_says_so)
{
    CHECK(rf_profile_is_companion(&profiles[TOTALS]));
    CHECK(!rf_profile_is_companion(&profiles[VALUES]));
    CHECK_EQ(rf_profile_figure(&profiles[TOTALS], "messages", 0), 3);
    CHECK_EQ(rf_profile_figure(&profiles[TOTALS], "interrupts", 7), 7);
}

TEST_MAIN()
