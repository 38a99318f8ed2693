/* step.c - step through a program without stepping it.
 *
 * A thread that is single-stepped with ptrace dies when the tracer is killed: Linux leaves the trap flag set, and the next
 * instruction raises a SIGTRAP that nobody takes. So the thread is only stopped, for a blink. Its registers and the pages
 * that it touches are copied, and the steps are done on the copies, in this process:
 *
 *     registers --> [decode] --+--> computes: the processor does it (execute.c)  --> registers
 *     pages     -->            +--> transfers, stack, strings: done here          --> pages of the copy
 *                              +--> system call, unknown: the burst is over
 *
 * The thread goes on from where it was stopped and will do the same by itself, unless another thread or a signal changes
 * what it sees. Its memory is never written.
 *
 * Cost per instruction: 0.06 us in a small loop, about 1 us where each burst needs new pages; ptrace takes 2 to 20 us. */
#include "attach/step.h"
#include "attach/amd64.h"
#include "base/alloc.h"
#include "base/error.h"
#include <string.h>

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI };
enum {
    CARRY = 1,
    PARITY = 4,
    ADJUST = 16,
    ZERO = 64,
    SIGN = 128,
    DIRECTION = 1024,
    OVERFLOW = 2048
};
#define FLAGS_KEPT                                                                                 \
    UINT64_C(0xcd7) /* those of arithmetic, the direction, and the one that is always set */

struct rf_stepper {
    struct rf_alloc alloc;
    struct rf_execute execute;
    struct rf_amd64_table *insns;
    struct rf_pages *pages;
    uint64_t *registers; /* in execute.data */
    uint64_t pc, fs, gs;
};

/* ---- opening ---- */

rf_status rf_stepper_open(struct rf_stepper **opened, const struct rf_alloc *given,
                          struct rf_error *error)
{
    const struct rf_alloc *alloc = rf_alloc_or_standard(given);
    struct rf_stepper *stepper = *opened = rf_alloc_zeroed(alloc, sizeof *stepper);
    if (stepper == NULL)
        return rf_fail(error, RF_ENOMEM, "no memory to attach");
    stepper->alloc = *alloc;
    rf_status status = rf_execute_open(&stepper->execute, error);
    if (status == RF_OK && (rf_amd64_open(&stepper->insns, &stepper->execute, alloc) != RF_OK ||
                            rf_pages_open(&stepper->pages, alloc) != RF_OK))
        status = rf_fail(error, RF_ENOMEM, "no memory to attach");
    if (status != RF_OK) {
        rf_stepper_close(stepper);
        *opened = NULL;
        return status;
    }
    stepper->registers = stepper->execute.data->registers;
    return RF_OK;
}

void rf_stepper_close(struct rf_stepper *stepper)
{
    if (stepper == NULL)
        return;
    const struct rf_alloc alloc = stepper->alloc;
    rf_pages_close(stepper->pages);
    rf_amd64_close(stepper->insns);
    rf_execute_close(&stepper->execute);
    rf_alloc_free(&alloc, stepper, sizeof *stepper);
}

unsigned char *rf_stepper_state(struct rf_stepper *stepper)
{
    return stepper->execute.data->state;
}

uint64_t rf_stepper_pc(const struct rf_stepper *stepper)
{
    return stepper->pc;
}

const uint64_t *rf_stepper_registers(const struct rf_stepper *stepper)
{
    return stepper->registers;
}

struct rf_pages *rf_stepper_pages(struct rf_stepper *stepper)
{
    return stepper->pages;
}

void rf_stepper_begin(struct rf_stepper *stepper, pid_t pid, const struct user_regs_struct *from)
{
    const uint64_t registers[16] = {
        from->rax, from->rcx, from->rdx, from->rbx, from->rsp, from->rbp, from->rsi, from->rdi,
        from->r8,  from->r9,  from->r10, from->r11, from->r12, from->r13, from->r14, from->r15};
    memcpy(stepper->registers, registers, sizeof registers);
    stepper->execute.data->flags = from->eflags & FLAGS_KEPT;
    stepper->pc = from->rip;
    stepper->fs = from->fs_base;
    stepper->gs = from->gs_base;
    rf_execute_mask_exceptions(&stepper->execute);
    rf_pages_begin(stepper->pages, pid);
}

/* ---- records ---- */

