/* estimate.c - what an entry had before it was promoted.
 *
 * An entry starts with m, its smallest counter. That is an upper bound: others share its counters. How many of
 * the m events are theirs? Not what an average counter holds. Under the conservative update others lift the
 * smallest counter of a tuple only while it is no higher than theirs, so a hot tuple that was there from the
 * beginning gets next to nothing from them. One that begins later finds its counters at the noise of that
 * moment and starts from there:
 *
 *     m |              *      promoted at p with m; from then on its events are counted: its rate r is known
 *       |            *
 *       |          *
 *       |     . . *           noise, what the counters of a tuple without events hold: B at the end of the
 *       | . '                 interval, and about evenly rising until then
 *       +---------s----p--------------- n
 *
 * The counter was at B s/n when the tuple began, and rose by r (p - s) until it was promoted. Both together are
 * m, which gives s, and B s/n events are others'. A tuple with r p <= m has s = 0: all of m is its own.
 *
 * Programs do not run evenly. A tuple that was there all the time and is faster now looks like one that began
 * late. So only the part of r p beyond SURE x m counts as late. SURE was chosen on the streams of
 * doc/engines/multihash.md: between 1 and 2, the larger the better for programs.
 *
 * The estimate is never outside the bounds, which do not depend on it. */
#include "engine/multihash/multihash.h"

enum { SURE = 2, PROBES = 63, MOMENTS = 256 };

uint8_t rf_multihash_moment(const struct rf_multihash *state, uint64_t events)
{
    uint64_t moment = events * MOMENTS / state->interval;
    return (uint8_t)(moment < MOMENTS ? moment : MOMENTS - 1);
}

static bool is_asked_for(const struct rf_multihash *state)
{
    return state->config.estimate == RF_MULTIHASH_RATE && state->config.conservative &&
           !state->config.reset && !state->saturated;
}

/* The median, over some tuples that never occurred, of their smallest counter. The mean would be higher: the
 * counters of promoted tuples stand far above the others. */
uint32_t rf_multihash_noise(const struct rf_multihash *state)
{
    uint32_t sorted[PROBES] = {0};
    if (!is_asked_for(state))
        return 0;
    for (uint64_t i = 0; i < PROBES; i++) {
        struct rf_tuple made_up = {~i, ~i};
        size_t places[RF_MULTIHASH_TABLES_MAX], at = i;
        rf_multihash_places(state, made_up, rf_multihash_hash(state, made_up), places);
        uint32_t least = rf_multihash_least(state, places);
        for (; at > 0 && sorted[at - 1] > least; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = least;
    }
    return sorted[PROBES / 2];
}

/* Events of others among those that the entry was promoted with. */
static double others(double promoted_with, double counted, double moment, double events,
                     double noise)
{
    double rate = counted / (events - moment), noise_rate = noise / events;
    double late = rate * moment - SURE * promoted_with;
    if (late <= 0)
        return 0;
    double began = rate > noise_rate ? late / (rate - noise_rate) : moment;
    return noise_rate * (began < moment ? began : moment);
}

uint64_t rf_multihash_estimate(const struct rf_multihash *state, uint32_t slot, uint32_t noise)
{
    const struct rf_accumulator *accumulator = &state->accumulator;
    uint64_t count = accumulator->counts[slot], doubt = accumulator->doubts[slot];
    uint64_t moment = accumulator->since[slot] * state->interval / MOMENTS;
    if (!is_asked_for(state) || (doubt & RF_MULTIHASH_RETAINED_BIT) || moment >= state->events)
        return count;
    uint64_t theirs = (uint64_t)others((double)(doubt + 1), (double)(count - doubt - 1),
                                       (double)moment, (double)state->events, noise);
    return count - (theirs < doubt ? theirs : doubt);
}
