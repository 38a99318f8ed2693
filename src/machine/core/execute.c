/* execute.c - what each instruction does: one small function per row of isa.def.
 *
 * A function gets the core and its step and returns the step to run next. Most are step + 1; a jump
 * returns the block it is linked to, or NULL with core->pc set when that block is still to be found; a fault
 * returns NULL with core->stop set and pc at the instruction.
 *
 * Where nobody looks at single instructions, a chained form of each function calls the next step itself, as a
 * tail call. That saves the way back to a loop, and each instruction jumps to its successor from a place of its
 * own, which the host's predictor can learn. `enter` and `goto` still return to the loop: a compiler that makes
 * no tail calls then needs no more stack than one block takes. A third form also puts down the records of its
 * instruction, where somebody wants these and nothing else.
 *
 * `enter` counts all instructions of a block before they run. Whoever leaves a block early subtracts those that
 * did not run (step->left of them, itself included). */
#include "machine/core/block.h"
#include "machine/records.h"
#include <string.h>

#define STEP(id)                                                                                   \
    static inline const struct rf_step *run_##id(struct rf_core *core, const struct rf_step *step)

#define RD  core->x[step->insn.rd]
#define RS1 core->x[step->insn.rs1]
#define RS2 core->x[step->insn.rs2]
#define RS3 core->x[step->insn.rs3]
#define IMM ((uint64_t)(int64_t)step->insn.imm)

typedef unsigned __int128 wide_unsigned;
typedef __int128 wide_signed;

/* Leave at this instruction, which has not run. */
static const struct rf_step *stop_at(struct rf_core *core, const struct rf_step *step,
                                     enum rf_stop stop)
{
    core->instructions -= step->left;
    core->pc = step->pc;
    core->stop = stop;
    return NULL;
}

static const struct rf_step *fault(struct rf_core *core, const struct rf_step *step,
                                   enum rf_stop stop, uint64_t address)
{
    core->fault = address;
    return stop_at(core, step, stop);
}

/* Go to a known target, through the link once it is made. */
static inline const struct rf_step *follow(struct rf_core *core, const struct rf_step *step,
                                           uint64_t target)
{
    core->instructions -= step->left - 1u;
    if (step->link != NULL)
        return step->link;
    core->pc = target;
    core->linking = (struct rf_step *)(uintptr_t)step;
    return NULL;
}

const struct rf_step *rf_execute_enter(struct rf_core *core, const struct rf_step *step)
{
    core->instructions += step->left;
    if (__builtin_expect(core->instructions > core->budget, 0))
        return stop_at(core, step, RF_STOP_BUDGET);
    return step + 1;
}

const struct rf_step *rf_execute_goto(struct rf_core *core, const struct rf_step *step)
{
    if (step->link != NULL)
        return step->link;
    core->pc = step->pc;
    core->linking = (struct rf_step *)(uintptr_t)step;
    return NULL;
}

/* --- what decode put in -------------------------------------------------------------------------- */

/* With a new state this instruction still runs as it was decoded; from the next one on the code is another. */
const struct rf_step *rf_execute_watch(struct rf_core *core, const struct rf_step *step)
{
    uint32_t state = core->watch(core->expand_context, step->which);
    if (__builtin_expect(state == core->state, 1))
        return step + 1;
    core->state = state;
    core->instructions -= step->left - 1u;
    return rf_block_detour(core, step);
}

static bool holds(const struct rf_core *core, const struct rf_step *step)
{
    uint64_t a = RS1, b = RS2;
    switch (step->insn.op) {
    case RF_OP_beq:
        return a == b;
    case RF_OP_bne:
        return a != b;
    case RF_OP_blt:
        return (int64_t)a < (int64_t)b;
    case RF_OP_bge:
        return (int64_t)a >= (int64_t)b;
    case RF_OP_bltu:
        return a < b;
    default:
        return a >= b;
    }
}

const struct rf_step *rf_execute_choose(struct rf_core *core, const struct rf_step *step)
{
    return step + 1 + (holds(core, step) == (step->which != 0));
}

const struct rf_step *rf_execute_stay(struct rf_core *core, const struct rf_step *step)
{
    (void)core;
    return step + 2;
}

