/* merge.c - two runs as one.
 *
 * Profiles of the same selector, engine and interval add up item by item, whatever their seeds: bounds are
 * about counts, not about the hashes they came from. An item that one side
 * lacks may have had up to that side's absent_upper there, which goes into its upper bound; the fold
 * does that (fold.c). The bounds of ranges follow from their nesting (range.c). Totals add up. Kept intervals
 * are appended. Memory is that of the larger, as the engines need not have run at the same time.
 *
 * A merged profile is made beside the old one and then put in its place: when memory runs out in the
 * middle, the run has the profiles before it merged and the others as they were. */
#include "profile/file.h"
#include "profile/fold.h"
#include "profile/profile.h"
#include "base/alloc.h"
#include "base/error.h"
#include <string.h>

static double process_of(const struct rf_profile *profile)
{
    return rf_profile_figure(profile, "process", 0);
}

static bool same_kind(const struct rf_profile *x, const struct rf_profile *y)
{
    return x->shape == y->shape && x->interval_length == y->interval_length &&
           strcmp(x->selector, y->selector) == 0 && strcmp(x->engine, y->engine) == 0 &&
           process_of(x) == process_of(y);
}

/* How many of the first n profiles are of this kind. */
static size_t count_kind(const struct rf_run *run, size_t n, const struct rf_profile *kind)
{
    size_t found = 0;
    for (size_t i = 0; i < n; i++)
        found += same_kind(run->profiles[i], kind);
    return found;
}

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
    sum->interval_length = x->interval_length;
    sum->n_intervals_seen = x->n_intervals_seen + y->n_intervals_seen;
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
    rf_status status = RF_ENOMEM;
    if (rf_profile_set_text(alloc, &sum->selector, x->selector) &&
        rf_profile_set_text(alloc, &sum->engine, x->engine))
        status = merge_items(sum, x, y);
    if (status == RF_OK)
        status = merge_intervals(sum, x, y);
    if (status == RF_OK)
        status = merge_figures(sum, x, y);
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
    struct rf_profile nothing = {.bound = profile->bound, .confidence = profile->confidence};
    struct rf_profile *copy;
    rf_status status = merge_profiles(&copy, &run->alloc, profile, &nothing);
    if (status != RF_OK)
        return status;
    status = rf_run_add_profile(run, copy);
    if (status != RF_OK)
        rf_profile_free(copy);
    return status;
}

/* Of several profiles of one kind the first goes with the first of the other run, and so on. */
static rf_status add_profile(struct rf_run *run, size_t n_own, const struct rf_profile *profile,
                             size_t rank)
{
    for (size_t i = 0; i < n_own; i++) {
        if (!same_kind(run->profiles[i], profile) || rank-- > 0)
            continue;
        struct rf_profile *merged;
        rf_status status = merge_profiles(&merged, &run->alloc, run->profiles[i], profile);
        if (status != RF_OK)
            return status;
        rf_profile_free(run->profiles[i]);
        run->profiles[i] = merged;
        return RF_OK;
    }
    return append_copy(run, profile);
}

static bool has_module(const struct rf_run *run, const struct rf_module *wanted)
{
    for (size_t i = 0; i < run->n_modules; i++) {
        const struct rf_module *module = &run->modules[i];
        if (module->process == wanted->process && module->start == wanted->start &&
            module->end == wanted->end && module->offset == wanted->offset &&
            strcmp(module->path, wanted->path) == 0 &&
            strcmp(module->build_id, wanted->build_id) == 0)
            return true;
    }
    return false;
}

static bool has_note(const struct rf_run *run, const struct rf_note *wanted)
{
    for (size_t i = 0; i < run->n_notes; i++)
        if (strcmp(run->notes[i].name, wanted->name) == 0 &&
            strcmp(run->notes[i].text, wanted->text) == 0)
            return true;
    return false;
}

