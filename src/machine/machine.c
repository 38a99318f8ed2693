/* machine.c - the simulated machine as a source: program in, records and cycles out.
 *
 *     file -> loader -> core <-> system calls, handlers
 *                        |  up to 256 instructions, one alone where a hook wants to know
 *                        +--> records ---------------------> batches
 *                        \--> timing -misses, cycles------^
 *                                            \--> hook at retirement
 *
 * Without timing, whole blocks run at the functional core's speed; where records are wanted, the steps of the blocks put
 * them down. */
#include "machine/inside.h"
#include "event/input.h"
#include "base/alloc.h"
#include "base/error.h"
#include "event/field.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* --- running ---------------------------------------------------------------------------------- */

static double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Is there somebody who wants to know of an instruction before the next one runs? */
static inline bool is_watched_closely(const struct machine *machine)
{
    return !machine->handler.running && (machine->hooks.retire != NULL || machine->handler.pending);
}

/* The core stopped at an instruction. Did that retire all the same? */
static bool retires(struct machine *machine)
{
    struct rf_core *core = &machine->core;
    if (core->stop == RF_STOP_BREAK)
        return machine->handler.running;
    if (core->stop == RF_STOP_CALL)
        rf_machine_begin_call(machine);
    if (core->stop != RF_STOP_SYSCALL)
        return core->stop == RF_STOP_NONE; /* a jump whose target is still to be found */
    rf_system_call(&machine->system);
    machine->ended = machine->system.exited;
    return true;
}

/* Run one step, make its records, which do not know yet what it missed, and put down in *retired, if that
 * is not NULL, what others want to know of it. With `looks`, records of stores tell what was overwritten.
 * Returns the next step; NULL: something else is due first. */
static inline const struct rf_step *run_step(struct machine *machine, const struct rf_step *step,
                                             uint32_t classes, struct rf_retired *retired,
                                             bool looks)
{
    struct rf_core *core = &machine->core;
    struct rf_before before = rf_records_before(core, step);
    if (looks)
        before = rf_records_look(core, step, before);
    const struct rf_step *next = step->run(core, step);
    if (next == NULL && !retires(machine))
        return NULL;
    uint64_t next_pc = next != NULL ? next->pc : core->pc;
    if (retired != NULL) {
        retired->insn = step->insn;
        retired->entry = step->entry;
        retired->own = step->classes != 0;
        retired->mispredicted = false;
        retired->missed = 0;
        retired->pc = step->pc;
        retired->next_pc = next_pc;
        retired->address = before.address;
        machine->first_record[machine->n_retired] = machine->n_records;
    }
    if ((step->classes & classes) != 0) {
        const struct rf_before seen = before; /* in memory here alone */
        machine->n_records += rf_records_after(core, step, &seen, next_pc, classes,
                                               machine->records + machine->n_records);
    }
    machine->n_retired += step->is_instruction;
    return next;
}

/* Up to `limit` instructions. The usual loops test nothing for each instruction that only few runs ask for. */
static const struct rf_step *run_steps(struct machine *machine, const struct rf_step *step,
                                       size_t limit, bool puts_down)
{
    uint32_t classes = machine->handler.running ? 0 : machine->setup.classes;
    if (puts_down)
        while (step != NULL && machine->n_retired < limit)
            step = run_step(machine, step, classes, &machine->retired[machine->n_retired], false);
    else
        while (step != NULL && machine->n_retired < limit)
            step = run_step(machine, step, classes, NULL, false);
    return step;
}

/* The same for runs that look at what stores overwrite, or whose hook wants the records of each instruction. */
static const struct rf_step *run_careful_steps(struct machine *machine, const struct rf_step *step,
                                               size_t limit, bool puts_down)
{
    uint32_t classes = machine->handler.running ? 0 : machine->setup.classes;
    size_t full = machine->hooks.each && puts_down ? machine->n_records + 1 : SIZE_MAX;
    while (step != NULL && machine->n_retired < limit && machine->n_records < full)
        step = run_step(machine, step, classes,
                        puts_down ? &machine->retired[machine->n_retired] : NULL,
                        machine->setup.silent);
    return step;
}

