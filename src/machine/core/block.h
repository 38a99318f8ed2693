/* block.h - the cache of decoded code. */
#ifndef RF_MACHINE_BLOCK_H
#define RF_MACHINE_BLOCK_H

#include "machine/core/core.h"

enum { RF_BLOCK_TABLE = 1 << 16 };

/* Blocks found by pc. Those of one place hang together by the link of their `enter`, the one that was
 * wanted last in front. */
struct rf_blocks {
    struct rf_step *table[RF_BLOCK_TABLE]; /* to the `enter` of a block */
    struct rf_block_chunk *chunks;
    size_t n_chunks;
    size_t used; /* steps of the first chunk */
};

static inline struct rf_step **rf_block_place(struct rf_blocks *blocks, uint64_t pc)
{
    return &blocks->table[(pc >> 1 ^ pc >> 17) & (RF_BLOCK_TABLE - 1)];
}

/* The block at pc, decoded now if need be. NULL: core->stop says why there is none. */
struct rf_step *rf_block_find(struct rf_core *core, uint64_t pc);
void rf_block_flush(struct rf_core *core);

/* execute.c: what carries out an instruction, and the two steps that are none. */
extern rf_step_run *const rf_execute_table[], *const rf_execute_chained[];
rf_step_run rf_execute_enter, rf_execute_goto;

#endif
