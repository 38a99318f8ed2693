/* cmd_sim.c - riffle sim: profile a RISC-V program on the simulated core.
 *
 *     program ends ... report on stderr ... a line on its speed ... leave with its exit status
 *
 * The profile holds only facts of the simulated machine, so that the same run twice saves the same bytes. The
 * host's speed is printed, not saved. */
#include "productions.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct settings {
    struct cli_profiling profiling;
    const char *core, *root, *cache;
    int functional;
    struct cli_bursts bursts;
    uint64_t max_instructions, skip;
};

static const struct cli_option options[] = {
    {.type = CLI_GROUP,
     .group = cli_options_profiling,
     .offset = offsetof(struct settings, profiling)},
    {.type = CLI_GROUP, .group = cli_options_places},
    {CLI_TEXT, 'c', "core", "CORE", "hps", .words = cli_words_cores,
     .brief = "the simulated core: its name, then what differs from it",
     .text = "Such as hps, or hps,rob=64,dcache=16Ki/2/64. Every core runs the same instructions, "
             "but at different times. 'riffle cores' lists them and shows what can differ.",
     .offset = offsetof(struct settings, core)},
    {CLI_FLAG, 0, "functional", .brief = "no cycles: much faster",
     .text =
         "Selectors that read 'miss' then get it from the caches of --cache, or from those that "
         "run would take.",
     .offset = offsetof(struct settings, functional)},
    {.type = CLI_GROUP, .group = cli_options_cache, .offset = offsetof(struct settings, cache)},
    {.type = CLI_GROUP, .group = cli_options_bursts, .offset = offsetof(struct settings, bursts)},
    {.type = CLI_GROUP, .group = cli_options_productions},
    {CLI_COUNT, 0, "max-instructions", "N", "0",
     .brief = "end after N instructions, skipped ones included; 0: with the program",
     .offset = offsetof(struct settings, max_instructions)},
    {CLI_COUNT, 0, "skip", "N", "0",
     .brief = "run the first N instructions without looking, at full speed",
     .offset = offsetof(struct settings, skip)},
    {CLI_LIST, 0, "env", "NAME=VALUE",
     .brief = "a variable of the program's environment, which is empty; may be repeated"},
    {CLI_FILE, 0, "root", "FOLDER",
     .brief = "the program's / and the folder it starts in; nothing outside is reached",
     .text = "Without it, names of files mean what they mean to riffle.",
     .offset = offsetof(struct settings, root)},
    {.type = CLI_END},
};

/* True when no profile would be shown or saved: the program is only run. */
static bool only_runs(const struct cli_profiling *asked)
{
    return asked->quiet && asked->output == NULL && asked->record == NULL;
}

static uint32_t classes_of(const struct cli_plan *plan)
{
    uint32_t classes = plan->cache != NULL ? 1 << RF_CLASS_LOAD | 1 << RF_CLASS_STORE : 0;
    for (size_t i = 0; i < plan->n_selectors; i++)
        classes |= plan->selectors[i].classes;
    return classes;
}

/* The values of --env as a list that ends with NULL; the caller frees it. */
static int make_environment(const char ***made, const struct cli_call *call)
{
    size_t n = 0;
    const char **variables = *made = calloc(call->n_given + 1, sizeof *variables);
    if (variables == NULL)
        return cli_fail(CLI_FAILED, "no memory for the command line");
    for (size_t i = 0; i < call->n_given; i++) {
        const char *value = call->given[i].value;
        if (!cli_is(&call->given[i], "env"))
            continue;
        if (strchr(value, '=') == NULL || value[0] == '=')
            return cli_fail(CLI_USAGE, "sim: --env must look like TZ=UTC, got '%s'", value);
        variables[n++] = value;
    }
    return CLI_OK;
}

/* Check the core's name even with --functional. */
static int check_core(const struct settings *settings)
{
    struct rf_error error = {""};
    rf_status status = rf_machine_core_print(settings->core, NULL, 0, &error);
    return status == RF_OK ? CLI_OK : cli_fail(CLI_USAGE, "%s", error.message);
}

