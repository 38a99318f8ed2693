/* hooked.c - what riffle run asks of a program that was compiled by riffle cc. */
#include "hooked.h"
#include <stdlib.h>

bool cli_hooks_suffice(const struct rf_probe_setup *setup)
{
    char why[128];
    if (!rf_probe_has_hooks(setup->argv[0]))
        return false;
    bool suffice = rf_probe_hooks_suffice(setup, why, sizeof why);
    if (!suffice)
        cli_fail(CLI_OK, "run: hooks %s; '%s' runs under the probe", why, setup->argv[0]);
    return suffice;
}

static bool is_asked(const struct cli_call *call)
{
    static const char *const names[] = {"profile", "coproc", "engine"};
    for (size_t i = 0; i < call->n_given; i++)
        for (size_t k = 0; k < sizeof names / sizeof *names; k++)
            if (cli_is(&call->given[i], names[k]))
                return true;
    return false;
}

bool cli_hooks_ask(struct cli_call *call)
{
    static const char *const standard[] = {"values", "calls", "types"};
    const size_t n = sizeof standard / sizeof *standard;
    if (is_asked(call) || !rf_probe_has_hooks(call->arguments[0]))
        return true;
    struct cli_given *given = calloc(call->n_given + n, sizeof *given);
    if (given == NULL)
        return false;
    for (size_t i = 0; i < call->n_given; i++)
        given[i] = call->given[i];
    for (size_t i = 0; i < n; i++)
        given[call->n_given++] = (struct cli_given){"profile", standard[i]};
    call->given = given;
    return true;
}
