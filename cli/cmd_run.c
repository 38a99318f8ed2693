/* cmd_run.c - riffle run: profile a program as it runs.
 *
 *     target ends ... collector is done ... report on stderr ... leave as the target left
 *
 * Standard input, output and error are the target's; the report goes to standard error behind it, or
 * to a file. Signals sent to riffle are passed on. Those of the terminal reach the target by themselves;
 * riffle stays and reports. */
#include "attach.h"
#include "bursts.h"
#include "hooked.h"
#include "outcome.h"
#include "places.h"
#include "productions.h"
#include "signals.h"
#include "together.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { APART_MAX = 16 };

struct settings {
    struct cli_profiling profiling;
    const char *cache;
    struct cli_bursts bursts;
    int stream;
    int no_values, lossy, no_follow, per_process, probe, native;
    uint64_t slots, rank_wait;
    struct cli_sampling sampling;
};

static const struct cli_default caches[] = {{"cache", RF_CACHE_STANDARD}, {NULL, NULL}};

static const struct cli_option options[] = {
    {.type = CLI_GROUP,
     .group = cli_options_profiling_native,
     .offset = offsetof(struct settings, profiling)},
    {.type = CLI_GROUP,
     .group = cli_options_window,
     .offset = offsetof(struct settings, profiling.cut)},
    {.type = CLI_GROUP,
     .group = cli_options_cache,
     .offset = offsetof(struct settings, cache),
     .defaults = caches},
    {.type = CLI_GROUP, .group = cli_options_bursts, .offset = offsetof(struct settings, bursts)},
    {.type = CLI_GROUP, .group = cli_options_productions},
    {.type = CLI_GROUP, .group = cli_options_counts, .offset = offsetof(struct settings, stream)},
    {.type = CLI_GROUP, .group = cli_options_traced},
    {CLI_FLAG, 0, "no-values", .brief = "never look at values: they read as 0",
     .offset = offsetof(struct settings, no_values)},
    {CLI_FLAG, 0, "lossy", .brief = "when the engines are too slow, drop events and count them",
     .text = "Without it the program waits, and nothing is lost.",
     .offset = offsetof(struct settings, lossy)},
    {CLI_FLAG, 0, "no-follow", .brief = "leave the program's children alone",
     .text = "Otherwise forked and exec'ed children are profiled, too, into the same profiles.",
     .offset = offsetof(struct settings, no_follow)},
    {CLI_FLAG, 0, "probe",
     .brief = "run a program that was compiled by 'riffle cc' under Valgrind, too",
     .text = "Without it, hooks in such a program tell what it does, at native speed.",
     .offset = offsetof(struct settings, probe)},
    {CLI_FLAG, 0, "native", .brief = "let it run by itself, and sample it as riffle attach does",
     .text = "At its own speed, but for --overhead. Samples are by time; see 'riffle help attach'. "
             "Children "
             "are not followed.",
     .offset = offsetof(struct settings, native)},
    {.type = CLI_GROUP,
     .group = cli_options_sampling,
     .offset = offsetof(struct settings, sampling)},
    {CLI_FLAG, 0, "per-process", .brief = "a profile for each process instead of one for all",
     .text =
         "In the order in which they appear; exec makes a new one. The sixteenth takes all that "
         "come after it, too, and the report says how many those were. --by process does the "
         "same.",
     .offset = offsetof(struct settings, per_process)},
    {CLI_COUNT, 0, "slots", "N", "256",
     .brief = "processes that can be there at once; others run unprofiled, and are counted",
     .text =
         "At most 2048. A slot is free for the next process when one has ended. Of a program with "
         "hooks each thread that is there needs one.",
     .offset = offsetof(struct settings, slots)},
    {CLI_COUNT, 0, "rank-wait", "SECONDS", "60",
     .brief = "under mpirun: how long rank 0 waits for the profiles of the others",
     .text =
         "With -o FILE each rank saves FILE.rank-N, and rank 0 the sum of all in FILE, once "
         "its own program has "
         "ended. Ranks that leave no profile are named, and where the program ended with 0, riffle "
         "ends with 3.",
     .offset = offsetof(struct settings, rank_wait)},
    {.type = CLI_END},
};

