/* sampler.h - the thread of ours that holds threads of the process, and what it has found.
 *
 *     rf_sampler_open(&sampler, &setup, &error);
 *     while (rf_sampler_take(sampler, &catch)) ...       false: it is over
 *     rf_sampler_stop(sampler);                          nothing is held any more
 *
 * What was taken stays valid until the next call. */
#ifndef RF_ATTACH_SAMPLER_H
#define RF_ATTACH_SAMPLER_H

#include "attach/maps.h"
#include <riffle/attach.h>
#include <riffle/event.h>

struct rf_sampler;

/* Some bursts: their records, where each ends, how many there were. */
struct rf_catch {
    struct rf_record *records;
    uint32_t *ends;
    size_t n, n_ends;
    uint64_t bursts;
};

rf_status rf_sampler_open(struct rf_sampler **sampler, const struct rf_attach_setup *setup,
                          struct rf_error *error);
bool rf_sampler_take(struct rf_sampler *sampler, const struct rf_catch **taken);
void rf_sampler_stop(struct rf_sampler *sampler);
void rf_sampler_close(struct rf_sampler *sampler); /* NULL is fine */

void rf_sampler_outcome(const struct rf_sampler *sampler, struct rf_attach_outcome *outcome);
/* When it has been stopped. */
const struct rf_modules *rf_sampler_modules(const struct rf_sampler *sampler);

#endif
