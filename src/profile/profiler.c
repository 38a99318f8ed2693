/* profiler.c - an engine and the profile that is made of its reports.
 *
 *     feed -> engine --interval over--> gather --whole--> fold (sums)
 *                                                 `-----> kept intervals, where asked for
 *     profile = copy of the sums + what the engine has of the interval under way
 *
 * An interval's items are gathered first and folded after the engine's whole report: the bound for items that
 * are not listed (absent_upper) comes last, and an interval goes in whole or, when memory runs out, not at all.
 * But an engine that hands over because it has no memory goes on: the lighter half of its tuples is left out, and
 * absent_upper rises to the most that one of those may have had; again, until the rest fits. A stream that is not cut never touches the fold: its one report becomes the profile.
 *
 * Bounds: no item occurs more often than there are events, so uppers are cut to that; where engines give a
 * confidence, the widths of the intervals add up; that is wider than necessary if their errors are
 * independent.
 *
 * Memory beyond the engine's: 72 to 80 bytes per distinct item over all intervals, 64 per item of every
 * interval when they are kept. */
#include "profile/profile.h"
#include "profile/fold.h"
#include "base/alloc.h"
#include "base/error.h"
#include "engine/engine.h"
#include <string.h>
#include <riffle/engine.h>
#include <riffle/profiler.h>

/* One report of an engine. */
struct gather {
    const struct rf_alloc *alloc;
    uint64_t mark; /* what items carry as `intervals`: 1 where the stream is cut */
    struct rf_items list;
    struct rf_figure *figures;
    size_t n_figures;
    struct rf_summary summary;
    uint64_t left_out; /* an item that there was no memory for has this many events at most */
    struct rf_profiler *owner; /* whose interval it is; NULL: a report within an interval */
};

struct rf_profiler {
    struct rf_alloc alloc;
    struct rf_engine *engine;
    char *selector;
    uint64_t seed, lost;
    bool keep_intervals;

    struct rf_sink sink;
    struct gather current;

    struct rf_fold fold;
    uint64_t n_intervals_seen;
    struct rf_summary weakest; /* the weakest promise: it holds for all intervals */
    struct rf_interval *intervals;
    size_t n_intervals, intervals_room;
    struct rf_items kept;
};

static void gather_forget(struct gather *gather)
{
    gather->list.n = 0;
    gather->left_out = 0;
    rf_alloc_free(gather->alloc, gather->figures, gather->n_figures * sizeof *gather->figures);
    gather->figures = NULL;
    gather->n_figures = 0;
}

static void gather_free(struct gather *gather)
{
    gather_forget(gather);
    rf_items_free(&gather->list, gather->alloc);
}

static void leave_out(struct gather *gather, const struct rf_item *item)
{
    if (item->upper > gather->left_out)
        gather->left_out = item->upper;
}

/* Leave out the lighter half; false: there is nothing left. */
static bool shorten(struct gather *gather)
{
    size_t n = gather->list.n;
    rf_items_sort(gather->list.items, n);
    gather->list.n = n / 2;
    for (size_t i = n / 2; i < n; i++)
        leave_out(gather, &gather->list.items[i]);
    return n > 0;
}

/* Only of tuples, and only where the engine hands over for lack of memory: then it must go on. */
static bool can_leave_out(const struct gather *gather)
{
    return gather->owner != NULL && rf_engine_is_full(gather->owner->engine) &&
           rf_engine_shape(gather->owner->engine) == RF_SHAPE_TUPLE;
}

static rf_status gather_item(void *context, const struct rf_item *item)
{
    struct gather *gather = context;
    rf_status status = rf_items_reserve(&gather->list, gather->alloc, 1);
    if (status != RF_OK && !can_leave_out(gather))
        return status;
    if (status != RF_OK && !shorten(gather)) {
        leave_out(gather, item);
        return RF_OK;
    }
    gather->list.items[gather->list.n] = *item;
    gather->list.items[gather->list.n++].intervals = gather->mark;
    return RF_OK;
}

