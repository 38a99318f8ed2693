/* probe.h - the probe's collector without a program, for tests that write to the ring themselves. */
#ifndef RF_SOURCE_PROBE_H
#define RF_SOURCE_PROBE_H

#include <riffle/probe.h>

struct rf_ring;

/* As rf_source_open_probe, but nothing is started: the stream ends when no process is left in the ring. */
rf_status rf_probe_open_idle(struct rf_source **source, const struct rf_probe_setup *setup,
                             struct rf_error *error);
struct rf_ring *rf_probe_ring(struct rf_source *source);

#endif
