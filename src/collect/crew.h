/* crew.h - engines on threads of their own.
 *
 * A lane is always fed by the same thread and in the order of the stream, so what comes out is the same
 * whatever the number of threads. Called from one thread; the work is done on the crew's. */
#ifndef RF_COLLECT_CREW_H
#define RF_COLLECT_CREW_H

#include <riffle/alloc.h>
#include <riffle/event.h>
#include <riffle/status.h>

struct rf_crew;

/* Feed these tuples to the lane's engine; none of them stand for a gap. After a failure no lane of that thread
 * is fed any more. */
typedef rf_status rf_crew_work(void *context, size_t lane, const struct rf_tuples *tuples,
                               struct rf_error *error);

/* Start at most `threads` threads for n_lanes lanes. *crew stays NULL, with RF_OK, where the system grants no
 * threads; work without a crew then. */
rf_status rf_crew_open(struct rf_crew **crew, size_t threads, size_t n_lanes, rf_crew_work *work,
                       void *context, const struct rf_alloc *alloc, struct rf_error *error);

/* Hand tuples over; they are copied. Waits while the lane's thread is too far behind. Returns the first
 * failure so far. */
rf_status rf_crew_feed(struct rf_crew *crew, size_t lane, const struct rf_tuples *tuples,
                       struct rf_error *error);

/* There is a gap in the stream between what was handed over and what comes next. */
rf_status rf_crew_gap(struct rf_crew *crew, size_t lane, struct rf_error *error);

/* Wait until everything handed over is done. */
rf_status rf_crew_wait(struct rf_crew *crew, struct rf_error *error);

void rf_crew_close(
    struct rf_crew *crew); /* NULL is fine; what was not waited for may be left undone */

#endif
