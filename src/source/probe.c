/* probe.c - the source that runs a program under the probe.
 *
 *     program + probe --ring--> [process: book, thread] --expand--> one buffer a selector --> batches
 *     its child + probe --ring--> [process: book, thread] --^
 *
 * Each process has a slot of the ring and a book of its own. A forked child starts with the book that
 * its parent had at that moment: the parent puts a FORK message in its stream, and when that comes by
 * its book is copied and laid aside until the child's slot shows up. Until then the child waits.
 *
 * A slot is read chunk by chunk. When there is nothing to read for a tick, the chunks that are being
 * filled are drained, too, up to their last message. A process is over when it says so, when it is
 * dead, or when the same process id turns up in another slot: then it has become another program by
 * exec. What it had committed is read in all cases.
 *
 * Guarantee: every event that the probe committed is handed out once or counted as lost; when all
 * processes end in order, the numbers that the probes counted themselves are held against ours. */
#include "source/probe.h"
#include "source/book.h"
#include "source/modules.h"
#include "source/ring.h"
#include "source/source.h"
#include "source/spawn.h"
#include "base/alloc.h"
#include "base/error.h"
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

enum {
    TICK_MS = 100,
    SELECTORS_MAX = 32,
    LANES_MAX = 512, /* selectors times processes that are kept apart */
    SPACES_MAX = 255,
    SPACE_SHIFT = 48,
    WORDS = RF_RING_CHUNK / 8,
    LANE_ROOM = RF_SOURCE_BATCH + RF_WORD_EVENTS_MAX,
};

struct lane {
    struct rf_tuple *tuples;
    size_t n;
    uint64_t total;
    uint64_t lost, lost_told;
};

struct process {
    bool used;
    bool has_book; /* false: forked, and the parent's stream is not there yet */
    struct rf_ring_reader reader;
    struct rf_book book;
    bool has_space;
    size_t first_lane;
    uint16_t thread;
    bool drained; /* it is over, and this was all */
    bool told_end;
    uint64_t produced[RF_WORD_CLASSES]; /* as it says itself */
};

/* A book laid aside for a child. */
struct legacy {
    uint32_t parent, fork;
    struct rf_book book;
    struct legacy *next;
};

struct probe {
    struct rf_source base;
    struct rf_selector selectors[SELECTORS_MAX];
    size_t n_selectors;
    bool records;
    const volatile int *stop;
    struct rf_ring ring;
    struct rf_spawn spawn;
    struct rf_book_shelf shelf;
    struct process processes[RF_RING_SLOTS]; /* by slot */
    struct legacy *legacies;
    uint64_t spaces[SPACES_MAX]; /* hashes of the paths of the programs seen */
    size_t n_spaces;
    struct rf_modules modules;

    uint64_t *words; /* the piece being decoded, WORDS of room */
    size_t at, n_words;
    bool whole;
    bool
        last; /* its producer is dead: the last message counts, an unfinished one does not matter */
    struct process *current;
    uint32_t next_slot; /* of whole chunks */
    uint32_t rest_slot; /* of the pass over half-filled ones */

    size_t n_apart; /* processes with lanes of their own; the last takes what comes after it, too */
    struct lane lanes[LANES_MAX];
    size_t n_lanes;
    size_t handed_out; /* a lane whose buffer the caller may still read, or none */
    struct rf_record *record_buffer;
    size_t n_records;

    double next_tick;
    uint64_t events;
    uint64_t n_processes, n_killed;
    uint64_t produced[RF_WORD_CLASSES], lost[RF_WORD_CLASSES];
    rf_status damage;
    struct rf_error damage_error;
};

enum { NO_LANE = LANES_MAX };

static struct probe *probe_of(const struct rf_source *source)
{
    return (struct probe *)(uintptr_t)source;
}

/* ---- messages ---- */

