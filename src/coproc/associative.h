/* associative.h - the associative array: words of 32 bits that are found by what they hold.
 *
 * In hardware every entry compares itself with the key at once. Here valid entries hang in chains by a hash of
 * their key, and a chain is walked to its end, since of several matches the first entry counts. A chain
 * is as short as the array is diverse; at worst it is the whole array. */
#ifndef RF_COPROC_ASSOCIATIVE_H
#define RF_COPROC_ASSOCIATIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RF_ASSOCIATIVE_END = 0xffff, RF_ASSOCIATIVE_WORDS_MAX = 1 << 14 };

/* All in one block that the caller owns. */
struct rf_associative {
    uint32_t words;
    unsigned shift; /* from a hash of 32 bits to a chain */
    uint32_t *keys;
    uint64_t *valid;
    uint16_t *next, *heads;
};

size_t
rf_associative_size(uint32_t words); /* bytes of the block; words a power of two, 4 at least */
void rf_associative_init(struct rf_associative *array, uint32_t words, void *block);

static inline bool rf_associative_valid(const struct rf_associative *array, uint32_t entry)
{
    return (array->valid[entry / 64] >> entry % 64 & 1) != 0;
}

static inline uint16_t *rf_associative_head(const struct rf_associative *array, uint32_t key)
{
    return &array->heads[(uint32_t)(key * UINT32_C(0x9e3779b1)) >> array->shift];
}

/* The first valid entry with that key among from .. end - 1, or RF_ASSOCIATIVE_END. */
static inline uint32_t rf_associative_find(const struct rf_associative *array, uint32_t key,
                                           uint32_t from, uint32_t end)
{
    uint32_t found = RF_ASSOCIATIVE_END;
    for (uint32_t e = *rf_associative_head(array, key); e != RF_ASSOCIATIVE_END; e = array->next[e])
        if (array->keys[e] == key && e >= from && e < end && e < found)
            found = e;
    return found;
}

/* The first entry that is not valid, likewise. */
uint32_t rf_associative_free(const struct rf_associative *array, uint32_t from, uint32_t end);
void rf_associative_write(struct rf_associative *array, uint32_t entry, uint32_t key);
void rf_associative_clear(struct rf_associative *array,
                          uint32_t entry); /* the key stays readable */
void rf_associative_clear_all(struct rf_associative *array);

#endif
