/* phases.h - is what the program does now new, or has it been like this before?
 *
 * The sampler sees where sampled intervals end: the calls and backward branches of the loops that run. Their places are
 * counted by a hash in a few buckets, one window after the other, which is a small basic-block vector (Sherwood and
 * Calder) made of samples. A window that is near one of the known phases belongs to it. A window that is near none of
 * them begins a new phase.
 *
 *     ends of sampled intervals --hash--> [window: 32 buckets] --full--> near a known phase? --no--> a new one
 *                                                                              | yes
 *                                                                              v
 *                                                           seen in few windows yet: new; in many: known well
 *
 * Distance: the sum of the differences between buckets (Manhattan), as shares, and of each difference only what lies
 * beyond 1.5 standard deviations of chance. Small windows differ by chance: without that, a phase with many loops would
 * be new for ever.
 *
 * The answer depends on what was sampled before, and on nothing else, so whoever chooses the next distance between
 * bursts by it does not choose what is sampled, and the same program sampled from the same seed gets the same answers.
 *
 * Memory: 1.2 KB. Cannot: see what happens between bursts. A phase that ends before its window is full is missed.
 *
 * No library, no floating point, plain C99: it runs in the collector, in hooks of the simulated core and inside the
 * probe. */
#ifndef RF_BASE_PHASES_H
#define RF_BASE_PHASES_H

#include <stdint.h>

enum {
    RF_PHASES_BITS = 5,
    RF_PHASES_BUCKETS = 1 << RF_PHASES_BITS,
    RF_PHASES_KNOWN =
        16, /* phases; when there are more, the one that was seen least recently is forgotten */
    RF_PHASES_SCALE = 1024, /* the shares of a phase add up to that */
};

/* What can be chosen. All 0: the standard. */
struct rf_phases_setup {
    uint32_t intervals; /* a window is full behind this many of them, */
    uint32_t bursts;    /* and this many bursts */
    uint32_t settle;    /* a phase is known well when it was seen in this many windows */
    uint32_t
        distance; /* windows farther apart than this belong to different phases; of 2 * RF_PHASES_SCALE */
};

struct rf_phase {
    uint32_t share[RF_PHASES_BUCKETS];
    uint32_t windows; /* that belonged to it; 0: there is no such phase */
    uint32_t last;    /* the number of the last of them */
};

struct rf_phases {
    struct rf_phases_setup setup;
    uint32_t window[RF_PHASES_BUCKETS];
    uint32_t intervals, bursts; /* of the window */
    uint32_t windows;           /* so far */
    uint32_t changes, found;    /* times that the phase changed, phases that were new */
    uint32_t now;               /* which phase the last window belonged to */
    struct rf_phase known[RF_PHASES_KNOWN];
};

static inline void rf_phases_begin(struct rf_phases *phases, const struct rf_phases_setup *setup)
{
    static const struct rf_phases nothing;
    *phases = nothing;
    phases->setup = *setup;
    phases->setup.intervals = setup->intervals > 0 ? setup->intervals : 64;
    phases->setup.bursts = setup->bursts > 0 ? setup->bursts : 16;
    phases->setup.settle = setup->settle > 0 ? setup->settle : 4;
    phases->setup.distance = setup->distance > 0 ? setup->distance : RF_PHASES_SCALE / 2;
}

/* The bucket of an interval that ends at pc. */
static inline uint32_t rf_phases_bucket(uint64_t pc)
{
    return (uint32_t)((pc * 0x9e3779b97f4a7c15u) >> (64 - RF_PHASES_BITS));
}

/* A sampled interval ended there. */
static inline void rf_phases_interval(struct rf_phases *phases, uint32_t bucket)
{
    phases->window[bucket]++;
    phases->intervals++;
}

/* The largest number whose square is at most n. */
static inline uint32_t rf_phases_root(uint64_t n)
{
    uint64_t root = 0;
    for (uint64_t bit = (uint64_t)1 << 31; bit > 0; bit >>= 1)
        if ((root | bit) * (root | bit) <= n)
            root |= bit;
    return (uint32_t)root;
}

