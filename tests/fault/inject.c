/* inject.c - runs a program and lets its n-th system call fail, be interrupted, or do half of what it should.
 *
 *     inject error:N REPORT PROGRAM ARGUMENT...    the N-th call that can fail does, with an error that fits it
 *     inject eintr:N REPORT PROGRAM ARGUMENT...    the N-th call that a signal can interrupt ends with EINTR
 *     inject short:N REPORT PROGRAM ARGUMENT...    the N-th read or write gets half of its bytes
 *     inject quota:N ...                           the N-th write that can fail does, with EDQUOT
 *     inject term:N ...                            SIGTERM comes during the N-th call that can fail
 *     inject clone:N ...                           the N-th call of that name fails: memfd_create, ftruncate, mmap, ...
 *
 * N = 0: every one; of interrupted calls every first try, so that the second succeeds. REPORT gets
 * "calls N failed 0|1 leaks 0 NAME" when the program has ended; inject ends as the program did.
 *
 * Calls are counted from the program's entry on (what the loader of libraries does is not its own), of all its threads, and of
 * its children until they start another program. They are stopped by ptrace, so calls that the C library makes for itself
 * count, too. Left out is what cannot fail, or where the C library would end the program: futex, close, the signal mask. EINTR is
 * not given to opening a file, nor to writes to descriptors 1 and 2: stdio makes no write again, and handlers of ours ask for
 * restarting. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum kind { KIND_ERROR, KIND_EINTR, KIND_SHORT, KIND_QUOTA, KIND_TERM, N_KINDS };
enum { TASKS_MAX = 512, SYSCALL_STOP = SIGTRAP | 0x80 };

/* What a call may do: `error` fits it; interruptible; moves bytes, so that half of them can be left; makes files grow. */
static const struct call {
    long number;
    int error;
    bool waits, moves, grows;
    const char *name;
} calls[] = {
    {SYS_read, EIO, true, true, false, "read"},
    {SYS_pread64, EIO, true, true, false, "pread"},
    {SYS_readv, EIO, true, false, false, "readv"},
    {SYS_write, ENOSPC, true, true, true, "write"},
    {SYS_pwrite64, ENOSPC, true, true, true, "pwrite"},
    {SYS_writev, ENOSPC, true, false, true, "writev"},
    {SYS_open, EMFILE, false, false, false, "open"},
    {SYS_openat, EMFILE, false, false, false, "openat"},
    {SYS_ftruncate, ENOSPC, true, false, true, "ftruncate"},
    {SYS_fallocate, ENOSPC, true, false, true, "fallocate"},
    {SYS_wait4, ECHILD, true, false, false, "wait4"},
    {SYS_waitid, ECHILD, true, false, false, "waitid"},
    {SYS_poll, ENOMEM, true, false, false, "poll"},
    {SYS_ppoll, ENOMEM, true, false, false, "ppoll"},
    {SYS_recvfrom, ENOMEM, true, false, false, "recvfrom"},
    {SYS_recvmsg, ENOMEM, true, false, false, "recvmsg"},
    {SYS_sendto, ENOBUFS, true, false, false, "sendto"},
    {SYS_sendmsg, ENOBUFS, true, false, false, "sendmsg"},
    {SYS_connect, ECONNREFUSED, true, false, false, "connect"},
    {SYS_accept4, EMFILE, true, false, false, "accept4"},
    {SYS_nanosleep, 0, true, false, false, "nanosleep"},
    {SYS_clock_nanosleep, 0, true, false, false, "clock_nanosleep"},
    {SYS_getrandom, EAGAIN, true, false, false, "getrandom"},
    {SYS_fsync, EIO, false, false, true, "fsync"},
    {SYS_fdatasync, EIO, false, false, true, "fdatasync"},
    {SYS_rename, EIO, false, false, true, "rename"},
    {SYS_renameat2, EIO, false, false, true, "renameat2"},
    {SYS_linkat, EIO, false, false, true, "linkat"},
    {SYS_unlink, EROFS, false, false, false, "unlink"},
    {SYS_mkdir, EROFS, false, false, true, "mkdir"},
    {SYS_fchmod, EPERM, false, false, false, "fchmod"},
    {SYS_newfstatat, EIO, false, false, false, "fstatat"},
    {SYS_fstat, EIO, false, false, false, "fstat"},
    {SYS_statx, EIO, false, false, false, "statx"},
    {SYS_access, EIO, false, false, false, "access"},
    {SYS_readlink, EIO, false, false, false, "readlink"},
    {SYS_getdents64, EIO, false, false, false, "getdents64"},
    {SYS_getcwd, ENOENT, false, false, false, "getcwd"},
    {SYS_lseek, ESPIPE, false, false, false, "lseek"},
    {SYS_mmap, ENOMEM, false, false, false, "mmap"},
    {SYS_mremap, ENOMEM, false, false, false, "mremap"},
    {SYS_mprotect, ENOMEM, false, false, false, "mprotect"},
    {SYS_madvise, EINVAL, false, false, false, "madvise"},
    {SYS_memfd_create, EMFILE, false, false, false, "memfd_create"},
    {SYS_pipe2, EMFILE, false, false, false, "pipe2"},
    {SYS_socketpair, EMFILE, false, false, false, "socketpair"},
    {SYS_socket, EMFILE, false, false, false, "socket"},
    {SYS_dup, EMFILE, false, false, false, "dup"},
    {SYS_dup2, EMFILE, false, false, false, "dup2"},
    {SYS_dup3, EMFILE, false, false, false, "dup3"},
    {SYS_fcntl, EINVAL, false, false, false, "fcntl"},
    {SYS_ioctl, ENOTTY, false, false, false, "ioctl"},
    {SYS_clone, EAGAIN, false, false, false, "clone"},
    {SYS_clone3, EAGAIN, false, false, false, "clone3"},
    {SYS_fork, EAGAIN, false, false, false, "fork"},
    {SYS_vfork, EAGAIN, false, false, false, "vfork"},
    {SYS_execve, ENOMEM, false, false, false, "execve"},
    {SYS_kill, EPERM, false, false, false, "kill"},
    {SYS_pidfd_open, EMFILE, false, false, false, "pidfd_open"},
    {SYS_eventfd2, EMFILE, false, false, false, "eventfd"},
    {SYS_prctl, EINVAL, false, false, false, "prctl"},
    {SYS_seccomp, EINVAL, false, false, false, "seccomp"},
    {SYS_prlimit64, EPERM, false, false, false, "prlimit"},
    {SYS_setpriority, EACCES, false, false, false, "setpriority"},
    {SYS_sched_getaffinity, EINVAL, false, false, false, "sched_getaffinity"},
    {SYS_sched_setaffinity, EINVAL, false, false, false, "sched_setaffinity"},
    {SYS_timer_create, EAGAIN, false, false, false, "timer_create"},
    {SYS_timer_settime, EINVAL, false, false, false, "timer_settime"},
    {SYS_ptrace, EPERM, false, false, false, "ptrace"},
    {SYS_process_vm_readv, EPERM, false, false, false, "process_vm_readv"},
    {SYS_perf_event_open, EACCES, false, false, false, "perf_event_open"},
};

