/* merge.c - two runs as one.
 *
 * Profiles of one kind (kinds.c) add up item by item, whatever their seeds and intervals: bounds are about counts, not
 * about the hashes they came from. An item that one side lacks may have had up to that side's absent_upper there, which
 * goes into its upper bound; the fold does that (fold.c). The bounds of ranges follow from their nesting (range.c). Totals
 * add up. Kept intervals are appended. Memory is that of the larger, as the engines need not have run at the same time.
 *
 * Where runs came from is joined by provenance.c, which keeps that short however many runs are merged.
 *
 * A merged profile is made beside the old one and then put in its place: when memory runs out in the
 * middle, the run has the profiles before it merged and the others as they were. */
#include "profile/file.h"
#include "profile/fold.h"
#include "profile/kinds.h"
#include "profile/profile.h"
#include "base/alloc.h"
#include "base/error.h"
#include <string.h>

static rf_status merge_items(struct rf_profile *sum, const struct rf_profile *x,
                             const struct rf_profile *y)
{
    struct rf_fold fold;
    struct rf_items items = {NULL, 0, 0};
    rf_fold_init(&fold, &sum->alloc);
    rf_status status = rf_fold_add(&fold, x->items, x->n_items, x->absent_upper);
    if (status == RF_OK)
        status = rf_fold_add(&fold, y->items, y->n_items, y->absent_upper);
    sum->absent_upper = fold.absent_upper;
    if (status == RF_OK)
        status = rf_fold_take(&fold, &items);
    rf_fold_free(&fold);
    sum->items = items.items;
    sum->n_items = items.n;
    return status == RF_OK ? rf_profile_bound_ranges(sum) : status;
}

/* A new array of x's elements and then y's; NULL when both are empty. */
static rf_status join(const struct rf_alloc *alloc, void **joined, const void *x, size_t n_x,
                      const void *y, size_t n_y, size_t element)
{
    *joined = NULL;
    if (!rf_alloc_array(alloc, joined, 0, n_x + n_y, element))
        return RF_ENOMEM;
    if (n_x > 0)
        memcpy(*joined, x, n_x * element);
    if (n_y > 0)
        memcpy((char *)*joined + n_x * element, y, n_y * element);
    return RF_OK;
}

static rf_status merge_intervals(struct rf_profile *sum, const struct rf_profile *x,
                                 const struct rf_profile *y)
{
    void *joined;
    rf_status status = join(&sum->alloc, &joined, x->intervals, x->n_intervals, y->intervals,
                            y->n_intervals, sizeof *sum->intervals);
    if (status != RF_OK)
        return status;
    sum->intervals = joined;
    sum->n_intervals = x->n_intervals + y->n_intervals;
    for (size_t i = x->n_intervals; i < sum->n_intervals; i++)
        sum->intervals[i].first += x->n_interval_items;
    status = join(&sum->alloc, &joined, x->interval_items, x->n_interval_items, y->interval_items,
                  y->n_interval_items, sizeof *sum->interval_items);
    if (status != RF_OK)
        return status;
    sum->interval_items = joined;
    sum->n_interval_items = x->n_interval_items + y->n_interval_items;
    return RF_OK;
}

/* Most figures add up. These do not: what holds of a whole holds of all its parts, marks stay as they are, and of sizes
 * the larger is taken, as of memory. */
enum adding { SUM, SMALLER, LARGER, MEAN };

static const struct {
    const char *end; /* of its name */
    enum adding how;
} unlike[] = {
    {"blind-from", SMALLER},  /* no part was blind before */
    {"exact-until", SMALLER}, /* no part counted less than this exactly */
    {"totals-in-bounds", SMALLER},
    {"clusters", SMALLER}, /* a part may weigh more than the others */
    {"complete", SMALLER},
    {"process", LARGER}, /* the same on both sides */
    {"sharing", LARGER},
    {RF_FIGURE_COMPANION, LARGER},
    {"interval", LARGER},
    {"entries", LARGER},
    {"nodes", LARGER},
    {"sets", LARGER},
    {"software-bytes", LARGER},
    {"candidates-changed", MEAN},
    {"-max", LARGER},
    {"-mean", MEAN},
    {"-share", MEAN},
};

