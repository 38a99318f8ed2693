/* processes.c - the processes in the ring, from taking a slot to their end.
 *
 *     slot 0  program      book ----FORK 1----> legacy: the paths known by now, for child 1
 *     slot 1  its child    waits until its parent's stream has reached FORK 1, then takes that legacy
 *
 * Each process has a slot of the ring and a book of its own. A forked child starts with the book that
 * its parent had at that moment: the parent puts a FORK message in its stream, and when it is decoded the
 * length of the book is noted. A book only grows, so the child copies that much of it when its slot appears.
 * If the parent ends first, the copy is made then. Children that never appear (fork fails, no slot is free)
 * leave legacies behind; the oldest of them are dropped.
 *
 * A process is over when it says so, when it is dead, or when its process id appears in another slot, because it became
 * another program by exec. In all cases what it committed is read (pieces.c), and then its counters. */
#include "source/processes.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/stop.h"
#include <string.h>
#include <unistd.h>

enum { SPACE_SHIFT = 48, LEGACIES_MAX = 256, SLOTS_AHEAD = 16 };

/* What a child begins with: the first n_paths paths and n_sites sites of its parent's book. */
struct rf_legacy {
    uint32_t parent, fork;
    uint16_t thread; /* the number in the run of the child's first one */
    size_t n_paths, n_sites;
    uint32_t n_guards;
    char program[RF_PROCESSES_PROGRAM_BYTES];
    struct rf_book book; /* of a parent that is gone */
    struct rf_mapped mapped;
    struct rf_legacy *next;
};

static rf_status open_ring(struct rf_processes *processes, uint32_t slots, bool counted,
                           struct rf_error *error)
{
    rf_status status = rf_ring_open(&processes->ring, slots, counted, error);
    if (status != RF_OK)
        return status;
    processes->n_slots = processes->rest_slot = processes->ring.slots;
    processes->list =
        rf_alloc_zeroed(processes->alloc, processes->n_slots * sizeof *processes->list);
    return processes->list != NULL ? RF_OK
                                   : rf_fail(error, RF_ENOMEM, "no memory for the collector");
}

rf_status rf_processes_init(struct rf_processes *processes, const struct rf_selector *selectors,
                            size_t n_selectors, const struct rf_processes_setup *setup,
                            const struct rf_alloc *alloc, struct rf_error *error)
{
    processes->alloc = alloc;
    processes->spawn = (struct rf_spawn){.pid = -1, .log = {-1, -1}};
    rf_modules_init(&processes->modules, alloc);
    if (rf_book_shelf_init(&processes->shelf, selectors, n_selectors, alloc) != RF_OK)
        return rf_fail(error, RF_ENOMEM, "no memory for the collector");
    processes->shelf.counted = setup->counted;
    return open_ring(processes, setup->slots, setup->counted != 0 || processes->hooks, error);
}

static void free_legacy(struct rf_processes *processes, struct rf_legacy *legacy)
{
    rf_book_free(&legacy->book);
    rf_modules_leave(&processes->modules, &legacy->mapped, *processes->events);
    rf_alloc_free(processes->alloc, legacy, sizeof *legacy);
}

static void free_process(struct rf_processes *processes, struct rf_process *process)
{
    rf_book_free(&process->book);
    rf_modules_leave(&processes->modules, &process->mapped, *processes->events);
    rf_alloc_free(processes->alloc, process->threads,
                  process->n_threads * sizeof *process->threads);
}

void rf_processes_free(struct rf_processes *processes)
{
    rf_ring_close(&processes->ring);
    rf_spawn_free(&processes->spawn);
    for (size_t i = 0; processes->list != NULL && i < processes->n_slots; i++)
        if (processes->list[i].used)
            free_process(processes, &processes->list[i]);
    rf_alloc_free(processes->alloc, processes->list, processes->n_slots * sizeof *processes->list);
    rf_alloc_free(processes->alloc, processes->left, processes->n_left * sizeof *processes->left);
    while (processes->legacies != NULL) {
        struct rf_legacy *legacy = processes->legacies;
        processes->legacies = legacy->next;
        free_legacy(processes, legacy);
    }
    rf_book_shelf_free(&processes->shelf);
    rf_modules_free(&processes->modules);
}

