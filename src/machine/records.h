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

/* Bytes that a load, store or atomic touches: the low bits of funct3, always. */
#define RF_RECORDS_BYTES(match) (1u << ((match) >> 12 & 3))
static inline unsigned rf_records_bytes(const struct rf_insn *insn)
{
    return RF_RECORDS_BYTES(rf_op_table[insn->op].match);
}

/* Make the record of a load or store of this many bytes; the rest of the value is cut off. Field by field: a whole
 * struct is put together elsewhere and copied by compilers, which waits for its parts. */
static inline void rf_records_memory(struct rf_record *record, const struct rf_step *step,
                                     enum rf_class class, uint64_t address, uint64_t value,
                                     unsigned bytes)
{
    record->pc = step->pc;
    record->addr = address;
    record->value = value & UINT64_MAX >> (64 - 8 * bytes);
    record->target = 0;
    record->width = (uint16_t)(8 * bytes);
    record->thread = 0;
    record->kind = (uint8_t) class;
    record->flags = record->miss = record->reserved = 0;
}

/* The record of a conditional branch that went to next_pc. */
static inline void rf_records_branch(struct rf_record *record, const struct rf_step *step,
                                     uint64_t next_pc)
{
    bool taken = next_pc != step->pc + step->insn.length;
    record->pc = step->pc;
    record->addr = record->value = 0;
    record->target = next_pc;
    record->width = record->thread = 0;
    record->kind = RF_CLASS_BRANCH;
    record->flags = taken ? RF_RECORD_TAKEN : 0;
    record->miss = record->reserved = 0;
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
