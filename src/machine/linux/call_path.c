/* call_path.c - system calls on names of files.
 *
 * Without a root the guest's names are the host's. With one, the root is the guest's / and the folder it
 * starts in, and no name leads out of it: not through `..`, not through a symbolic link, not by a change of
 * folders between our look and the call. That is the kernel's work (openat2 with RESOLVE_IN_ROOT); what has
 * no such form is done on the last part of a name in a folder that was opened so.
 *
 * Cannot: `..` behind an open folder of the guest stays in that folder when there is a root. */
#include "machine/linux/calls.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PATH_SIZE = 4096, STAT_SIZE = 128 };

static int64_t result_of(ssize_t result)
{
    return result < 0 ? -errno : result;
}

/* A name as the host knows it: relative to an open folder. */
struct place {
    int folder;
    bool opened; /* the folder is ours to close */
    char name[PATH_SIZE];
};

static int open_in_root(int root, const char *path, uint64_t flags, mode_t mode)
{
    const struct open_how how = {.flags = flags | O_CLOEXEC,
                                 .mode = (flags & O_CREAT) != 0 ? mode & 07777 : 0,
                                 .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
    return (int)syscall(SYS_openat2, root, path, &how, sizeof how);
}

static int64_t read_name(const struct rf_system *system, uint64_t fd, uint64_t address,
                         struct place *place)
{
    *place = (struct place){.folder = AT_FDCWD};
    if (!rf_memory_string(&system->core->memory, address, place->name, sizeof place->name))
        return -EFAULT;
    if (strncmp(place->name, "/proc/self", 10) == 0)
        return -ENOENT; /* that would be us, not the guest */
    bool at_start = place->name[0] == '/' || (int32_t)fd == AT_FDCWD;
    if (!at_start)
        place->folder = rf_call_file(system, fd);
    else if (system->root >= 0)
        place->folder = system->root;
    return 0;
}

/* Split off the last part of the name: the folder before it is opened inside the root. */
static int64_t enter_folder(struct place *place)
{
    char *name = place->name;
    size_t n = strlen(name);
    while (n > 1 && name[n - 1] == '/')
        name[--n] = '\0';
    char *slash = strrchr(name, '/');
    const char *last = slash != NULL ? slash + 1 : name;
    const char *before = slash == NULL ? "." : slash == name ? "/" : name;
    if (slash != NULL && slash != name)
        *slash = '\0';
    int folder = open_in_root(place->folder, before, O_PATH | O_DIRECTORY, 0);
    if (folder < 0)
        return -errno;
    place->folder = folder;
    place->opened = true;
    memmove(name, *last != '\0' ? last : ".", strlen(*last != '\0' ? last : ".") + 1);
    return 0;
}

/* Where a call that does not follow a symbolic link at the end finds the name. */
static int64_t find_place(const struct rf_system *system, uint64_t fd, uint64_t address,
                          struct place *place)
{
    int64_t status = read_name(system, fd, address, place);
    if (status != 0 || system->root < 0 || place->name[0] == '\0')
        return status;
    return enter_folder(place);
}

static int64_t leave(const struct place *place, int64_t result)
{
    if (place->opened)
        close(place->folder);
    return result;
}

/* The file itself, links followed, as a descriptor that can be asked about it. */
static int open_to_ask(const struct rf_system *system, const struct place *place)
{
    if (system->root >= 0)
        return open_in_root(place->folder, place->name, O_PATH, 0);
    return openat(place->folder, place->name, O_PATH | O_CLOEXEC);
}

int64_t rf_call_openat(struct rf_system *system, const uint64_t *a)
{
    struct place place;
    int64_t status = read_name(system, a[0], a[1], &place);
    if (status != 0)
        return status;
    uint64_t flags = a[2] & 0x3fffff; /* those that Linux knows */
    int host = system->root >= 0
                   ? open_in_root(place.folder, place.name, flags, (mode_t)a[3])
                   : openat(place.folder, place.name, (int)flags | O_CLOEXEC, (mode_t)a[3]);
    return rf_call_add_file(system, host, 0);
}

/* struct stat of RISC-V Linux. Times are left out: they would differ from run to run. */
static int64_t put_stat(struct rf_system *system, uint64_t address, const struct stat *host)
{
    uint8_t *to = rf_call_buffer(system, address, STAT_SIZE, RF_WRITE);
    if (to == NULL)
        return -EFAULT;
    const uint64_t wide[] = {host->st_dev, host->st_ino};
    const uint32_t narrow[] = {host->st_mode, (uint32_t)host->st_nlink, 1000, 1000};
    const uint64_t size = (uint64_t)host->st_size, blocks = (uint64_t)host->st_blocks;
    const uint32_t block_size = 4096;
    memset(to, 0, STAT_SIZE);
    memcpy(to, wide, 16);
    memcpy(to + 16, narrow, 16);
    memcpy(to + 48, &size, 8);
    memcpy(to + 56, &block_size, 4);
    memcpy(to + 64, &blocks, 8);
    return 0;
}

/* Standard output and error are pipes to the guest, wherever they go, so that it does the same. */
int64_t rf_call_fstat(struct rf_system *system, const uint64_t *a)
{
    struct stat status = {.st_mode = S_IFIFO | 0600, .st_nlink = 1};
    int host = rf_call_file(system, a[0]);
    if (host != 1 && host != 2 && fstat(host, &status) != 0)
        return -errno;
    return put_stat(system, a[1], &status);
}

int64_t rf_call_newfstatat(struct rf_system *system, const uint64_t *a)
{
    struct place place;
    struct stat host = {0};
    bool follow = ((int)a[3] & AT_SYMLINK_NOFOLLOW) == 0;
    int64_t status =
        follow ? read_name(system, a[0], a[1], &place) : find_place(system, a[0], a[1], &place);
    if (status != 0)
        return status;
    if (place.name[0] == '\0')
        return rf_call_fstat(system, (const uint64_t[]){a[0], a[2]});
    if (!follow) {
        status = fstatat(place.folder, place.name, &host, AT_SYMLINK_NOFOLLOW) != 0 ? -errno : 0;
        leave(&place, 0);
    } else {
        int fd = open_to_ask(system, &place);
        status = fd < 0 || fstat(fd, &host) != 0 ? -errno : 0;
        if (fd >= 0)
            close(fd);
    }
    return status != 0 ? status : put_stat(system, a[2], &host);
}

int64_t rf_call_faccessat(struct rf_system *system, const uint64_t *a)
{
    struct place place;
    int64_t status = read_name(system, a[0], a[1], &place);
    if (status != 0)
        return status;
    int fd = open_to_ask(system, &place);
    if (fd < 0)
        return -errno;
    status = result_of(faccessat(fd, "", (int)a[2], AT_EMPTY_PATH));
    close(fd);
    return status;
}

/* chmod has no form for a descriptor that can only be asked about, but the host knows it by a name. */
int64_t rf_call_fchmodat(struct rf_system *system, const uint64_t *a)
{
    struct place place;
    char name[40];
    int64_t status = read_name(system, a[0], a[1], &place);
    if (status != 0)
        return status;
    int fd = open_to_ask(system, &place);
    if (fd < 0)
        return -errno;
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    status = result_of(chmod(name, (mode_t)a[2] & 0777));
    close(fd);
    return status;
}

int64_t rf_call_readlinkat(struct rf_system *system, const uint64_t *a)
{
    struct place place;
    void *bytes = rf_call_buffer(system, a[2], a[3], RF_WRITE);
    int64_t status = bytes == NULL ? -EFAULT : find_place(system, a[0], a[1], &place);
    if (status != 0)
        return status;
    return leave(&place, result_of(readlinkat(place.folder, place.name, bytes, a[3])));
}

int64_t rf_call_unlinkat(struct rf_system *system, const uint64_t *a)
{
    struct place place;
    int64_t status = find_place(system, a[0], a[1], &place);
    if (status != 0)
        return status;
    return leave(&place, result_of(unlinkat(place.folder, place.name, (int)a[2])));
}

int64_t rf_call_mkdirat(struct rf_system *system, const uint64_t *a)
{
    struct place place;
    int64_t status = find_place(system, a[0], a[1], &place);
    if (status != 0)
        return status;
    return leave(&place, result_of(mkdirat(place.folder, place.name, (mode_t)a[2])));
}

int64_t rf_call_renameat(struct rf_system *system, const uint64_t *a)
{
    struct place from, to;
    int64_t status = find_place(system, a[0], a[1], &from);
    if (status != 0)
        return status;
    status = find_place(system, a[2], a[3], &to);
    if (status != 0)
        return leave(&from, status);
    status = result_of(renameat(from.folder, from.name, to.folder, to.name));
    return leave(&from, leave(&to, status));
}

int64_t rf_call_getcwd(struct rf_system *system, const uint64_t *a)
{
    char path[PATH_SIZE] = "/";
    if (system->root < 0 && getcwd(path, sizeof path) == NULL)
        return -errno;
    size_t n = strlen(path) + 1;
    if (a[1] < n)
        return -ERANGE;
    char *to = rf_call_buffer(system, a[0], n, RF_WRITE);
    if (to == NULL)
        return -EFAULT;
    memcpy(to, path, n);
    return (int64_t)n;
}
