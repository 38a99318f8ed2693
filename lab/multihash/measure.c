/* measure - several engines over one stream in one pass, judged interval by interval.
 *
 *     measure error STREAM INTERVAL THRESHOLD [-i] [-s N] ENGINE...  error and its four parts, as CSV
 *     measure shape STREAM INTERVAL THRESHOLD...  distinct tuples, candidates, their share of events, change
 *     measure change STREAM [-s N] ENGINE... how much candidates change, as the engines tell it
 *     measure even STREAM INTERVAL [-b BITS] [-s N]  how many counters of 2048, or 2^BITS, how many distinct tuples share
 *
 * STREAM is a file that `riffle replay` reads, or gen:KIND:EVENTS:SEED[:PHASE[:KEYS[:SKEW]]]; `measure -n EVENTS error
 * STREAM ...` reads no more than that many. -i prints every interval. -s N takes every engine with the seeds 1 to N; without
 * it the seed is 1.
 * Only whole intervals count. The error is that of Narayanasamy et al., section 5.5.2:
 * the sum of |perfect - measured| over the sum of perfect, over the tuples that are candidates in
 * either profile; a tuple's part goes to one of four kinds. `riffle compare` computes the same from two
 * saved profiles; here the perfect one never leaves memory, which long traces need. */
#include "figure.h"
#include <riffle/riffle.h>
#include "base/hash.h"
#include "base/random.h"
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ENGINES_MAX = 1024, THRESHOLDS_MAX = 8 };

/* The perfect profile of one interval: open addressing, emptied by a new epoch. */
struct slot {
    struct rf_tuple tuple;
    uint32_t count, epoch;
};

struct perfect {
    struct slot *slots;
    unsigned bits;
    uint32_t epoch;
    /* slots of this interval's tuples; candidates come first once perfect_sort has run */
    uint32_t *touched;
    size_t distinct, candidates;
    bool sorted;
};

static void die(const char *message)
{
    fprintf(stderr, "measure: %s\n", message);
    exit(1);
}

static void *get(size_t n, size_t size)
{
    void *memory = calloc(n, size);
    if (memory == NULL)
        die("out of memory");
    return memory;
}

static void perfect_begin(struct perfect *perfect, uint64_t interval)
{
    perfect->bits = 4;
    while ((UINT64_C(1) << perfect->bits) < 2 * interval)
        perfect->bits++;
    perfect->slots = get((size_t)1 << perfect->bits, sizeof *perfect->slots);
    perfect->touched = get(interval, sizeof *perfect->touched);
    perfect->epoch = 1;
}

static struct slot *perfect_slot(struct perfect *perfect, struct rf_tuple t)
{
    size_t mask = ((size_t)1 << perfect->bits) - 1;
    size_t i = (size_t)(rf_hash_multiply(t, rf_hash_key(12345)) >> (64 - perfect->bits));
    for (;; i = (i + 1) & mask) {
        struct slot *slot = &perfect->slots[i];
        if (slot->epoch != perfect->epoch || (slot->tuple.a == t.a && slot->tuple.b == t.b))
            return slot;
    }
}

static uint32_t perfect_count(struct perfect *perfect, struct rf_tuple t)
{
    const struct slot *slot = perfect_slot(perfect, t);
    return slot->epoch == perfect->epoch ? slot->count : 0;
}

static void perfect_add(struct perfect *perfect, struct rf_tuple t)
{
    struct slot *slot = perfect_slot(perfect, t);
    if (slot->epoch != perfect->epoch) {
        *slot = (struct slot){t, 0, perfect->epoch};
        perfect->touched[perfect->distinct++] = (uint32_t)(slot - perfect->slots);
    }
    slot->count++;
}

static void perfect_next(struct perfect *perfect)
{
    perfect->epoch++;
    perfect->distinct = 0;
    perfect->sorted = false;
}

/* Tuples with at least so many events in front of the others; the first engine of an interval does it for all. */
static void perfect_sort(struct perfect *perfect, uint32_t least)
{
    if (perfect->sorted)
        return;
    perfect->candidates = 0;
    for (size_t i = 0; i < perfect->distinct; i++) {
        uint32_t slot = perfect->touched[i];
        if (perfect->slots[slot].count < least)
            continue;
        perfect->touched[i] = perfect->touched[perfect->candidates];
        perfect->touched[perfect->candidates++] = slot;
    }
    perfect->sorted = true;
}

