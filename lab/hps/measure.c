/* measure.c - what the figures of HPS are made of, as CSV on stdout.
 *
 *     measure statistics PROGRAM [ARGUMENT...]              figure 6: what the program does
 *     measure streams PROGRAM [ARGUMENT...]                 its hot data streams, without sampling
 *     measure accuracy PHASES PROGRAM [ARGUMENT...]         figures 8 to 10: overlap, all settings
 *     measure native PHASES TRACE                           the same of a trace of records: no streams
 *     measure sample TYPE BURST FREQUENCY FIRST PROGRAM [ARGUMENT...]       one sampled profile: a,b,count
 *
 * The program runs once, on the functional core; its own output goes to stderr. TYPE is pair, method, stream, target or
 * reference. Target is what the handler of hot methods is told, before addresses become methods; reference is what
 * streams are made of. FREQUENCY is the inverse: 100 for 1/100. FIRST is how many events come before the first burst.
 * LIMIT in the environment ends the run after this many instructions. STREAMS has options of the engine for data streams
 * (heat=1%).
 *
 * A phase here is a start value of the sampling counter. Of N phases, the i-th has i/N of the distance between two bursts
 * before the first one, so the last one starts as sampling.hps does. (phases.c is about phases of programs.) */
#include "base/alloc.h"
#include "history.h"
#include "profile/profile.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum type { PAIR, METHOD, TARGET, STREAM, REFERENCE, TYPES };
static const char *const type_names[TYPES] = {"pair", "method", "target", "stream", "reference"};

struct sampler {
    uint64_t burst, sparsity; /* events in a burst, and between two */
    uint64_t first;           /* events before the first burst */
};

/* One profile: counts by number of a key, or streams. */
struct sampled {
    struct rf_profile *profile;
    uint64_t events; /* sampled */
};

static const struct sampler everything = {.burst = UINT64_MAX, .sparsity = 0, .first = 0};
static FILE *report;

/* --- which events --- */

static bool is_of(const struct member *member, enum type type)
{
    return type != PAIR || member->is_call;
}

/* What events are counted under. */
static struct rf_item key_of(const struct member *member, enum type type)
{
    uint64_t a = type == PAIR ? member->pc : type == METHOD ? member->method : member->target;
    uint64_t b = type == PAIR ? member->target : 0;
    return (struct rf_item){.a = a, .b = b, .a_hi = a, .b_hi = b};
}

/* Events [from, to); not over: the program ended before the burst did. */
struct burst {
    size_t from, to;
    bool over;
};

static void each_burst(const struct history *history, const struct sampler *sampler,
                       void (*visit)(void *context, const struct burst *burst), void *context)
{
    uint64_t n = history->n_events;
    for (uint64_t from = sampler->first; from <= n; from += sampler->burst + sampler->sparsity) {
        bool over = sampler->burst <= n - from;
        visit(context, &(struct burst){from, over ? from + sampler->burst : n, over});
        if (!over)
            return;
    }
}

/* --- call pairs and methods --- */

struct count {
    const struct history *history;
    enum type type;
    uint64_t *counts; /* by member */
    uint64_t events;
};

static void count_burst(void *context, const struct burst *burst)
{
    struct count *count = context;
    for (size_t i = burst->from; i < burst->to; i++) {
        uint32_t member = count->history->events[i];
        bool counts = is_of(&count->history->members[member], count->type);
        count->counts[member] += counts;
        count->events += counts;
    }
}

static int by_key(const void *left, const void *right)
{
    const struct rf_item *x = left, *y = right;
    if (x->a != y->a)
        return x->a < y->a ? -1 : 1;
    return x->b < y->b ? -1 : x->b > y->b;
}

/* Members of the same key become one item. */
static size_t join_items(struct rf_item *items, size_t n)
{
    size_t kept = 0;
    qsort(items, n, sizeof *items, by_key);
    for (size_t i = 0; i < n; i++)
        if (kept > 0 && by_key(&items[kept - 1], &items[i]) == 0)
            items[kept - 1].count += items[i].count;
        else
            items[kept++] = items[i];
    return kept;
}

