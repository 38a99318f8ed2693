/* pieces.c - which words come next.
 *
 * A slot is read chunk by chunk, all slots in turn. Once per tick, however busy the ring is, new processes
 * are admitted, and the chunks that are being filled are drained up to their last message. */
#include "source/processes.h"
#include "source/remains.h"
#include "base/error.h"

enum { TICK_MS = 100 };

static rf_status read_piece(struct rf_processes *processes, struct rf_process *process,
                            enum rf_ring_how how, struct rf_piece *piece, struct rf_error *error)
{
    if (rf_ring_read(&processes->ring, &process->reader, how, piece->words, &piece->n,
                     &piece->whole) != RF_OK)
        return rf_processes_damaged(error);
    piece->process = process;
    piece->last = how == RF_RING_REST;
    if (piece->n > 0 && !rf_processes_begin(processes, process))
        processes->status = RF_ENOMEM;
    return RF_OK;
}

/* A whole chunk from the next process that has one. */
static rf_status fetch_whole(struct rf_processes *processes, struct rf_piece *piece,
                             struct rf_error *error)
{
    for (uint32_t i = 0; i < processes->slots_used; i++) {
        struct rf_process *process = &processes->list[processes->next_slot];
        processes->next_slot = (processes->next_slot + 1) % processes->slots_used;
        if (process->used && process->has_book && !rf_processes_must_wait(processes, process)) {
            rf_status status = read_piece(processes, process, RF_RING_WHOLE, piece, error);
            if (status != RF_OK || piece->n > 0)
                return status;
        }
    }
    return RF_OK;
}

/* A child without a book can still get one while its parent lives. Parents have smaller numbers than their children; a program
 * that writes to the ring can claim otherwise, and a process that is its own parent would wait for ever. */
static bool waits_for_book(struct rf_processes *processes, struct rf_process *process)
{
    const struct rf_ring_reader *reader = &process->reader;
    if (!process->has_book)
        rf_processes_inherit(processes, process);
    return !process->has_book && reader->parent < reader->process &&
           rf_processes_find(processes, reader->parent) != NULL;
}

/* A killed process could not tell what it skipped since its last burst; its counters tell it. A message is made of them.
 * The program can write anything there. A group that has counted less than was told already gets nothing. */
static void tell_rest(struct rf_processes *processes, struct rf_process *process,
                      struct rf_piece *piece)
{
    process->told_rest = true;
    if (process->told_end || processes->n_groups == 0)
        return;
    piece->process = process;
    piece->whole = piece->last = true;
    piece->n = 2 + processes->n_groups;
    piece->words[0] = RF_WORD_HEADER(RF_WORD_SKIPPED, piece->n);
    piece->words[1] = UINT64_MAX;
    for (unsigned i = 0; i < processes->n_groups; i++) {
        uint64_t all = rf_ring_count_skipped(&processes->ring, &process->reader, i);
        piece->words[2 + i] = all > process->skipped[i] ? all - process->skipped[i] : 0;
    }
}

bool rf_processes_fetch_tables(struct rf_processes *processes, struct rf_piece *piece)
{
    for (size_t i = 0; i < processes->n_slots; i++) {
        struct rf_process *process = &processes->list[i];
        if (process->used && process->has_book && rf_remains_has_more(process)) {
            rf_remains_fetch(&processes->ring, process, piece);
            return true;
        }
    }
    return false;
}

/* One process in a pass over all: read its half-filled chunk. A process that is over is read to its end, its counters
 * are read, and it is removed. Sets `more` when the process must be looked at again. */