static bool ends_with(const char *name, const char *end)
{
    size_t n = strlen(name), m = strlen(end);
    return n >= m && strcmp(name + n - m, end) == 0;
}

static enum adding adding_of(const char *name)
{
    for (size_t i = 0; i < sizeof unlike / sizeof *unlike; i++)
        if (unlike[i].end[0] == '-' ? ends_with(name, unlike[i].end)
                                    : strcmp(name, unlike[i].end) == 0)
            return unlike[i].how;
    return SUM;
}

static double merge_figure(const char *name, double x, uint64_t events_x, double y,
                           uint64_t events_y)
{
    double events = (double)events_x + (double)events_y;
    switch (adding_of(name)) {
    case SMALLER:
        return x < y ? x : y;
    case LARGER:
        return x > y ? x : y;
    case MEAN:
        return events > 0 ? (x * (double)events_x + y * (double)events_y) / events : x;
    case SUM:
        break;
    }
    return x + y;
}

static struct rf_figure *find_figure(struct rf_figure *figures, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(figures[i].name, name) == 0)
            return &figures[i];
    return NULL;
}

static rf_status merge_figures(struct rf_profile *sum, const struct rf_profile *x,
                               const struct rf_profile *y)
{
    void *joined;
    rf_status status =
        join(&sum->alloc, &joined, x->figures, x->n_figures, NULL, 0, sizeof *sum->figures);
    if (status != RF_OK)
        return status;
    sum->figures = joined;
    sum->n_figures = x->n_figures;
    for (size_t i = 0; i < y->n_figures; i++) {
        struct rf_figure *same = find_figure(sum->figures, sum->n_figures, y->figures[i].name);
        if (same != NULL) {
            same->value = merge_figure(same->name, same->value, x->consumed, y->figures[i].value,
                                       y->consumed);
            continue;
        }
        joined = sum->figures;
        if (!rf_alloc_array(&sum->alloc, &joined, sum->n_figures, sum->n_figures + 1,
                            sizeof *sum->figures))
            return RF_ENOMEM;
        sum->figures = joined;
        sum->figures[sum->n_figures++] = y->figures[i];
    }
    return RF_OK;
}

/* The shortest of both, where they are of different lengths; interval_length is the longest. */
static rf_status merge_lengths(struct rf_profile *sum, const struct rf_profile *x,
                               const struct rf_profile *y)
{
    double least_x = rf_profile_figure(x, RF_FIGURE_LEAST, (double)x->interval_length);
    double least_y = rf_profile_figure(y, RF_FIGURE_LEAST, (double)y->interval_length);
    double least = least_x < least_y ? least_x : least_y;
    if (x->n_intervals_seen == 0 || y->n_intervals_seen == 0 ||
        least >= (double)sum->interval_length)
        return RF_OK;
    struct rf_figure *figure = find_figure(sum->figures, sum->n_figures, RF_FIGURE_LEAST);
    if (figure == NULL)
        return rf_profile_add_figure(sum, RF_FIGURE_LEAST, least);
    figure->value = least;
    return RF_OK;
}

static uint64_t larger(uint64_t x, uint64_t y)
{
    return x > y ? x : y;
}

static void merge_totals(struct rf_profile *sum, const struct rf_profile *x,
                         const struct rf_profile *y)
{
    bool both_confident = x->bound == y->bound && x->bound == RF_BOUND_CONFIDENCE;
    sum->seed = x->seed;
    sum->shape = x->shape;
    sum->bound = x->bound > y->bound ? x->bound : y->bound;
    sum->confidence = both_confident && y->confidence < x->confidence ? y->confidence
                      : x->bound == RF_BOUND_CONFIDENCE               ? x->confidence
                                                                      : y->confidence;
    sum->consumed = x->consumed + y->consumed;
    sum->lost = x->lost + y->lost;
    sum->produced = x->produced + y->produced;
    sum->memory = larger(x->memory, y->memory);
    sum->bits = larger(x->bits, y->bits);
    sum->interval_length = larger(x->interval_length, y->interval_length);
    sum->n_intervals_seen = x->n_intervals_seen + y->n_intervals_seen;
}

