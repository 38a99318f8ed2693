/* signals.c - a program for signals.py: each argument is something to do with signals, and prints what came of it. */
#define _GNU_SOURCE
#include <fenv.h>
#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

/* No system has a process of this number: Linux counts to 2^22 (PID_MAX_LIMIT). Every kernel answers ESRCH. */
static const pid_t NOBODY = INT_MAX;

static volatile sig_atomic_t calls;
static sigjmp_buf back;
static char other_stack[32768];

static void install(int number, void (*handler)(int, siginfo_t *, void *), int flags)
{
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | flags};
    sigemptyset(&action.sa_mask);
    if (sigaction(number, &action, NULL) != 0)
        perror("sigaction");
}

static int is_blocked(int number)
{
    sigset_t set;
    sigprocmask(SIG_BLOCK, NULL, &set);
    return sigismember(&set, number);
}

static void tell(int number, siginfo_t *info, void *context)
{
    const ucontext_t *uc = context;
    calls++;
    printf("signal %d of %d, code %d, from us: %d, blocked %d, was %d, link %p\n", number,
           info->si_signo, info->si_code, info->si_pid == getpid(), is_blocked(number),
           sigismember(&uc->uc_sigmask, number), (void *)uc->uc_link);
}

/* Leaves no register and no flag as it was. */
static void disturb(int number, siginfo_t *info, void *context)
{
    volatile double zero = 0, none = 1 / zero;
    (void)info;
    (void)context;
    fesetround(FE_UPWARD);
    for (int i = 0; i < 20; i++)
        none = none * 3 - i;
    calls += number;
}

static void raise_and_go_on(void)
{
    install(SIGUSR1, tell, 0);
    double a = 1.5, b = 2.25;
    feclearexcept(FE_ALL_EXCEPT);
    int result = raise(SIGUSR1);
    printf("back with %d, blocked %d, %g %g\n", result, is_blocked(SIGUSR1), a, b);
    install(SIGUSR2, disturb, 0);
    feclearexcept(FE_ALL_EXCEPT);
    register double f asm("fs3") = 0.1;
    register long x asm("s7") = 1234567;
    register long number asm("a0") = getpid(), what asm("a1") = SIGUSR2, call asm("a7") = SYS_kill;
    register long kept asm("t3") = 99;
    asm volatile("ecall"
                 : "+r"(number), "+f"(f), "+r"(x), "+r"(kept)
                 : "r"(what), "r"(call)
                 : "memory");
    long answer = number, temporary = kept;
    printf("answer %ld, %ld %ld %.17g, flags %d, round %d, %d\n", answer, x, temporary, f,
           fetestexcept(FE_DIVBYZERO), fegetround() == FE_TONEAREST, calls);
}

static void jump_back(int number, siginfo_t *info, void *context)
{
    (void)context;
    printf("fault %d, code %d at %p\n", number, info->si_code, info->si_addr);
    siglongjmp(back, number);
}

static void fault_and_jump(void)
{
    install(SIGSEGV, jump_back, 0);
    install(SIGILL, jump_back, 0);
    install(SIGTRAP, jump_back, 0);
    char *page =
        mmap((void *)0x30000000, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    for (volatile int i = 0; i < 5; i++) {
        if (sigsetjmp(back, 1) != 0)
            continue;
        switch (i) {
        case 0:
            printf("%d\n", *(volatile char *)16);
            break;
        case 1:
            *(volatile long *)(page + 8) = 1;
            break;
        case 2:
            ((void (*)(void))0x40000000)();
            break;
        case 3:
            asm volatile(".half 0");
            break;
        case 4:
            asm volatile("ebreak");
            break;
        }
    }
    printf("went on, blocked %d\n", is_blocked(SIGSEGV));
}

static void step_over(int number, siginfo_t *info, void *context)
{
    ucontext_t *uc = context;
    (void)number;
    uint16_t parcel = *(const uint16_t *)uc->uc_mcontext.__gregs[REG_PC];
    uc->uc_mcontext.__gregs[REG_PC] += (parcel & 3) == 3 ? 4 : 2;
    uc->uc_mcontext.__gregs[REG_A0] = 4711;
    printf("a load from %p\n", info->si_addr);
}

static void repair_the_context(void)
{
    install(SIGSEGV, step_over, 0);
    register long a0 asm("a0") = 24;
    asm volatile("ld a0,0(a0)" : "+r"(a0) : : "memory");
    printf("loaded %ld\n", a0);
}

static void block_and_release(void)
{
    sigset_t set, waiting;
    install(SIGTERM, tell, 0);
    install(SIGUSR1, tell, 0);
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGKILL);
    sigprocmask(SIG_BLOCK, &set, NULL);
    kill(getpid(), SIGTERM);
    kill(getpid(), SIGUSR1);
    kill(0, 0);
    sigpending(&waiting);
    printf("waiting %d %d %d, kill is blocked: %d\n", sigismember(&waiting, SIGTERM),
           sigismember(&waiting, SIGUSR1), sigismember(&waiting, SIGHUP), is_blocked(SIGKILL));
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    printf("released, %d calls\n", calls);
}

