/* probe_words.h - what stands in the ring: 64-bit words, written by the probe, read by the book.
 *
 * A superblock (a piece of straight code with exits) is described once, when it is translated:
 *
 *     DEFINE  block with 2 paths:   load at 0x40: value follows    branch at 0x44: -> 0x80, path 0 only
 *                                   store at 0x48: ...             branch at 0x4a: -> 0x4c, path 1 only
 *
 * Each time it runs, it writes only the number of the path taken and the words that change:
 *
 *     [ path number ][ value of the load ]
 *
 * A path is a superblock from its top to one of its exits. Paths are numbered from 0 on through all
 * blocks of a process, so one word names both. Pcs, widths, constant addresses and direct targets
 * never travel again. A word with bit 63 set is not a path but a message:
 *
 *     63   62..40        39..32  31..0
 *     [1][  0          ][ type ][ length in words, this one included ]
 *
 *     DEFINE   [header][first path | number of paths << 32][number of events | 1 << 32: it has counters]
 *              [dynamic words of path 0] .. [of the last path]
 *              then every event: [shape][pc] and its constant address, value, target
 *     THREAD   [header][number]                          what follows happens there; from 1, as they are made
 *     NAME     [header][number][name, zero-padded]       what that thread is called, 16 bytes
 *     MODULE   [header][start][end][file offset][path, zero-padded]
 *     UNMAP    [header][start][end]
 *     FORK     [header][number][threads made so far]     the book as it stands is that child's, too
 *     LOST     [header][events of class 0] .. [of the last class]
 *     END      [header][events of class 0 produced, lost ones included] .. [of the last class]
 *     BURST    [header][selectors][skipped events of group 0] .. [weight]   a burst of these is over; this many were skipped;
 *                                                        each of its intervals stands for weight / 1024 intervals
 *     SKIPPED  [header][selectors][skipped events of group 0] ..   the same without a burst: the end
 *     ON       [header][selectors]                       the others are between bursts from here on: skip their events
 *     GOES_ON  [header]                                  the exec before which END was said has failed
 *     STACK    [header][pc] ..                           a sample of the call stack, the innermost frame first
 *     UNPROFILED [header][kind][path, zero-padded]       what it becomes by exec cannot be profiled
 *
 * Hooks (hooks/) merge equal events of a path: the upper half of the word that names the path is how many more there
 * were than one. Others they tell by pockets: the words of RF_RING_POCKET_WORDS events of one path, which has one word that changes.
 *
 *     POCKET   [header][path | bits << 32][base] ..      `bits` words follow: 64 numbers of 8, 16, 32 or 64 bits, the first of
 *                                                        which means nothing. Each of the others with the base is a word.
 *                                                        0 bits: all words are the base. They count as produced when they come
 *
 * The shape of an event:
 *
 *     bits  0..7  class       8..13 flags      16..31 width in bits
 *          14     it is derived (below)
 *          15     values are counted (below)
 *          32..39 first path  40..47 last path that counts it, within the block
 *          48..49 address     50..51 value     52..53 target: absent, constant, a dynamic word or merged
 *          54     guard: a dynamic word; the event happened if it is not 0
 *          55     the guard has a counter of its own
 *          56..63 selectors that it is for, one bit each; 0: all
 *
 * Dynamic words follow the path number in the order of the events; within one event guard, address,
 * value, target. A value narrower than 64 bits leaves rubbish in the rest of its word.
 *
 * Counters. A block with counters raises counter p whenever it comes to the exit of path p, whether it leaves there or
 * goes on. Paths p, p + 1 .. of a block were therefore taken counter[p] times together, and path p alone counter[p] -
 * counter[p + 1] times; of the last path of a block, counter[p] times. An event that paths `first` to `last` count
 * has happened counter[first] - counter[last + 1] times. A guarded event has happened as often as the counter of its
 * guard says: those are numbered as they are defined, and stand at the other end of the array. A counter that
 * no event needs stays 0. Events of a counted class that have no dynamic word do not go through the ring, unless the
 * collector asks for all of them.
 *
 * Counted values. A byte has 256 values. An event whose one word that changes is a byte may have a counter for each of
 * them, which are raised with the counter of its path: nothing of it is sent. It takes as many numbers of guards, behind
 * that of its own guard, if it has one; the counter of value v has the number first + 255 - v. Such an event is a merged one,
 * with a site, for which no entries come.
 *
 * Merged events. An event with one word that changes can be merged with its repeats before it goes anywhere. Its place in
 * the code is a site; sites are numbered as they are defined. Each time it happens it is noted, and when there are many
 * notes they are merged: behind the counters stands a table of entries, and behind that the notes.
 *
 *     note [ site ][ word ]
 *     hash(site, word) -> [ count | site ][ word ]     the same site and word: count + 1
 *                           63..32  31..0              others: the old entry goes to the ring, as it is, and the new
 *                                                      event takes its place
 *
 * A count is never 0, and bit 63 never set: no path and no message looks like an entry. At first the table is full of
 * entries of no site, which stand for nothing. What is left in it and among the notes when the process is over is read there. A
 * process can be killed while it merges. One word, the stage, says how far it was:
 *
 *     63 .. 32        31 .. 20       19 .. 3                   2 .. 0
 *     [ old count ]   [ note number ][ place in the ring's chunk ][ kind ]
 *
 *     STILL   notes before this one are merged; nothing is under way
 *     SAME    the same, and this one is being counted: its entry had the old count
 *     OTHER   the same, and its old entry makes room: it stands in front of that place, as the last of the stream
 *     PART    notes before this one are merged, and the stream goes up to that place
 *
 * SAME and OTHER are said behind all changes for the note before, and in front of any change to this one's entry. Whoever
 * reads what is left does not trust that entry, takes what the stage says instead, and counts the note itself.
 *
 * Derived events. The word of a merged event may follow from that of another one of its block, without an exit between the
 * two: what an instruction adds 1 to and what it stores, what a return loads and where it goes. It is not noted, since
 * the collector can compute it. Behind the constants of such an event stands how:
 *
 *     63..32  31..24                  23..16   15..0
 *     [ 0   ][ which parts follow   ][ shift ][ number of the other among the merged events of the block ] [part] ..
 *
 *     word = (((((word of the other + add) & mask) * times) >> shift) + more) & last
 *
 * Parts that change nothing (0, all ones, 1, 0, all ones) do not follow. The other is not derived itself. A derived event
 * has a site, for which no entries come. */
