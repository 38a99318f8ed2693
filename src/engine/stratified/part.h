/* part.h - the parts of the sampler algebra, and how they are put together.
 *
 * A part takes a message <tuple, count> and may let one out. That is all a part is, so any part can
 * stand anywhere, and none knows what is around it:
 *
 *     event --> [ part ] --maybe--> message --> [ next part ] --maybe--> message --> software
 *
 *     P r   periodic sampler: lets every r-th event out as r of them       sampler.c
 *     R r   random sampler: each event with probability 1/r                sampler.c
 *     D r   random countdown from 1..2r, the DCPI way                      sampler.c
 *     C x   counts what enters sampler x; its messages carry that number   sampler.c
 *     H[x]n hash-split: each of n substreams has chain x to itself         splitter.c
 *     A k   associative table that adds up k messages                      associative.c
 *     T     the tagged table                                               tagged.c
 *
 * A chain is parts one behind the other. What a part remembers is its cell; a splitter's cell holds
 * n cells of its inner chain. Chains are described by specs, a flat list in the order of the text
 * with each part in front of what is inside it, and are made ready by rf_chain_build. */
#ifndef RF_ENGINE_PART_H
#define RF_ENGINE_PART_H

#include <stdbool.h>
#include <stddef.h>
#include <riffle/event.h>
#include "base/random.h"
#include "engine/stratified/stratum.h"

/* `samples` says how many events were looked at to say it: 1 from any sampler, more from a table. */
struct rf_message {
    struct rf_tuple tuple;
    uint64_t count;
    uint64_t samples;
};

/* The same message `times` times, one after the other. */
struct rf_part_run {
    struct rf_message message;
    uint64_t times;
};

typedef void rf_part_visit(void *context, const struct rf_part_run *run);

/* Where a run goes on: through `next` and the parts behind it, then along `outer`, the way around the chain;
 * at the end of all `end` gets what came out. */
struct rf_way {
    struct rf_part *next;
    void *cell; /* of its chain */
    const struct rf_way *outer;
    rf_part_visit *end; /* where there is no outer way */
    void *context;
};

enum rf_part_kind {
    RF_PART_PERIODIC,
    RF_PART_RANDOM,
    RF_PART_COUNTDOWN,
    RF_PART_COUNTER,
    RF_PART_SPLITTER,
    RF_PART_TABLE,
    RF_PART_TAGGED,
};

/* One part as text has it. Plain data without padding: configs are compared byte by byte. */
struct rf_part_spec {
    uint32_t kind;
    uint32_t n;      /* rate r, substreams n, entries k */
    uint32_t inside; /* how many of the specs that follow are inside this one */
    uint32_t width;  /* A: bits of a counter; 0: RF_TABLE_COUNT_BITS */
};

/* How the tagged table is made; see tagged.c. Most ways of a set, and bits of what an entry holds. */
enum {
    RF_TAGGED_WAYS_MAX = 64,
    RF_TAGGED_TAG_MAX = 15,
    RF_TAGGED_HIT_MAX = 24,
    RF_TAGGED_MISS_MAX = 7,
};
struct rf_tagged_setup {
    uint64_t ways, entries, tag, hit, miss, evict, replace, drop;
};

struct rf_part;

struct rf_chain {
    struct rf_part *first;
    size_t cell_size; /* of all its parts */
};

typedef void rf_message_visit(void *context, const struct rf_message *message);

struct rf_part_ops {
    char letter;
    size_t (*cell_size)(
        const struct rf_part *part); /* a multiple of 4; of 8 where it has 64-bit words */
    void (*start)(struct rf_part *part, void *cell); /* from zeroed memory; NULL: zero is right */
    /* Take what enters in *message; true: *message is what comes out. */
    bool (*take)(struct rf_part *part, void *cell, struct rf_message *message);
    /* Take a run, and send on what comes out. It does the same as that many calls of take, in a time that
     * does not grow with them. Samplers draw at most RF_RUN_DRAWN random numbers for it, see sampler.c. */
    void (*take_run)(struct rf_part *part, void *cell, const struct rf_part_run *run,
                     const struct rf_way *way);
    /* Events that it counted and that no message has spoken of. NULL: none. */
    uint64_t (*pending)(const struct rf_part *part, const void *cell);
    /* The same of one substream alone. NULL: it has but one. */
    uint64_t (*pending_of)(const struct rf_part *part, const void *cell, uint32_t stratum);
    /* Show every whole message that it holds back. NULL: none. */
    void (*visit)(const struct rf_part *part, const void *cell, rf_message_visit *visit,
                  void *context);
    void (*forget)(struct rf_part *part, void *cell); /* ... and drop those messages */
    void (*merge)(const struct rf_part *part, void *cell,
                  const void *other); /* its pending events */
};

