/* code.c - the instructions of one side of a comparison, each with its name. */
#include "view/code.h"

rf_status rf_code_visit(const struct rf_diff_side *side, rf_code_take *take, rf_code_settle *settle,
                        void *context)
{
    struct rf_selector selector;
    const struct rf_profile *profile = side->profile;
    if (side->symbols == NULL || rf_profile_selector(profile, &selector) != RF_OK ||
        selector.project_a != RF_FIELD_PC)
        return RF_OK;
    for (size_t i = 0; i < profile->n_items; i++) {
        struct rf_place_name name;
        const struct rf_item *item = &profile->items[i];
        if (rf_symbols_lookup(side->symbols, item->a, RF_SYMBOLS_ANY_PROCESS, RF_SYMBOLS_ANY_TIME,
                              &name) == RF_OK &&
            !take(context, item, &name))
            return RF_ENOMEM;
    }
    settle(context);
    return RF_OK;
}
