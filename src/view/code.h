/* code.h - the instructions of one side of a comparison, each with its name. */
#ifndef RF_VIEW_CODE_H
#define RF_VIEW_CODE_H

#include <stdbool.h>
#include <riffle/diff.h>

/* What to do with one instruction. False: no memory. */
typedef bool rf_code_take(void *context, const struct rf_item *item,
                          const struct rf_place_name *name);

/* Calls `take` with each instruction of the profile that has a name. A profile that is not by pc has none, nor has a run
 * without symbols; that is no error. RF_ENOMEM where `take` fails. */
rf_status rf_code_visit(const struct rf_diff_side *side, rf_code_take *take, void *context);

#endif
