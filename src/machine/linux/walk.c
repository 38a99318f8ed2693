/* walk.c - names of the guest's, resolved here and not by the host.
 *
 * Each part of a name is opened by itself, in the folder that the parts before it led to, as a descriptor that only
 * names a file (O_PATH | O_NOFOLLOW). The host thus follows nothing on its own. We look at what was opened:
 *
 *     a symbolic link     its text is put in front of the parts that are left; an absolute one starts at the root
 *     ..                  at the root it stays; elsewhere it is opened, and must lie inside the root
 *     a file of procfs    is not there
 *     anything else       the folder for the next part, or the end
 *
 * All decisions are about files that are open by then, so neither another spelling of a name nor a change of folders
 * in between makes a difference. That holds in particular for a folder that the guest has open while somebody moves
 * it out of the root: its `..` is not there.
 *
 * procfs has riffle's own memory (/proc/self/mem and its many other names) and links that lead anywhere
 * (/proc/self/root, /proc/self/fd). Nobody gets past its folders, wherever it is mounted.
 *
 * Why not openat2 with RESOLVE_IN_ROOT: it takes the folder a name starts from for the root, so that `..` and absolute
 * links behind an open folder lead elsewhere than on Linux; it knows no RESOLVE_NO_PROCFS; older hosts and some
 * containers do not have it. */
#include "machine/linux/walk.h"
#include "machine/linux/calls.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

enum { LINKS_MAX = 40 };

enum { TO_NAME = O_PATH | O_NOFOLLOW | O_CLOEXEC };

/* On the way. */
struct walk {
    const struct rf_system *system;
    int at;                  /* the folder that was reached */
    char rest[RF_WALK_PATH]; /* the parts to come */
    unsigned links;          /* that were followed */
};

/* The next part of a name. */
struct part {
    char name[RF_PLACE_NAME];
    bool is_last, slash; /* slash: one stands behind it */
};

bool rf_walk_is_process_file(int host)
{
    struct statfs status;
    return fstatfs(host, &status) != 0 || status.f_type == PROC_SUPER_MAGIC;
}

