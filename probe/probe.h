/* SPDX-License-Identifier: GPL-2.0-or-later */
/* probe.h - the parts of the probe, a Valgrind tool that streams the events of a program.
 *
 *     main.c         options, what Valgrind calls when memory, threads and processes change
 *     instrument.c   from Valgrind's intermediate code to events: what is told of a superblock
 *     transfer.c     the same for branches, jumps, calls and returns
 *     tour.c         who is told of an event
 *     block.c        one superblock being told: words to store, its DEFINE message
 *     count.c        counters of what need not be told
 *     merge.c        repeats of what changes, counted before they are told
 *     derive.c       what follows from something that is told
 *     puts.c         registers that are written for nobody
 *     burst.c        versions of a block that are told and that are not
 *     clock.c        when which of them runs: the counters of each thread
 *     exec.c         a child that executes another program, which perhaps cannot be profiled
 *     pattern.c      which instructions end an interval, and whose events go to whom
 *     insn.c         which x86 instructions transfer control or compute
 *     ring.c         the producer's side of the shared memory
 *
 * The collector is another program and another licence: the two meet in ring_layout.h, probe_words.h and
 * target_kind.h only. name_match.h, which both use, says what a written name means; phases.h says what is new. */
#ifndef RF_PROBE_PROBE_H
#define RF_PROBE_PROBE_H

#include "pub_tool_basics.h"
#include "pub_tool_tooliface.h"
#include "pub_tool_libcassert.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_machine.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_options.h"
#include "pub_tool_aspacemgr.h"
#include "pub_tool_debuginfo.h"
#include "pub_tool_vki.h"
#include "pub_tool_vkiscnums.h"
#include "pub_tool_threadstate.h"
#include "libvex_guest_amd64.h"

#include "source/ring_layout.h"
#include "source/probe_words.h"

/* Short names for the classes and flags of probe_words.h. */
enum {
    LOAD = RF_WORD_LOAD,
    STORE = RF_WORD_STORE,
    BRANCH = RF_WORD_BRANCH,
    JUMP = RF_WORD_JUMP,
    CALL = RF_WORD_CALL,
    RETURN = RF_WORD_RETURN,
    ALU = RF_WORD_ALU,
    INSN = RF_WORD_INSN,
};
enum { FLAG_TAKEN = RF_WORD_TAKEN, FLAG_INDIRECT = RF_WORD_INDIRECT };

/* What is wanted of a class. Counted: its events have counters, and are told where a word of them changes, or
 * where all of them are to be told. */
enum {
    WANT_CLASS = 1,
    WANT_ADDR = 2,
    WANT_VALUE = 4,
    WANT_TARGET = 8,
    WANT_COUNT = 16,
    WANT_STREAM = 32,
};

enum { RANGES_MAX = 16, NAMES_MAX = 16, PATTERNS_MAX = 64 };

/* As in include/riffle/probe.h. */
struct pattern {
    UInt role, classes, target;
    ULong pc_low, pc_high, target_low, target_high;
    UInt pc_function, target_function;
    UInt opcode_low, opcode_high;
};
enum { TARGET_BELOW = 1, TARGET_SELF = 2, TARGET_ABOVE = 4, TARGET_NONE = 8 };

struct options {
    UInt want[RF_WORD_CLASSES];
    Bool counts; /* some class is counted */
    Bool merges; /* what changes is merged with its repeats */
    Int ring_fd;
    const HChar *ring_path; /* where it can be opened when the descriptor was closed */
    Long stack_period;      /* instructions between two samples of the call stack; 0: none */
    Bool lossy;
    const HChar *called; /* argv[0], where it is not the path; NULL: it is, or was set already */
    Bool follow;         /* children of fork are profiled too */
    Addr range_low[RANGES_MAX], range_high[RANGES_MAX]; /* high end out */
    Int n_ranges;
    const HChar *function[NAMES_MAX];
    Int n_functions;
    const HChar *module[NAMES_MAX];
    Int n_modules;
    Bool bursts;                  /* most of the program is counted only */
    UInt groups[RF_WORD_CLASSES]; /* sets of classes that are counted together, one bit per class */
    UInt n_groups;
    Int n_clocks;                          /* sets of bursts */
    struct pattern patterns[PATTERNS_MAX]; /* none: all that is wanted goes to all selectors */
    UInt n_patterns;
    const HChar *pattern_function[NAMES_MAX]; /* that patterns name */
    Int n_pattern_functions;
};
extern struct options probe_options;

/* ---- ring.c ---- */

/* Where the instrumented code finds its cursor and its limit; stays the same after a fork. It stores the cursor in two places:
 * the second is for the collector, and is never read here, since others can write to it. */
