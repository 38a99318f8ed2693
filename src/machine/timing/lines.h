/* lines.h - lines on their way to the first-level caches: how long MSHRs and the bus make them wait. */
#ifndef RF_MACHINE_LINES_H
#define RF_MACHINE_LINES_H

#include "machine/timing/config.h"
#include <stdbool.h>

enum { RF_LINES_KEPT = 128, RF_LINES_MAX = 512 }; /* at most 64 are on their way, some more wait */

/* One line: asked for, then waiting for an MSHR, then on its way until it is there. */
struct rf_line {
    uint64_t asked;
    uint64_t start; /* when it has an MSHR */
    uint64_t ready;
    uint64_t all_ready; /* of this and all before it, the latest */
    uint64_t
        on_bus;  /* when the bus is its own; of one that the second level had, the line's before */
    bool beyond; /* the second level did not have it, either */
};

/* All zero to begin with. */
struct rf_lines {
    size_t n;
    struct rf_line line[RF_LINES_MAX]; /* in order of `asked`, the latest last */
};

/* A line that missed `levels` levels at cycle `asked`: the cycle when it is there. */
uint64_t rf_lines_fetch(struct rf_lines *lines, const struct rf_timing_config *config,
                        uint64_t asked, unsigned levels);

/* The line asked for at `old` was asked for at `asked` already, which is earlier: when it is there. */
uint64_t rf_lines_advance(struct rf_lines *lines, const struct rf_timing_config *config,
                          uint64_t old, uint64_t asked);

#endif
