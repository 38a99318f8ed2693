/* call_path.c - system calls on names of files.
 *
 * walk.c finds the file. A call that asks about it asks the descriptor that was found; one that changes a folder
 * works on the last part of the name in the folder that was found. The host never sees a name of more parts. */
#include "machine/linux/calls.h"
#include "machine/linux/walk.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { STAT_SIZE = 128, OPEN_FLAGS = 0x3fffff /* those that Linux knows */ };

static int64_t result_of(ssize_t result)
{
    return result < 0 ? -errno : result;
}

static bool is_empty(const struct rf_system *system, uint64_t address)
{
    char name[1];
    return rf_memory_string(&system->core->memory, address, name, sizeof name);
}

static int64_t leave(const struct rf_place *place, int64_t result)
{
    rf_place_close(place);
    return result;
}

/* For a call on a file that must be there. */
static int64_t find(const struct rf_system *system, const uint64_t *a, enum rf_walk_end end,
                    struct rf_place *place)
{
    int64_t status = rf_walk(system, a[0], a[1], end, place);
    return status == 0 && place->object < 0 ? -ENOENT : status;
}

static enum rf_walk_end end_of(int flags)
{
    return (flags & AT_SYMLINK_NOFOLLOW) != 0 ? RF_WALK_KEEP : RF_WALK_FOLLOW;
}

static int open_place(const struct rf_place *place, uint64_t flags, mode_t mode)
{
    int host_flags = (int)flags | O_NOFOLLOW | O_CLOEXEC;
    if (strcmp(place->name, "..") == 0) /* the host must not go there by itself */
        return openat(place->object, ".", host_flags, mode);
    return openat(place->folder, place->name, host_flags, mode);
}

/* The guest's own open file that a name stands for, -1: for none. On Linux these names lead through procfs. */
static int64_t own_file(const struct rf_system *system, uint64_t address)
{
    static const char *const names[] = {"/dev/stdin", "/dev/stdout", "/dev/stderr"};
    char name[sizeof "/dev/stdout"];
    if (!rf_memory_string(&system->core->memory, address, name, sizeof name))
        return -1;
    for (int fd = 0; fd < 3; fd++)
        if (strcmp(name, names[fd]) == 0)
            return fd;
    return -1;
}

int64_t rf_call_openat(struct rf_system *system, const uint64_t *a)
{
    struct rf_place place;
    uint64_t flags = a[2] & OPEN_FLAGS;
    bool is_new = (flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL);
    bool keep = is_new || (flags & O_NOFOLLOW) != 0;
    int64_t own = own_file(system, a[1]);
    if (own >= 0)
        return rf_call_dup(system, &(const uint64_t){(uint64_t)own});
    int64_t status = rf_walk(system, a[0], a[1], keep ? RF_WALK_KEEP : RF_WALK_FOLLOW, &place);
    if (place.slash && (flags & O_CREAT) != 0)
        status = -EISDIR;
    if (status != 0)
        return leave(&place, status);
    int host = open_place(&place, flags, (mode_t)a[3] & 07777);
    if (host >= 0 && rf_walk_is_process_file(host)) {
        close(host);
        return leave(&place, -ENOENT);
    }
    return leave(&place, rf_call_add_file(system, host, 0));
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

/* To the guest, standard output and error are always pipes, so that it runs the same way everywhere. */
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
    struct rf_place place;
    struct stat host = {0};
    int flags = (int)a[3];
    if ((flags & AT_EMPTY_PATH) != 0 && is_empty(system, a[1]))
        return rf_call_fstat(system, (const uint64_t[]){a[0], a[2]});
    int64_t status = find(system, a, end_of(flags), &place);
    if (status == 0)
        status = result_of(fstat(place.object, &host));
    return leave(&place, status != 0 ? status : put_stat(system, a[2], &host));
}

