/* bytes.h - little-endian numbers in files and rings, whatever the machine. */
#ifndef RF_BASE_BYTES_H
#define RF_BASE_BYTES_H

#include <stdint.h>
#include <string.h>

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define RF_LE16(x) (x)
#define RF_LE32(x) (x)
#define RF_LE64(x) (x)
#else
#define RF_LE16(x) __builtin_bswap16(x)
#define RF_LE32(x) __builtin_bswap32(x)
#define RF_LE64(x) __builtin_bswap64(x)
#endif

static inline uint32_t rf_load32(const void *p)
{
    uint32_t x;
    memcpy(&x, p, sizeof x);
    return RF_LE32(x);
}

static inline uint64_t rf_load64(const void *p)
{
    uint64_t x;
    memcpy(&x, p, sizeof x);
    return RF_LE64(x);
}

static inline void rf_store32(void *p, uint32_t x)
{
    x = RF_LE32(x);
    memcpy(p, &x, sizeof x);
}

static inline void rf_store64(void *p, uint64_t x)
{
    x = RF_LE64(x);
    memcpy(p, &x, sizeof x);
}

/* Several numbers as two arguments: an array of them, and how many there are. */
#define RF_NUMBERS(...)                                                                            \
    (const uint64_t[]){__VA_ARGS__}, sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t)

#endif
