/* derived.c - events whose words follow from another one's. The producer is this test itself. */
#include "counted.h"

#define ALL_BITS   UINT64_MAX
#define DERIVED    (OPEN | MERGED(VALUE) | RF_SHAPE_DERIVED)
#define PART(name) (UINT64_C(1) << (RF_DERIVE_PARTS_SHIFT + RF_DERIVE_##name))
#define SHIFT(by)  ((uint64_t)(by) << RF_DERIVE_SHIFT_SHIFT)

/* A load of 32 bits, one more than that as a result, the same as it is stored; a byte, and its double, halved and turned
 * round. */
static const uint64_t block[] = {
    HEADER_OF((uint64_t[25]){0}),
    PATHS(0, 1),
    5 | RF_DEFINE_COUNTED,
    0,
    RF_CLASS_LOAD | 32 << 16 | OPEN | MERGED(VALUE),
    0x40,
    RF_CLASS_ALU | 32 << 16 | DERIVED,
    0x41,
    0 | PART(ADD) | PART(MASK),
    1,
    0xffffffff,
    RF_CLASS_STORE | 32 << 16 | DERIVED,
    0x42,
    0,
    RF_CLASS_LOAD | 8 << 16 | OPEN | MERGED(VALUE) | RF_SHAPE_VALUES,
    0x43,
    RF_CLASS_ALU | 64 << 16 | DERIVED,
    0x44,
    3 | SHIFT(2) | PART(ADD) | PART(MASK) | PART(TIMES) | PART(MORE) | PART(LAST),
    3,
    0xf0,
    8,
    ALL_BITS,
    0xffff,
    RF_WORD_HEADER(RF_WORD_GOES_ON, 1),
};
enum { BLOCK = sizeof block / 8 - 1 };

static void count_byte(uint32_t value, uint64_t times)
{
    counters_of(0)[rf_word_value_counters(0) + value] = times;
}

static struct seen run(const char *selector, const uint64_t *words, size_t n)
{
    uint64_t told[sizeof block / 8];
    memcpy(told, block, sizeof block);
    told[0] = RF_WORD_HEADER(RF_WORD_DEFINE, BLOCK);
    struct rf_ring_slot *slot = open_ring(selector, 0);
    count_byte(200, 3);
    publish(slot, told, BLOCK, RF_RING_LIVE);
    publish(slot, words, n, RF_RING_DONE);
    return drain();
}

TEST(words_are_computed)
{
    const uint64_t words[] = {rf_entry(0, 5), 7, rf_entry(0, 2), 0xffffffff};
    struct seen seen = run("load -> value,pc", words, 4);
    CHECK(seen.status == RF_OK);
    CHECK_EQ(seen.a, 5 * 7 + 2 * UINT64_C(0xffffffff) + 3 * 200);
    CHECK_EQ(run("store -> value,pc", words, 4).a, 5 * 7 + 2 * UINT64_C(0xffffffff));
    seen = run("alu -> value,pc", words, 4);
    CHECK_EQ(seen.events, 5 + 2 + 3);
    CHECK_EQ(seen.a, 5 * 8 + 2 * 0 + 3 * ((203 & 0xf0) * 8 / 4 - 1));
    CHECK_EQ(run("load,store,alu -> pc,value", words, 4).events, 2 * 7 + 3 + 10);
}

/* Conditions see the word that was computed. */
TEST(conditions_look_at_computed_words)
{
    const uint64_t words[] = {rf_entry(0, 5), 7, rf_entry(0, 2), 0xffffffff};
    CHECK_EQ(run("load,alu value>=300 -> pc,value", words, 4).events, 2 + 3);
    CHECK_EQ(run("alu width==0 -> pc", words, 4).events, 2);
}

TEST(more_of_them_than_a_lane_has_room_for)
{
    enum { WORDS = 8000 };
    static uint64_t words[WORDS];
    for (size_t i = 0; i < WORDS; i += 2) {
        words[i] = rf_entry(0, i % 4 == 0 ? 1 : 3);
        words[i + 1] = i;
    }
    struct seen seen = run("load,store,alu -> pc,value", words, WORDS);
    CHECK(seen.status == RF_OK);
    CHECK_EQ(seen.events, 3 * WORDS + 2 * 3);
}

