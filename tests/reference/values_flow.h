/* values_flow.h - the flow chart of the value profiler (Zilles and Sohi, appendix) in plain C.
 *
 * Nothing here knows of microcode: slots are structs, random numbers come from the same shift register. In front of the
 * chart, of `one_of` samples one is chosen. */
#ifndef RF_TESTS_VALUES_FLOW_H
#define RF_TESTS_VALUES_FLOW_H

#include "base/random.h"
#include <stdbool.h>
#include <string.h>

struct flow_slot {
    bool on;
    uint32_t pc, active;
    unsigned hits, misses, total;
};

struct flow {
    unsigned slots, turn, failed, dropped, retain, one_of;
    uint32_t random;
    struct flow_slot slot[512];
};

static inline unsigned flow_random(struct flow *flow)
{
    unsigned number = flow->random & 255;
    for (int i = 0; i < 32; i++)
        flow->random = rf_lfsr_next(flow->random);
    return number;
}

static inline void flow_clear(struct flow *flow)
{
    memset(flow->slot, 0, sizeof flow->slot);
    flow->turn = flow->failed = flow->dropped = 0;
}

/* The sample's pc has a slot. */
static inline void flow_match(const struct flow *flow, struct flow_slot *slot, uint32_t value)
{
    if (++slot->total == 65535) {
        slot->on = false; /* the total must stay true */
        return;
    }
    if (slot->active == value) {
        if (++slot->hits == 255)
            slot->on = false; /* keep the ratio of hits and misses */
        return;
    }
    if (++slot->misses == 255) {
        slot->on = false;
        return;
    }
    if (slot->misses <= 4 * slot->hits)
        return;
    if (slot->hits >= flow->retain) {
        slot->on = false; /* what it learned is worth keeping */
        return;
    }
    slot->active = value;
    slot->hits = 1;
    slot->misses = 0;
}

/* It has none: consider one slot. True: interrupt. */
static inline bool flow_fresh(struct flow *flow, uint32_t pc, uint32_t value)
{
    struct flow_slot *slot = &flow->slot[flow->turn];
    bool replace = flow_random(flow) > slot->total;
    flow->turn = (flow->turn + 1) % flow->slots;
    if (!replace) {
        flow->failed += flow->failed < flow->slots - 1;
        return flow->failed == flow->slots - 1;
    }
    *slot = (struct flow_slot){true, pc, value, 1, 0, 1};
    flow->failed -= flow->failed > 0;
    flow->dropped += flow->dropped < 4 * flow->slots - 1;
    return flow->dropped == 4 * flow->slots - 1;
}

static inline bool flow_sample(struct flow *flow, uint32_t pc, uint32_t value)
{
    if (flow_random(flow) % flow->one_of != 0)
        return false;
    for (unsigned i = 0; i < flow->slots; i++)
        if (flow->slot[i].on && flow->slot[i].pc == pc) {
            flow_match(flow, &flow->slot[i], value);
            return false;
        }
    return flow_fresh(flow, pc, value);
}

#endif
