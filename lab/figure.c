/* figure.c - a sink that keeps one figure and nothing else. */
#include "figure.h"
#include <string.h>

struct wanted {
    const char *name;
    double value;
};

static rf_status keep(void *context, const struct rf_figure *figure)
{
    struct wanted *wanted = context;
    if (strcmp(figure->name, wanted->name) == 0)
        wanted->value = figure->value;
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

double lab_figure(const struct rf_engine *engine, const char *name)
{
    struct wanted wanted = {name, 0};
    struct rf_sink sink = {no_item, keep, no_end, &wanted};
    rf_engine_report(engine, &sink);
    return wanted.value;
}
