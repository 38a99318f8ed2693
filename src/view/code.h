/* code.h - the instructions of one side of a comparison, each with its name. */
#ifndef RF_VIEW_CODE_H
#define RF_VIEW_CODE_H

#include <stdbool.h>
#include <riffle/diff.h>

/* False: no memory. */
typedef bool rf_code_take(void *context, const struct rf_item *item,
                          const struct rf_place_name *name);
typedef void rf_code_settle(void *context);
/* Every item of a profile by pc whose address has a name, then `settle` for all. RF_ENOMEM, or RF_OK, also where nothing
 * is known. */
rf_status rf_code_visit(const struct rf_diff_side *side, rf_code_take *take, rf_code_settle *settle,
                        void *context);

#endif
