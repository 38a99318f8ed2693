/* calendar.h - how many instructions issue in each future cycle, and how many still wait to.
 *
 *     now            now + 1024
 *      |  2 1 0 4 4 1 ...  |  far: 9000, 12000
 *
 * A cycle is one word of five bytes: one for the issue width, one per kind of port. A byte starts at 128 minus
 * its width and counts up, so a full one has its highest bit set, and one mask tests width and port together.
 *
 * An instruction leaves its reservation station when it issues, so the occupied stations are the bookings of
 * cycles that are not over. `now` may lag behind the core: pages are turned only when the number of occupied
 * stations is asked for, or when a booking comes near the end of the calendar. Bookings beyond the end (a long
 * chain of misses) get their cycle without a check of bandwidth; only their stations are counted. */
#ifndef RF_MACHINE_CALENDAR_H
#define RF_MACHINE_CALENDAR_H

#include <stddef.h>
#include <stdint.h>

enum rf_port { RF_PORT_ALU, RF_PORT_MULTIPLY, RF_PORT_MEMORY, RF_PORT_FP, RF_PORT_COUNT };

enum { RF_CALENDAR_CYCLES = 1024, RF_CALENDAR_FAR = 1024 }; /* at most this many stations */

struct rf_calendar {
    uint64_t now;     /* this cycle and all before are over */
    uint64_t waiting; /* booked for a cycle that is not over */
    uint64_t empty;   /* a cycle with nothing in it */
    uint64_t far_soonest;
    size_t n_far;
    uint64_t far[RF_CALENDAR_FAR];
    uint64_t cycle[RF_CALENDAR_CYCLES];
};

/* What an instruction of this kind adds to the word of its cycle. */
static inline uint64_t rf_calendar_unit(enum rf_port port)
{
    return 1 | UINT64_C(1) << 8 * (port + 1u);
}

/* Widths at most 16. */
static inline void rf_calendar_open(struct rf_calendar *calendar, uint64_t issue_width,
                                    const uint64_t *ports)
{
    calendar->empty = 128 - issue_width;
    for (unsigned i = 0; i < RF_PORT_COUNT; i++)
        calendar->empty |= (128 - ports[i]) << 8 * (i + 1);
    for (size_t i = 0; i < RF_CALENDAR_CYCLES; i++)
        calendar->cycle[i] = calendar->empty;
    calendar->now = calendar->waiting = calendar->n_far = 0;
    calendar->far_soonest = UINT64_MAX;
}

static inline void rf_calendar_release_far(struct rf_calendar *calendar)
{
    size_t left = 0;
    calendar->far_soonest = UINT64_MAX;
    for (size_t i = 0; i < calendar->n_far; i++) {
        uint64_t cycle = calendar->far[i];
        if (cycle <= calendar->now) {
            calendar->waiting--;
            continue;
        }
        calendar->far[left++] = cycle;
        if (cycle < calendar->far_soonest)
            calendar->far_soonest = cycle;
    }
    calendar->n_far = left;
}

/* One cycle is over. */
static inline void rf_calendar_turn(struct rf_calendar *calendar)
{
    uint64_t *cycle = &calendar->cycle[++calendar->now % RF_CALENDAR_CYCLES];
    calendar->waiting -= (*cycle & 255) - (calendar->empty & 255);
    *cycle = calendar->empty;
    if (__builtin_expect(calendar->now >= calendar->far_soonest, 0))
        rf_calendar_release_far(calendar);
}

/* The first cycle from `from` on in which fewer than `stations` wait. */
static inline uint64_t rf_calendar_wait(struct rf_calendar *calendar, uint64_t from,
                                        uint64_t stations)
{
    while (calendar->now < from || calendar->waiting >= stations)
        rf_calendar_turn(calendar);
    return calendar->now;
}

/* Book a cycle beyond the open pages, after turning those up to `over`. */
static inline uint64_t rf_calendar_book_far(struct rf_calendar *calendar, uint64_t over,
                                            uint64_t cycle, uint64_t unit)
{
    rf_calendar_wait(calendar, over, UINT64_MAX);
    while (cycle < calendar->now + RF_CALENDAR_CYCLES) {
        uint64_t *page = &calendar->cycle[cycle % RF_CALENDAR_CYCLES];
        if ((*page & unit << 7) == 0) {
            *page += unit;
            return cycle;
        }
        cycle++;
    }
    calendar->far[calendar->n_far++] = cycle;
    if (cycle < calendar->far_soonest)
        calendar->far_soonest = cycle;
    return cycle;
}

/* Book `unit` in the first cycle from `from` on that has room, and return that cycle. Cycles up to `over`,
 * which lies before it, may be forgotten. */
static inline uint64_t rf_calendar_book(struct rf_calendar *calendar, uint64_t over, uint64_t from,
                                        uint64_t unit)
{
    uint64_t end = calendar->now + RF_CALENDAR_CYCLES;
    calendar->waiting++;
    while (from < end && (calendar->cycle[from % RF_CALENDAR_CYCLES] & unit << 7) != 0)
        from++;
    if (__builtin_expect(from >= end, 0))
        return rf_calendar_book_far(calendar, over, from, unit);
    calendar->cycle[from % RF_CALENDAR_CYCLES] += unit;
    return from;
}

#endif
