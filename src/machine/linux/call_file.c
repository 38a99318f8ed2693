/* call_file.c - system calls on open files. */
#include "machine/linux/calls.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum { PIECES_MAX = 1024 };

static int64_t result_of(ssize_t result)
{
    return result < 0 ? -errno : result;
}

int64_t rf_call_add_file(struct rf_system *system, int host, uint64_t from)
{
    if (host < 0)
        return -errno;
    for (uint64_t fd = from; fd < RF_SYSTEM_FILES; fd++)
        if (system->file[fd] < 0) {
            system->file[fd] = host;
            return (int64_t)fd;
        }
    close(host);
    return -EMFILE;
}

int64_t rf_call_close(struct rf_system *system, const uint64_t *a)
{
    int host = rf_call_file(system, a[0]);
    if (host < 0)
        return -EBADF;
    system->file[a[0]] = -1;
    return host <= 2 ? 0 : result_of(close(host)); /* riffle still needs the first three */
}

/* /dev/random or /dev/urandom, whose bytes would differ from run to run. */
static bool is_random(int host)
{
    struct stat about;
    return fstat(host, &about) == 0 && S_ISCHR(about.st_mode) && major(about.st_rdev) == 1 &&
           (minor(about.st_rdev) == 8 || minor(about.st_rdev) == 9);
}

int64_t rf_call_read(struct rf_system *system, const uint64_t *a)
{
    if (is_random(rf_call_file(system, a[0])))
        return rf_call_getrandom(system, a + 1);
    void *bytes = rf_call_buffer(system, a[1], a[2], RF_WRITE);
    return bytes == NULL ? -EFAULT : result_of(read(rf_call_file(system, a[0]), bytes, a[2]));
}

int64_t rf_call_write(struct rf_system *system, const uint64_t *a)
{
    const void *bytes = rf_call_buffer(system, a[1], a[2], RF_READ);
    if (bytes == NULL)
        return -EFAULT;
    int64_t result = result_of(write(rf_call_file(system, a[0]), bytes, a[2]));
    if (result == -EPIPE) /* the host's own SIGPIPE is for riffle, not for the guest */
        rf_signals_send(system, SIGPIPE, RF_SIGNAL_BY_KILL);
    return result;
}

int64_t rf_call_pread(struct rf_system *system, const uint64_t *a)
{
    if (is_random(rf_call_file(system, a[0])))
        return rf_call_getrandom(system, a + 1);
    void *bytes = rf_call_buffer(system, a[1], a[2], RF_WRITE);
    return bytes == NULL ? -EFAULT
                         : result_of(pread(rf_call_file(system, a[0]), bytes, a[2], (off_t)a[3]));
}

int64_t rf_call_pwrite(struct rf_system *system, const uint64_t *a)
{
    const void *bytes = rf_call_buffer(system, a[1], a[2], RF_READ);
    return bytes == NULL ? -EFAULT
                         : result_of(pwrite(rf_call_file(system, a[0]), bytes, a[2], (off_t)a[3]));
}

/* readv and writev as a series of single calls. */
static int64_t each_piece(struct rf_system *system, const uint64_t *a, rf_call *one)
{
    int64_t total = 0;
    if (a[2] > PIECES_MAX)
        return -EINVAL;
    const uint8_t *pieces = rf_call_buffer(system, a[1], a[2] * 16, RF_READ);
    if (pieces == NULL)
        return -EFAULT;
    for (uint64_t i = 0; i < a[2]; i++) {
        uint64_t single[3] = {a[0]};
        memcpy(single + 1, pieces + 16 * i, 16);
        int64_t n = single[2] != 0 ? one(system, single) : 0;
        if (n < 0)
            return total > 0 ? total : n;
        total += n;
        if ((uint64_t)n < single[2])
            break;
    }
    return total;
}

int64_t rf_call_readv(struct rf_system *system, const uint64_t *a)
{
    return each_piece(system, a, rf_call_read);
}

int64_t rf_call_writev(struct rf_system *system, const uint64_t *a)
{
    return each_piece(system, a, rf_call_write);
}

/* To the guest, standard output and error are always pipes. */
int64_t rf_call_lseek(struct rf_system *system, const uint64_t *a)
{
    int host = rf_call_file(system, a[0]);
    return host == 1 || host == 2 ? -ESPIPE : result_of(lseek(host, (off_t)a[1], (int)a[2]));
}

int64_t rf_call_ftruncate(struct rf_system *system, const uint64_t *a)
{
    return result_of(ftruncate(rf_call_file(system, a[0]), (off_t)a[1]));
}

int64_t rf_call_fsync(struct rf_system *system, const uint64_t *a)
{
    return result_of(fsync(rf_call_file(system, a[0])));
}

int64_t rf_call_fchmod(struct rf_system *system, const uint64_t *a)
{
    return result_of(fchmod(rf_call_file(system, a[0]), (mode_t)a[1] & 0777));
}

/* Entries of a folder look the same on every 64-bit Linux. */
int64_t rf_call_getdents(struct rf_system *system, const uint64_t *a)
{
    void *entries = rf_call_buffer(system, a[1], a[2], RF_WRITE);
    return entries == NULL
               ? -EFAULT
               : result_of(syscall(SYS_getdents64, rf_call_file(system, a[0]), entries, a[2]));
}

static int64_t duplicate(struct rf_system *system, uint64_t fd, uint64_t from)
{
    int host = rf_call_file(system, fd);
    return rf_call_add_file(system, fcntl(host, F_DUPFD_CLOEXEC, 3), from);
}

int64_t rf_call_dup(struct rf_system *system, const uint64_t *a)
{
    return duplicate(system, a[0], 0);
}

int64_t rf_call_dup3(struct rf_system *system, const uint64_t *a)
{
    if (a[0] == a[1])
        return -EINVAL;
    if (a[1] >= RF_SYSTEM_FILES || rf_call_file(system, a[0]) < 0)
        return -EBADF;
    rf_call_close(system, a + 1);
    return duplicate(system, a[0], a[1]);
}

int64_t rf_call_fcntl(struct rf_system *system, const uint64_t *a)
{
    int host = rf_call_file(system, a[0]);
    if (host < 0)
        return -EBADF;
    switch (a[1]) {
    case F_DUPFD:
    case F_DUPFD_CLOEXEC:
        return a[2] < RF_SYSTEM_FILES ? duplicate(system, a[0], a[2]) : -EINVAL;
    case F_GETFL:
        return result_of(fcntl(host, F_GETFL));
    case F_GETFD:
    case F_SETFD:
    case F_SETFL:
    case F_SETLK: /* nobody else is there */
    case F_SETLKW:
        return 0;
    default:
        return -EINVAL;
    }
}

/* Nothing is a terminal: what a program prints must not depend on where it is run. */
int64_t rf_call_ioctl(struct rf_system *system, const uint64_t *a)
{
    return rf_call_file(system, a[0]) < 0 ? -EBADF : -ENOTTY;
}
