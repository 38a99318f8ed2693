/* multihash: what its block holds, and which of its loops it takes. */
#include "test.h"
#include "base/random.h"
#include "engine/engine.h"
#include "engine/multihash/multihash.h"

extern const struct rf_engine_ops rf_multihash;

static struct rf_multihash_config parse(const char *text)
{
    const struct rf_engine_ops *ops;
    _Alignas(16) unsigned char room[RF_ENGINE_CONFIG_MAX];
    struct rf_multihash_config config;
    if (rf_engine_parse(&ops, room, sizeof room, text, NULL) != RF_OK)
        abort();
    memcpy(&config, room, sizeof config);
    return config;
}

static size_t size_of(const char *text)
{
    const struct rf_multihash_config config = parse(text);
    return rf_multihash.state_size(&config);
}

/* The rest is the same on both sides. */
TEST(what_an_option_costs)
{
    static const struct {
        const char *label, *more, *less;
        size_t bytes;
    } table[] = {
        {"look-ups for four tables more", "multihash(paper, tables=8)",
         "multihash(paper, tables=4)", sizeof(struct rf_multihash_lookup)},
        {"look-ups for one table more", "multihash(paper, counters=2K, tables=5, hash=multiply)",
         "multihash(paper, counters=2K, tables=4, hash=multiply)", 0},
        {"16 bits in place of 12", "multihash(counters=2Ki, counter_bits=16)",
         "multihash(counters=2Ki, counter_bits=12)", 2048 / 2},
        {"17 bits in place of 16", "multihash(counters=2Ki, counter_bits=17)",
         "multihash(counters=2Ki, counter_bits=16)", 2048 * 2},
        {"13 bits as 16", "multihash(counters=2Ki, counter_bits=16)",
         "multihash(counters=2Ki, counter_bits=13)", 0},
        {"twice the counters", "multihash(counters=4Ki, counter_bits=12)",
         "multihash(counters=2Ki, counter_bits=12)", 2048 * 3 / 2},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        CHECK_ROW(table[i].label,
                  size_of(table[i].more) - size_of(table[i].less) == table[i].bytes);
}

enum { N = 4096, INSIDE = 20 };

/* Tuples that are in the accumulator and others, by turns or by chance. */
static void fill(struct rf_tuple *tuples, bool by_chance)
{
    struct rf_random random;
    rf_random_seed(&random, 5);
    for (size_t i = 0; i < N; i++) {
        bool inside = by_chance ? rf_random_below(&random, 2) == 0 : i % 2 == 0;
        tuples[i] = (struct rf_tuple){inside ? 1 + i % INSIDE : 1000 + i, 0};
    }
}

/* One at a time where a processor can foretell what comes next, in batches where it cannot. */
TEST(the_loop_fits_the_stream)
{
    struct rf_multihash_config config = parse("multihash(interval=10M, threshold=0.1%)");
    config.loop = RF_MULTIHASH_PORTABLE;
    size_t size = (rf_multihash.state_size(&config) + 63) & ~(size_t)63, consumed;
    static struct rf_tuple tuples[N];
    for (int by_chance = 0; by_chance < 2; by_chance++) {
        struct rf_multihash *state = aligned_alloc(64, size);
        struct rf_engine_env env = {.seed = 1};
        REQUIRE(state != NULL);
        memset(state, 0, size);
        REQUIRE(rf_multihash.init(state, &config, &env, NULL) == RF_OK);
        for (uint64_t a = 1; a <= INSIDE; a++)
            rf_multihash.feed_counted(state, (struct rf_tuple){a, 0}, 20000);
        fill(tuples, by_chance);
        rf_multihash.feed(state, tuples, N, &consumed);
        CHECK_EQ(state->batches, by_chance);
        if (rf_multihash.release != NULL)
            rf_multihash.release(state);
        free(state);
    }
}

TEST_MAIN()
