/* trace_reader.h - what the two halves of the reader share: trace_read.c reads on, trace_seek.c looks ahead. */
#ifndef RF_EVENT_TRACE_READER_H
#define RF_EVENT_TRACE_READER_H

#define ZSTD_STATIC_LINKING_ONLY
#include "event/trace.h"
#include <zstd.h>

/* What is wrong with a file. */
struct rf_trace_damage {
    bool header, modules, index, no_index, trailer;
    uint64_t blocks, events; /* missing, as far as numbers tell */
    uint64_t skipped;        /* bytes that belong to no whole block */
};

struct rf_trace_reader {
    struct rf_alloc alloc;
    int fd;
    char name[200];
    enum rf_trace_depth depth;

    unsigned char *buffer; /* of the file, from offset `base` on */
    size_t room, at, end;
    uint64_t base;
    bool at_eof;

    bool begun, ended, sought;
    struct rf_trace_info info;
    uint32_t next_number; /* of the block that should come */
    uint64_t next_first;
    uint64_t until;            /* blocks that begin here or later are not wanted; 0: all are */
    uint64_t index_sum;        /* of what the index should hold */
    struct rf_trace_gaps gaps; /* of the last block, or behind it */
    struct rf_trace_modules modules;
    size_t modules_size; /* their bytes in the stream, head included */
    struct rf_trace_damage damage;

    unsigned char *raw;
    size_t raw_room;
    void *zstd_room;
    size_t zstd_size;
    ZSTD_DCtx *zstd;
    struct rf_trace_decoder *decoder;
    size_t decoder_events; /* that it has room for */
    struct rf_tuple *tuples;
    uint64_t *counts;
    struct rf_record *records;
};

#endif
