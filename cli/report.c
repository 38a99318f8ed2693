/* report.c - a run, saved and printed in the form that was asked for. */
#include "plan.h"
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *cli_words_forms(size_t i)
{
    const struct rf_report_form *const *forms = rf_report_forms();
    return forms[i] != NULL ? forms[i]->name : NULL;
}

const char *cli_words_by(size_t i)
{
    return rf_view_by_name((unsigned)i + RF_BY_ITEM);
}

static const char *words_sort(size_t i)
{
    return rf_view_sort_name((unsigned)i);
}

static_assert(offsetof(struct cli_report, items_given) ==
                  offsetof(struct cli_report, items) + sizeof(uint64_t),
              "a mark stands behind its number");

const struct cli_option cli_options_report[] = {
    {CLI_CHOICE, 'f', "format", "FORM", "text", .words = cli_words_forms,
     .brief = "how to print it", .offset = offsetof(struct cli_report, format)},
    {CLI_COUNT, 'n', "items", "N", "20",
     .brief = "show the N heaviest rows of each profile; 0: all",
     .text = "The first screen of a program shows as many as fit, unless -n is given.",
     .offset = offsetof(struct cli_report, items), .marks = true},
    {CLI_CHOICE, 'b', "by", "WHAT", .words = cli_words_by, .brief = "what a row is",
     .text = "Without it, text shows instructions, each with its most frequent value or target, "
             "and csv and json show the items as they were counted. A region is an object, a "
             "section, the heap or a stack.",
     .offset = offsetof(struct cli_report, by)},
    {CLI_CHOICE, 0, "sort", "KEY", "count", .words = words_sort, .brief = "the order of rows",
     .text =
         "By share: instructions that nearly always have the same value or target first. Mixed: "
         "those that least often do, such as branches that go both ways.",
     .offset = offsetof(struct cli_report, sort)},
    {CLI_SHARE, 0, "min-share", "SHARE", "0", .brief = "leave out rows with a smaller share",
     .offset = offsetof(struct cli_report, share_min)},
    {CLI_FLAG, 0, "full-names", .brief = "do not shorten C++ and Rust names",
     .offset = offsetof(struct cli_report, full_names)},
    {CLI_FLAG, 0, "details", .brief = "also show how it was counted: engines, bounds, addresses",
     .offset = offsetof(struct cli_report, details)},
    {CLI_FILE, 0, "report", "FILE", .brief = "write the report into FILE",
     .text = "A new file is for its owner alone.", .offset = offsetof(struct cli_report, file)},
    {CLI_FILE, 0, "html", "FILE",
     .brief = "also write the report into FILE as a page for a browser",
     .text = "One file that needs no network: tables, source, flame graph, range tree, heat map. "
             "Intervals are kept for it. A new file is for its owner alone.",
     .offset = offsetof(struct cli_report, html)},
    {CLI_SHARE, 0, "hot", "SHARE", "2%",
     .brief = "tree, heat: a range with at least this share is hot",
     .offset = offsetof(struct cli_report, hot)},
    {CLI_FLAG, 0, "per-interval", .brief = "also show the items of every interval",
     .text = "Only where the stream is cut into intervals, by --interval or by the engine.",
     .offset = offsetof(struct cli_report, per_interval)},
    {CLI_FLAG, 0, "no-names", .brief = "show addresses as numbers only",
     .text = "Does not read the files that ran.", .offset = offsetof(struct cli_report, no_names)},
    {.type = CLI_END},
};

const struct cli_option cli_options_annotate[] = {
    {CLI_MAYBE, 'a', "annotate", "FUNCTION",
     .brief = "the source of a function with its counts; without a name, of the hottest ones",
     .text = "Each line has its share of each profile by pc and its most frequent value. "
             "Without source, the disassembly by objdump is shown. The "
             "name is written as for --function of run; of several functions that it fits, those "
             "with the most events come first, and copies that were inlined stand apart. Without a "
             "name it must be the last option, or be "
             "followed by another one.",
     .offset = offsetof(struct cli_report, annotate)},
    {CLI_FLAG, 0, "asm", .brief = "with --annotate: the instructions of each line below it",
     .offset = offsetof(struct cli_report, assembly)},
    {.type = CLI_END},
};

