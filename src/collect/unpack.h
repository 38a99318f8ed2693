/* unpack.h - words that a co-processor's program packed, taken apart for reports. */
#ifndef RF_COLLECT_UNPACK_H
#define RF_COLLECT_UNPACK_H

#include <riffle/coproc.h>
#include <riffle/profile.h>

enum rf_unpack_kind { RF_UNPACK_NOTHING, RF_UNPACK_WRITERS, RF_UNPACK_SETS, RF_UNPACK_STACKS };
enum rf_unpack_kind rf_unpack_kind(const struct rf_coproc *coproc);

/* How many profiles its items become. */
size_t rf_unpack_profiles(const struct rf_coproc *coproc);
/* Turn the profile of the co-processor's items into number `which` of these. */
rf_status rf_unpack(struct rf_profile *profile, const struct rf_coproc *coproc, size_t which);

#endif
