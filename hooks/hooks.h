/* hooks.h - the parts of libriffle-hooks, the run-time of programs that were compiled by `riffle cc`.
 *
 *     access.c    __tsan_read8 and its like: loads, stores, calls
 *     atomic.c    __tsan_atomic64_load and its like, which must do the operation, too
 *     block.c     __sanitizer_cov_trace_pc: blocks
 *     pocket.c    words of one place: what code in place of calls has to do with a load
 *     tell.c      one event: what a hook does where its fast path does not suffice
 *     lane.c      one thread's slot of the ring: words, chunks, waiting
 *     site.c      places of the program: their numbers, their description, the files they lie in
 *     inplace.h   what code in place of calls knows of all this
 *     burst.c     when events are told and when they are only counted
 *     life.c      start, threads, forks, options
 *     shared.c    what libraries have in place of pockets and gates: nothing
 *
 * The compiler calls a hook in front of each access. A hook finds its place (a path of the book, as the probe's blocks
 * have) and writes what changes. It writes nothing where the same word came at the same place a short while ago: then it
 * raises a count. Counts are in a table of 4096 words, in shared memory, too, so that a kill loses nothing. Two words that
 * want the same entry push one another out:
 *
 *     __tsan_read8(p), place 7       entry: word 5 at place 7, 41 times       *p == 5: 42 times
 *                                    *p == 6, another entry: word 9 at place 3, 8 times
 *                                           [3 | 7 more][9] to the ring; entry: word 6 at place 7, once
 *
 * Each thread has a lane (a slot of the ring) of its own, so there is no lock. Hooks may run in signal handlers, even
 * while the thread is inside a hook: `busy` says so, and such an event goes to another lane. No hook changes errno or
 * allocates by malloc.
 *
 * The call of a hook costs more than what it does, so `riffle cc` puts the usual cases in place of the calls of a program
 * (cli/inplace.c). There, a load's word goes to the pocket of its place, where it waits for others, without a search (pocket.c).
 * The hooks themselves are for code of libraries, and for all else. Their usual cases are inline, in a few instructions that need no
 * stack; all else is behind a jump.
 *
 * Only libc is used. x86-64 Linux. This is part of other people's programs: everything but the hooks is hidden. */
#ifndef RF_HOOKS_HOOKS_H
#define RF_HOOKS_HOOKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "inplace.h"
#include "source/probe_words.h"

#pragma GCC visibility push(hidden)

#define RF_HOOKS_LIKELY(x)   __builtin_expect(!!(x), 1)
#define RF_HOOKS_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define RF_HOOKS_SHOWN       __attribute__((visibility("default")))
#define RF_HOOKS_INLINE      static inline __attribute__((always_inline))
#define RF_HOOKS_APART       __attribute__((noinline))
#define RF_HOOKS_HERE        ((uint64_t)(uintptr_t)__builtin_return_address(0))

/* A note in the program, by which `riffle run` knows what it has. It survives strip. */
struct rf_hooks_note {
    uint32_t name_bytes, bytes, type;
    char name[8];
    uint32_t layout; /* of the ring */
};
enum { RF_HOOKS_NOTE = 1, RF_HOOKS_NOTE_BLOCKS = 2 };
#define RF_HOOKS_NOTED(type)                                                                       \
    __attribute__((used, section(".note.riffle"),                                                  \
                   aligned(4))) static const struct rf_hooks_note note = {                         \
        sizeof "riffle", 4, type, "riffle", RF_RING_LAYOUT}

/* ---- what is wanted ---- */

/* Of a class. */
enum rf_hooks_mode {
    RF_HOOKS_OFF,         /* also while nobody listens */
    RF_HOOKS_COUNT,       /* nothing that changes is wanted: count places */
    RF_HOOKS_ADDRESS,     /* one word that changes, in any order: the address */
    RF_HOOKS_LOADED,      /* the same: the value */
    RF_HOOKS_STREAM,      /* each event in its place */
    RF_HOOKS_SAMPLE,      /* the same, in bursts */
    RF_HOOKS_SAMPLE_SOME, /* the same, and not every place is wanted */
};
extern uint8_t rf_hooks_mode[RF_WORD_CLASSES];

