/* The engine auto against the truth: exact up to its ceiling, then multihash, and one profile of both.
 *
 * Streams, ceilings, intervals and batches are random. Whatever they are, the bounds hold for the whole run. */
#include "base/random.h"
#include "failing.h"
#include "test.h"
#include "verdict.h"
#include <riffle/engine.h>
#include <riffle/profiler.h>

enum { KEEP = 300, EVENTS_MAX = 60000, TRIALS = 60, TRIALS_LONG = 2000 };

static struct rf_tuple tuples[EVENTS_MAX];

/* Hot tuples, a tail of `keys` other ones, and a share of tuples that occur once. */
static size_t make_stream(struct rf_random *random)
{
    size_t n = 1000 + (size_t)rf_random_below(random, EVENTS_MAX - 1000);
    uint64_t hot = 1 + rf_random_below(random, 40), keys = 1 + rf_random_below(random, 20000);
    uint64_t share = rf_random_below(random, 100), fresh = rf_random_below(random, 30);
    for (size_t i = 0; i < n; i++) {
        uint64_t kind = rf_random_below(random, 100);
        uint64_t key = kind < share ? rf_random_below(random, hot) : rf_random_below(random, keys);
        if (kind >= 100 - fresh)
            key = 1000000 + i;
        tuples[i] = (struct rf_tuple){0x400000 + 4 * (key % 97), key};
    }
    return n;
}

static void make_text(struct rf_random *random, char *text, size_t size)
{
    unsigned long long ceiling =
        30000 + rf_random_below(random, 1 << (4 + rf_random_below(random, 17)));
    unsigned long long interval =
        rf_random_below(random, 2) ? 0 : 100 + rf_random_below(random, 30000);
    snprintf(text, size, "auto(ceiling=%llu, interval=%llu, threshold=%llu%%, keep=%d)", ceiling,
             interval, 1 + (unsigned long long)rf_random_below(random, 5),
             rf_random_below(random, 2) ? KEEP : 100000);
}

/* Random batches. Some have counts: a run of equal tuples is one tuple with a count. */
static rf_status feed(struct rf_profiler *profiler, size_t n, struct rf_random *random)
{
    static struct rf_tuple merged[EVENTS_MAX];
    static uint64_t counts[EVENTS_MAX];
    rf_status status = RF_OK;
    for (size_t done = 0; done < n && status == RF_OK;) {
        size_t piece = 1 + (size_t)rf_random_below(random, 3000), m = 0;
        piece = piece < n - done ? piece : n - done;
        struct rf_tuples batch = {tuples + done, NULL, piece};
        for (size_t i = 0; i < piece; i++) {
            struct rf_tuple t = tuples[done + i];
            if (m > 0 && merged[m - 1].a == t.a && merged[m - 1].b == t.b) {
                counts[m - 1]++;
                continue;
            }
            merged[m] = t;
            counts[m++] = 1;
        }
        if (rf_random_below(random, 2))
            batch = (struct rf_tuples){merged, counts, m};
        status = rf_profiler_feed(profiler, &batch, NULL);
        done += piece;
    }
    return status;
}

static struct rf_profile *profile_of(const char *text, size_t n, uint64_t seed)
{
    const struct rf_profiler_setup setup = {.seed = 7, .keep_intervals = 1};
    struct rf_profiler *profiler;
    struct rf_profile *profile = NULL;
    struct rf_random random;
    rf_random_seed(&random, seed);
    if (rf_profiler_open(&profiler, text, &setup, NULL) == RF_OK &&
        feed(profiler, n, &random) == RF_OK)
        rf_profiler_profile(profiler, &profile, NULL);
    rf_profiler_close(profiler);
    return profile;
}

static void check_bounds(const char *text, const struct rf_profile *profile, size_t n)
{
    struct truth truth;
    truth_make(&truth, tuples, n);
    struct verdict verdict =
        judge(profile, profile->items, profile->n_items, profile->absent_upper, &truth);
    CHECK_ROW(text, profile->consumed == n && profile->lost == 0);
    CHECK_ROW(text, verdict.outside == 0 && verdict.forgotten == 0 && verdict.disorder == 0);
    truth_free(&truth);
}

