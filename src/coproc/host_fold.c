/* host_fold.c - the plain handler: adds every slot's count to a table by <a, b>, then clears the arrays.
 *
 * Compiled for the host and for the simulated core; see host.h. Roles: `a` and `count`; `b`, `a_high` and
 * `b_high` where the program has them. A slot whose count is 0 is free. A program with `.let keep = 1` has
 * more in its arrays than slots: of these only the counts are cleared that were added. A table that is full
 * refuses new tuples and counts that. */
#include "coproc/host.h"

static uint32_t read_or_zero(const struct rf_window *window, unsigned role, uint32_t slot)
{
    return window->roles[role].mask != 0 ? rf_window_read(window, role, slot) : 0;
}

static int is_same(const struct rf_fold_entry *x, const struct rf_fold_entry *y)
{
    return x->a == y->a && x->b == y->b && x->a_high == y->a_high && x->b_high == y->b_high;
}

static void add(struct rf_table *table, const struct rf_fold_entry *slot)
{
    struct rf_fold_entry *entries = (struct rf_fold_entry *)(table + 1);
    uint32_t at = rf_table_hash(slot->a ^ slot->a_high, slot->b ^ slot->b_high);
    for (;; at++) {
        struct rf_fold_entry *entry = &entries[at & (table->entries - 1)];
        if (entry->count != 0 && !is_same(entry, slot))
            continue;
        if (entry->count == 0 && table->used >= table->entries / 4 * 3) {
            table->refused++;
            return;
        }
        table->used += entry->count == 0;
        uint64_t count = entry->count + slot->count;
        *entry = *slot;
        entry->count = count;
        return;
    }
}

void rf_host_fold(struct rf_window *window, struct rf_table *table)
{
    uint32_t least = window->lets[RF_FOLD_LEAST];
    for (uint32_t i = 0; i < window->slots; i++) {
        uint32_t count = rf_window_read(window, RF_FOLD_COUNT, i);
        if (count == 0 || count < least)
            continue;
        const struct rf_fold_entry slot = {.a = rf_window_read(window, RF_FOLD_A, i),
                                           .b = read_or_zero(window, RF_FOLD_B, i),
                                           .a_high = read_or_zero(window, RF_FOLD_A_HIGH, i),
                                           .b_high = read_or_zero(window, RF_FOLD_B_HIGH, i),
                                           .count = count};
        add(table, &slot);
        rf_window_clear(window, RF_FOLD_COUNT, i);
        window->folded++;
    }
    window->scanned += window->slots;
    window->command = window->lets[RF_FOLD_KEEP] != 0 ? RF_COMMAND_DATA : RF_COMMAND_RESET;
}
