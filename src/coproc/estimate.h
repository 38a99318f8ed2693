/* estimate.h - the invariance of a load's values, from what its slots recorded. */
#ifndef RF_COPROC_ESTIMATE_H
#define RF_COPROC_ESTIMATE_H

#include "coproc/host.h"

/* How many of the load's `total` samples had its v-th value. */
double rf_values_estimate(const struct rf_values_entry *entry, uint32_t v);
/* The value with the most hits. */
uint32_t rf_values_best(const struct rf_values_entry *entry);
/* Of the samples of the upper half, those that had `upper.value`; 1 where it was not looked at. */
double rf_values_upper_share(const struct rf_values_entry *entry);

#endif
