/* attach.h - samples of a process that runs already: a source that holds one of its threads still now and then.
 *
 *     const struct rf_attach_setup setup = {.pid = 4242, .classes = 1u << RF_CLASS_LOAD};
 *     rf_source_open_attach(&source, &setup, &error);         it is being sampled now
 *     rf_collect(&run, source, ...);                          until it ends, the time is up, or *stop
 *     rf_attach_outcome(source, &outcome);                    what was seen, what it cost
 *     rf_source_close(source);
 *
 * Batches are records, in bursts: what a thread did next from the moment it was held. Samples are by time, and what
 * happens between them is not counted: shares are estimates. The process is never harmed, and traced only while one of its threads
 * is held. Linux on x86-64, 64-bit programs. One thread at a time. */
#ifndef RIFFLE_ATTACH_H
#define RIFFLE_ATTACH_H

#include <riffle/source.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RF_ATTACH_OVERHEAD 0.03
#define RF_ATTACH_BURST    100

/* Zero is a good default for all but pid and classes. */
struct rf_attach_setup {
    int pid;
    uint32_t classes; /* that are wanted, 1 << enum rf_class; alu is never told */
    double
        overhead; /* the share of its processor time that may be taken from it; 0: RF_ATTACH_OVERHEAD */
    uint64_t burst; /* instructions, at most; 0: RF_ATTACH_BURST */
    double seconds; /* 0: until it ends */
    uint64_t seed;
    int before_exec;          /* it is about to become the program that is meant: wait for that */
    int no_values;            /* values read as 0 */
    const volatile int *stop; /* not 0: end now */
    const struct rf_alloc *alloc;
};

/* RF_EINVAL: there is no such process, or it cannot be sampled; RF_ENOTSUP: nothing can, here. `error` says why. */
rf_status rf_source_open_attach(struct rf_source **source, const struct rf_attach_setup *setup,
                                struct rf_error *error);

struct rf_attach_outcome {
    char program[256]; /* its file, when it was attached to */
    int ended;         /* the process is over */
    int wait_status; /* as wait(2) has it, where its end was taken here, if it is a child of ours; else -1 */
    double wall_seconds, cpu_seconds; /* while it was sampled: on the wall, of its processors */
    double held_seconds;              /* that threads of it were held still */
    double spent_seconds;             /* and with our own processor time added */
    uint64_t samples;                 /* bursts */
    uint64_t steps;                   /* instructions of them */
    uint64_t kernel;                  /* a thread was in a system call when it was to be held */
    uint64_t asleep;                  /* none of its threads ran */
    uint64_t refused;                 /* somebody else traced it */
    uint64_t cut_kernel, cut_unknown, cut_unreadable; /* bursts that ended early, and at what */
    uint64_t execs;                                   /* other programs that it became */
    uint64_t threads;                                 /* that were seen */
};

/* So far, or when it has ended. */
void rf_attach_outcome(const struct rf_source *source, struct rf_attach_outcome *outcome);

#ifdef __cplusplus
}
#endif
#endif
