/* plan.c - what run and sim share: they run a program and profile it.
 *
 *     -p, -e  ->  lanes, selectors  ->  collect  ->  notes, modules (the command's)  ->  report */
#include "plan.h"
#include <sched.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- options ---- */

const struct cli_option cli_options_interval[] = {
    {CLI_COUNT, 'i', "interval", "N", "0",
     .brief = "cut the stream every N events; 0: as the engine says",
     .offset = offsetof(struct cli_cut, interval)},
    {CLI_SEED, 0, "seed", "N|random", "0",
     .brief = "seed of the engines' hashes and random choices",
     .text = "The same stream and seed give the same profile. The report shows the seed, and -o "
             "saves it.",
     .offset = offsetof(struct cli_cut, seed)},
    {.type = CLI_END},
};

const struct cli_option cli_options_window[] = {
    {CLI_COUNT, 0, "skip", "N", "0", .brief = "leave out the first N events",
     .text = "In bursts, of those that are told.", .offset = offsetof(struct cli_cut, skip)},
    {CLI_COUNT, 0, "limit", "N", "0", .brief = "take at most N events; 0: all",
     .text = "In bursts, of those that are told.", .offset = offsetof(struct cli_cut, limit)},
    {.type = CLI_END},
};

const struct cli_option cli_options_threads[] = {
    {CLI_COUNT, 0, "threads", "N", "0",
     .brief = "threads of riffle itself; 0: one per available processor",
     .text = "One thread reads the stream; each of the others runs one or more engines. The "
             "results do not depend on their number.",
     .offset = offsetof(struct cli_cut, threads)},
    {.type = CLI_END},
};

const struct cli_option cli_options_cache[] = {
    {CLI_TEXT, 0, "cache", "SHAPE", .brief = "caches to model for selectors that read 'miss'",
     .text = "Each level as size/ways/bytes of a line: l1=32Ki/8/64,l2=1Mi/16/64. All loads "
             "and stores run through it; miss is the number of levels that a load or store "
             "missed."},
    {.type = CLI_END},
};

static const struct cli_default lanes_of_programs[] = {
    {"engine", "auto"},
    {"profile", "code, values, types, bias"},
    {NULL, NULL},
};

const struct cli_option cli_options_profiling[] = {
    {.type = CLI_GROUP, .group = cli_options_lanes, .defaults = lanes_of_programs},
    {.type = CLI_GROUP, .group = cli_options_coproc},
    {.type = CLI_GROUP,
     .group = cli_options_report,
     .offset = offsetof(struct cli_profiling, report)},
    {.type = CLI_GROUP,
     .group = cli_options_annotate,
     .offset = offsetof(struct cli_profiling, report)},
    {.type = CLI_GROUP,
     .group = cli_options_thread,
     .offset = offsetof(struct cli_profiling, thread)},
    {.type = CLI_GROUP,
     .group = cli_options_interval,
     .offset = offsetof(struct cli_profiling, cut)},
    {.type = CLI_GROUP,
     .group = cli_options_threads,
     .offset = offsetof(struct cli_profiling, cut)},
    {CLI_FILE, 'o', "output", "FILE", .brief = "save the profiles, for report and merge",
     .text = "By convention the name ends in .rfp. The file appears whole or not at all. Only its "
             "owner can read it, because profiles of values hold parts of the program's memory.",
     .offset = offsetof(struct cli_profiling, output)},
    {CLI_FILE, 0, "record", "FILE",
     .brief = "also save the stream for replay: the tuples of one -p, or the records of several, "
              "from which replay -p can select again",
     .text = "By convention the name ends in .rft. It also holds where the program's files were "
             "mapped, so that replay finds the same names.",
     .offset = offsetof(struct cli_profiling, record)},
    {CLI_FLAG, 'q', "quiet", .brief = "print no report",
     .offset = offsetof(struct cli_profiling, quiet)},
    {.type = CLI_END},
};

/* Whoever controls the program's input could exploit known hashes, so they differ in every run. */
static const struct cli_default random_seed[] = {{"seed", "random"}, {NULL, NULL}};

