/* progress - several engines over one stream in one pass: error and messages as the stream goes on.
 *
 *     progress SEEDS STREAM SELECTORS LIMIT EVERY ENGINE...
 *
 * Every engine that hashes or draws runs with the seeds 0 .. SEEDS-1 side by side; one that does neither (P256)
 * runs once. CSV, a row per place and engine: events,engine,seeds, then mean, standard deviation, least and most of
 * the error in percent, then means: unseen_percent,covered_percent,tuples,messages, the standard deviation of
 * messages, and errors: one error per seed, in order.
 *
 * STREAM is a file that `riffle replay` reads. SELECTORS, "-" for a stream of tuples, are names with a + between
 * them; each selector's tuples carry its number in the top byte of <a>, so that one engine serves all. LIMIT and
 * EVERY count events that were selected. The error is the invariance measure (riffle/invariance.h), its truth the
 * exact profile up to that place; for several selectors, "edges+calls" say, it is over the tuples of all. */
#include "figure.h"
#include <riffle/riffle.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ENGINES_MAX = 64, SEEDS_MAX = 32, SELECTORS_MAX = 8, CHUNK = 4096, TAG_SHIFT = 56 };

struct progress {
    struct rf_selector selectors[SELECTORS_MAX];
    unsigned n_selectors;
    struct rf_engine *exact, *engines[ENGINES_MAX][SEEDS_MAX];
    char **texts;
    int n_engines, n_seeds[ENGINES_MAX];
    struct rf_invariance *invariance;
    uint64_t events, limit, every;
};

static void die(const char *message)
{
    fprintf(stderr, "progress: %s\n", message);
    exit(1);
}

static void need(rf_status status, const struct rf_error *error)
{
    if (status != RF_OK)
        die(error->message);
}

static uint64_t number(const char *text)
{
    uint64_t value;
    if (rf_units_count(text, strlen(text), &value) != RF_OK || value == 0)
        die("a number was expected");
    return value;
}

static void read_selectors(struct progress *progress, char *text)
{
    struct rf_error error;
    for (char *name = strtok(text, "+"); name != NULL; name = strtok(NULL, "+")) {
        if (progress->n_selectors == SELECTORS_MAX)
            die("too many selectors");
        need(rf_selector_parse(&progress->selectors[progress->n_selectors++], name, &error),
             &error);
    }
}

/* What the seeds of one engine give at one place. */
struct point {
    struct rf_measure_invariance measure; /* of the last seed; `unseen` is the mean */
    double errors[SEEDS_MAX], messages[SEEDS_MAX];
    int n;
};

static double mean(const double *x, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += x[i];
    return sum / n;
}

static double deviation(const double *x, int n)
{
    double m = mean(x, n), sum = 0;
    for (int i = 0; i < n; i++)
        sum += (x[i] - m) * (x[i] - m);
    return n > 1 ? sqrt(sum / (n - 1)) : 0;
}

static double extreme(const double *x, int n, double sign)
{
    double best = x[0];
    for (int i = 1; i < n; i++)
        best = sign * x[i] > sign * best ? x[i] : best;
    return best;
}

static void look(struct progress *progress, int engine, struct point *point)
{
    struct rf_error error;
    double unseen = 0;
    point->n = progress->n_seeds[engine];
    for (int i = 0; i < point->n; i++) {
        need(rf_invariance_engine(progress->invariance, &point->measure,
                                  progress->engines[engine][i], &error),
             &error);
        point->messages[i] = lab_figure(progress->engines[engine][i], "messages");
        point->errors[i] = 100 * point->measure.error;
        unseen += point->measure.unseen;
    }
    point->measure.unseen = unseen / point->n;
}

static void print_point(struct progress *progress)
{
    struct rf_error error;
    struct point p = {.n = 0};
    need(rf_invariance_truth_engine(progress->invariance, progress->exact, &error), &error);
    for (int i = 0; i < progress->n_engines; i++) {
        look(progress, i, &p);
        printf("%llu,\"%s\",%d,%.4f,%.4f,%.4f,%.4f,%.4f,%.2f,%llu,%.1f,%.1f,",
               (unsigned long long)progress->events, progress->texts[i], p.n, mean(p.errors, p.n),
               deviation(p.errors, p.n), extreme(p.errors, p.n, -1), extreme(p.errors, p.n, 1),
               100 * p.measure.unseen, 100 * p.measure.covered,
               (unsigned long long)p.measure.tuples, mean(p.messages, p.n),
               deviation(p.messages, p.n));
        for (int k = 0; k < p.n; k++)
            printf("%s%.3f", k > 0 ? " " : "", p.errors[k]);
        putchar('\n');
    }
    fflush(stdout);
}

