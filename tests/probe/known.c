/* known.c - a program whose events can be counted by hand.
 *
 * Every function below is written in assembler and runs a known number of times; known.py holds what
 * the probe must count in each. A return is also a load (of its address), a call also a store. Linked
 * without position independence, so that the symbols' addresses are those of the run. */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define FUNCTION(name, body)                                                                       \
    void name(void *memory);                                                                       \
    __asm__(".text\n.globl " #name "\n.type " #name ",@function\n" #name ":\n" body                \
            "\n.size " #name ",.-" #name "\n");

/* 1000 rounds, loads of 8, 16, 32, 64 and 128 bits, all of them used. */
FUNCTION(k_loads, "mov $1000, %ecx\n"
                  "1: movzbl (%rdi), %eax\n add %rax, %rdx\n"
                  "movzwl 2(%rdi), %eax\n add %rax, %rdx\n mov 4(%rdi), %eax\n add %rax, %rdx\n"
                  "add 8(%rdi), %rdx\n movdqu 16(%rdi), %xmm0\n paddq %xmm0, %xmm1\n"
                  "dec %ecx\n jnz 1b\n ret")

/* 300 rounds, stores of constants and registers of all widths, push and pop. */
FUNCTION(k_stores, "mov $300, %ecx\n"
                   "1: movb $1, (%rdi)\n movw $2, 2(%rdi)\n movl $3, 4(%rdi)\n movq $4, 8(%rdi)\n"
                   "mov %rax, 16(%rdi)\n movdqu %xmm0, 32(%rdi)\n push %rax\n pop %rax\n"
                   "sub $1, %ecx\n jnz 1b\n ret")

/* Reads, changes and writes memory: 200 rounds. */
FUNCTION(k_modify, "mov $200, %ecx\n"
                   "1: addl $1, (%rdi)\n incq 8(%rdi)\n andb $15, 16(%rdi)\n"
                   "dec %ecx\n jnz 1b\n ret")

/* rep movsb 100, rep stosq 50, repne scasb finds its byte after 20, repe cmpsb 30 equal ones; and
 * rep movsb of nothing. */
FUNCTION(k_strings, "push %rbx\n mov %rdi, %rbx\n cld\n"
                    "lea 512(%rbx), %rsi\n mov %rbx, %rdi\n mov $100, %ecx\n rep movsb\n"
                    "xor %eax, %eax\n mov %rbx, %rdi\n mov $50, %ecx\n rep stosq\n"
                    "movb $7, 19(%rbx)\n mov $7, %al\n mov %rbx, %rdi\n mov $100, %ecx\n"
                    "repne scasb\n"
                    "movb $0, 19(%rbx)\n mov %rbx, %rdi\n lea 64(%rbx), %rsi\n mov $30, %ecx\n"
                    "repe cmpsb\n"
                    "xor %ecx, %ecx\n rep movsb\n pop %rbx\n ret")

/* 50 rounds: lock add, lock xadd, xchg; a compare-and-swap that fails, one that succeeds, one of 16
 * bytes that fails. */
FUNCTION(k_atomics, "push %rbx\n mov $50, %r8d\n movq $0, (%rdi)\n movq $5, 16(%rdi)\n"
                    "1: lock addl $1, (%rdi)\n mov $1, %eax\n lock xadd %eax, 4(%rdi)\n"
                    "mov $3, %eax\n xchg %eax, 8(%rdi)\n"
                    "mov $4, %eax\n mov $5, %edx\n lock cmpxchg %rdx, 16(%rdi)\n"
                    "mov $5, %eax\n mov $5, %edx\n lock cmpxchg %rdx, 16(%rdi)\n"
                    "mov $9, %eax\n xor %edx, %edx\n lock cmpxchg16b 32(%rdi)\n"
                    "dec %r8d\n jnz 1b\n pop %rbx\n ret")

/* 100 rounds: a direct call, one through a register, one through memory. */
FUNCTION(k_leaf, "ret")
FUNCTION(k_calls, "push %rbx\n push %r12\n mov $100, %ebx\n lea k_leaf(%rip), %r12\n"
                  "mov %r12, (%rdi)\n push %rdi\n"
                  "1: call k_leaf\n call *%r12\n mov (%rsp), %rdi\n call *(%rdi)\n"
                  "dec %ebx\n jnz 1b\n pop %rdi\n pop %r12\n pop %rbx\n ret")

/* 64 rounds: a jump, one through a register; a branch taken every other time. */
FUNCTION(k_jumps, "mov $64, %ecx\n lea 3f(%rip), %rax\n"
                  "1: jmp 2f\n nop\n 2: jmp *%rax\n nop\n"
                  "3: test $1, %cl\n jz 4f\n nop\n 4: dec %ecx\n jnz 1b\n ret")

/* 40 rounds of loop, then jrcxz; the counter lies in rcx. */
FUNCTION(k_loop, "mov $40, %ecx\n 1: nop\n loop 1b\n jrcxz 2f\n nop\n 2: ret")

/* 30 rounds: 80-bit loads and stores (through helpers), 64-bit floating point. */
FUNCTION(k_x87, "mov $30, %ecx\n"
                "1: fldt (%rdi)\n fstpt 16(%rdi)\n movsd 32(%rdi), %xmm0\n movsd %xmm0, 40(%rdi)\n"
                "dec %ecx\n jnz 1b\n ret")

/* 20 rounds: 256 bits; masked loads of 2 of 8 elements. */
FUNCTION(k_avx, "mov $20, %ecx\n vpxor %xmm1, %xmm1, %xmm1\n mov $-1, %rax\n vmovq %rax, %xmm1\n"
                "1: vmovdqu (%rdi), %ymm0\n vmovdqu %ymm0, 64(%rdi)\n"
                "vpmaskmovd (%rdi), %ymm1, %ymm2\n vpmaskmovd %ymm2, %ymm1, 128(%rdi)\n"
                "dec %ecx\n jnz 1b\n vzeroupper\n ret")

/* For threads, handlers and children: 10 loads and a return. */
#define TEN_LOADS "mov $10, %ecx\n 1: mov (%rdi), %rax\n dec %ecx\n jnz 1b\n ret"
FUNCTION(k_thread, TEN_LOADS)
FUNCTION(k_later, TEN_LOADS)
FUNCTION(k_handler, TEN_LOADS)
FUNCTION(k_child, TEN_LOADS)
FUNCTION(k_program, TEN_LOADS)

/* Results of known width: 16 rounds of xor to 0, of 1 << 40 and of a byte. */
FUNCTION(k_alu, "mov $16, %ecx\n"
                "1: mov $1, %eax\n shl $40, %rax\n mov $3, %edx\n imul $5, %rdx, %rdx\n"
                "xor %rax, %rax\n mov %rax, (%rdi)\n mov %rdx, 8(%rdi)\n"
                "dec %ecx\n jnz 1b\n ret")

/* Words that follow from one that is loaded, by every operation on 64, 32, 16 and 8 bits: 64 rounds. */
FUNCTION(k_derived,
         "push %rbx\n mov $64, %ecx\n mov $0x9e3779b97f4a7c15, %r8\n mov %r8, %r9\n"
         "1: imul %r8, %r9\n mov %r9, (%rdi)\n mov (%rdi), %rax\n"
         "lea 5(%rax), %rdx\n shl $3, %rdx\n lea 9(,%rax,4), %rdx\n imul $-7, %rax, %rdx\n"
         "mov %rax, %rdx\n shr $7, %rdx\n and $0x3fff, %edx\n mov %rax, %rdx\n sar $9, %rdx\n"
         "mov %rax, %rdx\n neg %rdx\n mov %rax, %rdx\n not %rdx\n"
         "mov %eax, %edx\n add $-100, %edx\n sub $3, %edx\n shl $5, %edx\n"
         "mov %eax, %edx\n sar $11, %edx\n mov %eax, %edx\n shr $1, %edx\n neg %edx\n"
         "movslq %eax, %rdx\n add $1, %rdx\n movswq %ax, %rdx\n inc %rdx\n"
         "movsbl %al, %edx\n dec %edx\n movzwl %ax, %edx\n sub $1, %edx\n"
         "mov %eax, %edx\n not %edx\n mov %edx, 8(%rdi)\n"
         "lea 8(%rdi), %r10\n lea 24(%rdi), %r11\n imul $-7, %eax, %edx\n"
         "mov %eax, %edx\n neg %edx\n add $0x7fffffff, %rdx\n"
         "mov %ax, %dx\n add $77, %dx\n sar $3, %dx\n mov %al, %dl\n neg %dl\n"
         "incl 16(%rdi)\n push %rax\n pop %rbx\n dec %ecx\n jnz 1b\n pop %rbx\n ret")

static _Alignas(64) char area[4096];

static pthread_barrier_t all_there; /* numbers of threads that have ended are given out again */

static void *thread(void *argument)
{
    pthread_barrier_wait(&all_there);
    pthread_setname_np(pthread_self(), "worker");
    k_thread(argument);
    pthread_barrier_wait(&all_there);
    return NULL;
}

static void *later(void *argument)
{
    k_later(argument);
    return NULL;
}

static void handler(int number)
{
    (void)number;
    k_handler(area); /* NOLINT(bugprone-signal-handler): counted assembly, no libc */
}

static void run_threads(void)
{
    pthread_t threads[3];
    pthread_barrier_init(&all_there, NULL, 3);
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, thread, area + 64 * i);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < 2; i++) { /* in the place of one that has ended */
        pthread_create(&threads[i], NULL, later, area);
        pthread_join(threads[i], NULL);
    }
}

