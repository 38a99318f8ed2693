/* spin.c - runs until it is killed and leaves behind how far it came.
 *
 *     spin FILE [ROUNDS]
 *
 * Every round of k_spin makes one load at one place and then adds one to a number in FILE, which is
 * mapped and so survives the process. With ROUNDS it ends by itself and says so. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

void k_spin(volatile uint64_t *count, uint64_t rounds);
__asm__(".text\n.globl k_spin\n.type k_spin,@function\nk_spin:\n"
        "xor %ecx, %ecx\n 1: mov 8(%rdi), %rax\n add %rax, %rdx\n inc %rcx\n mov %rcx, (%rdi)\n"
        "dec %rsi\n jnz 1b\n ret\n"
        ".size k_spin,.-k_spin\n");

int main(int argc, char **argv)
{
    int fd = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || ftruncate(fd, 4096) != 0)
        return 1;
    volatile uint64_t *count = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    k_spin(count, argc > 2 ? strtoull(argv[2], NULL, 0) : UINT64_MAX);
    puts("spun");
    return 7;
}
