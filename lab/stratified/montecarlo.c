/* montecarlo - figure 4: how far samplers are off the count of one tuple in a shuffled stream.
 *
 *     montecarlo RUNS FORM...         CSV: events,form,error_percent
 *
 * Section 3.3: a stream of N events with t = 0.3 N copies of tuple p in random order, N = 1000..20000; every
 * form is run RUNS times on each length; the mean of |t - estimate| / estimate. The other 0.7 N events
 * are all different. The paper does not say how many substreams H has in this experiment; its curve is that of
 * 4 (see README.md). */
#include <riffle/engine.h>
#include "base/random.h"
#include <stdio.h>
#include <stdlib.h>

enum { EVENTS_MIN = 1000, EVENTS_MAX = 20000, EVENTS_STEP = 1000 };

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

int main(int argc, char **argv)
{
    if (argc < 3)
        die("montecarlo RUNS FORM...");
    long runs = strtol(argv[1], NULL, 10);
    static struct rf_tuple stream[EVENTS_MAX];
    struct rf_random random;
    rf_random_seed(&random, 2001);
    puts("events,form,error_percent");
    for (size_t n = EVENTS_MIN; n <= EVENTS_MAX; n += EVENTS_STEP) {
        double sum[64] = {0};
        for (long run = 0; run < runs; run++) {
            shuffle(stream, n, &random);
            uint64_t seed = rf_random_next(&random);
            for (int form = 2; form < argc && form < 64; form++)
                sum[form] += error_of(argv[form], seed, stream, n);
        }
        for (int form = 2; form < argc && form < 64; form++)
            printf("%zu,%s,%.4f\n", n, argv[form], 100 * sum[form] / (double)runs);
        fflush(stdout);
    }
    return 0;
}
