/* pockets.c - a program that loads words which its caller knows, at places that its caller knows: full pockets, half-full ones, and
 * what comes in between.
 *
 *     pockets tables FILE          words of a file at the places that it names
 *     pockets many N               as many different words
 *     pockets signals MS|threads|fork|again N|churn|forked CHILDREN
 *     pockets die N                N loads, then SIGKILL
 *     pockets spin FILE            batches of BATCH loads until it is killed; the file says how many are over                  */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define ALONE __attribute__((noinline))

static volatile uint64_t sink;

/* By both compilers' name: clang makes no such calls of its own. */
void __tsan_read_range(const void *at, size_t bytes);

/* ---- places: one load in each function, and so one pocket in each thread ---- */

typedef unsigned __int128 wide;
#define LOAD(name, type)                                                                           \
    ALONE static void name(const void *at)                                                         \
    {                                                                                              \
        sink = (uint64_t) * (const type *)at;                                                      \
    }
#define RANGE(name, bytes)                                                                         \
    ALONE static void name(const void *at)                                                         \
    {                                                                                              \
        __tsan_read_range(at, bytes);                                                              \
    }
/* Places of each kind: one for each of the streams that the caller has in mind. */
#define OF_EACH(n)                                                                                 \
    LOAD(k_load1_##n, uint8_t)                                                                     \
    LOAD(k_load2_##n, uint16_t)                                                                    \
    LOAD(k_load4_##n, uint32_t)                                                                    \
    LOAD(k_load8_##n, uint64_t)                                                                    \
    LOAD(k_load16_##n, wide)                                                                       \
    RANGE(k_range4_##n, 4)                                                                         \
    RANGE(k_range8_##n, 8)                                                                         \
    RANGE(k_range12_##n, 12)                                                                       \
    RANGE(k_range24_##n, 24)
#define NAMES(n)                                                                                   \
    k_load1_##n, k_load2_##n, k_load4_##n, k_load8_##n, k_load16_##n, k_range4_##n, k_range8_##n,  \
        k_range12_##n, k_range24_##n
OF_EACH(0)
OF_EACH(1)
OF_EACH(2)
OF_EACH(3)
OF_EACH(4)
OF_EACH(5)
OF_EACH(6)
OF_EACH(7)
static void (*const places[])(const void *) = {NAMES(0), NAMES(1), NAMES(2), NAMES(3),
                                               NAMES(4), NAMES(5), NAMES(6), NAMES(7)};
enum { PLACES = sizeof places / sizeof places[0] };

/* The file: [place][how many words][words] .., all of 8 bytes. What comes behind a word in memory is 0xee. */
static int load_tables(const char *path)
{
    FILE *file = fopen(path, "rb");
    uint64_t head[2], word;
    if (file == NULL)
        return 1;
    while (fread(head, 8, 2, file) == 2)
        for (uint64_t i = 0; i < head[1] && fread(&word, 8, 1, file) == 1; i++) {
            _Alignas(16) unsigned char room[32];
            memset(room, 0xee, sizeof room);
            memcpy(room, &word, 8);
            places[head[0] % PLACES](room);
        }
    fclose(file);
    return 0;
}

/* The place of all that follows. */
ALONE static void k_word(const uint64_t *at)
{
    sink = *at;
    __asm__ volatile("" ::: "memory");
}

/* first, first + 1, .. */
static void load_words(uint64_t first, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        uint64_t word = first + i;
        k_word(&word);
    }
}

/* All different. */
static void load_many(unsigned n)
{
    for (uint64_t i = 0; i < n; i++) {
        uint64_t word = i * 1009;
        k_word(&word);
    }
}

/* ---- signals, at the place that they interrupt ---- */

static volatile sig_atomic_t handled;

static void handle(int number)
{
    (void)number;
    load_words(7000, 3);
    handled++;
}

static void take_signals(long milliseconds)
{
    const struct itimerval often = {{0, 50}, {0, 50}}, never = {{0, 0}, {0, 0}};
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART};
    struct timeval now, end;
    unsigned long rounds = 0;
    sigaction(SIGALRM, &action, NULL);
    gettimeofday(&end, NULL);
    end.tv_usec += milliseconds * 1000;
    end.tv_sec += end.tv_usec / 1000000, end.tv_usec %= 1000000;
    setitimer(ITIMER_REAL, &often, NULL);
    do {
        static const uint64_t five = 5;
        for (unsigned i = 0; i < 1000; i++)
            k_word(&five);
        rounds++;
        gettimeofday(&now, NULL);
    } while (timercmp(&now, &end, <));
    setitimer(ITIMER_REAL, &never, NULL);
    printf("rounds %lu handled %d\n", rounds, (int)handled);
}

/* ---- threads ---- */

enum { THREADS = 64, OF_A_THREAD = 1000 };

/* Words of 64 bits, of 32 and of 16, by the thread's number; 100 of each, ten times. */
static void *run_thread(void *number)
{
    unsigned t = (unsigned)(uintptr_t)number;
    for (unsigned i = 0; i < 10; i++)
        load_words(((uint64_t)t << (t % 4 * 16)) + 1000000, OF_A_THREAD / 10);
    return NULL;
}

static void start(pthread_t *thread, void *(*run)(void *), unsigned number)
{
    if (pthread_create(thread, NULL, run, (void *)(uintptr_t)number) != 0)
        abort();
}

static void run_threads(void)
{
    pthread_t threads[THREADS];
    for (unsigned i = 0; i < THREADS; i++)
        start(&threads[i], run_thread, i);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

/* When hooks have given their slot back already, and other threads may have taken it. */
static pthread_key_t key;

static void load_at_the_end(void *number)
{
    load_words((uint64_t)(uintptr_t)number * 100 + 50, 40);
}

static void *run_few(void *number)
{
    load_words((uint64_t)(uintptr_t)number * 100, 40);
    pthread_setspecific(key, number);
    return NULL;
}

/* At first one after the other, each with the slot of the one before, whose pockets are half full. Then several at once. */
static void churn(void)
{
    pthread_t threads[4];
    pthread_key_create(&key, load_at_the_end);
    for (unsigned i = 1; i <= 20; i++) {
        start(&threads[0], run_few, i);
        pthread_join(threads[0], NULL);
    }
    for (unsigned i = 0; i < 100; i++) {
        for (unsigned t = 0; t < 4; t++)
            start(&threads[t], run_few, 21 + t);
        for (unsigned t = 0; t < 4; t++)
            pthread_join(threads[t], NULL);
    }
}

/* ---- processes: a pocket is half full when they begin ---- */

static void fork_one(unsigned depth)
{
    pid_t pid = fork();
    if (pid == 0) {
        load_words(2000, 30);
        if (depth > 0)
            fork_one(depth - 1);
        load_words(3000, 70);
        _exit(0);
    }
    waitpid(pid, NULL, 0);
}

static void fork_children(void)
{
    load_words(1000, 40);
    fork_one(2);
    fork_one(0);
    load_words(4000, 30);
}

/* By another thread than the first, which puts words into its own pocket meanwhile. */
static volatile int is_over;
static volatile unsigned long meanwhile;

static void *load_until(void *unused)
{
    for (; !is_over; meanwhile++)
        load_words(5000, 10);
    return unused;
}

static void fork_among_threads(unsigned children)
{
    pthread_t thread;
    start(&thread, load_until, 0);
    while (meanwhile == 0)
        ;
    for (unsigned i = 0; i < children; i++)
        fork_one(0);
    is_over = 1;
    pthread_join(thread, NULL);
    printf("meanwhile %lu\n", meanwhile);
}

/* ---- ends ---- */

static void die(unsigned n)
{
    load_words(0, n);
    kill(getpid(), SIGKILL);
}

enum { BATCH = 37 };

static void spin(const char *path)
{
    int fd = open(path, O_RDWR);
    volatile uint64_t *over = mmap(NULL, 8, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    for (uint64_t i = 0; over != MAP_FAILED; *over = ++i)
        load_words(i % 50 << (i % 7 * 8), BATCH);
    abort();
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "", *given = argc > 2 ? argv[2] : "0";
    unsigned n = (unsigned)strtoul(given, NULL, 10);
    if (strcmp(what, "tables") == 0 && load_tables(given) != 0)
        return 1;
    else if (strcmp(what, "many") == 0)
        load_many(n);
    else if (strcmp(what, "signals") == 0)
        take_signals(n);
    else if (strcmp(what, "threads") == 0)
        run_threads();
    else if (strcmp(what, "churn") == 0)
        churn();
    else if (strcmp(what, "fork") == 0)
        fork_children();
    else if (strcmp(what, "forked") == 0)
        fork_among_threads(n);
    else if (strcmp(what, "again") == 0 && n > 0) {
        char less[16];
        snprintf(less, sizeof less, "%u", n - 1);
        load_words(1000, 40);
        execl(argv[0], argv[0], what, less, NULL);
    } else if (strcmp(what, "die") == 0)
        die(n);
    else if (strcmp(what, "spin") == 0)
        spin(given);
    puts(what);
    return 3;
}