ULong *ring_cursor(void);
ULong *ring_told_cursor(void);
ULong *ring_limit(void);
void ring_open(void);  /* ends the process with a sentence when that is not possible */
void ring_flush(void); /* called from instrumented code when the chunk is full */
void ring_before_fork(UInt threads); /* made so far: all is published, the child gets the book */
void ring_in_child(void);            /* a ring of its own */
UInt ring_process(void);             /* its number among those of the run */
void ring_finish(void);              /* everything is published, the totals told */
void ring_go_on(void);               /* it was not the end: exec has failed */
void ring_close(void);               /* it was the end: give the slot back */
/* claim.c: take a free slot of the ring, by its number; -1: there is none. */
struct rf_ring_control;
Int claim_slot(struct rf_ring_control *control, UInt n_slots);
/* A system call of the probe's own, as the kernel takes it; a negative result is an error. */
Long ring_syscall(ULong number, ULong a, ULong b, ULong c, ULong d);
/* Map over what is mapped there already. */
Long ring_map(Addr where, SizeT length, ULong flags, Int fd, ULong offset);
/* Room for one element more; the array may move. */
void *ring_grow(void *array, UInt n, UInt *room, SizeT element);
/* Room for `n` words at the cursor; ring_commit makes them part of the stream. */
ULong *ring_reserve(UInt n);
void ring_commit(UInt n);
ULong *ring_chunk(void);                        /* that is being filled */
struct rf_ring_slot *ring_slot(void);           /* stays in its place after a fork, as the cursor */
const struct rf_ring_bursts *ring_bursts(void); /* what is wanted now; may change at any time */
struct rf_ring_counters *ring_counters(void);   /* stays in its place after a fork, as the cursor */

/* ---- paths.c ---- */

/* What the producer itself keeps of a path, to count what it produces and drops. */
struct path_totals {
    union {
        UChar of[RF_WORD_CLASSES]; /* class */
        ULong word;
    } events;     /* that are told, without the guarded ones */
    UShort words; /* dynamic ones */
    UShort n_guards : 15;
    UShort is_counted : 1; /* events of counted classes have counters, too */
    UInt guards;           /* index of the first guard in the list of path_add_guard */
};
UInt path_next(void);
void path_add(const struct path_totals *totals);
UInt path_add_guard(UShort word, UChar kind); /* its index */

ULong path_read(const ULong *at); /* once: it may be another one the next time */
/* Behind the path or message at `at`, which begins with `word`; `end` where that makes no sense. */
const ULong *path_skip(ULong word, const ULong *at, const ULong *end);
/* Add the events in the words from `at` to `end`, by class; PATH_UNCOUNTED: only those that have no counters. */
enum path_classes { PATH_ALL, PATH_UNCOUNTED };
void path_count(ULong *totals, const ULong *at, const ULong *end, enum path_classes classes);
Bool path_some_uncounted(void); /* are there events that have no counters? */

/* ---- count.c ---- */

/* By class: events that all paths from this one on count, and events that it counts alone. */
struct path_counts {
    UChar open[RF_WORD_CLASSES], here[RF_WORD_CLASSES];
    Bool is_last; /* of its block */
};
void count_open(UInt slots, UInt slot);
Bool count_in_child(UInt slots, UInt slot);
void count_nowhere(void); /* counts from here on are thrown away */
Bool count_begin(void);   /* are there counters for one more block? */
void count_path(IRSB *out, UInt path);
void count_guard(IRSB *out, IRExpr *guard, UInt kind);
/* Counters for each value of a byte: can there be some for this word? New ones; raise that of `byte`, if the guard
 * (NULL: there is none) holds. */
Bool count_has_values(const IRSB *out, const IRExpr *word);
UInt count_new_values(void);
void count_value(IRSB *out, UInt values, IRExpr *byte, IRExpr *guard);
void count_add_path(const struct path_counts *counts);
void count_sum(ULong *totals); /* by class, of all counters */
Addr count_table(void);        /* of merged events, behind the counters; 0: none */

/* ---- exec.c ---- */

/* At the start of the program: give it the name that it was called by. */
void exec_take_name(ThreadId thread);

/* ---- insn.c ---- */

enum insn_kind {
    INSN_OTHER,
    INSN_CONDITIONAL, /* jcc, loop, jrcxz */
    INSN_JUMP,
    INSN_CALL,
    INSN_RETURN,
    INSN_ALU,    /* writes an integer result: add, and, shift, neg, imul, lea ... */
    INSN_STRING, /* with a rep prefix: Valgrind runs it as a loop of single steps */
};
Bool insn_is_loop(const UChar *code, UInt length); /* loop, loope, loopne */
enum insn_kind insn_classify(const UChar *code, UInt length);
/* Where a direct jump, branch or call goes; the highest address for an indirect one. */
Addr insn_target(const UChar *code, UInt length, Addr pc);

/* ---- pattern.c ---- */

#define NO_TARGET (~(Addr)0)
Bool pattern_parse(const HChar *text); /* one more, from an option */
/* Roles of the patterns that an event of this class matches: 1 << role. The first roles are clocks whose intervals it
 * ends, the others, from ROLE_SELECTOR on, selectors. */
enum { ROLE_SELECTOR = RF_RING_CLOCKS };
UInt pattern_roles(UInt kind, Addr pc, Addr target, UInt opcode);

/* ---- block.c ---- */

struct block;

struct block_event {
    UChar kind, flags;
    UShort width;
    UChar only; /* selectors that it is for; 0: all */
    Addr pc;
    IRExpr *guard; /* I1; NULL: always */
    IRExpr *addr;
    IRExpr *value;
    IRExpr *target;
};