/* Misses come from the timed core's caches or, with --functional, from a model of caches. */
static int choose_cache(struct cli_plan *plan, const struct settings *settings)
{
    if (!settings->functional && settings->cache != NULL)
        return cli_fail(CLI_USAGE,
                        "sim: --cache goes with --functional; the caches of a timed core "
                        "are part of it: --core hps,dcache=16Ki/2/64");
    if (settings->functional && cli_plan_reads(plan, RF_FIELD_MISS))
        plan->cache = settings->cache != NULL ? settings->cache : RF_CACHE_STANDARD;
    return settings->functional ? cli_plan_refuse_timing(plan, ": leave out --functional") : CLI_OK;
}

/* ---- what is noted ---- */

enum { STALLS_MAX = 8, STALLS_TEXT = 160 };

static int by_value(const void *a, const void *b)
{
    const struct rf_machine_figure *x = a, *y = b;
    return (x->value < y->value) - (x->value > y->value);
}

/* What the core waited for, as shares of its cycles, the longest first: "mispredict 30.9%, rob 4.4%". */
static rf_status note_stalls(struct rf_run *run, const struct rf_machine_outcome *outcome)
{
    static const char prefix[] = "stall-";
    struct rf_machine_figure stalls[STALLS_MAX] = {{0}};
    char text[STALLS_TEXT] = "";
    size_t n = 0, used = 0;
    for (size_t i = 0; i < outcome->n_figures && n < STALLS_MAX; i++)
        if (strncmp(outcome->figures[i].name, prefix, sizeof prefix - 1) == 0)
            stalls[n++] = outcome->figures[i];
    qsort(stalls, n, sizeof *stalls, by_value);
    for (size_t i = 0; i < n; i++) {
        double share = 100 * (double)stalls[i].value / (double)outcome->cycles;
        if (share >= 0.05 && used < sizeof text)
            used +=
                (size_t)snprintf(text + used, sizeof text - used, "%s%s %.1f%%",
                                 used > 0 ? ", " : "", stalls[i].name + sizeof prefix - 1, share);
    }
    return cli_note(run, "stalls", "%s", used > 0 ? text : "none");
}

static rf_status note_cycles(struct rf_run *run, const struct settings *settings,
                             const struct rf_machine_outcome *outcome)
{
    rf_status status = cli_note(run, "core", "%s", settings->core);
    if (status == RF_OK)
        status = cli_note(run, "cycles", "%llu", (unsigned long long)outcome->cycles);
    if (status == RF_OK)
        status = cli_note(run, "ipc", "%.3f",
                          (double)outcome->timed_instructions / (double)outcome->cycles);
    if (status == RF_OK)
        status = note_stalls(run, outcome);
    for (size_t i = 0; status == RF_OK && i < outcome->n_figures; i++)
        status = cli_note(run, outcome->figures[i].name, "%llu",
                          (unsigned long long)outcome->figures[i].value);
    return status;
}

static rf_status note_outcome(struct rf_run *run, const struct settings *settings,
                              const struct rf_machine_outcome *outcome)
{
    rf_status status =
        cli_note(run, "instructions", "%llu", (unsigned long long)outcome->instructions);
    if (status == RF_OK && outcome->cycles > 0)
        status = note_cycles(run, settings, outcome);
    if (status == RF_OK && outcome->ended)
        status = cli_note(run, "exit-status", "%d", outcome->exit_status);
    if (status == RF_OK && outcome->fault[0] != '\0')
        status = cli_note(run, "fault", "%s", outcome->fault);
    for (size_t i = 0; status == RF_OK && i < outcome->n_unknown_calls; i++)
        status = cli_note(run, "unknown-call", "%u", outcome->unknown_calls[i]);
    return status;
}

/* ---- what is said ---- */

static void say_outcome(const struct settings *settings, const struct rf_machine_outcome *outcome)
{
    double instructions = (double)outcome->instructions;
    for (size_t i = 0; i < outcome->n_unknown_calls; i++)
        cli_fail(CLI_OK, "system call %u is not implemented and returned ENOSYS",
                 outcome->unknown_calls[i]);
    if (!settings->profiling.quiet && strcmp(settings->profiling.report.format, "text") == 0 &&
        instructions > 0) {
        fprintf(stderr, "riffle: %llu instructions", (unsigned long long)outcome->instructions);
        if (outcome->cycles > 0)
            fprintf(stderr, ", %llu cycles, IPC %.3f", (unsigned long long)outcome->cycles,
                    (double)outcome->timed_instructions / (double)outcome->cycles);
        fprintf(stderr, ", %.1f MIPS\n", instructions * 1e-6 / (outcome->host_seconds + 1e-9));
    }
    if (outcome->fault[0] != '\0')
        cli_fail(CLI_OK, "the program ended: %s", outcome->fault);
}