const struct rf_step *rf_execute_ahead(struct rf_core *core, const struct rf_step *step)
{
    (void)core;
    return step + step->which;
}

/* The instruction is counted with its rest. */
const struct rf_step *rf_execute_call(struct rf_core *core, const struct rf_step *step)
{
    core->rest = rf_block_detour(core, step);
    core->call = step->insn.imm;
    stop_at(core, step, RF_STOP_CALL);
    if (core->rest == NULL) {
        core->instructions++;
        core->pc += step->insn.length;
    }
    return NULL;
}

static const struct rf_step *run_illegal(struct rf_core *core, const struct rf_step *step)
{
    return stop_at(core, step, RF_STOP_ILLEGAL);
}

/* --- integer ---------------------------------------------------------------------------------- */

#define REGISTER(id, expression)                                                                   \
    STEP(id)                                                                                       \
    {                                                                                              \
        uint64_t a = RS1, b = RS2;                                                                 \
        RD = (expression);                                                                         \
        return step + 1;                                                                           \
    }
#define IMMEDIATE(id, expression)                                                                  \
    STEP(id)                                                                                       \
    {                                                                                              \
        uint64_t a = RS1, b = IMM;                                                                 \
        RD = (expression);                                                                         \
        return step + 1;                                                                           \
    }
#define BOTH(id, id_immediate, expression)                                                         \
    REGISTER(id, expression) IMMEDIATE(id_immediate, expression)

/* The low word, sign-extended. */
static inline uint64_t word(uint64_t value)
{
    return (uint64_t)(int64_t)(int32_t)value;
}

BOTH(add, addi, a + b)
BOTH(slt, slti, (int64_t)a < (int64_t)b)
BOTH(sltu, sltiu, a < b)
BOTH(xor, xori, a ^ b)
BOTH(or, ori, a | b)
BOTH(and, andi, a &b)
BOTH(sll, slli, a << (b & 63))
BOTH(srl, srli, a >> (b & 63))
BOTH(sra, srai, (uint64_t)((int64_t)a >> (b & 63)))
BOTH(addw, addiw, word(a + b))
BOTH(sllw, slliw, word(a << (b & 31)))
BOTH(srlw, srliw, word((uint32_t)a >> (b & 31)))
BOTH(sraw, sraiw, (uint64_t)(int64_t)((int32_t)a >> (b & 31)))
REGISTER(sub, a - b)
REGISTER(subw, word(a - b))

STEP(lui)
{
    RD = IMM;
    return step + 1;
}

STEP(auipc)
{
    RD = step->pc + IMM;
    return step + 1;
}

/* Division by zero and overflow have defined results and no trap. */
static int64_t divide(int64_t a, int64_t b)
{
    if (b == 0)
        return -1;
    return b == -1 ? (int64_t)(0 - (uint64_t)a) : a / b;
}

static int64_t remainder_of(int64_t a, int64_t b)
{
    if (b == 0)
        return a;
    return b == -1 ? 0 : a % b;
}

REGISTER(mul, a *b)
REGISTER(mulh, (uint64_t)((wide_signed)(int64_t)a *(int64_t)b >> 64))
REGISTER(mulhsu, (uint64_t)((wide_signed)(int64_t)a *(wide_signed)b >> 64))
REGISTER(mulhu, (uint64_t)((wide_unsigned)a *b >> 64))
REGISTER(div, (uint64_t)divide((int64_t)a, (int64_t)b))
REGISTER(divu, b == 0 ? UINT64_MAX : a / b)
REGISTER(rem, (uint64_t)remainder_of((int64_t)a, (int64_t)b))
REGISTER(remu, b == 0 ? a : a % b)
REGISTER(mulw, word(a *b))
REGISTER(divw, word((uint64_t)divide((int32_t)a, (int32_t)b)))
REGISTER(divuw, (uint32_t)b == 0 ? UINT64_MAX : word((uint32_t)a / (uint32_t)b))
REGISTER(remw, word((uint64_t)remainder_of((int32_t)a, (int32_t)b)))
REGISTER(remuw, word((uint32_t)b == 0 ? a : (uint32_t)a % (uint32_t)b))

