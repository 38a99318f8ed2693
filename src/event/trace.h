/* trace.h - the parts of a .rft file; doc/FORMATS.md has the layout in full.
 *
 *     header | block | gaps | block | ... | modules | index | trailer
 *
 * A block (and modules and index, which are framed like one) has a head with a checksum of its own, so that its
 * length can be trusted before anything is allocated and so that a reader finds the next block behind a
 * damaged one. */
#ifndef RF_EVENT_TRACE_H
#define RF_EVENT_TRACE_H

#include <stdbool.h>
#include <riffle/trace.h>
#include "base/magic.h"

enum {
    RF_TRACE_VERSION = 3,       /* 1 had no modules, 2 no gaps */
    RF_TRACE_HEADER_FIXED = 40, /* bytes before the strings; 8 of checksum follow those */
    RF_TRACE_HEADER_MAX = 4096,
    RF_TRACE_HEAD_SIZE = 48,
    RF_TRACE_TRAILER_SIZE = 16,
    RF_TRACE_EVENTS_MAX = 65536, /* in a block */
    RF_TRACE_SLACK = 8,          /* bytes readable behind a payload */
    RF_TRACE_GAPS_KIND = 253,
    RF_TRACE_GAPS_MAX = RF_TRACE_EVENTS_MAX + 1, /* of a block */
    RF_TRACE_MODULES_KIND = 254,
    RF_TRACE_MODULES_BYTES = 4 << 20, /* at most */
    RF_TRACE_MODULE_FIXED = 56,       /* bytes before its texts; each of those has a zero behind */
    RF_TRACE_INDEX_KIND = 255,
    RF_TRACE_INDEX_ENTRY = 16, /* where a block begins, events before it */
};

enum rf_trace_flags {
    RF_TRACE_HAS_COUNTS = 1, /* tuples */
    RF_TRACE_BEHIND = 2,     /* gaps: behind all blocks, not of the one in front of them */
};

extern const unsigned char rf_trace_magic[RF_MAGIC_SIZE];

/* Do these bytes begin a trace? Two of the eight may be damaged; no text comes that close. */
bool rf_trace_is_magic(const unsigned char *bytes, size_t n);

/* The head of a block. In modules and index, `first` is the number of events in the whole file and `number`
 * the number of blocks; in gaps, of those so far. `events` is the number of modules or gaps; in the index it is the size of the modules in
 * bytes, head included, which tells a reader that found the index where the modules begin. */
struct rf_trace_head {
    uint8_t kind;  /* enum rf_trace_kind, or RF_TRACE_GAPS_KIND, _MODULES_KIND, _INDEX_KIND */
    uint8_t flags; /* enum rf_trace_flags */
    uint32_t events;
    uint32_t raw;    /* bytes of the payload, unpacked */
    uint32_t stored; /* bytes of the payload in the file */
    uint32_t number; /* of the block, from 0 */
    uint64_t first;  /* events before this block */
    uint64_t sum;    /* checksum of the stored payload */
};

void rf_trace_head_write(const struct rf_trace_head *head, unsigned char *bytes);
/* False when the bytes are no sound head: a wrong checksum, or a number out of its limits. */
bool rf_trace_head_read(struct rf_trace_head *head, const unsigned char *bytes);

/* Four bytes that begin every head. */
extern const unsigned char rf_trace_sync[4];

void rf_trace_trailer_write(unsigned char *bytes, uint64_t index_offset);
bool rf_trace_trailer_read(const unsigned char *bytes, uint64_t *index_offset);

/* The header of a file. Returns its size; `bytes` has room for RF_TRACE_HEADER_MAX. Strings are cut to
 * what struct rf_trace_info holds. */
size_t rf_trace_header_write(unsigned char *bytes, enum rf_trace_kind kind, const char *command,
                             const char *selector);