/* ---- the run ---- */

static int run_alone(struct rf_source *source)
{
    struct rf_batch batch;
    struct rf_error error = {""};
    rf_status status;
    do
        status = rf_source_next(source, &batch, &error);
    while (status == RF_OK && batch.n > 0);
    return status == RF_OK ? CLI_OK : cli_fail_status(status, &error);
}

/* What is simulated: the machine and, where there are productions, the source that they make of it. */
struct simulated {
    const struct settings *settings;
    struct rf_source *machine, *source;
    struct rf_productions *productions; /* NULL: none */
};

static rf_status complete(struct rf_run *run, struct rf_source *source, struct cli_plan *plan,
                          void *context)
{
    const struct simulated *simulated = context;
    struct rf_machine_outcome outcome;
    rf_machine_outcome(simulated->machine, &outcome);
    rf_status status = run != NULL ? note_outcome(run, simulated->settings, &outcome) : RF_OK;
    if (status == RF_OK && run != NULL && simulated->productions != NULL)
        status = cli_productions_note(run, simulated->productions, source);
    return status == RF_OK ? cli_plan_add_modules(plan, run, source) : status;
}

/* The core has a place for one co-processor, or for productions. */
static int attach(const struct simulated *simulated, const struct cli_plan *plan)
{
    const struct cli_coprocs *coprocs = &plan->coprocs;
    struct rf_error error = {""};
    if (coprocs->n == 0)
        return CLI_OK;
    if (coprocs->n > 1 || simulated->productions != NULL)
        return cli_fail(CLI_USAGE, "sim: one --coproc at a time, and none beside productions");
    rf_status status =
        rf_coproc_attach(coprocs->coprocs[0], simulated->machine, plan->cache, &error);
    return status == RF_OK ? CLI_OK : cli_fail_status(status, &error);
}

static int profile(struct simulated *simulated, struct cli_plan *plan)
{
    int attached = attach(simulated, plan);
    if (attached != CLI_OK)
        return attached;
    if (cli_program_open(&plan->program, simulated->source) != RF_OK)
        return cli_fail(CLI_FAILED, "no memory for the list of modules");
    plan->stop = cli_catch_interrupt();
    return cli_plan_run(plan, simulated->source, complete, simulated);
}

static int refuse_program(const char *path, const char *root, const struct rf_error *error)
{
    int status = access(path, F_OK) != 0 ? CLI_NO_PROGRAM : CLI_NOT_EXECUTABLE;
    if (root != NULL && access(root, X_OK) != 0)
        status = CLI_OWN_FAILURE;
    return cli_fail(status, "%s", error->message);
}

/* The program cannot be run, or the productions do not fit the core. */
static int refuse(const struct cli_call *call, const struct simulated *simulated, rf_status status,
                  const struct rf_error *error)
{
    const struct settings *settings = call->settings;
    if (simulated->machine == NULL && status != RF_ENOMEM)
        return refuse_program(call->arguments[0], settings->root, error);
    return status == RF_EINVAL ? cli_fail(CLI_USAGE, "%s", error->message)
                               : cli_fail_status(status, error);
}

static rf_status open_source(struct simulated *simulated, const struct rf_machine_setup *setup,
                             struct rf_error *error)
{
    rf_status status = rf_source_open_machine(&simulated->machine, setup, error);
    simulated->source = simulated->machine;
    if (status == RF_OK && simulated->productions != NULL)
        status =
            rf_source_open_productions(&simulated->source, simulated->machine,
                                       simulated->productions, simulated->settings->core, error);
    return status;
}