/* "sort a; sort b"; the same command is named once. */
static rf_status add_command(struct rf_run *run, const char *command)
{
    const char *between = run->command[0] != '\0' ? "; " : "";
    if (command[0] == '\0' || strcmp(run->command, command) == 0)
        return RF_OK;
    size_t size = strlen(run->command) + strlen(between) + strlen(command) + 1;
    char *both = rf_alloc_get(&run->alloc, size);
    if (both == NULL)
        return RF_ENOMEM;
    rf_format(both, size, "%s%s%s", run->command, between, command);
    rf_profile_free_text(&run->alloc, run->command);
    run->command = both;
    return RF_OK;
}

static rf_status add_provenance(struct rf_run *run, const struct rf_run *other)
{
    rf_status status = add_command(run, other->command);
    for (size_t i = 0; i < other->n_modules && status == RF_OK; i++)
        if (!has_module(run, &other->modules[i]))
            status = rf_run_add_module(run, &other->modules[i]);
    for (size_t i = 0; i < other->n_notes && status == RF_OK; i++)
        if (!has_note(run, &other->notes[i]))
            status = rf_run_add_note(run, other->notes[i].name, other->notes[i].text);
    return status;
}

enum { BUILD_ID_SHOWN = 12 };

static bool clash(const struct rf_module *x, const struct rf_module *y)
{
    return x->process == y->process && x->start < y->end && y->start < x->end &&
           x->build_id[0] != '\0' && y->build_id[0] != '\0' &&
           strcmp(x->build_id, y->build_id) != 0;
}

static rf_status tell_clash(const struct rf_module *x, const struct rf_module *y,
                            struct rf_error *error)
{
    const uint64_t start = x->start > y->start ? x->start : y->start;
    if (strcmp(x->path, y->path) == 0)
        return rf_fail(error, RF_EINVAL,
                       "%s is of two builds, %.*s and %.*s: their addresses cannot be compared",
                       x->path, BUILD_ID_SHOWN, x->build_id, BUILD_ID_SHOWN, y->build_id);
    return rf_fail(
        error, RF_EINVAL,
        "at 0x%llx there is %s in one and %s in the other: their addresses cannot be compared",
        (unsigned long long)start, x->path, y->path);
}

/* Two modules that both runs mapped at the same place, one after the other, are no difference. */
rf_status rf_run_same_builds(const struct rf_run *run, const struct rf_run *other,
                             struct rf_error *error)
{
    for (size_t i = 0; i < run->n_modules; i++)
        for (size_t k = 0; k < other->n_modules; k++)
            if (clash(&run->modules[i], &other->modules[k]) &&
                !has_module(other, &run->modules[i]) && !has_module(run, &other->modules[k]))
                return tell_clash(&run->modules[i], &other->modules[k], error);
    return RF_OK;
}

static bool is_unproven(const struct rf_module *x, const struct rf_module *y)
{
    return x->process == y->process && x->start < y->end && y->start < x->end &&
           x->path[0] != '[' && y->path[0] != '[' &&
           (x->build_id[0] == '\0' || y->build_id[0] == '\0');
}

const char *rf_run_unproven_build(const struct rf_run *run, const struct rf_run *other)
{
    for (size_t i = 0; i < run->n_modules; i++)
        for (size_t k = 0; k < other->n_modules; k++)
            if (is_unproven(&run->modules[i], &other->modules[k]))
                return run->modules[i].build_id[0] == '\0' ? run->modules[i].path
                                                           : other->modules[k].path;
    return NULL;
}

rf_status rf_run_merge(struct rf_run *run, const struct rf_run *other, struct rf_error *error)
{
    size_t n_own = run->n_profiles, n_other = other->n_profiles;
    rf_status status = RF_OK;
    for (size_t i = 0; i < n_other && status == RF_OK; i++)
        status =
            add_profile(run, n_own, other->profiles[i], count_kind(other, i, other->profiles[i]));
    if (status == RF_OK)
        status = add_provenance(run, other);
    if (status == RF_OK)
        return RF_OK;
    return rf_fail(error, status, "the runs cannot be merged: %s",
                   status == RF_EINVAL ? "their numbers do not add up" : rf_status_text(status));
}