static void feed_all(struct progress *progress, const struct rf_tuples *tuples)
{
    struct rf_error error;
    need(rf_engine_feed(progress->exact, tuples, &error), &error);
    for (int i = 0; i < progress->n_engines; i++)
        for (int k = 0; k < progress->n_seeds[i]; k++)
            need(rf_engine_feed(progress->engines[i][k], tuples, &error), &error);
}

/* Cut where a point is due. */
static void take(struct progress *progress, const struct rf_tuple *tuples, size_t n)
{
    while (n > 0 && progress->events < progress->limit) {
        uint64_t due = progress->every - progress->events % progress->every;
        uint64_t left = progress->limit - progress->events;
        size_t piece = n < due ? n : (size_t)due;
        piece = piece < left ? piece : (size_t)left;
        feed_all(progress, &(struct rf_tuples){tuples, NULL, piece});
        progress->events += piece;
        if (progress->events % progress->every == 0)
            print_point(progress);
        tuples += piece;
        n -= piece;
    }
}

/* Record by record, so that the order of events stays. */
static void take_records(struct progress *progress, const struct rf_record *records, size_t n)
{
    struct rf_tuple chunk[CHUNK];
    size_t fill = 0;
    for (size_t i = 0; i < n; i++)
        for (unsigned k = 0; k < progress->n_selectors; k++) {
            struct rf_tuple *place = &chunk[fill];
            if (rf_selector_run(&progress->selectors[k], &records[i], 1, place) == 0)
                continue;
            place->a |= (uint64_t)k << TAG_SHIFT;
            if (++fill == CHUNK) {
                take(progress, chunk, fill);
                fill = 0;
            }
        }
    take(progress, chunk, fill);
}

static void run(struct progress *progress, const char *path)
{
    struct rf_error error;
    struct rf_source *source;
    struct rf_batch batch;
    need(rf_source_open(&source, path, NULL, &error), &error);
    while (progress->events < progress->limit) {
        need(rf_source_next(source, &batch, &error), &error);
        if (batch.n == 0)
            break;
        if (batch.records != NULL)
            take_records(progress, batch.records, batch.n);
        else
            take(progress, batch.tuples.tuples, batch.tuples.n);
    }
    if (progress->events % progress->every != 0)
        print_point(progress);
    rf_source_close(source);
}

/* R and D draw, H and tagged hash; P, C and A alone do neither. */
static int hashes_or_draws(const char *text)
{
    return strncmp(text, "tagged", 6) == 0 || strcspn(text, "RDH") < strcspn(text, "(");
}

static void open_engines(struct progress *progress, int seeds)
{
    struct rf_error error;
    for (int i = 0; i < progress->n_engines; i++) {
        progress->n_seeds[i] = hashes_or_draws(progress->texts[i]) ? seeds : 1;
        for (int k = 0; k < progress->n_seeds[i]; k++) {
            struct rf_engine_setup setup = {.seed = (uint64_t)k};
            need(rf_engine_open(&progress->engines[i][k], progress->texts[i], &setup, &error),
                 &error);
        }
    }
    need(rf_engine_open(&progress->exact, "exact", NULL, &error), &error);
    need(rf_invariance_open(&progress->invariance, NULL, NULL, &error), &error);
}

static void close_engines(struct progress *progress)
{
    for (int i = 0; i < progress->n_engines; i++)
        for (int k = 0; k < progress->n_seeds[i]; k++)
            rf_engine_close(progress->engines[i][k]);
    rf_engine_close(progress->exact);
    rf_invariance_close(progress->invariance);
}

int main(int argc, char **argv)
{
    if (argc < 7 || argc > 6 + ENGINES_MAX || number(argv[1]) > SEEDS_MAX)
        die("progress SEEDS STREAM SELECTORS|- LIMIT EVERY ENGINE...");
    static struct progress progress;
    if (strcmp(argv[3], "-") != 0)
        read_selectors(&progress, argv[3]);
    progress.limit = number(argv[4]);
    progress.every = number(argv[5]);
    progress.texts = argv + 6;
    progress.n_engines = argc - 6;
    open_engines(&progress, (int)number(argv[1]));
    puts("events,engine,seeds,error_percent,error_sd,error_min,error_max,unseen_percent,"
         "covered_percent,tuples,messages,messages_sd,errors");
    run(&progress, argv[2]);
    close_engines(&progress);
    return 0;
}