/* A thread of the program or of a child of it. */
static struct task {
    pid_t pid;
    bool is_new;          /* its first SIGSTOP is ptrace's */
    bool is_inside;       /* of a call */
    bool was_interrupted; /* the call before: this one is the second try */
    int fails_with;       /* what the call that it is inside of is to return; 0: what it does */
} tasks[TASKS_MAX];

static enum kind kind;
static pid_t program;
static const struct call *only; /* this call; NULL: all */
static unsigned long fail_at, n_calls, n_failed;
static const char *failed_name = "-";

static void die(const char *what)
{
    fprintf(stderr, "inject: %s: %s\n", what, strerror(errno));
    exit(99);
}

static struct task *task_of(pid_t pid)
{
    for (size_t i = 0; i < TASKS_MAX; i++)
        if (tasks[i].pid == pid)
            return &tasks[i];
    for (size_t i = 0; i < TASKS_MAX; i++)
        if (tasks[i].pid == 0) {
            tasks[i] = (struct task){.pid = pid, .is_new = true};
            return &tasks[i];
        }
    errno = ENOMEM;
    die("too many threads");
    return NULL;
}

/* ---- to the program's entry ---- */

static uintptr_t entry_of(pid_t pid)
{
    char path[64];
    uint64_t pair[2];
    snprintf(path, sizeof path, "/proc/%d/auxv", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && read(fd, pair, sizeof pair) == (ssize_t)sizeof pair && pair[0] != AT_NULL)
        if (pair[0] == AT_ENTRY) {
            close(fd);
            return pair[1];
        }
    die(path);
    return 0;
}

