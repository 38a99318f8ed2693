/* share.c - mark the tuples of several lanes, and split their common profile again.
 *
 *     lane 0: edges <pc, target> --mark 0--+                         +--> profile of edges
 *                                          +--> engine --> profile --+
 *     lane 1: calls <pc, target> --mark 1--+                         +--> profile of calls
 *
 * The engine cuts its intervals over all lanes together. A call never feeds tuples past the end of an
 * interval, so that the number of events of each lane in it is known.
 *
 * Guarantee: a lane's profile has all items that the shared profile has for it. Bounds are cut to the number
 * of the lane's own events, in all and per interval: no tuple occurs more often. Consumed and lost are the
 * lane's own, so that produced = consumed + lost holds for each. Memory: a copy of each item; where intervals are
 * kept, 8 bytes per lane and interval. Cannot: share selectors whose <a> is a value, because values use the
 * top byte; nor engines of ranges, because the mark would split their ranges. */
#include "collect/share.h"
#include <riffle/engine.h>
#include "profile/fold.h"
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

/* --- counting --------------------------------------------------------------------------------- */

struct rf_share_tally {
    struct rf_alloc alloc;
    bool keep_intervals;
    unsigned lanes;
    uint64_t consumed[RF_SHARE_MAX];
    uint64_t inside[RF_SHARE_MAX]; /* of those, in the interval under way */
    uint64_t *ended;               /* `lanes` words for each interval that is over */
    size_t n_ended, room;          /* words */
};

struct rf_share_tally *rf_share_tally_new(int keep_intervals, const struct rf_alloc *alloc)
{
    struct rf_share_tally *tally = rf_alloc_zeroed(alloc, sizeof *tally);
    if (tally == NULL)
        return NULL;
    tally->alloc = *alloc;
    tally->keep_intervals = keep_intervals != 0;
    return tally;
}

void rf_share_tally_free(struct rf_share_tally *tally)
{
    if (tally == NULL)
        return;
    rf_alloc_free(&tally->alloc, tally->ended, tally->room * sizeof *tally->ended);
    rf_alloc_free(&tally->alloc, tally, sizeof *tally);
}

rf_status rf_share_join(struct rf_share_tally *tally, unsigned *tag)
{
    if (tally->lanes == RF_SHARE_MAX)
        return RF_EINVAL;
    *tag = tally->lanes++;
    return RF_OK;
}

/* Make room for one more interval in advance, so that ending it cannot fail. */
static rf_status reserve_interval(struct rf_share_tally *tally)
{
    if (!tally->keep_intervals || tally->room - tally->n_ended >= tally->lanes)
        return RF_OK;
    void *array = tally->ended;
    size_t room = 2 * tally->room + 16 * (size_t)tally->lanes;
    if (!rf_alloc_array(&tally->alloc, &array, tally->room, room, sizeof *tally->ended))
        return RF_ENOMEM;
    tally->ended = array;
    tally->room = room;
    return RF_OK;
}

static void end_interval(struct rf_share_tally *tally)
{
    if (tally->keep_intervals) {
        memcpy(tally->ended + tally->n_ended, tally->inside, tally->lanes * sizeof *tally->inside);
        tally->n_ended += tally->lanes;
    }
    memset(tally->inside, 0, sizeof tally->inside);
}

/* How many tuples from the first on have its tag. The tuples of a lane come many at a time: whole blocks are
 * compared without a branch. */
static size_t same_tag(const struct rf_tuple *tuples, size_t n)
{
    enum { BLOCK = 64 };
    size_t i = 0;
    for (uint64_t other = 0; i + BLOCK <= n; i += BLOCK) {
        for (size_t k = 0; k < BLOCK; k++)
            other |= tuples[i + k].a ^ tuples[0].a;
        if (other >> RF_SHARE_SHIFT != 0)
            break;
    }
    while (i < n && (tuples[i].a ^ tuples[0].a) >> RF_SHARE_SHIFT == 0)
        i++;
    return i;
}

