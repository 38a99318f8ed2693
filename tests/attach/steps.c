/* steps.c - steps on a copy against steps of the processor itself.
 *
 * A child runs through code of many kinds. It is stopped at random places. From there it is single-stepped with ptrace, as
 * no riffle ever does, and beside it the stepper goes on its copy: after each instruction all registers must be the same, and
 * in the end the vectors and the memory that was written. */
#include "attach/step.h"
#include "test.h"
#include <elf.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROUNDS = 150, LONG_ROUNDS = 3000, STEPS = 120 };

/* ---- what the child does ---- */

static int by_number(const void *left, const void *right)
{
    return (*(const int *)left > *(const int *)right) - (*(const int *)left < *(const int *)right);
}

static double number_work(unsigned round)
{
    double sum = 0;
    long double wide = 1;
    for (int i = 1; i < 40; i++) {
        sum += sqrt(i) * sin(i + (double)round) / (1 + (double)(i % 7));
        wide = wide * 1.0001L + (long double)i / 3;
    }
    return sum + (double)wide;
}

static uint64_t bit_work(uint64_t x)
{
    for (int i = 0; i < 50; i++) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        x ^= x >> 33;
        x = (x << 7 | x >> 57) + (uint64_t)__builtin_popcountll(x) + (x % 1000003) / 7;
        x += (uint64_t)(int64_t)((int32_t)x / 13) + (uint64_t)__builtin_ctzll(x | 1);
        __atomic_fetch_add(&x, 3, __ATOMIC_SEQ_CST);
    }
    return x;
}

/* Instructions that compilers rarely choose. */
static uint64_t string_work(char *text, size_t n)
{
    char *to = text + n, *from = text;
    size_t count = n, found = n;
    uint64_t flags;
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(count) : : "memory");
    to = text;
    __asm__ volatile("repne scasb\npushfq\npopq %2"
                     : "+D"(to), "+c"(found), "=r"(flags)
                     : "a"('x')
                     : "memory", "cc");
    to = text + n;
    from = text;
    count = n;
    __asm__ volatile("repe cmpsb" : "+D"(to), "+S"(from), "+c"(count) : : "memory", "cc");
    to = text;
    __asm__ volatile("stosq\nlodsl" : "+D"(to), "+S"(from) : "a"(7) : "memory");
    count = 5;
    __asm__ volatile("1: nop\nloop 1b\njrcxz 2f\nnop\n2:" : "+c"(count));
    return found + count;
}

static void work(void)
{
    static char text[4096];
    static int numbers[200];
    volatile double sum = 0;
    volatile uint64_t bits = 1;
    for (unsigned round = 0;; round++) {
        snprintf(text, sizeof text, "%u %g %s %llx", round, sum, "some text xyz",
                 (unsigned long long)bits);
        sum += number_work(round) + (double)strlen(text) + strtod(text + 3, NULL);
        bits += bit_work(bits) + string_work(text, 64);
        for (size_t i = 0; i < 200; i++)
            numbers[i] = (int)(bit_work(i) >> 40);
        qsort(numbers, 200, sizeof *numbers, by_number);
        memmove(text + 1000, text, 700);
        bits += (uint64_t)(memchr(text + 1000, 'z', 500) != NULL) + (uint64_t)numbers[7];
    }
}

/* ---- beside it ---- */

static void get_state(pid_t child, unsigned char *state)
{
    struct iovec vector = {state, RF_EXECUTE_STATE_MAX};
    CHECK(ptrace(PTRACE_GETREGSET, child, NT_X86_XSTATE, &vector) == 0);
}

static const char *first_difference(struct rf_stepper *stepper, const struct user_regs_struct *real)
{
    const uint64_t *copy = rf_stepper_registers(stepper);
    static const char *const names[] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
                                        "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15"};
    const uint64_t theirs[16] = {real->rax, real->rcx, real->rdx, real->rbx, real->rsp, real->rbp,
                                 real->rsi, real->rdi, real->r8,  real->r9,  real->r10, real->r11,
                                 real->r12, real->r13, real->r14, real->r15};
    for (int i = 0; i < 16; i++)
        if (copy[i] != theirs[i])
            return names[i];
    if (((copy[16] ^ real->eflags) & 0xcd5) != 0)
        return "flags";
    return rf_stepper_pc(stepper) != real->rip ? "rip" : NULL;
}

