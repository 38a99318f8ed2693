/* wait.c - a parent that spins until its child is done, and so always has more events than the child.
 *
 *     wait ROUNDS */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    volatile uint64_t *done =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    uint64_t rounds = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
    pid_t pid = fork();
    if (pid == 0) {
        for (uint64_t i = 0; i < rounds; i++)
            done[1] = done[1] + 1;
        done[0] = 1;
        _exit(0);
    }
    while (done[0] == 0)
        done[2] = done[2] + 1;
    waitpid(pid, NULL, 0);
    puts("done");
    return 0;
}
