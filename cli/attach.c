/* attach.c - sample a process that runs, or one that is started for it.
 *
 *     open the source (it samples from then on) ... Ctrl-C, --for, or its end ... notes ... report */
#include "attach.h"
#include "signals.h"
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SECONDS_MAX 1e9

const struct cli_option cli_options_sampling[] = {
    {CLI_SHARE, 0, "overhead", "SHARE", "3%",
     .brief = "the share of its processor time that may be taken from the process",
     .text = "Its threads are held still that long, and riffle's own work is added. How often "
             "there is a "
             "sample follows from that.",
     .offset = offsetof(struct cli_sampling, overhead)},
    {.type = CLI_END},
};

/* ---- what to sample ---- */

static int refuse_selector(const struct cli_plan *plan, const char *name)
{
    for (size_t i = 0; i < plan->n_selectors; i++)
        if ((plan->selectors[i].classes >> RF_CLASS_ALU & 1) != 0)
            return cli_fail(CLI_USAGE, "%s: samples do not tell results (alu)", name);
    if (cli_plan_reads(plan, RF_FIELD_MISS))
        return cli_fail(CLI_USAGE, "%s: caches cannot be modelled from samples (miss)", name);
    if (cli_plan_has_names(plan))
        return cli_fail(CLI_USAGE,
                        "%s: a name in a selector cannot be looked up while the process "
                        "runs; 'riffle report --function' takes names",
                        name);
    return cli_plan_refuse_timing(plan, "");
}

static int make_plan(struct cli_plan *plan, const struct cli_call *call,
                     const struct cli_profiling *profiling)
{
    enum { NO_THREADS = 1 << 20 };
    const char *name = call->command->name;
    int status = cli_plan_make(plan, call, profiling);
    if (status != CLI_OK)
        return status;
    plan->records = true;
    plan->others = NO_THREADS; /* the engines have little to do */
    if (profiling->record != NULL)
        return cli_fail(CLI_USAGE, "%s: samples cannot be recorded; -o saves their profiles", name);
    if (plan->coprocs.n > 0)
        return cli_fail(CLI_USAGE,
                        "%s: a co-processor samples by itself; --coproc needs all events", name);
    status = refuse_selector(plan, name);
    if (status == CLI_OK)
        cli_counts_engines(plan, call, true);
    return status == CLI_OK ? cli_plan_rehearse(plan) : status;
}

static uint32_t classes_of(const struct cli_plan *plan)
{
    uint32_t classes = 0;
    for (size_t i = 0; i < plan->n_selectors; i++)
        classes |= plan->selectors[i].classes;
    return classes;
}

static int take_seconds(const char *text, const char *name, double *seconds)
{
    char *end;
    *seconds = 0;
    if (text == NULL)
        return CLI_OK;
    *seconds = strtod(text, &end);
    if (end == text || *end != '\0' || !(*seconds > 0) || *seconds > SECONDS_MAX)
        return cli_fail(CLI_USAGE, "%s: --for must be a number of seconds, got '%s'", name, text);
    return CLI_OK;
}

/* ---- what came of it ---- */

static double share(double part, double all)
{
    return all > 0 ? 100 * part / all : 0;
}

static rf_status note_samples(struct rf_run *run, const struct rf_attach_outcome *outcome,
                              const struct cli_sampling *sampling)
{
    double looks = (double)(outcome->samples + outcome->kernel);
    rf_status status =
        cli_note(run, "bursts",
                 "%llu samples by time, of %.0f instructions each; it was held for %.2f%% of its "
                 "processor time, %.2f%% with our own (at most %.3g%%)",
                 (unsigned long long)outcome->samples,
                 outcome->samples > 0 ? (double)outcome->steps / (double)outcome->samples : 0,
                 share(outcome->held_seconds, outcome->cpu_seconds),
                 share(outcome->spent_seconds, outcome->cpu_seconds), 100 * sampling->overhead);
    if (status == RF_OK && outcome->kernel > 0)
        status = cli_note(run, "bursts",
                          "in %.1f%% of %.0f looks it was in a system call, which is not "
                          "sampled",
                          share((double)outcome->kernel, looks), looks);
    if (status == RF_OK && outcome->samples == 0)
        status = cli_note(run, "bursts", "no thread of it ran when it was looked at, %llu times",
                          (unsigned long long)outcome->asleep);
    if (status == RF_OK && outcome->refused > 0)
        status = cli_note(run, "bursts", "somebody else traced it at %llu looks",
                          (unsigned long long)outcome->refused);
    if (status == RF_OK)
        status = cli_note(run, "cut",
                          "%llu bursts ended at a system call, %llu at an instruction that "
                          "is not known, %llu at memory that cannot be read",
                          (unsigned long long)outcome->cut_kernel,
                          (unsigned long long)outcome->cut_unknown,
                          (unsigned long long)outcome->cut_unreadable);
    return status;
}

