/* hooks.h - where others take part in the machine: at decode, at retirement, and by guest code.
 *
 *     fetch -> decode -> [expand] -> rename ... commit -> [retire] -> trap? -> a handler, then on
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

struct rf_machine_hooks {
    void *context;
    rf_expand *expand; /* see core.h; NULL: none */
    void (*retire)(void *context, const struct rf_retirement *retirement); /* NULL: none */
};

/* Install them, in place of what was there. */
void rf_machine_hook(struct rf_source *source, const struct rf_machine_hooks *hooks);

/* Put a handler's code into the guest's memory; *address is where. */
rf_status rf_machine_place(struct rf_source *source, const void *code, size_t size,
                           uint64_t *address, struct rf_error *error);

/* After this instruction (and the rest of the sequence it is part of) run the guest function at pc
 * with these arguments, eight at the most, then go on. It has a stack and registers of its own, fetches, misses
 * and mispredicts like all code, and the program's instructions, clock and records do not know of it. One trap at
 * a time: a second one before the first is over is not taken and returns false. */
bool rf_machine_trap(struct rf_source *source, uint64_t pc, const uint64_t *arguments, size_t n);

/* Cycles in which the core does nothing else. Nothing without timing. */
void rf_machine_charge(struct rf_source *source, uint64_t cycles);

#endif
