/* lanes.h - the lanes of a collector: a selector, an engine and the profile that grows behind it, each.
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

/* Once, when the first batch tells what the source is made of: records, or tuples. */
rf_status rf_lanes_begin(struct rf_lanes *lanes, const struct rf_batch *first,
                         struct rf_error *error);

/* Select and count. A lane that runs out of memory is no failure here; rf_lanes_wait tells of it. */
rf_status rf_lanes_feed(struct rf_lanes *lanes, const struct rf_batch *piece,
                        struct rf_error *error);

/* What comes next in a stream does not follow what was fed before. Does any of its lanes mind? */
void rf_lanes_gap(struct rf_lanes *lanes, uint32_t stream);
bool rf_lanes_mind_gaps(const struct rf_lanes *lanes, uint32_t stream);

/* This many events of a stream never came. */
void rf_lanes_lose(struct rf_lanes *lanes, uint32_t stream, uint64_t events);

/* A batch of tuples of a source that tells its events in bursts: where those end, and what was skipped. The tuples are
 * fed, too, by themselves. */
rf_status rf_lanes_burst(struct rf_lanes *lanes, const struct rf_batch *batch,
                         struct rf_error *error);

/* Wait for the engines; the status is that of the first that failed. */
rf_status rf_lanes_wait(struct rf_lanes *lanes, struct rf_error *error);

/* One profile per lane, in their order. */
rf_status rf_lanes_add_profiles(const struct rf_lanes *lanes, struct rf_run *run,
                                struct rf_error *error);

void rf_lanes_close(struct rf_lanes *lanes); /* NULL is fine */

#endif