static rf_status damaged(struct rf_error *error)
{
    return rf_fail(error, RF_EDAMAGED,
                   "the stream from the probe is damaged; what came before was used");
}

static rf_status see_fork(struct probe *probe, const uint64_t *words, struct rf_error *error)
{
    struct legacy *legacy = rf_alloc_get(&probe->base.alloc, sizeof *legacy);
    if (legacy == NULL || rf_book_copy(&legacy->book, &probe->current->book) != RF_OK) {
        rf_alloc_free(&probe->base.alloc, legacy, sizeof *legacy);
        return rf_fail(error, RF_ENOMEM, "no memory to follow a fork");
    }
    legacy->parent = probe->current->reader.process;
    legacy->fork = (uint32_t)words[1];
    legacy->next = probe->legacies;
    probe->legacies = legacy;
    return RF_OK;
}

static void see_lost(struct probe *probe, const uint64_t *words)
{
    for (size_t kind = 0; kind < RF_WORD_CLASSES; kind++) {
        probe->lost[kind] += words[1 + kind];
        for (size_t i = 0; i < probe->n_selectors; i++)
            if (probe->selectors[i].classes >> kind & 1)
                probe->lanes[probe->current->first_lane + i].lost += words[1 + kind];
    }
}

static void see_end(struct probe *probe, const uint64_t *words)
{
    probe->current->told_end = true;
    memcpy(probe->current->produced, words + 1, sizeof probe->current->produced);
}

/* Different programs of one run may have code at the same addresses. The first stays where it is;
 * those that come by exec are told apart by a number in the upper bits of their code addresses, the
 * same for the same program. */
static uint64_t space_of(struct probe *probe, const char *path)
{
    uint64_t hash = 0;
    for (const char *c = path; *c != '\0'; c++)
        hash = (hash ^ (unsigned char)*c) * 0x100000001b3;
    size_t i = 0;
    while (i < probe->n_spaces && probe->spaces[i] != hash)
        i++;
    if (i == probe->n_spaces && i < SPACES_MAX)
        probe->spaces[probe->n_spaces++] = hash;
    return (uint64_t)(i < SPACES_MAX ? i : SPACES_MAX) << SPACE_SHIFT;
}

static rf_status see_module(struct probe *probe, const uint64_t *words, size_t n,
                            struct rf_error *error)
{
    const char *path = (const char *)(words + 4);
    struct process *process = probe->current;
    if (memchr(path, '\0', (n - 4) * 8) == NULL)
        return damaged(error);
    bool is_file = path[0] != '[';
    if (is_file && !process->has_space) {
        process->has_space = true;
        process->book.bias = space_of(probe, path);
    }
    uint64_t bias = is_file ? process->book.bias : 0;
    struct rf_module module = {.path = (char *)(uintptr_t)path,
                               .process = process->reader.process,
                               .start = words[1] + bias,
                               .end = words[2] + bias,
                               .offset = words[3],
                               .from_event = probe->events,
                               .to_event = UINT64_MAX};
    return rf_modules_map(&probe->modules, &module, error);
}

static size_t least_length(unsigned type)
{
    static const uint8_t least[] = {
        [RF_WORD_DEFINE] = 4,
        [RF_WORD_THREAD] = 2,
        [RF_WORD_MODULE] = 5,
        [RF_WORD_UNMAP] = 3,
        [RF_WORD_FORK] = 2,
        [RF_WORD_LOST] = 1 + RF_WORD_CLASSES,
        [RF_WORD_END] = 1 + RF_WORD_CLASSES,
        [RF_WORD_GOES_ON] = 1,
    };
    return type < sizeof least ? least[type] : 0;
}

