/* measure_invariance.c - how wrong a profile of values is for an optimizer that specialises code by it.
 *
 * Sastry, Bodik, Smith, section 5.3.1; riffle/invariance.h has the definition.
 *
 *     truth:    all items once  -> executions of every pc          (fold `pcs`, 64 bytes per pc)
 *               all items again -> tuples that make their share    (fold `tuples`; at most 1/tuple_share per pc)
 *     measured: all items once  -> its count of each of those tuples and of each pc
 *
 * Nothing is sorted and the items are not stored, so that a long stream can be measured many times while it runs.
 * Fields of the folds' items: `count` is the perfect count, `lower` the measured one, `intervals` of a pc
 * what its chosen tuples make together, `upper` what it was sampled beyond what its tuples count. */
#include "profile/fold.h"
#include "base/alloc.h"
#include "base/error.h"
#include <math.h>
#include <stdbool.h>
#include <string.h>
#include <riffle/invariance.h>

const struct rf_invariance_filter rf_invariance_paper = {1000, 0.1, 0.4};

struct rf_invariance {
    struct rf_alloc alloc;
    struct rf_invariance_filter filter;
    struct rf_fold pcs, tuples;
    uint64_t events;
    bool wrong_shape;
    bool by_bounds; /* the measured profile has its totals in its bounds */
};

/* Where items come from: a profile's list or an engine's report. */
struct origin {
    const struct rf_profile *profile;
    const struct rf_engine *engine;
};

typedef rf_status each_item(void *context, const struct rf_item *item);

static rf_status note_shape(void *context, const struct rf_summary *summary)
{
    struct rf_invariance *invariance = context;
    invariance->wrong_shape |= summary->shape != RF_SHAPE_TUPLE;
    return RF_OK;
}

static rf_status for_each(struct rf_invariance *invariance, const struct origin *origin,
                          each_item *each)
{
    if (origin->engine != NULL) {
        struct rf_sink sink = {each, NULL, note_shape, invariance};
        return rf_engine_report(origin->engine, &sink);
    }
    rf_status status = RF_OK;
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): it is one or the other */
    invariance->wrong_shape |= origin->profile->shape != RF_SHAPE_TUPLE;
    for (size_t i = 0; status == RF_OK && i < origin->profile->n_items; i++)
        status = each(invariance, &origin->profile->items[i]);
    return status;
}

static struct rf_item box(uint64_t a, uint64_t b)
{
    return (struct rf_item){.a = a, .a_hi = a, .b = b, .b_hi = b};
}

static rf_status add_execution(void *context, const struct rf_item *item)
{
    struct rf_invariance *invariance = context;
    struct rf_item pc = box(item->a, 0);
    pc.count = item->count;
    invariance->events += item->count;
    return rf_fold_add(&invariance->pcs, &pc, 1, 0);
}

static rf_status choose_tuple(void *context, const struct rf_item *item)
{
    struct rf_invariance *invariance = context;
    struct rf_item key = box(item->a, 0);
    struct rf_item *pc = rf_fold_find(&invariance->pcs, &key);
    if (pc->count < invariance->filter.executions ||
        (double)item->count < invariance->filter.tuple_share * (double)pc->count)
        return RF_OK;
    pc->intervals += item->count;
    struct rf_item tuple = box(item->a, item->b);
    tuple.count = item->count;
    return rf_fold_add(&invariance->tuples, &tuple, 1, 0);
}

static rf_status add_measured(void *context, const struct rf_item *item)
{
    struct rf_invariance *invariance = context;
    struct rf_item key = box(item->a, 0);
    struct rf_item *pc = rf_fold_find(&invariance->pcs, &key);
    if (pc != NULL) {
        uint64_t beyond = invariance->by_bounds ? item->upper - item->lower : 0;
        pc->lower += invariance->by_bounds ? item->lower : item->count;
        pc->upper = beyond > pc->upper ? beyond : pc->upper;
    }
    key = box(item->a, item->b);
    struct rf_item *tuple = rf_fold_find(&invariance->tuples, &key);
    if (tuple != NULL)
        tuple->lower += item->count;
    return RF_OK;
}

static rf_status explain(const struct rf_invariance *invariance, rf_status status,
                         struct rf_error *error)
{
    if (status == RF_OK && invariance->wrong_shape)
        return rf_fail(error, RF_EINVAL, "invariance needs tuples <pc, value>, not ranges");
    if (status != RF_OK)
        return rf_fail(error, status, "the profiles cannot be compared: %s",
                       rf_status_text(status));
    return RF_OK;
}

static rf_status take_truth(struct rf_invariance *invariance, const struct origin *origin,
                            struct rf_error *error)
{
    rf_fold_free(&invariance->pcs);
    rf_fold_free(&invariance->tuples);
    invariance->events = 0;
    invariance->wrong_shape = false;
    rf_status status = for_each(invariance, origin, add_execution);
    if (status == RF_OK)
        status = for_each(invariance, origin, choose_tuple);
    return explain(invariance, status, error);
}

static void forget_measured(struct rf_fold *fold)
{
    for (size_t i = 0; i < fold->list.n; i++)
        fold->list.items[i].lower = fold->list.items[i].upper = 0;
}

