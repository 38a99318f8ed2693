/* limits.c - a program that has more of something than hooks can keep.
 *
 *     limits places ROUNDS */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static volatile int zero;

/* 300,000 loads, each at a place of its own, by hooks that are called. */
void __tsan_read4(void *address);
void k_places(void (*hook)(void *), const void *address);
__asm__(".text\n"
        ".globl k_places\n"
        ".type k_places, @function\n"
        "k_places:\n"
        "    pushq %rbx\n"
        "    pushq %rbp\n"
        "    pushq %rax\n"
        "    movq %rdi, %rbx\n"
        "    movq %rsi, %rbp\n"
        "    .rept 300000\n"
        "    movq %rbp, %rdi\n"
        "    call *%rbx\n"
        "    .endr\n"
        "    popq %rax\n"
        "    popq %rbp\n"
        "    popq %rbx\n"
        "    ret\n"
        ".size k_places, .-k_places\n");

int main(int argc, char **argv)
{
    const char *what = argc > 2 ? argv[1] : "";
    int n = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 0;
    if (strcmp(what, "places") == 0)
        for (int i = 0; i < n; i++)
            k_places(__tsan_read4, (const void *)&zero);
    return zero + 3;
}