static rf_status see_message(struct probe *probe, const uint64_t *words, size_t n,
                             struct rf_error *error)
{
    unsigned type = (unsigned)(words[0] >> 32 & 0x7fffffff);
    size_t least = least_length(type);
    if (least == 0 || n < least)
        return damaged(error);
    switch (type) {
    case RF_WORD_DEFINE:
        return rf_book_define(&probe->current->book, words, n, error);
    case RF_WORD_THREAD:
        probe->current->thread = (uint16_t)words[1];
        return RF_OK;
    case RF_WORD_MODULE:
        return see_module(probe, words, n, error);
    case RF_WORD_UNMAP:
        rf_modules_unmap(&probe->modules, probe->current->reader.process,
                         words[1] + probe->current->book.bias, words[2] + probe->current->book.bias,
                         probe->events);
        return RF_OK;
    case RF_WORD_FORK:
        return see_fork(probe, words, error);
    case RF_WORD_LOST:
        see_lost(probe, words);
        return RF_OK;
    case RF_WORD_GOES_ON:
        probe->current->told_end = false;
        return RF_OK;
    default:
        see_end(probe, words);
        return RF_OK;
    }
}

/* ---- decoding ---- */

/* How long the message or path at `at` is; 0: makes no sense. */
static size_t length_at(const struct probe *probe, uint64_t word)
{
    const struct rf_book *book = &probe->current->book;
    if (word < book->n_paths)
        return 1 + (size_t)book->paths[word]->words;
    if (!(word & RF_WORD_MESSAGE) || (uint32_t)word > RF_WORD_MESSAGE_MAX)
        return 0;
    return (uint32_t)word;
}

/* The message or path at `at` is a path, and whole; else NULL. The last one of a part is left alone: it
 * may change yet. */
static const struct rf_book_path *path_at(const struct probe *probe, size_t at)
{
    const struct rf_book *book = &probe->current->book;
    size_t spare = probe->whole || probe->last ? 0 : 1;
    if (at >= probe->n_words || probe->words[at] >= book->n_paths)
        return NULL;
    const struct rf_book_path *path = book->paths[probe->words[at]];
    return 1 + (size_t)path->words + spare <= probe->n_words - at ? path : NULL;
}

/* Tuples that every lane of the process still takes before one of them is handed out. */
static size_t lanes_room(const struct probe *probe, struct rf_tuple *const *next)
{
    const struct lane *lanes = &probe->lanes[probe->current->first_lane];
    size_t fullest = 0;
    for (size_t i = 0; i < probe->n_selectors; i++) {
        size_t n = (size_t)(next[i] - lanes[i].tuples);
        fullest = n > fullest ? n : fullest;
    }
    return fullest < RF_SOURCE_BATCH ? RF_SOURCE_BATCH - fullest : 0;
}

/* Paths, one after the other, as long as they are whole and no lane is full. How full the lanes are is looked up only
 * when one of them could be. */
static bool expand_paths(struct probe *probe)
{
    const struct process *process = probe->current;
    struct lane *lanes = &probe->lanes[process->first_lane];
    struct rf_tuple *next[SELECTORS_MAX];
    const struct rf_book_path *path, *following;
    for (size_t i = 0; i < probe->n_selectors; i++)
        next[i] = lanes[i].tuples + lanes[i].n;
    size_t room = lanes_room(probe, next);
    path = path_at(probe, probe->at);
    while (room > 0 && path != NULL) {
        const uint64_t *words = probe->words + probe->at;
        probe->at += 1 + (size_t)path->words;
        following = path_at(probe, probe->at);
        if (following != NULL) /* on its way while this one is expanded */
            __builtin_prefetch(&following->steps[2]);
        rf_book_expand(&process->book, path, words, process->thread, next);
        room = path->most < room ? room - path->most : lanes_room(probe, next);
        path = following;
    }
    for (size_t i = 0; i < probe->n_selectors; i++)
        lanes[i].n = (size_t)(next[i] - lanes[i].tuples);
    return room == 0;
}

