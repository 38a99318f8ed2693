/* silent.c - stores of every width. Most write what is there already, except the first time; some always change it. */
#include <emmintrin.h>
#include <stdint.h>

static volatile uint8_t byte;
static volatile uint16_t half;
static volatile uint32_t word;
static volatile uint64_t whole;
static volatile float single;
static volatile double twice;
__m128i vector; /* not static: nobody here reads it */

#define APART __attribute__((noinline))

APART static void write_same(void)
{
    byte = 1;
    half = 2;
    word = 3;
    whole = 4;
    single = 1.5f;
    twice = 2.5;
}

APART static void write_vector(__m128i value)
{
    _mm_store_si128(&vector, value);
}

APART static void write_other(uint32_t i)
{
    whole = (uint64_t)i << 32; /* the low half stays */
}

int main(void)
{
    for (uint32_t i = 1; i <= 1000; i++) {
        write_same();
        write_vector(_mm_set_epi64x(i / 2, 7)); /* every other time the upper half changes */
        write_other(i);
    }
    return 0;
}
