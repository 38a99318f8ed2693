/* cmd_replay.c - riffle replay: a stream through engines. */
#include "plan.h"
#include <stdlib.h>
#include <string.h>

enum { JOBS_MAX = 256 };

struct settings {
    struct cli_report report;
    struct cli_cut cut;
    const char *output, *cache, *thread, *from;
    uint64_t jobs;
};

static const struct cli_default standard[] = {
    {"engine", "exact"},
    {"profile", "values"},
    {NULL, NULL},
};

static const char *words_formats(size_t i)
{
    return rf_source_format_name(i);
}

static const struct cli_option options[] = {
    {.type = CLI_GROUP, .group = cli_options_lanes, .defaults = standard},
    {.type = CLI_GROUP, .group = cli_options_coproc},
    {.type = CLI_GROUP, .group = cli_options_report, .offset = offsetof(struct settings, report)},
    {.type = CLI_GROUP, .group = cli_options_annotate, .offset = offsetof(struct settings, report)},
    {.type = CLI_GROUP, .group = cli_options_places},
    {.type = CLI_GROUP, .group = cli_options_thread, .offset = offsetof(struct settings, thread)},
    {.type = CLI_GROUP, .group = cli_options_interval, .offset = offsetof(struct settings, cut)},
    {.type = CLI_GROUP, .group = cli_options_window, .offset = offsetof(struct settings, cut)},
    {.type = CLI_GROUP, .group = cli_options_threads, .offset = offsetof(struct settings, cut)},
    {CLI_COUNT, 'j', "jobs", "N", "1",
     .brief = "read a trace in N pieces at once; 0: one per available processor",
     .text = "Each piece has a thread and engines of its own, and their profiles are merged. Exact "
             "counts are the "
             "same for every N. What other engines find may differ with N, within their bounds; "
             "intervals and sequences begin anew with each piece. The same N gives the same file, "
             "byte for "
             "byte. Not with --skip, --limit, --cache and --coproc. A stream that is no trace with "
             "a sound "
             "index is read in one piece.",
     .offset = offsetof(struct settings, jobs)},
    {.type = CLI_GROUP, .group = cli_options_cache, .offset = offsetof(struct settings, cache)},
    {CLI_CHOICE, 0, "from", "FORMAT", .words = words_formats, .brief = "the format of the stream",
     .text = "Without it, the first bytes tell. champsim and perf have no mark and must be named. "
             "doc/FORMATS.md describes them.",
     .offset = offsetof(struct settings, from)},
    {CLI_LIST, 0, "map", "FILE[@ADDRESS]",
     .brief = "the stream's addresses are code of this file; may be repeated",
     .text =
         "Names for streams that do not say where files were mapped. The address is that of the "
         "file's first mapping, as /proc/PID/maps has it; Valgrind puts programs at 0x108000. "
         "Without an address: where the file was linked to, as of a program that is not "
         "position-independent."},
    {CLI_FILE, 'o', "output", "FILE", .brief = "also save the profiles, for report and merge",
     .text = "By custom the name ends in .rfp. It appears whole or not at all.",
     .offset = offsetof(struct settings, output)},
    {.type = CLI_END},
};

/* Where the stream goes. */
struct consumers {
    struct cli_lanes lanes;
    struct cli_coprocs coprocs;
};

static int add_maps(struct rf_run *run, const struct cli_call *call)
{
    int status = CLI_OK;
    for (size_t i = 0; i < call->n_given && status == CLI_OK; i++)
        if (cli_is(&call->given[i], "map"))
            status = cli_map_file(run, call->given[i].value);
    return status;
}

/* In pieces, where that is asked for and possible. */
static rf_status pump(struct rf_run **run, const struct cli_call *call, struct rf_source *source,
                      const struct rf_collect_setup *setup, struct rf_error *error)
{
    struct rf_trace_info info;
    const struct settings *settings = call->settings;
    const char *path = call->arguments[0];
    size_t parts = settings->jobs > 0 ? (size_t)settings->jobs : 1 + cli_engine_threads(0, 0);
    if (parts > 1 && strcmp(path, "-") != 0 && rf_source_header(source, &info) == RF_OK) {
        rf_status status = rf_collect_parts(run, path, parts, setup, error);
        if (status != RF_ENOTSUP)
            return status;
        cli_fail(CLI_OK, "%s; it is read in one piece", error->message);
    } else if (settings->jobs > 1) {
        cli_fail(CLI_OK, "%s: no trace with an index; it is read in one piece", path);
    }
    return rf_collect(run, source, setup, error);
}

