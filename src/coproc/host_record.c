/* host_record.c - the value profiler's handler records slots: the table of loads and their values.
 *
 *     slots in use -> those of `least` samples -> places of a group -> entries of a group -> each is changed
 *
 * Cost: the paper asks for data structures with few cache misses, and overlaps those that remain by modulo scheduling
 * (section 3.5). Here a load that has one or two values is one line of the cache, with its best value in front. Slots are
 * recorded in groups of GROUP: first all places are read, then all entries, then each is changed. The misses of a group
 * are on their way together. The paper writes its handlers in assembly, for one layout of slots. Ours may lie anywhere,
 * which takes a load, a shift and a mask for each part; for the layout of values.uc there is a second copy of the code
 * in which a part is one load. */
#include "coproc/host_values.h"

enum {
    GROUP = 32,
    BLOCK = 256,
    PLACES_PER_LINE = RF_VALUES_LINE / sizeof(uint32_t),
    LINES_EACH = sizeof(struct rf_values_entry) / RF_VALUES_LINE,
};

/* Loads of one stretch of code have places side by side: a line of the cache that one of them brings serves its
 * neighbours. Which stretches fall together is left to a hash. */
static inline uint64_t place_of(uint64_t pc)
{
    uint64_t stretch = (pc / (2 * PLACES_PER_LINE)) * UINT64_C(0x9e3779b97f4a7c15) >> 32;
    return stretch * PLACES_PER_LINE + (pc >> 1 & (PLACES_PER_LINE - 1));
}

/* Loads that it can have. */
static uint32_t room_of(const struct rf_table *table)
{
    return table->entries / 4 * 3;
}

struct rf_values_entry *rf_values_find(struct rf_table *table, uint32_t pc, bool create)
{
    uint32_t *places = rf_values_places(table);
    size_t most = table->entries - 1, at = place_of(pc) & most;
    while (places[at] != 0 && rf_values_at(table, places[at])->pc != pc)
        at = (at + 1) & most;
    if (places[at] != 0)
        return rf_values_at(table, places[at]);
    if (!create || table->used >= room_of(table)) {
        table->refused += create;
        return 0;
    }
    struct rf_values_entry *entry = &rf_values_entries(table)[table->used++];
    places[at] = rf_values_line(table, entry);
    entry->pc = pc;
    return entry;
}

static inline void count(uint16_t *counter)
{
    *counter = (uint16_t)(*counter + (*counter < UINT16_MAX));
}

static void swap_values(struct rf_values_value *x, struct rf_values_value *y)
{
    struct rf_values_value old = *x;
    *x = *y;
    *y = old;
}

uint32_t rf_values_place(const struct rf_values_entry *entry, uint32_t value)
{
    uint32_t at = 0;
    while (at < entry->n && entry->values[at].value != value)
        at++;
    return at;
}

static struct rf_values_value *weakest_of(struct rf_values_entry *entry)
{
    struct rf_values_value *weakest = &entry->values[0];
    for (uint32_t i = 1; i < entry->n; i++)
        weakest = entry->values[i].hits < weakest->hits ? &entry->values[i] : weakest;
    return weakest;
}

/* Did it have at least this many per cent of the samples while it was active? */
static bool makes(const struct rf_values_value *value, uint32_t percent)
{
    uint64_t samples = (uint64_t)value->hits + value->misses;
    return (uint64_t)value->hits * 100 >= samples * percent;
}

/* --- the filter ---------------------------------------------------------------------------------- */

_Static_assert(RF_FILTER_FUNCTIONS == 2, "a load has two bits");
void rf_values_mask(struct rf_window *window, uint32_t pc)
{
    uint32_t first = rf_values_bit(window, pc, 0), second = rf_values_bit(window, pc, 1);
    window->filter[first / 32] |= UINT32_C(1) << first % 32;
    window->filter[second / 32] |= UINT32_C(1) << second % 32;
}

