/* tally.c - tuple to count, open addressing with linear probing. */
#include "engine/stratified/tally.h"
#include "base/alloc.h"
#include "base/hash.h"
#include <string.h>

enum { BITS_FIRST = 6 };

static size_t bytes(const struct rf_tally *tally)
{
    return rf_tally_slots(tally) * sizeof(struct rf_message);
}

unsigned rf_tally_bits(size_t n)
{
    unsigned bits = 1;
    while (((size_t)1 << bits) / 8 * 5 < n)
        bits++;
    return bits;
}

rf_status rf_tally_init(struct rf_tally *tally, const struct rf_alloc *alloc, size_t ceiling)
{
    *tally = (struct rf_tally){.bits = BITS_FIRST, .alloc = alloc, .ceiling = ceiling};
    tally->key = rf_hash_secret(tally);
    tally->peak = bytes(tally);
    if (ceiling != 0 && tally->peak > ceiling)
        return RF_ENOMEM;
    tally->slots = rf_alloc_get(alloc, bytes(tally));
    if (tally->slots == NULL)
        return RF_ENOMEM;
    rf_tally_clear(tally);
    return RF_OK;
}

void rf_tally_release(struct rf_tally *tally)
{
    if (tally->alloc != NULL)
        rf_alloc_free(tally->alloc, tally->slots, bytes(tally));
}

void rf_tally_clear(struct rf_tally *tally)
{
    memset(tally->slots, 0, bytes(tally));
    tally->used = 0;
}

/* The slot of the tuple, or the empty one where it belongs. */
static struct rf_message *slot_of(const struct rf_tally *tally, struct rf_tuple t)
{
    size_t mask = rf_tally_slots(tally) - 1;
    for (size_t i = (size_t)(rf_hash_multiply(t, tally->key) >> (64 - tally->bits));;
         i = (i + 1) & mask) {
        struct rf_message *slot = &tally->slots[i];
        if (slot->count == 0 || (slot->tuple.a == t.a && slot->tuple.b == t.b))
            return slot;
    }
}

static rf_status grow(struct rf_tally *tally)
{
    struct rf_tally old = *tally;
    size_t both = bytes(&old) * 3;
    if (tally->alloc == NULL || (tally->ceiling != 0 && both > tally->ceiling))
        return RF_ENOMEM;
    tally->bits++;
    tally->slots = rf_alloc_get(tally->alloc, bytes(tally));
    if (tally->slots == NULL) {
        *tally = old;
        return RF_ENOMEM;
    }
    rf_tally_clear(tally);
    for (size_t i = 0; i < rf_tally_slots(&old); i++)
        if (old.slots[i].count != 0)
            rf_tally_add(tally, &old.slots[i]);
    rf_tally_release(&old);
    if (both > tally->peak)
        tally->peak = both;
    return RF_OK;
}

rf_status rf_tally_reserve(struct rf_tally *tally, size_t n)
{
    while (tally->used + n > rf_tally_slots(tally) / 8 * 5) {
        rf_status status = grow(tally);
        if (status != RF_OK)
            return status;
    }
    return RF_OK;
}

void rf_tally_add(struct rf_tally *tally, const struct rf_message *message)
{
    struct rf_message *slot = slot_of(tally, message->tuple);
    if (slot->count == 0) {
        slot->tuple = message->tuple;
        tally->used++;
    }
    slot->count += message->count;
    slot->samples += message->samples;
}

struct rf_message *rf_tally_find(const struct rf_tally *tally, struct rf_tuple tuple)
{
    struct rf_message *slot = slot_of(tally, tuple);
    return slot->count != 0 ? slot : NULL;
}
