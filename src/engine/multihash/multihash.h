/* multihash.h - the parts of the multihash engine that its files share.
 *
 *     multihash.c    options, intervals, report: the engine as the registry sees it
 *     promote.c      into the accumulator and out of it again
 *     estimate.c     what an entry had before it was promoted
 *     feed.c         the loops that every tuple goes through
 *     merge.c        two states into one
 *     pace.c         interval=auto
 *     accumulator.c  the table of candidates that shields the counters
 *
 * A signature holds all hashes of a tuple, packed into words of 64 bits: 16 bits for each of four tables. */
#ifndef RF_ENGINE_MULTIHASH_H
#define RF_ENGINE_MULTIHASH_H

#include "engine/engine.h"
#include "engine/multihash/accumulator_batch.h"
#include "engine/multihash/pace.h"
#include "base/hash.h"

enum rf_multihash_hash { RF_MULTIHASH_MULTIPLY, RF_MULTIHASH_PAPER };
/* Of a counter here. Two of 12 bits share three bytes. */
enum rf_multihash_width { RF_MULTIHASH_12, RF_MULTIHASH_16, RF_MULTIHASH_32 };
enum rf_multihash_replace { RF_MULTIHASH_RETAINED, RF_MULTIHASH_COLDEST };
enum rf_multihash_estimate { RF_MULTIHASH_UPPER, RF_MULTIHASH_RATE };
enum rf_multihash_loop {
    RF_MULTIHASH_ADAPT,
    RF_MULTIHASH_SINGLY,
    RF_MULTIHASH_BATCH,
    RF_MULTIHASH_PORTABLE, /* no newer instructions */
    RF_MULTIHASH_PLAIN,    /* the general loop */
};

enum {
    RF_MULTIHASH_TABLES_MAX = 16,
    RF_MULTIHASH_LANES = 4, /* tables in a word of signature */
    RF_MULTIHASH_WORDS_MAX = RF_MULTIHASH_TABLES_MAX / RF_MULTIHASH_LANES,
    RF_MULTIHASH_TABLE_MAX = 1 << 16, /* counters: what a lane can tell apart */
};

/* In the order of the option table. */
struct rf_multihash_config {
    uint64_t tables, counters;
    uint64_t interval; /* 0: auto */
    double threshold;
    uint64_t conservative, reset, retain, linger, shield;
    uint64_t accumulator;  /* 0: auto */
    uint64_t counter_bits; /* 0: auto */
    uint64_t hash;         /* enum rf_multihash_hash */
    double promote;        /* at this share of the threshold */
    uint64_t replace;
    uint64_t estimate; /* enum rf_multihash_estimate */
    uint64_t seed;
    uint64_t loop; /* enum rf_multihash_loop */
};

/* The papers' hash for four tables at once: rf_hash_paper's 16 look-ups, 16 bits per table. */
struct rf_multihash_lookup {
    uint64_t byte[16][256];
};

struct rf_multihash {
    struct rf_multihash_config config;
    struct rf_hash_key key; /* made of the seed */
    unsigned tables, words; /* words of signature */
    uint32_t table_size;    /* counters of one table */
    uint32_t cap;           /* what a counter holds at most */
    uint64_t interval;      /* events */
    uint32_t candidate;     /* events that make one: T */
    uint32_t promote_at;    /* P <= T */
    enum rf_multihash_width width;
    size_t counter_bytes;
    unsigned loop; /* in the table of feed.c */
    bool newer;    /* this processor has what its newer copies want */
    bool wide;     /* and looks up several tuples at once */
    bool apart;    /* entries are found by a secret key, in batches only: see promote.c */
    rf_accumulator_find_batch *find;
    bool batches;     /* what the last sample asked for */
    uint32_t stretch; /* events until the next sample */

    /* Of the whole run. */
    uint64_t promotions, replaced;
    uint64_t comparisons; /* of an interval's candidates with those of the one before */
    double changed;       /* their changes, added up */

