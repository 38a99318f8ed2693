/* snapshot.h - what a collector has counted by now. */
#ifndef RF_COLLECT_SNAPSHOT_H
#define RF_COLLECT_SNAPSHOT_H

#include "collect/lanes.h"

/* A run of all lanes, which the caller frees; counting goes on. Co-processors are left out. RF_ENOMEM, and *run is NULL. */
rf_status rf_snapshot(struct rf_run **run, const struct rf_collect_setup *setup,
                      struct rf_lanes *lanes, struct rf_source *source, struct rf_error *error);

#endif