static rf_status note_process(struct rf_run *run, const struct rf_attach_outcome *outcome, int pid)
{
    rf_status status = cli_note(run, "seconds", "%.2f, %.2f of its processor",
                                outcome->wall_seconds, outcome->cpu_seconds);
    if (status == RF_OK)
        status = cli_note(run, "process", "%d%s", pid,
                          outcome->ended ? ", which has ended" : ", which runs on");
    if (status == RF_OK && outcome->execs > 0)
        status = cli_note(run, "processes", "%llu programs, one after the other (exec)",
                          (unsigned long long)outcome->execs + 1);
    if (status == RF_OK && outcome->threads > 1)
        status = cli_note(run, "threads", "%llu of them ran when it was looked at",
                          (unsigned long long)outcome->threads);
    return status;
}

struct sampled {
    const struct cli_sampling *sampling;
    int pid;
    struct rf_attach_outcome outcome;
};

static rf_status complete(struct rf_run *run, struct rf_source *source, struct cli_plan *plan,
                          void *context)
{
    struct sampled *sampled = context;
    size_t n;
    const struct rf_module *modules;
    rf_source_modules(source, &modules, &n); /* nothing is held any more */
    rf_attach_outcome(source, &sampled->outcome);
    if (run == NULL)
        return RF_OK;
    plan->file = sampled->outcome.program;
    rf_status status = note_process(run, &sampled->outcome, sampled->pid);
    if (status == RF_OK)
        status = note_samples(run, &sampled->outcome, sampled->sampling);
    return status == RF_OK ? cli_plan_add_modules(plan, run, source) : status;
}

/* ---- the run ---- */

/* A program that was started for it waits at the descriptor `go`; -1: none does. */
static int sample(struct cli_plan *plan, struct sampled *sampled,
                  const struct rf_attach_setup *setup, const char *name, int go)
{
    struct rf_error error = {""};
    struct rf_source *source;
    sampled->pid = setup->pid;
    sampled->outcome.wait_status = -1;
    rf_status opened = rf_source_open_attach(&source, setup, &error);
    if (go >= 0) {
        if (opened == RF_OK)
            (void)!write(go, "", 1);
        close(go);
    }
    if (opened != RF_OK)
        return cli_fail(CLI_FAILED, "%s: %s", name, error.message);
    int status = cli_plan_run(plan, source, complete, sampled);
    rf_source_close(source);
    return status;
}

static struct rf_attach_setup setup_of(const struct cli_plan *plan,
                                       const struct cli_sampling *sampling,
                                       const struct cli_profiling *profiling)
{
    return (struct rf_attach_setup){.classes = classes_of(plan),
                                    .overhead = sampling->overhead,
                                    .burst = sampling->burst,
                                    .no_values = sampling->no_values,
                                    .seed = profiling->cut.seed};
}

static int check_overhead(double overhead, const char *name)
{
    if (overhead > 0 && overhead <= 1)
        return CLI_OK;
    return cli_fail(CLI_USAGE, "%s: --overhead must be more than 0 and at most 100%%", name);
}

int cli_attach(const struct cli_call *call, const struct cli_profiling *profiling,
               const struct cli_sampling *sampling, const char *pid)
{
    struct cli_plan plan;
    struct sampled sampled = {.sampling = sampling};
    const char *name = call->command->name;
    char *end;
    double seconds;
    errno = 0;
    long number = strtol(pid, &end, 10);
    if (end == pid || *end != '\0' || number <= 0 || number > INT_MAX)
        return cli_fail(CLI_USAGE, "%s: '%s' is no number of a process", name, pid);
    int status = take_seconds(sampling->seconds, name, &seconds);
    if (status == CLI_OK)
        status = check_overhead(sampling->overhead, name);
    if (status != CLI_OK)
        return status;
    status = make_plan(&plan, call, profiling);
    plan.alone = true;
    struct rf_attach_setup setup = setup_of(&plan, sampling, profiling);
    setup.pid = (int)number;
    setup.seconds = seconds;
    setup.stop = cli_catch_interrupt();
    if (status == CLI_OK)
        status = sample(&plan, &sampled, &setup, name, -1);
    cli_plan_free(&plan);
    return status;
}

