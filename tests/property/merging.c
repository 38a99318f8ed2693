/* Merging: a stream is dealt out to several engines, and what they found is merged in any order and grouping.
 *
 * What must hold for each engine of the registry, over random splits of all streams of trials.h:
 *
 *     said        the descriptor says what merging means, and whether states merge
 *     profiles    totals add up, and bounds hold for the whole stream; what is exact stays exact
 *     order       another order and grouping gives the same items with the same counts
 *     states      the same for states, where they merge; rap keeps eps for the whole
 *     like alone  states of different seeds are refused
 *     any options profiles of multihash merge whatever the options of each part were
 *
 * Profiles of co-processors merge as profiles do: each microprogram that comes with the library gets such parts as records, and
 * totals and counts of all items add up, in any order.
 */
#include "parts.h"
#include "test.h"
#include "trials.h"
#include "truth.h"
#include <riffle/collect.h>
#include <riffle/coproc.h>
#include <riffle/profiler.h>

enum { COPROC_EVENTS = 8000 };

static unsigned n_merges; /* of profiles and states */

/* ---- profiles ---- */

static struct rf_run *run_of(const char *text, const struct rf_tuples *tuples, uint64_t seed)
{
    const struct rf_profiler_setup setup = {.seed = seed};
    struct rf_profiler *profiler;
    struct rf_profile *profile;
    struct rf_run *run;
    if (rf_profiler_open(&profiler, text, &setup, NULL) != RF_OK ||
        rf_profiler_feed(profiler, tuples, NULL) != RF_OK ||
        rf_profiler_profile(profiler, &profile, NULL) != RF_OK ||
        rf_run_new(&run, "part", NULL) != RF_OK || rf_run_add_profile(run, profile) != RF_OK)
        abort();
    rf_profiler_close(profiler);
    return run;
}

/* What makes a run of a part: an engine, or a co-processor. */
typedef struct rf_run *make_run(const char *text, const struct rf_tuples *tuples, uint64_t seed);

/* All parts merged in a random order and grouping; every part has a seed of its own. */
static struct rf_run *merge_runs(make_run *make, const char *text, const struct parts *parts,
                                 struct rf_random *random)
{
    struct rf_run *runs[PARTS_MAX] = {NULL};
    for (size_t i = 0; i < parts->n; i++) {
        const struct rf_tuples part = part_at(parts, i);
        runs[i] = make(text, &part, i);
    }
    for (size_t left = parts->n, into, from; left > 1; left--) {
        choose_two(random, left, &into, &from);
        n_merges++;
        CHECK_ROW(text, rf_run_merge(runs[into], runs[from], NULL) == RF_OK);
        rf_run_free(runs[from]);
        runs[from] = runs[left - 1];
    }
    return runs[0];
}

static void judge_profile(const char *name, const struct rf_profile *profile,
                          const struct truth *truth, struct verdict *sum)
{
    struct verdict verdict =
        judge(profile, profile->items, profile->n_items, profile->absent_upper, truth);
    CHECK_ROW(name, profile->consumed == truth->events);
    CHECK_ROW(name, profile->produced == profile->consumed + profile->lost);
    CHECK_ROW(name, verdict.disorder == 0);
    if (profile->bound == RF_BOUND_CONFIDENCE) {
        add_verdict(sum, &verdict);
        return;
    }
    CHECK_ROW(name, verdict.outside == 0);
    CHECK_ROW(name, verdict.forgotten == 0);
}

/* The same boxes with the same counts. */
static bool same_counts(const struct rf_profile *x, const struct rf_profile *y)
{
    bool same = x->n_items == y->n_items && x->absent_upper == y->absent_upper;
    for (size_t i = 0; same && i < x->n_items; i++)
        same = same_box(&x->items[i], &y->items[i]) && x->items[i].count == y->items[i].count;
    return same;
}

static double check_profiles_on(const char *text, const struct stream *stream,
                                struct rf_random *random, struct verdict *sum)
{
    struct parts parts;
    struct truth truth;
    split(&parts, stream->tuples, stream->n, random);
    truth_make(&truth, stream->tuples, stream->n);
    struct rf_run *one = merge_runs(run_of, text, &parts, random);
    struct rf_run *other = merge_runs(run_of, text, &parts, random);
    double confidence = one->profiles[0]->confidence;
    CHECK_ROW(label(text, stream), one->n_profiles == 1 && other->n_profiles == 1);
    judge_profile(label(text, stream), one->profiles[0], &truth, sum);
    judge_profile(label(text, stream), other->profiles[0], &truth, sum);
    CHECK_ROW(label(text, stream), same_counts(one->profiles[0], other->profiles[0]));
    rf_run_free(one);
    rf_run_free(other);
    truth_free(&truth);
    free(parts.tuples);
    return confidence;
}

