/* The accumulator's index: whatever was entered is found, whatever left is not, full buckets included. */
#include "test.h"
#include "base/hash.h"
#include "base/random.h"
#include "engine/accumulator.h"

/* Hashes that crowd into a few buckets with few tags: every rare path becomes a usual one. */
static uint64_t crowded(const void *context, struct rf_tuple t)
{
    uint64_t hash = rf_hash_multiply(t, 9);
    return *(const unsigned *)context == 0 ? hash : hash & 0xf000000003000000u;
}

static uint32_t find_slowly(const struct rf_accumulator *accumulator, struct rf_tuple t)
{
    for (uint32_t slot = 1; slot <= accumulator->used; slot++)
        if (accumulator->tuples[slot].a == t.a && accumulator->tuples[slot].b == t.b)
            return slot;
    return RF_ACCUMULATOR_ABSENT;
}

static void put(struct rf_accumulator *accumulator, struct rf_tuple t, const unsigned *crowd,
                struct rf_random *random)
{
    if (accumulator->used < accumulator->slots) {
        accumulator->tuples[++accumulator->used] = t;
        rf_accumulator_enter(accumulator, accumulator->used, crowded(crowd, t));
        return;
    }
    uint32_t slot = 1 + (uint32_t)rf_random_below(random, accumulator->slots);
    bool whole = rf_accumulator_leave(accumulator, slot, crowded(crowd, accumulator->tuples[slot]));
    accumulator->tuples[slot] = t;
    if (whole)
        rf_accumulator_enter(accumulator, slot, crowded(crowd, t));
    else
        rf_accumulator_reindex(accumulator, crowded, crowd);
}

static void run(size_t slots, unsigned crowd, struct rf_random *random)
{
    void *block = aligned_alloc(64, (rf_accumulator_size(slots) + 63) / 64 * 64);
    struct rf_accumulator accumulator;
    memset(block, 0, rf_accumulator_size(slots));
    rf_accumulator_place(&accumulator, slots, block);
    for (unsigned i = 0; i < 20000; i++) {
        struct rf_tuple t = {rf_random_below(random, 3 * slots), 0};
        uint32_t slot = rf_accumulator_find(&accumulator, t, crowded(&crowd, t));
        CHECK_EQ(slot, find_slowly(&accumulator, t));
        if (slot == RF_ACCUMULATOR_ABSENT && rf_random_below(random, 4) == 0)
            put(&accumulator, t, &crowd, random);
        if (test_failures > 0)
            break;
    }
    free(block);
}

TEST(finds_what_is_there)
{
    static const size_t sizes[] = {1, 2, 7, 100, 232, 1000};
    struct rf_random random;
    rf_random_seed(&random, test_seed(5));
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (unsigned crowd = 0; crowd < 2; crowd++)
            run(sizes[i], crowd, &random);
}

TEST(the_vector_match_is_the_plain_one)
{
    struct rf_random random;
    rf_random_seed(&random, test_seed(6));
    for (unsigned i = 0; i < 10000; i++) {
        uint16_t bucket[RF_ACCUMULATOR_BUCKET];
        uint16_t mask = (uint16_t)(0xffffu << (1 + rf_random_below(&random, 14)));
        for (unsigned k = 0; k < RF_ACCUMULATOR_BUCKET; k++)
            bucket[k] = (uint16_t)(rf_random_next(&random) & 0x4007);
        uint16_t tag = (uint16_t)(bucket[i % RF_ACCUMULATOR_BUCKET] & mask);
        CHECK_EQ(rf_accumulator_match(bucket, tag, mask),
                 rf_accumulator_match_plain(bucket, tag, mask));
    }
}

TEST_MAIN()
