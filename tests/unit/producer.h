/* producer.h - a producer in the first slot of a ring, as the probe would be: this test writes into the shared memory. */
#ifndef RF_TESTS_PRODUCER_H
#define RF_TESTS_PRODUCER_H

#include "source/probe.h"
#include "source/probe_words.h"
#include "source/ring.h"
#include "test.h"
#include <unistd.h>

static struct rf_source *source;
static struct rf_ring *ring;
static struct rf_ring_slot *slot;
static uint64_t *chunk; /* the one being written */
static size_t n;

static inline rf_status open_source(const char *selector, const struct rf_alloc *alloc)
{
    struct rf_selector parsed;
    CHECK(rf_selector_parse(&parsed, selector, NULL) == RF_OK);
    const struct rf_probe_setup setup = {.selectors = &parsed, .n_selectors = 1, .alloc = alloc};
    return rf_probe_open_idle(&source, &setup, NULL);
}

static inline void take_slot(void)
{
    ring = rf_probe_ring(source);
    slot = (struct rf_ring_slot *)(void *)(ring->memory + rf_ring_slot_offset(0));
    slot->pid = (uint32_t)getpid();
    slot->process = 1;
    slot->base = (uint64_t)(uintptr_t)slot;
    slot->state = RF_RING_LIVE;
    chunk = (uint64_t *)(void *)((uint8_t *)slot + rf_ring_chunk_offset(0));
    n = 0;
}

static inline void open_ring(const char *selector)
{
    CHECK(open_source(selector, NULL) == RF_OK);
    take_slot();
}

static inline void put(uint64_t word)
{
    chunk[n++] = word;
}

static inline void publish(void)
{
    slot->fill[slot->head % RF_RING_CHUNKS] = (uint32_t)(n * 8);
    slot->head++;
    chunk = (uint64_t *)(void *)((uint8_t *)slot + rf_ring_chunk_offset(slot->head));
    n = 0;
}

/* A block with a load at `pc` whose value follows, and two ways out with a branch each. */
static inline void put_block(uint32_t first, uint64_t pc)
{
    put(RF_WORD_HEADER(RF_WORD_DEFINE, 13));
    put(first | UINT64_C(2) << 32);
    put(3);
    put(1);
    put(1);
    put(RF_CLASS_LOAD | 32 << 16 | (uint64_t)RF_WORD_PATHS_MAX << RF_SHAPE_LAST_SHIFT |
        (uint64_t)RF_HOW_DYNAMIC << RF_SHAPE_VALUE_SHIFT);
    put(pc);
    put(RF_CLASS_BRANCH | RF_RECORD_TAKEN << 8 |
        (uint64_t)RF_HOW_CONSTANT << RF_SHAPE_TARGET_SHIFT);
    put(pc + 4);
    put(0x8000);
    put(RF_CLASS_BRANCH | UINT64_C(1) << RF_SHAPE_FIRST_SHIFT | UINT64_C(1) << RF_SHAPE_LAST_SHIFT |
        (uint64_t)RF_HOW_CONSTANT << RF_SHAPE_TARGET_SHIFT);
    put(pc + 4);
    put(pc + 6);
}

struct seen {
    uint64_t n, a, b; /* how many, sums of both words */
    rf_status status;
    struct rf_error error;
};

static inline struct seen drain(void)
{
    struct seen seen = {0};
    struct rf_batch batch;
    while ((seen.status = rf_source_next(source, &batch, &seen.error)) == RF_OK && batch.n > 0)
        for (size_t i = 0; i < batch.n; i++) {
            seen.n++;
            seen.a += batch.tuples.tuples[i].a;
            seen.b += batch.tuples.tuples[i].b;
        }
    return seen;
}

#endif