/* The same for records. */
static bool record_paths(struct probe *probe)
{
    const struct rf_book_path *path;
    while (probe->n_records < RF_SOURCE_BATCH && (path = path_at(probe, probe->at)) != NULL) {
        probe->n_records += rf_book_records(path, probe->words + probe->at, probe->current->thread,
                                            probe->record_buffer + probe->n_records);
        probe->at += 1 + (size_t)path->words;
    }
    return probe->n_records >= RF_SOURCE_BATCH;
}

/* Decode until the piece is used up or a buffer is full. */
static rf_status decode(struct probe *probe, bool *full, struct rf_error *error)
{
    *full = false;
    while (probe->at < probe->n_words) {
        *full = probe->records ? record_paths(probe) : expand_paths(probe);
        if (*full || probe->at == probe->n_words)
            break;
        const uint64_t *words = probe->words + probe->at;
        size_t left = probe->n_words - probe->at, length = length_at(probe, words[0]);
        bool unfinished = length == 0 || length > left;
        if (unfinished && probe->whole)
            return damaged(error);
        if (unfinished || (length == left && !probe->whole && !probe->last)) {
            probe->n_words = probe->at;
            break;
        }
        rf_status status = see_message(probe, words, length, error);
        if (status != RF_OK)
            return status;
        probe->at += length;
    }
    return RF_OK;
}

/* ---- processes ---- */

static struct legacy *take_legacy(struct probe *probe, uint32_t parent, uint32_t fork)
{
    for (struct legacy **at = &probe->legacies; *at != NULL; at = &(*at)->next)
        if ((*at)->parent == parent && (*at)->fork == fork) {
            struct legacy *found = *at;
            *at = found->next;
            return found;
        }
    return NULL;
}

static void inherit(struct probe *probe, struct process *process)
{
    const struct rf_ring_reader *reader = &process->reader;
    struct legacy *legacy = take_legacy(probe, reader->parent, reader->fork);
    if (legacy == NULL)
        return;
    process->book = legacy->book;
    process->has_book = process->has_space = true;
    rf_alloc_free(&probe->base.alloc, legacy, sizeof *legacy);
}

/* So many lanes have buffers. */
static bool get_lanes(struct probe *probe, size_t n)
{
    for (; !probe->records && probe->n_lanes < n; probe->n_lanes++) {
        struct lane *lane = &probe->lanes[probe->n_lanes];
        lane->tuples = rf_alloc_get(&probe->base.alloc, LANE_ROOM * sizeof(struct rf_tuple));
        if (lane->tuples == NULL)
            return false;
    }
    return true;
}

static rf_status attach(struct probe *probe, uint32_t slot, struct rf_error *error)
{
    struct process *process = &probe->processes[slot];
    *process = (struct process){.used = true, .thread = 1};
    rf_ring_attach(&probe->ring, slot, &process->reader);
    rf_book_init(&process->book, &probe->shelf);
    process->has_book = process->reader.parent == 0;
    size_t number = probe->n_processes < probe->n_apart ? probe->n_processes : probe->n_apart - 1;
    process->first_lane = number * probe->n_selectors;
    probe->n_processes++;
    return get_lanes(probe, process->first_lane + probe->n_selectors)
               ? RF_OK
               : rf_fail(error, RF_ENOMEM, "no memory for another process");
}

static void attach_new(struct probe *probe)
{
    for (uint32_t slot = 0; slot < RF_RING_SLOTS; slot++) {
        struct process *process = &probe->processes[slot];
        if (!process->used && rf_ring_holder(&probe->ring, slot) != 0 && probe->damage == RF_OK)
            probe->damage = attach(probe, slot, &probe->damage_error);
        if (process->used && !process->has_book)
            inherit(probe, process);
    }
}

static void bury(struct probe *probe, struct process *process)
{
    probe->n_killed += !process->told_end;
    rf_modules_unmap(&probe->modules, process->reader.process, 0, UINT64_MAX, probe->events);
    for (size_t kind = 0; kind < RF_WORD_CLASSES; kind++)
        probe->produced[kind] += process->produced[kind];
    rf_ring_release(&probe->ring, &process->reader);
    rf_book_free(&process->book);
    process->used = false;
}

