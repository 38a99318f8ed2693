/* class.c - the names of the classes of records, and the context of a frame. */
#include <riffle/event.h>

const char *rf_class_name(unsigned kind)
{
    static const char *const names[RF_CLASS_COUNT] = {
        [RF_CLASS_LOAD] = "load", [RF_CLASS_STORE] = "store", [RF_CLASS_BRANCH] = "branch",
        [RF_CLASS_JUMP] = "jump", [RF_CLASS_CALL] = "call",   [RF_CLASS_RETURN] = "return",
        [RF_CLASS_ALU] = "alu",   [RF_CLASS_INSN] = "insn",   [RF_CLASS_FRAME] = "frame",
    };
    return kind < RF_CLASS_COUNT ? names[kind] : NULL;
}

/* The last steps of a well-known mixer: a change of one bit of either number changes about half the bits of the result. */
uint64_t rf_context_below(uint64_t context, uint64_t pc)
{
    uint64_t x = context * UINT64_C(0x9e3779b97f4a7c15) + pc;
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    x ^= x >> 31;
    return x != 0 ? x : 1;
}
