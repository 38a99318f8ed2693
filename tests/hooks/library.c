/* library.c - a library with hooks, opened while the program runs: 1 load per round. */
static unsigned numbers[64];

__attribute__((visibility("default"))) unsigned k_library(unsigned rounds);

unsigned k_library(unsigned rounds)
{
    const unsigned *n = numbers;
    unsigned sum = 0;
    __asm__ volatile("" : "+r"(n));
    for (unsigned i = 0; i < rounds; i++) {
        sum += n[i % 64];
        __asm__ volatile("" ::: "memory");
    }
    return sum;
}
