/* isa.c - decoding by the table of isa.def, and the same backwards for people. */
#include "machine/isa/isa.h"
#include "base/error.h"
#include "base/text.h"

/* clang-format off */
const struct rf_op_info rf_op_table[RF_OP_COUNT] = {
    [RF_OP_ILLEGAL] = {"illegal", 0, 0, RF_OP_CLASS_SYSTEM, ""},
#define INSN(id, mnemonic, match, mask, kind, operands)                                            \
    [RF_OP_##id] = {mnemonic, match, mask, RF_OP_CLASS_##kind, operands},
#include "machine/isa/isa.def"
#undef INSN
};
/* clang-format on */

static uint32_t field(uint32_t bits, unsigned low, unsigned n)
{
    return bits >> low & ((1u << n) - 1);
}

/* Bits low..low+n-1, moved to `to`. */
static uint32_t move(uint32_t bits, unsigned low, unsigned n, unsigned to)
{
    return field(bits, low, n) << to;
}

static int32_t sign_extend(uint32_t value, unsigned bits)
{
    unsigned shift = 32 - bits;
    return (int32_t)(value << shift) >> shift;
}

static int32_t branch_offset(uint32_t bits)
{
    return sign_extend(move(bits, 31, 1, 12) | move(bits, 7, 1, 11) | move(bits, 25, 6, 5) |
                           move(bits, 8, 4, 1),
                       13);
}

static int32_t jump_offset(uint32_t bits)
{
    return sign_extend(move(bits, 31, 1, 20) | move(bits, 12, 8, 12) | move(bits, 20, 1, 11) |
                           move(bits, 21, 10, 1),
                       21);
}

static uint8_t fp(uint32_t number)
{
    return (uint8_t)(RF_REG_FP + number);
}

/* One letter of the operand string. */
static void decode_operand(struct rf_insn *insn, char letter, uint32_t bits)
{
    uint32_t rd = field(bits, 7, 5), rs1 = field(bits, 15, 5), rs2 = field(bits, 20, 5);
    switch (letter) {
    case 'd':
        insn->rd = rd != 0 ? (uint8_t)rd : RF_REG_NONE;
        break;
    case 's':
        insn->rs1 = (uint8_t)rs1;
        break;
    case 't':
        insn->rs2 = (uint8_t)rs2;
        break;
    case 'D':
        insn->rd = fp(rd);
        break;
    case 'S':
        insn->rs1 = fp(rs1);
        break;
    case 'T':
        insn->rs2 = fp(rs2);
        break;
    case 'R':
        insn->rs3 = fp(field(bits, 27, 5));
        break;
    case 'm':
        insn->rm = (uint8_t)field(bits, 12, 3);
        break;
    case 'j':
    case 'o':
        insn->imm = sign_extend(field(bits, 20, 12), 12);
        break;
    case 'q':
        insn->imm = sign_extend(move(bits, 25, 7, 5) | rd, 12);
        break;
    case 'p':
        insn->imm = branch_offset(bits);
        break;
    case 'a':
        insn->imm = jump_offset(bits);
        break;
    case 'u':
        insn->imm = (int32_t)(bits & 0xfffff000u);
        break;
    case '>':
        insn->imm = (int32_t)field(bits, 20, 6);
        break;
    case '<':
        insn->imm = (int32_t)rs2;
        break;
    case 'E':
        insn->imm = (int32_t)field(bits, 20, 12);
        break;
    case 'Z':
        insn->rs2 = (uint8_t)rs1; /* five bits of immediate, not a register */
        break;
    default:
        break;
    }
}

static struct rf_insn decode_full(uint32_t bits)
{
    struct rf_insn insn = {.op = RF_OP_ILLEGAL,
                           .kind = RF_OP_CLASS_SYSTEM,
                           .length = 4,
                           .rd = RF_REG_NONE,
                           .rs1 = RF_REG_NONE,
                           .rs2 = RF_REG_NONE,
                           .rs3 = RF_REG_NONE};
    for (unsigned op = 1; op < RF_OP_COUNT; op++) {
        const struct rf_op_info *info = &rf_op_table[op];
        if ((bits & info->mask) != info->match)
            continue;
        insn.op = (uint8_t)op;
        insn.kind = info->kind;
        for (const char *p = info->operands; *p != '\0'; p++)
            decode_operand(&insn, *p, bits);
        if (insn.rm == 5 || insn.rm == 6)
            insn.op = RF_OP_ILLEGAL; /* reserved rounding modes */
        break;
    }
    return insn;
}

struct rf_insn rf_insn_decode(uint32_t bits)
{
    if ((bits & 3) == 3)
        return decode_full(bits);
    struct rf_insn insn = decode_full(rf_insn_expand((uint16_t)bits));
    insn.length = 2;
    return insn;
}

static const char *const integer_names[32] = {"zero", "ra", "sp",  "gp",  "tp", "t0", "t1", "t2",
                                              "s0",   "s1", "a0",  "a1",  "a2", "a3", "a4", "a5",
                                              "a6",   "a7", "s2",  "s3",  "s4", "s5", "s6", "s7",
                                              "s8",   "s9", "s10", "s11", "t3", "t4", "t5", "t6"};
static const char *const fp_names[32] = {
    "ft0", "ft1", "ft2", "ft3", "ft4",  "ft5",  "ft6", "ft7", "fs0",  "fs1", "fa0",
    "fa1", "fa2", "fa3", "fa4", "fa5",  "fa6",  "fa7", "fs2", "fs3",  "fs4", "fs5",
    "fs6", "fs7", "fs8", "fs9", "fs10", "fs11", "ft8", "ft9", "ft10", "ft11"};

/* "10" to 10; -1: not a number below 32. */
static int short_number(const char *text, size_t n)
{
    int number = 0;
    if (n == 0 || n > 2 || (n == 2 && text[0] == '0'))
        return -1;
    for (size_t i = 0; i < n; i++) {
        if (text[i] < '0' || text[i] > '9')
            return -1;
        number = 10 * number + text[i] - '0';
    }
    return number < 32 ? number : -1;
}

int rf_reg_find(const char *name, size_t n)
{
    for (int i = 0; i < 32; i++) {
        if (rf_text_equal(integer_names[i], name, n))
            return i;
        if (rf_text_equal(fp_names[i], name, n))
            return RF_REG_FP + i;
    }
    int number = n > 0 ? short_number(name + 1, n - 1) : -1;
    if (number < 0 || (name[0] != 'x' && name[0] != 'f'))
        return -1;
    return name[0] == 'x' ? number : RF_REG_FP + number;
}

enum { DYNAMIC = 7 };
static const char *const rounding_names[8] = {"rne", "rtz", "rdn", "rup", "rmm", "?", "?", "dyn"};

static const char *register_name(uint8_t number)
{
    if (number == RF_REG_NONE)
        return "zero";
    return number < RF_REG_FP ? integer_names[number] : fp_names[number - RF_REG_FP];
}

static size_t print_operand(const struct rf_insn *insn, char letter, uint64_t pc, char *text,
                            size_t size)
{
    switch (letter) {
    case 'd':
    case 'D':
        return rf_format(text, size, "%s", register_name(insn->rd));
    case 's':
    case 'S':
        return rf_format(text, size, "%s", register_name(insn->rs1));
    case 't':
    case 'T':
        return rf_format(text, size, "%s", register_name(insn->rs2));
    case 'R':
        return rf_format(text, size, "%s", register_name(insn->rs3));
    case 'm':
        return rf_format(text, size, "%s", rounding_names[insn->rm]);
    case 'p':
    case 'a':
        return rf_format(text, size, "0x%llx",
                         (unsigned long long)(pc + (uint64_t)(int64_t)insn->imm));
    case 'u':
        return rf_format(text, size, "0x%x", (uint32_t)insn->imm >> 12);
    case 'E':
    case '>':
    case '<':
        return rf_format(text, size, "0x%x", (uint32_t)insn->imm);
    case 'Z':
        return rf_format(text, size, "%u", (unsigned)insn->rs2);
    case 'j':
    case 'o':
    case 'q':
        return rf_format(text, size, "%d", insn->imm);
    default:
        return rf_format(text, size, "%c", letter);
    }
}

size_t rf_insn_print(const struct rf_insn *insn, uint64_t pc, char *text, size_t size)
{
    const struct rf_op_info *info = &rf_op_table[insn->op];
    size_t n = rf_format(text, size, "%s%s", info->mnemonic, info->operands[0] != '\0' ? " " : "");
    for (const char *p = info->operands; *p != '\0'; p++) {
        if (p[0] == ',' && p[1] == 'm' && insn->rm == DYNAMIC)
            break; /* as in assembly: the dynamic mode is not written */
        size_t at = n < size ? n : size;
        n += print_operand(insn, *p, pc, text + at, size - at);
    }
    return n;
}
