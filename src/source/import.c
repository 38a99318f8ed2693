/* import.c - gives lines or pieces of a file to an importer, and hands its records out in batches.
 *
 * Everything before a bad line is handed out before the line is named. Memory: 64 KiB of text and 16 Ki records of 40
 * bytes, and some for the last line. */
#include "source/import.h"
#include "base/alloc.h"
#include "base/error.h"
#include <string.h>
#include <unistd.h>

enum { SHOWN_MAX = 60, ROOM = RF_SOURCE_BATCH + RF_IMPORT_MORE };

struct rf_import {
    struct rf_source base;
    const struct rf_import_ops *ops;
    int fd;
    bool close_fd, at_eof, finished;
    char name[200];
    uint64_t line;     /* number of the line that is taken, from 1 */
    uint64_t offset;   /* of the piece or line that is taken */
    size_t at, end;    /* what is not taken yet */
    rf_status pending; /* a failure that is told after the records before it */
    struct rf_error error;
    char *bytes;
    struct rf_record *records;
    size_t n;
    void *state;
};

void *rf_import_state(struct rf_import *import)
{
    return import->state;
}

void rf_import_put(struct rf_import *import, const struct rf_record *record)
{
    if (import->n < ROOM)
        import->records[import->n++] = *record;
}

rf_status rf_import_refuse(const struct rf_import *import, const char *expected, const char *bytes,
                           size_t n, struct rf_error *error)
{
    char shown[SHOWN_MAX + 4];
    size_t k = 0;
    if (import->ops->piece != 0)
        return rf_fail(error, RF_EINVAL, "%s: offset %llu: %s", import->name,
                       (unsigned long long)import->offset, expected);
    for (; k < SHOWN_MAX && k < n; k++)
        shown[k] = bytes[k] >= ' ' && bytes[k] <= '~' ? bytes[k] : '.';
    memcpy(shown + k, k < n ? "..." : "", k < n ? 4 : 1);
    return rf_fail(error, RF_EINVAL, "%s: line %llu: expected %s, got '%s'", import->name,
                   (unsigned long long)import->line, expected, shown);
}

/* ---- words ---- */

void rf_import_skip_blanks(const char **p)
{
    while (**p == ' ' || **p == '\t')
        ++*p;
}

static bool number_in(const char **p, unsigned base, uint64_t *value)
{
    const char *start = *p;
    for (*value = 0;; ++*p) {
        unsigned c = (unsigned char)**p, lower = c | 0x20;
        unsigned digit = c - '0' < 10 ? c - '0' : base == 16 && lower - 'a' < 6 ? lower - 87 : 99;
        if (digit == 99)
            return *p > start;
        if (__builtin_mul_overflow(*value, base, value) ||
            __builtin_add_overflow(*value, digit, value))
            return false;
    }
}

bool rf_import_hex(const char **p, uint64_t *value)
{
    if ((*p)[0] == '0' && ((*p)[1] | 0x20) == 'x')
        *p += 2;
    return number_in(p, 16, value);
}

bool rf_import_decimal(const char **p, uint64_t *value)
{
    return number_in(p, 10, value);
}

uint16_t rf_import_thread(struct rf_import_threads *threads, uint64_t id)
{
    for (uint16_t i = 0; i < threads->n; i++)
        if (threads->ids[i] == id)
            return (uint16_t)(i + 1);
    if (threads->n < RF_IMPORT_THREADS_MAX)
        threads->ids[threads->n++] = id;
    return threads->n;
}

/* ---- the file ---- */

static rf_status fill(struct rf_import *import, struct rf_error *error)
{
    size_t n = 0;
    memmove(import->bytes, import->bytes + import->at, import->end - import->at);
    import->end -= import->at;
    import->at = 0;
    if (import->end == RF_IMPORT_LINE_MAX)
        return rf_fail(error, RF_EINVAL, "%s: line %llu is longer than %d bytes", import->name,
                       (unsigned long long)import->line + 1, RF_IMPORT_LINE_MAX);
    rf_status status = rf_source_read(import->fd, import->name, import->bytes + import->end,
                                      RF_IMPORT_LINE_MAX - import->end, &n, error);
    import->end += n;
    import->at_eof = n == 0;
    return status;
}