/* Loads that wait are a queue: each names the next. */
void rf_values_let_wait(struct rf_table *table, struct rf_values_entry *entry)
{
    uint32_t line = rf_values_line(table, entry);
    if (table->words[RF_VALUES_WAITING]++ == 0)
        table->words[RF_VALUES_FIRST] = line;
    else
        rf_values_at(table, table->words[RF_VALUES_LAST])->last = line;
    table->words[RF_VALUES_LAST] = line;
    entry->state = RF_VALUES_WAITS;
}

/* --- slots --------------------------------------------------------------------------------------- */

static bool has_second_pass(const struct rf_window *window)
{
    return window->lets[RF_VALUES_ROUTINE] != RF_WINDOW_AS_DECLARED &&
           window->slots / 2 > RF_VALUES_LOOKED_AT;
}

/* The load was known already; this value of it, it seems, was not. */
static void reconsider(struct rf_window *window, struct rf_table *table,
                       struct rf_values_entry *entry, const struct rf_values_value *value)
{
    if (entry->state < RF_VALUES_LOOKED || value->seen != 0 || value->hits == value->times ||
        !has_second_pass(window) ||
        (uint64_t)value->hits * 100 < (uint64_t)entry->total * window->lets[RF_VALUES_LOW])
        return;
    rf_values_let_wait(table, entry);
}

static inline void add_to(struct rf_values_value *value, uint32_t hits, uint32_t misses)
{
    value->hits += hits;
    value->misses += misses;
    count(&value->times);
}

/* A value that is not the first of the list. A full list gives up its weakest for one that is not weaker; the best of them
 * moves to the front. */
static __attribute__((noinline)) void add_other(struct rf_window *window, struct rf_table *table,
                                                struct rf_values_entry *entry, uint32_t value,
                                                uint32_t hits, uint32_t misses)
{
    uint32_t at = rf_values_place(entry, value), n = entry->n;
    struct rf_values_value *to = &entry->values[at];
    if (at == RF_VALUES_KEPT) {
        to = weakest_of(entry);
        if (hits < to->hits)
            return;
    }
    if (at == n) {
        *to = (struct rf_values_value){.value = value};
        entry->n = (uint8_t)(n + (n < RF_VALUES_KEPT));
    }
    add_to(to, hits, misses);
    reconsider(window, table, entry, to);
    if (to->hits > entry->values[0].hits)
        swap_values(to, &entry->values[0]);
}

static __attribute__((noinline)) void judge(struct rf_window *window, struct rf_table *table,
                                            struct rf_values_entry *entry)
{
    const struct rf_values_value *best = &entry->values[0];
    bool clear =
        best->hits + best->misses >= window->lets[RF_VALUES_ENOUGH] &&
        (makes(best, window->lets[RF_VALUES_HIGH]) || !makes(best, window->lets[RF_VALUES_LOW]));
    if (!clear && entry->times < window->lets[RF_VALUES_TIMES])
        return;
    bool wants_upper = has_second_pass(window) && makes(best, window->lets[RF_VALUES_WORTH]);
    entry->state = RF_VALUES_KNOWN;
    if (wants_upper)
        rf_values_let_wait(table, entry);
    table->masked++;
    rf_values_mask(window, entry->pc);
}

/* Slots from the first on that may hold something: the program may count those that it ever looked at. */
static size_t slots_in_use(const struct rf_window *window)
{
    uint32_t reach = window->lets[RF_VALUES_REACH];
    if (reach >= RF_WINDOW_INDEXES || window->indexes[reach] >= window->full[reach] ||
        window->indexes[reach] > window->slots)
        return window->slots;
    return window->indexes[reach];
}

/* Which slots are recorded, and when an open load is judged. */
struct rules {
    uint64_t least, enough, times;
    uint32_t served;
};

/* An open load was found once more. Is it time to judge it? */
static inline bool is_to_be_judged(struct rf_values_entry *entry, const struct rules *rules)
{
    uint64_t samples = (uint64_t)entry->values[0].hits + entry->values[0].misses;
    uint16_t once_more = entry->last != rules->served && entry->times < UINT16_MAX;
    entry->times = (uint16_t)(entry->times + once_more);
    entry->last = rules->served;
    return (entry->times >= rules->times) | (samples >= rules->enough);
}

