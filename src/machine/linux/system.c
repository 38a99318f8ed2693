/* system.c - the machine's Linux: the table of its calls, and those on time, identity and the like.
 *
 * Calls are found by number; those on files, memory and signals are in call_*.c. There is one process with one
 * thread, and nobody else: no signal, message or event comes from outside. A program that waits for one would
 * wait for ever, so it is ended with a sentence. */
#include "machine/linux/calls.h"
#include "base/error.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

enum { SECONDS_AT_START = 1000000000, MMAP_FROM = 0x60000000, STACK_LIMIT = 8 << 20 };
enum { RANDOM_MAX = (32 << 20) - 1 };
enum { GUEST_RLIMIT_STACK = 3, GUEST_RLIMIT_NOFILE = 7 };

static bool put_words(struct rf_system *system, uint64_t address, const uint64_t *words, size_t n)
{
    void *to = rf_call_buffer(system, address, n * sizeof *words, RF_WRITE);
    if (to != NULL)
        memcpy(to, words, n * sizeof *words);
    return to != NULL;
}

/* The clock starts at a fixed second and advances one nanosecond per instruction. */
static int64_t call_clock_gettime(struct rf_system *system, const uint64_t *a)
{
    uint64_t now = system->core->instructions;
    const uint64_t time[2] = {SECONDS_AT_START + now / 1000000000, now % 1000000000};
    return put_words(system, a[1], time, 2) ? 0 : -EFAULT;
}

static int64_t call_gettimeofday(struct rf_system *system, const uint64_t *a)
{
    uint64_t now = system->core->instructions / 1000;
    const uint64_t time[2] = {SECONDS_AT_START + now / 1000000, now % 1000000};
    return put_words(system, a[0], time, 2) ? 0 : -EFAULT;
}

static int64_t call_times(struct rf_system *system, const uint64_t *a)
{
    uint64_t ticks = system->core->instructions / 10000000;
    const uint64_t times[4] = {ticks, 0, 0, 0};
    return put_words(system, a[0], times, 4) ? (int64_t)ticks : -EFAULT;
}

static int64_t call_getrusage(struct rf_system *system, const uint64_t *a)
{
    uint64_t now = system->core->instructions / 1000;
    const uint64_t usage[18] = {now / 1000000, now % 1000000};
    return put_words(system, a[1], usage, 18) ? 0 : -EFAULT;
}

/* One processor, in a set of eight bytes. */
static int64_t call_getaffinity(struct rf_system *system, const uint64_t *a)
{
    const uint64_t processors = 1;
    if (a[1] < sizeof processors)
        return -EINVAL;
    return put_words(system, a[2], &processors, 1) ? (int64_t)sizeof processors : -EFAULT;
}

static int64_t call_sysinfo(struct rf_system *system, const uint64_t *a)
{
    const uint64_t info[14] = {0, 0, 0, 0, 1 << 30, 1 << 29, 0, 0, 0, 0, 1, 0, 0, 1};
    return put_words(system, a[0], info, 14) ? 0 : -EFAULT;
}

/* The most that Linux gives per call, too. */
int64_t rf_call_getrandom(struct rf_system *system, const uint64_t *a)
{
    uint64_t n = a[1] < RANDOM_MAX ? a[1] : RANDOM_MAX;
    uint8_t *to = rf_call_buffer(system, a[0], n, RF_WRITE);
    if (to == NULL)
        return -EFAULT;
    for (uint64_t i = 0; i < n; i++)
        to[i] = (uint8_t)rf_random_next(&system->random);
    return (int64_t)n;
}

static int64_t call_prlimit(struct rf_system *system, const uint64_t *a)
{
    uint64_t limit = a[1] == GUEST_RLIMIT_STACK    ? STACK_LIMIT
                     : a[1] == GUEST_RLIMIT_NOFILE ? RF_SYSTEM_FILES
                                                   : UINT64_MAX;
    const uint64_t both[2] = {limit, limit};
    return a[3] == 0 || put_words(system, a[3], both, 2) ? 0 : -EFAULT;
}

static int64_t call_uname(struct rf_system *system, const uint64_t *a)
{
    static const char *const names[6] = {"Linux", "riffle", "6.1.0", "#1", "riscv64", ""};
    char *to = rf_call_buffer(system, a[0], sizeof names / sizeof *names * 65, RF_WRITE);
    if (to == NULL)
        return -EFAULT;
    memset(to, 0, 6 * 65);
    for (size_t i = 0; i < 6; i++)
        memcpy(to + i * 65, names[i], strlen(names[i]));
    return 0;
}

