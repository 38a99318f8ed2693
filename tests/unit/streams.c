/* The engine of hot data streams on strings that can be followed by hand. */
#include <riffle/profiler.h>
#include "engine/streams/grammar.h"
#include "test.h"

/* Letters are references; '|' is a gap; a digit n repeats the letter before it as a count of n. */
static struct rf_profile *profile_of(const char *engine, const char *string, uint64_t interval)
{
    const struct rf_profiler_setup setup = {.interval = interval, .keep_intervals = 1};
    struct rf_profiler *profiler;
    struct rf_profile *profile = NULL;
    struct rf_error error = {""};
    if (rf_profiler_open(&profiler, engine, &setup, &error) != RF_OK) {
        printf("# %s\n", error.message);
        return NULL;
    }
    for (const char *p = string; *p != '\0'; p++) {
        const struct rf_tuple tuple = {(uint64_t)(unsigned char)*p, 0x1000};
        const uint64_t count = p[1] >= '2' && p[1] <= '9' ? (uint64_t)(p[1] - '0') : 1;
        if (*p == '|')
            rf_profiler_gap(profiler);
        else if (*p > '9')
            CHECK(rf_profiler_feed(profiler, &(struct rf_tuples){&tuple, &count, 1}, NULL) ==
                  RF_OK);
    }
    CHECK(rf_profiler_profile(profiler, &profile, NULL) == RF_OK);
    rf_profiler_close(profiler);
    return profile;
}

/* The letters of the stream with this number, its count behind it: "abcd*3". */
static const char *spell(const struct rf_item *items, size_t n, uint64_t number)
{
    static char text[64];
    uint64_t count = 0;
    uint32_t length = 0;
    memset(text, 0, sizeof text);
    for (size_t i = 0; i < n; i++)
        if (items[i].a_hi == number) {
            length = rf_stream_length(&items[i]);
            count = items[i].count;
            text[rf_stream_position(&items[i])] = (char)items[i].a;
        }
    snprintf(text + length, sizeof text - length, "*%" PRIu64, count);
    return text;
}

/* All streams, in the order of the alphabet, with spaces between. */
static const char *spell_all(const struct rf_item *items, size_t n)
{
    static char all[1024];
    char words[8][64];
    size_t n_words = 0;
    for (size_t i = 0; i < n && n_words < 8; i++)
        if (rf_stream_position(&items[i]) == 0)
            strcpy(words[n_words++], spell(items, n, items[i].a_hi));
    qsort(words, n_words, sizeof *words, (int (*)(const void *, const void *))strcmp);
    all[0] = '\0';
    for (size_t i = 0; i < n_words; i++)
        snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", i > 0 ? " " : "", words[i]);
    return all;
}

TEST(streams_of_strings)
{
    static const struct {
        const char *string, *streams;
    } rows[] = {
        {"", ""},
        {"abcdefgh", ""},
        {"abcdabcdabcd", "abcd*3"},
        {"abcdxabcdyabcd", "abcd*3"},
        {"abcdbcabcdbc", "abcdbc*2"}, /* the paper's example: S -> AA, A -> aBdB, B -> bc */
        {"abcd|abcd|abcd", "abcd*3"},
        {"ab|cd|ab|cd|ab|cd", "ab*3 cd*3"}, /* never abcd: that would go across gaps */
        {"abcabcd|||dabcabc", "abcabc*2"},  /* not abcabcd dabcabc */
        {"aaaaaaaa", "aaaa*2"},             /* a run is a stream, too */
        {"a8", "aaaa*2"},                   /* and so is a count */
        {"xabyabzab", "ab*3"},
        {"abcxabcyababab", "ab*3 abc*2"}, /* S -> A x A y B B B, A -> B c, B -> a b */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct rf_profile *profile = profile_of("streams(min=2, max=8, heat=0)", rows[i].string, 0);
        REQUIRE(profile != NULL);
        CHECK_EQ(profile->shape, RF_SHAPE_STREAM);
        CHECK_TEXT(spell_all(profile->items, profile->n_items), rows[i].streams);
        rf_profile_free(profile);
    }
}