rf_status rf_processes_damaged(struct rf_error *error)
{
    return rf_fail(error, RF_EDAMAGED,
                   "the stream of events is damaged; what came before was used");
}

/* ---- forks ---- */

struct rf_process *rf_processes_find(struct rf_processes *processes, uint32_t number)
{
    for (uint32_t slot = 0; slot < processes->n_slots; slot++)
        if (processes->list[slot].used && processes->list[slot].reader.process == number)
            return &processes->list[slot];
    return NULL;
}

static void drop_oldest_legacy(struct rf_processes *processes)
{
    struct rf_legacy **at = &processes->legacies;
    while ((*at)->next != NULL)
        at = &(*at)->next;
    free_legacy(processes, *at);
    *at = NULL;
    processes->n_legacies--;
}

rf_status rf_processes_fork(struct rf_processes *processes, struct rf_process *parent,
                            uint32_t fork, uint64_t n_threads, struct rf_error *error)
{
    if (n_threads == 0 || n_threads > RF_WORD_THREADS_MAX)
        return rf_processes_damaged(error);
    if (rf_processes_thread(processes, parent, n_threads) == 0)
        return rf_fail(error, RF_ENOMEM, "no memory for its threads");
    struct rf_legacy *legacy = rf_alloc_get(processes->alloc, sizeof *legacy);
    if (legacy == NULL)
        return rf_fail(error, RF_ENOMEM, "no memory to follow a fork");
    *legacy = (struct rf_legacy){.parent = parent->reader.process,
                                 .fork = fork,
                                 .thread = rf_processes_next_thread(processes),
                                 .n_paths = parent->book.n_paths,
                                 .n_sites = parent->book.n_sites,
                                 .n_guards = parent->book.n_guards,
                                 .next = processes->legacies};
    memcpy(legacy->program, parent->program, sizeof legacy->program);
    rf_book_init(&legacy->book, &processes->shelf);
    processes->legacies = legacy;
    if (rf_modules_inherit(&processes->modules, &legacy->mapped, &parent->mapped) != RF_OK)
        processes->status = RF_ENOMEM;
    if (++processes->n_legacies > LEGACIES_MAX)
        rf_processes_attach_new(processes);
    if (processes->n_legacies > LEGACIES_MAX)
        drop_oldest_legacy(processes);
    return RF_OK;
}

/* The book as it was at the fork. */
static rf_status copy_book(struct rf_book *book, const struct rf_book *of,
                           const struct rf_legacy *legacy)
{
    if (rf_book_copy(book, of) != RF_OK)
        return RF_ENOMEM;
    book->n_paths = legacy->n_paths;
    book->n_sites = legacy->n_sites;
    book->n_guards = legacy->n_guards;
    return RF_OK;
}

/* The parent ends: copy the part of its book that its children will need. */
static void leave_legacies(struct rf_processes *processes, const struct rf_process *parent)
{
    for (struct rf_legacy *legacy = processes->legacies; legacy != NULL; legacy = legacy->next)
        if (legacy->parent == parent->reader.process &&
            copy_book(&legacy->book, &parent->book, legacy) != RF_OK)
            processes->status = RF_ENOMEM;
}

static struct rf_legacy *take_legacy(struct rf_processes *processes, uint32_t parent, uint32_t fork)
{
    for (struct rf_legacy **at = &processes->legacies; *at != NULL; at = &(*at)->next)
        if ((*at)->parent == parent && (*at)->fork == fork) {
            struct rf_legacy *found = *at;
            *at = found->next;
            processes->n_legacies--;
            return found;
        }
    return NULL;
}

/* The program that a process runs, by the last part of its path. */
static void call_program(struct rf_processes *processes, struct rf_process *process,
                         const char *path)
{
    const char *slash = strrchr(path, '/');
    rf_format(process->program, sizeof process->program, "%s", slash != NULL ? slash + 1 : path);
    if (process->number < RF_PROCESSES_TOLD_MAX)
        memcpy(processes->told[process->number].program, process->program, sizeof process->program);
}

