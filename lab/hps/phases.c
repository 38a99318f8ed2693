/* phases.c - sampling that follows the phases of a program, against a constant frequency of equal overhead; CSV on stdout.
 *
 *     lab-hps-phases SEEDS PROGRAM [ARGUMENT...]
 *
 * The program runs once, on the functional core (history.h); its own output goes to stderr. Then, per seed, bursts at
 * random distances are taken from its events as the probe takes them (probe/burst.c), with the detector of src/base/phases.h:
 * at the first frequency as a rule, at the second one while what the program does is new. A constant frequency follows
 * that samples as many events on average. Both are estimated by the code that estimates all profiles (src/profile/bursts.h).
 *
 *     overlap   with the exhaustive profile, as in figure 8
 *     width     half the confidence interval, over the true count; mean over the members that make 90%, by their counts
 *     held      how many of these intervals hold the true count
 *     slices    the run cut into a hundred equal parts: mean overlap of each part's profile with the samples taken in it, of
 *               all members; and the same over the parts that are new, whose profile overlaps with that of each part before
 *               by less than a half */
#include "history.h"
#include "base/phases.h"
#include "base/random.h"
#include "base/spread.h"
#include "profile/bursts.h"
#include <inttypes.h>
#include <math.h>
#include <riffle/measure.h>
#include <riffle/profiler.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SLICES = 100 };
enum type { PAIR, METHOD, TYPES };
static const char *const type_names[TYPES] = {"pair", "method"};
static FILE *report;

/* --- the program as events of one type ------------------------------------------------------------ */

struct events {
    const struct history *history;
    enum type type;
    uint32_t *before; /* how many of this type there are before each event, and in all */
    struct rf_profile *truth;
    uint64_t top; /* the heaviest items of the truth that make 90% */
    uint32_t
        *keys; /* a number for what each member is counted under, below the number of members */
    double *slices[SLICES]; /* shares by key */
    bool is_new[SLICES];
};

static bool is_of(const struct events *events, size_t i)
{
    return events->type == METHOD || events->history->members[events->history->events[i]].is_call;
}

static struct rf_tuple key_of(const struct events *events, size_t i)
{
    const struct member *member = &events->history->members[events->history->events[i]];
    return events->type == PAIR ? (struct rf_tuple){member->pc, member->target}
                                : (struct rf_tuple){member->method, 0};
}

static struct rf_profiler *open_exact(void)
{
    struct rf_profiler *profiler;
    struct rf_error error = {""};
    if (rf_profiler_open(&profiler, "exact(memory=1Gi)", NULL, &error) != RF_OK)
        die(error.message);
    return profiler;
}

static void feed(struct rf_profiler *profiler, const struct rf_tuple *tuples, size_t n)
{
    struct rf_error error = {""};
    if (rf_profiler_feed(profiler, &(struct rf_tuples){tuples, NULL, n}, &error) != RF_OK)
        die(error.message);
}

static struct rf_profile *take_profile(struct rf_profiler *profiler)
{
    struct rf_profile *profile;
    struct rf_error error = {""};
    if (rf_profiler_profile(profiler, &profile, &error) != RF_OK)
        die(error.message);
    rf_profiler_close(profiler);
    return profile;
}

static uint64_t find_top(const struct rf_profile *truth)
{
    uint64_t sum = 0, n = 0;
    while (n < truth->n_items && sum < truth->consumed * 9 / 10)
        sum += truth->items[n++].count;
    return n;
}

/* --- slices ---------------------------------------------------------------------------------------- */

/* Members of one method have the number of the first of them. */
static uint32_t *number_keys(const struct history *history, enum type type)
{
    uint32_t *keys = malloc((history->n_members + 1) * sizeof *keys);
    if (keys == NULL)
        die("no memory");
    for (uint32_t i = 0; i < history->n_members; i++) {
        keys[i] = i;
        for (uint32_t k = 0; type == METHOD && k < i; k++)
            if (history->members[k].method == history->members[i].method) {
                keys[i] = k;
                break;
            }
    }
    return keys;
}

