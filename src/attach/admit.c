/* admit.c - whether a process may be attached to, asked before anything is done to it.
 *
 * Nothing here stops it. Reading a word of its memory needs the same right as ptrace does, so that is tried. */
#include "attach/admit.h"
#include "attach/tasks.h"
#include "base/error.h"
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

/* A number of /proc/PID/status; -1: it is not there. */
static long number_in(const char *status, const char *name)
{
    const char *at = strstr(status, name);
    return at != NULL ? strtol(at + strlen(name), NULL, 10) : -1;
}

static void name_of(pid_t pid, char *name, size_t size)
{
    if (rf_tasks_read(pid, "comm", name, size) <= 0)
        name[0] = '\0';
    name[strcspn(name, "\n")] = '\0';
}

static rf_status refuse_owner(pid_t pid, const char *status, struct rf_error *error)
{
    long owner = number_in(status, "\nUid:");
    char text[32];
    if (rf_tasks_read(pid, "../sys/kernel/yama/ptrace_scope", text, sizeof text) > 0 &&
        text[0] >= '1' && owner == (long)getuid())
        return rf_fail(
            error, RF_EINVAL,
            "process %d may not be traced: kernel.yama.ptrace_scope is %c; root may, and "
            "'riffle run --native' may profile what it starts itself",
            (int)pid, text[0]);
    if (owner >= 0 && owner != (long)geteuid())
        return rf_fail(error, RF_EINVAL,
                       "process %d belongs to user %ld; only that user and root may trace it",
                       (int)pid, owner);
    return rf_fail(error, RF_EINVAL, "process %d may not be traced: %s", (int)pid, strerror(EPERM));
}

static rf_status check_status(pid_t pid, const char *status, struct rf_error *error)
{
    char name[64];
    long leader = number_in(status, "\nTgid:"), tracer = number_in(status, "\nTracerPid:");
    if (leader != (long)pid)
        return rf_fail(error, RF_EINVAL, "%d is a thread of process %ld; attach to that", (int)pid,
                       leader);
    if (pid == getpid())
        return rf_fail(error, RF_EINVAL, "process %d is riffle itself", (int)pid);
    if (strstr(status, "\nState:\tZ") != NULL)
        return rf_fail(error, RF_EINVAL, "process %d has ended", (int)pid);
    if (strstr(status, "\nVmSize:") == NULL)
        return rf_fail(error, RF_EINVAL, "process %d is part of the kernel", (int)pid);
    if (tracer <= 0)
        return RF_OK;
    name_of((pid_t)tracer, name, sizeof name);
    return rf_fail(error, RF_EINVAL, "process %d is traced by process %ld (%s) already", (int)pid,
                   tracer, name);
}

/* The right that ptrace needs, tried on the first word that is mapped. */
static bool can_read(pid_t pid)
{
    char path[64];
    uint64_t start = 0, word;
    snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    FILE *file = fopen(path, "re");
    bool known = file != NULL && fscanf(file, "%" SCNx64 "-", &start) == 1;
    if (file != NULL)
        fclose(file);
    struct iovec ours = {&word, sizeof word}, theirs = {(void *)(uintptr_t)start, sizeof word};
    return known && (process_vm_readv(pid, &ours, 1, &theirs, 1, 0) >= 0 || errno == EFAULT);
}

static bool is_64_bits(pid_t pid)
{
    char path[64];
    unsigned char head[EI_NIDENT] = {0};
    snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool known = fd >= 0 && read(fd, head, sizeof head) == (ssize_t)sizeof head;
    if (fd >= 0)
        close(fd);
    return !known || head[EI_CLASS] == ELFCLASS64;
}

void rf_admit_program(pid_t pid, char *program, size_t size)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
    ssize_t n = readlink(path, program, size - 1);
    if (n > 0)
        program[n] = '\0';
    else
        name_of(pid, program, size);
}

rf_status rf_admit_unseen(pid_t pid, int reason, struct rf_error *error)
{
    if (reason == EMFILE || reason == ENFILE || reason == ENOMEM)
        return rf_fail(error, RF_EIO, "process %d cannot be looked at: %s", (int)pid,
                       strerror(reason));
    return rf_fail(error, RF_EINVAL, "there is no process %d", (int)pid);
}

rf_status rf_admit(pid_t pid, char *program, size_t size, struct rf_error *error)
{
    char status[8192];
    errno = 0;
    if (pid <= 0 || rf_tasks_read(pid, "status", status, sizeof status) <= 0)
        return rf_admit_unseen(pid, errno, error);
    rf_status fine = check_status(pid, status, error);
    if (fine != RF_OK)
        return fine;
    if (!can_read(pid))
        return refuse_owner(pid, status, error);
    if (!is_64_bits(pid))
        return rf_fail(error, RF_EINVAL, "process %d is a 32-bit program", (int)pid);
    rf_admit_program(pid, program, size);
    return RF_OK;
}
