/* x86.h - the opcode of an x86-64 instruction as one number.
 *
 *     [legacy prefixes][REX] opcode [ModRM] ...        VEX and EVEX say which of the maps the opcode is of
 *
 *     8b          mov           0x8b
 *     0f b6       movzx         0x0fb6
 *     0f 38 f0    movbe         0x0f38f0
 *
 * Some opcodes stand for eight instructions, by the middle bits of the byte behind them (ff /2 is a call, ff /4 a jump). So the
 * number has these bits behind the opcode, whether or not the instruction has such a byte: opcode << 3 | bits. A range of eight
 * numbers is an opcode, a single one is an instruction of such a group.
 *
 * Plain C99, for the probe and for tests. */
#ifndef RF_BASE_X86_H
#define RF_BASE_X86_H

#include <stdint.h>

enum { RF_X86_GROUP_BITS = 3, RF_X86_OPCODE_MAX = 0x0f3aff };

static inline int rf_x86_is_prefix(uint8_t byte)
{
    switch (byte) {
    case 0x26: /* segments */
    case 0x2e:
    case 0x36:
    case 0x3e:
    case 0x64:
    case 0x65:
    case 0x66: /* sizes */
    case 0x67:
    case 0xf0: /* lock, repne, rep */
    case 0xf2:
    case 0xf3:
        return 1;
    default:
        return 0;
    }
}

/* What stands in front of an opcode of the map 0f, 0f 38 or 0f 3a. */
static inline uint32_t rf_x86_map(unsigned number)
{
    return number == 1 ? 0x0f00 : number == 2 ? 0x0f3800 : number == 3 ? 0x0f3a00 : 0;
}

/* Where the opcode's last byte is, from the byte behind the prefixes on; *map is what comes before it. */
static inline unsigned rf_x86_last(const uint8_t *code, unsigned left, uint32_t *map)
{
    *map = 0;
    if (left >= 2 && code[0] == 0x0f) {
        *map = code[1] == 0x38 ? rf_x86_map(2) : code[1] == 0x3a ? rf_x86_map(3) : rf_x86_map(1);
        return code[1] == 0x38 || code[1] == 0x3a ? 2 : 1;
    }
    if (left >= 3 && code[0] == 0xc5) { /* VEX of two bytes */
        *map = rf_x86_map(1);
        return 2;
    }
    if (left >= 4 && code[0] == 0xc4) { /* VEX of three bytes */
        *map = rf_x86_map(code[1] & 31);
        return 3;
    }
    if (left >= 5 && code[0] == 0x62) { /* EVEX */
        *map = rf_x86_map(code[1] & 7);
        return 4;
    }
    return 0;
}

/* opcode << RF_X86_GROUP_BITS | group. An instruction that is cut off is 0. */
static inline uint32_t rf_x86_opcode(const uint8_t *code, unsigned length)
{
    unsigned i = 0;
    uint32_t map;
    while (i < length && rf_x86_is_prefix(code[i]))
        i++;
    if (i < length && (code[i] & 0xf0) == 0x40)
        i++;
    if (i >= length)
        return 0;
    i += rf_x86_last(code + i, length - i, &map);
    if (i >= length)
        return 0;
    unsigned group = i + 1 < length ? code[i + 1] >> 3 & 7 : 0;
    return (map | code[i]) << RF_X86_GROUP_BITS | group;
}

#endif
