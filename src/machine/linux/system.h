/* system.h - the Linux that the guest sees: system calls on files, memory and a frozen clock.
 *
 * Everything that could differ from run to run is fixed: the clock advances with the instructions,
 * getrandom and /dev/urandom are seeded, ids are constant. No name leads out of the root, and none to
 * a file of a process. A call that is not there answers ENOSYS and is noted once. */
#ifndef RF_MACHINE_SYSTEM_H
#define RF_MACHINE_SYSTEM_H

#include "machine/core/core.h"
#include "machine/linux/signals.h"
#include "base/random.h"

enum { RF_SYSTEM_FILES = 256, RF_SYSTEM_UNKNOWN_MAX = 32 };
enum { RF_SYSTEM_ID = 1000 }; /* of the process, its thread, its user */

struct rf_system {
    struct rf_core *core;
    int root;                /* the guest's /, -1: not open */
    int start;               /* the folder it starts in, -1: not there */
    bool fenced;             /* the root is not the host's */
    uint64_t brk_start, brk; /* the start is a multiple of the page size */
    uint64_t mmap_from;
    int file[RF_SYSTEM_FILES]; /* the host's descriptor, -1: closed */
    struct rf_random random;
    struct rf_signals signals;
    bool exited;
    int exit_status;
    char why[80]; /* it had to end; "": it ended by itself, or runs */
    uint64_t ended_at;
    unsigned unknown[RF_SYSTEM_UNKNOWN_MAX]; /* numbers of calls that are not there */
    size_t n_unknown;
};

/* root NULL: the host's own /. */
rf_status rf_system_open(struct rf_system *system, struct rf_core *core, const char *root,
                         struct rf_error *error);
void rf_system_set_brk(struct rf_system *system,
                       uint64_t brk);           /* the first address behind the program */
void rf_system_close(struct rf_system *system); /* closes what the guest left open */

/* Carry out the call that the core stopped at. The program goes on behind it, or in the handler of a signal. */
void rf_system_call(struct rf_system *system);

/* End the program as if by this signal. */
void rf_system_end(struct rf_system *system, int number, const char *why);

#endif
