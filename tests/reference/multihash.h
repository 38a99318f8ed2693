/* multihash.h - the multi-hash profiler as its paper writes it down: the judge of the shipped one.
 *
 * Narayanasamy et al., "Catching Accurate Profiles in Hardware", sections 5 and 6, one event at a
 * time, everything searched from the front, no index, no packing. Two things beyond the paper are
 * switches here too, since the shipped engine has them: promotion below the threshold and
 * replacement of the coldest entry with its count written back. So is what is estimated of an entry's
 * events before it was promoted (src/engine/multihash/estimate.c has the picture). */
#ifndef RF_TESTS_REFERENCE_MULTIHASH_H
#define RF_TESTS_REFERENCE_MULTIHASH_H

#include <stdbool.h>
#include <riffle/event.h>

struct reference_multihash_options {
    unsigned tables;
    unsigned table_size;  /* counters of one table */
    unsigned threshold;   /* events that make a candidate */
    unsigned promote_at;  /* the threshold, in the paper */
    unsigned entries;     /* of the accumulator */
    unsigned counter_max; /* where counters saturate */
    bool conservative, reset, retain, linger, shield;
    bool coldest;      /* replace the coldest entry, write its count back */
    unsigned interval; /* events */
    /* The index of a tuple in a table. */
    uint32_t (*index)(void *context, unsigned table, struct rf_tuple tuple);
    void *context;
};

struct reference_multihash_entry {
    struct rf_tuple tuple;
    uint64_t count;
    bool replaceable; /* retained, and not a candidate again yet */
    bool retained;
    uint64_t began;    /* its count when it was promoted */
    uint64_t promoted; /* events of the interval until then, in whole 256ths of it */
};

struct reference_multihash;

struct reference_multihash *
reference_multihash_new(const struct reference_multihash_options *options);
void reference_multihash_free(struct reference_multihash *profiler);
void reference_multihash_event(struct reference_multihash *profiler, struct rf_tuple tuple);
void reference_multihash_end_interval(struct reference_multihash *profiler);
/* The count of an entry less what others had of it when it was promoted, by its rate since. */
uint64_t reference_multihash_by_rate(struct reference_multihash *profiler,
                                     const struct reference_multihash_entry *entry);
/* The accumulator's entries, *n of them. Candidates are those with threshold events or more. */
const struct reference_multihash_entry *
reference_multihash_entries(const struct reference_multihash *profiler, size_t *n);

#endif
