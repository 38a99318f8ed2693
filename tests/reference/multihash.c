/* multihash.c - the paper, sentence by sentence. What is quoted is from its sections 5 and 6. */
#include "reference/multihash.h"
#include <stdlib.h>
#include <string.h>

enum { TABLES_MAX = 16 };

struct reference_multihash {
    struct reference_multihash_options options;
    uint64_t *table[TABLES_MAX];
    struct reference_multihash_entry *accumulator;
    size_t used;     /* entries 0 .. used-1 are valid; the others are empty */
    uint64_t events; /* of the interval */
};

struct reference_multihash *
reference_multihash_new(const struct reference_multihash_options *options)
{
    struct reference_multihash *p = calloc(1, sizeof *p);
    p->options = *options;
    for (unsigned t = 0; t < options->tables; t++)
        p->table[t] = calloc(options->table_size, sizeof *p->table[t]);
    p->accumulator = calloc(options->entries, sizeof *p->accumulator);
    return p;
}

void reference_multihash_free(struct reference_multihash *p)
{
    for (unsigned t = 0; t < p->options.tables; t++)
        free(p->table[t]);
    free(p->accumulator);
    free(p);
}

static uint64_t *counter(struct reference_multihash *p, unsigned t, struct rf_tuple tuple)
{
    return &p->table[t][p->options.index(p->options.context, t, tuple)];
}

/* "An input tuple is first checked if it is in the accumulator table." */
static struct reference_multihash_entry *find(struct reference_multihash *p, struct rf_tuple tuple)
{
    for (size_t i = 0; i < p->used; i++)
        if (p->accumulator[i].tuple.a == tuple.a && p->accumulator[i].tuple.b == tuple.b)
            return &p->accumulator[i];
    return NULL;
}

static uint64_t smallest(struct reference_multihash *p, struct rf_tuple tuple)
{
    uint64_t smallest = UINT64_MAX;
    for (unsigned t = 0; t < p->options.tables; t++)
        if (*counter(p, t, tuple) < smallest)
            smallest = *counter(p, t, tuple);
    return smallest;
}

/* "only the counter that has the smallest value among all other corresponding counters for the tuple
 * is incremented. If there is a tie [...] each one of them is incremented"; without conservative
 * update "all the corresponding counters are incremented". */
static void update_tables(struct reference_multihash *p, struct rf_tuple tuple)
{
    uint64_t least = smallest(p, tuple);
    for (unsigned t = 0; t < p->options.tables; t++) {
        uint64_t *c = counter(p, t, tuple);
        if (p->options.conservative && *c != least)
            continue;
        if (*c < p->options.counter_max)
            (*c)++;
    }
}

/* "For allocating accumulator entries, empty entries are allocated first followed by replaceable
 * entries"; "If there are no more free entries [...] the event is not put into the accumulator". */
static struct reference_multihash_entry *allocate(struct reference_multihash *p)
{
    if (p->used < p->options.entries)
        return &p->accumulator[p->used++];
    for (size_t i = 0; i < p->used; i++)
        if (p->accumulator[i].replaceable)
            return &p->accumulator[i];
    return NULL;
}

/* Beyond the paper: if the smallest count in the table is below the newcomer's, that entry is removed. Its hash
 * counters get its count. */
static struct reference_multihash_entry *allocate_coldest(struct reference_multihash *p,
                                                          uint64_t count)
{
    if (p->used < p->options.entries)
        return &p->accumulator[p->used++];
    struct reference_multihash_entry *coldest = &p->accumulator[0];
    for (size_t i = 1; i < p->used; i++)
        if (p->accumulator[i].count < coldest->count)
            coldest = &p->accumulator[i];
    if (coldest->count >= count)
        return NULL;
    uint64_t back =
        coldest->count < p->options.counter_max ? coldest->count : p->options.counter_max;
    for (unsigned t = 0; t < p->options.tables; t++)
        if (*counter(p, t, coldest->tuple) < back)
            *counter(p, t, coldest->tuple) = back;
    return coldest;
}

