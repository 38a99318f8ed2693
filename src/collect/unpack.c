/* unpack.c - what the words of a co-processor's slots stand for, put as reports know it.
 *
 *     dependences.uc   <load, distance and store>     ->  load -> pc,writer   and   load -> pc,distance
 *     conflicts.uc     <pc, block>                    ->  as it is            and   load,store miss>=1 -> set,pc
 *     contexts.uc      <pc, number of the stack>      ->  frame -> pc,context, as samples of the stack have it
 *
 * Told by the program's .profile: `load -> pc,writer`; `... -> pc,addr` with a .let called `sets`; `frame -> ...`.
 *
 * Stacks. contexts.uc tells an event by <pc, c>, where c stands for all calls above it: 0 at the bottom, and
 * context_of(c, pc) below the call <pc, c>. Calls are events, too, so the item of the call that made c is looked
 * up, then that of the call above. Each event is then counted in every frame of its stack. A call whose item was lost ends
 * the way up: what is below it hangs on the bottom. */
#include "collect/unpack.h"
#include "base/alloc.h"
#include "profile/fold.h"
#include "profile/profile.h"
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 64, DEPTH_MAX = 1024 };

enum rf_unpack_kind rf_unpack_kind(const struct rf_coproc *coproc)
{
    struct rf_selector selector;
    if (rf_selector_parse(&selector, rf_coproc_selector(coproc), NULL) != RF_OK)
        return RF_UNPACK_NOTHING;
    if (selector.project_b == RF_FIELD_WRITER)
        return RF_UNPACK_WRITERS;
    if (selector.project_b == RF_FIELD_CONTEXT)
        return RF_UNPACK_STACKS;
    bool by_set = selector.project_b == RF_FIELD_ADDR && rf_coproc_let(coproc, "sets", 0) > 0;
    return by_set ? RF_UNPACK_SETS : RF_UNPACK_NOTHING;
}

size_t rf_unpack_profiles(const struct rf_coproc *coproc)
{
    enum rf_unpack_kind kind = rf_unpack_kind(coproc);
    return kind == RF_UNPACK_WRITERS || kind == RF_UNPACK_SETS ? 2 : 1;
}

static rf_status add(struct rf_fold *to, uint64_t a, uint64_t b, uint64_t count)
{
    const struct rf_item item = {
        .a = a, .b = b, .a_hi = a, .b_hi = b, .count = count, .lower = count, .upper = count};
    return rf_fold_add(to, &item, 1, 0);
}

/* ---- word by word ---- */

/* Classes of distances are powers of two: the least number of stores between. */
static uint64_t stores_between(uint64_t class)
{
    return class == 0 ? 0 : UINT64_C(1) << ((class - 1) & 63);
}

static rf_status add_item(struct rf_fold *to, const struct rf_coproc *coproc, size_t which,
                          const struct rf_item *item)
{
    uint64_t sets = rf_coproc_let(coproc, "sets", 1);
    if (rf_unpack_kind(coproc) == RF_UNPACK_WRITERS && which == 0)
        return add(to, item->a, rf_coproc_widen(coproc, (uint32_t)item->b), item->count);
    if (rf_unpack_kind(coproc) == RF_UNPACK_WRITERS)
        return add(to, item->a, stores_between(item->b >> 32), item->count);
    return add(to, item->b / BLOCK % sets, item->a, item->count);
}

static rf_status add_items(struct rf_fold *to, const struct rf_coproc *coproc, size_t which,
                           const struct rf_profile *profile)
{
    rf_status status = RF_OK;
    for (size_t i = 0; i < profile->n_items && status == RF_OK; i++)
        status = add_item(to, coproc, which, &profile->items[i]);
    return status;
}

/* ---- stacks ---- */

/* As contexts.uc computes it, in 32 bits. */
static uint32_t context_of(uint64_t context, uint64_t pc)
{
    uint32_t x = (uint32_t)context + (uint32_t)pc;
    x += x << 8;
    x += x << 16;
    return x ^ x >> 4;
}

struct call {
    uint32_t context; /* that it makes */
    const struct rf_item *item;
};

static int by_context(const void *left, const void *right)
{
    const struct call *l = left, *r = right;
    return (l->context > r->context) - (l->context < r->context);
}

