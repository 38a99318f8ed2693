/* Work that is counted by hand: every thread calls step() ROUNDS times.
 *
 *     work [THREADS]      this many threads; 1 by default */
#include <pthread.h>
#include <stdlib.h>

enum { ROUNDS = 1000, THREADS_MAX = 256 };

__attribute__((noinline)) int step(int x);
int step(int x)
{
    __asm__ volatile("" : "+r"(x));
    return x + 1;
}

static void *work(void *unused)
{
    volatile int x = 0;
    (void)unused;
    for (int i = 0; i < ROUNDS; i++)
        x = step(x);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS_MAX];
    int n = argc > 1 ? atoi(argv[1]) : 1;
    if (n < 1 || n > THREADS_MAX)
        return 2;
    for (int i = 1; i < n; i++)
        if (pthread_create(&threads[i], NULL, work, NULL) != 0)
            return 1;
    work(NULL);
    for (int i = 1; i < n; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
