/* copies.c - code that is easy to get wrong in two copies: what it computes must not depend on which of them runs.
 *
 * Tables of switches, computed gotos, floating point and vectors that live in registers across loops, variable arguments, nested
 * functions, longjmp, deep recursion, calls in place of returns, flags across labels. It prints what it computed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define APART __attribute__((noinline))

static int numbers[64];

APART static long by_switch(int n)
{
    long sum = 0;
    for (int i = 0; i < n; i++)
        switch (numbers[i % 64] % 11) {
        case 0:
            sum += numbers[1];
            break;
        case 1:
            sum ^= numbers[2];
            break;
        case 2:
            sum -= i;
            break;
        case 3:
            sum *= 3;
            break;
        case 4:
            sum += 7 * numbers[i % 7];
            break;
        case 5:
            sum ^= sum << 3;
            break;
        case 6:
            sum -= numbers[i % 5] * 5L;
            break;
        case 7:
            sum += sum >> 2;
            break;
        case 8:
            sum = -sum;
            break;
        default:
            sum++;
        }
    return sum;
}

/* A machine with four instructions. */
APART static long by_goto(const unsigned char *code, int n)
{
    static const void *const ways[] = {&&add, &&twice, &&back, &&end};
    long sum = 1;
    int at = 0;
    goto *ways[code[at]];
add:
    sum += numbers[at % 64];
    goto *ways[code[++at]];
twice:
    sum = sum * 2 ^ sum >> 7;
    goto *ways[code[++at]];
back:
    at = --n > 0 ? 0 : at + 1;
    goto *ways[code[at]];
end:
    return sum;
}

APART static double by_floats(int n)
{
    double sum = 0.5, product = 1.25;
    float small = 0.75f;
    for (int i = 1; i < n; i++) {
        sum += 1.0 / (i + numbers[i % 64]);
        product = product * 1.0001 + sum;
        small = small * 0.5f + (float)i;
    }
    return sum + product + small;
}

typedef double lanes __attribute__((vector_size(32)));

APART static double by_vectors(int n)
{
    lanes a = {1, 2, 3, 4}, b = {0.5, 0.25, 0.125, 0.0625};
    for (int i = 0; i < n; i++) {
        a = a * b + (double)numbers[i % 64];
        b = b * 0.5 + a * 1e-4;
    }
    return a[0] + a[1] + a[2] + a[3] + b[0] + b[3];
}

APART static double by_arguments(int n, ...)
{
    va_list list;
    double sum = 0;
    va_start(list, n);
    for (int i = 0; i < n; i++)
        sum = sum * 3 + (i % 2 == 0 ? va_arg(list, double) : va_arg(list, int)) + numbers[i];
    va_end(list);
    return sum;
}

static jmp_buf place;

APART static long dive(long depth, long sum)
{
    if (depth == 0)
        longjmp(place, (int)(sum % 1000) + 1);
    return dive(depth - 1, sum + numbers[depth % 64]) + numbers[depth % 3];
}

APART static long by_jumps(int n)
{
    volatile long sum = 0;
    for (volatile int i = 0; i < n; i++) {
        int got = setjmp(place);
        if (got == 0)
            dive(i % 50, i);
        sum += got;
    }
    return sum;
}

APART static long last(const long *values, long n, long sum)
{
    return n == 0 ? sum : last(values + 1, n - 1, sum * 31 + *values);
}

APART static int compare(const void *left, const void *right)
{
    int a = *(const int *)left, b = *(const int *)right;
    return (a > b) - (a < b);
}

/* A carry that goes from round to round. */
APART static uint64_t by_carry(const uint64_t *a, uint64_t *b, int n)
{
    unsigned char carry = 0;
    uint64_t sum = 0;
    for (int i = 0; i < n; i++) {
        uint64_t part;
        carry = (unsigned char)(__builtin_add_overflow(a[i], b[i], &part) |
                                __builtin_add_overflow(part, carry, &part));
        b[i] = part;
        sum ^= part + carry;
    }
    return sum;
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 2000;
    unsigned char code[64];
    int sorted[64];
    long values[8];
    uint64_t wide[16], other[16];
    for (int i = 0; i < 64; i++)
        numbers[i] = (int)((i + 3u) * 2654435761u >> 24);
    for (int i = 0; i < 64; i++)
        code[i] = (unsigned char)(i == 63 ? 3 : i == 62 ? 2 : i % 2);
    for (int i = 0; i < 8; i++)
        values[i] = numbers[i];
    for (int i = 0; i < 16; i++)
        wide[i] = (other[i] = ~(uint64_t)numbers[i]) * 0x9e3779b97f4a7c15u;
    memcpy(sorted, numbers, sizeof sorted);
    qsort(sorted, 64, sizeof *sorted, compare);
    printf("%ld %ld %.17g\n", by_switch(n), by_goto(code, n / 50), by_floats(n));
    printf("%.17g %.17g\n", by_vectors(n), by_arguments(6, 1.5, 2, 2.5, 4, 3.5, 6));
    printf("%ld %ld %d\n", by_jumps(n / 10), last(values, 8, 1), sorted[5]);
    printf("%llu\n", (unsigned long long)by_carry(wide, other, 16));
    return 0;
}
