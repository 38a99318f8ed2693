/* estimate.c - from what a load's slots recorded to the invariance of its values.
 *
 * Zilles and Sohi, section 4.1.4 and appendix. A load was sampled `total` times. While value v was active, `hits`
 * of the samples had it and `misses` had another one; what total counts beyond that are samples from before a
 * slot's active value was selected anew, when nobody was watched that made a fifth of them.
 *
 *     samples of v = its hits
 *                  + of the misses of each other value w, the share that v's hits have in those of all but w
 *                  + of the rest, the share that v had while it was active, a fifth at the most
 *
 * Departure: the paper divides the rest equally among the values. Of a load whose values are random that makes
 * five values of a fifth each. The first hit of a slot is the selection itself and tells nothing of that share.
 *
 * Of these, those have the whole value that have its upper half, too, where that was looked at. */
#include "coproc/estimate.h"

static const double reselected_below = 0.2; /* misses > 4 hits, as in values.uc */

/* Of the samples while it was active, leaving out those that selected it. */
static double share_while_active(const struct rf_values_value *value)
{
    double hits = value->hits > value->times ? value->hits - value->times : 0;
    double share = hits + value->misses > 0 ? hits / (hits + value->misses) : 0;
    return share < reselected_below ? share : reselected_below;
}

/* What of the rest is v's. All values together get no more than there is. */
static double share_of_rest(const struct rf_values_entry *entry, uint32_t v)
{
    double sum = 0;
    for (uint32_t i = 0; i < entry->n; i++)
        sum += share_while_active(&entry->values[i]);
    double share = share_while_active(&entry->values[v]);
    return sum > 1 ? share / sum : share;
}

static double missed_by_others(const struct rf_values_entry *entry, uint32_t v, uint64_t all_hits)
{
    double samples = 0;
    for (uint32_t w = 0; w < entry->n; w++) {
        uint64_t others = all_hits - entry->values[w].hits;
        if (w != v && others > 0)
            samples += (double)entry->values[w].misses * entry->values[v].hits / (double)others;
    }
    return samples;
}

static uint64_t count_seen(const struct rf_values_entry *entry, uint64_t *hits)
{
    uint64_t seen = 0;
    *hits = 0;
    for (uint32_t i = 0; i < entry->n; i++) {
        seen += (uint64_t)entry->values[i].hits + entry->values[i].misses;
        *hits += entry->values[i].hits;
    }
    return seen;
}

double rf_values_estimate(const struct rf_values_entry *entry, uint32_t v)
{
    uint64_t all_hits, seen = count_seen(entry, &all_hits);
    double rest = entry->total > seen ? (double)(entry->total - seen) : 0;
    double samples = entry->values[v].hits + missed_by_others(entry, v, all_hits) +
                     rest * share_of_rest(entry, v);
    uint64_t most = entry->total - (all_hits - entry->values[v].hits);
    return samples < (double)most ? samples : (double)most;
}

double rf_values_upper_share(const struct rf_values_value *value)
{
    return value->seen > 0 ? (double)value->same / (double)value->seen : 1;
}
