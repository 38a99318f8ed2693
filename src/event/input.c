#include "event/input.h"
#include <errno.h>
#include <unistd.h>

enum { HERE = -1 }; /* where the descriptor stands */

static ssize_t read_all(int fd, unsigned char *bytes, size_t n, off_t offset)
{
    size_t done = 0;
    while (done < n) {
        ssize_t got = offset == HERE ? read(fd, bytes + done, n - done)
                                     : pread(fd, bytes + done, n - done, offset + (off_t)done);
        if (got == 0)
            break;
        if (got < 0 && errno != EINTR)
            return -1;
        done += got > 0 ? (size_t)got : 0;
    }
    return (ssize_t)done;
}

ssize_t rf_input_read(int fd, void *bytes, size_t n)
{
    return read_all(fd, bytes, n, HERE);
}

ssize_t rf_input_at(int fd, void *bytes, size_t n, off_t offset)
{
    return offset >= 0 ? read_all(fd, bytes, n, offset) : (errno = EINVAL, -1);
}
