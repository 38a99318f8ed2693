/* The profiler with one hash table as microcode finds the candidates of the engine, interval by interval. */
#include "coproc_tuples.h"
#include "profile/profile.h"
#include <riffle/profiler.h>

enum { SLOTS_MAX = 128 };

/* The slots at or above the threshold. */
static size_t candidates(const struct rf_coproc *coproc, uint64_t threshold, struct slot *found)
{
    size_t n = 0;
    for (uint32_t i = 0; i < rf_processor_slots(coproc->processor); i++) {
        found[n] = read_slot(coproc, i);
        n += found[n].count >= threshold;
    }
    return n;
}

static unsigned count_missing(const struct rf_item *items, size_t n, const struct slot *found,
                              size_t n_found)
{
    unsigned missing = 0;
    for (size_t i = 0; i < n; i++) {
        size_t k = 0;
        while (k < n_found && (found[k].tuple.a != items[i].a || found[k].tuple.b != items[i].b ||
                               found[k].count != items[i].count))
            k++;
        missing += k == n_found;
    }
    return missing;
}

struct form {
    const char *size, *engine;
    unsigned interval, threshold;
};

static struct rf_profile *run_multihash(const struct form *form, uint64_t seed,
                                        const struct rf_tuple *tuples)
{
    char text[200];
    struct rf_profiler *profiler;
    struct rf_profile *profile = NULL;
    struct rf_profiler_setup setup = {.seed = seed, .keep_intervals = 1};
    struct rf_tuples all = {tuples, NULL, EVENTS};
    snprintf(text, sizeof text, "multihash(paper-single, interval=%u, threshold=%g%%, %s)",
             form->interval, 100.0 * form->threshold / form->interval, form->engine);
    if (rf_profiler_open(&profiler, text, &setup, NULL) != RF_OK)
        return NULL;
    CHECK_EQ(rf_profiler_feed(profiler, &all, NULL), RF_OK);
    CHECK_EQ(rf_profiler_profile(profiler, &profile, NULL), RF_OK);
    rf_profiler_close(profiler);
    return profile;
}

/* The sum of all candidates, to see that the test has some. */
static size_t check_intervals(const struct form *form, uint64_t seed)
{
    static struct rf_tuple tuples[EVENTS];
    struct slot found[SLOTS_MAX];
    uint64_t state = seed, table_seed = rf_splitmix(&state);
    char program[120];
    size_t interval = 0, all = 0;
    make_stream(tuples, seed);
    snprintf(program, sizeof program,
             "multihash1.uc(seed=%llu, interval=%u, threshold=%u, size=%s)",
             (unsigned long long)table_seed, form->interval, form->threshold, form->size);
    struct rf_coproc *coproc = open_program(program);
    struct rf_profile *profile = run_multihash(form, seed, tuples);
    CHECK(coproc != NULL && profile != NULL);
    for (size_t i = 0; i < EVENTS && coproc != NULL && profile != NULL; i++) {
        if (run_one(coproc, tuples[i]) != RF_PROCESSOR_INTERRUPT)
            continue;
        const struct rf_interval *expected = &profile->intervals[interval++];
        size_t n = candidates(coproc, form->threshold, found);
        CHECK_EQ(n, expected->n);
        CHECK_EQ(count_missing(profile->interval_items + expected->first, expected->n, found, n),
                 0);
        all += n;
        rf_coproc_serve(coproc, RF_REASON_INTERRUPT);
    }
    CHECK_EQ(interval, EVENTS / form->interval);
    CHECK(coproc == NULL || coproc->processor->overruns == 0);
    rf_profile_free(profile);
    rf_coproc_close(coproc);
    return all;
}

TEST(multihash_microcode_finds_the_candidates_of_the_engine)
{
    static const struct form forms[] = {
        {"base", "counters=256, accumulator=64", 4000, 80},
        {"base", "counters=256, accumulator=64", 2000, 20}, /* the accumulator overflows */
        {"half", "counters=128, accumulator=32", 1000, 15},
        {"double", "counters=512, accumulator=128", 2500, 10},
    };
    uint64_t first = test_seed(1);
    size_t all = 0;
    for (uint64_t seed = first; seed < first + SEEDS; seed++)
        all += check_intervals(&forms[seed % (sizeof forms / sizeof *forms)], seed);
    CHECK(all > 100 * SEEDS);
}

TEST_MAIN()