static rf_status take_piece(struct rf_import *import, struct rf_error *error)
{
    size_t left = import->end - import->at, size = import->ops->piece;
    if (left < size && import->at_eof)
        return rf_fail(error, RF_EDAMAGED,
                       "%s: offset %llu: it ends in the middle of an entry of %zu bytes",
                       import->name, (unsigned long long)import->offset, size);
    if (left < size)
        return fill(import, error);
    rf_status status = import->ops->take(import, import->bytes + import->at, size, error);
    import->at += size;
    import->offset += size;
    return status;
}

static rf_status take_line(struct rf_import *import, struct rf_error *error)
{
    char *line = import->bytes + import->at;
    size_t left = import->end - import->at;
    char *newline = memchr(line, '\n', left);
    if (newline == NULL && !import->at_eof)
        return fill(import, error);
    size_t n = newline != NULL ? (size_t)(newline - line) : left;
    import->at += n + (newline != NULL);
    import->offset += n + (newline != NULL);
    import->line++;
    if (n > 0 && line[n - 1] == '\r')
        n--;
    line[n] = '\0';
    if (memchr(line, '\0', n) != NULL)
        return rf_import_refuse(import, "text", line, n, error);
    return import->ops->take(import, line, n, error);
}

static rf_status step(struct rf_import *import, struct rf_error *error)
{
    if (import->at == import->end && !import->at_eof)
        return fill(import, error);
    if (import->at < import->end)
        return import->ops->piece != 0 ? take_piece(import, error) : take_line(import, error);
    import->finished = true;
    return import->ops->finish != NULL ? import->ops->finish(import, error) : RF_OK;
}

static rf_status next(struct rf_source *source, struct rf_batch *batch, struct rf_error *error)
{
    struct rf_import *import = (struct rf_import *)source;
    import->n = 0;
    while (import->pending == RF_OK && !import->finished && import->n < RF_SOURCE_BATCH)
        import->pending = step(import, &import->error);
    batch->records = import->records;
    batch->unknown = import->ops->unknown;
    batch->n = import->n;
    source->done = import->offset;
    if (import->n > 0 || import->pending == RF_OK)
        return RF_OK;
    return rf_fail(error, import->pending, "%s", import->error.message);
}

static void close_import(struct rf_source *source)
{
    struct rf_import *import = (struct rf_import *)source;
    struct rf_alloc alloc = source->alloc;
    if (import->close_fd)
        close(import->fd);
    rf_alloc_free(&alloc, import->bytes, RF_IMPORT_LINE_MAX + 1);
    rf_alloc_free(&alloc, import->records, ROOM * sizeof *import->records);
    rf_alloc_free(&alloc, import->state, import->ops->state_size);
    rf_alloc_free(&alloc, import, sizeof *import);
}

static const struct rf_source_ops source_ops = {
    .name = "import", .next = next, .close = close_import};

rf_status rf_import_open(struct rf_source **source, const struct rf_import_ops *ops,
                         const struct rf_source_input *input, const struct rf_alloc *alloc,
                         struct rf_error *error)
{
    *source = NULL;
    struct rf_import *import = rf_source_new(&source_ops, sizeof *import, alloc);
    if (import == NULL)
        return rf_fail(error, RF_ENOMEM, "%s: no memory to read it", input->name);
    alloc = &import->base.alloc;
    import->ops = ops;
    import->bytes = rf_alloc_get(alloc, RF_IMPORT_LINE_MAX + 1);
    import->records = rf_alloc_get(alloc, ROOM * sizeof *import->records);
    import->state = ops->state_size > 0 ? rf_alloc_zeroed(alloc, ops->state_size) : NULL;
    if (import->bytes == NULL || import->records == NULL ||
        (ops->state_size > 0 && import->state == NULL)) {
        close_import(&import->base);
        return rf_fail(error, RF_ENOMEM, "%s: no memory to read it", input->name);
    }
    memcpy(import->bytes, input->head, input->n_head);
    import->end = input->n_head;
    import->base.total = rf_source_file_size(input->fd);
    rf_format(import->name, sizeof import->name, "%s", input->name);
    import->fd = input->fd;
    import->close_fd = input->close_fd;
    *source = &import->base;
    return RF_OK;
}
