/* Which modules two runs share, and which clash: compared with a plain search of all pairs. The work has a bound. */
#include "base/alloc.h"
#include "base/random.h"
#include "profile/profile.h"
#include "profile/twins.h"
#include "test.h"
#include <riffle/profile.h>
#include <stdbool.h>
#include <time.h>

enum { MODULES = 6 };

static bool same(const struct rf_module *x, const struct rf_module *y)
{
    return x->process == y->process && x->start == y->start && x->end == y->end &&
           x->offset == y->offset && strcmp(x->path, y->path) == 0 &&
           strcmp(x->build_id, y->build_id) == 0;
}

static bool has(const struct rf_run *run, const struct rf_module *module)
{
    for (size_t i = 0; i < run->n_modules; i++)
        if (same(&run->modules[i], module))
            return true;
    return false;
}

static bool overlap(const struct rf_module *x, const struct rf_module *y)
{
    return x->process == y->process && x->start < y->end && y->start < x->end;
}

/* By their build ids where both have one, else by their paths; or an address means two places of one file. */
static bool differ(const struct rf_module *x, const struct rf_module *y)
{
    const bool elsewhere = x->start - x->offset != y->start - y->offset;
    if (x->build_id[0] != '\0' && y->build_id[0] != '\0')
        return elsewhere || strcmp(x->build_id, y->build_id) != 0;
    return x->path[0] != '[' && y->path[0] != '[' && (elsewhere || strcmp(x->path, y->path) != 0);
}

static bool clash(const struct rf_run *run, const struct rf_run *other)
{
    for (const struct rf_module *x = run->modules; x < run->modules + run->n_modules; x++)
        for (const struct rf_module *y = other->modules; y < other->modules + other->n_modules; y++)
            if (overlap(x, y) && differ(x, y) && !has(other, x) && !has(run, y))
                return true;
    return false;
}

static bool unproven(const struct rf_run *run, const struct rf_run *other)
{
    for (const struct rf_module *x = run->modules; x < run->modules + run->n_modules; x++)
        for (const struct rf_module *y = other->modules; y < other->modules + other->n_modules; y++)
            if (overlap(x, y) && x->path[0] != '[' && y->path[0] != '[' &&
                (x->build_id[0] == '\0' || y->build_id[0] == '\0'))
                return true;
    return false;
}

/* Few builds, files and addresses, so that all kinds of pairs occur. */
static struct rf_module draw(struct rf_random *random)
{
    static char *const paths[] = {(char *)"/a", (char *)"/b", (char *)"/c", (char *)"[heap]"};
    static char *const ids[] = {(char *)"11", (char *)"22", (char *)"33", (char *)""};
    uint64_t start = rf_random_below(random, 40);
    return (struct rf_module){.path = paths[rf_random_below(random, 4)],
                              .build_id = ids[rf_random_below(random, 4)],
                              .process = (uint32_t)rf_random_below(random, 2),
                              .start = start,
                              .end = start + 1 + rf_random_below(random, 12),
                              .offset = start - rf_random_below(random, 2)};
}

TEST(pairs_are_those_of_a_plain_search)
{
    struct rf_random random;
    rf_random_seed(&random, test_seed(12));
    size_t clashes = 0, unprovens = 0;
    const int rounds = test_rounds(20000, 1000000);
    for (int round = 0; round < rounds; round++) {
        struct rf_module here[MODULES], there[MODULES];
        for (size_t i = 0; i < MODULES; i++) {
            here[i] = draw(&random);
            there[i] = rf_random_below(&random, 3) == 0 ? here[rf_random_below(&random, i + 1)]
                                                        : draw(&random);
        }
        const struct rf_run run = {rf_alloc_standard, .modules = here,
                                   .n_modules = rf_random_below(&random, MODULES + 1)};
        const struct rf_run other = {rf_alloc_standard, .modules = there,
                                     .n_modules = rf_random_below(&random, MODULES + 1)};
        const char *path;
        const bool is_clash = clash(&run, &other), is_unproven = unproven(&run, &other);
        REQUIRE(rf_run_same_builds(&run, &other, NULL) == (is_clash ? RF_EINVAL : RF_OK));
        REQUIRE(rf_run_unproven_build(&run, &other, &path) == RF_OK);
        REQUIRE((path != NULL) == is_unproven);
        clashes += is_clash;
        unprovens += is_unproven;
    }
    CHECK(clashes > (size_t)rounds / 10 && clashes < (size_t)rounds * 9 / 10);
    CHECK(unprovens > (size_t)rounds / 10 && unprovens < (size_t)rounds * 9 / 10);
}

static uint64_t comparisons;

static int compare(const void *left, const void *right)
{
    const unsigned *x = left, *y = right;
    comparisons++;
    return (*x > *y) - (*x < *y);
}

