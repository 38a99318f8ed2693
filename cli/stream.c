/* stream.c - write a stream as lines of text, or as a trace through the library.
 *
 * Text goes to a temporary name beside the wanted one and is renamed when it is whole, as traces are.
 * It is for its owner alone, as they are, for it may hold values of a program's memory; one that replaces a file of
 * its owner's keeps the mode of that.
 * What exists already and is no regular file (a pipe, a terminal) is written to directly. */
#include "stream.h"
#include "plan.h"
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct cli_stream {
    struct rf_trace_writer *trace; /* NULL: text */
    int fd;
    char *path;      /* of text; NULL: standard output */
    char *temporary; /* NULL: written directly */
    bool to_stdout;
    size_t n;
    char buffer[1 << 16];
};

const char *cli_words_stream_forms(size_t i)
{
    static const char *const forms[] = {"text", "rft", NULL};
    return forms[i];
}

static rf_status fail(struct rf_error *error, rf_status status, const char *format, ...)
    CLI_PRINTF(3, 4);

static rf_status fail(struct rf_error *error, rf_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    return status;
}

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

static bool is_special(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && !S_ISREG(status.st_mode);
}

static rf_status open_temporary(struct cli_stream *stream, struct rf_error *error)
{
    size_t size = strlen(stream->path) + sizeof ".XXXXXX";
    stream->temporary = malloc(size);
    if (stream->temporary == NULL)
        return fail(error, RF_ENOMEM, "no memory to write '%s'", stream->path);
    snprintf(stream->temporary, size, "%s.XXXXXX", stream->path);
    stream->fd = cli_output_create(stream->temporary);
    if (stream->fd >= 0) {
        cli_output_keep_mode(stream->fd, stream->path);
        return RF_OK;
    }
    int reason = errno;
    free(stream->temporary);
    stream->temporary = NULL;
    return fail(error, RF_EIO, "%s: cannot create: %s", stream->path, strerror(reason));
}

static rf_status open_text(struct cli_stream *stream, const char *path, struct rf_error *error)
{
    stream->fd = STDOUT_FILENO;
    if (strcmp(path, "-") == 0)
        return RF_OK;
    stream->path = strdup(path);
    if (stream->path == NULL)
        return fail(error, RF_ENOMEM, "no memory to write '%s'", path);
    int descriptor = rf_descriptor_of(path);
    if (descriptor < 0 && !is_special(path))
        return open_temporary(stream, error);
    stream->fd = descriptor >= 0 ? fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
                                 : open(path, O_WRONLY | O_CLOEXEC);
    return stream->fd >= 0 ? RF_OK
                           : fail(error, RF_EIO, "%s: cannot open: %s", path, strerror(errno));
}

rf_status cli_stream_open(struct cli_stream **opened, const struct cli_stream_setup *setup,
                          struct rf_error *error)
{
    const char *form = setup->form;
    if (form == NULL)
        form = ends_with(setup->path, ".rft") ? "rft" : "text";
    *opened = NULL;
    struct cli_stream *stream = calloc(1, sizeof *stream);
    if (stream == NULL)
        return fail(error, RF_ENOMEM, "no memory to write '%s'", setup->path);
    stream->fd = -1;
    stream->to_stdout = strcmp(setup->path, "-") == 0;
    rf_status status;
    if (strcmp(form, "rft") == 0)
        status = rf_trace_create(&stream->trace, setup->path, setup->kind, setup->command,
                                 setup->selector, NULL, error);
    else if (setup->kind == RF_TRACE_RECORDS)
        status = fail(error, RF_EINVAL, "records have no form as text; say with -p what of them");
    else
        status = open_text(stream, setup->path, error);
    if (status == RF_OK)
        *opened = stream;
    else
        cli_stream_abandon(stream);
    return status;
}

static rf_status flush(struct cli_stream *stream, struct rf_error *error)
{
    for (size_t done = 0; done < stream->n;) {
        ssize_t n = write(stream->fd, stream->buffer + done, stream->n - done);
        if (n >= 0) {
            done += (size_t)n;
        } else if (errno != EINTR) {
            return fail(error, RF_EIO, "%s: %s",
                        stream->path != NULL ? stream->path : "standard output", strerror(errno));
        }
    }
    stream->n = 0;
    return RF_OK;
}

