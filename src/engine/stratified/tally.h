/* tally.h - the software behind the messages: what each tuple's messages add up to.
 *
 * An open-addressing table of 32-byte slots, of which at most 5/8 are in use. It doubles through the allocator
 * up to a ceiling, or lies in memory of the caller and never grows. */
#ifndef RF_ENGINE_TALLY_H
#define RF_ENGINE_TALLY_H

#include "base/hash.h"
#include "engine/stratified/part.h"
#include <riffle/alloc.h>
#include <riffle/status.h>

struct rf_tally {
    struct rf_message *slots; /* count 0: empty */
    unsigned bits;            /* 1 << bits slots */
    size_t used;
    struct rf_hash_key key;       /* a secret */
    const struct rf_alloc *alloc; /* NULL: the slots are the caller's */
    size_t ceiling;               /* bytes, both tables while doubling; 0: none */
    size_t peak;                  /* most bytes held at once */
};

/* How many slots hold n tuples, as a power of two. */
unsigned rf_tally_bits(size_t n);

rf_status rf_tally_init(struct rf_tally *tally, const struct rf_alloc *alloc, size_t ceiling);
void rf_tally_release(struct rf_tally *tally);
void rf_tally_clear(struct rf_tally *tally);

/* Make sure that n more tuples fit, all of them new. */
rf_status rf_tally_reserve(struct rf_tally *tally, size_t n);

/* There must be room for it. */
void rf_tally_add(struct rf_tally *tally, const struct rf_message *message);

/* NULL: not there. */
struct rf_message *rf_tally_find(const struct rf_tally *tally, struct rf_tuple tuple);

static inline size_t rf_tally_slots(const struct rf_tally *tally)
{
    return (size_t)1 << tally->bits;
}

#endif
