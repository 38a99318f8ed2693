/* Names of x86-64 instructions: each instruction that the assembler makes has an opcode that its name stands for, and no other
 * name does. Prefixes, operand sizes and registers do not matter. */
#include "dise/x86.h"
#include "test.h"

struct row {
    char name[12];
    uint8_t length;
    uint8_t code[16];
};

extern const struct row assembled[], assembled_end[];

#define I(name, text)                                                                              \
    "1: .ascii \"" name "\"\n.fill 12 - (. - 1b), 1, 0\n"                                          \
    ".byte 4f - 3f\n3: " text "\n4: .fill 16 - (4b - 3b), 1, 0x90\n"
#define ARITHMETIC(op)                                                                             \
    I(op, op "b %al, (%rdi)")                                                                      \
    I(op, op "l %eax, (%rdi)")                                                                     \
    I(op, op "b (%rdi), %al")                                                                      \
    I(op, op "q (%rdi), %r9")                                                                      \
    I(op, op "b $3, %al")                                                                          \
    I(op, op "l $0x12345, %eax")                                                                   \
    I(op, op "b $3, (%rdi)")                                                                       \
    I(op, op "l $0x12345, (%rdi)")                                                                 \
    I(op, op "q $3, (%r12)")                                                                       \
    I(op, op "w $3, %fs:(%r12)")
#define SHIFT(op)                                                                                  \
    I(op, op "b $3, (%rdi)")                                                                       \
    I(op, op "l $3, (%rdi)")                                                                       \
    I(op, op "b (%rdi)")                                                                           \
    I(op, op "l (%rdi)")                                                                           \
    I(op, op "b %cl, (%rdi)")                                                                      \
    I(op, op "q %cl, (%rdi)")
#define UNARY(op) I(op, op "b (%rdi)") I(op, op "q (%rdi)") I(op, op "l %r9d")
#define CONDITION(c)                                                                               \
    I("j" c, "j" c " .+2")                                                                         \
    I("j" c, "j" c " .+0x12345")                                                                   \
    I("cmov" c, "cmov" c " (%rdi), %eax")                                                          \
    I("set" c, "set" c " (%rdi)")

__asm__(".pushsection .rodata\n.globl assembled, assembled_end\nassembled:\n" /**/
        ARITHMETIC("add") ARITHMETIC("or") ARITHMETIC("adc") ARITHMETIC("sbb") ARITHMETIC("and")
            ARITHMETIC("sub") ARITHMETIC("xor") ARITHMETIC("cmp") SHIFT("rol") SHIFT("ror")
                SHIFT("rcl") SHIFT("rcr") SHIFT("shl") SHIFT("shr") SHIFT("sar") UNARY("not")
                    UNARY("neg") UNARY("mul") UNARY("div") UNARY("idiv") UNARY("imul") UNARY("inc")
                        UNARY("dec") CONDITION("o") CONDITION("no") CONDITION("b") CONDITION("ae")
                            CONDITION("e") CONDITION("ne") CONDITION("be") CONDITION("a")
                                CONDITION("s") CONDITION("ns") CONDITION("p") CONDITION("np")
                                    CONDITION("l") CONDITION("ge") CONDITION("le") CONDITION("g"));

__asm__(/**/
        I("mov", "movb %al, (%rdi)") I("mov", "movq (%rdi), %rax") I("mov", "movb (%rdi), %r9b")
            I("mov", "movw $3, (%rdi)") I("mov", "movb $3, (%rdi)") I("mov", "movl $3, %r10d")
                I("mov", "movabsq $3, %r10") I("mov", "movb $3, %al") I("mov", "movq %fs:8, %rax")
                    I("mov", "movabsb 0x123456789abcdef, %al") I("mov", "movw %ds, (%rdi)")
                        I("movzx", "movzbl (%rdi), %eax") I("movzx", "movzwq %ax, %r9")
                            I("movsx", "movsbw (%rdi), %ax") I("movsx", "movswl (%rdi), %eax")
                                I("movsxd", "movslq (%rdi), %rax"));

__asm__(/**/
        I("push", "push %rax") I("push", "push %r15") I("push", "push $3")
            I("push", "push $0x12345") I("push", "push (%rdi)") I("pop", "pop %rbx")
                I("pop", "pop %r8") I("pop", "pop (%rdi)") I("call", "call .+0x12345")
                    I("call", "call *(%rdi)") I("call", "call *%r11") I("jmp", "jmp .+2")
                        I("jmp", "jmp .+0x12345") I("jmp", "jmp *(%rdi)") I("ret", "ret")
                            I("ret", "ret $8") I("leave", "leave") I("loop", "loop .")
                                I("loope", "loope .") I("loopne", "loopne .") I("jrcxz", "jrcxz .")
                                    I("syscall", "syscall") I("cpuid", "cpuid"));

__asm__(/**/
        I("imul", "imul (%rdi), %eax") I("imul", "imul $3, (%rdi), %eax")
            I("imul", "imul $0x12345, (%rdi), %rax") I("lea", "lea 8(%rdi,%rax,4), %r9")
                I("test", "testb %al, (%rdi)") I("test", "testl %eax, (%rdi)")
                    I("test", "testb $3, %al") I("test", "testl $3, %eax")
                        I("test", "testb $3, (%rdi)") I("test", "testq $3, (%rdi)")
                            I("xchg", "xchgb %al, (%rdi)") I("xchg", "xchgq %rax, (%rdi)")
                                I("xchg", "xchg %rax, %rbx"));