int64_t rf_call_faccessat2(struct rf_system *system, const uint64_t *a)
{
    struct rf_place place;
    int flags = (int)a[3];
    if ((flags & AT_EMPTY_PATH) != 0 && is_empty(system, a[1]))
        return result_of(faccessat(rf_call_file(system, a[0]), "", (int)a[2], AT_EMPTY_PATH));
    int64_t status = find(system, a, end_of(flags), &place);
    if (status == 0)
        status = result_of(faccessat(place.object, "", (int)a[2], AT_EMPTY_PATH));
    return leave(&place, status);
}

int64_t rf_call_faccessat(struct rf_system *system, const uint64_t *a)
{
    return rf_call_faccessat2(system, (const uint64_t[]){a[0], a[1], a[2], 0});
}

/* chmod takes no O_PATH descriptor, but the host has a name for every descriptor. */
int64_t rf_call_fchmodat(struct rf_system *system, const uint64_t *a)
{
    struct rf_place place;
    char name[40];
    int64_t status = find(system, a, RF_WALK_FOLLOW, &place);
    snprintf(name, sizeof name, "/proc/self/fd/%d", place.object);
    if (status == 0)
        status = result_of(chmod(name, (mode_t)a[2] & 0777));
    return leave(&place, status);
}

/* `no_link`: the error for a file of another kind. */
static int64_t read_link(int object, char *bytes, size_t n, int no_link)
{
    struct stat status;
    bool is_link = fstat(object, &status) == 0 && S_ISLNK(status.st_mode);
    return is_link ? result_of(readlinkat(object, "", bytes, n)) : -no_link;
}

/* An empty name is the link that the guest has open itself. */
int64_t rf_call_readlinkat(struct rf_system *system, const uint64_t *a)
{
    struct rf_place place;
    void *bytes = rf_call_buffer(system, a[2], a[3], RF_WRITE);
    if (bytes == NULL)
        return -EFAULT;
    if (is_empty(system, a[1]))
        return read_link(rf_call_file(system, a[0]), bytes, a[3], ENOENT);
    int64_t status = find(system, a, RF_WALK_KEEP, &place);
    if (status == 0)
        status = read_link(place.object, bytes, a[3], EINVAL);
    return leave(&place, status);
}

/* Changes the folder entry that a[0] and a[1] name; `flags` is a[2]. */
static int64_t change_entry(struct rf_system *system, const uint64_t *a,
                            int (*change)(int folder, const char *name, unsigned flags))
{
    struct rf_place place;
    int64_t status = rf_walk(system, a[0], a[1], RF_WALK_KEEP, &place);
    if (status == 0)
        status = result_of(change(place.folder, place.name, (unsigned)a[2]));
    return leave(&place, status);
}

static int remove_entry(int folder, const char *name, unsigned flags)
{
    return unlinkat(folder, name, (int)flags);
}

int64_t rf_call_unlinkat(struct rf_system *system, const uint64_t *a)
{
    return change_entry(system, a, remove_entry);
}

static int make_folder(int folder, const char *name, unsigned mode)
{
    return mkdirat(folder, name, (mode_t)mode);
}

int64_t rf_call_mkdirat(struct rf_system *system, const uint64_t *a)
{
    return change_entry(system, a, make_folder);
}

int64_t rf_call_renameat(struct rf_system *system, const uint64_t *a)
{
    struct rf_place from, to;
    int64_t status = rf_walk(system, a[0], a[1], RF_WALK_KEEP, &from);
    if (status != 0)
        return leave(&from, status);
    status = rf_walk(system, a[2], a[3], RF_WALK_KEEP, &to);
    if (status == 0)
        status = result_of(renameat(from.folder, from.name, to.folder, to.name));
    return leave(&from, leave(&to, status));
}

int64_t rf_call_getcwd(struct rf_system *system, const uint64_t *a)
{
    char path[RF_WALK_PATH] = "/";
    if (!system->fenced && getcwd(path, sizeof path) == NULL)
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
