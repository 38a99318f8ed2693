/* newer.h - does this processor have the instructions that the newer copies of loops want? */
#ifndef RF_ENGINE_MULTIHASH_NEWER_H
#define RF_ENGINE_MULTIHASH_NEWER_H

#include <stdbool.h>
#ifdef __x86_64__
#include <cpuid.h>
#endif

#ifdef __x86_64__
/* clang has no name for it in __builtin_cpu_supports. */
static inline bool rf_multihash_has_lzcnt(void)
{
    enum { BIT = 1 << 5 };
    unsigned a, b, c = 0, d;
    return __get_cpuid(0x80000001u, &a, &b, &c, &d) && (c & BIT) != 0;
}

static inline bool rf_multihash_has_newer(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
           __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt") &&
           rf_multihash_has_lzcnt();
}
#else
static inline bool rf_multihash_has_newer(void)
{
    return false;
}
#endif

#endif
