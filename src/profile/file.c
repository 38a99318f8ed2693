/* file.c - runs in files: saved whole or not at all, loaded whole or refused.
 *
 * A file is written under a temporary name in the folder where it will stand, flushed to the disk and
 * renamed (event/newfile.h): under the final name there is always the whole old file or the whole new one,
 * even after a power cut. Only its owner can read it, because a profile has addresses and values of a
 * program's memory. */
#include "profile/file.h"
#include "base/alloc.h"
#include "base/error.h"
#include "event/newfile.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static rf_status system_failure(struct rf_error *error, const char *path, const char *what)
{
    char buffer[128];
    int number = errno;
    return rf_fail(error, RF_EIO, "%s: %s: %s", path, what,
                   strerror_r(number, buffer, sizeof buffer));
}

rf_status rf_run_save(const struct rf_run *run, const char *path, struct rf_error *error)
{
    struct rf_bytes bytes;
    struct rf_newfile file;
    rf_status status = rf_run_encode(run, &bytes, error);
    if (status != RF_OK)
        return status;
    status = rf_newfile_create(&file, path, &run->alloc, error);
    if (status == RF_OK) {
        status = rf_newfile_write(&file, bytes.bytes, bytes.n, error);
        if (status == RF_OK && file.temporary != NULL && fsync(file.fd) != 0)
            status = system_failure(error, path, "cannot write");
        if (status == RF_OK)
            status = rf_newfile_finish(&file, error);
        else
            rf_newfile_abandon(&file);
    }
    rf_bytes_free(&bytes, &run->alloc);
    return status;
}

rf_status rf_run_pack(const struct rf_run *run, void **bytes, size_t *n, struct rf_error *error)
{
    struct rf_bytes file;
    *bytes = NULL;
    *n = 0;
    rf_status status = rf_run_encode(run, &file, error);
    if (status != RF_OK)
        return status;
    void *exact = file.bytes;
    if (!rf_alloc_array(&run->alloc, &exact, file.room, file.n, 1)) {
        rf_bytes_free(&file, &run->alloc);
        return rf_fail(error, RF_ENOMEM, "no memory for the bytes of a run");
    }
    *bytes = exact;
    *n = file.n;
    return RF_OK;
}

void rf_run_free_packed(const struct rf_run *run, void *bytes, size_t n)
{
    rf_alloc_free(&run->alloc, bytes, n);
}

enum { READ_PIECE = 1 << 16 };

static rf_status read_all(int fd, const char *path, const struct rf_alloc *alloc,
                          struct rf_bytes *file, struct rf_error *error)
{
    for (;;) {
        if (file->n > RF_RFP_LENGTH_MAX)
            return rf_fail(error, RF_EDAMAGED, "%s: too long for a profile", path);
        if (rf_bytes_reserve(file, alloc, READ_PIECE) != RF_OK)
            return rf_fail(error, RF_ENOMEM, "%s: no memory to read it", path);
        ssize_t n = read(fd, file->bytes + file->n, file->room - file->n);
        if (n == 0)
            return RF_OK;
        if (n > 0)
            file->n += (size_t)n;
        else if (errno != EINTR)
            return system_failure(error, path, "cannot read");
    }
}

rf_status rf_run_load(struct rf_run **run, const char *path, const struct rf_alloc *alloc,
                      struct rf_error *error)
{
    *run = NULL;
    alloc = rf_alloc_or_standard(alloc);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return system_failure(error, path, "cannot open");
    struct rf_bytes file = {NULL, 0, 0};
    rf_status status = read_all(fd, path, alloc, &file, error);
    close(fd);
    if (status == RF_OK) {
        struct rf_error inner = {""};
        status = rf_run_decode(run, file.bytes, file.n, alloc, &inner);
        if (status != RF_OK)
            rf_fail(error, status, "%s: %s", path, inner.message);
    }
    rf_bytes_free(&file, alloc);
    return status;
}