/* Between a share of n intervals and that of a phase, beyond chance. */
static inline uint32_t rf_phases_differ(uint32_t share, uint32_t known, uint32_t n)
{
    uint32_t difference = share > known ? share - known : known - share;
    uint32_t both = (share + known) / 2;
    uint32_t chance = 3 * rf_phases_root((uint64_t)both * (RF_PHASES_SCALE - both) / n) / 2;
    return difference > chance ? difference - chance : 0;
}

/* The shares of the window, in place of its counts. */
static inline void rf_phases_scale(struct rf_phases *phases)
{
    for (uint32_t i = 0; i < RF_PHASES_BUCKETS; i++)
        phases->window[i] =
            (uint32_t)((uint64_t)phases->window[i] * RF_PHASES_SCALE / phases->intervals);
}

static inline uint32_t rf_phases_distance(const struct rf_phases *phases,
                                          const struct rf_phase *phase)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < RF_PHASES_BUCKETS; i++)
        sum += rf_phases_differ(phases->window[i], phase->share[i], phases->intervals);
    return sum;
}

/* The phase that the window belongs to; RF_PHASES_KNOWN: none of those that are known. */
static inline uint32_t rf_phases_nearest(const struct rf_phases *phases)
{
    uint32_t nearest = RF_PHASES_KNOWN, least = phases->setup.distance;
    for (uint32_t i = 0; i < RF_PHASES_KNOWN; i++) {
        const struct rf_phase *phase = &phases->known[i];
        uint32_t distance = phase->windows > 0 ? rf_phases_distance(phases, phase) : least;
        if (distance < least) {
            least = distance;
            nearest = i;
        }
    }
    return nearest;
}

/* A free place, or that of the phase that was seen least recently. */
static inline uint32_t rf_phases_place(const struct rf_phases *phases)
{
    uint32_t place = 0;
    for (uint32_t i = 1; i < RF_PHASES_KNOWN; i++)
        if (phases->known[i].last < phases->known[place].last)
            place = i;
    return place;
}

/* The phase becomes more like the window: their mean at first, then by an eighth. */
static inline void rf_phases_learn(struct rf_phases *phases, struct rf_phase *phase)
{
    uint32_t n = phase->windows < 7 ? phase->windows : 7;
    for (uint32_t i = 0; i < RF_PHASES_BUCKETS; i++)
        phase->share[i] = (n * phase->share[i] + phases->window[i]) / (n + 1);
    phase->windows++;
    phase->last = phases->windows;
}

static inline void rf_phases_end_window(struct rf_phases *phases)
{
    static const struct rf_phase nothing;
    rf_phases_scale(phases);
    phases->windows++;
    uint32_t found = rf_phases_nearest(phases);
    if (found == RF_PHASES_KNOWN) {
        found = rf_phases_place(phases);
        phases->known[found] = nothing;
        phases->found++;
        phases->changes++;
    } else {
        phases->changes += found != phases->now;
    }
    phases->now = found;
    rf_phases_learn(phases, &phases->known[found]);
    for (uint32_t i = 0; i < RF_PHASES_BUCKETS; i++)
        phases->window[i] = 0;
    phases->intervals = phases->bursts = 0;
}

/* A burst is over. */
static inline void rf_phases_burst(struct rf_phases *phases)
{
    phases->bursts++;
    if (phases->bursts >= phases->setup.bursts && phases->intervals >= phases->setup.intervals)
        rf_phases_end_window(phases);
}

/* How many phases are known. */
static inline uint32_t rf_phases_known(const struct rf_phases *phases)
{
    return phases->found < RF_PHASES_KNOWN ? phases->found : RF_PHASES_KNOWN;
}

/* Not 0: what the program does is new, as far as the last window tells. So is all at the start. */
static inline int rf_phases_is_new(const struct rf_phases *phases)
{
    return phases->windows == 0 || phases->known[phases->now].windows < phases->setup.settle;
}

#endif
