/* amd64.c - instructions of x86-64, as far as stepping over them needs it.
 *
 * Zydis says which operands an instruction has, hidden ones included, and which category it is of. Categories that only
 * compute are executed (execute.c). An operand in memory is then addressed relative to the instruction pointer:
 *
 *     48 03 44 8b 10        add rax, [rbx+rcx*4+16]
 *     48 03 05 d d d d      add rax, [operand]             the same, ModRM and displacement exchanged
 *
 * Prefixes that choose a segment or shorter addresses are left out there, since the address is known. What transfers
 * control, uses the stack or runs over strings is left to step.c. Everything else is unknown, and no burst goes on behind
 * it: privileged instructions, gathers, whatever is new.
 *
 * Decoded instructions are kept in a table by pc. They are compared with the bytes that are there now, so code that
 * changes is decoded again. Memory: 8192 instructions of 96 bytes, and their code. */
#include "attach/amd64.h"
#include "base/alloc.h"
#include <Zydis/Zydis.h>
#include <string.h>

struct rf_amd64_table {
    struct rf_alloc alloc;
    struct rf_execute *execute;
    ZydisDecoder decoder;
    struct rf_amd64 at[RF_EXECUTE_SLOTS];
};

struct decoded {
    ZydisDecodedInstruction insn;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
};

rf_status rf_amd64_open(struct rf_amd64_table **opened, struct rf_execute *execute,
                        const struct rf_alloc *given)
{
    const struct rf_alloc *alloc = rf_alloc_or_standard(given);
    struct rf_amd64_table *insns = *opened = rf_alloc_zeroed(alloc, sizeof *insns);
    if (insns == NULL)
        return RF_ENOMEM;
    insns->alloc = *alloc;
    insns->execute = execute;
    ZydisDecoderInit(&insns->decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    return RF_OK;
}

void rf_amd64_close(struct rf_amd64_table *insns)
{
    if (insns != NULL)
        rf_alloc_free(&insns->alloc, insns, sizeof *insns);
}

/* ---- operands ---- */

static uint8_t number_of(ZydisRegister name)
{
    ZydisRegisterClass of = ZydisRegisterGetClass(name);
    bool general =
        of == ZYDIS_REGCLASS_GPR64 || of == ZYDIS_REGCLASS_GPR32 || of == ZYDIS_REGCLASS_GPR16;
    return general ? (uint8_t)ZydisRegisterGetId(name) : RF_AMD64_NO_REGISTER;
}

static uint8_t segment_of(ZydisRegister name)
{
    if (name == ZYDIS_REGISTER_FS)
        return 'f';
    return name == ZYDIS_REGISTER_GS ? 'g' : 0;
}

static void take_memory(struct rf_amd64 *insn, const struct decoded *from,
                        const ZydisDecodedOperand *operand)
{
    bool relative = operand->mem.base == ZYDIS_REGISTER_RIP;
    insn->memory = (struct rf_amd64_memory){
        .base = number_of(operand->mem.base),
        .index = number_of(operand->mem.index),
        .scale = operand->mem.scale,
        .segment = segment_of(operand->mem.segment),
        .address_bits = from->insn.address_width,
        .bits = operand->size,
        .is_there = true,
        .reads = (operand->actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0,
        .writes = (operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0,
        .displacement = operand->mem.disp.value,
    };
    if (relative)
        insn->memory.displacement += (int64_t)(insn->pc + insn->length);
}

static bool is_known_register(ZydisRegister name)
{
    switch (ZydisRegisterGetClass(name)) {
    case ZYDIS_REGCLASS_TMM:
    case ZYDIS_REGCLASS_SEGMENT:
    case ZYDIS_REGCLASS_TABLE:
    case ZYDIS_REGCLASS_TEST:
    case ZYDIS_REGCLASS_CONTROL:
    case ZYDIS_REGCLASS_DEBUG:
    case ZYDIS_REGCLASS_BOUND:
        return false;
    default:
        return name != ZYDIS_REGISTER_RIP;
    }
}

static bool is_general(ZydisRegister name)
{
    switch (ZydisRegisterGetClass(name)) {
    case ZYDIS_REGCLASS_GPR8:
    case ZYDIS_REGCLASS_GPR16:
    case ZYDIS_REGCLASS_GPR32:
    case ZYDIS_REGCLASS_GPR64:
    case ZYDIS_REGCLASS_FLAGS:
        return true;
    default:
        return false;
    }
}

/* Takes the operands; false: there is one that cannot be had here. */
static bool take_operands(struct rf_amd64 *insn, const struct decoded *from)
{
    for (unsigned i = 0; i < from->insn.operand_count; i++) {
        const ZydisDecodedOperand *operand = &from->operands[i];
        bool hidden = operand->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN;
        if (operand->type == ZYDIS_OPERAND_TYPE_POINTER)
            return false;
        if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER) {
            if (!is_known_register(operand->reg.value))
                return false;
            if (!is_general(operand->reg.value))
                insn->kind = RF_EXECUTE_WIDE;
        }
        if (operand->type != ZYDIS_OPERAND_TYPE_MEMORY)
            continue;
        if (hidden || insn->memory.is_there || operand->mem.type != ZYDIS_MEMOP_TYPE_MEM ||
            operand->size > 8 * RF_EXECUTE_OPERAND_MAX)
            return false;
        take_memory(insn, from, operand);
    }
    return true;
}

/* The first explicit operand of jumps, calls, pushes and pops, and both of lea. */
static void take_explicit(struct rf_amd64 *insn, const struct decoded *from)
{
    for (unsigned i = 0; i < from->insn.operand_count_visible; i++) {
        const ZydisDecodedOperand *operand = &from->operands[i];
        if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER && i == 0) {
            insn->reg = number_of(operand->reg.value);
            insn->bits = (uint8_t)operand->size;
        } else if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY) {
            take_memory(insn, from, operand);
        } else if (operand->type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
            insn->number = operand->imm.value.u;
            if (operand->imm.is_relative)
                insn->number += insn->pc + insn->length;
        }
    }
}

