/* live.h - what a run has counted by now, for another process that asks.
 *
 *     the run                                          who asks
 *     rf_live_open(&live, &error)                      rf_live_watch(&live, pid, &error)
 *     if (rf_live_is_asked(live))              <----   rf_live_ask(live)
 *         rf_live_answer(live, run, &error)    ---->   rf_live_take(live, &run, &error)
 *     rf_live_close(live)                              rf_live_close(live)
 *
 * Only the user who started the run can ask. A run that nobody asks pays for one word that it looks at. Several may ask at
 * once: all get the same answers. One thread at a time on either side. */
#ifndef RIFFLE_LIVE_H
#define RIFFLE_LIVE_H

#include <riffle/profile.h>

#ifdef __cplusplus
extern "C" {
#endif

struct rf_live;

/* ---- in the run ---- */

/* RF_EIO, RF_ENOMEM: the run goes on, and nobody can ask. */
rf_status rf_live_open(struct rf_live **live, struct rf_error *error);
int rf_live_is_asked(const struct rf_live *live); /* NULL: no */
rf_status rf_live_answer(struct rf_live *live, const struct rf_run *run, struct rf_error *error);
void rf_live_close(struct rf_live *live); /* NULL is fine; who asks sees that the run is over */

/* ---- in the process that asks ---- */

/* The process is the run, or a program that it runs. RF_EINVAL: there is no such process, it is another user's, or it is
 * no run; `error` says which. */
rf_status rf_live_watch(struct rf_live **live, long pid, struct rf_error *error);
long rf_live_pid(const struct rf_live *live); /* of the run */
void rf_live_ask(struct rf_live *live);
/* The answer to the last question, as a run that the caller frees; *run is NULL as long as it has not come. */
rf_status rf_live_take(struct rf_live *live, struct rf_run **run, struct rf_error *error);
int rf_live_is_over(const struct rf_live *live); /* the run answers no more */

#ifdef __cplusplus
}
#endif
#endif
