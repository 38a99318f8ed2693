/* block.h - the cache of decoded code. */
#ifndef RF_MACHINE_BLOCK_H
#define RF_MACHINE_BLOCK_H

#include "machine/core/core.h"

enum { RF_BLOCK_TABLE = 1 << 16 };

enum {
    RF_BLOCK_STEPS_EACH = 3 * RF_EXPAND_MAX + 1
}; /* one instruction has at most this many steps */

/* Blocks, found by a hash of their pc. Blocks of one place in the table are a list, linked through their `enter` steps; the
 * block that was used last comes first. */
struct rf_blocks {
    struct rf_step *table[RF_BLOCK_TABLE]; /* the `enter` of the first block of each list */
    struct rf_block_chunk *chunks;
    size_t n_chunks;
    size_t used; /* steps of the first chunk that are taken */
    struct rf_step detour[RF_BLOCK_STEPS_EACH + 1];
};

static inline struct rf_step **rf_block_place(struct rf_blocks *blocks, uint64_t pc, uint32_t state)
{
    return &blocks->table[(pc >> 1 ^ pc >> 17 ^ state * UINT64_C(0x9e37)) & (RF_BLOCK_TABLE - 1)];
}

/* A copy of the steps behind `step` that belong to the same instruction, and of a step that leads to the next instruction.
 * The copy outlives the block. NULL: no steps are left. */
const struct rf_step *rf_block_detour(struct rf_core *core, const struct rf_step *step);

/* The block at pc, decoded now if need be. NULL: core->stop says why there is none. */
struct rf_step *rf_block_find(struct rf_core *core, uint64_t pc);
void rf_block_flush(struct rf_core *core);

/* execute.c: the functions that carry out instructions, and those of steps that are not instructions. */
extern rf_step_run *const rf_execute_table[], *const rf_execute_chained[];
extern rf_step_run *const rf_execute_recorded[]; /* chained, with records */
rf_step_run rf_execute_enter, rf_execute_goto;
rf_step_run rf_execute_tallied, rf_execute_tallied_chained;
rf_step_run rf_execute_watch, rf_execute_choose, rf_execute_stay, rf_execute_ahead, rf_execute_call;

/* csr.c: carry out an instruction that reads and changes a register. Returns false if it is illegal: there is no such
 * register, or it can only be read. */
enum rf_csr_change { RF_CSR_WRITE, RF_CSR_SET, RF_CSR_CLEAR };
bool rf_csr_change(struct rf_core *core, const struct rf_step *step, enum rf_csr_change how,
                   uint64_t operand);

#endif