#ifndef RF_SOURCE_PROBE_WORDS_H
#define RF_SOURCE_PROBE_WORDS_H

#include <stdint.h>
#include "source/ring_layout.h"

enum rf_word_type {
    RF_WORD_DEFINE = 1,
    RF_WORD_THREAD,
    RF_WORD_MODULE,
    RF_WORD_UNMAP,
    RF_WORD_FORK,
    RF_WORD_LOST,
    RF_WORD_END,
    RF_WORD_GOES_ON,
    RF_WORD_UNPROFILED,
    RF_WORD_BURST,
    RF_WORD_SKIPPED,
    RF_WORD_NAME,
    RF_WORD_STACK,
    RF_WORD_ON,
    RF_WORD_POCKET,
};

/* The classes and flags of include/riffle/event.h, which the probe does not see; decode.c checks that they are
 * the same. */
enum rf_word_class {
    RF_WORD_LOAD,
    RF_WORD_STORE,
    RF_WORD_BRANCH,
    RF_WORD_JUMP,
    RF_WORD_CALL,
    RF_WORD_RETURN,
    RF_WORD_ALU,
    RF_WORD_INSN,
    RF_WORD_CLASSES,
};
enum rf_word_flag { RF_WORD_TAKEN = 1, RF_WORD_INDIRECT = 2 };