/* ---- what to profile ---- */

/* All options, converted for the parts that use them. */
struct plan {
    const struct settings *settings;
    struct cli_plan common;
    size_t n_single; /* lanes of one process, where those are kept apart; else 0 */
    struct cli_places places;
    struct rf_probe_bursts bursts[RF_PROBE_CLOCKS_MAX];
    const struct rf_productions_native *productions; /* NULL: none */
    struct cli_together together;                    /* with other ranks of an MPI job */
    struct cli_program mapped;                       /* the file whose names are asked for */
};

/* Repeat every lane for each process that is kept apart. */
static int multiply_lanes(struct plan *plan)
{
    struct cli_lanes *lanes = &plan->common.lanes;
    if (plan->settings->profiling.record != NULL || plan->common.records)
        return cli_fail(CLI_USAGE, "run: --per-process works with none of --record, --coproc, "
                                   "misses and conditions in bursts");
    struct cli_lanes all = {.lanes = calloc(lanes->n * APART_MAX, sizeof(struct rf_lane))};
    if (all.lanes == NULL)
        return cli_fail(CLI_FAILED, "no memory for the engines of %d processes", APART_MAX);
    for (uint32_t process = 0; process < APART_MAX; process++)
        for (size_t i = 0; i < lanes->n; i++) {
            all.lanes[all.n] = lanes->lanes[i];
            all.lanes[all.n++].stream += process * (uint32_t)plan->common.n_selectors;
        }
    plan->n_single = lanes->n;
    all.text = lanes->text;
    all.texts = lanes->texts;
    lanes->text = NULL;
    lanes->texts = NULL;
    cli_lanes_free(lanes);
    *lanes = all;
    return CLI_OK;
}

/* Rows by process want a profile for each, where there can be one. */
static bool keeps_apart(const struct plan *plan)
{
    const struct cli_profiling *asked = &plan->settings->profiling;
    bool by_process = asked->report.by != NULL && strcmp(asked->report.by, "process") == 0;
    return plan->settings->per_process ||
           (by_process && asked->record == NULL && !plan->common.records);
}

/* A sample of the stack has no place in bursts. --function does not choose samples, but what is shown of them. */
static int check_frames(const struct plan *plan, const struct cli_call *call)
{
    struct settings *settings = call->settings;
    uint32_t classes = 0;
    for (size_t i = 0; i < plan->common.n_selectors; i++)
        classes |= plan->common.selectors[i].classes;
    if ((classes >> RF_CLASS_FRAME & 1) == 0)
        return CLI_OK;
    if (plan->bursts[0].burst > 0)
        return cli_fail(CLI_USAGE, "run: stacks are sampled anyway; leave out --burst, "
                                   "--frequency and productions");
    return cli_report_take(&settings->profiling.report, call);
}

/* Names are looked up as files are mapped, while the probe's tuples are selected. Records are selected later. */
static int refuse_names(const struct cli_plan *plan)
{
    if (!plan->records || !cli_plan_has_names(plan))
        return CLI_OK;
    return cli_fail(CLI_USAGE,
                    "run: a name in a selector works with none of misses, bursts, --coproc "
                    "and --record of several -p; use --function, or the name in 'riffle "
                    "replay -p' of the record");
}

static int plan_bursts(struct plan *plan)
{
    struct cli_plan *common = &plan->common;
    if (plan->bursts[0].burst == 0)
        return CLI_OK;
    common->records |= cli_bursts_need_records(common);
    if (common->coprocs.n > 0)
        return cli_fail(CLI_USAGE, "run: a co-processor samples by itself; --burst does not go "
                                   "with --coproc");
    if (common->records && plan->productions != NULL)
        return cli_fail(CLI_USAGE, "run: --record takes one file of productions at a time");
    return CLI_OK;
}

