/* innocent.c - a program that loads, stores and computes for a while, and prints what it must.
 *
 *     innocent ROUNDS */
#include <stdio.h>
#include <stdlib.h>

enum { SIZE = 65536 };
static unsigned data[SIZE];

int main(int argc, char **argv)
{
    unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
    unsigned long sum = 0;
    for (unsigned round = 0; round < rounds; round++)
        for (unsigned i = 0; i < SIZE; i++) {
            data[i] = data[(i * 7 + round) % SIZE] * 5 + i;
            sum += data[i] & (round % 5 != 0 ? 0xffff : 0xff);
        }
    printf("sum %lu\n", sum);
    return 0;
}
