/* The accumulator's index: whatever was entered is found, whatever left is not, full buckets included; one by
 * one and in batches. */
#include "test.h"
#include "base/hash.h"
#include "base/random.h"
#include "engine/multihash/accumulator_batch.h"

/* Hashes that crowd into a few buckets with few tags: every rare path becomes a usual one. */
static uint64_t crowded(const void *context, struct rf_tuple t)
{
    uint64_t hash = rf_hash_multiply(t, rf_hash_key(9));
    return *(const unsigned *)context == 0 ? hash : hash & 0xf000000003000000u;
}

static uint32_t find_slowly(const struct rf_accumulator *accumulator, struct rf_tuple t)
{
    for (uint32_t slot = 1; slot <= accumulator->used; slot++)
        if (accumulator->tuples[slot].a == t.a && accumulator->tuples[slot].b == t.b)
            return slot;
    return RF_ACCUMULATOR_ABSENT;
}

static void put(struct rf_accumulator *accumulator, struct rf_tuple t, rf_accumulator_hash *hash,
                const void *context, struct rf_random *random)
{
    if (accumulator->used < accumulator->slots) {
        accumulator->tuples[++accumulator->used] = t;
        rf_accumulator_enter(accumulator, accumulator->used, hash(context, t));
        return;
    }
    uint32_t slot = 1 + (uint32_t)rf_random_below(random, accumulator->slots);
    rf_accumulator_leave(accumulator, slot, hash, context);
    accumulator->tuples[slot] = t;
    rf_accumulator_enter(accumulator, slot, hash(context, t));
}

static void run(size_t slots, unsigned crowd, struct rf_random *random)
{
    void *block = aligned_alloc(64, (rf_accumulator_size(slots) + 63) / 64 * 64);
    struct rf_accumulator accumulator;
    memset(block, 0, rf_accumulator_size(slots));
    rf_accumulator_place(&accumulator, slots, block);
    CHECK((char *)(accumulator.since + slots + 1) <= (char *)block + rf_accumulator_size(slots));
    for (unsigned i = 0; i < 20000; i++) {
        struct rf_tuple t = {rf_random_below(random, 3 * slots), 0};
        uint32_t slot = rf_accumulator_find(&accumulator, t, crowded(&crowd, t));
        CHECK_EQ(slot, find_slowly(&accumulator, t));
        if (slot == RF_ACCUMULATOR_ABSENT && rf_random_below(random, 4) == 0)
            put(&accumulator, t, crowded, &crowd, random);
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

/* ---- batches ---- */

static const uint64_t batch_seed = 11;

static uint64_t of_batch(const void *context, struct rf_tuple t)
{
    (void)context;
    return rf_hash_multiply(t, rf_hash_key(batch_seed));
}

/* Words that make every kind of product: small, all bits, halves alone. */
static uint64_t draw_word(struct rf_random *random, size_t range)
{
    static const uint64_t extremes[] = {0,
                                        1,
                                        UINT32_MAX,
                                        UINT64_MAX,
                                        UINT64_MAX << 32,
                                        RF_HASH_MULTIPLY_A ^ 11,
                                        0x6659fd93d6e8feb8u};
    uint64_t small = rf_random_below(random, range);
    switch (rf_random_below(random, 4)) {
    case 0:
        return extremes[small % (sizeof extremes / sizeof *extremes)];
    case 1:
        return small * 0x9e3779b97f4a7c15u;
    default:
        return small;
    }
}

static void check_batch(const struct rf_accumulator *accumulator, const struct rf_tuple *tuples,
                        size_t n, const struct rf_accumulator_batch *batch)
{
    size_t found = 0, absent = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t slot = find_slowly(accumulator, tuples[i]);
        CHECK_EQ(batch->slot[i], slot);
        if (slot != RF_ACCUMULATOR_ABSENT) {
            CHECK_EQ(batch->found[found++], slot);
        } else {
            CHECK_EQ(batch->absent[absent], i);
            CHECK_EQ(batch->hash[absent++], of_batch(NULL, tuples[i]));
        }
    }
    CHECK_EQ(batch->n_found, found);
    CHECK_EQ(batch->n_absent, absent);
}

/* All ways through batches of any length, while the accumulator fills up and its tuples change. */
static void run_batches(size_t slots, struct rf_random *random)
{
    void *block = aligned_alloc(64, (rf_accumulator_size(slots) + 63) / 64 * 64);
    struct rf_accumulator accumulator;
    static struct rf_accumulator_batch batch;
    static struct rf_tuple tuples[RF_ACCUMULATOR_BATCH];
    memset(block, 0, rf_accumulator_size(slots));
    rf_accumulator_place(&accumulator, slots, block);
    for (unsigned round = 0; round < 300 && test_failures == 0; round++) {
        size_t n = (size_t)rf_random_below(random, RF_ACCUMULATOR_BATCH + 1);
        for (size_t i = 0; i < n; i++)
            tuples[i] = (struct rf_tuple){draw_word(random, 2 * slots), draw_word(random, 3)};
        for (size_t way = 0; rf_accumulator_way(way) != NULL; way++) {
            rf_accumulator_way(way)(&accumulator, rf_hash_key(batch_seed), tuples, n, &batch);
            check_batch(&accumulator, tuples, n, &batch);
        }
        for (size_t k = 0; k < batch.n_absent; k += 3)
            if (find_slowly(&accumulator, tuples[batch.absent[k]]) == RF_ACCUMULATOR_ABSENT)
                put(&accumulator, tuples[batch.absent[k]], of_batch, NULL, random);
    }
    free(block);
}

TEST(every_way_finds_batches_alike)
{
    static const size_t sizes[] = {1, 2, 7, 100, 300, 1000};
    struct rf_random random;
    rf_random_seed(&random, test_seed(7));
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        run_batches(sizes[i], &random);
}

TEST_MAIN()
