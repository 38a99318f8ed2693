/* productions.h - bursty sampling by productions at decode, as HPS has it (Mousa, Krintz 2005).
 *
 *     rf_productions_open(&productions, alloc);
 *     rf_productions_read(productions, "hot-call-pair.hps", &error);        one profile per file
 *     rf_productions_set(productions, "sampleFreq=max-999", &error);
 *     rf_source_open_machine(&machine, &setup, &error);                     with no classes of records
 *     rf_source_open_productions(&source, machine, productions, "hps", &error);
 *     rf_collect(&run, source, ...);          tuples of rf_productions_selector(productions, i) as stream i, in bursts
 *     rf_productions_outcome(source, i, &outcome);
 *     rf_source_close(source);                the machine with it
 *     rf_productions_close(productions);
 *
 * One thread at a time. `riffle help productions` has the language. */
#ifndef RIFFLE_PRODUCTIONS_H
#define RIFFLE_PRODUCTIONS_H

#include <riffle/probe.h>
#include <riffle/source.h>

#ifdef __cplusplus
extern "C" {
#endif

struct rf_productions;

rf_status rf_productions_open(struct rf_productions **productions, const struct rf_alloc *alloc);
void rf_productions_close(struct rf_productions *productions); /* NULL is fine */

/* Patterns may name functions: T.Target == malloc, T.PC >= main && T.PC < main + 64. Call one of these before reading: the
 * first for the simulated core, to say where a name is and how many places it has; the second for the probe, which finds
 * out by itself, and whose instructions are those of x86-64. `context` must live as long as the productions are read. */
void rf_productions_resolve(struct rf_productions *productions,
                            size_t (*resolve)(void *context, const char *name, uint64_t *address),
                            void *context);
void rf_productions_resolve_later(struct rf_productions *productions);

/* One more profile, with counters and registers of its own. Errors name file, line and column. */
rf_status rf_productions_read(struct rf_productions *productions, const char *path,
                              struct rf_error *error);

/* The same without a file, by the sampling framework of the paper: `selector` is one that the core has a handler for (calls,
 * methods, addresses). Of the bursts, the length, the distance and whether that is regular count here. */
rf_status rf_productions_sample(struct rf_productions *productions, const char *selector,
                                const struct rf_probe_bursts *bursts, struct rf_error *error);

/* Of the random values of registers, `max ~ n`. */
void rf_productions_seed(struct rf_productions *productions, uint64_t seed);

/* `register=value` for all profiles or `profile.register=value` for one: the value to begin with; with `@N` behind
 * it, the value from then on when the program has run N instructions; with `@new` behind it, the value while what the
 * program does is new: it has come into a phase that was seen little or never before. */
rf_status rf_productions_set(struct rf_productions *productions, const char *text,
                             struct rf_error *error);

size_t rf_productions_count(const struct rf_productions *productions); /* of profiles */
/* The name of the file without folder and ending. */
const char *rf_productions_name(const struct rf_productions *productions, size_t i, char *name,
                                size_t size);
/* What the profile's handler tells: "calls"; NULL: it calls none. */
const char *rf_productions_selector(const struct rf_productions *productions, size_t i);

/* The machine with productions in its decode stage; `core` says how large the tables are. Fails with what they
 * need and what there is. The source takes the machine over, also when this fails. */
rf_status rf_source_open_productions(struct rf_source **source, struct rf_source *machine,
                                     struct rf_productions *productions, const char *core,
                                     struct rf_error *error);

/* The same for the probe: what goes into rf_probe_setup, and what to select. */
struct rf_productions_native {
    struct rf_probe_bursts bursts[RF_PROBE_CLOCKS_MAX]; /* none: everything that matches is told */
    size_t n_patterns;
    struct rf_probe_pattern patterns[RF_PROBE_PATTERNS_MAX];
    const char *functions[RF_PROBE_FUNCTIONS_MAX]; /* that patterns name; of the productions */
    char selector[RF_PROBE_PROFILES_MAX][128];     /* of what each profile tells */
};

/* RF_EINVAL with the place of what the probe cannot do, or with a register that is set later. */
rf_status rf_productions_native(const struct rf_productions *productions,
                                struct rf_productions_native *native, struct rf_error *error);

/* How a profile went, so far. */
struct rf_productions_outcome {
    uint64_t intervals, in_bursts; /* sampling intervals: all, and those in bursts */
    uint64_t bursts;               /* begun */
    uint64_t expansions;           /* instructions replaced */
    uint64_t sampled, skipped;     /* events: told by handlers, and the others */
    uint64_t phases;               /* that were found; 0: no register has a value for what is new */
    int random; /* a register of the form max ~ n; else distances are equal, and may beat with loops */
};
void rf_productions_outcome(const struct rf_source *source, size_t i,
                            struct rf_productions_outcome *outcome);

/* The grammar, for people. */
const char *rf_productions_grammar(void);

#ifdef __cplusplus
}
#endif
#endif
