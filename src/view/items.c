/* items.c - rows that are the items of the profile: tuples, ranges, rectangles, streams. */
#include "view/view.h"

rf_status rf_view_make_items(struct rf_view_work *work)
{
    const struct rf_view_table *table = &work->table;
    rf_status status = rf_view_prepare_items(work);
    if (status != RF_OK)
        return status;
    for (size_t i = 0; i < table->n; i++) {
        const struct rf_item *item = &table->items[i];
        const struct rf_row row = {.word = item->a,
                                   .count = item->count,
                                   .lower = item->lower,
                                   .upper = item->upper,
                                   .item = item};
        if (rf_view_keeps(work, item) && !rf_view_add_row(work, &row))
            return RF_ENOMEM;
    }
    return RF_OK;
}