static void put(struct rf_trail *trail, struct rf_record record)
{
    if ((trail->classes >> record.kind & 1) == 0 || trail->n == RF_TRAIL_MAX)
        return;
    record.thread = trail->thread;
    trail->records[trail->n++] = record;
}

/* The low 64 bits of an operand. */
static uint64_t low_of(const void *bytes, size_t n)
{
    uint64_t value = 0;
    memcpy(&value, bytes, n < sizeof value ? n : sizeof value);
    return value;
}

static void put_load(struct rf_trail *trail, uint64_t pc, uint64_t address, const void *bytes,
                     size_t n)
{
    put(trail, (struct rf_record){.pc = pc,
                                  .addr = address,
                                  .value = low_of(bytes, n),
                                  .width = (uint16_t)(8 * n),
                                  .kind = RF_CLASS_LOAD});
}

static void put_transfer(struct rf_trail *trail, uint64_t pc, uint64_t target, enum rf_class kind,
                         unsigned flags)
{
    put(trail, (struct rf_record){
                   .pc = pc, .target = target, .kind = (uint8_t)kind, .flags = (uint8_t)flags});
}

/* ---- memory ---- */

static uint64_t address_of(const struct rf_stepper *stepper, const struct rf_amd64_memory *memory)
{
    uint64_t address = (uint64_t)memory->displacement;
    if (memory->base != RF_AMD64_NO_REGISTER)
        address += stepper->registers[memory->base];
    if (memory->index != RF_AMD64_NO_REGISTER)
        address += stepper->registers[memory->index] * memory->scale;
    if (memory->address_bits == 32)
        address = (uint32_t)address;
    if (memory->segment != 0)
        address += memory->segment == 'f' ? stepper->fs : stepper->gs;
    return address;
}

static bool load(struct rf_stepper *stepper, struct rf_trail *trail, uint64_t address, void *bytes,
                 size_t n)
{
    if (!rf_pages_read(stepper->pages, address, bytes, n))
        return false;
    put_load(trail, stepper->pc, address, bytes, n);
    return true;
}

static bool store(struct rf_stepper *stepper, struct rf_trail *trail, uint64_t address,
                  const void *bytes, size_t n)
{
    unsigned char before[RF_EXECUTE_OPERAND_MAX];
    if (!rf_pages_read(stepper->pages, address, before, n) ||
        !rf_pages_write(stepper->pages, address, bytes, n))
        return false;
    put(trail, (struct rf_record){.pc = stepper->pc,
                                  .addr = address,
                                  .value = low_of(bytes, n),
                                  .target = memcmp(before, bytes, n) == 0,
                                  .width = (uint16_t)(8 * n),
                                  .kind = RF_CLASS_STORE});
    return true;
}

static bool push(struct rf_stepper *stepper, struct rf_trail *trail, uint64_t value)
{
    if (!store(stepper, trail, stepper->registers[RSP] - 8, &value, 8))
        return false;
    stepper->registers[RSP] -= 8;
    return true;
}

static bool pop(struct rf_stepper *stepper, struct rf_trail *trail, uint64_t *value)
{
    if (!load(stepper, trail, stepper->registers[RSP], value, 8))
        return false;
    stepper->registers[RSP] += 8;
    return true;
}

/* ---- what the processor does ---- */

static enum rf_stepped execute(struct rf_stepper *stepper, struct rf_trail *trail,
                               const struct rf_amd64 *insn)
{
    const struct rf_amd64_memory *memory = &insn->memory;
    const size_t n = memory->bits / 8u;
    unsigned char *operand = stepper->execute.data->operand;
    uint64_t address = 0;
    if (memory->is_there) {
        address = address_of(stepper, memory);
        if (!rf_pages_read(stepper->pages, address, operand, n))
            return RF_STEPPED_UNREADABLE;
        if (memory->reads)
            put_load(trail, insn->pc, address, operand, n);
    }
    rf_execute_run(&stepper->execute, insn->slot, insn->kind);
    if (insn->kind == RF_EXECUTE_WIDE)
        rf_execute_mask_exceptions(&stepper->execute);
    if (memory->writes && !store(stepper, trail, address, operand, n))
        return RF_STEPPED_UNREADABLE;
    stepper->pc += insn->length;
    return RF_STEPPED_DONE;
}

