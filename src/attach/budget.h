/* budget.h - how often a process may be disturbed, so that it costs no more than a share of its time. */
#ifndef RF_ATTACH_BUDGET_H
#define RF_ATTACH_BUDGET_H

#include "base/random.h"
#include <stdbool.h>
#include <sys/types.h>
#include <time.h>

struct rf_budget {
    double share;      /* of the process's own processor time */
    clockid_t clock;   /* that time */
    bool started;      /* the first sample was allowed: it need not wait */
    double begun, cpu; /* when it began, and where the clock stands */
    double own_seen;   /* our own processor time when it was looked at last */
    double held, own;  /* seconds that threads were held; ours that count */
    double spent;      /* when the last sample was over */
    double expected;   /* seconds that the next one takes */
    double next;       /* where the clock must stand before it */
    double asked,
        look; /* what was spent when it was not allowed, if it was not; what it costs to ask again */
    int processors;      /* that we may use */
    double crowd;        /* how often somebody waits for a processor: 0 to 1 */
    double before, pace; /* when the clock was read last; processor seconds per second */
};

bool rf_budget_begin(struct rf_budget *budget, pid_t pid, double share);

/* May it be disturbed now? Else *seconds is when to ask again. */
bool rf_budget_allows(struct rf_budget *budget, double now, double *seconds);
/* A sample held a thread for this many seconds, in which we ran for `own` on the thread's processor. */
void rf_budget_spend(struct rf_budget *budget, double held, double own, struct rf_random *random);
/* It was allowed, but nobody ran. */
void rf_budget_miss(struct rf_budget *budget);
double rf_budget_spent(const struct rf_budget *budget); /* seconds, in all */

/* Seconds in which the process runs between two samples in any case: a random number. */
double rf_budget_pause(struct rf_random *random);

double rf_budget_now(void);
double rf_budget_own(void); /* of the calling thread */

#endif