/* Count the event in each frame of its stack, the outermost first. */
static rf_status add_stack(struct rf_fold *to, const struct call *calls, size_t n,
                           const struct rf_item *event)
{
    uint64_t pcs[DEPTH_MAX], context = 0;
    size_t depth = 0;
    const struct rf_item *frame = event;
    while (frame != NULL && depth < DEPTH_MAX) {
        pcs[depth++] = frame->a;
        const struct call key = {(uint32_t)frame->b, NULL};
        const struct call *above =
            frame->b != 0 ? bsearch(&key, calls, n, sizeof key, by_context) : NULL;
        frame = above != NULL ? above->item : NULL;
    }
    rf_status status = RF_OK;
    while (depth > 0 && status == RF_OK) {
        status = add(to, pcs[--depth], context, event->count);
        context = rf_context_below(context, pcs[depth]);
    }
    return status;
}

static rf_status add_stacks(struct rf_fold *to, const struct rf_profile *profile)
{
    const size_t n = profile->n_items, size = (n + 1) * sizeof(struct call);
    struct call *calls = rf_alloc_get(&profile->alloc, size);
    rf_status status = calls != NULL ? RF_OK : RF_ENOMEM;
    for (size_t i = 0; i < n && status == RF_OK; i++)
        calls[i] =
            (struct call){context_of(profile->items[i].b, profile->items[i].a), &profile->items[i]};
    if (status == RF_OK)
        qsort(calls, n, sizeof *calls, by_context);
    for (size_t i = 0; i < n && status == RF_OK; i++)
        status = add_stack(to, calls, n, &profile->items[i]);
    rf_alloc_free(&profile->alloc, calls, size);
    return status;
}

/* ---- the profile ---- */

/* "load -> pc,writer" with other fields. */
static rf_status name(struct rf_profile *profile, unsigned a, unsigned b)
{
    struct rf_selector selector;
    char text[256];
    rf_status status = rf_profile_selector(profile, &selector);
    if (status != RF_OK)
        return status;
    selector.project_a = (uint8_t)a;
    selector.project_b = (uint8_t)b;
    rf_selector_print(&selector, text, sizeof text);
    return rf_profile_set_text(&profile->alloc, &profile->selector, text) ? RF_OK : RF_ENOMEM;
}

static rf_status without_bounds(struct rf_profile *profile)
{
    for (size_t i = 0; i < profile->n_items; i++)
        profile->items[i].lower = profile->items[i].upper = profile->items[i].count;
    return RF_OK;
}

static rf_status replace_items(struct rf_profile *profile, struct rf_fold *fold)
{
    struct rf_items old = {profile->items, profile->n_items, profile->n_items}, new;
    rf_status status = rf_fold_take(fold, &new);
    if (status != RF_OK)
        return status;
    rf_items_free(&old, &profile->alloc);
    profile->items = new.items;
    profile->n_items = new.n;
    return RF_OK;
}

/* Most samples are no event (a load that finds no store, an access that hits): shares are of those that are. */
static void count_events(struct rf_profile *profile)
{
    uint64_t events = 0;
    for (size_t i = 0; i < profile->n_items; i++)
        events += profile->items[i].count;
    profile->consumed = profile->absent_upper = events;
    profile->produced = events + profile->lost;
}

rf_status rf_unpack(struct rf_profile *profile, const struct rf_coproc *coproc, size_t which)
{
    enum rf_unpack_kind kind = rf_unpack_kind(coproc);
    struct rf_fold fold;
    if (kind == RF_UNPACK_NOTHING)
        return RF_OK;
    count_events(profile);
    if (kind == RF_UNPACK_SETS && which == 0)
        return without_bounds(profile);
    rf_fold_init(&fold, &profile->alloc);
    rf_status status = kind == RF_UNPACK_STACKS ? add_stacks(&fold, profile)
                                                : add_items(&fold, coproc, which, profile);
    if (status == RF_OK)
        status = replace_items(profile, &fold);
    if (status == RF_OK && which == 1)
        status = kind == RF_UNPACK_SETS ? name(profile, RF_FIELD_SET, RF_FIELD_PC)
                                        : name(profile, RF_FIELD_PC, RF_FIELD_DISTANCE);
    rf_fold_free(&fold);
    return status;
}
