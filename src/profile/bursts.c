/* bursts.c - estimate the counts of a whole run from its bursts.
 *
 * The events of a burst come from the same few loops and resemble each other. Therefore the events of a burst
 * are not independent observations; the burst is a cluster. The differences between bursts tell how sure an
 * estimate is. (Cochran,
 * "Sampling Techniques", chapter 9: clusters of unequal size, ratio to size.)
 *
 *     m_i events in burst i, y_i of them of an item        share  p = sum y / sum m
 *
 *     variance of p   V = n / (n - 1)  sum (y_i - p m_i)^2 / (sum m)^2
 *     design effect D = V / (p (1 - p) / sum m), at least 1; D events are worth one independent event
 *
 * The interval is Wilson's, with sum m / D independent events: it holds for rare items, too, and never leaves 0..1. The
 * estimated count is p times the number of all events, sampled and skipped, which is known exactly.
 *
 *     sum (y_i - p m_i)^2 = sum y^2 - 2 p sum y m + p^2 sum m^2
 *
 * Three sums per item, kept in a table of their own beside the engine, whatever engine that is.
 *
 * Where the frequency changes while the program runs, bursts do not stand for equally much of it. Burst i then has a
 * weight w_i, the intervals that each of its intervals stands for: 1000 at a frequency of 1/1000. The frequency must
 * have been chosen before the burst, from what was known by then. (Cochran, chapter 6: combined
 * ratio; chapter 9A: unequal probabilities.)
 *
 *     p = sum w y / sum w m        V = n / (n - 1)  sum w^2 (y_i - p m_i)^2 / (sum w m)^2
 *
 * With equal weights that is the same as above. D is at least that of independent events with such weights (Kish):
 * sum m  sum w^2 m / (sum w m)^2.
 *
 * Cochran has a factor 1 - f in V, f the share of events told. It is left out. It would hold if any set of bursts were as
 * likely as any other one. In a loop of two intervals, bursts of one that are one interval apart on average (f = 1/2) have 0.6
 * of the variance of independent draws, not 0.5 (base/spread.h).
 *
 * An item that the table has no room for, and every item that is no tuple, gets the largest design effect that there
 * can be: that of an item which has each of its bursts to itself, D = sum m^2 / sum m. Where weights differ, nobody knows
 * which of them its events had. Its bounds then hold for the smallest and for the largest one.
 *
 * Where nobody counts what is skipped (attach), counts stay those of the sample, and the bounds say what they would be if
 * the whole program had been as long as the sample.
 *
 * The figure "clusters" is the number of independent events that the bursts are worth at worst, sum m / D for the D above. A
 * group of items, such as a function, has at most that design effect, so its bounds can be had from its share and this
 * figure alone (view/group.c).
 *
 * Memory: 64 bytes per tuple that was seen, at most 16 MiB. Cannot: see a period. Where bursts come at equal distances
 * that beat with the program, bursts are alike for that reason, and the interval is too narrow. At random distances
 * (base/spread.h) it is so only where bursts of several intervals are close to each other: by up to 3% at a frequency of
 * 1/4, by 20% at 1/2, more beyond (doc/HPS.md). */
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
    uint64_t told;        /* 0: the slot is empty */
    uint64_t now;         /* of the burst under way */
    double y, y_y, y_m;   /* over the bursts before: sum w y, sum w^2 y^2, sum w^2 y m */
    struct slot *touched; /* the one that was touched before it, in this burst; itself: the first */
};

struct rf_bursts {
    struct rf_alloc alloc;
    struct slot *slots;
    size_t room, n; /* room is a power of two */
    struct slot *touched;
    uint64_t m;         /* events of the burst under way */
    double m_w, m_m;    /* over the bursts before: sum w m, sum w^2 m^2 */
    double m_w_w;       /* sum w^2 m */
    double m_plain;     /* sum m^2 */
    double least, most; /* weights; 0: there was no burst yet */
    uint64_t sampled, skipped;
    uint64_t passed;   /* of the sampled ones: left out by a condition */
    uint64_t n_bursts; /* all of them */
    uint64_t n_fed;    /* those with events */
    bool uncounted;    /* nobody knows how much was skipped */
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
    while (slots[at].told > 0 && (slots[at].tuple.a != tuple.a || slots[at].tuple.b != tuple.b))
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
        if (bursts->slots[i].told > 0)
            *find(slots, room, bursts->slots[i].tuple) = bursts->slots[i];
    rf_alloc_free(&bursts->alloc, bursts->slots, bursts->room * sizeof *slots);
    bursts->slots = slots;
    bursts->room = room;
}

