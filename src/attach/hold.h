/* hold.h - one thread of another process held still for a moment.
 *
 *     rf_hold_begin(&hold, tid, 0);
 *     if (rf_hold_ask(&hold) && rf_hold_wait(&hold) == RF_HELD_RUNNING) { ... hold.registers ...  rf_release(&hold); }
 *
 * In between, the process is not traced at all. Whatever happens to the caller meanwhile, also a SIGKILL, the thread goes on
 * as if nothing had been: it is stopped by PTRACE_INTERRUPT, without options, and nothing is changed in it but for a system
 * call that the stop made fail with EINTR, which is made again (hold.c). */
#ifndef RF_ATTACH_HOLD_H
#define RF_ATTACH_HOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <sys/user.h>

enum rf_held {
    RF_HELD_RUNNING, /* it ran code of its own: the registers are there */
    RF_HELD_KERNEL,  /* it was in a system call, or about to get a signal: let go already */
    RF_HELD_GONE,    /* there is no such thread any more */
    RF_HELD_REFUSED, /* it may not be traced, or somebody else traces it */
    RF_HELD_ASLEEP,  /* it was not asked, since it does not run */
    RF_HELD_FOREIGN, /* it runs 32-bit code: let go already */
};

struct rf_hold {
    pid_t tid;
    struct user_regs_struct registers;
    double queued; /* seconds that it waited for a processor before it could stop: not our doing */
    double awake;
    double delay; /* seconds that it had waited for one before all this */
    enum rf_held held;
    int status; /* how it ended, where it is gone; -1: not known */
};

/* It will be waited for without falling asleep for that many seconds; 0 where it needs our processor to stop. */
void rf_hold_begin(struct rf_hold *hold, pid_t tid, double awake);
/* Asks it to stop; false: hold->held is what became of it. */
bool rf_hold_ask(struct rf_hold *hold);
/* Waits until it has stopped. */
enum rf_held rf_hold_wait(struct rf_hold *hold);
/* The vector and floating-point registers; 0: they cannot be had. */
size_t rf_hold_state(const struct rf_hold *hold, void *state, size_t size);
void rf_release(const struct rf_hold *hold);

#endif