/* Does the quotient of rdx:rax fit? Where it may not, the program traps, or nearly does. */
static bool divides(const struct rf_stepper *stepper, const struct rf_amd64 *insn, uint64_t divisor)
{
    uint64_t low = stepper->registers[RAX], high = stepper->registers[RDX];
    bool is_signed = insn->condition != 0;
    if (insn->bits == 32) {
        low = (uint32_t)low | high << 32;
        high = is_signed && (int64_t)low < 0 ? UINT64_MAX : 0;
        divisor = is_signed ? (uint64_t)(int64_t)(int32_t)divisor : (uint32_t)divisor;
    }
    unsigned __int128 dividend = (unsigned __int128)high << 64 | low;
    if (is_signed && (int64_t)high < 0)
        dividend = -dividend;
    if (is_signed && (int64_t)divisor < 0)
        divisor = -divisor;
    unsigned bits = is_signed ? insn->bits - 1u : insn->bits;
    return divisor != 0 && dividend / divisor >> bits == 0;
}

static enum rf_stepped divide(struct rf_stepper *stepper, struct rf_trail *trail,
                              const struct rf_amd64 *insn)
{
    uint64_t divisor = 0;
    if (!insn->memory.is_there)
        divisor = stepper->registers[insn->reg];
    else if (!rf_pages_read(stepper->pages, address_of(stepper, &insn->memory), &divisor,
                            insn->bits / 8u))
        return RF_STEPPED_UNREADABLE;
    return divides(stepper, insn, divisor) ? execute(stepper, trail, insn) : RF_STEPPED_UNREADABLE;
}

/* ---- what is done here ---- */

static void set_register(struct rf_stepper *stepper, unsigned number, unsigned bits, uint64_t value)
{
    uint64_t *to = &stepper->registers[number];
    if (bits == 16)
        *to = (*to & ~UINT64_C(0xffff)) | (value & 0xffff);
    else
        *to = bits == 32 ? (uint32_t)value : value;
}

/* The operand of a push, jump or call. */
static bool take_operand(struct rf_stepper *stepper, struct rf_trail *trail,
                         const struct rf_amd64 *insn, uint64_t *value)
{
    *value = insn->number;
    if (insn->memory.is_there)
        return load(stepper, trail, address_of(stepper, &insn->memory), value, 8);
    if (insn->reg != RF_AMD64_NO_REGISTER)
        *value = stepper->registers[insn->reg];
    return true;
}

static enum rf_stepped step_pop(struct rf_stepper *stepper, struct rf_trail *trail,
                                const struct rf_amd64 *insn)
{
    uint64_t value;
    if (!pop(stepper, trail, &value))
        return RF_STEPPED_UNREADABLE;
    if (!insn->memory.is_there)
        stepper->registers[insn->reg] = value;
    else if (!store(stepper, trail, address_of(stepper, &insn->memory), &value, 8))
        return RF_STEPPED_UNREADABLE;
    stepper->pc += insn->length;
    return RF_STEPPED_DONE;
}

static enum rf_stepped step_push(struct rf_stepper *stepper, struct rf_trail *trail,
                                 const struct rf_amd64 *insn)
{
    uint64_t value;
    if (!take_operand(stepper, trail, insn, &value) || !push(stepper, trail, value))
        return RF_STEPPED_UNREADABLE;
    stepper->pc += insn->length;
    return RF_STEPPED_DONE;
}

static enum rf_stepped step_leave(struct rf_stepper *stepper, struct rf_trail *trail,
                                  const struct rf_amd64 *insn)
{
    uint64_t value;
    if (!load(stepper, trail, stepper->registers[RBP], &value, 8))
        return RF_STEPPED_UNREADABLE;
    stepper->registers[RSP] = stepper->registers[RBP] + 8;
    stepper->registers[RBP] = value;
    stepper->pc += insn->length;
    return RF_STEPPED_DONE;
}

static unsigned indirect(const struct rf_amd64 *insn)
{
    bool is_indirect = insn->memory.is_there || insn->reg != RF_AMD64_NO_REGISTER;
    return is_indirect ? RF_RECORD_INDIRECT : 0;
}

static enum rf_stepped step_jump(struct rf_stepper *stepper, struct rf_trail *trail,
                                 const struct rf_amd64 *insn)
{
    uint64_t target;
    if (!take_operand(stepper, trail, insn, &target))
        return RF_STEPPED_UNREADABLE;
    put_transfer(trail, insn->pc, target, RF_CLASS_JUMP, indirect(insn));
    stepper->pc = target;
    return RF_STEPPED_DONE;
}