static double *new_shares(const struct events *events)
{
    double *shares = calloc(events->history->n_members + 1, sizeof *shares);
    if (shares == NULL)
        die("no memory");
    return shares;
}

static size_t slice_of(const struct events *events, size_t i)
{
    return i * SLICES / events->history->n_events;
}

static double overlap_of(const struct events *events, const double *x, const double *y)
{
    double x_sum = 0, y_sum = 0, overlap = 0;
    const size_t n = events->history->n_members;
    for (size_t i = 0; i < n; i++) {
        x_sum += x[i];
        y_sum += y[i];
    }
    for (size_t i = 0; x_sum > 0 && y_sum > 0 && i < n; i++)
        overlap += fmin(x[i] / x_sum, y[i] / y_sum);
    return overlap;
}

static void cut_slices(struct events *events)
{
    const struct history *history = events->history;
    events->keys = number_keys(history, events->type);
    for (size_t s = 0; s < SLICES; s++)
        events->slices[s] = new_shares(events);
    for (size_t i = 0; i < history->n_events; i++)
        events->slices[slice_of(events, i)][events->keys[history->events[i]]] += is_of(events, i);
    for (size_t s = 0; s < SLICES; s++) {
        events->is_new[s] = true;
        for (size_t k = 0; k < s && events->is_new[s]; k++)
            events->is_new[s] = overlap_of(events, events->slices[s], events->slices[k]) < 0.5;
    }
}

static void prepare(struct events *events, const struct history *history, enum type type)
{
    struct rf_profiler *profiler = open_exact();
    *events = (struct events){.history = history,
                              .type = type,
                              .before = malloc((history->n_events + 1) * sizeof(uint32_t))};
    if (events->before == NULL)
        die("no memory");
    events->before[0] = 0;
    for (size_t i = 0; i < history->n_events; i++) {
        const struct rf_tuple tuple = key_of(events, i);
        events->before[i + 1] = events->before[i] + is_of(events, i);
        if (is_of(events, i))
            feed(profiler, &tuple, 1);
    }
    events->truth = take_profile(profiler);
    events->top = find_top(events->truth);
    cut_slices(events);
}

static void forget(struct events *events)
{
    for (size_t s = 0; s < SLICES; s++)
        free(events->slices[s]);
    free(events->keys);
    free(events->before);
    rf_profile_free(events->truth);
}

/* --- one sampled run ------------------------------------------------------------------------------- */

struct sampling {
    uint64_t burst;
    uint64_t sparsity;     /* events between two bursts, on average */
    uint64_t new_sparsity; /* while what the program does is new */
    uint64_t seed;
};

struct run {
    const struct events *events;
    struct rf_bursts *bursts;
    struct rf_profiler *profiler;
    struct rf_phases phases;
    uint64_t sampled;   /* events of the type */
    uint64_t intervals; /* sampled */
    uint64_t while_new; /* events of all types under the second frequency */
    double weight;      /* of the burst under way */
    double *slices[SLICES];
};

static void sample_burst(struct run *run, size_t from, size_t to)
{
    const struct history *history = run->events->history;
    for (size_t i = from; i < to; i++) {
        const struct rf_tuple tuple = key_of(run->events, i);
        rf_phases_interval(&run->phases, rf_phases_bucket(history->members[history->events[i]].pc));
        if (!is_of(run->events, i))
            continue;
        feed(run->profiler, &tuple, 1);
        rf_bursts_feed(run->bursts, &tuple, 1);
        run->slices[slice_of(run->events, i)][run->events->keys[history->events[i]]] += run->weight;
        run->sampled++;
    }
    run->intervals += to - from;
    rf_phases_burst(&run->phases);
}