static int64_t call_exit(struct rf_system *system, const uint64_t *a)
{
    system->exited = true;
    system->exit_status = (int)(a[0] & 255);
    return 0;
}

static int64_t call_id(struct rf_system *system, const uint64_t *a)
{
    (void)system;
    (void)a;
    return RF_SYSTEM_ID;
}

/* The guest owns all files that it sees, and cannot give them to another user. */
static int64_t give_to(uint64_t user, uint64_t group)
{
    bool same_user = (int32_t)user == -1 || user == RF_SYSTEM_ID;
    bool same_group = (int32_t)group == -1 || group == RF_SYSTEM_ID;
    return same_user && same_group ? 0 : -EPERM;
}

static int64_t call_fchownat(struct rf_system *system, const uint64_t *a)
{
    (void)system;
    return give_to(a[2], a[3]);
}

static int64_t call_fchown(struct rf_system *system, const uint64_t *a)
{
    return rf_call_file(system, a[0]) < 0 ? -EBADF : give_to(a[1], a[2]);
}

static int64_t call_getppid(struct rf_system *system, const uint64_t *a)
{
    (void)system;
    (void)a;
    return 1;
}

/* Programs can live without a new process, so fork only fails. They would wait for a new thread, so that ends
 * them. */
static int64_t refuse_clone(struct rf_system *system, uint64_t flags)
{
    if ((flags & CLONE_THREAD) != 0)
        rf_system_end(system, SIGSYS, "it started a thread, and the simulated machine has but one");
    return -ENOSYS;
}

static int64_t call_clone(struct rf_system *system, const uint64_t *a)
{
    return refuse_clone(system, a[0]);
}

static bool read_guest(struct rf_system *system, uint64_t address, void *to, size_t n)
{
    const void *from = rf_call_buffer(system, address, n, RF_READ);
    if (from != NULL)
        memcpy(to, from, n);
    return from != NULL;
}

static int64_t call_clone3(struct rf_system *system, const uint64_t *a)
{
    uint64_t flags;
    if (!read_guest(system, a[0], &flags, sizeof flags))
        return -EFAULT;
    return refuse_clone(system, flags);
}

/* Nobody could wake it up. */
static int64_t wait_for_ever(struct rf_system *system, const uint64_t *a)
{
    uint32_t word;
    if (!read_guest(system, a[0], &word, sizeof word))
        return -EFAULT;
    if (word != (uint32_t)a[2])
        return -EAGAIN;
    if (a[3] != 0)
        return -ETIMEDOUT;
    rf_system_end(system, SIGKILL, "it waits for another thread, and there is none (futex)");
    return 0;
}

static int64_t call_futex(struct rf_system *system, const uint64_t *a)
{
    switch ((int)a[1] & FUTEX_CMD_MASK) {
    case FUTEX_WAIT:
    case FUTEX_WAIT_BITSET:
        return wait_for_ever(system, a);
    default:
        return 0; /* nobody is woken */
    }
}

/* There is no network, not even local sockets. A C library that looks for a name service does without. */
static int64_t call_socket(struct rf_system *system, const uint64_t *a)
{
    (void)system;
    (void)a;
    return -EAFNOSUPPORT;
}

/* Calls that succeed without doing anything, since there is one process and one thread. */
static int64_t call_nothing(struct rf_system *system, const uint64_t *a)
{
    (void)system;
    (void)a;
    return 0;
}

