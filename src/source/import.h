/* import.h - streams that other programs wrote, as records: what the importers of this folder share.
 *
 * An importer is one file with a `const struct rf_import_ops` and a `const struct rf_source_format`, and a line in
 * source.c. It takes the input line by line, or in pieces of one size, and puts records. Whatever it refuses is named by
 * its line, or by its offset. */
#ifndef RF_SOURCE_IMPORT_H
#define RF_SOURCE_IMPORT_H

#include "source/source.h"
#include <riffle/selector.h>

/* What none of them knows; and what only perf does. */
enum {
    RF_IMPORT_UNKNOWN = 1 << RF_FIELD_VALUE | 1 << RF_FIELD_SILENT,
    RF_IMPORT_UNTIMED = RF_IMPORT_UNKNOWN | 1 << RF_FIELD_CYCLES | 1 << RF_FIELD_MISPREDICTED,
};

enum {
    RF_IMPORT_LINE_MAX = 64 * 1024, /* the longest line */
    RF_IMPORT_MORE = 2048,          /* the most records of one line or piece */
};

struct rf_import;

struct rf_import_ops {
    const char *name;
    uint32_t unknown; /* a bit per field that its records do not have */
    size_t piece;     /* bytes of a piece; 0: lines */
    size_t
        state_size; /* of what it remembers from line to line, zeroed to begin with; 0: nothing */
    /* One line without its end, terminated, or one piece. */
    rf_status (*take)(struct rf_import *import, const char *bytes, size_t n,
                      struct rf_error *error);
    rf_status (*finish)(struct rf_import *import, struct rf_error *error); /* at the end; or NULL */
};

rf_status rf_import_open(struct rf_source **source, const struct rf_import_ops *ops,
                         const struct rf_source_input *input, const struct rf_alloc *alloc,
                         struct rf_error *error);
void *rf_import_state(struct rf_import *import);
void rf_import_put(struct rf_import *import, const struct rf_record *record);
/* RF_EINVAL with "NAME: line 12: expected ..., got '...'". */
rf_status rf_import_refuse(const struct rf_import *import, const char *expected, const char *bytes,
                           size_t n, struct rf_error *error);

/* A number at *p, hexadecimal with 0x or without, or decimal; false: there is none of 64 bits. */
bool rf_import_hex(const char **p, uint64_t *value);
bool rf_import_decimal(const char **p, uint64_t *value);
void rf_import_skip_blanks(const char **p);

/* A small number for a thread's id: 1 for the first that is seen. The 1000th and all after it are one thread. */
enum { RF_IMPORT_THREADS_MAX = 1000 };
struct rf_import_threads {
    uint64_t ids[RF_IMPORT_THREADS_MAX];
    uint16_t n;
};
uint16_t rf_import_thread(struct rf_import_threads *threads, uint64_t id);

#endif