/* A slot that is to be recorded. */
struct pending {
    uint64_t slot, pc;
    struct rf_values_entry *entry; /* in the load's first place */
    uint64_t fresh;                /* all ones: the place was free, and is the load's now */
};

/* Where the parts of slots lie. */
struct layout {
    struct rf_window_lane pc, value, hits, misses, total;
};

static inline struct layout layout_of(struct rf_window *window)
{
    return (struct layout){.pc = rf_window_lane(window, RF_VALUES_PC),
                           .value = rf_window_lane(window, RF_VALUES_VALUE),
                           .hits = rf_window_lane(window, RF_VALUES_HITS),
                           .misses = rf_window_lane(window, RF_VALUES_MISSES),
                           .total = rf_window_lane(window, RF_VALUES_TOTAL)};
}

/* The layout of values.uc: a word for pc and value each, one for all counters. */
static inline struct layout usual_of(struct layout layout)
{
    uint32_t *counts = layout.total.words;
    return (struct layout){.pc = {layout.pc.words, 0, UINT32_MAX},
                           .value = {layout.value.words, 0, UINT32_MAX},
                           .hits = {counts, 0, UINT8_MAX},
                           .misses = {counts, 8, UINT8_MAX},
                           .total = {counts, 16, UINT16_MAX}};
}

static bool is_usual(const struct layout *layout)
{
    const struct layout usual = usual_of(*layout);
    return rf_lane_equals(layout->pc, usual.pc) && rf_lane_equals(layout->value, usual.value) &&
           rf_lane_equals(layout->hits, usual.hits) &&
           rf_lane_equals(layout->misses, usual.misses) &&
           rf_lane_equals(layout->total, usual.total);
}

/* Put the slot down, and move on if it is worth recording. */
static ALWAYS_INLINE uint8_t *consider(uint8_t *to, struct rf_window_lane total, size_t slot,
                                       uint64_t least)
{
    *to = (uint8_t)slot;
    return to + ((least - 1 - rf_lane_read(total, slot)) >> 63);
}

/* The slots of a block that are worth recording, by their numbers in it. Which ones these are nobody can predict, so
 * there are no branches. Returns how many. */
static ALWAYS_INLINE size_t choose(uint8_t *chosen, struct rf_window_lane total, size_t n,
                                   uint64_t least)
{
    uint8_t *to = chosen;
    size_t slot = 0;
    for (; slot + 4 <= n; slot += 4) {
        to = consider(to, total, slot, least);
        to = consider(to, total, slot + 1, least);
        to = consider(to, total, slot + 2, least);
        to = consider(to, total, slot + 3, least);
    }
    for (; slot < n; slot++)
        to = consider(to, total, slot, least);
    return (size_t)(to - chosen);
}

/* Where the entries of a group are. A load whose place is free gets it, and the next entry. There is room for all of
 * them. */
static ALWAYS_INLINE void gather(struct pending *group, struct rf_table *table,
                                 struct rf_window_lane pc, const uint8_t *chosen, size_t n)
{
    uint32_t *places = rf_values_places(table);
    uint64_t most = table->entries - 1, used = 0;
    uint64_t next = rf_values_line(table, rf_values_entries(table) + table->used);
    for (size_t i = 0; i < n; i++) {
        uint64_t slot = chosen[i], of = rf_lane_read(pc, slot);
        uint32_t *place = &places[place_of(of) & most];
        uint64_t line = *place, fresh = 0 - (uint64_t)(line == 0);
        line += next & fresh;
        *place = (uint32_t)line;
        group[i] = (struct pending){slot, of, rf_values_at(table, line), fresh};
        next += fresh & LINES_EACH;
        used -= fresh;
    }
    table->used += (uint32_t)used;
}

/* The lines that were missing are on their way together. */
static inline void look_up(const struct pending *group, size_t n)
{
    for (const struct pending *p = group; p < group + n; p++)
        p->entry->pc |= (uint32_t)(p->pc & p->fresh);
}