/* The same process id in a younger slot: it became another program. */
static bool was_replaced(const struct probe *probe, const struct process *process)
{
    for (uint32_t slot = 0; slot < RF_RING_SLOTS; slot++) {
        const struct process *other = &probe->processes[slot];
        if (other->used && other->reader.pid == process->reader.pid &&
            other->reader.process > process->reader.process)
            return true;
    }
    return false;
}

static bool is_over(struct probe *probe, const struct process *process)
{
    pid_t pid = (pid_t)process->reader.pid;
    if (rf_ring_is_done(&probe->ring, &process->reader) || was_replaced(probe, process))
        return true;
    return pid == probe->spawn.pid ? rf_spawn_ended(&probe->spawn, false) : rf_spawn_is_dead(pid);
}

/* ---- fetching ---- */

static rf_status read_piece(struct probe *probe, struct process *process, enum rf_ring_how how,
                            struct rf_error *error)
{
    if (rf_ring_read(&probe->ring, &process->reader, how, probe->words, &probe->n_words,
                     &probe->whole) != RF_OK)
        return damaged(error);
    probe->at = 0;
    probe->current = process;
    probe->last = how == RF_RING_REST;
    return RF_OK;
}

/* A whole chunk from the next process that has one. */
static rf_status fetch_whole(struct probe *probe, struct rf_error *error)
{
    for (uint32_t i = 0; i < RF_RING_SLOTS; i++) {
        struct process *process = &probe->processes[probe->next_slot];
        if (process->used && process->has_book) {
            rf_status status = read_piece(probe, process, RF_RING_WHOLE, error);
            if (status != RF_OK || probe->n_words > 0)
                return status; /* the same slot again next time: it is the busy one */
        }
        probe->next_slot = (probe->next_slot + 1) % RF_RING_SLOTS;
    }
    return RF_OK;
}

/* One process in a pass over all: what stands in its half-filled chunk. One that is over is read to
 * its end, then buried. Sets `more` when it has to be looked at again. */
static rf_status fetch_rest_of(struct probe *probe, struct process *process, bool *more,
                               struct rf_error *error)
{
    bool over = is_over(probe, process);
    *more = false;
    if (over && (process->drained || !process->has_book)) {
        bury(probe, process);
        return RF_OK;
    }
    if (!process->has_book)
        return RF_OK;
    rf_status status = read_piece(probe, process, over ? RF_RING_REST : RF_RING_PART, error);
    process->drained = over && !probe->whole;
    *more = over;
    return status;
}

/* Goes on with the pass until there is something to decode. */
static rf_status fetch_rest(struct probe *probe, struct rf_error *error)
{
    while (probe->rest_slot < RF_RING_SLOTS) {
        struct process *process = &probe->processes[probe->rest_slot];
        bool more = false;
        rf_status status = process->used ? fetch_rest_of(probe, process, &more, error) : RF_OK;
        probe->rest_slot += !more;
        if (status != RF_OK || probe->n_words > 0)
            return status;
    }
    return RF_OK;
}

static bool is_anybody_there(const struct probe *probe)
{
    for (uint32_t slot = 0; slot < RF_RING_SLOTS; slot++)
        if (probe->processes[slot].used)
            return true;
    return false;
}

/* The piece is used up: say so to the reader. */
static void finish_piece(struct probe *probe)
{
    if (probe->current != NULL && !probe->whole)
        rf_ring_advance(&probe->current->reader, probe->at);
    probe->at = probe->n_words = 0;
    probe->current = NULL;
}

/* ---- batches ---- */