static rf_status gather_figure(void *context, const struct rf_figure *figure)
{
    struct gather *gather = context;
    void *array = gather->figures;
    if (!rf_alloc_array(gather->alloc, &array, gather->n_figures, gather->n_figures + 1,
                        sizeof *figure))
        return RF_ENOMEM;
    gather->figures = array;
    gather->figures[gather->n_figures++] = *figure;
    return RF_OK;
}

static void cut_to_events(struct gather *gather)
{
    uint64_t events = gather->summary.events;
    if (gather->summary.absent_upper > events)
        gather->summary.absent_upper = events;
    for (size_t i = 0; i < gather->list.n; i++)
        if (gather->list.items[i].upper > events)
            gather->list.items[i].upper = events;
}

/* What was left out may have as many events as its bound said. A bound that may be wrong is no such bound. */
static rf_status admit_left_out(struct gather *gather)
{
    struct rf_summary *summary = &gather->summary;
    if (gather->left_out == 0)
        return RF_OK;
    if (summary->bound == RF_BOUND_CONFIDENCE)
        return RF_ENOMEM;
    summary->bound = RF_BOUND_HARD;
    if (summary->absent_upper < gather->left_out)
        summary->absent_upper = gather->left_out;
    return RF_OK;
}

static rf_status keep_interval(struct rf_profiler *profiler, struct gather *gather);

static rf_status gather_end(void *context, const struct rf_summary *summary)
{
    struct gather *gather = context;
    gather->summary = *summary;
    if (admit_left_out(gather) != RF_OK)
        return RF_ENOMEM;
    cut_to_events(gather);
    if (gather->owner == NULL)
        return RF_OK;
    rf_status status = keep_interval(gather->owner, gather);
    gather_forget(gather);
    return status;
}

static struct rf_sink gather_sink(struct gather *gather)
{
    return (struct rf_sink){gather_item, gather_figure, gather_end, gather};
}

/* Room for `times` intervals of that many items. */
static rf_status reserve_intervals(struct rf_profiler *profiler, size_t n_items, uint64_t times)
{
    size_t all, needed;
    if (!profiler->keep_intervals)
        return RF_OK;
    if (__builtin_mul_overflow(n_items, times, &all) ||
        __builtin_add_overflow(profiler->n_intervals, times, &needed))
        return RF_ENOMEM;
    rf_status status = rf_items_reserve(&profiler->kept, &profiler->alloc, all);
    if (status != RF_OK || needed <= profiler->intervals_room)
        return status;
    size_t room = profiler->intervals_room * 2 + 16;
    if (room < needed)
        room = needed;
    void *array = profiler->intervals;
    if (!rf_alloc_array(&profiler->alloc, &array, profiler->intervals_room, room,
                        sizeof *profiler->intervals))
        return RF_ENOMEM;
    profiler->intervals = array;
    profiler->intervals_room = room;
    return RF_OK;
}

/* The promise that holds for two reports added up. */
static void weaken(struct rf_summary *sum, const struct rf_summary *other)
{
    sum->shape = other->shape;
    sum->events += other->events;
    if (other->bound > sum->bound)
        sum->bound = other->bound;
    if (other->bound == RF_BOUND_CONFIDENCE &&
        (sum->confidence == 0 || other->confidence < sum->confidence))
        sum->confidence = other->confidence;
}

/* Append in order. There is room. */
static void append_sorted(struct rf_items *list, const struct rf_items *more)
{
    if (more->n == 0)
        return;
    memcpy(list->items + list->n, more->items, more->n * sizeof *more->items);
    rf_items_sort(list->items + list->n, more->n);
    list->n += more->n;
}

static void list_interval(struct rf_profiler *profiler, const struct gather *gather)
{
    profiler->intervals[profiler->n_intervals++] = (struct rf_interval){
        gather->summary.events, gather->summary.absent_upper, profiler->kept.n, gather->list.n};
    append_sorted(&profiler->kept, &gather->list);
}

/* Turn the report of one interval into the sum of `times` such intervals. */
static void multiply(struct gather *gather, uint64_t times)
{
    gather->summary.events *= times;
    gather->summary.absent_upper *= times;
    for (size_t i = 0; i < gather->list.n; i++) {
        struct rf_item *item = &gather->list.items[i];
        item->count *= times;
        item->lower *= times;
        item->upper *= times;
        item->intervals *= times;
    }
}

