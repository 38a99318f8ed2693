/* bursts.h - from the bursts of a program to the whole of it: counts that stand for all events, and how sure they are.
 *
 *     rf_bursts_open(&bursts, alloc);
 *     rf_bursts_feed(bursts, tuples, n);  rf_bursts_end(bursts, weight);      burst by burst
 *     rf_bursts_skip(bursts, events, n);                                      between them
 *     rf_bursts_scale(bursts, profile);                                       a profile of what was fed
 *
 * One thread at a time. */
#ifndef RF_PROFILE_BURSTS_H
#define RF_PROFILE_BURSTS_H

#include <riffle/event.h>
#include <riffle/profile.h>

struct rf_bursts;

#define RF_BURSTS_CONFIDENCE 0.95

rf_status rf_bursts_open(struct rf_bursts **bursts, const struct rf_alloc *alloc);
void rf_bursts_close(struct rf_bursts *bursts); /* NULL is fine */

/* Events of the burst under way. */
void rf_bursts_feed(struct rf_bursts *bursts, const struct rf_tuple *tuples, size_t n);
/* This many more events of the burst were told, and are of no interest: a condition leaves them out. */
void rf_bursts_pass(struct rf_bursts *bursts, uint64_t n);
/* It is over. `weight` is how many intervals each of its intervals stands for, 1 / frequency; where it is the same for
 * all bursts, any number does. A burst without events is none here; it may be counted with rf_bursts_skip. */
void rf_bursts_end(struct rf_bursts *bursts, double weight);
/* This many events were skipped, and this many bursts were over. */
void rf_bursts_skip(struct rf_bursts *bursts, uint64_t events, uint64_t n);

/* Nobody counts what is skipped. */
void rf_bursts_uncounted(struct rf_bursts *bursts);

/* The profile is of all that was fed. Afterwards its counts stand for what was skipped, too, with bounds that hold for
 * RF_BURSTS_CONFIDENCE of all items; consumed = sampled + skipped; and it has the figures "bursts", "sampled",
 * "skipped" and "clusters". Where nothing was skipped, the figures are all that changes. Where that was not counted,
 * counts stay as they are, and have such bounds. RF_ENOMEM leaves it as it was. */
rf_status rf_bursts_scale(const struct rf_bursts *bursts, struct rf_profile *profile);

#endif