/* The probe and hooks number threads from 1. */
static int refuse_thread_zero(const char *text)
{
    uint64_t thread = 1;
    int status = text != NULL ? cli_parse_thread(&thread, text) : CLI_OK;
    if (status == CLI_OK && thread == 0)
        return cli_fail(CLI_USAGE, "run: threads are numbered from 1: there is no --thread 0");
    return status;
}

static int make_plan(struct plan *plan, const struct cli_call *call,
                     const struct rf_productions_native *productions)
{
    struct settings *settings = call->settings;
    *plan = (struct plan){.settings = settings, .productions = productions};
    cli_together_take(&plan->together, &settings->profiling, settings->rank_wait);
    if (settings->slots == 0 || settings->slots > RF_PROBE_SLOTS_MAX)
        return cli_fail(CLI_USAGE, "run: --slots must be between 1 and %d", RF_PROBE_SLOTS_MAX);
    int status = refuse_thread_zero(settings->profiling.thread);
    if (status == CLI_OK)
        status = cli_places_take(&plan->places, call);
    settings->profiling.report.counted = plan->places.functions;
    if (status == CLI_OK)
        status = cli_plan_make(&plan->common, call, &settings->profiling);
    plan->common.others = 1;
    bool misses = status == CLI_OK && cli_plan_reads(&plan->common, RF_FIELD_MISS);
    plan->common.records |= misses;
    if (status == CLI_OK)
        status = cli_plan_refuse_timing(&plan->common, "");
    plan->common.cache = misses ? settings->cache : NULL;
    if (status == CLI_OK)
        status = cli_check_cache(settings->cache);
    if (status == CLI_OK)
        status = cli_bursts_take(plan->bursts, &settings->bursts, settings->profiling.cut.seed);
    if (productions != NULL)
        memcpy(plan->bursts, productions->bursts, sizeof plan->bursts);
    for (size_t i = 0; i < RF_PROBE_CLOCKS_MAX; i++)
        plan->bursts[i].seed = settings->profiling.cut.seed;
    if (status == CLI_OK)
        status = plan_bursts(plan);
    if (status == CLI_OK)
        status = refuse_names(&plan->common);
    if (status == CLI_OK)
        status = check_frames(plan, call);
    if (status == CLI_OK) /* bursts leave little to keep */
        cli_counts_engines(&plan->common, call, plan->bursts[0].burst > 0);
    if (status == CLI_OK && plan->bursts[0].burst == 0)
        status = cli_counts_companions(&plan->common);
    return status == CLI_OK && keeps_apart(plan) ? multiply_lanes(plan) : status;
}

/* ---- the run ---- */

/* As the target ended, unless we failed. A target that ended well leaves it to us to say that ranks are missing. */
static int leave(int status, const struct rf_probe_outcome *outcome)
{
    bool in_part = status == CLI_OF_PROGRAM + CLI_DAMAGED;
    if (status != CLI_OK && !in_part)
        return status;
    if (outcome->signal != 0)
        cli_signals_die_of(outcome->signal);
    return in_part && outcome->exit_status == 0 ? status : CLI_OF_PROGRAM + outcome->exit_status;
}

/* How the program ended, with its plan. */
struct ending {
    struct plan *plan;
    struct rf_probe_outcome outcome;
    bool never_started;
    int refused; /* a function that --function names is nowhere: told, and nothing is shown or saved; else CLI_OK */
};

/* Was nothing counted in the places that the command line names? */
static bool is_empty(const struct ending *ending)
{
    return ending->outcome.events == 0 && ending->outcome.lost == 0 &&
           cli_places_any(&ending->plan->places);
}

