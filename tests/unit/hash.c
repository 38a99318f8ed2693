/* The papers' hash: the tables give what the steps give, and seeds give different functions. */
#include "base/hash.h"
#include "base/random.h"
#include "test.h"

TEST(tables_agree_with_the_steps)
{
    static struct rf_hash_paper hash;
    struct rf_random random;
    rf_random_seed(&random, test_seed(7));
    for (unsigned bits = 1; bits <= 32; bits++) {
        rf_hash_paper_init(&hash, bits, bits);
        for (int i = 0; i < 1000; i++) {
            struct rf_tuple t = {rf_random_next(&random), rf_random_next(&random) >> i % 64};
            CHECK_EQ(rf_hash_paper(&hash, t), rf_hash_paper_steps(&hash, t));
        }
    }
}

TEST(fold_by_hand)
{
    CHECK_EQ(rf_xorfold(0x1234, 8), 0x12 ^ 0x34);
    CHECK_EQ(rf_xorfold(0xf0f, 4), 0xf ^ 0x0 ^ 0xf);
    CHECK_EQ(rf_xorfold(0, 8), 0);
    CHECK_EQ(rf_xorfold(UINT64_MAX, 32), 0);
}

/* 2^16 consecutive tuples into 2^10 places: every place gets its 64, give or take. */
static unsigned fullest(uint64_t seed)
{
    static unsigned place[1024];
    memset(place, 0, sizeof place);
    unsigned most = 0;
    const struct rf_hash_key key = rf_hash_key(seed);
    for (uint64_t i = 0; i < 1 << 16; i++) {
        unsigned n =
            ++place[rf_hash_multiply((struct rf_tuple){0x400000 + i % 256 * 4, i / 256}, key) >>
                    54];
        most = n > most ? n : most;
    }
    return most;
}

TEST(multiply_spreads_regular_tuples)
{
    for (uint64_t seed = 0; seed < 8; seed++)
        CHECK(fullest(seed) < 128);
}

TEST(lfsr_has_no_short_cycle)
{
    uint32_t state = 1;
    for (int i = 0; i < 1000000; i++) {
        state = rf_lfsr_next(state);
        REQUIRE(state != 0 && state != 1);
    }
}

TEST_MAIN()
