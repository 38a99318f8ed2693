/* SPDX-License-Identifier: GPL-2.0-or-later */
/* clock.c - when a burst begins and when it is over.
 *
 * Each thread has a pair of counters per clock (a set of bursts with a length and a distance of its own). They start at
 * their maximum minus the threshold, as in HPS. The code tests their overflow, the sign bit:
 *
 *     acc     intervals until the next burst; overflowed while in one
 *     left    intervals until the burst is over
 *
 * Translated code counts in the shared memory (ring_layout.h), always in the same place: one thread runs at a time. While
 * another one runs, a thread's counters are kept here.
 *
 *     thread runs on        put aside those of the thread before, take out this one's
 *     burst over            tell what was skipped since the last message; set the counters anew
 *
 * What was skipped is added up in the shared memory and told as the difference to what was told before. So the collector
 * can tell the rest of a process that is killed. Events are counted in 28 bits, or in words of their own, and are emptied
 * into `skipped` each time the thread comes by the scheduler, every 100,000 blocks at the latest.
 *
 * Cannot: a kill between the two stores that empty a counter counts those events twice. */
#include "probe.h"
#include "base/phases.h"
#include "base/spread.h"

enum { THREADS_MAX = 1024 };

#define EVENTS       (CLOCK_ONE_INTERVAL - 1)
#define SPARSITY_MAX ((1ULL << (63 - RF_RING_EVENT_BITS)) - 1)
#define FOREVER      0xffffffffu

/* The counters of a thread; acc and left while it does not run. */
struct clocks {
    Bool used;
    UInt waits; /* 1 << clock: no burst begins until somebody says so */
    ULong acc[RF_RING_CLOCKS], left[RF_RING_CLOCKS];
    ULong weight[RF_RING_CLOCKS]; /* of the burst that is to come, or under way */
};

static struct clocks threads[THREADS_MAX];
static ThreadId running; /* whose counters are in the shared memory; 0: nobody's */
static ULong told[RF_RING_GROUPS];
static UInt on_told; /* the selectors that the collector takes to be in a burst */
static UInt changes_seen;
static ULong random_state;
static struct rf_phases phases[RF_RING_CLOCKS]; /* of the process */

static UInt n_clocks(void)
{
    return (UInt)probe_options.n_clocks;
}

/* ---- setting ---- */

