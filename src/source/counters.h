/* counters.h - counters become tuples with counts. */
#ifndef RF_SOURCE_COUNTERS_H
#define RF_SOURCE_COUNTERS_H

#include "source/decode.h"

/* Which selectors (1 << i) of a setup are counted as far as their words are static: those whose order is free, that do not
 * ask for the thread, and for which nothing needs every event in its place. */
uint32_t rf_counters_selectors(const struct rf_probe_setup *setup);

/* Read the counters of a process, from where the last call has stopped, into the lanes of the process. *full: a
 * lane has no room; call again when it was handed out. */
rf_status rf_counters_process(struct rf_decode *decode, struct rf_process *process, bool *full,
                              struct rf_error *error);

/* The same for all processes that are left: those still run, or their stream is damaged. */
rf_status rf_counters_rest(struct rf_decode *decode, bool *full, struct rf_error *error);

/* What the counters of processes that still run say by now, told by lane; they stay as they are. A program that was
 * compiled with hooks tells its counts when it ends. */
rf_status rf_counters_peek(const struct rf_decode *decode, rf_source_tell tell, void *context,
                           struct rf_error *error);

#endif
