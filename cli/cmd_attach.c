/* cmd_attach.c - riffle attach: sample a process that runs already. */
#include "attach.h"

struct settings {
    struct cli_profiling profiling;
    struct cli_sampling sampling;
};

static const struct cli_option options[] = {
    {.type = CLI_GROUP,
     .group = cli_options_profiling_native,
     .offset = offsetof(struct settings, profiling)},
    {.type = CLI_GROUP, .group = cli_options_places},
    {.type = CLI_GROUP,
     .group = cli_options_sampling,
     .offset = offsetof(struct settings, sampling)},
    {CLI_COUNT, 0, "burst", "N", "100", .brief = "instructions of a sample, at most",
     .offset = offsetof(struct settings, sampling.burst)},
    {CLI_TEXT, 0, "for", "SECONDS", .brief = "stop after this many seconds",
     .text = "Otherwise it stops at Ctrl-C, or when the process ends.",
     .offset = offsetof(struct settings, sampling.seconds)},
    {CLI_FLAG, 0, "no-values", .brief = "never look at values: they read as 0",
     .offset = offsetof(struct settings, sampling.no_values)},
    {.type = CLI_END},
};

static int run(const struct cli_call *call)
{
    struct settings *settings = call->settings;
    int status = cli_report_take(&settings->profiling.report, call);
    if (status != CLI_OK)
        return status;
    return cli_attach(call, &settings->profiling, &settings->sampling, call->arguments[0]);
}

const struct cli_action cli_action_attach = {
    .arguments = {"PID", 1, 1},
    .settings = {options, sizeof(struct settings)},
    .run = run,
};