static void hand_out_lane(struct probe *probe, size_t i, struct rf_batch *batch)
{
    struct lane *lane = &probe->lanes[i];
    batch->tuples = (struct rf_tuples){lane->tuples, NULL, lane->n};
    batch->n = lane->n;
    batch->stream = (uint32_t)i;
    batch->lost = lane->lost - lane->lost_told;
    lane->lost_told = lane->lost;
    lane->total += lane->n;
    probe->events += lane->n;
    probe->handed_out = i;
}

static void hand_out_records(struct probe *probe, struct rf_batch *batch)
{
    uint64_t lost = 0;
    for (size_t kind = 0; kind < RF_WORD_CLASSES; kind++)
        lost += probe->lost[kind];
    batch->records = probe->record_buffer;
    batch->n = probe->n_records;
    batch->lost = lost - probe->lanes[0].lost_told;
    probe->lanes[0].lost_told = lost;
    probe->events += probe->n_records;
    probe->lanes[0].total += probe->n_records;
    probe->n_records = 0;
}

/* Losses that no batch came to tell of. */
static bool hand_out_losses(struct probe *probe, struct rf_batch *batch)
{
    for (size_t i = 0; !probe->records && i < probe->n_lanes; i++)
        if (probe->lanes[i].lost != probe->lanes[i].lost_told) {
            hand_out_lane(probe, i, batch);
            return true;
        }
    if (probe->records)
        hand_out_records(probe, batch);
    return batch->lost > 0;
}

/* The fullest buffer goes out; false when all are empty. */
static bool hand_out(struct probe *probe, struct rf_batch *batch)
{
    size_t fullest = 0;
    if (probe->records) {
        if (probe->n_records > 0)
            hand_out_records(probe, batch);
        return batch->n > 0;
    }
    for (size_t i = 1; i < probe->n_lanes; i++)
        if (probe->lanes[i].n > probe->lanes[fullest].n)
            fullest = i;
    if (probe->lanes[fullest].n == 0)
        return false;
    hand_out_lane(probe, fullest, batch);
    return true;
}

/* Nothing more will come: the program has ended and nobody is left in the ring. */
static bool is_finished(struct probe *probe)
{
    if (!rf_spawn_ended(&probe->spawn, false))
        return false;
    attach_new(probe);
    return !is_anybody_there(probe) || (probe->stop != NULL && *probe->stop);
}

/* The next piece to decode into probe->words, after waiting for a tick at most; none is fine. */
static rf_status fetch(struct probe *probe, bool *idle, struct rf_error *error)
{
    uint32_t bell = rf_ring_bell(&probe->ring);
    *idle = false;
    rf_status status = fetch_whole(probe, error);
    if (status != RF_OK || probe->n_words > 0)
        return status;
    attach_new(probe);
    status = fetch_whole(probe, error);
    if (status != RF_OK || probe->n_words > 0)
        return status;
    if (rf_spawn_clock() >= probe->next_tick || rf_spawn_ended(&probe->spawn, false)) {
        probe->next_tick = rf_spawn_clock() + TICK_MS / 1e3;
        probe->rest_slot = 0;
    }
    status = fetch_rest(probe, error);
    if (status != RF_OK || probe->n_words > 0)
        return status;
    *idle = true;
    if (!is_finished(probe))
        rf_ring_wait(&probe->ring, bell, TICK_MS);
    return RF_OK;
}

static rf_status next(struct rf_source *source, struct rf_batch *batch, struct rf_error *error)
{
    struct probe *probe = probe_of(source);
    if (probe->handed_out != NO_LANE)
        probe->lanes[probe->handed_out].n = 0;
    probe->handed_out = NO_LANE;
    for (bool full = false, idle = false; probe->damage == RF_OK;) {
        probe->damage = decode(probe, &full, &probe->damage_error);
        if (full || probe->damage != RF_OK)
            break;
        finish_piece(probe);
        if (idle && hand_out(probe, batch))
            return RF_OK;
        if (is_finished(probe))
            break;
        probe->damage = fetch(probe, &idle, &probe->damage_error);
    }
    if (hand_out(probe, batch) || hand_out_losses(probe, batch))
        return RF_OK;
    if (probe->damage != RF_OK && error != NULL)
        *error = probe->damage_error;
    return probe->damage;
}

