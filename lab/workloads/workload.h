/* workload.h - what the workloads share: a size from the command line, numbers that look random.
 *
 * Each workload is one C file without input files. It takes a size (1: a few million instructions; the
 * work grows with it) and prints what it found, the same on every machine. */
#ifndef LAB_WORKLOAD_H
#define LAB_WORKLOAD_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline unsigned workload_size(int argc, char **argv)
{
    unsigned long size = argc > 1 ? strtoul(argv[1], NULL, 10) : 1;
    return size >= 1 && size <= 1000 ? (unsigned)size : 1;
}

/* Marsaglia's xorshift; the state must not be 0. */
static inline uint32_t workload_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (uint32_t)(*state >> 32);
}

static inline uint32_t workload_below(uint64_t *state, uint32_t limit)
{
    return (uint32_t)((uint64_t)workload_random(state) * limit >> 32);
}

static inline void *workload_memory(size_t n, size_t size)
{
    void *memory = calloc(n, size);
    if (memory == NULL) {
        fputs("no memory\n", stderr);
        exit(1);
    }
    return memory;
}

static inline uint64_t workload_checksum(uint64_t sum, const void *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        sum = (sum ^ ((const uint8_t *)bytes)[i]) * UINT64_C(0x100000001b3);
    return sum;
}

#endif