static void sample_all(struct run *run, const struct sampling *sampling)
{
    const size_t n = run->events->history->n_events;
    struct rf_random random;
    rf_random_seed(&random, sampling->seed);
    for (size_t i = 0; i < n;) {
        bool is_new = rf_phases_is_new(&run->phases) != 0;
        uint64_t sparsity = is_new ? sampling->new_sparsity : sampling->sparsity;
        uint64_t gap = rf_spread(rf_random_next(&random), sparsity, UINT64_MAX >> 1);
        size_t from = gap < n - i ? i + gap : n;
        size_t to = sampling->burst < n - from ? from + sampling->burst : n;
        run->weight = 1 + (double)sparsity / (double)sampling->burst;
        sample_burst(run, from, to);
        rf_bursts_end(run->bursts, run->weight);
        rf_bursts_skip(run->bursts, run->events->before[from] - run->events->before[i], 1);
        run->while_new += is_new ? to - i : 0;
        i = to;
    }
}

/* --- how good it is -------------------------------------------------------------------------------- */

/* Sums over seeds. */
struct verdict {
    double n, overlap, overlap_2, width, held, slices, slices_new;
    double sampled, intervals, while_new, windows, changes, found;
};

static const struct rf_item *find(const struct rf_profile *profile, const struct rf_item *item)
{
    for (size_t i = 0; i < profile->n_items; i++)
        if (profile->items[i].a == item->a && profile->items[i].b == item->b)
            return &profile->items[i];
    return NULL;
}

static void judge_bounds(struct verdict *verdict, const struct events *events,
                         const struct rf_profile *profile)
{
    double width = 0, sum = 0, held = 0;
    for (size_t i = 0; i < events->top; i++) {
        const struct rf_item *truth = &events->truth->items[i], *item = find(profile, truth);
        uint64_t lower = item != NULL ? item->lower : 0;
        uint64_t upper = item != NULL ? item->upper : profile->absent_upper;
        held += lower <= truth->count && truth->count <= upper;
        width += (double)(upper - lower) / 2; /* over its count, times its count */
        sum += (double)truth->count;
    }
    verdict->width += width / sum;
    verdict->held += held / (double)events->top;
}

static void judge_slices(struct verdict *verdict, const struct run *run)
{
    double all = 0, fresh = 0, n_fresh = 0;
    for (size_t s = 0; s < SLICES; s++) {
        double overlap = overlap_of(run->events, run->events->slices[s], run->slices[s]);
        all += overlap;
        fresh += run->events->is_new[s] ? overlap : 0;
        n_fresh += run->events->is_new[s];
    }
    verdict->slices += all / SLICES;
    verdict->slices_new += fresh / n_fresh;
}

static void judge(struct verdict *verdict, const struct run *run, const struct rf_profile *profile)
{
    struct rf_error error = {""};
    double overlap;
    if (rf_measure_overlap(&overlap, run->events->truth, profile, 0.9, &error) != RF_OK)
        die(error.message);
    judge_bounds(verdict, run->events, profile);
    judge_slices(verdict, run);
    verdict->n++;
    verdict->overlap += overlap;
    verdict->overlap_2 += overlap * overlap;
    verdict->sampled += (double)run->sampled;
    verdict->intervals += (double)run->intervals;
    verdict->while_new += (double)run->while_new;
    verdict->windows += run->phases.windows;
    verdict->changes += run->phases.changes;
    verdict->found += run->phases.found;
}

static void try_once(struct verdict *verdict, const struct events *events,
                     const struct sampling *sampling)
{
    const struct rf_phases_setup setup = {0};
    struct run run = {.events = events, .profiler = open_exact()};
    rf_phases_begin(&run.phases, &setup);
    if (rf_bursts_open(&run.bursts, NULL) != RF_OK)
        die("no memory");
    for (size_t s = 0; s < SLICES; s++)
        run.slices[s] = new_shares(events);
    sample_all(&run, sampling);
    struct rf_profile *profile = take_profile(run.profiler);
    if (rf_bursts_scale(run.bursts, profile) != RF_OK)
        die("no memory");
    judge(verdict, &run, profile);
    rf_profile_free(profile);
    rf_bursts_close(run.bursts);
    for (size_t s = 0; s < SLICES; s++)
        free(run.slices[s]);
}

