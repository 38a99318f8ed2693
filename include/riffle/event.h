/* event.h - what happens in a program, and what a profile is over.
 *
 * A record is what a source can tell of one executed instruction. A tuple is the pair of 64-bit
 * words <a, b> that a profile counts. Engines see only tuples and never know what the words mean:
 * that is why one engine serves every kind of profile. A selector (selector.h) turns records into
 * tuples. */
#ifndef RIFFLE_EVENT_H
#define RIFFLE_EVENT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The class of a record. One instruction can make several records: `add [mem], reg` is a load, an
 * alu and a store. */
enum rf_class {
    RF_CLASS_LOAD,   /* pc, addr, value, width, miss */
    RF_CLASS_STORE,  /* pc, addr, value, width, miss, silent */
    RF_CLASS_BRANCH, /* conditional: pc, target (where it went), taken */
    RF_CLASS_JUMP,   /* unconditional, not a call or return: pc, target, indirect */
    RF_CLASS_CALL,   /* pc, target, indirect */
    RF_CLASS_RETURN, /* pc, target */
    RF_CLASS_ALU,    /* pc, value (the result), width (its significant bits) */
    RF_CLASS_INSN,   /* pc, cycles: once for every instruction, whatever else it does */
    RF_CLASS_FRAME, /* pc, context: a frame of a call stack that was sampled, the outermost first */
    RF_CLASS_COUNT
};

enum rf_record_flags {
    RF_RECORD_TAKEN = 1,    /* a branch that was taken */
    RF_RECORD_INDIRECT = 2, /* a jump or call through a register or memory */
    RF_RECORD_MISPREDICTED =
        4, /* a transfer whose target the core guessed wrong; only a timed machine knows */
};

/* Fields that a class does not have are 0. 40 bytes, plain data. */
struct rf_record {
    uint64_t pc;
    uint64_t addr; /* effective address */
    uint64_t
        value; /* loaded, stored or computed; the low 64 bits of anything wider. Of an insn: its cycles; of a frame: its context */
    uint64_t
        target; /* of a transfer of control; of a store, where that is asked for: it was silent */
    uint16_t width; /* bits: of the access; of an alu result, those that are significant */
    uint16_t thread;
    uint8_t kind;     /* enum rf_class */
    uint8_t flags;    /* enum rf_record_flags */
    uint8_t miss;     /* cache levels missed: 0 a hit in L1, 1 missed L1, 2 missed L2 too */
    uint8_t reserved; /* 0 */
};

struct rf_tuple {
    uint64_t a;
    uint64_t b;
};

/* A run of tuples with, where not all are 1, how often each of them occurred. */
struct rf_tuples {
    const struct rf_tuple *tuples;
    const uint64_t *counts; /* NULL: every tuple once */
    size_t n;
};

/* The most events that one stream may have, counts included. Sums of two streams still fit 64 bits. */
#define RF_EVENTS_MAX (UINT64_C(1) << 63)

/* Where a frame of a call stack stands: the context of the outermost frame is 0, that of any other one is made
 * of the context and pc of the frame that called it. Never 0. A profile of frames by pc and context is thus a
 * tree: an item's children have the context that it makes. */
uint64_t rf_context_below(uint64_t context, uint64_t pc);

/* "load", "store", ...; NULL for a number that is no class. */
const char *rf_class_name(unsigned kind);

#ifdef __cplusplus
}
#endif
#endif