/* ---- what is executed ---- */

enum computing { NO, GENERAL, WIDE };

/* Of these categories every instruction computes, and no more. */
static enum computing computes(ZydisInstructionCategory category)
{
    switch (category) {
    case ZYDIS_CATEGORY_ADOX_ADCX:
    case ZYDIS_CATEGORY_BINARY:
    case ZYDIS_CATEGORY_BITBYTE:
    case ZYDIS_CATEGORY_BMI1:
    case ZYDIS_CATEGORY_BMI2:
    case ZYDIS_CATEGORY_CMOV:
    case ZYDIS_CATEGORY_CONVERT:
    case ZYDIS_CATEGORY_DATAXFER:
    case ZYDIS_CATEGORY_FLAGOP:
    case ZYDIS_CATEGORY_LOGICAL:
    case ZYDIS_CATEGORY_LZCNT:
    case ZYDIS_CATEGORY_ROTATE:
    case ZYDIS_CATEGORY_SEMAPHORE:
    case ZYDIS_CATEGORY_SETCC:
    case ZYDIS_CATEGORY_SHIFT:
        return GENERAL;
    case ZYDIS_CATEGORY_AES:
    case ZYDIS_CATEGORY_AVX:
    case ZYDIS_CATEGORY_AVX2:
    case ZYDIS_CATEGORY_AVX512:
    case ZYDIS_CATEGORY_AVX512_BITALG:
    case ZYDIS_CATEGORY_AVX512_VBMI:
    case ZYDIS_CATEGORY_BLEND:
    case ZYDIS_CATEGORY_BROADCAST:
    case ZYDIS_CATEGORY_FCMOV:
    case ZYDIS_CATEGORY_FP16:
    case ZYDIS_CATEGORY_GFNI:
    case ZYDIS_CATEGORY_IFMA:
    case ZYDIS_CATEGORY_KMASK:
    case ZYDIS_CATEGORY_LOGICAL_FP:
    case ZYDIS_CATEGORY_MMX:
    case ZYDIS_CATEGORY_PCLMULQDQ:
    case ZYDIS_CATEGORY_SHA:
    case ZYDIS_CATEGORY_SSE:
    case ZYDIS_CATEGORY_STTNI:
    case ZYDIS_CATEGORY_VAES:
    case ZYDIS_CATEGORY_VBMI2:
    case ZYDIS_CATEGORY_VFMA:
    case ZYDIS_CATEGORY_VPCLMULQDQ:
    case ZYDIS_CATEGORY_X87_ALU:
        return WIDE;
    default:
        return NO;
    }
}

/* A bit of memory whose number is in a register may lie anywhere. */
static bool strays(const struct decoded *from)
{
    return from->insn.meta.category == ZYDIS_CATEGORY_BITBYTE &&
           from->operands[0].type == ZYDIS_OPERAND_TYPE_MEMORY &&
           from->operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER;
}

static bool is_dropped(unsigned char prefix)
{
    return prefix == 0x64 || prefix == 0x65 || prefix == 0x67;
}