static void count_one(struct rf_share_tally *tally, const struct rf_tuple *tuple, uint64_t times)
{
    tally->consumed[tuple->a >> RF_SHARE_SHIFT] += times;
    tally->inside[tuple->a >> RF_SHARE_SHIFT] += times;
}

/* The first `events` events of these tuples were consumed. */
static void count(struct rf_share_tally *tally, const struct rf_tuples *tuples, uint64_t events)
{
    size_t n = tuples->counts == NULL && events < tuples->n ? (size_t)events : tuples->n;
    for (size_t i = 0, run; tuples->counts == NULL && i < n; i += run) {
        run = same_tag(tuples->tuples + i, n - i);
        count_one(tally, &tuples->tuples[i], run);
    }
    for (size_t i = 0; tuples->counts != NULL && i < n && events > 0; i++) {
        uint64_t times = tuples->counts[i] < events ? tuples->counts[i] : events;
        events -= times;
        count_one(tally, &tuples->tuples[i], times);
    }
}

/* Feed tuples that do not go past the end of an interval. */
static rf_status feed_inside(struct rf_share_tally *tally, struct rf_profiler *profiler,
                             const struct rf_tuples *tuples, struct rf_error *error)
{
    const struct rf_engine *engine = rf_profiler_engine(profiler);
    uint64_t before = rf_engine_events(engine), left = rf_profiler_left(profiler);
    rf_status status = reserve_interval(tally);
    if (status != RF_OK)
        return rf_fail(error, status, "no memory for the events of %u lanes", tally->lanes);
    status = rf_profiler_feed(profiler, tuples, error);
    uint64_t consumed = rf_engine_events(engine) - before;
    count(tally, tuples, consumed);
    if (status == RF_OK && consumed == left)
        end_interval(tally);
    return status;
}

/* How many tuples from `first` on fit in `left` events; at least one. */
static struct rf_tuples fitting(const struct rf_tuples *tuples, size_t first, uint64_t left)
{
    struct rf_tuples piece = {tuples->tuples + first, NULL, tuples->n - first};
    if (tuples->counts == NULL) {
        piece.n = piece.n < left ? piece.n : (size_t)left;
        return piece;
    }
    piece.counts = tuples->counts + first;
    size_t n = 0;
    for (uint64_t events = 0; n < piece.n && piece.counts[n] <= left - events; n++)
        events += piece.counts[n];
    piece.n = n > 0 ? n : 1;
    return piece;
}

/* Feed in parts a count that reaches past the end of an interval. */
static rf_status feed_counted(struct rf_share_tally *tally, struct rf_profiler *profiler,
                              struct rf_tuple tuple, uint64_t times, struct rf_error *error)
{
    rf_status status = RF_OK;
    while (times > 0 && status == RF_OK) {
        uint64_t left = rf_profiler_left(profiler), part = times < left ? times : left;
        const struct rf_tuples one = {&tuple, &part, 1};
        status = feed_inside(tally, profiler, &one, error);
        times -= part;
    }
    return status;
}

rf_status rf_share_feed(struct rf_share_tally *tally, struct rf_profiler *profiler,
                        const struct rf_tuples *tuples, struct rf_error *error)
{
    rf_status status = RF_OK;
    for (size_t done = 0; done < tuples->n && status == RF_OK;) {
        uint64_t left = rf_profiler_left(profiler);
        struct rf_tuples piece = fitting(tuples, done, left);
        bool splits = piece.counts != NULL && piece.counts[0] > left;
        status = splits ? feed_counted(tally, profiler, *piece.tuples, *piece.counts, error)
                        : feed_inside(tally, profiler, &piece, error);
        done += piece.n;
    }
    return status;
}

/* --- dealing out ------------------------------------------------------------------------------ */

static size_t count_marked(const struct rf_item *items, size_t n, unsigned tag)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        count += items[i].a >> RF_SHARE_SHIFT == tag;
    return count;
}