/* ---- ends ---- */

static void close_probe(struct rf_source *source)
{
    struct probe *probe = probe_of(source);
    const struct rf_alloc alloc = source->alloc;
    rf_ring_close(&probe->ring);
    for (size_t i = 0; i < RF_RING_SLOTS; i++)
        if (probe->processes[i].used)
            rf_book_free(&probe->processes[i].book);
    while (probe->legacies != NULL) {
        struct legacy *legacy = probe->legacies;
        probe->legacies = legacy->next;
        rf_book_free(&legacy->book);
        rf_alloc_free(&alloc, legacy, sizeof *legacy);
    }
    for (size_t i = 0; i < probe->n_lanes; i++)
        rf_alloc_free(&alloc, probe->lanes[i].tuples, LANE_ROOM * sizeof(struct rf_tuple));
    rf_alloc_free(&alloc, probe->record_buffer, LANE_ROOM * sizeof(struct rf_record));
    rf_alloc_free(&alloc, probe->words, WORDS * sizeof(uint64_t));
    rf_book_shelf_free(&probe->shelf);
    rf_modules_free(&probe->modules);
    rf_alloc_free(&alloc, probe, sizeof *probe);
}

static void progress(const struct rf_source *source, uint64_t *done, uint64_t *total)
{
    *done = probe_of(source)->events;
    *total = 0;
}

static rf_status modules(struct rf_source *source, const struct rf_module **modules, size_t *n)
{
    const struct probe *probe = probe_of(source);
    *modules = probe->modules.list;
    *n = probe->modules.n;
    return RF_OK;
}

static const struct rf_source_ops probe_ops = {
    .name = "probe", .next = next, .progress = progress, .modules = modules, .close = close_probe};

static bool get_buffers(struct probe *probe)
{
    const struct rf_alloc *alloc = &probe->base.alloc;
    probe->words = rf_alloc_get(alloc, WORDS * sizeof(uint64_t));
    if (probe->words == NULL ||
        rf_book_shelf_init(&probe->shelf, probe->selectors, probe->n_selectors, alloc) != RF_OK)
        return false;
    probe->shelf.keep_records = probe->records;
    if (probe->records) {
        probe->record_buffer = rf_alloc_get(alloc, LANE_ROOM * sizeof(struct rf_record));
        return probe->record_buffer != NULL;
    }
    return get_lanes(probe, probe->n_selectors);
}

static rf_status check_setup(const struct rf_probe_setup *setup, struct rf_error *error)
{
    if (setup->n_selectors == 0 || setup->n_selectors > SELECTORS_MAX)
        return rf_fail(error, RF_EINVAL, "between 1 and %d selectors can run at once, not %zu",
                       SELECTORS_MAX, setup->n_selectors);
    if (setup->processes_apart > LANES_MAX / setup->n_selectors)
        return rf_fail(error, RF_EINVAL, "at most %zu processes can be kept apart, not %zu",
                       LANES_MAX / setup->n_selectors, setup->processes_apart);
    if (setup->processes_apart > 1 && setup->records)
        return rf_fail(error, RF_EINVAL, "records of several processes are not kept apart");
    return RF_OK;
}

