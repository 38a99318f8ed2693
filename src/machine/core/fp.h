/* fp.h - F and D arithmetic on the host's own floating point.
 *
 * The host's IEEE unit gives the same results and flags as RISC-V's (underflow after rounding on
 * both), apart from: NaN results, which are the canonical NaN here; conversions to integer, which saturate;
 * min and max; and the rounding mode rmm, which hosts do not have. Flags gather in the host's environment
 * while a core runs (rf_fp_enter to rf_fp_leave) and cost nothing until somebody reads them.
 *
 * Single precision values stand NaN-boxed in 64-bit registers. */
#ifndef RF_MACHINE_FP_H
#define RF_MACHINE_FP_H

#include <fenv.h>
#include <stdint.h>

enum { RF_FP_NX = 1, RF_FP_UF = 2, RF_FP_OF = 4, RF_FP_DZ = 8, RF_FP_NV = 16 };
enum { RF_RNE, RF_RTZ, RF_RDN, RF_RUP, RF_RMM };

/* The host's environment as it was before a core ran in it. */
struct rf_fp_host {
    fenv_t saved;
};

void rf_fp_enter(struct rf_fp_host *host, uint32_t fflags);
uint32_t rf_fp_leave(struct rf_fp_host *host); /* returns the flags */
uint32_t rf_fp_flags(void);                    /* so far */
void rf_fp_set_flags(uint32_t fflags);

enum rf_fp_binary { RF_FP_ADD, RF_FP_SUB, RF_FP_MUL, RF_FP_DIV };
enum rf_fp_fused { RF_FP_MADD, RF_FP_MSUB, RF_FP_NMSUB, RF_FP_NMADD };

/* Registers in, register out. `rm` is one of the five above, resolved. */
uint64_t rf_fp_binary_s(enum rf_fp_binary what, uint64_t a, uint64_t b, unsigned rm);
uint64_t rf_fp_binary_d(enum rf_fp_binary what, uint64_t a, uint64_t b, unsigned rm);
uint64_t rf_fp_fused_s(enum rf_fp_fused what, const uint64_t abc[3], unsigned rm);
uint64_t rf_fp_fused_d(enum rf_fp_fused what, const uint64_t abc[3], unsigned rm);
uint64_t rf_fp_sqrt_s(uint64_t a, unsigned rm);
uint64_t rf_fp_sqrt_d(uint64_t a, unsigned rm);

enum rf_fp_pick { RF_FP_MIN, RF_FP_MAX };
uint64_t rf_fp_pick_s(enum rf_fp_pick what, uint64_t a, uint64_t b);
uint64_t rf_fp_pick_d(enum rf_fp_pick what, uint64_t a, uint64_t b);

enum rf_fp_relation { RF_FP_LE, RF_FP_LT, RF_FP_EQ };
uint64_t rf_fp_compare_s(enum rf_fp_relation what, uint64_t a, uint64_t b);
uint64_t rf_fp_compare_d(enum rf_fp_relation what, uint64_t a, uint64_t b);

enum rf_fp_integer { RF_FP_W, RF_FP_WU, RF_FP_L, RF_FP_LU };
uint64_t rf_fp_to_integer_s(enum rf_fp_integer to, uint64_t a, unsigned rm);
uint64_t rf_fp_to_integer_d(enum rf_fp_integer to, uint64_t a, unsigned rm);
uint64_t rf_fp_from_integer_s(enum rf_fp_integer from, uint64_t a, unsigned rm);
uint64_t rf_fp_from_integer_d(enum rf_fp_integer from, uint64_t a, unsigned rm);
uint64_t rf_fp_narrow(uint64_t a, unsigned rm); /* d to s */
uint64_t rf_fp_widen(uint64_t a);               /* s to d */

uint64_t rf_fp_classify_s(uint64_t a);
uint64_t rf_fp_classify_d(uint64_t a);

/* A register as single precision bits: a value that is not boxed counts as the canonical NaN. */
static inline uint32_t rf_fp_unbox(uint64_t reg)
{
    return reg >> 32 == 0xffffffffu ? (uint32_t)reg : 0x7fc00000u;
}

static inline uint64_t rf_fp_box(uint32_t bits)
{
    return 0xffffffff00000000u | bits;
}

#endif
