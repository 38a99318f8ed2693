/* tell.c - one event, in all the ways that it may be told. */
#include "hooks.h"

static void stream(struct rf_hooks_lane *lane, const struct rf_ring_place *place,
                   const struct rf_hooks_event *event)
{
    unsigned want = rf_hooks_options.want[event->kind];
    uint64_t *start = (uint64_t *)lane->slot->cursor, *to = start;
    *to++ = place->path;
    if ((want & RF_HOOKS_ADDR) != 0)
        *to++ = event->addr;
    if ((want & RF_HOOKS_VALUE) != 0)
        *to++ = event->value;
    rf_hooks_commit(lane, (uint32_t)(to - start));
}

uint64_t rf_hooks_tell_parts(struct rf_hooks_lane *lane, struct rf_ring_word *entry)
{
    while (entry->count > RF_HOOKS_TIMES_MAX) {
        uint64_t *to = (uint64_t *)lane->slot->cursor;
        /* First: a kill while the ring is full must not count it twice. */
        entry->count -= RF_HOOKS_TIMES_MAX;
        lane->slot->produced[entry->kind] += RF_HOOKS_TIMES_MAX;
        to[0] = entry->path | (uint64_t)(RF_HOOKS_TIMES_MAX - 1) << 32;
        to[1] = entry->word;
        rf_hooks_commit(lane, 2);
    }
    return entry->count;
}

static void merge(struct rf_hooks_lane *lane, const struct rf_ring_place *place, uint64_t word,
                  unsigned kind)
{
    struct rf_ring_word *entry = rf_hooks_entry(lane, place->key, word);
    if (rf_hooks_is_merged(entry, place->key, word))
        entry->count++;
    else
        rf_hooks_replace(lane, entry, place, word, kind);
}

static void tell(struct rf_hooks_lane *lane, uint64_t key, const struct rf_hooks_event *event)
{
    struct rf_ring_place *place = rf_hooks_place(lane, key, event);
    unsigned mode = rf_hooks_mode[event->kind];
    if (place == NULL || place->path == RF_HOOKS_NO_PATH)
        return;
    if (mode >= RF_HOOKS_SAMPLE && rf_hooks_skip(lane, event->kind, event->pc))
        return;
    if (mode == RF_HOOKS_ADDRESS || mode == RF_HOOKS_LOADED) {
        merge(lane, place, mode == RF_HOOKS_ADDRESS ? event->addr : event->value, event->kind);
        return;
    }
    lane->slot->produced[event->kind]++;
    if (mode == RF_HOOKS_COUNT)
        place->count++;
    else
        stream(lane, place, event);
}

void rf_hooks_tell(uint64_t key, const struct rf_hooks_event *event)
{
    struct rf_hooks_lane *lane = rf_hooks_find_lane(rf_hooks_stack());
    if (lane == NULL || rf_hooks_mode[event->kind] == RF_HOOKS_OFF)
        return;
    lane->busy = rf_hooks_stack();
    rf_hooks_then();
    tell(lane, key, event);
    rf_hooks_leave(lane);
}