static bool is_looked_at(const struct rf_invariance *invariance, const struct rf_item *pc)
{
    return pc->intervals > 0 &&
           (double)pc->intervals >= invariance->filter.pc_share * (double)pc->count;
}

static double share(uint64_t part, uint64_t whole)
{
    return whole > 0 ? (double)part / (double)whole : 0;
}

/* Sums, weighted by events; divided at the end. */
static void add_tuple(struct rf_measure_invariance *sum, const struct rf_item *tuple,
                      const struct rf_item *pc)
{
    double difference = share(tuple->count, pc->count) - share(tuple->lower, pc->lower + pc->upper);
    sum->rms += (double)tuple->count * difference * difference;
    sum->error += (double)tuple->count * (difference < 0 ? -difference : difference);
    sum->unseen += tuple->lower == 0 ? (double)tuple->count : 0;
    sum->covered += (double)tuple->count;
    sum->tuples++;
}

static void judge(const struct rf_invariance *invariance, struct rf_measure_invariance *measure)
{
    *measure = (struct rf_measure_invariance){0};
    for (size_t i = 0; i < invariance->tuples.list.n; i++) {
        const struct rf_item *tuple = &invariance->tuples.list.items[i];
        struct rf_item key = box(tuple->a, 0);
        const struct rf_item *pc = rf_fold_find(&invariance->pcs, &key);
        if (is_looked_at(invariance, pc))
            add_tuple(measure, tuple, pc);
    }
    for (size_t i = 0; i < invariance->pcs.list.n; i++)
        measure->pcs += is_looked_at(invariance, &invariance->pcs.list.items[i]);
    if (measure->covered > 0) {
        measure->error /= measure->covered;
        measure->rms = sqrt(measure->rms / measure->covered);
        measure->unseen /= measure->covered;
        measure->covered /= (double)invariance->events;
    }
}

static bool has_totals(const struct rf_profile *profile)
{
    for (size_t i = 0; profile != NULL && i < profile->n_figures; i++)
        if (strcmp(profile->figures[i].name, "totals-in-bounds") == 0)
            return true;
    return false;
}

static rf_status hold_against(struct rf_invariance *invariance,
                              struct rf_measure_invariance *measure, const struct origin *origin,
                              struct rf_error *error)
{
    invariance->by_bounds = has_totals(origin->profile);
    forget_measured(&invariance->pcs);
    forget_measured(&invariance->tuples);
    rf_status status = for_each(invariance, origin, add_measured);
    judge(invariance, measure);
    return explain(invariance, status, error);
}

rf_status rf_invariance_open(struct rf_invariance **opened,
                             const struct rf_invariance_filter *filter,
                             const struct rf_alloc *alloc, struct rf_error *error)
{
    *opened = NULL;
    alloc = rf_alloc_or_standard(alloc);
    struct rf_invariance *invariance = rf_alloc_get(alloc, sizeof *invariance);
    if (invariance == NULL)
        return rf_fail(error, RF_ENOMEM, "no memory to compare profiles");
    *invariance = (struct rf_invariance){.alloc = *alloc, .filter = rf_invariance_paper};
    if (filter != NULL)
        invariance->filter = *filter;
    rf_fold_init(&invariance->pcs, &invariance->alloc);
    rf_fold_init(&invariance->tuples, &invariance->alloc);
    *opened = invariance;
    return RF_OK;
}

void rf_invariance_close(struct rf_invariance *invariance)
{
    if (invariance == NULL)
        return;
    rf_fold_free(&invariance->pcs);
    rf_fold_free(&invariance->tuples);
    rf_alloc_free(&invariance->alloc, invariance, sizeof *invariance);
}

rf_status rf_invariance_truth_profile(struct rf_invariance *invariance,
                                      const struct rf_profile *perfect, struct rf_error *error)
{
    return take_truth(invariance, &(struct origin){.profile = perfect}, error);
}

rf_status rf_invariance_truth_engine(struct rf_invariance *invariance,
                                     const struct rf_engine *perfect, struct rf_error *error)
{
    return take_truth(invariance, &(struct origin){.engine = perfect}, error);
}

rf_status rf_invariance_profile(struct rf_invariance *invariance,
                                struct rf_measure_invariance *measure,
                                const struct rf_profile *measured, struct rf_error *error)
{
    return hold_against(invariance, measure, &(struct origin){.profile = measured}, error);
}

rf_status rf_invariance_engine(struct rf_invariance *invariance,
                               struct rf_measure_invariance *measure,
                               const struct rf_engine *measured, struct rf_error *error)
{
    return hold_against(invariance, measure, &(struct origin){.engine = measured}, error);
}

rf_status rf_measure_invariance(struct rf_measure_invariance *measure,
                                const struct rf_profile *perfect, const struct rf_profile *measured,
                                const struct rf_invariance_filter *filter, struct rf_error *error)
{
    struct rf_invariance *invariance;
    rf_status status = rf_invariance_open(&invariance, filter, &perfect->alloc, error);
    if (status == RF_OK)
        status = rf_invariance_truth_profile(invariance, perfect, error);
    if (status == RF_OK)
        status = rf_invariance_profile(invariance, measure, measured, error);
    rf_invariance_close(invariance);
    return status;
}