/* What is known about the program besides its profiles. */
static rf_status complete(struct rf_run *run, struct rf_source *source, struct cli_plan *common,
                          void *context)
{
    struct ending *ending = context;
    struct rf_error ignored = {""};
    rf_probe_wait(source, &ending->outcome, &ignored);
    cli_signals_pass_to(NULL);
    if (run == NULL)
        return RF_OK; /* an error of ours, before anything of the program was read */
    ending->never_started =
        ending->outcome.processes == 0 || (ending->outcome.gave_up && ending->outcome.events == 0);
    if (ending->never_started)
        return RF_ENOTSUP;
    const struct rf_probe_outcome *outcome = &ending->outcome;
    if (is_empty(ending))
        ending->refused = cli_places_check_mapped(&ending->plan->places, source);
    if (ending->refused != CLI_OK)
        return RF_ENOTSUP;
    rf_status status = cli_counts_label(common, run);
    if (status == RF_OK)
        status = cli_outcome_note(run, outcome, ending->plan->n_single > 0 ? APART_MAX : 0);
    if (status == RF_OK)
        status = cli_together_note(&ending->plan->together, run, outcome);
    if (status == RF_OK)
        status = cli_bursts_note(run, ending->plan->bursts, outcome, common);
    if (status == RF_OK)
        status = cli_plan_add_modules(common, run, source);
    return status == RF_OK ? cli_outcome_label(run, ending->plan->n_single) : status;
}

static int profile(struct rf_source *source, struct plan *plan)
{
    struct ending ending = {.plan = plan};
    const struct rf_probe_outcome *outcome = &ending.outcome;
    cli_signals_pass_to(source);
    int delivered = cli_plan_run(&plan->common, source, complete, &ending);
    if (ending.never_started && cli_signals_passes(outcome->signal))
        cli_signals_die_of(outcome->signal); /* it was ended before its first instruction */
    if (ending.never_started)
        return cli_fail(CLI_NOT_EXECUTABLE, "run: %s", outcome->trouble);
    if (outcome->processes == 0 || ending.refused != CLI_OK)
        return delivered;
    if (outcome->trouble[0] != '\0')
        cli_fail(CLI_OK, "run: %s", outcome->trouble);
    if (plan->productions != NULL)
        cli_places_check_names(source, plan->productions->functions, RF_PROBE_FUNCTIONS_MAX,
                               "the productions");
    cli_coprocs_warn(&plan->common.coprocs, cli_places_any(&plan->places), outcome->processes);
    if (outcome->nowhere[0] != '\0') {
        cli_fail(CLI_OK, "run: no file that was mapped has what a selector names: %s",
                 outcome->nowhere);
        cli_places_explain(&plan->common, source);
    }
    if (delivered == CLI_OK && !cli_places_miss_modules(&plan->places, source) && is_empty(&ending))
        cli_fail(CLI_OK, "run: nothing was counted in what --function, --module and --range name");
    if (delivered == CLI_OK)
        delivered = cli_together_gather(&plan->together, &plan->settings->profiling.report);
    return leave(delivered, outcome);
}

