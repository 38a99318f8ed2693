/* target.h - can this program be profiled, and if not, why? */
#ifndef RF_SOURCE_TARGET_H
#define RF_SOURCE_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <riffle/status.h>
#include "source/target_kind.h"

/* RF_ENOTSUP with a sentence when Valgrind cannot run it. A program that is not there is fine here. */
rf_status rf_target_check(const char *name, struct rf_error *error);

/* The reason in a word or two: "setuid", "32-bit". */
const char *rf_target_kind_name(enum rf_target_kind kind);

#endif
