/* multihash.h - the multi-hash profiler as its paper writes it down: the judge of the shipped one.
 *
 * Narayanasamy et al., "Catching Accurate Profiles in Hardware", sections 5 and 6, one event at a
 * time, everything searched from the front, no index, no packing. Two things beyond the paper are
 * switches here too, since the shipped engine has them: promotion below the threshold and
 * replacement of the coldest entry with its count written back. */
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
    bool conservative, reset, retain, shield;
    bool coldest; /* replace the coldest entry, write its count back */
    /* The index of a tuple in a table. */
    uint32_t (*index)(void *context, unsigned table, struct rf_tuple tuple);
    void *context;
};

struct reference_multihash_entry {
    struct rf_tuple tuple;
    uint64_t count;
    bool replaceable; /* retained, and not a candidate again yet */
};

struct reference_multihash;

struct reference_multihash *
reference_multihash_new(const struct reference_multihash_options *options);
void reference_multihash_free(struct reference_multihash *profiler);
void reference_multihash_event(struct reference_multihash *profiler, struct rf_tuple tuple);
void reference_multihash_end_interval(struct reference_multihash *profiler);
/* The accumulator's entries, *n of them. Candidates are those with threshold events or more. */
const struct reference_multihash_entry *
reference_multihash_entries(const struct reference_multihash *profiler, size_t *n);

#endif
