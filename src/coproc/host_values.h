/* host_values.h - the two halves of the value profiler's handler: what to do next (host_values.c), and the table of loads
 * that slots are recorded in (host_record.c). */
#ifndef RF_COPROC_HOST_VALUES_H
#define RF_COPROC_HOST_VALUES_H

#include "coproc/filter.h"
#include "coproc/host.h"

enum { RF_VALUES_LINE = 64 }; /* of a cache */

/* A place holds the number of the line that the entry begins with, from the table's start. */
static inline struct rf_values_entry *rf_values_at(struct rf_table *table, uint64_t place)
{
    return (struct rf_values_entry *)((char *)table + place * RF_VALUES_LINE);
}

static inline uint32_t rf_values_line(const struct rf_table *table,
                                      const struct rf_values_entry *entry)
{
    return (uint32_t)((size_t)((const char *)entry - (const char *)table) / RF_VALUES_LINE);
}

static inline uint32_t rf_values_bit(const struct rf_window *window, uint32_t pc, unsigned function)
{
    return rf_filter_hash(pc, function) & (window->filter_bits - 1);
}

/* The load's entry; with `create` a new one if need be. NULL: there is none, and perhaps no room. */
struct rf_values_entry *rf_values_find(struct rf_table *table, uint32_t pc, bool create);
/* The value's place in the list; n when it is not there. */
uint32_t rf_values_place(const struct rf_values_entry *entry, uint32_t value);
/* Switch the load off in the filter. */
void rf_values_mask(struct rf_window *window, uint32_t pc);
/* Its upper halves are to be looked at: it joins those that wait. */
void rf_values_let_wait(struct rf_table *table, struct rf_values_entry *entry);
/* Add every slot that is worth it to its load. */
void rf_values_record(struct rf_window *window, struct rf_table *table);

#endif