static rf_status merge_texts(struct rf_profile *sum, const struct rf_profile *x,
                             const struct rf_profile *y)
{
    char *engine = rf_kinds_engine(&sum->alloc, x->engine, y->engine);
    if (engine == NULL || !rf_profile_set_text(&sum->alloc, &sum->selector, x->selector)) {
        rf_profile_free_text(&sum->alloc, engine);
        return RF_ENOMEM;
    }
    rf_profile_free_text(&sum->alloc, sum->engine);
    sum->engine = engine;
    return RF_OK;
}

static rf_status merge_profiles(struct rf_profile **merged, const struct rf_alloc *alloc,
                                const struct rf_profile *x, const struct rf_profile *y)
{
    uint64_t produced;
    if (__builtin_add_overflow(x->produced, y->produced, &produced))
        return RF_EINVAL;
    struct rf_profile *sum = rf_profile_new(alloc);
    if (sum == NULL)
        return RF_ENOMEM;
    merge_totals(sum, x, y);
    rf_status status = merge_texts(sum, x, y);
    if (status == RF_OK)
        status = merge_items(sum, x, y);
    if (status == RF_OK)
        status = merge_intervals(sum, x, y);
    if (status == RF_OK)
        status = merge_figures(sum, x, y);
    if (status == RF_OK)
        status = merge_lengths(sum, x, y);
    /* A file from outside may name a box twice, and then the sums may make no sense. */
    if (status == RF_OK && rf_profile_contradiction(sum) != NULL)
        status = RF_EINVAL;
    if (status != RF_OK) {
        rf_profile_free(sum);
        return status;
    }
    *merged = sum;
    return RF_OK;
}

/* A profile that has no partner is copied. */
static rf_status append_copy(struct rf_run *run, const struct rf_profile *profile)
{
    const struct rf_profile nothing = {
        .engine = profile->engine, .bound = profile->bound, .confidence = profile->confidence};
    struct rf_profile *copy;
    rf_status status = merge_profiles(&copy, &run->alloc, profile, &nothing);
    if (status != RF_OK)
        return status;
    status = rf_run_add_profile(run, copy);
    if (status != RF_OK)
        rf_profile_free(copy);
    return status;
}

static rf_status add_profile(struct rf_run *run, size_t partner, const struct rf_profile *profile)
{
    if (partner == RF_KINDS_ALONE)
        return append_copy(run, profile);
    struct rf_profile *merged;
    rf_status status = merge_profiles(&merged, &run->alloc, run->profiles[partner], profile);
    if (status != RF_OK)
        return status;
    rf_profile_free(run->profiles[partner]);
    run->profiles[partner] = merged;
    return RF_OK;
}

static rf_status add_profiles(struct rf_run *run, const struct rf_run *other)
{
    const size_t n = other->n_profiles;
    void *partners = NULL;
    if (!rf_alloc_array(&run->alloc, &partners, 0, n + 1, sizeof(size_t)))
        return RF_ENOMEM;
    rf_status status = rf_kinds_pair(run, other, partners);
    for (size_t i = 0; i < n && status == RF_OK; i++)
        status = add_profile(run, ((size_t *)partners)[i], other->profiles[i]);
    rf_alloc_free(&run->alloc, partners, (n + 1) * sizeof(size_t));
    return status;
}

static rf_status refuse(rf_status status, struct rf_error *error)
{
    return rf_fail(error, status, "the runs cannot be merged: %s",
                   status == RF_EINVAL ? "their numbers do not add up" : rf_status_text(status));
}

rf_status rf_run_add_part(struct rf_run *run, const struct rf_run *part, struct rf_error *error)
{
    rf_status status = add_profiles(run, part);
    if (status == RF_OK)
        status = rf_run_add_provenance(run, part);
    return status == RF_OK ? RF_OK : refuse(status, error);
}

rf_status rf_run_merge(struct rf_run *run, const struct rf_run *other, struct rf_error *error)
{
    uint64_t runs = rf_run_count_runs(run) + rf_run_count_runs(other);
    rf_status status = rf_run_add_part(run, other, error);
    if (status != RF_OK)
        return status;
    status = rf_run_set_runs(run, runs);
    return status == RF_OK ? RF_OK : refuse(status, error);
}
