/* trackers.h - what the co-processor's programs look for, found exactly: no slots, nothing dropped or replaced.
 *
 * With the limits of a program (a ring of this many stores, four bytes at a time) a tracker says what the program
 * must find when all tuples have slots. Without limits it says what is true. */
#ifndef RF_TESTS_REFERENCE_TRACKERS_H
#define RF_TESTS_REFERENCE_TRACKERS_H

#include <riffle/event.h>
#include <riffle/item.h>

struct tracker_rules {
    uint64_t
        ring; /* stores or misses that are remembered; 0: all. For `conflicts` it defines a short distance */
    uint64_t depth; /* of the call stack; 0: any */
    unsigned level; /* caches that a load must miss to be an event of `contexts` */
    unsigned bytes; /* 1: dependences byte by byte; 0: 2^grain at a time, by the first */
    unsigned grain;
};

struct tracker;

/* `program` is edges, contexts, dependences, conflicts or loads; NULL: there is no tracker of that name. */
struct tracker *tracker_new(const char *program, const struct tracker_rules *rules);
void tracker_free(struct tracker *tracker);
void tracker_record(struct tracker *tracker, const struct rf_record *record);

uint64_t tracker_count(const struct tracker *tracker, uint64_t a, uint64_t b);
size_t tracker_tuples(const struct tracker *tracker);
/* Different call stacks with the same number. */
uint64_t tracker_collisions(const struct tracker *tracker);

/* How far a profile is from the truth. */
struct tracker_error {
    uint64_t events, tuples; /* true ones */
    uint64_t hot, hot_found; /* tuples with a thousandth of the events or more; of these, listed */
    uint64_t above;          /* tuples with a higher count than the true one */
    double weighted;         /* sum of |count - true count|, in parts of all events */
};
struct tracker_error tracker_compare(const struct tracker *tracker, const struct rf_item *items,
                                     size_t n);

#endif