/* As much of the interval as there is memory for. */
static rf_status fold_in(struct rf_profiler *profiler, struct gather *gather)
{
    for (;;) {
        rf_status status = rf_fold_add(&profiler->fold, gather->list.items, gather->list.n,
                                       gather->summary.absent_upper);
        if (status != RF_ENOMEM || !can_leave_out(gather) || !shorten(gather))
            return status;
        status = admit_left_out(gather);
        if (status != RF_OK)
            return status;
    }
}

static rf_status keep_interval(struct rf_profiler *profiler, struct gather *gather)
{
    uint64_t times = gather->summary.repeats > 1 ? gather->summary.repeats : 1;
    rf_status status = reserve_intervals(profiler, gather->list.n, times);
    if (status != RF_OK)
        return status;
    size_t intervals = profiler->n_intervals, items = profiler->kept.n;
    for (uint64_t i = 0; profiler->keep_intervals && i < times; i++)
        list_interval(profiler, gather);
    multiply(gather, times);
    status = fold_in(profiler, gather);
    if (status != RF_OK) {
        profiler->n_intervals = intervals;
        profiler->kept.n = items;
        return status;
    }
    profiler->n_intervals_seen += times;
    weaken(&profiler->weakest, &gather->summary);
    return RF_OK;
}

void rf_profiler_close(struct rf_profiler *profiler)
{
    if (profiler == NULL)
        return;
    rf_engine_close(profiler->engine);
    rf_profile_free_text(&profiler->alloc, profiler->selector);
    gather_free(&profiler->current);
    rf_fold_free(&profiler->fold);
    rf_items_free(&profiler->kept, &profiler->alloc);
    rf_alloc_free(&profiler->alloc, profiler->intervals,
                  profiler->intervals_room * sizeof *profiler->intervals);
    rf_alloc_free(&profiler->alloc, profiler, sizeof *profiler);
}

static void prepare(struct rf_profiler *profiler, const struct rf_profiler_setup *setup)
{
    profiler->alloc = *rf_alloc_or_standard(setup->alloc);
    profiler->seed = setup->seed;
    profiler->keep_intervals = setup->keep_intervals != 0;
    profiler->current = (struct gather){.alloc = &profiler->alloc, .mark = 1, .owner = profiler};
    profiler->sink = gather_sink(&profiler->current);
    rf_fold_init(&profiler->fold, &profiler->alloc);
}

static rf_status open_parts(struct rf_profiler *profiler, const char *engine,
                            const struct rf_profiler_setup *setup, struct rf_error *error)
{
    const char *selector = setup->selector != NULL ? setup->selector : "";
    profiler->selector = rf_profile_text(&profiler->alloc, selector, strlen(selector));
    if (profiler->selector == NULL)
        return rf_fail(error, RF_ENOMEM, "no memory for a profiler");
    struct rf_engine_setup inner = {&profiler->alloc, setup->seed, setup->interval, &profiler->sink,
                                    setup->stop};
    return rf_engine_open(&profiler->engine, engine, &inner, error);
}

rf_status rf_profiler_open(struct rf_profiler **opened, const char *engine,
                           const struct rf_profiler_setup *setup, struct rf_error *error)
{
    static const struct rf_profiler_setup nothing;
    *opened = NULL;
    if (setup == NULL)
        setup = &nothing;
    struct rf_profiler *profiler =
        rf_alloc_zeroed(rf_alloc_or_standard(setup->alloc), sizeof *profiler);
    if (profiler == NULL)
        return rf_fail(error, RF_ENOMEM, "no memory for a profiler");
    prepare(profiler, setup);
    rf_status status = open_parts(profiler, engine, setup, error);
    if (status != RF_OK) {
        rf_profiler_close(profiler);
        return status;
    }
    *opened = profiler;
    return RF_OK;
}

/* No more than a stream may have. */
static uint64_t events_of(const struct rf_tuples *tuples)
{
    if (tuples->counts == NULL)
        return tuples->n;
    uint64_t events = 0;
    for (size_t i = 0; i < tuples->n; i++)
        events +=
            tuples->counts[i] < RF_EVENTS_MAX - events ? tuples->counts[i] : RF_EVENTS_MAX - events;
    return events;
}

