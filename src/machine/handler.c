/* handler.c - put the program aside, run a function, take the program up again.
 *
 *     home:  | ebreak | 64 KiB of stack |
 *              ^ ra              sp ^
 *
 * It is what a core with a second bank of registers does: no instruction saves or restores anything. The
 * rounding mode, the floating-point flags and the reservation of lr are put aside, too; a handler starts with all
 * of them clear. Private registers belong to neither side and stay. The return address is an ebreak: the core
 * stops there and we switch back. */
#include "machine/handler.h"
#include <string.h>

enum { RA = 1, SP = 2, A0 = 10, STACK = 64 << 10 };
static const uint32_t EBREAK = 0x00100073;

bool rf_handler_open(struct rf_handler *handler, struct rf_memory *memory)
{
    uint64_t at = rf_memory_find_free(memory, RF_PROGRAM_END, RF_PAGE + STACK);
    if (at == 0 || !rf_memory_map(memory, at, RF_PAGE, RF_READ | RF_EXECUTE) ||
        !rf_memory_map(memory, at + RF_PAGE, STACK, RF_READ | RF_WRITE))
        return false;
    memcpy(memory->bytes + at, &EBREAK, sizeof EBREAK);
    handler->home = at;
    return true;
}

static void put_aside(struct rf_handler *handler, struct rf_core *core)
{
    memcpy(handler->x, core->x, sizeof handler->x);
    handler->pc = core->pc;
    handler->frm = core->frm;
    handler->fflags = rf_core_flags(core);
    handler->reserved = core->reserved;
    handler->reserved_address = core->reserved_address;
    handler->program_count = core->instructions;
    handler->state = core->state;
    handler->rest = core->rest;
}

static void take_up(const struct rf_handler *handler, struct rf_core *core)
{
    memcpy(core->x, handler->x, RF_REG_PRIVATE * sizeof *core->x);
    core->frm = handler->frm;
    rf_core_set_flags(core, handler->fflags);
    core->reserved = handler->reserved;
    core->reserved_address = handler->reserved_address;
    core->instructions = handler->program_count;
    core->state = handler->state;
    rf_core_go_to(core, handler->pc);
    core->rest = handler->rest;
}

void rf_handler_enter(struct rf_handler *handler, struct rf_core *core)
{
    put_aside(handler, core);
    handler->pending = false;
    handler->running = true;
    handler->traps++;
    core->x[RA] = handler->home;
    core->x[SP] = handler->home + RF_PAGE + STACK;
    memcpy(&core->x[A0], handler->arguments, sizeof handler->arguments);
    core->frm = RF_RNE;
    rf_core_set_flags(core, 0);
    core->reserved = false;
    core->state = RF_STATE_HANDLER;
    rf_core_go_to(core, handler->entry);
}

void rf_handler_leave(struct rf_handler *handler, struct rf_core *core)
{
    handler->instructions += core->instructions - handler->program_count + 1; /* the ebreak, too */
    handler->running = false;
    core->stop = RF_STOP_NONE;
    take_up(handler, core);
}
