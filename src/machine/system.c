/* system.c - the machine's Linux: the table of its calls, and those on time, identity and the like.
 *
 * A call is found by its number; those on files and memory are in call_*.c. There is one process with one
 * thread that never gets a signal: it may install handlers and masks, which have nothing to do; a signal that
 * it sends itself ends it. */
#include "machine/calls.h"
#include "base/error.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { SECONDS_AT_START = 1000000000, MMAP_FROM = 0x60000000, STACK_LIMIT = 8 << 20 };
enum { GUEST_RLIMIT_STACK = 3, GUEST_RLIMIT_NOFILE = 7 };

static bool put_words(struct rf_system *system, uint64_t address, const uint64_t *words, size_t n)
{
    void *to = rf_call_buffer(system, address, n * sizeof *words, RF_WRITE);
    if (to != NULL)
        memcpy(to, words, n * sizeof *words);
    return to != NULL;
}

/* A nanosecond an instruction, from a fixed second on. */
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

static int64_t call_sysinfo(struct rf_system *system, const uint64_t *a)
{
    const uint64_t info[14] = {0, 0, 0, 0, 1 << 30, 1 << 29, 0, 0, 0, 0, 1, 0, 0, 1};
    return put_words(system, a[0], info, 14) ? 0 : -EFAULT;
}

static int64_t call_getrandom(struct rf_system *system, const uint64_t *a)
{
    uint8_t *to = rf_call_buffer(system, a[0], a[1], RF_WRITE);
    if (to == NULL)
        return -EFAULT;
    for (uint64_t i = 0; i < a[1]; i++)
        to[i] = (uint8_t)rf_random_next(&system->random);
    return (int64_t)a[1];
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

/* abort() and raise() come here: end as a shell would tell it. Signal 0 only asks. */
static int64_t call_kill(struct rf_system *system, const uint64_t *a)
{
    if (a[1] == 0)
        return 0;
    system->exited = true;
    system->exit_status = 128 + (int)(a[1] & 127);
    return 0;
}

static int64_t call_tgkill(struct rf_system *system, const uint64_t *a)
{
    return call_kill(system, a + 1);
}

static int64_t call_id(struct rf_system *system, const uint64_t *a)
{
    (void)system;
    (void)a;
    return 1000;
}

/* What was set before, where it is asked for, is always nothing. */
static int64_t put_nothing(struct rf_system *system, uint64_t address, size_t words)
{
    static const uint64_t zeros[3];
    return address == 0 || put_words(system, address, zeros, words) ? 0 : -EFAULT;
}

static int64_t call_sigaction(struct rf_system *system, const uint64_t *a)
{
    return put_nothing(system, a[2], 3);
}

static int64_t call_sigprocmask(struct rf_system *system, const uint64_t *a)
{
    return put_nothing(system, a[2], 1);
}

static int64_t call_sigaltstack(struct rf_system *system, const uint64_t *a)
{
    return put_nothing(system, a[1], 3);
}

/* There is no network, not even inside: a C library that looks for a name service goes on without. */
static int64_t call_socket(struct rf_system *system, const uint64_t *a)
{
    (void)system;
    (void)a;
    return -EAFNOSUPPORT;
}

/* Things that can be accepted and need nothing done in a process alone. */
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
    {56, rf_call_openat},
    {57, rf_call_close},
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
    {93, call_exit},
    {94, call_exit},
    {96, call_id},       /* set_tid_address */
    {98, call_nothing},  /* futex: no other thread */
    {99, call_nothing},  /* set_robust_list */
    {101, call_nothing}, /* nanosleep */
    {113, call_clock_gettime},
    {115, call_nothing}, /* clock_nanosleep */
    {124, call_nothing}, /* sched_yield */
    {129, call_kill},
    {130, call_kill},
    {131, call_tgkill},
    {132, call_sigaltstack},
    {134, call_sigaction},
    {135, call_sigprocmask},
    {153, call_times},
    {160, call_uname},
    {165, call_getrusage},
    {166, call_nothing}, /* umask */
    {169, call_gettimeofday},
    {172, call_id},
    {173, call_id},
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
    {222, rf_call_mmap},
    {226, rf_call_mprotect},
    {233, rf_call_madvise},
    {261, call_prlimit},
    {276, rf_call_renameat},
    {278, call_getrandom},
};

rf_status rf_system_open(struct rf_system *system, struct rf_core *core, const char *root,
                         struct rf_error *error)
{
    memset(system, 0, sizeof *system);
    system->core = core;
    system->root = -1;
    system->mmap_from = MMAP_FROM;
    for (int fd = 0; fd < RF_SYSTEM_FILES; fd++)
        system->file[fd] = fd <= 2 ? fd : -1;
    rf_random_seed(&system->random, 1);
    if (root == NULL)
        return RF_OK;
    system->root = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (system->root < 0)
        return rf_fail(error, RF_EIO, "the root %s: %s", root, strerror(errno));
    return RF_OK;
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
}

static void note_unknown(struct rf_system *system, unsigned number)
{
    for (size_t i = 0; i < system->n_unknown; i++)
        if (system->unknown[i] == number)
            return;
    if (system->n_unknown < RF_SYSTEM_UNKNOWN_MAX)
        system->unknown[system->n_unknown++] = number;
}

void rf_system_call(struct rf_system *system)
{
    struct rf_core *core = system->core;
    uint64_t number = core->x[17];
    int64_t result = -ENOSYS;
    bool known = false;
    for (size_t i = 0; i < sizeof calls / sizeof *calls && !known; i++)
        if (calls[i].number == number) {
            result = calls[i].run(system, &core->x[10]);
            known = true;
        }
    if (!known)
        note_unknown(system, (unsigned)number);
    core->x[10] = (uint64_t)result;
    core->pc += 4;
    core->instructions++;
    core->stop = RF_STOP_NONE;
}