/* Run `limit` instructions, or until something else is due. */
static void run_together(struct machine *machine, size_t limit)
{
    struct rf_core *core = &machine->core;
    const struct rf_step *step = rf_core_peek(core);
    bool puts_down = machine->timing != NULL || is_watched_closely(machine);
    core->instructions += step != NULL ? step->left : 0; /* as if its block were entered here */
    if (machine->setup.silent || machine->hooks.each)
        step = run_careful_steps(machine, step, limit, puts_down);
    else
        step = run_steps(machine, step, limit, puts_down);
    core->cursor = step;
    if (step == NULL)
        return;
    core->pc = step->pc;
    core->instructions -= step->is_inside ? step->left : 0; /* the rest has not run */
}

/* What the timing found of the instruction, for those of its records that have it. */
static void tell_timing(struct machine *machine, size_t i)
{
    const struct rf_retired *retired = &machine->retired[i];
    for (size_t r = machine->first_record[i]; r < machine->first_record[i + 1]; r++) {
        struct rf_record *record = &machine->records[r];
        if (record->kind == RF_CLASS_LOAD || record->kind == RF_CLASS_STORE)
            record->miss = retired->missed;
        else if (record->kind == RF_CLASS_INSN)
            record->value = machine->cycles[i];
        else if (retired->mispredicted)
            record->flags |= RF_RECORD_MISPREDICTED;
    }
}

static void show_retired(struct machine *machine)
{
    const struct rf_retired *retired = &machine->retired[0];
    const struct rf_retirement retirement = {.insn = &retired->insn,
                                             .pc = retired->pc,
                                             .next_pc = retired->next_pc,
                                             .address = retired->address,
                                             .missed = retired->missed,
                                             .own = retired->own,
                                             .x = machine->core.x};
    machine->hooks.retire(machine->hooks.context, &retirement);
}

static void leave_handler(struct machine *machine)
{
    rf_handler_leave(&machine->handler, &machine->core);
    if (machine->timing != NULL && !machine->handler.called)
        rf_timing_charge(machine->timing, 0);
    if (machine->hooks.returned != NULL)
        machine->hooks.returned(machine->hooks.context);
}

static void enter_handler(struct machine *machine)
{
    rf_handler_enter(&machine->handler, &machine->core);
    if (machine->timing == NULL)
        return;
    if (machine->handler.called)
        rf_timing_call(machine->timing, machine->handler.home);
    else
        rf_timing_charge(machine->timing, 0);
}

/* Into a handler that is pending, once the sequence of an instruction is over and nothing is left to be attended to;
 * out of one that is over. A trap waits for all before it; a call is a jump that nobody predicts. */
static void switch_handler(struct machine *machine)
{
    struct rf_core *core = &machine->core;
    const struct rf_step *next = core->cursor;
    bool inside = next != NULL && next->is_inside && next->entry == RF_ENTRY_INJECTED;
    if (machine->handler.running && core->stop == RF_STOP_BREAK)
        leave_handler(machine);
    else if (machine->handler.pending && !machine->handler.running && !inside &&
             core->stop == RF_STOP_NONE)
        enter_handler(machine);
}

/* Time what was put down, and tell records what came out. */
static void time_together(struct machine *machine, size_t n)
{
    bool tells_all = machine->setup.classes >> RF_CLASS_INSN & 1;
    rf_timing_retire(machine->timing, machine->retired, n, tells_all ? machine->cycles : NULL);
    machine->first_record[n] = machine->n_records;
    for (size_t i = 0; i < n && machine->setup.classes != 0; i++)
        if (tells_all || machine->retired[i].missed > 0 || machine->retired[i].mispredicted)
            tell_timing(machine, i);
}

/* Evenly spread around the period, so that no loop runs in step with it. */
static void plan_sample(struct machine *machine)
{
    uint64_t period = machine->setup.stack_period;
    machine->next_sample =
        machine->core.instructions + 1 + period / 2 + rf_random_below(&machine->random, period);
}

/* Follow the stack through these records; when it is time, add what it is now. */
static void follow_stack(struct machine *machine, size_t from)
{
    for (size_t i = from; i < machine->n_records; i++)
        rf_stack_see(&machine->stack, &machine->records[i]);
    if (machine->core.instructions < machine->next_sample)
        return;
    machine->n_records +=
        rf_stack_frames(&machine->stack, machine->core.pc, machine->records + machine->n_records);
    plan_sample(machine);
}

