/* trace.c - a .rft file as a source: one batch per whole block. */
#include "source/source.h"
#include "event/trace.h"
#include "base/alloc.h"
#include "base/error.h"
#include <string.h>
#include <unistd.h>

struct trace {
    struct rf_source base;
    int fd;
    bool close_fd;
    uint64_t skip; /* events that are not wanted yet */
    uint64_t bytes_total;
    struct rf_trace_reader *reader;
};

static void fill(struct rf_batch *batch, const struct rf_trace_events *events, size_t skip)
{
    batch->n = events->n - skip;
    if (events->kind == RF_TRACE_RECORDS) {
        batch->records = events->records + skip;
        return;
    }
    batch->tuples.tuples = events->tuples + skip;
    batch->tuples.counts = events->counts == NULL ? NULL : events->counts + skip;
    batch->tuples.n = batch->n;
}

static rf_status next(struct rf_source *source, struct rf_batch *batch, struct rf_error *error)
{
    struct trace *trace = (struct trace *)source;
    struct rf_trace_events events;
    for (;;) {
        rf_status status = rf_trace_reader_next(trace->reader, &events, error);
        if (status != RF_OK || events.n == 0)
            return status;
        if (events.n > trace->skip)
            break;
        trace->skip -= events.n;
    }
    fill(batch, &events, (size_t)trace->skip);
    trace->skip = 0;
    return RF_OK;
}

static void progress(const struct rf_source *source, uint64_t *done, uint64_t *total)
{
    const struct trace *trace = (const struct trace *)source;
    *done = rf_trace_reader_offset(trace->reader);
    *total = trace->bytes_total;
}

static rf_status header(struct rf_source *source, struct rf_trace_info *info)
{
    struct trace *trace = (struct trace *)source;
    rf_status status = rf_trace_reader_begin(trace->reader, NULL);
    if (status == RF_OK)
        rf_trace_reader_info(trace->reader, info);
    return status;
}

static rf_status modules(struct rf_source *source, const struct rf_module **modules, size_t *n)
{
    return rf_trace_reader_modules(((struct trace *)source)->reader, modules, n);
}

static void close_trace(struct rf_source *source)
{
    struct trace *trace = (struct trace *)source;
    struct rf_alloc alloc = source->alloc;
    rf_trace_reader_close(trace->reader);
    if (trace->close_fd)
        close(trace->fd);
    rf_alloc_free(&alloc, trace, sizeof *trace);
}

static const struct rf_source_ops trace_ops = {
    .name = "trace",
    .next = next,
    .progress = progress,
    .header = header,
    .modules = modules,
    .close = close_trace,
};

/* Recognized by its first bytes; an empty file by its name. */
static bool is_trace(const struct rf_source_input *input)
{
    size_t n = strlen(input->name);
    bool named = n > 4 && strcmp(input->name + n - 4, ".rft") == 0;
    return rf_trace_is_magic(input->head, input->n_head) || (named && input->n_head == 0);
}

static rf_status open_trace(struct rf_source **source, const struct rf_source_input *input,
                            const struct rf_alloc *alloc, struct rf_error *error)
{
    *source = NULL;
    struct trace *trace = rf_source_new(&trace_ops, sizeof *trace, alloc);
    if (trace == NULL)
        return rf_fail(error, RF_ENOMEM, "%s: no memory to read it", input->name);
    const struct rf_trace_input in = {.fd = input->fd,
                                      .name = input->name,
                                      .head = input->head,
                                      .n_head = input->n_head,
                                      .depth = RF_TRACE_EVENTS};
    rf_status status = rf_trace_reader_open(&trace->reader, &in, &trace->base.alloc, error);
    if (status != RF_OK) {
        close_trace(&trace->base);
        return status;
    }
    uint64_t first = 0;
    if (input->skip > 0) /* where that fails, it is read from the beginning: first stays 0 */
        rf_trace_reader_seek(trace->reader, input->skip, &first);
    trace->skip = input->skip - first;
    trace->fd = input->fd;
    trace->close_fd = input->close_fd;
    trace->bytes_total = rf_source_file_size(input->fd);
    *source = &trace->base;
    return RF_OK;
}

const struct rf_source_format rf_source_trace = {
    .name = "trace", .is = is_trace, .open = open_trace};