void rf_processes_inherit(struct rf_processes *processes, struct rf_process *process)
{
    const struct rf_ring_reader *reader = &process->reader;
    struct rf_legacy *legacy = take_legacy(processes, reader->parent, reader->fork);
    if (legacy == NULL)
        return;
    const struct rf_process *parent = rf_processes_find(processes, reader->parent);
    const struct rf_book *book = parent != NULL ? &parent->book : &legacy->book;
    if (copy_book(&process->book, book, legacy) != RF_OK ||
        !rf_processes_begin_as(processes, process, legacy->thread))
        processes->status = RF_ENOMEM;
    process->has_book = process->has_space = true;
    process->mapped = legacy->mapped;
    legacy->mapped = (struct rf_mapped){NULL, 0};
    call_program(processes, process, legacy->program);
    free_legacy(processes, legacy);
}

/* ---- modules ---- */

/* Different programs of one run may have code at the same addresses. The first stays where it is;
 * those that come by exec are told apart by a number in the upper bits of their code addresses, the
 * same for the same program. */
static uint64_t space_of(struct rf_processes *processes, const char *path)
{
    uint64_t hash = 0;
    for (const char *c = path; *c != '\0'; c++)
        hash = (hash ^ (unsigned char)*c) * 0x100000001b3;
    size_t i = 0;
    while (i < processes->n_spaces && processes->spaces[i] != hash)
        i++;
    if (i == processes->n_spaces && i < RF_PROCESSES_SPACES_MAX)
        processes->spaces[processes->n_spaces++] = hash;
    return (uint64_t)i << SPACE_SHIFT;
}

rf_status rf_processes_map(struct rf_processes *processes, struct rf_process *process,
                           const struct rf_module *module, struct rf_error *error)
{
    struct rf_module placed = *module;
    bool is_file = placed.path[0] != '[';
    if (is_file && !process->has_space) {
        process->has_space = true;
        process->book.bias = space_of(processes, placed.path);
        call_program(processes, process, placed.path);
    }
    uint64_t bias = is_file ? process->book.bias : 0;
    placed.process = process->reader.process;
    placed.start += bias;
    placed.end += bias;
    placed.from_event = *processes->events;
    placed.to_event = UINT64_MAX;
    return rf_modules_map(&processes->modules, &process->mapped, &placed, error);
}

void rf_processes_unmap(struct rf_processes *processes, struct rf_process *process, uint64_t start,
                        uint64_t end)
{
    rf_modules_unmap(&processes->modules, &process->mapped, start + process->book.bias,
                     end + process->book.bias, *processes->events);
}

/* ---- programs that cannot be profiled ---- */

void rf_processes_unprofiled(struct rf_processes *processes, enum rf_target_kind kind,
                             const char *path)
{
    struct rf_unprofiled *known = processes->unprofiled;
    size_t length = strlen(path), room = sizeof known->path - 1;
    path += length > room ? length - room : 0;
    for (size_t i = 0; i < processes->n_unprofiled; i++, known++)
        if (known->kind == kind && strcmp(known->path, path) == 0) {
            known->times++;
            return;
        }
    if (processes->n_unprofiled == RF_PROCESSES_UNPROFILED_MAX) {
        processes->unnamed++;
        return;
    }
    processes->n_unprofiled++;
    known->kind = kind;
    known->times = 1;
    rf_format(known->path, sizeof known->path, "%s", path);
}

/* ---- coming and going ---- */

/* One more slot of a process that was seen already gets its number. */
static bool joins_family(const struct rf_processes *processes, struct rf_process *process)
{
    const struct rf_ring_reader *reader = &process->reader;
    for (uint32_t i = 0; i < processes->slots_used; i++)
        if (&processes->list[i] != process &&
            rf_processes_are_family(&processes->list[i], process)) {
            process->number = processes->list[i].number;
            return true;
        }
    for (size_t i = 0; reader->family != 0 && i < RF_PROCESSES_TOLD_MAX && i < processes->n; i++)
        if (processes->told[i].family == reader->family && processes->told[i].pid == reader->pid) {
            process->number = i;
            return true;
        }
    return false;
}

