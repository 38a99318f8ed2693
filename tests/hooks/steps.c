/* steps.c - a signal at each instruction of code that has hooks (stepped.c). This file has none.
 *
 *     steps jump|first|handle|new|bursts [apart]         apart: handlers have a stack of their own
 *
 * The processor's trap flag makes a signal of each instruction. No moment of a hook is left to chance:
 *
 *     jump      out of the n-th instruction of s_work, for all n; s_after(10) behind each jump
 *     first     the same in a process of its own for every 251st, where all places are new
 *     handle    s_handle in a handler at each instruction of s_work, which goes on
 *     new       the same where all places are new
 *     bursts    as jump, but for each third instruction, whether s_work comes that far or not; s_after(10000) behind all of them
 *
 * It prints how often that was. */
#include "steps.h"
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STRIDE = 251, ROUNDS = 10, MANY = 10000, FAR = 1400, STACK = 1 << 16 };

static sigjmp_buf out;
static volatile long left, handled;
static volatile unsigned sink;

static void jump_out(int number)
{
    (void)number;
    if (--left == 0)
        siglongjmp(out, 1);
}

static void handle(int number)
{
    (void)number;
    sink += s_handle();
    handled++;
}

#define TRAPS_ON  __asm__ volatile("pushfq\n\torq $0x100, (%%rsp)\n\tpopfq" ::: "cc", "memory")
#define TRAPS_OFF __asm__ volatile("pushfq\n\tandq $-0x101, (%%rsp)\n\tpopfq" ::: "cc", "memory")

/* Jump out of the n-th instruction of s_work. False: it has fewer. */
static bool leave_at(long n)
{
    left = n;
    if (sigsetjmp(out, 1) != 0)
        return true;
    TRAPS_ON;
    sink += s_work();
    TRAPS_OFF;
    return false;
}

/* Below a large frame: the stack is deeper than that of the hook that was left. */
static __attribute__((noinline)) unsigned after_deeper(void)
{
    volatile char frame[4096];
    frame[0] = 1;
    return s_after(ROUNDS) + (unsigned)frame[0];
}

static long leave_all(void)
{
    long n = 1;
    for (; leave_at(n); n++)
        sink += n % 2 != 0 ? s_after(ROUNDS) : after_deeper();
    return n - 1;
}

/* Sometimes s_work comes by a gate, sometimes not. */
static long leave_bursts(void)
{
    long n = 0;
    for (long at = 1; at < FAR; at += 3)
        n += leave_at(at);
    sink += s_after(MANY);
    return n;
}

static long leave_first(void)
{
    long n = 0;
    for (bool goes_on = true; goes_on; n += goes_on) {
        int status = 0;
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) {
            bool was_left = leave_at(1 + n * STRIDE);
            sink += was_left ? s_after(ROUNDS) : 0;
            _exit(was_left ? 0 : 1);
        }
        goes_on = waitpid(child, &status, 0) == child && status == 0;
    }
    return n;
}

static long handle_all(void)
{
    TRAPS_ON;
    sink += s_work();
    TRAPS_OFF;
    return handled;
}

int main(int argc, char **argv)
{
    static char stack[STACK];
    const char *what = argc > 1 ? argv[1] : "";
    bool is_first = strcmp(what, "first") == 0, is_new = strcmp(what, "new") == 0;
    bool handles = strcmp(what, "handle") == 0 || is_new, apart = argc > 2;
    const stack_t other = {.ss_sp = stack, .ss_size = sizeof stack};
    struct sigaction action = {.sa_handler = handles ? handle : jump_out,
                               .sa_flags = apart ? SA_ONSTACK : 0};
    if (apart)
        sigaltstack(&other, NULL);
    sigaction(SIGTRAP, &action, NULL);
    if (!is_first && !is_new)
        sink += s_work() + s_after(ROUNDS) + s_handle();
    long n = handles                       ? handle_all()
             : is_first                    ? leave_first()
             : strcmp(what, "bursts") == 0 ? leave_bursts()
                                           : leave_all();
    printf("%ld\n", n);
    return 3;
}
