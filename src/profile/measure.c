/* measure.c - how far a profile is from the truth.
 *
 * Narayanasamy et al., section 5.5, formula 1. With T the candidate threshold in events, p and h the
 * counts of a tuple in the perfect and the measured profile:
 *
 *                     h >= T                              h < T
 *     p >= T   neutral positive (h > p)            false negative
 *              neutral negative (h < p)
 *     p <  T   false positive                      not looked at
 *
 *     error = sum of |p - h| over the three looked at / sum of p over the same
 *
 * Departure: the paper's measured profile is the accumulator alone, so a false negative has h = 0
 * there. Ours may list tuples below the threshold, and these counts are used. Where no looked-at tuple
 * occurred at all, the sum is divided by the events of the interval.
 *
 * Memory: the candidates of both, 72 to 80 bytes each. */
#include "profile/fold.h"
#include "profile/profile.h"
#include "base/error.h"
#include <stdbool.h>
#include <riffle/measure.h>

/* One interval of a profile, or all of a stream that was not cut. */
struct piece {
    const struct rf_item *items; /* heaviest first */
    size_t n;
    uint64_t events;
};

static bool is_cut(const struct rf_profile *profile)
{
    return profile->n_intervals_seen > 0;
}

static struct piece piece_of(const struct rf_profile *profile, size_t i)
{
    if (!is_cut(profile))
        return (struct piece){profile->items, profile->n_items, profile->consumed};
    const struct rf_interval *interval = &profile->intervals[i];
    return (struct piece){rf_profile_interval_items(profile, i), interval->n, interval->events};
}

static size_t count_pieces(const struct rf_profile *profile)
{
    return is_cut(profile) ? profile->n_intervals : 1;
}

/* The fewest events that make a candidate. Products such as 0.1% of 1M are rounded to the whole number that
 * is meant. */
static uint64_t candidate_count(double threshold, uint64_t events)
{
    double exact = threshold * (double)events * (1 - 1e-12);
    uint64_t whole = (uint64_t)exact;
    return (double)whole < exact ? whole + 1 : whole;
}

static size_t count_candidates(const struct piece *piece, uint64_t least)
{
    size_t n = 0;
    while (n < piece->n && piece->items[n].count >= least)
        n++;
    return n;
}

/* The candidates of both pieces, with p in `count` and h in `lower`. */
static rf_status pair_counts(struct rf_fold *pairs, const struct piece *perfect,
                             const struct piece *measured, uint64_t least)
{
    rf_status status = rf_fold_add(pairs, perfect->items, count_candidates(perfect, least), 0);
    if (status == RF_OK)
        status = rf_fold_add(pairs, measured->items, count_candidates(measured, least), 0);
    if (status != RF_OK)
        return status;
    for (size_t i = 0; i < pairs->list.n; i++)
        pairs->list.items[i].count = pairs->list.items[i].lower = 0;
    for (size_t i = 0; i < perfect->n; i++) {
        struct rf_item *pair = rf_fold_find(pairs, &perfect->items[i]);
        if (pair != NULL)
            pair->count = perfect->items[i].count;
    }
    for (size_t i = 0; i < measured->n; i++) {
        struct rf_item *pair = rf_fold_find(pairs, &measured->items[i]);
        if (pair != NULL)
            pair->lower = measured->items[i].count;
    }
    return RF_OK;
}

static void add_pair(struct rf_measure_interval *measure, uint64_t p, uint64_t h, uint64_t least)
{
    double difference = p > h ? (double)(p - h) : (double)(h - p);
    if (p < least)
        measure->false_positive += difference;
    else if (h < least)
        measure->false_negative += difference;
    else if (h > p)
        measure->neutral_positive += difference;
    else
        measure->neutral_negative += difference;
}

static void scale(struct rf_measure_interval *measure, double by)
{
    measure->false_positive *= by;
    measure->false_negative *= by;
    measure->neutral_positive *= by;
    measure->neutral_negative *= by;
    measure->error = measure->false_positive + measure->false_negative + measure->neutral_positive +
                     measure->neutral_negative;
}