enum { RF_HOOKS_ADDR = 1, RF_HOOKS_VALUE = 2 };
enum { RF_HOOKS_RANGES_MAX = 16, RF_HOOKS_MODULES_MAX = 16, RF_HOOKS_TEXT = 4096 };

/* From the environment, by riffle (src/source/hooks.c). */
struct rf_hooks_options {
    uint8_t mode[RF_WORD_CLASSES]; /* of a process that listens */
    uint8_t want[RF_WORD_CLASSES]; /* RF_HOOKS_ADDR | .. */
    uint8_t group[RF_WORD_CLASSES];
    uint8_t n_groups; /* 0: no bursts */
    bool lossy, follow, threads, merge;
    int ring_fd;
    const char *ring_path;
    struct {
        uint64_t low, high;
    } ranges[RF_HOOKS_RANGES_MAX];
    uint32_t n_ranges;
    const char *modules[RF_HOOKS_MODULES_MAX];
    uint32_t n_modules;
};
extern struct rf_hooks_options rf_hooks_options;

extern uint32_t rf_hooks_listening; /* 0: nobody reads */
void rf_hooks_listen(void);
void rf_hooks_stop(void);

/* ---- lanes ---- */

struct rf_hooks_span {
    uint64_t start, end;
};

enum { RF_HOOKS_SPANS = 1024, RF_HOOKS_NO_PATH = 0xffffffff };
enum rf_hooks_state { RF_HOOKS_EMPTY, RF_HOOKS_TAKEN, RF_HOOKS_IDLE };

struct rf_hooks_lane {
    uint64_t busy;              /* the stack pointer of the hook that is inside; 0: none is */
    struct rf_ring_word *words; /* RF_RING_WORDS of them */
    struct rf_ring_slot *slot;
    struct rf_ring_place *places; /* a hash table, open; the one in use */
    uint64_t mask;
    uint64_t last_block;
    bool skips; /* between bursts */
    uint64_t last_pc, left;
    struct rf_ring_place *table; /* where all tables lie, one behind the other */
    bool is_shared;              /* the collector sees it */
    uint32_t n_places, n_paths;
    uint8_t *kinds;              /* of paths: class | words << 4 */
    struct rf_hooks_lane *above; /* for events while this one is busy */
    uint32_t slow;               /* the hook inside changes more than one word */
    bool is_abandoned;           /* nobody reads it any more */
    bool drops;                  /* it moves words within a chunk */
    uint64_t defined;            /* it tells a path, here; 0: it does not */
    uint32_t defining;           /* which path */
    uint32_t state;              /* enum rf_hooks_state */
    uint32_t thread;             /* its number in the process */
    uint64_t owner; /* how often it was taken << 32 | its number in the kernel; 0: nobody's */
    uint32_t head;  /* chunks that were published */
    uint64_t chunk; /* where the one begins that is being filled */
    uint64_t weight, random;
    uint64_t told[RF_RING_GROUPS];
    uint8_t *
        pockets; /* by offset of a site in the program's image: the address of its pocket; NULL: it has none */
    struct rf_ring_pocket *pocket_memory;
    uint32_t n_pockets;
    uint32_t n_spans;
    struct rf_hooks_span spans[RF_HOOKS_SPANS]; /* of files that were told; the last of all */
};

extern __thread struct rf_hooks_lane *rf_hooks_lane __attribute__((tls_model("initial-exec")));

/* For code in place of calls; not in libraries. */
extern __thread uint64_t rf_hooks_pockets_2 __attribute__((tls_model("initial-exec")));
extern uint8_t rf_hooks_wanted_2[RF_INPLACE_WANTED];

