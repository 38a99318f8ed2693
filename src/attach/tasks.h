/* tasks.h - the threads of a process: which of them runs now. */
#ifndef RF_ATTACH_TASKS_H
#define RF_ATTACH_TASKS_H

#include "base/random.h"
#include <riffle/alloc.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct rf_tasks {
    const struct rf_alloc *alloc;
    pid_t pid;
    pid_t *ids;
    size_t n, room;
    double listed_at;     /* when the list was read, in seconds */
    uint64_t code, stack; /* where they begin; both change with an exec */
    uint64_t execs;
    int processor; /* where the thread that was chosen runs */
    pid_t last;    /* it */
};

void rf_tasks_init(struct rf_tasks *tasks, pid_t pid, const struct rf_alloc *alloc);
void rf_tasks_free(struct rf_tasks *tasks);

/* Which program it is now; rf_tasks_choose counts an exec where that has changed. */
void rf_tasks_know(struct rf_tasks *tasks);
/* One of those that run, each as likely as any other; where none does, the one that was chosen last; 0: there is none. */
pid_t rf_tasks_choose(struct rf_tasks *tasks, struct rf_random *random, double now);
/* Does it run, or wait for a processor? tasks->processor is where. */
bool rf_tasks_runs(struct rf_tasks *tasks, pid_t id);
/* Where a thread is whose processor was taken from it. */
enum rf_tasks_where {
    RF_TASKS_IN_CALL, /* in a system call */
    RF_TASKS_IN_CODE, /* in its own code */
    RF_TASKS_RUNNING, /* it has a processor all the same */
    RF_TASKS_HIDDEN,  /* we may not know: we are not root */
};
enum rf_tasks_where rf_tasks_where(const struct rf_tasks *tasks, pid_t id);
/* The list is old: a thread was not there. */
void rf_tasks_forget(struct rf_tasks *tasks);

/* A file below /proc/PID, into `text`, terminated; -1: it cannot be read. */
ssize_t rf_tasks_read(pid_t pid, const char *name, char *text, size_t size);

#endif
