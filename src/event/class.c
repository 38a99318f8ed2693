/* class.c - the names of the classes of records. */
#include <riffle/event.h>

const char *rf_class_name(unsigned kind)
{
    static const char *const names[RF_CLASS_COUNT] = {
        [RF_CLASS_LOAD] = "load", [RF_CLASS_STORE] = "store", [RF_CLASS_BRANCH] = "branch",
        [RF_CLASS_JUMP] = "jump", [RF_CLASS_CALL] = "call",   [RF_CLASS_RETURN] = "return",
        [RF_CLASS_ALU] = "alu",   [RF_CLASS_INSN] = "insn",
    };
    return kind < RF_CLASS_COUNT ? names[kind] : NULL;
}
