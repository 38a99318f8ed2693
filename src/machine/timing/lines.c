/* lines.c - MSHRs and the bus serve lines in the order of time, but the model hears of them in program order.
 *
 * A line holds an MSHR from when it gets one until it has arrived. If the second level did not have it, it
 * also holds the bus for `bus` cycles:
 *
 *     asked --wait for an MSHR--> start --l2_hit--> --wait for the bus--> on_bus --memory--> ready
 *
 * The model gets instructions in program order, but their misses are not in order of time: an older
 * instruction may issue later, and code is fetched long before the loads ahead of it issue. So the lines are
 * kept in order of time. A new line is inserted at its place, and the times of those behind it are computed
 * again. Answers that were given already stand; later questions see the corrected queue.
 *
 * Memory: 20 KiB. Cannot: keep more lines than that. The earliest are dropped; they arrived long ago. */
#include "machine/timing/lines.h"
#include <string.h>

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* The cycle in which the i-th line gets an MSHR: not before the line ahead of it, and not before all lines
 * ahead but mshrs - 1 have arrived. */
static uint64_t start_of(const struct rf_lines *lines, const struct rf_timing_config *config,
                         size_t i)
{
    uint64_t start = later(lines->line[i].asked, i > 0 ? lines->line[i - 1].start : 0);
    for (;;) {
        uint64_t busy = 0, soonest = UINT64_MAX;
        for (size_t k = i; k > 0 && lines->line[k - 1].all_ready > start; k--) {
            uint64_t ready = lines->line[k - 1].ready;
            busy += ready > start;
            if (ready > start && ready < soonest)
                soonest = ready;
        }
        if (busy < config->mshrs)
            return start;
        start = soonest;
    }
}

static void work_out(struct rf_lines *lines, const struct rf_timing_config *config, size_t i)
{
    struct rf_line *line = &lines->line[i];
    line->start = start_of(lines, config, i);
    uint64_t second_level = line->start + config->l2_hit;
    const struct rf_line first = {0}, *before = i > 0 ? line - 1 : &first;
    line->on_bus =
        line->beyond ? later(second_level, before->on_bus + config->bus) : before->on_bus;
    line->ready = line->beyond ? line->on_bus + config->memory : second_level;
    line->all_ready = later(line->ready, before->all_ready);
}

/* Insert a line; those behind it move up. Returns its place. */
static size_t make_place(struct rf_lines *lines, uint64_t asked)
{
    if (lines->n == RF_LINES_MAX) {
        memmove(lines->line, lines->line + RF_LINES_MAX - RF_LINES_KEPT,
                RF_LINES_KEPT * sizeof *lines->line);
        lines->n = RF_LINES_KEPT;
    }
    size_t at = lines->n++;
    for (; at > 0 && lines->line[at - 1].asked > asked; at--)
        lines->line[at] = lines->line[at - 1];
    return at;
}

uint64_t rf_lines_fetch(struct rf_lines *lines, const struct rf_timing_config *config,
                        uint64_t asked, unsigned levels)
{
    size_t at = make_place(lines, asked);
    lines->line[at] = (struct rf_line){.asked = asked, .beyond = levels > 1};
    for (size_t i = at; i < lines->n; i++)
        work_out(lines, config, i);
    return lines->line[at].ready;
}

uint64_t rf_lines_advance(struct rf_lines *lines, const struct rf_timing_config *config,
                          uint64_t old, uint64_t asked)
{
    size_t at = lines->n;
    while (at > 0 && lines->line[at - 1].asked > old)
        at--;
    if (at == 0 || lines->line[at - 1].asked != old)
        return asked; /* dropped: it arrived long ago */
    unsigned levels = lines->line[at - 1].beyond ? 2 : 1;
    memmove(lines->line + at - 1, lines->line + at, (lines->n - at) * sizeof *lines->line);
    lines->n--;
    return rf_lines_fetch(lines, config, asked, levels);
}