/* The size a header claims to have, from its first RF_TRACE_HEADER_FIXED bytes; 0: nonsense. */
size_t rf_trace_header_size(const unsigned char *bytes);
/* RF_EDAMAGED, RF_EVERSION, or RF_OK with kind, version and strings filled in. */
rf_status rf_trace_header_read(const unsigned char *bytes, size_t n, struct rf_trace_info *info);

/* The most bytes that the payload of this many events can have. */
static inline size_t rf_trace_raw_max(size_t events)
{
    return events * 64 + 1024;
}

/* --- the payload: trace_encode.c and trace_decode.c over trace_column.c ------------------------- */

struct rf_trace_events {
    enum rf_trace_kind kind;
    size_t n;
    struct rf_tuple *tuples;
    uint64_t *counts; /* NULL: all once */
    struct rf_record *records;
};

enum { RF_TRACE_EVENTS_PER_KEY = 8, RF_TRACE_NARROW_KEYS = 256 };

/* Columns of the payload that follow the key's. */
enum rf_trace_column {
    RF_COLUMN_KEY,
    RF_COLUMN_B,
    RF_COLUMN_COUNT,
    RF_COLUMN_SHAPE, /* of records: their small members together, then a column for each word */
#define RF_FIELD_WORD(ID, member, letter) RF_COLUMN_##ID,
#include <riffle/fields.def>
    RF_COLUMNS
};

/* Records have the most. */
enum { RF_TRACE_COLUMNS_MAX = RF_COLUMNS - RF_COLUMN_SHAPE };

/* The columns of such events without the key's; returns how many there are. */
size_t rf_trace_columns(const struct rf_trace_events *events,
                        enum rf_trace_column columns[RF_TRACE_COLUMNS_MAX]);

struct rf_trace_encoder;

/* For blocks of up to `events` events. NULL when there is no memory. */
struct rf_trace_encoder *rf_trace_encoder_new(size_t events, const struct rf_alloc *alloc);
void rf_trace_encoder_free(struct rf_trace_encoder *encoder); /* NULL is fine */

/* Events to bytes; `raw` has room for rf_trace_raw_max(n) and RF_TRACE_SLACK. Returns the size. */
size_t rf_trace_encode(struct rf_trace_encoder *encoder, const struct rf_trace_events *events,
                       unsigned char *raw);

struct rf_trace_decoder;

struct rf_trace_decoder *rf_trace_decoder_new(size_t events, const struct rf_alloc *alloc);
void rf_trace_decoder_free(struct rf_trace_decoder *decoder); /* NULL is fine */

/* Bytes to events: n, kind and counts (there or NULL) come from the block's head, the arrays have room
 * for n. RF_TRACE_SLACK bytes behind `raw` are readable. RF_EDAMAGED for bytes that no encoder makes,
 * or RF_ENOMEM. */
rf_status rf_trace_decode(struct rf_trace_decoder *decoder, const struct rf_trace_events *events,
                          const unsigned char *raw, size_t n_raw);

/* A column: a list of words, in two streams of bytes. */
struct rf_column_out {
    unsigned char *meta, *data; /* grow as they are written; never checked, see rf_trace_raw_max */
};
struct rf_column_in {
    const unsigned char *meta, *meta_end, *data, *data_end;
};
void rf_column_encode(struct rf_column_out *out, const uint64_t *values, size_t n);
bool rf_column_decode(struct rf_column_in *in, uint64_t *values, size_t n);

/* --- the modules: trace_modules.c --------------------------------------------------------------- */

struct rf_trace_modules {
    struct rf_module *list; /* texts point into bytes */
    size_t n;
    char *bytes;
    size_t n_bytes;
};

size_t rf_trace_module_size(const struct rf_module *module); /* in the file; SIZE_MAX: too large */
void rf_trace_module_write(const struct rf_module *module, unsigned char *bytes);
/* A list of n modules from its bytes. RF_EDAMAGED or RF_ENOMEM leave nothing to free. */
rf_status rf_trace_modules_read(struct rf_trace_modules *modules, const unsigned char *bytes,
                                size_t n_bytes, size_t n, const struct rf_alloc *alloc);
