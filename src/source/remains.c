/* remains.c - the table of merged events of a process that is over, and its notes that were not merged yet.
 * probe_words.h says how both change, and what is known of the note that was being merged when the process was killed. */
#include "source/remains.h"

/* All of them are counted with one number: the notes first. */
enum { ALL = RF_RING_NOTES_ROOM + RF_RING_TABLE };

static uint64_t read_word(const uint64_t *shared)
{
    return __atomic_load_n(shared, __ATOMIC_ACQUIRE);
}

/* An entry as it goes to the ring. The decoder refuses a site that there is not. */
static void take_note(const uint64_t *note, uint64_t words[2])
{
    uint64_t site = read_word(&note[0]);
    words[0] = rf_entry(site < RF_ENTRY_SITES ? (uint32_t)site : RF_ENTRY_SITES - 1, 1);
    words[1] = read_word(&note[1]);
}

/* The place of the entry that is not to be trusted, and what stands there; RF_RING_TABLE: there is none. */
static uint32_t doubtful_entry(const struct rf_remains *remains, uint64_t words[2])
{
    enum rf_stage kind = rf_stage_kind(remains->stage);
    uint32_t note = rf_stage_note(remains->stage);
    if ((kind != RF_STAGE_SAME && kind != RF_STAGE_OTHER) || note >= RF_RING_NOTES_ROOM)
        return RF_RING_TABLE;
    take_note(&remains->notes[2 * (size_t)note], words);
    uint32_t site = rf_entry_site(words[0]);
    words[0] =
        kind == RF_STAGE_SAME ? rf_entry(site, rf_entry_count(remains->stage)) : RF_ENTRY_NONE;
    return rf_entry_place(site, words[1]);
}

/* Entry number `place`. An entry of a program that runs may change while it is read. */
static void take_entry(const struct rf_remains *remains, uint32_t place, uint64_t words[2])
{
    enum { TRIES = 1000 };
    const uint64_t *entry = &remains->table[2 * (size_t)place];
    for (unsigned i = 0; i < TRIES; i++) {
        words[0] = read_word(&entry[0]);
        words[1] = read_word(&entry[1]);
        if (words[0] == read_word(&entry[0]))
            return;
    }
}

/* Number `at` of all, as words of the stream; returns how many words: 0, there is nothing. */
static size_t take(const struct rf_remains *remains, uint32_t at, uint64_t *words)
{
    uint32_t place = at - RF_RING_NOTES_ROOM;
    if (at < RF_RING_NOTES_ROOM) {
        if (at < rf_stage_note(remains->stage) || at >= remains->n_notes)
            return 0;
        take_note(&remains->notes[2 * (size_t)at], words);
        return 2;
    }
    if (place != doubtful_entry(remains, words))
        take_entry(remains, place, words);
    return words[0] != 0 && words[0] != RF_ENTRY_NONE ? 2 : 0;
}

void rf_remains_fetch(const struct rf_ring *ring, struct rf_process *process,
                      struct rf_piece *piece)
{
    struct rf_remains remains;
    bool are_there = rf_ring_remains(ring, &process->reader, &remains);
    piece->n = 0;
    for (; process->remains_at < ALL && piece->n + 2 <= RF_PROCESSES_WORDS; process->remains_at++)
        piece->n +=
            are_there ? take(&remains, (uint32_t)process->remains_at, piece->words + piece->n) : 0;
    piece->process = process;
    piece->whole = piece->last = true;
}

bool rf_remains_has_more(const struct rf_process *process)
{
    return process->book.n_sites > 0 && process->remains_at < ALL;
}