/* Add a slot to its load. The first value of a load is its best. */
static ALWAYS_INLINE void record_slot(struct rf_window *window, struct rf_table *table,
                                      struct rf_values_entry *entry, uint64_t slot,
                                      const struct layout *at, const struct rules *rules)
{
    struct rf_values_value *best = &entry->values[0];
    uint32_t value = (uint32_t)rf_lane_read(at->value, slot), first = 0u - (entry->n == 0);
    uint32_t hits = (uint32_t)rf_lane_read(at->hits, slot);
    uint32_t misses = (uint32_t)rf_lane_read(at->misses, slot);
    entry->total += (uint32_t)rf_lane_read(at->total, slot);
    entry->n = (uint8_t)(entry->n - first);
    best->value |= value & first;
    if (best->value == value)
        add_to(best, hits, misses);
    else
        add_other(window, table, entry, value, hits, misses);
    if (entry->state == RF_VALUES_OPEN && is_to_be_judged(entry, rules))
        judge(window, table, entry);
    else if (entry->state == RF_VALUES_MISSED)
        rf_values_let_wait(table, entry);
}

static ALWAYS_INLINE void record_group(struct rf_window *window, struct rf_table *table,
                                       const struct pending *group, size_t n,
                                       const struct layout *at, const struct rules *rules)
{
    uint32_t recorded = 0;
    for (const struct pending *p = group; p < group + n; p++) {
        struct rf_values_entry *entry = p->entry;
        if (entry->pc != p->pc)
            entry = rf_values_find(table, (uint32_t)p->pc, true);
        if (entry == 0)
            continue;
        record_slot(window, table, entry, p->slot, at, rules);
        recorded++;
    }
    window->folded += recorded;
}

/* In a table that is nearly full: one after the other. */
static __attribute__((noinline)) void record_last(struct rf_window *window, struct rf_table *table,
                                                  const struct rules *rules, size_t slot)
{
    const struct layout at = layout_of(window);
    struct rf_values_entry *entry =
        rf_values_find(table, (uint32_t)rf_lane_read(at.pc, slot), true);
    if (entry == 0)
        return;
    record_slot(window, table, entry, slot, &at, rules);
    window->folded++;
}

/* The lanes of a block of slots. */
static ALWAYS_INLINE struct layout from_slot(struct layout layout, size_t slot)
{
    layout.pc.words += slot;
    layout.value.words += slot;
    layout.hits.words += slot;
    layout.misses.words += slot;
    layout.total.words += slot;
    return layout;
}

static ALWAYS_INLINE void record_all(struct rf_window *window, struct rf_table *table,
                                     const struct layout layout, const struct rules *rules)
{
    struct pending group[GROUP];
    uint8_t chosen[BLOCK];
    size_t slots = slots_in_use(window);
    for (size_t first = 0; first < slots; first += BLOCK) {
        const struct layout at = from_slot(layout, first);
        size_t n =
            choose(chosen, at.total, slots - first < BLOCK ? slots - first : BLOCK, rules->least);
        for (size_t done = 0, some; done < n; done += some) {
            some = n - done < GROUP ? n - done : GROUP;
            if (table->used + some > room_of(table)) {
                for (size_t i = done; i < done + some; i++)
                    record_last(window, table, rules, first + chosen[i]);
                continue;
            }
            gather(group, table, at.pc, chosen + done, some);
            look_up(group, some);
            record_group(window, table, group, some, &at, rules);
        }
    }
    window->scanned += (uint32_t)slots;
}

/* Twice in the code: where the compiler knows the layout, a part of a slot is one load. */
void rf_values_record(struct rf_window *window, struct rf_table *table)
{
    const struct layout layout = layout_of(window);
    uint32_t least = window->lets[RF_VALUES_LEAST];
    const struct rules rules = {
        .least = window->reason == RF_REASON_END || least == 0 ? 1 : least,
        .enough = window->lets[RF_VALUES_ENOUGH],
        .times = window->lets[RF_VALUES_TIMES],
        .served = table->words[RF_VALUES_SERVED],
    };
    if (is_usual(&layout))
        record_all(window, table, usual_of(layout), &rules);
    else
        record_all(window, table, layout, &rules);
}
