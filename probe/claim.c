/* SPDX-License-Identifier: GPL-2.0-or-later */
/* claim.c - take a free slot of the ring, or one that will be free at any moment. */
#include "probe.h"

extern SysRes VG_(am_shared_mmap_file_float_valgrind)(SizeT length, UInt prot, Int fd,
                                                      Off64T offset);

/* What became of a slot that we tried to take. */
enum claimed { MINE, IN_USE, LEAVING, BROKEN };

/* Its process is gone, or is ours: an exec has put us in its place. Then the collector will give it back soon. */
static Bool is_leaving(struct rf_ring_slot *candidate)
{
    UInt state = __atomic_load_n(&candidate->state, __ATOMIC_SEQ_CST);
    UInt live = RF_RING_LIVE;
    if (state == RF_RING_LIVE && candidate->family == 0 && candidate->pid == (UInt)VG_(getpid)())
        __atomic_compare_exchange_n(&candidate->state, &live, RF_RING_DONE, False, __ATOMIC_SEQ_CST,
                                    __ATOMIC_SEQ_CST);
    return state == RF_RING_FREE || state == RF_RING_DONE ||
           candidate->pid == (UInt)VG_(getpid)() ||
           ring_syscall(__NR_kill, candidate->pid, 0, 0, 0) == -VKI_ESRCH;
}

static enum claimed try_slot(UInt number)
{
    SysRes map = VG_(am_shared_mmap_file_float_valgrind)(
        RF_RING_PAGE, VKI_PROT_READ | VKI_PROT_WRITE, probe_options.ring_fd,
        (Off64T)rf_ring_slot_offset(number));
    if (sr_isError(map))
        return BROKEN;
    struct rf_ring_slot *candidate = (struct rf_ring_slot *)sr_Res(map);
    UInt expected = RF_RING_FREE;
    enum claimed claimed = IN_USE;
    if (__atomic_compare_exchange_n(&candidate->state, &expected, RF_RING_CLAIMED, False,
                                    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
        candidate->pid = (UInt)VG_(getpid)();
        claimed = MINE;
    } else if (is_leaving(candidate)) {
        claimed = LEAVING;
    }
    VG_(am_munmap_valgrind)((Addr)candidate, RF_RING_PAGE);
    return claimed;
}

static void wait_a_moment(struct rf_ring_control *control)
{
    enum { FUTEX_WAIT_OP = 0, TICK_MS = 100 };
    struct vki_timespec tick = {0, TICK_MS * 1000000};
    ring_syscall(__NR_futex, (ULong)&control->processes, FUTEX_WAIT_OP, control->processes,
                 (ULong)&tick);
}

/* A free slot; -1: there is none. Where all are taken but a process has ended, its slot is waited for. */
Int claim_slot(struct rf_ring_control *control, UInt n_slots)
{
    enum { PATIENCE_TICKS = 100 }; /* ten seconds */
    Bool hope = True;
    for (UInt tick = 0; hope && tick < PATIENCE_TICKS; tick++) {
        hope = False;
        for (UInt i = 0; i < n_slots; i++) {
            enum claimed claimed = try_slot(i);
            if (claimed == MINE)
                return (Int)i;
            if (claimed == BROKEN)
                return -1;
            hope |= claimed == LEAVING;
        }
        if (hope && !control->detached)
            wait_a_moment(control);
    }
    return -1;
}
