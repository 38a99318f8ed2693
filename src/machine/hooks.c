/* hooks.c - who takes part in the machine from outside, and how it went. */
#include "machine/inside.h"
#include "base/error.h"
#include <assert.h>
#include <string.h>

void rf_machine_hook(struct rf_source *source, const struct rf_machine_hooks *hooks)
{
    struct machine *machine = (struct machine *)source;
    machine->hooks = *hooks;
    machine->core.expand_context = hooks->context;
    machine->core.watch = hooks->watch;
    machine->core.tallies = hooks->tallies;
    machine->core.expand = hooks->expand;
    machine->core.state = hooks->state;
    machine->core.expansion_pauses = hooks->pause > 0;
    if (machine->timing != NULL)
        rf_timing_set_pause(machine->timing, hooks->pause);
    rf_core_flush(&machine->core);
}

/* Code, and behind it, from the next page on, memory that it may write to. */
rf_status rf_machine_place_with(struct rf_source *source, const struct rf_machine_code *code,
                                uint64_t *address, struct rf_error *error)
{
    struct machine *machine = (struct machine *)source;
    struct rf_memory *memory = &machine->core.memory;
    uint64_t size = (code->size + RF_PAGE - 1) / RF_PAGE * RF_PAGE;
    *address = rf_memory_find_free(memory, RF_PROGRAM_END, size + code->data);
    if (*address == 0 || !rf_memory_map(memory, *address, size, RF_READ | RF_EXECUTE) ||
        (code->data > 0 && !rf_memory_map(memory, *address + size, code->data, RF_READ | RF_WRITE)))
        return rf_fail(error, RF_ENOMEM, "no room for a handler's %zu bytes of code", code->size);
    memcpy(memory->bytes + *address, code->bytes, code->size);
    return RF_OK;
}

rf_status rf_machine_place(struct rf_source *source, const void *bytes, size_t size,
                           uint64_t *address, struct rf_error *error)
{
    const struct rf_machine_code code = {.bytes = bytes, .size = size};
    return rf_machine_place_with(source, &code, address, error);
}

uint64_t *rf_machine_registers(struct rf_source *source)
{
    return ((struct machine *)source)->core.x;
}

uint8_t *rf_machine_at(struct rf_source *source, uint64_t address, size_t size)
{
    const struct rf_memory *memory = &((struct machine *)source)->core.memory;
    return rf_memory_allows(memory, address, size, RF_MAPPED) ? memory->bytes + address : NULL;
}

uint64_t rf_machine_instructions(const struct rf_source *source)
{
    return ((const struct machine *)source)->core.instructions;
}

void rf_machine_emit(struct rf_source *source, const struct rf_record *records, size_t n)
{
    struct machine *machine = (struct machine *)source;
    assert(n <= RF_MACHINE_EMIT_MAX);
    memcpy(machine->records + machine->n_records, records, n * sizeof *records);
    machine->n_records += n;
    machine->yields = true;
}

bool rf_machine_trap(struct rf_source *source, uint64_t pc, const uint64_t *arguments, size_t n)
{
    struct machine *machine = (struct machine *)source;
    struct rf_handler *handler = &machine->handler;
    assert(n <= RF_HANDLER_ARGUMENTS);
    if (handler->pending || handler->running)
        return false;
    if (handler->home == 0 && !rf_handler_open(handler, &machine->core.memory))
        return false;
    memset(handler->arguments, 0, sizeof handler->arguments);
    memcpy(handler->arguments, arguments, n * sizeof *arguments);
    handler->entry = pc;
    handler->pending = true;
    handler->called = false;
    return true;
}

void rf_machine_begin_call(struct machine *machine)
{
    struct rf_core *core = &machine->core;
    uint64_t entry = machine->hooks.call != NULL
                         ? machine->hooks.call(machine->hooks.context, (uint32_t)core->call)
                         : 0;
    core->stop = RF_STOP_NONE;
    if (entry == 0)
        return;
    const uint64_t *arguments = &core->x[RF_REG_ARGUMENT];
    bool taken = rf_machine_trap(&machine->base, entry, arguments, RF_REG_COUNT - RF_REG_ARGUMENT);
    machine->handler.called = taken;
}

