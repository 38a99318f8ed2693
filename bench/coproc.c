/* The co-processor's programs over records in memory, beside an exact engine on the same tuples.
 *
 * "nothing masked" has every record be a sample: what the processor itself can do. As it is delivered values.uc masks
 * loads that it knows, and these cost the filter alone. */
#include "bench.h"
#include <stdio.h>
#include <stdlib.h>

enum { EVENTS = 8000000, BATCH = 4096 };

struct coproc_run {
    const char *text;
    const struct rf_record *records;
    size_t n;
};

static void run_coproc(void *context)
{
    const struct coproc_run *run = context;
    struct rf_coproc *coproc;
    struct rf_error error = {""};
    if (rf_coproc_open(&coproc, run->text, NULL, &error) != RF_OK) {
        fprintf(stderr, "%s\n", error.message);
        exit(1);
    }
    for (size_t done = 0; done < run->n; done += BATCH)
        rf_coproc_feed(coproc, run->records + done, run->n - done < BATCH ? run->n - done : BATCH,
                       &error);
    rf_coproc_end(coproc, &error);
    rf_coproc_close(coproc);
}

/* Half of the loads always have the same value, a quarter one of two, a quarter a new one each time. */
static uint64_t value_of(const struct rf_tuple *tuple, size_t i)
{
    unsigned kind = (unsigned)tuple->a % 4;
    return kind < 2 ? tuple->b : kind == 2 ? i % 5 / 3 : i;
}

static struct rf_record *make_loads(const struct rf_tuple *tuples, size_t n)
{
    struct rf_record *records = calloc(n, sizeof *records);
    if (records == NULL) {
        fprintf(stderr, "no memory for %zu records\n", n);
        exit(1);
    }
    for (size_t i = 0; i < n; i++)
        records[i] = (struct rf_record){.kind = RF_CLASS_LOAD,
                                        .pc = UINT64_C(0x400000) + 4 * (tuples[i].a & 0xffff),
                                        .value = value_of(&tuples[i], i),
                                        .width = 8};
    return records;
}

int main(void)
{
    static const char *const texts[] = {
        "values.uc(one_of=1, least=1, worth=30, glance=10000, high=101, low=0, times=65535)",
        "values.uc(high=101, low=0, times=65535)",
        "values.uc",
        "sampling.uc",
        "loads.uc",
        "edges.uc"};
    static const char *const names[] = {"paper's setting, nothing masked",
                                        "values.uc, nothing masked",
                                        "values.uc",
                                        "sampling.uc",
                                        "loads.uc",
                                        "edges.uc (no record is its)"};
    enum { TEXTS = sizeof texts / sizeof *texts };
    const struct rf_gen gen = {
        .kind = "zipf", .events = bench_scaled(EVENTS), .keys = 200, .seed = 1};
    size_t n;
    struct rf_tuple *tuples = bench_stream(&gen, &n);
    struct rf_record *records = make_loads(tuples, n);
    struct bench_engine exact = {.text = "exact", .tuples = tuples, .n = n};
    struct coproc_run runs[TEXTS];
    struct bench bench = bench_begin("co-processor", "loads, zipf 1.0 over 200 of them", n);
    bench_add(&bench, "reading memory", bench_read_memory, &exact);
    bench_add(&bench, "exact", bench_engine, &exact);
    for (size_t i = 0; i < TEXTS; i++) {
        runs[i] = (struct coproc_run){texts[i], records, n};
        bench_add(&bench, names[i], run_coproc, &runs[i]);
    }
    bench_end(&bench);
    free(records);
    free(tuples);
    return 0;
}