static ULong next_random(void)
{
    if (random_state == 0)
        random_state = (ring_bursts()->seed * 64 + ring_process()) * 0x9e3779b97f4a7c15ULL | 1;
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

static UInt profiles_of(UInt clock)
{
    const struct rf_ring_bursts *bursts = ring_bursts();
    UInt n = bursts->n_profiles, all = n < 32 ? (1u << n) - 1 : ~0u;
    return bursts->clocks[clock].profiles & all;
}

/* All its profiles are switched off: no burst begins. */
static Bool is_paused(UInt clock)
{
    UInt profiles = profiles_of(clock);
    return profiles != 0 && (ring_bursts()->off & profiles) == profiles;
}

enum when { FIRST, LATER };

/* How many intervals are to be skipped before the next burst, on average. */
static ULong mean_sparsity(UInt clock, enum when when)
{
    const struct rf_ring_clock *wanted = &ring_bursts()->clocks[clock];
    if (wanted->phases && rf_phases_is_new(&phases[clock]))
        return wanted->new_sparsity;
    return wanted->regular && when == FIRST ? wanted->first : wanted->sparsity;
}

/* How many intervals are skipped before the next burst: as many as wanted, on average. */
static ULong draw_sparsity(const struct rf_ring_clock *wanted, ULong mean)
{
    if (wanted->regular)
        return mean;
    return mean < SPARSITY_MAX ? rf_spread(next_random(), mean, SPARSITY_MAX) : mean;
}

/* How many intervals each interval of a burst stands for. A burst without end stands for itself. */
static ULong weight_of(ULong mean, ULong burst)
{
    ULong skipped = mean < SPARSITY_MAX && burst != FOREVER ? mean : 0;
    return RF_WORD_WEIGHT_ONE + RF_WORD_WEIGHT_ONE * skipped / burst;
}

static void arm(struct clocks *clocks, UInt clock, enum when when)
{
    const struct rf_ring_clock *wanted = &ring_bursts()->clocks[clock];
    ULong mean = mean_sparsity(clock, when);
    ULong sparsity = is_paused(clock) ? SPARSITY_MAX : draw_sparsity(wanted, mean);
    ULong burst = __atomic_load_n(&wanted->burst, __ATOMIC_RELAXED); /* once: others may write it */
    burst += burst == 0;
    UInt bit = 1u << clock;
    clocks->waits = sparsity >= SPARSITY_MAX ? clocks->waits | bit : clocks->waits & ~bit;
    sparsity = sparsity < SPARSITY_MAX ? sparsity : SPARSITY_MAX;
    clocks->acc[clock] = CLOCK_OVERFLOWED - sparsity * CLOCK_ONE_INTERVAL;
    clocks->left[clock] = burst == FOREVER ? 0 : CLOCK_OVERFLOWED - burst;
    clocks->weight[clock] = weight_of(mean, burst);
}

/* ---- counters of the thread that runs ---- */

static void empty(void)
{
    struct rf_ring_counters *now = ring_counters();
    now->skipped[0] += now->acc[0] & EVENTS;
    now->acc[0] &= ~EVENTS;
    for (UInt i = 1; i < RF_RING_GROUPS; i++) {
        now->skipped[i] += now->group[i];
        now->group[i] = 0;
    }
}

/* A clock that is in a burst, or waits for ever, must not count until its sign turns. */
static void hold(void)
{
    struct rf_ring_counters *now = ring_counters();
    for (UInt i = 0; i < n_clocks(); i++)
        if (now->acc[i] & CLOCK_OVERFLOWED)
            now->acc[i] = CLOCK_OVERFLOWED;
        else if (threads[running].waits >> i & 1)
            now->acc[i] = CLOCK_OVERFLOWED - SPARSITY_MAX * CLOCK_ONE_INTERVAL;
}

void clock_stop(void)
{
    if (!probe_options.bursts || running == 0)
        return;
    empty();
    hold();
    VG_(memcpy)(threads[running].acc, ring_counters()->acc, sizeof threads[running].acc);
    VG_(memcpy)(threads[running].left, ring_counters()->left, sizeof threads[running].left);
    running = 0;
}

/* At the first thread. */
static void begin_phases(void)
{
    static const struct rf_phases_setup standard;
    if (phases[0].setup.intervals > 0)
        return;
    for (UInt i = 0; i < RF_RING_CLOCKS; i++)
        rf_phases_begin(&phases[i], &standard);
}

static void start(ThreadId thread)
{
    struct clocks *clocks = &threads[thread];
    if (!clocks->used) {
        VG_(memset)(clocks, 0, sizeof *clocks);
        clocks->used = True;
        begin_phases();
        for (UInt i = 0; i < n_clocks(); i++)
            arm(clocks, i, FIRST);
    }
    VG_(memcpy)(ring_counters()->acc, clocks->acc, sizeof clocks->acc);
    VG_(memcpy)(ring_counters()->left, clocks->left, sizeof clocks->left);
    running = thread;
}

/* ---- messages ---- */

/* `weight` NULL: no burst is over. */
static void tell_skipped(UInt type, UInt profiles, const ULong *weight)
{
    const struct rf_ring_counters *now = ring_counters();
    UInt n = 2 + probe_options.n_groups + (weight != NULL);
    ULong *to = ring_reserve(n);
    to[0] = RF_WORD_HEADER(type, n);
    to[1] = profiles;
    for (UInt i = 0; i < probe_options.n_groups; i++) {
        to[2 + i] = now->skipped[i] - told[i];
        told[i] = now->skipped[i];
    }
    if (weight != NULL)
        to[n - 1] = *weight;
    ring_commit(n);
}

/* The selectors of the clocks that are in a burst. */
static UInt selectors_on(void)
{
    UInt on = 0;
    for (UInt i = 0; i < n_clocks(); i++)
        if (ring_counters()->acc[i] & CLOCK_OVERFLOWED)
            on |= profiles_of(i);
    return on;
}

/* With one clock, whatever is told counts. */
void clock_begin_burst(void)
{
    UInt on = n_clocks() > 1 ? selectors_on() : 0;
    if (on == 0 || on == on_told)
        return;
    ULong *to = ring_reserve(2);
    to[0] = RF_WORD_HEADER(RF_WORD_ON, 2);
    to[1] = on_told = on;
    ring_commit(2);
}

void clock_change_burst(void)
{
    ThreadId thread = running;
    struct clocks *clocks = &threads[thread];
    clock_stop();
    for (UInt i = 0; i < n_clocks(); i++)
        if (clocks->left[i] & CLOCK_OVERFLOWED) {
            tell_skipped(RF_WORD_BURST, profiles_of(i), &clocks->weight[i]);
            rf_phases_burst(&phases[i]);
            arm(clocks, i, LATER);
        }
    start(thread);
    clock_begin_burst();
}

/* ---- phases ---- */

Bool clock_has_phases(UInt clocks)
{
    for (UInt i = 0; i < n_clocks(); i++)
        if ((clocks >> i & 1) && ring_bursts()->clocks[i].phases)
            return True;
    return False;
}

void clock_note_interval(ULong clocks, ULong bucket)
{
    for (UInt i = 0; i < n_clocks(); i++)
        if ((clocks >> i & 1) && (ring_counters()->acc[i] & CLOCK_OVERFLOWED))
            rf_phases_interval(&phases[i], (UInt)bucket);
}

/* ---- threads and processes ---- */

/* Other bursts were set: all clocks begin anew. A clock in a burst does so when the burst is over. */
static void see_changes(void)
{
    UInt changes = __atomic_load_n(&ring_bursts()->changes, __ATOMIC_ACQUIRE);
    if (changes == changes_seen)
        return;
    changes_seen = changes;
    clock_stop();
    for (UInt i = 0; i < THREADS_MAX; i++)
        for (UInt k = 0; threads[i].used && k < n_clocks(); k++)
            if (!(threads[i].acc[k] & CLOCK_OVERFLOWED))
                arm(&threads[i], k, LATER);
}

Bool clock_enter(ThreadId thread)
{
    Bool told_now = False;
    tl_assert(thread < THREADS_MAX);
    if (!probe_options.bursts)
        return False;
    see_changes();
    if (thread != running) {
        clock_stop();
        start(thread);
    }
    empty();
    hold();
    clock_begin_burst();
    for (UInt i = 0; i < n_clocks(); i++)
        told_now |= (ring_counters()->acc[i] & CLOCK_OVERFLOWED) != 0;
    return told_now;
}

void clock_forget_thread(ThreadId thread)
{
    if (thread >= THREADS_MAX)
        return;
    if (thread == running)
        clock_stop();
    threads[thread].used = False;
}

void clock_finish(void)
{
    if (!probe_options.bursts)
        return;
    empty();
    tell_skipped(RF_WORD_SKIPPED, ~0u, NULL);
}

/* The counts so far belong to the parent. Only one of its threads lives on in the child. */
void clock_in_child(ThreadId thread)
{
    if (!probe_options.bursts)
        return;
    for (UInt i = 0; i < THREADS_MAX; i++)
        threads[i].used &= i == thread;
    VG_(memset)(told, 0, sizeof told);
    on_told = 0;
    random_state = 0;
    clock_enter(thread);
}
