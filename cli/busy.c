/* busy.c - a word on the terminal while something takes long: "reading old.rfp, 3 s".
 *
 * Commands that count events have a progress line (terminal.c). Reading a large file, looking up names and adding up have
 * nothing to count. A timer interrupts them once per second and writes what is being done. It writes only to a terminal, and only
 * when a step takes two seconds. */
#include "say.h"
#include <riffle/profile.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { TEXT = 60, AFTER_SECONDS = 2 };

static char doing[TEXT]; /* changed only while the timer is off */
static struct timespec since;
static volatile sig_atomic_t shown;
static timer_t timer;
static bool started;

/* Decimal digits in front of `end`; returns where they begin. */
static char *print_number(char *end, long n)
{
    do
        *--end = (char)('0' + n % 10);
    while ((n /= 10) > 0);
    return end;
}

/* In a signal handler: only calls that are safe there. */
static void show(int number)
{
    (void)number;
    char line[TEXT + 64] = "\r", digits[24];
    struct timespec now;
    size_t n = 1, length = strlen(doing);
    clock_gettime(CLOCK_MONOTONIC, &now);
    char *end = digits + sizeof digits;
    const char *seconds = print_number(end, (long)(now.tv_sec - since.tv_sec));
    memcpy(line + n, doing, length);
    n += length;
    memcpy(line + n, ", ", 2);
    n += 2;
    memcpy(line + n, seconds, (size_t)(end - seconds));
    n += (size_t)(end - seconds);
    memcpy(line + n, " s\033[K", 5);
    shown = write(STDERR_FILENO, line, n + 5) > 0;
}

static void set_timer(long first_seconds)
{
    const struct itimerspec when = {.it_interval = {.tv_sec = first_seconds > 0},
                                    .it_value = {.tv_sec = first_seconds}};
    timer_settime(timer, 0, &when, NULL);
}

/* A timer of our own: whoever started riffle may have set the alarm. */
static bool start_timer(void)
{
    struct sigaction action = {.sa_handler = show, .sa_flags = SA_RESTART};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN};
    if (!started && isatty(STDERR_FILENO))
        started = sigaction(SIGRTMIN, &action, NULL) == 0 &&
                  timer_create(CLOCK_MONOTONIC, &event, &timer) == 0;
    return started;
}

void cli_busy(const char *format, ...)
{
    char text[TEXT];
    va_list arguments;
    if (!start_timer())
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    set_timer(0);
    rf_text_readable(doing, sizeof doing, text);
    clock_gettime(CLOCK_MONOTONIC, &since);
    set_timer(shown ? 1 : AFTER_SECONDS);
}

void cli_busy_end(void)
{
    if (started)
        set_timer(0);
    if (shown)
        fputs("\r\033[K", stderr);
    shown = 0;
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL && slash[1] != '\0' ? slash + 1 : path;
}

rf_status cli_load(struct rf_run **run, const char *path, struct rf_error *error)
{
    cli_busy("reading %s", last_part(path));
    return rf_run_load(run, path, NULL, error);
}
