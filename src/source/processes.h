/* processes.h - the processes of a run: which slot each of them holds, which of them are over, and which
 * words come next.
 *
 *     rf_processes_fetch(&processes, &piece, &idle, &error);     words of one process, or none in this tick
 *     ... decode them ...
 *     rf_processes_finish(&piece, used);                         how many of them could be used
 *     rf_processes_are_over(&processes)                          nothing more will come
 *
 * Plain data, so that the decoder and the source can look at it. One thread at a time. */
#ifndef RF_SOURCE_PROCESSES_H
#define RF_SOURCE_PROCESSES_H

#include "source/book.h"
#include "source/modules.h"
#include "source/ring.h"
#include "source/spawn.h"
#include "source/target.h"

enum {
    RF_PROCESSES_SPACES_MAX = 255,
    RF_PROCESSES_WORDS = RF_RING_CHUNK / 8, /* of a piece, at most */
    RF_PROCESSES_NAMED_MAX = 32,
    RF_PROCESSES_UNPROFILED_MAX = 8, /* that are named */
    RF_PROCESSES_TOLD_MAX = 32,      /* that the report tells by id and program */
    RF_PROCESSES_IDS_MAX = 1 << 22,  /* Linux has no greater process id */
    RF_PROCESSES_PROGRAM_BYTES = 40,
};

/* A slot of the ring: a process, or, where the program has hooks, one of its threads. */
struct rf_process {
    bool used;
    bool has_book; /* false: forked, and the parent's stream has not reached the fork */
    struct rf_ring_reader reader;
    struct rf_book book;
    struct rf_mapped mapped;
    bool has_space;
    uint64_t number; /* from 0, in the order in which they appeared */
    char program[RF_PROCESSES_PROGRAM_BYTES];
    uint16_t thread;   /* that is running; its number in the run */
    uint16_t *threads; /* numbers in the run, by the process's own from 1; 0: it has none yet */
    size_t n_threads;
    bool is_checked, is_forged;     /* the process of this id does not have the ring */
    bool drained;                   /* it is over, and all of its words were read */
    bool tallied;                   /* and all of its counters */
    size_t tally_path, tally_count; /* up to here, in its book */
    uint32_t due;                   /* chunks that it had published when the last process came */
    uint32_t tally_word,
        tally_site;    /* where that count is of a site; 0: the first of those that it is of */
    size_t remains_at; /* and of its notes and its table, up to here */
    bool told_end;
    bool told_rest;                     /* killed: what it skipped since its last burst was told */
    uint64_t skipped[RF_RING_GROUPS];   /* as messages told */
    uint64_t on;                        /* 1 << selector: in a burst */
    uint64_t produced[RF_WORD_CLASSES]; /* by its own count; of hooks, what they never told */
};

/* Words of one process, copied out of the ring. */
struct rf_piece {
    struct rf_process *process; /* NULL: there is no piece */
    uint64_t *words;            /* room for RF_PROCESSES_WORDS */
    size_t n;
    bool tally; /* there are no words: its counters are to be read */
    bool whole; /* a published chunk: no message goes on behind its end */
    bool last;  /* the producer is dead: its last message counts if it is complete */
};

/* A program that a process became and that cannot be profiled. */
struct rf_unprofiled {
    char path[256]; /* its end, where it is longer */
    enum rf_target_kind kind;
    uint64_t times;
};

/* A thread that has a name of its own. */
struct rf_named_thread {
    uint16_t number;
    char name[RF_WORD_NAME_BYTES];
};

/* One of the first processes, by the order in which they appeared. */
struct rf_told_process {
    uint32_t pid;
    uint32_t family;                          /* of hooks */
    char program[RF_PROCESSES_PROGRAM_BYTES]; /* the last part of its path; "?": not known */
};

struct rf_processes {
    const struct rf_alloc *alloc;
    const volatile int *stop; /* not 0: do not wait for children that outlive the program */
    const uint64_t *events;   /* handed out so far: the clock of the modules */
    struct rf_ring ring;
    struct rf_spawn spawn;
    struct rf_book_shelf shelf;
    struct rf_modules modules;
    bool hooks;              /* the program has hooks: it does not run under the probe */
    struct rf_process *list; /* by slot */
    uint32_t n_slots;
    uint32_t slots_used;        /* the slots from here on were never seen taken */
    struct rf_legacy *legacies; /* the youngest first */
    size_t n_legacies;
    rf_status status;                         /* of what cannot fail where it happens */
    uint64_t spaces[RF_PROCESSES_SPACES_MAX]; /* hashes of the paths of the programs seen */
    size_t n_spaces;
    uint32_t next_slot; /* of whole chunks */
    uint32_t rest_slot; /* of the pass over half-filled ones */
    double next_tick;
    unsigned moment_ms; /* to wait for the end of a program that has told it */
    size_t n_groups;    /* of events that are counted while they are skipped; 0: none are */
    uint64_t n, n_killed;
    struct rf_told_process told[RF_PROCESSES_TOLD_MAX];
    struct rf_unprofiled unprofiled[RF_PROCESSES_UNPROFILED_MAX];
    size_t n_unprofiled;
    uint16_t n_threads; /* of all processes */
    uint16_t *left;     /* by process id: the first thread of what is over and may go on by exec */
    size_t n_left;
    struct rf_named_thread named[RF_PROCESSES_NAMED_MAX];
    size_t n_named;
    uint64_t unnamed;                   /* more of them */
    uint64_t produced[RF_WORD_CLASSES]; /* by those that are over */
};