static int start(struct cli_plan *plan, const struct cli_call *call,
                 struct rf_productions *productions, const char *const *environment)
{
    const struct settings *settings = call->settings;
    struct rf_error error = {""};
    struct simulated simulated = {.settings = settings, .productions = productions};
    struct rf_machine_outcome outcome;
    bool alone = only_runs(&settings->profiling);
    const struct rf_machine_setup setup = {.argv = (const char *const *)call->arguments,
                                           .environment = environment,
                                           .root = settings->root,
                                           .core = settings->functional ? NULL : settings->core,
                                           .classes =
                                               alone || productions != NULL ? 0 : classes_of(plan),
                                           .silent = cli_plan_reads(plan, RF_FIELD_SILENT),
                                           .stack_period = plan->lanes.stack_period,
                                           .max_instructions = settings->max_instructions,
                                           .skip_instructions = settings->skip};
    rf_status opened = open_source(&simulated, &setup, &error);
    if (opened != RF_OK)
        return refuse(call, &simulated, opened, &error);
    int status = alone ? run_alone(simulated.source) : profile(&simulated, plan);
    rf_machine_outcome(simulated.machine, &outcome);
    say_outcome(settings, &outcome);
    rf_source_close(simulated.source);
    return status == CLI_OK ? CLI_OF_PROGRAM + outcome.exit_status : status;
}

/* The plan of the call. Productions may take the place of -p. */
static int make_plan(struct cli_plan *plan, struct cli_call *call,
                     const struct rf_productions *productions)
{
    struct settings *settings = call->settings;
    int status = cli_report_take(&settings->profiling.report, call);
    if (status == CLI_OK && settings->root == NULL)
        status = cli_check_functions(call->arguments[0], settings->profiling.report.functions);
    bool selected = cli_productions_given(call); /* else -p says it */
    if (status == CLI_OK && productions != NULL && selected)
        status = cli_productions_select(call, call, productions, NULL);
    if (status == CLI_OK)
        status = cli_plan_make(plan, call, &settings->profiling);
    if (status == CLI_OK && productions != NULL && !selected)
        cli_counts_engines(plan, call, true);
    plan->records = productions == NULL;
    if (status == CLI_OK && !plan->records && plan->n_selectors > 1 &&
        settings->profiling.record != NULL)
        return cli_fail(CLI_USAGE, "sim: --record keeps the bursts of one profile, not of %zu",
                        plan->n_selectors);
    if (status == CLI_OK)
        status = check_core(settings);
    if (status == CLI_OK)
        status = choose_cache(plan, settings);
    return status == CLI_OK ? cli_plan_rehearse(plan) : status;
}

/* --productions, or --burst and --frequency. */
static int take_productions(struct rf_productions **productions, const struct cli_call *call)
{
    const struct settings *settings = call->settings;
    int status = cli_productions_take(productions, call, CLI_SIMULATED);
    if (*productions != NULL)
        rf_productions_seed(*productions, settings->profiling.cut.seed);
    if (status != CLI_OK || (settings->bursts.burst == NULL && settings->bursts.frequency == NULL &&
                             settings->bursts.phases == NULL))
        return status;
    if (*productions == NULL)
        return cli_productions_sample(productions, call, &settings->bursts,
                                      settings->profiling.cut.seed);
    rf_productions_close(*productions);
    return cli_fail(CLI_USAGE,
                    "sim: --productions say how often to sample; change that with --set");
}

static int run(const struct cli_call *asked)
{
    struct rf_productions *productions;
    struct cli_call call = *asked;
    struct cli_plan plan = {.command = NULL};
    int status = take_productions(&productions, &call);
    if (status != CLI_OK)
        return status;
    status = make_plan(&plan, &call, productions);
    const char **environment = NULL;
    if (status == CLI_OK)
        status = make_environment(&environment, &call);
    if (status == CLI_OK)
        status = start(&plan, &call, productions, environment);
    free(environment);
    if (call.given != asked->given)
        free((void *)call.given);
    cli_plan_free(&plan);
    rf_productions_close(productions);
    return status;
}

const struct cli_action cli_action_sim = {
    .arguments = {"PROGRAM [ARGUMENT...]", 1, CLI_ANY_NUMBER},
    .settings = {options, sizeof(struct settings)},
    .first_ends_options = true,
    .run = run,
};
