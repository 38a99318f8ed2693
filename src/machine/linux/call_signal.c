/* call_signal.c - system calls on signals: handlers, masks, the alternate stack, sending. */
#include "machine/linux/calls.h"
#include <errno.h>
#include <signal.h>
#include <string.h>

enum { SP = 2, SET_SIZE = 8, STACK_MIN = 2048 };

/* Copy from the guest, or to it. Address 0 means that there is nothing to copy. */
static bool take(const struct rf_system *system, uint64_t address, void *to, size_t n)
{
    const void *from = rf_call_buffer(system, address, n, RF_READ);
    if (address != 0 && from != NULL)
        memcpy(to, from, n);
    return address == 0 || from != NULL;
}

static bool give(const struct rf_system *system, uint64_t address, const void *from, size_t n)
{
    void *to = rf_call_buffer(system, address, n, RF_WRITE);
    if (address != 0 && to != NULL)
        memcpy(to, from, n);
    return address == 0 || to != NULL;
}

int64_t rf_call_sigaction(struct rf_system *system, const uint64_t *a)
{
    if (a[0] < 1 || a[0] > RF_SIGNALS || a[3] != SET_SIZE)
        return -EINVAL;
    struct rf_signal_action *action = &system->signals.action[a[0]], old = *action, wanted = old;
    if (!take(system, a[1], &wanted, sizeof wanted))
        return -EFAULT;
    if (a[1] != 0 && (rf_signal_set((unsigned)a[0]) & rf_signals_unblockable()) != 0)
        return -EINVAL;
    *action = wanted;
    return give(system, a[2], &old, sizeof old) ? 0 : -EFAULT;
}

static uint64_t change_set(uint64_t how, uint64_t old, uint64_t set)
{
    return how == SIG_BLOCK ? old | set : how == SIG_UNBLOCK ? old & ~set : set;
}

int64_t rf_call_sigprocmask(struct rf_system *system, const uint64_t *a)
{
    struct rf_signals *signals = &system->signals;
    uint64_t set = 0, old = signals->blocked;
    if (a[3] != SET_SIZE || (a[1] != 0 && a[0] > SIG_SETMASK))
        return -EINVAL;
    if (!take(system, a[1], &set, sizeof set))
        return -EFAULT;
    if (a[1] != 0)
        signals->blocked = change_set(a[0], old, set) & ~rf_signals_unblockable();
    return give(system, a[2], &old, sizeof old) ? 0 : -EFAULT;
}

int64_t rf_call_sigpending(struct rf_system *system, const uint64_t *a)
{
    uint64_t set = system->signals.waiting & system->signals.blocked;
    return a[0] != 0 && give(system, a[0], &set, sizeof set) ? 0 : -EFAULT;
}

/* Address, flags in the low half of a word, size. */
int64_t rf_call_sigaltstack(struct rf_system *system, const uint64_t *a)
{
    struct rf_signals *signals = &system->signals;
    uint64_t flags = rf_signals_stack_flags(signals, system->core->x[SP]);
    const uint64_t old[3] = {signals->stack, flags, signals->stack_size};
    uint64_t wanted[3] = {0};
    if (!take(system, a[0], wanted, sizeof wanted))
        return -EFAULT;
    bool disable = ((uint32_t)wanted[1] & SS_DISABLE) != 0;
    if (a[0] != 0 && flags == SS_ONSTACK)
        return -EPERM;
    if (a[0] != 0 && !disable && wanted[2] < STACK_MIN)
        return -ENOMEM;
    if (a[0] != 0) {
        signals->stack = disable ? 0 : wanted[0];
        signals->stack_size = disable ? 0 : wanted[2];
    }
    return give(system, a[1], old, sizeof old) ? 0 : -EFAULT;
}

/* Signal 0 only asks whether the process exists. */
static int64_t send_to(struct rf_system *system, bool is_us, uint64_t number, int32_t code)
{
    if (number > RF_SIGNALS)
        return -EINVAL;
    if (is_us && number > 0)
        rf_signals_send(system, (unsigned)number, code);
    return is_us ? 0 : -ESRCH;
}

/* There is one process in its group, and one thread in that. */
int64_t rf_call_kill(struct rf_system *system, const uint64_t *a)
{
    int32_t whom = (int32_t)a[0];
    bool is_us = whom == RF_SYSTEM_ID || whom == 0 || whom == -RF_SYSTEM_ID;
    return send_to(system, is_us, a[1], RF_SIGNAL_BY_KILL);
}

int64_t rf_call_tkill(struct rf_system *system, const uint64_t *a)
{
    return send_to(system, (int32_t)a[0] == RF_SYSTEM_ID, a[1], RF_SIGNAL_BY_TGKILL);
}

int64_t rf_call_tgkill(struct rf_system *system, const uint64_t *a)
{
    bool is_us = (int32_t)a[0] == RF_SYSTEM_ID && (int32_t)a[1] == RF_SYSTEM_ID;
    return send_to(system, is_us, a[2], RF_SIGNAL_BY_TGKILL);
}