static bool same_memory(struct rf_stepper *stepper, pid_t child, uint64_t address)
{
    unsigned char ours[256], theirs[256];
    struct iovec to = {theirs, sizeof theirs}, from = {(void *)(uintptr_t)address, sizeof theirs};
    if (process_vm_readv(child, &to, 1, &from, 1, 0) != sizeof theirs)
        return true;
    return rf_pages_read(rf_stepper_pages(stepper), address, ours, sizeof ours) &&
           memcmp(ours, theirs, sizeof ours) == 0;
}

struct tally {
    uint64_t steps, bursts, unknown, wrong;
    uint64_t records[RF_CLASS_COUNT];
};

static void burst(struct rf_stepper *stepper, pid_t child, struct tally *tally)
{
    static unsigned char state[RF_EXECUTE_STATE_MAX];
    struct user_regs_struct real;
    struct rf_trail trail = {.classes = UINT32_MAX};
    CHECK(ptrace(PTRACE_GETREGS, child, 0, &real) == 0);
    get_state(child, rf_stepper_state(stepper));
    rf_stepper_begin(stepper, child, &real);
    tally->bursts++;
    for (int i = 0; i < STEPS; i++) {
        uint64_t pc = rf_stepper_pc(stepper), written = 0;
        enum rf_stepped step = rf_stepper_step(stepper, &trail);
        int status;
        if (step != RF_STEPPED_DONE) {
            tally->unknown += step == RF_STEPPED_UNKNOWN;
            if (step != RF_STEPPED_KERNEL)
                printf("# a burst ends at %#llx: %d\n", (unsigned long long)pc, step);
            return;
        }
        ptrace(PTRACE_SINGLESTEP, child, 0, 0);
        CHECK(waitpid(child, &status, __WALL) == child && WIFSTOPPED(status));
        CHECK(ptrace(PTRACE_GETREGS, child, 0, &real) == 0);
        for (size_t k = 0; k < trail.n; k++) {
            tally->records[trail.records[k].kind]++;
            written = trail.records[k].kind == RF_CLASS_STORE ? trail.records[k].addr : written;
        }
        tally->steps++;
        const char *difference = first_difference(stepper, &real);
        if (difference == NULL && written != 0 && !same_memory(stepper, child, written))
            difference = "memory";
        if (difference != NULL) {
            tally->wrong++;
            printf("# %s differs behind %#llx\n", difference, (unsigned long long)pc);
            return;
        }
    }
    get_state(child, state);
    /* xmm0 to xmm15; the upper halves of the ymm registers stand at 576 */
    if (memcmp(state + 160, rf_stepper_state(stepper) + 160, 256) != 0) {
        tally->wrong++;
        printf("# vectors differ\n");
    }
}

TEST(steps_of_a_copy_are_those_of_the_processor)
{
    struct rf_error error = {""};
    struct rf_stepper *stepper;
    struct tally tally = {.steps = 0};
    sigset_t all, before;
    sigfillset(&all);
    CHECK(rf_stepper_open(&stepper, NULL, &error) == RF_OK);
    pid_t child = fork();
    if (child == 0) {
        work();
        _exit(0);
    }
    int status, rounds = getenv("RIFFLE_TEST_LONG") != NULL ? LONG_ROUNDS : ROUNDS;
    CHECK(ptrace(PTRACE_SEIZE, child, 0, 0) == 0);
    sigprocmask(SIG_BLOCK, &all, &before);
    for (int i = 0; i < rounds; i++) {
        usleep((useconds_t)(rand() % 1500));
        CHECK(ptrace(PTRACE_INTERRUPT, child, 0, 0) == 0);
        CHECK(waitpid(child, &status, __WALL) == child && WIFSTOPPED(status));
        burst(stepper, child, &tally);
        ptrace(PTRACE_CONT, child, 0, 0);
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    printf("# %llu steps in %llu bursts, %llu ended by an unknown instruction\n",
           (unsigned long long)tally.steps, (unsigned long long)tally.bursts,
           (unsigned long long)tally.unknown);
    CHECK(tally.wrong == 0);
    CHECK(tally.steps > (uint64_t)rounds * STEPS / 2);
    CHECK(tally.unknown * 50 < tally.bursts);
    for (unsigned kind = 0; kind < RF_CLASS_ALU; kind++)
        CHECK(tally.records[kind] > 0);
    CHECK(tally.records[RF_CLASS_INSN] == tally.steps);
    rf_stepper_close(stepper);
}

TEST_MAIN()