static int collect(const struct cli_call *call, struct rf_source *source, struct consumers *to,
                   const char *command)
{
    const struct settings *settings = call->settings;
    struct rf_error error = {""};
    struct rf_trace_info info;
    struct rf_run *run;
    struct cli_program program;
    if (cli_program_open(&program, source) != RF_OK) {
        cli_program_close(&program);
        return cli_fail(CLI_FAILED, "no memory for the list of modules");
    }
    bool selected = cli_lanes_adopt(to->lanes.lanes, to->lanes.n, source, &info);
    int ready = cli_lanes_refuse_stacks(&to->lanes, call->command->name);
    if (ready == CLI_OK)
        ready = add_maps(program.run, call);
    if (ready != CLI_OK) {
        cli_program_close(&program);
        return ready;
    }
    struct rf_collect_setup setup = {.selected = selected,
                                     .resolve = program.run->n_modules > 0 ? cli_resolve : NULL,
                                     .resolve_context = &program,
                                     .lanes = to->lanes.lanes,
                                     .n_lanes = to->lanes.n,
                                     .coprocs = to->coprocs.coprocs,
                                     .n_coprocs = to->coprocs.n,
                                     .command = command,
                                     .seed = settings->cut.seed,
                                     .interval = settings->cut.interval,
                                     .keep_intervals = settings->report.per_interval ||
                                                       settings->report.html != NULL,
                                     .threads = cli_engine_threads(settings->cut.threads, 0),
                                     .skip = settings->cut.skip,
                                     .limit = settings->cut.limit,
                                     .cache = settings->cache,
                                     .stop = cli_catch_interrupt(),
                                     .progress = cli_coprocs_progress,
                                     .progress_context = &to->coprocs};
    to->coprocs.alone = true;
    rf_status status = pump(&run, call, source, &setup, &error);
    cli_program_close(&program);
    if (run != NULL && cli_add_modules(run, source) != RF_OK)
        status = status != RF_OK ? status : RF_ENOMEM;
    if (run != NULL)
        add_maps(run, call);
    return cli_deliver(run, status, &error, settings->output, &settings->report);
}

static int replay(const struct cli_call *call, struct consumers *to)
{
    struct rf_error error = {""};
    struct rf_source *source;
    char *command = cli_command_text(call);
    if (command == NULL)
        return CLI_FAILED;
    const struct settings *settings = call->settings;
    rf_status opened =
        settings->from != NULL
            ? rf_source_open_as(&source, call->arguments[0], settings->from, NULL, &error)
            : rf_source_open(&source, call->arguments[0], NULL, &error);
    int status =
        opened == RF_OK ? collect(call, source, to, command) : cli_fail_status(opened, &error);
    rf_source_close(source);
    free(command);
    return status;
}

static int check_jobs(const struct settings *settings, bool coprocs)
{
    if (settings->jobs > JOBS_MAX)
        return cli_fail(CLI_USAGE, "replay: --jobs must be at most %d", JOBS_MAX);
    if (settings->jobs != 1 &&
        (settings->cut.skip > 0 || settings->cut.limit > 0 || settings->cache != NULL || coprocs))
        return cli_fail(CLI_USAGE,
                        "replay: --jobs goes with none of --skip, --limit, --cache and --coproc");
    return CLI_OK;
}

static int run(const struct cli_call *call)
{
    struct consumers to = {.lanes = {.n = 0}};
    struct settings *settings = call->settings;
    settings->report.counted_thread = settings->thread;
    int status = cli_report_take(&settings->report, call);
    if (status == CLI_OK)
        status = cli_check_output(settings->output);
    if (status == CLI_OK && cli_same_file(settings->output, settings->report.html))
        status = cli_fail(CLI_USAGE, "replay: --output and --html are the same file");
    if (status == CLI_OK && cli_same_file(settings->output, call->arguments[0]))
        status = cli_fail(CLI_USAGE, "replay: the profile would overwrite its own stream");
    if (status != CLI_OK)
        return status;
    status = cli_lanes_make(&to.lanes, call,
                            cli_coprocs_alone(call) ? CLI_SELECT_NOTHING : CLI_SELECT_ASKED, NULL);
    if (status == CLI_OK)
        status = cli_lanes_of_thread(&to.lanes, settings->thread);
    if (status == CLI_OK)
        status = cli_rehearse(&to.lanes, &settings->cut, settings->cache, &settings->report);
    if (status == CLI_OK)
        status = cli_coprocs_refuse_cut(call, settings->cut.interval);
    if (status == CLI_OK)
        status = cli_coprocs_open(&to.coprocs, call, settings->cut.seed);
    if (status == CLI_OK)
        status = cli_coprocs_refuse_thread(&to.coprocs, settings->thread);
    if (status == CLI_OK)
        status = check_jobs(settings, to.coprocs.n > 0);
    if (status == CLI_OK)
        cli_coprocs_tell_cache(&to.coprocs, settings->cache, false);
    if (status == CLI_OK)
        status = replay(call, &to);
    cli_lanes_free(&to.lanes);
    cli_coprocs_close(&to.coprocs);
    return status;
}

const struct cli_action cli_action_replay = {
    .arguments = {"FILE|-", 1, 1},
    .settings = {options, sizeof(struct settings)},
    .run = run,
};