/* Merged: the one word of an event that goes through the table. */
enum rf_word_how { RF_HOW_ABSENT, RF_HOW_CONSTANT, RF_HOW_DYNAMIC, RF_HOW_MERGED };

enum {
    RF_WORD_PATHS_MAX = 250,
    RF_WORD_EVENTS_MAX = 1500,           /* of a block */
    RF_WORD_DYNAMIC_MAX = 2000,          /* words of a block */
    RF_WORD_MESSAGE_MAX = 48 * 1024 / 8, /* words of a message */
    RF_WORD_THREADS_MAX = 65535,         /* of a run; those beyond are counted as the last one */
    RF_WORD_FRAMES_MAX = 256,            /* of a sample of the stack: the innermost */
    RF_WORD_NAME_BYTES = 16,             /* of a thread's name, as Linux has it */
};

enum { RF_WORD_WEIGHT_ONE = 1024 };
#define RF_WORD_UNCOUNTED UINT64_MAX /* in place of how many were skipped: nobody knows */

/* With sampling in bursts, skipped events are counted by groups. A group is a set of classes; there are at
 * most as many groups as classes. The collector names them when it starts the program. */
_Static_assert((int)RF_WORD_CLASSES <= (int)RF_RING_GROUPS, "every group has a counter");

/* A block checks once, at its top, that the slack of a chunk is left; a wide store may write behind its word. */
enum { RF_WORD_WIDEST = 64 /* bytes */ };
_Static_assert((1 + RF_WORD_DYNAMIC_MAX) * 8 + RF_WORD_WIDEST <= (int)RF_RING_SLACK,
               "what a block writes fits the slack of a chunk");
_Static_assert(RF_WORD_DYNAMIC_MAX / 2 <= (int)RF_RING_NOTES_MORE, "what a block notes fits");
_Static_assert(RF_RING_NOTES_ROOM * 2 <= (int)RF_WORD_MESSAGE_MAX, "so does what they push out");
_Static_assert(RF_WORD_MESSAGE_MAX * 8 + RF_WORD_WIDEST <= (int)RF_RING_CHUNK,
               "a message fits an empty chunk");
_Static_assert(RF_WORD_PATHS_MAX < 256, "first and last path of an event are bytes of its shape");

#define RF_WORD_MESSAGE         (UINT64_C(1) << 63)
#define RF_WORD_HEADER(type, n) (RF_WORD_MESSAGE | (uint64_t)(type) << 32 | (uint64_t)(n))
enum { RF_WORD_POCKET_HEAD = 3 }; /* words of such a message in front of its numbers */

#define RF_SHAPE_FLAGS        0x3f
#define RF_SHAPE_DERIVED      (UINT64_C(1) << 14)
#define RF_SHAPE_VALUES       (UINT64_C(1) << 15)
#define RF_SHAPE_FIRST_SHIFT  32
#define RF_SHAPE_LAST_SHIFT   40
#define RF_SHAPE_ADDR_SHIFT   48
#define RF_SHAPE_VALUE_SHIFT  50
#define RF_SHAPE_TARGET_SHIFT 52
#define RF_SHAPE_GUARD        (UINT64_C(1) << 54)
#define RF_SHAPE_GUARD_COUNTS (UINT64_C(1) << 55)
#define RF_SHAPE_FOR_SHIFT    56

#define RF_DEFINE_COUNTED (UINT64_C(1) << 32)

/* The first word of an entry. */
#define RF_ENTRY_COUNT_SHIFT 32
#define RF_ENTRY_ONCE        (UINT64_C(1) << RF_ENTRY_COUNT_SHIFT)
#define RF_ENTRY_FULL        (UINT32_C(1) << 30)       /* no count is higher */
#define RF_ENTRY_SITES       ((UINT32_C(1) << 31) - 1) /* that there can be */
#define RF_ENTRY_NONE        (RF_ENTRY_ONCE | RF_ENTRY_SITES)
#define RF_ENTRY_MULTIPLIER  UINT64_C(0x9e3779b97f4a7c15)
#define RF_ENTRY_PLACE_SHIFT (64 - RF_RING_TABLE_BITS)

