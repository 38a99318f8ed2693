/* tell.c - one event, in all the ways that it may be told. */
#include "hooks.h"

static void stream(struct rf_hooks_lane *lane, const struct rf_ring_place *place,
                   const struct rf_hooks_event *event)
{
    unsigned want = rf_hooks_options.want[event->kind];
    uint64_t *to = rf_hooks_cursor(lane);
    *to++ = place->path;
    if ((want & RF_HOOKS_ADDR) != 0)
        *to++ = event->addr;
    if ((want & RF_HOOKS_VALUE) != 0)
        *to++ = event->value;
    rf_hooks_commit(lane, to);
}

/* A count that no processor can have reached was written by another process: it counts once. */
#define COUNT_MAX (UINT64_C(1) << 48)

uint64_t rf_hooks_tell_parts(struct rf_hooks_lane *lane, struct rf_ring_word *entry)
{
    uint64_t left = __atomic_load_n(&entry->count, __ATOMIC_RELAXED);
    if (left > COUNT_MAX)
        left = 1;
    while (left > RF_HOOKS_TIMES_MAX) {
        uint64_t *to = rf_hooks_cursor(lane);
        /* First: a kill while the ring is full must not count it twice. */
        left -= RF_HOOKS_TIMES_MAX;
        entry->count = left;
        lane->slot->produced[__atomic_load_n(&entry->kind, __ATOMIC_RELAXED) % RF_RING_GROUPS] +=
            RF_HOOKS_TIMES_MAX;
        to[0] = entry->path | (uint64_t)(RF_HOOKS_TIMES_MAX - 1) << 32;
        to[1] = entry->word;
        rf_hooks_commit(lane, to + 2);
    }
    return left;
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
    if (place != NULL && place->path == RF_HOOKS_NO_PATH)
        return;
    if (mode >= RF_HOOKS_SAMPLE && rf_hooks_skip(lane, event->kind, event->pc))
        return;
    if (place == NULL) { /* one too many; whether it was wanted is not asked each time */
        rf_hooks_count_untold();
        return;
    }
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
    if (rf_hooks_mode[event->kind] == RF_HOOKS_OFF)
        return;
    struct rf_hooks_lane *lane = rf_hooks_find_lane(rf_hooks_stack());
    if (lane == NULL) {
        rf_hooks_count_untold();
        return;
    }
    lane->busy = rf_hooks_stack();
    rf_hooks_then();
    tell(lane, key, event);
    rf_hooks_leave(lane);
}
