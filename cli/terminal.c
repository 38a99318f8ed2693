/* terminal.c - colours, width and progress where a terminal is watching; Ctrl-C. */
#include "ranks.h"
#include "say.h"
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

/* mpirun gives each rank a terminal of its own, whatever becomes of what is written there. */
bool cli_colour(FILE *out)
{
    const char *terminal = getenv("TERM"), *none = getenv("NO_COLOR");
    int rank, size;
    return isatty(fileno(out)) && !cli_ranks_find(&rank, &size) &&
           (none == NULL || none[0] == '\0') && (terminal == NULL || strcmp(terminal, "dumb") != 0);
}

/* A pipe has no width; lines that people read should not be endless, either. */
static int width_without_terminal(void)
{
    enum { PIPE_WIDTH = 100, LEAST = 20, MOST = 10000 };
    const char *columns = getenv("COLUMNS");
    long width = columns != NULL ? strtol(columns, NULL, 10) : 0;
    return width >= LEAST && width <= MOST ? (int)width : PIPE_WIDTH;
}

int cli_width(FILE *out)
{
    enum { TERMINAL_WIDTH = 80 };
    struct winsize size;
    if (!isatty(fileno(out)))
        return width_without_terminal();
    return ioctl(fileno(out), TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col
                                                                         : TERMINAL_WIDTH;
}

/* The progress line appears after two seconds; shorter runs need none. */
enum { PROGRESS_AFTER_SECONDS = 2 };
static bool progress_shown;

static struct timespec start;

void cli_progress_begin(void)
{
    clock_gettime(CLOCK_MONOTONIC, &start);
}

static double seconds_since_start(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)(t.tv_sec - start.tv_sec) + (double)(t.tv_nsec - start.tv_nsec) * 1e-9;
}

void cli_progress(void *context, const struct rf_collect_progress *progress)
{
    (void)context;
    double seconds = seconds_since_start();
    if (seconds < PROGRESS_AFTER_SECONDS || !isatty(STDERR_FILENO))
        return;
    double millions = (double)progress->events * 1e-6;
    fprintf(stderr, "\r%.1f M events, %.1f M per second", millions, millions / seconds);
    if (progress->total > 0)
        fprintf(stderr, ", %d%%", (int)(100.0 * (double)progress->done / (double)progress->total));
    fputs("\033[K", stderr);
    progress_shown = true;
}

void cli_progress_end(void)
{
    cli_busy_end();
    if (progress_shown)
        fputs("\r\033[K", stderr);
    progress_shown = false;
}

static volatile sig_atomic_t interrupted;
static int nothing = -1; /* /dev/null */

/* A waiting read of standard input would go on waiting, so standard input is replaced by an empty file. */
static void note_interrupt(int number)
{
    sigaction(number, &(struct sigaction){.sa_handler = cli_output_die}, NULL); /* a second one */
    __atomic_store_n(&interrupted, 1, __ATOMIC_RELAXED); /* threads look at it */
    if (nothing >= 0)
        dup2(nothing, STDIN_FILENO);
}

const volatile int *cli_catch_interrupt(void)
{
    struct sigaction action;
    nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    memset(&action, 0, sizeof action);
    action.sa_handler = note_interrupt;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    return &interrupted;
}
