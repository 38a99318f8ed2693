/* known.c - a program whose loads, stores and calls are known by hand. Everything goes through pointers that the compiler
 * cannot see through, so that each access in the text is one access of the program, with either compiler.
 *
 *     known loads|values|atomics|calls|threads|churn|signals|jumps|fork|exec|exit|dlopen LIBRARY|twice PROGRAM|spin */
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define ALONE __attribute__((noinline))

static uint8_t bytes[64];
static uint16_t halves[64];
static uint32_t words[64];
static uint64_t longs[64];
static volatile unsigned sink;

/* The compiler knows nothing of what comes out. */
static void *hidden(void *pointer)
{
    __asm__ volatile("" : "+r"(pointer));
    return pointer;
}

/* 4 loads per round, one of each width. */
ALONE uint64_t k_loads(unsigned rounds)
{
    const uint8_t *b = hidden(bytes);
    const uint16_t *h = hidden(halves);
    const uint32_t *w = hidden(words);
    const uint64_t *l = hidden(longs);
    uint64_t sum = 0;
    for (unsigned i = 0; i < rounds; i++) {
        sum += b[i % 64] + h[i % 64] + w[i % 64] + l[i % 64];
        __asm__ volatile("" ::: "memory");
    }
    return sum;
}

/* 2 stores per round, and 1 load. */
ALONE void k_stores(unsigned rounds)
{
    uint32_t *w = hidden(words);
    uint64_t *l = hidden(longs);
    for (unsigned i = 0; i < rounds; i++) {
        w[i % 64] = 7;
        __asm__ volatile("" ::: "memory");
        l[i % 64]++;
        __asm__ volatile("" ::: "memory");
    }
}

/* Each round loads 5, of 8 rounds one loads 6. */
ALONE uint64_t k_values(unsigned rounds)
{
    uint64_t *l = hidden(longs), sum = 0;
    for (unsigned i = 0; i < 8; i++)
        l[i] = i == 7 ? 6 : 5;
    for (unsigned i = 0; i < rounds; i++) {
        sum += l[i % 8];
        __asm__ volatile("" ::: "memory");
    }
    return sum;
}

/* Loads of 2, 4 and 8 bytes at odd addresses; what they load is their width, or 77 in each fourth round. */
static struct {
    char odd;
    uint16_t two;
    uint32_t four;
    uint64_t eight;
} __attribute__((packed)) packed[4] = {{0, 2, 4, 8}, {0, 2, 4, 8}, {0, 2, 4, 8}, {0, 77, 77, 77}};

ALONE uint64_t k_packed(unsigned rounds)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < rounds; i++) {
        __typeof__(&packed[0]) one = hidden(&packed[i % 4]);
        sum += one->two + one->four + one->eight;
    }
    return sum;
}

/* More loads of one word than a word of the ring can tell, then others, which push it out. */
ALONE uint64_t k_many(uint64_t rounds)
{
    static uint64_t numbers[1 << 16];
    uint64_t sum = 0, *n = hidden(numbers);
    for (uint64_t i = 0; i < 1 << 16; i++)
        n[i] = i + 7;
    for (uint64_t i = 0; i < rounds + (1 << 16); i++) {
        sum += n[i < rounds ? 0 : i - rounds];
        __asm__ volatile("" ::: "memory");
    }
    return sum;
}

/* Per round: 7 loads, of which the failed compare is one; 6 stores. */
ALONE uint64_t k_atomics(unsigned rounds)
{
    _Atomic uint64_t *a = hidden(&longs[8]);
    _Atomic uint32_t *b = hidden(&words[8]);
    uint64_t sum = 0, wanted;
    for (unsigned i = 0; i < rounds; i++) {
        sum += atomic_load(a);
        atomic_store(a, 100);
        sum += atomic_fetch_add(a, 3);
        sum += atomic_exchange_explicit(b, i, memory_order_relaxed);
        atomic_fetch_or(b, 1);
        wanted = 103;
        sum += atomic_compare_exchange_strong(a, &wanted, 200);
        wanted = 1;
        sum += atomic_compare_exchange_strong(a, &wanted, 300);
        sum += wanted == 200;
        sum += atomic_fetch_sub(a, 1) == 200;
        atomic_thread_fence(memory_order_seq_cst);
        if (atomic_load_explicit(a, memory_order_relaxed) != 199)
            abort();
        atomic_store_explicit(a, 0, memory_order_release);
    }
    return sum;
}

ALONE unsigned k_leaf(unsigned x)
{
    const uint32_t *w = hidden(words);
    return w[x % 64];
}

/* One call and one indirect call per round. */
ALONE unsigned k_calls(unsigned rounds)
{
    unsigned sum = 0;
    for (unsigned i = 0; i < rounds; i++) {
        unsigned (*indirect)(unsigned) = (unsigned (*)(unsigned))hidden((void *)k_leaf);
        sum += k_leaf(i);
        sum += indirect(i);
    }
    return sum;
}

