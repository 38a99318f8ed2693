/* source.c - the handle around every source, and the opening of files by their format. */
#include "source/import.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/magic.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void *rf_source_new(const struct rf_source_ops *ops, size_t size, const struct rf_alloc *alloc)
{
    alloc = rf_alloc_or_standard(alloc);
    struct rf_source *source = rf_alloc_zeroed(alloc, size);
    if (source == NULL)
        return NULL;
    source->ops = ops;
    source->alloc = *alloc;
    return source;
}

rf_status rf_source_read(int fd, const char *name, void *bytes, size_t size, size_t *n,
                         struct rf_error *error)
{
    ssize_t got;
    do
        got = read(fd, bytes, size);
    while (got < 0 && errno == EINTR);
    *n = got < 0 ? 0 : (size_t)got;
    if (got < 0)
        return rf_fail(error, RF_EIO, "%s: cannot read: %s", name, strerror(errno));
    return RF_OK;
}

uint64_t rf_source_file_size(int fd)
{
    struct stat status;
    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))
        return 0;
    return (uint64_t)status.st_size;
}

static rf_status open_input(struct rf_source_input *input, const char *path, struct rf_error *error)
{
    bool is_stdin = strcmp(path, "-") == 0;
    input->name = is_stdin ? "standard input" : path;
    input->close_fd = !is_stdin;
    input->fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (input->fd < 0)
        return rf_fail(error, RF_EIO, "%s: cannot open: %s", path, strerror(errno));
    return RF_OK;
}

static rf_status read_head(struct rf_source_input *input, struct rf_error *error)
{
    size_t n = 1;
    for (input->n_head = 0; input->n_head < sizeof input->head && n > 0; input->n_head += n) {
        rf_status status = rf_source_read(input->fd, input->name, input->head + input->n_head,
                                          sizeof input->head - input->n_head, &n, error);
        if (status != RF_OK)
            return status;
    }
    return RF_OK;
}

/* ---- formats ---- */

/* A .rfp file differs from a trace in one byte here, as a damaged trace might. */
static bool is_profile(const struct rf_source_input *input)
{
    static const unsigned char magic[RF_MAGIC_SIZE] = RF_MAGIC_PROFILE;
    return input->n_head == sizeof magic && memcmp(input->head, magic, sizeof magic) == 0;
}

static const struct rf_source_format profile = {
    .name = "profile", .is = is_profile, .refusal = "is a profile, not a stream; report prints it"};

/* What may stand in a file. The first that recognizes its file opens it; the last one, text, takes all that is
 * left. An importer is one file with its descriptor, and one line here. */
static const struct rf_source_format *const formats[] = {
    &profile,
    &rf_source_trace,
    &rf_source_lackey,
    &rf_source_drmemtrace,
    &rf_source_champsim,
    &rf_source_perf_script,
    &rf_source_text,
};

static const struct rf_source_format *format_of(const struct rf_source_input *input)
{
    size_t i = 0;
    while (formats[i]->is == NULL || !formats[i]->is(input))
        i++;
    return formats[i];
}

const char *rf_source_format_name(size_t i)
{
    enum { FIRST = 1 }; /* a profile is no stream */
    return i + FIRST < sizeof formats / sizeof *formats ? formats[i + FIRST]->name : NULL;
}

static rf_status open_format(struct rf_source **source, const struct rf_source_input *input,
                             const struct rf_source_format *only, const struct rf_alloc *alloc,
                             struct rf_error *error)
{
    bool tells = only == NULL || only == &rf_source_trace; /* others may look like anything */
    const struct rf_source_format *format = tells ? format_of(input) : only;
    if (format->open == NULL && format->import == NULL)
        return rf_fail(error, RF_EINVAL, "%s: %s", input->name, format->refusal);
    if (only != NULL && format != only)
        return rf_fail(error, RF_EINVAL, "%s: not of the format %s", input->name, only->name);
    return format->import != NULL ? rf_import_open(source, format->import, input, alloc, error)
                                  : format->open(source, input, alloc, error);
}

