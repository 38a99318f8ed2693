/* The sampler algebra against its plain transcription, message for message, and what it promises: no
 * count is dropped, confidence intervals hold as often as they say, merged states lose nothing. */
#include <riffle/engine.h>
#include "base/alloc.h"
#include "engine/stratified/compressor.h"
#include "reference/stratified.h"
#include "test.h"

#define TAGGED(w, e, t, h, m, ev, rp)                                                              \
    .sampler = 'T', .ways = w, .entries = e, .tag = t, .hit = h, .miss = m, .evict = ev,           \
    .replace = rp

static const struct {
    const char *text;
    struct ref_setup setup;
} forms[] = {
    {"P256", {.sampler = 'P', .rate = 256}},
    {"R256", {.sampler = 'R', .rate = 256}},
    {"D256", {.sampler = 'D', .rate = 256}},
    {"CR256", {.sampler = 'R', .rate = 256, .counted = true}},
    {"CP16", {.sampler = 'P', .rate = 16, .counted = true}},
    {"CD16", {.sampler = 'D', .rate = 16, .counted = true}},
    {"H[P256]2048", {.sampler = 'P', .rate = 256, .strata = 2048}},
    {"H[P16]64", {.sampler = 'P', .rate = 16, .strata = 64}},
    {"H[P1]4", {.sampler = 'P', .rate = 1, .strata = 4}},
    {"H[P10]4 (hash=paper)", {.sampler = 'P', .rate = 10, .strata = 4, .paper_hash = true}},
    {"H[P16]2048 (hash=paper)", {.sampler = 'P', .rate = 16, .strata = 2048, .paper_hash = true}},
    {"H[R16]64", {.sampler = 'R', .rate = 16, .strata = 64}},
    {"H[D16]64", {.sampler = 'D', .rate = 16, .strata = 64}},
    {"H[CR16]64", {.sampler = 'R', .rate = 16, .strata = 64, .counted = true}},
    {"H[CD16]64", {.sampler = 'D', .rate = 16, .strata = 64, .counted = true}},
    {"P16 A16", {.sampler = 'P', .rate = 16, .table = 16}},
    {"R16 A16", {.sampler = 'R', .rate = 16, .table = 16}},
    {"CR16 A3", {.sampler = 'R', .rate = 16, .counted = true, .table = 3}},
    {"H[P16]64 A16", {.sampler = 'P', .rate = 16, .strata = 64, .table = 16}},
    {"H[R16]64 A1", {.sampler = 'R', .rate = 16, .strata = 64, .table = 1}},
    {"H[CR16]64 A16 (hash=paper)",
     {.sampler = 'R', .rate = 16, .strata = 64, .counted = true, .table = 16, .paper_hash = true}},
    {"A100", {.sampler = 'A', .table = 100}},
    {"tagged(ways=2, entries=2048, tag=2, hit=8, miss=3, evict=64, replace=7)",
     {TAGGED(2, 2048, 2, 8, 3, 64, 7)}},
    {"tagged(ways=1, entries=16, tag=3, hit=4, miss=2, evict=5, replace=2)",
     {TAGGED(1, 16, 3, 4, 2, 5, 2)}},
    {"tagged(ways=4, entries=32, tag=5, hit=3, miss=2, evict=8, replace=3)",
     {TAGGED(4, 32, 5, 3, 2, 8, 3)}},
    {"tagged(ways=2, entries=16, tag=1, hit=4, miss=3, evict=16, replace=7) A8",
     {TAGGED(2, 16, 1, 4, 3, 16, 7), .table = 8}},
    {"tagged(ways=2, entries=64, tag=2, hit=6, miss=3, evict=1, replace=1, hash=paper)",
     {TAGGED(2, 64, 2, 6, 3, 1, 1), .paper_hash = true}},
};
enum { FORMS = sizeof forms / sizeof *forms, SEEDS = 100, EVENTS = 6000 };

/* An engine's state without the handle around it, so that its messages can be heard. */
struct bare {
    const struct rf_engine_ops *ops;
    _Alignas(16) unsigned char config[RF_ENGINE_CONFIG_MAX];
    void *state;
};

