/* host_fold.c - the plain handler: adds every slot's count to a table by <a, b>, then clears the arrays.
 *
 * Compiled for the host and for the simulated core; see host.h. Roles: `a` and `count`; `b`, `a_high` and
 * `b_high` where the program has them. A slot whose count is 0 is free. A program with `.let keep = 1` has
 * more in its arrays than slots: of these only the counts are cleared that were added. A table that is full
 * refuses new tuples and counts that.
 *
 * Slots are added in groups: first all entries that they hash to are read, then each is changed, so that the
 * cache misses of a group are on their way together (Zilles and Sohi, section 3.5). The code is there twice: slots may
 * lie anywhere, and where they lie as those of sampling.uc do, the compiler knows it, so that what the value profiler is
 * compared with is not dearer than it has to be. */
#include "coproc/host.h"

enum { GROUP = 16 };

/* A slot that is to be added. */
struct pending {
    size_t slot;
    struct rf_fold_entry entry;
    uint64_t at;    /* where the table should have it */
    uint64_t known; /* the count there */
};

static uint64_t hash(uint64_t a, uint64_t b)
{
    uint64_t h = a * UINT64_C(0x9e3779b97f4a7c15) ^ b * UINT64_C(0xc2b2ae3d27d4eb4f);
    return h >> 32 ^ h >> 47;
}

/* Where the parts of slots lie. */
struct layout {
    struct rf_window_lane a, count, b, a_high, b_high;
};

static inline struct layout layout_of(struct rf_window *window)
{
    return (struct layout){.a = rf_window_lane(window, RF_FOLD_A),
                           .count = rf_window_lane(window, RF_FOLD_COUNT),
                           .b = rf_window_lane(window, RF_FOLD_B),
                           .a_high = rf_window_lane(window, RF_FOLD_A_HIGH),
                           .b_high = rf_window_lane(window, RF_FOLD_B_HIGH)};
}

/* The layout of sampling.uc: a word for each part, no upper half of a. */
static inline struct layout usual_of(struct layout layout)
{
    return (struct layout){.a = {layout.a.words, 0, UINT32_MAX},
                           .count = {layout.count.words, 0, UINT32_MAX},
                           .b = {layout.b.words, 0, UINT32_MAX},
                           .a_high = {layout.a_high.words, 0, 0},
                           .b_high = {layout.b_high.words, 0, UINT32_MAX}};
}

static bool is_usual(const struct layout *layout)
{
    const struct layout usual = usual_of(*layout);
    return rf_lane_equals(layout->a, usual.a) && rf_lane_equals(layout->count, usual.count) &&
           rf_lane_equals(layout->b, usual.b) && rf_lane_equals(layout->a_high, usual.a_high) &&
           rf_lane_equals(layout->b_high, usual.b_high);
}

/* The next ones from slot *from on, which moves behind them. Returns how many, GROUP at the most. */
static ALWAYS_INLINE size_t gather(struct pending *group, const struct rf_window *window,
                                   const struct layout *at, size_t *from)
{
    uint64_t least = window->lets[RF_FOLD_LEAST];
    size_t slot = *from, slots = window->slots;
    struct pending *to = group;
    for (; slot < slots && to < group + GROUP; slot++) {
        uint64_t n = rf_lane_read(at->count, slot);
        if (n == 0 || n < least)
            continue;
        to->slot = slot;
        to->entry.a = rf_lane_read(at->a, slot) | rf_lane_read(at->a_high, slot) << 32;
        to->entry.b = rf_lane_read(at->b, slot) | rf_lane_read(at->b_high, slot) << 32;
        to->entry.count = n;
        to++;
    }
    *from = slot;
    return (size_t)(to - group);
}

static inline void look_up(struct pending *group, size_t n, const struct rf_table *table)
{
    const struct rf_fold_entry *entries = (const struct rf_fold_entry *)(table + 1);
    uint64_t most = table->entries - 1;
    for (struct pending *p = group; p < group + n; p++) {
        p->at = hash(p->entry.a, p->entry.b) & most;
        p->known = entries[p->at].count;
    }
}

/* Behind the place where it should be, or a new one. */
static __attribute__((noinline)) void add_elsewhere(struct rf_table *table,
                                                    const struct pending *pending)
{
    struct rf_fold_entry *entries = (struct rf_fold_entry *)(table + 1);
    const struct rf_fold_entry *slot = &pending->entry;
    uint64_t at = pending->at, most = table->entries - 1;
    while (entries[at].count != 0 && (entries[at].a != slot->a || entries[at].b != slot->b))
        at = (at + 1) & most;
    if (entries[at].count != 0)
        entries[at].count += slot->count;
    else if (table->used >= table->entries / 4 * 3)
        table->refused++;
    else {
        entries[at] = *slot;
        table->used++;
    }
}

static inline void add_group(struct rf_window *window, struct rf_table *table,
                             const struct pending *group, size_t n)
{
    struct rf_fold_entry *entries = (struct rf_fold_entry *)(table + 1);
    bool keep = window->lets[RF_FOLD_KEEP] != 0 && !window->roles[RF_FOLD_COUNT].in_keys;
    for (const struct pending *p = group; p < group + n; p++) {
        struct rf_fold_entry *entry = &entries[p->at];
        if (p->known != 0 && entry->a == p->entry.a && entry->b == p->entry.b)
            entry->count += p->entry.count;
        else
            add_elsewhere(table, p);
        if (keep)
            rf_lane_write(rf_window_lane(window, RF_FOLD_COUNT), p->slot, 0);
    }
    window->folded += (uint32_t)n;
}

static ALWAYS_INLINE void add_all(struct rf_window *window, struct rf_table *table,
                                  const struct layout layout)
{
    struct pending group[GROUP];
    for (size_t slot = 0; slot < window->slots;) {
        size_t n = gather(group, window, &layout, &slot);
        look_up(group, n, table);
        add_group(window, table, group, n);
    }
}

/* Twice in the code: where the compiler knows the layout, a part of a slot is one load. */
void rf_host_fold(struct rf_window *window, struct rf_table *table)
{
    const struct layout layout = layout_of(window);
    if (is_usual(&layout))
        add_all(window, table, usual_of(layout));
    else
        add_all(window, table, layout);
    window->scanned += window->slots;
    window->command = window->lets[RF_FOLD_KEEP] != 0 ? RF_COMMAND_DATA : RF_COMMAND_RESET;
}
