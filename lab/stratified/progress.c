/* progress - several engines over one stream in one pass: error and messages as the stream goes on.
 *
 *     progress STREAM SELECTORS LIMIT EVERY ENGINE...
 *
 * CSV: events,engine,error_percent,unseen_percent,covered_percent,tuples,messages,overhead_cycles. STREAM is a file
 * that `riffle replay` reads. SELECTORS, "-" for a stream of tuples, are names with a + between them; each
 * selector's tuples carry its number in the top byte of <a>, so that one engine serves all. LIMIT and EVERY
 * count events that were selected. The error is the invariance measure (riffle/invariance.h), its truth the
 * exact profile up to that place; for several selectors, "edges+calls" say, it is over the tuples of all. */
#include <riffle/riffle.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ENGINES_MAX = 64, SELECTORS_MAX = 8, CHUNK = 4096, TAG_SHIFT = 56 };

struct progress {
    struct rf_selector selectors[SELECTORS_MAX];
    unsigned n_selectors;
    struct rf_engine *exact, *engines[ENGINES_MAX];
    char **texts;
    int n_engines;
    struct rf_invariance *invariance;
    uint64_t events, limit, every;
};

static void die(const char *message)
{
    fprintf(stderr, "progress: %s\n", message);
    exit(1);
}

static void need(rf_status status, const struct rf_error *error)
{
    if (status != RF_OK)
        die(error->message);
}

static uint64_t number(const char *text)
{
    uint64_t value;
    if (rf_units_count(text, strlen(text), &value) != RF_OK || value == 0)
        die("a number was expected");
    return value;
}

static void read_selectors(struct progress *progress, char *text)
{
    struct rf_error error;
    for (char *name = strtok(text, "+"); name != NULL; name = strtok(NULL, "+")) {
        if (progress->n_selectors == SELECTORS_MAX)
            die("too many selectors");
        need(rf_selector_parse(&progress->selectors[progress->n_selectors++], name, &error),
             &error);
    }
}

/* The figures of an engine's report, nothing else. */
struct figures {
    double messages, cycles;
};

static rf_status keep_figure(void *context, const struct rf_figure *figure)
{
    struct figures *figures = context;
    if (strcmp(figure->name, "messages") == 0)
        figures->messages = figure->value;
    if (strcmp(figure->name, "overhead-cycles") == 0)
        figures->cycles = figure->value;
    return RF_OK;
}

static rf_status no_item(void *context, const struct rf_item *item)
{
    (void)context;
    (void)item;
    return RF_OK;
}

static rf_status no_end(void *context, const struct rf_summary *summary)
{
    (void)context;
    (void)summary;
    return RF_OK;
}

static void print_point(struct progress *progress)
{
    struct rf_error error;
    need(rf_invariance_truth_engine(progress->invariance, progress->exact, &error), &error);
    for (int i = 0; i < progress->n_engines; i++) {
        struct rf_measure_invariance m;
        struct figures figures = {0};
        struct rf_sink sink = {no_item, keep_figure, no_end, &figures};
        need(rf_invariance_engine(progress->invariance, &m, progress->engines[i], &error), &error);
        rf_engine_report(progress->engines[i], &sink);
        printf("%llu,\"%s\",%.4f,%.4f,%.2f,%llu,%.0f,%.0f\n", (unsigned long long)progress->events,
               progress->texts[i], 100 * m.error, 100 * m.unseen, 100 * m.covered,
               (unsigned long long)m.tuples, figures.messages, figures.cycles);
    }
    fflush(stdout);
}

static void feed_all(struct progress *progress, const struct rf_tuples *tuples)
{
    struct rf_error error;
    need(rf_engine_feed(progress->exact, tuples, &error), &error);
    for (int i = 0; i < progress->n_engines; i++)
        need(rf_engine_feed(progress->engines[i], tuples, &error), &error);
}

/* Cut where a point is due. */
static void take(struct progress *progress, const struct rf_tuple *tuples, size_t n)
{
    while (n > 0 && progress->events < progress->limit) {
        uint64_t due = progress->every - progress->events % progress->every;
        uint64_t left = progress->limit - progress->events;
        size_t piece = n < due ? n : (size_t)due;
        piece = piece < left ? piece : (size_t)left;
        feed_all(progress, &(struct rf_tuples){tuples, NULL, piece});
        progress->events += piece;
        if (progress->events % progress->every == 0)
            print_point(progress);
        tuples += piece;
        n -= piece;
    }
}

/* Record by record, so that the order of events stays. */
static void take_records(struct progress *progress, const struct rf_record *records, size_t n)
{
    struct rf_tuple chunk[CHUNK];
    size_t fill = 0;
    for (size_t i = 0; i < n; i++)
        for (unsigned k = 0; k < progress->n_selectors; k++) {
            struct rf_tuple *place = &chunk[fill];
            if (rf_selector_run(&progress->selectors[k], &records[i], 1, place) == 0)
                continue;
            place->a |= (uint64_t)k << TAG_SHIFT;
            if (++fill == CHUNK) {
                take(progress, chunk, fill);
                fill = 0;
            }
        }
    take(progress, chunk, fill);
}

static void run(struct progress *progress, const char *path)
{
    struct rf_error error;
    struct rf_source *source;
    struct rf_batch batch;
    need(rf_source_open(&source, path, NULL, &error), &error);
    while (progress->events < progress->limit) {
        need(rf_source_next(source, &batch, &error), &error);
        if (batch.n == 0)
            break;
        if (batch.records != NULL)
            take_records(progress, batch.records, batch.n);
        else
            take(progress, batch.tuples.tuples, batch.tuples.n);
    }
    if (progress->events % progress->every != 0)
        print_point(progress);
    rf_source_close(source);
}

int main(int argc, char **argv)
{
    if (argc < 6 || argc > 5 + ENGINES_MAX)
        die("progress STREAM SELECTORS|- LIMIT EVERY ENGINE...");
    static struct progress progress;
    struct rf_error error;
    if (strcmp(argv[2], "-") != 0)
        read_selectors(&progress, argv[2]);
    progress.limit = number(argv[3]);
    progress.every = number(argv[4]);
    progress.texts = argv + 5;
    progress.n_engines = argc - 5;
    need(rf_engine_open(&progress.exact, "exact", NULL, &error), &error);
    for (int i = 0; i < progress.n_engines; i++)
        need(rf_engine_open(&progress.engines[i], argv[5 + i], NULL, &error), &error);
    need(rf_invariance_open(&progress.invariance, NULL, NULL, &error), &error);
    puts("events,engine,error_percent,unseen_percent,covered_percent,tuples,messages,"
         "overhead_cycles");
    run(&progress, argv[1]);
    for (int i = 0; i < progress.n_engines; i++)
        rf_engine_close(progress.engines[i]);
    rf_engine_close(progress.exact);
    rf_invariance_close(progress.invariance);
    return 0;
}
