/* sound.c - is a handler's table what a handler would leave behind?
 *
 * Beside the simulated core the table lies in the guest's memory, where the program can write, too. At the end it is
 * taken over and worked on natively. So everything that is used as an index or as an end is looked at first. What a
 * table counts is not: a program that wants to can lie about itself. */
#include "coproc/coproc.h"

enum { LINE = 64, ENTRY_LINES = sizeof(struct rf_values_entry) / LINE };

static bool is_full(const struct rf_table *table)
{
    return table->used > table->entries / 4 * 3;
}

/* Fewer than all are taken: who looks for one that is not there comes to an end. */
bool rf_sound_fold(struct rf_table *table, uint32_t slots)
{
    const struct rf_fold_entry *entries = (const struct rf_fold_entry *)(table + 1);
    uint32_t taken = 0;
    (void)slots;
    for (uint32_t i = 0; i < table->entries; i++)
        taken += entries[i].count != 0;
    return !is_full(table) && taken < table->entries;
}

/* The number of the line is that of an entry in use. */
static bool is_entry(struct rf_table *table, uint32_t line)
{
    uint32_t first = (uint32_t)((char *)rf_values_entries(table) - (char *)table) / LINE;
    return line >= first && (line - first) % ENTRY_LINES == 0 &&
           (line - first) / ENTRY_LINES < table->used;
}

static bool has_sound_places(struct rf_table *table)
{
    const uint32_t *places = rf_values_places(table);
    uint32_t taken = 0;
    for (uint32_t i = 0; i < table->entries; i++) {
        if (places[i] != 0 && !is_entry(table, places[i]))
            return false;
        taken += places[i] != 0;
    }
    return taken < table->entries;
}

static bool has_sound_entries(struct rf_table *table)
{
    const struct rf_values_entry *entries = rf_values_entries(table);
    for (uint32_t i = 0; i < table->used; i++)
        if (entries[i].n > RF_VALUES_KEPT || entries[i].state > RF_VALUES_KNOWN)
            return false;
    return true;
}

/* The queue has as many as it says, all of them wait, and it ends with its last: what waits keeps its link. */
static bool has_sound_queue(struct rf_table *table)
{
    uint32_t waiting = table->words[RF_VALUES_WAITING], line = table->words[RF_VALUES_FIRST];
    for (uint32_t i = 0; i < waiting; i++) {
        const struct rf_values_entry *entry = (const void *)((char *)table + (size_t)line * LINE);
        if (i >= table->used || !is_entry(table, line) || entry->state != RF_VALUES_WAITS)
            return false;
        if (line == table->words[RF_VALUES_LAST]) /* a ring would come to it too early */
            return i + 1 == waiting;
        line = entry->last;
    }
    return waiting == 0;
}

bool rf_sound_values(struct rf_table *table, uint32_t slots)
{
    return !is_full(table) && table->words[RF_VALUES_PASS] <= 1 &&
           table->words[RF_VALUES_LOOKING] <= slots &&
           table->words[RF_VALUES_SPLIT] <= RF_VALUES_SPLIT_MAX && has_sound_places(table) &&
           has_sound_entries(table) && has_sound_queue(table);
}
