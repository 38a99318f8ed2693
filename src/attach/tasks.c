/* tasks.c - the threads of a process, by /proc.
 *
 * The list is read again every 50 ms, so threads may come and go. To choose one, threads are looked at in random order
 * until one is found that runs ('R' in its stat). Where none does, the last one is looked at again a moment later, when its
 * processor has been taken: it may have woken up meanwhile, and what it does first must be seen as often as the rest. A thread
 * that sleeps is never disturbed.
 *
 * Nor is one that is in a system call, where we may know. A stop ends a call early. The kernel makes most of them again by
 * itself, but not those that have moved something already: a write of 1 MB into a pipe, a send, a recv with MSG_WAITALL,
 * getrandom return less than they would without us. The stack that a thread has in the kernel (/proc/PID/task/TID/stack) says where it
 * came from:
 *
 *     [<0>] vfs_write+0x2b0/0x440             [<0>] irqentry_exit_to_user_mode+0x1a/0x30
 *     [<0>] do_syscall_64+0x71/0x280          [<0>] asm_sysvec_reschedule_ipi+0x1a/0x20
 *     [<0>] entry_SYSCALL_64+0x76/0x7e
 *
 * Cannot: see that stack without being root (how often the thread gave up its processor, which all may see, was tried: it
 * avoids half of the short calls), or while the thread runs on a processor that we may not use. */
#include "attach/tasks.h"
#include "base/alloc.h"
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIST_AGE_MAX 0.05 /* seconds */

enum { LOOKS_MAX = 256, FIELD_CODE = 26, FIELD_STACK = 28, FIELD_PROCESSOR = 39 };

void rf_tasks_init(struct rf_tasks *tasks, pid_t pid, const struct rf_alloc *alloc)
{
    *tasks = (struct rf_tasks){.alloc = rf_alloc_or_standard(alloc), .pid = pid, .listed_at = -1};
}

void rf_tasks_free(struct rf_tasks *tasks)
{
    rf_alloc_free(tasks->alloc, tasks->ids, tasks->room * sizeof *tasks->ids);
    tasks->ids = NULL;
    tasks->n = tasks->room = 0;
}

void rf_tasks_forget(struct rf_tasks *tasks)
{
    tasks->last = 0;
    tasks->listed_at = -1;
}

static ssize_t read_file(const char *path, char *text, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    ssize_t n = read(fd, text, size - 1);
    close(fd);
    text[n > 0 ? n : 0] = '\0';
    return n;
}

ssize_t rf_tasks_read(pid_t pid, const char *name, char *text, size_t size)
{
    char path[128];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    return read_file(path, text, size);
}

static bool add(struct rf_tasks *tasks, pid_t id)
{
    if (tasks->n == tasks->room &&
        !rf_list_double(tasks->alloc, (void **)&tasks->ids, &tasks->room, sizeof *tasks->ids))
        return false;
    tasks->ids[tasks->n++] = id;
    return true;
}

static void list(struct rf_tasks *tasks, double now)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task", (int)tasks->pid);
    DIR *folder = opendir(path);
    tasks->n = 0;
    tasks->listed_at = now;
    if (folder == NULL)
        return;
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        pid_t id = (pid_t)strtol(entry->d_name, NULL, 10);
        if (id > 0 && !add(tasks, id))
            break;
    }
    closedir(folder);
}

/* The i-th number of a stat, counted as in proc(5), where `at` is the state, the third one. */
static uint64_t field_of(const char *at, unsigned i)
{
    for (unsigned k = 3; k < i && at != NULL; k++) {
        at = strchr(at, ' ');
        at = at != NULL ? at + 1 : NULL;
    }
    return at != NULL ? strtoull(at, NULL, 10) : 0;
}

static void notice_exec(struct rf_tasks *tasks, const char *state)
{
    uint64_t code = field_of(state, FIELD_CODE), stack = field_of(state, FIELD_STACK);
    bool known = (tasks->code | tasks->stack) != 0;
    if (known && (code != tasks->code || stack != tasks->stack))
        tasks->execs++;
    tasks->code = code;
    tasks->stack = stack;
}

/* What follows the name in a thread's stat: its state, and numbers; NULL: there is no such thread. */
static const char *look_at(const struct rf_tasks *tasks, pid_t id, char *stat, size_t size)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task/%d/stat", (int)tasks->pid, (int)id);
    const char *name_end = read_file(path, stat, size) > 0 ? strrchr(stat, ')') : NULL;
    return name_end != NULL && strlen(name_end) > 2 ? name_end + 2 : NULL;
}

void rf_tasks_know(struct rf_tasks *tasks)
{
    char stat[1024];
    const char *state = look_at(tasks, tasks->pid, stat, sizeof stat);
    if (state != NULL)
        notice_exec(tasks, state);
}

bool rf_tasks_runs(struct rf_tasks *tasks, pid_t id)
{
    char stat[1024];
    const char *state = look_at(tasks, id, stat, sizeof stat);
    if (state == NULL || state[0] != 'R')
        return false;
    notice_exec(tasks, state);
    tasks->processor = (int)field_of(state, FIELD_PROCESSOR);
    return true;
}

enum rf_tasks_where rf_tasks_where(const struct rf_tasks *tasks, pid_t id)
{
    /* The last two are of int $0x80. A processor with FRED has none of the first, but the second. */
    static const char *const entries[] = {" entry_", " do_syscall_", " do_fast_syscall_",
                                          " do_int80_", " asm_int80_"};
    char path[64], stack[8192];
    snprintf(path, sizeof path, "/proc/%d/task/%d/stack", (int)tasks->pid, (int)id);
    ssize_t n = read_file(path, stack, sizeof stack);
    for (size_t i = 0; n > 0 && i < sizeof entries / sizeof *entries; i++)
        if (strstr(stack, entries[i]) != NULL)
            return RF_TASKS_IN_CALL;
    return n < 0 ? RF_TASKS_HIDDEN : n == 0 ? RF_TASKS_RUNNING : RF_TASKS_IN_CODE;
}

pid_t rf_tasks_choose(struct rf_tasks *tasks, struct rf_random *random, double now)
{
    if (tasks->listed_at < 0 || now - tasks->listed_at > LIST_AGE_MAX)
        list(tasks, now);
    size_t most = tasks->n < LOOKS_MAX ? tasks->n : LOOKS_MAX;
    for (size_t i = 0; i < most; i++) { /* a shuffle, as far as it is needed */
        size_t k = i + (size_t)rf_random_below(random, tasks->n - i);
        pid_t id = tasks->ids[k];
        tasks->ids[k] = tasks->ids[i];
        tasks->ids[i] = id;
        if (rf_tasks_runs(tasks, id))
            return tasks->last = id;
    }
    return tasks->last;
}
