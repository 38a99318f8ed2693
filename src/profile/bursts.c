/* bursts.c - estimate the counts of a whole run from its bursts.
 *
 * The events of a burst come from the same few loops and resemble each other. Therefore the events of a burst
 * are not independent observations; the burst is a cluster. The differences between bursts tell how sure an
 * estimate is. (Cochran,
 * "Sampling Techniques", chapter 9: clusters of unequal size, ratio to size.)
 *
 *     m_i events in burst i, y_i of them of an item        share  p = sum y / sum m
 *
 *     variance of p   V = (1 - f) n / (n - 1)  sum (y_i - p m_i)^2 / (sum m)^2          f: share of events told
 *     design effect D = V / (p (1 - p) / sum m), at least 1; D events are worth one independent event
 *
 * The interval is Wilson's, with sum m / D independent events: it holds for rare items, too, and never leaves 0..1. The
 * estimated count is p times the number of all events, sampled and skipped, which is known exactly.
 *
 *     sum (y_i - p m_i)^2 = sum y^2 - 2 p sum y m + p^2 sum m^2
 *
 * Three sums per item, kept in a table of their own beside the engine, whatever engine that is. An item that the table
 * has no room for, and every item that is no tuple, gets the largest design effect that there can be: that of an item
 * which has each of its bursts to itself, D = sum m^2 / sum m.
 *
 * Memory: 64 bytes per tuple that was seen, at most 16 MiB. Cannot: see a period. Where bursts come at equal distances
 * that beat with the program, bursts are alike for that reason, and the interval is too narrow. */
#include "profile/bursts.h"
#include "profile/fold.h"
#include "base/alloc.h"
#include "base/hash.h"
#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { ROOM_FIRST = 1 << 10, ROOM_MAX = 1 << 18 };

struct slot {
    struct rf_tuple tuple;
    bool used;
    uint64_t now;         /* of the burst under way */
    double y, y_y, y_m;   /* sums over the bursts before */
    struct slot *touched; /* the one that was touched before it, in this burst; itself: the first */
};

struct rf_bursts {
    struct rf_alloc alloc;
    struct slot *slots;
    size_t room, n; /* room is a power of two */
    struct slot *touched;
    uint64_t m; /* events of the burst under way */
    double m_m; /* sum of squares */
    uint64_t sampled, skipped;
    uint64_t n_bursts; /* all of them */
    uint64_t n_fed;    /* those with events */
};

rf_status rf_bursts_open(struct rf_bursts **opened, const struct rf_alloc *given)
{
    const struct rf_alloc *alloc = rf_alloc_or_standard(given);
    struct rf_bursts *bursts = *opened = rf_alloc_get(alloc, sizeof *bursts);
    if (bursts == NULL)
        return RF_ENOMEM;
    *bursts = (struct rf_bursts){.alloc = *alloc};
    return RF_OK;
}

void rf_bursts_close(struct rf_bursts *bursts)
{
    if (bursts == NULL)
        return;
    const struct rf_alloc alloc = bursts->alloc;
    rf_alloc_free(&alloc, bursts->slots, bursts->room * sizeof *bursts->slots);
    rf_alloc_free(&alloc, bursts, sizeof *bursts);
}

/* ---- the table ---- */

/* Where the tuple is, or would be. */
static struct slot *find(struct slot *slots, size_t room, struct rf_tuple tuple)
{
    size_t at = rf_hash_multiply(tuple, rf_hash_key(0)) >> 32 & (room - 1);
    while (slots[at].used && (slots[at].tuple.a != tuple.a || slots[at].tuple.b != tuple.b))
        at = (at + 1) & (room - 1);
    return &slots[at];
}

