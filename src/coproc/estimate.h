/* estimate.h - the invariance of a load's values, from what its slots recorded. */
#ifndef RF_COPROC_ESTIMATE_H
#define RF_COPROC_ESTIMATE_H

#include "coproc/host.h"

/* How many of the load's `total` samples had its v-th value. */
double rf_values_estimate(const struct rf_values_entry *entry, uint32_t v);
/* At most how many: all but the hits of the other values. A program of the user's may count hits that it does not count as
 * samples; then it is the value's own hits. */
uint64_t rf_values_most(const struct rf_values_entry *entry, uint32_t v);
/* How many of these have its upper half, as a share; 1 where that was not looked at. */
double rf_values_upper_share(const struct rf_values_value *value);

#endif
