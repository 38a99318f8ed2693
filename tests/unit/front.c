/* Merging repeats: what goes out adds up to what came in, and merging that does not pay ends. */
#include "base/random.h"
#include "source/decode.h"
#include "test.h"

enum { KEYS = 5000, EVENTS = 200000 };

static struct rf_tuple tuple_of(uint64_t key)
{
    return (struct rf_tuple){0x400000 + key % 61, key / 61};
}

static uint64_t key_of(struct rf_tuple t)
{
    return t.b * 61 + t.a - 0x400000;
}

static uint64_t seen[KEYS], wanted[KEYS];

static void take(const struct rf_front *front, const struct rf_tuple *out, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        CHECK(front->counts[i] > 0);
        seen[key_of(out[i])] += front->counts[i];
    }
}

TEST(what_goes_out_adds_up_to_what_came_in)
{
    static struct rf_front front;
    static struct rf_tuple out[RF_FRONT_ROOM];
    struct rf_random random;
    size_t n = 0, went_out = 0;
    rf_random_seed(&random, test_seed(5));
    for (size_t i = 0; i < EVENTS; i++) {
        uint64_t key = rf_random_below(&random, 1 + rf_random_below(&random, KEYS));
        wanted[key]++;
        n = rf_front_put(&front, tuple_of(key), out, n);
        if (n < 1000)
            continue;
        take(&front, out, n);
        went_out += n;
        n = 0;
    }
    take(&front, out, n);
    n = rf_front_empty(&front, out);
    CHECK(n > KEYS / 4 && n <= RF_FRONT_ENTRIES);
    take(&front, out, n);
    CHECK_EQ(rf_front_empty(&front, out), 0);
    CHECK_EQ(memcmp(seen, wanted, sizeof seen), 0);
    CHECK(went_out < EVENTS / 2); /* it does merge */
}

TEST(a_tuple_of_zeroes_is_a_tuple)
{
    static struct rf_front front;
    static struct rf_tuple out[RF_FRONT_ROOM];
    size_t n = rf_front_put(&front, (struct rf_tuple){0, 0}, out, 0);
    n = rf_front_put(&front, (struct rf_tuple){0, 0}, out, n);
    CHECK_EQ(n, 0);
    CHECK_EQ(rf_front_empty(&front, out), 1);
    CHECK_EQ(front.counts[0], 2);
}

TEST(merging_that_does_not_pay_ends_and_is_tried_again)
{
    static struct rf_front front;
    static struct rf_tuple out[RF_FRONT_ROOM];
    struct rf_decode_lane lane = {
        .tuples = out, .front = &front, .merging = &front, .has_counts = true};
    rf_front_put(&front, tuple_of(7), out, 0);
    rf_decode_begin_batch(&lane, RF_SOURCE_BATCH, 50 * RF_SOURCE_BATCH);
    CHECK(lane.merging == &front && lane.n == 0);
    rf_decode_begin_batch(&lane, 10, 12); /* too small to judge by */
    CHECK(lane.merging == &front);
    rf_decode_begin_batch(&lane, RF_SOURCE_BATCH, 2 * RF_SOURCE_BATCH);
    CHECK(lane.merging == NULL);
    CHECK_EQ(lane.n, 1); /* what was inside goes out next */
    CHECK(lane.has_counts && front.counts[0] == 1 && key_of(out[0]) == 7);
    unsigned batches = 0;
    do {
        rf_decode_begin_batch(&lane, RF_SOURCE_BATCH, RF_SOURCE_BATCH);
        CHECK_EQ(lane.n, 0);
        CHECK(lane.has_counts == (lane.merging != NULL));
        batches++;
    } while (lane.merging == NULL && batches < 100000);
    CHECK(batches > 10 && batches < 100000);
}

/* Tuples that were not merged, from an empty front: what comes next has no counts. */
TEST(an_empty_front_leaves_no_counts_behind)
{
    static struct rf_front front;
    static struct rf_tuple out[RF_FRONT_ROOM];
    struct rf_decode_lane lane = {
        .tuples = out, .front = &front, .merging = &front, .has_counts = true};
    rf_decode_append(&lane, 3);
    CHECK(lane.n == 3 && front.counts[0] == 1 && front.counts[2] == 1);
    rf_decode_begin_batch(&lane, RF_SOURCE_BATCH, RF_SOURCE_BATCH);
    CHECK(lane.merging == NULL && lane.n == 0 && !lane.has_counts);
}

TEST_MAIN()
