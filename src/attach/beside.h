/* beside.h - a thread of ours on the processor of the thread that is to be held.
 *
 *     rf_beside_begin(&beside);
 *     rf_beside_stand(&beside, processor);     from here on nobody else runs there
 *     ... ask the thread to stop ...
 *     rf_beside_leave(&beside);                it runs on, and so it stops
 *     rf_beside_end(&beside);
 *
 * One thread calls all of these. */
#ifndef RF_ATTACH_BESIDE_H
#define RF_ATTACH_BESIDE_H

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

struct rf_beside {
    cpu_set_t allowed; /* processors that we may use */
    int processors;    /* how many */
    int at;            /* where the companion is; -1: anywhere */
    bool alone;        /* there is no companion */
    bool crowded;      /* it is not used: we go there ourselves; set by the caller */
    bool over;         /* it is to end */
    uint32_t turn;     /* futex: odd where the companion is to stand on its processor */
    uint32_t here;     /* the turn for which it came */
    pid_t id;          /* of the companion */
    pthread_t companion;
};

void rf_beside_begin(struct rf_beside *beside);
void rf_beside_end(struct rf_beside *beside);

bool rf_beside_may_use(const struct rf_beside *beside, int processor);
/* Is the companion used, so that our own processor is another one? */
bool rf_beside_is_apart(const struct rf_beside *beside);
/* Takes the processor from whatever runs on it. The companion has it until rf_beside_leave, a millisecond at most; without it we
 * have it as long as we run. Where that cannot be done, nothing happens. */
void rf_beside_stand(struct rf_beside *beside, int processor);
void rf_beside_leave(struct rf_beside *beside);

#endif
