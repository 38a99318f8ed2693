/* engine.h - productions in the decode stage: tables, counters and flags.
 *
 *     rf_dise_open(&engine, program, &sizes, registers, alloc, &error);
 *     rf_dise_expand(engine, insn, pc, state, &expansion);     as code is decoded
 *     state = rf_dise_watch(engine, expansion.watch);          as it runs
 *     rf_dise_tallies(engine)[expansion.tally]++;              the same, where counting is all
 *
 * The last two have the form of the machine's hooks. The state is the flags that patterns ask for. One thread at
 * a time. */
#ifndef RF_DISE_ENGINE_H
#define RF_DISE_ENGINE_H

#include "dise/production.h"
#include "machine/core/expand.h"
#include <riffle/alloc.h>

/* What the hardware has. */
struct rf_dise_sizes {
    uint64_t patterns;     /* entries of the pattern table */
    uint64_t replacements; /* entries of the replacement table, 8 bytes each */
    uint64_t conditionals; /* micro-instructions of the conditionals table */
    uint64_t counters, counter_bits;
    uint64_t registers;
};

struct rf_dise_engine;

/* `program` and the RF_DISE_REGISTERS `registers` must outlive the engine. Registers and counters get their first values.
 * If the tables are too small, the error says what the program needs and what there is. */
rf_status rf_dise_open(struct rf_dise_engine **engine, const struct rf_dise_program *program,
                       const struct rf_dise_sizes *sizes, uint64_t *registers,
                       const struct rf_alloc *alloc, struct rf_error *error);
void rf_dise_close(struct rf_dise_engine *engine); /* NULL is fine */

/* Registers of the form max ~ n give random values from now on, those that counters start with, too. Until then they give
 * max - n. `others`, 1 << register, change by rf_dise_load as the program runs. */
void rf_dise_draw(struct rf_dise_engine *engine, uint64_t seed, uint32_t others);
/* Counters start from the registers as they are now. */
void rf_dise_start(struct rf_dise_engine *engine);
/* A register gets another value. */
void rf_dise_load(struct rf_dise_engine *engine, unsigned index,
                  const struct rf_dise_register *value);
/* What the profile's random values lack to their mean since this was asked before: intervals that its next burst stands for
 * beyond those that are skipped. */
int64_t rf_dise_take_owed(struct rf_dise_engine *engine, unsigned profile);
/* Profiles, 1 << profile, whose last instruction set a counter from a register that gives another value each time, or did so
 * when they changed: where replacements stay on, one burst is over and the next one begins at once. */
unsigned rf_dise_restarted(const struct rf_dise_engine *engine);

rf_expand rf_dise_expand; /* the context of both is the engine */
rf_watch rf_dise_watch;

/* What expand counts in. */
uint64_t *const *rf_dise_tallies(const struct rf_dise_engine *engine);

/* The profiles, as 1 << profile, whose counters the instruction runs. */
unsigned rf_dise_counted_by(const struct rf_dise_engine *engine, uint32_t watch);

/* Run micro-instructions that belong to no instruction. */
void rf_dise_run(struct rf_dise_engine *engine, const struct rf_dise_op *ops, unsigned n);

uint32_t rf_dise_state(const struct rf_dise_engine *engine);
uint32_t rf_dise_flags(const struct rf_dise_engine *engine); /* all of them */
uint64_t rf_dise_counter(const struct rf_dise_engine *engine, unsigned counter);

/* What a profile has done so far. */
struct rf_dise_stats {
    uint64_t events;     /* instructions that ran its counters */
    uint64_t in_bursts;  /* how many of these while its replacements were on */
    uint64_t bursts;     /* how often they were switched on */
    uint64_t expansions; /* instructions replaced */
    uint64_t
        of_interest; /* instructions that match a replacement with a handler, in bursts or not */
};
struct rf_dise_stats rf_dise_stats(const struct rf_dise_engine *engine, unsigned profile);
/* Are the profile's replacements on with the current flags? */
bool rf_dise_is_on(const struct rf_dise_engine *engine, unsigned profile);
/* How many instructions were expanded, each counted once. */
uint64_t rf_dise_expansions(const struct rf_dise_engine *engine);

#endif
