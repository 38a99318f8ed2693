/* compressed.c - the C extension: each 16-bit instruction stands for one full instruction.
 *
 * The RISC-V unprivileged manual, chapter "C". rf_insn_expand builds the encoding that the half stands
 * for, and that is then decoded like any other. Quadrants are bits 1..0, rows bits 15..13. */
#include "machine/isa/isa.h"

static uint32_t field(uint32_t half, unsigned low, unsigned n)
{
    return half >> low & ((1u << n) - 1);
}

/* Bits low..low+n-1 of the half, moved to `to`. */
static uint32_t move(uint32_t half, unsigned low, unsigned n, unsigned to)
{
    return field(half, low, n) << to;
}

static uint32_t sign(uint32_t value, unsigned bits)
{
    return (value ^ 1u << (bits - 1)) - (1u << (bits - 1));
}

/* x8..x15, the registers that three bits can name. */
static uint32_t rd_short(uint32_t half)
{
    return 8 + field(half, 2, 3);
}

static uint32_t rs1_short(uint32_t half)
{
    return 8 + field(half, 7, 3);
}

static uint32_t rd_full(uint32_t half)
{
    return field(half, 7, 5);
}

static uint32_t rs2_full(uint32_t half)
{
    return field(half, 2, 5);
}

static uint32_t imm6(uint32_t half)
{
    return sign(move(half, 12, 1, 5) | field(half, 2, 5), 6);
}

static uint32_t encode_i(uint32_t match, uint32_t rd, uint32_t rs1, uint32_t imm)
{
    return match | rd << 7 | rs1 << 15 | imm << 20;
}

static uint32_t encode_s(uint32_t match, uint32_t rs1, uint32_t rs2, uint32_t imm)
{
    return match | (imm & 31) << 7 | rs1 << 15 | rs2 << 20 | (imm >> 5 & 127) << 25;
}

static uint32_t encode_r(uint32_t match, uint32_t rd, uint32_t rs1, uint32_t rs2)
{
    return match | rd << 7 | rs1 << 15 | rs2 << 20;
}

static uint32_t encode_b(uint32_t match, uint32_t rs1, uint32_t imm)
{
    return match | rs1 << 15 | (imm >> 11 & 1) << 7 | (imm >> 1 & 15) << 8 | (imm >> 5 & 63) << 25 |
           (imm >> 12 & 1) << 31;
}

static uint32_t encode_j(uint32_t match, uint32_t imm)
{
    return match | (imm >> 12 & 255) << 12 | (imm >> 11 & 1) << 20 | (imm >> 1 & 1023) << 21 |
           (imm >> 20 & 1) << 31;
}

enum {
    ADDI = 0x13,
    ADDIW = 0x1b,
    LUI = 0x37,
    SLLI = 0x1013,
    SRLI = 0x5013,
    SRAI = 0x40005013,
    ANDI = 0x7013,
    ADD = 0x33,
    SUB = 0x40000033,
    XOR = 0x4033,
    OR = 0x6033,
    AND = 0x7033,
    ADDW = 0x3b,
    SUBW = 0x4000003b,
    LW = 0x2003,
    LD = 0x3003,
    FLD = 0x3007,
    SW = 0x2023,
    SD = 0x3023,
    FSD = 0x3027,
    JAL = 0x6f,
    JALR = 0x67,
    BEQ = 0x63,
    BNE = 0x1063,
    EBREAK = 0x100073,
    SP = 2,
};

static uint32_t offset_word(uint32_t half)
{
    return move(half, 10, 3, 3) | move(half, 6, 1, 2) | move(half, 5, 1, 6);
}

static uint32_t offset_double(uint32_t half)
{
    return move(half, 10, 3, 3) | move(half, 5, 2, 6);
}

static uint32_t expand_addi4spn(uint32_t half)
{
    uint32_t imm =
        move(half, 11, 2, 4) | move(half, 7, 4, 6) | move(half, 6, 1, 2) | move(half, 5, 1, 3);
    return imm != 0 ? encode_i(ADDI, rd_short(half), SP, imm) : 0;
}

static uint32_t expand_quadrant0(uint32_t half)
{
    switch (field(half, 13, 3)) {
    case 0:
        return expand_addi4spn(half);
    case 1:
        return encode_i(FLD, rd_short(half), rs1_short(half), offset_double(half));
    case 2:
        return encode_i(LW, rd_short(half), rs1_short(half), offset_word(half));
    case 3:
        return encode_i(LD, rd_short(half), rs1_short(half), offset_double(half));
    case 5:
        return encode_s(FSD, rs1_short(half), rd_short(half), offset_double(half));
    case 6:
        return encode_s(SW, rs1_short(half), rd_short(half), offset_word(half));
    case 7:
        return encode_s(SD, rs1_short(half), rd_short(half), offset_double(half));
    default:
        return 0;
    }
}