static void sum_pairs(struct rf_measure_interval *measure, const struct rf_fold *pairs,
                      uint64_t least, uint64_t events)
{
    double sum = 0;
    for (size_t i = 0; i < pairs->list.n; i++) {
        const struct rf_item *pair = &pairs->list.items[i];
        add_pair(measure, pair->count, pair->lower, least);
        sum += (double)pair->count;
    }
    if (sum == 0)
        sum = events > 0 ? (double)events : 1;
    scale(measure, 1 / sum);
}

static rf_status check_fit(const struct rf_profile *perfect, const struct rf_profile *measured,
                           double threshold, struct rf_error *error)
{
    if (!(threshold > 0 && threshold <= 1))
        return rf_fail(error, RF_EINVAL, "the threshold must be above 0 and at most 1");
    if (is_cut(perfect) != is_cut(measured) || count_pieces(perfect) != count_pieces(measured))
        return rf_fail(error, RF_EINVAL,
                       "the profiles are cut differently: %zu intervals kept of %llu, and %zu of "
                       "%llu",
                       perfect->n_intervals, (unsigned long long)perfect->n_intervals_seen,
                       measured->n_intervals, (unsigned long long)measured->n_intervals_seen);
    if (count_pieces(perfect) == 0)
        return rf_fail(error, RF_EINVAL, "the profiles did not keep their intervals");
    return RF_OK;
}

rf_status rf_measure_one_interval(struct rf_measure_interval *measure,
                                  const struct rf_profile *perfect,
                                  const struct rf_profile *measured, size_t i, double threshold,
                                  struct rf_error *error)
{
    *measure = (struct rf_measure_interval){.intervals = 1};
    rf_status status = check_fit(perfect, measured, threshold, error);
    if (status != RF_OK)
        return status;
    if (i >= count_pieces(perfect))
        return rf_fail(error, RF_EINVAL, "there is no interval %zu", i);
    struct piece p = piece_of(perfect, i), h = piece_of(measured, i);
    if (p.events != h.events)
        return rf_fail(error, RF_EINVAL,
                       "interval %zu has %llu events in one profile and %llu in the other", i,
                       (unsigned long long)p.events, (unsigned long long)h.events);
    uint64_t least = candidate_count(threshold, p.events);
    struct rf_fold pairs;
    rf_fold_init(&pairs, &perfect->alloc);
    status = pair_counts(&pairs, &p, &h, least);
    if (status == RF_OK)
        sum_pairs(measure, &pairs, least, p.events);
    rf_fold_free(&pairs);
    return status == RF_OK ? RF_OK : rf_fail(error, status, "no memory to compare profiles");
}

static void add_measure(struct rf_measure_interval *sum, const struct rf_measure_interval *one)
{
    sum->false_positive += one->false_positive;
    sum->false_negative += one->false_negative;
    sum->neutral_positive += one->neutral_positive;
    sum->neutral_negative += one->neutral_negative;
    sum->intervals++;
}

rf_status rf_measure_interval(struct rf_measure_interval *measure, const struct rf_profile *perfect,
                              const struct rf_profile *measured, double threshold,
                              struct rf_error *error)
{
    *measure = (struct rf_measure_interval){.intervals = 0};
    rf_status status = check_fit(perfect, measured, threshold, error);
    size_t n = status == RF_OK ? count_pieces(perfect) : 0;
    if (n > 1 && piece_of(perfect, n - 1).events < piece_of(perfect, n - 2).events)
        n--; /* the last one was cut short */
    for (size_t i = 0; i < n; i++) {
        struct rf_measure_interval one;
        status = rf_measure_one_interval(&one, perfect, measured, i, threshold, error);
        if (status != RF_OK)
            return status;
        add_measure(measure, &one);
    }
    if (n > 0)
        scale(measure, 1 / (double)n);
    return status;
}
