/* disassemble - what the decoder makes of encodings, for compressed.py.
 *
 *     disassemble halves        every 16-bit encoding: itself, what it expands to (0: illegal)
 *     disassemble words <FILE   each 32-bit word of standard input as text, at pc 0, 4, 8 ... */
#include "machine/isa/isa.h"
#include <stdio.h>
#include <string.h>

static int print_halves(void)
{
    for (unsigned half = 0; half < 1u << 16; half++)
        if ((half & 3) != 3)
            printf("%04x %08x\n", half, rf_insn_expand((uint16_t)half));
    return 0;
}

static int print_words(void)
{
    uint32_t word;
    char text[128];
    for (uint64_t pc = 0; fread(&word, sizeof word, 1, stdin) == 1; pc += sizeof word) {
        struct rf_insn insn = rf_insn_decode(word);
        rf_insn_print(&insn, pc, text, sizeof text);
        printf("%s\n", text);
    }
    return 0;
}

int main(int argc, char **argv)
{
    return argc > 1 && strcmp(argv[1], "words") == 0 ? print_words() : print_halves();
}
