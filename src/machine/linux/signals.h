/* signals.h - the guest's signals: those that it sends itself, and those of its faults.
 *
 * Nobody else can send one. A signal that the guest does not handle ends the program as Linux does; struct
 * rf_system says how it ended. */
#ifndef RF_MACHINE_SIGNALS_H
#define RF_MACHINE_SIGNALS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

struct rf_system;

enum { RF_SIGNALS = 64 }; /* numbered from 1; a set of them has signal n at bit n - 1 */

struct rf_signal_action {
    uint64_t handler; /* its pc; 0: the default, 1: ignored */
    uint64_t flags, mask;
};

/* All zero to begin with. */
struct rf_signals {
    struct rf_signal_action action[RF_SIGNALS + 1];
    int32_t code[RF_SIGNALS + 1]; /* si_code of those that wait */
    uint64_t waiting, blocked;
    uint64_t stack, stack_size; /* of sigaltstack; size 0: none */
    uint64_t home;              /* where handlers return to; 0: not there yet */
};

static inline uint64_t rf_signal_set(unsigned number)
{
    return UINT64_C(1) << (number - 1);
}

/* Those that can be neither blocked nor handled. */
static inline uint64_t rf_signals_unblockable(void)
{
    return rf_signal_set(SIGKILL) | rf_signal_set(SIGSTOP);
}

/* Flags of the alternate stack, as sigaltstack returns them: disabled, in use, or neither. */
static inline uint64_t rf_signals_stack_flags(const struct rf_signals *signals, uint64_t sp)
{
    if (signals->stack_size == 0)
        return SS_DISABLE;
    return sp - signals->stack <= signals->stack_size ? SS_ONSTACK : 0;
}

/* si_code of a signal that was sent. */
enum { RF_SIGNAL_BY_KILL = 0, RF_SIGNAL_BY_TGKILL = -6 };

/* The next rf_signals_deliver delivers it, unless it is ignored. A blocked one waits until it is not. */
void rf_signals_send(struct rf_system *system, unsigned number, int32_t code);

/* Call between two instructions: enters the handlers of pending signals, or ends the program. */
void rf_signals_deliver(struct rf_system *system);

/* Enter the handler for a fault at pc. False: there is none, or it cannot be called. */
bool rf_signals_fault(struct rf_system *system, unsigned number, int32_t code, uint64_t address);

#endif
