/* burst.c - sampling in bursts: some intervals are told, those between are only counted.
 *
 * The probe ends a sampling interval with a call or a backward branch. Hooks do not see branches: an interval ends with a
 * call, and where an event has a pc that is not above the one before, since the program went backwards. Each lane has a
 * clock of its own; distances are random with the wanted mean, drawn as in the probe (base/spread.h). What was skipped is
 * counted in shared memory.
 *
 * Programs with two copies of each function count intervals themselves (gate.c): as the probe, at the beginning of functions and
 * in loops. Then nobody counts what is skipped. */
#include "hooks.h"

#include "base/spread.h"

#define FOREVER      UINT32_MAX
#define SPARSITY_MAX (UINT64_C(1) << 40)

static uint64_t next_random(struct rf_hooks_lane *lane)
{
    uint64_t state = lane->random;
    if (state == 0)
        state = (rf_hooks_bursts()->seed * 64 + lane->slot->process) * 0x9e3779b97f4a7c15 | 1;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return lane->random = state;
}

/* How many intervals are skipped before the next burst. */
static uint64_t draw_sparsity(struct rf_hooks_lane *lane, uint64_t mean, bool regular)
{
    if (regular || mean >= SPARSITY_MAX)
        return mean;
    return rf_spread(next_random(lane), mean, SPARSITY_MAX);
}

uint64_t rf_hooks_burst_length(void)
{
    uint32_t burst = __atomic_load_n(&rf_hooks_bursts()->clocks[0].burst, __ATOMIC_RELAXED);
    return burst == FOREVER ? INT64_MAX : burst > 0 ? burst : 1;
}

static void begin_burst(struct rf_hooks_lane *lane)
{
    lane->skips = false;
    lane->left = rf_hooks_burst_length();
}

static void arm(struct rf_hooks_lane *lane, bool first)
{
    const struct rf_ring_clock *wanted = &rf_hooks_bursts()->clocks[0];
    uint64_t mean = first && wanted->regular ? wanted->first : wanted->sparsity;
    uint64_t burst =
        __atomic_load_n(&wanted->burst, __ATOMIC_RELAXED); /* once: others may write it */
    burst += burst == 0;
    uint64_t skipped = burst == FOREVER || mean > UINT64_MAX / (2 * RF_WORD_WEIGHT_ONE) ? 0 : mean;
    uint64_t left = draw_sparsity(lane, mean, wanted->regular != 0);
    lane->weight = RF_WORD_WEIGHT_ONE + RF_WORD_WEIGHT_ONE * skipped / burst;
    if (left == 0) {
        begin_burst(lane);
        return;
    }
    lane->left = left;
    lane->skips = true;
}

void rf_hooks_begin_bursts(struct rf_hooks_lane *lane)
{
    lane->last_pc = 0;
    arm(lane, true);
}

static void tell_burst(struct rf_hooks_lane *lane)
{
    uint32_t groups = rf_hooks_options.n_groups, n = 3 + groups;
    uint64_t *to = rf_hooks_reserve(lane, n);
    to[0] = RF_WORD_HEADER(RF_WORD_BURST, n);
    to[1] = UINT32_MAX;
    for (uint32_t i = 0; i < groups; i++) {
        uint64_t all = lane->slot->counters.skipped[i];
        to[2 + i] = rf_hooks_uncounted ? RF_WORD_UNCOUNTED : all - lane->told[i];
        lane->told[i] = all;
    }
    to[2 + groups] = lane->weight;
    rf_hooks_commit(lane, to + n);
}

uint64_t rf_hooks_end_burst(struct rf_hooks_lane *lane)
{
    tell_burst(lane);
    arm(lane, false);
    return lane->skips ? lane->left : 0;
}

RF_HOOKS_APART void rf_hooks_turn(struct rf_hooks_lane *lane)
{
    if (lane->skips) {
        begin_burst(lane);
        return;
    }
    tell_burst(lane);
    arm(lane, false);
}