static struct rf_profile *profile_of(const struct count *count)
{
    size_t n = 0;
    struct rf_profile *profile = rf_profile_new(&rf_alloc_standard);
    struct rf_item *items = malloc((count->history->n_members + 1) * sizeof *items);
    if (profile == NULL || items == NULL)
        die("no memory");
    for (size_t i = 0; i < count->history->n_members; i++)
        if (count->counts[i] > 0) {
            items[n] = key_of(&count->history->members[i], count->type);
            items[n++].count = count->counts[i];
        }
    profile->items = items;
    profile->n_items = join_items(items, n);
    return profile;
}

static struct sampled count_events(const struct history *history, enum type type,
                                   const struct sampler *sampler)
{
    struct count count = {history, type, calloc(history->n_members + 1, sizeof(uint64_t)), 0};
    if (count.counts == NULL)
        die("no memory");
    each_burst(history, sampler, count_burst, &count);
    struct sampled sampled = {profile_of(&count), count.events};
    free(count.counts);
    return sampled;
}

/* --- data streams --- */

struct trace {
    const struct history *history;
    struct rf_profiler *profiler;
    uint64_t events;
};

static void feed_references(struct trace *trace, size_t from, size_t to)
{
    enum { AT_ONCE = 4096 };
    struct rf_tuple tuples[AT_ONCE];
    struct rf_error error = {""};
    while (from < to) {
        size_t n = to - from < AT_ONCE ? to - from : AT_ONCE;
        for (size_t i = 0; i < n; i++)
            tuples[i] = (struct rf_tuple){trace->history->pcs[from + i],
                                          trace->history->addresses[from + i]};
        if (rf_profiler_feed(trace->profiler, &(struct rf_tuples){tuples, NULL, n}, &error) !=
            RF_OK)
            die(error.message);
        from += n;
        trace->events += n;
    }
}

/* A burst begins behind the event before its first one and ends with its last.
 */
static void trace_burst(void *context, const struct burst *burst)
{
    struct trace *trace = context;
    const struct history *history = trace->history;
    size_t from = burst->from > 0 ? history->before[burst->from - 1] : 0;
    feed_references(trace, from,
                    burst->over ? history->before[burst->to - 1] : history->n_references);
    rf_profiler_gap(trace->profiler);
}

/* One grammar for all references, up to 1 GiB: no symbol of it takes more than
 * 48 bytes, and bursts may have three times their share of the references. */
static struct rf_profiler *open_references(const struct history *history, enum type type,
                                           const struct sampler *sampler)
{
    const uint64_t most = UINT64_C(1) << 30;
    uint64_t every = (sampler->burst + sampler->sparsity) / sampler->burst;
    uint64_t memory = 48 * 3 * (history->n_references / (every > 0 ? every : 1)) + (1 << 20);
    const char *options = getenv("STREAMS");
    struct rf_profiler *profiler;
    struct rf_error error = {""};
    char text[256];
    if (type == REFERENCE)
        snprintf(text, sizeof text, "exact");
    else
        snprintf(text, sizeof text, "streams(memory=%" PRIu64 "%s%s)",
                 memory < most ? memory : most, options != NULL ? ", " : "",
                 options != NULL ? options : "");
    if (rf_profiler_open(&profiler, text, NULL, &error) != RF_OK)
        die(error.message);
    return profiler;
}

static struct sampled trace_references(const struct history *history, enum type type,
                                       const struct sampler *sampler)
{
    struct trace trace = {history, open_references(history, type, sampler), 0};
    struct rf_error error = {""};
    struct sampled sampled = {NULL, 0};
    each_burst(history, sampler, trace_burst, &trace);
    if (rf_profiler_profile(trace.profiler, &sampled.profile, &error) != RF_OK)
        die(error.message);
    rf_profiler_close(trace.profiler);
    sampled.events = trace.events;
    return sampled;
}

/* --- one profile --- */

static struct sampled sample(const struct history *history, enum type type,
                             const struct sampler *sampler)
{
    return type == STREAM || type == REFERENCE ? trace_references(history, type, sampler)
                                               : count_events(history, type, sampler);
}

/* --- figure 6 --- */

