/* cmd_merge.c - riffle merge: profile files added up. */
#include "plan.h"

struct settings {
    struct cli_report report;
    const char *output;
    int any_build;
};

static const struct cli_option options[] = {
    {CLI_FILE, 'o', "output", "FILE", .brief = "save the sum there and print nothing",
     .offset = offsetof(struct settings, output)},
    {CLI_FLAG, 0, "any-build", .brief = "merge profiles of different builds, too",
     .text =
         "Without it, two cases are refused, since what is added up is not the same code: files of "
         "different builds at the same addresses, and one file that lies at other addresses. A "
         "file that was linked without a build id is known by a checksum of its code. A profile "
         "that has neither is merged if the path is the same, with a warning.",
     .offset = offsetof(struct settings, any_build)},
    {.type = CLI_GROUP, .group = cli_options_report, .offset = offsetof(struct settings, report)},
    {.type = CLI_END},
};

static rf_status check_builds(const struct rf_run *run, const struct rf_run *other,
                              const char *path, struct rf_error *error)
{
    struct rf_error why = {""};
    rf_status status = rf_run_same_builds(run, other, &why);
    if (status != RF_OK)
        snprintf(error->message, sizeof error->message, "%s: %.400s; --any-build merges them", path,
                 why.message);
    return status;
}

/* Warns once about a module without a build id. */
static rf_status tell_unproven(const struct rf_run *run, const struct rf_run *other,
                               const char *path, bool *told)
{
    const char *unproven = NULL;
    rf_status status = *told ? RF_OK : rf_run_unproven_build(run, other, &unproven);
    if (unproven == NULL)
        return status;
    *told = true;
    cli_fail(CLI_OK, "%s: %s has no build id; whether both are of the same build cannot be told",
             path, unproven);
    return RF_OK;
}

/* *sure: no warning about builds is needed any more. */
static rf_status add(struct rf_run *run, const char *path, bool any_build, bool *sure,
                     struct rf_error *error)
{
    struct rf_run *other;
    rf_status status = cli_load(&other, path, error);
    if (status != RF_OK)
        return status;
    status = any_build ? RF_OK : check_builds(run, other, path, error);
    if (status == RF_OK)
        status = tell_unproven(run, other, path, sure);
    if (status == RF_OK)
        status = rf_run_merge(run, other, error);
    rf_run_free(other);
    return status;
}

static int run(const struct cli_call *call)
{
    const struct settings *settings = call->settings;
    struct rf_error error = {""};
    struct rf_run *sum = NULL;
    bool sure = settings->any_build != 0;
    rf_status status = cli_load(&sum, call->arguments[0], &error);
    for (size_t i = 1; status == RF_OK && i < call->n_arguments; i++)
        status = add(sum, call->arguments[i], settings->any_build != 0, &sure, &error);
    cli_busy("writing the sum");
    if (status == RF_OK && settings->output != NULL)
        status = rf_run_save(sum, settings->output, &error);
    if (status == RF_OK && settings->output == NULL)
        return cli_deliver(sum, RF_OK, &error, NULL, &settings->report);
    rf_run_free(sum);
    cli_busy_end();
    return status == RF_OK ? CLI_OK : cli_fail_unused(status, &error);
}

const struct cli_action cli_action_merge = {
    .arguments = {"FILE...", 1, CLI_ANY_NUMBER},
    .settings = {options, sizeof(struct settings)},
    .run = run,
};