rf_status rf_profiler_feed(struct rf_profiler *profiler, const struct rf_tuples *tuples,
                           struct rf_error *error)
{
    uint64_t before = rf_engine_events(profiler->engine);
    rf_status status = rf_engine_feed(profiler->engine, tuples, error);
    if (status == RF_OK)
        return RF_OK;
    gather_forget(&profiler->current);
    rf_profiler_lose(profiler, events_of(tuples) - (rf_engine_events(profiler->engine) - before));
    return status;
}

/* The sum of consumed and lost must not overflow; losses beyond that are not counted. */
void rf_profiler_lose(struct rf_profiler *profiler, uint64_t events)
{
    uint64_t most = RF_EVENTS_MAX - 1 - profiler->lost;
    profiler->lost += events < most ? events : most;
}

void rf_profiler_lose_tuples(struct rf_profiler *profiler, const struct rf_tuples *tuples)
{
    rf_profiler_lose(profiler, events_of(tuples));
}

uint64_t rf_profiler_left(const struct rf_profiler *profiler)
{
    uint64_t length = rf_engine_interval(profiler->engine);
    uint64_t inside = rf_engine_events(profiler->engine) - profiler->weakest.events;
    return length == 0 ? UINT64_MAX : length - inside;
}

/* Of a stream that is not cut: the items of the report. Else a copy of the fold, which may grow as the items of the last
 * interval go in: items of old and new room side by side, and their slots. */
size_t rf_profiler_needs(const struct rf_profiler *profiler, size_t more)
{
    enum { TEXTS = 64 << 10, UNKNOWN = 512 << 10, IN_FOLD = 200 };
    bool known = rf_engine_knows_items(profiler->engine);
    size_t items = known ? rf_engine_items(profiler->engine) + more : 0;
    size_t needs = (known ? TEXTS : UNKNOWN) + items * sizeof(struct rf_item);
    if (profiler->n_intervals_seen == 0)
        return needs;
    return needs + (profiler->fold.list.n + items) * IN_FOLD +
           profiler->kept.n * sizeof(struct rf_item) +
           profiler->n_intervals * sizeof(struct rf_interval);
}

void rf_profiler_gap(struct rf_profiler *profiler)
{
    rf_engine_gap(profiler->engine);
}

const struct rf_engine *rf_profiler_engine(const struct rf_profiler *profiler)
{
    return profiler->engine;
}

/* The items of `look` alone, or added to those of the intervals before. */
static rf_status add_up(const struct rf_profiler *profiler, struct gather *look,
                        struct rf_items *items, uint64_t *absent_upper)
{
    if (profiler->n_intervals_seen == 0) {
        rf_status status = rf_items_trim(&look->list, look->alloc);
        if (status != RF_OK)
            return status;
        *items = look->list;
        *absent_upper = look->summary.absent_upper;
        look->list = (struct rf_items){NULL, 0, 0};
        rf_items_sort(items->items, items->n);
        return RF_OK;
    }
    struct rf_fold fold;
    rf_status status = rf_fold_copy(&fold, &profiler->fold);
    if (status == RF_OK)
        status = rf_fold_add(&fold, look->list.items, look->list.n, look->summary.absent_upper);
    *absent_upper = fold.absent_upper;
    if (status == RF_OK)
        status = rf_fold_take(&fold, items);
    rf_fold_free(&fold);
    return status;
}

/* Intervals that are over, and the one under way when `look` has any of it. */
static rf_status copy_intervals(const struct rf_profiler *profiler, const struct gather *look,
                                struct rf_profile *profile)
{
    size_t extra = look->summary.events > 0 ? 1 : 0;
    struct rf_items items = {NULL, 0, 0};
    void *intervals = NULL;
    if (rf_items_reserve(&items, &profile->alloc, profiler->kept.n + look->list.n) != RF_OK ||
        !rf_alloc_array(&profile->alloc, &intervals, 0, profiler->n_intervals + extra,
                        sizeof *profile->intervals)) {
        rf_items_free(&items, &profile->alloc);
        return RF_ENOMEM;
    }
    profile->intervals = intervals;
    profile->n_intervals = profiler->n_intervals + extra;
    if (profiler->n_intervals > 0)
        memcpy(intervals, profiler->intervals, profiler->n_intervals * sizeof *profile->intervals);
    if (profiler->kept.n > 0)
        memcpy(items.items, profiler->kept.items, profiler->kept.n * sizeof *items.items);
    items.n = profiler->kept.n;
    if (extra > 0) {
        profile->intervals[profiler->n_intervals] = (struct rf_interval){
            look->summary.events, look->summary.absent_upper, items.n, look->list.n};
        append_sorted(&items, &look->list);
    }
    rf_status status = rf_items_trim(&items, &profile->alloc);
    profile->interval_items = items.items;
    profile->n_interval_items = items.room;
    return status;
}