bool rf_machine_is_timed(const struct rf_source *source)
{
    return ((const struct machine *)source)->timing != NULL;
}

uint64_t rf_machine_cycles(const struct rf_source *source)
{
    const struct machine *machine = (const struct machine *)source;
    return machine->timing != NULL ? rf_timing_cycles(machine->timing) : machine->core.instructions;
}

void rf_machine_charge(struct rf_source *source, uint64_t cycles)
{
    struct machine *machine = (struct machine *)source;
    if (machine->timing != NULL)
        rf_timing_charge(machine->timing, cycles);
}

/* --- how it went ------------------------------------------------------------------------------ */

static void add_figure(struct rf_machine_outcome *outcome, const char *name, uint64_t value)
{
    outcome->figures[outcome->n_figures++] = (struct rf_machine_figure){name, value};
}

static void add_figures(struct rf_machine_outcome *outcome, const struct rf_timing_stats *stats)
{
    static const char *const stalls[RF_STALL_COUNT] = {
        "stall-fetch", "stall-icache", "stall-mispredict", "stall-trap",
        "stall-rob",   "stall-rs",     "stall-lsq"};
    add_figure(outcome, "branches", stats->branches);
    add_figure(outcome, "mispredicts", stats->mispredicts);
    add_figure(outcome, "loads", stats->loads);
    add_figure(outcome, "stores", stats->stores);
    add_figure(outcome, "forwards", stats->forwards);
    add_figure(outcome, "icache-misses", stats->icache_misses);
    add_figure(outcome, "dcache-misses", stats->dcache_misses);
    add_figure(outcome, "l2-misses", stats->l2_misses);
    for (unsigned i = 0; i < RF_STALL_COUNT; i++)
        add_figure(outcome, stalls[i], stats->stall[i]);
}

void rf_machine_outcome(const struct rf_source *source, struct rf_machine_outcome *outcome)
{
    const struct machine *machine = (const struct machine *)source;
    memset(outcome, 0, sizeof *outcome);
    outcome->ended = machine->ended && !machine->cut;
    outcome->exit_status =
        machine->system.exited ? machine->system.exit_status : machine->exit_status;
    memcpy(outcome->fault, machine->fault, sizeof outcome->fault);
    if (machine->system.why[0] != '\0')
        rf_format(outcome->fault, sizeof outcome->fault, "%s, at pc 0x%llx", machine->system.why,
                  (unsigned long long)machine->system.ended_at);
    outcome->instructions = machine->core.instructions;
    outcome->host_seconds = machine->seconds;
    if (machine->timing != NULL) {
        struct rf_timing_stats stats = rf_timing_stats(machine->timing);
        outcome->cycles = stats.cycles;
        uint64_t skipped = machine->setup.skip_instructions, all = machine->core.instructions;
        outcome->timed_instructions = all > skipped ? all - skipped : 0;
        add_figures(outcome, &stats);
        uint64_t others = stats.instructions - outcome->timed_instructions;
        if (others > machine->handler.instructions)
            add_figure(outcome, "injected", others - machine->handler.instructions);
    }
    if (machine->handler.traps > 0) {
        add_figure(outcome, "traps", machine->handler.traps);
        add_figure(outcome, "handler-instructions", machine->handler.instructions);
    }
    if (machine->hooks.figures != NULL)
        outcome->n_figures +=
            machine->hooks.figures(machine->hooks.context, &outcome->figures[outcome->n_figures],
                                   RF_MACHINE_FIGURES_MAX - outcome->n_figures);
    outcome->n_unknown_calls = machine->system.n_unknown;
    memcpy(outcome->unknown_calls, machine->system.unknown, sizeof outcome->unknown_calls);
}
