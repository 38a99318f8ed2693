/* bench.h - several ways to do one thing, measured in one run and printed as ratios.
 *
 *     struct bench bench = bench_begin("exact", "zipf 1.0 over 1M keys", n);
 *     bench_add(&bench, "riffle exact", run_exact, &context);
 *     bench_add(&bench, "absl::flat_hash_map", run_absl, &context);
 *     bench_end(&bench);
 *
 * The contenders take turns, round after round, so that a disturbance of the machine hits all of
 * them; each is judged by its best round, in CPU time of this thread. The first contender of every
 * table is reading the same tuples from memory, the ceiling of anything that looks at each of them.
 * BENCH_ROUNDS sets the rounds (7), BENCH_SCALE shrinks the streams (1.0). */
#ifndef RF_BENCH_BENCH_H
#define RF_BENCH_BENCH_H

#include <riffle/riffle.h>

enum { BENCH_CONTENDERS_MAX = 24 };

typedef void bench_run(void *context);

struct bench_contender {
    const char *name;
    bench_run *run;
    void *context;
    double best_seconds;
};

struct bench {
    const char *what;
    const char *stream;
    size_t events;
    size_t n;
    struct bench_contender contenders[BENCH_CONTENDERS_MAX];
};

struct bench bench_begin(const char *what, const char *stream, size_t events);
void bench_add(struct bench *bench, const char *name, bench_run *run, void *context);
/* Runs everything and prints one line a contender: M events/s, ratio to memory, ratio to the second
 * contender (ours). */
void bench_end(struct bench *bench);
double bench_rate(const struct bench *bench, size_t i); /* events/s, after bench_end */

/* A generated stream in memory, the same every time. Exits with a sentence when it cannot be had. */
struct rf_tuple *bench_stream(const struct rf_gen *gen, size_t *n);
/* `events` scaled by BENCH_SCALE. */
size_t bench_scaled(size_t events);

/* A whole engine over a stream: open, feed in batches, close. The context of bench_engine. */
struct bench_engine {
    const char *text;
    const struct rf_tuple *tuples;
    size_t n;
    size_t memory; /* set by the run */
};
bench_run bench_engine;

/* Sum all words: the ceiling. The context is a struct bench_engine too. */
bench_run bench_read_memory;

double bench_cpu_seconds(void);

#endif
