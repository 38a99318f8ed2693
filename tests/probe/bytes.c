/* bytes.c - loads each of the 256 bytes once per lap, over and over, and leaves behind how many laps there were.
 *
 *     bytes FILE one|threads|forks [LAPS]
 *
 * FILE is mapped: its word i is the number of laps of runner i, which survives the process. `one` has one runner, `threads`
 * has two, each in a thread of its own, `forks` has two, the first in a child. Without LAPS they run until they are
 * killed. k_lap is written in assembler, so that its one load of a byte has a known place. */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* The load is its third instruction, behind two of two bytes each. */
void k_lap(const uint8_t *bytes, volatile uint64_t *laps);
__asm__(
    ".text\n.globl k_lap\n.type k_lap,@function\nk_lap:\n"
    "xor %ecx, %ecx\n xor %edx, %edx\n 1: movzbl (%rdi,%rcx), %eax\n add %eax, %edx\n inc %ecx\n"
    "cmp $256, %ecx\n jne 1b\n incq (%rsi)\n ret\n"
    ".size k_lap,.-k_lap\n");

static uint8_t bytes[256];
static volatile uint64_t *laps;
static uint64_t wanted = UINT64_MAX;

static void *run(void *number)
{
    volatile uint64_t *own = laps + (uintptr_t)number;
    while (*own < wanted)
        k_lap(bytes, own);
    return NULL;
}

static void *first = (void *)0, *second = (void *)1;

static void run_threads(void)
{
    pthread_t other;
    if (pthread_create(&other, NULL, run, second) != 0)
        exit(1);
    run(first);
    pthread_join(other, NULL);
}

static void run_forks(void)
{
    pid_t child = fork();
    if (child < 0)
        exit(1);
    run(child == 0 ? first : second);
    if (child == 0)
        _exit(0);
    waitpid(child, NULL, 0);
}

int main(int argc, char **argv)
{
    int fd = argc > 2 ? open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600) : -1;
    if (fd < 0 || ftruncate(fd, 4096) != 0)
        return 1;
    laps = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    for (int i = 0; i < 256; i++)
        bytes[i] = (uint8_t)i;
    wanted = argc > 3 ? strtoull(argv[3], NULL, 0) : UINT64_MAX;
    if (strcmp(argv[2], "threads") == 0)
        run_threads();
    else if (strcmp(argv[2], "forks") == 0)
        run_forks();
    else
        run(first);
    return 0;
}
