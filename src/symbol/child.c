/* child.c - read a file where a crash does no harm.
 *
 * ELF files and debug information are complex, and the libraries that read them do not expect hostile input.
 * Therefore a forked child reads them, with limits on memory and processor time, without a core file and
 * without output. The parent reads the answer from a pipe until it ends or the time is over, then ends the
 * child. What arrived is used in any case.
 *
 * The child leaves by _exit: nothing of the parent's (buffers of stdio, exit handlers) runs twice. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "base/error.h"
#include "symbol/symbol.h"

enum { ANSWER_MAX = 256 << 20 };

/* AddressSanitizer maps terabytes and cannot live under a ceiling. */
#if defined(__SANITIZE_ADDRESS__)
#define HAS_SHADOW 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAS_SHADOW 1
#endif
#endif
#ifndef HAS_SHADOW
#define HAS_SHADOW 0
#endif

/* Only the soft limit: past the hard limit of processor time the child would get SIGKILL, which the parent
 * also sends. */
static void limit(unsigned resource, uint64_t most)
{
    struct rlimit now;
    if (getrlimit(resource, &now) != 0 || (now.rlim_max != RLIM_INFINITY && now.rlim_max < most))
        return;
    setrlimit(resource, &(struct rlimit){most, now.rlim_max});
}

/* Bytes of address space that the parent's image takes already. */
static uint64_t address_space(void)
{
    unsigned long long pages = 0;
    FILE *statm = fopen("/proc/self/statm", "re");
    if (statm == NULL)
        return 0;
    if (fscanf(statm, "%llu", &pages) != 1)
        pages = 0;
    fclose(statm);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void confine(const struct rf_limits *limits)
{
    static const int reset[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGINT, SIGTERM, SIGXCPU};
    for (size_t i = 0; i < sizeof reset / sizeof *reset; i++)
        signal(reset[i], SIG_DFL);
    signal(SIGPIPE, SIG_IGN);
    int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = 0; fd < 3 && nowhere >= 0; fd++)
        dup2(nowhere, fd);
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_CPU, limits->seconds);
    if (!HAS_SHADOW)
        limit(RLIMIT_AS, address_space() + limits->memory);
    unsetenv("DEBUGINFOD_URLS"); /* reading a profile never uses the network */
}

static void __attribute__((noreturn))
be_child(const struct rf_job *job, const struct rf_limits *limits, int fd)
{
    static struct rf_wire wire; /* the child's own; too large for a small stack */
    confine(limits);
    wire.fd = fd;
    rf_reader_run(job, &wire);
    rf_wire_end(&wire, false);
    _exit(0);
}

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

struct answer {
    const struct rf_alloc *alloc;
    uint8_t *bytes;
    size_t n, room;
};

/* One read into the answer: 1 goes on, 0 the end, -1 stop. */
static int read_some(struct answer *answer, int fd, rf_status *status)
{
    if (answer->room - answer->n < 65536) {
        size_t wanted = answer->room == 0 ? 1 << 18 : 2 * answer->room;
        void *bytes = answer->bytes;
        if (wanted > ANSWER_MAX)
            return -1;
        if (!rf_alloc_array(answer->alloc, &bytes, answer->room, wanted, 1)) {
            *status = RF_ENOMEM;
            return -1;
        }
        answer->bytes = bytes;
        answer->room = wanted;
    }
    ssize_t got = read(fd, answer->bytes + answer->n, answer->room - answer->n);
    if (got > 0)
        answer->n += (size_t)got;
    return got > 0 || (got < 0 && errno == EINTR) ? 1 : got == 0 ? 0 : -1;
}

/* Read the child's answer until it ends; false: the time was over. */
static bool read_all(struct answer *answer, int fd, unsigned seconds, rf_status *status)
{
    int64_t deadline = now_ms() + (int64_t)seconds * 1000;
    for (;;) {
        int64_t left = deadline - now_ms();
        struct pollfd wait = {.fd = fd, .events = POLLIN};
        if (left <= 0)
            return false;
        int ready = poll(&wait, 1, (int)left);
        if (ready < 0 && errno != EINTR)
            return true;
        if (ready > 0 && read_some(answer, fd, status) <= 0)
            return true;
    }
}

static void reap(pid_t pid, bool in_time, char death[128])
{
    int how = 0;
    kill(pid, SIGKILL); /* it has finished, or its time is over */
    while (waitpid(pid, &how, 0) < 0 && errno == EINTR)
        continue;
    death[0] = '\0';
    if (!in_time)
        rf_format(death, 128, "reading it took too long");
    else if (WIFSIGNALED(how) && WTERMSIG(how) == SIGXCPU)
        rf_format(death, 128, "reading it took too long");
    else if (WIFSIGNALED(how) && WTERMSIG(how) != SIGKILL)
        rf_format(death, 128, "its reader died of signal %d", WTERMSIG(how));
}

unsigned rf_child_run(const struct rf_job *job, const struct rf_limits *limits,
                      struct rf_file *file, struct rf_arena *arena, char death[128],
                      rf_status *status)
{
    int ends[2];
    struct answer answer = {.alloc = arena->alloc};
    *status = RF_OK;
    if (pipe2(ends, O_CLOEXEC) != 0) {
        rf_format(death, 128, "no pipe to a reader could be made");
        return 0;
    }
    pid_t pid = fork();
    if (pid == 0)
        be_child(job, limits, ends[1]);
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        rf_format(death, 128, "no reader could be started");
        return 0;
    }
    bool in_time = read_all(&answer, ends[0], limits->seconds, status);
    close(ends[0]);
    reap(pid, in_time, death);
    unsigned seen = 0;
    if (*status == RF_OK)
        seen = rf_wire_decode(file, arena, answer.bytes, answer.n, status);
    rf_alloc_free(answer.alloc, answer.bytes, answer.room);
    return seen;
}
