/* isa.h - RV64GC instructions: from bits to a decoded form, and to text.
 *
 * Compressed instructions are expanded to the full instruction that they stand for before anything
 * else looks at them, so the rest of the machine knows only 32-bit encodings. */
#ifndef RF_MACHINE_ISA_H
#define RF_MACHINE_ISA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum rf_op {
    RF_OP_ILLEGAL,
#define INSN(id, mnemonic, match, mask, kind, operands) RF_OP_##id,
#include "machine/isa/isa.def"
#undef INSN
    RF_OP_COUNT
};

/* The kinds that the timing model and the class filters distinguish. */
enum rf_op_class {
    RF_OP_CLASS_ALU,
    RF_OP_CLASS_MULTIPLY,
    RF_OP_CLASS_DIVIDE,
    RF_OP_CLASS_LOAD,
    RF_OP_CLASS_STORE,
    RF_OP_CLASS_ATOMIC, /* loads and stores */
    RF_OP_CLASS_BRANCH,
    RF_OP_CLASS_JUMP,
    RF_OP_CLASS_FADD,
    RF_OP_CLASS_FMUL,
    RF_OP_CLASS_FMA,
    RF_OP_CLASS_FDIV,
    RF_OP_CLASS_FMOVE,
    RF_OP_CLASS_FENCE,
    RF_OP_CLASS_SYSTEM,
    RF_OP_CLASS_SKIP, /* no encoding has it: leaves its place in a sequence put in at decode */
    RF_OP_CLASS_COUNT
};

/* Register numbers: 0..31 integer, 32..63 floating point. RF_REG_NONE also takes the place of a
 * destination x0, whose writes are thrown away. From RF_REG_PRIVATE on: registers that no encoding names and only
 * instructions put in at decode can use. */
enum {
    RF_REG_FP = 32,
    RF_REG_NONE = 64,
    RF_REG_PRIVATE = 65,                   /* sixteen of them */
    RF_REG_ARGUMENT = RF_REG_PRIVATE + 16, /* four more, which a called handler finds in a0 to a3 */
    RF_REG_COUNT = RF_REG_ARGUMENT + 4
};

/* The number of "a0", "x10", "fa0" or "f10"; -1: there is none of that name. */
int rf_reg_find(const char *name, size_t n);

/* The link registers of the calling convention, ra and t0. A jump that writes one of them is a call; a jump to
 * the address that one of them holds is a return. */
static inline bool rf_reg_is_link(uint8_t reg)
{
    return reg == 1 || reg == 5;
}

struct rf_insn {
    uint8_t op;                /* enum rf_op */
    uint8_t kind;              /* enum rf_op_class */
    uint8_t length;            /* bytes: 2 or 4 */
    uint8_t rm;                /* rounding mode, 7: as frm says */
    uint8_t rd, rs1, rs2, rs3; /* register numbers or RF_REG_NONE */
    int32_t imm;               /* immediate, shift amount, or CSR number */
};

struct rf_op_info {
    const char *mnemonic;
    uint32_t match, mask;
    uint8_t kind;
    const char *operands;
};

extern const struct rf_op_info rf_op_table[RF_OP_COUNT];

/* Decode the instruction that begins with these bits; of a compressed one only the low half counts.
 * What is no instruction becomes RF_OP_ILLEGAL; it has a length, too. */
struct rf_insn rf_insn_decode(uint32_t bits);

/* The full encoding that a compressed instruction stands for; 0: illegal. */
uint32_t rf_insn_expand(uint16_t half);

/* "addi a0,a0,1", terminated, cut to `size`; `pc` for the targets. Returns the length needed. */
size_t rf_insn_print(const struct rf_insn *insn, uint64_t pc, char *text, size_t size);

#endif