/* Equal elements stand together in the order of their lists, after at most n log n comparisons. */
TEST(twins_are_sorted_with_little_work)
{
    enum { N = 20000, LOG_N = 16 };
    static unsigned here[N], there[N];
    struct rf_random random;
    struct rf_twins twins;
    rf_random_seed(&random, test_seed(5));
    for (size_t i = 0; i < N; i++) {
        here[i] = (unsigned)rf_random_below(&random, 1000);
        there[i] = (unsigned)rf_random_below(&random, 1000);
    }
    comparisons = 0;
    REQUIRE(rf_twins_make(&twins, &rf_alloc_standard, (struct rf_twins_list){here, N},
                          (struct rf_twins_list){there, N}, sizeof *here, compare) == RF_OK);
    CHECK(comparisons <= (uint64_t)2 * N * LOG_N);
    REQUIRE(twins.n == 2 * (size_t)N);
    for (size_t i = 1; i < twins.n; i++) {
        const struct rf_twin *x = &twins.twins[i - 1], *y = &twins.twins[i];
        int order = compare(x->element, y->element);
        REQUIRE(order < 0 ||
                (order == 0 && (x->there < y->there || (x->there == y->there && x->i < y->i))));
    }
    rf_twins_free(&twins, &rf_alloc_standard);
}

static char *copy(const char *text)
{
    char *copied = rf_profile_text(&rf_alloc_standard, text, strlen(text));
    if (copied == NULL)
        abort();
    return copied;
}

/* A run with modules and notes of the numbers from `first` on. */
static struct rf_run *crowd(size_t n, size_t first)
{
    struct rf_run *run;
    if (rf_run_new(&run, "x", NULL) != RF_OK)
        abort();
    run->modules = rf_alloc_zeroed(&run->alloc, n * sizeof *run->modules);
    run->notes = rf_alloc_zeroed(&run->alloc, n * sizeof *run->notes);
    if (run->modules == NULL || run->notes == NULL)
        abort();
    run->n_modules = run->n_notes = n;
    for (size_t i = 0; i < n; i++) {
        const size_t number = first + i;
        char name[32];
        snprintf(name, sizeof name, "n%zu", number);
        run->modules[i] = (struct rf_module){.path = copy("/bin/a"),
                                             .build_id = copy("aa"),
                                             .start = number * 16,
                                             .end = number * 16 + 16};
        run->notes[i] = (struct rf_note){copy(name), copy("")};
    }
    return run;
}

/* Each with each would take minutes of processor time. */
TEST(many_modules_and_notes_merge_soon)
{
    enum { N = 300000, SECONDS = 10 };
    struct rf_run *run = crowd(N, 0), *other = crowd(N, N / 2);
    const char *path;
    clock_t start = clock();
    CHECK(rf_run_same_builds(run, other, NULL) == RF_OK);
    CHECK(rf_run_unproven_build(run, other, &path) == RF_OK && path == NULL);
    CHECK(rf_run_merge(run, other, NULL) == RF_OK);
    CHECK(clock() - start < (clock_t)SECONDS * CLOCKS_PER_SEC);
    CHECK_EQ(run->n_modules, N + N / 2);
    CHECK_EQ(run->n_notes, N + N / 2 + 1); /* and how many runs */
    CHECK_EQ(run->modules[N].start, (uint64_t)N * 16);
    CHECK_TEXT(run->notes[N].name, "n300000");
    rf_run_free(other);
    rf_run_free(run);
}

static struct rf_run *many_profiles(size_t n)
{
    struct rf_run *run;
    if (rf_run_new(&run, "x", NULL) != RF_OK)
        abort();
    run->profiles = rf_alloc_zeroed(&run->alloc, n * sizeof *run->profiles);
    if (run->profiles == NULL)
        abort();
    run->n_profiles = n;
    for (size_t i = 0; i < n; i++) {
        struct rf_profile *profile = run->profiles[i] = rf_profile_new(&rf_alloc_standard);
        if (profile == NULL)
            abort();
        profile->interval_length = i % 1000;
        profile->produced = profile->consumed = i;
    }
    return run;
}

TEST(many_profiles_merge_soon)
{
    enum { N = 50000, MORE = 10, SECONDS = 10 };
    struct rf_run *run = many_profiles(N), *other = many_profiles(N + MORE);
    clock_t start = clock();
    CHECK(rf_run_merge(run, other, NULL) == RF_OK);
    CHECK(clock() - start < (clock_t)SECONDS * CLOCKS_PER_SEC);
    REQUIRE(run->n_profiles == N + MORE);
    for (size_t i = 0; i < N + MORE; i++)
        REQUIRE(run->profiles[i]->consumed == (i < N ? 2 * i : i));
    rf_run_free(other);
    rf_run_free(run);
}

TEST_MAIN()
