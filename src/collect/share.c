/* share.c - marking tuples of several lanes, and dealing their one profile out again.
 *
 *     lane 0: edges <pc, target> --mark 0--+                         +--> profile of edges
 *                                          +--> engine --> profile --+
 *     lane 1: calls <pc, target> --mark 1--+                         +--> profile of calls
 *
 * Guarantee: a lane's profile has what the shared one had for it, bounds included; consumed and lost are its
 * own, so that produced = consumed + lost holds for each. Memory: a copy of each item. Cannot: share between
 * selectors whose <a> needs its top byte, or engines of ranges, which the mark would tear apart. */
#include "collect/share.h"
#include "profile/profile.h"
#include "base/alloc.h"
#include "base/error.h"
#include <string.h>

void rf_share_mark(struct rf_tuple *out, const struct rf_tuple *in, size_t n, unsigned tag)
{
    uint64_t mark = (uint64_t)tag << RF_SHARE_SHIFT;
    for (size_t i = 0; i < n; i++)
        out[i] = (struct rf_tuple){in[i].a ^ mark, in[i].b};
}

static size_t count_marked(const struct rf_item *items, size_t n, unsigned tag)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        count += items[i].a >> RF_SHARE_SHIFT == tag;
    return count;
}

/* Copy what has the tag behind out[0 .. *filled - 1], marks taken off. */
static void copy_marked(struct rf_item *out, size_t *filled, const struct rf_item *items, size_t n,
                        unsigned tag)
{
    uint64_t mark = (uint64_t)tag << RF_SHARE_SHIFT;
    for (size_t i = 0; i < n; i++)
        if (items[i].a >> RF_SHARE_SHIFT == tag) {
            out[*filled] = items[i];
            out[*filled].a ^= mark;
            out[(*filled)++].a_hi ^= mark;
        }
}

static rf_status take_items(struct rf_profile *part, const struct rf_profile *all, unsigned tag)
{
    void *array = NULL;
    size_t n = count_marked(all->items, all->n_items, tag);
    if (!rf_alloc_array(&part->alloc, &array, 0, n, sizeof *part->items))
        return RF_ENOMEM;
    part->items = array;
    copy_marked(part->items, &part->n_items, all->items, all->n_items, tag);
    return RF_OK;
}

static rf_status take_intervals(struct rf_profile *part, const struct rf_profile *all, unsigned tag)
{
    void *intervals = NULL, *items = NULL;
    size_t n = count_marked(all->interval_items, all->n_interval_items, tag);
    if (!rf_alloc_array(&part->alloc, &intervals, 0, all->n_intervals, sizeof *part->intervals))
        return RF_ENOMEM;
    part->intervals = intervals;
    part->n_intervals = all->n_intervals;
    if (!rf_alloc_array(&part->alloc, &items, 0, n, sizeof *part->interval_items))
        return RF_ENOMEM;
    part->interval_items = items;
    for (size_t i = 0; i < all->n_intervals; i++) {
        const struct rf_interval *from = &all->intervals[i];
        size_t first = part->n_interval_items;
        copy_marked(part->interval_items, &part->n_interval_items,
                    all->interval_items + from->first, from->n, tag);
        part->intervals[i] = *from;
        part->intervals[i].first = first;
        part->intervals[i].n = part->n_interval_items - first;
    }
    return RF_OK;
}

static rf_status take_figures(struct rf_profile *part, const struct rf_profile *all, size_t sharing)
{
    rf_status status = RF_OK;
    for (size_t i = 0; i < all->n_figures && status == RF_OK; i++)
        status = rf_profile_add_figure(part, all->figures[i].name, all->figures[i].value);
    return status == RF_OK ? rf_profile_add_figure(part, "sharing", (double)sharing) : status;
}

static void take_totals(struct rf_profile *part, const struct rf_profile *all,
                        const struct rf_share *share)
{
    part->seed = all->seed;
    part->shape = all->shape;
    part->bound = all->bound;
    part->confidence = all->confidence;
    part->consumed = share->consumed;
    part->lost = share->lost;
    part->produced = share->consumed + share->lost;
    part->memory = all->memory;
    part->bits = all->bits;
    part->interval_length = all->interval_length;
    part->n_intervals_seen = all->n_intervals_seen;
    part->absent_upper = all->absent_upper < share->consumed ? all->absent_upper : share->consumed;
    for (size_t i = 0; i < part->n_items; i++)
        if (part->items[i].upper > share->consumed && part->items[i].count <= share->consumed)
            part->items[i].upper = share->consumed;
}

rf_status rf_share_take(struct rf_profile **taken, const struct rf_profile *all,
                        const struct rf_share *share, size_t sharing)
{
    struct rf_profile *part = *taken = rf_profile_new(&all->alloc);
    if (part == NULL)
        return RF_ENOMEM;
    bool texts = rf_profile_set_text(&part->alloc, &part->selector, share->selector) &&
                 rf_profile_set_text(&part->alloc, &part->engine, all->engine);
    rf_status status = texts ? take_items(part, all, share->tag) : RF_ENOMEM;
    if (status == RF_OK)
        status = take_intervals(part, all, share->tag);
    if (status == RF_OK)
        status = take_figures(part, all, sharing);
    if (status != RF_OK) {
        rf_profile_free(part);
        *taken = NULL;
        return status;
    }
    take_totals(part, all, share);
    return RF_OK;
}