/* The instruction with its operand in memory at a place of ours; false: it has no ModRM. */
static bool encode(struct rf_amd64_table *insns, struct rf_amd64 *insn, const struct decoded *from)
{
    unsigned char code[RF_EXECUTE_CODE];
    size_t n = 0, at = 0, i = 0, modrm = from->insn.raw.modrm.offset;
    if (!insn->memory.is_there) {
        rf_execute_add(insns->execute, insn->slot, insn->bytes, insn->length, 0, insn->kind);
        return true;
    }
    if (modrm == 0)
        return false;
    for (; i < modrm; i++)
        if (i >= from->insn.raw.prefix_count || !is_dropped(insn->bytes[i]))
            code[n++] = insn->bytes[i];
    code[n++] = (unsigned char)((insn->bytes[modrm] & 0x38) | 0x05);
    at = n;
    n += 4;
    i = modrm + 1 + (from->insn.raw.sib.offset != 0) + from->insn.raw.disp.size / 8;
    for (; i < insn->length && n < sizeof code; i++)
        code[n++] = insn->bytes[i];
    rf_execute_add(insns->execute, insn->slot, code, n, at, insn->kind);
    return true;
}

static enum rf_amd64_way way_to_execute(struct rf_amd64_table *insns, struct rf_amd64 *insn,
                                        const struct decoded *from)
{
    enum computing how = computes(from->insn.meta.category);
    insn->kind = how == WIDE ? RF_EXECUTE_WIDE : RF_EXECUTE_PLAIN;
    if (how == NO || strays(from) || (from->insn.attributes & ZYDIS_ATTRIB_IS_PRIVILEGED) != 0 ||
        !take_operands(insn, from) || !encode(insns, insn, from))
        return RF_AMD64_UNKNOWN;
    ZydisMnemonic name = from->insn.mnemonic;
    insn->bits = from->insn.operand_width;
    if (name == ZYDIS_MNEMONIC_CLI || name == ZYDIS_MNEMONIC_STI)
        return RF_AMD64_UNKNOWN;
    if (name != ZYDIS_MNEMONIC_DIV && name != ZYDIS_MNEMONIC_IDIV)
        return RF_AMD64_EXECUTE;
    insn->bits = (uint8_t)from->operands[0].size;
    insn->condition = name == ZYDIS_MNEMONIC_IDIV;
    bool is_register = from->operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER;
    insn->reg = is_register ? number_of(from->operands[0].reg.value) : RF_AMD64_NO_REGISTER;
    bool known = insn->memory.is_there || insn->reg != RF_AMD64_NO_REGISTER;
    return known && insn->bits >= 32 ? RF_AMD64_DIVIDE : RF_AMD64_UNKNOWN;
}

/* ---- the rest ---- */

static enum rf_amd64_way way_of_branch(struct rf_amd64 *insn, const struct decoded *from)
{
    switch (from->insn.mnemonic) {
    case ZYDIS_MNEMONIC_JRCXZ:
        insn->condition = RF_AMD64_RCX_ZERO;
        break;
    case ZYDIS_MNEMONIC_LOOP:
        insn->condition = RF_AMD64_LOOP;
        break;
    case ZYDIS_MNEMONIC_LOOPE:
        insn->condition = RF_AMD64_LOOP_EQUAL;
        break;
    case ZYDIS_MNEMONIC_LOOPNE:
        insn->condition = RF_AMD64_LOOP_UNEQUAL;
        break;
    case ZYDIS_MNEMONIC_JCXZ:
    case ZYDIS_MNEMONIC_JECXZ:
        return RF_AMD64_UNKNOWN;
    default:
        insn->condition = from->insn.opcode & 15;
    }
    take_explicit(insn, from);
    return from->insn.address_width == 64 ? RF_AMD64_BRANCH : RF_AMD64_UNKNOWN;
}

static enum rf_amd64_way way_of_string(struct rf_amd64 *insn, const struct decoded *from)
{
    insn->opcode = from->insn.opcode;
    insn->bits = (uint8_t)from->operands[0].size;
    insn->repeat = RF_AMD64_REPEAT_NOT;
    if ((from->insn.attributes & ZYDIS_ATTRIB_HAS_REP) != 0)
        insn->repeat = RF_AMD64_REPEAT;
    else if ((from->insn.attributes & ZYDIS_ATTRIB_HAS_REPE) != 0)
        insn->repeat = RF_AMD64_REPEAT_EQUAL;
    else if ((from->insn.attributes & ZYDIS_ATTRIB_HAS_REPNE) != 0)
        insn->repeat = RF_AMD64_REPEAT_UNEQUAL;
    bool plain =
        from->insn.address_width == 64 &&
        (from->insn.attributes & (ZYDIS_ATTRIB_HAS_SEGMENT_FS | ZYDIS_ATTRIB_HAS_SEGMENT_GS)) == 0;
    return plain ? RF_AMD64_STRING : RF_AMD64_UNKNOWN;
}

