/* x86.c - which opcodes an instruction of x86-64 has, by its name in Intel's manuals (also of objdump -M intel).
 *
 * Integer instructions of programs. Those of vectors have names that depend on prefixes, so they go by number. The operand's
 * size is not part of the name: mov is 88 with a byte, 89 with more. tests/unit/x86.c holds the table against an assembler's
 * output, byte by byte. */
#include "dise/x86.h"
#include "base/text.h"
#include <string.h>

/* Opcodes from `first` to `last`; of `last`, only this group, unless it is ANY. */
struct form {
    uint32_t first, last;
    uint8_t group;
};

enum { ANY = 8, FORMS = RF_DISE_X86_RANGES };

#define FROM_TO(a, b)                                                                              \
    {                                                                                              \
        a, b, ANY                                                                                  \
    }
#define ONE(a)                                                                                     \
    {                                                                                              \
        a, a, ANY                                                                                  \
    }
#define GROUP(a, g)                                                                                \
    {                                                                                              \
        a, a, g                                                                                    \
    }
#define ARITHMETIC(g)                                                                              \
    {                                                                                              \
        FROM_TO(8 * (g), 8 * (g) + 5), GROUP(0x80, g), GROUP(0x81, g), GROUP(0x83, g)              \
    }
#define SHIFT(g)                                                                                   \
    {                                                                                              \
        GROUP(0xc0, g), GROUP(0xc1, g), GROUP(0xd0, g), GROUP(0xd1, g), GROUP(0xd2, g),            \
            GROUP(0xd3, g)                                                                         \
    }
#define BIT_TEST(a, g)                                                                             \
    {                                                                                              \
        ONE(a), GROUP(0x0fba, g)                                                                   \
    }
#define UNARY(g)                                                                                   \
    {                                                                                              \
        GROUP(0xf6, g), GROUP(0xf7, g)                                                             \
    }

/* A form whose last opcode is 0 ends the list: add begins at 0, but does not end there. */
static const struct {
    const char *name;
    struct form forms[FORMS];
} names[] = {
    {"adc", ARITHMETIC(2)},
    {"add", ARITHMETIC(0)},
    {"and", ARITHMETIC(4)},
    {"bsf", {ONE(0x0fbc)}}, /* with a prefix tzcnt */
    {"bsr", {ONE(0x0fbd)}}, /* lzcnt */
    {"bswap", {FROM_TO(0x0fc8, 0x0fcf)}},
    {"bt", BIT_TEST(0x0fa3, 4)},
    {"btc", {GROUP(0x0fba, 7), ONE(0x0fbb)}},
    {"btr", BIT_TEST(0x0fb3, 6)},
    {"bts", BIT_TEST(0x0fab, 5)},
    {"call", {ONE(0xe8), GROUP(0xff, 2)}},
    {"cmp", ARITHMETIC(7)},
    {"cmps", {FROM_TO(0xa6, 0xa7)}},
    {"cmpxchg", {FROM_TO(0x0fb0, 0x0fb1)}},
    {"cmpxchg16b", {GROUP(0x0fc7, 1)}},
    {"cpuid", {ONE(0x0fa2)}},
    {"dec", {GROUP(0xfe, 1), GROUP(0xff, 1)}},
    {"div", UNARY(6)},
    {"idiv", UNARY(7)},
    {"imul", {ONE(0x69), ONE(0x6b), GROUP(0xf6, 5), GROUP(0xf7, 5), ONE(0x0faf)}},
    {"inc", {GROUP(0xfe, 0), GROUP(0xff, 0)}},
    {"jmp", {ONE(0xe9), ONE(0xeb), GROUP(0xff, 4)}},
    {"jrcxz", {ONE(0xe3)}},
    {"lea", {ONE(0x8d)}},
    {"leave", {ONE(0xc9)}},
    {"lods", {FROM_TO(0xac, 0xad)}},
    {"loop", {ONE(0xe2)}},
    {"loope", {ONE(0xe1)}},
    {"loopne", {ONE(0xe0)}},
    {"mov",
     {FROM_TO(0x88, 0x8c), ONE(0x8e), FROM_TO(0xa0, 0xa3), FROM_TO(0xb0, 0xbf), GROUP(0xc6, 0),
      GROUP(0xc7, 0)}},
    {"movs", {FROM_TO(0xa4, 0xa5)}},
    {"movsx", {FROM_TO(0x0fbe, 0x0fbf)}},
    {"movsxd", {ONE(0x63)}},
    {"movzx", {FROM_TO(0x0fb6, 0x0fb7)}},
    {"mul", UNARY(4)},
    {"neg", UNARY(3)},
    {"not", UNARY(2)},
    {"or", ARITHMETIC(1)},
    {"pop", {FROM_TO(0x58, 0x5f), GROUP(0x8f, 0)}},
    {"popcnt", {ONE(0x0fb8)}},
    {"push", {FROM_TO(0x50, 0x57), ONE(0x68), ONE(0x6a), GROUP(0xff, 6)}},
    {"rcl", SHIFT(2)},
    {"rcr", SHIFT(3)},
    {"ret", {FROM_TO(0xc2, 0xc3)}},
    {"rol", SHIFT(0)},
    {"ror", SHIFT(1)},
    {"sar", SHIFT(7)},
    {"sbb", ARITHMETIC(3)},
    {"scas", {FROM_TO(0xae, 0xaf)}},
    {"shl", SHIFT(4)},
    {"shld", {FROM_TO(0x0fa4, 0x0fa5)}},
    {"shr", SHIFT(5)},
    {"shrd", {FROM_TO(0x0fac, 0x0fad)}},
    {"stos", {FROM_TO(0xaa, 0xab)}},
    {"sub", ARITHMETIC(5)},
    {"syscall", {ONE(0x0f05)}},
    {"test", {FROM_TO(0x84, 0x85), FROM_TO(0xa8, 0xa9), GROUP(0xf6, 0), GROUP(0xf7, 0)}},
    {"xadd", {FROM_TO(0x0fc0, 0x0fc1)}},
    {"xchg", {FROM_TO(0x86, 0x87), FROM_TO(0x91, 0x97)}},
    {"xor", ARITHMETIC(6)},
};