/* --- the comparison -------------------------------------------------------------------------------- */

static double spread(const struct verdict *verdict)
{
    double mean = verdict->overlap / verdict->n;
    double variance = (verdict->overlap_2 - verdict->n * mean * mean) / (verdict->n - 1);
    return sqrt(variance > 0 ? variance : 0);
}

static void print_half(const struct verdict *verdict)
{
    double n = verdict->n;
    fprintf(report, ",%.1f,%.3f,%.3f,%.3f,%.2f,%.2f,%.2f", verdict->sampled / n,
            100 * verdict->overlap / n, 100 * spread(verdict), 100 * verdict->width / n,
            100 * verdict->held / n, 100 * verdict->slices / n, 100 * verdict->slices_new / n);
}

static struct verdict try_seeds(const struct events *events, struct sampling sampling,
                                unsigned seeds)
{
    struct verdict verdict = {0};
    for (sampling.seed = 1; sampling.seed <= seeds; sampling.seed++)
        try_once(&verdict, events, &sampling);
    return verdict;
}

static void compare(const struct events *events, struct sampling sampling, unsigned seeds)
{
    const double n = (double)events->history->n_events;
    uint64_t every = 1 + sampling.sparsity / sampling.burst;
    uint64_t new_every = 1 + sampling.new_sparsity / sampling.burst;
    struct verdict phases = try_seeds(events, sampling, seeds);
    double share = phases.sampled / phases.n / (double)events->truth->consumed;
    sampling.sparsity = sampling.new_sparsity =
        (uint64_t)llround((double)sampling.burst * (1 / share - 1));
    struct verdict constant = try_seeds(events, sampling, seeds);
    fprintf(report, "%s,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%u,%.0f,%.1f,%.1f,%.1f,%.2f",
            type_names[events->type], sampling.burst, every, new_every, seeds, 1 / share,
            phases.windows / phases.n, phases.changes / phases.n, phases.found / phases.n,
            100 * phases.while_new / phases.n / n);
    print_half(&phases);
    print_half(&constant);
    fprintf(report, "\n");
    fflush(report);
}

static void compare_all(const struct history *history, unsigned seeds)
{
    /* burst, frequency, frequency while new */
    static const uint64_t settings[][3] = {
        {1, 500, 50}, {1, 1000, 100}, {1, 5000, 500}, {10, 1000, 100}};
    fprintf(report, "type,burst,frequency,new_frequency,seeds,equal_frequency,windows,changes,"
                    "phases,new_percent");
    for (int i = 0; i < 2; i++) {
        const char *const of = i == 0 ? "phases" : "constant";
        fprintf(report,
                ",sampled_%s,overlap_%s,overlap_sd_%s,width_%s,held_%s,slices_%s,slices_new_%s", of,
                of, of, of, of, of, of);
    }
    fprintf(report, "\n");
    for (enum type type = 0; type < TYPES; type++) {
        struct events events;
        prepare(&events, history, type);
        for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
            uint64_t burst = settings[i][0];
            compare(&events,
                    (struct sampling){burst, burst * (settings[i][1] - 1),
                                      burst * (settings[i][2] - 1), 0},
                    seeds);
        }
        forget(&events);
    }
}

int main(int argc, char **argv)
{
    struct history history;
    unsigned seeds = argc > 2 ? (unsigned)strtoul(argv[1], NULL, 10) : 0;
    if (seeds < 2)
        die("expected SEEDS, 2 at least, and PROGRAM...");
    int own = dup(STDOUT_FILENO);
    report = own >= 0 ? fdopen(own, "w") : NULL;
    if (report == NULL || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
        die("cannot set standard output apart");
    history_run(&history, (const char *const *)argv + 2, 0);
    compare_all(&history, seeds);
    history_free(&history);
    return fclose(report) == 0 ? 0 : 1;
}