static rf_status copy_texts(const struct rf_profiler *profiler, struct rf_profile *profile)
{
    if (!rf_profile_set_text(&profile->alloc, &profile->selector, profiler->selector))
        return RF_ENOMEM;
    size_t length = rf_engine_print(profiler->engine, NULL, 0);
    char *text = rf_alloc_get(&profile->alloc, length + 1);
    if (text == NULL)
        return RF_ENOMEM;
    rf_engine_print(profiler->engine, text, length + 1);
    rf_profile_free_text(&profile->alloc, profile->engine);
    profile->engine = text;
    return RF_OK;
}

static void copy_totals(const struct rf_profiler *profiler, struct gather *look,
                        struct rf_profile *profile)
{
    struct rf_summary sum = profiler->weakest;
    weaken(&sum, &look->summary);
    profile->shape = sum.shape;
    profile->bound = sum.bound;
    profile->confidence = sum.bound == RF_BOUND_CONFIDENCE ? sum.confidence : 0;
    profile->seed = profiler->seed;
    profile->consumed = rf_engine_events(profiler->engine);
    profile->lost = profiler->lost;
    profile->produced = profile->consumed + profile->lost;
    profile->memory = rf_engine_memory(profiler->engine);
    profile->bits = rf_engine_bits(profiler->engine);
    profile->interval_length = rf_engine_interval(profiler->engine);
    bool cut = profile->interval_length > 0 || profiler->n_intervals_seen > 0;
    profile->n_intervals_seen =
        profiler->n_intervals_seen + (cut && look->summary.events > 0 ? 1 : 0);
    profile->figures = look->figures;
    profile->n_figures = look->n_figures;
    look->figures = NULL;
    look->n_figures = 0;
}

static rf_status fill(const struct rf_profiler *profiler, struct gather *look,
                      struct rf_profile *profile)
{
    rf_status status = copy_texts(profiler, profile);
    if (status != RF_OK)
        return status;
    copy_totals(profiler, look, profile);
    if (profiler->keep_intervals && profile->n_intervals_seen > 0)
        status = copy_intervals(profiler, look, profile);
    if (status != RF_OK)
        return status;
    struct rf_items items = {NULL, 0, 0};
    status = add_up(profiler, look, &items, &profile->absent_upper);
    profile->items = items.items;
    profile->n_items = items.n;
    if (status == RF_OK && profile->n_intervals_seen > 1)
        status = rf_profile_bound_ranges(profile);
    return status;
}

rf_status rf_profiler_profile(const struct rf_profiler *profiler, struct rf_profile **made,
                              struct rf_error *error)
{
    bool cut = rf_engine_interval(profiler->engine) > 0 || profiler->n_intervals_seen > 0;
    struct gather look = {.alloc = &profiler->alloc, .mark = cut ? 1 : 0};
    struct rf_sink sink = gather_sink(&look);
    *made = NULL;
    struct rf_profile *profile = rf_profile_new(&profiler->alloc);
    rf_items_reserve(&look.list, look.alloc, rf_engine_items(profiler->engine)); /* or piecemeal */
    rf_status status = profile == NULL ? RF_ENOMEM : rf_engine_report(profiler->engine, &sink);
    if (status == RF_OK)
        status = fill(profiler, &look, profile);
    gather_free(&look);
    if (status != RF_OK) {
        rf_profile_free(profile);
        return rf_fail(error, status, "the profile could not be made: %s", rf_status_text(status));
    }
    *made = profile;
    return RF_OK;
}
