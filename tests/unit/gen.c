/* Synthetic streams: repeatable, of the shape they claim. */
#include "test.h"
#include <riffle/engine.h>
#include <riffle/gen.h>
#include <math.h>

struct total {
    uint64_t n, sum;
};

/* A checksum that depends on the order of tuples and not on how they are cut into batches. */
static struct total run(struct rf_gen gen)
{
    struct total total = {0, 0};
    struct rf_source *source;
    struct rf_error error;
    struct rf_batch batch;
    if (rf_source_open_gen(&source, &gen, NULL, &error) != RF_OK) {
        printf("# %s\n", error.message);
        return total;
    }
    while (rf_source_next(source, &batch, &error) == RF_OK && batch.n > 0)
        for (size_t i = 0; i < batch.n; i++, total.n++) {
            total.sum = (total.sum ^ batch.tuples.tuples[i].a) * 0x9e3779b97f4a7c15u;
            total.sum = (total.sum ^ batch.tuples.tuples[i].b) * 0x9e3779b97f4a7c15u;
        }
    rf_source_close(source);
    return total;
}

/* Recorded: these streams must never change, on any machine or compiler. */
static const struct {
    struct rf_gen gen;
    uint64_t sum;
} known[] = {
    {{.kind = "zipf", .events = 100000, .seed = 1}, 0xc774995590ceaaa1},
    {{.kind = "zipf", .events = 100000, .keys = 5000000000, .skew = 0.7}, 0x3906f3d57e400eb8},
    {{.kind = "uniform", .events = 100000, .seed = 1}, 0xe042a683f660430e},
    {{.kind = "phases", .events = 100000, .phase = 7000, .keys = 100}, 0xa4bd43fe18ad34b5},
    {{.kind = "drift", .events = 100000, .phase = 7000, .keys = 100}, 0x34cce72c076e76e4},
    {{.kind = "drift", .events = 100000, .keys = 5000000000, .seed = 1}, 0x133fb812e29ed610},
    {{.kind = "loop", .events = 100000, .seed = 1}, 0xad0c971e32e45868},
    {{.kind = "loop", .events = 100000, .seed = 2, .keys = 10, .phase = 500}, 0x260a6b215224e73d},
};

TEST(streams_are_the_same_everywhere)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct total total = run(known[i].gen);
        CHECK_EQ(total.n, known[i].gen.events);
        CHECK_EQ(total.sum, known[i].sum);
    }
}

TEST(seeds_make_different_streams)
{
    static const char *const kinds[] = {"zipf", "uniform", "phases", "drift", "loop"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct rf_gen gen = {.kind = kinds[i], .events = 10000, .seed = 5};
        struct total once = run(gen), again = run(gen);
        gen.seed = 6;
        CHECK_ROW(kinds[i], once.sum == again.sum);
        CHECK_ROW(kinds[i], once.sum != run(gen).sum);
        gen.events = 0;
        CHECK_ROW(kinds[i], run(gen).n == 0);
    }
}

static const struct {
    struct rf_gen gen;
    const char *message;
} refused[] = {
    {{.kind = "ziph"}, "gen: no stream is called 'ziph'; did you mean 'zipf'?"},
    {{.kind = "zipf", .skew = -1}, "gen: skew must be above 0 and at most 10"},
    {{.kind = "zipf", .skew = 11}, "gen: skew must be above 0 and at most 10"},
    {{.kind = "uniform", .keys = UINT64_MAX},
     "gen: keys must be at most 2^40, got 18446744073709551615"},
};

TEST(nonsense_is_refused)
{
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct rf_source *source;
        struct rf_error error = {""};
        CHECK_EQ(rf_source_open_gen(&source, &refused[i].gen, NULL, &error), RF_EINVAL);
        CHECK_TEXT(error.message, refused[i].message);
    }
}

/* The counts of all tuples of a stream's next `events` events. */
struct counted {
    uint64_t distinct, heaviest, hot;
    uint64_t hot_at; /* from this count on an item is hot */
    uint64_t counts[4096];
    uint64_t hot_keys[4096];
};

