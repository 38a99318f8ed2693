/* stepped.c - what steps.c goes through, one instruction at a time. It has hooks. */
#include "steps.h"

static uint32_t words[64] = {1, 2, 3, 4};
static uint64_t longs[64];

/* The compiler knows nothing of what comes out. */
static void *hidden(void *pointer)
{
    __asm__ volatile("" : "+r"(pointer));
    return pointer;
}

/* 2 loads, one of a word that is another one each time, and 1 store. */
unsigned s_work(void)
{
    const uint32_t *w = hidden(words);
    uint64_t *l = hidden(longs);
    return w[0] + (unsigned)l[0]++;
}

/* 1 load per round. */
unsigned s_after(unsigned rounds)
{
    const uint32_t *w = hidden(words);
    unsigned sum = 0;
    for (unsigned i = 0; i < rounds; i++) {
        sum += w[i % 64];
        __asm__ volatile("" ::: "memory");
    }
    return sum;
}

/* 3 loads. */
unsigned s_handle(void)
{
    const uint32_t *w = hidden(words);
    return w[0] + w[1] + w[2];
}
