/* cmd_export.c - riffle export: a profile file in the format of another tool. */
#include "plan.h"
#include <errno.h>
#include <string.h>
#include <unistd.h>

static const char *words_forms(size_t i)
{
    return rf_export_forms()[i].name;
}

struct settings {
    const char *form, *output;
    int no_names, quiet;
};

static const struct cli_option options[] = {
    {CLI_CHOICE, 't', "to", "FORM", .words = words_forms, .brief = "the format; must be given",
     .text = "callgrind: for callgrind_annotate and KCachegrind. pprof: for go tool pprof. "
             "collapsed: for flamegraph.pl. speedscope: for speedscope. perf: the text of perf "
             "script. llvm: for clang -fprofile-sample-use. sqlite: a database. doc/EXPORT.md "
             "tells what each carries.",
     .offset = offsetof(struct settings, form)},
    {CLI_FILE, 'o', "output", "FILE", "-", .brief = "where to write; -: standard output",
     .text = "A file appears whole or not at all. A new file is for its owner alone.",
     .offset = offsetof(struct settings, output)},
    {CLI_FLAG, 0, "no-names", .brief = "addresses only; do not read the files that ran",
     .offset = offsetof(struct settings, no_names)},
    {CLI_FLAG, 'q', "quiet", .brief = "do not tell what the format cannot carry",
     .offset = offsetof(struct settings, quiet)},
    {.type = CLI_END},
};

static void tell(void *context, const char *sentence)
{
    (void)context;
    cli_fail(CLI_OK, "%s", sentence);
}

static rf_status write_form(const struct settings *settings, const struct rf_run *run, FILE *out,
                            struct rf_error *error)
{
    struct rf_symbols *symbols = NULL;
    rf_status status = RF_OK;
    if (!settings->no_names && run->n_modules > 0)
        status = rf_symbols_open(&symbols, run, NULL, error);
    const struct rf_export_setup setup = {.symbols = symbols,
                                          .tell = settings->quiet ? NULL : tell};
    cli_busy_end();
    if (out != stdout)
        cli_busy("writing %s", settings->form);
    errno = 0;
    if (status == RF_OK)
        status = rf_export_write(rf_export_find(settings->form), out, run, &setup, error);
    rf_symbols_close(symbols);
    cli_busy_end();
    return out == stdout && cli_stdout_closed() ? RF_OK
                                                : status; /* cli_finish has the word for it */
}

static int run(const struct cli_call *call)
{
    const struct settings *settings = call->settings;
    struct rf_error error = {""};
    struct rf_run *loaded;
    struct cli_output output;
    if (settings->form == NULL)
        return cli_fail(CLI_USAGE, "export: needs --to FORM: callgrind, pprof, ...");
    if (cli_same_file(settings->output, call->arguments[0]))
        return cli_fail(CLI_USAGE, "export: the file would overwrite its own profile");
    int status = cli_check_output(settings->output);
    if (status == CLI_OK && strcmp(settings->output, "-") == 0 && isatty(STDOUT_FILENO) &&
        rf_export_find(settings->form)->is_binary)
        status = cli_fail(CLI_USAGE, "export: %s is no text for a terminal; give -o FILE",
                          settings->form);
    if (status != CLI_OK)
        return status;
    rf_status read = cli_load(&loaded, call->arguments[0], &error);
    if (read != RF_OK)
        return cli_fail_unused(read, &error);
    rf_status written = cli_output_open(&output, settings->output, &error);
    if (written == RF_OK)
        written =
            cli_output_close(&output, write_form(settings, loaded, output.out, &error), &error);
    rf_run_free(loaded);
    return written == RF_OK ? CLI_OK : cli_fail_status(written, &error);
}

const struct cli_action cli_action_export = {
    .arguments = {"FILE", 1, 1},
    .settings = {options, sizeof(struct settings)},
    .run = run,
};