/* --- transfers of control --------------------------------------------------------------------- */

#define BRANCH(id, condition)                                                                      \
    STEP(id)                                                                                       \
    {                                                                                              \
        uint64_t a = RS1, b = RS2;                                                                 \
        return (condition) ? follow(core, step, step->pc + IMM) : step + 1;                        \
    }

BRANCH(beq, a == b)
BRANCH(bne, a != b)
BRANCH(blt, (int64_t)a < (int64_t)b)
BRANCH(bge, (int64_t)a >= (int64_t)b)
BRANCH(bltu, a < b)
BRANCH(bgeu, a >= b)

STEP(jal)
{
    RD = step->pc + step->insn.length;
    return follow(core, step, step->pc + IMM);
}

STEP(jalr)
{
    uint64_t target = (RS1 + IMM) & ~UINT64_C(1);
    RD = step->pc + step->insn.length;
    core->pc = target;
    const struct rf_step *block = *rf_block_place(core->blocks, target, core->state);
    return block != NULL && block->pc == target && block->which == core->state ? block : NULL;
}

/* --- memory ----------------------------------------------------------------------------------- */

#define LOAD(id, type, expression)                                                                 \
    STEP(id)                                                                                       \
    {                                                                                              \
        type value;                                                                                \
        uint64_t address = RS1 + IMM;                                                              \
        const uint8_t *at = rf_memory_at(&core->memory, address, sizeof value, RF_READ);           \
        if (__builtin_expect(at == NULL, 0))                                                       \
            return fault(core, step, RF_STOP_LOAD, address);                                       \
        memcpy(&value, at, sizeof value);                                                          \
        RD = (expression);                                                                         \
        return step + 1;                                                                           \
    }

LOAD(lb, int8_t, (uint64_t)(int64_t)value)
LOAD(lh, int16_t, (uint64_t)(int64_t)value)
LOAD(lw, int32_t, (uint64_t)(int64_t)value)
LOAD(ld, uint64_t, value)
LOAD(lbu, uint8_t, value)
LOAD(lhu, uint16_t, value)
LOAD(lwu, uint32_t, value)
LOAD(flw, uint32_t, rf_fp_box(value))
LOAD(fld, uint64_t, value)

#define STORE(id, type)                                                                            \
    STEP(id)                                                                                       \
    {                                                                                              \
        type value = (type)RS2;                                                                    \
        uint64_t address = RS1 + IMM;                                                              \
        uint8_t *at = rf_memory_at(&core->memory, address, sizeof value, RF_WRITE);                \
        if (__builtin_expect(at == NULL, 0))                                                       \
            return fault(core, step, RF_STOP_STORE, address);                                      \
        memcpy(at, &value, sizeof value);                                                          \
        return step + 1;                                                                           \
    }

STORE(sb, uint8_t)
STORE(sh, uint16_t)
STORE(sw, uint32_t)
STORE(sd, uint64_t)
STORE(fsw, uint32_t)
STORE(fsd, uint64_t)

/* Atomics want an aligned address that can be written, or they fault. */
static uint8_t *atomic_at(struct rf_core *core, const struct rf_step *step, size_t width)
{
    uint64_t address = RS1;
    uint8_t *at = rf_memory_at(&core->memory, address, width, RF_WRITE);
    if (at != NULL && (address & (width - 1)) == 0)
        return at;
    fault(core, step, RF_STOP_STORE, address);
    return NULL;
}

#define ATOMIC(id, type, extend, expression)                                                       \
    STEP(id)                                                                                       \
    {                                                                                              \
        type old, b = (type)RS2, result;                                                           \
        uint8_t *at = atomic_at(core, step, sizeof old);                                           \
        if (at == NULL)                                                                            \
            return NULL;                                                                           \
        memcpy(&old, at, sizeof old);                                                              \
        result = (type)(expression);                                                               \
        memcpy(at, &result, sizeof result);                                                        \
        RD = extend(old);                                                                          \
        return step + 1;                                                                           \
    }
