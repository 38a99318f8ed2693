/* control.h - change the bursts of a program that is being profiled, from another process.
 *
 *     struct rf_control *control;
 *     rf_control_open(&control, pid, &error);            of riffle run, or of a program that it runs
 *     struct rf_control_state state;
 *     rf_control_get(control, &state);
 *     state.bursts[0].sparsity = 99;
 *     rf_control_set(control, &state);                   from the next burst on
 *     rf_control_close(control);
 *
 * Only the user who started the run can. The change goes through the memory that riffle and the program share. */
#ifndef RIFFLE_CONTROL_H
#define RIFFLE_CONTROL_H

#include <riffle/probe.h>

#ifdef __cplusplus
extern "C" {
#endif

struct rf_control;

enum { RF_CONTROL_PROFILES = 32, RF_CONTROL_TEXT = 64 };

struct rf_control_profile {
    char selector[RF_CONTROL_TEXT]; /* canonical, terminated, cut to fit */
    int off;                        /* its events are not taken, but counted as skipped */
};

struct rf_control_state {
    size_t n_bursts;
    struct rf_probe_bursts bursts[RF_PROBE_CLOCKS_MAX];
    size_t n_profiles;
    struct rf_control_profile profiles[RF_CONTROL_PROFILES];
};

/* RF_EINVAL: no such process, another user's, not profiled, or not told in bursts; `error` says which. */
rf_status rf_control_open(struct rf_control **control, long pid, struct rf_error *error);
void rf_control_get(const struct rf_control *control, struct rf_control_state *state);
/* Each burst must be 1 at least. When all profiles of one are off, no burst begins there any more. */
void rf_control_set(struct rf_control *control, const struct rf_control_state *state);
void rf_control_close(struct rf_control *control); /* NULL is fine */

#ifdef __cplusplus
}
#endif
#endif