/* What has run is over; its records begin at `from`. */
static void settle(struct machine *machine, size_t from)
{
    size_t n = machine->n_retired;
    bool in_handler = machine->handler.running;
    machine->n_retired = 0;
    if (n == 0)
        return;
    if (in_handler && machine->handler.called && machine->core.stop == RF_STOP_BREAK)
        machine->retired[n - 1].insn.kind = RF_OP_CLASS_SKIP; /* back into the sequence */
    if (machine->timing != NULL)
        time_together(machine, n);
    if (!in_handler && machine->hooks.retire != NULL)
        show_retired(machine);
    if (!in_handler && machine->hooks.recorded != NULL && machine->n_records > from)
        machine->hooks.recorded(machine->hooks.context, machine->records + from,
                                machine->n_records - from);
    if (!in_handler && machine->next_sample != UINT64_MAX)
        follow_stack(machine, from);
    if (in_handler || machine->handler.pending)
        switch_handler(machine);
}

/* How many instructions may run before anybody has to look; none when something else is due. */
static size_t may_run(struct machine *machine, uint64_t budget)
{
    struct rf_core *core = &machine->core;
    if (machine->ended || machine->yields || core->stop != RF_STOP_NONE ||
        machine->n_records >= RF_SOURCE_BATCH)
        return 0;
    if (core->instructions >= budget && !machine->handler.running)
        core->stop = RF_STOP_BUDGET;
    if (core->stop != RF_STOP_NONE || is_watched_closely(machine))
        return core->stop == RF_STOP_NONE;
    uint64_t end = budget < machine->next_sample ? budget : machine->next_sample;
    uint64_t left = machine->handler.running ? UINT64_MAX : end - core->instructions;
    return left < TIMED_TOGETHER ? (size_t)left : TIMED_TOGETHER;
}

/* Instruction by instruction, until the batch is full or something else is due. */
static void run_watched(struct machine *machine)
{
    struct rf_core *core = &machine->core;
    uint64_t budget = core->budget;
    core->budget = UINT64_MAX; /* blocks may be entered that are not run to their end */
    rf_core_enter(core);
    rf_core_unchain(core);
    for (size_t n; (n = may_run(machine, budget)) > 0;) {
        size_t from = machine->n_records;
        run_together(machine, n);
        settle(machine, from);
    }
    rf_core_leave(core);
    core->budget = budget;
}

/* At full speed to the end of what is skipped, where nobody looks. */
static void run_unwatched(struct machine *machine, uint64_t until)
{
    struct rf_core *core = &machine->core;
    uint64_t budget = core->budget;
    core->budget = until < budget ? until : budget;
    if (machine->handler.running)
        core->budget = UINT64_MAX; /* its instructions are not the program's */
    rf_core_run(core);
    core->budget = budget;
    if (core->stop == RF_STOP_BUDGET && core->instructions < budget)
        core->stop = RF_STOP_NONE;
}

/* What the core could not do, and the signal that Linux has for it. */
struct trouble {
    unsigned number;
    int32_t code;
    const char *what;
    bool has_address; /* else it is the pc that is wrong */
};

static void end_with(struct machine *machine, const struct trouble *trouble)
{
    unsigned long long pc = machine->core.pc, address = machine->core.fault;
    if (trouble->has_address)
        rf_format(machine->fault, sizeof machine->fault, "%s 0x%llx at pc 0x%llx", trouble->what,
                  address, pc);
    else
        rf_format(machine->fault, sizeof machine->fault, "%s at pc 0x%llx", trouble->what, pc);
    machine->ended = true;
    machine->exit_status = 128 + (int)trouble->number;
}

/* The program's own handler may know what to do. */
static void attend_trouble(struct machine *machine, struct trouble trouble)
{
    uint64_t address = trouble.has_address ? machine->core.fault : machine->core.pc;
    if (trouble.number == SIGSEGV)
        trouble.code = rf_memory_allows(&machine->core.memory, address, 1, RF_MAPPED) ? SEGV_ACCERR
                                                                                      : SEGV_MAPERR;
    if (machine->handler.running ||
        !rf_signals_fault(&machine->system, trouble.number, trouble.code, address)) {
        end_with(machine, &trouble);
        return;
    }
    machine->core.stop = RF_STOP_NONE;
    if (machine->timing != NULL)
        rf_timing_charge(machine->timing, 0);
}