/* Begin to tell a block. If words of it go to the ring, the check for room in the ring will stand here. */
struct block *block_begin(IRSB *out);
/* Add an event that every later path counts; emits the stores of its dynamic words. */
void block_add(struct block *block, const struct block_event *event);
/* Add one that only the next path counts. */
void block_add_here(struct block *block, const struct block_event *event);
/* The block can be left here: emit the path's number and the cursor. */
void block_exit(struct block *block);
/* Tell the collector. False: there was nothing to tell. */
Bool block_end(struct block *block);

/* ---- puts.c ---- */

/* Take out writes of registers that are overwritten before anybody looks at them. */
void puts_clean(IRSB *out);

/* ---- merge.c ---- */

/* The notes of a block: where the next one goes is `next` and n notes behind it. */
struct notes {
    IRTemp next;
    UInt n;
    Bool is_new; /* some came since the last exit */
};

void merge_open(void); /* the table is this process's own: it is empty */
/* Every class is such that its events can be merged. */
Bool merge_is_possible(void);
void merge_notes(void); /* called from instrumented code when there are many */
/* In a block that notes: make room and find the next note; note the one word of an event that changes; in front of
 * an exit, let what was noted count. */
void merge_begin(IRSB *out, IRTemp to);
void merge_note(IRSB *out, struct notes *notes, UInt site, const struct block_event *event,
                IRExpr *word);
void merge_commit(IRSB *out, struct notes *notes);

/* ---- derive.c ---- */

/* Each block: first this; then each of its statements, in front of the events that it makes. */
void derive_begin(const IRSB *in);
void derive_see(const IRStmt *st);
/* An event that merges, the number of its block, is noted or has counters: others may follow from its word. */
void derive_add(const IRExpr *atom, UInt number);
/* Does the word follow from one that was added since the last exit? */
Bool derive_find(const IRSB *out, const IRExpr *atom, struct rf_derivation *how);
void derive_forget(void); /* at an exit */

/* ---- burst.c ---- */

enum version {
    WHOLE, /* there are no bursts: everything is told */
    OFF,   /* events are counted */
    ON,    /* events are told */
    CROSS, /* one branch, on the way from OFF to ON */
};
enum version burst_version(Addr address);

/* Each block: first this; then, of version OFF, the events and exits in their order. `ends` are the clocks whose interval
 * ends there, 1 << clock. */
void burst_begin(void);
void burst_skip(UInt groups); /* in each of these, one bit per group */
void burst_skip_if(IRSB *out, UInt groups, IRExpr *guard);
/* In front of an exit that stays as it is; `pc` is that of the branch. */
void burst_off_exit(IRSB *out, UInt ends, Addr pc);
void burst_off_behind(IRSB *out, UInt ends, IRStmt *st, Addr otherwise);
void burst_off_end(IRSB *out, UInt ends); /* may change out->next */

/* Of version ON: */
void burst_on_begin(IRSB *out, Addr pc);
/* An interval ends at pc; a bit: a burst is over, or begins. */
IRExpr *burst_count_interval(IRSB *out, UInt ends, Addr pc);
void burst_on_exit(IRSB *out, IRExpr *guard, IRJumpKind kind, Addr to, IRExpr *last);
void burst_on_end(IRSB *out, IRExpr *last, Addr pc);
IRStmt *burst_on_put(IRStmt *st);

IRSB *burst_cross(IRSB *in);

void burst_before_signal(ThreadId thread, Int number, Bool alternative);

/* ---- clock.c ---- */

#define CLOCK_OVERFLOWED   (1ULL << 63)
#define CLOCK_ONE_INTERVAL (1ULL << RF_RING_EVENT_BITS)

Bool clock_enter(ThreadId thread); /* it runs on; True: in a burst */
void clock_stop(void);             /* nobody runs */
/* Called from translated code when a clock has overflowed: a burst begins; one is over, or another one begins in it. */
void clock_begin_burst(void);
void clock_change_burst(void);
/* Are there clocks among these whose bursts depend on what the program does? Then call the second from translated code,
 * with their bits, for every interval that ends in the told version. */
Bool clock_has_phases(UInt clocks);
void clock_note_interval(ULong clocks, ULong bucket);
void clock_forget_thread(ThreadId thread);
void clock_in_child(ThreadId thread);
void clock_finish(void); /* tell what was skipped since the last burst */

/* ---- stack.c ---- */

/* Count the instructions of the block `in` at pc at its top; False: samples are not wanted. */
Bool stack_count(IRSB *out, const IRSB *in, Addr pc);
/* Around a stretch of translated code of the running thread, whose registers these are. The second takes a sample if one
 * is due. */
void stack_go_on(void *guest);
void stack_look(const void *guest);

/* ---- instrument.c ---- */

Bool probe_is_own(const HChar *path); /* a file of Valgrind or the probe, not of the program */
IRSB *instrument(VgCallbackClosure *closure, IRSB *in, const VexGuestLayout *layout,
                 const VexGuestExtents *extents, const VexArchInfo *arch, IRType guest_word,
                 IRType host_word);

#endif
