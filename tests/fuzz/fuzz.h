/* fuzz.h - what every fuzz target has. */
#ifndef RF_TESTS_FUZZ_H
#define RF_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

/* A promise of the library that must hold for every input. */
#define PROMISE(condition)                                                                         \
    do {                                                                                           \
        if (!(condition))                                                                          \
            __builtin_trap();                                                                      \
    } while (0)

#endif
