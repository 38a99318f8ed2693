/* control.c - the first page of a ring, found and changed from outside.
 *
 *     riffle run, and what it runs          riffle control PID
 *        [control page]  <------------------  /proc/PID/fd/N, a link to "/memfd:riffle-ring"
 *
 * The kernel lets only the same user (and root) open that link. The profiled program can write to the page,
 * so what is read from it is checked before it is used. */
#include <riffle/control.h>
#include "source/ring.h"
#include "base/alloc.h"
#include "base/error.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct rf_control {
    struct rf_ring_control *page;
};

_Static_assert((int)RF_CONTROL_PROFILES == (int)RF_RING_PROFILES, "one name per profile");
_Static_assert((int)RF_CONTROL_TEXT == (int)RF_RING_TEXT, "of the same length");

static bool is_ring(const char *path)
{
    char link[64];
    ssize_t n = readlink(path, link, sizeof link - 1);
    link[n > 0 ? n : 0] = '\0';
    return strncmp(link, "/memfd:riffle-ring", 18) == 0;
}

/* A descriptor of the ring in the process; -1: it has none. */
static int find_ring(DIR *folder, long pid)
{
    const struct dirent *entry;
    while ((entry = readdir(folder)) != NULL) {
        char path[320];
        rf_format(path, sizeof path, "/proc/%ld/fd/%s", pid, entry->d_name);
        if (is_ring(path))
            return open(path, O_RDWR | O_CLOEXEC);
    }
    return -1;
}

static rf_status refuse(long pid, const struct stat *status, struct rf_error *error)
{
    if (errno == ENOENT)
        return rf_fail(error, RF_EINVAL, "there is no process %ld", pid);
    if (status->st_uid != geteuid())
        return rf_fail(error, RF_EINVAL, "process %ld belongs to another user", pid);
    return rf_fail(error, RF_EINVAL, "process %ld: %s", pid, strerror(errno));
}

static rf_status open_ring(int *fd, long pid, struct rf_error *error)
{
    char path[64];
    struct stat status = {.st_uid = geteuid()};
    rf_format(path, sizeof path, "/proc/%ld/fd", pid);
    stat(path, &status);
    DIR *folder = opendir(path);
    if (folder == NULL)
        return refuse(pid, &status, error);
    *fd = find_ring(folder, pid);
    closedir(folder);
    if (*fd < 0)
        return rf_fail(error, RF_EINVAL, "process %ld is neither riffle run nor profiled by it",
                       pid);
    return RF_OK;
}

static struct rf_ring_control *map_page(int fd)
{
    struct stat status;
    if (fstat(fd, &status) != 0 || status.st_size < RF_RING_PAGE)
        return NULL;
    void *page = mmap(NULL, RF_RING_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (page == MAP_FAILED)
        return NULL;
    if (((struct rf_ring_control *)page)->magic == RF_RING_MAGIC)
        return page;
    munmap(page, RF_RING_PAGE);
    return NULL;
}

rf_status rf_control_open(struct rf_control **opened, long pid, struct rf_error *error)
{
    int fd;
    *opened = NULL;
    rf_status status = open_ring(&fd, pid, error);
    if (status != RF_OK)
        return status;
    struct rf_ring_control *page = map_page(fd);
    close(fd);
    if (page == NULL)
        return rf_fail(error, RF_EINVAL, "process %ld belongs to another version of riffle", pid);
    if (page->bursts.n_clocks == 0) {
        munmap(page, RF_RING_PAGE);
        return rf_fail(
            error, RF_EINVAL,
            "process %ld is not profiled in bursts; start it with --burst or --frequency", pid);
    }
    struct rf_control *control = *opened =
        rf_alloc_get(rf_alloc_or_standard(NULL), sizeof *control);
    if (control == NULL) {
        munmap(page, RF_RING_PAGE);
        return rf_fail(error, RF_ENOMEM, "no memory");
    }
    control->page = page;
    return RF_OK;
}

void rf_control_get(const struct rf_control *control, struct rf_control_state *state)
{
    const struct rf_ring_bursts *shared = &control->page->bursts;
    uint32_t n = shared->n_profiles, off = shared->off;
    memset(state, 0, sizeof *state);
    state->n_bursts = rf_ring_read_bursts(shared, state->bursts);
    state->n_profiles = n < RF_RING_PROFILES ? n : RF_RING_PROFILES;
    for (size_t i = 0; i < state->n_profiles; i++) {
        memcpy(state->profiles[i].selector, shared->profiles[i], RF_CONTROL_TEXT - 1);
        state->profiles[i].off = (int)(off >> i & 1);
    }
}

void rf_control_set(struct rf_control *control, const struct rf_control_state *state)
{
    struct rf_ring_bursts *shared = &control->page->bursts;
    uint32_t off = 0;
    size_t n = state->n_profiles < RF_CONTROL_PROFILES ? state->n_profiles : RF_CONTROL_PROFILES;
    for (size_t i = 0; i < n; i++)
        off |= (uint32_t)(state->profiles[i].off != 0) << i;
    shared->off = off;
    rf_ring_change_bursts(shared, state->bursts, state->n_bursts);
}

void rf_control_close(struct rf_control *control)
{
    if (control == NULL)
        return;
    munmap(control->page, RF_RING_PAGE);
    rf_alloc_free(rf_alloc_or_standard(NULL), control, sizeof *control);
}
