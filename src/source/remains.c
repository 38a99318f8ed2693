/* remains.c - the table of merged events of a process that is over. probe_words.h says how its entries change. */
#include "source/remains.h"

/* A process that was killed while an entry made room for another leaves one that is not whole. It has the old word: that
 * belongs elsewhere with the new site, or has gone to the ring with the same. A full entry makes room for itself. */
static bool is_whole(const struct rf_process *process, uint32_t place, uint64_t key, uint64_t word)
{
    const uint64_t *last = process->last_entry;
    bool is_last = word == last[1] && rf_entry_site(key) == rf_entry_site(last[0]);
    bool was_full = rf_entry_count(last[0]) == RF_ENTRY_FULL && key != last[0];
    return place == rf_entry_place(key, word) && (!is_last || was_full || last[0] == 0);
}

/* Entry number `place`, as words of the stream; returns how many words: 0, it is empty. An entry of a program that runs
 * may change while it is read. */
static size_t read_entry(const struct rf_process *process, const uint64_t *table, uint32_t place,
                         uint64_t *words)
{
    enum { TRIES = 1000 };
    const uint64_t *entry = &table[2 * place];
    for (unsigned i = 0; i < TRIES; i++) {
        words[0] = __atomic_load_n(&entry[0], __ATOMIC_ACQUIRE);
        words[1] = __atomic_load_n(&entry[1], __ATOMIC_ACQUIRE);
        if (words[0] == __atomic_load_n(&entry[0], __ATOMIC_ACQUIRE))
            break;
    }
    return rf_entry_count(words[0]) != 0 && is_whole(process, place, words[0], words[1]) ? 2 : 0;
}

void rf_remains_fetch(const struct rf_ring *ring, struct rf_process *process,
                      struct rf_piece *piece)
{
    const uint64_t *table = rf_ring_table(ring, &process->reader);
    piece->n = 0;
    for (; process->table_at < RF_RING_TABLE && piece->n + 2 <= RF_PROCESSES_WORDS;
         process->table_at++)
        piece->n += table == NULL ? 0
                                  : read_entry(process, table, (uint32_t)process->table_at,
                                               piece->words + piece->n);
    piece->process = process;
    piece->whole = piece->last = true;
}

bool rf_remains_has_more(const struct rf_process *process)
{
    return process->book.n_sites > 0 && process->table_at < RF_RING_TABLE;
}
