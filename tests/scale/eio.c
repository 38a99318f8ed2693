/* eio.c - preloaded into one rank: pread of a trace fails, as on a machine with a bad disk or a lost server. read does not, so the
 * file can be opened and its first bytes be looked at. With RIFFLE_TEST_DIES in its environment the rank is killed there;
 * with RIFFLE_TEST_FAILS=N the N-th call alone fails. */
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int is_trace(int fd)
{
    char link[64], path[4096] = "";
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, sizeof path - 1);
    return n > 4 && strcmp(path + n - 4, ".rft") == 0;
}

/* Of files of any size, as riffle calls it: its other name is pread64. */
ssize_t pread(int fd, void *bytes, size_t n, off_t offset)
{
    static ssize_t (*next)(int, void *, size_t, off_t);
    if (next == NULL)
        next = dlsym(RTLD_NEXT, "pread64");
    static long calls;
    const char *only = getenv("RIFFLE_TEST_FAILS");
    if (!is_trace(fd) || (only != NULL && ++calls != atol(only)))
        return next(fd, bytes, n, offset);
    if (getenv("RIFFLE_TEST_DIES") != NULL)
        raise(SIGKILL);
    errno = EIO;
    return -1;
}
