/* The engine exact compared with hash tables that people count with. All of them grow from empty. */
#include "bench.h"
#include "rivals.h"
#include <stdio.h>
#include <stdlib.h>

static void compare(const char *stream, const struct rf_gen *gen)
{
    struct bench_engine run = {.text = "exact"};
    struct rf_tuple *tuples = bench_stream(gen, &run.n);
    run.tuples = tuples;
    struct bench bench = bench_begin("exact", stream, run.n);
    bench_add(&bench, "reading memory", bench_read_memory, &run);
    bench_add(&bench, "riffle exact", bench_engine, &run);
#ifdef HAVE_ABSL
    bench_add(&bench, "absl::flat_hash_map", rival_absl_flat_hash_map, &run);
#else
    printf("absl::flat_hash_map is not installed (libabsl-dev) and is left out\n");
#endif
    bench_add(&bench, "std::unordered_map", rival_unordered_map, &run);
    bench_end(&bench);
    free(tuples);
}

int main(void)
{
    compare("zipf 1.0 over 1M keys",
            &(struct rf_gen){
                .kind = "zipf", .events = bench_scaled(20000000), .keys = 1000000, .seed = 1});
    compare(
        "loop-like",
        &(struct rf_gen){.kind = "loop", .events = bench_scaled(20000000), .keys = 0, .seed = 1});
    return 0;
}