static rf_status count_item(void *context, const struct rf_item *item)
{
    struct counted *counted = context;
    if (counted->distinct < 4096)
        counted->counts[counted->distinct] = item->count;
    counted->distinct++;
    counted->heaviest = item->count > counted->heaviest ? item->count : counted->heaviest;
    if (counted->hot_at > 0 && item->count >= counted->hot_at && counted->hot < 4096)
        counted->hot_keys[counted->hot++] = item->a * 31 + item->b;
    return RF_OK;
}

static rf_status count_end(void *context, const struct rf_summary *summary)
{
    (void)context;
    (void)summary;
    return RF_OK;
}

static void count(struct rf_source *source, uint64_t events, struct counted *counted)
{
    static struct rf_tuple left[1 << 15];
    static size_t n_left; /* what the last call did not use */
    struct rf_engine *engine;
    struct rf_error error;
    struct rf_sink sink = {.item = count_item, .end = count_end, .context = counted};
    struct rf_batch batch = {.n = 0};
    if (rf_engine_open(&engine, "exact", NULL, &error) != RF_OK)
        abort();
    for (uint64_t got = 0; got < events; got += batch.n) {
        if (n_left > 0)
            batch = (struct rf_batch){.tuples = {left, NULL, n_left}, .n = n_left};
        else if (rf_source_next(source, &batch, &error) != RF_OK || batch.n == 0)
            break;
        size_t use = batch.n < events - got ? batch.n : (size_t)(events - got);
        batch.tuples.n = use;
        rf_engine_feed(engine, &batch.tuples, &error);
        n_left = batch.n - use;
        memmove(left, batch.tuples.tuples + use, n_left * sizeof *left);
        batch.n = use;
    }
    rf_engine_report(engine, &sink);
    rf_engine_close(engine);
}

static struct counted counted[2];

static void count_stream(struct rf_gen gen)
{
    struct rf_source *source;
    struct rf_error error;
    if (rf_source_open_gen(&source, &gen, NULL, &error) != RF_OK)
        abort();
    memset(counted, 0, sizeof counted);
    count(source, gen.events, &counted[0]);
    rf_source_close(source);
}

static int descending(const void *x, const void *y)
{
    const uint64_t *a = x, *b = y;
    return (*a < *b) - (*a > *b);
}

TEST(zipf_has_zipf_counts)
{
    enum { N = 2000000, KEYS = 1000 };
    count_stream((struct rf_gen){.kind = "zipf", .events = N, .keys = KEYS, .seed = 3});
    CHECK_EQ(counted[0].distinct, KEYS);
    qsort(counted[0].counts, KEYS, sizeof(uint64_t), descending);
    double harmonic = 0;
    for (int k = 1; k <= KEYS; k++)
        harmonic += 1.0 / k;
    for (int k = 1; k <= 10; k++) { /* five standard deviations and more */
        double expected = N / harmonic / k, got = (double)counted[0].counts[k - 1];
        CHECK(got > expected * 0.97 && got < expected * 1.03);
    }
}

/* Ranks beyond 4096 come from wide bins: their share of the stream must be right, too. */
TEST(zipf_has_its_tail)
{
    enum { N = 1000000, KEYS = 20000 };
    static const double skews[] = {0.5, 1.0, 1.5};
    for (size_t s = 0; s < 3; s++) {
        count_stream((struct rf_gen){
            .kind = "zipf", .events = N, .keys = KEYS, .skew = skews[s], .seed = 4});
        double all = 0;
        for (int k = 1; k <= KEYS; k++)
            all += pow(k, -skews[s]);
        double heaviest = N / all;
        CHECK((double)counted[0].heaviest > heaviest - 6 * sqrt(heaviest));
        CHECK((double)counted[0].heaviest < heaviest + 6 * sqrt(heaviest) + 40);
        double unseen = 0; /* expected number of keys that never come up */
        for (int k = 1; k <= KEYS; k++)
            unseen += exp(-N / all * pow(k, -skews[s]));
        CHECK((double)counted[0].distinct > KEYS - unseen - 300);
        CHECK((double)counted[0].distinct < KEYS - unseen + 300);
    }
}