static enum rf_stepped step_call(struct rf_stepper *stepper, struct rf_trail *trail,
                                 const struct rf_amd64 *insn)
{
    uint64_t target;
    if (!take_operand(stepper, trail, insn, &target) ||
        !push(stepper, trail, insn->pc + insn->length))
        return RF_STEPPED_UNREADABLE;
    put_transfer(trail, insn->pc, target, RF_CLASS_CALL, indirect(insn));
    stepper->pc = target;
    return RF_STEPPED_DONE;
}

static enum rf_stepped step_return(struct rf_stepper *stepper, struct rf_trail *trail,
                                   const struct rf_amd64 *insn)
{
    uint64_t target;
    if (!pop(stepper, trail, &target))
        return RF_STEPPED_UNREADABLE;
    stepper->registers[RSP] += insn->number;
    put_transfer(trail, insn->pc, target, RF_CLASS_RETURN, 0);
    stepper->pc = target;
    return RF_STEPPED_DONE;
}

/* The sixteen conditions of jcc: pairs of one and its contrary. */
static bool holds(uint64_t flags, unsigned condition)
{
    bool carry = (flags & CARRY) != 0, zero = (flags & ZERO) != 0, sign = (flags & SIGN) != 0;
    bool overflow = (flags & OVERFLOW) != 0, parity = (flags & PARITY) != 0;
    const bool pairs[8] = {overflow,
                           carry,
                           zero,
                           carry || zero,
                           sign,
                           parity,
                           sign != overflow,
                           zero || sign != overflow};
    return pairs[condition / 2] != (condition % 2 != 0);
}

static bool is_taken(struct rf_stepper *stepper, const struct rf_amd64 *insn)
{
    uint64_t flags = stepper->execute.data->flags;
    if (insn->condition < 16)
        return holds(flags, insn->condition);
    if (insn->condition == RF_AMD64_RCX_ZERO)
        return stepper->registers[RCX] == 0;
    bool left = --stepper->registers[RCX] != 0, zero = (flags & ZERO) != 0;
    if (insn->condition == RF_AMD64_LOOP)
        return left;
    return left && zero == (insn->condition == RF_AMD64_LOOP_EQUAL);
}

static enum rf_stepped step_branch(struct rf_stepper *stepper, struct rf_trail *trail,
                                   const struct rf_amd64 *insn)
{
    bool taken = is_taken(stepper, insn);
    uint64_t target = taken ? insn->number : insn->pc + insn->length;
    put_transfer(trail, insn->pc, target, RF_CLASS_BRANCH, taken ? RF_RECORD_TAKEN : 0);
    stepper->pc = target;
    return RF_STEPPED_DONE;
}

/* ---- strings ---- */

/* The flags that left - right sets. */
static uint64_t compare(uint64_t left, uint64_t right, unsigned bits)
{
    uint64_t mask = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1, top = UINT64_C(1)
                                                                               << (bits - 1);
    uint64_t difference = (left - right) & mask;
    uint64_t flags = 0;
    flags |= left < right ? CARRY : 0;
    flags |= difference == 0 ? ZERO : 0;
    flags |= (difference & top) != 0 ? SIGN : 0;
    flags |= ((left ^ right) & (left ^ difference) & top) != 0 ? OVERFLOW : 0;
    flags |= ((left ^ right ^ difference) & ADJUST) != 0 ? ADJUST : 0;
    flags |= __builtin_parityll(difference & 0xff) == 0 ? PARITY : 0;
    return flags;
}

