/* The sampler algebra beside exact: what a program is slowed down by when this is what counts. */
#include "bench.h"
#include <stdlib.h>

static void compare(const char *stream, const struct rf_gen *gen)
{
    static const char *const texts[] = {
        "exact",
        "H[P256]2048",
        "H[P256]2048 (hash=paper)",
        "H[P256]2048 A16",
        "P256",
        "R256",
        "R256 A16",
        "H[R256]2048",
        "CR256",
        "H[CR256]2048",
        "tagged",
        "tagged A16",
        "tagged(hash=paper)",
    };
    enum { TEXTS = sizeof texts / sizeof *texts };
    size_t n;
    struct rf_tuple *tuples = bench_stream(gen, &n);
    struct bench_engine runs[TEXTS];
    struct bench bench = bench_begin("stratified", stream, n);
    for (size_t i = 0; i < TEXTS; i++) {
        runs[i] = (struct bench_engine){.text = texts[i], .tuples = tuples, .n = n};
        if (i == 0)
            bench_add(&bench, "reading memory", bench_read_memory, &runs[i]);
        bench_add(&bench, texts[i], bench_engine, &runs[i]);
    }
    bench_end(&bench);
    free(tuples);
}

int main(void)
{
    size_t events = bench_scaled(20000000);
    compare("zipf 1.0 over 1M keys",
            &(struct rf_gen){.kind = "zipf", .events = events, .keys = 1000000, .seed = 1});
    compare("loop-like", &(struct rf_gen){.kind = "loop", .events = events, .seed = 1});
    return 0;
}