static rf_status fetch_rest_of(struct rf_processes *processes, struct rf_process *process,
                               struct rf_piece *piece, bool *more, struct rf_error *error)
{
    *more = false;
    if (waits_for_book(processes, process) || rf_processes_must_wait(processes, process))
        return RF_OK;
    bool over = rf_processes_is_over(processes, process);
    if (over && process->drained && !process->told_rest) {
        tell_rest(processes, process, piece);
        *more = true;
        return RF_OK;
    }
    if (over && process->drained && process->has_book && rf_remains_has_more(process)) {
        rf_remains_fetch(&processes->ring, process, piece);
        *more = true;
        return RF_OK;
    }
    if (over && (process->drained || !process->has_book)) {
        piece->tally = *more = process->has_book && !process->tallied;
        if (piece->tally)
            piece->process = process;
        else
            rf_processes_bury(processes, process);
        return RF_OK;
    }
    if (!process->has_book)
        return RF_OK;
    rf_status status =
        read_piece(processes, process, over ? RF_RING_REST : RF_RING_PART, piece, error);
    process->drained = over && !piece->whole;
    *more = over;
    return status;
}

static bool is_there(const struct rf_piece *piece)
{
    return piece->n > 0 || piece->tally;
}

/* Continue the pass until there is something to decode. */
static rf_status fetch_rest(struct rf_processes *processes, struct rf_piece *piece,
                            struct rf_error *error)
{
    while (processes->rest_slot < processes->n_slots) {
        struct rf_process *process = &processes->list[processes->rest_slot];
        bool more = false;
        rf_status status =
            process->used ? fetch_rest_of(processes, process, piece, &more, error) : RF_OK;
        processes->rest_slot += !more;
        if (status != RF_OK || is_there(piece))
            return status;
    }
    return RF_OK;
}

/* Once per tick, admit new processes and begin a pass. After the program has ended, passes follow each other
 * without a wait. */
static void tick(struct rf_processes *processes)
{
    double now = rf_spawn_clock();
    bool due = now >= processes->next_tick || rf_spawn_ended(&processes->spawn, false);
    if (!due || processes->rest_slot < processes->n_slots)
        return;
    processes->next_tick = now + TICK_MS / 1e3;
    processes->rest_slot = 0;
    rf_processes_attach_new(processes);
}

/* First the rest of this tick's pass, then whole chunks. */
static rf_status look_around(struct rf_processes *processes, struct rf_piece *piece,
                             struct rf_error *error)
{
    tick(processes);
    rf_status status = fetch_rest(processes, piece, error);
    if (status != RF_OK || is_there(piece))
        return status;
    status = fetch_whole(processes, piece, error);
    if (status != RF_OK || piece->n > 0)
        return status;
    rf_processes_attach_new(processes);
    return fetch_whole(processes, piece, error);
}

/* Everybody has told its end: the program will be over at any moment, and nobody rings for that. */
static bool is_ending(const struct rf_processes *processes)
{
    for (uint32_t slot = 0; slot < processes->slots_used; slot++) {
        const struct rf_process *process = &processes->list[slot];
        if (process->used && !rf_ring_is_done(&processes->ring, &process->reader))
            return false;
    }
    return processes->slots_used > 0;
}

/* Wait for a sign of the program. For its end wait a moment at first, and longer when it does not come. */
static void wait_for_sign(struct rf_processes *processes, uint32_t bell)
{
    if (!is_ending(processes))
        processes->moment_ms = 0;
    else if (processes->moment_ms < TICK_MS)
        processes->moment_ms = 2 * processes->moment_ms + 1;
    bool is_short = processes->moment_ms > 0 && processes->moment_ms < TICK_MS;
    rf_ring_wait(&processes->ring, bell, is_short ? processes->moment_ms : TICK_MS);
}

rf_status rf_processes_fetch(struct rf_processes *processes, struct rf_piece *piece, bool *idle,
                             struct rf_error *error)
{
    uint32_t bell = rf_ring_bell(&processes->ring);
    piece->n = 0;
    rf_status status = look_around(processes, piece, error);
    if (status == RF_OK && processes->status != RF_OK)
        status = rf_fail(error, processes->status, "no memory for another process");
    *idle = status == RF_OK && !is_there(piece);
    if (*idle)
        piece->process = NULL;
    if (*idle && !rf_processes_are_over(processes))
        wait_for_sign(processes, bell);
    return status;
}

void rf_processes_finish(struct rf_piece *piece, size_t used)
{
    if (piece->process != NULL && !piece->whole)
        rf_ring_advance(&piece->process->reader, used);
    piece->n = 0;
    piece->tally = false;
    piece->process = NULL;
}
