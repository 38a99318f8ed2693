/* cmd_top.c - riffle top: where a program is while it runs, on a live screen.
 *
 *     riffle top -- PROGRAM     its stack is sampled once every N instructions, here
 *     riffle top PID            a run that somebody has started tells what it counts (watch.c)
 *
 * Samples are counted as they come (live.c), and rows are made once per second (top.c). A thread collects; this one draws
 * and obeys, also while the program sleeps. */
#include "live.h"
#include "plan.h"
#include "screen.h"
#include "top.h"
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { GRACE_SECONDS = 2 };

struct settings {
    uint64_t period;
};

static const struct cli_option options[] = {
    {CLI_COUNT, 0, "period", "N", "200K", .brief = "instructions between two samples",
     .offset = offsetof(struct settings, period)},
    {.type = CLI_END},
};

struct sampling {
    const struct cli_call *call;
    struct rf_source *source;
    struct cli_live live;
    uint64_t lost;
    atomic_bool collected; /* what follows is the collector's until then */
    rf_status status;
    struct rf_error error;
};

static volatile sig_atomic_t stopped;
static const struct rf_source *running;

/* ---- the feed ---- */

static uint64_t samples_of(void *context)
{
    return cli_live_samples(&((struct sampling *)context)->live);
}

static bool is_empty(void *context)
{
    return samples_of(context) == 0;
}

/* Once per second, and at once when the first samples have come. */
static bool is_fresh(void *context, double since)
{
    static bool shown;
    bool first = !shown && !is_empty(context);
    shown |= first;
    return first || since >= 1;
}

static rf_status view_of(void *context, enum rf_view_by by, size_t rows, struct rf_view *view,
                         struct rf_error *error)
{
    return cli_live_view(&((struct sampling *)context)->live, by, rows, view, error);
}

static void print_head(void *context, const struct cli_top_pace *pace, char *text, size_t size)
{
    const struct sampling *s = context;
    const struct settings *settings = s->call->settings;
    const char *slash = strrchr(s->call->arguments[0], '/');
    snprintf(text, size, "%.80s   %.1f s   %llu samples   %.0f per second (%.1f M instructions)",
             slash != NULL ? slash + 1 : s->call->arguments[0], pace->seconds,
             (unsigned long long)samples_of(context), pace->rate,
             pace->rate * (double)settings->period * 1e-6);
}

static void print_foot(void *context, char *text, size_t size)
{
    const struct sampling *s = context;
    snprintf(text, size, "%llu lost   %.0f MB", (unsigned long long)s->lost, cli_top_memory(0));
}

static void quit(void *context)
{
    (void)context;
    stopped = 1;
    if (running != NULL)
        rf_probe_signal(running, SIGTERM);
    alarm(GRACE_SECONDS);
}

/* ---- the collector ---- */

static void on_tuples(void *context, size_t lane, const struct rf_tuples *tuples)
{
    struct sampling *s = context;
    (void)lane;
    cli_live_add(&s->live, s->source, tuples);
}

/* The first alarm is the end of the program's grace. */
static void on_signal(int signal)
{
    stopped = 1;
    if (running != NULL && signal == SIGALRM)
        rf_probe_signal(running, SIGKILL);
}

static void catch_signals(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGALRM};
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        sigaction(signals[i], &action, NULL);
}

static void *collect(void *context)
{
    struct sampling *s = context;
    const struct rf_lane lane = {.selector = CLI_LIVE_SELECTOR, .engine = "exact"};
    const struct rf_collect_setup setup = {.lanes = &lane,
                                           .n_lanes = 1,
                                           .selected = 1,
                                           .stop = &stopped,
                                           .tap = on_tuples,
                                           .tap_context = s};
    struct rf_run *run = NULL;
    s->status = rf_collect(&run, s->source, &setup, &s->error);
    rf_run_free(run);
    atomic_store(&s->collected, true);
    return NULL;
}

/* Signals are for the thread that draws. */
static bool start_collector(struct sampling *s, pthread_t *thread)
{
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    bool good = pthread_create(thread, NULL, collect, s) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return good;
}

/* ---- one program ---- */

static void watch(struct sampling *s, struct cli_top *top)
{
    const struct timespec pause = {0, 50000000};
    bool told = false;
    while (!atomic_load(&s->collected)) {
        told |= !cli_top_tick(top);
        if (stopped && !told)
            quit(s);
        told |= stopped != 0;
        nanosleep(&pause, NULL);
    }
}