/* The first part is all of the intervals that are exact; the figure says how long it was. */
static void check_first_part(const char *text, const struct rf_profile *profile)
{
    double until = rf_profile_figure(profile, "exact-until", -1);
    uint64_t exact = 0;
    size_t i = 0;
    for (; i < profile->n_intervals && exact < (uint64_t)until; i++) {
        const struct rf_interval *interval = &profile->intervals[i];
        exact += interval->events;
        CHECK_ROW(text, interval->absent_upper == 0 || interval->n <= KEEP);
        for (size_t k = 0; k < interval->n; k++) {
            const struct rf_item *item = &profile->interval_items[interval->first + k];
            CHECK_ROW(text, item->lower == item->upper);
        }
    }
    CHECK_ROW(text, exact == (uint64_t)until);
}

static bool is_same(const struct rf_profile *x, const struct rf_profile *y)
{
    return x->n_items == y->n_items && x->absent_upper == y->absent_upper &&
           memcmp(x->items, y->items, x->n_items * sizeof *x->items) == 0;
}

TEST(bounds_hold_for_the_whole_run)
{
    struct rf_random random;
    uint64_t seed = test_seed(81);
    unsigned trials = getenv("RIFFLE_TEST_LONG") != NULL ? TRIALS_LONG : TRIALS, handed = 0;
    rf_random_seed(&random, seed);
    for (unsigned i = 0; i < trials; i++) {
        char text[100];
        size_t n = make_stream(&random);
        make_text(&random, text, sizeof text);
        struct rf_profile *one = profile_of(text, n, i), *other = profile_of(text, n, i + trials);
        REQUIRE(one != NULL && other != NULL);
        check_bounds(text, one, n);
        CHECK_ROW(text, is_same(one, other)); /* whatever the batches */
        if (rf_profile_figure(one, "exact-until", -1) >= 0) {
            check_first_part(text, one);
            handed++;
        } else {
            CHECK_ROW(text, one->bound == RF_BOUND_EXACT);
        }
        rf_profile_free(one);
        rf_profile_free(other);
    }
    CHECK(handed > trials / 10 && handed < trials);
}

/* An allocator that hands out at most `most` bytes in all at any time. */
struct tight {
    struct failing failing;
    size_t most;
};

static void *tight_resize(void *context, void *ptr, size_t old_size, size_t new_size)
{
    struct tight *tight = context;
    if (new_size > old_size && tight->failing.held - old_size + new_size > tight->most)
        return NULL;
    return failing_resize(&tight->failing, ptr, old_size, new_size);
}

/* Memory runs out below the ceiling: exact hands over to multihash in this case, too. */
static void check_tight(size_t most, size_t n, uint64_t seed, unsigned *handed)
{
    struct tight tight = {.most = most};
    const struct rf_alloc alloc = {tight_resize, &tight};
    const struct rf_profiler_setup setup = {.alloc = &alloc, .seed = 7};
    struct rf_profiler *profiler;
    struct rf_profile *profile = NULL;
    struct rf_random random;
    char name[40];
    snprintf(name, sizeof name, "%zu bytes", most);
    rf_random_seed(&random, seed);
    if (rf_profiler_open(&profiler, "auto(threshold=1%)", &setup, NULL) != RF_OK)
        return;
    CHECK_ROW(name, feed(profiler, n, &random) == RF_OK);
    tight.most = SIZE_MAX;
    CHECK_ROW(name, rf_profiler_profile(profiler, &profile, NULL) == RF_OK);
    if (profile != NULL) {
        check_bounds(name, profile, n);
        *handed += rf_profile_figure(profile, "exact-until", -1) >= 0;
    }
    rf_profile_free(profile);
    rf_profiler_close(profiler);
    CHECK_ROW(name, tight.failing.held == 0 && tight.failing.mistakes == 0);
}

TEST(it_hands_over_when_memory_ends_before_the_ceiling)
{
    struct rf_random random;
    unsigned handed = 0;
    rf_random_seed(&random, test_seed(82));
    for (unsigned i = 0; i < 40; i++) {
        size_t n = make_stream(&random);
        check_tight(60000 + (size_t)rf_random_below(&random, 400000), n, i, &handed);
    }
    CHECK(handed > 3);
}

/* ---- merge ---- */

struct found {
    struct rf_profile profile;
    struct rf_item items[EVENTS_MAX];
    uint64_t ended; /* events of intervals that are over */
};

static rf_status found_item(void *context, const struct rf_item *item)
{
    struct found *found = context;
    found->items[found->profile.n_items++] = *item;
    return RF_OK;
}

static rf_status found_end(void *context, const struct rf_summary *summary)
{
    struct found *found = context;
    found->profile.bound = summary->bound;
    found->profile.absent_upper = summary->absent_upper;
    found->ended += summary->events;
    return RF_OK;
}

