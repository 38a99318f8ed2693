/* hooked.h - programs that were compiled by riffle cc, as riffle run sees them. */
#ifndef CLI_HOOKED_H
#define CLI_HOOKED_H

#include "command.h"
#include <riffle/probe.h>

/* Does the program have hooks, and do they know all that is wanted? Says so where they do not. */
bool cli_hooks_suffice(const struct rf_probe_setup *setup);

/* Where nothing was asked for and the program has hooks, ask for what hooks know: call->given is then a new list, which
 * the caller frees. False: no memory. */
bool cli_hooks_ask(struct cli_call *call);

#endif