static void check_profiles(const char *text)
{
    struct rf_random random;
    struct verdict sum = {.items = 0};
    double confidence = 0;
    rf_random_seed(&random, test_seed(18));
    for (int round = 0; round < test_rounds(1, 10); round++)
        for (size_t i = 0; i < n_streams; i++) {
            double promised = check_profiles_on(text, &streams[i], &random, &sum);
            confidence = promised > 0 ? promised : confidence;
        }
    check_confidence(text, confidence, &sum);
}

TEST(profiles_of_random_splits_merge_in_any_order)
{
    for_each_text(check_profiles);
}

/* ---- multihash of any options ---- */

enum { TEXT_MAX = 200 };

static uint64_t options_salt; /* other options on every stream */

/* Options of the part with this number: each is one of a few values, so that parts share some. */
static void draw_options(char text[TEXT_MAX], uint64_t part)
{
    static const char *const thresholds[] = {"0.5%", "1%", "2%", "7%"};
    static const char *const replaces[] = {"coldest", "retained"};
    struct rf_random random;
    rf_random_seed(&random, options_salt + part);
    unsigned tables = 1 + (unsigned)rf_random_below(&random, 4);
    unsigned long interval = 500UL << rf_random_below(&random, 4);
    snprintf(text, TEXT_MAX,
             "multihash(tables=%u, counters=%u, interval=%lu, threshold=%s, conservative=%s, "
             "reset=%s, retain=%s, shield=%s, accumulator=%u, replace=%s)",
             tables, tables * (16U << rf_random_below(&random, 4)), interval,
             thresholds[rf_random_below(&random, 4)], rf_random_below(&random, 2) ? "yes" : "no",
             rf_random_below(&random, 2) ? "yes" : "no", rf_random_below(&random, 2) ? "yes" : "no",
             rf_random_below(&random, 2) ? "yes" : "no",
             3 + (unsigned)rf_random_below(&random, 200), replaces[rf_random_below(&random, 2)]);
}

static struct rf_run *run_of_any(const char *name, const struct rf_tuples *tuples, uint64_t part)
{
    char text[TEXT_MAX];
    (void)name;
    draw_options(text, part);
    return run_of(text, tuples, part);
}

/* The value of an option in the engine's text. */
static void value_of(const char *engine, const char *option, char value[TEXT_MAX])
{
    const char *at = strstr(engine, option);
    REQUIRE(at != NULL);
    at += strlen(option);
    snprintf(value, TEXT_MAX, "%.*s", (int)strcspn(at, ",)"), at);
}

/* What the text of the sum says of an option: the value that all parts have, or that they differ. */
static void check_option(const struct rf_profile *sum, const struct parts *parts,
                         const char *option)
{
    char said[TEXT_MAX], first[TEXT_MAX] = "", value[TEXT_MAX];
    bool differ = false;
    for (size_t i = 0; i < parts->n; i++) {
        const struct rf_tuples none = {NULL, NULL, 0};
        struct rf_run *run = run_of_any("", &none, i);
        value_of(run->profiles[0]->engine, option, value);
        differ = differ || (i > 0 && strcmp(value, first) != 0);
        snprintf(first, sizeof first, "%s", value);
        rf_run_free(run);
    }
    value_of(sum->engine, option, said);
    CHECK_TEXT(said, differ ? "mixed" : first);
}

static void check_any_options(const struct stream *stream, struct rf_random *random)
{
    static const char *const options[] = {
        "(tables=", " interval=", " threshold=", " shield=", " replace=", " hash="};
    struct parts parts;
    struct truth truth;
    struct verdict unused = {.items = 0};
    split(&parts, stream->tuples, stream->n, random);
    truth_make(&truth, stream->tuples, stream->n);
    struct rf_run *one = merge_runs(run_of_any, stream->name, &parts, random);
    struct rf_run *other = merge_runs(run_of_any, stream->name, &parts, random);
    CHECK_ROW(stream->name, one->n_profiles == 1 && other->n_profiles == 1);
    judge_profile(stream->name, one->profiles[0], &truth, &unused);
    judge_profile(stream->name, other->profiles[0], &truth, &unused);
    CHECK_ROW(stream->name, same_counts(one->profiles[0], other->profiles[0]));
    CHECK_TEXT(one->profiles[0]->engine, other->profiles[0]->engine);
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        check_option(one->profiles[0], &parts, options[i]);
    rf_run_free(one);
    rf_run_free(other);
    truth_free(&truth);
    free(parts.tuples);
}

