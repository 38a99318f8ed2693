/* records.h - the records that an executed instruction makes (src/event). */
#ifndef RF_MACHINE_RECORDS_H
#define RF_MACHINE_RECORDS_H

#include "machine/core/core.h"
#include <riffle/event.h>

enum { RF_RECORDS_EACH = 4 }; /* an atomic is an instruction, a load, a store and a result */

/* What must be read before the instruction runs, since it may overwrite its own operands. */
struct rf_before {
    uint64_t address; /* of a load, store or atomic */
    uint64_t operand; /* rs2 */
    uint64_t old;     /* what a store will overwrite, where somebody asks: rf_records_look */
    bool looked;
};

static inline struct rf_before rf_records_before(const struct rf_core *core,
                                                 const struct rf_step *step)
{
    const struct rf_insn *insn = &step->insn;
    return (struct rf_before){.address = core->x[insn->rs1] + (uint64_t)(int64_t)insn->imm,
                              .operand = core->x[insn->rs2]}; /* the immediate of an atomic is 0 */
}

/* Bytes that a load, store or atomic touches. */
static inline unsigned rf_records_bytes(const struct rf_insn *insn)
{
    return 1u << (rf_op_table[insn->op].match >> 12 & 3); /* the low bits of funct3, always */
}

/* The same, with what a store will overwrite. */
struct rf_before rf_records_look(const struct rf_core *core, const struct rf_step *step,
                                 struct rf_before before);

/* The classes of records that an instruction can make. */
uint16_t rf_records_classes(const struct rf_insn *insn);

/* Make the records of the wanted classes for an instruction that has just run; misses are not filled in.
 * Returns how many, RF_RECORDS_EACH at most. */
size_t rf_records_after(const struct rf_core *core, const struct rf_step *step,
                        const struct rf_before *before, uint64_t next_pc, uint32_t classes,
                        struct rf_record *out);

#endif
