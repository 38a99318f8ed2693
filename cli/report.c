/* report.c - a run, saved and printed in the form that was asked for. */
#include "plan.h"
#include <errno.h>
#include <stdlib.h>

const char *cli_words_forms(size_t i)
{
    const struct rf_report_form *const *forms = rf_report_forms();
    return forms[i] != NULL ? forms[i]->name : NULL;
}

const struct cli_option cli_options_report[] = {
    {CLI_CHOICE, 'f', "format", "FORM", "text", .words = cli_words_forms,
     .brief = "how to print it", .offset = offsetof(struct cli_report, format)},
    {CLI_COUNT, 'n', "items", "N", "20",
     .brief = "show the N heaviest items of each profile; 0: all",
     .offset = offsetof(struct cli_report, items)},
    {CLI_SHARE, 0, "hot", "SHARE", "2%",
     .brief = "tree, heat: the share from which on a range is hot",
     .offset = offsetof(struct cli_report, hot)},
    {CLI_FLAG, 0, "per-interval", .brief = "also show the items of every interval",
     .text = "Only where the stream is cut into intervals, by --interval or by the engine.",
     .offset = offsetof(struct cli_report, per_interval)},
    {CLI_FLAG, 0, "no-names", .brief = "show addresses as numbers only",
     .text = "Does not read the files that ran.", .offset = offsetof(struct cli_report, no_names)},
    {.type = CLI_END},
};

const struct cli_option cli_options_annotate[] = {
    {CLI_TEXT, 'a', "annotate", "FUNCTION", .brief = "the source of a function with its counts",
     .text = "Each line has its count, its share of all events and its most frequent value. "
             "Without source, the disassembly by objdump is shown. Only for profiles by pc. The "
             "name is written as for --function of run; of several functions that it fits, those "
             "with the most events are shown.",
     .offset = offsetof(struct cli_report, annotate)},
    {.type = CLI_END},
};

static bool lacks_intervals(const struct rf_run *run)
{
    for (size_t i = 0; i < run->n_profiles; i++)
        if (run->profiles[i]->n_intervals_seen > 0 && run->profiles[i]->n_intervals == 0)
            return true;
    return false;
}

static int refuse_form(const struct cli_report *report)
{
    return cli_fail(CLI_FAILED, "'%s' does not fit this profile: %s", report->format,
                    rf_report_find(report->format)->brief);
}

int cli_report_fits(const struct rf_run *run, const struct cli_report *report)
{
    const struct rf_report_setup setup = {.items = report->items, .hot = report->hot};
    FILE *nowhere = report->silent || report->annotate != NULL ? NULL : fopen("/dev/null", "we");
    if (nowhere == NULL)
        return CLI_OK;
    rf_status status = rf_report_find(report->format)->write(nowhere, run, &setup);
    fclose(nowhere);
    return status == RF_ENOTSUP ? refuse_form(report) : CLI_OK;
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
    if (status == RF_ENOTSUP && report->per_interval && lacks_intervals(run))
        return cli_fail(CLI_FAILED, "this profile was made without its intervals; give "
                                    "--per-interval to run, sim or replay, too");
    if (status == RF_ENOTSUP && error.message[0] == '\0')
        return refuse_form(report);
    return cli_fail_status(status, &error);
}

/* Companions are there for the figures of others. */
static int print_shown(const struct rf_run *run, const struct cli_report *report)
{
    struct rf_run shown = *run;
    shown.profiles = calloc(run->n_profiles + 1, sizeof *shown.profiles);
    if (shown.profiles == NULL)
        return cli_fail(CLI_FAILED, "no memory for the report");
    shown.n_profiles = 0;
    for (size_t i = 0; i < run->n_profiles; i++)
        if (!rf_profile_is_companion(run->profiles[i]))
            shown.profiles[shown.n_profiles++] = run->profiles[i];
    int printed = cli_report(&shown, report);
    free((void *)shown.profiles);
    return printed;
}

static int save_and_print(const struct rf_run *run, const char *output,
                          const struct cli_report *report)
{
    struct rf_error error = {""};
    rf_status saved = output != NULL ? rf_run_save(run, output, &error) : RF_OK;
    int printed = print_shown(run, report);
    return saved != RF_OK ? cli_fail_status(saved, &error) : printed;
}

static bool counted(const struct rf_run *run)
{
    for (size_t i = 0; run != NULL && i < run->n_profiles; i++)
        if (run->profiles[i]->consumed > 0)
            return true;
    return false;
}

/* Counts from before a failure are saved, with a note on the failure. An empty result does not replace an
 * existing file. */
static bool worth_keeping(struct rf_run *run, rf_status status, const struct rf_error *error)
{
    if (status == RF_OK || status == RF_EDAMAGED || status == RF_ESTOPPED)
        return true;
    bool noted = run != NULL && (rf_run_note(run, "blind") || rf_run_note(run, "incomplete"));
    return counted(run) && (noted || rf_run_add_note(run, "failure", error->message) == RF_OK);
}

int cli_deliver(struct rf_run *run, rf_status status, const struct rf_error *error,
                const char *output, const struct cli_report *report)
{
    cli_progress_end();
    int result = CLI_OK;
    if (!worth_keeping(run, status, error))
        output = NULL;
    if (run != NULL && status != RF_EINVAL)
        result = save_and_print(run, output, report);
    rf_run_free(run);
    if (status == RF_OK)
        return result;
    return cli_fail_status(status, error);
}
