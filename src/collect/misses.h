/* misses.h - the cache model between a source that sees no misses and the selectors that ask. */
#ifndef RF_COLLECT_MISSES_H
#define RF_COLLECT_MISSES_H

#include <riffle/cache.h>
#include <riffle/profile.h>

enum { RF_MISSES_CHUNK = 1024 };

struct rf_misses;

rf_status rf_misses_open(struct rf_misses **misses, const char *shape, const struct rf_alloc *alloc,
                         struct rf_error *error);
void rf_misses_close(struct rf_misses *misses); /* NULL is fine */

/* At most RF_MISSES_CHUNK records, copied, their `miss` filled; valid until the next call. */
const struct rf_record *rf_misses_fill(struct rf_misses *misses, const struct rf_record *records,
                                       size_t n);
/* Add a note to the run: the shape of the caches and how often they missed. */
rf_status rf_misses_note(const struct rf_misses *misses, struct rf_run *run);

#endif
