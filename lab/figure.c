/* figure.c - a sink that keeps one figure and nothing else. */
#include "figure.h"
#include <string.h>

rf_status lab_keep(void *context, const struct rf_figure *figure)
{
    struct lab_wanted *wanted = context;
    if (strcmp(figure->name, wanted->name) == 0)
        wanted->value = figure->value;
    return RF_OK;
}

rf_status lab_no_item(void *context, const struct rf_item *item)
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
    struct lab_wanted wanted = {name, 0};
    struct rf_sink sink = {lab_no_item, lab_keep, no_end, &wanted};
    rf_engine_report(engine, &sink);
    return wanted.value;
}
