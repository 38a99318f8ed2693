/* The profiler: sums over intervals by hand, order, totals, what happens without memory. */
#include "profile/fold.h"
#include "profile/profile.h"
#include "base/alloc.h"
#include "base/random.h"
#include "failing.h"
#include "test.h"
#include <riffle/engine.h>
#include <riffle/profiler.h>

static struct rf_item point(uint64_t a, uint64_t count, uint64_t lower, uint64_t upper)
{
    return (struct rf_item){a, 0, a, 0, count, lower, upper, 1};
}

/* Two lists; what is missing from one may have had its absent_upper there. */
TEST(fold_adds_what_the_absent_may_have_had)
{
    struct rf_fold fold;
    rf_fold_init(&fold, &rf_alloc_standard);
    const struct rf_item first[] = {point(1, 10, 9, 11), point(2, 5, 5, 6)};
    const struct rf_item second[] = {point(2, 7, 6, 8), point(3, 9, 8, 9)};
    CHECK_EQ(rf_fold_add(&fold, first, 2, 4), RF_OK);
    CHECK_EQ(rf_fold_add(&fold, second, 2, 3), RF_OK);
    CHECK_EQ(fold.absent_upper, 7);
    struct rf_items sum;
    REQUIRE(rf_fold_take(&fold, &sum) == RF_OK);
    static const struct {
        uint64_t a, count, lower, upper, intervals;
    } expected[] = {
        {2, 12, 11, 14, 2},
        {1, 10, 9, 14, 1}, /* 11 + 3 */
        {3, 9, 8, 13, 1},  /* 4 + 9 */
    };
    REQUIRE(sum.n == 3);
    for (size_t i = 0; i < 3; i++) {
        CHECK_EQ(sum.items[i].a, expected[i].a);
        CHECK_EQ(sum.items[i].count, expected[i].count);
        CHECK_EQ(sum.items[i].lower, expected[i].lower);
        CHECK_EQ(sum.items[i].upper, expected[i].upper);
        CHECK_EQ(sum.items[i].intervals, expected[i].intervals);
    }
    rf_items_free(&sum, &rf_alloc_standard);
}

TEST(fold_tells_boxes_apart)
{
    struct rf_fold fold;
    rf_fold_init(&fold, &rf_alloc_standard);
    const struct rf_item boxes[] = {
        {0, 0, 7, 0, 1, 1, 1, 1},
        {0, 0, 15, 0, 1, 1, 1, 1},
        {0, 0, 7, 1, 1, 1, 1, 1},
        {0, 0, 7, 0, 5, 5, 5, 1},
    };
    CHECK_EQ(rf_fold_add(&fold, boxes, 4, 0), RF_OK);
    CHECK_EQ(fold.list.n, 3);
    CHECK_EQ(fold.list.items[0].count, 6);
    rf_fold_free(&fold);
}

static int is_before(const struct rf_item *x, const struct rf_item *y)
{
    const uint64_t left[] = {y->count, x->a, x->b, x->a_hi, x->b_hi};
    const uint64_t right[] = {x->count, y->a, y->b, y->a_hi, y->b_hi};
    for (int i = 0; i < 5; i++)
        if (left[i] != right[i])
            return left[i] < right[i];
    return 1;
}

static void fill_for_sort(struct rf_item *items, size_t n, unsigned kind, struct rf_random *random)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t r = rf_random_next(random);
        uint64_t count = kind == 0 ? r : kind == 1 ? r % 4 : kind == 2 ? i : kind == 3 ? n - i : 1;
        items[i] = (struct rf_item){.a = r % 7, .b = r / 7 % 5, .a_hi = r % 3, .count = count};
        if (kind == 5) /* as a program has them: few places, many values, a few heavy items */
            items[i] =
                (struct rf_item){.a = 0x400000 + (r & 0xfff) * (r >> 12 & 1 ? 1 : 0x10000),
                                 .b = rf_random_next(random) >> (r >> 16 & 63),
                                 .b_hi = r >> 62,
                                 .count = (r >> 32 & 1023) > 0 ? 1 + (r >> 24 & 3) : r >> 40};
    }
}

