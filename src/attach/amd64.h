/* amd64.h - what must be known of an instruction to step over it: how it is done, and which memory it touches.
 *
 *     rf_amd64_open(&insns, &execute);
 *     insn = rf_amd64_at(insns, pc, bytes, n);       kept until another takes its slot */
#ifndef RF_ATTACH_AMD64_H
#define RF_ATTACH_AMD64_H

#include "attach/execute.h"
#include <riffle/alloc.h>

/* How an instruction is stepped over. */
enum rf_amd64_way {
    RF_AMD64_EXECUTE, /* the processor does it, on copies */
    RF_AMD64_DIVIDE,  /* the same, where it raises no exception */
    RF_AMD64_NOTHING, /* nop, prefetch, fences */
    RF_AMD64_ADDRESS, /* lea */
    RF_AMD64_PUSH,
    RF_AMD64_POP,
    RF_AMD64_LEAVE,
    RF_AMD64_JUMP,
    RF_AMD64_BRANCH, /* conditional */
    RF_AMD64_CALL,
    RF_AMD64_RETURN,
    RF_AMD64_STRING, /* movs, stos, lods, scas, cmps; one round of it */
    RF_AMD64_KERNEL, /* a system call: what follows is the kernel's */
    RF_AMD64_UNKNOWN,
};

enum { RF_AMD64_MAX = 15, RF_AMD64_NO_REGISTER = 255 };

enum rf_amd64_condition {
    RF_AMD64_RCX_ZERO = 16,
    RF_AMD64_LOOP,
    RF_AMD64_LOOP_EQUAL,
    RF_AMD64_LOOP_UNEQUAL
};
enum rf_amd64_repeat {
    RF_AMD64_REPEAT_NOT,
    RF_AMD64_REPEAT,
    RF_AMD64_REPEAT_EQUAL,
    RF_AMD64_REPEAT_UNEQUAL
};

struct rf_amd64_memory {
    uint8_t base, index; /* registers, or RF_AMD64_NO_REGISTER */
    uint8_t scale;
    uint8_t segment; /* 0, or 'f' or 'g' */
    uint8_t address_bits;
    uint16_t bits; /* of the operand */
    bool is_there, reads, writes;
    int64_t displacement; /* with the pc in it where the address is relative to that */
};

struct rf_amd64 {
    uint64_t pc; /* 0: the slot is empty */
    uint8_t length, way;
    uint8_t kind;      /* enum rf_execute_kind */
    uint8_t condition; /* of a branch: that of the instruction, or enum rf_amd64_condition */
    uint8_t repeat, opcode;
    uint8_t
        reg; /* the register operand of lea, push, pop, jump, call; RF_AMD64_NO_REGISTER: none */
    uint8_t bits; /* of the operation */
    uint16_t slot;
    struct rf_amd64_memory memory;
    uint64_t
        number; /* an immediate: the target of a direct jump, what is pushed, what a return drops */
    unsigned char bytes[RF_AMD64_MAX];
};

struct rf_amd64_table;

rf_status rf_amd64_open(struct rf_amd64_table **insns, struct rf_execute *execute,
                        const struct rf_alloc *alloc);
void rf_amd64_close(struct rf_amd64_table *insns); /* NULL is fine */

/* The instruction at pc, whose bytes these are, and those behind it. */
const struct rf_amd64 *rf_amd64_at(struct rf_amd64_table *insns, uint64_t pc,
                                   const unsigned char *bytes, size_t n);

#endif