TEST(profiles_of_multihash_merge_whatever_its_options_were)
{
    struct rf_random random;
    make_streams();
    rf_random_seed(&random, test_seed(21));
    for (int round = 0; round < test_rounds(5, 50); round++)
        for (size_t i = 0; i < n_streams; i++) {
            options_salt = rf_random_below(&random, UINT64_MAX);
            check_any_options(&streams[i], &random);
        }
}

/* What these tests rest on: a merge that loses one event, or one bound, is found out. */
TEST(a_wrong_merge_is_found_out)
{
    make_streams();
    const struct stream *stream = &streams[n_streams - 1];
    const struct rf_tuples all = {stream->tuples, NULL, stream->n};
    const struct rf_tuples most = {stream->tuples, NULL, stream->n - 1};
    struct rf_run *whole = run_of("exact", &all, 0), *less = run_of("exact", &most, 0);
    struct truth truth;
    truth_make(&truth, stream->tuples, stream->n);
    CHECK(!same_counts(whole->profiles[0], less->profiles[0]));
    const struct rf_profile *profile = less->profiles[0];
    CHECK_EQ(judge(profile, profile->items, profile->n_items, 0, &truth).outside, 1);
    truth_free(&truth);
    rf_run_free(whole);
    rf_run_free(less);
}

/* ---- co-processors ---- */

/* A tuple as a record of one of the classes that the program wants, with all that it may look at. Few addresses, all of
 * them missed: programs look for what was stored there before. */
static struct rf_record record_of(const struct rf_selector *wants, struct rf_tuple t, size_t i)
{
    struct rf_record record = {.pc = t.a,
                               .addr = 0x1000 + 8 * (t.b % 32),
                               .value = t.b,
                               .target = t.b,
                               .width = 64,
                               .miss = 1};
    record.kind = (uint8_t)(i % RF_CLASS_COUNT);
    while ((wants->classes >> record.kind & 1) == 0)
        record.kind = (uint8_t)((record.kind + 1) % RF_CLASS_COUNT);
    return record;
}

static struct rf_run *coproc_run_of(const char *text, const struct rf_tuples *tuples, uint64_t seed)
{
    const struct rf_coproc_setup setup = {.seed = seed};
    struct rf_selector wants;
    struct rf_coproc *coproc;
    struct rf_profile *profile;
    struct rf_run *run;
    if (rf_coproc_open(&coproc, text, &setup, NULL) != RF_OK)
        abort();
    rf_coproc_wants(coproc, &wants);
    for (size_t i = 0; i < tuples->n; i++) {
        struct rf_record record = record_of(&wants, tuples->tuples[i], i);
        if (rf_coproc_feed(coproc, &record, 1, NULL) != RF_OK)
            abort();
    }
    if (rf_coproc_end(coproc, NULL) != RF_OK ||
        rf_collect_known(&profile, coproc, seed, NULL) != RF_OK ||
        rf_run_new(&run, "part", NULL) != RF_OK || rf_run_add_profile(run, profile) != RF_OK)
        abort();
    rf_coproc_close(coproc);
    return run;
}

/* What one part says of an item. */
static uint64_t count_in(const struct rf_profile *profile, const struct rf_item *item)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < profile->n_items; i++)
        sum += same_box(&profile->items[i], item) ? profile->items[i].count : 0;
    return sum;
}

static void check_sums(const char *text, const struct parts *parts, const struct rf_profile *merged)
{
    uint64_t consumed = 0, lost = 0, counted = 0;
    struct rf_run *runs[PARTS_MAX] = {NULL};
    for (size_t i = 0; i < parts->n; i++) {
        const struct rf_tuples part = part_at(parts, i);
        runs[i] = coproc_run_of(text, &part, i);
        consumed += runs[i]->profiles[0]->consumed;
        lost += runs[i]->profiles[0]->lost;
    }
    CHECK_ROW(text, merged->consumed == consumed && merged->lost == lost);
    for (size_t k = 0; k < merged->n_items; k++) {
        uint64_t sum = 0;
        for (size_t i = 0; i < parts->n; i++)
            sum += count_in(runs[i]->profiles[0], &merged->items[k]);
        CHECK_ROW(text, merged->items[k].count == sum);
        counted += sum;
    }
    CHECK_ROW(text, counted <= consumed);
    for (size_t i = 0; i < parts->n; i++)
        rf_run_free(runs[i]);
}

