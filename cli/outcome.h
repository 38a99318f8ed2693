/* outcome.h - how a program that was run under the probe ended, as notes of its run. */
#ifndef CLI_OUTCOME_H
#define CLI_OUTCOME_H

#include <riffle/probe.h>
#include "plan.h"

/* Its end, its time, its stream, its processes and threads. `apart`: this many processes have profiles of their own,
 * and the last of them has all others; 0: none has. Companions must be labelled before. */
rf_status cli_outcome_note(struct rf_run *run, const struct rf_probe_outcome *outcome,
                           unsigned apart);
/* Profiles come process by process, `n_single` for each: say of each which process it is of, and drop those of processes
 * that did not exist. n_single 0: processes are not kept apart. */
rf_status cli_outcome_label(struct rf_run *run, size_t n_single);

#endif