/* Error parts, summed over intervals or of one. */
struct parts {
    double false_positive, false_negative, neutral_positive, neutral_negative;
};

static double error_of(const struct parts *parts)
{
    return parts->false_positive + parts->false_negative + parts->neutral_positive +
           parts->neutral_negative;
}

struct contestant {
    const char *text;
    unsigned seed;
    struct rf_engine *engine;
    struct rf_sink sink;
    struct run *run;
    struct rf_item *items;
    size_t n, room;
    struct parts sum;
};

struct run {
    const char *stream;
    uint64_t limit; /* events that are read */
    uint64_t interval, intervals, inside;
    double threshold[THRESHOLDS_MAX];
    size_t n_thresholds;
    bool every_interval, shape;
    struct perfect perfect;
    struct contestant contestants[ENGINES_MAX];
    size_t n_contestants;
    struct rf_tuple *before[THRESHOLDS_MAX];
    size_t n_before[THRESHOLDS_MAX];
};

static uint32_t candidate_at(const struct run *run, size_t i)
{
    double events = run->threshold[i] * (double)run->interval;
    uint32_t whole = (uint32_t)(events + 0.999999);
    return whole > 0 ? whole : 1;
}

static rf_status take_item(void *context, const struct rf_item *item)
{
    struct contestant *c = context;
    if (c->n == c->room) {
        c->room = c->room * 2 + 64;
        c->items = realloc(c->items, c->room * sizeof *c->items);
        if (c->items == NULL)
            die("out of memory");
    }
    c->items[c->n++] = *item;
    return RF_OK;
}

/* Candidates that the engine has: false positives and the two neutral kinds. Marks them in the
 * perfect profile by the top bit of the count, so that the rest are false negatives. */
static void judge_found(struct run *run, struct contestant *c, struct parts *parts, double *total)
{
    uint32_t least = candidate_at(run, 0);
    for (size_t i = 0; i < c->n; i++) {
        struct slot *slot =
            perfect_slot(&run->perfect, (struct rf_tuple){c->items[i].a, c->items[i].b});
        double truth = slot->epoch == run->perfect.epoch ? slot->count : 0;
        double found = (double)c->items[i].count;
        if (found < least)
            continue;
        *total += truth;
        if (truth < least)
            parts->false_positive += found - truth;
        else if (found > truth)
            parts->neutral_positive += found - truth;
        else
            parts->neutral_negative += truth - found;
        if (truth >= least)
            slot->count |= 0x80000000u;
    }
}

static void judge_missed(struct run *run, struct parts *parts, double *total)
{
    for (size_t i = 0; i < run->perfect.candidates; i++) {
        struct slot *slot = &run->perfect.slots[run->perfect.touched[i]];
        bool found = slot->count >> 31 != 0;
        slot->count &= 0x7fffffffu;
        if (found)
            continue;
        parts->false_negative += slot->count;
        *total += slot->count;
    }
}

static void print_parts(const struct run *run, const struct contestant *c, uint64_t interval,
                        const struct parts *p, double by)
{
    printf("%s,\"%s\",%u,%llu,%.6f,%.6f,%.6f,%.6f,%.6f\n", run->stream, c->text, c->seed,
           (unsigned long long)interval, error_of(p) * by, p->false_positive * by,
           p->false_negative * by, p->neutral_positive * by, p->neutral_negative * by);
}

static void judge(struct run *run, struct contestant *c)
{
    struct parts parts = {0, 0, 0, 0};
    double total = 0;
    perfect_sort(&run->perfect, candidate_at(run, 0));
    judge_found(run, c, &parts, &total);
    judge_missed(run, &parts, &total);
    c->n = 0;
    if (total == 0)
        total = 1;
    parts.false_positive /= total;
    parts.false_negative /= total;
    parts.neutral_positive /= total;
    parts.neutral_negative /= total;
    if (run->every_interval)
        print_parts(run, c, run->intervals, &parts, 100);
    c->sum.false_positive += parts.false_positive;
    c->sum.false_negative += parts.false_negative;
    c->sum.neutral_positive += parts.neutral_positive;
    c->sum.neutral_negative += parts.neutral_negative;
}

static rf_status end_report(void *context, const struct rf_summary *summary)
{
    struct contestant *c = context;
    if (summary->events == c->run->interval)
        judge(c->run, c);
    c->n = 0;
    return RF_OK;
}

