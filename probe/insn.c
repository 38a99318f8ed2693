/* SPDX-License-Identifier: GPL-2.0-or-later */
/* insn.c - which x86-64 instructions transfer control, compute or repeat.
 *
 * Valgrind's intermediate code does not always say: it inverts conditions, cuts blocks at a size and
 * uses side exits for repeated strings and atomics. The opcode does.
 *
 *     [legacy prefixes][REX] opcode           one byte, or 0f and one, or VEX/EVEX (neither of ours)
 */
#include "probe.h"
#include "base/x86.h"

static enum insn_kind classify_0f(UChar opcode)
{
    if (opcode >= 0x80 && opcode <= 0x8f)
        return INSN_CONDITIONAL;
    switch (opcode) {
    case 0xaf: /* imul */
    case 0xa4: /* shld, shrd */
    case 0xa5:
    case 0xac:
    case 0xad:
    case 0xbc: /* bsf, bsr */
    case 0xbd:
    case 0xb8: /* popcnt */
    case 0xc0: /* xadd */
    case 0xc1:
        return INSN_ALU;
    default:
        return INSN_OTHER;
    }
}

/* Opcodes whose second byte's middle bits choose the operation. */
static enum insn_kind classify_group(UChar opcode, UChar modrm)
{
    UInt operation = modrm >> 3 & 7;
    switch (opcode) {
    case 0x80:
    case 0x81:
    case 0x83:
        return operation == 7 ? INSN_OTHER : INSN_ALU; /* 7: cmp */
    case 0xf6:
    case 0xf7:
        return operation <= 1 ? INSN_OTHER : INSN_ALU; /* 0, 1: test */
    case 0xfe:
        return INSN_ALU;
    case 0xff:
        if (operation <= 1)
            return INSN_ALU;
        if (operation <= 3)
            return INSN_CALL;
        return operation <= 5 ? INSN_JUMP : INSN_OTHER;
    default: /* c0 c1 d0 .. d3: shifts */
        return INSN_ALU;
    }
}

static Bool is_string(UChar opcode)
{
    return (opcode >= 0xa4 && opcode <= 0xa7) || (opcode >= 0xaa && opcode <= 0xaf) ||
           (opcode >= 0x6c && opcode <= 0x6f);
}

static enum insn_kind classify_one(UChar opcode, UChar next)
{
    if (opcode < 0x38)
        return (opcode & 7) < 6 ? INSN_ALU : INSN_OTHER; /* add or adc sbb and sub xor */
    if (opcode >= 0x70 && opcode <= 0x7f)
        return INSN_CONDITIONAL;
    switch (opcode) {
    case 0x69: /* imul */
    case 0x6b:
    case 0x8d: /* lea */
        return INSN_ALU;
    case 0x80:
    case 0x81:
    case 0x83:
    case 0xc0:
    case 0xc1:
    case 0xd0:
    case 0xd1:
    case 0xd2:
    case 0xd3:
    case 0xf6:
    case 0xf7:
    case 0xfe:
    case 0xff:
        return classify_group(opcode, next);
    case 0xc2:
    case 0xc3:
    case 0xca:
    case 0xcb:
        return INSN_RETURN;
    case 0xe0:
    case 0xe1:
    case 0xe2:
    case 0xe3:
        return INSN_CONDITIONAL;
    case 0xe8:
        return INSN_CALL;
    case 0xe9:
    case 0xeb:
        return INSN_JUMP;
    default:
        return INSN_OTHER;
    }
}

enum insn_kind insn_classify(const UChar *code, UInt length)
{
    UInt i = 0;
    Bool repeats = False;
    while (i < length && rf_x86_is_prefix(code[i])) {
        repeats |= code[i] == 0xf2 || code[i] == 0xf3;
        i++;
    }
    if (i < length && (code[i] & 0xf0) == 0x40)
        i++;
    if (i >= length)
        return INSN_OTHER;
    UChar next = i + 1 < length ? code[i + 1] : 0;
    if (code[i] == 0x0f)
        return classify_0f(next);
    if (repeats && is_string(code[i]))
        return INSN_STRING;
    return classify_one(code[i], next);
}

/* The displacement of a direct jump, branch or call ends the instruction; its opcode tells how wide it is. */
Addr insn_target(const UChar *code, UInt length, Addr pc)
{
    UInt i = 0;
    while (i < length && (rf_x86_is_prefix(code[i]) || (code[i] & 0xf0) == 0x40))
        i++;
    if (length < 2 || i + 1 >= length || code[i] == 0xff)
        return NO_TARGET;
    Bool is_short = code[i] != 0x0f && code[i] != 0xe8 && code[i] != 0xe9;
    Int distance = is_short ? (Char)code[length - 1] : *(const Int *)(code + length - 4);
    return pc + length + (Addr)(Long)distance;
}

/* Its operand is one byte: prefixes, opcode, operand. */
Bool insn_is_loop(const UChar *code, UInt length)
{
    UInt i = 0;
    while (i < length && (rf_x86_is_prefix(code[i]) || (code[i] & 0xf0) == 0x40))
        i++;
    return i + 2 == length && code[i] >= 0xe0 && code[i] <= 0xe2;
}
