/* coprocs.c - feed records to co-processors, and make profiles of what they found. */
#include "collect/coprocs.h"
#include "collect/unpack.h"
#include <riffle/coproc.h>
#include "base/alloc.h"
#include "base/error.h"
#include "profile/fold.h"
#include "profile/profile.h"

rf_status rf_coprocs_feed(const struct rf_collect_setup *setup, const struct rf_batch *piece,
                          struct rf_error *error)
{
    rf_status status = RF_OK;
    if (setup->n_coprocs > 0 && piece->records == NULL && piece->tuples.n > 0)
        return rf_fail(error, RF_EINVAL,
                       "the stream is made of tuples; a co-processor needs records: run and sim "
                       "write them with --coproc and --record");
    for (size_t i = 0; i < setup->n_coprocs && status == RF_OK; i++)
        status = rf_coproc_feed(setup->coprocs[i], piece->records, piece->n, error);
    return status;
}

/* A profile in the making. */
struct making {
    struct rf_profile *profile;
    struct rf_items items;
};

static rf_status take_item(void *context, const struct rf_item *item)
{
    struct making *making = context;
    rf_status status = rf_items_reserve(&making->items, &making->profile->alloc, 1);
    if (status == RF_OK)
        making->items.items[making->items.n++] = *item;
    return status;
}

static rf_status take_figure(void *context, const struct rf_figure *figure)
{
    struct making *making = context;
    return rf_profile_add_figure(making->profile, figure->name, figure->value);
}

static rf_status take_end(void *context, const struct rf_summary *summary)
{
    struct rf_profile *profile = ((struct making *)context)->profile;
    profile->shape = summary->shape;
    profile->bound = summary->bound;
    profile->confidence = summary->confidence;
    profile->absent_upper = summary->absent_upper;
    return RF_OK;
}

static rf_status name(struct rf_profile *profile, const struct rf_coproc *coproc)
{
    const struct rf_alloc *alloc = &profile->alloc;
    return rf_profile_set_text(alloc, &profile->selector, rf_coproc_selector(coproc)) &&
                   rf_profile_set_text(alloc, &profile->engine, rf_coproc_text(coproc))
               ? RF_OK
               : RF_ENOMEM;
}

/* Shares are of the samples. Estimates can be more than these together, and a program of the user's may count what it likes:
 * then shares are of all that was counted. */
static void set_events(struct rf_profile *profile, const struct rf_coproc_totals *totals)
{
    uint64_t counted = 0, taken = totals->samples - totals->drops;
    for (size_t i = 0; i < profile->n_items; i++)
        if (__builtin_add_overflow(counted, profile->items[i].count, &counted))
            counted = UINT64_MAX / 2; /* room for what was lost */
    profile->consumed = counted > taken ? counted : taken;
    profile->lost = totals->drops;
    profile->produced = profile->consumed + profile->lost;
}

static rf_status fill(struct rf_profile *profile, const struct rf_coproc *coproc, uint64_t seed)
{
    struct making making = {profile, {NULL, 0, 0}};
    const struct rf_sink sink = {take_item, take_figure, take_end, &making};
    struct rf_coproc_totals totals;
    rf_status status = name(profile, coproc);
    if (status == RF_OK)
        status = rf_coproc_report(coproc, &sink, &totals);
    if (status == RF_OK)
        status = rf_items_trim(&making.items, &profile->alloc);
    if (status != RF_OK) {
        rf_items_free(&making.items, &profile->alloc);
        return status;
    }
    rf_items_sort(making.items.items, making.items.n);
    profile->items = making.items.items;
    profile->n_items = making.items.n;
    profile->seed = seed;
    set_events(profile, &totals);
    profile->memory = totals.memory;
    profile->bits = totals.bits;
    return RF_OK;
}

rf_status rf_collect_known(struct rf_profile **made, const struct rf_coproc *coproc, uint64_t seed,
                           const struct rf_alloc *alloc)
{
    struct rf_profile *profile = rf_profile_new(rf_alloc_or_standard(alloc));
    rf_status status = profile != NULL ? fill(profile, coproc, seed) : RF_ENOMEM;
    if (status != RF_OK) {
        rf_profile_free(profile);
        profile = NULL;
    }
    *made = profile;
    return status;
}

static rf_status add_profile(struct rf_run *run, const struct rf_coproc *coproc, uint64_t seed,
                             size_t which)
{
    struct rf_profile *profile;
    rf_status status = rf_collect_known(&profile, coproc, seed, &run->alloc);
    if (status == RF_OK)
        status = rf_unpack(profile, coproc, which);
    if (status == RF_OK)
        status = rf_run_add_profile(run, profile);
    if (status != RF_OK)
        rf_profile_free(profile);
    return status;
}

static rf_status add_profiles(struct rf_run *run, const struct rf_coproc *coproc, uint64_t seed)
{
    rf_status status = RF_OK;
    for (size_t i = 0; i < rf_unpack_profiles(coproc) && status == RF_OK; i++)
        status = add_profile(run, coproc, seed, i);
    return status;
}

rf_status rf_coprocs_add_profiles(const struct rf_collect_setup *setup, struct rf_run *run,
                                  struct rf_error *error)
{
    rf_status status = RF_OK;
    for (size_t i = 0; i < setup->n_coprocs && status == RF_OK; i++) {
        status = rf_coproc_end(setup->coprocs[i], error);
        if (status == RF_OK)
            status = add_profiles(run, setup->coprocs[i], setup->seed);
    }
    return status == RF_OK ? RF_OK : rf_fail(error, status, "no memory for the profiles");
}
