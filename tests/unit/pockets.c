/* pockets.c - words of one place that hooks tell together, whole and damaged. The producer is this test itself. */
#include "counted.h"

enum { WORDS = RF_RING_POCKET_WORDS, LONGEST = RF_WORD_POCKET_HEAD + 64, NONE = 3 };

/* Path 0 loads a word that changes, path 1 one that does not; path 2 has two loads. */
static const uint64_t places[] = {
    RF_WORD_HEADER(RF_WORD_DEFINE, 6),
    PATHS(0, 1),
    1,
    1,
    RF_CLASS_LOAD | 64 << 16 | OPEN | DYNAMIC(VALUE),
    0x40,
    RF_WORD_HEADER(RF_WORD_DEFINE, 6),
    PATHS(1, 1),
    1,
    0,
    RF_CLASS_LOAD | 64 << 16 | OPEN,
    0x50,
    RF_WORD_HEADER(RF_WORD_DEFINE, 8),
    PATHS(2, 1),
    2,
    1,
    RF_CLASS_LOAD | 64 << 16 | OPEN | DYNAMIC(VALUE),
    0x60,
    RF_CLASS_LOAD | 64 << 16 | OPEN,
    0x64,
};
enum { PLACES = sizeof places / 8 };

static struct rf_ring_slot *open_hooks(const char *selector)
{
    hooks = 1;
    struct rf_ring_slot *slot = open_ring(selector, 0);
    slot->family = 1;
    slot->places = RF_RING_PLACES_MIN;
    publish(slot, places, PLACES, RF_RING_LIVE);
    return slot;
}

static struct rf_ring_pocket *pocket_at(uint32_t number)
{
    return rf_ring_pockets_in(counters_of(0)) + number;
}

/* Numbers 1 to 63 times `step`, of so many bits each, behind one that means nothing. */
static void write_message(uint64_t *to, unsigned bits, uint64_t base, uint64_t step)
{
    to[0] = RF_WORD_HEADER(RF_WORD_POCKET, RF_WORD_POCKET_HEAD + bits);
    to[1] = (uint64_t)bits << 32;
    to[2] = base;
    for (unsigned i = 0; i <= WORDS; i++) {
        uint64_t number = i == 0 ? UINT64_MAX : i * step;
        memcpy((uint8_t *)(to + RF_WORD_POCKET_HEAD) + i * bits / 8, &number, bits / 8);
    }
}

static struct seen run(const uint64_t *words, size_t n)
{
    publish(open_hooks("load -> value,pc"), words, n, RF_RING_DONE);
    return drain();
}

/* ---- messages ---- */

TEST(numbers_of_every_width)
{
    static const struct {
        const char *label;
        unsigned bits;
        uint64_t base, step;
    } rows[] = {
        {"no bits", 0, 0x1122334455667788, 0},
        {"8 bits", 8, 0, 4},
        {"8 bits, and what all have", 8, 0x1122334455667700, 4},
        {"16 bits", 16, 0xffff0000, 1000},
        {"32 bits", 32, UINT64_C(0x8000000000000000), 0x3ffffff},
        {"64 bits", 64, 0, UINT64_C(0x3ffffffffffffff)},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint64_t message[LONGEST];
        write_message(message, rows[i].bits, rows[i].base, rows[i].step);
        struct seen seen = run(message, RF_WORD_POCKET_HEAD + rows[i].bits);
        CHECK_ROW(rows[i].label, seen.status == RF_OK && seen.events == WORDS);
        CHECK_ROW(rows[i].label,
                  seen.a == WORDS * rows[i].base + WORDS * (WORDS + 1) / 2 * rows[i].step);
    }
}

/* A batch ends within some chunk. */
TEST(more_messages_than_a_lane_has_room_for)
{
    enum { MESSAGES = 100, CHUNKS = 20, OF_ONE = RF_WORD_POCKET_HEAD + 64 };
    static uint64_t messages[MESSAGES * OF_ONE];
    struct rf_ring_slot *slot = open_hooks("load -> value,pc");
    uint64_t sum = 0;
    for (unsigned chunk = 0; chunk < CHUNKS; chunk++) {
        for (uint64_t i = 0; i < MESSAGES; i++) {
            uint64_t step = chunk * MESSAGES + i + 1;
            write_message(messages + i * OF_ONE, 64, 0, step);
            sum += WORDS * (WORDS + 1) / 2 * step;
        }
        publish(slot, messages, MESSAGES * OF_ONE,
                chunk == CHUNKS - 1 ? RF_RING_DONE : RF_RING_LIVE);
    }
    struct seen seen = drain();
    CHECK(seen.status == RF_OK);
    CHECK_EQ(seen.events, MESSAGES * CHUNKS * WORDS);
    CHECK_EQ(seen.a, sum);
}

