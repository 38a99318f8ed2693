/* records.h - what an executed instruction says of itself, in the terms of src/event. */
#ifndef RF_MACHINE_RECORDS_H
#define RF_MACHINE_RECORDS_H

#include "machine/core.h"
#include <riffle/event.h>

enum { RF_RECORDS_EACH = 4 }; /* an atomic is an instruction, a load, a store and a result */

/* What has to be known before the instruction runs, since it may overwrite its own operands. */
struct rf_before {
    uint64_t address; /* of a load, store or atomic */
    uint64_t operand; /* rs2 */
};

static inline struct rf_before rf_records_before(const struct rf_core *core,
                                                 const struct rf_step *step)
{
    const struct rf_insn *insn = &step->insn;
    uint64_t offset = insn->kind == RF_OP_CLASS_ATOMIC ? 0 : (uint64_t)(int64_t)insn->imm;
    return (struct rf_before){core->x[insn->rs1] + offset, core->x[insn->rs2]};
}

/* Bytes that a load, store or atomic touches. */
static inline unsigned rf_records_bytes(const struct rf_insn *insn)
{
    return 1u << (rf_op_table[insn->op].match >> 12 & 3); /* the low bits of funct3, always */
}

/* Records of the wanted classes of an instruction that has just run. Returns how many, RF_RECORDS_EACH
 * at the most. */
size_t rf_records_after(const struct rf_core *core, const struct rf_step *step,
                        const struct rf_before *before, uint32_t classes, unsigned missed,
                        struct rf_record *out);

#endif
