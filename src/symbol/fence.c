/* fence.c - what a child that reads files of strangers may ask of the system: read files, get memory, answer, end.
 *
 * A filter of system calls (seccomp), for x86-64. What is not in the list fails with EPERM: no process, no program, no
 * network, no signal to others, no file opened for writing. Where the system has no such filters the child runs without, under
 * the limits of child.c alone; rf_symbols_fenced says so.
 *
 * A program that is executed behind the fence (objdump) needs some more calls to get going. What it executes in turn stands
 * behind the same fence. */
#include "symbol/symbol.h"

#if defined(__x86_64__) && defined(__linux__)

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LOAD(field)                                                                                \
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offsetof(struct seccomp_data, field))
#define LOAD_ARGUMENT(i)                                                                           \
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS,                                                             \
             (uint32_t)(offsetof(struct seccomp_data, args) + (i) * sizeof(uint64_t)))
#define LOAD_ARGUMENT_HIGH(i)                                                                      \
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS,                                                             \
             (uint32_t)(offsetof(struct seccomp_data, args) + (i) * sizeof(uint64_t) + 4))
#define ALLOW        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define REFUSE       BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 1) /* EPERM */
#define IS(number)   BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), 0, 1)
#define PASS(number) IS(SYS_##number), ALLOW

/* Flags with which a file is not just read. */
enum { WRITES = O_ACCMODE | O_CREAT | O_TRUNC };
#define NOBODY UINT32_C(0xfffffff0) /* no process, no system call */

static const struct sock_filter head[] = {
    LOAD(arch),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0),
    REFUSE,
    LOAD(nr),
};

static const struct sock_filter of_programs[] = {
    PASS(execve), PASS(arch_prctl), PASS(set_tid_address), PASS(set_robust_list),
    PASS(rseq),   PASS(dup2),       PASS(gettimeofday),    PASS(time),
};

static const struct sock_filter of_all[] = {
    /* files */
    PASS(read),
    PASS(pread64),
    PASS(lseek),
    PASS(close),
    PASS(fstat),
    PASS(stat),
    PASS(lstat),
    PASS(newfstatat),
    PASS(statx),
    PASS(access),
    PASS(faccessat),
    PASS(readlink),
    PASS(readlinkat),
    PASS(getcwd),
    PASS(getdents64),
    PASS(statfs),
    PASS(fstatfs),
    /* the answer */
    PASS(write),
    PASS(writev),
    PASS(sendto),
    PASS(recvfrom),
    PASS(poll),
    PASS(ppoll),
    /* memory */
    PASS(mmap),
    PASS(munmap),
    PASS(mremap),
    PASS(mprotect),
    PASS(madvise),
    PASS(brk),
    /* itself */
    PASS(futex),
    PASS(getrandom),
    PASS(getpid),
    PASS(getppid),
    PASS(gettid),
    PASS(getuid),
    PASS(geteuid),
    PASS(getgid),
    PASS(getegid),
    PASS(uname),
    PASS(sysinfo),
    PASS(getrusage),
    PASS(getrlimit),
    PASS(rt_sigaction),
    PASS(rt_sigprocmask),
    PASS(rt_sigreturn),
    PASS(sigaltstack),
    PASS(sched_yield),
    PASS(clock_gettime),
    PASS(clock_nanosleep),
    PASS(nanosleep),
    PASS(pause),
    PASS(exit),
    PASS(exit_group),
    /* a signal to itself: abort */
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_tgkill, 0, 4),
    LOAD_ARGUMENT(0),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, NOBODY, 0, 1),
    ALLOW,
    REFUSE,
    /* limits: its own alone, those of the parent could end that; to change only that of time, which is new with each job */
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_prlimit64, 0, 10),
    LOAD_ARGUMENT(0),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 6),
    LOAD_ARGUMENT(1),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, RLIMIT_CPU, 5, 0),
    LOAD_ARGUMENT(2),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 2),
    LOAD_ARGUMENT_HIGH(2),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0),
    REFUSE,
    ALLOW,
    /* descriptors and their flags, but not which signal goes to whom when one is ready (F_SETOWN, F_SETSIG) */
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fcntl, 0, 5),
    LOAD_ARGUMENT(1),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, F_DUPFD_CLOEXEC, 1, 0),
    BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, F_SETFL, 1, 0),
    ALLOW,
    REFUSE,
    /* a file to read */
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_open, 2, 0),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 3, 0),
    REFUSE,
    LOAD_ARGUMENT(1),
    BPF_STMT(BPF_JMP | BPF_JA, 1),
    LOAD_ARGUMENT(2),
    BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, WRITES, 0, 1),
    REFUSE,
    ALLOW,
};

struct filter {
    struct sock_filter lines[256];
    unsigned short n;
};

/* The filter's own process takes the place of nobody. */
static void add(struct filter *filter, const struct sock_filter *lines, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct sock_filter line = lines[i];
        if (line.k == NOBODY)
            line.k = (uint32_t)getpid();
        filter->lines[filter->n++] = line;
    }
}

#define ADD(filter, part) add((filter), (part), sizeof(part) / sizeof *(part))
_Static_assert(sizeof head + sizeof of_programs + sizeof of_all <=
                   sizeof((struct filter *)NULL)->lines,
               "the filter has room for all lines");

static void fence(struct filter *filter)
{
    const struct sock_fprog program = {filter->n, filter->lines};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

void rf_child_fence(void)
{
    struct filter filter = {.n = 0};
    ADD(&filter, head);
    ADD(&filter, of_all);
    fence(&filter);
}

void rf_symbols_fence_program(void)
{
    struct filter filter = {.n = 0};
    ADD(&filter, head);
    ADD(&filter, of_programs);
    ADD(&filter, of_all);
    fence(&filter);
}

/* A filter at no address cannot be read; a system without filters does not get that far. */
int rf_symbols_fenced(void)
{
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL) != 0 && errno == EFAULT;
}

#else

void rf_child_fence(void)
{
}

void rf_symbols_fence_program(void)
{
}

int rf_symbols_fenced(void)
{
    return 0;
}

#endif