/* Candidates of this interval, the events that they make, and how many were so in the last. */
static void shape_threshold(struct run *run, size_t t)
{
    struct perfect *perfect = &run->perfect;
    uint32_t least = candidate_at(run, t);
    size_t now = 0, again = 0;
    uint64_t covered = 0;
    for (size_t i = 0; i < run->n_before[t]; i++)
        again += perfect_count(perfect, run->before[t][i]) >= least;
    if (run->before[t] == NULL)
        run->before[t] = get((size_t)(1 / run->threshold[t]) + 1, sizeof **run->before);
    for (size_t i = 0; i < perfect->distinct; i++) {
        const struct slot *slot = &perfect->slots[perfect->touched[i]];
        if (slot->count < least)
            continue;
        run->before[t][now++] = slot->tuple;
        covered += slot->count;
    }
    size_t either = now + run->n_before[t] - again;
    double change = either == 0 ? 0 : 100.0 * (double)(either - again) / (double)either;
    printf("%s,%llu,%g,%llu,%zu,%zu,%.2f,", run->stream, (unsigned long long)run->interval,
           run->threshold[t], (unsigned long long)run->intervals, perfect->distinct, now,
           100.0 * (double)covered / (double)run->interval);
    if (run->intervals == 0)
        printf("\n");
    else
        printf("%.2f\n", change);
    run->n_before[t] = now;
}

static void feed(struct run *run, const struct rf_tuple *tuples, size_t n)
{
    struct rf_error error;
    for (size_t i = 0; i < n; i++)
        perfect_add(&run->perfect, tuples[i]);
    run->inside += n;
    for (size_t i = 0; i < run->n_contestants; i++)
        if (rf_engine_feed(run->contestants[i].engine, &(struct rf_tuples){tuples, NULL, n},
                           &error) != RF_OK)
            die(error.message);
    if (run->inside < run->interval)
        return;
    for (size_t t = 0; run->shape && t < run->n_thresholds; t++)
        shape_threshold(run, t);
    perfect_next(&run->perfect);
    run->intervals++;
    run->inside = 0;
}

static void feed_cut(struct run *run, const struct rf_tuple *tuples, size_t n)
{
    while (n > 0) {
        uint64_t room = run->interval - run->inside;
        size_t piece = n < room ? n : (size_t)room;
        feed(run, tuples, piece);
        tuples += piece;
        n -= piece;
    }
}

/* One engine over the stream, its own intervals. */
struct steadiness {
    struct lab_wanted change; /* of the interval that is being told; first, for lab_keep */
    double weighted, events;
    uint64_t intervals;
};

static rf_status take_interval(void *context, const struct rf_summary *summary)
{
    struct steadiness *s = context;
    if (s->intervals++ > 0) { /* the first has nothing to be compared with */
        s->weighted += s->change.value * (double)summary->events;
        s->events += (double)summary->events;
    }
    return RF_OK;
}

/* What is measured, up to a limit. */
struct stream {
    struct rf_source *source;
    struct rf_error error;
    uint64_t left;
};

static void stream_open(struct stream *stream, const struct run *run)
{
    char kind[32];
    struct rf_gen gen = {.kind = kind};
    rf_status status;
    *stream = (struct stream){.left = run->limit};
    if (sscanf(run->stream, "gen:%31[a-z]:%" SCNu64 ":%" SCNu64 ":%" SCNu64 ":%" SCNu64 ":%lf",
               kind, &gen.events, &gen.seed, &gen.phase, &gen.keys, &gen.skew) >= 3)
        status = rf_source_open_gen(&stream->source, &gen, NULL, &stream->error);
    else
        status = rf_source_open(&stream->source, run->stream, NULL, &stream->error);
    if (status != RF_OK)
        die(stream->error.message);
}

/* The next tuples; false at the end, where the source is closed. */
static bool stream_next(struct stream *stream, struct rf_batch *batch)
{
    batch->n = 0;
    if (stream->left > 0 && rf_source_next(stream->source, batch, &stream->error) != RF_OK)
        die(stream->error.message);
    if (batch->n == 0) {
        rf_source_close(stream->source);
        return false;
    }
    if (batch->tuples.counts != NULL || batch->records != NULL)
        die("the stream must be of tuples without counts");
    if (batch->n > stream->left)
        batch->n = (size_t)stream->left;
    batch->tuples.n = batch->n;
    stream->left -= batch->n;
    return true;
}

