/* plan.c - what the commands share that run a program and profile it: run and sim.
 *
 *     -p, -e  ->  lanes, selectors  ->  collect  ->  notes, modules (the command's)  ->  report */
#include "cli.h"
#include <sched.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const struct cli_option *option_of(const struct cli_call *call, char letter)
{
    const struct cli_option *o = call->command->options;
    while (o->letter != letter)
        o++;
    return o;
}

static int make_lanes(struct cli_lanes *lanes, const struct cli_call *call)
{
    static const char *const standard[] = {"values", "edges", "calls"};
    /* Room for every candidate there can be: edges have more of them than the standard 300. */
    static const char engine[] = CLI_ENGINE_STANDARD;
    struct cli_given *given = calloc(call->n_given + 4, sizeof *given);
    struct cli_call lean = *call;
    bool has_selector = false, has_engine = false;
    if (given == NULL)
        return cli_fail(CLI_FAILED, "no memory for the command line");
    lean.given = given;
    lean.n_given = 0;
    for (size_t i = 0; i < call->n_given; i++) {
        has_selector |= call->given[i].option->letter == 'p';
        has_engine |= call->given[i].option->letter == 'e';
    }
    if (!has_engine)
        given[lean.n_given++] = (struct cli_given){option_of(call, 'e'), engine};
    for (size_t i = 0; i < call->n_given; i++)
        if (call->given[i].option->letter != 0)
            given[lean.n_given++] = call->given[i];
    for (size_t i = 0; !has_selector && i < 3; i++)
        given[lean.n_given++] = (struct cli_given){option_of(call, 'p'), standard[i]};
    int status = cli_lanes_make(lanes, &lean);
    free(given);
    return status;
}

static int parse_selectors(struct cli_plan *plan, const char *command)
{
    struct rf_error error = {""};
    for (size_t i = 0; i < plan->lanes.n; i++) {
        const struct rf_lane *lane = &plan->lanes.lanes[i];
        if (lane->stream < plan->n_selectors)
            continue;
        if (plan->n_selectors == CLI_SELECTORS_MAX)
            return cli_fail(CLI_USAGE, "%s: at most %d selectors at once", command,
                            CLI_SELECTORS_MAX);
        struct rf_selector *selector = &plan->selectors[plan->n_selectors++];
        rf_status status = rf_selector_parse(selector, lane->selector, &error);
        if (status != RF_OK)
            return cli_fail_status(status, &error);
    }
    plan->records |= plan->keep->record != NULL && plan->n_selectors > 1;
    return CLI_OK;
}

static int check_keep(const struct cli_keep *keep, const char *command)
{
    int status = cli_check_output(keep->output);
    if (status == CLI_OK)
        status = cli_check_output(keep->record);
    if (status == CLI_OK && cli_same_file(keep->output, keep->record))
        return cli_fail(CLI_USAGE, "%s: --output and --record are the same file", command);
    return status;
}

int cli_plan_make(struct cli_plan *plan, const struct cli_call *call, const struct cli_keep *keep,
                  const struct cli_report *report)
{
    *plan = (struct cli_plan){.command = cli_command_text(call), .keep = keep, .report = report};
    if (plan->command == NULL)
        return cli_fail(CLI_FAILED, "no memory for the command line");
    int status = make_lanes(&plan->lanes, call);
    if (status == CLI_OK)
        status = parse_selectors(plan, call->command->name);
    return status == CLI_OK ? check_keep(keep, call->command->name) : status;
}

bool cli_plan_reads_misses(const struct cli_plan *plan)
{
    for (size_t i = 0; i < plan->n_selectors; i++)
        if ((plan->selectors[i].fields >> RF_FIELD_MISS & 1) != 0)
            return true;
    return false;
}

void cli_plan_free(struct cli_plan *plan)
{
    rf_trace_abandon(plan->writer);
    cli_program_close(&plan->program);
    cli_lanes_free(&plan->lanes);
    free(plan->command);
    plan->command = NULL;
}

rf_status cli_note(struct rf_run *run, const char *name, const char *format, ...)
{
    char text[160];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    return rf_run_add_note(run, name, text);
}

static rf_status start_record(struct rf_trace_writer **writer, const struct cli_plan *plan,
                              struct rf_error *error)
{
    char selector[512];
    *writer = NULL;
    if (plan->keep->record == NULL)
        return RF_OK;
    rf_selector_print(&plan->selectors[0], selector, sizeof selector);
    return rf_trace_create(writer, plan->keep->record,
                           plan->records ? RF_TRACE_RECORDS : RF_TRACE_TUPLES, plan->command,
                           plan->records ? NULL : selector, NULL, error);
}

size_t cli_engine_threads(uint64_t threads, size_t others)
{
    cpu_set_t set;
    if (threads > 0)
        return (size_t)threads - 1;
    size_t processors = sched_getaffinity(0, sizeof set, &set) == 0 ? (size_t)CPU_COUNT(&set) : 1;
    return processors > others + 1 ? processors - others - 1 : 0;
}

rf_status cli_plan_collect(struct rf_run **run, struct rf_source *source, struct cli_plan *plan,
                           const struct cli_cut *cut, const volatile int *stop,
                           struct rf_error *error)
{
    *run = NULL;
    rf_status status = start_record(&plan->writer, plan, error);
    if (status != RF_OK)
        return status;
    struct rf_collect_setup setup = {.lanes = plan->lanes.lanes,
                                     .n_lanes = plan->lanes.n,
                                     .selected = !plan->records,
                                     .command = plan->command,
                                     .seed = cut->seed,
                                     .interval = cut->interval,
                                     .keep_intervals = plan->report->per_interval,
                                     .threads = cli_engine_threads(cut->threads, plan->others),
                                     .skip = cut->skip,
                                     .limit = cut->limit,
                                     .cache = plan->cache,
                                     .record = plan->writer,
                                     .stop = stop,
                                     .resolve = plan->program.run != NULL ? cli_resolve : NULL,
                                     .resolve_context = &plan->program,
                                     .progress = cli_progress};
    return rf_collect(run, source, &setup, error);
}

rf_status cli_plan_add_module(struct cli_plan *plan, struct rf_run *run,
                              const struct rf_module *module)
{
    char build_id[129];
    struct rf_error error = {""};
    struct rf_module known = *module;
    rf_symbols_build_id(module->path, build_id, sizeof build_id);
    known.build_id = build_id;
    rf_status status = run != NULL ? rf_run_add_module(run, &known) : RF_OK;
    if (status == RF_OK && plan->writer != NULL &&
        rf_trace_add_module(plan->writer, &known, &error) != RF_OK)
        fprintf(stderr, "riffle: %s; some addresses will have no names\n", error.message);
    return status;
}

static rf_status finish_record(struct cli_plan *plan, struct rf_error *error)
{
    struct rf_trace_writer *writer = plan->writer;
    plan->writer = NULL;
    return writer != NULL ? rf_trace_finish(writer, error) : RF_OK;
}

int cli_plan_deliver(struct rf_run *run, rf_status status, const struct rf_error *error,
                     struct cli_plan *plan)
{
    struct rf_error why = {""};
    rf_status finished = finish_record(plan, &why);
    if (status == RF_OK && finished != RF_OK) {
        status = finished;
        error = &why;
    }
    struct cli_report on_stderr = *plan->report;
    on_stderr.to_stderr = 1;
    on_stderr.silent = plan->keep->quiet;
    return cli_deliver(run, status, error, plan->keep->output, &on_stderr);
}
