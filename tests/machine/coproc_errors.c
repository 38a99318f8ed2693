/* coproc_errors.c - runs the co-processor's programs over a trace, beside exact trackers, and prints how far they are
 * off: coproc-errors TRACE [OPTION], where the option goes to each program, patience=8 say.
 *
 * One line of CSV per program. `recall` and `error` are of what the program could find with slots for all;
 * `fine_error` is of what is as near, seen byte by byte; `true_recall` and `true_error` are of all there is: stores
 * any time ago, stacks of any depth. */
#include "reference/trackers.h"
#include <riffle/coproc.h>
#include <riffle/source.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PROGRAMS = 4, TRACKERS = 3, ITEMS_MAX = 1 << 20 };

static const struct {
    const char *name;
    struct tracker_rules rules[TRACKERS];
} programs[PROGRAMS] = {
    {"edges", {{0}}},
    {"contexts", {{.depth = 128, .level = 1}, {.depth = 128, .level = 1}, {.level = 1}}},
    {"dependences", {{.ring = 128, .grain = 2}, {.ring = 128, .bytes = 1}, {.bytes = 1}}},
    {"conflicts", {{.ring = 128}, {.ring = 128}, {.ring = 128}}},
};

struct judged {
    struct rf_coproc *coproc;
    struct tracker *trackers[TRACKERS];
    struct rf_item *items;
    size_t n;
    double interrupts, overhead;
};

static rf_status take_item(void *context, const struct rf_item *item)
{
    struct judged *judged = context;
    if (judged->n == ITEMS_MAX)
        return RF_ENOMEM;
    judged->items[judged->n++] = *item;
    return RF_OK;
}

static rf_status take_figure(void *context, const struct rf_figure *figure)
{
    struct judged *judged = context;
    if (strcmp(figure->name, "interrupts") == 0)
        judged->interrupts = figure->value;
    if (strcmp(figure->name, "overhead-cycles") == 0)
        judged->overhead = figure->value;
    return RF_OK;
}

static rf_status take_end(void *context, const struct rf_summary *summary)
{
    (void)context;
    (void)summary;
    return RF_OK;
}

static rf_status open_one(struct judged *judged, size_t i, const char *option,
                          struct rf_error *error)
{
    char text[120];
    snprintf(text, sizeof text, "%s.uc(table=262144%s%s)", programs[i].name,
             option != NULL ? ", " : "", option != NULL ? option : "");
    for (size_t t = 0; t < TRACKERS; t++)
        judged->trackers[t] = tracker_new(programs[i].name, &programs[i].rules[t]);
    judged->items = malloc(ITEMS_MAX * sizeof *judged->items);
    if (judged->items == NULL)
        return RF_ENOMEM;
    return rf_coproc_open(&judged->coproc, text, NULL, error);
}

static void feed(struct judged *judged, const struct rf_batch *batch)
{
    for (size_t i = 0; i < PROGRAMS; i++) {
        rf_coproc_feed(judged[i].coproc, batch->records, batch->n, NULL);
        for (size_t k = 0; k < batch->n * TRACKERS; k++)
            tracker_record(judged[i].trackers[k % TRACKERS], &batch->records[k / TRACKERS]);
    }
}

static rf_status feed_all(struct judged *judged, const char *path, struct rf_error *error)
{
    struct rf_source *source;
    struct rf_batch batch;
    rf_status status = rf_source_open(&source, path, NULL, error);
    while (status == RF_OK) {
        status = rf_source_next(source, &batch, error);
        if (status != RF_OK || rf_batch_is_end(&batch))
            break;
        feed(judged, &batch);
    }
    rf_source_close(source);
    return status;
}

static double share(uint64_t part, uint64_t whole)
{
    return whole > 0 ? (double)part / (double)whole : 1;
}

static rf_status print(struct judged *judged, const char *name)
{
    struct rf_coproc_totals totals;
    const struct rf_sink sink = {take_item, take_figure, take_end, judged};
    rf_coproc_end(judged->coproc, NULL);
    rf_status status = rf_coproc_report(judged->coproc, &sink, &totals);
    struct tracker_error error[TRACKERS];
    for (size_t t = 0; t < TRACKERS; t++)
        error[t] = tracker_compare(judged->trackers[t], judged->items, judged->n);
    printf("%s,%llu,%llu,%.0f,%.0f,%llu,%.4f,%.4f,%.4f,%.4f,%.4f\n", name,
           (unsigned long long)error[0].events, (unsigned long long)error[0].tuples,
           judged->interrupts, judged->overhead, (unsigned long long)error[0].above,
           share(error[0].hot_found, error[0].hot), error[0].weighted, error[1].weighted,
           share(error[2].hot_found, error[2].hot), error[2].weighted);
    return status;
}

static void close_one(struct judged *judged)
{
    rf_coproc_close(judged->coproc);
    for (size_t t = 0; t < TRACKERS; t++)
        tracker_free(judged->trackers[t]);
    free(judged->items);
}

int main(int argc, char **argv)
{
    static struct judged judged[PROGRAMS];
    struct rf_error error = {"usage: coproc-errors TRACE [OPTION]"};
    rf_status status = argc == 2 || argc == 3 ? RF_OK : RF_EINVAL;
    for (size_t i = 0; i < PROGRAMS && status == RF_OK; i++)
        status = open_one(&judged[i], i, argc == 3 ? argv[2] : NULL, &error);
    if (status == RF_OK)
        status = feed_all(judged, argv[1], &error);
    if (status != RF_OK) {
        fprintf(stderr, "coproc-errors: %s\n", error.message);
        return 1;
    }
    puts("program,events,tuples,interrupts,overhead,above,recall,error,fine_error,true_recall,true_"
         "error");
    for (size_t i = 0; i < PROGRAMS && status == RF_OK; i++)
        status = print(&judged[i], programs[i].name);
    for (size_t i = 0; i < PROGRAMS; i++)
        close_one(&judged[i]);
    return status == RF_OK ? 0 : 1;
}
