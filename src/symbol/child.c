/* child.c - read a file where a crash does no harm.
 *
 * ELF files and debug information are complex, and the libraries that read them do not expect hostile input.
 * Therefore a forked child reads them, with limits on memory and processor time, without a core file,
 * without output, and behind a filter of system calls (fence.c). It is forked with its first job. What it has read of the file stays in its memory, so it is kept for the next
 * jobs, which come over a socket:
 *
 *     parent  --job-->  socket  -->  child          child  --frames-->  pipe  -->  parent
 *             <-- one byte: the frames are all there --
 *
 * The parent reads the answer until that byte comes, the pipe ends or the time is over. What arrived is used in any
 * case. A child that did not answer to the end is ended at once, the others by rf_child_end. A kept one that was ended by
 * somebody else is replaced.
 *
 * The child leaves by _exit: nothing of the parent's (buffers of stdio, exit handlers) runs twice. It dies with the
 * thread that forked it, and has none of the parent's descriptors: nobody waits for a pipe to close because of it. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "event/input.h"
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

/* ---- in the child ---- */

enum { SOCKET = 3, PIPE = 4 }; /* its only descriptors, besides the first three */

/* Only the soft limit: past the hard limit of processor time the child would get SIGKILL, which the parent
 * also sends. */
static void limit(unsigned resource, uint64_t most)
{
    struct rlimit now;
    if (getrlimit(resource, &now) != 0 || (now.rlim_max != RLIM_INFINITY && now.rlim_max < most))
        return;
    setrlimit(resource, &(struct rlimit){most, now.rlim_max});
}

/* From now on. */
static void limit_seconds(unsigned seconds)
{
    struct rusage used;
    uint64_t so_far = 0;
    if (getrusage(RUSAGE_SELF, &used) == 0)
        so_far = (uint64_t)used.ru_utime.tv_sec + (uint64_t)used.ru_stime.tv_sec;
    limit(RLIMIT_CPU, so_far + seconds + 2); /* both were rounded down */
}

/* Bytes of address space that the parent's image takes already. Where the system does not tell, more than it ever takes:
 * with less not even the stack could grow. */
static uint64_t address_space(void)
{
    const uint64_t unknown = UINT64_C(16) << 30;
    char text[64] = "";
    int statm = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    if (statm < 0)
        return unknown;
    rf_input_read(statm, text, sizeof text - 1);
    close(statm);
    uint64_t pages = strtoull(text, NULL, 10);
    return pages > 0 ? pages * (uint64_t)sysconf(_SC_PAGESIZE) : unknown;
}

/* False: what it would talk through is not where it belongs. */
static bool keep_descriptors(int socket, int pipe)
{
    socket = fcntl(socket, F_DUPFD, PIPE + 1);
    pipe = fcntl(pipe, F_DUPFD, PIPE + 1);
    int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = 0; fd < 3 && nowhere >= 0; fd++)
        dup2(nowhere, fd);
    bool kept = dup2(socket, SOCKET) >= 0 && dup2(pipe, PIPE) >= 0;
    close_range(PIPE + 1, ~0u, 0);
    return kept;
}

static void confine(const struct rf_limits *limits, pid_t parent)
{
    static const int reset[] = {SIGSEGV, SIGBUS,  SIGFPE,  SIGILL, SIGABRT,
                                SIGINT,  SIGTERM, SIGXCPU, SIGALRM};
    for (size_t i = 0; i < sizeof reset / sizeof *reset; i++)
        signal(reset[i], SIG_DFL);
    signal(SIGPIPE, SIG_IGN);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(0);
    limit(RLIMIT_CORE, 0);
    if (!HAS_SHADOW)
        limit(RLIMIT_AS, address_space() + limits->memory);
    unsetenv("DEBUGINFOD_URLS"); /* reading a profile never uses the network */
    rf_child_fence();
}

/* What of a job differs from that of the one before. */
struct question {
    uint64_t table, n_links, lines_lo, lines_hi, name_bytes; /* then the links, then the name */
};

