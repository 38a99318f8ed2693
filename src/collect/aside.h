/* aside.h - memory that will be needed at the end, kept until then.
 *
 * Zero is empty. It is given back to the allocator that it came from. */
#ifndef RF_COLLECT_ASIDE_H
#define RF_COLLECT_ASIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <riffle/alloc.h>

struct rf_aside {
    void *block;
    size_t size;
};

/* At least so many bytes from now on; false: there are none, and as many as before are kept. */
bool rf_aside_keep(struct rf_aside *aside, const struct rf_alloc *alloc, size_t needs);

void rf_aside_give_back(struct rf_aside *aside, const struct rf_alloc *alloc);

#endif
