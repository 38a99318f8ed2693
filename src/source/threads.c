/* threads.c - the threads of all processes: numbers in the run, and names.
 *
 * A process numbers its threads from 1; the run numbers those of all processes, as they are seen. */
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

void rf_processes_leave_threads(struct rf_processes *processes, struct rf_process *process)
{
    for (uint32_t i = 0; process->threads != NULL && i < processes->slots_used; i++) {
        struct rf_process *heir = &processes->list[i];
        if (heir == process || !rf_processes_are_family(heir, process))
            continue;
        heir->threads = process->threads;
        heir->n_threads = process->n_threads;
        process->threads = NULL;
        process->n_threads = 0;
    }
}

uint16_t rf_processes_thread(struct rf_processes *processes, struct rf_process *of, uint64_t thread)
{
    struct rf_process *process = keeper_of(processes, of);
    size_t n = process->n_threads;
    void *threads = process->threads;
    if (thread >= n) {
        size_t room = thread + 1 > 2 * n ? thread + 1 : 2 * n;
        if (!rf_alloc_array(processes->alloc, &threads, n, room, sizeof *process->threads))
            return 0;
        process->threads = threads;
        process->n_threads = room;
        memset(process->threads + n, 0, (room - n) * sizeof *process->threads);
    }
    if (process->threads[thread] == 0) {
        if (processes->n_threads < RF_WORD_THREADS_MAX)
            processes->n_threads++;
        process->threads[thread] = processes->n_threads;
    }
    return process->threads[thread];
}

/* Hooks say which thread they are of. */
static bool has_begun(const struct rf_process *process)
{
    return process->thread != 0 || process->reader.family != 0;
}

bool rf_processes_must_wait(const struct rf_processes *processes, const struct rf_process *process)
{
    for (uint32_t i = 0; !has_begun(process) && i < processes->slots_used; i++) {
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

bool rf_processes_begin(struct rf_processes *processes, struct rf_process *process)
{
    if (has_begun(process))
        return true;
    process->thread = rf_processes_thread(processes, process, 1);
    return process->thread != 0;
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