/* 1 load per round. */
ALONE unsigned k_thread(unsigned rounds)
{
    const uint32_t *w = hidden(words);
    unsigned sum = 0;
    for (unsigned i = 0; i < rounds; i++) {
        sum += w[i % 64];
        __asm__ volatile("" ::: "memory");
    }
    return sum;
}

/* 3 loads. */
ALONE unsigned k_handler(void)
{
    const uint32_t *w = hidden(words);
    return w[0] + w[1] + w[2];
}

ALONE unsigned k_child(void)
{
    return k_thread(10);
}

enum { THREADS = 64 };
static unsigned rounds_of_thread = 20000;

static void *run_thread(void *unused)
{
    sink += k_thread(rounds_of_thread);
    return unused;
}

static void run_threads(unsigned n)
{
    pthread_t threads[THREADS];
    for (unsigned i = 0; i < n; i++)
        if (pthread_create(&threads[i], NULL, run_thread, NULL) != 0)
            abort();
    for (unsigned i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
}

static pthread_barrier_t all_there;

static void *meet(void *unused)
{
    sink += k_thread(500);
    pthread_barrier_wait(&all_there);
    sink += k_thread(500);
    return unused;
}

/* Threads that are all there at once. */
static void crowd(void)
{
    pthread_t threads[THREADS];
    pthread_barrier_init(&all_there, NULL, THREADS);
    for (unsigned i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, meet, NULL) != 0)
            abort();
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

/* Threads come and go: 4 at a time, 500 in all. */
static void churn(void)
{
    rounds_of_thread = 100;
    for (unsigned i = 0; i < 125; i++)
        run_threads(4);
}

static volatile sig_atomic_t handled;

static void handle(int number)
{
    (void)number;
    sink += k_handler();
    handled++;
}

/* Signals come while hooks run. */
static void take_signals(void)
{
    const struct itimerval often = {{0, 200}, {0, 200}}, never = {{0, 0}, {0, 0}};
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART};
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    for (unsigned i = 0; i < 200; i++)
        sink += (unsigned)k_loads(10000);
    setitimer(ITIMER_REAL, &never, NULL);
    printf("handled %d\n", (int)handled);
}

static sigjmp_buf out;

static void jump_out(int number)
{
    (void)number;
    siglongjmp(out, 1);
}

/* A handler that never returns to the hook that it interrupted. */
static void jump_out_of_hooks(void)
{
    struct sigaction action = {.sa_handler = jump_out};
    const struct itimerval soon = {{0, 0}, {0, 300}};
    sigaction(SIGALRM, &action, NULL);
    for (volatile unsigned times = 0; times < 200; times++)
        if (sigsetjmp(out, 1) == 0) {
            setitimer(ITIMER_REAL, &soon, NULL);
            for (;;)
                sink += (unsigned)k_loads(100);
        }
    sink += k_thread(5000);
}

static void fork_children(void)
{
    for (unsigned i = 0; i < 5; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            sink += k_child();
            _exit(0);
        }
        waitpid(pid, NULL, 0);
    }
    sink += k_thread(10);
}

/* Another program, two times. */
static void start_twice(const char *path)
{
    for (unsigned i = 0; i < 2; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            execl(path, path, "child", NULL);
            _exit(1);
        }
        waitpid(pid, NULL, 0);
    }
}

static int open_library(const char *path)
{
    void *library = dlopen(path, RTLD_NOW);
    unsigned (*function)(unsigned) =
        library != NULL ? (unsigned (*)(unsigned))dlsym(library, "k_library") : NULL;
    if (function == NULL)
        return 1;
    sink += function(50);
    return 0;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    if (strcmp(what, "loads") == 0)
        sink += (unsigned)k_loads(1000), k_stores(1000);
    else if (strcmp(what, "values") == 0)
        sink += (unsigned)k_values(800) + (unsigned)k_packed(400);
    else if (strcmp(what, "many") == 0)
        sink += (unsigned)k_many((UINT64_C(1) << 31) + 1000);
    else if (strcmp(what, "atomics") == 0)
        sink += (unsigned)k_atomics(100);
    else if (strcmp(what, "calls") == 0)
        sink += k_calls(300);
    else if (strcmp(what, "threads") == 0)
        run_threads(THREADS);
    else if (strcmp(what, "crowd") == 0)
        crowd();
    else if (strcmp(what, "churn") == 0)
        churn();
    else if (strcmp(what, "signals") == 0)
        take_signals();
    else if (strcmp(what, "jumps") == 0)
        jump_out_of_hooks();
    else if (strcmp(what, "fork") == 0)
        fork_children();
    else if (strcmp(what, "exec") == 0)
        sink += k_thread(20), execl(argv[0], argv[0], "child", NULL);
    else if (strcmp(what, "child") == 0)
        sink += k_child();
    else if (strcmp(what, "twice") == 0)
        start_twice(argv[2]);
    else if (strcmp(what, "dlopen") == 0)
        return open_library(argv[2]);
    else if (strcmp(what, "exit") == 0)
        sink += k_thread(30), _exit(9);
    else if (strcmp(what, "spin") == 0)
        for (;;)
            sink += k_thread(1000), puts("1000"), fflush(stdout);
    printf("sum %s\n", what);
    return 3;
}