/* What stands above is stored before what stands below: a signal handler may come in between. */
RF_HOOKS_INLINE void rf_hooks_then(void)
{
    __asm__ volatile("" ::: "memory");
}

RF_HOOKS_INLINE uint64_t rf_hooks_stack(void)
{
    uint64_t pointer;
    __asm__ volatile("movq %%rsp, %0" : "=r"(pointer));
    return pointer;
}

/* Around what changes more than one word. */
RF_HOOKS_INLINE void rf_hooks_begin_slow(struct rf_hooks_lane *lane)
{
    lane->slow++;
    rf_hooks_then();
}

RF_HOOKS_INLINE void rf_hooks_end_slow(struct rf_hooks_lane *lane)
{
    rf_hooks_then();
    lane->slow--;
}

RF_HOOKS_INLINE void rf_hooks_leave(struct rf_hooks_lane *lane)
{
    rf_hooks_then();
    lane->busy = 0;
}

/* A lane for an event where the thread has none that is not busy; NULL: there is none. `stack`: of the program, or of a hook that has
 * used little of it. */
struct rf_hooks_lane *rf_hooks_find_lane(uint64_t stack);
/* Was the hook (or the gate) with this stack pointer never finished, because a signal handler jumped out of it? */
bool rf_hooks_was_left(uint64_t busy, uint64_t stack);

/* ---- lane.c ---- */

bool rf_hooks_find_ring(void);
uint32_t rf_hooks_slots(void); /* that the ring has */
bool rf_hooks_can_merge(void);
/* A free slot for the lane. */
bool rf_hooks_open_lane(struct rf_hooks_lane *lane);
void rf_hooks_abandon_lane(struct rf_hooks_lane *lane);
/* A thread that finds no slot; an event that no lane takes, or whose place has no room. */
void rf_hooks_count_unfollowed(void);
void rf_hooks_count_untold(void);
/* Room for a message of n words; rf_hooks_commit follows, with its end. */
uint64_t *rf_hooks_reserve(struct rf_hooks_lane *lane, uint32_t n);
void rf_hooks_flush(struct rf_hooks_lane *lane);
/* A handler jumped out while the lane was published. False: its chunk is half moved, and nobody can read it. */
bool rf_hooks_mend_chunk(struct rf_hooks_lane *lane);
const struct rf_ring_bursts *rf_hooks_bursts(void);
long rf_hooks_syscall(long number, long a, long b, long c, long d, long e, long f);
void *rf_hooks_allocate(size_t bytes);
void rf_hooks_release(void *memory, size_t bytes);

/* The collector has read what lies ahead in the ring, so those lines are in the cache of its processor, and a store has to wait until
 * one comes back. It is asked for early. Compilers' own prefetch would fetch it for reading, which does not help. Where a
 * processor does not know the instruction, it does nothing, and it never faults. */
enum { RF_HOOKS_AHEAD = 2048 /* bytes */ };
RF_HOOKS_INLINE void rf_hooks_fetch_ahead(uint64_t cursor)
{
    __asm__ volatile("prefetchw %0" : : "m"(*((const char *)cursor + RF_HOOKS_AHEAD)));
}

/* Other processes of the run can write into the slot. So the cursor, which lies there, is read once for an event, and one that is not in
 * the chunk is put back to its beginning: whoever does so spoils the numbers, and nothing else. */
uint64_t *rf_hooks_spoilt(struct rf_hooks_lane *lane);
RF_HOOKS_INLINE uint64_t *rf_hooks_cursor(struct rf_hooks_lane *lane)
{
    uint64_t cursor = __atomic_load_n(&lane->slot->cursor, __ATOMIC_RELAXED);
    if (RF_HOOKS_UNLIKELY(cursor - lane->chunk > RF_RING_CHUNK - RF_RING_SLACK))
        return rf_hooks_spoilt(lane);
    return (uint64_t *)cursor;
}

