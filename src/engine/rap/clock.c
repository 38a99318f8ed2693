/* clock.c - queue and pipeline of rap as hardware, event by event or a whole even run at once. */
#include "engine/rap/clock.h"

void rf_rap_clock_restart(struct rf_rap_clock *clock)
{
    *clock = (struct rf_rap_clock){.queue = clock->queue,
                                   .arrival = clock->arrival,
                                   .pipelined = clock->pipelined,
                                   .left_at = clock->left_at};
}

static uint64_t later(uint64_t x, uint64_t y)
{
    return x > y ? x : y;
}

/* The event enters the queue: when the source has it, and when there is a place. */
static void arrive(struct rf_rap_clock *clock, uint64_t number)
{
    uint64_t ready = number == 0 ? 0 : clock->arrived + clock->arrival;
    /* NOLINTNEXTLINE(clang-analyzer-core.DivideZero): a queue has at least one place */
    uint64_t place = number < clock->queue ? 0 : clock->left_at[number % clock->queue];
    clock->overflow += place > ready;
    clock->waited += place > ready ? (double)(place - ready) : 0;
    clock->arrived = later(ready, place);
    while (clock->tail < number && clock->left_at[clock->tail % clock->queue] <= clock->arrived)
        clock->tail++;
    clock->deepest = later(clock->deepest, number + 1 - clock->tail);
}

void rf_rap_clock_tick(struct rf_rap_clock *clock, uint64_t number, struct rf_rap_stall stall)
{
    arrive(clock, number);
    uint64_t begins = later(clock->arrived + 1, clock->free);
    uint64_t ends = begins + RF_RAP_TCAM_CYCLES + RF_RAP_SRAM_CYCLES;
    clock->left_at[number % clock->queue] = begins;
    clock->free = clock->pipelined ? begins + later(RF_RAP_TCAM_CYCLES, RF_RAP_SRAM_CYCLES) : ends;
    if (stall.split + stall.merge > 0) {
        clock->flushed += clock->pipelined && stall.split > 0;
        clock->free = ends + stall.split + stall.merge;
        ends = clock->free;
    }
    clock->split += stall.split;
    clock->merge += stall.merge;
    clock->finished = ends;
}

/* What an event adds to the clock. */
struct beat {
    uint64_t arrived, finished, left, overflow;
    double waited;
};

static struct beat quiet_event(struct rf_rap_clock *clock, uint64_t number)
{
    const struct rf_rap_clock before = *clock;
    rf_rap_clock_tick(clock, number, (struct rf_rap_stall){0, 0});
    return (struct beat){clock->arrived - before.arrived, clock->finished - before.finished,
                         clock->tail - before.tail, clock->overflow - before.overflow,
                         clock->waited - before.waited};
}

/* The pipeline in step: events come as fast as they go. */
static bool in_step(const struct beat *beat, const struct beat *last)
{
    return beat->arrived == beat->finished && beat->left == 1 && beat->arrived == last->arrived &&
           beat->finished == last->finished && beat->left == last->left &&
           beat->overflow == last->overflow && beat->waited == last->waited;
}

/* Once as many events in a row as the queue has places were alike, all are. Whole rounds of the queue are
 * then passed over, which leaves the ring and the times in it as they are. */
void rf_rap_clock_run(struct rf_rap_clock *clock, uint64_t number, uint64_t n)
{
    uint64_t alike = 0, queue = clock->queue;
    struct beat beat, last = {0};
    for (uint64_t i = 0; i < n; i++, number++) {
        beat = quiet_event(clock, number);
        alike = in_step(&beat, &last) ? alike + 1 : 0;
        last = beat;
        if (alike != queue)
            continue;
        uint64_t rounds = (n - i - 1) / queue * queue;
        clock->tail += rounds;
        clock->overflow += rounds * beat.overflow;
        clock->waited += (double)rounds * beat.waited;
        clock->skipped += (double)rounds * (double)beat.finished;
        i += rounds;
        number += rounds;
    }
}
