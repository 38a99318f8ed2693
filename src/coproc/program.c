/* program.c - the names of a microprogram, and how to look them up. */
#include "coproc/program.h"
#include <string.h>

const char *const rf_opcode_names[RF_OPCODE_COUNT] = {
    [RF_OPCODE_LOAD] = "load",
    [RF_OPCODE_STORE] = "store",
    [RF_OPCODE_BRANCH] = "branch",
    [RF_OPCODE_JUMP] = "jump",
    [RF_OPCODE_CALL] = "call",
    [RF_OPCODE_RETURN] = "return",
    [RF_OPCODE_ALU] = "alu",
    [RF_OPCODE_INSN] = "insn",
    [RF_OPCODE_INDIRECT_JUMP] = "ijump",
    [RF_OPCODE_INDIRECT_CALL] = "icall",
};

const char *const rf_sample_names[RF_SAMPLE_COUNT] = {
    [RF_SAMPLE_PC] = "pc",         [RF_SAMPLE_ADDR] = "addr",   [RF_SAMPLE_VALUE] = "value",
    [RF_SAMPLE_TARGET] = "target", [RF_SAMPLE_WIDTH] = "width", [RF_SAMPLE_THREAD] = "thread",
    [RF_SAMPLE_MISS] = "miss",     [RF_SAMPLE_TAKEN] = "taken", [RF_SAMPLE_INDIRECT] = "indirect",
    [RF_SAMPLE_OPCODE] = "opcode",
};

const struct rf_program_symbol *rf_program_find(const struct rf_program *program, unsigned kind,
                                                const char *name)
{
    for (unsigned i = 0; i < program->n_symbols; i++)
        if (program->symbols[i].kind == kind && strcmp(program->symbols[i].name, name) == 0)
            return &program->symbols[i];
    return NULL;
}

int rf_program_role(const struct rf_program *program, const char *name)
{
    for (unsigned i = 0; i < program->n_roles; i++)
        if (strcmp(program->roles[i].name, name) == 0)
            return (int)i;
    return -1;
}

uint64_t rf_program_let(const struct rf_program *program, const char *name, uint64_t standard)
{
    const struct rf_program_symbol *symbol = rf_program_find(program, RF_PROGRAM_LET, name);
    return symbol != NULL ? symbol->number : standard;
}

uint32_t rf_program_classes(const struct rf_program *program)
{
    uint32_t classes = 0;
    for (unsigned i = 0; i < RF_OPCODE_COUNT; i++) {
        unsigned kind = i == RF_OPCODE_INDIRECT_JUMP   ? RF_CLASS_JUMP
                        : i == RF_OPCODE_INDIRECT_CALL ? RF_CLASS_CALL
                                                       : i;
        classes |= program->entries[i] != RF_NO_ENTRY ? 1u << kind : 0;
    }
    return classes;
}
