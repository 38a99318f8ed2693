/* gaps.c - writes where the bursts of a batch end into a trace. */
#include "source/gaps.h"
#include <riffle/trace.h>
#include <stdbool.h>
#include <string.h>

struct rf_batch rf_batch_part(const struct rf_batch *batch, size_t from, size_t to)
{
    const uint64_t *counts = batch->tuples.counts;
    struct rf_batch part = {.stream = batch->stream, .n = to - from};
    if (batch->records != NULL)
        part.records = batch->records + from;
    else
        part.tuples = (struct rf_tuples){batch->tuples.tuples + from,
                                         counts != NULL ? counts + from : NULL, to - from};
    return part;
}

/* Numbers per gap in `skips`. */
static size_t row_of(const struct rf_batch *batch)
{
    return batch->records != NULL ? RF_CLASS_COUNT : 1;
}

struct rf_batch rf_batch_hole(const struct rf_batch *batch, size_t i, struct rf_hole *hole)
{
    size_t row = row_of(batch);
    bool ends = i < batch->n_ends;
    uint64_t others = batch->bursts > i ? batch->bursts - i : 0;
    *hole = (struct rf_hole){.weight = batch->weights != NULL && ends ? batch->weights[i] : 1};
    struct rf_batch out = {.records = batch->records,
                           .stream = batch->stream,
                           .ends = &hole->end,
                           .weights = &hole->weight,
                           .n_ends = ends,
                           .skips = hole->skips,
                           .uncounted = batch->uncounted,
                           .bursts = ends && others > 0 ? 1 : others};
    if (batch->skips != NULL)
        memcpy(hole->skips, batch->skips + i * row, row * sizeof *hole->skips);
    else if (!ends)
        hole->skips[0] = batch->skipped;
    for (size_t k = 0; k < row; k++)
        out.skipped += hole->skips[k];
    return out;
}

bool rf_batch_next_burst(struct rf_burst *burst)
{
    const struct rf_batch *batch = burst->batch;
    if (burst->n > batch->n_ends)
        return false;
    burst->has_end = burst->n < batch->n_ends;
    size_t end = burst->has_end ? batch->ends[burst->n] : batch->n;
    burst->part = rf_batch_part(batch, burst->done, end);
    burst->behind = rf_batch_hole(batch, burst->n++, &burst->hole);
    burst->done = end;
    return true;
}

static rf_status write_events(struct rf_trace_writer *writer, const struct rf_batch *part,
                              struct rf_error *error)
{
    if (part->n == 0)
        return RF_OK;
    return part->records != NULL ? rf_trace_write_records(writer, part->records, part->n, error)
                                 : rf_trace_write_tuples(writer, &part->tuples, error);
}

static rf_status write_hole(struct rf_trace_writer *writer, const struct rf_batch *hole,
                            struct rf_error *error)
{
    struct rf_trace_gap gap = {.bursts = (uint32_t)hole->bursts,
                               .weight = hole->n_ends > 0 ? hole->weights[0] : 0};
    memcpy(gap.skipped, hole->skips, row_of(hole) * sizeof *gap.skipped);
    bool any = hole->n_ends > 0 || hole->bursts > 0 || hole->skipped > 0;
    return any ? rf_trace_write_gap(writer, &gap, error) : RF_OK;
}

rf_status rf_trace_write_batch(struct rf_trace_writer *writer, const struct rf_batch *batch,
                               struct rf_error *error)
{
    rf_status status = RF_OK;
    for (struct rf_burst burst = {.batch = batch};
         status == RF_OK && rf_batch_next_burst(&burst);) {
        status = write_events(writer, &burst.part, error);
        if (status == RF_OK)
            status = write_hole(writer, &burst.behind, error);
    }
    return status;
}