    /* Of the current interval. */
    uint64_t events;
    uint32_t bar;         /* counters below this do not promote now: promote_at or more */
    uint32_t cursor;      /* replace=retained: no slot before this is replaceable */
    bool first;           /* there is none before it */
    uint32_t retained;    /* entries that came from the interval before */
    uint32_t candidates;  /* those of them that were candidates there */
    uint64_t slack;       /* how much the counters may lack: resets, replaced entries */
    uint32_t slack_entry; /* the part of slack from the replaced entries, the heaviest of them */
    bool saturated;       /* something was promoted with a counter that stood at its cap */

    struct rf_multihash_pace pace;
    struct rf_accumulator accumulator;
    struct rf_multihash_lookup *lookup; /* `words` of them; NULL with the multiply hash */
    void *counters;                     /* of that width, table after table */
};

/* Longest interval, and most events of two that are merged into one: their counts are of 32 bits, and one bit
 * of doubts[] is taken. */
#define RF_MULTIHASH_INTERVAL_MAX UINT64_C(1000000000)
#define RF_MULTIHASH_EVENTS_MAX   (2 * RF_MULTIHASH_INTERVAL_MAX)

/* doubts[] of an entry: this bit, or how many of its count may be others'. */
#define RF_MULTIHASH_RETAINED_BIT 0x80000000u

_Static_assert(RF_MULTIHASH_EVENTS_MAX < RF_MULTIHASH_RETAINED_BIT, "counts and doubts have room");
_Static_assert(RF_MULTIHASH_TABLE_MAX == UINT64_C(1) << 64 / RF_MULTIHASH_LANES,
               "a lane of a signature tells apart the counters of a table");

/* T, for an interval of that many events. */
uint32_t rf_multihash_candidate(const struct rf_multihash_config *config, uint64_t interval);

/* A tuple whose counters all hold `count` or more, the promotion threshold at least, after `more` events that
 * state->events does not have yet. */
void rf_multihash_promote(struct rf_multihash *state, struct rf_tuple tuple, uint64_t hash,
                          uint32_t count, uint64_t more);
void rf_multihash_write_back(struct rf_multihash *state, struct rf_tuple tuple, uint32_t count);
void rf_multihash_reindex(struct rf_multihash *state);

/* Where `events` of this interval lie in it, for since[]: in 256ths. */
uint8_t rf_multihash_moment(const struct rf_multihash *state, uint64_t events);
/* Events that the counters of a tuple get from others in this interval, so far. */
uint32_t rf_multihash_noise(const struct rf_multihash *state);
/* The count of an entry, where that is the noise. */
uint64_t rf_multihash_estimate(const struct rf_multihash *state, uint32_t slot, uint32_t noise);

/* The loop that fits the options. */
void rf_multihash_choose_loop(struct rf_multihash *state);
void rf_multihash_feed(struct rf_multihash *state, const struct rf_tuple *tuples, size_t n);
void rf_multihash_feed_counted(struct rf_multihash *state, struct rf_tuple tuple, uint64_t count);
void rf_multihash_feed_weighted(struct rf_multihash *state, const struct rf_tuples *tuples);
rf_status rf_multihash_merge(void *memory, const void *other, struct rf_error *error);

/* The hash that the tables' come from with hash=multiply; it finds tuples in the accumulator, too. */
static inline uint64_t rf_multihash_hash(const struct rf_multihash *state, struct rf_tuple t)
{
    return rf_hash_multiply(t, state->key);
}

/* The key that finds entries once somebody has tuples that collide under the seed's: from where the state
 * lies in memory, which nobody knows who wrote them. */
static inline struct rf_hash_key rf_multihash_secret(const struct rf_multihash *state)
{
    return rf_hash_key((uint64_t)(uintptr_t)state * RF_HASH_MULTIPLY_B);
}

/* The slot of a tuple with that hash, or RF_ACCUMULATOR_ABSENT. */
static inline uint32_t rf_multihash_find(const struct rf_multihash *state, struct rf_tuple t,
                                         uint64_t hash)
{
    if (state->apart)
        hash = rf_hash_multiply(t, rf_multihash_secret(state));
    return rf_accumulator_find(&state->accumulator, t, hash);
}