static void count(struct rf_bursts *bursts, struct rf_tuple tuple)
{
    struct slot *slot = find(bursts->slots, bursts->room, tuple);
    if (slot->told == 0) {
        if (bursts->n >= bursts->room / 4 * 3)
            return;
        *slot = (struct slot){.tuple = tuple};
        bursts->n++;
    }
    slot->told++;
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

void rf_bursts_pass(struct rf_bursts *bursts, uint64_t n)
{
    bursts->m += n;
    bursts->sampled += n;
    bursts->passed += n;
}

static void note_weight(struct rf_bursts *bursts, double weight)
{
    bursts->least = bursts->most == 0 || weight < bursts->least ? weight : bursts->least;
    bursts->most = weight > bursts->most ? weight : bursts->most;
}

void rf_bursts_end(struct rf_bursts *bursts, double weight)
{
    double m = (double)bursts->m, w = weight >= 1 ? weight : 1;
    for (struct slot *slot = bursts->touched; slot != NULL; slot = slot->touched) {
        double y = (double)slot->now;
        slot->y += w * y;
        slot->y_y += w * w * y * y;
        slot->y_m += w * w * y * m;
        slot->now = 0;
    }
    bursts->touched = NULL;
    bursts->m_w += w * m;
    bursts->m_m += w * w * m * m;
    bursts->m_w_w += w * w * m;
    bursts->m_plain += m * m;
    bursts->n_fed += bursts->m > 0;
    if (bursts->m > 0)
        note_weight(bursts, w);
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

void rf_bursts_uncounted(struct rf_bursts *bursts)
{
    bursts->uncounted = true;
}

/* ---- estimates ---- */

struct estimate {
    double n;           /* bursts with events */
    double sampled;     /* events of them */
    double all;         /* and of the program */
    double now;         /* weight of the burst under way */
    double m_w, m_m;    /* as in struct rf_bursts, with the burst under way */
    double least, most; /* weights, over their mean */
    double best, worst; /* design effects */
    double z;           /* quantile */
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
    double sampled = (double)bursts->sampled, m = (double)bursts->m;
    double now = bursts->most > 0 ? bursts->most : 1;
    struct estimate estimate = {.n = (double)(bursts->n_fed + (bursts->m > 0)),
                                .sampled = sampled,
                                .all = sampled + (double)bursts->skipped,
                                .now = now,
                                .m_w = bursts->m_w + now * m,
                                .m_m = bursts->m_m + now * now * m * m,
                                .least = 1,
                                .most = 1,
                                .best = 1,
                                .worst = 1};
    if (sampled > 0 && bursts->most > bursts->least) {
        estimate.least = bursts->least * sampled / estimate.m_w;
        estimate.most = bursts->most * sampled / estimate.m_w;
        estimate.best = sampled * (bursts->m_w_w + now * now * m) / estimate.m_w / estimate.m_w;
    }
    if (sampled > 0)
        estimate.worst = (bursts->m_plain + m * m) / sampled * estimate.most;
    estimate.z = quantile(estimate.n);
    return estimate;
}

/* What there is to know of an item. */
struct known {
    double effect; /* design effect */
    double least,
        most; /* how much more an event of it stands for than events do on average, at least and at most */
};

static struct known know(const struct rf_bursts *bursts, const struct estimate *estimate,
                         const struct rf_item *item)
{
    struct known known = {estimate->worst, estimate->least, estimate->most};
    if (bursts->room == 0)
        return known;
    const struct slot *slot =
        find(bursts->slots, bursts->room, (struct rf_tuple){item->a, item->b});
    double w = estimate->now, now = (double)slot->now, y = slot->y + w * now;
    double p = y / estimate->m_w;
    if (slot->told == 0)
        return known;
    if (estimate->most > estimate->least)
        known.least = known.most = p * estimate->sampled / (double)slot->told;
    if (p <= 0 || p >= 1 || estimate->n < 2)
        return known;
    double y_y = slot->y_y + w * w * now * now, y_m = slot->y_m + w * w * now * (double)bursts->m;
    double squares = y_y - 2 * p * y_m + p * p * estimate->m_m;
    double variance = squares / estimate->m_w / estimate->m_w * estimate->n / (estimate->n - 1);
    double effect = variance * estimate->sampled / (p * (1 - p));
    known.effect = effect > estimate->best ? effect : estimate->best;
    return known;
}

/* The share that `y` events out of `sampled` may have at the far end: sign -1 lower, +1 upper. */
static double wilson(const struct estimate *estimate, double y, double effect, double sign)
{
    double z = estimate->z, p = y < estimate->sampled ? y / estimate->sampled : 1;
    double n = estimate->sampled / effect;
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

/* Events of an item for which nobody knows the weights: those of all events. */
static double middle(const struct known *known)
{
    return known->least < known->most ? 1 : known->most;
}

static void scale_item(const struct rf_bursts *bursts, const struct estimate *estimate,
                       struct rf_item *item, unsigned shape)
{
    bool is_tuple = rf_shape_has_tuples(shape);
    struct known known = {estimate->worst, estimate->least, estimate->most};
    if (shape == RF_SHAPE_TUPLE)
        known = know(bursts, estimate, item);
    double factor = estimate->all / estimate->sampled * middle(&known);
    uint64_t skipped = bursts->skipped, all = bursts->sampled + skipped;
    uint64_t sure = bursts->uncounted ? 0 : item->lower;
    uint64_t most = bursts->uncounted ? all : item->upper + skipped;
    double lower =
        wilson(estimate, (double)item->lower * known.least, known.effect, -1) * estimate->all;
    double upper =
        wilson(estimate, (double)item->upper * known.most, known.effect, 1) * estimate->all;
    item->count = within((double)item->count * factor + 0.5, item->count, item->count + skipped);
    item->lower = within(floor(lower), sure, is_tuple ? item->count : all);
    item->upper = within(ceil(upper), is_tuple ? item->count : item->lower, most);
}

/* Events that were skipped and that the condition would have taken. Without one that is known, else it is estimated. */
static uint64_t skipped_of_interest(const struct rf_bursts *bursts)
{
    double chosen = (double)(bursts->sampled - bursts->passed);
    if (bursts->passed == 0)
        return bursts->skipped;
    return (uint64_t)((double)bursts->skipped * chosen / (double)bursts->sampled + 0.5);
}

/* No item has more than all events. */
static void cap(struct rf_profile *profile)
{
    for (size_t i = 0; i < profile->n_items; i++) {
        struct rf_item *item = &profile->items[i];
        item->upper = item->upper < profile->consumed ? item->upper : profile->consumed;
        item->count = item->count < item->upper ? item->count : item->upper;
        item->lower = item->lower < item->count ? item->lower : item->count;
    }
    if (profile->absent_upper > profile->consumed)
        profile->absent_upper = profile->consumed;
}

static rf_status add_figures(const struct rf_bursts *bursts, const struct estimate *estimate,
                             struct rf_profile *profile)
{
    const struct rf_figure more[] = {{"bursts", (double)bursts->n_bursts},
                                     {"sampled", (double)(bursts->sampled - bursts->passed)},
                                     {"skipped", (double)skipped_of_interest(bursts)},
                                     {"clusters", estimate->sampled / estimate->worst}};
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
    double y = (double)absent_upper * estimate->most;
    double upper = wilson(estimate, y, estimate->worst, 1) * estimate->all;
    return within(ceil(upper), absent_upper, bursts->sampled + bursts->skipped);
}

rf_status rf_bursts_scale(const struct rf_bursts *bursts, struct rf_profile *profile)
{
    const struct estimate estimate = prepare(bursts);
    rf_status status = add_figures(bursts, &estimate, profile);
    if (status != RF_OK || (bursts->skipped == 0 && !bursts->uncounted))
        return status;
    for (size_t i = 0; i < profile->n_items; i++)
        scale_item(bursts, &estimate, &profile->items[i], profile->shape);
    rf_items_sort(profile->items, profile->n_items);
    profile->absent_upper = scale_absent(bursts, &estimate, profile->absent_upper);
    profile->consumed += skipped_of_interest(bursts);
    profile->produced += skipped_of_interest(bursts);
    if (bursts->passed > 0)
        cap(profile);
    bool has_confidence = profile->bound == RF_BOUND_CONFIDENCE;
    profile->confidence = RF_BURSTS_CONFIDENCE - (has_confidence ? 1 - profile->confidence : 0);
    profile->bound = RF_BOUND_CONFIDENCE;
    return RF_OK;
}