/* Append the items with the tag to out[0 .. *filled - 1], without their marks. */
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

/* What a lane had of interval i. */
static uint64_t events_inside(const struct rf_share_tally *tally, size_t i, unsigned tag)
{
    return i < tally->n_ended / tally->lanes ? tally->ended[i * tally->lanes + tag]
                                             : tally->inside[tag];
}

/* No tuple of the lane occurs more often than the lane has events. */
static void cut_to_events(struct rf_item *items, size_t n, uint64_t events)
{
    for (size_t i = 0; i < n; i++) {
        items[i].count = items[i].count < events ? items[i].count : events;
        items[i].lower = items[i].lower < events ? items[i].lower : events;
        items[i].upper = items[i].upper < events ? items[i].upper : events;
    }
    rf_items_sort(items, n);
}

static void take_interval(struct rf_profile *part, const struct rf_profile *all, size_t i,
                          uint64_t events, unsigned tag)
{
    const struct rf_interval *from = &all->intervals[i];
    struct rf_interval *to = &part->intervals[i];
    size_t first = part->n_interval_items;
    copy_marked(part->interval_items, &part->n_interval_items, all->interval_items + from->first,
                from->n, tag);
    *to = (struct rf_interval){.events = events,
                               .absent_upper =
                                   from->absent_upper < events ? from->absent_upper : events,
                               .first = first,
                               .n = part->n_interval_items - first};
    if (to->n > 0)
        cut_to_events(part->interval_items + first, to->n, events);
}

static rf_status take_intervals(struct rf_profile *part, const struct rf_profile *all,
                                const struct rf_share_tally *tally, unsigned tag)
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
    for (size_t i = 0; i < all->n_intervals; i++)
        take_interval(part, all, i, events_inside(tally, i, tag), tag);
    return RF_OK;
}

static rf_status take_figures(struct rf_profile *part, const struct rf_profile *all, size_t sharing)
{
    rf_status status = RF_OK;
    for (size_t i = 0; i < all->n_figures && status == RF_OK; i++)
        status = rf_profile_add_figure(part, all->figures[i].name, all->figures[i].value);
    return status == RF_OK ? rf_profile_add_figure(part, "sharing", (double)sharing) : status;
}

static void take_totals(struct rf_profile *part, const struct rf_profile *all, uint64_t consumed,
                        uint64_t produced)
{
    part->seed = all->seed;
    part->shape = all->shape;
    part->bound = all->bound;
    part->confidence = all->confidence;
    part->consumed = consumed;
    part->lost = produced > consumed ? produced - consumed : 0;
    part->produced = part->consumed + part->lost;
    part->memory = all->memory;
    part->bits = all->bits;
    part->interval_length = all->interval_length;
    part->n_intervals_seen = all->n_intervals_seen;
    part->absent_upper = all->absent_upper < consumed ? all->absent_upper : consumed;
    cut_to_events(part->items, part->n_items, consumed);
}

rf_status rf_share_take(struct rf_profile **taken, const struct rf_profile *all,
                        const struct rf_share_tally *tally, const struct rf_share *share)
{
    struct rf_profile *part = *taken = rf_profile_new(&all->alloc);
    if (part == NULL)
        return RF_ENOMEM;
    bool texts = rf_profile_set_text(&part->alloc, &part->selector, share->selector) &&
                 rf_profile_set_text(&part->alloc, &part->engine, all->engine);
    rf_status status = texts ? take_items(part, all, share->tag) : RF_ENOMEM;
    if (status == RF_OK)
        status = take_intervals(part, all, tally, share->tag);
    if (status == RF_OK)
        status = take_figures(part, all, tally->lanes);
    if (status != RF_OK) {
        rf_profile_free(part);
        *taken = NULL;
        return status;
    }
    take_totals(part, all, tally->consumed[share->tag], share->produced);
    return RF_OK;
}
