/* hold.c - hold a thread still without harm.
 *
 *     SEIZE -- INTERRUPT -- wait -- [ registers, memory ] -- DETACH          about 15 us in all
 *
 * What could harm it, and why it does not:
 *
 * - We are killed: a tracer that dies lets go of its tracees. No option is set that would kill them, and the trap flag is
 *   never set (step.c).
 * - A signal arrives at the same time: it is handed on with the DETACH.
 * - The thread is in a system call: it is not interrupted, since callers hold only threads that run code of their own, as far
 *   as that can be known (tasks.c). Where it is in a call all the same, the kernel restarts that. A few calls fail with EINTR instead;
 *   those are made again, if no signal waits that is the true reason. What has moved a part of its bytes returns that part.
 * - It is stopped (SIGSTOP): it stays so.
 * - It ends meanwhile: waiting for it here makes the kernel tell its parent, as usual. */
#include "attach/hold.h"
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CODE_64 = 0x33 };

/* ---- calls that were disturbed ---- */

/* They fail with EINTR after a stop, having done nothing, and may be made again. */
static bool can_be_repeated(unsigned long long call)
{
    static const int calls[] = {
        SYS_epoll_wait, SYS_epoll_pwait,  SYS_epoll_pwait2,  SYS_rt_sigtimedwait, SYS_semop,
        SYS_semtimedop, SYS_io_getevents, SYS_io_pgetevents, SYS_io_uring_enter,  SYS_recvfrom,
        SYS_recvmsg,    SYS_recvmmsg,     SYS_accept,        SYS_accept4,         SYS_read,
        SYS_readv,      SYS_msgrcv,       SYS_msgsnd,        SYS_sendto,          SYS_sendmsg,
        SYS_sendmmsg,   SYS_write,        SYS_writev};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (call == (unsigned long long)calls[i])
            return true;
    return false;
}

static unsigned long long mask_in(const char *status, const char *name)
{
    const char *at = strstr(status, name);
    return at != NULL ? strtoull(at + strlen(name), NULL, 16) : 0;
}

/* Does a signal wait to be taken? Where that cannot be known, yes. */
static bool has_signal(pid_t tid)
{
    char path[64], status[4096];
    snprintf(path, sizeof path, "/proc/%d/status", (int)tid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, status, sizeof status - 1) : -1;
    if (fd >= 0)
        close(fd);
    if (n <= 0)
        return true;
    status[n] = '\0';
    unsigned long long waiting = mask_in(status, "\nSigPnd:") | mask_in(status, "\nShdPnd:");
    return (waiting & ~mask_in(status, "\nSigBlk:")) != 0;
}

static void repair_call(struct rf_hold *hold)
{
    struct user_regs_struct *registers = &hold->registers;
    if ((long long)registers->rax != -EINTR || !can_be_repeated(registers->orig_rax) ||
        has_signal(hold->tid))
        return;
    registers->rax = registers->orig_rax;
    registers->orig_rax = (unsigned long long)-1;
    registers->rip -= 2; /* back to the syscall instruction, as the kernel does it */
    ptrace(PTRACE_SETREGS, hold->tid, 0, registers);
}

/* ---- waiting for a processor ---- */

#define SOON 100e-6 /* seconds in which a thread stops that has a processor */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Seconds that the thread was ready to run and had no processor, so far: the second number of its schedstat. */
static double delay_of(pid_t tid)
{
    char path[64], text[128], *second;
    snprintf(path, sizeof path, "/proc/%d/schedstat", (int)tid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = '\0';
    strtoull(text, &second, 10);
    return (double)strtoull(second, NULL, 10) * 1e-9;
}

/* ---- holding ---- */

/* Falling asleep and waking up takes as long as all the rest, so at first we look for its stop awake. */
static pid_t wait_for(pid_t tid, int *status, double awake)
{
    const double begun = now();
    pid_t got;
    do
        got = waitpid(tid, status, __WALL | (now() - begun < awake ? WNOHANG : 0));
    while (got == 0 || (got < 0 && errno == EINTR));
    return got;
}

static void let_go(pid_t tid, int signal)
{
    ptrace(PTRACE_DETACH, tid, NULL, (void *)(long)signal);
}

/* Stopped by us, not by a signal that is to be delivered. */
static bool is_ours(int status)
{
    return status >> 16 == PTRACE_EVENT_STOP;
}

static enum rf_held look(struct rf_hold *hold)
{
    struct user_regs_struct *registers = &hold->registers;
    if (ptrace(PTRACE_GETREGS, hold->tid, 0, registers) != 0)
        return RF_HELD_GONE;
    if ((long long)registers->orig_rax < 0)
        return registers->cs == CODE_64 ? RF_HELD_RUNNING : RF_HELD_FOREIGN;
    repair_call(hold);
    return RF_HELD_KERNEL;
}

void rf_hold_begin(struct rf_hold *hold, pid_t tid, double awake)
{
    *hold = (struct rf_hold){.tid = tid, .status = -1, .awake = awake, .delay = delay_of(tid)};
}

bool rf_hold_ask(struct rf_hold *hold)
{
    if (ptrace(PTRACE_SEIZE, hold->tid, 0, 0) != 0) {
        hold->held = errno == ESRCH ? RF_HELD_GONE : RF_HELD_REFUSED;
        return false;
    }
    /* If it ends just now, there is its end to wait for. */
    ptrace(PTRACE_INTERRUPT, hold->tid, 0, 0);
    return true;
}

enum rf_held rf_hold_wait(struct rf_hold *hold)
{
    const pid_t tid = hold->tid;
    const double begun = now();
    int status;
    if (wait_for(tid, &status, hold->awake) != tid)
        return RF_HELD_GONE;
    if (!WIFSTOPPED(status)) {
        hold->status = status;
        return RF_HELD_GONE;
    }
    if (now() - begun > SOON)
        hold->queued = delay_of(tid) - hold->delay;
    bool ours = is_ours(status);
    enum rf_held held = ours ? look(hold) : RF_HELD_KERNEL;
    if (held != RF_HELD_RUNNING)
        let_go(tid, ours ? 0 : WSTOPSIG(status));
    return held;
}

size_t rf_hold_state(const struct rf_hold *hold, void *state, size_t size)
{
    struct iovec vector = {state, size};
    return ptrace(PTRACE_GETREGSET, hold->tid, NT_X86_XSTATE, &vector) == 0 ? vector.iov_len : 0;
}

void rf_release(const struct rf_hold *hold)
{
    let_go(hold->tid, 0);
}