static uint32_t expand_lui(uint32_t half)
{
    if (rd_full(half) == SP) {
        uint32_t imm = sign(move(half, 12, 1, 9) | move(half, 6, 1, 4) | move(half, 5, 1, 6) |
                                move(half, 3, 2, 7) | move(half, 2, 1, 5),
                            10);
        return imm != 0 ? encode_i(ADDI, SP, SP, imm) : 0;
    }
    return imm6(half) != 0 ? LUI | rd_full(half) << 7 | imm6(half) << 12 : 0;
}

/* Row 4 of quadrant 1: shifts, and-immediate, and the register operations. */
static uint32_t expand_arithmetic(uint32_t half)
{
    static const uint32_t operations[8] = {SUB, XOR, OR, AND, SUBW, ADDW, 0, 0};
    uint32_t rd = rs1_short(half), shift = move(half, 12, 1, 5) | field(half, 2, 5);
    switch (field(half, 10, 2)) {
    case 0:
        return encode_i(SRLI, rd, rd, shift);
    case 1:
        return encode_i(SRAI, rd, rd, shift);
    case 2:
        return encode_i(ANDI, rd, rd, imm6(half));
    default: {
        uint32_t match = operations[field(half, 12, 1) << 2 | field(half, 5, 2)];
        return match != 0 ? encode_r(match, rd, rd, rd_short(half)) : 0;
    }
    }
}

static uint32_t offset_jump(uint32_t half)
{
    return sign(move(half, 12, 1, 11) | move(half, 11, 1, 4) | move(half, 9, 2, 8) |
                    move(half, 8, 1, 10) | move(half, 7, 1, 6) | move(half, 6, 1, 7) |
                    move(half, 3, 3, 1) | move(half, 2, 1, 5),
                12);
}

static uint32_t offset_branch(uint32_t half)
{
    return sign(move(half, 12, 1, 8) | move(half, 10, 2, 3) | move(half, 5, 2, 6) |
                    move(half, 3, 2, 1) | move(half, 2, 1, 5),
                9);
}

static uint32_t expand_quadrant1(uint32_t half)
{
    switch (field(half, 13, 3)) {
    case 0:
        return encode_i(ADDI, rd_full(half), rd_full(half), imm6(half));
    case 1:
        return rd_full(half) != 0 ? encode_i(ADDIW, rd_full(half), rd_full(half), imm6(half)) : 0;
    case 2:
        return encode_i(ADDI, rd_full(half), 0, imm6(half));
    case 3:
        return expand_lui(half);
    case 4:
        return expand_arithmetic(half);
    case 5:
        return encode_j(JAL, offset_jump(half));
    case 6:
        return encode_b(BEQ, rs1_short(half), offset_branch(half));
    default:
        return encode_b(BNE, rs1_short(half), offset_branch(half));
    }
}

/* Row 4 of quadrant 2: jr, mv, ebreak, jalr, add. */
static uint32_t expand_jump_or_move(uint32_t half)
{
    uint32_t rd = rd_full(half), rs2 = rs2_full(half);
    if (field(half, 12, 1) == 0) {
        if (rs2 != 0)
            return encode_r(ADD, rd, 0, rs2);
        return rd != 0 ? encode_i(JALR, 0, rd, 0) : 0;
    }
    if (rs2 != 0)
        return encode_r(ADD, rd, rd, rs2);
    return rd != 0 ? encode_i(JALR, 1, rd, 0) : EBREAK;
}

static uint32_t load_offset_double(uint32_t half)
{
    return move(half, 12, 1, 5) | move(half, 5, 2, 3) | move(half, 2, 3, 6);
}

static uint32_t store_offset_double(uint32_t half)
{
    return move(half, 10, 3, 3) | move(half, 7, 3, 6);
}

static uint32_t expand_quadrant2(uint32_t half)
{
    uint32_t rd = rd_full(half), rs2 = rs2_full(half);
    uint32_t word_load = move(half, 12, 1, 5) | move(half, 4, 3, 2) | move(half, 2, 2, 6);
    uint32_t word_store = move(half, 9, 4, 2) | move(half, 7, 2, 6);
    switch (field(half, 13, 3)) {
    case 0:
        return encode_i(SLLI, rd, rd, move(half, 12, 1, 5) | field(half, 2, 5));
    case 1:
        return encode_i(FLD, rd, SP, load_offset_double(half));
    case 2:
        return rd != 0 ? encode_i(LW, rd, SP, word_load) : 0;
    case 3:
        return rd != 0 ? encode_i(LD, rd, SP, load_offset_double(half)) : 0;
    case 4:
        return expand_jump_or_move(half);
    case 5:
        return encode_s(FSD, SP, rs2, store_offset_double(half));
    case 6:
        return encode_s(SW, SP, rs2, word_store);
    default:
        return encode_s(SD, SP, rs2, store_offset_double(half));
    }
}

uint32_t rf_insn_expand(uint16_t half)
{
    switch (half & 3) {
    case 0:
        return expand_quadrant0(half);
    case 1:
        return expand_quadrant1(half);
    case 2:
        return expand_quadrant2(half);
    default:
        return 0;
    }
}
