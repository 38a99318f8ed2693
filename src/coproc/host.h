/* host.h - what the host sees of the co-processor at an interrupt, and what its handlers keep in memory.
 *
 * A handler is one function, compiled twice: for this machine, and for the simulated core, where it runs as
 * guest code with its own misses. It calls nothing and has no data of its own; everything lies in two blocks of
 * plain words, so that both see the same bytes:
 *
 *     window   the co-processor's arrays, registers and filter, by loads and stores to special addresses;
 *              it is halted meanwhile, and what was written takes effect when the handler is over
 *     table    the handler's own memory: a header, then entries found by hashing
 */
#ifndef RF_COPROC_HOST_H
#define RF_COPROC_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ALWAYS_INLINE inline __attribute__((always_inline))

enum {
    RF_WINDOW_DATA = 2048,
    RF_WINDOW_KEYS = 2048,
    RF_WINDOW_FILTER = 2048,
    RF_WINDOW_INDEXES = 16,
    RF_WINDOW_ROLES = 12,
    RF_WINDOW_LETS = 16,
    RF_WINDOW_AS_DECLARED = 0xffff,
    RF_WAIT_MOST = 1 << 30, /* that a handler waits for: it adds up a few of these in 32 bits */
};

/* Why the handler runs. */
enum rf_reason {
    RF_REASON_INTERRUPT, /* the program asked for it */
    RF_REASON_QUIET,     /* this many events came without an interrupt */
    RF_REASON_END,       /* nothing more will come */
};

/* What it wants done. */
enum rf_command {
    RF_COMMAND_RESET = 1, /* clear arrays and registers */
    RF_COMMAND_REST =
        2, /* the profile is complete: no look from time to time, until an interrupt */
    RF_COMMAND_DATA =
        4, /* take the data array as it is in the window now, or its first `data_taken` words */
    RF_COMMAND_KEYS = 8, /* the same of the associative array and of the index registers */
};

/* A part of a slot: words of `data` or `keys` from `first` on, and the lane in them. */
struct rf_window_role {
    uint32_t first, shift, mask, in_keys;
};

struct rf_window {
    uint32_t reason, command;
    uint32_t events, samples; /* since the handler ran last: of the classes; of these, tagged */
    uint32_t mask, match, filter_bits;
    uint32_t entry;  /* where samples begin; RF_WINDOW_AS_DECLARED */
    uint32_t lifted; /* 1: the filter's table is ignored, all are sampled */
    uint32_t look;   /* events until the handler runs if nobody calls; 0: never */
    uint32_t random; /* the shift register */
    uint32_t slots;
    uint32_t lets[RF_WINDOW_LETS]; /* as the handler lists them */
    struct rf_window_role roles[RF_WINDOW_ROLES];
    uint32_t indexes[RF_WINDOW_INDEXES];
    uint32_t full[RF_WINDOW_INDEXES]; /* of each index register, all ones */
    uint32_t folded, scanned;         /* told by the handler, for the cost model */
    uint32_t data_taken;              /* words of `data` that RF_COMMAND_DATA takes */
    uint32_t data[RF_WINDOW_DATA], keys[RF_WINDOW_KEYS], valid[RF_WINDOW_KEYS / 32];
    uint32_t filter[RF_WINDOW_FILTER];
};

/* What every table begins with. All zero at the start but `entries`. */
struct rf_table {
    uint32_t entries; /* a power of two */
    uint32_t used, refused, masked, complete, passes;
    uint32_t words[26]; /* the handler's own */
};

/* Where a part of the slots lies, looked up once for many. Words of 64 bits: the simulated core has no cheap unsigned
 * ones of 32. A part that the program does not have reads as 0. */
struct rf_window_lane {
    uint32_t *words;
    uint64_t shift, mask;
};

static inline struct rf_window_lane rf_window_lane(struct rf_window *window, unsigned number)
{
    const struct rf_window_role *role = &window->roles[number];
    return (struct rf_window_lane){(role->in_keys ? window->keys : window->data) + role->first,
                                   role->shift, role->mask};
}

static inline bool rf_lane_equals(struct rf_window_lane x, struct rf_window_lane y)
{
    return x.words == y.words && x.shift == y.shift && x.mask == y.mask;
}

static inline uint64_t rf_lane_read(struct rf_window_lane lane, size_t slot)
{
    return (uint64_t)lane.words[slot] >> lane.shift & lane.mask;
}

/* Nothing else is in the word then. */
static inline void rf_lane_set(struct rf_window_lane lane, size_t slot, uint64_t value)
{
    lane.words[slot] = (uint32_t)((value & lane.mask) << lane.shift);
}

static inline void rf_lane_write(struct rf_window_lane lane, size_t slot, uint64_t value)
{
    uint64_t others = lane.words[slot] & ~(lane.mask << lane.shift);
    lane.words[slot] = (uint32_t)(others | (value & lane.mask) << lane.shift);
}

static inline uint32_t rf_table_hash(uint32_t a, uint32_t b)
{
    uint32_t h = a * UINT32_C(0x9e3779b1) ^ b * UINT32_C(0x85ebca77);
    return h ^ h >> 15;
}

