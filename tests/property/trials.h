/* trials.h - what every engine is tried with: the texts of engines, and the streams they are fed. */
#ifndef RF_TESTS_TRIALS_H
#define RF_TESTS_TRIALS_H

#include "test.h"
#include "verdict.h"
#include <riffle/engine.h>
#include <riffle/gen.h>
#include <riffle/source.h>
#include <stdlib.h>

/* Texts to try for an engine in place of its bare name. Short intervals, small tables: that is where
 * things go wrong. */
static const struct {
    const char *engine;
    const char *texts[16];
} trials[] = {
    {"auto",
     {"auto", "auto(ceiling=30Ki)", "auto(ceiling=100Ki, threshold=1%)",
      "auto(ceiling=1Mi, interval=1K)", "auto(ceiling=200Ki, keep=100)",
      "auto(ceiling=60Ki, interval=3K, threshold=2%)"}},
    {"exact", {"exact", "exact(interval=1K)", "exact(interval=7)", "exact(memory=100Mi)"}},
    {"multihash",
     {"multihash", "multihash(paper)", "multihash(interval=1K, threshold=1%)",
      "multihash(paper, interval=1K, threshold=1%)",
      "multihash(paper-single, interval=1K, threshold=1%, counters=64)",
      "multihash(paper, interval=5K, threshold=0.5%, counters=64, conservative=no, reset=yes)",
      "multihash(interval=2K, threshold=1%, counters=20, accumulator=5, shield=no)",
      "multihash(interval=2K, threshold=2%, tables=5, counters=50, accumulator=7, counter_bits=5)",
      "multihash(paper, interval=2K, threshold=1%, counters=32, accumulator=4, counter_bits=5)",
      "multihash(interval=1K, retain=no, reset=yes, counters=16, accumulator=3)",
      "multihash(paper, interval=1K, threshold=1%, linger=yes, counters=16, accumulator=3)",
      "multihash(interval=auto, threshold=1%)"}},
    {"rap-hw", {"rap-hw(eps=20%, tcam=512)"}},
    {"rap",
     {"rap(eps=5%)", "rap(eps=10%, b=2, key=b, bits=32, ends=1)",
      "rap(eps=2%, b=16, first_merge=7)", "rap(eps=10%, key=both)",
      "rap(eps=10%, buffer=1Ki, cache=0)", "rap(eps=1%, nodes=256)",
      "rap(eps=20%, key=both, b=16, bits=20, buffer=4Ki)"}},
    {"stratified",
     {"stratified", "P7", "R7", "CR7", "D7", "H[P7]64", "H[CR7]64 (estimate=share)", "H[P16]64 A16",
      "H[H[P4]2]32 (hash=paper)", "H[P5 A2]16 A8", "A16"}},
    {"streams",
     {"streams", "streams(memory=16Ki)", "streams(min=2, max=8, heat=0)",
      "streams(heat=1%, interval=1K)", "streams(memory=64Ki, interval=7, min=2)"}},
    {"tagged",
     {"tagged", "tagged(entries=64, hit=5, evict=8)",
      "tagged(ways=1, entries=16, hit=4, evict=4) A8"}},
};

enum { EVENTS = 40000, EVENTS_LONG = 300000, NAME_MAX_BYTES = 160 };

struct stream {
    const char *name;
    struct rf_tuple *tuples;
    size_t n;
};

static struct stream streams[16];
static size_t n_streams;

static inline struct rf_tuple *add_stream(const char *name, size_t n)
{
    struct rf_tuple *tuples = malloc((n + 1) * sizeof *tuples);
    if (tuples == NULL)
        abort();
    streams[n_streams++] = (struct stream){name, tuples, n};
    return tuples;
}

static inline void add_generated(const char *kind, uint64_t keys, size_t n, uint64_t seed)
{
    struct rf_gen gen = {.kind = kind, .events = n, .keys = keys, .phase = n / 5, .seed = seed};
    struct rf_tuple *tuples = add_stream(kind, n);
    struct rf_source *source;
    struct rf_batch batch;
    if (rf_source_open_gen(&source, &gen, NULL, NULL) != RF_OK)
        abort();
    for (size_t done = 0; done < n; done += batch.n) {
        if (rf_source_next(source, &batch, NULL) != RF_OK || batch.n == 0 ||
            batch.tuples.counts != NULL)
            abort();
        memcpy(tuples + done, batch.tuples.tuples, batch.n * sizeof *tuples);
    }
    rf_source_close(source);
}

static inline void make_streams(void)
{
    if (n_streams > 0)
        return;
    size_t n = getenv("RIFFLE_TEST_LONG") != NULL ? EVENTS_LONG : EVENTS;
    uint64_t seed = test_seed(20);
    add_stream("nothing", 0);
    add_stream("one event", 1)[0] = (struct rf_tuple){5, 6};
    struct rf_tuple *one = add_stream("one key", n), *ends = add_stream("ends of the words", n);
    struct rf_tuple *distinct = add_stream("all distinct", n);
    for (size_t i = 0; i < n; i++) {
        one[i] = (struct rf_tuple){0x400000, 0};
        distinct[i] = (struct rf_tuple){0x400000 + 4 * i, i * i};
        ends[i] = (struct rf_tuple){i % 2 ? UINT64_MAX : 0, i % 3 ? UINT64_MAX - i % 5 : i % 5};
    }
    add_generated("zipf", n / 10, n, seed);
    add_generated("uniform", 3000, n, seed);
    add_generated("phases", n / 20, n, seed);
    add_generated("loop", 2000, n, seed);
}

/* --- one engine text at a time --- */

static inline const char *text_of(size_t engine, size_t trial)
{
    struct rf_engine_info info;
    if (rf_engine_list(engine, &info) != RF_OK)
        return NULL;
    for (size_t i = 0; i < sizeof trials / sizeof *trials; i++)
        if (strcmp(trials[i].engine, info.name) == 0)
            return trial < sizeof trials[i].texts / sizeof *trials[i].texts ? trials[i].texts[trial]
                                                                            : NULL;
    return trial == 0 ? info.name : NULL;
}

static inline void for_each_text(void (*run)(const char *text))
{
    struct rf_engine_info info;
    make_streams();
    for (size_t engine = 0; rf_engine_list(engine, &info) == RF_OK; engine++)
        for (size_t trial = 0; text_of(engine, trial) != NULL; trial++)
            run(text_of(engine, trial));
}

static inline const char *label(const char *text, const struct stream *stream)
{
    static char name[NAME_MAX_BYTES];
    snprintf(name, sizeof name, "%s on %s", text, stream->name);
    return name;
}

/* A confidence is a share of all items; this much is left to chance. */
#define CONFIDENCE_SLACK 0.03

static inline void check_confidence(const char *text, double confidence, const struct verdict *sum)
{
    if (sum->items < 100)
        return;
    double held = 1 - (double)sum->outside / (double)sum->items;
    if (held < confidence - CONFIDENCE_SLACK) {
        printf("# %s: bounds hold for %.4f of %" PRIu64 " items, %.4f was promised\n", text, held,
               sum->items, confidence);
        CHECK_ROW(text, 0 && "the bounds hold as often as promised");
    }
}

#endif