/* ---- a program that is started for it ---- */

static volatile pid_t child;

/* The terminal's signals reach it by themselves; those sent to riffle alone are passed on. */
static void pass_on(int number, siginfo_t *info, void *context)
{
    (void)context;
    if (child > 0 && info->si_code <= 0)
        kill(child, number);
}

static void catch_signals(void)
{
    static const int passed_on[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
    struct sigaction action = {.sa_flags = SA_SIGINFO | SA_RESTART};
    action.sa_sigaction = pass_on;
    for (size_t i = 0; i < sizeof passed_on / sizeof *passed_on; i++)
        sigaction(passed_on[i], &action, NULL);
}

/* The program, which waits at `go` until riffle is ready. */
static pid_t start(char *const *arguments, const char *path, int go[2])
{
    char byte;
    if (pipe(go) != 0)
        return -1;
    bool ignored = signal(SIGCHLD, SIG_DFL) == SIG_IGN; /* then its status would be lost */
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    if (ignored)
        signal(SIGCHLD, SIG_IGN);
    close(go[1]);
    if (read(go[0], &byte, 1) != 1)
        _exit(CLI_OWN_FAILURE);
    close(go[0]);
    execv(path, arguments);
    _exit(CLI_NOT_EXECUTABLE);
}

static int leave(int status, const struct rf_attach_outcome *outcome)
{
    int ended = outcome->wait_status;
    if (ended < 0 && waitpid(child, &ended, 0) != child)
        ended = 0;
    child = 0;
    if (status != CLI_OK)
        return status;
    if (WIFSIGNALED(ended))
        cli_signals_die_of(WTERMSIG(ended));
    return CLI_OF_PROGRAM + WEXITSTATUS(ended);
}

/* What run has and samples do not. */
static int refuse_options(const struct cli_call *call, const struct cli_profiling *profiling,
                          const struct cli_bursts *bursts)
{
    if (bursts->frequency != NULL || bursts->phases != NULL || bursts->regular ||
        profiling->cut.skip + profiling->cut.limit > 0)
        return cli_fail(CLI_USAGE,
                        "run: --native samples by time; leave out --frequency, --phases, "
                        "--regular, --skip and --limit");
    for (size_t i = 0; i < call->n_given; i++)
        if (cli_is(&call->given[i], "range") || cli_is(&call->given[i], "productions"))
            return cli_fail(CLI_USAGE, "run: --native does not go with --%s", call->given[i].name);
    return CLI_OK;
}

static int take_run(const struct cli_call *call, struct cli_profiling *profiling,
                    struct cli_sampling *sampling, const struct cli_bursts *bursts)
{
    struct rf_probe_bursts taken;
    int status = refuse_options(call, profiling, bursts);
    if (status == CLI_OK)
        status = cli_bursts_take(&taken, bursts, 0);
    if (status != CLI_OK)
        return status;
    sampling->burst = taken.burst;
    status = check_overhead(sampling->overhead, "run");
    return status == CLI_OK ? cli_report_take(&profiling->report, call) : status;
}

int cli_attach_run(const struct cli_call *call, struct cli_profiling *profiling,
                   struct cli_sampling *sampling, const struct cli_bursts *bursts)
{
    struct cli_plan plan;
    struct sampled sampled = {.sampling = sampling};
    char path[PATH_MAX];
    int go[2];
    if (!rf_probe_find(path, sizeof path, call->arguments[0]))
        return cli_fail_program("run", call->arguments[0]);
    int status = take_run(call, profiling, sampling, bursts);
    if (status != CLI_OK)
        return status;
    status = make_plan(&plan, call, profiling);
    if (status != CLI_OK) {
        cli_plan_free(&plan);
        return status;
    }
    struct rf_attach_setup setup = setup_of(&plan, sampling, profiling);
    child = start(call->arguments, path, go);
    if (child < 0) {
        cli_plan_free(&plan);
        return cli_fail(CLI_FAILED, "run: cannot start '%s': %s", path, strerror(errno));
    }
    setup.pid = child;
    setup.before_exec = 1;
    catch_signals();
    close(go[0]);
    status = sample(&plan, &sampled, &setup, "run", go[1]);
    cli_plan_free(&plan);
    return leave(status, &sampled.outcome);
}
