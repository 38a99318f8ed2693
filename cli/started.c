/* started.c - the programs that riffle cc starts, one after the other, and signals meanwhile.
 *
 * A signal that would end riffle cc is passed on to the program that runs. When that has ended, riffle cc removes what it has
 * made, a folder and objects, and dies of the signal, too. No program is started behind it. */
#include "compile.h"
#include "signals.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const int deadly[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
enum { N_DEADLY = sizeof deadly / sizeof *deadly };
static bool attended[N_DEADLY]; /* the others are ignored, and stay so */
static volatile sig_atomic_t ended_by;
static volatile sig_atomic_t running; /* a process; 0: none */

/* The terminal signals its whole foreground group; only signals sent to riffle alone are passed on. */
static void pass_on(int number, siginfo_t *info, void *context)
{
    (void)context;
    ended_by = number;
    if (running > 0 && info->si_code <= 0)
        kill((pid_t)running, number);
}

void cli_started_begin(void)
{
    for (size_t i = 0; i < N_DEADLY; i++) {
        struct sigaction action;
        attended[i] = sigaction(deadly[i], NULL, &action) == 0 && action.sa_handler == SIG_DFL;
        action = (struct sigaction){.sa_flags = SA_SIGINFO | SA_RESTART};
        action.sa_sigaction = pass_on;
        if (attended[i])
            sigaction(deadly[i], &action, NULL);
    }
}

void cli_started_end(void)
{
    if (ended_by != 0)
        cli_signals_die_of(ended_by);
}

static void hold(sigset_t *before)
{
    sigset_t held;
    sigemptyset(&held);
    for (size_t i = 0; i < N_DEADLY; i++)
        sigaddset(&held, deadly[i]);
    sigprocmask(SIG_BLOCK, &held, before);
}

static void __attribute__((noreturn)) become(char **words, const sigset_t *mask)
{
    for (size_t i = 0; i < N_DEADLY; i++)
        if (attended[i])
            signal(deadly[i], SIG_DFL);
    sigprocmask(SIG_SETMASK, mask, NULL);
    execvp(words[0], words);
    cli_fail(CLI_NO_PROGRAM, "cc: cannot start '%s': %s", words[0], strerror(errno));
    _exit(errno == ENOENT ? 127 : 126);
}

/* Signals wait until it is known whom they are passed on to. */
static pid_t start(char **words)
{
    sigset_t before;
    hold(&before);
    pid_t pid = fork();
    if (pid == 0)
        become(words, &before);
    running = pid > 0 ? pid : 0;
    int reason = errno;
    sigprocmask(SIG_SETMASK, &before, NULL);
    errno = reason;
    return pid;
}

int cli_run_words(char **words)
{
    int status;
    if (ended_by != 0)
        return CLI_OF_PROGRAM + 128 + ended_by;
    pid_t pid = start(words);
    while (pid > 0 && waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return cli_fail(CLI_FAILED, "cc: %s", strerror(errno));
    running = 0;
    if (pid < 0)
        return cli_fail(CLI_FAILED, "cc: cannot start a process: %s", strerror(errno));
    return CLI_OF_PROGRAM + (WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}
