/* cmd_report.c - riffle report: what is in a profile file. */
#include "plan.h"

struct settings {
    struct cli_report report;
};

static const struct cli_option options[] = {
    {.type = CLI_GROUP, .group = cli_options_report, .offset = offsetof(struct settings, report)},
    {.type = CLI_GROUP, .group = cli_options_annotate, .offset = offsetof(struct settings, report)},
    {.type = CLI_GROUP, .group = cli_options_places},
    {.type = CLI_GROUP,
     .group = cli_options_thread,
     .offset = offsetof(struct settings, report.thread)},
    {.type = CLI_END},
};

static int run(const struct cli_call *call)
{
    struct settings *settings = call->settings;
    struct rf_error error = {""};
    struct rf_run *run;
    int taken = cli_report_take(&settings->report, call);
    if (taken != CLI_OK)
        return taken;
    rf_status status = cli_load(&run, call->arguments[0], &error);
    if (status != RF_OK)
        return cli_fail_unused(status, &error);
    return cli_deliver(run, RF_OK, &error, NULL, &settings->report);
}

const struct cli_action cli_action_report = {
    .arguments = {"FILE", 1, 1},
    .settings = {options, sizeof(struct settings)},
    .run = run,
};
