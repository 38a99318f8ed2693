/* Hot data streams beside exact, on a stream of references: a trace that is named (lab/record gcc 'load -> pc,addr'), or a
 * generated one. */
#include "bench.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EVENTS_MAX = 20000000 };

/* The tuples of a trace, as far as they are wanted. Exits with a sentence when they cannot be had. */
static struct rf_tuple *read_trace(const char *path, size_t *n)
{
    struct rf_source *source;
    struct rf_batch batch = {.n = 1};
    struct rf_error error = {""};
    size_t most = bench_scaled(EVENTS_MAX);
    struct rf_tuple *tuples = malloc(most * sizeof *tuples);
    if (tuples == NULL || rf_source_open(&source, path, NULL, &error) != RF_OK) {
        fprintf(stderr, "%s\n", tuples == NULL ? "no memory" : error.message);
        exit(1);
    }
    for (*n = 0; *n < most && batch.n > 0; *n += batch.n) {
        if (rf_source_next(source, &batch, &error) != RF_OK || batch.records != NULL) {
            fprintf(stderr, "%s: not a trace of tuples %s\n", path, error.message);
            exit(1);
        }
        batch.n = batch.n < most - *n ? batch.n : most - *n;
        if (batch.n > 0)
            memcpy(tuples + *n, batch.tuples.tuples, batch.n * sizeof *tuples);
    }
    rf_source_close(source);
    return tuples;
}

static void compare(const char *stream, const struct rf_tuple *tuples, size_t n)
{
    static const char *const texts[] = {"exact",
                                        "streams",
                                        "streams(memory=1Mi)",
                                        "streams(memory=16Mi)",
                                        "streams(heat=0.01%)",
                                        "streams(heat=1%)"};
    enum { TEXTS = sizeof texts / sizeof *texts };
    struct bench_engine runs[TEXTS];
    struct bench bench = bench_begin("streams", stream, n);
    for (size_t i = 0; i < TEXTS; i++) {
        runs[i] = (struct bench_engine){.text = texts[i], .tuples = tuples, .n = n};
        if (i == 0)
            bench_add(&bench, "reading memory", bench_read_memory, &runs[i]);
        bench_add(&bench, texts[i], bench_engine, &runs[i]);
    }
    bench_end(&bench);
}

int main(int argc, char **argv)
{
    size_t n;
    struct rf_tuple *tuples =
        argc > 1
            ? read_trace(argv[1], &n)
            : bench_stream(
                  &(struct rf_gen){.kind = "loop", .events = bench_scaled(EVENTS_MAX), .seed = 1},
                  &n);
    compare(argc > 1 ? argv[1] : "loop-like", tuples, n);
    free(tuples);
    return 0;
}
