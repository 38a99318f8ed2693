/* rehearse.c - refuse before the stream is read what can be refused without it.
 *
 *     engines, selectors, caches, --format  ->  a run without events  ->  printed to nowhere
 *
 * Whatever does not fit together fails here as it would at the end of the run. */
#include "plan.h"

int cli_rehearse(const struct cli_lanes *lanes, const struct cli_cut *cut, const char *cache,
                 const struct cli_report *report)
{
    struct rf_error error = {""};
    struct rf_run *run;
    const struct rf_collect_setup setup = {.lanes = lanes->lanes,
                                           .n_lanes = lanes->n,
                                           .selected = true, /* names are looked up later */
                                           .seed = cut->seed,
                                           .interval = cut->interval,
                                           .keep_intervals = report->per_interval,
                                           .cache = cache};
    if (lanes->n == 0)
        return CLI_OK;
    rf_status status = rf_collect(&run, NULL, &setup, &error);
    int result = status == RF_OK ? cli_report_fits(run, report) : cli_fail_status(status, &error);
    rf_run_free(run);
    return result;
}
