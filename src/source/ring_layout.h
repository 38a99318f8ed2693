/* ring_layout.h - the shared memory between the probe and the collector, as both see it.
 *
 * One memory file, made and sealed by the collector, inherited by the target and its children:
 *
 *     page 0           slot 0                     slot 1                     ... slot n-1     counters of
 *     [ control ]      [ page | 32 chunks ]       [ page | 32 chunks ]                        slot 0 .. n-1
 *       bell             state, head, tail, cursor, fill of each chunk
 *
 * A process takes a free slot for itself: each slot is a ring with one producer and one consumer. Of a program that was
 * compiled with hooks (hooks/), each thread takes one; the slots of such a process are a family.
 * The file is sparse: a slot that was never taken costs nothing. How many there are is the collector's choice; where a
 * limit on the size of files leaves room for fewer, there are fewer. The file's size, which is sealed, says how many. A slot
 * is free again when all of its producer's words and counters were read. The producer fills one chunk after
 * the other with words and publishes each by adding one to `head`; the consumer gives it back by
 * adding one to `tail`. `cursor` is where the producer stands inside the chunk that it is filling, on
 * a cache line that the consumer touches only when there is nothing else to do or the producer is
 * dead: so everything up to the last block survives a kill.
 *
 * What need not be streamed is counted (probe_words.h says what counters count). The counters of a slot are one array
 * of 64-bit words behind all slots, followed by its table of merged events, the notes that are not merged yet, and the pockets of hooks. The
 * producer alone writes them, the consumer may read them at any time. They are 0 when a slot is taken. A file without counters is shorter: its size
 * says so, too.
 *
 *         tail               head
 *          v                  v
 *     [ ][full][full][full][filling|    ][ ][ ]        head - tail full chunks, at most RF_RING_CHUNKS
 *                                  ^ cursor
 *
 * The profiled programs can write to all of it, each also to the slots of the others. Therefore the consumer copies, then
 * checks, and keeps a tail of its own. A producer keeps head and cursor to itself, or checks them. This file is MIT licensed and shared with the probe. */
#ifndef RF_SOURCE_RING_LAYOUT_H
#define RF_SOURCE_RING_LAYOUT_H

#include <stdint.h>

enum {
    RF_RING_PAGE = 4096,
    RF_RING_SLOTS = 256,       /* where nobody says how many */
    RF_RING_SLOTS_MAX = 2048,  /* rf_ring_is_counted relies on it */
    RF_RING_CHUNK = 64 * 1024, /* bytes */
    RF_RING_CHUNKS = 32,       /* a slot: 2 MiB, stays in the outer caches */
    RF_RING_SLACK = 16 * 1024, /* a chunk is flushed when less than this is left in it */
    RF_RING_WAKE = 8, /* a side that waits is woken for this many chunks: waking costs like one */
    RF_RING_PROFILES = 32,
    RF_RING_TEXT = 64,
    RF_RING_CLOCKS = 8, /* sets of bursts that come and go on their own */
    RF_RING_GROUPS = 8, /* of events that are counted together while they are skipped */
    RF_RING_EVENT_BITS = 28,
    RF_RING_SLOT = RF_RING_PAGE + RF_RING_CHUNKS * RF_RING_CHUNK,
    RF_RING_COUNTERS = 4 << 20, /* of a slot */
    RF_RING_TABLE_BITS = 18,
    RF_RING_TABLE = 1 << RF_RING_TABLE_BITS, /* entries of two words */
    RF_RING_NOTES = 1024,                    /* of two words: this many are merged at once */
    RF_RING_NOTES_MORE = 1024,               /* a block may note more before that is seen */
    RF_RING_NOTES_ROOM = RF_RING_NOTES + RF_RING_NOTES_MORE,
    RF_RING_POCKET = 512,      /* bytes */
    RF_RING_POCKETS = 1 << 16, /* of a slot of hooks */
    /* and three pages, by which the sizes of files with and without counters differ (rf_ring_is_counted) */
    RF_RING_COUNTER_BYTES = RF_RING_COUNTERS * 8 + (RF_RING_TABLE + RF_RING_NOTES_ROOM) * 16 +
                            RF_RING_POCKETS * RF_RING_POCKET + 3 * RF_RING_PAGE,
    RF_RING_PLACES_MIN = 1 << 13, /* of a slot of hooks, instead of counters: the first table */
    RF_RING_PLACES_MAX = 1 << 19, /* the last */
    RF_RING_WORDS_BITS = 12,
    RF_RING_WORDS = 1 << RF_RING_WORDS_BITS, /* of a slot of hooks, behind its tables of places */
    RF_RING_WORD_BITS = 5,                   /* bytes of one are 1 << that */
};

/* What hooks keep of a place that they came by. Where nothing changes there, how often that was. */
struct rf_ring_place {
    uint64_t key; /* 0: none */
    uint64_t count;
    uint32_t path, pad;
};

/* A word that came at a place, and how often since it was told. Two of them fill a line of the caches. */
struct rf_ring_word {
    uint64_t key; /* of the place; 0: none */
    uint64_t word;
    uint64_t count;
    uint32_t path, kind;
};
_Static_assert(sizeof(struct rf_ring_word) == 1 << RF_RING_WORD_BITS,
               "places are found by a shift");

