/* signals.c - put the program's state on its stack, run its handler, take the state up again.
 *
 *     sp before -> |
 *                  | rest of f, fcsr |        what a handler finds: siginfo in a1, ucontext in a2,
 *                  | x: pc, ra .. t6 |        laid out as Linux does it on RISC-V
 *                  | ucontext        |
 *     sp, a1 ----> | siginfo         |        ra: home, where `li a7,139; ecall` is rt_sigreturn
 *
 * The handler may change the frame, for example the pc to go on at; sigreturn takes what it finds there. Linux
 * has the code at `home` in its vDSO; we put it above the stack when the first signal is delivered.
 *
 * Cannot: signals from outside, timers, waiting for a signal. A signal that is already pending is not queued
 * again; Linux does the same for those below 32. */
#include "machine/linux/calls.h"
#include "base/error.h"
#include <signal.h>
#include <string.h>

enum { RA = 1, SP = 2, A0 = 10 };
enum { HANDLER_DEFAULT, HANDLER_IGNORE };
static const uint32_t RETURN_CODE[] = {0x08b00893, 0x00000073}; /* li a7,139; ecall */

struct frame {
    int32_t number, error, code, no_word;
    uint64_t about; /* of a fault its address, of a sent signal the sender */
    uint8_t rest_of_info[104];
    uint64_t flags, link;
    uint64_t stack, stack_flags, stack_size;
    uint64_t blocked;
    uint8_t rest_of_mask[128];
    uint64_t x[32]; /* the first is pc */
    uint64_t f[32];
    uint32_t fcsr;
    uint8_t rest_of_f[268]; /* Linux leaves room for 128-bit registers */
};
_Static_assert(sizeof(struct frame) == 128 + 960, "siginfo and ucontext of RISC-V Linux");

static uint64_t frame_address(const struct rf_system *system, const struct rf_signal_action *action)
{
    const struct rf_signals *signals = &system->signals;
    uint64_t sp = system->core->x[SP];
    if ((action->flags & SA_ONSTACK) != 0 && rf_signals_stack_flags(signals, sp) == 0)
        sp = signals->stack + signals->stack_size;
    return (sp - sizeof(struct frame)) & ~UINT64_C(15);
}

static bool find_home(struct rf_system *system)
{
    struct rf_memory *memory = &system->core->memory;
    if (system->signals.home != 0)
        return true;
    uint64_t at = rf_memory_find_free(memory, RF_PROGRAM_END, RF_PAGE);
    if (at == 0 || !rf_memory_map(memory, at, RF_PAGE, RF_READ | RF_EXECUTE))
        return false;
    memcpy(memory->bytes + at, RETURN_CODE, sizeof RETURN_CODE);
    system->signals.home = at;
    return true;
}

static void save(const struct rf_system *system, struct frame *frame)
{
    const struct rf_core *core = system->core;
    const struct rf_signals *signals = &system->signals;
    memcpy(frame->x, core->x, sizeof frame->x);
    frame->x[0] = core->pc;
    memcpy(frame->f, core->x + RF_REG_FP, sizeof frame->f);
    frame->fcsr = core->frm << 5 | rf_core_flags(core);
    frame->blocked = signals->blocked;
    frame->stack = signals->stack;
    frame->stack_size = signals->stack_size;
    frame->stack_flags = rf_signals_stack_flags(signals, core->x[SP]);
}

static void block_for(struct rf_signals *signals, unsigned number)
{
    struct rf_signal_action *action = &signals->action[number];
    signals->blocked |= action->mask & ~rf_signals_unblockable();
    if ((action->flags & SA_NODEFER) == 0)
        signals->blocked |= rf_signal_set(number);
    if ((action->flags & SA_RESETHAND) != 0)
        action->handler = HANDLER_DEFAULT;
}

