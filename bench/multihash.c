/* multihash at 1M and 0.1%: the loops against each other and against plain C (portable), a larger accumulator, wider
 * counters, the presets; on generated streams and on load values of real programs where lab/record has left them. */
#include "bench.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Singly and batch come second and third: `compare` sets the first beside the better of them. */
static const char *const texts[] = {
    "multihash",
    "multihash(loop=singly)",
    "multihash(loop=batch)",
    "multihash(loop=portable)",
    "multihash(accumulator=auto)", /* as `riffle run` has it */
    "multihash(counter_bits=16)",
    "multihash(paper)",
    "multihash(paper-single)",
    "multihash(estimate=upper)", /* what its estimate costs, beside the first */
};
enum { TEXTS = sizeof texts / sizeof *texts };

static void compare(const char *stream, struct rf_tuple *tuples, size_t n)
{
    struct bench_engine runs[TEXTS];
    struct bench bench = bench_begin("multihash", stream, n);
    for (size_t i = 0; i < TEXTS; i++) {
        runs[i] = (struct bench_engine){.text = texts[i], .tuples = tuples, .n = n};
        if (i == 0)
            bench_add(&bench, "reading memory", bench_read_memory, &runs[0]);
        bench_add(&bench, texts[i], bench_engine, &runs[i]);
    }
    bench_end(&bench);
    double singly = bench_rate(&bench, 2), batch = bench_rate(&bench, 3);
    printf("  ours is %.2f of the better of singly and batch; it holds %zu bytes\n\n",
           bench_rate(&bench, 1) / (singly > batch ? singly : batch), runs[0].memory);
    free(tuples);
}

static void generate(const char *stream, const struct rf_gen *gen)
{
    size_t n;
    struct rf_tuple *tuples = bench_stream(gen, &n);
    compare(stream, tuples, n);
}

static void replay(const char *program)
{
    char path[256];
    struct rf_source *source;
    struct rf_batch batch;
    size_t n = 0, room = bench_scaled(20000000);
    snprintf(path, sizeof path, "build/lab/traces/%s.values.rft", program);
    if (rf_source_open(&source, path, NULL, NULL) != RF_OK) {
        printf("no trace of %s: lab/record %s values makes one\n\n", program, program);
        return;
    }
    struct rf_tuple *tuples = malloc(room * sizeof *tuples);
    while (tuples != NULL && n < room && rf_source_next(source, &batch, NULL) == RF_OK &&
           batch.n > 0 && batch.records == NULL) {
        size_t piece = batch.n < room - n ? batch.n : room - n;
        memcpy(tuples + n, batch.tuples.tuples, piece * sizeof *tuples);
        n += piece;
    }
    rf_source_close(source);
    snprintf(path, sizeof path, "load values of %s", program);
    compare(path, tuples, n);
}

int main(void)
{
    size_t n = bench_scaled(20000000);
    generate("program-like loop", &(struct rf_gen){.kind = "loop", .events = n, .seed = 1});
    generate("zipf 1.0 over 1M keys", &(struct rf_gen){.kind = "zipf", .events = n, .seed = 1});
    generate("uniform over 1M keys", &(struct rf_gen){.kind = "uniform", .events = n, .seed = 1});
    generate("phases", &(struct rf_gen){.kind = "phases", .events = n, .seed = 1});
    generate(
        "drift",
        &(struct rf_gen){.kind = "drift", .events = n, .seed = 1, .phase = 300000, .keys = 400000});
    replay("gcc");
    replay("gzip");
    return 0;
}
