/* source.h - what a source is made of: a const descriptor in front of its state.
 *
 *     struct text {                             first member: the base, so that the pointer to one
 *         struct rf_source base;                is a pointer to the other
 *         ...
 *     };
 *
 * rf_source_next clears the batch before it calls `next`. It remembers the end or a failure, so `next` is
 * never called again after either. */
#ifndef RF_SOURCE_SOURCE_H
#define RF_SOURCE_SOURCE_H

#include <stdbool.h>
#include <riffle/source.h>

struct rf_source_ops {
    const char *name;
    /* Fill *batch, which comes in zeroed; leave n at 0 for the end. */
    rf_status (*next)(struct rf_source *source, struct rf_batch *batch, struct rf_error *error);
    /* NULL: `done` and `total` of the source say it. */
    void (*progress)(const struct rf_source *source, uint64_t *done, uint64_t *total);
    rf_status (*header)(struct rf_source *source, struct rf_trace_info *info); /* or NULL */
    rf_status (*modules)(struct rf_source *source, const struct rf_module **modules,
                         size_t *n); /* or NULL: there are none */
    rf_status (*piece)(const struct rf_source *source, struct rf_trace_piece *piece); /* or NULL */
    rf_status (*counted)(struct rf_source *source, rf_source_tell tell, void *context,
                         struct rf_error *error); /* or NULL: there is nothing but batches */
    /* Give back everything, the source's own block included. */
    void (*close)(struct rf_source *source);
};

struct rf_source {
    const struct rf_source_ops *ops;
    struct rf_alloc alloc;
    rf_status ended; /* not RF_OK: the stream failed with it, and stays so */
    bool at_end;
    uint64_t done, total; /* of bytes or events, for a progress line; total 0: not known */
};

/* A zeroed block of `size` bytes that begins with a struct rf_source; NULL when there is none. */
void *rf_source_new(const struct rf_source_ops *ops, size_t size, const struct rf_alloc *alloc);

/* About how many tuples the sources of this folder hand out at once: 256 KiB, which stay in the second-level
 * cache between source and engine. */
enum { RF_SOURCE_BATCH = 16 * 1024 };

/* An open file whose first bytes have been looked at already. */
struct rf_source_input {
    int fd;
    bool close_fd; /* the source closes it in the end */
    const char *name;
    unsigned char head[8];
    size_t n_head;
    uint64_t skip;      /* events to leave out at the beginning, where the format can */
    size_t part, parts; /* piece number `part` of `parts`; parts 0: all of it */
};

/* A format of files that are streams, told by their first bytes. */
struct rf_source_format {
    const char *name;
    bool (*is)(const struct rf_source_input *input); /* NULL: no mark tells, it must be named */
    const struct rf_import_ops *import; /* that opens it (import.h); NULL: `open` does */
    /* Takes the descriptor over where input->close_fd says so, unless it fails. NULL: such a file is known, but is
     * no stream. */
    rf_status (*open)(struct rf_source **source, const struct rf_source_input *input,
                      const struct rf_alloc *alloc, struct rf_error *error);
    const char *refusal; /* without open: what the user did wrong */
};

extern const struct rf_source_format rf_source_text, rf_source_trace;
/* Importers; see import.h. */
extern const struct rf_source_format rf_source_lackey, rf_source_drmemtrace, rf_source_champsim,
    rf_source_perf_script;

/* read() until there is something, through interruptions by signals. */
rf_status rf_source_read(int fd, const char *name, void *bytes, size_t size, size_t *n,
                         struct rf_error *error);

/* Bytes of a regular file, 0 for anything else. */
uint64_t rf_source_file_size(int fd);

#endif
