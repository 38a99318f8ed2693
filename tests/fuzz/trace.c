/* Any bytes as a .rft file, once as they are and once with every checksum put right, so that what lies
 * behind the checksums is reached: blocks, then the end or RF_EDAMAGED with a sentence. */
#include "fuzz.h"
#include "base/bytes.h"
#include "base/checksum.h"
#include "event/trace.h"
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void mend_head(uint8_t *head, size_t left)
{
    size_t stored = rf_load32(head + 16);
    if (stored <= left - RF_TRACE_HEAD_SIZE)
        rf_store64(head + 32, rf_checksum(head + RF_TRACE_HEAD_SIZE, stored));
    rf_store64(head + 40, rf_checksum(head, 40));
}

static void mend(uint8_t *bytes, size_t n)
{
    size_t size = n >= RF_TRACE_HEADER_FIXED ? rf_trace_header_size(bytes) : 0;
    if (size > 0 && size <= n)
        rf_store64(bytes + size - 8, rf_checksum(bytes, size - 8));
    for (size_t i = 0; i + RF_TRACE_HEAD_SIZE <= n; i++)
        if (memcmp(bytes + i, rf_trace_sync, 4) == 0)
            mend_head(bytes + i, n - i);
}

static uint64_t use(const struct rf_trace_events *events)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < events->n; i++) {
        if (events->kind == RF_TRACE_RECORDS) {
            PROMISE(events->records[i].kind < RF_CLASS_COUNT);
            sum += events->records[i].target;
        } else {
            sum += events->tuples[i].b + (events->counts == NULL ? 1 : events->counts[i]);
        }
    }
    return sum;
}

static uint64_t use_modules(const struct rf_module *modules, size_t n)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        PROMISE(modules[i].start <= modules[i].end);
        sum += strlen(modules[i].path) + strlen(modules[i].build_id);
    }
    return sum;
}

static void read_all(int fd, uint64_t seek)
{
    uint64_t sum = 0;
    struct rf_trace_reader *reader;
    struct rf_trace_events events;
    struct rf_error error = {""};
    rf_status status;
    const struct rf_trace_input input = {.fd = fd, .name = "in", .depth = RF_TRACE_EVENTS};
    if (lseek(fd, 0, SEEK_SET) != 0 || rf_trace_reader_open(&reader, &input, NULL, &error) != RF_OK)
        abort();
    uint64_t first;
    if (seek > 0 && rf_trace_reader_seek(reader, seek, &first) == RF_OK)
        PROMISE(first <= seek);
    size_t n;
    const struct rf_module *modules;
    PROMISE(rf_trace_reader_modules(reader, &modules, &n) == RF_OK);
    sum += use_modules(modules, n);
    while ((status = rf_trace_reader_next(reader, &events, &error)) == RF_OK && events.n > 0)
        sum += use(&events);
    PROMISE(status == RF_OK || error.message[0] != '\0');
    PROMISE(rf_trace_reader_modules(reader, &modules, &n) == RF_OK);
    sum += use_modules(modules, n);
    __asm__ volatile("" : : "r"(sum)); /* it was all read */
    rf_trace_reader_close(reader);
}

/* The events of a piece; false: it cannot be read in pieces, or is damaged. */
static bool count_part(int fd, size_t part, size_t parts, uint64_t *n)
{
    struct rf_trace_reader *reader;
    struct rf_trace_events events;
    struct rf_trace_piece piece;
    const struct rf_trace_input input = {.fd = fd, .name = "in", .depth = RF_TRACE_EVENTS};
    if (lseek(fd, 0, SEEK_SET) != 0 || rf_trace_reader_open(&reader, &input, NULL, NULL) != RF_OK)
        abort();
    rf_status status = parts > 0 ? rf_trace_reader_part(reader, part, parts, &piece) : RF_OK;
    while (status == RF_OK && (status = rf_trace_reader_next(reader, &events, NULL)) == RF_OK &&
           events.n > 0)
        *n += events.n;
    rf_trace_reader_close(reader);
    return status == RF_OK;
}

/* All pieces of a whole trace are the trace. */
static void read_parts(int fd)
{
    uint64_t whole = 0, sum = 0;
    enum { PARTS = 3 };
    bool good = count_part(fd, 0, 0, &whole);
    for (size_t i = 0; i < PARTS; i++)
        good = count_part(fd, i, PARTS, &sum) && good;
    PROMISE(!good || sum == whole);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    uint8_t *mended = malloc(n + 1);
    int fd = memfd_create("trace", MFD_CLOEXEC);
    if (fd < 0 || write(fd, bytes, n) != (ssize_t)n)
        abort();
    read_all(fd, 0);
    memcpy(mended, n > 0 ? (const char *)bytes : "", n);
    mend(mended, n);
    if (pwrite(fd, mended, n, 0) != (ssize_t)n)
        abort();
    read_all(fd, 0);
    read_all(fd, 2);
    read_parts(fd);
    close(fd);
    free(mended);
    return 0;
}