/* Words that came at one place and were not told yet. `fill` is how many bytes are in use, its own eight among them; 0: none.
 * Whatever stands there, 8 bytes at `fill & RF_RING_POCKET_MASK` lie within the pocket. If that is 0, the pocket is full, or not in
 * use. */
enum { RF_RING_POCKET_WORDS = RF_RING_POCKET / 8 - 1, RF_RING_POCKET_MASK = RF_RING_POCKET - 8 };
struct rf_ring_pocket {
    uint32_t fill;
    uint32_t path;
    uint64_t words[RF_RING_POCKET_WORDS];
};
_Static_assert(sizeof(struct rf_ring_pocket) == RF_RING_POCKET, "pockets lie side by side");

/* Tables of hooks lie one behind the other, each twice as long as the one before. Where the one of this size begins. */
static inline uint64_t rf_ring_places_offset(uint64_t size)
{
    return size - RF_RING_PLACES_MIN;
}
/* Words lie where the probe has its table of merged events. */
static inline struct rf_ring_word *rf_ring_words_in(void *counters)
{
    return (struct rf_ring_word *)(void *)((uint64_t *)counters + RF_RING_COUNTERS);
}
/* Behind all that the probe has. */
static inline struct rf_ring_pocket *rf_ring_pockets_in(void *counters)
{
    return (struct rf_ring_pocket *)(void *)((uint64_t *)counters + RF_RING_COUNTERS +
                                             2 * (RF_RING_TABLE + RF_RING_NOTES_ROOM));
}
_Static_assert((2 * (uint64_t)RF_RING_PLACES_MAX - RF_RING_PLACES_MIN) *
                           sizeof(struct rf_ring_place) <=
                       (uint64_t)RF_RING_COUNTERS * 8 &&
                   RF_RING_WORDS * sizeof(struct rf_ring_word) <= RF_RING_TABLE * 16,
               "all tables of hooks fit the room for counters");

/* One set of bursts, for some of the profiles. */
struct rf_ring_clock {
    uint64_t sparsity; /* sampling intervals that are skipped between two bursts; 0: none */
    uint64_t first;    /* the same before the first burst; read where the distances are the same */
    uint32_t burst;    /* sampling intervals of a burst; all ones: it does not end */
    uint32_t regular;  /* not 0: all distances are the same */
    uint32_t profiles; /* 1 << profile: those that are told in its bursts */
    uint32_t phases;   /* not 0: the distance depends on what the program does (base/phases.h) */
    uint64_t new_sparsity; /* then: the distance while that is new */
};

/* Which events are sampled, and how often. Producers read it when a burst ends and when `changes` changes. */
struct rf_ring_bursts {
    uint64_t seed;     /* of the distance between two bursts, which is random */
    uint32_t changes;  /* how often any of this was changed */
    uint32_t n_clocks; /* 0: everything is told */
    uint32_t off;      /* 1 << profile: the collector leaves its events out */
    uint32_t n_profiles;
    struct rf_ring_clock clocks[RF_RING_CLOCKS];
    char profiles[RF_RING_PROFILES][RF_RING_TEXT]; /* selectors, for who wants to change it */
};

/* Where a process stands between its bursts: the counters of the thread that runs, and what was skipped so far. They
 * are here and not in the process, so that nothing is lost when it is killed.
 *
 *     acc   63        62 ............. 28   27 ............ 0
 *           overflow  intervals skipped     of the first clock: events of group 0                     */
struct rf_ring_counters {
    uint64_t acc[RF_RING_CLOCKS];
    uint64_t left[RF_RING_CLOCKS];  /* intervals until the burst is over, counted up to overflow */
    uint64_t group[RF_RING_GROUPS]; /* events of groups 1 and up */
    uint64_t skipped[RF_RING_GROUPS]; /* events until the counters above were emptied last */
};

/* Events of a group that were skipped since the process began. */
static inline uint64_t rf_ring_skipped(const struct rf_ring_counters *counters, unsigned group)
{
    if (group == 0)
        return counters->skipped[0] +
               (counters->acc[0] & ((UINT64_C(1) << RF_RING_EVENT_BITS) - 1));
    return counters->skipped[group] + counters->group[group];
}

/* Page 0. */
struct rf_ring_control {
    uint64_t magic;
    uint32_t collector; /* its process id */
    uint32_t processes; /* numbers given out so far: every process that takes a slot gets one */
    uint32_t
        unfollowed; /* processes, or threads with hooks, that found no free slot and run unprofiled */
    uint32_t detached; /* the collector takes nothing more: run on, keep nothing */
    uint32_t mourned;  /* a producer has said that the collector is gone: once is enough */
    uint32_t pad_0;
    uint64_t untold; /* by hooks: events without a slot, or of places without room in one */
    uint32_t pad_3[6];
    uint32_t bell; /* futex: producers add one when there is something to see */
    uint32_t pad_1[15];
    uint32_t sleeping; /* the collector waits on the bell: wake it */
    uint32_t pad_2[15];
    struct rf_ring_bursts bursts;
};