struct rf_processes_setup {
    uint32_t counted; /* selectors, 1 << i, that are counted where that is possible */
    uint32_t slots;   /* of the ring; 0: RF_RING_SLOTS */
};

/* Make the ring, without processes. The selectors and the allocator stay the caller's; the caller sets stop and events. Must
 * be freed, whatever the status. */
rf_status rf_processes_init(struct rf_processes *processes, const struct rf_selector *selectors,
                            size_t n_selectors, const struct rf_processes_setup *setup,
                            const struct rf_alloc *alloc, struct rf_error *error);
void rf_processes_free(struct rf_processes *processes);

/* pieces.c: the next words of some process, after waiting for a tick at most. piece->process is NULL when there are
 * none; `idle` then says that nobody had any. */
rf_status rf_processes_fetch(struct rf_processes *processes, struct rf_piece *piece, bool *idle,
                             struct rf_error *error);
/* At the end, what is in the tables of merged events of processes that still run; false: nothing more. */
bool rf_processes_fetch_tables(struct rf_processes *processes, struct rf_piece *piece);
/* The first `used` words of the piece are done; the rest comes again. */
void rf_processes_finish(struct rf_piece *piece, size_t used);

/* The program has ended, and no process is left in the ring that must be waited for. */
bool rf_processes_are_over(struct rf_processes *processes);

/* What messages say about a process. */
/* The book as it stands is also that of the parent's fork number `fork`; the parent has made this many threads. */
rf_status rf_processes_fork(struct rf_processes *processes, struct rf_process *parent,
                            uint32_t fork, uint64_t n_threads, struct rf_error *error);
rf_status rf_processes_map(struct rf_processes *processes, struct rf_process *process,
                           const struct rf_module *module, struct rf_error *error);
void rf_processes_unmap(struct rf_processes *processes, struct rf_process *process, uint64_t start,
                        uint64_t end);
/* The process's own thread number `thread` runs from here on; it is called `name`. */
rf_status rf_processes_switch(struct rf_processes *processes, struct rf_process *process,
                              uint64_t thread, struct rf_error *error);
rf_status rf_processes_name(struct rf_processes *processes, struct rf_process *process,
                            uint64_t thread, const char *name, struct rf_error *error);
void rf_processes_unprofiled(struct rf_processes *processes, enum rf_target_kind kind,
                             const char *path);

/* Admit processes that took a slot, and give books to children whose parents have reached the fork. */
void rf_processes_attach_new(struct rf_processes *processes);
/* The book that a child begins with, if its parent has told of the fork. */
void rf_processes_inherit(struct rf_processes *processes, struct rf_process *process);
/* It has ended, or became another program; what it has left in the ring may not be read yet. */
bool rf_processes_is_over(struct rf_processes *processes, const struct rf_process *process);
/* All of it was read: its slot is free for another one. */
void rf_processes_bury(struct rf_processes *processes, struct rf_process *process);

/* The process of this number, NULL: it is over. */
struct rf_process *rf_processes_find(struct rf_processes *processes, uint32_t number);
/* The number in the run of a process's own thread; 0: no memory. */
uint16_t rf_processes_thread(struct rf_processes *processes, struct rf_process *of,
                             uint64_t thread);
/* The number in the run of a thread that was not seen yet. */
uint16_t rf_processes_next_thread(struct rf_processes *processes);
/* The process begins, and its first thread has this number; false: no memory. */
bool rf_processes_begin_as(struct rf_processes *processes, struct rf_process *process,
                           uint16_t number);

/* Two slots of one process, which has hooks. */
static inline bool rf_processes_are_family(const struct rf_process *a, const struct rf_process *b)
{
    return a->used && b->used && a->reader.family != 0 && a->reader.family == b->reader.family &&
           a->reader.pid == b->reader.pid;
}
/* A process begins when those before it have told what they had told by then: their threads have lower numbers. False: there
 * is no memory. */
void rf_processes_note_due(struct rf_processes *processes); /* another process came */
bool rf_processes_must_wait(const struct rf_processes *processes, const struct rf_process *process);
bool rf_processes_begin(struct rf_processes *processes, struct rf_process *process);
/* The slot is done: another one of its family keeps the numbers of the threads, or what the process becomes that of its first. */
void rf_processes_leave_threads(struct rf_processes *processes, struct rf_process *process);

/* The stream makes no sense: RF_EDAMAGED with a sentence. */
rf_status rf_processes_damaged(struct rf_error *error);

#endif
