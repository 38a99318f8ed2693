/* newfile.c - create, write, rename. */
#include "event/newfile.h"
#include "base/alloc.h"
#include "base/error.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <riffle/trace.h>
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

rf_status rf_newfile_finish(struct rf_newfile *file, struct rf_error *error)
{
    rf_status status = RF_OK;
    bool failed = file->fd != STDOUT_FILENO && close(file->fd) != 0;
    file->fd = -1;
    if (!failed && file->temporary != NULL)
        failed = rename(file->temporary, file->path) != 0;
    if (failed)
        status = rf_fail(error, RF_EIO, "%s: cannot write: %s", file->path, strerror(errno));
    if (failed && file->temporary != NULL)
        unlink(file->temporary);
    release(file);
    return status;
}

void rf_newfile_abandon(struct rf_newfile *file)
{
    if (file->fd >= 0 && file->fd != STDOUT_FILENO)
        close(file->fd);
    if (file->temporary != NULL)
        unlink(file->temporary);
    release(file);
}
