/* counted.h - a ring with counters whose producer is the test itself, and what comes out of it. */
#ifndef RF_TESTS_UNIT_COUNTED_H
#define RF_TESTS_UNIT_COUNTED_H

#include "source/probe.h"
#include "source/probe_words.h"
#include "source/ring.h"
#include "test.h"
#include <unistd.h>

static struct rf_source *source;
static struct rf_ring *ring;

static struct rf_ring_slot *slot_at(uint32_t number)
{
    return (struct rf_ring_slot *)(void *)(ring->memory + rf_ring_slot_offset(number));
}

static uint64_t *counters_of(uint32_t number)
{
    return (uint64_t *)(void *)(ring->memory + rf_ring_counters_offset(ring->slots, number));
}

static int wakes, hooks; /* of the next source */

static struct rf_ring_slot *open_ring(const char *selector, int lossy)
{
    struct rf_selector parsed;
    CHECK(rf_selector_parse(&parsed, selector, NULL) == RF_OK);
    const struct rf_probe_setup setup = {.selectors = &parsed,
                                         .n_selectors = 1,
                                         .any_order = 1,
                                         .wakes = wakes,
                                         .lossy = lossy,
                                         .hooks = hooks};
    CHECK(rf_probe_open_idle(&source, &setup, NULL) == RF_OK);
    ring = rf_probe_ring(source);
    CHECK(ring->is_counted);
    struct rf_ring_slot *slot = slot_at(0);
    *slot = (struct rf_ring_slot){.pid = (uint32_t)getpid(), .process = 1};
    return slot;
}

/* Words as one chunk of the slot, which is then in this state. */
static void publish(struct rf_ring_slot *slot, const uint64_t *words, size_t n, uint32_t state)
{
    memcpy((uint8_t *)slot + rf_ring_chunk_offset(slot->head), words, n * 8);
    slot->fill[slot->head++ % RF_RING_CHUNKS] = (uint32_t)(n * 8);
    slot->state = state;
}

#define OPEN                  ((uint64_t)RF_WORD_PATHS_MAX << RF_SHAPE_LAST_SHIFT)
#define ON_PATH(n)            ((uint64_t)(n) << RF_SHAPE_FIRST_SHIFT | (uint64_t)(n) << RF_SHAPE_LAST_SHIFT)
#define FROM_PATH(n)          ((uint64_t)(n) << RF_SHAPE_FIRST_SHIFT | OPEN)
#define CONSTANT(field)       ((uint64_t)RF_HOW_CONSTANT << RF_SHAPE_##field##_SHIFT)
#define DYNAMIC(field)        ((uint64_t)RF_HOW_DYNAMIC << RF_SHAPE_##field##_SHIFT)
#define HEADER_OF(words)      RF_WORD_HEADER(RF_WORD_DEFINE, sizeof(words) / 8)
#define PATHS(first, n_paths) ((uint64_t)(first) | (uint64_t)(n_paths) << 32)

#define MERGED(field) ((uint64_t)RF_HOW_MERGED << RF_SHAPE_##field##_SHIFT)

struct seen {
    uint64_t n, events, a; /* tuples, how often they occurred, sum of a times its count */
    rf_status status;
    struct rf_error error;
};

static struct seen drain(void)
{
    struct seen seen = {0};
    struct rf_batch batch;
    while ((seen.status = rf_source_next(source, &batch, &seen.error)) == RF_OK && batch.n > 0)
        for (size_t i = 0; i < batch.n; i++) {
            uint64_t count = batch.tuples.counts != NULL ? batch.tuples.counts[i] : 1;
            seen.n++;
            seen.events += count;
            seen.a += batch.tuples.tuples[i].a * count;
        }
    rf_source_close(source);
    return seen;
}

/* What rf_source_counted tells, added to a struct seen. */
static inline rf_status add_told(void *context, uint32_t stream, const struct rf_tuples *tuples,
                                 struct rf_error *error)
{
    struct seen *seen = context;
    (void)error;
    CHECK_EQ(stream, 0);
    for (size_t i = 0; i < tuples->n; i++) {
        seen->n++;
        seen->events += tuples->counts[i];
        seen->a += tuples->tuples[i].a * tuples->counts[i];
    }
    return RF_OK;
}

#endif