/* Twice the room, between two bursts. Where there is no memory, the table stays as it is. */
static void grow(struct rf_bursts *bursts)
{
    size_t room = bursts->room == 0 ? ROOM_FIRST : bursts->room * 2;
    struct slot *slots = rf_alloc_zeroed(&bursts->alloc, room * sizeof *slots);
    if (slots == NULL)
        return;
    for (size_t i = 0; i < bursts->room; i++)
        if (bursts->slots[i].used)
            *find(slots, room, bursts->slots[i].tuple) = bursts->slots[i];
    rf_alloc_free(&bursts->alloc, bursts->slots, bursts->room * sizeof *slots);
    bursts->slots = slots;
    bursts->room = room;
}

static void count(struct rf_bursts *bursts, struct rf_tuple tuple)
{
    struct slot *slot = find(bursts->slots, bursts->room, tuple);
    if (!slot->used) {
        if (bursts->n >= bursts->room / 4 * 3)
            return;
        *slot = (struct slot){.tuple = tuple, .used = true};
        bursts->n++;
    }
    if (slot->now++ == 0) {
        slot->touched = bursts->touched;
        bursts->touched = slot;
    }
}

void rf_bursts_feed(struct rf_bursts *bursts, const struct rf_tuple *tuples, size_t n)
{
    if (bursts->room == 0)
        grow(bursts);
    for (size_t i = 0; bursts->room > 0 && i < n; i++)
        count(bursts, tuples[i]);
    bursts->m += n;
    bursts->sampled += n;
}

void rf_bursts_end(struct rf_bursts *bursts)
{
    double m = (double)bursts->m;
    for (struct slot *slot = bursts->touched; slot != NULL; slot = slot->touched) {
        double y = (double)slot->now;
        slot->y += y;
        slot->y_y += y * y;
        slot->y_m += y * m;
        slot->now = 0;
    }
    bursts->touched = NULL;
    bursts->m_m += m * m;
    bursts->n_fed += bursts->m > 0;
    bursts->m = 0;
    if (bursts->n >= bursts->room / 2 && bursts->room < ROOM_MAX)
        grow(bursts);
}

void rf_bursts_skip(struct rf_bursts *bursts, uint64_t events, uint64_t n)
{
    uint64_t most = RF_EVENTS_MAX / 2 - bursts->skipped; /* the program itself may lie */
    bursts->skipped += events < most ? events : most;
    bursts->n_bursts += n;
}

/* ---- estimates ---- */

struct estimate {
    double n;       /* bursts with events */
    double sampled; /* events of them */
    double all;     /* and of the program */
    double worst;   /* design effect */
    double z;       /* quantile */
};

/* Student's quantile for few bursts, from that of the normal distribution (Cornish and Fisher). */
static double quantile(double n)
{
    static const double z = 1.959963984540054; /* 95% */
    double degrees = n > 2 ? n - 1 : 1;
    return z + (z * z * z + z) / (4 * degrees) +
           (5 * pow(z, 5) + 16 * pow(z, 3) + 3 * z) / (96 * degrees * degrees);
}

static struct estimate prepare(const struct rf_bursts *bursts)
{
    double sampled = (double)bursts->sampled;
    double m_m = bursts->m_m + (double)bursts->m * (double)bursts->m;
    double n = (double)(bursts->n_fed + (bursts->m > 0));
    return (struct estimate){.n = n,
                             .sampled = sampled,
                             .all = sampled + (double)bursts->skipped,
                             .worst = sampled > 0 ? m_m / sampled : 1,
                             .z = quantile(n)};
}

static double design_effect(const struct rf_bursts *bursts, const struct estimate *estimate,
                            const struct rf_item *item)
{
    if (bursts->room == 0)
        return estimate->worst;
    const struct slot *slot =
        find(bursts->slots, bursts->room, (struct rf_tuple){item->a, item->b});
    double now = (double)slot->now, y = slot->y + now;
    double p = y / estimate->sampled;
    if (!slot->used || p <= 0 || p >= 1 || estimate->n < 2)
        return estimate->worst;
    double y_y = slot->y_y + now * now, y_m = slot->y_m + now * (double)bursts->m;
    double m_m = estimate->worst * estimate->sampled;
    double squares = y_y - 2 * p * y_m + p * p * m_m;
    double effect = squares / estimate->sampled / (p * (1 - p)) * estimate->n / (estimate->n - 1);
    return effect > 1 ? effect : 1;
}

