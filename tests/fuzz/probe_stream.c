/* Any bytes as what a probe, or hooks, have put into the ring: refused with a sentence, or tuples and records, as many
 * as promised. */
#include "fuzz.h"
#include "source/probe.h"
#include "source/ring.h"
#include <riffle/selector.h>
#include <string.h>

static void drain(struct rf_source *source)
{
    struct rf_batch batch;
    struct rf_error error = {""};
    rf_status status;
    while ((status = rf_source_next(source, &batch, &error)) == RF_OK && batch.n + batch.lost > 0)
        PROMISE(batch.records == NULL || batch.n == 0 ||
                batch.records[batch.n - 1].kind < RF_CLASS_COUNT);
    PROMISE(status == RF_OK || error.message[0] != '\0');
}

/* Counters that say something about the paths that the bytes may describe. */
static void count(const struct rf_ring *ring, const uint8_t *bytes, size_t n)
{
    if (ring->is_counted)
        memcpy(ring->memory + rf_ring_counters_offset(ring->slots, 0), bytes, n);
}

/* Words that hooks have merged. */
static void merge(const struct rf_ring *ring, const uint8_t *bytes, size_t n)
{
    enum { ROOM = RF_RING_WORDS * sizeof(struct rf_ring_word) };
    if (ring->is_counted)
        memcpy(rf_ring_words_in(ring->memory + rf_ring_counters_offset(ring->slots, 0)), bytes,
               n < ROOM ? n : ROOM);
}

/* Pockets of hooks: at each word of the bytes begins one. */
static void fill_pockets(const struct rf_ring *ring, struct rf_ring_slot *slot,
                         const uint8_t *bytes, size_t n)
{
    enum { POCKETS = 256 };
    if (!ring->is_counted)
        return;
    struct rf_ring_pocket *pockets =
        rf_ring_pockets_in(ring->memory + rf_ring_counters_offset(ring->slots, 0));
    for (size_t i = 0; i < POCKETS && i < n / 8; i++) {
        size_t left = n - 8 * i;
        memcpy(&pockets[i], bytes + 8 * i, left < sizeof *pockets ? left : sizeof *pockets);
        slot->pockets = i + 1;
    }
}

/* Notes that are not merged yet, in any stage. */
static void note(const struct rf_ring *ring, struct rf_ring_slot *slot, const uint8_t *bytes,
                 size_t n)
{
    enum { ROOM = RF_RING_NOTES_ROOM * 16 };
    uint64_t table = (RF_RING_COUNTERS + 2 * (uint64_t)RF_RING_TABLE) * 8;
    if (!ring->is_counted || n < 16)
        return;
    memcpy(ring->memory + rf_ring_counters_offset(ring->slots, 0) + table, bytes,
           n < ROOM ? n : ROOM);
    memcpy(&slot->stage, bytes + n - 8, 8);
    memcpy(&slot->note, bytes + n - 16, 8);
    slot->note &= 0x3ffff; /* most of them make sense */
}

/* Who writes: the probe, or hooks, which keep places where the probe keeps counters. */
enum producer { PROBE, HOOKS };

enum { SELECTORS = 3, ALL = (1 << SELECTORS) - 1 };

static void run(const uint8_t *bytes, size_t n, int records, uint32_t any_order,
                enum producer producer)
{
    static const char *const texts[SELECTORS] = {"load -> pc,value", "any value!=0 -> target,width",
                                                 "frame -> pc,context"};
    struct rf_selector selectors[SELECTORS];
    struct rf_source *source;
    for (int i = 0; i < SELECTORS; i++)
        PROMISE(rf_selector_parse(&selectors[i], texts[i], NULL) == RF_OK);
    const struct rf_probe_setup setup = {.selectors = selectors,
                                         .n_selectors = SELECTORS,
                                         .any_order = any_order,
                                         .records = records,
                                         .hooks = producer == HOOKS};
    PROMISE(rf_probe_open_idle(&source, &setup, NULL) == RF_OK);
    struct rf_ring *ring = rf_probe_ring(source);
    struct rf_ring_slot *slot = (void *)(ring->memory + rf_ring_slot_offset(0));
    memcpy((uint8_t *)slot + rf_ring_chunk_offset(0), bytes, n);
    count(ring, bytes, n);
    if (producer == HOOKS) {
        merge(ring, bytes, n);
        fill_pockets(ring, slot, bytes, n);
    } else {
        note(ring, slot, bytes, n);
    }
    slot->process = 1;
    slot->family = producer == HOOKS;
    slot->places = producer == HOOKS ? RF_RING_PLACES_MIN : 0;
    slot->head = 1;
    slot->fill[0] = (uint32_t)n;
    slot->state = RF_RING_DONE;
    drain(source);
    rf_source_close(source);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    n = n > RF_RING_CHUNK ? RF_RING_CHUNK : n & ~(size_t)7;
    run(bytes, n, 0, 0, PROBE);
    run(bytes, n, 0, ALL, PROBE);
    run(bytes, n, 1, 0, PROBE);
    run(bytes, n, 0, ALL, HOOKS);
    return 0;
}
