/* hooks.h - the parts of libriffle-hooks, the run-time of programs that were compiled by `riffle cc`.
 *
 *     access.c    __tsan_read8 and its like: loads, stores, calls
 *     atomic.c    __tsan_atomic64_load and its like, which must do the operation, too
 *     block.c     __sanitizer_cov_trace_pc: blocks
 *     lane.c      one thread's slot of the ring: words, chunks, waiting
 *     site.c      places of the program: their numbers, their description, the files they lie in
 *     burst.c     when events are told and when they are only counted
 *     life.c      start, threads, forks, options
 *
 * The compiler calls a hook in front of each access. A hook finds the number of its place (a path of the book, as the
 * probe's blocks have) and writes what changes. It writes nothing where the same word came at the same place before:
 * then it raises a count, in shared memory, too, so that a kill loses nothing:
 *
 *     __tsan_read8(p)     place 7: last word 5, 41 times      *p == 5: 42 times
 *                                                             *p == 6: [7 | 41 times][5] to the ring; last word 6, once
 *
 * Each thread has a lane (a slot of the ring) of its own, so there is no lock. Hooks may run in signal handlers, even
 * while the thread is inside a hook: `busy` says so, and such an event goes to another lane. No hook changes errno or
 * allocates by malloc.
 *
 * Only libc is used. x86-64 Linux. This is part of other people's programs: everything but the hooks is hidden. */
#ifndef RF_HOOKS_HOOKS_H
#define RF_HOOKS_HOOKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "source/probe_words.h"

#define RF_HOOKS_LIKELY(x)   __builtin_expect(!!(x), 1)
#define RF_HOOKS_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define RF_HOOKS_SHOWN       __attribute__((visibility("default")))
#define RF_HOOKS_INLINE      static inline __attribute__((always_inline))
#define RF_HOOKS_SLOW        __attribute__((noinline, cold))

/* A note in the program, by which `riffle run` knows what it has. It survives strip. */
struct rf_hooks_note {
    uint32_t name_bytes, bytes, type;
    char name[8];
    uint32_t version;
};
enum { RF_HOOKS_NOTE = 1, RF_HOOKS_NOTE_BLOCKS = 2 };
#define RF_HOOKS_NOTED(type)                                                                       \
    __attribute__((used, section(".note.riffle"),                                                  \
                   aligned(4))) static const struct rf_hooks_note note = {sizeof "riffle", 4,      \
                                                                          type, "riffle", 1}

/* ---- what is wanted ---- */

enum rf_hooks_mode {
    RF_HOOKS_OFF,
    RF_HOOKS_COUNT,  /* nothing that changes is wanted: count places */
    RF_HOOKS_MERGE,  /* one word that changes, in any order */
    RF_HOOKS_STREAM, /* each event in its place */
};

enum { RF_HOOKS_ADDR = 1, RF_HOOKS_VALUE = 2 };
enum { RF_HOOKS_RANGES_MAX = 16, RF_HOOKS_MODULES_MAX = 16, RF_HOOKS_TEXT = 4096 };