/* We ended it, maybe before it began: that is no trouble. */
static bool was_ended_by_us(const struct rf_probe_outcome *outcome)
{
    return stopped && (outcome->signal == SIGTERM || outcome->signal == SIGKILL);
}

static int end(struct sampling *s, struct cli_top *top)
{
    struct rf_error ignored = {""};
    struct rf_probe_outcome outcome = {.ended = 0};
    bool failed = s->status != RF_OK && s->status != RF_ESTOPPED;
    if ((stopped || failed) && !cli_top_was_left(top)) /* no key would end it from here on */
        quit(s);
    rf_probe_wait(s->source, &outcome, &ignored);
    running = NULL;
    s->lost = outcome.lost;
    bool is_whole = cli_top_linger(top, &stopped);
    cli_screen_close();
    if (failed)
        return cli_fail_status(s->status, &s->error);
    if (outcome.processes == 0 && outcome.trouble[0] != '\0' && !was_ended_by_us(&outcome))
        return cli_fail(CLI_NOT_EXECUTABLE, "top: %s", outcome.trouble);
    if (!is_whole)
        return CLI_OK; /* somebody had seen enough */
    return CLI_OF_PROGRAM + (outcome.signal != 0 ? 128 + outcome.signal : outcome.exit_status);
}

static int show(struct sampling *s)
{
    const struct cli_top_feed feed = {
        .context = s,
        .is_fresh = is_fresh,
        .is_empty = is_empty,
        .view = view_of,
        .head = print_head,
        .foot = print_foot,
        .quit = quit,
        .by = RF_BY_FUNCTION,
        .keys = "q quit  f functions  s stacks  c callers  o order  p pause"};
    pthread_t thread;
    struct cli_top *top = cli_top_open(&feed);
    if (top == NULL || !start_collector(s, &thread)) {
        stopped = 1;
        s->status = RF_ENOMEM;
    } else {
        watch(s, top);
        pthread_join(thread, NULL);
    }
    if (top == NULL) {
        cli_screen_close();
        return cli_fail(CLI_FAILED, "top: no memory for the screen");
    }
    int result = end(s, top);
    cli_top_close(top);
    return result;
}

static int start(void *context)
{
    struct sampling *s = context;
    struct rf_error error = {""};
    struct rf_selector selector;
    const struct settings *settings = s->call->settings;
    rf_status status = rf_selector_parse(&selector, CLI_LIVE_SELECTOR, &error);
    const struct rf_probe_setup setup = {.argv = (const char *const *)s->call->arguments,
                                         .selectors = &selector,
                                         .n_selectors = 1,
                                         .stack_period = settings->period,
                                         .stop = &stopped};
    catch_signals();
    if (status == RF_OK && !cli_screen_open())
        return cli_fail(CLI_FAILED, "top: this terminal cannot show a screen");
    status = status == RF_OK ? rf_source_open_probe(&s->source, &setup, &error) : status;
    if (status != RF_OK) {
        cli_screen_close();
        return cli_fail_status(status, &error);
    }
    running = s->source;
    cli_live_init(&s->live);
    int result = show(s);
    rf_source_close(s->source);
    cli_live_free(&s->live);
    return result;
}

/* A number alone is a process; a program of that name is ./123. */
static bool is_process(const struct cli_call *call, long *pid)
{
    char *end;
    *pid = strtol(call->arguments[0], &end, 10);
    return call->n_arguments == 1 && end != call->arguments[0] && *end == '\0' && *pid > 0;
}

static int run(const struct cli_call *call)
{
    static struct sampling s;
    bool forked;
    char path[4096];
    long pid;
    s.call = call;
    if (is_process(call, &pid))
        return cli_watch(pid);
    if (!rf_probe_find(path, sizeof path, call->arguments[0]))
        return cli_fail_program("top", call->arguments[0]);
    int status = cli_screen_guard(start, &s, &forked);
    if (!forked)
        return cli_fail(CLI_FAILED, "top: there is no terminal to show it on");
    return CLI_OF_PROGRAM + status;
}

const struct cli_action cli_action_top = {
    .arguments = {"PROGRAM [ARGUMENT...] | PID", 1, CLI_ANY_NUMBER},
    .settings = {options, sizeof(struct settings)},
    .first_ends_options = true,
    .run = run,
};
