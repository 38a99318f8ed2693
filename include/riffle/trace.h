/* trace.h - a stream kept in a .rft file: blocks of tuples or of records, compressed, checked.
 *
 * doc/FORMATS.md has the layout. A file that was cut off or damaged gives every block that is whole;
 * the reader then ends with RF_EDAMAGED and a sentence on what is missing. To read a trace as a
 * stream, rf_source_open (source.h) is enough; rf_source_open_trace begins in the middle. */
#ifndef RIFFLE_TRACE_H
#define RIFFLE_TRACE_H

#include <riffle/alloc.h>
#include <riffle/event.h>
#include <riffle/module.h>
#include <riffle/status.h>

#ifdef __cplusplus
extern "C" {
#endif

enum rf_trace_kind { RF_TRACE_TUPLES, RF_TRACE_RECORDS };

/* The descriptor of this process that `path` is a link to, such as /dev/stdout or /dev/fd/3; -1: none. Whoever
 * writes to such a path writes to the descriptor: a file that replaces the link would not reach the reader. */
int rf_descriptor_of(const char *path);

struct rf_trace_writer;

/* Writes to a temporary name beside `path` ("-" is standard output); finish renames it, so that
 * there is never half a file under `path`. `command` and `selector` are provenance, NULL is fine. */
rf_status rf_trace_create(struct rf_trace_writer **writer, const char *path,
                          enum rf_trace_kind kind, const char *command, const char *selector,
                          const struct rf_alloc *alloc, struct rf_error *error);
rf_status rf_trace_write_tuples(struct rf_trace_writer *writer, const struct rf_tuples *tuples,
                                struct rf_error *error);
rf_status rf_trace_write_records(struct rf_trace_writer *writer, const struct rf_record *records,
                                 size_t n, struct rf_error *error);
/* Events are missing here: behind what was written so far, in front of what is written next. */
struct rf_trace_gap {
    uint32_t bursts;                  /* that were over since the last gap */
    double weight;                    /* of the burst that ends here (rf_batch); 0: none does */
    uint64_t skipped[RF_CLASS_COUNT]; /* events, of records by class; of tuples in the first */
};
rf_status rf_trace_write_gap(struct rf_trace_writer *writer, const struct rf_trace_gap *gap,
                             struct rf_error *error);
/* The events of a batch with its gaps. */
struct rf_batch;
rf_status rf_trace_write_batch(struct rf_trace_writer *writer, const struct rf_batch *batch,
                               struct rf_error *error);
/* A file that was mapped while the stream was made: with it, whoever reads the trace has names for its
 * addresses. Copies, at any time before finish. RF_ENOTSUP: there are too many already (4 MiB). */
rf_status rf_trace_add_module(struct rf_trace_writer *writer, const struct rf_module *module,
                              struct rf_error *error);
/* The last block, the modules, the index, the rename. The writer is gone afterwards, whatever the status. */
rf_status rf_trace_finish(struct rf_trace_writer *writer, struct rf_error *error);
void rf_trace_abandon(struct rf_trace_writer *writer); /* leave no file; NULL is fine */

/* One of equally many pieces that a trace is cut into (rf_source_open_part), by its index. They follow each other: the next one
 * begins where this one ends. */
struct rf_trace_piece {
    uint64_t first, events; /* events before it, and those in it if all its blocks are whole */
    /* The same for the same piece of an equal trace: of its size, its index and the block where the piece begins. */
    uint64_t identity;
};

/* What the header says and the blocks hold. */
struct rf_trace_info {
    enum rf_trace_kind kind;
    unsigned version;
    char command[512];
    char selector[256];
    char riffle_version[32];
    uint64_t events, blocks, bytes; /* of whole blocks; of the file */
    uint64_t gaps;                  /* between bursts */
    uint64_t modules;               /* files that were mapped; 0 until they have been read */
    int complete;                   /* every block is whole, and the index agrees with them */
};
/* Checks every block. RF_EDAMAGED with `info` filled in for what is whole, and a sentence. */
rf_status rf_trace_inspect(const char *path, struct rf_trace_info *info, struct rf_error *error);

#ifdef __cplusplus
}
#endif
#endif
