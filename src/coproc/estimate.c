/* estimate.c - from what a load's slots recorded to the invariance of its values.
 *
 * Zilles and Sohi, section 4.1.4 and appendix. A load was sampled `total` times. While value v was active, `hits`
 * of the samples had it and `misses` had another one; what total counts beyond that are samples from before a
 * slot's active value was selected anew, when nobody was watched that made a fifth of them.
 *
 *     share of v   = hits / (hits + misses), of what was sampled while it was active
 *     samples of v = its hits
 *                  + of the misses of each other value w, v's share in what is not w
 *                  + of the rest, v's share, a fifth at the most
 *
 * Departures. The paper shares out misses by hits. These tell how long a value was active as much as how frequent it
 * is; on the workloads shares are better (lisp 5.2% -> 4.0%, connect 10.6% -> 6.6%, regex 4.6% -> 3.6% rms, with
 * values.uc(age=50K)). The paper divides the rest equally among the values; of a load whose values are random that
 * makes five values of a fifth each. The first hit of a slot is the selection itself and tells nothing of the share;
 * and a share of few samples is taken for less than it looks.
 *
 * Of these samples, those have the whole value that have its upper half, too, where that was looked at. */
#include "coproc/estimate.h"

static const double reselected_below = 0.2; /* misses > 4 hits, as in values.uc */
static const double few = 16;               /* samples; values.uc calls this many worth keeping */

typedef double share_of(const struct rf_values_value *value);

/* Of the samples while it was active, leaving out those that selected it. */
static double share_while_active(const struct rf_values_value *value)
{
    double hits = value->hits > value->times ? value->hits - value->times : 0;
    return hits / (hits + value->misses + few);
}

static double share_of_rest(const struct rf_values_value *value)
{
    double share = share_while_active(value);
    return share < reselected_below ? share : reselected_below;
}

static double sum_shares(const struct rf_values_entry *entry, share_of *share)
{
    double sum = 0;
    for (uint32_t i = 0; i < entry->n; i++)
        sum += share(&entry->values[i]);
    return sum;
}

/* The shares of values that come in clusters are too large: together they may be more than what there is. */
static double missed_by_others(const struct rf_values_entry *entry, uint32_t v)
{
    double samples = 0, all = sum_shares(entry, share_while_active);
    double whole = all > 1 ? all : 1, own = share_while_active(&entry->values[v]);
    for (uint32_t w = 0; w < entry->n; w++)
        if (w != v)
            samples +=
                entry->values[w].misses * own / (whole - share_while_active(&entry->values[w]));
    return samples;
}

static uint64_t count_seen(const struct rf_values_entry *entry)
{
    uint64_t seen = 0;
    for (uint32_t i = 0; i < entry->n; i++)
        seen += (uint64_t)entry->values[i].hits + entry->values[i].misses;
    return seen;
}

uint64_t rf_values_most(const struct rf_values_entry *entry, uint32_t v)
{
    uint64_t hits = 0;
    for (uint32_t i = 0; i < entry->n; i++)
        hits += entry->values[i].hits;
    return (entry->total > hits ? entry->total - hits : 0) + entry->values[v].hits;
}

double rf_values_estimate(const struct rf_values_entry *entry, uint32_t v)
{
    uint64_t seen = count_seen(entry), most = rf_values_most(entry, v);
    double rest = entry->total > seen ? (double)(entry->total - seen) : 0;
    double shares = sum_shares(entry, share_of_rest);
    double samples = entry->values[v].hits + missed_by_others(entry, v) +
                     rest * share_of_rest(&entry->values[v]) / (shares > 1 ? shares : 1);
    return samples < (double)most ? samples : (double)most;
}

double rf_values_upper_share(const struct rf_values_value *value)
{
    return value->seen > 0 ? (double)value->same / (double)value->seen : 1;
}
