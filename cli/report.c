/* report.c - a run, saved and printed in the form that was asked for. */
#include "cli.h"
#include <errno.h>

const char *cli_words_forms(size_t i)
{
    const struct rf_report_form *const *forms = rf_report_forms();
    return forms[i] != NULL ? forms[i]->name : NULL;
}

int cli_report(const struct rf_run *run, const struct cli_report *report)
{
    struct rf_error error = {""};
    FILE *out = report->to_stderr ? stderr : stdout;
    if (report->silent)
        return CLI_OK;
    struct rf_report_setup setup = {.items = report->items,
                                    .per_interval = report->per_interval,
                                    .hot = report->hot,
                                    .colour = !report->to_stderr && cli_colour(),
                                    .width = report->to_stderr ? 0 : cli_width()};
    errno = 0;
    rf_status status = RF_OK;
    if (!report->no_names && run->n_modules > 0)
        status = rf_symbols_open(&setup.symbols, run, NULL, &error);
    if (status == RF_OK)
        status = report->annotate != NULL
                     ? rf_report_annotate(out, run, &setup, report->annotate, &error)
                     : rf_report_find(report->format)->write(out, run, &setup);
    rf_symbols_close(setup.symbols);
    if (cli_stdout_closed() || status == RF_OK) /* cli_finish has the word for the former */
        return CLI_OK;
    if (status == RF_ENOTSUP && error.message[0] == '\0')
        return cli_fail(CLI_FAILED, "'%s' does not fit this profile: %s", report->format,
                        rf_report_find(report->format)->brief);
    return cli_fail_status(status, &error);
}

static int save_and_print(const struct rf_run *run, const char *output,
                          const struct cli_report *report)
{
    struct rf_error error = {""};
    rf_status saved = output != NULL ? rf_run_save(run, output, &error) : RF_OK;
    int printed = cli_report(run, report);
    return saved != RF_OK ? cli_fail_status(saved, &error) : printed;
}

int cli_deliver(struct rf_run *run, rf_status status, const struct rf_error *error,
                const char *output, const struct cli_report *report)
{
    cli_progress_end();
    int result = CLI_OK;
    /* A failure on our side is no reason to replace a good file by part of one. */
    if (status != RF_OK && status != RF_EDAMAGED && status != RF_ESTOPPED)
        output = NULL;
    if (run != NULL && status != RF_EINVAL)
        result = save_and_print(run, output, report);
    rf_run_free(run);
    if (status == RF_OK)
        return result;
    return cli_fail_status(status, error);
}