static void pump(struct run *run)
{
    struct stream stream;
    struct rf_batch batch;
    stream_open(&stream, run);
    while (stream_next(&stream, &batch))
        feed_cut(run, batch.tuples.tuples, batch.n);
}

static void run_change(const struct run *run, const char *text, unsigned seed)
{
    struct steadiness s = {.change = {"candidates-changed", 0}};
    struct rf_sink sink = {lab_no_item, lab_keep, take_interval, &s};
    struct rf_engine_setup setup = {.seed = seed, .intervals = &sink};
    struct rf_engine *engine;
    struct rf_error error = {""};
    struct stream stream;
    struct rf_batch batch;
    if (rf_engine_open(&engine, text, &setup, &error) != RF_OK)
        die(error.message);
    stream_open(&stream, run);
    while (stream_next(&stream, &batch))
        if (rf_engine_feed(engine, &batch.tuples, &error) != RF_OK)
            die(error.message);
    printf("%s,\"%s\",%u,%llu,%.0f,%.2f\n", run->stream, text, seed,
           (unsigned long long)s.intervals,
           s.intervals < 2 ? 0 : s.events / (double)(s.intervals - 1),
           s.events == 0 ? 0 : 100 * s.weighted / s.events);
    rf_engine_close(engine);
}

/* The distinct tuples of the first interval over a table: by the paper's hash, ours, and at random. */
enum { EVEN_BITS = 11, EVEN_KINDS = 3, LOAD_MAX = 4096 };

struct even {
    unsigned kind, seed, bits;
};

static uint32_t counter_of(struct even even, const struct rf_hash_paper *paper,
                           struct rf_random *random, struct rf_tuple t)
{
    if (even.kind == 0)
        return rf_hash_paper_steps(paper, t);
    if (even.kind == 1)
        return (uint32_t)(rf_hash_multiply(t, rf_hash_key(even.seed)) >> 48) * (1u << even.bits) >>
               16;
    return (uint32_t)rf_random_below(random, 1u << even.bits);
}

static void tell_even(const struct run *run, struct even even)
{
    static const char *const names[EVEN_KINDS] = {"paper", "multiply", "chance"};
    uint32_t loads[1 << EVEN_BITS] = {0}, counters[LOAD_MAX] = {0}, most = 0;
    struct rf_hash_paper paper;
    struct rf_random random;
    uint64_t state = even.seed;
    rf_hash_paper_init(&paper, even.bits, rf_splitmix(&state));
    rf_random_seed(&random, even.seed);
    for (size_t i = 0; i < run->perfect.distinct; i++) {
        struct rf_tuple t = run->perfect.slots[run->perfect.touched[i]].tuple;
        loads[counter_of(even, &paper, &random, t)]++;
    }
    for (size_t i = 0; i < (size_t)1 << even.bits; i++) {
        uint32_t load = loads[i] < LOAD_MAX ? loads[i] : LOAD_MAX - 1;
        counters[load]++;
        most = load > most ? load : most;
    }
    for (uint32_t load = 0; load <= most; load++)
        printf("%s,%s,%u,%u,%u\n", run->stream, names[even.kind], even.seed, load, counters[load]);
}

static void run_even(struct run *run, unsigned bits, unsigned seeds)
{
    struct stream stream;
    struct rf_batch batch;
    if (bits == 0 || bits > EVEN_BITS)
        die("BITS is 1 to 11");
    run->limit = run->limit < run->interval ? run->limit : run->interval;
    stream_open(&stream, run);
    while (stream_next(&stream, &batch))
        for (size_t i = 0; i < batch.n; i++)
            perfect_add(&run->perfect, batch.tuples.tuples[i]);
    printf("stream,hash,seed,load,counters\n");
    for (unsigned kind = 0; kind < EVEN_KINDS; kind++)
        for (unsigned seed = 1; seed <= seeds; seed++)
            tell_even(run, (struct even){kind, seed, bits});
}

/* Takes an option and its number, as in `-s N`, off the front. */
static unsigned take(char ***texts, const char *option, unsigned otherwise)
{
    if ((*texts)[0] == NULL || strcmp((*texts)[0], option) != 0 || (*texts)[1] == NULL)
        return otherwise;
    *texts += 2;
    return (unsigned)strtoul((*texts)[-1], NULL, 10);
}

