/* lines.h - lines on their way to the first-level caches: how long MSHRs and the bus make them wait. */
#ifndef RF_MACHINE_LINES_H
#define RF_MACHINE_LINES_H

#include "machine/timing/config.h"
#include <stdbool.h>

enum { RF_LINES_KEPT = 128, RF_LINES_MAX = 512 }; /* at most 64 have an MSHR, the others wait */

/* One line: asked for, then waiting for an MSHR, then on its way until it is there. */
struct rf_line {
    uint64_t asked;
    uint64_t start; /* when it gets an MSHR */
    uint64_t ready;
    uint64_t all_ready; /* when this line and all before it have arrived */
    uint64_t on_bus; /* when it gets the bus; a line from the second level repeats the one before */
    bool beyond;     /* it comes from memory, not from the second level */
};

/* All zero to begin with. */
struct rf_lines {
    size_t n;
    struct rf_line line[RF_LINES_MAX]; /* in order of `asked`, the latest last */
};

/* Ask for a line that missed `levels` levels, at cycle `asked`. Returns the cycle in which it arrives. */
uint64_t rf_lines_fetch(struct rf_lines *lines, const struct rf_timing_config *config,
                        uint64_t asked, unsigned levels);

/* The line of cycle `old` turns out to have been asked for at `asked`, which is earlier. Returns when it
 * arrives. */
uint64_t rf_lines_advance(struct rf_lines *lines, const struct rf_timing_config *config,
                          uint64_t old, uint64_t asked);

#endif
