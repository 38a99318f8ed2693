/* beside.c - hold a thread exactly where our timer interrupted it.
 *
 * A stop that is asked for on another processor takes effect late: an interrupt travels there, for ten microseconds and
 * more on a virtual machine. Meanwhile the thread runs on. If it enters a system call, it stops at the end of that. So
 * the last stretch before a system call is never seen, and what runs in short stretches seems to take less time than it does:
 *
 *     heavy heavy heavy heavy heavy heavy call light light light call        what runs
 *                                >>>>>>>>          >>>>>>>>>>>>              asked for here, a stop finds the call
 *
 * On the processor of the thread itself nothing is late. Our timer's interrupt takes the processor from the thread, which
 * then stands where it was interrupted. It stops there before it runs on. For this we must get the processor at once: our slice
 * is shorter than those of others (Linux 6.12 and later look at that), and where we may, our priority is higher.
 *
 * Measured with a target whose clock gives a function 85.2% of the time: samples gave it 91 to 95% from another
 * processor, 86.6% beside it, and 85.5% with the short slice (tests/attach, "shares"; means of 8 and 5 runs, each +-0.6).
 *
 * Cannot: sit beside a thread whose processor we may not use. Then a stop is late again, and each stretch that ends with a
 * system call loses as much as a stop takes. */
#include "attach/beside.h"
#include <stdint.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SLICE_NS = 100000 };

/* As the kernel has it; the C library of today does not know it. */
struct attributes {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime, deadline, period;
};

/* All of it may be refused, or mean nothing to an older kernel. */
static void hurry(void)
{
    struct attributes ours = {.size = sizeof ours};
    (void)!setpriority(PRIO_PROCESS, (id_t)gettid(), -20);
    if (syscall(SYS_sched_getattr, 0, &ours, sizeof ours, 0) != 0 || ours.policy != SCHED_OTHER)
        return;
    ours.runtime = SLICE_NS;
    syscall(SYS_sched_setattr, 0, &ours, 0);
}

void rf_beside_begin(struct rf_beside *beside)
{
    hurry();
    beside->at = -1;
    if (sched_getaffinity(0, sizeof beside->allowed, &beside->allowed) != 0)
        CPU_ZERO(&beside->allowed);
}

bool rf_beside_is(const struct rf_beside *beside, int processor)
{
    return beside->at == processor || processor < 0 || processor >= CPU_SETSIZE ||
           !CPU_ISSET((size_t)processor, &beside->allowed);
}

void rf_beside_move(struct rf_beside *beside, int processor)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET((size_t)processor, &one);
    if (sched_setaffinity(0, sizeof one, &one) == 0)
        beside->at = processor;
    else
        CPU_CLR((size_t)processor, &beside->allowed);
}
