/* checksum.h - 64 bits that change when the bytes of a file do.
 *
 * Each word goes in by (h ^ word) x odd, then h ^= h >> 32. Both steps are invertible, so a change within one
 * word always changes the sum. Two independent changes cancel once in 2^64. It guards against accidents, not
 * against an adversary. About 4 bytes per nanosecond. */
#ifndef RF_BASE_CHECKSUM_H
#define RF_BASE_CHECKSUM_H

#include "base/bytes.h"
#include <stddef.h>

static inline uint64_t rf_checksum_begin(void)
{
    return 0x8a5cd789635d2dffu;
}

static inline uint64_t rf_checksum_word(uint64_t sum, uint64_t word)
{
    sum = (sum ^ word) * 0x9e3779b97f4a7c15u;
    return sum ^ sum >> 32;
}

/* The length goes in too, so that zeros at the end count. */
static inline uint64_t rf_checksum(const void *bytes, size_t n)
{
    const unsigned char *p = bytes;
    uint64_t sum = rf_checksum_word(rf_checksum_begin(), n);
    for (; n >= 8; n -= 8, p += 8)
        sum = rf_checksum_word(sum, rf_load64(p));
    uint64_t rest = 0;
    for (size_t i = 0; i < n; i++)
        rest |= (uint64_t)p[i] << 8 * i;
    return rf_checksum_word(sum, rest);
}

#endif
