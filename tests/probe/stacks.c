/* stacks.c - a program whose call stacks are known: who calls leaf, and for how much of the work.
 *
 *     main -> a -> leaf 3/4      main -> b -> leaf 1/4
 *
 * With one argument there are recursion and a thread; with two, code with long and with short blocks. */
#include <pthread.h>
#include <stddef.h>

static volatile unsigned sum;

#define APART __attribute__((noinline))

APART static void leaf(unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        sum += i;
}

APART static void a(void)
{
    leaf(3000);
    sum++;
}

APART static void b(void)
{
    leaf(1000);
    sum++;
}

APART static void down(unsigned depth)
{
    if (depth == 0)
        leaf(3000);
    else
        down(depth - 1);
    sum++;
}

/* One long block, and many short blocks that begin after a jump forwards. */
APART static void straight(unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        sum += i;
        sum ^= 3;
        sum += 5;
        sum ^= i;
        sum += 7;
        sum ^= 9;
    }
}

APART static void branchy(unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        if (i & 1)
            sum++;
        else
            sum--;
    }
}

static void *work(void *argument)
{
    for (int i = 0; i < 1000; i++)
        a();
    return argument;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    (void)argv;
    for (int i = 0; i < 2000 && argc == 1; i++) {
        a();
        b();
    }
    for (int i = 0; i < 500 && argc == 3; i++) {
        straight(500);
        branchy(1500);
    }
    if (argc != 2)
        return 0;
    for (int i = 0; i < 1000; i++)
        down(20);
    if (pthread_create(&thread, NULL, work, NULL) != 0)
        return 1;
    pthread_join(thread, NULL);
    return 0;
}
