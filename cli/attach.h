/* attach.h - samples of a process: riffle attach, and riffle run --native. */
#ifndef CLI_ATTACH_H
#define CLI_ATTACH_H

#include "bursts.h"
#include "plan.h"

struct cli_sampling {
    double overhead;
    uint64_t burst;
    const char *seconds; /* NULL: until it ends */
    int no_values;
};
extern const struct cli_option cli_options_sampling[]; /* overhead and burst */

/* Sample a process that runs. */
int cli_attach(const struct cli_call *call, const struct cli_profiling *profiling,
               const struct cli_sampling *sampling, const char *pid);
/* Start the program that the call of `run` names and sample it; ends with its status. --burst means instructions there. */
int cli_attach_run(const struct cli_call *call, struct cli_profiling *profiling,
                   struct cli_sampling *sampling, const struct cli_bursts *bursts);

#endif
