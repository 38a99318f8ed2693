/* coprocs.h - the co-processors of a collector: each takes the records and gives a profile. */
#ifndef RF_COLLECT_COPROCS_H
#define RF_COLLECT_COPROCS_H

#include <riffle/collect.h>

/* Feed a piece of the stream; tuples are refused. */
rf_status rf_coprocs_feed(const struct rf_collect_setup *setup, const struct rf_batch *piece,
                          struct rf_error *error);
/* The source has ended. Makes one profile per co-processor, in their order. */
rf_status rf_coprocs_add_profiles(const struct rf_collect_setup *setup, struct rf_run *run,
                                  struct rf_error *error);

#endif