__asm__(/**/
        I("movs", "rep movsb") I("movs", "rep movsq") I("stos", "rep stosl") I("cmps", "repe cmpsb")
            I("scas", "repne scasb") I("lods", "lodsq") I("bt", "btl %eax, (%rdi)")
                I("bt", "btq $3, (%rdi)") I("bts", "lock btsl %eax, (%rdi)")
                    I("bts", "btsl $3, %eax") I("btr", "btrl %eax, (%rdi)")
                        I("btr", "btrl $3, %eax") I("btc", "btcl %eax, (%rdi)")
                            I("btc", "btcl $3, %eax") I("shld", "shld $3, %eax, (%rdi)")
                                I("shld", "shld %cl, %eax, (%rdi)")
                                    I("shrd", "shrd $3, %eax, (%rdi)")
                                        I("shrd", "shrd %cl, %eax, (%rdi)"));

__asm__(/**/
        I("bsf", "bsf (%rdi), %eax") I("bsr", "bsr (%rdi), %rax") I("popcnt", "popcnt (%rdi), %eax")
            I("cmpxchg", "lock cmpxchgb %al, (%rdi)") I("cmpxchg", "lock cmpxchgq %r9, (%rdi)")
                I("cmpxchg16b", "lock cmpxchg16b (%rdi)") I("xadd", "lock xaddl %eax, (%rdi)")
                    I("xadd", "xaddb %al, (%rdi)") I("bswap", "bswap %eax")
                        I("bswap", "bswap %r15") /**/
        "assembled_end:\n.popsection\n");

static bool is_named(const char *name, uint32_t opcode)
{
    struct rf_dise_x86_range ranges[RF_DISE_X86_RANGES];
    size_t n = rf_dise_x86_find(name, strlen(name), ranges);
    for (size_t i = 0; i < n; i++)
        if (opcode >= ranges[i].low && opcode <= ranges[i].high)
            return true;
    return false;
}

TEST(a_name_has_the_opcodes_that_the_assembler_makes)
{
    for (const struct row *row = assembled; row < assembled_end; row++) {
        uint32_t opcode = rf_x86_opcode(row->code, row->length);
        CHECK_ROW(row->name, is_named(row->name, opcode));
        for (const struct row *other = assembled; other < assembled_end; other++)
            CHECK_ROW(row->name,
                      strcmp(row->name, other->name) == 0 || !is_named(other->name, opcode));
    }
}

TEST(ranges_of_a_name_ascend)
{
    struct rf_dise_x86_range ranges[RF_DISE_X86_RANGES];
    for (const struct row *row = assembled; row < assembled_end; row++) {
        size_t n = rf_dise_x86_find(row->name, strlen(row->name), ranges);
        for (size_t i = 0; i < n; i++)
            CHECK_ROW(row->name, ranges[i].low <= ranges[i].high &&
                                     (i == 0 || ranges[i].low > ranges[i - 1].high));
    }
}

/* Prefixes and maps, by the bytes of the manual. */
TEST(opcodes_by_their_bytes)
{
    static const struct {
        const char *label;
        uint8_t code[8];
        unsigned length;
        uint32_t opcode, group;
    } rows[] = {
        {"vmovaps (%rdi),%xmm1", {0xc5, 0xf8, 0x28, 0x0f}, 4, 0x0f28, 1},
        {"andn (%rdi),%eax,%eax", {0xc4, 0xe2, 0x78, 0xf2, 0x07}, 5, 0x0f38f2, 0},
        {"rorx $3,(%rdi),%eax", {0xc4, 0xe3, 0x7b, 0xf0, 0x07, 3}, 6, 0x0f3af0, 0},
        {"vmovaps (%rdi),%zmm1", {0x62, 0xf1, 0x7c, 0x48, 0x28, 0x0f}, 6, 0x0f28, 1},
        {"movbe (%rdi),%eax", {0x0f, 0x38, 0xf0, 0x07}, 4, 0x0f38f0, 0},
        {"movss (%r8),%xmm9", {0xf3, 0x45, 0x0f, 0x10, 0x08}, 5, 0x0f10, 1},
        {"lock incl %gs:(%rdi)", {0xf0, 0x65, 0xff, 0x07}, 4, 0xff, 0},
        {"cut off behind its prefixes", {0x66, 0x48}, 2, 0, 0},
        {"nothing", {0}, 0, 0, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint32_t opcode = rf_x86_opcode(rows[i].code, rows[i].length);
        CHECK_ROW(rows[i].label, opcode == (rows[i].opcode << RF_X86_GROUP_BITS | rows[i].group));
    }
}

TEST(what_is_no_opcode)
{
    struct rf_dise_x86_range ranges[RF_DISE_X86_RANGES];
    static const char *const names[] = {"", "movl", "lbu", "j", "jz0", "cmov", "MOV"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        CHECK_ROW(names[i], rf_dise_x86_find(names[i], strlen(names[i]), ranges) == 0);
    CHECK(rf_dise_x86_is_opcode(0xff) && rf_dise_x86_is_opcode(0x0fff));
    CHECK(rf_dise_x86_is_opcode(0x0f38f0) && rf_dise_x86_is_opcode(0x0f3aff));
    CHECK(!rf_dise_x86_is_opcode(0x100) && !rf_dise_x86_is_opcode(0x0f3900));
}

TEST_MAIN()
