/* The decoder and its text, on encodings that were put together by hand from the manual's tables. */
#include "machine/isa/isa.h"
#include "test.h"

static const char *text_of(uint32_t bits, uint64_t pc)
{
    static char text[128];
    struct rf_insn insn = rf_insn_decode(bits);
    rf_insn_print(&insn, pc, text, sizeof text);
    return text;
}

TEST(full_instructions_read_as_the_manual_has_them)
{
    static const struct {
        uint32_t bits;
        const char *text;
    } rows[] = {
        {0x00000013, "addi zero,zero,0"},
        {0xfff50513, "addi a0,a0,-1"},
        {0x80000537, "lui a0,0x80000"},
        {0xfffff517, "auipc a0,0xfffff"},
        {0x008000ef, "jal ra,0x1008"},
        {0xffdff06f, "jal zero,0xffc"},
        {0x00008067, "jalr zero,0(ra)"},
        {0xfe0518e3, "bne a0,zero,0xff0"},
        {0x00b57463, "bgeu a0,a1,0x1008"},
        {0x7ff50503, "lb a0,2047(a0)"},
        {0x80053503, "ld a0,-2048(a0)"},
        {0xfeb53c23, "sd a1,-8(a0)"},
        {0x7eb50fa3, "sb a1,2047(a0)"},
        {0x03f51513, "slli a0,a0,0x3f"},
        {0x43f55513, "srai a0,a0,0x3f"},
        {0x41f5551b, "sraiw a0,a0,0x1f"},
        {0x40b50533, "sub a0,a0,a1"},
        {0x02b52533, "mulhsu a0,a0,a1"},
        {0x02b5753b, "remuw a0,a0,a1"},
        {0x1005252f, "lr.w a0,0(a0)"},
        {0x18b5352f, "sc.d a0,a1,0(a0)"},
        {0xe6b5252f, "amomaxu.w a0,a1,0(a0)"},
        {0x00257553, "fadd.s fa0,fa0,ft2"},
        {0x02259553, "fadd.d fa0,fa1,ft2,rtz"},
        {0x52b57543, "fmadd.d fa0,fa0,fa1,fa0"},
        {0x58050553, "fsqrt.s fa0,fa0,rne"},
        {0xc2354553, "fcvt.lu.d a0,fa0,rmm"},
        {0xa2b52553, "feq.d a0,fa0,fa1"},
        {0xe0051553, "fclass.s a0,fa0"},
        {0x0030d573, "csrrwi a0,0x3,1"},
        {0xc0002573, "csrrs a0,0xc00,zero"},
        {0x0ff0000f, "fence"},
        {0x0000100f, "fence.i"},
        {0x00000073, "ecall"},
        {0x00100073, "ebreak"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CHECK_TEXT(text_of(rows[i].bits, 0x1000), rows[i].text);
        CHECK_ROW(rows[i].text, rf_insn_decode(rows[i].bits).length == 4);
    }
}

TEST(compressed_instructions_stand_for_full_ones)
{
    static const struct {
        uint16_t half;
        const char *text;
    } rows[] = {
        {0x0001, "addi zero,zero,0"}, {0x0505, "addi a0,a0,1"},      {0x357d, "addiw a0,a0,-1"},
        {0x557d, "addi a0,zero,-1"},  {0x6105, "addi sp,sp,32"},     {0x7179, "addi sp,sp,-48"},
        {0x657d, "lui a0,0x1f"},      {0x757d, "lui a0,0xfffff"},    {0x0808, "addi a0,sp,16"},
        {0x4108, "lw a0,0(a0)"},      {0x7d68, "ld a0,248(a0)"},     {0x2588, "fld fa0,8(a1)"},
        {0xe588, "sd a0,8(a1)"},      {0x953e, "add a0,a0,a5"},      {0x853e, "add a0,zero,a5"},
        {0x8082, "jalr zero,0(ra)"},  {0x9502, "jalr ra,0(a0)"},     {0x9002, "ebreak"},
        {0x8d0d, "sub a0,a0,a1"},     {0x9d2d, "addw a0,a0,a1"},     {0x917d, "srli a0,a0,0x3f"},
        {0x9501, "srai a0,a0,0x20"},  {0x997d, "andi a0,a0,-1"},     {0x1502, "slli a0,a0,0x20"},
        {0xbffd, "jal zero,0xffe"},   {0xfd7d, "bne a0,zero,0xffe"}, {0xc511, "beq a0,zero,0x100c"},
        {0x70e2, "ld ra,56(sp)"},     {0xfc06, "sd ra,56(sp)"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CHECK_TEXT(text_of(rows[i].half, 0x1000), rows[i].text);
        CHECK_ROW(rows[i].text, rf_insn_decode(rows[i].half).length == 2);
    }
}

TEST(reserved_encodings_are_illegal)
{
    static const struct {
        const char *name;
        uint32_t bits;
    } rows[] = {
        {"all zero", 0},
        {"all ones", 0xffffffff},
        {"c.addi4spn of nothing", 0x0004},
        {"row 4 of quadrant 0", 0x8000},
        {"c.addiw to x0", 0x2005},
        {"c.addi16sp of nothing", 0x6101},
        {"c.lui of nothing", 0x6501},
        {"c.subw's neighbours", 0x9c41},
        {"c.jr to x0", 0x8002},
        {"c.lwsp to x0", 0x4002},
        {"c.ldsp to x0", 0x6002},
        {"rounding mode 5", 0x0225d553},
        {"rounding mode 6", 0x0225e553},
        {"slliw by 32", 0x0205151b},
        {"lr with a second operand", 0x1015252f},
        {"fsqrt with a second operand", 0x58150553},
        {"half precision", 0x04257553},
        {"mret", 0x30200073},
        {"branch of function 2", 0x00052063 | 0x2000},
        {"load of width 7", 0x00057003},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CHECK_ROW(rows[i].name, rf_insn_decode(rows[i].bits).op == RF_OP_ILLEGAL);
}

TEST(every_row_decodes_to_itself)
{
    for (unsigned op = 1; op < RF_OP_COUNT; op++) {
        const struct rf_op_info *info = &rf_op_table[op];
        CHECK_ROW(info->mnemonic, (info->match & ~info->mask) == 0);
        CHECK_ROW(info->mnemonic, rf_insn_decode(info->match).op == op);
        for (unsigned other = op + 1; other < RF_OP_COUNT; other++) {
            uint32_t both = info->mask & rf_op_table[other].mask;
            CHECK_ROW(info->mnemonic, (info->match & both) != (rf_op_table[other].match & both));
        }
    }
}

TEST(registers_are_where_the_core_keeps_them)
{
    struct rf_insn insn = rf_insn_decode(0x02259553); /* fadd.d fa0,fa1,ft2,rtz */
    CHECK_EQ(insn.rd, RF_REG_FP + 10);
    CHECK_EQ(insn.rs1, RF_REG_FP + 11);
    CHECK_EQ(insn.rs2, RF_REG_FP + 2);
    CHECK_EQ(insn.rs3, RF_REG_NONE);
    CHECK_EQ(insn.rm, 1);
    insn = rf_insn_decode(0x00000013);
    CHECK_EQ(insn.rd, RF_REG_NONE); /* x0 is never written */
    CHECK_EQ(insn.rs1, 0);
}

TEST(text_is_cut_to_its_room)
{
    char text[8] = "#######";
    struct rf_insn insn = rf_insn_decode(0xfff50513);
    CHECK_EQ(rf_insn_print(&insn, 0, text, sizeof text), strlen("addi a0,a0,-1"));
    CHECK_TEXT(text, "addi a0");
}

TEST_MAIN()
