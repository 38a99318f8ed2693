/* code.c - the instructions of one side of a comparison, each with its name. */
#include "view/code.h"

static bool is_by_pc(const struct rf_profile *profile)
{
    struct rf_selector selector;
    return rf_profile_selector(profile, &selector) == RF_OK && selector.project_a == RF_FIELD_PC;
}

rf_status rf_code_visit(const struct rf_diff_side *side, rf_code_take *take, void *context)
{
    const struct rf_profile *profile = side->profile;
    if (side->symbols == NULL || !is_by_pc(profile))
        return RF_OK;
    for (size_t i = 0; i < profile->n_items; i++) {
        struct rf_place_name name;
        const struct rf_item *item = &profile->items[i];
        rf_status status = rf_symbols_lookup(side->symbols, item->a, RF_SYMBOLS_ANY_PROCESS,
                                             RF_SYMBOLS_ANY_TIME, &name);
        if (status == RF_OK && !take(context, item, &name))
            return RF_ENOMEM;
    }
    return RF_OK;
}