/* --- fold: counts by <a, b> --------------------------------------------------------------------- */

enum { RF_FOLD_A, RF_FOLD_COUNT, RF_FOLD_B, RF_FOLD_A_HIGH, RF_FOLD_B_HIGH, RF_FOLD_ROLES };
enum {
    RF_FOLD_LEAST, /* slots with a smaller count stay as they are */
    RF_FOLD_KEEP,  /* 1: only the counts that were taken are cleared */
};

struct rf_fold_entry {
    uint64_t a, b;
    uint64_t count; /* 0: free */
};

void rf_host_fold(struct rf_window *window, struct rf_table *table);

/* --- values: which value each load mostly has ----------------------------------------------------- */

enum {
    RF_VALUES_PC,
    RF_VALUES_VALUE,
    RF_VALUES_HITS,
    RF_VALUES_MISSES,
    RF_VALUES_TOTAL,
    /* Of the second pass: a load, the lower half that is looked for, the upper half seen first with it, how often
     * the lower half was seen, how often with this upper one. */
    RF_VALUES_WANTED,
    RF_VALUES_LOWER,
    RF_VALUES_UPPER,
    RF_VALUES_SEEN,
    RF_VALUES_SAME,
};
enum {
    RF_VALUES_HIGH,    /* per cent */
    RF_VALUES_LOW,     /* per cent */
    RF_VALUES_ENOUGH,  /* samples */
    RF_VALUES_TIMES,   /* interrupts */
    RF_VALUES_WORTH,   /* per cent: above, the upper half of the value is looked at, too */
    RF_VALUES_DROPPED, /* the number of the index register that tells of thrashing */
    RF_VALUES_LEFT,    /* and of the one that counts what is left to look at */
    RF_VALUES_ROUTINE, /* where the second pass begins; RF_WINDOW_AS_DECLARED: there is none */
    RF_VALUES_AGE,     /* events after which masked loads are sampled again; 0: never */
    RF_VALUES_GLANCE,  /* events for which they are */
    RF_VALUES_SECOND,  /* events for which a second pass lasts, at the most */
    RF_VALUES_LEAST,   /* samples: slots with fewer tell too little to be recorded */
    RF_VALUES_REACH, /* the number of the index register that says how many slots may be in use; when it is full, or
                          RF_WINDOW_INDEXES: all */
};
enum { RF_VALUES_KEPT = 7, RF_VALUES_SPLIT_MAX = 10, RF_VALUES_LOOKED_AT = 3 };

/* Where a load stands. */
enum rf_values_state {
    RF_VALUES_OPEN,   /* still profiled */
    RF_VALUES_MISSED, /* known; its upper half was looked for, and it did not run meanwhile */
    RF_VALUES_WAITS,  /* known; its upper half is to be looked at */
    RF_VALUES_LOOKS,  /* that is being done */
    RF_VALUES_LOOKED, /* known, and so is its upper half */
    RF_VALUES_KNOWN,  /* known, and its upper half does not matter */
};

struct rf_values_value {
    uint32_t value, hits, misses; /* misses: samples with other values while this one was active */
    uint32_t upper;               /* its upper half: */
    uint16_t seen, same;          /* of `seen` samples with the lower one, `same` had it */
    uint16_t times, unused;       /* slots that had it; each began with a hit, its selection */
};

/* The first line of the cache is all that is needed of a load with two values. */
struct rf_values_entry {
    uint32_t pc, total;
    uint32_t
        last; /* the number of the latest interrupt that found slots of it; of one that waits, the next */
    uint16_t times; /* interrupts that found slots of it */
    uint8_t state, n;
    struct rf_values_value values[RF_VALUES_KEPT]; /* the one with most hits in front */
    uint32_t unused[2];
};
_Static_assert(sizeof(struct rf_values_entry) == 3 * 64, "an entry is three lines of the cache");

/* Words of the table's header. */
enum {
    RF_VALUES_PASS,    /* 0: the first; 1: upper halves of those that wait */
    RF_VALUES_LOOKING, /* slots of the second pass */
    RF_VALUES_SPLIT,   /* the program is in 1 << split parts */
    RF_VALUES_PART,    /* the one that is profiled */
    RF_VALUES_STILL,   /* parts in a row that were quiet */
    RF_VALUES_WAITING, /* loads in RF_VALUES_WAITS, */
    RF_VALUES_FIRST,   /* the first of them, */
    RF_VALUES_LAST,    /* and the last */
    RF_VALUES_SERVED,  /* how often the handler ran */
    RF_VALUES_SINCE,   /* events since the masks were lifted, */
    RF_VALUES_PATIENCE,
    RF_VALUES_DUE, /* and how many there shall be; 0: not drawn yet */
};

/* The table: header | where each load is, by hashing (1 + its number) | loads in the order of their discovery, so that
 * going through all of them costs no more than there are. */
static inline uint32_t *rf_values_places(struct rf_table *table)
{
    return (uint32_t *)(table + 1);
}

static inline struct rf_values_entry *rf_values_entries(struct rf_table *table)
{
    return (struct rf_values_entry *)(rf_values_places(table) + table->entries);
}

void rf_host_values(struct rf_window *window, struct rf_table *table);

#endif
