/* timing.h - how many cycles an out-of-order core takes, in one pass over the instructions.
 *
 * The functional core says what is executed; this model says when. Every instruction gets the cycles in which
 * it is fetched, dispatched, issued, completed and committed. Each is the latest of what it must wait for:
 *
 *     fetch ----------> dispatch ----------> issue ---------> complete ------> commit
 *     fetch width        decode width         operands         latency          in order
 *     I-cache line       fetch + depth        a port           caches, MSHRs    commit width
 *     redirect after     room in ROB, RS,     issue width      forwarding
 *     a mispredict       load/store queue
 *
 * Each cycle is charged to one instruction: the one that commits next, since all others wait for it. What a wrong
 * prediction costs at least is charged to the branch. All that is charged adds up to the cycles, but for traps and
 * a wrong prediction at the very end.
 *
 * Nothing is simulated cycle by cycle, so it runs at tens of MIPS. A slow model in tests/ does simulate every
 * cycle and is its judge. One thread at a time. */
#ifndef RF_MACHINE_TIMING_H
#define RF_MACHINE_TIMING_H

#include "machine/core/expand.h"
#include "machine/isa/isa.h"
#include "machine/timing/config.h"
#include <riffle/alloc.h>
#include <stdbool.h>

/* One instruction, in program order. What is filled in is 0 before. */
struct rf_retired {
    struct rf_insn insn;
    uint8_t entry;     /* enum rf_entry */
    bool own;          /* the program's own; the model does not read this */
    bool mispredicted; /* filled in: a transfer that was predicted wrong */
    uint8_t missed;    /* filled in: cache levels that a load or store missed, 0 for others */
    uint64_t pc, next_pc;
    uint64_t address; /* of a load, store or atomic */
};

enum rf_stall {
    RF_STALL_FETCH, /* the front end had nothing, for another reason than the next two */
    RF_STALL_ICACHE,
    RF_STALL_MISPREDICT,
    RF_STALL_TRAP, /* entering and leaving handlers, and charged cycles */
    RF_STALL_ROB,
    RF_STALL_RS,
    RF_STALL_LSQ,
    RF_STALL_COUNT
};

struct rf_timing_stats {
    uint64_t cycles, instructions;
    uint64_t branches, mispredicts; /* conditional and indirect */
    uint64_t icache_misses, dcache_misses, l2_misses;
    uint64_t loads, stores, forwards;
    uint64_t
        stall[RF_STALL_COUNT]; /* cycles in which nothing was dispatched, by what it waited for */
};

struct rf_timing;

rf_status rf_timing_open(struct rf_timing **timing, const struct rf_timing_config *config,
                         const struct rf_alloc *alloc, struct rf_error *error);
void rf_timing_close(struct rf_timing *timing); /* NULL is fine */

/* The next n instructions; fills in what they missed. Where `cycles` is not NULL, cycles[i] becomes the number of
 * cycles that the core spent on instruction i alone. It has an array of its own because struct rf_retired must stay
 * small: a group of them should fit the host's first-level cache. */
void rf_timing_retire(struct rf_timing *timing, struct rf_retired *retired, size_t n,
                      uint32_t *cycles);

/* A trap: the next instruction is fetched when everything before it has committed and `cycles` more have
 * passed, in which the core does nothing. */
void rf_timing_charge(struct rf_timing *timing, uint64_t cycles);

/* The last instruction called a handler that will return to this address. */
void rf_timing_call(struct rf_timing *timing, uint64_t return_address);

/* Cycles for which decode pauses at the first instruction of a sequence. */
void rf_timing_set_pause(struct rf_timing *timing, uint64_t cycles);

/* So far; the cycles are those at which the last instruction committed. */
uint64_t rf_timing_cycles(const struct rf_timing *timing);
struct rf_timing_stats rf_timing_stats(const struct rf_timing *timing);

#endif