static bool receive(void *bytes, size_t n)
{
    for (size_t done = 0; done < n;) {
        ssize_t got = recv(SOCKET, (char *)bytes + done, n - done, 0);
        if (got == 0 || (got < 0 && errno != EINTR))
            return false;
        done += got > 0 ? (size_t)got : 0;
    }
    return true;
}

/* Links and name stay until the next job. */
static bool next_job(struct rf_job *job)
{
    struct question question;
    static uint64_t *links;
    static char name[RF_WIRE_TEXT_MAX];
    if (!receive(&question, sizeof question))
        return false;
    free(links);
    links = malloc((question.n_links + 1) * sizeof *links);
    if (links == NULL || !receive(links, question.n_links * sizeof *links) ||
        question.name_bytes > sizeof name || !receive(name, question.name_bytes))
        return false;
    job->inlined = question.name_bytes > 0 ? name : NULL;
    job->table = question.table != 0;
    job->links = links;
    job->n_links = question.n_links;
    job->lines_lo = question.lines_lo;
    job->lines_hi = question.lines_hi;
    return true;
}

/* One byte says that a job is done. */
static bool say_done(void)
{
    ssize_t sent;
    do
        sent = send(SOCKET, "", 1, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent == 1;
}

static void __attribute__((noreturn))
be_child(const struct rf_job *first, const struct rf_limits *limits)
{
    static struct rf_wire wire; /* the child's own; too large for a small stack */
    struct rf_job job = *first;
    void *kept = NULL;
    wire.fd = PIPE;
    do {
        limit_seconds(limits->seconds);
        rf_reader_run(&job, &wire, &kept);
        rf_wire_end(&wire, false);
    } while (say_done() && next_job(&job));
    _exit(0);
}

/* ---- in the parent ---- */

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

/* One read into the answer: 1 goes on, 0 the end or nothing is there, -1 stop. */
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
    return got > 0 || (got < 0 && errno == EINTR) ? 1 : got == 0 || errno == EAGAIN ? 0 : -1;
}

/* Wait for one of the two; false: the time is over. */
static bool wait_for(struct pollfd wait[2], int64_t deadline)
{
    for (;;) {
        int64_t left = deadline - now_ms();
        int ready = left > 0 ? poll(wait, 2, (int)left) : 0;
        if (ready > 0 || (ready < 0 && errno != EINTR))
            return true;
        if (left <= 0)
            return false;
    }
}

enum how { WHOLE, BROKEN, LATE };

/* Read the child's answer until it is whole. The byte that says so comes behind it. */
static enum how read_all(struct answer *answer, const struct rf_child *child, int64_t deadline,
                         rf_status *status)
{
    for (;;) {
        char byte;
        struct pollfd wait[] = {{.fd = child->pipe, .events = POLLIN},
                                {.fd = child->socket, .events = POLLIN}};
        if (!wait_for(wait, deadline))
            return LATE;
        int more = wait[0].revents != 0 ? read_some(answer, child->pipe, status) : 1;
        if (more < 0 || (more == 0 && wait[0].revents & POLLHUP))
            return BROKEN;
        if (wait[1].revents == 0)
            continue;
        while (more > 0)
            more = read_some(answer, child->pipe, status);
        bool whole = more == 0 && recv(child->socket, &byte, 1, MSG_DONTWAIT) == 1;
        return whole ? WHOLE : BROKEN;
    }
}

/* A child reads its job before it answers. One that does not makes this late. */
static bool send_all(const struct rf_child *child, const void *bytes, size_t n, int64_t deadline)
{
    for (size_t done = 0; done < n;) {
        struct pollfd wait[] = {{.fd = child->socket, .events = POLLOUT}, {.fd = -1}};
        if (!wait_for(wait, deadline))
            return false;
        ssize_t sent =
            send(child->socket, (const char *)bytes + done, n - done, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0 && errno != EINTR && errno != EAGAIN)
            return false;
        done += sent > 0 ? (size_t)sent : 0;
    }
    return true;
}

