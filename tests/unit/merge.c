/* Merged runs: whose profiles go with whose, what becomes of figures, which builds are the same. */
#include "base/alloc.h"
#include "profile/profile.h"
#include "test.h"
#include <float.h>
#include <stdbool.h>
#include <stdlib.h>

enum { EVENTS = 7 };

static struct rf_profile *new_profile(const char *selector)
{
    struct rf_profile *profile = rf_profile_new(rf_alloc_or_standard(NULL));
    if (profile == NULL || !rf_profile_set_text(&profile->alloc, &profile->selector, selector) ||
        !rf_profile_set_text(&profile->alloc, &profile->engine, "exact"))
        abort();
    profile->consumed = profile->produced = EVENTS;
    return profile;
}

/* Two profiles of different selectors. */
static struct rf_run *new_run(void)
{
    struct rf_run *run;
    if (rf_run_new(&run, "x", NULL) != RF_OK ||
        rf_run_add_profile(run, new_profile("load -> pc,value")) != RF_OK ||
        rf_run_add_profile(run, new_profile("call -> pc,target")) != RF_OK)
        abort();
    return run;
}

/* Addresses of two builds do not mean the same. */
static const struct {
    const char *label;
    struct rf_module here, there;
    const char *message;
} builds[] = {
    {"the same",
     {(char *)"/bin/a", (char *)"aa", 0, 10, 20, 0, 0, 0},
     {(char *)"/bin/a", (char *)"aa", 0, 10, 20, 0, 0, 0},
     ""},
    {"rebuilt",
     {(char *)"/bin/a", (char *)"0123456789abcdef", 0, 10, 20, 0, 0, 0},
     {(char *)"/bin/a", (char *)"fedcba9876543210", 0, 10, 20, 0, 0, 0},
     "/bin/a is of two builds, 0123456789ab and fedcba987654: their addresses cannot be "
     "compared"},
    {"another program",
     {(char *)"/bin/a", (char *)"aa", 0, 0x10, 0x20, 0, 0, 0},
     {(char *)"/bin/b", (char *)"bb", 0, 0x18, 0x30, 0, 0, 0},
     "at 0x18 there is /bin/a in one and /bin/b in the other: their addresses cannot be "
     "compared"},
    {"elsewhere",
     {(char *)"/bin/a", (char *)"aa", 0, 10, 20, 0, 0, 0},
     {(char *)"/bin/b", (char *)"bb", 0, 20, 30, 0, 0, 0},
     ""},
    {"unknown",
     {(char *)"/bin/a", (char *)"", 0, 10, 20, 0, 0, 0},
     {(char *)"/bin/a", (char *)"bb", 0, 10, 20, 0, 0, 0},
     ""},
    {"another program without build ids",
     {(char *)"/bin/a", (char *)"", 0, 0x10, 0x20, 0, 0, 0},
     {(char *)"/bin/b", (char *)"", 0, 0x18, 0x30, 0, 0, 0},
     "at 0x18 there is /bin/a in one and /bin/b in the other: their addresses cannot be "
     "compared"},
    {"another program, and one of them has a build id",
     {(char *)"/bin/a", (char *)"aa", 0, 0x10, 0x20, 0, 0, 0},
     {(char *)"/bin/b", (char *)"", 0, 0x18, 0x30, 0, 0, 0},
     "at 0x18 there is /bin/a in one and /bin/b in the other: their addresses cannot be "
     "compared"},
    {"no files",
     {(char *)"[heap]", (char *)"", 0, 0x10, 0x20, 0, 0, 0},
     {(char *)"[stack]", (char *)"", 0, 0x18, 0x30, 0, 0, 0},
     ""},
    {"the same file elsewhere",
     {(char *)"/lib/c", (char *)"cc", 0, 0x2000, 0x3000, 0x1000, 0, 0},
     {(char *)"/lib/c", (char *)"cc", 0, 0x2800, 0x3800, 0x1000, 0, 0},
     "/lib/c lies at 0x2000 in one and at 0x2800 in the other: their addresses cannot be "
     "compared"},
    {"parts of the same file",
     {(char *)"/lib/c", (char *)"cc", 0, 0x2000, 0x3000, 0x1000, 0, 0},
     {(char *)"/lib/c", (char *)"cc", 0, 0x2800, 0x3800, 0x1800, 0, 0},
     ""},
    {"another process",
     {(char *)"/bin/a", (char *)"aa", 1, 9, 20, 0, 0, 0},
     {(char *)"/bin/b", (char *)"b", 2, 9, 20, 0, 0, 0},
     ""},
};

