/* Text streams: lines scanned a second, against copying the text and against strtoull on it. */
#include "bench.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct context {
    struct bench_engine memory; /* first: what bench_read_memory takes */
    FILE *file;
    char *text, *copy;
    size_t n_text;
};

__attribute__((noreturn)) static void stop(const char *what)
{
    fprintf(stderr, "bench: %s\n", what);
    exit(1);
}

static void scan(void *context)
{
    struct context *c = context;
    struct rf_source *source;
    struct rf_batch batch;
    struct rf_error error;
    size_t n = 0;
    if (lseek(fileno(c->file), 0, SEEK_SET) != 0 ||
        rf_source_open_text(&source, fileno(c->file), "text", NULL, &error) != RF_OK)
        stop("cannot read the text");
    while (rf_source_next(source, &batch, &error) == RF_OK && batch.n > 0)
        n += batch.n;
    rf_source_close(source);
    if (n != c->memory.n)
        stop("the text lost lines");
}

static void copy_text(void *context)
{
    struct context *c = context;
    memcpy(c->copy, c->text, c->n_text);
    __asm__ volatile("" ::"r"(c->copy) : "memory");
}

/* What one would write first; the text is in memory already. */
static void plain(void *context)
{
    struct context *c = context;
    struct rf_tuple sum = {0, 0};
    for (char *p = c->text, *end = p + c->n_text; p < end;) {
        sum.a ^= strtoull(p, &p, 0);
        sum.b ^= strtoull(p, &p, 0);
        p += *p == '\n';
    }
    __asm__ volatile("" ::"r"(sum.a), "r"(sum.b));
}

static void prepare(struct context *c, const struct rf_gen *gen, const char *format)
{
    memset(c, 0, sizeof *c);
    c->memory.tuples = bench_stream(gen, &c->memory.n);
    c->file = tmpfile();
    if (c->file == NULL)
        stop("no room for the text");
    for (size_t i = 0; i < c->memory.n; i++)
        fprintf(c->file, format, c->memory.tuples[i].a, c->memory.tuples[i].b);
    fflush(c->file);
    struct stat status;
    if (fstat(fileno(c->file), &status) != 0)
        stop("no room for the text");
    c->n_text = (size_t)status.st_size;
    c->text = calloc(1, c->n_text + 1);
    c->copy = malloc(c->n_text + 1);
    if (c->text == NULL || c->copy == NULL ||
        pread(fileno(c->file), c->text, c->n_text, 0) != (ssize_t)c->n_text)
        stop("no room for the text");
}

static void compare(const char *stream, const struct rf_gen *gen, const char *format)
{
    struct context c;
    prepare(&c, gen, format);
    struct bench bench = bench_begin("text", stream, c.memory.n);
    bench_add(&bench, "reading the tuples", bench_read_memory, &c.memory);
    bench_add(&bench, "scanning the text", scan, &c);
    bench_add(&bench, "memcpy of the text", copy_text, &c);
    bench_add(&bench, "strtoull", plain, &c);
    bench_end(&bench);
    printf("%.1f M lines/s of %.1f bytes each; scanning is %.2f of memcpy\n\n",
           bench_rate(&bench, 1) / 1e6, (double)c.n_text / (double)c.memory.n,
           bench_rate(&bench, 1) / bench_rate(&bench, 2));
    fclose(c.file);
    free((void *)c.memory.tuples);
    free(c.text);
    free(c.copy);
}

int main(void)
{
    static const char hex[] = "0x%lx 0x%lx\n", decimal[] = "%lu %lu\n";
    const struct rf_gen loop = {.kind = "loop", .events = bench_scaled(3000000), .seed = 1};
    const struct rf_gen zipf = {.kind = "zipf", .events = bench_scaled(3000000), .seed = 1};
    compare("loop-like, hexadecimal", &loop, hex);
    compare("loop-like, decimal", &loop, decimal);
    compare("zipf 1.0 over 1M keys, hexadecimal", &zipf, hex);
    return 0;
}