const struct cli_option cli_options_profiling_native[] = {
    {.type = CLI_GROUP, .group = cli_options_profiling, .defaults = random_seed},
    {.type = CLI_END},
};

/* ---- the plan ---- */

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
        plan->records |= selector->weight != RF_FIELD_NONE;
    }
    plan->records |= plan->asked->record != NULL && plan->n_selectors > 1;
    return CLI_OK;
}

/* A co-processor takes records: the source must hand out those that it wants. */
static int open_coprocs(struct cli_plan *plan, const struct cli_call *call)
{
    int status = cli_coprocs_refuse_cut(call, plan->asked->cut.interval);
    if (status == CLI_OK)
        status = cli_coprocs_open(&plan->coprocs, call, plan->asked->cut.seed);
    if (status == CLI_OK)
        status = cli_coprocs_refuse_thread(&plan->coprocs, plan->asked->thread);
    for (size_t i = 0; i < plan->coprocs.n && status == CLI_OK; i++) {
        if (plan->n_selectors == CLI_SELECTORS_MAX)
            return cli_fail(CLI_USAGE, "%s: at most %d selectors and co-processors at once",
                            call->command->name, CLI_SELECTORS_MAX);
        rf_coproc_wants(plan->coprocs.coprocs[i], &plan->selectors[plan->n_selectors++]);
        plan->records = true;
    }
    return status;
}

static int check_files(const struct cli_profiling *asked, const struct cli_call *call)
{
    const char *command = call->command->name;
    int status = cli_check_output(asked->output);
    if (status == CLI_OK)
        status = cli_report_check_files(&asked->report, call);
    if (status == CLI_OK)
        status = cli_check_output(asked->record);
    if (status == CLI_OK && cli_same_file(asked->output, asked->record))
        return cli_fail(CLI_USAGE, "%s: --output and --record are the same file", command);
    if (status == CLI_OK && (cli_same_file(asked->report.html, asked->output) ||
                             cli_same_file(asked->report.html, asked->record)))
        return cli_fail(CLI_USAGE, "%s: --html and another output are the same file", command);
    return status;
}

/* What must be counted so that the rows that are asked for can be made. */
static const char *selectors_for(const char *by)
{
    static const struct {
        const char *by, *selectors;
    } rows[] = {{"function", "code"},    {"line", "code"},
                {"module", "code"},      {"pc", "code"},
                {"process", "code"},     {"value", "values"},
                {"target", "calls"},     {"item", "values"},
                {"region", "addresses"}, {"thread", "insn -> thread"},
                {"stack", "stacks"},     {"caller", "stacks"}};
    for (size_t i = 0; by != NULL && i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].by, by) == 0)
            return rows[i].selectors;
    return NULL;
}

static bool is_given(const struct cli_call *call, const char *name)
{
    for (size_t i = 0; i < call->n_given; i++)
        if (cli_is(&call->given[i], name))
            return true;
    return false;
}

int cli_plan_make(struct cli_plan *plan, const struct cli_call *call,
                  const struct cli_profiling *asked)
{
    const char *standard = selectors_for(asked->report.by);
    *plan = (struct cli_plan){.command = cli_command_text(call),
                              .asked = asked,
                              .file = call->arguments[0],
                              .overview = standard == NULL && !cli_coprocs_alone(call) &&
                                          !is_given(call, "profile")};
    if (plan->command == NULL)
        return CLI_FAILED;
    int status =
        cli_lanes_make(&plan->lanes, call,
                       cli_coprocs_alone(call) ? CLI_SELECT_NOTHING : CLI_SELECT_ALWAYS, standard);
    if (status == CLI_OK)
        status = cli_lanes_of_thread(&plan->lanes, asked->thread);
    if (status == CLI_OK)
        status = parse_selectors(plan, call->command->name);
    if (status == CLI_OK)
        status = cli_lanes_refuse_stacks(&plan->lanes, call->command->name);
    plan->n_asked = plan->lanes.n;
    if (status == CLI_OK)
        status = open_coprocs(plan, call);
    if (status == CLI_OK)
        status = check_files(asked, call);
    struct rf_error ignored;
    if (status == CLI_OK)
        rf_live_open(&plan->live, &ignored); /* without it, nobody can ask */
    return status;
}