static int is_other(void *name, size_t i, const struct rf_profile *profile)
{
    return i > 0 || strcmp(profile->selector, name) != 0;
}

/* The library makes a profile longer and a run shorter by itself, also without memory. */
TEST(figures_are_added_and_profiles_taken_out)
{
    for (uint64_t fail_at = 0; fail_at < 40; fail_at++) {
        struct failing failing = {.fail_at = fail_at};
        struct rf_alloc alloc = failing_alloc(&failing);
        struct rf_run *run = NULL;
        bool fine = rf_run_new(&run, "x", &alloc) == RF_OK;
        for (int i = 0; i < 3 && fine; i++) {
            struct rf_profile *profile = rf_profile_new(&alloc);
            fine = profile != NULL && rf_run_add_profile(run, profile) == RF_OK;
            if (!fine)
                rf_profile_free(profile);
            else
                fine = rf_profile_add_figure(profile, "a name that is longer than 31 letters", i) ==
                           RF_OK &&
                       rf_profile_add_figure(profile, "second", 2) == RF_OK;
        }
        fine = fine && rf_run_filter(run, is_other, (char *)"") == RF_OK;
        CHECK(fine || fail_at > 0);
        if (fine) {
            REQUIRE(run->n_profiles == 2);
            CHECK_TEXT(run->profiles[0]->figures[0].name, "a name that is longer than 31 l");
            CHECK_EQ((int)run->profiles[0]->figures[0].value, 1);
            CHECK_EQ(run->profiles[1]->n_figures, 2);
        }
        rf_run_free(run);
        CHECK_EQ(failing.held, 0);
        CHECK_EQ(failing.mistakes, 0);
    }
}

TEST(items_come_heaviest_first)
{
    static struct rf_item items[60000];
    struct rf_random random;
    rf_random_seed(&random, test_seed(11));
    static const size_t sizes[] = {0, 1, 2, 3, 15, 16, 17, 18, 33, 1000, 5000, 60000};
    for (unsigned kind = 0; kind < 6; kind++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            size_t n = sizes[s];
            uint64_t sum = 0, sorted_sum = 0;
            fill_for_sort(items, n, kind, &random);
            for (size_t i = 0; i < n; i++)
                sum += items[i].count * (items[i].a + 1);
            rf_items_sort(items, n);
            for (size_t i = 0; i < n; i++)
                sorted_sum += items[i].count * (items[i].a + 1);
            CHECK_EQ(sum, sorted_sum);
            for (size_t i = 1; i < n; i++)
                REQUIRE(is_before(&items[i - 1], &items[i]));
        }
}

/* An array on which the median of three is always bad, after McIlroy, "A Killer Adversary for Quicksort": the sort of order.c
 * runs on items whose values are only chosen when they are compared. */
enum { KILLER = 2000, GAS = KILLER };
static struct {
    uint64_t value[KILLER];
    size_t at[KILLER]; /* the items in their order by now */
    uint64_t chosen;
    size_t candidate;
} killer;

static int killer_before(size_t x, size_t y)
{
    if (killer.value[x] == GAS && killer.value[y] == GAS)
        killer.value[x == killer.candidate ? x : y] = killer.chosen++;
    if (killer.value[x] == GAS)
        killer.candidate = x;
    else if (killer.value[y] == GAS)
        killer.candidate = y;
    return killer.value[x] < killer.value[y];
}

static void killer_swap(size_t i, size_t k)
{
    size_t kept = killer.at[i];
    killer.at[i] = killer.at[k];
    killer.at[k] = kept;
}

static void killer_pair(size_t i, size_t k)
{
    if (killer_before(killer.at[k], killer.at[i]))
        killer_swap(i, k);
}

static size_t killer_partition(size_t lo, size_t n)
{
    size_t middle = lo + n / 2, last = lo + n - 1;
    killer_pair(lo, middle);
    killer_pair(middle, last);
    killer_pair(lo, middle);
    size_t pivot = killer.at[middle];
    for (size_t i = lo, k = last;; i++, k--) {
        while (killer_before(killer.at[i], pivot))
            i++;
        while (killer_before(pivot, killer.at[k]))
            k--;
        if (i >= k)
            return k - lo + 1;
        killer_swap(i, k);
    }
}