/* Sixteen conditions, in the order of their opcodes; and what asks for them. */
static const char *const conditions[] = {"o", "no", "b", "ae", "e", "ne", "be", "a",
                                         "s", "ns", "p", "np", "l", "ge", "le", "g"};
static const struct {
    const char *name;
    uint32_t first, second; /* opcodes with the condition "o"; 0: there is no second one */
} conditionals[] = {{"cmov", 0x0f40, 0}, {"set", 0x0f90, 0}, {"j", 0x70, 0x0f80}};

static struct rf_dise_x86_range range_of(const struct form *form)
{
    uint32_t first = form->first << RF_X86_GROUP_BITS, last = form->last << RF_X86_GROUP_BITS;
    if (form->group != ANY)
        return (struct rf_dise_x86_range){last | form->group, last | form->group};
    return (struct rf_dise_x86_range){first, last | 7};
}

struct rf_dise_x86_range rf_dise_x86_opcode(uint32_t number)
{
    const struct form form = ONE(number);
    return range_of(&form);
}

/* jne, cmovl, seta */
static size_t find_conditional(const char *name, size_t n, struct rf_dise_x86_range *ranges)
{
    for (size_t i = 0; i < sizeof conditionals / sizeof *conditionals; i++) {
        size_t prefix = strlen(conditionals[i].name);
        if (n <= prefix || memcmp(name, conditionals[i].name, prefix) != 0)
            continue;
        for (uint32_t k = 0; k < 16; k++) {
            if (!rf_text_equal(conditions[k], name + prefix, n - prefix))
                continue;
            ranges[0] = rf_dise_x86_opcode(conditionals[i].first + k);
            if (conditionals[i].second != 0)
                ranges[1] = rf_dise_x86_opcode(conditionals[i].second + k);
            return conditionals[i].second != 0 ? 2 : 1;
        }
    }
    return 0;
}

size_t rf_dise_x86_find(const char *name, size_t n,
                        struct rf_dise_x86_range ranges[RF_DISE_X86_RANGES])
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t k = 0;
        if (!rf_text_equal(names[i].name, name, n))
            continue;
        for (; k < FORMS && names[i].forms[k].last != 0; k++)
            ranges[k] = range_of(&names[i].forms[k]);
        return k;
    }
    return find_conditional(name, n, ranges);
}

bool rf_dise_x86_is_opcode(uint64_t number)
{
    uint64_t map = number >> 8;
    return map == 0 || map == 0x0f || map == 0x0f38 || map == 0x0f3a;
}
