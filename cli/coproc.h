/* coproc.h - --coproc: co-processors that take the records beside the engines. */
#ifndef CLI_COPROC_H
#define CLI_COPROC_H

#include "command.h"

extern cli_words cli_words_programs;
extern const struct cli_option cli_options_coproc[];

struct cli_coprocs {
    struct rf_coproc **coprocs;
    size_t n;
    bool told;  /* the user knows that a sample was given up */
    bool alone; /* no program writes to the terminal: there may be a progress line */
};
/* Opens all that the command line names. Prints an error for one that is wrong. */
int cli_coprocs_open(struct cli_coprocs *coprocs, const struct cli_call *call, uint64_t seed);
/* CLI_USAGE where intervals are asked for, but there is no engine to cut its stream. */
int cli_coprocs_refuse_cut(const struct cli_call *call, uint64_t interval);
/* Selectors choose a thread, a co-processor cannot: CLI_USAGE where one is asked to. */
int cli_coprocs_refuse_thread(const struct cli_coprocs *coprocs, const char *thread);
/* After a run, warn of results that mislead. Programs that remember calls, stores or misses must see all code, not chosen
 * places. No program tells apart what several processes have at the same address. */
void cli_coprocs_warn(const struct cli_coprocs *coprocs, bool places, uint64_t processes);
/* CLI_USAGE where one counts other tuples than the selector. */
int cli_coprocs_refuse_others(const struct cli_coprocs *coprocs, const char *selector);
/* Before a run, where misses come from a model of caches: say which ones these are if nobody chose them, and
 * whether a program has another number of sets. NULL: there is no model. */
void cli_coprocs_tell_cache(const struct cli_coprocs *coprocs, const char *shape, bool assumed);
/* cli_progress for a run with co-processors, its context: when a sample is given up, that is told at once. */
void cli_coprocs_progress(void *coprocs, const struct rf_collect_progress *progress);
void cli_coprocs_close(struct cli_coprocs *coprocs);
/* Does the command line ask for them, and for no engine or selector? */
bool cli_coprocs_alone(const struct cli_call *call);

#endif