static struct rf_engine *open_fed(const char *text, size_t first, size_t n, struct found *found)
{
    const struct rf_sink sink = {found_item, NULL, found_end, found};
    const struct rf_engine_setup setup = {.seed = 7, .intervals = &sink};
    struct rf_engine *engine;
    memset(&found->profile, 0, sizeof found->profile);
    found->ended = 0;
    if (rf_engine_open(&engine, text, &setup, NULL) != RF_OK ||
        rf_engine_feed(engine, &(struct rf_tuples){tuples + first, NULL, n}, NULL) != RF_OK)
        abort();
    return engine;
}

/* A short run, which is exact, and a long one, whose exact part is over: merged in both orders. */
TEST(an_exact_part_and_one_that_is_over_merge)
{
    static const char *const text = "auto(ceiling=60000, threshold=1%)";
    static struct found found;
    struct rf_random random;
    rf_random_seed(&random, test_seed(83));
    for (unsigned i = 0; i < 20; i++) {
        size_t n = make_stream(&random), few = 300;
        struct rf_engine *many = open_fed(text, few, n - few, &found);
        size_t over = (size_t)found.ended; /* no part of the merge */
        struct rf_engine *some = open_fed(text, 0, few, &found);
        struct rf_engine *to = i % 2 ? many : some, *from = i % 2 ? some : many;
        CHECK_EQ(rf_engine_merge(to, from, NULL), RF_OK);
        memmove(tuples + few, tuples + few + over, (n - few - over) * sizeof *tuples);
        n -= over;
        memset(&found.profile, 0, sizeof found.profile);
        const struct rf_sink sink = {found_item, NULL, found_end, &found};
        found.ended = 0;
        CHECK_EQ(rf_engine_report(to, &sink), RF_OK);
        CHECK_EQ(found.ended, n);
        found.profile.items = found.items;
        found.profile.consumed = n;
        check_bounds("merged", &found.profile, n);
        rf_engine_close(many);
        rf_engine_close(some);
    }
}

/* Two short runs: the sum is exact while it fits the ceiling, and keeps its bounds behind it. */
TEST(two_exact_parts_merge)
{
    static const char *const text = "auto(ceiling=60000, threshold=1%)";
    static struct found found;
    struct rf_random random;
    unsigned exact = 0, over = 0;
    rf_random_seed(&random, test_seed(84));
    for (unsigned i = 0; i < 40; i++) {
        size_t all = make_stream(&random), half = 50 + (size_t)rf_random_below(&random, 600);
        if (all < 2 * half)
            continue;
        struct rf_engine *left = open_fed(text, 0, half, &found);
        struct rf_engine *right = open_fed(text, half, half, &found);
        const struct rf_sink sink = {found_item, NULL, found_end, &found};
        CHECK_EQ(rf_engine_merge(left, right, NULL), RF_OK);
        CHECK_EQ(rf_engine_report(left, &sink), RF_OK);
        CHECK_EQ(found.ended, 2 * half);
        found.profile.items = found.items;
        found.profile.consumed = 2 * half;
        check_bounds("merged", &found.profile, 2 * half);
        exact += found.profile.bound == RF_BOUND_EXACT;
        over += found.profile.bound != RF_BOUND_EXACT;
        rf_engine_close(left);
        rf_engine_close(right);
    }
    CHECK(exact > 0 && over > 0);
}

/* Two intervals fit, the third does not: all that exact has counted, in each of them. */
TEST(the_first_part_may_be_several_intervals)
{
    enum { INTERVAL = 2000, N = 5 * INTERVAL };
    static const char text[] = "auto(ceiling=30Ki, interval=2000)";
    static struct rf_tuple some[N];
    const struct rf_profiler_setup setup = {.keep_intervals = 1};
    struct rf_profiler *profiler;
    struct rf_profile *profile = NULL;
    for (size_t i = 0; i < N; i++)
        some[i] = (struct rf_tuple){i < 2 * INTERVAL ? i % 3 : i, 0};
    REQUIRE(rf_profiler_open(&profiler, text, &setup, NULL) == RF_OK);
    CHECK_EQ(rf_profiler_feed(profiler, &(struct rf_tuples){some, NULL, N}, NULL), RF_OK);
    CHECK_EQ(rf_profiler_profile(profiler, &profile, NULL), RF_OK);
    REQUIRE(profile != NULL);
    CHECK(rf_profile_figure(profile, "exact-until", -1) > 2 * INTERVAL);
    check_first_part(text, profile);
    rf_profile_free(profile);
    rf_profiler_close(profiler);
}

TEST_MAIN()