static void wait_for_stop(pid_t pid)
{
    int status;
    if (waitpid(pid, &status, __WALL) != pid || !WIFSTOPPED(status))
        die("the program cannot be started");
}

/* A breakpoint, since system calls before it are the loader's. */
static void run_to_entry(pid_t pid)
{
    struct user_regs_struct registers;
    void *entry = (void *)entry_of(pid);
    errno = 0;
    long code = ptrace(PTRACE_PEEKTEXT, pid, entry, NULL);
    if (errno != 0 || ptrace(PTRACE_POKETEXT, pid, entry, (code & ~0xffL) | 0xcc) != 0 ||
        ptrace(PTRACE_CONT, pid, NULL, NULL) != 0)
        die("no breakpoint");
    wait_for_stop(pid);
    ptrace(PTRACE_POKETEXT, pid, entry, code);
    if (ptrace(PTRACE_GETREGS, pid, NULL, &registers) != 0)
        die("no registers");
    registers.rip = (uintptr_t)entry;
    ptrace(PTRACE_SETREGS, pid, NULL, &registers);
}

static pid_t start(char **arguments)
{
    pid_t pid = fork();
    if (pid == 0) {
        ptrace(PTRACE_TRACEME, 0, NULL, NULL);
        raise(SIGSTOP);
        execv(arguments[0], arguments);
        die(arguments[0]);
    }
    wait_for_stop(pid);
    if (ptrace(PTRACE_SETOPTIONS, pid, NULL,
               PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL | PTRACE_O_TRACECLONE |
                   PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC) != 0)
        die("ptrace");
    ptrace(PTRACE_CONT, pid, NULL, NULL);
    wait_for_stop(pid); /* the new program is there */
    run_to_entry(pid);
    task_of(pid)->is_new = false;
    return pid;
}

/* ---- calls ---- */

static const struct call *call_of(long number)
{
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (calls[i].number == number)
            return &calls[i];
    return NULL;
}

static bool is_output(const struct user_regs_struct *registers)
{
    long number = (long)registers->orig_rax;
    return (number == SYS_write || number == SYS_writev) &&
           (registers->rdi == STDOUT_FILENO || registers->rdi == STDERR_FILENO);
}

/* An event or a timer is read as a whole or not at all. */
static bool has_bytes(pid_t pid, int fd)
{
    char path[64], target[256];
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)pid, fd);
    ssize_t n = readlink(path, target, sizeof target - 1);
    target[n > 0 ? n : 0] = '\0';
    return strncmp(target, "anon_inode:", 11) != 0;
}

/* It asks about a descriptor, which cannot fail where there is one. */
static bool is_question(const struct user_regs_struct *registers)
{
    return registers->orig_rax == SYS_fcntl &&
           (registers->rsi == F_GETFD || registers->rsi == F_GETFL);
}

static bool is_meant(const struct task *task, const struct call *call,
                     const struct user_regs_struct *registers)
{
    if (is_question(registers))
        return false;
    if (kind == KIND_ERROR || kind == KIND_TERM)
        return only != NULL ? call == only : call->error != 0;
    if (kind == KIND_QUOTA)
        return call->grows && !is_output(registers);
    if (kind == KIND_EINTR)
        return call->waits && !is_output(registers) && !(fail_at == 0 && task->was_interrupted);
    return call->moves && registers->rdx > 1 && has_bytes(task->pid, (int)registers->rdi);
}