#define SAME(value) (value)
#define ATOMICS(name, expression)                                                                  \
    ATOMIC(name##_w, uint32_t, word, expression)                                                   \
    ATOMIC(name##_d, uint64_t, SAME, expression)
#define LESS(type_w, type_d, a, b)                                                                 \
    (sizeof(a) == 4 ? (type_w)(a) < (type_w)(b) : (type_d)(a) < (type_d)(b))

ATOMICS(amoswap, b)
ATOMICS(amoadd, old + b)
ATOMICS(amoxor, old ^ b)
ATOMICS(amoand, old &b)
ATOMICS(amoor, old | b)
ATOMICS(amomin, LESS(int32_t, int64_t, old, b) ? old : b)
ATOMICS(amomax, LESS(int32_t, int64_t, b, old) ? old : b)
ATOMICS(amominu, old < b ? old : b)
ATOMICS(amomaxu, old > b ? old : b)

#define RESERVE(id, type, extend)                                                                  \
    STEP(id)                                                                                       \
    {                                                                                              \
        type value;                                                                                \
        const uint8_t *at = rf_memory_at(&core->memory, RS1, sizeof value, RF_READ);               \
        if (at == NULL || (RS1 & (sizeof value - 1)) != 0)                                         \
            return fault(core, step, RF_STOP_LOAD, RS1);                                           \
        memcpy(&value, at, sizeof value);                                                          \
        core->reserved = true;                                                                     \
        core->reserved_address = RS1;                                                              \
        RD = extend(value);                                                                        \
        return step + 1;                                                                           \
    }

RESERVE(lr_w, uint32_t, word)
RESERVE(lr_d, uint64_t, SAME)

#define CONDITIONAL(id, type)                                                                      \
    STEP(id)                                                                                       \
    {                                                                                              \
        type value = (type)RS2;                                                                    \
        uint8_t *at = atomic_at(core, step, sizeof value);                                         \
        if (at == NULL)                                                                            \
            return NULL;                                                                           \
        bool success = core->reserved && core->reserved_address == RS1;                            \
        core->reserved = false;                                                                    \
        if (success)                                                                               \
            memcpy(at, &value, sizeof value);                                                      \
        RD = !success;                                                                             \
        return step + 1;                                                                           \
    }

CONDITIONAL(sc_w, uint32_t)
CONDITIONAL(sc_d, uint64_t)

/* --- floating point --------------------------------------------------------------------------- */

enum { BAD_ROUNDING = 8 };

static unsigned rounding(const struct rf_core *core, const struct rf_step *step)
{
    unsigned rm = step->insn.rm == 7 ? core->frm : step->insn.rm;
    return rm <= RF_RMM ? rm : BAD_ROUNDING;
}

#define ROUNDED(id, expression)                                                                    \
    STEP(id)                                                                                       \
    {                                                                                              \
        unsigned rm = rounding(core, step);                                                        \
        if (rm == BAD_ROUNDING)                                                                    \
            return stop_at(core, step, RF_STOP_ILLEGAL);                                           \
        RD = (expression);                                                                         \
        return step + 1;                                                                           \
    }
#define PLAIN(id, expression)                                                                      \
    STEP(id)                                                                                       \
    {                                                                                              \
        RD = (expression);                                                                         \
        return step + 1;                                                                           \
    }
#define ABC ((const uint64_t[3]){RS1, RS2, RS3})

#define ARITHMETIC(w)                                                                              \
    ROUNDED(fadd_##w, rf_fp_binary_##w(RF_FP_ADD, RS1, RS2, rm))                                   \
    ROUNDED(fsub_##w, rf_fp_binary_##w(RF_FP_SUB, RS1, RS2, rm))                                   \
    ROUNDED(fmul_##w, rf_fp_binary_##w(RF_FP_MUL, RS1, RS2, rm))                                   \
    ROUNDED(fdiv_##w, rf_fp_binary_##w(RF_FP_DIV, RS1, RS2, rm))                                   \
    ROUNDED(fsqrt_##w, rf_fp_sqrt_##w(RS1, rm))                                                    \
    ROUNDED(fmadd_##w, rf_fp_fused_##w(RF_FP_MADD, ABC, rm))                                       \
    ROUNDED(fmsub_##w, rf_fp_fused_##w(RF_FP_MSUB, ABC, rm))                                       \
    ROUNDED(fnmsub_##w, rf_fp_fused_##w(RF_FP_NMSUB, ABC, rm))                                     \
    ROUNDED(fnmadd_##w, rf_fp_fused_##w(RF_FP_NMADD, ABC, rm))                                     \
    PLAIN(fmin_##w, rf_fp_pick_##w(RF_FP_MIN, RS1, RS2))                                           \
    PLAIN(fmax_##w, rf_fp_pick_##w(RF_FP_MAX, RS1, RS2))                                           \
    PLAIN(feq_##w, rf_fp_compare_##w(RF_FP_EQ, RS1, RS2))                                          \
    PLAIN(flt_##w, rf_fp_compare_##w(RF_FP_LT, RS1, RS2))                                          \
    PLAIN(fle_##w, rf_fp_compare_##w(RF_FP_LE, RS1, RS2))                                          \
    PLAIN(fclass_##w, rf_fp_classify_##w(RS1))

#define CONVERSIONS(w, i, which)                                                                   \
    ROUNDED(fcvt_##i##_##w, rf_fp_to_integer_##w(which, RS1, rm))                                  \
    ROUNDED(fcvt_##w##_##i, rf_fp_from_integer_##w(which, RS1, rm))

ARITHMETIC(s)
ARITHMETIC(d)
CONVERSIONS(s, w, RF_FP_W)
CONVERSIONS(s, wu, RF_FP_WU)
CONVERSIONS(s, l, RF_FP_L)
CONVERSIONS(s, lu, RF_FP_LU)
CONVERSIONS(d, w, RF_FP_W)
CONVERSIONS(d, wu, RF_FP_WU)
CONVERSIONS(d, l, RF_FP_L)
CONVERSIONS(d, lu, RF_FP_LU)
ROUNDED(fcvt_s_d, rf_fp_narrow(RS1, rm))
ROUNDED(fcvt_d_s, rf_fp_widen(RS1)) /* exact, but a bad rounding mode is still illegal */

#define SIGN_S 0x80000000u
#define SIGN_D 0x8000000000000000u
#define SIGNS(w, unbox, box, sign)                                                                 \
    PLAIN(fsgnj_##w, box((unbox(RS1) & ~sign) | (unbox(RS2) & sign)))                              \
    PLAIN(fsgnjn_##w, box((unbox(RS1) & ~sign) | (~unbox(RS2) & sign)))                            \
    PLAIN(fsgnjx_##w, box(unbox(RS1) ^ (unbox(RS2) & sign)))

SIGNS(s, rf_fp_unbox, rf_fp_box, SIGN_S)
SIGNS(d, SAME, SAME, SIGN_D)
PLAIN(fmv_x_w, word(RS1))
PLAIN(fmv_w_x, rf_fp_box((uint32_t)RS1))
PLAIN(fmv_x_d, RS1)
PLAIN(fmv_d_x, RS1)

/* --- system ----------------------------------------------------------------------------------- */

STEP(fence)
{
    (void)core;
    return step + 1;
}

STEP(fence_i)
{
    core->stale = true;
    core->pc = step->pc + step->insn.length;
    return NULL;
}

STEP(ecall)
{
    return stop_at(core, step, RF_STOP_SYSCALL);
}

STEP(ebreak)
{
    return stop_at(core, step, RF_STOP_BREAK);
}

#define CSR(id, how, operand)                                                                      \
    STEP(id)                                                                                       \
    {                                                                                              \
        return rf_csr_change(core, step, how, operand) ? step + 1                                  \
                                                       : stop_at(core, step, RF_STOP_ILLEGAL);     \
    }

CSR(csrrw, RF_CSR_WRITE, RS1)
CSR(csrrs, RF_CSR_SET, RS1)
CSR(csrrc, RF_CSR_CLEAR, RS1)
CSR(csrrwi, RF_CSR_WRITE, step->insn.rs2)
CSR(csrrsi, RF_CSR_SET, step->insn.rs2)
CSR(csrrci, RF_CSR_CLEAR, step->insn.rs2)

#define INSN(id, mnemonic, match, mask, kind, operands)                                            \
    static const struct rf_step *chain_##id(struct rf_core *core, const struct rf_step *step)      \
    {                                                                                              \
        const struct rf_step *next = run_##id(core, step);                                         \
        return next != NULL ? next->run(core, next) : NULL;                                        \
    }
#include "machine/isa/isa.def"
#undef INSN

/* The rare ones, and all where instructions are wanted, too. No pointer to a local leaves the steps: they could not make
 * tail calls then. */
static __attribute__((noinline)) void record_any(struct rf_core *core, const struct rf_step *step,
                                                 uint64_t address, uint64_t operand,
                                                 uint64_t next_pc)
{
    const struct rf_before before = {.address = address, .operand = operand};
    struct rf_recording *to = &core->recording;
    to->next += rf_records_after(core, step, &before, next_pc, to->classes, to->next);
}

/* Kind and bytes are known when this is compiled. */
static inline __attribute__((always_inline)) void record(struct rf_core *core,
                                                         const struct rf_step *step,
                                                         struct rf_before before, uint64_t next_pc,
                                                         unsigned kind, unsigned bytes)
{
    struct rf_recording *to = &core->recording;
    bool alone = (to->classes >> RF_CLASS_INSN & 1) == 0;
    if (kind == RF_OP_CLASS_LOAD && alone)
        rf_records_memory(to->next++, step, RF_CLASS_LOAD, before.address, RD, bytes);
    else if (kind == RF_OP_CLASS_STORE && alone)
        rf_records_memory(to->next++, step, RF_CLASS_STORE, before.address, before.operand, bytes);
    else if (kind == RF_OP_CLASS_BRANCH && alone)
        rf_records_branch(to->next++, step, next_pc);
    else
        record_any(core, step, before.address, before.operand, next_pc);
    if (to->next >= to->full)
        core->budget = 0; /* the next `enter` ends the run */
}

/* A system call retires, whatever becomes of it; where the core stopped for anything else, nothing did. */
#define INSN(id, mnemonic, match, mask, kind, operands)                                            \
    static const struct rf_step *record_##id(struct rf_core *core, const struct rf_step *step)     \
    {                                                                                              \
        struct rf_before before = rf_records_before(core, step);                                   \
        const struct rf_step *next = run_##id(core, step);                                         \
        if (next == NULL && core->stop > RF_STOP_SYSCALL)                                          \
            return NULL;                                                                           \
        record(core, step, before, next != NULL ? next->pc : core->pc, RF_OP_CLASS_##kind,         \
               RF_RECORDS_BYTES(match));                                                           \
        return next != NULL ? next->run(core, next) : NULL;                                        \
    }
#include "machine/isa/isa.def"
#undef INSN

rf_step_run *const rf_execute_table[RF_OP_COUNT] = {
    [RF_OP_ILLEGAL] = run_illegal,
#define INSN(id, mnemonic, match, mask, kind, operands) [RF_OP_##id] = run_##id,
#include "machine/isa/isa.def"
#undef INSN
};

rf_step_run *const rf_execute_chained[RF_OP_COUNT] = {
    [RF_OP_ILLEGAL] = run_illegal,
#define INSN(id, mnemonic, match, mask, kind, operands) [RF_OP_##id] = chain_##id,
#include "machine/isa/isa.def"
#undef INSN
};

rf_step_run *const rf_execute_recorded[RF_OP_COUNT] = {
    [RF_OP_ILLEGAL] = run_illegal,
#define INSN(id, mnemonic, match, mask, kind, operands) [RF_OP_##id] = record_##id,
#include "machine/isa/isa.def"
#undef INSN
};

/* An instruction that is counted. */
const struct rf_step *rf_execute_tallied(struct rf_core *core, const struct rf_step *step)
{
    (*core->tallies)[step->which]++;
    return rf_execute_table[step->insn.op](core, step);
}

const struct rf_step *rf_execute_tallied_chained(struct rf_core *core, const struct rf_step *step)
{
    (*core->tallies)[step->which]++;
    return rf_execute_chained[step->insn.op](core, step);
}