static unsigned take_seeds(char ***texts)
{
    return take(texts, "-s", 1);
}

static void enter(struct run *run, const char *text, unsigned seed)
{
    if (run->n_contestants == ENGINES_MAX)
        die("too many engines");
    struct contestant *c = &run->contestants[run->n_contestants++];
    struct rf_error error;
    *c = (struct contestant){.text = text, .seed = seed, .run = run};
    c->sink = (struct rf_sink){take_item, NULL, end_report, c};
    struct rf_engine_setup setup = {.seed = seed, .interval = run->interval, .intervals = &c->sink};
    if (rf_engine_open(&c->engine, text, &setup, &error) != RF_OK)
        die(error.message);
}

static void leave(struct run *run)
{
    for (size_t i = 0; i < run->n_contestants; i++) {
        rf_engine_close(run->contestants[i].engine);
        free(run->contestants[i].items);
    }
    for (size_t i = 0; i < run->n_thresholds; i++)
        free(run->before[i]);
    free(run->perfect.slots);
    free(run->perfect.touched);
}

static void run_error(struct run *run, char **texts)
{
    unsigned seeds = 1;
    for (; *texts != NULL; texts++)
        if (strcmp(*texts, "-i") == 0)
            run->every_interval = true;
        else if (strcmp(*texts, "-s") == 0 && texts[1] != NULL)
            seeds = (unsigned)strtoul(*++texts, NULL, 10);
        else
            for (unsigned seed = 1; seed <= seeds; seed++)
                enter(run, *texts, seed);
    printf("stream,engine,seed,%s,error,false_positive,false_negative,neutral_positive,"
           "neutral_negative\n",
           run->every_interval ? "interval" : "intervals");
    pump(run);
    for (size_t i = 0; !run->every_interval && i < run->n_contestants; i++)
        print_parts(run, &run->contestants[i], run->intervals, &run->contestants[i].sum,
                    run->intervals == 0 ? 0 : 100.0 / (double)run->intervals);
}

static void run_shape(struct run *run, char **texts)
{
    run->shape = true;
    run->n_thresholds = 0;
    for (; *texts != NULL && run->n_thresholds < THRESHOLDS_MAX; texts++)
        run->threshold[run->n_thresholds++] = strtod(*texts, NULL);
    printf("stream,interval,threshold,number,distinct,candidates,covered,change\n");
    pump(run);
}

static void run_changes(const struct run *run, char **texts)
{
    unsigned seeds = take_seeds(&texts);
    printf("stream,engine,seed,intervals,length,change\n");
    for (; *texts != NULL; texts++)
        for (unsigned seed = 1; seed <= seeds; seed++)
            run_change(run, *texts, seed);
}

static const char *const usage = "measure [-n EVENTS] error|shape STREAM INTERVAL THRESHOLD ..., "
                                 "change STREAM ENGINE..., or even "
                                 "STREAM INTERVAL";

int main(int argc, char **argv)
{
    static struct run run = {.limit = UINT64_MAX};
    if (argc >= 3 && strcmp(argv[1], "-n") == 0) {
        run.limit = strtoull(argv[2], NULL, 10);
        argc -= 2;
        argv += 2;
    }
    if (argc < 4)
        die(usage);
    run.stream = argv[2];
    if (strcmp(argv[1], "change") == 0) {
        run_changes(&run, argv + 3);
        return 0;
    }
    bool even = strcmp(argv[1], "even") == 0;
    if (argc < 5 && !even)
        die(usage);
    run.interval = strtoull(argv[3], NULL, 10);
    run.threshold[0] = even ? 1 : strtod(argv[4], NULL);
    run.n_thresholds = 1;
    if (run.limit == 0 || run.interval == 0 || run.threshold[0] <= 0)
        die("the events, the interval and the threshold are plain numbers above 0");
    perfect_begin(&run.perfect, run.interval);
    char **rest = argv + 4;
    if (even) {
        unsigned bits = take(&rest, "-b", EVEN_BITS);
        run_even(&run, bits, take_seeds(&rest));
    } else if (strcmp(argv[1], "error") == 0)
        run_error(&run, argv + 5);
    else
        run_shape(&run, argv + 4);
    leave(&run);
    return 0;
}
