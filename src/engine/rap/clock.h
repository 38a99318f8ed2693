/* clock.h - the time that rap as hardware takes: when events arrive, wait, match and update.
 *
 * Times are computed event by event, which for an in-order pipeline is the same as stepping every cycle.
 * Events come every `arrival` cycles. One that finds the queue full waits at the source and is counted as
 * overflow, so nothing is lost. */
#ifndef RF_ENGINE_RAP_CLOCK_H
#define RF_ENGINE_RAP_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

enum { RF_RAP_TCAM_CYCLES = 2, RF_RAP_SRAM_CYCLES = 2 };

/* What an event makes the controller do besides updating, in cycles. */
struct rf_rap_stall {
    uint64_t split, merge;
};

/* All times in cycles since the beginning. */
struct rf_rap_clock {
    uint64_t queue, arrival; /* as the options say */
    bool pipelined;
    uint64_t *left_at; /* ring of `queue` times: when the event left the queue */

    uint64_t arrived;      /* when the last event entered the queue */
    uint64_t free;         /* when the match stage can take the next */
    uint64_t finished;     /* when the last event left the last stage */
    uint64_t split, merge; /* cycles that went into these */
    uint64_t overflow;     /* events that found the queue full */
    double waited;         /* cycles that they waited for it */
    double skipped;        /* cycles of even runs; the times above do not count them */
    uint64_t flushed;      /* events that had begun to match when a split began */
    uint64_t deepest;      /* most events in the queue at once */
    uint64_t tail;         /* events that had left the queue when the last one arrived */
};

/* Back to cycle 0 with an empty queue. */
void rf_rap_clock_restart(struct rf_rap_clock *clock);

/* Event `number`, counted from 0, goes through. */
void rf_rap_clock_tick(struct rf_rap_clock *clock, uint64_t number, struct rf_rap_stall stall);

/* n events from `number` on that stall nobody, in a time that does not grow with n. */
void rf_rap_clock_run(struct rf_rap_clock *clock, uint64_t number, uint64_t n);

#endif
