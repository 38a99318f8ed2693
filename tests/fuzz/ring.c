/* Any bytes as the words by which a slot of the ring is governed, and as what is in it: heads, tails, fills, cursors, stages,
 * tables and bursts as a hostile program could leave them. The collector copies no byte from beyond a slot, ends, and
 * hands out what makes sense. */
#include "fuzz.h"
#include "source/probe.h"
#include "source/ring.h"
#include <riffle/selector.h>
#include <string.h>

enum { SLOTS = 2, READS_MAX = 100, NOBODY = 1 << 30 }; /* no process has such a number */

struct input {
    const uint8_t *bytes;
    size_t n;
};

/* The next bytes, as many as there are. */
static void take(struct input *input, void *to, size_t size)
{
    size_t n = size < input->n ? size : input->n;
    memcpy(to, input->bytes, n);
    input->bytes += n;
    input->n -= n;
}

static struct rf_ring_slot *slot_at(const struct rf_ring *ring, uint32_t slot)
{
    return (void *)(ring->memory + rf_ring_slot_offset(slot));
}

/* Half of the rest for each slot: first the page that governs it, then its first chunk. */
static void fill_slots(const struct rf_ring *ring, struct input input)
{
    for (uint32_t i = 0; i < ring->slots; i++) {
        struct rf_ring_slot *slot = slot_at(ring, i);
        struct input half = {input.bytes + i * (input.n / SLOTS), input.n / SLOTS};
        take(&half, slot, sizeof *slot);
        uint8_t *chunk = (uint8_t *)slot + rf_ring_chunk_offset(0);
        take(&half, chunk, RF_RING_CHUNK);
        slot->pid |= NOBODY;
        slot->base = slot->base % 2 == 0 ? (uint64_t)(uintptr_t)slot : slot->base;
    }
}

static void look_into(struct rf_ring *ring, struct rf_ring_reader *reader)
{
    struct rf_remains remains;
    size_t n, n_pockets;
    uint64_t sum = 0;
    if (rf_ring_remains(ring, reader, &remains)) {
        PROMISE(remains.n_notes <= RF_RING_NOTES_ROOM);
        sum += remains.n_notes > 0 ? remains.notes[2 * (size_t)remains.n_notes - 1] : 0;
    }
    const struct rf_ring_place *places = rf_ring_places(ring, reader, &n);
    PROMISE(places == NULL || n <= RF_RING_PLACES_MAX);
    const struct rf_ring_word *words = rf_ring_words(ring, reader);
    const struct rf_ring_pocket *pockets = rf_ring_pockets(ring, reader, &n_pockets);
    PROMISE(n_pockets <= RF_RING_POCKETS);
    sum += n_pockets > 0 ? pockets[n_pockets - 1].words[RF_RING_POCKET_WORDS - 1] : 0;
    sum += places != NULL ? places[n - 1].count : 0;
    sum += words != NULL ? words[RF_RING_WORDS - 1].count : 0;
    for (unsigned i = 0; i < RF_RING_GROUPS; i++)
        sum += rf_ring_count_skipped(ring, reader, i) + rf_ring_count_produced(ring, reader, i);
    __asm__ volatile("" : : "r"(sum));
}

static void read_slot(struct rf_ring *ring, uint32_t slot, enum rf_ring_how how)
{
    static uint64_t words[RF_RING_CHUNK / 8];
    struct rf_ring_reader reader;
    size_t n;
    bool whole;
    if (rf_ring_holder(ring, slot) == 0)
        return;
    rf_ring_attach(ring, slot, &reader);
    for (int i = 0; i < READS_MAX; i++) {
        if (rf_ring_read(ring, &reader, how, words, &n, &whole) != RF_OK || (n == 0 && !whole))
            break;
        PROMISE(n <= RF_RING_CHUNK / 8);
        if (!whole)
            rf_ring_advance(&reader, n);
    }
    look_into(ring, &reader);
}

/* Without a collector behind it. */
static void read_bare(struct input input)
{
    struct rf_ring ring;
    struct rf_probe_bursts bursts[RF_RING_CLOCKS];
    struct rf_ring_bursts shared;
    PROMISE(rf_ring_open(&ring, SLOTS, true, NULL) == RF_OK);
    struct input rest = input;
    memset(&shared, 0, sizeof shared);
    take(&rest, &shared, sizeof shared);
    PROMISE(rf_ring_read_bursts(&shared, bursts) <= RF_RING_CLOCKS);
    for (enum rf_ring_how how = RF_RING_WHOLE; how <= RF_RING_REST; how++) {
        fill_slots(&ring, input);
        for (uint32_t slot = 0; slot < SLOTS; slot++)
            read_slot(&ring, slot, how);
    }
    rf_ring_close(&ring);
}

static void drain(struct input input, int hooks)
{
    struct rf_selector selector;
    struct rf_source *source;
    struct rf_batch batch;
    struct rf_error error = {""};
    rf_status status;
    PROMISE(rf_selector_parse(&selector, "any -> pc,value", NULL) == RF_OK);
    const struct rf_probe_setup setup = {
        .selectors = &selector, .n_selectors = 1, .slots = SLOTS, .any_order = 1, .hooks = hooks};
    PROMISE(rf_probe_open_idle(&source, &setup, NULL) == RF_OK);
    fill_slots(rf_probe_ring(source), input);
    while ((status = rf_source_next(source, &batch, &error)) == RF_OK && batch.n + batch.lost > 0)
        ;
    PROMISE(status == RF_OK || error.message[0] != '\0');
    rf_source_close(source);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    const struct input input = {bytes, n};
    read_bare(input);
    drain(input, 0);
    drain(input, 1);
    return 0;
}