TEST(damaged_messages)
{
    static const struct {
        const char *label;
        uint32_t path, bits, length;
        size_t there; /* words that are */
    } rows[] = {
        {"7 bits", 0, 7, 10, 10},
        {"24 bits", 0, 24, 27, 27},
        {"128 bits", 0, 128, 131, 131},
        {"2^31 bits", 0, UINT32_C(1) << 31, 3, 67},
        {"one word too few", 0, 8, 10, 10},
        {"one word too many", 0, 8, 12, 12},
        {"no length", 0, 8, 0, 11},
        {"a header alone", 0, 8, 1, 11},
        {"no numbers", 0, 64, 3, 67},
        {"cut off", 0, 64, 67, 66},
        {"longer than a chunk", 0, 64, UINT32_MAX, 67},
        {"a path that is not there", NONE, 8, 11, 11},
        {"a path of 2^31", UINT32_C(1) << 31, 8, 11, 11},
        {"a path without a word", 1, 8, 11, 11},
        {"a path of two loads", 2, 8, 11, 11},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint64_t message[256] = {RF_WORD_HEADER(RF_WORD_POCKET, 0) | rows[i].length,
                                 rows[i].path | (uint64_t)rows[i].bits << 32};
        struct seen seen = run(message, rows[i].there);
        CHECK_ROW(rows[i].label, seen.status == RF_EDAMAGED && seen.error.message[0] != '\0');
        CHECK_ROW(rows[i].label, seen.events == 0);
    }
}

/* ---- what is left in pockets ---- */

TEST(what_is_left_is_read_at_the_end)
{
    static const struct {
        const char *label;
        uint32_t fill, path;
        uint64_t events;
    } rows[] = {
        {"not in use", 0, 0, 0},
        {"empty", 8, 0, 0},
        {"one word", 16, 0, 1},
        {"half of a word", 20, 0, 1},
        {"full", RF_RING_POCKET, 0, WORDS},
        {"more than full", RF_RING_POCKET + 8, 0, 0},
        {"far too full", UINT32_MAX, 0, 0},
        {"less than its head", 7, 0, 0},
        {"a path that is not there", 16, NONE, 0},
        {"a path without a word", 16, 1, 0},
        {"a path of two loads", 16, 2, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct rf_ring_slot *slot = open_hooks("load -> value,pc");
        *pocket_at(0) = (struct rf_ring_pocket){.fill = rows[i].fill, .path = rows[i].path};
        *pocket_at(1) = (struct rf_ring_pocket){.fill = 24, .words = {1000, 2000, 4000}};
        *pocket_at(2) = (struct rf_ring_pocket){.fill = 24, .words = {1, 2}}; /* not begun */
        for (unsigned k = 0; k < WORDS; k++)
            pocket_at(0)->words[k] = 5;
        slot->pockets = 2;
        slot->state = RF_RING_DONE;
        struct seen seen = drain();
        CHECK_ROW(rows[i].label, seen.status == RF_OK && seen.events == rows[i].events + 2);
        CHECK_ROW(rows[i].label, seen.a == 3000 + 5 * rows[i].events);
    }
}

TEST(as_many_pockets_as_there_can_be)
{
    struct rf_ring_slot *slot = open_hooks("load -> value,pc");
    for (uint32_t i = 0; i < RF_RING_POCKETS; i += 100)
        *pocket_at(i) = (struct rf_ring_pocket){.fill = 24, .words = {i, 1}};
    slot->pockets = RF_RING_POCKETS;
    slot->state = RF_RING_DONE;
    struct seen seen = drain();
    const uint64_t n = RF_RING_POCKETS / 100 + 1;
    CHECK_EQ(seen.events, 2 * n);
    CHECK_EQ(seen.a, n + 100 * (n * (n - 1) / 2));
    slot = open_hooks("load -> value,pc");
    *pocket_at(0) = (struct rf_ring_pocket){.fill = 24};
    slot->pockets = RF_RING_POCKETS + 1;
    slot->state = RF_RING_DONE;
    seen = drain();
    CHECK(seen.status == RF_OK);
    CHECK_EQ(seen.events, 0);
}

TEST_MAIN()