static size_t check_coproc(const char *text, const struct stream *stream, struct rf_random *random)
{
    struct parts parts;
    split(&parts, stream->tuples, stream->n < COPROC_EVENTS ? stream->n : COPROC_EVENTS, random);
    struct rf_run *one = merge_runs(coproc_run_of, text, &parts, random);
    struct rf_run *other = merge_runs(coproc_run_of, text, &parts, random);
    check_sums(text, &parts, one->profiles[0]);
    CHECK_ROW(text, same_counts(one->profiles[0], other->profiles[0]));
    size_t n_items = one->profiles[0]->n_items;
    rf_run_free(one);
    rf_run_free(other);
    free(parts.tuples);
    return n_items;
}

TEST(profiles_of_co_processors_merge_in_any_order)
{
    struct rf_random random;
    make_streams();
    rf_random_seed(&random, test_seed(20));
    for (const struct rf_coproc_program *p = rf_coproc_programs(); p->name != NULL; p++) {
        size_t n_items = 0;
        for (size_t i = 0; i < n_streams; i++)
            n_items += check_coproc(p->name, &streams[i], &random);
        CHECK_ROW(p->name, n_items > 0);
    }
}

/* ---- states ---- */

/* One report of an engine, as the part of a profile that judge() reads. */
struct found {
    struct rf_profile profile;
    size_t room;
};

static rf_status found_item(void *context, const struct rf_item *item)
{
    struct found *found = context;
    struct rf_profile *profile = &found->profile;
    if (profile->n_items == found->room) {
        found->room = 2 * found->room + 1024;
        profile->items = realloc(profile->items, found->room * sizeof *profile->items);
        if (profile->items == NULL)
            abort();
    }
    profile->items[profile->n_items++] = *item;
    return RF_OK;
}

static rf_status found_end(void *context, const struct rf_summary *summary)
{
    struct rf_profile *profile = &((struct found *)context)->profile;
    profile->shape = summary->shape;
    profile->bound = summary->bound;
    profile->confidence = summary->confidence;
    profile->absent_upper = summary->absent_upper;
    profile->consumed = profile->produced = summary->events;
    return RF_OK;
}

static rf_status count_interval(void *context, const struct rf_summary *summary)
{
    *(uint64_t *)context += summary->events;
    return RF_OK;
}

static rf_status drop_item(void *context, const struct rf_item *item)
{
    (void)context;
    (void)item;
    return RF_OK;
}

/* An engine per part. False: one of them ended an interval already, and what is in that does not merge. */
static bool open_engines(struct rf_engine *engines[PARTS_MAX], const char *text,
                         const struct parts *parts)
{
    static uint64_t ended;
    static const struct rf_sink sink = {drop_item, NULL, count_interval, &ended};
    const struct rf_engine_setup setup = {.seed = 99, .intervals = &sink};
    ended = 0;
    for (size_t i = 0; i < parts->n; i++) {
        const struct rf_tuples part = part_at(parts, i);
        if (rf_engine_open(&engines[i], text, &setup, NULL) != RF_OK ||
            rf_engine_feed(engines[i], &part, NULL) != RF_OK)
            abort();
    }
    return ended == 0;
}

static void close_engines(struct rf_engine *engines[PARTS_MAX], size_t n)
{
    for (size_t i = 0; i < n; i++)
        rf_engine_close(engines[i]);
}

/* The most events of the stream, at most `n`, that all parts together have in one interval. */
static size_t open_within_an_interval(struct rf_engine *engines[PARTS_MAX], struct parts *parts,
                                      const char *text, const struct stream *stream,
                                      struct rf_random *random)
{
    struct rf_engine *probe;
    if (rf_engine_open(&probe, text, NULL, NULL) != RF_OK)
        abort();
    uint64_t interval = rf_engine_interval(probe);
    rf_engine_close(probe);
    for (size_t n = interval > 0 && interval <= stream->n ? (size_t)interval - 1 : stream->n;;
         n = n * 3 / 4) {
        split(parts, stream->tuples, n, random);
        if (open_engines(engines, text, parts))
            return n;
        close_engines(engines, parts->n);
        free(parts->tuples);
    }
}