TEST(uniform_is_flat)
{
    count_stream((struct rf_gen){.kind = "uniform", .events = 1000000, .keys = 1000, .seed = 9});
    CHECK_EQ(counted[0].distinct, 1000);
    CHECK(counted[0].heaviest < 1000 + 6 * 32);
}

/* A phase alone: two of five events are hot, and the k-th hot tuple has 1 / k of what the first has. */
TEST(drift_has_hot_tuples_of_unequal_heat)
{
    enum { N = 1000000, KEYS = 3000 };
    for (uint64_t seed = 1; seed <= 3; seed++) {
        count_stream((struct rf_gen){.kind = "drift", .events = N, .keys = KEYS, .seed = seed});
        uint64_t hot = counted[0].distinct - KEYS;
        CHECK(hot >= 20 && hot <= 400);
        qsort(counted[0].counts, counted[0].distinct, sizeof(uint64_t), descending);
        double harmonic = 0;
        for (uint64_t k = 1; k <= hot; k++)
            harmonic += 1.0 / (double)k;
        for (int k = 1; k <= 5; k++) {
            double expected = 0.4 * N / harmonic / k, got = (double)counted[0].counts[k - 1];
            CHECK(got > expected * 0.96 && got < expected * 1.04);
        }
    }
}

static struct rf_source *two_intervals(struct rf_gen gen, uint64_t interval, uint64_t hot_at)
{
    struct rf_source *source;
    struct rf_error error;
    if (rf_source_open_gen(&source, &gen, NULL, &error) != RF_OK)
        abort();
    memset(counted, 0, sizeof counted);
    for (int i = 0; i < 2; i++) {
        counted[i].hot_at = hot_at;
        count(source, interval, &counted[i]);
    }
    return source;
}

/* Candidates in both intervals over candidates in either. */
static double jaccard(void)
{
    uint64_t both = 0;
    for (uint64_t i = 0; i < counted[0].hot; i++)
        for (uint64_t j = 0; j < counted[1].hot; j++)
            both += counted[0].hot_keys[i] == counted[1].hot_keys[j];
    return (double)both / (double)(counted[0].hot + counted[1].hot - both);
}

TEST(phases_exchange_their_keys)
{
    struct rf_gen gen = {.kind = "phases", .events = 20000, .keys = 50, .phase = 10000};
    rf_source_close(two_intervals(gen, 10000, 1));
    CHECK_EQ(counted[0].hot, 50);
    CHECK_EQ(counted[1].hot, 50);
    CHECK(jaccard() == 0);
}

static double mean_overlap(uint64_t interval, uint64_t hot_at)
{
    double sum = 0;
    for (uint64_t seed = 1; seed <= 8; seed++) {
        struct rf_gen gen = {.kind = "loop", .events = 2 * interval, .seed = seed};
        rf_source_close(two_intervals(gen, interval, hot_at));
        CHECK(counted[0].hot > 10 && counted[0].hot < 1000);
        sum += jaccard();
    }
    printf("# mean overlap of candidates, intervals of %" PRIu64 ": %.2f\n", interval, sum / 8);
    return sum / 8;
}

/* Programs keep their candidates over short intervals and change them over long ones. */
TEST(loop_changes_its_candidates_like_a_program)
{
    double longer = mean_overlap(1000000, 1000), shorter = mean_overlap(10000, 100);
    CHECK(longer > 0.05 && longer < 0.4);
    CHECK(shorter > 0.5 && shorter < 0.95);
}

TEST(loop_has_about_as_many_tuples_as_asked)
{
    struct rf_gen gen = {.kind = "loop", .events = 20000000, .keys = 100000, .phase = 100000};
    count_stream(gen);
    printf("# %" PRIu64 " distinct tuples\n", counted[0].distinct);
    CHECK(counted[0].distinct > 50000 && counted[0].distinct < 200000);
}

TEST_MAIN()
