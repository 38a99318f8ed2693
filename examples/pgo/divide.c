/* divide.c - a finding of a value profile, turned into a specialisation by hand.
 *
 *     divide            sorts numbers into buckets of a width that comes from a table
 *     divide special    the same, with the width that the profile found as a constant
 *
 * `riffle run -p values -- divide` says that the load of the width finds 10 every time. A compiler cannot know that, and
 * divides; where the width is 10, it multiplies. Both print the same. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { NUMBERS = 1 << 14, ROUNDS = 400, BUCKETS = 1 << 12, USUAL = 10 };

struct table {
    const char *name;
    uint32_t width;
};
static struct table tables[] = {{"coarse", 100}, {"usual", 10}, {"fine", 1}};
static uint32_t numbers[NUMBERS], buckets[BUCKETS];

__attribute__((noinline)) static void sort(const struct table *table)
{
    for (unsigned i = 0; i < NUMBERS; i++)
        buckets[numbers[i] / *(volatile const uint32_t *)&table->width % BUCKETS]++;
}

__attribute__((noinline)) static void sort_usual(void)
{
    for (unsigned i = 0; i < NUMBERS; i++)
        buckets[numbers[i] / USUAL % BUCKETS]++;
}

int main(int argc, char **argv)
{
    int special = argc > 1 && strcmp(argv[1], "special") == 0;
    const struct table *table = &tables[1];
    uint64_t random = 88172645463325252u, sum = 0;
    for (unsigned i = 0; i < NUMBERS; i++) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        numbers[i] = (uint32_t)(random >> 40);
    }
    for (unsigned round = 0; round < ROUNDS; round++)
        if (special && table->width == USUAL)
            sort_usual();
        else
            sort(table);
    for (unsigned i = 0; i < BUCKETS; i++)
        sum = sum * 31 + buckets[i];
    printf("%llu\n", (unsigned long long)sum);
    return 0;
}