/* A part ready to run. What a piece of hardware would have once is here, what each substream needs is
 * in the cell. */
struct rf_part {
    const struct rf_part_ops *ops;
    struct rf_part *next;   /* in its chain */
    size_t offset;          /* of its cell in the chain's cell */
    struct rf_chain inside; /* C and H */
    uint32_t n;
    uint64_t count_max;        /* A: what a counter holds */
    struct rf_random random;   /* R and D */
    struct rf_hash_key key;    /* A: a secret */
    struct rf_stratum stratum; /* H and T: which substream, which set */
    struct rf_tagged_setup tagged;
};

extern const struct rf_part_ops rf_part_periodic, rf_part_random, rf_part_countdown,
    rf_part_counter, rf_part_splitter, rf_part_table, rf_part_tagged;

/* What parts of one compressor are built from. */
struct rf_chain_setup {
    const struct rf_part_spec *specs;
    uint32_t n_specs;
    const struct rf_tagged_setup *tagged;
    enum rf_stratum_kind hash;
    uint64_t seed;
};

/* Link parts[0 .. n_specs-1] into a chain. `papers` has room for one table a splitter or tagged part
 * and is used with the paper's hash only. Cells are the caller's: zeroed memory of cell_size bytes,
 * then rf_chain_start. */
void rf_chain_build(struct rf_chain *chain, struct rf_part *parts, struct rf_hash_paper *papers,
                    const struct rf_chain_setup *setup);

/* The cells of a chain in bytes, and the bits that its hardware would have, from the specs alone. */
enum { RF_PARTS_MAX = 16 };
size_t rf_chain_size(const struct rf_part_spec *specs, uint32_t n_specs,
                     const struct rf_tagged_setup *tagged);
uint64_t rf_chain_bits(const struct rf_part_spec *specs, uint32_t n_specs,
                       const struct rf_tagged_setup *tagged);

void rf_chain_start(const struct rf_chain *chain, void *cell);
uint64_t rf_chain_pending(const struct rf_chain *chain, const void *cell);
void rf_chain_visit(const struct rf_chain *chain, const void *cell, rf_message_visit *visit,
                    void *context);
void rf_chain_forget(const struct rf_chain *chain, void *cell);
void rf_chain_merge(const struct rf_chain *chain, void *cell, const void *other);

/* Through `part` and all behind it. True: *message is what came out at the end. */
static inline bool rf_chain_take(struct rf_part *part, void *cell, struct rf_message *message)
{
    for (; part != NULL; part = part->next)
        if (!part->ops->take(part, (char *)cell + part->offset, message))
            return false;
    return true;
}

void rf_chain_take_run(const struct rf_way *way, const struct rf_part_run *run);

enum { RF_RUN_DRAWN = 1 << 12 };
/* Of an entry of A, where nothing else is asked for; a count beyond it goes out. */
enum { RF_TABLE_COUNT_BITS = 31 };

/* The tagged part for n <= RF_PART_BATCH events at once; `out` has room for n messages. Returns how
 * many came out. */
enum { RF_PART_BATCH = 512 };
size_t rf_tagged_take_batch(const struct rf_part *part, void *cell, const struct rf_tuple *tuples,
                            size_t n, struct rf_message *out);
/* The n substreams' cells of a splitter, one behind the other. */
static inline void *rf_splitter_cell(const struct rf_part *part, void *cell, uint32_t stratum)
{
    return (char *)cell + stratum * part->inside.cell_size;
}

#endif
