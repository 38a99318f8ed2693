/* kinds.h - which profiles add up, and what the engine of a sum is called. */
#ifndef RF_PROFILE_KINDS_H
#define RF_PROFILE_KINDS_H

#include <riffle/profile.h>

#define RF_KINDS_ALONE SIZE_MAX

/* For each profile of `other` the place of the one of `run` that it is added to, or RF_KINDS_ALONE. RF_ENOMEM or RF_OK. */
rf_status rf_kinds_pair(const struct rf_run *run, const struct rf_run *other, size_t *partners);

/* The engine of the sum of two profiles that are partners; the caller frees it with rf_profile_free_text. NULL: no memory.
 * An option that both have alike stays; any other one has the value "mixed". */
char *rf_kinds_engine(const struct rf_alloc *alloc, const char *x, const char *y);

#endif