/* Many events that follow from one byte: lanes are full between two of them. Each is 1 more than the one before. */
static size_t describe_many(uint64_t *to, uint32_t path)
{
    size_t n = 4;
    to[n++] = RF_CLASS_LOAD | 8 << 16 | OPEN | MERGED(VALUE) | RF_SHAPE_VALUES;
    to[n++] = 0x40;
    for (uint32_t i = 0; i < RF_DERIVED_MAX; i++) {
        to[n++] = RF_CLASS_LOAD | 64 << 16 | DERIVED;
        to[n++] = 0x40;
        to[n++] = 0 | PART(ADD);
        to[n++] = i + 1;
    }
    to[0] = RF_WORD_HEADER(RF_WORD_DEFINE, n);
    to[1] = PATHS(path, 1);
    to[2] = (1 + RF_DERIVED_MAX) | RF_DEFINE_COUNTED;
    to[3] = 0;
    return n;
}

TEST(many_from_a_byte)
{
    enum { ALL = (1 + RF_DERIVED_MAX) * RF_WORD_VALUES };
    uint64_t told[4 + 2 + 4 * RF_DERIVED_MAX];
    struct rf_ring_slot *slot = open_ring("load -> value", 0);
    for (uint32_t value = 0; value < RF_WORD_VALUES; value++)
        count_byte(value, 2);
    publish(slot, told, describe_many(told, 0), RF_RING_DONE);
    struct seen seen = drain();
    CHECK(seen.status == RF_OK);
    CHECK_EQ(seen.n, ALL);
    CHECK_EQ(seen.events, 2 * ALL);
    CHECK_EQ(seen.a, UINT64_C(255) * ALL + RF_DERIVED_MAX * (RF_DERIVED_MAX + 1) * RF_WORD_VALUES);
}

TEST(who_peeks_sees_them)
{
    struct rf_batch batch;
    struct seen peeked = {0};
    uint64_t told[4 + 2 + 4 * RF_DERIVED_MAX];
    wakes = 1;
    struct rf_ring_slot *slot = open_ring("load -> value", 0);
    wakes = 0;
    count_byte(7, 2);
    publish(slot, told, describe_many(told, 0), RF_RING_LIVE);
    do
        CHECK(rf_source_next(source, &batch, NULL) == RF_OK);
    while (!batch.idle);
    CHECK(rf_source_counted(source, add_told, &peeked, NULL) == RF_OK);
    CHECK_EQ(peeked.n, 1 + RF_DERIVED_MAX);
    CHECK_EQ(peeked.a, 2 * (7 * (1 + RF_DERIVED_MAX) + RF_DERIVED_MAX * (RF_DERIVED_MAX + 1) / 2));
    slot->state = RF_RING_DONE;
    CHECK_EQ(drain().events, 2 * (1 + RF_DERIVED_MAX));
}

/* --- lies ------------------------------------------------------------------------------------- */

static rf_status lie(size_t at, uint64_t word)
{
    uint64_t told[sizeof block / 8];
    memcpy(told, block, sizeof block);
    told[0] = RF_WORD_HEADER(RF_WORD_DEFINE, BLOCK);
    told[at] = word;
    publish(open_ring("load -> pc,value", 0), told, BLOCK, RF_RING_DONE);
    return drain().status;
}

TEST(lies_about_derived_words_are_damage)
{
    enum { HOW_STORE = 13, HOW_LAST = 18 };
    CHECK(lie(HOW_STORE, 0) == RF_OK);
    CHECK(lie(HOW_STORE, 1) == RF_EDAMAGED);                 /* from what is derived itself */
    CHECK(lie(HOW_STORE, 2) == RF_EDAMAGED);                 /* from itself */
    CHECK(lie(HOW_STORE, 3) == RF_EDAMAGED);                 /* from what comes later */
    CHECK(lie(HOW_STORE, UINT64_C(1) << 40) == RF_EDAMAGED); /* parts that there are not */
    CHECK(lie(HOW_STORE, PART(ADD)) == RF_EDAMAGED);         /* a part that does not follow */
    CHECK(lie(HOW_LAST, block[HOW_LAST] | SHIFT(64)) == RF_EDAMAGED);
    CHECK(lie(11, block[11] ^ MERGED(VALUE)) == RF_EDAMAGED); /* nothing of it changes */
    uint64_t told[4 + 2 + 4 * RF_DERIVED_MAX + 4];
    size_t n = describe_many(told, 0);
    memcpy(told + n, told + n - 4, 4 * 8); /* one too many */
    told[0] = RF_WORD_HEADER(RF_WORD_DEFINE, n + 4);
    told[2]++;
    publish(open_ring("load -> value", 0), told, n + 4, RF_RING_DONE);
    CHECK(drain().status == RF_EDAMAGED);
}

TEST_MAIN()
