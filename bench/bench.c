/* bench.c - taking turns, keeping the best, printing ratios. */
#include "bench.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

double bench_cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static double setting(const char *name, double standard)
{
    const char *text = getenv(name);
    return text != NULL ? strtod(text, NULL) : standard;
}

size_t bench_scaled(size_t events)
{
    double scaled = (double)events * setting("BENCH_SCALE", 1.0);
    return scaled < 1000 ? 1000 : (size_t)scaled;
}

struct bench bench_begin(const char *what, const char *stream, size_t events)
{
    return (struct bench){.what = what, .stream = stream, .events = events};
}

void bench_add(struct bench *bench, const char *name, bench_run *run, void *context)
{
    if (bench->n == BENCH_CONTENDERS_MAX)
        abort();
    bench->contenders[bench->n++] = (struct bench_contender){name, run, context, 1e30};
}

double bench_rate(const struct bench *bench, size_t i)
{
    return (double)bench->events / bench->contenders[i].best_seconds;
}

static void run_once(struct bench_contender *contender)
{
    double start = bench_cpu_seconds();
    contender->run(contender->context);
    double seconds = bench_cpu_seconds() - start;
    if (seconds < contender->best_seconds)
        contender->best_seconds = seconds;
}

void bench_end(struct bench *bench)
{
    int rounds = (int)setting("BENCH_ROUNDS", 7);
    for (int round = 0; round < rounds; round++)
        for (size_t i = 0; i < bench->n; i++)
            run_once(&bench->contenders[i]);
    printf("%s, %s, %.1f M events, best of %d\n", bench->what, bench->stream,
           (double)bench->events * 1e-6, rounds);
    printf("  %-44s %12s %10s %10s\n", "", "M events/s", "/ memory", "/ ours");
    for (size_t i = 0; i < bench->n; i++)
        printf("  %-44s %12.1f %10.3f %10.2f\n", bench->contenders[i].name,
               bench_rate(bench, i) * 1e-6, bench_rate(bench, i) / bench_rate(bench, 0),
               bench_rate(bench, i) / bench_rate(bench, bench->n > 1 ? 1 : 0));
    printf("\n");
    fflush(stdout);
}

static void fail(const char *what, const struct rf_error *error)
{
    fprintf(stderr, "bench: %s: %s\n", what, error->message);
    exit(1);
}

struct rf_tuple *bench_stream(const struct rf_gen *gen, size_t *n)
{
    struct rf_error error = {""};
    struct rf_source *source = NULL;
    struct rf_batch batch;
    struct rf_tuple *tuples = malloc(gen->events * sizeof *tuples);
    if (tuples == NULL || rf_source_open_gen(&source, gen, NULL, &error) != RF_OK)
        fail(gen->kind, &error);
    *n = 0;
    while (rf_source_next(source, &batch, &error) == RF_OK && batch.n > 0) {
        memcpy(tuples + *n, batch.tuples.tuples, batch.n * sizeof *tuples);
        *n += batch.n;
    }
    rf_source_close(source);
    return tuples;
}

enum { BATCH = 4096 };

void bench_engine(void *context)
{
    struct bench_engine *run = context;
    struct rf_error error = {""};
    struct rf_engine *engine;
    if (rf_engine_open(&engine, run->text, NULL, &error) != RF_OK)
        fail(run->text, &error);
    for (size_t done = 0; done < run->n; done += BATCH) {
        size_t piece = run->n - done < BATCH ? run->n - done : BATCH;
        struct rf_tuples batch = {run->tuples + done, NULL, piece};
        if (rf_engine_feed(engine, &batch, &error) != RF_OK)
            fail(run->text, &error);
    }
    run->memory = rf_engine_memory(engine);
    rf_engine_close(engine);
}

void bench_read_memory(void *context)
{
    const struct bench_engine *run = context;
    uint64_t sum = 0;
    for (size_t i = 0; i < run->n; i++)
        sum += run->tuples[i].a ^ run->tuples[i].b;
    __asm__ volatile("" : : "r"(sum)); /* the compiler must not leave the reading out */
}
