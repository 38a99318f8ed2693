/* machine.h - a simulated RV64GC core as a source of events, with honest cycles.
 *
 *     const struct rf_machine_setup setup = {.argv = argv, .core = "hps", .classes = classes};
 *     rf_source_open_machine(&source, &setup, &error);
 *     rf_source_modules(source, &modules, &n);           where its code is, for names
 *     rf_collect(&run, source, ...);                     records of what it executes, until it ends
 *     rf_machine_outcome(source, &outcome);              how it ended, in how many cycles
 *     rf_source_close(source);
 *
 * Runs statically linked 64-bit RISC-V Linux programs in user mode. Same program, same input, same
 * configuration: the same instructions, cycles and records, every time. One thread at a time. */
#ifndef RIFFLE_MACHINE_H
#define RIFFLE_MACHINE_H

#include <riffle/source.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Zero is a good default for all but argv. The strings must outlive the source. */
struct rf_machine_setup {
    const char *const *argv;        /* the program's file and its arguments, closed by NULL */
    const char *const *environment; /* closed by NULL; NULL: empty */
    const char *root; /* the folder that is its / and that it starts in: no name leads out of it.
                         NULL: it may touch what the caller may. Neither way is there a /proc. */
    const char *core; /* a named core and changes to it; NULL: no timing */
    uint32_t classes; /* of records to hand out, 1 << enum rf_class */
    int silent;       /* tell of each store whether it writes what is there already */
    uint64_t stack_period;      /* instructions between two samples of frames, on average */
    uint64_t max_instructions;  /* then it ends; 0: no limit */
    uint64_t skip_instructions; /* without timing and records, at full speed */
    const struct rf_alloc *alloc;
};

rf_status rf_source_open_machine(struct rf_source **source, const struct rf_machine_setup *setup,
                                 struct rf_error *error);

/* A figure of the timing model, such as "mispredicts", "dcache-misses" or "stall-rob". */
struct rf_machine_figure {
    const char *name;
    uint64_t value;
};

enum { RF_MACHINE_FIGURES_MAX = 64, RF_MACHINE_UNKNOWN_MAX = 32 };

struct rf_machine_outcome {
    int ended;       /* 0: max_instructions were over first, or it is still running */
    int exit_status; /* its own; 128 + n: it ended by signal n */
    char fault[160]; /* what it ended of, with the pc; "": it ended by itself */
    uint64_t instructions;
    uint64_t cycles;             /* 0: no timing */
    uint64_t timed_instructions; /* those that the cycles count: all but the skipped ones */
    double host_seconds;         /* of processor time, for MIPS */
    struct rf_machine_figure figures[RF_MACHINE_FIGURES_MAX];
    size_t n_figures;
    unsigned unknown_calls[RF_MACHINE_UNKNOWN_MAX]; /* numbers of system calls that it lacks */
    size_t n_unknown_calls;
};
void rf_machine_outcome(const struct rf_source *source, struct rf_machine_outcome *outcome);

/* The named cores, closed by a NULL name; and a core's text with every parameter spelled out. */
struct rf_machine_core {
    const char *name;
    const char *brief;
};
const struct rf_machine_core *rf_machine_cores(void);
rf_status rf_machine_core_print(const char *core, char *text, size_t size, struct rf_error *error);

#ifdef __cplusplus
}
#endif
#endif