static rf_status merge_engines(struct rf_engine *engines[PARTS_MAX], size_t n,
                               struct rf_random *random)
{
    rf_status status = RF_OK;
    for (size_t left = n, into, from; left > 1 && status == RF_OK; left--) {
        choose_two(random, left, &into, &from);
        n_merges++;
        status = rf_engine_merge(engines[into], engines[from], NULL);
        struct rf_engine *merged = engines[from];
        engines[from] = engines[left - 1];
        engines[left - 1] = merged; /* closed at the end */
    }
    return status;
}

/* Of rap with room enough: no bound is wider than eps of all events. */
static void check_eps(const char *name, const char *text, const struct rf_profile *profile)
{
    double eps = strncmp(text, "rap(eps=", 8) == 0 ? atof(text + 8) / 100 : 0;
    if (eps == 0 || strstr(text, "nodes=") != NULL)
        return;
    double allowed = eps * (double)profile->consumed + 1;
    for (size_t i = 0; i < profile->n_items; i++)
        CHECK_ROW(name, (double)(profile->items[i].upper - profile->items[i].lower) <= allowed);
}

static void check_merged(const char *text, const struct stream *stream,
                         const struct rf_engine *merged, size_t n, struct verdict *sum)
{
    struct found found = {.room = 0};
    const struct rf_sink sink = {found_item, NULL, found_end, &found};
    struct truth truth;
    truth_make(&truth, stream->tuples, n);
    CHECK_ROW(label(text, stream), rf_engine_report(merged, &sink) == RF_OK);
    CHECK_ROW(label(text, stream), rf_engine_events(merged) == n);
    judge_profile(label(text, stream), &found.profile, &truth, sum);
    check_eps(label(text, stream), text, &found.profile);
    truth_free(&truth);
    free(found.profile.items);
}

static void check_states_on(const char *text, const struct stream *stream, bool merges,
                            struct rf_random *random, struct verdict *sum)
{
    struct rf_engine *engines[PARTS_MAX];
    struct parts parts;
    size_t n = open_within_an_interval(engines, &parts, text, stream, random);
    rf_status status = merge_engines(engines, parts.n, random);
    CHECK_ROW(label(text, stream), status == (merges ? RF_OK : RF_ENOTSUP));
    if (status == RF_OK)
        check_merged(text, stream, engines[0], n, sum);
    close_engines(engines, parts.n);
    free(parts.tuples);
}

static void check_states(const char *text)
{
    struct rf_engine_info info;
    struct rf_random random;
    struct verdict sum = {.items = 0};
    REQUIRE(rf_engine_describe(text, &info, NULL) == RF_OK);
    rf_random_seed(&random, test_seed(19));
    for (int round = 0; round < test_rounds(1, 10); round++)
        for (size_t i = 0; i < n_streams; i++)
            check_states_on(text, &streams[i], info.merges_states != 0, &random, &sum);
    check_confidence(text, 0.95, &sum);
}

TEST(states_of_random_splits_merge_in_any_order)
{
    for_each_text(check_states);
}

static void check_refused(const char *text)
{
    struct rf_engine *one, *other;
    REQUIRE(rf_engine_open(&one, text, &(struct rf_engine_setup){.seed = 1}, NULL) == RF_OK);
    REQUIRE(rf_engine_open(&other, text, &(struct rf_engine_setup){.seed = 2}, NULL) == RF_OK);
    rf_status status = rf_engine_merge(one, other, NULL);
    CHECK_ROW(text, status == RF_EINVAL || status == RF_ENOTSUP);
    rf_engine_close(one);
    rf_engine_close(other);
}

TEST(engines_of_different_seeds_do_not_merge)
{
    for_each_text(check_refused);
}

TEST(every_engine_says_what_merging_means)
{
    struct rf_engine_info info;
    for (size_t i = 0; rf_engine_list(i, &info) == RF_OK; i++) {
        CHECK_ROW(info.name, info.merging != NULL && strstr(info.merging, "profiles") != NULL);
        bool denies = info.merging != NULL && strstr(info.merging, "states do not merge") != NULL;
        CHECK_ROW(info.name, denies == !info.merges_states);
    }
}

int main(int argc, char **argv)
{
    int status = test_run_all(argc, argv);
    printf("# figure: %u merges\n", n_merges);
    return status;
}