static int by_number(const void *left, const void *right)
{
    const uint64_t x = *(const uint64_t *)left, y = *(const uint64_t *)right;
    return x < y ? -1 : x > y;
}

static size_t distinct(uint64_t *numbers, size_t n)
{
    size_t found = 0;
    qsort(numbers, n, sizeof *numbers, by_number);
    for (size_t i = 0; i < n; i++)
        found += i == 0 || numbers[i] != numbers[i - 1];
    return found;
}

/* Distinct call sites, or methods that were called. */
static size_t distinct_calls(const struct rf_profile *pairs, bool sites)
{
    uint64_t *numbers = malloc((pairs->n_items + 1) * sizeof *numbers);
    if (numbers == NULL)
        die("no memory");
    for (size_t i = 0; i < pairs->n_items; i++)
        numbers[i] = sites ? pairs->items[i].a : pairs->items[i].b;
    size_t found = distinct(numbers, pairs->n_items);
    free(numbers);
    return found;
}

static void print_statistics(struct history *history)
{
    struct sampled pairs = sample(history, PAIR, &everything);
    fprintf(report, "methods,call_sites,call_pairs,calls,branches,events,"
                    "references,instructions,addresses\n");
    fprintf(report, "%zu,%zu,%zu,%" PRIu64 ",%" PRIu64 ",%zu,%zu,%" PRIu64 ",%zu\n",
            distinct_calls(pairs.profile, false), distinct_calls(pairs.profile, true),
            pairs.profile->n_items, history->calls, history->branches, history->n_events,
            history->n_references, history->instructions,
            distinct(history->addresses, history->n_references));
    rf_profile_free(pairs.profile);
}

static double figure_of(const struct rf_profile *profile, const char *name)
{
    for (size_t i = 0; i < profile->n_figures; i++)
        if (strcmp(profile->figures[i].name, name) == 0)
            return profile->figures[i].value;
    return 0;
}

/* What data streams there are in all references. */
static void print_streams(const struct history *history)
{
    struct sampled all = sample(history, STREAM, &everything);
    size_t n = 0;
    for (size_t i = 0; i < all.profile->n_items; i++)
        n += rf_stream_position(&all.profile->items[i]) == 0;
    fprintf(report, "references,grammars,symbols_max,streams,coverage_percent\n");
    fprintf(report, "%" PRIu64 ",%.0f,%.0f,%zu,%.2f\n", all.events,
            figure_of(all.profile, "grammars"), figure_of(all.profile, "grammar-symbols-max"), n,
            100 * figure_of(all.profile, "coverage-share"));
    rf_profile_free(all.profile);
}

/* --- figures 8 to 10 --- */

static const uint64_t bursts[] = {1, 10, 50, 100};
static const uint64_t frequencies[] = {100, 500, 1000, 5000, 10000};

struct summary {
    double n, sum, squares, least, most, events;
};

static void add_to(struct summary *summary, double overlap, uint64_t events)
{
    summary->least = summary->n == 0 || overlap < summary->least ? overlap : summary->least;
    summary->most = summary->n == 0 || overlap > summary->most ? overlap : summary->most;
    summary->n++;
    summary->sum += overlap;
    summary->squares += overlap * overlap;
    summary->events += (double)events;
}

static struct summary try_phases(const struct history *history, enum type type,
                                 const struct rf_profile *truth, struct sampler sampler,
                                 unsigned phases)
{
    struct summary summary = {0};
    struct rf_error error = {""};
    for (unsigned i = 1; i <= phases; i++) {
        double overlap;
        sampler.first = sampler.sparsity * i / phases;
        struct sampled sampled = sample(history, type, &sampler);
        if (rf_measure_overlap(&overlap, truth, sampled.profile, 0.9, &error) != RF_OK)
            die(error.message);
        add_to(&summary, overlap, sampled.events);
        rf_profile_free(sampled.profile);
    }
    return summary;
}

static void print_summary(enum type type, uint64_t burst, uint64_t frequency,
                          const struct summary *summary)
{
    double mean = summary->sum / summary->n;
    double variance =
        summary->n > 1 ? (summary->squares - summary->n * mean * mean) / (summary->n - 1) : 0;
    fprintf(report, "%s,%" PRIu64 ",%" PRIu64 ",%.0f,%.3f,%.3f,%.3f,%.3f,%.1f\n", type_names[type],
            burst, frequency, summary->n, 100 * mean, 100 * sqrt(variance > 0 ? variance : 0),
            100 * summary->least, 100 * summary->most, summary->events / summary->n);
    fflush(report);
}