/* "An entry in the accumulator table is added for a tuple only when all of its' corresponding counters
 * across the different hash-tables cross the threshold"; "it is marked as non-replaceable". */
static void promote(struct reference_multihash *p, struct rf_tuple tuple)
{
    uint64_t count = smallest(p, tuple);
    struct reference_multihash_entry *entry =
        p->options.coldest ? allocate_coldest(p, count) : allocate(p);
    if (entry == NULL)
        return;
    *entry = (struct reference_multihash_entry){.tuple = tuple,
                                                .count = count,
                                                .began = count,
                                                .promoted = p->events * 256 / p->options.interval *
                                                            p->options.interval / 256};
    /* "The counter in the hash-table is reset after a profiling event reaches the candidate
     * threshold, and is promoted". */
    for (unsigned t = 0; p->options.reset && t < p->options.tables; t++)
        *counter(p, t, tuple) = 0;
}

void reference_multihash_event(struct reference_multihash *p, struct rf_tuple tuple)
{
    p->events++;
    struct reference_multihash_entry *entry = find(p, tuple);
    if (entry != NULL) {
        entry->count++;
        /* "When the value [...] goes above the candidate threshold, then it is unmarked". */
        if (entry->count >= p->options.threshold)
            entry->replaceable = false;
        /* "that particular tuple will never be given as input to the hash-table": shielding. */
        if (p->options.shield)
            return;
    }
    update_tables(p, tuple);
    if (entry == NULL && smallest(p, tuple) >= p->options.promote_at)
        promote(p, tuple);
}

/* "At the end of an interval, we flush all entries in the accumulator table that were not above the
 * candidate threshold. We then mark all entries that had a value above the threshold as replaceable
 * and set their counter values to 0." "At the end of an interval, the hash table is flushed." And in section 5.2:
 * "The accumulator table is not flushed, and instead all entries are marked as replaceable." (linger) */
void reference_multihash_end_interval(struct reference_multihash *p)
{
    size_t kept = 0;
    for (size_t i = 0; i < p->used; i++)
        if (p->options.linger ||
            (p->options.retain && p->accumulator[i].count >= p->options.threshold))
            p->accumulator[kept++] = (struct reference_multihash_entry){
                .tuple = p->accumulator[i].tuple, .replaceable = true, .retained = true};
    p->used = kept;
    p->events = 0;
    for (unsigned t = 0; t < p->options.tables; t++)
        memset(p->table[t], 0, p->options.table_size * sizeof *p->table[t]);
}

static int by_count(const void *left, const void *right)
{
    uint64_t l = *(const uint64_t *)left, r = *(const uint64_t *)right;
    return l < r ? -1 : l > r;
}

/* What a tuple without events would find in its counters: the median of 63 such tuples. */
static double noise(struct reference_multihash *p)
{
    uint64_t found[63];
    for (uint64_t i = 0; i < 63; i++)
        found[i] = smallest(p, (struct rf_tuple){~i, ~i});
    qsort(found, 63, sizeof *found, by_count);
    return (double)found[31];
}

uint64_t reference_multihash_by_rate(struct reference_multihash *p,
                                     const struct reference_multihash_entry *entry)
{
    double n = (double)p->events, at = (double)entry->promoted, m = (double)entry->began;
    if (entry->retained || entry->promoted >= p->events)
        return entry->count;
    double rate = ((double)entry->count - m) / (n - at);
    double of_others = noise(p) / n;
    if (rate * at <= 2 * m)
        return entry->count; /* it was there from the beginning */
    double began = (rate * at - 2 * m) / (rate - of_others);
    if (rate <= of_others || began > at)
        began = at;
    uint64_t others = (uint64_t)(of_others * began);
    return entry->count - (others < entry->began - 1 ? others : entry->began - 1);
}

const struct reference_multihash_entry *
reference_multihash_entries(const struct reference_multihash *p, size_t *n)
{
    *n = p->used;
    return p->accumulator;
}
