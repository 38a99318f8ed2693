/* random_micro.h - microprograms out of random words, for tests of the assembler and the processor. */
#ifndef RF_TESTS_RANDOM_MICRO_H
#define RF_TESTS_RANDOM_MICRO_H

#include "base/random.h"
#include "coproc/program.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct rf_coproc_size random_micro_size = {256, 512, 1024, 16384};
enum { RANDOM_MICRO_WORDS = 24 };

/* A microinstruction that any random bytes can be cut down to; false: they cannot. */
static bool random_micro(struct rf_random *random, struct rf_micro *micro, unsigned at)
{
    struct rf_micro_word word;
    for (unsigned i = 0; i < 3; i++)
        word.w[i] = (uint32_t)rf_random_next(random);
    for (unsigned i = 0; i < 3; i++) { /* many idle units */
        uint32_t kept = (uint32_t)rf_random_next(random);
        word.w[i] &= kept | (uint32_t)rf_random_next(random);
    }
    word.w[2] &= 0x0fffffff;
    if (rf_micro_unpack(micro, &word) != NULL)
        return false;
    struct rf_micro_word again = rf_micro_pack(micro);
    if (memcmp(&word, &again, sizeof word) != 0)
        abort(); /* a word that was taken apart and put together is the same word */
    bool compares_index =
        micro->value_op == RF_VALUE_COMPARE && micro->index_op == RF_INDEX_NOP &&
        (micro->value_a >= RF_OPERAND_INDEX || micro->value_b >= RF_OPERAND_INDEX);
    bool bases = (micro->match_op == RF_MATCH_NOP || micro->match_base == 0) &&
                 (micro->data_op == RF_DATA_NOP || micro->data_base == 1 || micro->data_base == 2);
    unsigned to = at + micro->to;
    bool branch =
        micro->when == RF_WHEN_NEVER || micro->to == RF_TO_DONE || micro->to == RF_TO_INTERRUPT ||
        micro->to == RF_TO_REGISTER ||
        (micro->to < RF_TO_REGISTER && to >= RF_TO_HERE && to < RF_TO_HERE + RANDOM_MICRO_WORDS);
    return !compares_index && bases && branch &&
           (micro->when != 0 || micro->value_op != 0 || micro->index_op != 0 ||
            micro->match_op != 0 || micro->data_op != 0);
}

/* Every register of every kind is there. */
static void full_head(char *text)
{
    text += sprintf(text, ".base b0 = assoc[0 : 256]\n.base b1 = data[0 : 256]\n"
                          ".base b2 = data[256 : 256]\n.on load goto start\n.target t0 = start\n");
    for (int i = 0; i < 16; i++)
        text += sprintf(text, ".index i%d : %d\n.field f%d = value[%d:0]\n.const c%d = %d\n", i,
                        8 + i / 2, i, i, i, i * 3);
    sprintf(text, "start:\n");
}

/* RANDOM_MICRO_WORDS words, the last one `done`. */
static void random_program(struct rf_random *random, struct rf_program *program)
{
    char text[4096];
    struct rf_error error;
    full_head(text);
    strcat(text, " done\n");
    if (rf_program_assemble(program, text, &random_micro_size, NULL, 0, &error) != RF_OK)
        abort();
    for (program->n = 0; program->n < RANDOM_MICRO_WORDS - 1; program->n++)
        while (!random_micro(random, &program->code[program->n], program->n))
            ;
    program->code[program->n] = (struct rf_micro){.when = RF_WHEN_ALWAYS, .to = RF_TO_DONE};
    program->n++;
}

#endif