static inline uint64_t rf_entry(uint32_t site, uint32_t count)
{
    return (uint64_t)count << RF_ENTRY_COUNT_SHIFT | site;
}

static inline uint32_t rf_entry_site(uint64_t key)
{
    return (uint32_t)key;
}

static inline uint32_t rf_entry_count(uint64_t key)
{
    return (uint32_t)(key >> RF_ENTRY_COUNT_SHIFT);
}

static inline int rf_entry_is_one(uint64_t key)
{
    return rf_entry_count(key) - 1 < RF_ENTRY_FULL;
}

/* Where the table has it. */
static inline uint32_t rf_entry_place(uint32_t site, uint64_t word)
{
    uint64_t mixed = (word ^ (uint64_t)site << 32) * RF_ENTRY_MULTIPLIER;
    return (uint32_t)(mixed >> RF_ENTRY_PLACE_SHIFT);
}

enum rf_derive_part {
    RF_DERIVE_ADD,
    RF_DERIVE_MASK,
    RF_DERIVE_TIMES,
    RF_DERIVE_MORE,
    RF_DERIVE_LAST,
    RF_DERIVE_PARTS,
};
#define RF_DERIVE_SHIFT_SHIFT 16
#define RF_DERIVE_PARTS_SHIFT 24
enum { RF_DERIVED_MAX = 32 }; /* from one event */

/* How the word of a derived event follows from that of the merged event number `of`. */
struct rf_derivation {
    uint64_t part[RF_DERIVE_PARTS];
    uint32_t of, shift;
};
#define RF_DERIVATION_NONE                                                                         \
    {                                                                                              \
        {0, UINT64_MAX, 1, 0, UINT64_MAX}, 0, 0                                                    \
    }

static inline uint64_t rf_derive(const struct rf_derivation *how, uint64_t word)
{
    const uint64_t *part = how->part;
    word = ((word + part[RF_DERIVE_ADD]) & part[RF_DERIVE_MASK]) * part[RF_DERIVE_TIMES];
    return ((word >> how->shift) + part[RF_DERIVE_MORE]) & part[RF_DERIVE_LAST];
}

enum rf_stage { RF_STAGE_STILL, RF_STAGE_SAME, RF_STAGE_OTHER, RF_STAGE_PART };
#define RF_STAGE_KIND       UINT64_C(7)
#define RF_STAGE_PLACE      UINT64_C(0xffff8)
#define RF_STAGE_NOTE_SHIFT 20
_Static_assert((int)RF_RING_CHUNK <= 0xffff8, "a place in a chunk fits the stage");
_Static_assert((int)RF_RING_NOTES_ROOM < 1 << 12, "so does the number of a note");

/* Without an old count. */
static inline uint64_t rf_stage(uint32_t note, uint32_t place, enum rf_stage kind)
{
    return (uint64_t)note << RF_STAGE_NOTE_SHIFT | place | kind;
}

static inline enum rf_stage rf_stage_kind(uint64_t stage)
{
    return (enum rf_stage)(stage & RF_STAGE_KIND);
}

static inline uint32_t rf_stage_place(uint64_t stage)
{
    return (uint32_t)(stage & RF_STAGE_PLACE);
}

static inline uint32_t rf_stage_note(uint64_t stage)
{
    return (uint32_t)stage >> RF_STAGE_NOTE_SHIFT;
}

/* The counter of a process's guard number `guard`; that of a path is the path's number. */
static inline uint32_t rf_word_guard_counter(uint32_t guard)
{
    return (uint32_t)RF_RING_COUNTERS - 1 - guard;
}

/* The counter of value 0 of an event whose first number of a guard is `first`; those of others follow it. */
enum { RF_WORD_VALUES = 256 };
static inline uint32_t rf_word_value_counters(uint32_t first)
{
    return rf_word_guard_counter(first + RF_WORD_VALUES - 1);
}

#endif
