/* core.h - the functional core: registers, memory, and the loop that runs instructions.
 *
 *     pc -> block cache -> [enter][step][step]...[branch][goto]
 *                                   |
 *                        step.run(core, step) -> the next step, or NULL: look at core->stop
 *
 * Code is decoded once into blocks of steps. Each step knows the function that carries it out; that
 * function returns the step to run next, so straight code and linked branches never leave the inner loop. A
 * block opens with `enter`, which counts its instructions and ends the run when the budget is spent.
 *
 * NULL means that something else has to happen first: a block to be found, a system call, an end. */
#ifndef RF_MACHINE_CORE_H
#define RF_MACHINE_CORE_H

#include "machine/core/expand.h"
#include "machine/core/fp.h"
#include "machine/isa/isa.h"
#include "machine/core/memory.h"
#include <riffle/alloc.h>
#include <riffle/status.h>

enum rf_stop {
    RF_STOP_NONE,    /* go on at core->pc */
    RF_STOP_SYSCALL, /* pc stands at the ecall */
    RF_STOP_BREAK,
    RF_STOP_CALL, /* a sequence that replaced an instruction calls handler core->call */
    RF_STOP_ILLEGAL,
    RF_STOP_FETCH,  /* pc is not in executable memory, or odd */
    RF_STOP_MEMORY, /* riffle has no memory for decoded code */
    RF_STOP_LOAD,   /* core->fault is the address */
    RF_STOP_STORE,
    RF_STOP_BUDGET, /* as many instructions as were asked for */
};

struct rf_core;
struct rf_record;
struct rf_step;
typedef const struct rf_step *rf_step_run(struct rf_core *core, const struct rf_step *step);

struct rf_step {
    rf_step_run *run;
    struct rf_insn insn;
    uint16_t left;       /* instructions from this one to the end of its block */
    bool is_instruction; /* false: it is there for control only */
    bool is_inside;      /* of a block that has been entered; false: `enter` or `goto` */
    uint8_t entry;       /* enum rf_entry */
    uint8_t rest;        /* steps behind this one that belong to the same instruction */
    uint16_t classes;    /* of records that it can make, 1 << enum rf_class; 0: put in at decode */
    uint32_t which;      /* of a watch: its number; of a branch within a sequence: steps ahead; of
                            an `enter`: the state that its block was decoded for */
    uint64_t pc;
    struct rf_step *link; /* of a jump with a known target: its block, once that is there; of an
                             `enter`: another block of its place in the table */
};

/* Where chained steps put down what they did, rf_core_run_recording. */
struct rf_recording {
    uint32_t classes; /* of records that are wanted; 0: none */
    struct rf_record *next;
    const struct rf_record *full; /* from here on the run ends before the next block */
};

struct rf_core {
    uint64_t x[RF_REG_COUNT]; /* 0..31 integer, 32..63 floating point, 64 takes writes to x0 */
    uint64_t pc;
    uint32_t frm;              /* rounding mode */
    bool running;              /* between rf_core_enter and rf_core_leave */
    uint32_t fflags;           /* while the core does not run; the host gathers them otherwise */
    struct rf_fp_host host;    /* the caller's floating-point environment while it does */
    uint64_t reserved_address; /* of lr */
    bool reserved;
    uint64_t instructions; /* retired */
    uint64_t budget;       /* stop when that many are retired */
    enum rf_stop stop;
    uint64_t fault;
    struct rf_memory memory;

    rf_expand *expand; /* NULL: none; rf_core_flush after a change */
    rf_watch *watch;
    void *expand_context;
    uint64_t *const *tallies;   /* where whoever expands counts; may move */
    bool expansion_pauses;      /* the first of a sequence has the entry of that name */
    uint32_t state;             /* code is decoded for this state now */
    int32_t call;               /* of RF_STOP_CALL */
    const struct rf_step *rest; /* of the instruction that has begun; NULL: go on at pc */

    struct rf_blocks *blocks;
    bool stale;   /* decoded code is out of date */
    bool chained; /* steps run their successors; no single ones then */
    struct rf_recording recording;
    struct rf_step *linking;      /* the jump that left the inner loop to find its target */
    const struct rf_step *cursor; /* where single steps go on; NULL: look pc up */
    struct rf_alloc alloc;
};

rf_status rf_core_open(struct rf_core *core, const struct rf_alloc *alloc, struct rf_error *error);
void rf_core_close(struct rf_core *core);

/* Run until something other than the next instruction is due; core->stop says what. */
void rf_core_run(struct rf_core *core);

/* The same, and steps that can make records of these classes put them down from `to` on: between `full` and the end of
 * a block there must be room for RF_CORE_RECORDS more. RF_STOP_BUDGET means that this is reached, or that the next block
 * would exceed the budget, by RF_CORE_BLOCK instructions at most. `to` moves behind the records. Code of handlers makes
 * none. */
enum { RF_CORE_BLOCK = 64, RF_CORE_RECORDS = 4 * RF_CORE_BLOCK };
void rf_core_run_recording(struct rf_core *core, uint32_t classes, struct rf_record **to,
                           const struct rf_record *full);

/* One instruction at a time, for whoever wants to look at each: peek gives the instruction at pc,
 * NULL with core->stop set when there is none; step runs it and sets core->stop. Both after rf_core_unchain,
 * between rf_core_enter and rf_core_leave, which switch the host's floating-point environment over: what runs between them
 * must not do arithmetic on floating-point numbers of its own. */
void rf_core_enter(struct rf_core *core);
void rf_core_unchain(
    struct rf_core *core); /* code that was decoded for rf_core_run is not for this */
void rf_core_leave(struct rf_core *core);
const struct rf_step *
rf_core_find(struct rf_core *core); /* for peek, when the cursor is at no step */

static inline const struct rf_step *rf_core_peek(struct rf_core *core)
{
    const struct rf_step *step = core->cursor;
    return step != NULL && step->is_inside && !core->stale ? step : rf_core_find(core);
}

static inline void rf_core_step(struct rf_core *core, const struct rf_step *step)
{
    core->instructions += step->left; /* as if its block were entered here */
    const struct rf_step *next = step->run(core, step);
    if (next != NULL && next->is_inside)
        core->instructions -= next->left; /* the rest of it has not run */
    core->cursor = next;
    if (next != NULL)
        core->pc = next->pc;
}

/* The floating-point flags, wherever they are. */
uint32_t rf_core_flags(const struct rf_core *core);
void rf_core_set_flags(struct rf_core *core, uint32_t fflags);

/* Go on at pc, which no jump of the program led to. */
void rf_core_go_to(struct rf_core *core, uint64_t pc);

/* Decoded code is out of date, after fence.i or a change of executable memory. */
void rf_core_flush(struct rf_core *core);

#endif