static rf_status put_text(struct cli_stream *stream, const struct rf_tuples *tuples,
                          struct rf_error *error)
{
    for (size_t i = 0; i < tuples->n; i++) {
        char *end = cli_line(stream->buffer + stream->n, tuples->tuples[i],
                             tuples->counts != NULL ? tuples->counts[i] : 1);
        stream->n = (size_t)(end - stream->buffer);
        if (stream->n <= sizeof stream->buffer - CLI_LINE_MAX)
            continue;
        rf_status status = flush(stream, error);
        if (status != RF_OK)
            return status;
    }
    return RF_OK;
}

/* Text can say that events are missing, not how many. */
static rf_status put_gap(struct cli_stream *stream, struct rf_error *error)
{
    static const char line[] = "gap\n";
    memcpy(stream->buffer + stream->n, line, sizeof line - 1);
    stream->n += sizeof line - 1;
    return stream->n > sizeof stream->buffer - CLI_LINE_MAX ? flush(stream, error) : RF_OK;
}

rf_status cli_stream_put(struct cli_stream *stream, const struct rf_batch *batch,
                         struct rf_error *error)
{
    if (stream->trace != NULL)
        return rf_trace_write_batch(stream->trace, batch, error);
    rf_status status = RF_OK;
    for (size_t i = 0, done = 0; i <= batch->n_ends && status == RF_OK; i++) {
        size_t end = i < batch->n_ends ? batch->ends[i] : batch->n;
        const struct rf_tuples part = {
            batch->tuples.tuples + done,
            batch->tuples.counts != NULL ? batch->tuples.counts + done : NULL, end - done};
        status = put_text(stream, &part, error);
        if (status == RF_OK && i < batch->n_ends)
            status = put_gap(stream, error);
        done = end;
    }
    return status;
}

static void release(struct cli_stream *stream)
{
    if (stream->path != NULL && stream->fd >= 0)
        close(stream->fd);
    if (stream->temporary != NULL)
        unlink(stream->temporary);
    cli_output_forget(stream->temporary);
    free(stream->temporary);
    free(stream->path);
    free(stream);
}

static rf_status publish(struct cli_stream *stream, struct rf_error *error)
{
    int fd = stream->fd;
    stream->fd = -1;
    if (close(fd) != 0 || rename(stream->temporary, stream->path) != 0)
        return fail(error, RF_EIO, "%s: cannot write: %s", stream->path, strerror(errno));
    cli_output_forget(stream->temporary);
    free(stream->temporary);
    stream->temporary = NULL;
    return RF_OK;
}

rf_status cli_stream_finish(struct cli_stream *stream, struct rf_error *error)
{
    rf_status status;
    if (stream->trace != NULL) {
        struct rf_trace_writer *trace = stream->trace;
        stream->trace = NULL;
        status = rf_trace_finish(trace, error);
    } else {
        status = flush(stream, error);
        if (status == RF_OK && stream->temporary != NULL)
            status = publish(stream, error);
    }
    if (stream->to_stdout && cli_reader_gone())
        status = RF_OK;
    release(stream);
    return status;
}

void cli_stream_abandon(struct cli_stream *stream)
{
    if (stream == NULL)
        return;
    rf_trace_abandon(stream->trace);
    release(stream);
}

/* One batch through the selector, chunk by chunk. */
static rf_status put_selected(struct cli_stream *stream, const struct rf_selector *selector,
                              const struct rf_batch *batch, struct rf_error *error)
{
    struct rf_tuple chunk[1024];
    uint64_t counts[1024];
    bool weighs = selector->weight != RF_FIELD_NONE;
    const size_t room = sizeof chunk / sizeof *chunk;
    for (size_t done = 0; done < batch->n; done += room) {
        size_t piece = batch->n - done < room ? batch->n - done : room;
        struct rf_batch out = {.tuples = {.tuples = chunk, .counts = weighs ? counts : NULL}};
        const struct rf_record *records = batch->records + done;
        out.n = weighs ? rf_selector_weigh(selector, records, piece, chunk, counts)
                       : rf_selector_run(selector, records, piece, chunk);
        out.tuples.n = out.n;
        rf_status status = out.n > 0 ? cli_stream_put(stream, &out, error) : RF_OK;
        if (status != RF_OK)
            return status;
    }
    return RF_OK;
}

