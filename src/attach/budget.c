/* budget.c - keep what a process loses within a share of its processor time.
 *
 *     spent = time that its threads were held, from the moment their processor is taken until they are let go
 *           + our own processor time, as far as it takes a processor from the program
 *
 * The next sample comes when the process has run for as long as makes the last one worth nearly the share, on average. The
 * distances are exponential, so that samples do not fall into step with the program, whatever its periods are. And none comes
 * before the share of all that the process has run covers all that was spent. If that bound were met each time, the distances would be
 * regular again; therefore a little less than the share is aimed at. The process's own clock decides: samples are spread
 * evenly over what it runs, not over the time on the wall. A process that sleeps, or waits for a processor, is left alone.
 *
 * Our own work is done on another processor than that of the thread that is held, if one is free (beside.c). Then it takes nothing
 * from the program. Where more threads want to run than there are processors, it does. So it counts by how often that is found.
 *
 * Each look at the clocks costs something itself, so the sleep before the next look is as long as pays for it. A process that hardly
 * runs is looked at less often, for it has little to lose.
 *
 * Cannot: know what a thread that was held keeps others from doing (a lock it has), or what caches forget. */
#include "attach/budget.h"
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FIRST_GUESS 100e-6 /* seconds of a sample */
#define AIM         0.9 /* of the share: chance may then have some more, and the bound is rarely met */
#define SLEEP_MIN   0.0003
#define SLEEP_MAX   0.05
#define SLEEP_LONG  0.25 /* where looks cost more than the process may lose */
#define PACE_MIN    0.001

static double read_clock(clockid_t clock)
{
    struct timespec t;
    return clock_gettime(clock, &t) == 0 ? (double)t.tv_sec + (double)t.tv_nsec * 1e-9 : -1;
}

double rf_budget_now(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

double rf_budget_own(void)
{
    return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

bool rf_budget_begin(struct rf_budget *budget, pid_t pid, double share)
{
    *budget = (struct rf_budget){.share = share, .expected = FIRST_GUESS, .pace = 1};
    if (clock_getcpuclockid(pid, &budget->clock) != 0)
        return false;
    budget->begun = budget->cpu = read_clock(budget->clock);
    budget->own_seen = read_clock(CLOCK_PROCESS_CPUTIME_ID);
    budget->before = rf_budget_now();
    return budget->begun >= 0;
}

double rf_budget_spent(const struct rf_budget *budget)
{
    return budget->held + budget->own;
}

/* Our own processor time since the last look; `held` of it is counted already. */
static void add_own(struct rf_budget *budget, double held)
{
    double seen = read_clock(CLOCK_PROCESS_CPUTIME_ID), more = seen - budget->own_seen - held;
    budget->own_seen = seen;
    budget->own += (more > 0 ? more : 0) * budget->crowd;
}

/* Threads of the whole machine that run or want to, ourselves among them: "0.12 0.34 0.56 RUNNING/ALL LAST". */
static long count_running(void)
{
    char text[128];
    int fd = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = '\0';
    const char *slash = strchr(text, '/');
    while (slash != NULL && slash > text && slash[-1] != ' ')
        slash--;
    return slash != NULL ? strtol(slash, NULL, 10) : LONG_MAX;
}

static double is_crowded(const struct rf_budget *budget)
{
    return budget->processors < 2 || count_running() > budget->processors ? 1 : 0;
}

static void measure_crowd(struct rf_budget *budget)
{
    budget->crowd += (is_crowded(budget) - budget->crowd) / 8;
}

/* How fast its clock runs: processors that it keeps busy. */
static void measure_pace(struct rf_budget *budget, double cpu, double now)
{
    double elapsed = now - budget->before;
    if (elapsed < SLEEP_MIN)
        return;
    double pace = (cpu - budget->cpu) / elapsed;
    budget->pace += (pace - budget->pace) * (elapsed > 0.1 ? 1 : elapsed / 0.1);
    budget->before = now;
    budget->cpu = cpu;
}

/* Half of what may be spent is for looks at most, even where the process hardly runs. */
static double sleep_max(const struct rf_budget *budget, double pace)
{
    return fmax(SLEEP_MAX, fmin(2 * budget->look / (budget->share * pace), SLEEP_LONG));
}

bool rf_budget_allows(struct rf_budget *budget, double now, double *seconds)
{
    double cpu = read_clock(budget->clock);
    if (cpu >= 0) /* else it is over, which others notice */
        measure_pace(budget, cpu, now);
    if (!budget->started) { /* what it took to get ready does not count */
        budget->own_seen = read_clock(CLOCK_PROCESS_CPUTIME_ID);
        budget->crowd = is_crowded(budget);
        budget->started = true;
    }
    add_own(budget, 0);
    double spent = rf_budget_spent(budget);
    if (budget->asked > 0)
        budget->look += (spent - budget->asked - budget->look) / 16;
    budget->asked = 0;
    double covered = budget->begun + spent / budget->share;
    double until = covered > budget->next ? covered : budget->next;
    double missing = until - (cpu >= 0 ? cpu : budget->cpu);
    if (missing <= 0)
        return true;
    budget->asked = spent;
    missing += budget->look / budget->share;
    double pace = budget->pace > PACE_MIN ? budget->pace : PACE_MIN;
    *seconds = fmax(SLEEP_MIN, fmin(missing / pace, sleep_max(budget, pace)));
    return false;
}

double rf_budget_pause(struct rf_random *random)
{
    return SLEEP_MIN * (0.5 + rf_random_unit(random));
}

void rf_budget_miss(struct rf_budget *budget)
{
    measure_crowd(budget);
}

void rf_budget_spend(struct rf_budget *budget, double held, double own, struct rf_random *random)
{
    budget->held += held;
    measure_crowd(budget);
    add_own(budget, own < held ? own : held);
    double spent = rf_budget_spent(budget), cpu = read_clock(budget->clock);
    budget->expected += (spent - budget->spent - budget->expected) / 16;
    budget->spent = spent;
    budget->next = (cpu >= 0 ? cpu : budget->cpu) +
                   budget->expected / (AIM * budget->share) * -log(1 - rf_random_unit(random));
}
