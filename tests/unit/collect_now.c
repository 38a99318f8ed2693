/* What the pump tells whoever asks while it runs. */
#include <riffle/collect.h>
#include "scripted.h"

/* Counts of what still runs: they are told whenever somebody asks, and never handed out. */
static rf_status counted(struct rf_source *source, rf_source_tell tell, void *context,
                         struct rf_error *error)
{
    (void)source;
    return tell(context, 0, &(struct rf_tuples){six + 5, twice, 1}, error);
}

static const struct rf_source_ops counting_ops = {
    .name = "counting", .next = next, .counted = counted, .close = stay};

struct asked {
    unsigned times;
    char texts[4][8];
};

static int is_asked(void *context)
{
    return ((struct asked *)context)->times < 4;
}

static void take_answer(void *context, struct rf_run *run)
{
    struct asked *asked = context;
    CHECK_EQ(run->n_profiles, 1);
    CHECK_EQ(run->profiles[0]->produced, run->profiles[0]->consumed);
    counts_text(run->profiles[0], asked->texts[asked->times++]);
}

TEST(what_is_counted_by_now)
{
    static const struct rf_batch batches[] = {{.tuples = {six, NULL, 2}, .n = 2},
                                              {.idle = 1},
                                              {.tuples = {six + 1, NULL, 2}, .n = 2},
                                              {.idle = 1}};
    const struct rf_lane lane = {"load -> pc,value", "exact", 0, 0};
    for (size_t threads = 0; threads < 2; threads++) {
        struct scripted source = script(batches, 4);
        source.base.ops = &counting_ops;
        struct asked asked = {.times = 0};
        struct rf_collect_setup setup = {.lanes = &lane,
                                         .n_lanes = 1,
                                         .selected = 1,
                                         .threads = threads,
                                         .asked = is_asked,
                                         .now = take_answer,
                                         .now_context = &asked};
        struct rf_run *run;
        REQUIRE(rf_collect(&run, &source.base, &setup, NULL) == RF_OK);
        CHECK_EQ(asked.times, 4);
        CHECK(strcmp(asked.texts[0], "000002") == 0);
        CHECK(strcmp(asked.texts[1], "110002") == 0);
        CHECK(strcmp(asked.texts[2], "110002") == 0);
        CHECK(strcmp(asked.texts[3], "121002") == 0);
        char text[8];
        counts_text(run->profiles[0], text);
        CHECK(strcmp(text, "121000") == 0);
        rf_run_free(run);
    }
}

TEST_MAIN()
