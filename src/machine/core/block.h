/* block.h - the cache of decoded code. */
#ifndef RF_MACHINE_BLOCK_H
#define RF_MACHINE_BLOCK_H

#include "machine/core/core.h"

enum { RF_BLOCK_TABLE = 1 << 16 };

/* Blocks found by pc. Those of one place hang together by the link of their `enter`, the one that was
 * wanted last in front. */
enum { RF_BLOCK_STEPS_EACH = 3 * RF_EXPAND_MAX + 1 }; /* of one instruction, at the most */

struct rf_blocks {
    struct rf_step *table[RF_BLOCK_TABLE]; /* to the `enter` of a block */
    struct rf_block_chunk *chunks;
    size_t n_chunks;
    size_t used; /* steps of the first chunk */
    struct rf_step detour[RF_BLOCK_STEPS_EACH + 1];
};

static inline struct rf_step **rf_block_place(struct rf_blocks *blocks, uint64_t pc, uint32_t state)
{
    return &blocks->table[(pc >> 1 ^ pc >> 17 ^ state * UINT64_C(0x9e37)) & (RF_BLOCK_TABLE - 1)];
}

/* The rest of the instruction that `step` is part of, with the way to the next one behind it, in a place
 * that outlives its block. NULL: there is no rest. */
const struct rf_step *rf_block_detour(struct rf_core *core, const struct rf_step *step);

/* The block at pc, decoded now if need be. NULL: core->stop says why there is none. */
struct rf_step *rf_block_find(struct rf_core *core, uint64_t pc);
void rf_block_flush(struct rf_core *core);

/* execute.c: what carries out an instruction, and the steps that are none. */
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