/* `input` comes with what is wanted of the file. */
static rf_status open_wanted(struct rf_source **source, const char *path,
                             const struct rf_source_format *only, struct rf_source_input input,
                             const struct rf_alloc *alloc, struct rf_error *error)
{
    *source = NULL;
    rf_status status = open_input(&input, path, error);
    if (status != RF_OK)
        return status;
    status = read_head(&input, error);
    if (status == RF_OK)
        status = open_format(source, &input, only, alloc, error);
    if (status != RF_OK && input.close_fd)
        close(input.fd);
    return status;
}

static rf_status open_file(struct rf_source **source, const char *path,
                           const struct rf_source_format *only, const struct rf_alloc *alloc,
                           struct rf_error *error)
{
    return open_wanted(source, path, only, (struct rf_source_input){.fd = -1}, alloc, error);
}

rf_status rf_source_open(struct rf_source **source, const char *path, const struct rf_alloc *alloc,
                         struct rf_error *error)
{
    return open_file(source, path, NULL, alloc, error);
}

rf_status rf_source_open_as(struct rf_source **source, const char *path, const char *format,
                            const struct rf_alloc *alloc, struct rf_error *error)
{
    for (size_t i = 1; i < sizeof formats / sizeof *formats; i++)
        if (strcmp(formats[i]->name, format) == 0)
            return open_file(source, path, formats[i], alloc, error);
    *source = NULL;
    return rf_fail(error, RF_EINVAL, "there is no format '%s'", format);
}

rf_status rf_source_open_trace(struct rf_source **source, const char *path, uint64_t skip,
                               const struct rf_alloc *alloc, struct rf_error *error)
{
    const struct rf_source_input input = {.fd = -1, .skip = skip};
    return open_wanted(source, path, &rf_source_trace, input, alloc, error);
}

rf_status rf_source_open_part(struct rf_source **source, const char *path, size_t part,
                              size_t parts, const struct rf_alloc *alloc, struct rf_error *error)
{
    const struct rf_source_input input = {.fd = -1, .part = part, .parts = parts};
    return open_wanted(source, path, &rf_source_trace, input, alloc, error);
}

rf_status rf_source_open_text(struct rf_source **source, int fd, const char *name,
                              const struct rf_alloc *alloc, struct rf_error *error)
{
    const struct rf_source_input input = {.fd = fd, .name = name};
    return rf_source_text.open(source, &input, alloc, error);
}

/* ---- the handle ---- */

int rf_batch_is_end(const struct rf_batch *batch)
{
    return batch->n == 0 && batch->lost == 0 && batch->skipped == 0 && batch->bursts == 0 &&
           !batch->idle;
}

rf_status rf_source_next(struct rf_source *source, struct rf_batch *batch, struct rf_error *error)
{
    memset(batch, 0, sizeof *batch);
    if (source->at_end)
        return source->ended == RF_OK ? RF_OK
                                      : rf_fail(error, source->ended, "the stream has failed");
    rf_status status = source->ops->next(source, batch, error);
    if (status != RF_OK)
        memset(batch, 0, sizeof *batch);
    source->ended = status;
    source->at_end = status != RF_OK || rf_batch_is_end(batch);
    return status;
}

rf_status rf_source_header(struct rf_source *source, struct rf_trace_info *info)
{
    return source->ops->header != NULL ? source->ops->header(source, info) : RF_ENOTSUP;
}

rf_status rf_source_piece(const struct rf_source *source, struct rf_trace_piece *piece)
{
    return source->ops->piece != NULL ? source->ops->piece(source, piece) : RF_ENOTSUP;
}

rf_status rf_source_counted(struct rf_source *source, rf_source_tell tell, void *context,
                            struct rf_error *error)
{
    return source->ops->counted != NULL ? source->ops->counted(source, tell, context, error)
                                        : RF_OK;
}

rf_status rf_source_modules(struct rf_source *source, const struct rf_module **modules, size_t *n)
{
    *modules = NULL;
    *n = 0;
    return source->ops->modules != NULL ? source->ops->modules(source, modules, n) : RF_OK;
}

void rf_source_progress(const struct rf_source *source, uint64_t *done, uint64_t *total)
{
    *done = source->done;
    *total = source->total;
    if (source->ops->progress != NULL)
        source->ops->progress(source, done, total);
}

void rf_source_close(struct rf_source *source)
{
    if (source != NULL)
        source->ops->close(source);
}
