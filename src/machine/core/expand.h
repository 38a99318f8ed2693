/* expand.h - instructions put in at decode, and control over that from one execution to the next.
 *
 *     fetched ld --expand--> [watch] addi $p0,..  beq $p0,.. skip  call h  ld
 *
 * Code is decoded once and runs often, so what is put in cannot depend on anything but the instruction and a `state`,
 * a word that whoever expands chooses. Blocks are decoded for each state by themselves. A `watch` is
 * called each time that its instruction is about to run and answers the state from then on; the instruction
 * itself is still the one of the state before. What is in no state expanded or watched costs nothing. */
#ifndef RF_MACHINE_EXPAND_H
#define RF_MACHINE_EXPAND_H

#include "machine/isa/isa.h"

enum { RF_EXPAND_MAX = 32 };

enum rf_put {
    RF_PUT_CODE, /* any instruction but a transfer of control or a system instruction */
    RF_PUT_OWN,  /* the program's. A transfer or a system instruction must be the last */
    RF_PUT_SKIP, /* a branch within the sequence, imm items ahead. Its target is fetched anew: it is
                    predicted as not taken */
    RF_PUT_LIKELY, /* the same, predicted as taken: what comes behind it is fetched anew */
    RF_PUT_PASS,   /* the same; whether it is taken costs nothing either way */
    RF_PUT_CALL,   /* of handler number imm */
};

/* How an instruction came into the pipeline. */
enum rf_entry {
    RF_ENTRY_FETCHED,
    RF_ENTRY_INJECTED, /* put in at decode behind another one: takes decode bandwidth, no fetch */
    RF_ENTRY_EXPANDED, /* fetched, and the first of a sequence: decode pauses for it */
};

/* What an instruction becomes. */
struct rf_expansion {
    unsigned n;                 /* 0: it stays as it is */
    uint8_t put[RF_EXPAND_MAX]; /* enum rf_put */
    struct rf_insn insn[RF_EXPAND_MAX];
    uint32_t watch; /* 0: none */
    uint32_t tally; /* of an instruction that stays as it is: counted in tallies[this]; 0: not */
};

/* Fill in *out, which comes in with n, watch and tally 0. Whatever is put in may use the private registers. The first
 * takes the fetch of the instruction, the others cost decode bandwidth alone; the sequence counts as one
 * instruction. Called once for each time that code is decoded. */
typedef void rf_expand(void *context, const struct rf_insn *insn, uint64_t pc, uint32_t state,
                       struct rf_expansion *out);
/* The instruction is about to run. Returns the state. */
typedef uint32_t rf_watch(void *context, uint32_t watch);

/* Code of handlers is decoded in this one, and never expanded. */
static const uint32_t RF_STATE_HANDLER = UINT32_MAX;

#endif
