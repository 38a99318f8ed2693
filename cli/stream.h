/* stream.h - streams that are written: gen, trace. */
#ifndef CLI_STREAM_H
#define CLI_STREAM_H

#include "command.h"

/* stream.c: a stream that is written, as text or as a trace. A file appears whole or not at all. */
struct cli_stream;
struct cli_stream_setup {
    const char *path; /* "-": standard output */
    const char *form; /* "text", "rft"; NULL: by the path's ending */
    enum rf_trace_kind kind;
    const char *command; /* provenance, of a trace; may be NULL */
    const char *selector;
};
extern cli_words cli_words_stream_forms;
rf_status cli_stream_open(struct cli_stream **stream, const struct cli_stream_setup *setup,
                          struct rf_error *error);
rf_status cli_stream_put(struct cli_stream *stream, const struct rf_batch *batch,
                         struct rf_error *error);
rf_status cli_stream_finish(struct cli_stream *stream, struct rf_error *error);
void cli_stream_abandon(struct cli_stream *stream); /* NULL is fine */
/* Copy the source into a new stream of the same kind, through the selector if there is one. Prints errors and
 * returns the exit status. */
int cli_stream_copy(const struct cli_stream_setup *setup, struct rf_source *source,
                    const struct rf_selector *selector);

/* lines.c: tuples as lines of text, fast. */
enum { CLI_LINE_MAX = 64 };
/* Writes one line and returns its end; there is room for CLI_LINE_MAX characters. */
char *cli_line(char *out, struct rf_tuple tuple, uint64_t count);

#endif
