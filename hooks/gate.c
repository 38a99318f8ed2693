/* gate.c - which copy of its functions a thread runs: the one with hooks, or the one without (cli/copies.c).
 *
 *     rf_hooks_left    intervals until the next burst; negative in a burst, and where all events are told
 *     rf_hooks_stay    intervals that are left of the burst; both counted down by the program's own code
 *
 * One that has run out leads to rf_hooks_gate, which sets both. While nobody listens, and where all is told, that comes now and
 * then, in case it changes. The gate is called where the compiler did not expect it, so it keeps every register.
 *
 * A signal handler may come in between anywhere: each step of the program's code changes one word. Its own gate inside of a gate
 * changes nothing, and it runs with hooks. One that jumps out of a gate leaves what the next gate sets. */
#include "hooks.h"

#define NOW_AND_THEN (1 << 20) /* intervals */

__thread int64_t rf_hooks_left, rf_hooks_stay;
__thread bool rf_hooks_gated;
bool rf_hooks_uncounted;

static __thread uint64_t in_gate __attribute__((tls_model("initial-exec")));
static __thread bool in_burst __attribute__((tls_model("initial-exec")));

static void run_plain(int64_t intervals)
{
    rf_hooks_stay = 0;
    rf_hooks_left = intervals;
}

static void run_hooked(int64_t intervals)
{
    rf_hooks_stay = intervals;
    rf_hooks_left = -1;
}

/* A burst begins or is over. */
static void turn(struct rf_hooks_lane *lane)
{
    uint64_t left = in_burst ? rf_hooks_end_burst(lane) : 0;
    if (!rf_hooks_gated && lane->skips)
        left = lane->left;
    rf_hooks_uncounted = rf_hooks_gated = true;
    in_burst = left == 0;
    if (in_burst)
        run_hooked((int64_t)(rf_hooks_burst_length() - 1));
    else
        run_plain((int64_t)(left - 1));
}

static void sample(uint64_t stack)
{
    struct rf_hooks_lane *lane = rf_hooks_find_lane(stack);
    if (lane == NULL) {
        run_plain(NOW_AND_THEN);
        return;
    }
    lane->busy = stack;
    rf_hooks_then();
    rf_hooks_begin_slow(lane);
    turn(lane);
    rf_hooks_end_slow(lane);
    rf_hooks_leave(lane);
}

/* Called by the code below, which uses much of the stack, with the program's stack pointer. */
void rf_hooks_decide(uint64_t stack);
__attribute__((used)) void rf_hooks_decide(uint64_t stack)
{
    if (in_gate != 0 && !rf_hooks_was_left(in_gate, stack))
        return;
    in_gate = stack;
    if (!rf_hooks_listening)
        run_plain(NOW_AND_THEN);
    else if (rf_hooks_options.n_groups == 0)
        run_hooked(NOW_AND_THEN);
    else
        sample(stack);
    in_gate = 0;
}

/* What cpuid says of this processor (leaf 1, ecx; bit 0 is set where it was asked). A virtual machine leaves itself for each cpuid,
 * which takes longer than a burst. */
uint32_t rf_hooks_features;

/* All that a call may change is kept: registers, and those of vectors with xsave, where there is room for all that may come (bits 1, 2,
 * 5, 6 and 7: SSE, AVX, AVX-512). Without xsave there are none but those of fxsave. The stack is made even for them. */
__asm__(".text\n"
        ".hidden rf_hooks_gate\n"
        ".globl rf_hooks_gate\n"
        ".type rf_hooks_gate, @function\n"
        "rf_hooks_gate:\n"
        "    pushq %rbp\n"
        "    movq %rsp, %rbp\n"
        "    pushq %rax\n"
        "    pushq %rcx\n"
        "    pushq %rdx\n"
        "    pushq %rsi\n"
        "    pushq %rdi\n"
        "    pushq %r8\n"
        "    pushq %r9\n"
        "    pushq %r10\n"
        "    pushq %r11\n"
        "    pushq %rbx\n"
        "    pushq %r12\n"
        "    movl rf_hooks_features(%rip), %r12d\n"
        "    testl %r12d, %r12d\n"
        "    jne 3f\n"
        "    movl $1, %eax\n"
        "    xorl %ecx, %ecx\n"
        "    cpuid\n"
        "    movl %ecx, %r12d\n"
        "    orl $1, %r12d\n"
        "    movl %r12d, rf_hooks_features(%rip)\n"
        "3:  subq $4096, %rsp\n"
        "    andq $-64, %rsp\n"
        "    cld\n"
        "    btl $27, %r12d\n" /* may xsave be used? */
        "    jnc 1f\n"
        "    leaq 512(%rsp), %rdi\n"
        "    xorl %eax, %eax\n"
        "    movl $8, %ecx\n"
        "    rep stosq\n"
        "    movl $0xe6, %eax\n"
        "    xorl %edx, %edx\n"
        "    xsave64 (%rsp)\n"
        "    movq %rbp, %rdi\n"
        "    call rf_hooks_decide\n"
        "    movl $0xe6, %eax\n"
        "    xorl %edx, %edx\n"
        "    xrstor64 (%rsp)\n"
        "    jmp 2f\n"
        "1:  fxsave64 (%rsp)\n"
        "    movq %rbp, %rdi\n"
        "    call rf_hooks_decide\n"
        "    fxrstor64 (%rsp)\n"
        "2:  leaq -88(%rbp), %rsp\n"
        "    popq %r12\n"
        "    popq %rbx\n"
        "    popq %r11\n"
        "    popq %r10\n"
        "    popq %r9\n"
        "    popq %r8\n"
        "    popq %rdi\n"
        "    popq %rsi\n"
        "    popq %rdx\n"
        "    popq %rcx\n"
        "    popq %rax\n"
        "    popq %rbp\n"
        "    ret\n"
        ".size rf_hooks_gate, .-rf_hooks_gate\n");