static bool bare_open(struct bare *bare, const char *text, uint64_t seed)
{
    struct rf_error error = {""};
    static const struct rf_alloc *alloc;
    alloc = rf_alloc_or_standard(NULL);
    if (rf_engine_parse(&bare->ops, bare->config, sizeof bare->config, text, &error) != RF_OK) {
        printf("# %s\n", error.message);
        return false;
    }
    size_t size = (bare->ops->state_size(bare->config) + 63) & ~(size_t)63;
    bare->state = aligned_alloc(64, size);
    memset(bare->state, 0, size);
    struct rf_engine_env env = {alloc, seed, 0};
    return bare->ops->init(bare->state, bare->config, &env, &error) == RF_OK;
}

static void bare_close(struct bare *bare)
{
    bare->ops->release(bare->state);
    free(bare->state);
}

static void bare_feed(struct bare *bare, const struct rf_tuple *tuples, size_t n)
{
    size_t consumed;
    CHECK_EQ(bare->ops->feed(bare->state, tuples, n, &consumed), RF_OK);
}

/* Heavy and light tuples: few instructions, skewed values, runs of the same. */
static void make_stream(struct rf_tuple *tuples, size_t n, struct rf_random *random)
{
    for (size_t i = 0; i < n; i++) {
        if (i > 0 && rf_random_below(random, 4) == 0) {
            tuples[i] = tuples[i - 1];
            continue;
        }
        uint64_t pc = 0x401000 + 4 * rf_random_below(random, 1 + rf_random_below(random, 40));
        uint64_t value = rf_random_below(random, 1 + rf_random_below(random, 50));
        tuples[i] = (struct rf_tuple){pc, rf_random_below(random, 8) == 0 ? ~value << 20 : value};
    }
}

struct heard {
    const struct ref *ref;
    size_t n;
    bool same;
};

static void hear(void *context, const struct rf_message *message)
{
    struct heard *heard = context;
    size_t i = heard->n++;
    const struct ref_message *expected = &heard->ref->out[i];
    heard->same = heard->same && i < heard->ref->n_out && expected->a == message->tuple.a &&
                  expected->b == message->tuple.b && expected->count == message->count;
}

static void feed_in_pieces(struct bare *bare, const struct rf_tuple *tuples, size_t n,
                           struct rf_random *random)
{
    for (size_t done = 0; done < n;) {
        size_t piece = 1 + rf_random_below(random, 1500);
        piece = piece < n - done ? piece : n - done;
        bare_feed(bare, tuples + done, piece);
        done += piece;
    }
}

static void compare_one(size_t form, uint64_t seed, const struct rf_tuple *tuples, size_t n)
{
    struct rf_random random;
    rf_random_seed(&random, seed);
    struct ref ref;
    struct ref_setup setup = forms[form].setup;
    setup.seed = seed;
    ref_open(&ref, &setup);
    for (size_t i = 0; i < n; i++)
        ref_event(&ref, tuples[i]);
    struct bare bare;
    REQUIRE(bare_open(&bare, forms[form].text, seed));
    struct heard heard = {&ref, 0, true};
    rf_compressor_listen(bare.state, hear, &heard);
    feed_in_pieces(&bare, tuples, n, &random);
    CHECK_ROW(forms[form].text, heard.same);
    CHECK_EQ(heard.n, ref.n_out);
    bare_close(&bare);
    ref_close(&ref);
}

TEST(messages_are_those_of_the_transcription)
{
    uint64_t first = test_seed(1);
    static struct rf_tuple tuples[EVENTS];
    for (uint64_t seed = first; seed < first + SEEDS; seed++) {
        struct rf_random random;
        rf_random_seed(&random, seed);
        make_stream(tuples, EVENTS, &random);
        for (size_t form = 0; form < FORMS; form++)
            compare_one(form, seed, tuples, EVENTS);
    }
}

/* What a report says, added up. */
struct said {
    uint64_t items, sum;
    double heaviest;
    double messages, out, held;
    struct rf_summary summary;
    uint64_t inside, outside; /* items whose true count the interval holds, or not */
    const uint64_t *truth;    /* by value, for tuples <7, value> */
};

static rf_status said_item(void *context, const struct rf_item *item)
{
    struct said *said = context;
    said->items++;
    said->sum += item->count;
    if ((double)item->count > said->heaviest)
        said->heaviest = (double)item->count;
    CHECK(item->lower <= item->count && item->count <= item->upper);
    if (said->truth != NULL) {
        uint64_t truth = said->truth[item->b];
        bool holds = item->lower <= truth && truth <= item->upper;
        said->inside += holds;
        said->outside += !holds;
    }
    return RF_OK;
}