const struct cli_option cli_options_places[] = {
    {CLI_LIST, 0, "function", "NAME", .brief = "show only this function; may be repeated",
     .text =
         "As reports write it, mangled, or the last part of a C++ name; ::area is no part of a "
         "longer name. With parameters, as in area(int), it means that overload alone. * stands "
         "for any text, ? for one character; behind a type, as in area(int*), the * is a pointer."},
    {CLI_LIST, 0, "module", "NAME",
     .brief = "show only this file: a path, or its last part; may be repeated"},
    {.type = CLI_END},
};

const struct cli_option cli_options_thread[] = {
    {CLI_TEXT, 0, "thread", "N", .brief = "only this thread",
     .text = "Of a saved profile, only where it tells threads apart: -p 'insn -> thread,pc'."},
    {.type = CLI_END},
};

/* ---- what is asked ---- */

int cli_take_name(const struct cli_call *call, const char **names, const struct cli_given *given)
{
    size_t n = 0;
    while (names[n] != NULL)
        n++;
    if (n == CLI_PLACES_MAX)
        return cli_fail(CLI_USAGE, "%s: --%s may be given at most %d times", call->command->name,
                        given->name, CLI_PLACES_MAX);
    names[n] = given->value;
    return CLI_OK;
}

/* A file cannot hold a page beside a report, nor beside what they are made of. */
static int refuse_same(const struct cli_report *report, const struct cli_call *call)
{
    const char *name = call->command->name;
    if (cli_same_file(report->html, report->file))
        return cli_fail(CLI_USAGE, "%s: --report and --html are the same file", name);
    bool one = call->command->action->first_ends_options; /* the others are a program's */
    for (size_t i = 0; i < call->n_arguments && (i == 0 || !one); i++)
        if (cli_same_file(report->html, call->arguments[i]) ||
            cli_same_file(report->file, call->arguments[i]))
            return cli_fail(CLI_USAGE, "%s: the report would overwrite its own input", name);
    return CLI_OK;
}

int cli_report_check_files(const struct cli_report *report, const struct cli_call *call)
{
    int status = refuse_same(report, call);
    if (status == CLI_OK)
        status = cli_check_output(report->file);
    if (status == CLI_OK && report->html != NULL && strcmp(report->html, "-") == 0)
        status = cli_fail(CLI_USAGE, "--html needs a file; --format html writes to the output");
    return status == CLI_OK ? cli_check_output(report->html) : status;
}

int cli_report_take(struct cli_report *report, const struct cli_call *call)
{
    int status = CLI_OK;
    for (size_t i = 0; i < call->n_given && status == CLI_OK; i++) {
        if (cli_is(&call->given[i], "function"))
            status = cli_take_name(call, report->functions, &call->given[i]);
        else if (cli_is(&call->given[i], "module"))
            status = cli_take_name(call, report->modules, &call->given[i]);
    }
    return status == CLI_OK ? cli_report_check_files(report, call) : status;
}

int cli_parse_thread(uint64_t *thread, const char *text)
{
    if (rf_units_count(text, strlen(text), thread) != RF_OK)
        return cli_fail(CLI_USAGE, "--thread must be a number, got '%s'", text);
    if (*thread > UINT16_MAX) /* a record has no room for more */
        return cli_fail(CLI_USAGE, "--thread must be at most %d, got '%s'", UINT16_MAX, text);
    return CLI_OK;
}

/* ---- the report ---- */