/* Into the handler. False: there is no room for the frame. */
static bool enter(struct rf_system *system, unsigned number, int32_t code, uint64_t about)
{
    struct rf_core *core = system->core;
    const struct rf_signal_action action = system->signals.action[number];
    uint64_t at = frame_address(system, &action);
    struct frame frame = {.number = (int32_t)number, .code = code, .about = about};
    void *to = rf_call_buffer(system, at, sizeof frame, RF_READ | RF_WRITE);
    if (to == NULL || !find_home(system))
        return false;
    save(system, &frame);
    memcpy(to, &frame, sizeof frame);
    block_for(&system->signals, number);
    core->x[RA] = system->signals.home;
    core->x[SP] = core->x[A0 + 1] = at;
    core->x[A0] = number;
    core->x[A0 + 2] = at + offsetof(struct frame, flags);
    rf_core_go_to(core, action.handler);
    return true;
}

int64_t rf_call_sigreturn(struct rf_system *system, const uint64_t *a)
{
    struct rf_core *core = system->core;
    struct frame frame;
    const void *from = rf_call_buffer(system, core->x[SP], sizeof frame, RF_READ);
    (void)a;
    if (from == NULL) {
        rf_system_end(system, SIGSEGV,
                      "it returned from a signal with no frame at its stack pointer");
        return 0;
    }
    memcpy(&frame, from, sizeof frame);
    memcpy(core->x + 1, frame.x + 1, sizeof frame.x - sizeof *frame.x);
    memcpy(core->x + RF_REG_FP, frame.f, sizeof frame.f);
    core->frm = frame.fcsr >> 5 & 7;
    rf_core_set_flags(core, frame.fcsr & 31);
    core->reserved = false;
    system->signals.blocked = frame.blocked & ~rf_signals_unblockable();
    rf_core_go_to(core, frame.x[0]);
    return (int64_t)core->x[A0]; /* so that the call's result leaves the register as it is */
}

static bool is_ignored(const struct rf_signals *signals, unsigned number)
{
    const uint64_t harmless = rf_signal_set(SIGCHLD) | rf_signal_set(SIGCONT) |
                              rf_signal_set(SIGURG) | rf_signal_set(SIGWINCH);
    uint64_t handler = signals->action[number].handler;
    return handler == HANDLER_IGNORE ||
           (handler == HANDLER_DEFAULT && (harmless & rf_signal_set(number)) != 0);
}

static void end_by(struct rf_system *system, unsigned number)
{
    const char *name = sigdescr_np((int)number);
    char why[80];
    rf_format(why, sizeof why, "signal %u%s%s%s", number, name != NULL ? " (" : "",
              name != NULL ? name : "", name != NULL ? ")" : "");
    rf_system_end(system, (int)number, why);
}

void rf_signals_send(struct rf_system *system, unsigned number, int32_t code)
{
    struct rf_signals *signals = &system->signals;
    if (is_ignored(signals, number) && (signals->blocked & rf_signal_set(number)) == 0)
        return;
    signals->waiting |= rf_signal_set(number);
    signals->code[number] = code;
}

void rf_signals_deliver(struct rf_system *system)
{
    struct rf_signals *signals = &system->signals;
    uint64_t due;
    while (!system->exited && (due = signals->waiting & ~signals->blocked) != 0) {
        unsigned number = (unsigned)__builtin_ctzll(due) + 1;
        signals->waiting &= ~rf_signal_set(number);
        if (is_ignored(signals, number))
            continue;
        if (signals->action[number].handler == HANDLER_DEFAULT)
            end_by(system, number);
        else if (!enter(system, number, signals->code[number],
                        RF_SYSTEM_ID | (uint64_t)RF_SYSTEM_ID << 32))
            rf_system_end(system, SIGSEGV, "no room on the stack for the handler of a signal");
    }
}

bool rf_signals_fault(struct rf_system *system, unsigned number, int32_t code, uint64_t address)
{
    const struct rf_signals *signals = &system->signals;
    if (signals->action[number].handler <= HANDLER_IGNORE ||
        (signals->blocked & rf_signal_set(number)) != 0)
        return false;
    return enter(system, number, code, address);
}
