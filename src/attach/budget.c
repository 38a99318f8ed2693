/* budget.c - keep the cost within a share of the process's processor time.
 *
 *     spent = time that its threads were held + our own processor time outside of that
 *
 * The next sample comes when the process has run for as long as makes the last one worth nearly the share, on average: the
 * distances are exponential, so that samples do not fall into step with the program, whatever its periods are. And none comes
 * before the share of all that the process has run covers all that was spent. If that bound were met each time, the distances would be
 * regular again; therefore a little less than the share is aimed at. The process's own clock decides: samples are spread evenly over what it runs, not over the
 * time on the wall, and a process that sleeps, or waits for a processor, is left alone. Our own work counts as well,
 * since on a busy machine it takes a processor away from the program.
 *
 * Each look at the clocks costs something itself, so the sleep before the next look is as long as pays for it.
 *
 * Cannot: know what a thread that was held keeps others from doing (a lock it has), or what caches forget. */
#include "attach/budget.h"
#include <math.h>

#define FIRST_GUESS 100e-6 /* seconds of a sample */
#define AIM         0.9 /* of the share: chance may then have some more, and the bound is rarely met */
#define SLEEP_MIN   0.0003
#define SLEEP_MAX   0.05

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
    budget->own_begun = read_clock(CLOCK_PROCESS_CPUTIME_ID);
    budget->before = rf_budget_now();
    return budget->begun >= 0;
}

double rf_budget_spent(const struct rf_budget *budget)
{
    double own = read_clock(CLOCK_PROCESS_CPUTIME_ID) - budget->own_begun - budget->own_held;
    return budget->held + (own > 0 ? own : 0);
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

bool rf_budget_allows(struct rf_budget *budget, double now, double *seconds)
{
    double cpu = read_clock(budget->clock);
    if (cpu >= 0) /* else it is over, which others notice */
        measure_pace(budget, cpu, now);
    if (!budget->started) { /* what it took to get ready does not count */
        budget->own_begun = read_clock(CLOCK_PROCESS_CPUTIME_ID);
        budget->started = true;
    }
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
    double need = missing / (budget->pace > 0.01 ? budget->pace : 0.01);
    *seconds = need < SLEEP_MIN ? SLEEP_MIN : need > SLEEP_MAX ? SLEEP_MAX : need;
    return false;
}

double rf_budget_pause(struct rf_random *random)
{
    return SLEEP_MIN * (0.5 + rf_random_unit(random));
}

void rf_budget_spend(struct rf_budget *budget, double held, double own, struct rf_random *random)
{
    budget->held += held;
    budget->own_held += own < held ? own : held;
    double spent = rf_budget_spent(budget), cpu = read_clock(budget->clock);
    budget->expected += (spent - budget->spent - budget->expected) / 16;
    budget->spent = spent;
    budget->next = (cpu >= 0 ? cpu : budget->cpu) +
                   budget->expected / (AIM * budget->share) * -log(1 - rf_random_unit(random));
}
