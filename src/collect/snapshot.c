/* snapshot.c - what a collector has counted by now: two halves that are added up.
 *
 *     lanes ------------------------------------> profiles --+
 *                                                            +--> run
 *     counters of programs that run --> lanes --> profiles --+
 *       (the source lets us peek)       made for it, and gone after it */
#include "collect/snapshot.h"
#include <string.h>

struct counted {
    struct rf_lanes *lanes;
    bool begun;
};

static rf_status take_counted(void *context, uint32_t stream, const struct rf_tuples *tuples,
                              struct rf_error *error)
{
    struct counted *counted = context;
    const struct rf_batch batch = {.tuples = *tuples, .stream = stream, .n = tuples->n};
    rf_status status = counted->begun ? RF_OK : rf_lanes_begin(counted->lanes, &batch, error);
    counted->begun = true;
    return status == RF_OK ? rf_lanes_feed(counted->lanes, &batch, error) : status;
}

static rf_status make_run(struct rf_run **run, const struct rf_collect_setup *setup,
                          const struct rf_lanes *lanes, struct rf_error *error)
{
    rf_status status = rf_run_new(run, setup->command != NULL ? setup->command : "", setup->alloc);
    if (status == RF_OK)
        status = rf_lanes_add_profiles(lanes, *run, error);
    if (status != RF_OK) {
        rf_run_free(*run);
        *run = NULL;
    }
    return status;
}

/* Add the half that is not handed out yet. */
static rf_status add_counted(struct rf_run *run, const struct rf_collect_setup *setup,
                             struct rf_source *source, struct rf_error *error)
{
    struct counted counted = {NULL, false};
    struct rf_run *half = NULL;
    struct rf_collect_setup alike = *setup;
    alike.threads = 0;
    alike.tap = NULL;
    rf_status status = rf_lanes_open(&counted.lanes, &alike, error);
    if (status == RF_OK)
        status = rf_source_counted(source, take_counted, &counted, error);
    if (status == RF_OK && counted.begun) {
        status = make_run(&half, setup, counted.lanes, error);
        if (status == RF_OK)
            status = rf_run_add_part(run, half, error);
        rf_run_free(half);
    }
    rf_lanes_close(counted.lanes);
    return status;
}

rf_status rf_snapshot(struct rf_run **run, const struct rf_collect_setup *setup,
                      struct rf_lanes *lanes, struct rf_source *source, struct rf_error *error)
{
    struct rf_error blind;
    rf_lanes_wait(lanes, &blind); /* a lane without memory is in the profile as it is */
    rf_status status = make_run(run, setup, lanes, error);
    if (status == RF_OK && setup->selected)
        status = add_counted(*run, setup, source, error);
    if (status != RF_OK) {
        rf_run_free(*run);
        *run = NULL;
    }
    return status;
}
