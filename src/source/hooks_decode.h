/* hooks_decode.h - words of hooks, whose events are merged: a path, how often, the word that changes. */
#ifndef RF_SOURCE_HOOKS_DECODE_H
#define RF_SOURCE_HOOKS_DECODE_H

#include "source/decode.h"

/* Do the events of this process come merged? */
bool rf_hooks_decode_is_for(const struct rf_decode *decode, const struct rf_process *process);

/* As rf_decode_run's loop over paths. RF_EDAMAGED: a count makes no sense. */
rf_status rf_hooks_decode(struct rf_decode *decode, bool *full, struct rf_error *error);

/* What the process had merged when it ended. */
rf_status rf_hooks_tally(struct rf_decode *decode, struct rf_process *process, bool *full,
                         struct rf_error *error);

#endif
