/* hooks.h - where others take part in the machine: at decode, at retirement, and by guest code.
 *
 *     fetch -> decode -> [expand, watch] -> rename ... commit -> [retire] -> trap? -> a handler, then on
 *
 * Hooks see the program; a handler's own instructions pass by them. All of this between opening the source and
 * its first batch, or from inside a hook. One thread at a time. A hook must not do arithmetic on
 * floating-point numbers: the host's rounding mode and flags are the guest's while it runs. */
#ifndef RF_MACHINE_HOOKS_H
#define RF_MACHINE_HOOKS_H

#include "machine/core/core.h"
#include <riffle/machine.h>

/* One instruction that has just retired. */
struct rf_retirement {
    const struct rf_insn *insn;
    uint64_t pc, next_pc;
    uint64_t address; /* of a load, store or atomic */
    unsigned missed;  /* cache levels; 0 without timing */
    bool own;         /* the program's; false: put in at decode */
    uint64_t *x;      /* registers as it left them, private ones too: RF_REG_COUNT */
};

/* All but the context may be NULL or 0. */
struct rf_machine_hooks {
    void *context;
    rf_expand *expand; /* see expand.h */
    void (*retire)(void *context, const struct rf_retirement *retirement);
    /* The records of a group of instructions that have just retired. A trap that is asked for here is taken behind
     * the group. */
    void (*recorded)(void *context, const struct rf_record *records, size_t n);
    bool each; /* a group ends with the first instruction that makes records */
    rf_watch *watch;
    uint64_t *const *tallies; /* what expand counts in */
    uint32_t state;           /* to begin with */
    uint64_t pause; /* cycles for which decode pauses at an instruction that is replaced */
    /* A sequence calls handler `number`: returns the guest address of it, 0: there is none. It runs before the rest of
     * the sequence and gets the private registers from RF_REG_ARGUMENT on as its arguments. Into it and out
     * of it is a jump that nobody predicts. */
    uint64_t (*call)(void *context, uint32_t number);
    void (*returned)(void *context); /* a handler, called or trapped into, is over */
    void (*end)(void *context);      /* the program is */
    /* Figures for the outcome; returns how many, `room` at the most. */
    size_t (*figures)(void *context, struct rf_machine_figure *figures, size_t room);
    void (*close)(void *context); /* the source is closed */
};

/* Install them, in place of what was there. */
void rf_machine_hook(struct rf_source *source, const struct rf_machine_hooks *hooks);

/* Put a handler's code into the guest's memory; *address is where. */
rf_status rf_machine_place(struct rf_source *source, const void *code, size_t size,
                           uint64_t *address, struct rf_error *error);

/* The same for code that needs memory. */
struct rf_machine_code {
    const void *bytes;
    size_t size;
    size_t data; /* zeroed bytes that it may write to, behind the pages of the code */
};
rf_status rf_machine_place_with(struct rf_source *source, const struct rf_machine_code *code,
                                uint64_t *address, struct rf_error *error);

/* The guest's registers, RF_REG_COUNT of them, and its memory; NULL: not all of that is mapped. */
uint64_t *rf_machine_registers(struct rf_source *source);
uint8_t *rf_machine_at(struct rf_source *source, uint64_t address, size_t size);

/* The program's instructions so far; inside a block, up to its end. */
uint64_t rf_machine_instructions(const struct rf_source *source);

/* Records that the source is to hand out at once, from `returned` or `end`. */
enum { RF_MACHINE_EMIT_MAX = 4096 };
void rf_machine_emit(struct rf_source *source, const struct rf_record *records, size_t n);

/* After this instruction (and the rest of the sequence it is part of) run the guest function at pc
 * with these arguments, eight at the most, then go on. It has a stack and registers of its own, fetches, misses
 * and mispredicts like all code, and the program's instructions, clock and records do not know of it. One trap at
 * a time: a second one before the first is over is not taken and returns false. */
bool rf_machine_trap(struct rf_source *source, uint64_t pc, const uint64_t *arguments, size_t n);

/* The cycle in which the last instruction committed; without timing, the number of instructions. */
uint64_t rf_machine_cycles(const struct rf_source *source);
bool rf_machine_is_timed(const struct rf_source *source);

/* Cycles in which the core does nothing else. Nothing without timing. */
void rf_machine_charge(struct rf_source *source, uint64_t cycles);

#endif