int cli_check_cache(const char *shape)
{
    struct rf_error error = {""};
    struct rf_cache *cache;
    rf_status status = shape != NULL ? rf_cache_open(&cache, shape, NULL, &error) : RF_OK;
    if (status == RF_OK && shape != NULL)
        rf_cache_close(cache);
    return status == RF_OK ? CLI_OK : cli_fail_parsed(status, &error);
}

bool cli_plan_reads(const struct cli_plan *plan, unsigned field)
{
    for (size_t i = 0; i < plan->n_selectors; i++)
        if ((plan->selectors[i].fields >> field & 1) != 0)
            return true;
    return false;
}

bool cli_plan_has_names(const struct cli_plan *plan)
{
    for (size_t i = 0; i < plan->n_selectors; i++)
        if (plan->selectors[i].unbound)
            return true;
    return false;
}

int cli_plan_refuse_timing(const struct cli_plan *plan, const char *why)
{
    static const unsigned timed[] = {RF_FIELD_CYCLES, RF_FIELD_MISPREDICTED};
    for (size_t i = 0; i < sizeof timed / sizeof *timed; i++)
        if (cli_plan_reads(plan, timed[i]))
            return cli_fail(CLI_USAGE, "'%s' is known to the timed core of riffle sim alone%s",
                            rf_field_info(timed[i])->name, why);
    return CLI_OK;
}

void cli_plan_free(struct cli_plan *plan)
{
    rf_trace_abandon(plan->writer);
    rf_live_close(plan->live);
    cli_program_close(&plan->program);
    cli_lanes_free(&plan->lanes);
    cli_coprocs_close(&plan->coprocs);
    free(plan->command);
    plan->command = NULL;
}

rf_status cli_note(struct rf_run *run, const char *name, const char *format, ...)
{
    char text[4096];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    return rf_run_add_note(run, name, text);
}

/* ---- the run ---- */

int cli_plan_rehearse(const struct cli_plan *plan)
{
    struct cli_report report = plan->asked->report;
    report.silent = plan->asked->quiet;
    struct cli_lanes asked = plan->lanes;
    asked.n = plan->n_asked; /* companions are not shown */
    return cli_rehearse(&asked, &plan->asked->cut, plan->cache, &report);
}