static int start(struct plan *plan, const struct cli_call *call)
{
    struct rf_error error = {""};
    struct rf_source *source;
    const struct settings *settings = plan->settings;
    bool has = plan->productions != NULL;
    struct rf_probe_setup setup = {
        .argv = (const char *const *)call->arguments,
        .selectors = plan->common.selectors,
        .n_selectors = plan->common.n_selectors,
        .any_order = settings->stream ? 0 : cli_counts_any_order(&plan->common),
        .records = plan->common.records,
        .stack_period = plan->common.lanes.stack_period,
        .no_values = settings->no_values,
        .wakes = 1,
        .lossy = settings->lossy,
        .no_follow = settings->no_follow,
        .slots = (uint32_t)settings->slots,
        .processes_apart = plan->n_single > 0 ? APART_MAX : 0,
        .functions = plan->places.functions,
        .modules = plan->places.modules,
        .ranges = plan->places.ranges,
        .patterns = has ? plan->productions->patterns : NULL,
        .n_patterns = has ? plan->productions->n_patterns : 0,
        .mapped = cli_program_mapped,
        .resolve = cli_plan_has_names(&plan->common) ? cli_resolve : NULL,
        .resolve_context = &plan->mapped,
        .stop = cli_signals_stop()};
    setup.pattern_functions = has ? plan->productions->functions : NULL;
    memcpy(setup.bursts, plan->bursts, sizeof setup.bursts);
    char path[PATH_MAX];
    if (!rf_probe_find(path, sizeof path, call->arguments[0]))
        return cli_fail_program("run", call->arguments[0]);
    setup.hooks = !settings->probe && cli_hooks_suffice(&setup);
    int refused = cli_places_check(&plan->places, &plan->common, call->arguments[0]);
    if (refused == CLI_OK)
        refused = cli_plan_rehearse(&plan->common);
    if (refused != CLI_OK)
        return refused;
    rf_status opened = cli_plan_record(&plan->common, &error);
    if (opened != RF_OK)
        return cli_fail_status(opened, &error);
    cli_signals_hold();
    opened = rf_source_open_probe(&source, &setup, &error);
    if (opened == RF_ENOTSUP)
        return cli_fail(CLI_NOT_EXECUTABLE, "run: %s", error.message);
    if (opened != RF_OK)
        return cli_fail_status(opened, &error);
    int status = profile(source, plan);
    rf_source_close(source);
    return status;
}

static int run_plan(const struct cli_call *asked, const struct rf_productions_native *native)
{
    struct plan plan;
    struct cli_call call = *asked;
    const struct settings *settings = call.settings;
    bool is_open = native == NULL && !settings->probe && settings->profiling.report.by == NULL;
    if (is_open && !cli_hooks_ask(&call))
        return cli_fail(CLI_FAILED, "no memory for the command line");
    int status = make_plan(&plan, &call, native);
    if (status == CLI_OK)
        status = start(&plan, &call);
    cli_program_close(&plan.mapped);
    cli_plan_free(&plan.common);
    if (call.given != asked->given)
        free((void *)call.given);
    return status;
}

/* Productions stand for -p, --burst and --frequency. */
static int run_productions(const struct cli_call *asked, const struct rf_productions *productions)
{
    struct rf_productions_native native;
    struct rf_error error = {""};
    struct cli_call call;
    const struct settings *settings = asked->settings;
    if (settings->bursts.burst != NULL || settings->bursts.frequency != NULL ||
        settings->bursts.phases != NULL)
        return cli_fail(CLI_USAGE,
                        "run: --productions say how often to sample; change that with --set");
    rf_status known = rf_productions_native(productions, &native, &error);
    if (known != RF_OK)
        return cli_fail_status(known, &error);
    int status = cli_productions_select(&call, asked, productions, &native);
    if (status == CLI_OK)
        status = run_plan(&call, &native);
    free((void *)call.given);
    return status;
}

static int run_natively(const struct cli_call *call)
{
    struct settings *settings = call->settings;
    settings->sampling.no_values = settings->no_values;
    if (settings->per_process || settings->lossy || settings->stream || settings->probe)
        return cli_fail(CLI_USAGE, "run: --native goes with none of --per-process, --lossy, "
                                   "--stream and --probe");
    return cli_attach_run(call, &settings->profiling, &settings->sampling, &settings->bursts);
}

static int run(const struct cli_call *call)
{
    struct rf_productions *productions;
    if (((const struct settings *)call->settings)->native)
        return run_natively(call);
    int status = cli_productions_take(&productions, call, CLI_NATIVE);
    if (status != CLI_OK)
        return status;
    status = productions != NULL ? run_productions(call, productions) : run_plan(call, NULL);
    rf_productions_close(productions);
    return status;
}

const struct cli_action cli_action_run = {
    .arguments = {"PROGRAM [ARGUMENT...]", 1, CLI_ANY_NUMBER},
    .settings = {options, sizeof(struct settings)},
    .first_ends_options = true,
    .run = run,
};