static rf_status said_figure(void *context, const struct rf_figure *figure)
{
    struct said *said = context;
    if (strcmp(figure->name, "messages") == 0)
        said->messages = figure->value;
    if (strcmp(figure->name, "counts-out") == 0)
        said->out = figure->value;
    if (strcmp(figure->name, "counts-held") == 0)
        said->held = figure->value;
    return RF_OK;
}

static rf_status said_end(void *context, const struct rf_summary *summary)
{
    ((struct said *)context)->summary = *summary;
    return RF_OK;
}

static struct said ask(const struct bare *bare, const uint64_t *truth)
{
    struct said said = {.truth = truth};
    struct rf_sink sink = {said_item, said_figure, said_end, &said};
    CHECK_EQ(bare->ops->report(bare->state, &sink), RF_OK);
    return said;
}

/* Everything but R and D without a counter knows how long its stream was. */
static bool knows_length(const struct ref_setup *setup)
{
    return setup->counted || (setup->sampler != 'R' && setup->sampler != 'D');
}

TEST(no_count_is_dropped)
{
    uint64_t first = test_seed(1000);
    static struct rf_tuple tuples[EVENTS];
    for (uint64_t seed = first; seed < first + 20; seed++) {
        struct rf_random random;
        rf_random_seed(&random, seed);
        make_stream(tuples, EVENTS, &random);
        for (size_t form = 0; form < FORMS; form++) {
            if (!knows_length(&forms[form].setup))
                continue;
            struct bare bare;
            REQUIRE(bare_open(&bare, forms[form].text, seed));
            for (size_t n = 1; n < EVENTS; n += 997) {
                bare_feed(&bare, tuples, n);
                struct said said = ask(&bare, NULL);
                CHECK_ROW(forms[form].text,
                          (uint64_t)(said.out + said.held) == said.summary.events);
            }
            bare_close(&bare);
        }
    }
}

TEST(merged_states_lose_nothing)
{
    uint64_t seed = test_seed(77);
    static struct rf_tuple tuples[EVENTS];
    struct rf_random random;
    rf_random_seed(&random, seed);
    make_stream(tuples, EVENTS, &random);
    for (size_t form = 0; form < FORMS; form++) {
        struct bare left, right;
        REQUIRE(bare_open(&left, forms[form].text, seed) &&
                bare_open(&right, forms[form].text, seed));
        bare_feed(&left, tuples, EVENTS / 3);
        bare_feed(&right, tuples + EVENTS / 3, EVENTS - EVENTS / 3);
        uint64_t sum = ask(&left, NULL).sum + ask(&right, NULL).sum;
        REQUIRE(left.ops->merge(left.state, right.state, NULL) == RF_OK);
        struct said said = ask(&left, NULL);
        CHECK_EQ(said.sum, sum);
        CHECK_EQ(said.summary.events, EVENTS);
        bare_feed(&left, tuples, EVENTS);
        said = ask(&left, NULL);
        if (knows_length(&forms[form].setup))
            CHECK_ROW(forms[form].text, (uint64_t)(said.out + said.held) == said.summary.events);
        bare_close(&left);
        bare_close(&right);
    }
}

/* A cut ends what software knows; what tables held was told and is gone, counters run on. */
TEST(a_cut_keeps_the_counters_of_the_hardware)
{
    uint64_t seed = test_seed(78);
    static struct rf_tuple tuples[EVENTS];
    struct rf_random random;
    rf_random_seed(&random, seed);
    make_stream(tuples, EVENTS, &random);
    for (size_t form = 0; form < FORMS; form++) {
        struct bare bare;
        REQUIRE(bare_open(&bare, forms[form].text, seed));
        uint64_t told = 0;
        for (size_t done = 0; done < EVENTS; done += EVENTS / 4) {
            bare_feed(&bare, tuples + done, EVENTS / 4);
            told += ask(&bare, NULL).sum;
            bare.ops->end_interval(bare.state);
            CHECK_EQ(ask(&bare, NULL).items, 0);
        }
        struct said said = ask(&bare, NULL);
        /* A counter brings events over a cut, and no count is higher than the events behind it. */
        bool carries = forms[form].setup.counted && forms[form].setup.sampler == 'R';
        uint64_t out = (uint64_t)said.out;
        CHECK_ROW(forms[form].text, carries ? told <= out : told == out);
        if (knows_length(&forms[form].setup))
            CHECK_ROW(forms[form].text, (uint64_t)(said.out + said.held) == EVENTS);
        bare_close(&bare);
    }
}

