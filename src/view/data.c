/* data.c - the addresses of an instruction, put together by what lies there: an object, a section, the heap, a stack.
 *
 *     <pc, 0x4035010>  22        <pc, [heap]>  31, of two addresses
 *     <pc, 0x4035018>   9   -->
 *     <pc, 0x1fff010>   4        <pc, [stack]>  4
 *
 * Hardly any address makes a share of a load that is worth telling; what it lies in does. An item stands for all of one
 * region; its address is the most frequent one, and the number of addresses is where intervals are counted elsewhere.
 *
 * Bounds: what is not listed may lie in the region, too, so where bounds are hard there is none above but the total of
 * the instruction less what lies elsewhere (group.c). */
#include "view/view.h"
#include "base/alloc.h"
#include <stdlib.h>
#include <string.h>

struct datum {
    const struct rf_item *item;
    const char *path, *name;
};

/* Bounds of estimates have a meaning of their own (group.c) that sums do not keep. */
bool rf_view_asks_data(const struct rf_view_work *work)
{
    return !rf_view_estimates(work->view) && work->view->by == RF_BY_PC && work->which == 0 &&
           work->setup->symbols != NULL && work->words.b.meaning == RF_MEANS_DATA &&
           work->table.profile->shape == RF_SHAPE_TUPLE;
}

static int by_region(const struct datum *l, const struct datum *r)
{
    if (l->item->a != r->item->a)
        return l->item->a < r->item->a ? -1 : 1;
    int order = l->path != r->path ? strcmp(l->path, r->path) : 0;
    return order == 0 && l->name != r->name ? strcmp(l->name, r->name) : order;
}

/* Of each region the most frequent address first. */
static int by_place(const void *left, const void *right)
{
    const struct datum *l = left, *r = right;
    int order = by_region(l, r);
    if (order != 0)
        return order;
    if (l->item->count != r->item->count)
        return l->item->count > r->item->count ? -1 : 1;
    return (l->item->b > r->item->b) - (l->item->b < r->item->b);
}

static void list_data(const struct rf_view_work *work, struct datum *data)
{
    for (size_t i = 0; i < work->table.n; i++) {
        struct rf_place_name name;
        rf_view_lookup(work, work->table.items[i].b, &name);
        data[i].item = &work->table.items[i];
        data[i].path = name.path;
        data[i].name = name.function[0] != '\0' ? name.function : name.section;
    }
    qsort(data, work->table.n, sizeof *data, by_place);
}

/* One item per instruction and region; returns how many. */
static size_t fold(const struct datum *data, size_t n, bool hard, struct rf_item *items)
{
    size_t k = 0;
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || by_region(&data[i], &data[i - 1]) != 0) {
            items[k] = *data[i].item;
            items[k++].intervals = 1;
        } else {
            items[k - 1].count += data[i].item->count;
            items[k - 1].lower += data[i].item->lower;
            items[k - 1].upper += data[i].item->upper;
            items[k - 1].intervals++;
        }
        if (hard)
            items[k - 1].upper = UINT64_MAX;
    }
    return k;
}

rf_status rf_view_merge_data(struct rf_view_work *work)
{
    struct rf_view_table *table = &work->table;
    const struct rf_alloc *alloc = &work->view->alloc;
    const size_t n = table->n, size = n * sizeof(struct datum);
    if (!rf_view_asks_data(work) || n == 0)
        return RF_OK;
    struct datum *data = rf_alloc_get(alloc, size);
    struct rf_item *items = rf_alloc_get(alloc, n * sizeof *items);
    if (data != NULL && items != NULL) {
        list_data(work, data);
        table->n = fold(data, n, table->profile->bound == RF_BOUND_HARD, items);
        table->items = table->merged = items;
        table->n_merged = n;
    } else {
        rf_alloc_free(alloc, items, n * sizeof *items);
    }
    rf_alloc_free(alloc, data, size);
    return table->merged != NULL ? RF_OK : RF_ENOMEM;
}
