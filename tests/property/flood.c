/* Streams that were chosen against the hash: no engine may take much longer for them than for any other.
 *
 * rf_hash_multiply multiplies the two words of a tuple, each combined with a key. Where the factor of b is 0 or
 * all ones, every a gives the same hash. The keys of small seeds are in the source for everybody to read, so
 * an engine that finds tuples by them alone goes through all of them for each: 200,000 took minutes. */
#include "base/hash.h"
#include "base/random.h"
#include "test.h"
#include <time.h>
#include <riffle/profiler.h>

static const char *const texts[] = {
    "exact",
    "exact(interval=50K)",
    "multihash",
    "multihash(paper)",
    "multihash(accumulator=10000, threshold=0.01%, interval=100K)",
    "multihash(loop=portable)",
    "multihash(loop=singly)",
    "P1",
    "A4096",
    "H[P4]64 A1000",
    "tagged A16",
    "rap(eps=10%)",
    "rap(eps=10%, key=both, buffer=16Ki)",
};

enum { EVENTS = 200000, HOT = 250 };

static struct rf_tuple stream[EVENTS];

static uint64_t turned(uint64_t word)
{
    return word << 32 | word >> 32;
}

/* b for which the second factor is that. */
static uint64_t b_for(uint64_t factor, uint64_t seed)
{
    return turned(factor ^ rf_hash_key(seed).b);
}

static double seconds(const char *text, uint64_t seed)
{
    struct rf_profiler *profiler;
    struct rf_profile *profile;
    clock_t begin = clock();
    const struct rf_profiler_setup setup = {.seed = seed};
    if (rf_profiler_open(&profiler, text, &setup, NULL) != RF_OK ||
        rf_profiler_feed(profiler, &(struct rf_tuples){stream, NULL, EVENTS}, NULL) != RF_OK ||
        rf_profiler_profile(profiler, &profile, NULL) != RF_OK)
        abort();
    rf_profile_free(profile);
    rf_profiler_close(profiler);
    return (double)(clock() - begin) / CLOCKS_PER_SEC;
}

/* `different` values of a, all with that b. */
static void make_stream(uint64_t b, uint64_t different)
{
    struct rf_random random;
    rf_random_seed(&random, 5);
    for (size_t i = 0; i < EVENTS; i++)
        stream[i] =
            (struct rf_tuple){different == EVENTS ? i : rf_random_below(&random, different), b};
}

enum { FACTOR = 30 };
static const double slack = 0.1; /* seconds, for what goes on beside */

static void check(const char *text, uint64_t different, uint64_t seed)
{
    make_stream(7, different);
    double plain = seconds(text, seed);
    static const uint64_t factors[] = {0, UINT64_MAX, 1, UINT64_C(1) << 63};
    for (size_t i = 0; i < sizeof factors / sizeof *factors; i++) {
        make_stream(b_for(factors[i], seed), different);
        double chosen = seconds(text, seed);
        if (chosen > FACTOR * plain + slack)
            printf("# %s: %.3f s, and %.3f s for a stream like any other\n", text, chosen, plain);
        CHECK_ROW(text, chosen <= FACTOR * plain + slack);
    }
}

TEST(many_tuples_that_collide)
{
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        check(texts[i], EVENTS, 0);
}

TEST(hot_tuples_that_collide)
{
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        check(texts[i], HOT, 0);
}

static struct rf_profile *profile_of(const char *text, const struct rf_tuples *tuples)
{
    struct rf_profiler *profiler;
    struct rf_profile *profile;
    const struct rf_profiler_setup setup = {.seed = 0};
    if (rf_profiler_open(&profiler, text, &setup, NULL) != RF_OK ||
        rf_profiler_feed(profiler, tuples, NULL) != RF_OK ||
        rf_profiler_profile(profiler, &profile, NULL) != RF_OK)
        abort();
    rf_profiler_close(profiler);
    return profile;
}

/* Counted tuples whose entries are found by the secret key are as many single ones. */
TEST(tuples_that_collide_are_weighed_the_same)
{
    static const char *const usual[] = {"multihash(accumulator=auto, interval=20K)",
                                        "multihash(accumulator=auto, interval=20K, loop=portable)"};
    static uint64_t counts[EVENTS];
    static struct rf_tuple some[EVENTS];
    struct rf_random random;
    size_t n = 0, all = 0;
    make_stream(b_for(0, 0), 4 * HOT);
    rf_random_seed(&random, test_seed(12));
    for (; all + 9 < EVENTS; n++) {
        some[n] = rf_random_below(&random, 4) > 0 ? stream[all]
                                                  : (struct rf_tuple){n, rf_random_next(&random)};
        counts[n] = 1 + rf_random_below(&random, 8);
        for (uint64_t k = 0; k < counts[n]; k++)
            stream[all++] = some[n];
    }
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++) {
        struct rf_profile *singly = profile_of(usual[i], &(struct rf_tuples){stream, NULL, all});
        struct rf_profile *weighed = profile_of(usual[i], &(struct rf_tuples){some, counts, n});
        CHECK(singly->n_items > HOT);
        CHECK_EQ(singly->n_items, weighed->n_items);
        CHECK(memcmp(singly->items, weighed->items, singly->n_items * sizeof *singly->items) == 0);
        rf_profile_free(singly);
        rf_profile_free(weighed);
    }
}

/* A seed that nobody knows keys both factors. */
TEST(a_large_seed_moves_the_weak_spot)
{
    struct rf_random random;
    rf_random_seed(&random, test_seed(9));
    for (int i = 0; i < 100; i++)
        CHECK(b_for(0, rf_random_next(&random)) != b_for(0, 0));
    CHECK(rf_hash_secret(&random).b != rf_hash_secret(stream).b);
}

TEST_MAIN()