enum rf_ring_state {
    RF_RING_FREE,    /* the next process may take it */
    RF_RING_CLAIMED, /* being set up by its producer */
    RF_RING_LIVE,
    RF_RING_DONE, /* the producer ended in order: everything is published */
};

/* The first page of a slot. */
struct rf_ring_slot {
    uint32_t state;   /* enum rf_ring_state */
    uint32_t pid;     /* of the producer */
    uint32_t process; /* its number, from 1 */
    uint32_t parent;  /* number of the process it was forked from, 0: began with an exec */
    uint32_t fork;    /* which of the parent's forks, from 1 */
    uint32_t family; /* of hooks: the same for all slots of a process until it execs; 0: no hooks */
    uint32_t pad_0[10];
    uint32_t head; /* chunks published */
    uint32_t pad_1[15];
    uint32_t tail;    /* futex: chunks given back */
    uint32_t waiting; /* the producer waits on tail: wake it */
    uint32_t pad_2[14];
    uint64_t cursor; /* address of the next free word, in the producer's address space */
    uint64_t limit;  /* of older hooks; nobody else reads it */
    uint64_t base;   /* address of this page there */
    uint64_t pad_3[5];
    uint64_t note;  /* the same of the next free note */
    uint64_t notes; /* and of the first */
    uint64_t stage; /* how far they are merged: probe_words.h */
    uint64_t pad_4[5];
    struct rf_ring_counters counters;
    uint64_t produced
        [RF_RING_GROUPS]; /* by hooks, by class, but for words that are merged and not told yet */
    uint64_t places;      /* size of the table that hooks use now */
    uint64_t pockets;     /* that hooks have begun */
    uint32_t fill[RF_RING_CHUNKS]; /* bytes in each published chunk */
};

_Static_assert(sizeof(struct rf_ring_slot) <= RF_RING_PAGE, "the slot's page is full");
_Static_assert(sizeof(struct rf_ring_control) <= RF_RING_PAGE, "the control page is full");

/* Which layout this is. Programs keep the hooks that they were linked with, and those know one layout alone. Other sizes make another
 * number by themselves. Whoever changes anything else that both sides know, words (probe_words.h) among it, changes the
 * first. */
enum { RF_RING_VERSION = 5 };
#define RF_RING_LAYOUT                                                                             \
    ((uint32_t)RF_RING_VERSION << 24 |                                                             \
     (uint32_t)((UINT64_C(0x9e3779b97f4a7c15) *                                                    \
                 ((RF_RING_SLOT + 31 * (uint64_t)RF_RING_COUNTER_BYTES) * 31 +                     \
                  (RF_RING_PLACES_MIN + 31 * (uint64_t)RF_RING_WORDS) * 961 +                      \
                  sizeof(struct rf_ring_control) + 31 * sizeof(struct rf_ring_slot))) >>           \
                40))
#define RF_RING_MAGIC (UINT64_C(0x52666652) | (uint64_t)RF_RING_LAYOUT << 32) /* "RffR" */

static inline uint64_t rf_ring_bytes(uint32_t slots)
{
    return RF_RING_PAGE + (uint64_t)slots * RF_RING_SLOT;
}

/* The same with counters. */
static inline uint64_t rf_ring_bytes_counted(uint32_t slots)
{
    return rf_ring_bytes(slots) + (uint64_t)slots * RF_RING_COUNTER_BYTES;
}

/* Does a file of this many bytes have counters? No two numbers of slots make both forms equally long: the least common
 * multiple of both kinds of slots is that of 17932 slots without counters. */
static inline int rf_ring_is_counted(uint64_t bytes)
{
    return bytes > RF_RING_PAGE &&
           (bytes - RF_RING_PAGE) % ((uint64_t)RF_RING_SLOT + RF_RING_COUNTER_BYTES) == 0;
}

/* How many slots a file of this many bytes has; 0: it is no ring. */
static inline uint32_t rf_ring_slots_of(uint64_t bytes)
{
    uint64_t slot =
        (uint64_t)RF_RING_SLOT + (rf_ring_is_counted(bytes) ? RF_RING_COUNTER_BYTES : 0);
    uint64_t n = bytes > RF_RING_PAGE ? (bytes - RF_RING_PAGE) / slot : 0;
    return n <= RF_RING_SLOTS_MAX && RF_RING_PAGE + n * slot == bytes ? (uint32_t)n : 0;
}

/* Where the counters of a slot stand in a file of this many slots. */
static inline uint64_t rf_ring_counters_offset(uint32_t slots, uint32_t slot)
{
    return rf_ring_bytes(slots) + (uint64_t)slot * RF_RING_COUNTER_BYTES;
}

static inline uint64_t rf_ring_slot_offset(uint32_t slot)
{
    return RF_RING_PAGE + (uint64_t)slot * RF_RING_SLOT;
}

static inline uint64_t rf_ring_chunk_offset(uint32_t number)
{
    return RF_RING_PAGE + (uint64_t)(number % RF_RING_CHUNKS) * RF_RING_CHUNK;
}

#endif
