/* signals.h - signals between riffle and the program that it profiles. */
#ifndef CLI_SIGNALS_H
#define CLI_SIGNALS_H

#include <riffle/probe.h>
#include <signal.h>
#include <stdbool.h>

/* From now on signals wait for cli_signals_pass_to. To be called before the program is started. */
void cli_signals_hold(void);
/* From now on signals to riffle go to the source's program; NULL: it is gone. */
void cli_signals_pass_to(const struct rf_source *source);
/* Set by a signal that comes when the program is gone: do not wait for its children. */
volatile sig_atomic_t *cli_signals_stop(void);
/* Is it a signal that users send to end or to tell a program something, and riffle passes on? */
bool cli_signals_passes(int number);
/* Leave as the program left. Returns only if the signal does not end a process. */
void cli_signals_die_of(int number);

#endif