static void killer_sort(size_t lo, size_t n)
{
    while (n > 16) {
        size_t left = killer_partition(lo, n);
        killer_sort(lo, left);
        lo += left;
        n -= left;
    }
}

TEST(a_hostile_order_is_sorted_by_heap)
{
    static struct rf_item items[KILLER];
    for (size_t i = 0; i < KILLER; i++) {
        killer.value[i] = GAS;
        killer.at[i] = i;
    }
    killer_sort(0, KILLER);
    for (size_t i = 0; i < KILLER; i++) /* what comes first is heaviest */
        items[i] = (struct rf_item){.a = i, .count = 2 * KILLER - killer.value[i]};
    rf_items_sort(items, KILLER);
    for (size_t i = 1; i < KILLER; i++)
        REQUIRE(is_before(&items[i - 1], &items[i]));
}

/* a: 1 1 2 1 | 2 2 1 3 | 3 */
static const struct rf_tuple stream[] = {{1, 0}, {1, 0}, {2, 0}, {1, 0}, {2, 0},
                                         {2, 0}, {1, 0}, {3, 0}, {3, 0}};
enum { STREAM = sizeof stream / sizeof *stream };

TEST(intervals_add_up)
{
    struct rf_profiler *profiler;
    struct rf_profile *profile;
    const struct rf_profiler_setup setup = {.keep_intervals = 1, .seed = 5, .selector = "x"};
    REQUIRE(rf_profiler_open(&profiler, "exact(interval=4)", &setup, NULL) == RF_OK);
    REQUIRE(rf_profiler_feed(profiler, &(struct rf_tuples){stream, NULL, STREAM}, NULL) == RF_OK);
    rf_profiler_lose(profiler, 2);
    REQUIRE(rf_profiler_profile(profiler, &profile, NULL) == RF_OK);
    CHECK_EQ(profile->produced, STREAM + 2);
    CHECK_EQ(profile->consumed, STREAM);
    CHECK_EQ(profile->lost, 2);
    CHECK_EQ(profile->interval_length, 4);
    CHECK_EQ(profile->n_intervals_seen, 3);
    CHECK_TEXT(profile->engine, "exact(memory=0, interval=4)");
    CHECK_TEXT(profile->selector, "x");
    REQUIRE(profile->n_items == 3);
    static const uint64_t a[] = {1, 2, 3}, count[] = {4, 3, 2};
    for (size_t i = 0; i < 3; i++) {
        CHECK_EQ(profile->items[i].a, a[i]);
        CHECK_EQ(profile->items[i].count, count[i]);
        CHECK_EQ(profile->items[i].lower, count[i]);
        CHECK_EQ(profile->items[i].upper, count[i]);
        CHECK_EQ(profile->items[i].intervals, 2);
    }
    REQUIRE(profile->n_intervals == 3);
    CHECK_EQ(profile->intervals[0].n, 2);
    CHECK_EQ(profile->intervals[1].n, 3);
    CHECK_EQ(profile->intervals[1].first, 2);
    CHECK_EQ(profile->intervals[2].events, 1);
    CHECK_EQ(profile->interval_items[2].a, 2);
    CHECK_EQ(profile->interval_items[2].count, 2);
    rf_profile_free(profile);
    rf_profiler_close(profiler);
}

TEST(equal_intervals_are_kept_one_by_one)
{
    static const struct rf_tuple tuple = {1, 0};
    const uint64_t count = 40;
    const struct rf_profiler_setup setup = {.keep_intervals = 1};
    struct rf_profiler *profiler;
    struct rf_profile *profile;
    REQUIRE(rf_profiler_open(&profiler, "exact(interval=4)", &setup, NULL) == RF_OK);
    CHECK_EQ(rf_profiler_feed(profiler, &(struct rf_tuples){&tuple, &count, 1}, NULL), RF_OK);
    REQUIRE(rf_profiler_profile(profiler, &profile, NULL) == RF_OK);
    CHECK_EQ(profile->n_intervals, 10);
    CHECK_EQ(profile->n_interval_items, 10);
    CHECK_EQ(profile->items[0].count, 40);
    rf_profile_free(profile);
    rf_profiler_close(profiler);
}

