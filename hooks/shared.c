/* shared.c - what stands in libriffle-hooks-shared, the run-time of libraries, for pocket.c and gate.c.
 *
 * Code in place of calls, and two copies of functions, are in programs alone: so libraries have neither pockets nor gates, nor the
 * variables of a thread that those need. What the C library keeps for such variables of libraries that are opened later is
 * little: 1,664 bytes for all of them (glibc.rtld.optional_static_tls). A copy of this run-time takes eight. */
#include "hooks.h"

bool rf_hooks_uncounted;

__attribute__((destructor(101))) static void close_library(void)
{
    rf_hooks_close();
}

bool rf_hooks_can_restart(void)
{
    return true;
}

void rf_hooks_begin_pockets(struct rf_hooks_lane *lane)
{
    (void)lane;
}

void rf_hooks_end_pockets(struct rf_hooks_lane *lane)
{
    (void)lane;
}

void rf_hooks_use_pockets(const struct rf_hooks_lane *lane)
{
    (void)lane;
}

bool rf_hooks_pocket(struct rf_hooks_lane *lane, uint64_t site, uint64_t key, uint64_t word)
{
    (void)lane, (void)site, (void)key, (void)word;
    return false;
}