/* What was written from rf_hooks_cursor or rf_hooks_reserve on, up to `end`. */
RF_HOOKS_INLINE void rf_hooks_commit(struct rf_hooks_lane *lane, const uint64_t *end)
{
    uint64_t cursor = (uint64_t)(uintptr_t)end;
    rf_hooks_fetch_ahead(cursor);
    __atomic_store_n(&lane->slot->cursor, cursor, __ATOMIC_RELEASE);
    if (RF_HOOKS_UNLIKELY(cursor - lane->chunk > RF_RING_CHUNK - RF_RING_SLACK))
        rf_hooks_flush(lane);
}

/* ---- site.c ---- */

/* The first table of a lane; false: no memory. */
bool rf_hooks_begin_places(struct rf_hooks_lane *lane);
/* A handler jumped out while there came a new place. */
void rf_hooks_mend_places(struct rf_hooks_lane *lane);

/* One event as a hook knows it. `from`: of calls and blocks, where they come from. */
struct rf_hooks_event {
    uint64_t pc, from;
    uint64_t addr, value;
    uint32_t kind, bytes;
};

/* Where the place of this key is looked for first. Two calls lie at least four bytes apart. */
RF_HOOKS_INLINE struct rf_ring_place *rf_hooks_first(const struct rf_hooks_lane *lane, uint64_t key)
{
    return &lane->places[(key >> 2) & lane->mask];
}

/* A place of a plain access is its hook's return address; what else may happen there is told apart by a mark. */
#define RF_HOOKS_SECOND (UINT64_C(1) << 56)

RF_HOOKS_INLINE uint64_t rf_hooks_pair(uint64_t pc, uint64_t from)
{
    return (pc ^ from * UINT64_C(0x9e3779b97f4a7c15)) | UINT64_C(1) << 63;
}

/* NULL: the lane has too many. */
struct rf_ring_place *rf_hooks_place(struct rf_hooks_lane *lane, uint64_t key,
                                     const struct rf_hooks_event *event);

/* ---- burst.c ---- */

void rf_hooks_begin_bursts(struct rf_hooks_lane *lane);
void rf_hooks_turn(struct rf_hooks_lane *lane);
/* Of a thread whose intervals its own code counts (gate.c): how many are skipped until the next burst, and its length. */
uint64_t rf_hooks_end_burst(struct rf_hooks_lane *lane);
uint64_t rf_hooks_burst_length(void);

/* ---- gate.c ---- */

/* Did this thread come by a gate? Then that knows whether it is between bursts. */
RF_HOOKS_INLINE bool rf_hooks_is_gated(void);
RF_HOOKS_INLINE bool rf_hooks_is_between(void);
extern bool rf_hooks_uncounted; /* some thread did: what is skipped is not known */
#ifdef RF_HOOKS_SHARED          /* shared.c */
RF_HOOKS_INLINE bool rf_hooks_is_gated(void)
{
    return false;
}
RF_HOOKS_INLINE bool rf_hooks_is_between(void)
{
    return false;
}
#else
extern __thread int64_t rf_hooks_left, rf_hooks_stay __attribute__((tls_model("initial-exec")));
extern __thread bool rf_hooks_gated __attribute__((tls_model("initial-exec")));
extern uint32_t rf_hooks_features; /* of the processor; 0: not asked yet */

RF_HOOKS_INLINE bool rf_hooks_is_gated(void)
{
    return rf_hooks_gated;
}
RF_HOOKS_INLINE bool rf_hooks_is_between(void)
{
    return rf_hooks_left >= 0;
}
#endif

/* An event at this pc: is it only counted? */
RF_HOOKS_INLINE bool rf_hooks_skip(struct rf_hooks_lane *lane, unsigned kind, uint64_t pc)
{
    if (rf_hooks_is_gated())
        return rf_hooks_is_between();
    bool turns = pc <= lane->last_pc;
    if (turns &&
        RF_HOOKS_UNLIKELY(lane->left <= 1)) /* never 0: a handler may jump out of what follows */
        rf_hooks_turn(lane);
    else
        lane->left -= turns;
    lane->last_pc = kind == RF_WORD_CALL ? UINT64_MAX : pc;
    lane->slot->counters.skipped[rf_hooks_options.group[kind]] += lane->skips;
    return lane->skips;
}