static bool send_job(const struct rf_child *child, const struct rf_job *job, int64_t deadline)
{
    const size_t name_bytes = job->inlined != NULL ? strlen(job->inlined) + 1 : 0;
    const struct question question = {job->table, job->n_links, job->lines_lo, job->lines_hi,
                                      name_bytes};
    return send_all(child, &question, sizeof question, deadline) &&
           send_all(child, job->links, job->n_links * sizeof *job->links, deadline) &&
           send_all(child, job->inlined, name_bytes, deadline);
}

/* A sentence on how it died; "": it did not. */
static void reap(struct rf_child *child, enum how how, char death[128])
{
    int status = 0;
    close(child->socket); /* no more questions: it ends even if it cannot be killed */
    close(child->pipe);
    kill(child->pid, SIGKILL); /* it has finished, or its time is over */
    while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR)
        continue;
    child->pid = 0;
    if (how == LATE || (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU))
        rf_format(death, 128, "reading it took too long");
    else if (WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL)
        rf_format(death, 128, "its reader died of signal %d", WTERMSIG(status));
}

void rf_child_end(struct rf_child *child)
{
    char death[128];
    if (child->pid != 0)
        reap(child, WHOLE, death);
}

static bool start(struct rf_child *child, const struct rf_job *job, const struct rf_limits *limits,
                  char death[128])
{
    int sockets[2], ends[2];
    const pid_t parent = getpid();
    rf_format(death, 128, "no pipe to a reader could be made");
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0)
        return false;
    if (pipe2(ends, O_CLOEXEC) != 0) {
        close(sockets[0]);
        close(sockets[1]);
        return false;
    }
    bool waits = fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0; /* it could keep us for ever */
    pid_t pid = waits ? -1 : fork();
    if (pid == 0) {
        if (!keep_descriptors(sockets[1], ends[1]))
            _exit(0);
        confine(limits, parent);
        be_child(job, limits);
    }
    close(sockets[1]);
    close(ends[1]);
    *child = (struct rf_child){pid, sockets[0], ends[0], job->depth};
    if (pid < 0) {
        close(sockets[0]);
        close(ends[0]);
        child->pid = 0;
        rf_format(death, 128, "no reader could be started");
        return false;
    }
    death[0] = '\0';
    return true;
}

/* Hand the job to a child that was kept; false: it is gone. */
static bool ask_kept(struct rf_child *child, const struct rf_job *job, int64_t deadline,
                     char death[128])
{
    if (child->pid != 0 && child->depth == job->depth && send_job(child, job, deadline))
        return true;
    if (child->pid != 0)
        reap(child, BROKEN, death);
    return false;
}

unsigned rf_child_run(struct rf_file *file, const struct rf_job *job,
                      const struct rf_limits *limits, struct rf_arena *arena, char death[128],
                      rf_status *status)
{
    struct rf_child *child = &file->child;
    struct answer answer = {.alloc = arena->alloc};
    int64_t deadline = now_ms() + (int64_t)limits->seconds * 1000;
    enum how how = BROKEN;
    unsigned seen = 0;
    *status = RF_OK;
    death[0] = '\0';
    bool kept = ask_kept(child, job, deadline, death);
    if (kept)
        how = read_all(&answer, child, deadline, status);
    if (kept && how != WHOLE)
        reap(child, how, death);
    if (how == BROKEN && answer.n == 0 && *status == RF_OK) { /* there is none, or it was gone */
        if (!start(child, job, limits, death))
            return 0;
        how = read_all(&answer, child, deadline, status);
        if (how != WHOLE)
            reap(child, how, death);
    }
    if (*status == RF_OK)
        seen = rf_wire_decode(file, arena, answer.bytes, answer.n, status);
    rf_alloc_free(answer.alloc, answer.bytes, answer.room);
    if (child->pid != 0 && (seen & RF_WIRE_ALL_WHOLE) == 0)
        reap(child, BROKEN, death);
    return seen;
}