/* What the core stopped for. */
static void attend(struct machine *machine)
{
    static const struct trouble troubles[] = {
        [RF_STOP_BREAK] = {SIGTRAP, TRAP_BRKPT, "a breakpoint", false},
        [RF_STOP_ILLEGAL] = {SIGILL, ILL_ILLOPC, "an illegal instruction", false},
        [RF_STOP_FETCH] = {SIGSEGV, 0, "no code to execute", false},
        [RF_STOP_LOAD] = {SIGSEGV, 0, "a load from the wild address", true},
        [RF_STOP_STORE] = {SIGSEGV, 0, "a store to the wild address", true},
        [RF_STOP_MEMORY] = {SIGKILL, 0, "no memory of the host's left to decode code", false},
    };
    if (machine->core.stop == RF_STOP_CALL)
        rf_machine_begin_call(machine);
    switch_handler(machine);
    switch (machine->core.stop) {
    case RF_STOP_NONE:
        break;
    case RF_STOP_SYSCALL:
        rf_system_call(&machine->system);
        machine->ended = machine->system.exited;
        break;
    case RF_STOP_BUDGET:
        machine->ended = machine->cut = true;
        break;
    default:
        attend_trouble(machine, troubles[machine->core.stop]);
    }
}

/* Records are all that is wanted, and there are enough instructions left for the longest block. */
static bool may_run_freely(const struct machine *machine)
{
    const struct rf_machine_hooks *hooks = &machine->hooks;
    const struct rf_core *core = &machine->core;
    return machine->timing == NULL && hooks->retire == NULL && hooks->expand == NULL &&
           !machine->setup.silent && machine->next_sample == UINT64_MAX &&
           (machine->handler.running || core->budget > core->instructions + RF_CORE_BLOCK);
}

/* Blocks at nearly full speed, until there is a group of records or something else is due. */
static void run_group(struct machine *machine)
{
    struct rf_core *core = &machine->core;
    struct rf_record *first = machine->records + machine->n_records, *to = first;
    bool in_handler = machine->handler.running;
    uint64_t budget = core->budget;
    core->budget = in_handler ? UINT64_MAX : budget; /* its instructions are not the program's */
    rf_core_run_recording(core, machine->setup.classes, &to, first + RECORDS_TOGETHER);
    core->budget = budget;
    machine->n_records += (size_t)(to - first);
    if (core->stop == RF_STOP_BUDGET)
        core->stop = RF_STOP_NONE;
    attend(machine);
    if (!in_handler && machine->hooks.recorded != NULL && to > first)
        machine->hooks.recorded(machine->hooks.context, first, (size_t)(to - first));
    if (!machine->ended)
        switch_handler(machine);
}

static void run_freely(struct machine *machine)
{
    while (!machine->ended && machine->n_records < RF_SOURCE_BATCH && may_run_freely(machine))
        run_group(machine);
}

/* What is skipped is not expanded either. */
static bool is_skipping(struct machine *machine)
{
    bool skipping = machine->core.instructions < machine->setup.skip_instructions;
    rf_expand *expand = skipping ? NULL : machine->hooks.expand;
    if (machine->core.expand != expand)
        rf_core_flush(&machine->core);
    machine->core.expand = expand;
    return skipping;
}

/* Run until there are records, or the end. */
static void run(struct machine *machine)
{
    bool watched = machine->timing != NULL || machine->setup.classes != 0 ||
                   machine->hooks.retire != NULL || machine->handler.pending;
    while (machine->n_records == 0 && !machine->ended) {
        bool skipping = is_skipping(machine);
        if (skipping || !watched)
            run_unwatched(machine, skipping ? machine->setup.skip_instructions : UINT64_MAX);
        else if (may_run_freely(machine)) {
            run_freely(machine);
            continue;
        } else
            run_watched(machine);
        if (!machine->ended)
            attend(machine);
    }
}

static rf_status next(struct rf_source *source, struct rf_batch *batch, struct rf_error *error)
{
    struct machine *machine = (struct machine *)source;
    double start = cpu_seconds();
    (void)error;
    machine->n_records = 0;
    machine->yields = false;
    run(machine);
    if (machine->ended && !machine->told && machine->hooks.end != NULL)
        machine->hooks.end(machine->hooks.context);
    machine->told = machine->ended;
    machine->seconds += cpu_seconds() - start;
    batch->records = machine->records;
    batch->n = machine->n_records;
    return RF_OK;
}

static void progress(const struct rf_source *source, uint64_t *done, uint64_t *total)
{
    const struct machine *machine = (const struct machine *)source;
    *done = machine->core.instructions;
    *total = machine->setup.max_instructions;
}

/* --- opening and closing ---------------------------------------------------------------------- */

static void close_machine(struct rf_source *source)
{
    struct machine *machine = (struct machine *)source;
    struct rf_alloc alloc = source->alloc;
    if (machine->core_open) {
        rf_system_close(&machine->system);
        rf_core_close(&machine->core);
    }
    rf_timing_close(machine->timing);
    if (machine->hooks.close != NULL)
        machine->hooks.close(machine->hooks.context);
    rf_alloc_free(&alloc, machine, sizeof *machine);
}

