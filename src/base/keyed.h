/* keyed.h - things put into the order of their keys; those of one key stay in the order in which they came. */
#ifndef RF_BASE_KEYED_H
#define RF_BASE_KEYED_H

#include <stddef.h>
#include <stdint.h>

struct rf_keyed {
    uint64_t key;
    const void *what;
};

/* The lowest key first. `room` is for n more of them; what it holds afterwards is of no use. */
void rf_keyed_sort(struct rf_keyed *list, struct rf_keyed *room, size_t n);

#endif