static struct rf_report_setup make_setup(const struct cli_report *report, FILE *out)
{
    return (struct rf_report_setup){
        .view = {.by = report->by != NULL ? (enum rf_view_by)rf_view_by_find(report->by)
                                          : RF_BY_STANDARD,
                 .sort = (enum rf_view_sort)rf_view_sort_find(report->sort),
                 .rows = report->items,
                 .share_min = report->share_min,
                 .functions = report->functions[0] != NULL ? report->functions : NULL,
                 .modules = report->modules[0] != NULL ? report->modules : NULL,
                 .full_names = report->full_names},
        .per_interval = report->per_interval,
        .hot = report->hot,
        .details = report->details,
        .assembly = report->assembly,
        .all_rows = report->items_given,
        .colour = cli_colour(out),
        .width = cli_width(out)};
}

static rf_status write_html(const struct rf_run *run, const char *path,
                            const struct rf_report_setup *setup, struct rf_error *error)
{
    struct cli_output output;
    rf_status status = cli_output_open(&output, path, error);
    if (status != RF_OK)
        return status;
    status = rf_report_find("html")->write(output.out, run, setup, error);
    return cli_output_close(&output, status, error);
}

static void say_selector_meanings(const struct rf_profile *profile, struct rf_symbols *symbols)
{
    struct rf_selector selector;
    if (rf_profile_selector(profile, &selector) != RF_OK)
        return;
    for (unsigned i = 0; i < selector.n_conditions; i++) {
        const struct rf_condition *condition = &selector.conditions[i];
        if (condition->lo.symbol[0] != '\0')
            cli_say_meanings(symbols, condition->lo.symbol, condition->field != RF_FIELD_TARGET,
                             "all are counted");
    }
}

/* Say which functions were taken, where a name means several. */
static void say_meanings(const struct rf_run *run, const struct cli_report *report,
                         struct rf_symbols *symbols)
{
    if (symbols == NULL)
        return;
    for (size_t i = 0; report->counted == NULL && report->functions[i] != NULL; i++)
        cli_say_meanings(symbols, report->functions[i], false, "all are shown");
    for (size_t i = 0; report->counted != NULL && report->counted[i] != NULL; i++)
        cli_say_meanings(symbols, report->counted[i], false, "all are counted");
    for (size_t i = 0; i < run->n_profiles; i++)
        if (i == 0 || strcmp(run->profiles[i]->selector, run->profiles[i - 1]->selector) != 0)
            say_selector_meanings(run->profiles[i], symbols);
}

/* The program ran: say what is missing, and show what was counted. */
static rf_status go_on(const struct rf_error *error)
{
    cli_fail(CLI_OK, "%s", error->message);
    return RF_OK;
}

/* The page, where one is asked for; then the report. */
static rf_status print(FILE *out, const struct rf_run *run, const struct cli_report *report,
                       const struct rf_report_setup *setup, struct rf_error *error)
{
    rf_status status = cli_find_asked(run, report, &setup->view, error);
    if (status == RF_EINVAL && report->to_stderr)
        status = go_on(error);
    if (status == RF_OK)
        say_meanings(run, report, setup->view.symbols);
    if (report->html != NULL && status == RF_OK)
        status = write_html(run, report->html, setup, error);
    if (report->silent || status != RF_OK)
        return status;
    const char *function = report->annotate;
    if (function != NULL) {
        status = rf_report_annotate(out, run, setup, function[0] != '\0' ? function : NULL, error);
        if (status != RF_EINVAL || !report->to_stderr)
            return status;
        go_on(error);
    }
    return rf_report_find(report->format)->write(out, run, setup, error);
}

/* Where the report goes. */
static rf_status open_out(struct cli_output *output, const struct cli_report *report,
                          struct rf_error *error)
{
    if (report->file != NULL)
        return cli_output_open(output, report->file, error);
    *output = (struct cli_output){.out = report->to_stderr ? stderr : stdout};
    return RF_OK;
}

/* What goes to a terminal or beside the program's own words is written whole, when it is done. */
struct page {
    char *text;
    size_t size;
    FILE *out;
};