TEST(different_builds_are_told_apart)
{
    for (size_t i = 0; i < sizeof builds / sizeof *builds; i++) {
        struct rf_module here = builds[i].here, there = builds[i].there;
        const struct rf_run run = {rf_alloc_standard, .modules = &here, .n_modules = 1};
        const struct rf_run other = {rf_alloc_standard, .modules = &there, .n_modules = 1};
        struct rf_error error = {""};
        rf_status status = rf_run_same_builds(&run, &other, &error);
        CHECK_ROW(builds[i].label, status == (builds[i].message[0] == '\0' ? RF_OK : RF_EINVAL));
        CHECK_TEXT(error.message, builds[i].message);
    }
}

/* The file without a build id is named, whichever run it is of. */
TEST(a_build_that_cannot_be_told_is_named)
{
    static struct rf_module here = {(char *)"/bin/a", (char *)"", 0, 10, 20, 0, 0, 0};
    static struct rf_module there = {(char *)"/bin/a", (char *)"bb", 0, 10, 20, 0, 0, 0};
    const struct rf_run run = {rf_alloc_standard, .modules = &here, .n_modules = 1};
    const struct rf_run other = {rf_alloc_standard, .modules = &there, .n_modules = 1};
    const char *found;
    REQUIRE(rf_run_unproven_build(&run, &other, &found) == RF_OK);
    CHECK(found == here.path);
    REQUIRE(rf_run_unproven_build(&other, &run, &found) == RF_OK);
    CHECK(found == here.path);
    REQUIRE(rf_run_unproven_build(&other, &other, &found) == RF_OK);
    CHECK(found == NULL);
}

TEST(figures_merge_by_what_they_mean)
{
    static const struct {
        const char *name;
        double x, y, merged;
    } rows[] = {
        {"splits", 3, 4, 7},    {"blind-from", 900, 50, 50},     {"sharing", 2, 2, 2},
        {"nodes-max", 7, 5, 7}, {"software-bytes", 5, 9, 9},     {"stall-share", 0.25, 0.75, 0.5},
        {"complete", 1, 0, 0},  {"candidates-changed", 2, 4, 3}, {"process", 3, 3, 3},
    };
    struct rf_run *run = new_run(), *other = new_run();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        REQUIRE(rf_profile_add_figure(run->profiles[1], rows[i].name, rows[i].x) == RF_OK);
        REQUIRE(rf_profile_add_figure(other->profiles[1], rows[i].name, rows[i].y) == RF_OK);
    }
    REQUIRE(rf_profile_add_figure(other->profiles[0], "blind-from", 9) == RF_OK);
    REQUIRE(rf_run_merge(run, other, NULL) == RF_OK);
    REQUIRE(run->n_profiles == 2);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CHECK_ROW(rows[i].name,
                  rf_profile_figure(run->profiles[1], rows[i].name, -1) == rows[i].merged);
    CHECK_EQ((int64_t)rf_profile_figure(run->profiles[0], "blind-from", -1), 9);
    rf_run_free(other);
    rf_run_free(run);
}

TEST(a_sum_that_is_not_finite_is_refused)
{
    struct rf_run *run = new_run(), *other = new_run();
    struct rf_error error = {""};
    REQUIRE(rf_profile_add_figure(run->profiles[1], "splits", DBL_MAX) == RF_OK);
    REQUIRE(rf_profile_add_figure(other->profiles[1], "splits", DBL_MAX) == RF_OK);
    CHECK_EQ(rf_run_merge(run, other, &error), RF_EINVAL);
    CHECK_TEXT(error.message, "the runs cannot be merged: their numbers do not add up");
    rf_run_free(other);
    rf_run_free(run);
}

/* Profiles of process 1 go with those of process 1, and the second of a kind with the second. */
TEST(profiles_merge_with_their_like)
{
    struct rf_run *run = new_run(), *other = new_run(), *more = new_run();
    REQUIRE(rf_run_merge(other, more, NULL) == RF_OK); /* twice the events */
    for (size_t i = 0; i < 2; i++)
        REQUIRE(rf_profile_add_figure(other->profiles[i], "process", 2) == RF_OK);
    REQUIRE(rf_run_merge(run, other, NULL) == RF_OK);
    REQUIRE(run->n_profiles == 4);
    REQUIRE(rf_run_merge(run, other, NULL) == RF_OK);
    REQUIRE(run->n_profiles == 4);
    CHECK_EQ(run->profiles[1]->consumed, EVENTS);
    CHECK_EQ(run->profiles[3]->consumed, 4 * EVENTS);
    for (size_t i = 2; i < 4; i++)
        run->profiles[i]->figures[0].value = 0; /* now two of each kind */
    REQUIRE(rf_run_merge(run, run, NULL) == RF_OK);
    REQUIRE(run->n_profiles == 4);
    CHECK_EQ(run->profiles[1]->consumed, 2 * EVENTS);
    CHECK_EQ(run->profiles[3]->consumed, 8 * EVENTS);
    rf_run_free(more);
    rf_run_free(other);
    rf_run_free(run);
}

