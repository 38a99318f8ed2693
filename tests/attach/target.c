/* target.c - a process to attach to: it does known work, and notices whether anything disturbs it.
 *
 *     target MODE [SECONDS]      prints "work N wrong N" and what the mode counts, at its end or at SIGTERM
 *
 * shares   two functions, which take about three quarters and one quarter of the time; it tells how long
 * threads  four threads that work, and others that come and go
 * sleeper  waits in epoll_wait; a wait that ends early is wrong
 * waiter   works and waits in turn, in calls that a stop may interrupt
 * signals  a timer's signal 1000 times per second, and breakpoint traps that it handles itself
 * exec     works, then becomes "shares"
 * library  works, then loads the library that its third argument names, and works there
 * frames   a chain of calls with frame pointers */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { NUMBERS = 3000, THREADS = 4 };

static volatile sig_atomic_t over;
static volatile uint64_t work_done, wrong, interrupted, alarms, traps, heavy_time, light_time;
static long numbers[NUMBERS];

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void end(int number)
{
    (void)number;
    over = 1;
}

/* ---- work whose result is known ---- */

__attribute__((noinline)) long heavy(const long *list, int n)
{
    long sum = 0;
    for (int i = 0; i < n; i++)
        sum += list[i] * 3;
    return sum;
}

__attribute__((noinline)) long light(const long *list, int n)
{
    long sum = 0;
    for (int i = 0; i < n; i++)
        sum += list[i] * 5;
    return sum;
}

static double numbers_of(double x)
{
    for (int i = 0; i < 20; i++)
        x = x * 0.5 + 1 / (1 + x);
    return x;
}

static void work(void)
{
    static double first;
    double x = numbers_of(3);
    first = first == 0 ? x : first;
    if (heavy(numbers, NUMBERS) != 6L * NUMBERS ||
        light(numbers, NUMBERS / 3) != 10L * (NUMBERS / 3) || x != first)
        __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&work_done, 1, __ATOMIC_RELAXED);
}

/* ---- modes ---- */

static uint64_t clock_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* It takes the time itself, of many rounds at once. */
static void shares(void)
{
    enum { ROUNDS = 100 };
    while (!over) {
        uint64_t begun = clock_now();
        for (int i = 0; i < ROUNDS; i++)
            wrong += heavy(numbers, NUMBERS) != 6L * NUMBERS;
        uint64_t middle = clock_now();
        for (int i = 0; i < ROUNDS; i++)
            wrong += light(numbers, NUMBERS / 3) != 10L * (NUMBERS / 3);
        heavy_time += middle - begun;
        light_time += clock_now() - middle;
        work_done++;
    }
}

/* Until the end, or a little only. */
static void *worker(void *context)
{
    for (long i = 0; !over && (context == NULL || i < 20); i++)
        work();
    return NULL;
}

static void threads(void)
{
    pthread_t workers[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&workers[i], NULL, worker, NULL);
    while (!over) {
        pthread_t guest;
        if (pthread_create(&guest, NULL, worker, numbers) == 0)
            pthread_join(guest, NULL);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(workers[i], NULL);
}

/* A wait that nothing ends but the time, and the last signal. */
static void wait_for(int queue, int milliseconds)
{
    struct epoll_event event;
    double begun = now();
    int n = epoll_wait(queue, &event, 1, milliseconds);
    if (n < 0 && errno == EINTR && !over)
        interrupted++;
    if (n >= 0 && now() - begun < milliseconds * 1e-3 - 1e-3)
        wrong++;
}

static void sleeper(void)
{
    int queue = epoll_create1(0);
    while (!over)
        wait_for(queue, 100);
}

static void waiter(void)
{
    int queue = epoll_create1(0);
    const struct timespec none = {0, 50000};
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    sigprocmask(SIG_BLOCK, &set, NULL);
    while (!over) {
        work();
        wait_for(queue, 1);
        if (sigtimedwait(&set, NULL, &none) < 0 && errno == EINTR && !over)
            interrupted++;
        nanosleep(&none, NULL);
    }
}

/* Calls that move much: each returns all of it, for nobody sends a signal. */
static void mover(void)
{
    enum { MUCH = 1 << 20 };
    static char bytes[MUCH];
    int ends[2];
    if (pipe(ends) != 0)
        return;
    if (fork() == 0) { /* reads until the writer is gone */
        close(ends[1]);
        while (read(ends[0], bytes, sizeof bytes) > 0)
            continue;
        _exit(0);
    }
    while (!over) {
        work();
        ssize_t written = write(ends[1], bytes, MUCH),
                random = over ? MUCH : getrandom(bytes, MUCH, 0);
        wrong += !over && (written != MUCH || random != MUCH);
    }
}

static void on_alarm(int number)
{
    (void)number;
    alarms++;
}

static void on_trap(int number)
{
    (void)number;
    traps++;
}

static void signals(void)
{
    const struct itimerval often = {{0, 1000}, {0, 1000}};
    uint64_t raised = 0;
    signal(SIGALRM, on_alarm);
    signal(SIGTRAP, on_trap);
    setitimer(ITIMER_REAL, &often, NULL);
    while (!over) {
        work();
        __asm__ volatile("int3");
        raised++;
    }
    wrong += raised != traps;
}

static void in_library(const char *path)
{
    for (double begun = now(); now() - begun < 0.5 && !over;)
        work();
    void *library = dlopen(path, RTLD_NOW);
    long (*late)(const long *, int);
    *(void **)&late = library != NULL ? dlsym(library, "late_work") : NULL;
    while (!over && late != NULL) {
        wrong += late(numbers, NUMBERS) != 14L * NUMBERS;
        work_done++;
    }
}

__attribute__((noinline)) static long innermost(void)
{
    work();
    return heavy(numbers, NUMBERS);
}

__attribute__((noinline)) static long middle(void)
{
    return innermost() + 1;
}

__attribute__((noinline)) static long outermost(void)
{
    return middle() + 1;
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "shares";
    for (int i = 0; i < NUMBERS; i++)
        numbers[i] = 2;
    signal(SIGTERM, end);
    if (argc > 2 && atof(argv[2]) > 0) {
        const struct itimerval once = {{0, 0}, {atoi(argv[2]), 0}};
        signal(SIGALRM, end);
        setitimer(ITIMER_REAL, &once, NULL);
    }
    if (strcmp(mode, "exec") == 0) {
        for (double begun = now(); now() - begun < 1;)
            outermost();
        execl("/proc/self/exe", "target", "shares", (char *)NULL);
    }
    if (strcmp(mode, "shares") == 0)
        shares();
    else if (strcmp(mode, "threads") == 0)
        threads();
    else if (strcmp(mode, "sleeper") == 0)
        sleeper();
    else if (strcmp(mode, "waiter") == 0)
        waiter();
    else if (strcmp(mode, "mover") == 0)
        mover();
    else if (strcmp(mode, "signals") == 0)
        signals();
    else if (strcmp(mode, "library") == 0)
        in_library(argv[3]);
    else if (strcmp(mode, "frames") == 0)
        while (!over)
            outermost();
    printf("work %llu wrong %llu interrupted %llu alarms %llu traps %llu heavy %llu light %llu\n",
           (unsigned long long)work_done, (unsigned long long)wrong,
           (unsigned long long)interrupted, (unsigned long long)alarms, (unsigned long long)traps,
           (unsigned long long)heavy_time, (unsigned long long)light_time);
    return wrong != 0;
}