static FILE *open_page(struct page *page, FILE *out)
{
    bool gathers = out == stderr || isatty(fileno(out));
    page->out = gathers ? open_memstream(&page->text, &page->size) : NULL;
    return page->out != NULL ? page->out : out;
}

static rf_status close_page(struct page *page, FILE *out, rf_status status)
{
    cli_busy_end();
    if (page->out == NULL)
        return status;
    if (fclose(page->out) != 0 || page->text == NULL) /* its last realloc may fail without a word */
        return RF_ENOMEM;
    bool good = fwrite(page->text, 1, page->size, out) == page->size;
    good = fflush(out) == 0 && good;
    free(page->text);
    return status == RF_OK && !good ? RF_EIO : status;
}

static rf_status close_out(struct cli_output *output, rf_status status, struct rf_error *error)
{
    if (output->out == stderr && status == RF_EIO && cli_listener_gone())
        return RF_OK; /* as with standard output: who left has read enough */
    if (output->out == stderr || output->out == stdout)
        return status;
    return cli_output_close(output, status, error);
}

static int refuse_form(const struct cli_report *report)
{
    return cli_fail(CLI_FAILED, "'%s' shows %s; this profile has none", report->format,
                    rf_report_find(report->format)->needs);
}

static int refuse_rows(const struct rf_run *run, const struct cli_report *report)
{
    enum rf_view_by by = (enum rf_view_by)rf_view_by_find(report->by);
    for (size_t i = 0; i < run->n_profiles; i++)
        if (rf_view_knows(run->profiles[i], by))
            return CLI_OK;
    return cli_fail(CLI_FAILED, "'%s' cannot be grouped by %s: it has no such field",
                    run->n_profiles > 0 && run->profiles[0]->selector[0] != '\0'
                        ? run->profiles[0]->selector
                        : "a stream of tuples",
                    report->by);
}

int cli_report_fits(const struct rf_run *run, const struct cli_report *report)
{
    const struct rf_report_setup setup = {.view.rows = report->items, .hot = report->hot};
    FILE *nowhere = report->silent || report->annotate != NULL ? NULL : fopen("/dev/null", "we");
    if (nowhere == NULL)
        return CLI_OK;
    rf_status status = rf_report_find(report->format)->write(nowhere, run, &setup, NULL);
    fclose(nowhere);
    if (status == RF_ENOTSUP)
        return refuse_form(report);
    return report->by != NULL ? refuse_rows(run, report) : CLI_OK;
}

int cli_report(const struct rf_run *run, const struct cli_report *report)
{
    struct rf_error error = {""};
    if (report->silent && report->html == NULL)
        return CLI_OK;
    uint64_t thread;
    if (report->thread != NULL && cli_parse_thread(&thread, report->thread) != CLI_OK)
        return CLI_USAGE;
    struct cli_output output;
    if (open_out(&output, report, &error) != RF_OK)
        return cli_fail(CLI_FAILED, "%s", error.message);
    FILE *out = output.out;
    struct rf_report_setup setup = make_setup(report, out);
    setup.view.thread = report->thread != NULL ? &thread : NULL;
    struct page page = {.text = NULL};
    FILE *to = open_page(&page, out);
    cli_busy(report->no_names ? "writing the report" : "looking up names");
    errno = 0;
    rf_status status = RF_OK;
    if (!report->no_names && run->n_modules > 0)
        status = rf_symbols_open(&setup.view.symbols, run, NULL, &error);
    if (status == RF_OK)
        status = print(to, run, report, &setup, &error);
    rf_symbols_close(setup.view.symbols);
    status = close_out(&output, close_page(&page, out, status), &error);
    if (cli_stdout_closed() || status == RF_OK) /* cli_finish has the word for the former */
        return CLI_OK;
    if (status == RF_ENOTSUP && error.message[0] == '\0')
        return refuse_form(report);
    if (error.message[0] == '\0')
        snprintf(error.message, sizeof error.message, "the report could not be made: %s",
                 rf_status_text(status));
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
