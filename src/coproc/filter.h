/* filter.h - which instructions are tagged at decode, by their pc.
 *
 *     hash(pc) & mask == match      selects a part of the program; one more bit in the mask halves the part
 *     table of bits                 switches off an instruction where all the bits are set that its hashes point to
 *
 * The opcode class is checked before. There are several hash functions, so that an instruction is seldom switched off
 * by chance along with another. They are xors of shifts: gates, no multiplier. */
#ifndef RF_COPROC_FILTER_H
#define RF_COPROC_FILTER_H

#include <stdbool.h>
#include <stdint.h>

enum { RF_FILTER_FUNCTIONS = 2, RF_FILTER_WORDS_MAX = 2048 };

struct rf_filter {
    uint32_t mask, match;
    bool lifted;                         /* the table is ignored */
    uint32_t bits;                       /* of the table, a power of two */
    uint32_t table[RF_FILTER_WORDS_MAX]; /* 32 bits each */
};

static inline uint32_t rf_filter_hash(uint32_t pc, unsigned function)
{
    uint32_t x = pc;
    if (function == 0)
        return x ^ x >> 7 ^ x >> 15;
    x ^= x << 11;
    return (x >> 5 | x << 27) ^ x >> 13 ^ x >> 21;
}

/* Is the pc in the selected part of the program? Hash 0 splits it into parts. */
static inline bool rf_filter_in_part(const struct rf_filter *filter, uint64_t pc)
{
    return (rf_filter_hash((uint32_t)pc, 0) & filter->mask) == filter->match;
}

static inline bool rf_filter_bit(const uint32_t *table, uint32_t bits, uint32_t pc,
                                 unsigned function)
{
    uint32_t at = rf_filter_hash(pc, function) & (bits - 1);
    return (table[at / 32] >> at % 32 & 1) != 0;
}

static inline bool rf_filter_masks(const struct rf_filter *filter, uint64_t pc)
{
    return !filter->lifted && rf_filter_bit(filter->table, filter->bits, (uint32_t)pc, 0) &&
           rf_filter_bit(filter->table, filter->bits, (uint32_t)pc, 1);
}

#endif