static bool is_same(int a, int b)
{
    struct stat x, y;
    return fstat(a, &x) == 0 && fstat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* Does `..`, again and again, lead from the folder to the root? Closes the folder. */
static bool reaches_root(const struct rf_system *system, int folder)
{
    bool found = is_same(folder, system->root), top = false;
    while (!found && !top && folder >= 0) {
        int above = openat(folder, "..", TO_NAME | O_DIRECTORY);
        found = above >= 0 && is_same(above, system->root);
        top = above >= 0 && is_same(above, folder);
        close(folder);
        folder = above;
    }
    if (folder >= 0)
        close(folder);
    return found;
}

static int open_above(const struct rf_system *system, int folder)
{
    if (is_same(folder, system->root))
        return openat(folder, ".", TO_NAME | O_DIRECTORY);
    int above = openat(folder, "..", TO_NAME | O_DIRECTORY);
    if (above < 0 || !system->fenced)
        return above;
    if (reaches_root(system, fcntl(above, F_DUPFD_CLOEXEC, 3)))
        return above;
    close(above);
    errno = ENOENT;
    return -1;
}

static int open_part(const struct walk *walk, const char *name)
{
    if (strcmp(name, "..") == 0)
        return open_above(walk->system, walk->at);
    return openat(walk->at, name, strcmp(name, ".") == 0 ? TO_NAME | O_DIRECTORY : TO_NAME);
}

/* Take the first part off the rest. An empty rest, or one of slashes alone, is the folder itself. */
static int64_t take_part(struct walk *walk, struct part *part)
{
    const char *from = walk->rest + strspn(walk->rest, "/");
    size_t n = strcspn(from, "/"), behind = n + strspn(from + n, "/");
    if (n >= sizeof part->name)
        return -ENAMETOOLONG;
    *part = (struct part){.is_last = from[behind] == '\0', .slash = behind > n};
    memcpy(part->name, n > 0 ? from : ".", n > 0 ? n : 1);
    memmove(walk->rest, from + behind, strlen(from + behind) + 1);
    return 0;
}

static void move_to(struct walk *walk, int folder)
{
    close(walk->at);
    walk->at = folder;
}

/* Put the text of a link in front of the rest. */
static int64_t follow(struct walk *walk, int link, const struct part *part)
{
    char text[RF_WALK_PATH];
    size_t left = strlen(walk->rest);
    ssize_t n = readlinkat(link, "", text, sizeof text);
    if (n < 0)
        return -errno;
    if (walk->links++ == LINKS_MAX)
        return -ELOOP;
    if ((size_t)n + 1 + left >= sizeof walk->rest)
        return -ENAMETOOLONG;
    memmove(walk->rest + n + part->slash, walk->rest, left + 1);
    memcpy(walk->rest, text, (size_t)n);
    if (part->slash)
        walk->rest[n] = '/';
    if (n > 0 && text[0] == '/')
        move_to(walk, fcntl(walk->system->root, F_DUPFD_CLOEXEC, 3));
    return 0;
}

static int64_t end_at(struct walk *walk, const struct part *part, int object, mode_t mode,
                      struct rf_place *place)
{
    memcpy(place->name, part->name, sizeof place->name);
    place->slash = part->slash;
    place->folder = walk->at;
    place->object = object;
    walk->at = -1;
    return object >= 0 && part->slash && !S_ISDIR(mode) ? -ENOTDIR : 0;
}

/* One part further. 1: the end is not reached. */
static int64_t step(struct walk *walk, enum rf_walk_end end, struct rf_place *place)
{
    struct part part;
    struct stat status = {0};
    int64_t result = take_part(walk, &part);
    if (result != 0)
        return result;
    int next = open_part(walk, part.name);
    bool may_miss = part.is_last && strcmp(part.name, "..") != 0;
    if (next < 0 && (errno != ENOENT || !may_miss))
        return -errno;
    if (next >= 0 && (rf_walk_is_process_file(next) || fstat(next, &status) != 0)) {
        close(next);
        return -ENOENT;
    }
    bool may_stay = part.is_last && !part.slash && end == RF_WALK_KEEP;
    if (S_ISLNK(status.st_mode) && !may_stay) {
        result = follow(walk, next, &part);
        close(next);
        return result == 0 ? 1 : result;
    }
    if (part.is_last)
        return end_at(walk, &part, next, status.st_mode, place);
    move_to(walk, next);
    return 1;
}

/* Where the name starts, as a descriptor of the walk's own. */
static int64_t start(struct walk *walk, uint64_t fd)
{
    const struct rf_system *system = walk->system;
    int from = walk->rest[0] == '/'      ? system->root
               : (int32_t)fd == AT_FDCWD ? system->start
                                         : rf_call_file(system, fd);
    walk->at = fcntl(from, F_DUPFD_CLOEXEC, 3);
    if (walk->at < 0)
        return -errno;
    return rf_walk_is_process_file(walk->at) ? -ENOENT : 0;
}

int64_t rf_walk(const struct rf_system *system, uint64_t fd, uint64_t address, enum rf_walk_end end,
                struct rf_place *place)
{
    struct walk walk = {.system = system, .at = -1};
    *place = (struct rf_place){.folder = -1, .object = -1};
    if (!rf_memory_string(&system->core->memory, address, walk.rest, sizeof walk.rest))
        return -EFAULT;
    int64_t result = walk.rest[0] == '\0' ? -ENOENT : start(&walk, fd);
    for (result = result == 0 ? 1 : result; result == 1;)
        result = step(&walk, end, place);
    if (walk.at >= 0)
        close(walk.at);
    return result;
}

void rf_place_close(const struct rf_place *place)
{
    if (place->folder >= 0)
        close(place->folder);
    if (place->object >= 0)
        close(place->object);
}
