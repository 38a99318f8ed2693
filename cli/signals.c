/* signals.c - pass signals on to the program, and die of what it died of. */
#include "signals.h"
#include <stdio.h>
#include <sys/resource.h>

static const int passed_on[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
enum { N_PASSED_ON = sizeof passed_on / sizeof passed_on[0] };
static const struct rf_source *running;
static volatile sig_atomic_t holding, held;
static volatile sig_atomic_t stopped;

/* The terminal signals its whole foreground group; only signals sent to riffle alone are passed on. */
static void pass_on(int number, siginfo_t *info, void *context)
{
    (void)context;
    if (holding) {
        held = number;
        return;
    }
    bool is_there = running != NULL && rf_probe_signal(running, 0);
    if (!is_there)
        stopped = 1;
    else if (info->si_code <= 0)
        rf_probe_signal(running, number);
}

static void attend(int number)
{
    struct sigaction action = {.sa_flags = SA_SIGINFO | SA_RESTART};
    action.sa_sigaction = pass_on;
    sigaction(number, &action, NULL);
}

/* A program that is started inherits what is ignored, but no handlers: what is ignored must stay so until then. */
void cli_signals_hold(void)
{
    struct sigaction before;
    holding = 1;
    for (size_t i = 0; i < N_PASSED_ON; i++)
        if (sigaction(passed_on[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            attend(passed_on[i]);
}

void cli_signals_pass_to(const struct rf_source *source)
{
    running = source;
    holding = 0;
    for (size_t i = 0; i < N_PASSED_ON && source != NULL; i++)
        attend(passed_on[i]);
    if (held != 0 && source != NULL)
        rf_probe_signal(source, held);
    held = 0;
}

bool cli_signals_passes(int number)
{
    for (size_t i = 0; i < N_PASSED_ON; i++)
        if (passed_on[i] == number)
            return true;
    return false;
}

volatile sig_atomic_t *cli_signals_stop(void)
{
    return &stopped;
}

void cli_signals_die_of(int number)
{
    const struct rlimit none = {0, 0};
    sigset_t set;
    fflush(NULL);
    setrlimit(RLIMIT_CORE, &none);
    signal(number, SIG_DFL);
    sigemptyset(&set);
    sigaddset(&set, number);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    raise(number);
}
