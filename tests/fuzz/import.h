/* import.h - any bytes as a stream of another program: records as they may be, then the end or a sentence. */
#ifndef RF_TESTS_FUZZ_IMPORT_H
#define RF_TESTS_FUZZ_IMPORT_H

#include "fuzz.h"
#include <riffle/source.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static void check_records(const struct rf_batch *batch)
{
    for (size_t i = 0; i < batch->n; i++) {
        PROMISE(batch->records[i].kind < RF_CLASS_COUNT);
        PROMISE(batch->records[i].thread >= 1 && batch->records[i].thread <= 1000);
    }
}

static int import_bytes(const char *format, const uint8_t *bytes, size_t n)
{
    struct rf_source *source;
    struct rf_batch batch;
    struct rf_error error = {""};
    char path[40];
    rf_status status;
    int fd = memfd_create("import", MFD_CLOEXEC);
    if (fd < 0 || write(fd, bytes, n) != (ssize_t)n || lseek(fd, 0, SEEK_SET) != 0)
        abort();
    snprintf(path, sizeof path, "/dev/fd/%d", fd);
    if (rf_source_open_as(&source, path, format, NULL, &error) != RF_OK)
        abort();
    while ((status = rf_source_next(source, &batch, &error)) == RF_OK && batch.n > 0)
        check_records(&batch);
    PROMISE(status == RF_OK || error.message[0] != '\0');
    rf_source_close(source);
    close(fd);
    return 0;
}

#endif