static void print_accuracy_of(const struct history *history, enum type type, unsigned phases)
{
    struct sampled truth = sample(history, type, &everything);
    for (size_t b = 0; b < sizeof bursts / sizeof *bursts; b++)
        for (size_t f = 0; f < sizeof frequencies / sizeof *frequencies; f++) {
            const struct sampler sampler = {bursts[b], bursts[b] * (frequencies[f] - 1), 0};
            struct summary summary = try_phases(history, type, truth.profile, sampler, phases);
            print_summary(type, bursts[b], frequencies[f], &summary);
        }
    rf_profile_free(truth.profile);
}

static void print_accuracy(const struct history *history, unsigned phases)
{
    static const enum type types[] = {PAIR, METHOD, STREAM};
    fprintf(report, "type,burst,frequency,phases,overlap_mean,overlap_sd,overlap_"
                    "least,overlap_most,"
                    "sampled_mean\n");
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i] != STREAM || history->n_references > 0)
            print_accuracy_of(history, types[i], phases);
}

/* --- one profile, to be held against riffle sim --- */

static void print_sample(const struct history *history, char **arguments)
{
    enum type type = 0;
    uint64_t burst = strtoull(arguments[1], NULL, 10), every = strtoull(arguments[2], NULL, 10);
    const struct sampler sampler = {burst, burst * (every - 1), strtoull(arguments[3], NULL, 10)};
    while (type < TYPES && strcmp(arguments[0], type_names[type]) != 0)
        type++;
    if (type == TYPES || burst == 0 || every == 0)
        die("expected pair, method, target or stream, a burst and a frequency, "
            "both above 0");
    struct sampled sampled = sample(history, type, &sampler);
    fprintf(report, "a,b,count\n");
    for (size_t i = 0; i < sampled.profile->n_items; i++)
        fprintf(report, "0x%" PRIx64 ",0x%" PRIx64 ",%" PRIu64 "\n", sampled.profile->items[i].a,
                sampled.profile->items[i].b, sampled.profile->items[i].count);
    rf_profile_free(sampled.profile);
}

/* The program has standard output's number; what it says goes to standard
 * error. */
static void set_report_apart(void)
{
    int own = dup(STDOUT_FILENO);
    report = own >= 0 ? fdopen(own, "w") : NULL;
    if (report == NULL || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
        die("cannot set standard output apart");
}

static int usage(void)
{
    die("expected statistics PROGRAM..., streams PROGRAM..., accuracy PHASES "
        "PROGRAM..., native PHASES TRACE or "
        "sample TYPE BURST FREQUENCY FIRST PROGRAM...");
}

/* Arguments before the program's name; 0: there is no such mode. */
static int words_of(const char *mode)
{
    if (strcmp(mode, "statistics") == 0 || strcmp(mode, "streams") == 0)
        return 2;
    if (strcmp(mode, "accuracy") == 0 || strcmp(mode, "native") == 0)
        return 3;
    return strcmp(mode, "sample") == 0 ? 6 : 0;
}

int main(int argc, char **argv)
{
    const char *limit = getenv("LIMIT"), *mode = argc > 1 ? argv[1] : "";
    int own = words_of(mode);
    struct history history;
    if (own == 0 || argc <= own)
        return usage();
    set_report_apart();
    if (strcmp(mode, "native") == 0)
        history_read(&history, argv[own]);
    else
        history_run(&history, (const char *const *)argv + own,
                    limit != NULL ? strtoull(limit, NULL, 10) : 0);
    if (strcmp(mode, "streams") == 0)
        print_streams(&history);
    else if (own == 2)
        print_statistics(&history);
    else if (own == 3)
        print_accuracy(&history, (unsigned)strtoul(argv[2], NULL, 10));
    else
        print_sample(&history, argv + 2);
    history_free(&history);
    return fclose(report) == 0 ? 0 : 1;
}