/* Streams in random order: the interval must hold the truth in about the share of cases it claims. A tuple
 * is only asked about when it was sampled, which favours high counts a little: 2 points are allowed. */
TEST(confidence_intervals_hold_as_often_as_they_say)
{
    static const char *const texts[] = {
        "P16",
        "R16",
        "D16",
        "CR16",
        "CR16 (estimate=share)",
        "H[P16]8",
        "H[R16]8",
        "H[CR16]8",
        "H[P16]8 A16",
        "H[P16]8 (confidence=99%)",
        "H[P16]8 (estimate=share)",
    };
    enum { KEYS = 24, LENGTH = 40000 };
    uint64_t first = test_seed(500);
    static struct rf_tuple tuples[LENGTH];
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        uint64_t inside = 0, outside = 0;
        double confidence = 0;
        for (uint64_t seed = first; seed < first + 60; seed++) {
            struct rf_random random;
            rf_random_seed(&random, seed);
            uint64_t truth[KEYS] = {0};
            for (size_t i = 0; i < LENGTH; i++) {
                uint64_t value = rf_random_below(&random, 1 + rf_random_below(&random, KEYS));
                tuples[i] = (struct rf_tuple){7, value};
                truth[value]++;
            }
            struct bare bare;
            REQUIRE(bare_open(&bare, texts[k], seed));
            bare_feed(&bare, tuples, LENGTH);
            struct said said = ask(&bare, truth);
            inside += said.inside;
            outside += said.outside;
            confidence = said.summary.confidence;
            bare_close(&bare);
        }
        double share = (double)inside / (double)(inside + outside);
        if (share < confidence - 0.02)
            printf("# %s: %g of %g\n", texts[k], share, confidence);
        CHECK_ROW(texts[k], share >= confidence - 0.02);
    }
}

/* Section 3.3 in small: one tuple makes 30% of a shuffled stream, the rest are all different. The mean
 * error of its count, in percent. lab/stratified has the whole experiment. */
static double mean_error(const char *text, uint64_t seed)
{
    enum { RUNS = 300, N = 6000, T = N * 3 / 10 };
    static struct rf_tuple tuples[N];
    struct rf_random random;
    rf_random_seed(&random, seed);
    double sum = 0;
    for (int run = 0; run < RUNS; run++) {
        for (size_t i = 0; i < N; i++)
            tuples[i] = (struct rf_tuple){7, i < T ? 0 : i};
        for (size_t i = N - 1; i > 0; i--) {
            size_t k = rf_random_below(&random, i + 1);
            struct rf_tuple swap = tuples[i];
            tuples[i] = tuples[k];
            tuples[k] = swap;
        }
        struct bare bare;
        if (!bare_open(&bare, text, rf_random_next(&random)))
            return -1;
        bare_feed(&bare, tuples, N);
        double estimate = ask(&bare, NULL).heaviest;
        sum += (estimate > T ? estimate - T : T - estimate) / estimate;
        bare_close(&bare);
    }
    return 100 * sum / RUNS;
}

TEST(the_three_classes_of_samplers)
{
    static const struct {
        const char *text;
        double theory; /* of the mean: 80% of a standard deviation */
    } rows[] = {
        {"R10", 5.6},     {"H[R10]4", 5.6},
        {"P10", 4.7},     {"CR10 (estimate=share)", 4.7},
        {"H[P10]4", 3.4}, {"H[CR10]4 (estimate=share)", 3.4},
    };
    uint64_t seed = test_seed(2001);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double error = mean_error(rows[i].text, seed);
        if (error < rows[i].theory * 0.88 || error > rows[i].theory * 1.12)
            printf("# %s: %g, expected about %g\n", rows[i].text, error, rows[i].theory);
        CHECK_ROW(rows[i].text, error > rows[i].theory * 0.88 && error < rows[i].theory * 1.12);
    }
}

TEST_MAIN()