/* A thousand runs, each with a command and a note of its own. */
TEST(what_a_merge_holds_does_not_grow_with_the_number_of_runs)
{
    enum { MANY = 1000, NOTES_MAX = 8, MISSING = 20 };
    char text[32];
    struct rf_run *run = new_run();
    for (unsigned i = 1; i < MANY; i++) {
        struct rf_run *other;
        snprintf(text, sizeof text, "command %u", i);
        REQUIRE(rf_run_new(&other, text, NULL) == RF_OK);
        REQUIRE(rf_run_add_note(other, "seconds", text) == RF_OK);
        REQUIRE(rf_run_add_note(other, "host", "always the same") == RF_OK);
        REQUIRE(i > MISSING || rf_run_add_note(other, RF_NOTE_MISSING, text) == RF_OK);
        REQUIRE(rf_run_merge(run, other, NULL) == RF_OK);
        rf_run_free(other);
    }
    CHECK_EQ(run->n_notes, NOTES_MAX + 2 + MISSING); /* what is missing is all named */
    CHECK_TEXT(rf_run_note(run, RF_NOTE_RUNS), "1000");
    CHECK(strlen(run->command) < 1100);
    CHECK(strncmp(run->command, "x; command 1; command 2; ", 25) == 0);
    CHECK(strstr(run->command, "; and others") != NULL);
    rf_run_free(run);
}

TEST(a_command_is_named_once)
{
    struct rf_run *run = new_run(), *other, *same = new_run();
    REQUIRE(rf_run_new(&other, "xx", NULL) == RF_OK);
    REQUIRE(rf_run_merge(run, other, NULL) == RF_OK);
    REQUIRE(rf_run_merge(run, same, NULL) == RF_OK);
    CHECK_TEXT(run->command, "x; xx");
    rf_run_free(same);
    rf_run_free(other);
    rf_run_free(run);
}

TEST(a_part_is_not_counted_as_a_run)
{
    struct rf_run *run = new_run(), *part = new_run(), *other = new_run();
    REQUIRE(rf_run_add_part(run, part, NULL) == RF_OK);
    CHECK(rf_run_note(run, RF_NOTE_RUNS) == NULL);
    REQUIRE(rf_run_merge(run, other, NULL) == RF_OK);
    REQUIRE(rf_run_merge(other, run, NULL) == RF_OK);
    CHECK_TEXT(rf_run_note(run, RF_NOTE_RUNS), "2");
    CHECK_TEXT(rf_run_note(other, RF_NOTE_RUNS), "3");
    CHECK_EQ(other->profiles[0]->consumed, 4 * EVENTS);
    rf_run_free(other);
    rf_run_free(part);
    rf_run_free(run);
}

/* Engines that choose their intervals themselves (auto) end with any; their profiles add up all the same. */
TEST(profiles_of_other_intervals_add_up)
{
    struct rf_run *run = new_run(), *other = new_run();
    other->profiles[0]->interval_length = 1000;
    other->profiles[0]->n_intervals_seen = 1;
    REQUIRE(rf_run_merge(run, other, NULL) == RF_OK);
    REQUIRE(run->n_profiles == 2);
    CHECK_EQ(run->profiles[0]->consumed, 2 * EVENTS);
    CHECK_EQ(run->profiles[0]->interval_length, 1000);
    rf_run_free(other);
    rf_run_free(run);
}

/* A run of one selector, counted by these engines; each has twice the events of the one before it. */
static struct rf_run *run_by(const char *const *engines, size_t n)
{
    struct rf_run *run;
    if (rf_run_new(&run, "x", NULL) != RF_OK)
        abort();
    for (size_t i = 0; i < n; i++) {
        struct rf_profile *profile = new_profile("load -> pc,value");
        if (!rf_profile_set_text(&profile->alloc, &profile->engine, engines[i]) ||
            rf_run_add_profile(run, profile) != RF_OK)
            abort();
        profile->consumed = profile->produced = (uint64_t)EVENTS << i;
    }
    return run;
}