static void attach(struct rf_processes *processes, uint32_t slot)
{
    struct rf_process *process = &processes->list[slot];
    *process = (struct rf_process){.used = true};
    rf_ring_attach(&processes->ring, slot, &process->reader);
    processes->slots_used = slot >= processes->slots_used ? slot + 1 : processes->slots_used;
    bool is_new = !joins_family(processes, process);
    if (is_new)
        process->number = processes->n++;
    if (is_new && process->number < RF_PROCESSES_TOLD_MAX)
        processes->told[process->number] =
            (struct rf_told_process){process->reader.pid, process->reader.family, "?"};
    rf_book_init(&process->book, &processes->shelf);
    process->has_book = process->reader.parent == 0;
    rf_processes_note_due(processes);
}

/* Producers take the first free slot, so none is taken far beyond those that were seen. */
void rf_processes_attach_new(struct rf_processes *processes)
{
    for (uint32_t slot = 0; slot < processes->slots_used + SLOTS_AHEAD && slot < processes->n_slots;
         slot++) {
        struct rf_process *process = &processes->list[slot];
        if (!process->used && rf_ring_holder(&processes->ring, slot) != 0)
            attach(processes, slot);
        if (process->used && !process->has_book)
            rf_processes_inherit(processes, process);
    }
}

void rf_processes_bury(struct rf_processes *processes, struct rf_process *process)
{
    bool is_hooks = process->reader.family != 0;
    processes->n_killed += !process->told_end && !is_hooks;
    leave_legacies(processes, process);
    for (unsigned kind = 0; kind < RF_WORD_CLASSES; kind++)
        processes->produced[kind] +=
            process->produced[kind] +
            (is_hooks ? rf_ring_count_produced(&processes->ring, &process->reader, kind) : 0);
    rf_processes_leave_threads(processes, process);
    rf_ring_release(&processes->ring, &process->reader);
    free_process(processes, process);
    process->used = false;
}

/* The same process id in a younger slot: it became another program. */
static bool was_replaced(const struct rf_processes *processes, const struct rf_process *process)
{
    for (uint32_t slot = 0; slot < processes->n_slots; slot++) {
        const struct rf_process *other = &processes->list[slot];
        if (other->used && other->reader.pid == process->reader.pid &&
            !rf_processes_are_family(other, process) &&
            other->reader.process > process->reader.process)
            return true;
    }
    return false;
}

bool rf_processes_is_over(struct rf_processes *processes, const struct rf_process *process)
{
    pid_t pid = (pid_t)process->reader.pid;
    if (rf_ring_is_done(&processes->ring, &process->reader) || was_replaced(processes, process))
        return true;
    return pid == processes->spawn.pid ? rf_spawn_ended(&processes->spawn, false)
                                       : rf_spawn_is_dead(pid);
}

/* A program that writes to the ring can claim to be process 1, which never ends. Only a process that has the
 * ring mapped is waited for. */
static bool is_forged(struct rf_processes *processes, struct rf_process *process)
{
    pid_t pid = (pid_t)process->reader.pid;
    if (!process->is_checked && processes->spawn.pid > 0 && !rf_spawn_is_dead(pid))
        process->is_forged = pid == getpid() || !rf_ring_is_mapped_by(&processes->ring, pid);
    process->is_checked = true;
    return process->is_forged;
}

static bool is_anybody_there(struct rf_processes *processes)
{
    for (uint32_t slot = 0; slot < processes->n_slots; slot++)
        if (processes->list[slot].used && !is_forged(processes, &processes->list[slot]))
            return true;
    return false;
}

bool rf_processes_are_over(struct rf_processes *processes)
{
    if (!rf_spawn_ended(&processes->spawn, false))
        return false;
    rf_processes_attach_new(processes);
    return !is_anybody_there(processes) || rf_stop_is_set(processes->stop);
}