TEST(options_choose_among_streams)
{
    static const struct {
        const char *engine, *streams;
    } rows[] = {
        {"streams(min=2, max=8, heat=0)", "abcdef*2 xy*4"},
        {"streams(min=3, max=8, heat=0)", "abcdef*2"},
        {"streams(min=2, max=5, heat=0)", "xy*4"},
        {"streams(min=2, max=8, heat=50%)", "abcdef*2"}, /* 12 of 20, 8 of 20 */
        {"streams(min=2, max=8, heat=70%)", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct rf_profile *profile = profile_of(rows[i].engine, "abcdefxy|xy|abcdef|xy|xy", 0);
        REQUIRE(profile != NULL);
        CHECK_TEXT(spell_all(profile->items, profile->n_items), rows[i].streams);
        rf_profile_free(profile);
    }
}

static double figure(const struct rf_profile *profile, const char *name)
{
    for (size_t i = 0; i < profile->n_figures; i++)
        if (strcmp(profile->figures[i].name, name) == 0)
            return profile->figures[i].value;
    return -1;
}

TEST(coverage_is_the_share_of_references_in_streams)
{
    struct rf_profile *profile =
        profile_of("streams(min=2, heat=0)", "abcdpabcdqabcdr", 0); /* 12 of 15 */
    REQUIRE(profile != NULL);
    CHECK_EQ((uint64_t)(1000 * figure(profile, "coverage-share") + 0.5), 800);
    CHECK_EQ((uint64_t)figure(profile, "grammars"), 1);
    CHECK_EQ((uint64_t)figure(profile, "grammar-rules-max"), 1);
    CHECK_EQ((uint64_t)figure(profile, "grammar-symbols-max"), 4 + 6);
    rf_profile_free(profile);
}

/* An interval ends a string and a grammar; the same stream in two of them is one stream. */
TEST(intervals_add_up)
{
    struct rf_profile *profile = profile_of("streams(min=2, heat=0)", "abcabcababab", 6);
    REQUIRE(profile != NULL && profile->n_intervals == 2);
    CHECK_TEXT(spell_all(profile->interval_items, profile->intervals[0].n), "abc*2");
    CHECK_TEXT(
        spell_all(profile->interval_items + profile->intervals[1].first, profile->intervals[1].n),
        "ab*3");
    CHECK_TEXT(spell_all(profile->items, profile->n_items), "ab*3 abc*2");
    rf_profile_free(profile);
    profile = profile_of("streams(min=2, heat=0)", "abcabcabcabc", 6);
    REQUIRE(profile != NULL);
    CHECK_TEXT(spell_all(profile->items, profile->n_items), "abc*4");
    CHECK_EQ(profile->items[0].intervals, 2);
    rf_profile_free(profile);
}

/* A grammar that has filled its memory ends as an interval does, and nothing is lost. */
TEST(a_full_grammar_is_followed_by_another)
{
    struct rf_profiler *profiler;
    struct rf_profile *profile;
    enum { N = 20000 };
    static struct rf_tuple tuples[N];
    for (size_t i = 0; i < N; i++)
        tuples[i] = (struct rf_tuple){i % 10 < 5 ? i % 10 : 100 + i, 0};
    REQUIRE(rf_profiler_open(&profiler, "streams(memory=16Ki)", NULL, NULL) == RF_OK);
    CHECK(rf_profiler_feed(profiler, &(struct rf_tuples){tuples, NULL, N}, NULL) == RF_OK);
    REQUIRE(rf_profiler_profile(profiler, &profile, NULL) == RF_OK);
    CHECK_EQ(profile->consumed, N);
    CHECK(profile->n_intervals_seen > 10);
    CHECK_EQ(profile->n_items, 5);
    CHECK(profile->items[0].count > N / 10 - 2 * profile->n_intervals_seen);
    CHECK(profile->items[0].count <= N / 10);
    CHECK(profile->memory < (16 << 10) + 4096);
    rf_profile_free(profile);
    rf_profiler_close(profiler);
}

/* A count past every grammar's patience is still all there. */
TEST(a_long_run_is_counted)
{
    struct rf_profiler *profiler;
    struct rf_profile *profile;
    const struct rf_tuple tuple = {7, 7};
    const uint64_t count = UINT64_C(1) << 62;
    REQUIRE(rf_profiler_open(&profiler, "streams", NULL, NULL) == RF_OK);
    CHECK(rf_profiler_feed(profiler, &(struct rf_tuples){&tuple, &count, 1}, NULL) == RF_OK);
    REQUIRE(rf_profiler_profile(profiler, &profile, NULL) == RF_OK);
    CHECK_EQ(profile->consumed, count);
    rf_profile_free(profile);
    rf_profiler_close(profiler);
}

TEST(a_grammar_lies_in_its_block)
{
    static _Alignas(64) char block[RF_GRAMMAR_SIZE_MIN + 64];
    for (size_t size = RF_GRAMMAR_SIZE_MIN; size < sizeof block; size++) {
        struct rf_grammar grammar;
        rf_grammar_init(&grammar, block, size);
        CHECK_EQ((uintptr_t)grammar.names_end % sizeof(struct rf_tuple), 0);
        CHECK((char *)(grammar.tuples + grammar.n_tuple_slots) <= block + size);
        CHECK(grammar.names_max < grammar.n_tuple_slots); /* a search ends at a free slot */
    }
}

TEST_MAIN()