static rf_status put_batch(struct cli_stream *stream, const struct rf_selector *selector,
                           const struct rf_batch *batch, struct rf_error *error)
{
    if (selector == NULL)
        return cli_stream_put(stream, batch, error);
    return put_selected(stream, selector, batch, error);
}

/* Copy everything from the first batch on, which was read already. *whole: a failure is the source's, and
 * what was written is good. */
static rf_status copy_batches(struct cli_stream *stream, struct rf_source *source,
                              const struct rf_selector *selector, struct rf_batch *batch,
                              bool *whole, struct rf_error *error)
{
    const volatile int *stop = cli_catch_interrupt();
    rf_status status = RF_OK;
    while (status == RF_OK && !rf_batch_is_end(batch)) {
        *whole = false;
        status = put_batch(stream, selector, batch, error);
        if (status != RF_OK)
            return status;
        status = rf_source_next(source, batch, error);
        if (*stop)
            return fail(error, RF_ESTOPPED, "stopped; nothing was written");
        *whole = status == RF_OK || status == RF_EDAMAGED;
    }
    return status;
}

/* Modules are copied from trace to trace; text has no place for them. */
static rf_status copy_modules(struct cli_stream *stream, struct rf_source *source,
                              struct rf_error *error)
{
    size_t n;
    const struct rf_module *modules;
    if (stream->trace == NULL)
        return RF_OK;
    rf_status status = rf_source_modules(source, &modules, &n);
    for (size_t i = 0; status == RF_OK && i < n; i++)
        status = rf_trace_add_module(stream->trace, &modules[i], error);
    return status;
}

/* Nothing is written; a reader that went away is no failure. */
static int give_up(struct cli_stream *stream, rf_status status, const struct rf_error *error)
{
    bool quiet = stream->to_stdout && cli_reader_gone();
    cli_stream_abandon(stream);
    return quiet ? CLI_OK : cli_fail_status(status, error);
}

static int copy(struct cli_stream *stream, struct rf_source *source,
                const struct rf_selector *selector, struct rf_batch *first)
{
    struct rf_error error = {""}, second = {""};
    bool whole = true;
    rf_status status = copy_batches(stream, source, selector, first, &whole, &error);
    if (!whole)
        return give_up(stream, status, &error);
    rf_status finished = copy_modules(stream, source, &second);
    if (finished != RF_OK)
        return give_up(stream, finished, &second);
    finished = cli_stream_finish(stream, &second);
    if (finished != RF_OK)
        return cli_fail_status(finished, &second);
    return status == RF_OK ? CLI_OK : cli_fail_status(status, &error);
}

/* The kind of the stream: from its first batch or, if it is empty, from its header. */
static enum rf_trace_kind kind_of(struct rf_source *source, const struct rf_batch *first)
{
    struct rf_trace_info info = {.kind = RF_TRACE_TUPLES};
    if (first->n == 0 && rf_source_header(source, &info) == RF_OK)
        return info.kind;
    return first->records != NULL ? RF_TRACE_RECORDS : RF_TRACE_TUPLES;
}

int cli_stream_copy(const struct cli_stream_setup *setup, struct rf_source *source,
                    const struct rf_selector *selector)
{
    struct rf_error error = {""};
    struct rf_batch first;
    struct cli_stream *stream;
    rf_status status = rf_source_next(source, &first, &error);
    if (status != RF_OK)
        return cli_fail_unused(status, &error);
    struct cli_stream_setup full = *setup;
    full.kind = kind_of(source, &first);
    if (selector != NULL && full.kind == RF_TRACE_TUPLES)
        return cli_fail(CLI_FAILED, "the stream is made of tuples; a selector needs records");
    if (selector != NULL)
        full.kind = RF_TRACE_TUPLES;
    status = cli_stream_open(&stream, &full, &error);
    if (stream == NULL)
        return cli_fail_status(status, &error);
    return copy(stream, source, selector, &first);
}
