/* trace_inspect.c - what a .rft file says about itself; every block is checked and none is unpacked. */
#include "event/trace.h"
#include "event/input.h"
#include "base/error.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static rf_status inspect(int fd, const char *path, struct rf_trace_info *info,
                         struct rf_error *error)
{
    struct rf_trace_reader *reader;
    struct rf_trace_events events;
    const struct rf_trace_input input = {.fd = fd, .name = path, .depth = RF_TRACE_HEADS};
    rf_status status = rf_trace_reader_open(&reader, &input, NULL, error);
    if (status != RF_OK)
        return status;
    bool known = false;
    while ((status = rf_trace_reader_next(reader, &events, error)) == RF_OK && events.n > 0) {
        if (!known)
            info->kind = events.kind; /* where the header cannot tell */
        known = true;
    }
    enum rf_trace_kind kind = info->kind;
    rf_trace_reader_info(reader, info);
    info->kind = known ? kind : info->kind;
    info->complete = status == RF_OK;
    rf_trace_reader_close(reader);
    return status;
}

rf_status rf_trace_inspect(const char *path, struct rf_trace_info *info, struct rf_error *error)
{
    unsigned char head[RF_MAGIC_SIZE];
    memset(info, 0, sizeof *info);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return rf_fail(error, RF_EIO, "%s: cannot open: %s", path, strerror(errno));
    ssize_t n = rf_input_at(fd, head, sizeof head, 0);
    rf_status status;
    if (n < 0)
        status = rf_fail(error, RF_EIO, "%s: cannot read: %s", path, strerror(errno));
    else if (!rf_trace_is_magic(head, (size_t)n))
        status = rf_fail(error, RF_EINVAL, "%s: not a trace", path);
    else
        status = inspect(fd, path, info, error);
    close(fd);
    return status;
}
