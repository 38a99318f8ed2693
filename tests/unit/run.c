/* Which profile of a run has another one's totals; how a run grows. */
#include "failing.h"
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

/* A module and a note have two texts each; the arrays of both double about ten times. */
TEST(many_modules_and_notes_take_few_allocations)
{
    enum { MANY = 1000, TEXTS = 4 * MANY, ARRAYS = 20 };
    struct failing failing = {.fail_at = 0};
    const struct rf_alloc alloc = failing_alloc(&failing);
    const struct rf_module module = {(char *)"/bin/a", (char *)"aa", 0, 10, 20, 0, 0, 0};
    struct rf_run *run;
    REQUIRE(rf_run_new(&run, "x", &alloc) == RF_OK);
    failing.allocations = 0;
    for (int i = 0; i < MANY; i++) {
        REQUIRE(rf_run_add_module(run, &module) == RF_OK);
        REQUIRE(rf_run_add_note(run, "name", "text") == RF_OK);
    }
    CHECK(failing.allocations <= TEXTS + ARRAYS);
    CHECK_EQ(run->n_modules, MANY);
    CHECK_TEXT(run->notes[MANY - 1].text, "text");
    rf_run_free(run);
    CHECK_EQ(failing.held, 0);
    CHECK_EQ(failing.mistakes, 0);
}

TEST(notes_of_one_name_are_dropped_together)
{
    struct rf_run *run;
    REQUIRE(rf_run_new(&run, "x", NULL) == RF_OK);
    for (const char *const *name = (const char *const[]){"a", "b", "a", "c", NULL}; *name; name++)
        REQUIRE(rf_run_add_note(run, *name, *name) == RF_OK);
    rf_run_drop_notes(run, "a");
    rf_run_drop_notes(run, "nothing");
    REQUIRE(run->n_notes == 2);
    CHECK_TEXT(run->notes[0].text, "b");
    CHECK_TEXT(run->notes[1].text, "c");
    CHECK(rf_run_add_note(run, "d", "d") == RF_OK && run->n_notes == 3);
    rf_run_free(run);
}

TEST_MAIN()
