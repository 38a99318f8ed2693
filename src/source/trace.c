/* trace.c - a .rft file as a source: one batch per whole block, with the gaps that it has. */
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
    bool is_piece;
    struct rf_trace_piece piece;
    struct rf_trace_reader *reader;
    struct gaps *gaps; /* NULL: there were none yet */
};

/* ---- gaps ---- */

/* As rf_batch has them. */
struct gaps {
    uint32_t ends[RF_TRACE_GAPS_MAX];
    double weights[RF_TRACE_GAPS_MAX];
    uint64_t skips[(RF_TRACE_GAPS_MAX + 1) * RF_CLASS_COUNT];
};

static void add_skips(uint64_t *to, const uint64_t *skipped, size_t n, uint64_t *all)
{
    for (size_t i = 0; i < n; i++) {
        to[i] += skipped[i];
        *all += skipped[i];
    }
}

/* The gaps of a block of which the first `left_out` events are not wanted, into the batch. */
static rf_status fill_gaps(struct trace *trace, struct rf_batch *batch, enum rf_trace_kind kind,
                           uint64_t left_out)
{
    const struct rf_trace_gaps *found = rf_trace_reader_gaps(trace->reader);
    size_t row = kind == RF_TRACE_RECORDS ? RF_CLASS_COUNT : 1;
    if (found->n == 0)
        return RF_OK;
    if (trace->gaps == NULL)
        trace->gaps = rf_alloc_get(&trace->base.alloc, sizeof *trace->gaps);
    if (trace->gaps == NULL)
        return RF_ENOMEM;
    struct gaps *gaps = trace->gaps;
    memset(gaps->skips, 0, (found->n + 1) * row * sizeof *gaps->skips);
    for (size_t i = 0; i < found->n; i++) {
        const struct rf_trace_place *place = &found->list[i];
        if (place->at < left_out)
            continue;
        batch->bursts += place->gap.bursts;
        add_skips(gaps->skips + batch->n_ends * row, place->gap.skipped, row, &batch->skipped);
        if (place->gap.weight <= 0)
            continue; /* the numbers belong to the next end */
        gaps->ends[batch->n_ends] = (uint32_t)(place->at - left_out);
        gaps->weights[batch->n_ends++] = place->gap.weight;
    }
    batch->ends = gaps->ends;
    batch->weights = gaps->weights;
    batch->skips = gaps->skips;
    return RF_OK;
}

/* ---- batches ---- */

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

/* The end of the blocks; there may be a gap behind the last of them. */
static rf_status end(struct trace *trace, struct rf_batch *batch, rf_status status)
{
    static const struct rf_record none;
    struct rf_trace_info info;
    rf_trace_reader_info(trace->reader, &info);
    if (status != RF_OK || rf_trace_reader_gaps(trace->reader)->n == 0)
        return status;
    batch->records = info.kind == RF_TRACE_RECORDS ? &none : NULL;
    return fill_gaps(trace, batch, info.kind, 0);
}

static rf_status next(struct rf_source *source, struct rf_batch *batch, struct rf_error *error)
{
    struct trace *trace = (struct trace *)source;
    struct rf_trace_events events;
    for (;;) {
        rf_status status = rf_trace_reader_next(trace->reader, &events, error);
        if (status != RF_OK || events.n == 0)
            return end(trace, batch, status);
        if (events.n > trace->skip)
            break;
        trace->skip -= events.n;
    }
    fill(batch, &events, (size_t)trace->skip);
    rf_status status = fill_gaps(trace, batch, events.kind, trace->skip);
    trace->skip = 0;
    return status == RF_OK ? RF_OK : rf_fail(error, status, "no memory for the gaps of a trace");
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

static rf_status piece(const struct rf_source *source, struct rf_trace_piece *piece)
{
    const struct trace *trace = (const struct trace *)source;
    if (!trace->is_piece)
        return RF_ENOTSUP;
    *piece = trace->piece;
    return RF_OK;
}

static void close_trace(struct rf_source *source)
{
    struct trace *trace = (struct trace *)source;
    struct rf_alloc alloc = source->alloc;
    rf_trace_reader_close(trace->reader);
    rf_alloc_free(&alloc, trace->gaps, sizeof *trace->gaps);
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
    .piece = piece,
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
    trace->is_piece = input->parts > 0;
    if (trace->is_piece &&
        rf_trace_reader_part(trace->reader, input->part, input->parts, &trace->piece) != RF_OK) {
        close_trace(&trace->base);
        return rf_fail(error, RF_ENOTSUP,
                       "%s: its index is missing or damaged, so it cannot be read in parts",
                       input->name);
    }
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
