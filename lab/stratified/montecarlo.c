/* montecarlo - figure 4: how far samplers are off the count of one tuple in a shuffled stream.
 *
 *     montecarlo RUNS FROM TO STEP FORM...         CSV: events,form,error_percent,standard_error
 *
 * Section 3.3: a stream of N events with t = 0.3 N copies of tuple p in random order, N = FROM..TO (1000..20000); every
 * form is run RUNS times on each length, each run with a stream and a seed of its own; the mean of
 * |t - estimate| / estimate, and the standard error of that mean. The other 0.7 N events are all different. The paper
 * does not say how many substreams H has in this experiment; 4 is fitted to its curve (see README.md). */
#include <riffle/engine.h>
#include "base/random.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { EVENTS_MAX = 20000, FORMS_MAX = 64 };

static const struct rf_tuple p = {0x401000, 7};

static void die(const char *message)
{
    fprintf(stderr, "montecarlo: %s\n", message);
    exit(1);
}

static void shuffle(struct rf_tuple *stream, size_t n, struct rf_random *random)
{
    for (size_t i = 0; i < n; i++)
        stream[i] = i < n * 3 / 10 ? p : (struct rf_tuple){0x402000 + 4 * i, i};
    for (size_t i = n - 1; i > 0; i--) {
        size_t k = rf_random_below(random, i + 1);
        struct rf_tuple swap = stream[i];
        stream[i] = stream[k];
        stream[k] = swap;
    }
}

static rf_status pick(void *context, const struct rf_item *item)
{
    if (item->a == p.a && item->b == p.b)
        *(double *)context = (double)item->count;
    return RF_OK;
}

static rf_status done(void *context, const struct rf_summary *summary)
{
    (void)context;
    (void)summary;
    return RF_OK;
}

static double error_of(const char *form, uint64_t seed, const struct rf_tuple *stream, size_t n)
{
    struct rf_error error;
    struct rf_engine *engine;
    struct rf_engine_setup setup = {.seed = seed};
    if (rf_engine_open(&engine, form, &setup, &error) != RF_OK ||
        rf_engine_feed(engine, &(struct rf_tuples){stream, NULL, n}, &error) != RF_OK)
        die(error.message);
    uint64_t often = n * 3 / 10;
    double estimate = 0, t = (double)often;
    struct rf_sink sink = {pick, NULL, done, &estimate};
    rf_engine_report(engine, &sink);
    rf_engine_close(engine);
    if (estimate == 0)
        return 1; /* not seen at all */
    return (t > estimate ? t - estimate : estimate - t) / estimate;
}

/* Errors of one form over the runs. */
struct errors {
    double sum, squares;
};

static void print_errors(size_t n, const char *form, struct errors errors, double runs)
{
    double mean = errors.sum / runs, variance = errors.squares / runs - mean * mean;
    printf("%zu,%s,%.4f,%.4f\n", n, form, 100 * mean,
           100 * sqrt(variance > 0 ? variance / runs : 0));
}

/* One length: its numbers do not depend on the other lengths. */
static void print_length(size_t n, long runs, char **forms, int n_forms)
{
    static struct rf_tuple stream[EVENTS_MAX];
    struct errors errors[FORMS_MAX] = {{0, 0}};
    struct rf_random random;
    rf_random_seed(&random, n);
    for (long run = 0; run < runs; run++) {
        shuffle(stream, n, &random);
        uint64_t seed = rf_random_next(&random);
        for (int form = 0; form < n_forms; form++) {
            double error = error_of(forms[form], seed, stream, n);
            errors[form].sum += error;
            errors[form].squares += error * error;
        }
    }
    for (int form = 0; form < n_forms; form++)
        print_errors(n, forms[form], errors[form], (double)runs);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    if (argc < 6 || argc > 5 + FORMS_MAX)
        die("montecarlo RUNS FROM TO STEP FORM...");
    size_t from = strtoul(argv[2], NULL, 10), to = strtoul(argv[3], NULL, 10);
    size_t step = strtoul(argv[4], NULL, 10);
    if (from == 0 || to > EVENTS_MAX || step == 0)
        die("lengths are 1 to 20000");
    for (size_t n = from; n <= to; n += step)
        print_length(n, strtol(argv[1], NULL, 10), argv + 5, argc - 5);
    return 0;
}