/* From the environment, by riffle (src/source/hooks_spawn.c). */
struct rf_hooks_options {
    uint8_t mode[RF_WORD_CLASSES]; /* enum rf_hooks_mode */
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

extern uint32_t rf_hooks_listening; /* 0: nobody reads, hooks return at once */

/* ---- lanes ---- */

/* A place: a hook's return address, with its class and width above. For calls, where it was called from, too. */
struct rf_hooks_place {
    uint64_t key, from;
    uint32_t path;
};

struct rf_hooks_span {
    uint64_t start, end;
};

enum { RF_HOOKS_SPANS = 64, RF_HOOKS_NO_PATH = 0xffffffff };
enum rf_hooks_state { RF_HOOKS_EMPTY, RF_HOOKS_TAKEN, RF_HOOKS_IDLE };

struct rf_hooks_lane {
    uint64_t busy;  /* the stack pointer of the hook that is inside; 0: none is */
    uint32_t slow;  /* and it changes more than one word */
    uint32_t state; /* enum rf_hooks_state */
    struct rf_ring_slot *slot;
    struct rf_ring_merged *merged; /* by path; NULL: nothing is merged */
    struct rf_hooks_place *places; /* a hash table, open */
    uint64_t mask;
    uint32_t n_places, n_paths;
    uint8_t *kinds;              /* of paths: class | words << 4 */
    struct rf_hooks_lane *above; /* for events while this one is busy */
    uint32_t thread;
    uint64_t last_block;
    bool skips; /* between bursts */
    uint64_t last_pc, left, weight, random;
    uint64_t told[RF_RING_GROUPS];
    struct rf_hooks_span spans[RF_HOOKS_SPANS]; /* of files that were told */
    uint32_t n_spans;
};

extern __thread struct rf_hooks_lane *rf_hooks_lane __attribute__((tls_model("initial-exec")));

/* Which lane takes this event; NULL: none. */
struct rf_hooks_lane *rf_hooks_enter_slowly(void);

RF_HOOKS_INLINE uint64_t rf_hooks_stack(void)
{
    uint64_t pointer;
    __asm__ volatile("movq %%rsp, %0" : "=r"(pointer));
    return pointer;
}

RF_HOOKS_INLINE struct rf_hooks_lane *rf_hooks_enter(void)
{
    struct rf_hooks_lane *lane = rf_hooks_lane;
    if (RF_HOOKS_UNLIKELY(lane == NULL || lane->busy != 0))
        lane = rf_hooks_enter_slowly();
    if (RF_HOOKS_LIKELY(lane != NULL))
        lane->busy = rf_hooks_stack();
    __asm__ volatile("" ::: "memory");
    return lane;
}

RF_HOOKS_INLINE void rf_hooks_leave(struct rf_hooks_lane *lane)
{
    __asm__ volatile("" ::: "memory");
    lane->busy = 0;
}

/* ---- lane.c ---- */

bool rf_hooks_find_ring(void);
bool rf_hooks_can_merge(void);
/* A free slot for the lane. */
bool rf_hooks_open_lane(struct rf_hooks_lane *lane);
void rf_hooks_abandon_lane(struct rf_hooks_lane *lane);
/* Room for a message of n words; rf_hooks_commit follows. */
uint64_t *rf_hooks_reserve(struct rf_hooks_lane *lane, uint32_t n);
void rf_hooks_flush(struct rf_hooks_lane *lane);
void rf_hooks_emit_merged(struct rf_hooks_lane *lane, uint32_t path);
const struct rf_ring_bursts *rf_hooks_bursts(void);
long rf_hooks_syscall(long number, long a, long b, long c, long d, long e, long f);
void *rf_hooks_allocate(size_t bytes);
void rf_hooks_release(void *memory, size_t bytes);

RF_HOOKS_INLINE void rf_hooks_commit(struct rf_hooks_lane *lane, uint32_t n)
{
    uint64_t cursor = lane->slot->cursor + (uint64_t)n * 8;
    __atomic_store_n(&lane->slot->cursor, cursor, __ATOMIC_RELEASE);
    if (RF_HOOKS_UNLIKELY(cursor > lane->slot->limit))
        rf_hooks_flush(lane);
}

/* ---- site.c ---- */

RF_HOOKS_INLINE uint64_t rf_hooks_key(uint64_t pc, unsigned kind, unsigned bytes)
{
    return pc | (uint64_t)kind << 60 | (uint64_t)bytes << 48;
}
/* Make room for more places; the first call makes the table. */
bool rf_hooks_grow(struct rf_hooks_lane *lane);
uint32_t rf_hooks_define(struct rf_hooks_lane *lane, uint64_t key, uint64_t from);

/* The path of a place. */
RF_HOOKS_INLINE uint32_t rf_hooks_path(struct rf_hooks_lane *lane, uint64_t key, uint64_t from)
{
    uint64_t i = ((key >> 2) ^ from * 31) & lane->mask;
    for (;; i = (i + 1) & lane->mask) {
        const struct rf_hooks_place *place = &lane->places[i];
        if (RF_HOOKS_LIKELY(place->key == key && place->from == from))
            return place->path;
        if (RF_HOOKS_UNLIKELY(place->key == 0))
            return rf_hooks_define(lane, key, from);
    }
}

/* ---- burst.c ---- */

void rf_hooks_begin_bursts(struct rf_hooks_lane *lane);
void rf_hooks_turn(struct rf_hooks_lane *lane);

/* An event at this pc: is it only counted? */
RF_HOOKS_INLINE bool rf_hooks_skip(struct rf_hooks_lane *lane, unsigned kind, uint64_t pc)
{
    if (pc <= lane->last_pc && RF_HOOKS_UNLIKELY(--lane->left == 0))
        rf_hooks_turn(lane);
    lane->last_pc = kind == RF_WORD_CALL ? UINT64_MAX : pc;
    lane->slot->counters.skipped[rf_hooks_options.group[kind]] += lane->skips;
    return lane->skips;
}

/* ---- telling ---- */

RF_HOOKS_INLINE void rf_hooks_merge(struct rf_hooks_lane *lane, uint32_t path, uint64_t word)
{
    struct rf_ring_merged *merged = &lane->merged[path];
    if (merged->word != word) {
        if (merged->count > 0)
            rf_hooks_emit_merged(lane, path);
        merged->word = word;
    }
    merged->count++;
}

/* One event. `from`: for calls, where they come from. */
RF_HOOKS_INLINE void rf_hooks_tell(struct rf_hooks_lane *lane, uint64_t key, uint64_t from,
                                   uint64_t addr, uint64_t value)
{
    unsigned kind = (unsigned)(key >> 60), want = rf_hooks_options.want[kind];
    enum rf_hooks_mode mode = (enum rf_hooks_mode)rf_hooks_options.mode[kind];
    uint32_t path = rf_hooks_path(lane, key, from);
    if (RF_HOOKS_UNLIKELY(path == RF_HOOKS_NO_PATH))
        return;
    if (rf_hooks_options.n_groups > 0 && rf_hooks_skip(lane, kind, key & 0xffffffffffff))
        return;
    lane->slot->produced[kind]++;
    if (mode == RF_HOOKS_MERGE) {
        rf_hooks_merge(lane, path, want == RF_HOOKS_ADDR ? addr : value);
    } else if (mode == RF_HOOKS_COUNT) {
        lane->merged[path].count++;
    } else {
        uint64_t *to = (uint64_t *)lane->slot->cursor;
        *to++ = path;
        *to = addr;
        to += want & RF_HOOKS_ADDR;
        *to = value;
        to += (want & RF_HOOKS_VALUE) != 0;
        rf_hooks_commit(lane, (uint32_t)(to - (uint64_t *)lane->slot->cursor));
    }
}

#endif