TEST(looking_does_not_disturb)
{
    struct rf_profiler *profiler;
    struct rf_profile *profile;
    REQUIRE(rf_profiler_open(&profiler, "exact(interval=4)", NULL, NULL) == RF_OK);
    for (size_t i = 0; i < STREAM; i++) {
        REQUIRE(rf_profiler_profile(profiler, &profile, NULL) == RF_OK);
        CHECK_EQ(profile->consumed, i);
        uint64_t sum = 0;
        for (size_t k = 0; k < profile->n_items; k++)
            sum += profile->items[k].count;
        CHECK_EQ(sum, i);
        CHECK_EQ(profile->n_intervals_seen, (i + 3) / 4);
        rf_profile_free(profile);
        REQUIRE(rf_profiler_feed(profiler, &(struct rf_tuples){stream + i, NULL, 1}, NULL) ==
                RF_OK);
    }
    rf_profiler_close(profiler);
}

TEST(what_does_not_fit_counts_as_lost)
{
    enum { N = 5000 };
    static struct rf_tuple tuples[N];
    for (uint64_t i = 0; i < N; i++)
        tuples[i] = (struct rf_tuple){i, i};
    struct rf_profiler *profiler;
    struct rf_profile *profile;
    struct rf_error error = {""};
    REQUIRE(rf_profiler_open(&profiler, "exact(memory=30000)", NULL, NULL) == RF_OK);
    CHECK_EQ(rf_profiler_feed(profiler, &(struct rf_tuples){tuples, NULL, N}, &error), RF_ENOMEM);
    CHECK(error.message[0] != '\0');
    REQUIRE(rf_profiler_profile(profiler, &profile, NULL) == RF_OK);
    CHECK_EQ(profile->produced, N);
    CHECK_EQ(profile->consumed + profile->lost, N);
    CHECK_EQ(profile->consumed, profile->n_items);
    CHECK(profile->consumed > 0 && profile->lost > 0);
    rf_profile_free(profile);
    rf_profiler_close(profiler);
}

/* Opens, feeds, takes a profile and puts it into a run, with the n-th allocation failing. */
static rf_status small_run(const struct rf_alloc *alloc)
{
    const struct rf_profiler_setup setup = {.alloc = alloc, .keep_intervals = 1};
    struct rf_profiler *profiler = NULL;
    struct rf_profile *profile = NULL;
    struct rf_run *run = NULL;
    struct rf_module module = {.path = (char *)"/bin/x", .build_id = (char *)"ab"};
    rf_status status = rf_profiler_open(&profiler, "exact(interval=4)", &setup, NULL);
    if (status == RF_OK)
        status = rf_profiler_feed(profiler, &(struct rf_tuples){stream, NULL, STREAM}, NULL);
    if (status == RF_OK)
        status = rf_profiler_profile(profiler, &profile, NULL);
    if (status == RF_OK)
        status = rf_run_new(&run, "x", alloc);
    if (status == RF_OK)
        status = rf_run_add_module(run, &module);
    if (status == RF_OK)
        status = rf_run_add_note(run, "exit-status", "0");
    if (status == RF_OK && (status = rf_run_add_profile(run, profile)) == RF_OK)
        profile = NULL;
    if (status == RF_OK)
        CHECK_TEXT(rf_run_note(run, "exit-status"), "0");
    rf_profile_free(profile);
    rf_run_free(run);
    rf_profiler_close(profiler);
    return status;
}

TEST(every_allocation_may_fail)
{
    for (uint64_t n = 1;; n++) {
        struct failing failing = {.fail_at = n};
        struct rf_alloc alloc = failing_alloc(&failing);
        rf_status status = small_run(&alloc);
        CHECK_EQ(failing.held, 0);
        CHECK_EQ(failing.mistakes, 0);
        if (failing.allocations < n) {
            CHECK_EQ(status, RF_OK);
            CHECK(n > 10);
            return;
        }
        CHECK(status == RF_ENOMEM);
        REQUIRE(n < 1000);
    }
}

TEST_MAIN()
