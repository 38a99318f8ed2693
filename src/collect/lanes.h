/* lanes.h - the lanes of a collector: each has a selector, an engine and the profile that it makes.
 *
 * Called from one thread; engines may work on threads of their own (crew.h). */
#ifndef RF_COLLECT_LANES_H
#define RF_COLLECT_LANES_H

#include <riffle/collect.h>
#include <stdbool.h>

struct rf_lanes;

/* `setup` must outlive the lanes. */
rf_status rf_lanes_open(struct rf_lanes **lanes, const struct rf_collect_setup *setup,
                        struct rf_error *error);

/* Call once, when the first batch shows whether the source has records or tuples. */
rf_status rf_lanes_begin(struct rf_lanes *lanes, const struct rf_batch *first,
                         struct rf_error *error);

/* Select and count. A lane that runs out of memory is no failure here; rf_lanes_wait reports it. */
rf_status rf_lanes_feed(struct rf_lanes *lanes, const struct rf_batch *piece,
                        struct rf_error *error);

/* There is a gap in the stream before what comes next. Returns whether a lane of the stream takes note of gaps. */
void rf_lanes_gap(struct rf_lanes *lanes, uint32_t stream);
bool rf_lanes_mind_gaps(const struct rf_lanes *lanes, uint32_t stream);

/* This many events of a stream never came. */
void rf_lanes_lose(struct rf_lanes *lanes, uint32_t stream, uint64_t events);

/* For a source that samples in bursts: where the bursts of a batch end, and how much was skipped. The tuples
 * of the batch are fed separately. */
rf_status rf_lanes_burst(struct rf_lanes *lanes, const struct rf_batch *batch,
                         struct rf_error *error);

/* Wait for the engines; returns the status of the first that failed. */
rf_status rf_lanes_wait(struct rf_lanes *lanes, struct rf_error *error);

/* One profile per lane, in their order. */
rf_status rf_lanes_add_profiles(const struct rf_lanes *lanes, struct rf_run *run,
                                struct rf_error *error);

/* Nothing more will be fed: what was set aside for the profiles is there for their making. */
void rf_lanes_make_room(struct rf_lanes *lanes);

/* The same at the end. Each engine is closed as soon as its profile is made, so that the next one can have its memory:
 * pages that were in use before are there in a tenth of the time. */
rf_status rf_lanes_end(struct rf_lanes *lanes, struct rf_run *run, struct rf_error *error);

void rf_lanes_close(struct rf_lanes *lanes); /* NULL is fine */

#endif