static void fail(struct task *task, const struct call *call, struct user_regs_struct *registers)
{
    n_failed++;
    failed_name = call->name;
    if (kind == KIND_TERM) {
        kill(program, SIGTERM); /* it comes when the call has been made */
        return;
    }
    if (kind == KIND_SHORT) {
        registers->rdx /= 2;
    } else {
        task->fails_with = kind == KIND_ERROR ? call->error : kind == KIND_EINTR ? EINTR : EDQUOT;
        registers->orig_rax = (unsigned long long)-1; /* it is not made */
    }
    ptrace(PTRACE_SETREGS, task->pid, NULL, registers);
}

static void enter_call(struct task *task)
{
    struct user_regs_struct registers;
    if (ptrace(PTRACE_GETREGS, task->pid, NULL, &registers) != 0)
        return;
    const struct call *call = call_of((long)registers.orig_rax);
    bool meant = call != NULL && is_meant(task, call, &registers);
    task->was_interrupted = false;
    if (!meant)
        return;
    n_calls++;
    if (fail_at == 0 || n_calls == fail_at) {
        task->was_interrupted = true;
        fail(task, call, &registers);
    }
}

static void leave_call(struct task *task)
{
    struct user_regs_struct registers;
    if (task->fails_with == 0 || ptrace(PTRACE_GETREGS, task->pid, NULL, &registers) != 0)
        return;
    registers.rax = (unsigned long long)-(long long)task->fails_with;
    ptrace(PTRACE_SETREGS, task->pid, NULL, &registers);
    task->fails_with = 0;
}

/* ---- stops ---- */

/* Returns the signal to go on with. */
static int attend(struct task *task, int status)
{
    int number = WSTOPSIG(status);
    if (number == SYSCALL_STOP) {
        task->is_inside = !task->is_inside;
        if (task->is_inside)
            enter_call(task);
        else
            leave_call(task);
        return 0;
    }
    if (number == SIGTRAP && status >> 16 != 0)
        return 0;
    if (task->is_new && number == SIGSTOP) {
        task->is_new = false;
        return 0;
    }
    return number;
}

/* Returns how the program ended, as of waitpid. */
static int follow(void)
{
    int status, end = 0;
    pid_t pid;
    ptrace(PTRACE_SYSCALL, program, NULL, NULL);
    while ((pid = waitpid(-1, &status, __WALL)) > 0 || errno == EINTR) {
        if (pid < 0)
            continue;
        if (!WIFSTOPPED(status)) {
            end = pid == program ? status : end;
            task_of(pid)->pid = 0;
            continue;
        }
        struct task *task = task_of(pid);
        int number = attend(task, status);
        if (status >> 8 == (SIGTRAP | PTRACE_EVENT_EXEC << 8)) {
            task->pid = 0;
            ptrace(PTRACE_DETACH, pid, NULL, NULL); /* another program */
        } else {
            ptrace(PTRACE_SYSCALL, pid, NULL, (void *)(uintptr_t)number);
        }
        if (pid == program && task->pid == 0) /* it became another one */
            waitpid(program, &end, 0);
    }
    return end;
}

static bool read_kind(const char *word, size_t n)
{
    static const char *const names[N_KINDS] = {"error", "eintr", "short", "quota", "term"};
    for (int i = 0; i < N_KINDS; i++)
        if (strlen(names[i]) == n && memcmp(names[i], word, n) == 0) {
            kind = (enum kind)i;
            return true;
        }
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (strlen(calls[i].name) == n && memcmp(calls[i].name, word, n) == 0)
            only = &calls[i];
    return only != NULL;
}

static void read_fault(const char *text)
{
    size_t n = strcspn(text, ":");
    if (text[n] != ':' || !read_kind(text, n)) {
        fprintf(stderr, "inject: KIND:N or CALL:N, not '%s'\n", text);
        exit(99);
    }
    fail_at = strtoul(text + n + 1, NULL, 10);
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 99;
    read_fault(argv[1]);
    program = start(argv + 3);
    int end = follow();
    FILE *report = fopen(argv[2], "w");
    if (report == NULL)
        die(argv[2]);
    if (WIFEXITED(end) || kind == KIND_TERM) /* else it did not end by itself: nothing to report */
        fprintf(report, "calls %lu failed %d leaks 0 %s\n", n_calls, n_failed > 0, failed_name);
    fclose(report);
    return WIFEXITED(end) ? WEXITSTATUS(end) : 128 + WTERMSIG(end);
}