void rf_trace_modules_free(struct rf_trace_modules *modules, const struct rf_alloc *alloc);

/* --- the gaps: trace_gaps.c ---------------------------------------------------------------------- */

/* Those of one block, or behind the last one. */
struct rf_trace_gaps {
    struct rf_trace_place {
        uint32_t at; /* events of the block in front of it */
        struct rf_trace_gap gap;
    } * list;
    size_t n, room;
};

/* One more; gaps at the same place are one. False: no memory. */
bool rf_trace_gaps_add(struct rf_trace_gaps *gaps, uint32_t at, const struct rf_trace_gap *gap,
                       const struct rf_alloc *alloc);
void rf_trace_gaps_free(struct rf_trace_gaps *gaps, const struct rf_alloc *alloc);
/* Bytes that a gap takes; of records there are more. */
size_t rf_trace_gap_size(enum rf_trace_kind kind);
void rf_trace_gap_write(const struct rf_trace_place *place, enum rf_trace_kind kind,
                        unsigned char *bytes);
/* The list from its bytes, behind a block of `events` events. RF_EDAMAGED, RF_ENOMEM. */
rf_status rf_trace_gaps_read(struct rf_trace_gaps *gaps, enum rf_trace_kind kind,
                             const unsigned char *bytes, size_t n, uint32_t events,
                             const struct rf_alloc *alloc);

/* --- reading: trace_read.c ---------------------------------------------------------------------- */

struct rf_trace_reader;

enum rf_trace_depth {
    RF_TRACE_EVENTS, /* hand out events */
    RF_TRACE_HEADS,  /* only check that every block is whole */
};

struct rf_trace_input {
    int fd; /* stays the caller's */
    const char *name;
    const unsigned char *head; /* bytes that have been read from fd already */
    size_t n_head;
    enum rf_trace_depth depth;
};

rf_status rf_trace_reader_open(struct rf_trace_reader **reader, const struct rf_trace_input *input,
                               const struct rf_alloc *alloc, struct rf_error *error);

/* Read the header, unless that was done; rf_trace_reader_info knows it then. Not needed before next. */
rf_status rf_trace_reader_begin(struct rf_trace_reader *reader, struct rf_error *error);

/* The events of the next whole block, valid until the next call; n = 0 at the end. RF_EDAMAGED is returned at
 * the end, after all whole blocks have been handed out. */
rf_status rf_trace_reader_next(struct rf_trace_reader *reader, struct rf_trace_events *events,
                               struct rf_error *error);

/* The gaps of the block that was handed out last; at the end, those behind the last block. Valid until the next call. */
const struct rf_trace_gaps *rf_trace_reader_gaps(const struct rf_trace_reader *reader);

/* Go on at the block that holds event number `event`, by way of the index; *first is set to the number
 * of that block's first event. RF_ENOTSUP when the file cannot be sought or has no sound index; read it from
 * the beginning then. Only before the first next. */
rf_status rf_trace_reader_seek(struct rf_trace_reader *reader, uint64_t event, uint64_t *first);

/* The same for one of `parts` pieces of whole blocks, about equally many: the reader begins with the first block of piece
 * number `part` and ends in front of the next piece, as if that were the end of the file. The last piece goes to the end.
 * *piece says which one it is. */
rf_status rf_trace_reader_part(struct rf_trace_reader *reader, size_t part, size_t parts,
                               struct rf_trace_piece *piece);

/* The modules. With a sound index they are found at once, wherever the reader is; without one they are known
 * after the reader has passed them. Valid until the reader is closed. RF_ENOMEM or RF_OK. */
rf_status rf_trace_reader_modules(struct rf_trace_reader *reader, const struct rf_module **modules,
                                  size_t *n);

void rf_trace_reader_info(const struct rf_trace_reader *reader, struct rf_trace_info *info);
uint64_t rf_trace_reader_offset(const struct rf_trace_reader *reader); /* bytes used so far */
void rf_trace_reader_close(struct rf_trace_reader *reader);            /* NULL is fine */

#endif
