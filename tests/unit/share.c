/* share.c - the events of lanes that share an engine, counted by stretches of one tag. */
#include "collect/share.h"
#include "base/alloc.h"
#include "test.h"

enum { LANES = 3, EVENTS_MAX = 1024 };

/* The tags of a piece, as lengths of stretches: of lane 0, 1, 2, 0, .. ; closed by 0. */
static const struct {
    const char *title;
    size_t stretches[8];
    uint64_t consumed[LANES];
} pieces[] = {
    {"one lane", {1}, {1, 0, 0}},
    {"a whole block", {64}, {64, 0, 0}},
    {"a change at the end of a block", {64, 64}, {64, 64, 0}},
    {"a change inside a block", {65, 63, 1}, {65, 63, 1}},
    {"a change in the last block", {130, 5, 129, 2}, {132, 5, 129}},
    {"many short ones", {1, 1, 1, 1, 1, 1, 1}, {3, 2, 2}},
};

static size_t mark(struct rf_tuple *tuples, const size_t *stretches, const unsigned *tags)
{
    size_t n = 0;
    for (size_t i = 0; stretches[i] > 0; i++)
        for (size_t k = 0; k < stretches[i]; k++, n++)
            rf_share_mark(&tuples[n], &(struct rf_tuple){0x400000 + k, 0}, 1, tags[i % LANES]);
    return n;
}

static void check_lane(const struct rf_profile *all, const struct rf_share_tally *tally,
                       unsigned tag, uint64_t consumed)
{
    struct rf_profile *part = NULL;
    const struct rf_share share = {.tag = tag, .selector = "call -> pc", .produced = consumed + 7};
    REQUIRE(rf_share_take(&part, all, tally, &share) == RF_OK);
    CHECK_EQ(part->consumed, consumed);
    CHECK_EQ(part->lost, 7);
    rf_profile_free(part);
}

static void check_piece(size_t row, uint64_t interval)
{
    static struct rf_tuple tuples[EVENTS_MAX];
    struct rf_profiler *profiler;
    struct rf_profile *all = NULL;
    unsigned tags[LANES];
    const struct rf_profiler_setup setup = {.interval = interval};
    REQUIRE(rf_profiler_open(&profiler, "exact", &setup, NULL) == RF_OK);
    struct rf_share_tally *tally = rf_share_tally_new(0, rf_alloc_or_standard(NULL));
    REQUIRE(tally != NULL);
    for (size_t i = 0; i < LANES; i++)
        REQUIRE(rf_share_join(tally, &tags[i]) == RF_OK);
    const struct rf_tuples marked = {tuples, NULL, mark(tuples, pieces[row].stretches, tags)};
    CHECK_ROW(pieces[row].title, rf_share_feed(tally, profiler, &marked, NULL) == RF_OK);
    REQUIRE(rf_profiler_profile(profiler, &all, NULL) == RF_OK);
    for (size_t i = 0; i < LANES; i++)
        check_lane(all, tally, tags[i], pieces[row].consumed[i]);
    rf_profile_free(all);
    rf_share_tally_free(tally);
    rf_profiler_close(profiler);
}

TEST(each_lane_has_its_own_events)
{
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        check_piece(i, 0);
        check_piece(i, 50);
    }
}

TEST_MAIN()
