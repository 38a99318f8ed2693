/* probe.h - the events of an unmodified program: a source that starts it under the probe.
 *
 *     const struct rf_probe_setup setup = {.argv = argv, .selectors = selectors, .n_selectors = 2};
 *     rf_source_open_probe(&source, &setup, &error);          the program is running now
 *     rf_collect(&run, source, ...);                          until it ends
 *     rf_probe_wait(source, &outcome, &error);                how it ended
 *     rf_source_modules(source, &modules, &n);                which files it had mapped
 *     rf_source_close(source);
 *
 * Only the classes and fields that the selectors read are produced. Batches are tuples, stream i
 * belonging to selector i (of the p-th process kept apart: p * n_selectors + i), or records where asked
 * for. The program's standard streams are the caller's own, and so are its signals: what the caller ignores or
 * blocks it ignores and blocks, too. Linux on x86-64, 64-bit programs. One thread at a time, but for
 * rf_probe_signal. */
#ifndef RIFFLE_PROBE_H
#define RIFFLE_PROBE_H

#include <riffle/module.h>
#include <riffle/selector.h>
#include <riffle/source.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    RF_PROBE_PATTERNS_MAX = 64,
    RF_PROBE_PROFILES_MAX = 8,   /* selectors, where there are patterns */
    RF_PROBE_CLOCKS_MAX = 8,     /* sets of bursts */
    RF_PROBE_FUNCTIONS_MAX = 16, /* that patterns name */
    RF_PROBE_SLOTS_MAX = 2048,
};
#define RF_PROBE_FOREVER      UINT32_MAX
#define RF_PROBE_STACK_PERIOD 200000 /* instructions */

/* Bursts: of the sampling intervals of each thread, which end with calls and backward branches, `burst` are told,
 * then `sparsity` are skipped, and so on. frequency = burst / (burst + sparsity). What is skipped is counted, but
 * for programs that have hooks and two copies of each function. */
struct rf_probe_bursts {
    uint32_t burst;    /* 0: no bursts, everything is told; RF_PROBE_FOREVER: it does not end */
    uint64_t sparsity; /* on average: the distance is random, with `seed`; UINT64_MAX: for ever */
    uint64_t seed;
    int regular;    /* the distance is always the same */
    uint64_t first; /* the same before the first burst, where regular */
    int phases;     /* more often while the program does what it has done little or never before: */
    uint64_t new_sparsity; /* the distance then */
    uint32_t profiles;     /* selectors that are told in these bursts, 1 << i; 0: all */
};

/* Instructions by what is known of them before they run; all of it must hold. With patterns, an event goes to the
 * selectors alone that a pattern names for it. */
enum {
    RF_PROBE_TARGET_BELOW = 1, /* it says itself that it goes to a lower address */
    RF_PROBE_TARGET_SELF = 2,
    RF_PROBE_TARGET_ABOVE = 4,
    RF_PROBE_TARGET_NONE = 8, /* it does not say: an indirect jump, a load */
};
/* What a pattern is for: from 0 on, it ends an interval of those bursts; from this on, its events are for a selector. */
enum { RF_PROBE_ROLE_SELECTOR = RF_PROBE_CLOCKS_MAX };
struct rf_probe_pattern {
    uint8_t role;
    uint8_t classes;                                   /* 1 << enum rf_class */
    uint8_t target;                                    /* RF_PROBE_TARGET_.. | .. */
    uint64_t pc_low, pc_high, target_low, target_high; /* both ends in */
    uint32_t opcode_low, opcode_high; /* numbers of base/x86.h, both ends in; all: 0, UINT32_MAX */
    /* 0, or 1 + the number of a function: the ends count from its beginning, and the place lies in it. */
    uint8_t pc_function, target_function;
};

struct rf_probe_range {
    uint64_t low, high; /* high end out */
};