static const struct {
    unsigned number;
    rf_call *run;
} calls[] = {
    {17, rf_call_getcwd},
    {23, rf_call_dup},
    {24, rf_call_dup3},
    {25, rf_call_fcntl},
    {29, rf_call_ioctl},
    {34, rf_call_mkdirat},
    {35, rf_call_unlinkat},
    {38, rf_call_renameat},
    {46, rf_call_ftruncate},
    {48, rf_call_faccessat},
    {52, rf_call_fchmod},
    {53, rf_call_fchmodat},
    {54, call_fchownat},
    {55, call_fchown},
    {56, rf_call_openat},
    {57, rf_call_close},
    {61, rf_call_getdents},
    {62, rf_call_lseek},
    {63, rf_call_read},
    {64, rf_call_write},
    {65, rf_call_readv},
    {66, rf_call_writev},
    {67, rf_call_pread},
    {68, rf_call_pwrite},
    {78, rf_call_readlinkat},
    {79, rf_call_newfstatat},
    {80, rf_call_fstat},
    {82, rf_call_fsync},
    {83, rf_call_fsync},
    {88, call_nothing}, /* utimensat: files have no times */
    {93, call_exit},
    {94, call_exit},
    {96, call_id}, /* set_tid_address */
    {98, call_futex},
    {99, call_nothing},  /* set_robust_list */
    {101, call_nothing}, /* nanosleep */
    {113, call_clock_gettime},
    {115, call_nothing}, /* clock_nanosleep */
    {123, call_getaffinity},
    {124, call_nothing}, /* sched_yield */
    {129, rf_call_kill},
    {130, rf_call_tkill},
    {131, rf_call_tgkill},
    {132, rf_call_sigaltstack},
    {134, rf_call_sigaction},
    {135, rf_call_sigprocmask},
    {136, rf_call_sigpending},
    {139, rf_call_sigreturn},
    {153, call_times},
    {160, call_uname},
    {165, call_getrusage},
    {166, call_nothing}, /* umask */
    {169, call_gettimeofday},
    {172, call_id},
    {173, call_getppid},
    {174, call_id},
    {175, call_id},
    {176, call_id},
    {177, call_id},
    {178, call_id},
    {179, call_sysinfo},
    {198, call_socket},
    {214, rf_call_brk},
    {215, rf_call_munmap},
    {216, rf_call_mremap},
    {220, call_clone},
    {222, rf_call_mmap},
    {223, call_nothing}, /* fadvise64 */
    {226, rf_call_mprotect},
    {233, rf_call_madvise},
    {261, call_prlimit},
    {276, rf_call_renameat},
    {278, rf_call_getrandom},
    {435, call_clone3},
    {439, rf_call_faccessat2},
};

rf_status rf_system_open(struct rf_system *system, struct rf_core *core, const char *root,
                         struct rf_error *error)
{
    memset(system, 0, sizeof *system);
    system->core = core;
    system->mmap_from = MMAP_FROM;
    for (int fd = 0; fd < RF_SYSTEM_FILES; fd++)
        system->file[fd] = fd <= 2 ? fd : -1;
    rf_random_seed(&system->random, 1);
    system->fenced = root != NULL;
    system->root = open(root != NULL ? root : "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    system->start = open(root != NULL ? root : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (system->root >= 0 && (system->start >= 0 || root == NULL))
        return RF_OK;
    return rf_fail(error, RF_EIO, "the root %s: %s", root != NULL ? root : "/", strerror(errno));
}

void rf_system_set_brk(struct rf_system *system, uint64_t brk)
{
    uint64_t up = (brk + RF_PAGE - 1) & ~(uint64_t)(RF_PAGE - 1);
    system->brk_start = system->brk = up;
}

void rf_system_close(struct rf_system *system)
{
    for (int fd = 0; fd < RF_SYSTEM_FILES; fd++)
        if (system->file[fd] > 2)
            close(system->file[fd]);
    if (system->root >= 0)
        close(system->root);
    if (system->start >= 0)
        close(system->start);
}

static void note_unknown(struct rf_system *system, unsigned number)
{
    for (size_t i = 0; i < system->n_unknown; i++)
        if (system->unknown[i] == number)
            return;
    if (system->n_unknown < RF_SYSTEM_UNKNOWN_MAX)
        system->unknown[system->n_unknown++] = number;
}

void rf_system_end(struct rf_system *system, int number, const char *why)
{
    system->exited = true;
    system->exit_status = 128 + number;
    system->ended_at = system->core->pc - 4; /* the call's own */
    rf_format(system->why, sizeof system->why, "%s", why);
}

static int64_t run_call(struct rf_system *system, uint64_t number)
{
    int64_t result = -ENOSYS;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (calls[i].number == number) {
            result = calls[i].run(system, &system->core->x[10]);
            break;
        }
    if (result == -ENOSYS)
        note_unknown(system, (unsigned)number);
    return result;
}

void rf_system_call(struct rf_system *system)
{
    struct rf_core *core = system->core;
    core->pc += 4;
    core->x[10] = (uint64_t)run_call(system, core->x[17]);
    core->instructions++;
    core->stop = RF_STOP_NONE;
    rf_signals_deliver(system);
}