static void run_children(const char *self)
{
    for (int i = 0; i < 4; i++) {
        pid_t pid = fork();
        if (pid == 0 && i % 2 == 0) {
            k_child(area);
            _exit(0);
        }
        if (pid == 0) {
            k_child(area);
            execl(self, self, "exec", (char *)NULL);
            _exit(1);
        }
        waitpid(pid, NULL, 0);
    }
}

static void run_library(const char *path)
{
    for (int i = 0; i < 3; i++) {
        void *library = dlopen(path, RTLD_NOW);
        void (*function)(void *) = NULL;
        void *symbol = library != NULL ? dlsym(library, "k_library") : NULL;
        if (symbol == NULL)
            return;
        memcpy(&function, &symbol, sizeof function);
        function(area);
        dlclose(library);
    }
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "exec") == 0) {
        k_program(area);
        return 0;
    }
    void (*const functions[])(void *) = {k_loads, k_stores, k_modify, k_strings, k_atomics, k_calls,
                                         k_jumps, k_loop,   k_x87,    k_alu,     k_derived};
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        memset(area, 0, sizeof area);
        functions[i](area);
    }
    if (__builtin_cpu_supports("avx2")) {
        k_avx(area);
        puts("avx");
    }
    signal(SIGUSR1, handler);
    for (int i = 0; i < 5; i++)
        raise(SIGUSR1);
    run_threads();
    run_children(argv[0]);
    if (argc > 1)
        run_library(argv[1]);
    puts("done");
    return 42;
}