/* What the engine of the sum is called; "" where the profiles stand side by side. */
TEST(profiles_of_multihash_add_up_whatever_its_options)
{
    static const struct {
        const char *here, *there, *sum;
    } rows[] = {
        {"multihash(a=1, b=2)", "multihash(a=1, b=2)", "multihash(a=1, b=2)"},
        {"multihash(a=1, b=2)", "multihash(a=1, b=3)", "multihash(a=1, b=mixed)"},
        {"multihash(a=1, b=2)", "multihash(a=10, b=3)", "multihash(a=mixed, b=mixed)"},
        {"multihash(a=1, b=mixed)", "multihash(a=1, b=3)", "multihash(a=1, b=mixed)"},
        {"multihash(a=1, b=2)", "multihash(a=1)", "multihash(mixed)"},
        {"multihash(a=1)", "multihash(a=1, b=2)", "multihash(mixed)"},
        {"multihash(a=1)", "multihash(c=1)", "multihash(mixed)"},
        {"multihash(mixed)", "multihash(a=1)", "multihash(mixed)"},
        {"multihash", "multihash(a=1)", "multihash(mixed)"},
        {"multihash()", "multihash", "multihash(mixed)"},
        {"multihash(=)", "multihash(=1)", "multihash(=mixed)"},
        {"multihash(a=1)", "multihashes(a=2)", ""},
        {"multihash(a=1)", "exact", ""},
        {"rap(eps=1%)", "rap(eps=2%)", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct rf_run *run = run_by(&rows[i].here, 1), *other = run_by(&rows[i].there, 1);
        REQUIRE(rf_run_merge(run, other, NULL) == RF_OK);
        CHECK_EQ(run->n_profiles, rows[i].sum[0] == '\0' ? 2 : 1);
        CHECK_TEXT(run->profiles[0]->engine, rows[i].sum[0] == '\0' ? rows[i].here : rows[i].sum);
        CHECK_EQ(run->profiles[0]->consumed, rows[i].sum[0] == '\0' ? EVENTS : 2 * EVENTS);
        rf_run_free(other);
        rf_run_free(run);
    }
}

/* Two of one selector are of the same events, so that it matters which one something is added to. */
TEST(of_several_multihash_those_of_equal_options_add_up)
{
    static const char *const two[] = {"multihash(a=1)", "multihash(a=2)"};
    static const char *const turned[] = {"multihash(a=2)", "multihash(a=1)"};
    struct rf_run *run = run_by(two, 2), *other = run_by(turned, 2), *second = run_by(two + 1, 1);
    REQUIRE(rf_run_merge(run, other, NULL) == RF_OK);
    REQUIRE(rf_run_merge(run, second, NULL) == RF_OK);
    REQUIRE(run->n_profiles == 2);
    CHECK_TEXT(run->profiles[0]->engine, "multihash(a=1)");
    CHECK_EQ(run->profiles[0]->consumed, 3 * EVENTS);
    CHECK_TEXT(run->profiles[1]->engine, "multihash(a=2)");
    CHECK_EQ(run->profiles[1]->consumed, 4 * EVENTS);
    rf_run_free(second);
    rf_run_free(other);
    rf_run_free(run);
}

/* The shortest and the longest, in any order; a profile without intervals says nothing of them. */
TEST(a_sum_says_between_which_lengths_its_intervals_are)
{
    static const uint64_t lengths[] = {500, 500, 300, 0, 400, 900};
    static const double least[] = {-1, -1, 300, 300, 300, 300};
    static const uint64_t longest[] = {500, 500, 500, 500, 500, 900};
    struct rf_run *run = new_run();
    run->profiles[0]->interval_length = 500;
    run->profiles[0]->n_intervals_seen = 2;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        struct rf_run *other = new_run();
        other->profiles[0]->interval_length = lengths[i];
        other->profiles[0]->n_intervals_seen = lengths[i] > 0 ? 1 : 0;
        REQUIRE(rf_run_merge(run, other, NULL) == RF_OK);
        CHECK(rf_profile_figure(run->profiles[0], RF_FIGURE_LEAST, -1) == least[i]);
        CHECK_EQ(run->profiles[0]->interval_length, longest[i]);
        rf_run_free(other);
    }
    rf_run_free(run);
}

TEST_MAIN()