/* One round: what it reads, what it writes, what it compares. */
static bool round_of(struct rf_stepper *stepper, struct rf_trail *trail,
                     const struct rf_amd64 *insn)
{
    enum { MOVS = 0xa4, CMPS = 0xa6, STOS = 0xaa, LODS = 0xac, SCAS = 0xae };
    const unsigned operation = insn->opcode & 0xfeu, n = insn->bits / 8u;
    uint64_t *r = stepper->registers, from = 0, to = 0;
    const uint64_t step = (stepper->execute.data->flags & DIRECTION) != 0 ? -(uint64_t)n : n;
    bool reads_from = operation == MOVS || operation == CMPS || operation == LODS;
    bool reads_to = operation == CMPS || operation == SCAS;
    if ((reads_from && !load(stepper, trail, r[RSI], &from, n)) ||
        (reads_to && !load(stepper, trail, r[RDI], &to, n)))
        return false;
    if (operation == STOS || operation == SCAS)
        memcpy(&from, &r[RAX], n);
    if ((operation == MOVS || operation == STOS) && !store(stepper, trail, r[RDI], &from, n))
        return false;
    if (operation == LODS)
        set_register(stepper, RAX, insn->bits == 8 ? 16 : insn->bits,
                     insn->bits == 8 ? (r[RAX] & 0xff00) | from : from);
    if (reads_to)
        stepper->execute.data->flags =
            (stepper->execute.data->flags &
             ~(uint64_t)(CARRY | PARITY | ADJUST | ZERO | SIGN | OVERFLOW)) |
            compare(from, to, insn->bits);
    r[RSI] += reads_from ? step : 0;
    r[RDI] += operation == LODS ? 0 : step;
    return true;
}

static enum rf_stepped step_string(struct rf_stepper *stepper, struct rf_trail *trail,
                                   const struct rf_amd64 *insn)
{
    bool repeats = insn->repeat != RF_AMD64_REPEAT_NOT;
    bool left = true;
    if (!repeats || stepper->registers[RCX] != 0) {
        if (!round_of(stepper, trail, insn))
            return RF_STEPPED_UNREADABLE;
        left = repeats && --stepper->registers[RCX] != 0;
        bool zero = (stepper->execute.data->flags & ZERO) != 0;
        if (insn->repeat == RF_AMD64_REPEAT_EQUAL || insn->repeat == RF_AMD64_REPEAT_UNEQUAL)
            left = left && zero == (insn->repeat == RF_AMD64_REPEAT_EQUAL);
    } else {
        left = false;
    }
    stepper->pc += left ? 0 : insn->length;
    return RF_STEPPED_DONE;
}

/* ---- a step ---- */

static enum rf_stepped step_over(struct rf_stepper *stepper, struct rf_trail *trail,
                                 const struct rf_amd64 *insn)
{
    switch ((enum rf_amd64_way)insn->way) {
    case RF_AMD64_EXECUTE:
        return execute(stepper, trail, insn);
    case RF_AMD64_DIVIDE:
        return divide(stepper, trail, insn);
    case RF_AMD64_ADDRESS:
        set_register(stepper, insn->reg, insn->bits, address_of(stepper, &insn->memory));
        stepper->pc += insn->length;
        return RF_STEPPED_DONE;
    case RF_AMD64_NOTHING:
        stepper->pc += insn->length;
        return RF_STEPPED_DONE;
    case RF_AMD64_PUSH:
        return step_push(stepper, trail, insn);
    case RF_AMD64_POP:
        return step_pop(stepper, trail, insn);
    case RF_AMD64_LEAVE:
        return step_leave(stepper, trail, insn);
    case RF_AMD64_JUMP:
        return step_jump(stepper, trail, insn);
    case RF_AMD64_BRANCH:
        return step_branch(stepper, trail, insn);
    case RF_AMD64_CALL:
        return step_call(stepper, trail, insn);
    case RF_AMD64_RETURN:
        return step_return(stepper, trail, insn);
    case RF_AMD64_STRING:
        return step_string(stepper, trail, insn);
    case RF_AMD64_KERNEL:
        return RF_STEPPED_KERNEL;
    default:
        return RF_STEPPED_UNKNOWN;
    }
}

enum rf_stepped rf_stepper_step(struct rf_stepper *stepper, struct rf_trail *trail)
{
    unsigned char bytes[RF_AMD64_MAX];
    size_t n = rf_pages_read_some(stepper->pages, stepper->pc, bytes, sizeof bytes);
    trail->n = 0;
    if (n == 0)
        return RF_STEPPED_UNREADABLE;
    const struct rf_amd64 *insn = rf_amd64_at(stepper->insns, stepper->pc, bytes, n);
    put(trail, (struct rf_record){.pc = stepper->pc, .value = 1, .kind = RF_CLASS_INSN});
    enum rf_stepped step = step_over(stepper, trail, insn);
    if (step != RF_STEPPED_DONE)
        trail->n = 0;
    return step;
}