/* The share that `y` events out of `sampled` may have at the far end: sign -1 lower, +1 upper. */
static double wilson(const struct estimate *estimate, double y, double effect, double sign)
{
    double z = estimate->z, p = y < estimate->sampled ? y / estimate->sampled : 1;
    double skipped_share = 1 - estimate->sampled / estimate->all;
    double n = estimate->sampled / effect / skipped_share;
    double half = z * sqrt(p * (1 - p) / n + z * z / (4 * n * n));
    double share = (p + z * z / (2 * n) + sign * half) / (1 + z * z / n);
    return share < 0 ? 0 : share > 1 ? 1 : share;
}

/* No more than can be: what was told is known. */
static uint64_t within(double value, uint64_t low, uint64_t high)
{
    if (value <= (double)low)
        return low;
    return value >= (double)high ? high : (uint64_t)value;
}

static void scale_item(const struct rf_bursts *bursts, const struct estimate *estimate,
                       struct rf_item *item, unsigned shape)
{
    bool is_tuple = rf_shape_has_tuples(shape);
    double effect =
        shape == RF_SHAPE_TUPLE ? design_effect(bursts, estimate, item) : estimate->worst;
    double factor = estimate->all / estimate->sampled;
    uint64_t skipped = bursts->skipped, all = bursts->sampled + skipped;
    double lower = wilson(estimate, (double)item->lower, effect, -1) * estimate->all;
    double upper = wilson(estimate, (double)item->upper, effect, 1) * estimate->all;
    item->count = within((double)item->count * factor + 0.5, item->count, item->count + skipped);
    item->lower = within(floor(lower), item->lower, is_tuple ? item->count : all);
    item->upper = within(ceil(upper), is_tuple ? item->count : item->lower, item->upper + skipped);
}

static rf_status add_figures(const struct rf_bursts *bursts, struct rf_profile *profile)
{
    const struct rf_figure more[] = {{"bursts", (double)bursts->n_bursts},
                                     {"sampled", (double)bursts->sampled},
                                     {"skipped", (double)bursts->skipped}};
    size_t n = sizeof more / sizeof *more;
    void *array = profile->figures;
    if (!rf_alloc_array(&profile->alloc, &array, profile->n_figures, profile->n_figures + n,
                        sizeof *more))
        return RF_ENOMEM;
    profile->figures = array;
    memcpy(profile->figures + profile->n_figures, more, sizeof more);
    profile->n_figures += n;
    return RF_OK;
}

/* An item that no burst shows may have had bursts to itself, among those that there were not. */
static uint64_t scale_absent(const struct rf_bursts *bursts, const struct estimate *estimate,
                             uint64_t absent_upper)
{
    if (bursts->sampled == 0)
        return bursts->skipped;
    double upper = wilson(estimate, (double)absent_upper, estimate->worst, 1) * estimate->all;
    return within(ceil(upper), absent_upper, bursts->sampled + bursts->skipped);
}

rf_status rf_bursts_scale(const struct rf_bursts *bursts, struct rf_profile *profile)
{
    const struct estimate estimate = prepare(bursts);
    rf_status status = add_figures(bursts, profile);
    if (status != RF_OK || bursts->skipped == 0)
        return status;
    for (size_t i = 0; i < profile->n_items; i++)
        scale_item(bursts, &estimate, &profile->items[i], profile->shape);
    rf_items_sort(profile->items, profile->n_items);
    profile->absent_upper = scale_absent(bursts, &estimate, profile->absent_upper);
    profile->consumed += bursts->skipped;
    profile->produced += bursts->skipped;
    bool has_confidence = profile->bound == RF_BOUND_CONFIDENCE;
    profile->confidence = RF_BURSTS_CONFIDENCE - (has_confidence ? 1 - profile->confidence : 0);
    profile->bound = RF_BOUND_CONFIDENCE;
    return RF_OK;
}
