/* beside.h - our thread on the processor where the thread runs that is to be held.
 *
 *     rf_beside_begin(&beside);
 *     if (!rf_beside_is(&beside, processor))
 *         rf_beside_move(&beside, processor);     then sleep a moment: the thread may have moved, too */
#ifndef RF_ATTACH_BESIDE_H
#define RF_ATTACH_BESIDE_H

#include <sched.h>
#include <stdbool.h>

struct rf_beside {
    cpu_set_t allowed; /* processors that we may use */
    int at;            /* the only one that we use now; -1: any */
};

void rf_beside_begin(struct rf_beside *beside);
/* Are we there, or is it in vain to try? */
bool rf_beside_is(const struct rf_beside *beside, int processor);
void rf_beside_move(struct rf_beside *beside, int processor);

#endif
