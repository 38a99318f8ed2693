/* attach_none.c - where there is no Zydis, or no x86-64 Linux. */
#include <riffle/attach.h>
#include "base/error.h"
#include <string.h>

rf_status rf_source_open_attach(struct rf_source **source, const struct rf_attach_setup *setup,
                                struct rf_error *error)
{
    (void)setup;
    *source = NULL;
    return rf_fail(error, RF_ENOTSUP,
                   "this riffle was built without Zydis, so it cannot attach to a process");
}

void rf_attach_outcome(const struct rf_source *source, struct rf_attach_outcome *outcome)
{
    (void)source;
    memset(outcome, 0, sizeof *outcome);
}