rf_status cli_plan_record(struct cli_plan *plan, struct rf_error *error)
{
    char selector[512];
    if (plan->asked->record == NULL || plan->writer != NULL)
        return RF_OK;
    rf_selector_print(&plan->selectors[0], selector, sizeof selector);
    return rf_trace_create(&plan->writer, plan->asked->record,
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

/* What the report wants to know of the program. */
static rf_status note_program(struct rf_run *run, const struct cli_plan *plan)
{
    rf_status status = RF_OK;
    if (run != NULL && plan->file != NULL)
        status = rf_run_add_note(run, RF_NOTE_PROGRAM, plan->file);
    if (run != NULL && status == RF_OK && plan->overview)
        status = rf_run_add_note(run, RF_NOTE_OVERVIEW, "yes");
    return status;
}

/* ---- questions while it runs (riffle top PID) ---- */

static int is_asked(void *context)
{
    return rf_live_is_asked(((const struct cli_plan *)context)->live);
}

static void answer(void *context, struct rf_run *run)
{
    struct rf_error ignored;
    const struct cli_plan *plan = context;
    rf_status status = cli_add_modules(run, plan->source);
    if (status == RF_OK)
        status = note_program(run, plan);
    if (status == RF_OK)
        status = cli_counts_label(plan, run);
    if (status == RF_OK)
        rf_live_answer(plan->live, run, &ignored);
}

static rf_status collect(struct rf_run **run, struct rf_source *source, struct cli_plan *plan,
                         struct rf_error *error)
{
    const struct cli_cut *cut = &plan->asked->cut;
    *run = NULL;
    rf_status status = cli_plan_record(plan, error);
    if (status != RF_OK)
        return status;
    struct rf_collect_setup setup = {.lanes = plan->lanes.lanes,
                                     .n_lanes = plan->lanes.n,
                                     .coprocs = plan->coprocs.coprocs,
                                     .n_coprocs = plan->coprocs.n,
                                     .selected = !plan->records,
                                     .command = plan->command,
                                     .seed = cut->seed,
                                     .interval = cut->interval,
                                     .keep_intervals = plan->asked->report.per_interval ||
                                                       plan->asked->report.html != NULL,
                                     .threads = cli_engine_threads(cut->threads, plan->others),
                                     .skip = cut->skip,
                                     .limit = cut->limit,
                                     .cache = plan->cache,
                                     .record = plan->writer,
                                     .stop = plan->stop,
                                     .resolve = plan->program.run != NULL ? cli_resolve : NULL,
                                     .resolve_context = &plan->program,
                                     .asked = is_asked,
                                     .now = answer,
                                     .now_context = plan,
                                     .progress = cli_coprocs_progress,
                                     .progress_context = &plan->coprocs};
    plan->source = source;
    plan->coprocs.alone = plan->alone;
    cli_coprocs_tell_cache(&plan->coprocs, plan->cache,
                           plan->cache != NULL && strcmp(plan->cache, RF_CACHE_STANDARD) == 0);
    status = rf_collect(run, source, &setup, error);
    rf_live_close(plan->live);
    plan->live = NULL;
    return status;
}

static rf_status add_module(struct cli_plan *plan, struct rf_run *run,
                            const struct rf_module *module)
{
    char build_id[129];
    struct rf_error error = {""};
    struct rf_module known = *module;
    rf_symbols_build_id(module->path, build_id, sizeof build_id);
    known.build_id = build_id;
    rf_status status = run != NULL ? rf_run_add_module(run, &known) : RF_OK;
    bool failed = status == RF_OK && plan->writer != NULL &&
                  rf_trace_add_module(plan->writer, &known, &error) != RF_OK;
    if (failed && !plan->told_of_modules)
        cli_fail(CLI_OK, "%s; some addresses will have no names", error.message);
    plan->told_of_modules |= failed;
    return status;
}

rf_status cli_plan_add_modules(struct cli_plan *plan, struct rf_run *run, struct rf_source *source)
{
    size_t n;
    const struct rf_module *modules;
    rf_status status = rf_source_modules(source, &modules, &n);
    for (size_t i = 0; status == RF_OK && i < n; i++)
        status = add_module(plan, run, &modules[i]);
    return status;
}

/* If there is nothing to record, an old recording stays. */
static rf_status finish_record(struct cli_plan *plan, const struct rf_run *run,
                               struct rf_error *error)
{
    struct rf_trace_writer *writer = plan->writer;
    if (run == NULL)
        return RF_OK; /* cli_plan_free abandons it */
    plan->writer = NULL;
    return writer != NULL ? rf_trace_finish(writer, error) : RF_OK;
}

static int deliver(struct rf_run *run, rf_status status, const struct rf_error *error,
                   const struct cli_plan *plan)
{
    struct cli_report on_stderr = plan->asked->report;
    on_stderr.to_stderr = !plan->alone;
    on_stderr.silent = plan->asked->quiet;
    on_stderr.counted_thread = plan->asked->thread;
    return cli_deliver(run, status, error, plan->asked->output, &on_stderr);
}

int cli_plan_run(struct cli_plan *plan, struct rf_source *source, cli_complete *complete,
                 void *context)
{
    struct rf_error error = {""}, why = {""};
    struct rf_run *run;
    rf_status collected = collect(&run, source, plan, &error);
    rf_status completed = complete(run, source, plan, context);
    if (completed == RF_OK)
        completed = note_program(run, plan);
    rf_status finished = finish_record(plan, run, &why);
    if (completed == RF_ENOTSUP) {
        rf_run_free(run);
        return CLI_FAILED;
    }
    if (collected != RF_OK)
        return deliver(run, collected, &error, plan);
    if (completed != RF_OK)
        return deliver(run, completed, &error, plan);
    return deliver(run, finished, &why, plan);
}