rf_status rf_probe_open_idle(struct rf_source **source, const struct rf_probe_setup *setup,
                             struct rf_error *error)
{
    rf_status status = check_setup(setup, error);
    if (status != RF_OK)
        return status;
    struct probe *probe = rf_source_new(&probe_ops, sizeof *probe, setup->alloc);
    if (probe == NULL)
        return rf_fail(error, RF_ENOMEM, "no memory for the collector");
    probe->n_selectors = setup->n_selectors;
    memcpy(probe->selectors, setup->selectors, setup->n_selectors * sizeof probe->selectors[0]);
    probe->records = setup->records != 0;
    probe->stop = setup->stop;
    probe->n_apart = setup->processes_apart > 1 ? setup->processes_apart : 1;
    probe->handed_out = NO_LANE;
    probe->spawn.pid = -1;
    rf_modules_init(&probe->modules, &probe->base.alloc);
    status = get_buffers(probe) ? rf_ring_open(&probe->ring, error)
                                : rf_fail(error, RF_ENOMEM, "no memory for the collector");
    if (status != RF_OK) {
        close_probe(&probe->base);
        return status;
    }
    *source = &probe->base;
    return RF_OK;
}

struct rf_ring *rf_probe_ring(struct rf_source *source)
{
    return &probe_of(source)->ring;
}

rf_status rf_source_open_probe(struct rf_source **source, const struct rf_probe_setup *setup,
                               struct rf_error *error)
{
    if (setup->argv == NULL || setup->argv[0] == NULL)
        return rf_fail(error, RF_EINVAL, "there is no program to run");
    rf_status status = rf_probe_open_idle(source, setup, error);
    if (status != RF_OK)
        return status;
    struct probe *probe = probe_of(*source);
    status = rf_spawn_start(&probe->spawn, setup, probe->ring.fd, error);
    if (status != RF_OK) {
        close_probe(*source);
        *source = NULL;
    }
    return status;
}

static bool verify(const struct probe *probe)
{
    uint64_t all = 0, seen = probe->lanes[0].total;
    if (probe->n_killed > 0 || probe->damage != RF_OK)
        return false;
    for (size_t i = 0; !probe->records && i < probe->n_selectors; i++) {
        uint64_t expected = 0;
        for (size_t kind = 0; kind < RF_WORD_CLASSES; kind++)
            expected += probe->selectors[i].classes >> kind & 1 ? probe->produced[kind] : 0;
        for (size_t j = i; j < probe->n_lanes; j += probe->n_selectors)
            expected -= probe->lanes[j].total + probe->lanes[j].lost;
        if (probe->selectors[i].n_conditions == 0 && expected != 0)
            return false;
    }
    for (size_t kind = 0; kind < RF_WORD_CLASSES; kind++) {
        all += probe->produced[kind];
        seen += probe->lost[kind];
    }
    return !probe->records || all == seen;
}

rf_status rf_probe_wait(struct rf_source *source, struct rf_probe_outcome *outcome,
                        struct rf_error *error)
{
    struct probe *probe = probe_of(source);
    memset(outcome, 0, sizeof *outcome);
    if (source->ops != &probe_ops)
        return rf_fail(error, RF_EINVAL, "this source runs no program");
    rf_ring_detach(&probe->ring);
    rf_spawn_ended(&probe->spawn, true);
    bool signalled = WIFSIGNALED(probe->spawn.status);
    *outcome = (struct rf_probe_outcome){
        .ended = 1,
        .exit_status = signalled ? 0 : WEXITSTATUS(probe->spawn.status),
        .signal = signalled ? WTERMSIG(probe->spawn.status) : 0,
        .wall_seconds = probe->spawn.wall_seconds,
        .cpu_seconds = probe->spawn.cpu_seconds,
        .processes = probe->n_processes,
        .unfollowed = probe->ring.control->unfollowed,
        .killed = probe->n_killed,
        .events = probe->events,
        .verified = verify(probe),
    };
    for (size_t kind = 0; kind < RF_WORD_CLASSES; kind++)
        outcome->lost += probe->lost[kind];
    return RF_OK;
}

int rf_probe_signal(const struct rf_source *source, int signal)
{
    const struct probe *probe = probe_of(source);
    if (source->ops != &probe_ops || probe->spawn.pid <= 0 || probe->spawn.ended)
        return 0;
    return kill(probe->spawn.pid, signal) == 0;
}
