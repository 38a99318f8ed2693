/* The cache model on streams short enough to follow by hand. */
#include <riffle/cache.h>
#include "failing.h"
#include "test.h"

TEST(a_shape_is_read_and_printed)
{
    static const struct {
        const char *text, *printed;
    } rows[] = {
        {NULL, "l1=32Ki/8/64,l2=1Mi/16/64"},
        {"l1=32Ki/8/64,l2=1Mi/16/64", "l1=32Ki/8/64,l2=1Mi/16/64"},
        {"l1=64/1/4", "l1=64/1/4"},
        {"l1=48Ki/12/64", "l1=48Ki/12/64"},
        {"l1=16384/4/32,l2=2Mi/8/64,l3=8Mi/16/128", "l1=16Ki/4/32,l2=2Mi/8/64,l3=8Mi/16/128"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct rf_cache_shape shape;
        struct rf_error error = {""};
        char text[100], *label = rows[i].text != NULL ? (char *)rows[i].text : "default";
        CHECK_ROW(label, rf_cache_parse(&shape, rows[i].text, &error) == RF_OK);
        CHECK_EQ(rf_cache_print(&shape, text, sizeof text), strlen(rows[i].printed));
        CHECK_TEXT(text, rows[i].printed);
    }
}

TEST(a_shape_that_makes_no_sense_is_refused_with_its_level)
{
    static const struct {
        const char *text, *message;
    } rows[] = {
        {"", "cache: expected 'l1=SIZE/WAYS/LINE', got ''"},
        {"l2=1Mi/16/64", "cache: expected 'l1=SIZE/WAYS/LINE', got 'l2=1Mi/16/64'"},
        {"l1=32Ki/8", "cache l1: expected SIZE/WAYS/LINE, got '32Ki/8'"},
        {"l1=32Ki/8/64/", "cache l1: expected SIZE/WAYS/LINE, got '32Ki/8/64/'"},
        {"l1=32Ki/8/64/1", "cache l1: expected SIZE/WAYS/LINE, got '32Ki/8/64/1'"},
        {"l1=x/8/64", "cache l1: expected SIZE/WAYS/LINE, got 'x/8/64'"},
        {"l1=32Ki/0/64", "cache l1: ways must be between 1 and 16"},
        {"l1=32Ki/8/48", "cache l1: a line must be a power of two between 4 and 4096 bytes"},
        {"l1=30Ki/8/64", "cache l1: size must be ways x line x a power of two, got 30720"},
        {"l1=64/2/64", "cache l1: size must be ways x line x a power of two, got 64"},
        {"l1=32Ki/8/64,l2=1Mi/16/32", "cache l2: its lines are shorter than those of l1"},
        {"l1=1Gi/8/64,l2=8Gi/16/64", "cache l2: size must be at most 4Gi"},
        {"l1=64/1/4,", "cache: expected 'l2=SIZE/WAYS/LINE', got ''"},
        {"l1=64/1/4,l2=64/1/4,l3=64/1/4,l4=64/1/4", "cache: more than 3 levels"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct rf_cache_shape shape;
        struct rf_error error = {""};
        CHECK_ROW(rows[i].text, rf_cache_parse(&shape, rows[i].text, &error) == RF_EINVAL);
        CHECK_TEXT(error.message, rows[i].message);
    }
}

/* L1: 2 sets of 2 ways, lines of 16 bytes. L2: 2 sets of 4 ways. */
static const char SMALL[] = "l1=64/2/16,l2=128/4/16";

TEST(a_stream_followed_by_hand)
{
    static const struct {
        const char *label;
        uint64_t addr;
        unsigned bytes, missed;
    } rows[] = {
        {"cold", 0x00, 4, 2},
        {"same line", 0x0c, 4, 0},
        {"second way of set 0", 0x20, 8, 2},
        {"first is still there and now the most recent", 0x00, 1, 0},
        {"pushes 0x20 out of L1", 0x40, 4, 2},
        {"0x00 was the more recent and stayed", 0x00, 4, 0},
        {"0x20 is in L2 only; pushes 0x40 out", 0x20, 4, 1},
        {"0x40 is in L2 only", 0x40, 4, 1},
        {"the other set is cold", 0x10, 4, 2},
        {"a straddle: 0x40 hits, 0x50 is cold", 0x4c, 8, 2},
        {"the same again", 0x4c, 8, 0},
        {"no bytes touch one line", 0x50, 0, 0},
        {"the end of memory wraps to line 0, which fell out of L1", UINT64_MAX - 3, 8, 2},
    };
    struct rf_cache *cache;
    REQUIRE(rf_cache_open(&cache, SMALL, NULL, NULL) == RF_OK);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        unsigned missed = rf_cache_access(cache, rows[i].addr, rows[i].bytes, RF_CACHE_LOAD);
        CHECK_ROW(rows[i].label, missed == rows[i].missed);
    }
    rf_cache_close(cache);
}

TEST(records_get_their_miss_and_others_are_left_alone)
{
    struct rf_record records[] = {
        {.kind = RF_CLASS_LOAD, .addr = 0x1000, .width = 64},
        {.kind = RF_CLASS_BRANCH, .addr = 0x2000, .miss = 7},
        {.kind = RF_CLASS_STORE, .addr = 0x1008, .width = 32, .miss = 9},
        {.kind = RF_CLASS_STORE, .addr = 0x2000, .width = 8},
        {.kind = RF_CLASS_LOAD, .addr = 0x103c, .width = 64},
    };
    static const uint8_t expected[] = {2, 7, 0, 2, 2};
    struct rf_cache *cache;
    REQUIRE(rf_cache_open(&cache, NULL, NULL, NULL) == RF_OK);
    rf_cache_fill(cache, records, 5);
    for (size_t i = 0; i < 5; i++)
        CHECK_EQ(records[i].miss, expected[i]);
    struct rf_cache_stats first = rf_cache_stats(cache, 0), second = rf_cache_stats(cache, 1);
    CHECK_EQ(first.accesses[RF_CACHE_LOAD], 2);
    CHECK_EQ(first.misses[RF_CACHE_LOAD], 2);
    CHECK_EQ(first.accesses[RF_CACHE_STORE], 2);
    CHECK_EQ(first.misses[RF_CACHE_STORE], 1);
    CHECK_EQ(second.accesses[RF_CACHE_STORE], 1);
    CHECK_EQ(second.misses[RF_CACHE_STORE], 1);
    CHECK_EQ(rf_cache_stats(cache, 2).accesses[RF_CACHE_LOAD], 0);
    rf_cache_close(cache);
}

TEST(two_first_levels_share_a_second_one)
{
    struct rf_cache *data, *code, *wide;
    REQUIRE(rf_cache_open(&data, SMALL, NULL, NULL) == RF_OK);
    REQUIRE(rf_cache_open(&code, "l1=64/2/16", NULL, NULL) == RF_OK);
    REQUIRE(rf_cache_open(&wide, "l1=64/1/64", NULL, NULL) == RF_OK);
    CHECK_EQ(rf_cache_join(wide, data), RF_EINVAL);
    CHECK_EQ(rf_cache_join(data, code), RF_EINVAL);
    CHECK_EQ(rf_cache_join(code, data), RF_OK);
    CHECK_EQ(rf_cache_access(data, 0x100, 4, RF_CACHE_LOAD), 2);
    CHECK_EQ(rf_cache_access(code, 0x100, 4, RF_CACHE_LOAD), 1);
    CHECK_EQ(rf_cache_access(code, 0x200, 4, RF_CACHE_LOAD), 2);
    CHECK_EQ(rf_cache_access(data, 0x200, 4, RF_CACHE_LOAD), 1);
    CHECK_EQ(rf_cache_stats(data, 1).accesses[RF_CACHE_LOAD], 4);
    CHECK_EQ(rf_cache_stats(data, 1).misses[RF_CACHE_LOAD], 2);
    rf_cache_flush(code);
    CHECK_EQ(rf_cache_access(code, 0x200, 4, RF_CACHE_LOAD), 1);
    CHECK_EQ(rf_cache_access(data, 0x200, 4, RF_CACHE_LOAD), 0);
    rf_cache_close(code);
    rf_cache_close(data);
    rf_cache_close(wide);
}

TEST(no_memory_is_an_error_with_a_sentence)
{
    struct failing failing = {.fail_at = 1};
    const struct rf_alloc alloc = failing_alloc(&failing);
    struct rf_cache *cache;
    struct rf_error error = {""};
    CHECK_EQ(rf_cache_open(&cache, NULL, &alloc, &error), RF_ENOMEM);
    CHECK(strstr(error.message, "bytes of tags") != NULL);
}

TEST_MAIN()