static void once(int number)
{
    calls++;
    printf("once %d\n", number);
    if (calls < 3)
        raise(number);
}

static void use_flags(void)
{
    struct sigaction action = {.sa_handler = once, .sa_flags = SA_NODEFER}, old;
    sigaction(SIGUSR1, &action, NULL);
    raise(SIGUSR1);
    action.sa_flags = (int)SA_RESETHAND;
    sigaction(SIGUSR2, &action, &old);
    printf("old %d, calls %d\n", old.sa_handler == SIG_DFL, calls);
    raise(SIGUSR2);
    sigaction(SIGUSR2, NULL, &old);
    printf("reset %d, %d for kill\n", old.sa_handler == SIG_DFL, sigaction(SIGKILL, &action, NULL));
    signal(SIGTERM, SIG_IGN);
    raise(SIGTERM);
    raise(SIGCHLD);
    printf("ignored, %d to nobody\n", kill(NOBODY, SIGTERM));
}

static void look_at_stack(int number, siginfo_t *info, void *context)
{
    const ucontext_t *uc = context;
    char here;
    stack_t now;
    sigaltstack(NULL, &now);
    printf("signal %d at %d, on the other stack: %d, flags %d, told %d\n", number,
           info->si_addr != NULL, &here > other_stack && &here < other_stack + sizeof other_stack,
           now.ss_flags, uc->uc_stack.ss_flags);
    siglongjmp(back, 1);
}

static int deeper(int n)
{
    volatile char room[4096] = {(char)n};
    return n == 0 ? room[0] : deeper(n + 1) + room[0];
}

static void overflow_the_stack(void)
{
    stack_t stack = {.ss_sp = other_stack, .ss_size = sizeof other_stack}, old;
    printf("set %d\n", sigaltstack(&stack, &old));
    printf("old %d\n", old.ss_flags);
    install(SIGSEGV, look_at_stack, SA_ONSTACK);
    if (sigsetjmp(back, 1) == 0)
        printf("%d\n", deeper(1));
    puts("survived");
}

static void *run_thread(void *argument)
{
    return argument;
}

static void start_thread(void)
{
    pthread_t thread;
    void *result;
    printf("a thread: %d\n", pthread_create(&thread, NULL, run_thread, NULL) == 0);
    pthread_join(thread, &result);
}

static void wait_for_nobody(void)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
    pthread_mutex_lock(&mutex);
    puts("waiting");
    fflush(stdout);
    pthread_cond_wait(&condition, &mutex);
}

static void catch_abort(int number)
{
    printf("abort is signal %d\n", number);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } works[] = {{"raise", raise_and_go_on},     {"fault", fault_and_jump},
                 {"repair", repair_the_context}, {"block", block_and_release},
                 {"flags", use_flags},           {"overflow", overflow_the_stack},
                 {"thread", start_thread},       {"wait", wait_for_nobody}};
    for (size_t i = 0; argc > 1 && i < sizeof works / sizeof *works; i++)
        if (strcmp(argv[1], works[i].name) == 0)
            works[i].run();
    if (argc > 1 && strcmp(argv[1], "abort") == 0)
        abort();
    if (argc > 1 && strcmp(argv[1], "caught-abort") == 0) {
        signal(SIGABRT, catch_abort);
        abort();
    }
    if (argc > 2 && strcmp(argv[1], "die") == 0)
        kill(getpid(), atoi(argv[2]));
    if (argc > 2 && strcmp(argv[1], "kill") == 0)
        printf("sent: %d\n", kill(atoi(argv[2]), SIGTERM));
    if (argc > 2 && strcmp(argv[1], "die-by-raise") == 0)
        raise(atoi(argv[2]));
    while (argc > 1 && strcmp(argv[1], "pour") == 0)
        puts("and on and on");
    if (argc > 1 && strcmp(argv[1], "fork") == 0)
        printf("forked: %d, system: %d\n", fork() >= 0, system("true"));
    return 7;
}
