/* threads.c - threads and processes whose first moments the system may order as it likes. threads.py has the counts.
 *
 *     threads          8 threads; then a child, which becomes the program "alone"; 2 more threads
 *     threads alone    one thread
 *
 * Thread i of them, counted as they are made, calls k_step 10 * i times; the child's 10 * 9, after its exec 10 * 10. */
#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FIRST = 8, CHILD = 9, BECOME = 10, ALL = 12 };

__attribute__((noinline)) static void k_step(void)
{
    __asm__ volatile("");
}

static void *run(void *number)
{
    for (long i = 0; i < 10 * (long)number; i++)
        k_step();
    return NULL;
}

static void start(pthread_t *threads, long from, long to)
{
    for (long i = from; i <= to; i++)
        if (pthread_create(&threads[i], NULL, run, (void *)i) != 0)
            _exit(1);
}

static pid_t start_child(char *path)
{
    pid_t child = fork();
    if (child != 0)
        return child;
    run((void *)(long)CHILD);
    execl(path, path, "alone", (char *)NULL);
    _exit(1);
}

int main(int argc, char **argv)
{
    pthread_t threads[ALL + 1];
    if (argc > 1 && strcmp(argv[1], "alone") == 0) {
        run((void *)(long)BECOME);
        return 0;
    }
    start(threads, 1, FIRST);
    pid_t child = start_child(argv[0]);
    start(threads, BECOME + 1, ALL);
    for (long i = 1; i <= ALL; i++)
        if (i != CHILD && i != BECOME)
            pthread_join(threads[i], NULL);
    int status = 1;
    return child > 0 && waitpid(child, &status, 0) == child ? status : 1;
}