/* Word `w` of a tuple's signature. The multiply hash is one already. */
static inline uint64_t rf_multihash_signature_of(uint64_t kind,
                                                 const struct rf_multihash_lookup *lookups,
                                                 struct rf_tuple t, uint64_t hash, unsigned w)
{
    if (kind == RF_MULTIHASH_MULTIPLY) {
        uint64_t mixed = hash * (2 * (uint64_t)w * 0x9e3779b97f4a7c15u + 1);
        return w == 0 ? hash : mixed ^ mixed >> 32;
    }
    const struct rf_multihash_lookup *lookup = &lookups[w];
    uint64_t signature = 0;
    for (unsigned i = 0; i < 8; i++)
        signature ^= lookup->byte[i][t.a >> 8 * i & 255] ^ lookup->byte[8 + i][t.b >> 8 * i & 255];
    return signature;
}

/* How far from the bottom of its word the lane of table `i` lies: the first is on top. */
static inline unsigned rf_multihash_lane(unsigned i)
{
    return 16 * (RF_MULTIHASH_LANES - 1 - i % RF_MULTIHASH_LANES);
}

/* From a lane to a counter of its table. A lane of the papers' hash is an index; one of the multiply hash is
 * a fraction of the table, which then may have any size. */
static inline uint32_t rf_multihash_index(uint64_t kind, uint32_t table_size, uint32_t lane)
{
    return kind == RF_MULTIHASH_MULTIPLY ? lane * table_size >> 16 : lane;
}

/* Where table `i` has the counter of a tuple, in the array of all counters. */
static inline size_t rf_multihash_place_of(uint64_t kind, uint32_t table_size,
                                           const uint64_t *signature, unsigned i)
{
    /* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): all words in use are set */
    uint32_t lane = signature[i / RF_MULTIHASH_LANES] >> rf_multihash_lane(i) & 0xffffu;
    return (size_t)i * table_size + rf_multihash_index(kind, table_size, lane);
}

static inline uint32_t rf_multihash_load_of(enum rf_multihash_width width, const void *counters,
                                            size_t place)
{
    uint16_t pair;
    if (width == RF_MULTIHASH_32)
        return ((const uint32_t *)counters)[place];
    if (width == RF_MULTIHASH_16)
        return ((const uint16_t *)counters)[place];
    memcpy(&pair, (const char *)counters + (place * 3 >> 1), sizeof pair);
    return (uint32_t)pair >> 4 * (place & 1) & 0xfff;
}

static inline void rf_multihash_store_of(enum rf_multihash_width width, void *counters,
                                         size_t place, uint32_t count)
{
    uint16_t pair;
    if (width == RF_MULTIHASH_32) {
        ((uint32_t *)counters)[place] = count;
    } else if (width == RF_MULTIHASH_16) {
        ((uint16_t *)counters)[place] = (uint16_t)count;
    } else {
        char *at = (char *)counters + (place * 3 >> 1);
        unsigned shift = 4 * (place & 1);
        memcpy(&pair, at, sizeof pair);
        pair = (uint16_t)((pair & ~(0xfffu << shift)) | count << shift);
        memcpy(at, &pair, sizeof pair);
    }
}

static inline uint32_t rf_multihash_load(const struct rf_multihash *state, size_t place)
{
    return rf_multihash_load_of(state->width, state->counters, place);
}

static inline void rf_multihash_store(struct rf_multihash *state, size_t place, uint32_t count)
{
    rf_multihash_store_of(state->width, state->counters, place, count);
}

/* The places of all of a tuple's counters. */
static inline void rf_multihash_places(const struct rf_multihash *state, struct rf_tuple t,
                                       uint64_t hash, size_t places[RF_MULTIHASH_TABLES_MAX])
{
    uint64_t signature[RF_MULTIHASH_WORDS_MAX];
    for (unsigned w = 0; w < state->words; w++)
        signature[w] = rf_multihash_signature_of(state->config.hash, state->lookup, t, hash, w);
    for (unsigned i = 0; i < state->tables; i++)
        places[i] = rf_multihash_place_of(state->config.hash, state->table_size, signature, i);
}

/* The smallest of them. */
static inline uint32_t rf_multihash_least(const struct rf_multihash *state, const size_t *places)
{
    uint32_t least = UINT32_MAX;
    for (unsigned i = 0; i < state->tables; i++) {
        uint32_t count = rf_multihash_load(state, places[i]);
        least = count < least ? count : least;
    }
    return least;
}

#endif
