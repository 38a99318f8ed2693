/* threads.c - the threads of all processes: numbers in the run, and names.
 *
 * A process numbers its threads from 1, as it makes them. The run numbers those of all processes, so that equal runs have equal
 * numbers, whichever thread the system lets run first:
 *
 *     a thread runs        it gets the next number, after all threads that its process made before it and that have none yet
 *     a process forks      all threads that it has made get theirs, then the first thread of the child
 *     a process execs      its first thread keeps its number
 *
 * Processes that make threads side by side share out the numbers as their words arrive. */
#include "source/processes.h"
#include "base/alloc.h"
#include "base/error.h"
#include <string.h>

/* The slots of a process that has hooks share the numbers of its threads: one of them has the list. */
static struct rf_process *keeper_of(struct rf_processes *processes, struct rf_process *process)
{
    for (uint32_t i = 0; process->threads == NULL && i < processes->slots_used; i++)
        if (processes->list[i].threads != NULL &&
            rf_processes_are_family(&processes->list[i], process))
            return &processes->list[i];
    return process;
}

/* Room for this element and all before it; new ones are 0. */
static bool reach(const struct rf_alloc *alloc, uint16_t **list, size_t *n, size_t index)
{
    void *grown = *list;
    if (index < *n)
        return true;
    size_t room = index + 1 > 2 * *n ? index + 1 : 2 * *n;
    if (!rf_alloc_array(alloc, &grown, *n, room, sizeof **list))
        return false;
    *list = grown;
    memset(*list + *n, 0, (room - *n) * sizeof **list);
    *n = room;
    return true;
}

static bool make_room(struct rf_processes *processes, struct rf_process *process, uint64_t thread)
{
    return reach(processes->alloc, &process->threads, &process->n_threads, thread);
}

uint16_t rf_processes_next_thread(struct rf_processes *processes)
{
    if (processes->n_threads < RF_WORD_THREADS_MAX)
        processes->n_threads++;
    return processes->n_threads;
}

uint16_t rf_processes_thread(struct rf_processes *processes, struct rf_process *of, uint64_t thread)
{
    struct rf_process *process = keeper_of(processes, of);
    if (!make_room(processes, process, thread))
        return 0;
    for (uint64_t i = 1; process->threads[thread] == 0; i++)
        if (process->threads[i] == 0)
            process->threads[i] = rf_processes_next_thread(processes);
    return process->threads[thread];
}

bool rf_processes_begin_as(struct rf_processes *processes, struct rf_process *process,
                           uint16_t number)
{
    if (!make_room(processes, process, 1))
        return false;
    process->threads[1] = process->thread = number;
    return true;
}

/* Hooks say which thread they are of. */
static bool has_begun(const struct rf_process *process)
{
    return process->thread != 0 || process->reader.family != 0;
}

/* What the process was before its exec, if that is not buried yet. */
static struct rf_process *before_exec(const struct rf_processes *processes,
                                      const struct rf_process *process)
{
    struct rf_process *found = NULL;
    const struct rf_ring_reader *reader = &process->reader;
    for (uint32_t i = 0; reader->parent == 0 && i < processes->slots_used; i++) {
        struct rf_process *other = &processes->list[i];
        if (other->used && other->reader.pid == reader->pid &&
            other->reader.process < reader->process && !rf_processes_are_family(other, process) &&
            (found == NULL || found->reader.process < other->reader.process))
            found = other;
    }
    return found;
}

bool rf_processes_must_wait(const struct rf_processes *processes, const struct rf_process *process)
{
    if (has_begun(process))
        return false;
    const struct rf_process *before = before_exec(processes, process);
    if (before != NULL && !has_begun(before))
        return true;
    for (uint32_t i = 0; i < processes->slots_used; i++) {
        const struct rf_process *other = &processes->list[i];
        if (other->used && other->has_book && other->reader.process < process->reader.process &&
            (int32_t)(other->due - other->reader.tail) > 0)
            return true;
    }
    return false;
}

void rf_processes_note_due(struct rf_processes *processes)
{
    for (uint32_t i = 0; i < processes->slots_used; i++) {
        struct rf_process *process = &processes->list[i];
        if (process->used)
            process->due = rf_ring_head(&processes->ring, &process->reader);
    }
}

static void leave_to(struct rf_process *heir, struct rf_process *process)
{
    heir->threads = process->threads;
    heir->n_threads = process->n_threads;
    process->threads = NULL;
    process->n_threads = 0;
}

void rf_processes_leave_threads(struct rf_processes *processes, struct rf_process *process)
{
    for (uint32_t i = 0; process->threads != NULL && i < processes->slots_used; i++) {
        struct rf_process *heir = &processes->list[i];
        if (heir != process && rf_processes_are_family(heir, process))
            leave_to(heir, process);
    }
    uint32_t pid = process->reader.pid;
    if (process->threads == NULL || pid >= RF_PROCESSES_IDS_MAX)
        return;
    if (reach(processes->alloc, &processes->left, &processes->n_left, pid))
        processes->left[pid] = process->threads[1];
    else
        processes->status = RF_ENOMEM;
}

/* The number of the first thread before the exec; 0: there was none. */
static uint16_t thread_before_exec(const struct rf_processes *processes,
                                   const struct rf_process *process)
{
    const struct rf_process *before = before_exec(processes, process);
    if (before != NULL && before->threads != NULL)
        return before->threads[1];
    uint32_t pid = process->reader.pid;
    return pid < processes->n_left ? processes->left[pid] : 0;
}

bool rf_processes_begin(struct rf_processes *processes, struct rf_process *process)
{
    if (has_begun(process))
        return true;
    uint16_t number = thread_before_exec(processes, process);
    return rf_processes_begin_as(processes, process,
                                 number != 0 ? number : rf_processes_next_thread(processes));
}

rf_status rf_processes_switch(struct rf_processes *processes, struct rf_process *process,
                              uint64_t thread, struct rf_error *error)
{
    if (thread == 0 || thread > RF_WORD_THREADS_MAX)
        return rf_processes_damaged(error);
    process->thread = rf_processes_thread(processes, process, thread);
    return process->thread != 0 ? RF_OK : rf_fail(error, RF_ENOMEM, "no memory for its threads");
}

/* Where the name of a thread goes, in the order of the numbers; NULL: there are too many. */
static struct rf_named_thread *place_name(struct rf_processes *processes, uint16_t number)
{
    struct rf_named_thread *named = processes->named;
    size_t i = 0, n = processes->n_named;
    while (i < n && named[i].number < number)
        i++;
    if (i < n && named[i].number == number)
        return &named[i];
    if (n == RF_PROCESSES_NAMED_MAX)
        return NULL;
    memmove(&named[i + 1], &named[i], (n - i) * sizeof *named);
    processes->n_named++;
    named[i].number = number;
    return &named[i];
}

rf_status rf_processes_name(struct rf_processes *processes, struct rf_process *process,
                            uint64_t thread, const char *name, struct rf_error *error)
{
    uint16_t running = process->thread;
    rf_status status = rf_processes_switch(processes, process, thread, error);
    uint16_t number = process->thread;
    process->thread = running;
    struct rf_named_thread *named = status == RF_OK ? place_name(processes, number) : NULL;
    if (named != NULL)
        rf_format(named->name, sizeof named->name, "%.*s", RF_WORD_NAME_BYTES - 1, name);
    return status;
}
