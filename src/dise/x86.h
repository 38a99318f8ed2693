/* x86.h - names of x86-64 instructions, for T.OPCODE natively. */
#ifndef RF_DISE_X86_H
#define RF_DISE_X86_H

#include "base/x86.h"
#include <riffle/status.h>
#include <stdbool.h>
#include <stddef.h>

enum { RF_DISE_X86_RANGES = 8 };

/* Numbers of rf_x86_opcode, both ends in. */
struct rf_dise_x86_range {
    uint32_t low, high;
};

/* The opcodes of an instruction with this name, in ascending order; how many. 0: there is none. */
size_t rf_dise_x86_find(const char *name, size_t n,
                        struct rf_dise_x86_range ranges[RF_DISE_X86_RANGES]);

/* An opcode by its bytes: 0x8b, 0x0fb6, 0x0f38f0. False: no opcode has this number. */
bool rf_dise_x86_is_opcode(uint64_t number);
struct rf_dise_x86_range rf_dise_x86_opcode(uint32_t number);

#endif