static enum rf_amd64_way way_of_stack(struct rf_amd64 *insn, const struct decoded *from,
                                      enum rf_amd64_way way)
{
    switch (from->insn.mnemonic) {
    case ZYDIS_MNEMONIC_PUSH:
    case ZYDIS_MNEMONIC_POP:
        take_explicit(insn, from);
        insn->bits = from->insn.operand_width;
        return insn->bits == 64 && (insn->reg != RF_AMD64_NO_REGISTER || insn->memory.is_there ||
                                    from->operands[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
                   ? way
                   : RF_AMD64_UNKNOWN;
    default:
        return RF_AMD64_UNKNOWN;
    }
}

static enum rf_amd64_way way_by_name(struct rf_amd64 *insn, const struct decoded *from)
{
    switch (from->insn.mnemonic) {
    case ZYDIS_MNEMONIC_LEA:
        take_explicit(insn, from);
        return RF_AMD64_ADDRESS;
    case ZYDIS_MNEMONIC_LEAVE:
        return RF_AMD64_LEAVE;
    case ZYDIS_MNEMONIC_PAUSE:
    case ZYDIS_MNEMONIC_LFENCE:
    case ZYDIS_MNEMONIC_SFENCE:
    case ZYDIS_MNEMONIC_MFENCE:
    case ZYDIS_MNEMONIC_ENDBR64:
        return RF_AMD64_NOTHING;
    default:
        return RF_AMD64_UNKNOWN;
    }
}

static enum rf_amd64_way way_of(struct rf_amd64_table *insns, struct rf_amd64 *insn,
                                const struct decoded *from)
{
    switch (from->insn.meta.category) {
    case ZYDIS_CATEGORY_NOP:
    case ZYDIS_CATEGORY_WIDENOP:
    case ZYDIS_CATEGORY_PREFETCH:
        return RF_AMD64_NOTHING;
    case ZYDIS_CATEGORY_COND_BR:
        return way_of_branch(insn, from);
    case ZYDIS_CATEGORY_UNCOND_BR:
        take_explicit(insn, from);
        return from->insn.meta.branch_type != ZYDIS_BRANCH_TYPE_FAR ? RF_AMD64_JUMP
                                                                    : RF_AMD64_UNKNOWN;
    case ZYDIS_CATEGORY_CALL:
        take_explicit(insn, from);
        return from->insn.meta.branch_type != ZYDIS_BRANCH_TYPE_FAR ? RF_AMD64_CALL
                                                                    : RF_AMD64_UNKNOWN;
    case ZYDIS_CATEGORY_RET:
        take_explicit(insn, from);
        return from->insn.meta.branch_type != ZYDIS_BRANCH_TYPE_FAR ? RF_AMD64_RETURN
                                                                    : RF_AMD64_UNKNOWN;
    case ZYDIS_CATEGORY_PUSH:
        return way_of_stack(insn, from, RF_AMD64_PUSH);
    case ZYDIS_CATEGORY_POP:
        return way_of_stack(insn, from, RF_AMD64_POP);
    case ZYDIS_CATEGORY_STRINGOP:
        return way_of_string(insn, from);
    case ZYDIS_CATEGORY_SYSCALL:
        return RF_AMD64_KERNEL;
    case ZYDIS_CATEGORY_MISC:
    case ZYDIS_CATEGORY_CET:
        return way_by_name(insn, from);
    default:
        return way_to_execute(insns, insn, from);
    }
}

static void decode_one(struct rf_amd64_table *insns, struct rf_amd64 *insn,
                       const unsigned char *bytes, size_t n)
{
    struct decoded from;
    insn->way = RF_AMD64_UNKNOWN;
    insn->length = 1;
    insn->reg = RF_AMD64_NO_REGISTER;
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&insns->decoder, bytes, n, &from.insn, from.operands)))
        return;
    insn->length = from.insn.length;
    memcpy(insn->bytes, bytes, insn->length);
    insn->way = (uint8_t)way_of(insns, insn, &from);
}

const struct rf_amd64 *rf_amd64_at(struct rf_amd64_table *insns, uint64_t pc,
                                   const unsigned char *bytes, size_t n)
{
    size_t slot = (size_t)(pc * UINT64_C(0x9e3779b97f4a7c15) >> 51);
    struct rf_amd64 *insn = &insns->at[slot];
    if (insn->pc == pc && insn->length <= n && memcmp(insn->bytes, bytes, insn->length) == 0)
        return insn;
    *insn = (struct rf_amd64){.pc = pc, .slot = (uint16_t)slot};
    decode_one(insns, insn, bytes, n);
    return insn;
}
