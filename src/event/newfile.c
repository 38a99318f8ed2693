/* newfile.c - create, write, rename.
 *
 * Where the file system can do that (O_TMPFILE), a file has no name while it is written: whoever ends the process, with
 * whatever signal, nothing of it stays. It gets its temporary name and the final one right behind each other; only SIGKILL comes
 * between the two. Elsewhere, as on NFS, it has the temporary name from the beginning, and a signal leaves it there. */
#include "event/newfile.h"
#include "base/alloc.h"
#include "base/error.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <riffle/trace.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char suffix[] = ".XXXXXX";

static bool is_special(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && !S_ISREG(status.st_mode);
}

/* The number at the end of a name; -1: none. */
static int number_of(const char *name)
{
    const char *slash = strrchr(name, '/');
    const char *digits = slash != NULL ? slash + 1 : name;
    size_t n = strspn(digits, "0123456789");
    return n > 0 && n < 9 && digits[n] == '\0' ? atoi(digits) : -1;
}

/* Links are followed one by one, for the one in /proc tells the number. */
int rf_descriptor_of(const char *path)
{
    enum { LINKS_MAX = 8 };
    char name[PATH_MAX], next[PATH_MAX];
    struct stat file, opened, link;
    if (strlen(path) >= sizeof name || stat(path, &file) != 0)
        return -1;
    memcpy(name, path, strlen(path) + 1);
    for (int i = 0; i < LINKS_MAX && lstat(name, &link) == 0 && S_ISLNK(link.st_mode); i++) {
        int fd = number_of(name);
        if (fd >= 0 && fstat(fd, &opened) == 0 && opened.st_dev == file.st_dev &&
            opened.st_ino == file.st_ino)
            return fd;
        ssize_t n = readlink(name, next, sizeof next - 1);
        if (n <= 0 || next[0] != '/')
            return -1;
        memcpy(name, next, (size_t)n);
        name[n] = '\0';
    }
    return -1;
}

/* ---- files without a name ---- */

/* The folder of the file, as a name of its own. False: this name, or the temporary one, is too long. */
static bool folder_of(const char *path, char folder[PATH_MAX])
{
    const char *slash = strrchr(path, '/');
    size_t n = slash != NULL ? (size_t)(slash - path) + 1 : 0;
    if (n + sizeof "." > PATH_MAX || strlen(path + n) + sizeof suffix - 1 > NAME_MAX)
        return false;
    memcpy(folder, path, n);
    memcpy(folder + n, ".", sizeof ".");
    return true;
}

enum { LINK_ROOM = 32 };

/* By this name a file without one can be linked. */
static void name_descriptor(int fd, char link[LINK_ROOM])
{
    rf_format(link, LINK_ROOM, "/proc/self/fd/%d", fd);
}

/* False: the file system has no such files, or the system no /proc. */
static bool open_nameless(struct rf_newfile *file)
{
    char folder[PATH_MAX], link[LINK_ROOM];
    file->fd = folder_of(file->path, folder)
                   ? open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, S_IRUSR | S_IWUSR)
                   : -1;
    if (file->fd < 0)
        return false;
    name_descriptor(file->fd, link);
    file->is_nameless = access(link, F_OK) == 0;
    if (!file->is_nameless)
        close(file->fd);
    return file->is_nameless;
}

/* Under a temporary name that nobody has. */
static bool give_name(struct rf_newfile *file)
{
    enum { TRIES = 1000 };
    char link[LINK_ROOM];
    unsigned first = (unsigned)getpid();
    name_descriptor(file->fd, link);
    for (unsigned i = 0; i < TRIES && file->is_nameless; i++) {
        rf_format(file->temporary, file->room, "%s.%06u", file->path, (first + i) % 1000000);
        file->is_nameless =
            linkat(AT_FDCWD, link, AT_FDCWD, file->temporary, AT_SYMLINK_FOLLOW) != 0;
        if (file->is_nameless && errno != EEXIST)
            return false;
    }
    return !file->is_nameless;
}

/* ---- files ---- */

static rf_status open_file(struct rf_newfile *file, struct rf_error *error)
{
    int descriptor = rf_descriptor_of(file->path);
    if (strcmp(file->path, "-") == 0) {
        file->fd = STDOUT_FILENO;
    } else if (descriptor >= 0) {
        file->fd = fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    } else if (is_special(file->path)) {
        file->fd = open(file->path, O_WRONLY | O_CLOEXEC);
    } else {
        file->temporary = file->path + strlen(file->path) + 1;
        rf_format(file->temporary, file->room, "%s%s", file->path, suffix);
        if (!open_nameless(file))
            file->fd = mkostemp(file->temporary, O_CLOEXEC);
    }
    if (file->fd >= 0)
        return RF_OK;
    file->temporary = NULL;
    return rf_fail(error, RF_EIO, "%s: cannot create: %s", file->path, strerror(errno));
}

rf_status rf_newfile_create(struct rf_newfile *file, const char *path, const struct rf_alloc *alloc,
                            struct rf_error *error)
{
    size_t n = strlen(path) + 1;
    *file = (struct rf_newfile){.alloc = *rf_alloc_or_standard(alloc), .fd = -1};
    file->room = 2 * n + sizeof suffix;
    file->path = rf_alloc_get(&file->alloc, file->room);
    if (file->path == NULL)
        return rf_fail(error, RF_ENOMEM, "%s: no memory to write it", path);
    memcpy(file->path, path, n);
    rf_status status = open_file(file, error);
    if (status != RF_OK)
        rf_newfile_abandon(file);
    return status;
}

rf_status rf_newfile_write(struct rf_newfile *file, const void *bytes, size_t n,
                           struct rf_error *error)
{
    const char *p = bytes;
    while (n > 0) {
        ssize_t done = write(file->fd, p, n);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return rf_fail(error, RF_EIO, "%s: cannot write: %s", file->path, strerror(errno));
        p += done;
        n -= (size_t)done;
        file->written += (uint64_t)done;
    }
    return RF_OK;
}

static void release(struct rf_newfile *file)
{
    rf_alloc_free(&file->alloc, file->path, file->room);
    file->path = file->temporary = NULL;
    file->fd = -1;
}

static bool put_in_place(struct rf_newfile *file)
{
    if (file->is_nameless && !give_name(file))
        return false;
    bool closed = file->fd == STDOUT_FILENO || close(file->fd) == 0;
    file->fd = -1;
    return closed && (file->temporary == NULL || rename(file->temporary, file->path) == 0);
}

/* Signals wait while the file has its temporary name. */
static bool publish(struct rf_newfile *file)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool done = put_in_place(file);
    int reason = errno;
    if (!done && !file->is_nameless && file->temporary != NULL) {
        unlink(file->temporary);
        file->temporary = NULL;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = reason;
    return done;
}

rf_status rf_newfile_finish(struct rf_newfile *file, struct rf_error *error)
{
    rf_status status = RF_OK;
    if (!publish(file))
        status = rf_fail(error, RF_EIO, "%s: cannot write: %s", file->path, strerror(errno));
    if (status == RF_OK)
        release(file);
    else
        rf_newfile_abandon(file);
    return status;
}

void rf_newfile_abandon(struct rf_newfile *file)
{
    if (file->fd >= 0 && file->fd != STDOUT_FILENO)
        close(file->fd);
    if (file->temporary != NULL && !file->is_nameless)
        unlink(file->temporary);
    release(file);
}
