/* multihash at 1M and 0.1%: the loops against each other, the presets, narrower and wider tables. */
#include "bench.h"
#include <stdio.h>
#include <stdlib.h>

static const char *const texts[] = {
    "multihash",
    "multihash(loop=singly)",
    "multihash(loop=batch)",
    "multihash(tables=4)",
    "multihash(paper)",
    "multihash(paper, loop=singly)",
    "multihash(paper, loop=batch)",
    "multihash(paper-single)",
};
enum { TEXTS = sizeof texts / sizeof *texts };

static void compare(const char *stream, const struct rf_gen *gen)
{
    size_t n;
    struct rf_tuple *tuples = bench_stream(gen, &n);
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

int main(void)
{
    size_t n = bench_scaled(20000000);
    compare("program-like loop", &(struct rf_gen){.kind = "loop", .events = n, .seed = 1});
    compare("zipf 1.0 over 1M keys", &(struct rf_gen){.kind = "zipf", .events = n, .seed = 1});
    compare("uniform over 1M keys", &(struct rf_gen){.kind = "uniform", .events = n, .seed = 1});
    compare("phases", &(struct rf_gen){.kind = "phases", .events = n, .seed = 1});
    return 0;
}
