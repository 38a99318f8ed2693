/* source.h - where events enter: anything that hands out batches until it ends.
 *
 *     struct rf_source *source;                       rf_source_open(&source, "-", ...) : text or .rft
 *     while ((status = rf_source_next(source, &batch, &error)) == RF_OK && batch.n > 0) ...
 *     rf_source_close(source);
 *
 * A batch is either tuples (with counts or not) or records and stays valid until the next call. A batch
 * with n = 0, nothing lost and nothing skipped is the end. RF_EDAMAGED at the end means that the stream was cut or
 * corrupt: everything handed out before is whole, `error` says what is missing. One thread at a time. */
#ifndef RIFFLE_SOURCE_H
#define RIFFLE_SOURCE_H

#include <riffle/alloc.h>
#include <riffle/event.h>
#include <riffle/module.h>
#include <riffle/status.h>

#ifdef __cplusplus
extern "C" {
#endif

struct rf_source;

struct rf_batch {
    struct rf_tuples tuples;         /* tuples.n is 0 in a batch of records */
    const struct rf_record *records; /* NULL in a batch of tuples */
    uint32_t unknown; /* a bit per field (RF_FIELD_VALUE, ...) that its records do not have */
    uint32_t stream;  /* several selectors at once: which of them these tuples belong to */
    size_t n;
    uint64_t lost; /* events that the source had to drop since the last batch */
    /* Of a source that tells its events in bursts: behind ends[i] events of this batch a burst is over, in rising
     * order. Bursts without an event have no end, but are counted in `bursts`. */
    const uint32_t *ends;
    size_t n_ends;
    /* Of these bursts: how many intervals each interval of it stands for, 1 / frequency. NULL: it never changes. */
    const double *weights;
    /* Nobody counts what is skipped between the bursts: `skipped` is 0, counts are of the sample, shares are estimates. */
    int uncounted;
    uint64_t bursts;  /* over since the last batch */
    uint64_t skipped; /* events between bursts since the last batch */
    /* Where they were skipped: of tuples n_ends + 1 numbers, those that were told of with each end, and at last the others.
     * Of records RF_CLASS_COUNT numbers in place of each, one per class. NULL: all behind the last event, tuples. */
    const uint64_t *skips;
    /* Not 0: this batch does not follow the last one of its stream. What was lost and the end of a burst are gaps by
     * themselves. Engines of sequences (streams) begin a new one there. */
    int gap;
    /* Nothing came for a moment, and this is not the end: only of a source that was asked to say so, a probe with
     * `wakes`. */
    int idle;
};

/* A file of text or a trace, told apart by its first bytes; "-" is standard input. */
rf_status rf_source_open(struct rf_source **source, const char *path, const struct rf_alloc *alloc,
                         struct rf_error *error);

/* The same where the format is known by its name: some have no mark to be told by. */
rf_status rf_source_open_as(struct rf_source **source, const char *path, const char *format,
                            const struct rf_alloc *alloc, struct rf_error *error);
const char *rf_source_format_name(size_t i); /* "trace", "lackey", ...; NULL behind the last */

/* A trace from event number `skip` on: found through its index, or by reading up to there where that
 * cannot be. */
rf_status rf_source_open_trace(struct rf_source **source, const char *path, uint64_t skip,
                               const struct rf_alloc *alloc, struct rf_error *error);

/* One of `parts` pieces of a trace, from 0 on: whole blocks, about as many in each. All pieces together are the trace.
 * RF_ENOTSUP: it has no sound index, or a block where a piece begins is damaged. */
rf_status rf_source_open_part(struct rf_source **source, const char *path, size_t part,
                              size_t parts, const struct rf_alloc *alloc, struct rf_error *error);
/* Which piece that is. Whoever reads pieces in different places compares what each of them has. RF_ENOTSUP: it is none. */
struct rf_trace_piece;
rf_status rf_source_piece(const struct rf_source *source, struct rf_trace_piece *piece);

/* Text on an open file descriptor, which stays the caller's; `name` is for messages. A line is
 * `a b [count]`, decimal or 0x hexadecimal; a lone `a` is <a, 0>; a count of 0 is no event; '#' begins
 * a comment; `gap` alone is a gap. A bad line ends the stream with RF_EINVAL and its number, after all lines before it. */
rf_status rf_source_open_text(struct rf_source **source, int fd, const char *name,
                              const struct rf_alloc *alloc, struct rf_error *error);

/* Seeded synthetic streams are opened by rf_source_open_gen (gen.h). */

rf_status rf_source_next(struct rf_source *source, struct rf_batch *batch, struct rf_error *error);

int rf_batch_is_end(const struct rf_batch *batch);

/* What the header of a trace says, without reading on: kind, version, command, selector. RF_ENOTSUP
 * for a source that is no trace; whatever the failure, *info is left alone and next may be called. */
struct rf_trace_info;
rf_status rf_source_header(struct rf_source *source, struct rf_trace_info *info);

/* The files that were mapped while the stream came about, in that order, where the source knows of any:
 * a probe, a simulated machine, a trace that was recorded from one. Valid until the source is closed.
 * Build ids may be unknown. A probe's list is complete at its end, a machine's from the start, a
 * trace's at any time, or at its end when it comes through a pipe. RF_ENOMEM, or RF_OK and perhaps
 * none. */
rf_status rf_source_modules(struct rf_source *source, const struct rf_module **modules, size_t *n);

/* What a source counts where it happens, and hands out when it is over: the counts by now, of what still runs. They are
 * told in pieces, by stream, and stay where they are. Between two calls of next; RF_OK, or what `tell` returned. */
typedef rf_status (*rf_source_tell)(void *context, uint32_t stream, const struct rf_tuples *tuples,
                                    struct rf_error *error);
rf_status rf_source_counted(struct rf_source *source, rf_source_tell tell, void *context,
                            struct rf_error *error);

/* How far along, for a progress line: bytes or events done and in all (0: unknown). */
void rf_source_progress(const struct rf_source *source, uint64_t *done, uint64_t *total);

void rf_source_close(struct rf_source *source); /* NULL is fine */

#ifdef __cplusplus
}
#endif
#endif