/* Zero is a good default for all but argv and selectors. The strings must live until the open. */
struct rf_probe_setup {
    const char *const *argv; /* program and arguments, closed by NULL; looked up in PATH */
    const char *folder;      /* where the probe is; NULL: as built or installed */
    int hooks; /* the program was compiled by 'riffle cc': it runs by itself, without the probe */
    const struct rf_selector *selectors; /* copied */
    size_t n_selectors;
    /* 1 << i: the order of selector i's tuples does not matter, and equal ones may come as one with a count. What is
     * static of them (pc, width, direct target, direction) is then counted where it happens, at a small cost, and comes
     * when its process is over. Its other tuples come as they happen. */
    uint32_t any_order;
    uint64_t
        stack_period; /* instructions between two samples of frames; 0: RF_PROBE_STACK_PERIOD */
    int records;      /* hand out records, which the caller selects from */
    int no_values;    /* values are not even produced: they read as 0 */
    int wakes;        /* hand out a batch with `idle` when nothing comes for a moment */
    int lossy;        /* drop what does not fit the ring, and count it, instead of waiting */
    int no_follow;    /* leave forked and exec'ed children alone */
    uint32_t slots;   /* processes that may be there at once, RF_PROBE_SLOTS_MAX at most; 0: 256 */
    size_t processes_apart; /* this many get streams of their own; those beyond share the last's */
    /* Only instructions in these. Lists closed by NULL, by low = high = 0; NULL: everywhere. */
    const char *const *functions;
    const char *const *modules; /* path or last part of it */
    const struct rf_probe_range *ranges;
    /* Up to the first of length 0. More than one: with patterns, and each selector is in one of them. */
    struct rf_probe_bursts bursts[RF_PROBE_CLOCKS_MAX];
    const struct rf_probe_pattern
        *patterns; /* NULL: intervals end with calls and backward branches */
    size_t n_patterns;
    const char *const
        *pattern_functions; /* RF_PROBE_FUNCTIONS_MAX, up to the first NULL; NULL: none */
    /* For names in selectors: each file that is mapped to be executed goes to `mapped`, before the first event of
     * its code; then `resolve` is asked for what that file has (selector.h). NULL: names are nowhere. */
    void (*mapped)(void *context, const struct rf_module *module);
    rf_selector_resolve resolve;
    void *resolve_context;
    const volatile int *stop; /* not 0: do not wait for children that outlive the program */
    const struct rf_alloc *alloc;
};

/* The path of the program `name`, which has a slash in it or is looked up in PATH. 0: there is no such file that may be
 * executed, or its path takes more than `size` bytes. */
int rf_probe_find(char *path, size_t size, const char *name);

/* Was this program compiled by 'riffle cc'? It is looked up in PATH. */
int rf_probe_has_hooks(const char *name);
/* Can its hooks tell what is wanted? 0: no, and `why` is the rest of a sentence that begins with "hooks". */
int rf_probe_hooks_suffice(const struct rf_probe_setup *setup, char *why, size_t size);

rf_status rf_source_open_probe(struct rf_source **source, const struct rf_probe_setup *setup,
                               struct rf_error *error);

/* How the program ended and what was seen of it. */
struct rf_probe_outcome {
    int ended;           /* 0: it still runs */
    int hooks;           /* it has hooks, and ran without the probe */
    int exit_status;     /* when no signal ended it */
    int signal;          /* that ended it; 0: none */
    double wall_seconds; /* from start to end */
    double cpu_seconds;  /* of the program and the children it waited for, under the probe */
    uint64_t processes;  /* that were followed */
    uint64_t
        unfollowed; /* that could not be, for want of room in the ring; of a program with hooks: threads */
    uint64_t
        untold; /* by hooks: events of such threads, and of signal handlers that are too deep in others */
    uint64_t killed; /* that ended without saying what they produced: killed */
    uint64_t events; /* of all classes, as tuples or records */
    uint64_t lost;
    uint64_t bursts;  /* that are over */
    uint64_t skipped; /* events between bursts */
    uint64_t
        derived; /* events whose words the program did not tell: they follow from those of others */
    int uncounted; /* and others between bursts that nobody counted: the program has two copies of its functions */
    uint64_t changes;                                        /* of bursts, by rf_control_set */
    struct rf_probe_bursts last_bursts[RF_PROBE_CLOCKS_MAX]; /* as they were at the end */
    uint32_t off;        /* 1 << selector: switched off by then */
    int verified;        /* every process told what it produced, and that is what came through */
    char programs[2048]; /* the first processes, as "1 sh (812), 2 gzip (813)", with their ids */
    char nowhere[256];   /* names in selectors that no file had */
    char unprofiled
        [1024]; /* programs that children became and that cannot be profiled: setuid, 32-bit .. */
    uint64_t threads; /* of all processes, numbered as they are seen */
    struct {
        uint32_t number;
        char name[16];
    } named_threads[32];
    size_t n_named_threads;
    char thread_names[1024]; /* of those that have one: "2 worker, 3 logger" */
    char trouble[512];       /* why it ended, where that is the probe's doing; else "" */
    int gave_up;             /* that is a file that the probe cannot read */
};

/* Let the program run to its end, keeping nothing more. */
rf_status rf_probe_wait(struct rf_source *source, struct rf_probe_outcome *outcome,
                        struct rf_error *error);
/* Send a signal to the program; 0 when it has ended. Safe in a signal handler. */
int rf_probe_signal(const struct rf_source *source, int signal);

#ifdef __cplusplus
}
#endif
#endif