/* ---- life.c ---- */

/* After a fork, in the child: all lanes are the parent's. */
void rf_hooks_begin_child(void);
/* Of a library that is closed: threads that end later must not call it. Its lanes stay theirs. */
void rf_hooks_close(void);

/* ---- pocket.c ---- */

/* Before anything listens. False: code in place was compiled for another C library; a sentence was said. */
bool rf_hooks_can_restart(void);
/* Of a lane that merges loads; it may remain without. */
void rf_hooks_begin_pockets(struct rf_hooks_lane *lane);
void rf_hooks_end_pockets(struct rf_hooks_lane *lane);
/* Code in place goes to those of this lane, in this thread; NULL: to none. */
void rf_hooks_use_pockets(const struct rf_hooks_lane *lane);
/* A word into the pocket of a site; the lane is entered. False: there is none yet, or it cannot be used now. */
bool rf_hooks_pocket(struct rf_hooks_lane *lane, uint64_t site, uint64_t key, uint64_t word);

/* ---- tell.c ---- */

/* Where a word at a place is counted. */
RF_HOOKS_INLINE struct rf_ring_word *rf_hooks_entry(const struct rf_hooks_lane *lane, uint64_t key,
                                                    uint64_t word)
{
    const uint64_t mask = (uint64_t)(RF_RING_WORDS - 1) << RF_RING_WORD_BITS;
    uint64_t hash = (uint32_t)key;
    __asm__("crc32q %1, %0" : "+r"(hash) : "rm"(word));
    return (struct rf_ring_word *)(void *)((uint8_t *)lane->words + (hash & mask));
}

RF_HOOKS_INLINE bool rf_hooks_is_merged(const struct rf_ring_word *entry, uint64_t key,
                                        uint64_t word)
{
    return entry->key == key && entry->word == word;
}

/* A word of the ring tells up to 2^31 events. */
enum { RF_HOOKS_TIMES_MAX = INT32_MAX };

/* A greater count goes to the ring in parts. All but the last are counted as produced; the last one is returned. */
uint64_t rf_hooks_tell_parts(struct rf_hooks_lane *lane, struct rf_ring_word *entry);

/* The entry counts this word from now on. What it counted goes to the ring. Only then is it counted as produced: in between, that
 * would be one more store per event. */
RF_HOOKS_INLINE void rf_hooks_replace(struct rf_hooks_lane *lane, struct rf_ring_word *entry,
                                      const struct rf_ring_place *place, uint64_t word,
                                      unsigned kind)
{
    uint64_t times = __atomic_load_n(&entry->count, __ATOMIC_RELAXED);
    uint32_t other = __atomic_load_n(&entry->kind, __ATOMIC_RELAXED);
    if (RF_HOOKS_UNLIKELY(times > RF_HOOKS_TIMES_MAX))
        times = rf_hooks_tell_parts(lane, entry);
    if (RF_HOOKS_LIKELY(other == kind)) /* then it is known early where that is stored */
        lane->slot->produced[kind] += times;
    else
        lane->slot->produced[other % RF_RING_GROUPS] += times; /* others can write there */
    uint64_t *to = rf_hooks_cursor(lane);
    to[0] = entry->path | (times - 1) << 32;
    to[1] = entry->word;
    *entry = (struct rf_ring_word){place->key, word, 1, place->path, kind};
    if (RF_HOOKS_LIKELY(times > 0))
        rf_hooks_commit(lane, to + 2);
}

/* One event, by whatever lane there is. */
void rf_hooks_tell(uint64_t key, const struct rf_hooks_event *event);

#pragma GCC visibility pop

#endif