static rf_status modules(struct rf_source *source, const struct rf_module **modules, size_t *n)
{
    const struct machine *machine = (const struct machine *)source;
    *modules = machine->program.code;
    *n = machine->program.n_code;
    return RF_OK;
}

static const struct rf_source_ops ops = {.name = "machine",
                                         .next = next,
                                         .progress = progress,
                                         .modules = modules,
                                         .close = close_machine};

/* All of the file, into the caller's memory: a mapping could be cut short under our hands. */
static rf_status read_file(struct machine *machine, int fd, const char *path, size_t size,
                           struct rf_error *error)
{
    const struct rf_alloc *alloc = &machine->base.alloc;
    uint8_t *file = rf_alloc_get(alloc, size);
    if (file == NULL)
        return rf_fail(error, RF_ENOMEM, "%s: no memory for its %zu bytes", path, size);
    ssize_t n = rf_input_at(fd, file, size, 0);
    rf_status status = n < 0 ? rf_fail(error, RF_EIO, "%s: cannot read: %s", path, strerror(errno))
                             : rf_loader_load(&machine->core.memory, &machine->program, file,
                                              (size_t)n, path, error);
    rf_alloc_free(alloc, file, size);
    return status;
}

/* The name under which the file is found from any folder. */
static void name_modules(struct machine *machine, const char *path)
{
    if (realpath(path, machine->path) == NULL)
        rf_format(machine->path, sizeof machine->path, "%s", path);
    for (size_t i = 0; i < machine->program.n_code; i++)
        machine->program.code[i].path = machine->path;
}

static rf_status load_file(struct machine *machine, const char *path, struct rf_error *error)
{
    struct stat status;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe would wait for a writer */
    if (fd < 0)
        return rf_fail(error, RF_EIO, "%s: cannot open: %s", path, strerror(errno));
    rf_status loaded;
    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size == 0)
        loaded = rf_fail(error, RF_EINVAL, "%s: not a file with a program in it", path);
    else
        loaded = read_file(machine, fd, path, (size_t)status.st_size, error);
    close(fd);
    name_modules(machine, path);
    return loaded;
}

static rf_status start(struct machine *machine, struct rf_error *error)
{
    static const char *const nothing[] = {NULL};
    const struct rf_machine_setup *setup = &machine->setup;
    const char *const *environment = setup->environment != NULL ? setup->environment : nothing;
    rf_status status = rf_core_open(&machine->core, setup->alloc, error);
    if (status != RF_OK)
        return status;
    machine->core_open = true;
    status = rf_system_open(&machine->system, &machine->core, setup->root, error);
    if (status == RF_OK)
        status = load_file(machine, setup->argv[0], error);
    if (status == RF_OK)
        status =
            rf_loader_start(&machine->core, &machine->program, setup->argv, environment, error);
    rf_system_set_brk(&machine->system, machine->program.end);
    if (setup->max_instructions != 0)
        machine->core.budget = setup->max_instructions;
    return status;
}

static rf_status open_timing(struct machine *machine, struct rf_error *error)
{
    struct rf_timing_config config;
    rf_status status = rf_timing_config_parse(&config, machine->setup.core, error);
    if (status == RF_OK)
        status = rf_timing_open(&machine->timing, &config, machine->setup.alloc, error);
    return status;
}

rf_status rf_source_open_machine(struct rf_source **source, const struct rf_machine_setup *setup,
                                 struct rf_error *error)
{
    *source = NULL;
    struct machine *machine = rf_source_new(&ops, sizeof *machine, setup->alloc);
    if (machine == NULL)
        return rf_fail(error, RF_ENOMEM, "no memory for a simulated machine");
    machine->setup = *setup;
    machine->next_sample = UINT64_MAX;
    if ((setup->classes & RF_SET_FRAME) != 0) {
        machine->setup.classes |= 1 << RF_CLASS_CALL | 1 << RF_CLASS_RETURN;
        rf_random_seed(&machine->random, 1);
        machine->setup.stack_period += setup->stack_period == 0 ? STACK_PERIOD : 0;
        plan_sample(machine);
    }
    rf_status status = setup->core != NULL ? open_timing(machine, error) : RF_OK;
    if (status == RF_OK)
        status = start(machine, error);
    if (status != RF_OK) {
        close_machine(&machine->base);
        return status;
    }
    *source = &machine->base;
    return RF_OK;
}
