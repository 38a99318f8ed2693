/* The cache model against lists moved by hand: the same levels missed, access by access. */
#include <riffle/cache.h>
#include "base/random.h"
#include "reference/cache.h"
#include "test.h"

enum stream { RANDOM, LOCAL, STRIDE, WALK_BACK, STREAMS };
static const char *const stream_names[] = {"random", "local", "stride", "walk back"};

struct maker {
    struct rf_random random;
    uint64_t at, stride;
};

static uint64_t next_address(struct maker *maker, enum stream stream)
{
    uint64_t r = rf_random_next(&maker->random);
    switch (stream) {
    case RANDOM:
        return r >> 44;
    case LOCAL: /* mostly near the last one, sometimes far away */
        maker->at = r % 64 == 0 ? r >> 40 : maker->at + (r >> 32) % 200 - 100;
        return maker->at;
    case STRIDE:
        return maker->at += maker->stride;
    default:
        return maker->at -= r % 24;
    }
}

static void compare(const char *text, enum stream stream, uint64_t seed)
{
    struct rf_cache_shape shape;
    struct rf_cache *cache;
    struct slow_cache slow;
    struct maker maker = {.at = seed * 4096};
    uint64_t differ = 0, missed[2] = {0, 0};
    REQUIRE(rf_cache_parse(&shape, text, NULL) == RF_OK);
    REQUIRE(rf_cache_open(&cache, text, NULL, NULL) == RF_OK);
    slow_cache_init(&slow, &shape);
    rf_random_seed(&maker.random, seed);
    maker.stride = 1 + rf_random_next(&maker.random) % 300;
    for (unsigned i = 0; i < 30000; i++) {
        uint64_t addr = next_address(&maker, stream);
        unsigned bytes = 1u << rf_random_next(&maker.random) % 8;
        unsigned fast = rf_cache_access(cache, addr, bytes, i % 2 ? RF_CACHE_LOAD : RF_CACHE_STORE);
        differ += fast != slow_cache_access(&slow, addr, bytes);
        missed[i % 2 ? RF_CACHE_LOAD : RF_CACHE_STORE] += fast > 0;
    }
    struct rf_cache_stats stats = rf_cache_stats(cache, 0);
    CHECK_ROW(stream_names[stream], differ == 0);
    CHECK_ROW(text, stats.misses[RF_CACHE_LOAD] == missed[RF_CACHE_LOAD]);
    CHECK_ROW(text, stats.misses[RF_CACHE_STORE] == missed[RF_CACHE_STORE]);
    CHECK_ROW(text, missed[0] + missed[1] > 0);
    slow_cache_release(&slow);
    rf_cache_close(cache);
}

TEST(the_model_agrees_with_lists)
{
    static const char *const shapes[] = {
        "l1=64/2/16,l2=128/4/16",
        "l1=1Ki/1/32,l2=4Ki/16/64",
        "l1=3Ki/3/64,l2=6Ki/6/128,l3=16Ki/8/128",
        "l1=32Ki/8/64,l2=1Mi/16/64",
        "l1=256/16/4",
    };
    uint64_t seed = test_seed(20061);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (unsigned stream = 0; stream < STREAMS; stream++)
            compare(shapes[i], (enum stream)stream, seed + i);
}

TEST_MAIN()
