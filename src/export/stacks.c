/* stacks.c - samples of the call stack, one by one.
 *
 *     items <pc, context>: a frame, and which frames called it; counts include what the frame called
 *
 *     main        10      ->   main                3
 *       f          7           main f              5
 *         g        2           main f g            2
 *
 * A profile is hostile input: contexts are hashes that anybody can make up. A frame is used once, and a stack ends at
 * RF_EXPORT_DEPTH_MAX frames. */
#include "export/export.h"
#include "base/order.h"
#include <stdlib.h>

struct frame {
    const struct rf_item *item;
    bool used;
};

struct walk {
    struct frame *frames; /* in order of their contexts */
    size_t n;
    uint64_t words[RF_EXPORT_DEPTH_MAX];
    size_t depth;
    rf_export_stack_do *take;
    void *context;
};

static int by_context(const void *left, const void *right)
{
    const struct rf_item *l = ((const struct frame *)left)->item;
    const struct rf_item *r = ((const struct frame *)right)->item;
    return rf_order_two(l->b, r->b, l->a, r->a);
}

static bool frame_before(const void *list, size_t i, uint64_t context)
{
    return ((const struct frame *)list)[i].item->b < context;
}

static size_t first_of(const struct walk *walk, uint64_t context)
{
    return rf_search(walk->frames, walk->n, context, frame_before);
}

/* Samples of all frames that have this context. */
static uint64_t samples_below(const struct walk *walk, uint64_t context)
{
    uint64_t sum = 0;
    for (size_t i = first_of(walk, context); i < walk->n && walk->frames[i].item->b == context; i++)
        sum += walk->frames[i].item->count;
    return sum;
}

static rf_status visit(struct walk *walk, uint64_t context)
{
    rf_status status = RF_OK;
    for (size_t i = first_of(walk, context);
         i < walk->n && walk->frames[i].item->b == context && status == RF_OK; i++) {
        const struct rf_item *item = walk->frames[i].item;
        if (walk->frames[i].used || walk->depth == RF_EXPORT_DEPTH_MAX)
            continue;
        walk->frames[i].used = true;
        walk->words[walk->depth++] = item->a;
        uint64_t next = rf_context_below(context, item->a), below = samples_below(walk, next);
        const struct rf_export_stack stack = {walk->words, walk->depth,
                                              item->count > below ? item->count - below : 0};
        if (stack.samples > 0)
            status = walk->take(walk->context, &stack);
        if (status == RF_OK)
            status = visit(walk, next);
        walk->depth--;
    }
    return status;
}

rf_status rf_export_stacks(const struct rf_export *export, const struct rf_profile *profile,
                           rf_export_stack_do *take, void *context)
{
    struct walk *walk = rf_alloc_zeroed(&export->alloc, sizeof *walk);
    size_t size = profile->n_items * sizeof *walk->frames;
    if (walk == NULL)
        return RF_ENOMEM;
    rf_status status = RF_OK;
    if (size > 0 && (walk->frames = rf_alloc_zeroed(&export->alloc, size)) == NULL)
        status = RF_ENOMEM;
    if (status == RF_OK && size > 0) {
        walk->n = profile->n_items;
        walk->take = take;
        walk->context = context;
        for (size_t i = 0; i < walk->n; i++)
            walk->frames[i].item = &profile->items[i];
        qsort(walk->frames, walk->n, sizeof *walk->frames, by_context);
        status = rf_export_prepare_items(export, profile, RF_EXPORT_A);
    }
    if (status == RF_OK)
        status = visit(walk, 0);
    rf_alloc_free(&export->alloc, walk->frames, size);
    rf_alloc_free(&export->alloc, walk, sizeof *walk);
    return status;
}
