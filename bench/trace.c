/* Traces: decoding and encoding against copying the same tuples, and against zstd alone. */
#include "bench.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

enum { LEVEL = 1 };

struct context {
    struct bench_engine memory; /* first: what bench_read_memory takes */
    struct rf_tuple *copy;
    char path[64];
    void *packed;
    size_t n_packed, packed_room;
};

__attribute__((noreturn)) static void stop(const char *what)
{
    fprintf(stderr, "bench: %s\n", what);
    exit(1);
}

static void copy_tuples(void *context)
{
    struct context *c = context;
    memcpy(c->copy, c->memory.tuples, c->memory.n * sizeof *c->copy);
    __asm__ volatile("" ::"r"(c->copy) : "memory");
}

static void encode(void *context)
{
    struct context *c = context;
    struct rf_trace_writer *writer;
    struct rf_error error;
    if (rf_trace_create(&writer, c->path, RF_TRACE_TUPLES, NULL, NULL, NULL, &error) != RF_OK)
        stop(error.message);
    for (size_t i = 0; i < c->memory.n; i += 16384) {
        size_t n = c->memory.n - i < 16384 ? c->memory.n - i : 16384;
        struct rf_tuples tuples = {c->memory.tuples + i, NULL, n};
        if (rf_trace_write_tuples(writer, &tuples, &error) != RF_OK)
            stop(error.message);
    }
    if (rf_trace_finish(writer, &error) != RF_OK)
        stop(error.message);
}

static void decode(void *context)
{
    struct context *c = context;
    struct rf_source *source;
    struct rf_batch batch;
    struct rf_error error;
    size_t n = 0;
    if (rf_source_open(&source, c->path, NULL, &error) != RF_OK)
        stop(error.message);
    while (rf_source_next(source, &batch, &error) == RF_OK && batch.n > 0)
        n += batch.n;
    rf_source_close(source);
    if (n != c->memory.n)
        stop("the trace lost events");
}

static void zstd_pack(void *context)
{
    struct context *c = context;
    c->n_packed = ZSTD_compress(c->packed, c->packed_room, c->memory.tuples,
                                c->memory.n * sizeof *c->copy, LEVEL);
}

static void zstd_unpack(void *context)
{
    struct context *c = context;
    ZSTD_decompress(c->copy, c->memory.n * sizeof *c->copy, c->packed, c->n_packed);
}

static void prepare(struct context *c, const struct rf_gen *gen)
{
    memset(c, 0, sizeof *c);
    c->memory.tuples = bench_stream(gen, &c->memory.n);
    size_t bytes = c->memory.n * sizeof *c->copy;
    c->packed_room = ZSTD_compressBound(bytes);
    c->copy = malloc(bytes);
    c->packed = malloc(c->packed_room);
    strcpy(c->path, "/tmp/riffle-bench-XXXXXX");
    int fd = mkstemp(c->path);
    if (fd < 0 || c->copy == NULL || c->packed == NULL)
        stop("no room for the streams");
    close(fd);
    encode(c);
    zstd_pack(c);
}

static void compare(const char *stream, const struct rf_gen *gen)
{
    struct context c;
    struct rf_trace_info info;
    prepare(&c, gen);
    struct bench bench = bench_begin("trace", stream, c.memory.n);
    bench_add(&bench, "reading memory", bench_read_memory, &c.memory);
    bench_add(&bench, "decode .rft", decode, &c);
    bench_add(&bench, "memcpy", copy_tuples, &c);
    bench_add(&bench, "zstd alone, decode", zstd_unpack, &c);
    bench_add(&bench, "encode .rft", encode, &c);
    bench_add(&bench, "zstd alone, encode", zstd_pack, &c);
    bench_end(&bench);
    rf_trace_inspect(c.path, &info, NULL);
    double n = (double)c.memory.n;
    printf("bytes per tuple: %.2f, zstd alone %.2f; decoding is %.2f of memcpy\n\n",
           (double)info.bytes / n, (double)c.n_packed / n,
           bench_rate(&bench, 1) / bench_rate(&bench, 2));
    unlink(c.path);
    free((void *)c.memory.tuples);
    free(c.copy);
    free(c.packed);
}

int main(void)
{
    size_t n = bench_scaled(10000000);
    compare("loop-like", &(struct rf_gen){.kind = "loop", .events = n, .seed = 1});
    compare("zipf 1.0 over 1M keys", &(struct rf_gen){.kind = "zipf", .events = n, .seed = 1});
    compare("uniform over 1M keys", &(struct rf_gen){.kind = "uniform", .events = n, .seed = 1});
    return 0;
}
