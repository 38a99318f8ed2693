/* trace_write.c - events into a .rft file, a block at a time.
 *
 *     events --> [ 64 Ki of them ] --encode--> columns --zstd--> block --> file under a temporary name
 *                                                                 +------> index, 16 bytes per block
 *     modules ----------------------------------------------------------> in front of the index
 *
 * A failed write is remembered: every later call fails with the same error, and finish leaves no file.
 *
 * Memory: about 14 MiB for tuples, 16 for records, mostly room for the worst case that is never touched;
 * and the index. */
#define ZSTD_STATIC_LINKING_ONLY /* a context in memory of ours; in the library since zstd 1.3 */
#include "event/trace.h"
#include "event/newfile.h"
#include "base/alloc.h"
#include "base/bytes.h"
#include "base/checksum.h"
#include "base/error.h"
#include <string.h>
#include <zstd.h>

enum { BLOCK = RF_TRACE_EVENTS_MAX, LEVEL = 1 };

struct rf_trace_writer {
    struct rf_alloc alloc;
    struct rf_newfile file;
    rf_status failed; /* not RF_OK: a write went wrong */
    struct rf_error failure;
    struct rf_trace_events block; /* being filled */
    bool has_counts;
    uint64_t *counts;
    uint64_t events, blocks;
    struct rf_trace_encoder *encoder;
    unsigned char *raw, *stored; /* stored begins with the head */
    void *zstd_room;
    size_t zstd_size;
    ZSTD_CCtx *zstd;
    struct rf_trace_gaps gaps; /* of the block */
    unsigned char *modules;    /* as they will stand in the file */
    size_t n_modules, modules_size, modules_room;
    uint64_t *index; /* two words per block */
    size_t index_room;
};

static size_t raw_room(void)
{
    return rf_trace_raw_max(BLOCK) + RF_TRACE_SLACK;
}

static size_t payload_room(void)
{
    return ZSTD_compressBound(rf_trace_raw_max(BLOCK));
}

static size_t stored_room(void)
{
    return RF_TRACE_HEAD_SIZE + payload_room();
}

static void release(struct rf_trace_writer *writer)
{
    rf_trace_encoder_free(writer->encoder);
    rf_alloc_free(&writer->alloc, writer->block.tuples, BLOCK * sizeof *writer->block.tuples);
    rf_alloc_free(&writer->alloc, writer->block.records, BLOCK * sizeof *writer->block.records);
    rf_alloc_free(&writer->alloc, writer->counts, BLOCK * sizeof *writer->counts);
    rf_alloc_free(&writer->alloc, writer->raw, raw_room());
    rf_alloc_free(&writer->alloc, writer->stored, stored_room());
    rf_alloc_free(&writer->alloc, writer->zstd_room, writer->zstd_size);
    rf_trace_gaps_free(&writer->gaps, &writer->alloc);
    rf_alloc_free(&writer->alloc, writer->modules, writer->modules_room);
    rf_alloc_free(&writer->alloc, writer->index, writer->index_room * 2 * sizeof *writer->index);
    rf_alloc_free(&writer->alloc, writer, sizeof *writer);
}

static bool get_memory(struct rf_trace_writer *writer)
{
    const struct rf_alloc *alloc = &writer->alloc;
    writer->encoder = rf_trace_encoder_new(BLOCK, alloc);
    if (writer->block.kind == RF_TRACE_TUPLES)
        writer->block.tuples = rf_alloc_get(alloc, BLOCK * sizeof *writer->block.tuples);
    else
        writer->block.records = rf_alloc_get(alloc, BLOCK * sizeof *writer->block.records);
    writer->raw = rf_alloc_get(alloc, raw_room());
    writer->stored = rf_alloc_get(alloc, stored_room());
    writer->zstd_size = ZSTD_estimateCCtxSize(LEVEL);
    writer->zstd_room = rf_alloc_get(alloc, writer->zstd_size);
    if (writer->encoder == NULL || writer->raw == NULL || writer->stored == NULL ||
        writer->zstd_room == NULL ||
        (writer->block.tuples == NULL && writer->block.records == NULL))
        return false;
    writer->zstd = ZSTD_initStaticCCtx(writer->zstd_room, writer->zstd_size);
    return writer->zstd != NULL;
}

static rf_status write_header(struct rf_trace_writer *writer, const char *command,
                              const char *selector, struct rf_error *error)
{
    unsigned char header[RF_TRACE_HEADER_MAX];
    size_t n = rf_trace_header_write(header, writer->block.kind, command, selector);
    return rf_newfile_write(&writer->file, header, n, error);
}

rf_status rf_trace_create(struct rf_trace_writer **writer_out, const char *path,
                          enum rf_trace_kind kind, const char *command, const char *selector,
                          const struct rf_alloc *alloc, struct rf_error *error)
{
    alloc = rf_alloc_or_standard(alloc);
    *writer_out = NULL;
    struct rf_trace_writer *writer = rf_alloc_zeroed(alloc, sizeof *writer);
    if (writer == NULL)
        return rf_fail(error, RF_ENOMEM, "%s: no memory to write it", path);
    writer->alloc = *alloc;
    writer->block.kind = kind;
    if (!get_memory(writer)) {
        release(writer);
        return rf_fail(error, RF_ENOMEM, "%s: no memory to write it", path);
    }
    rf_status status = rf_newfile_create(&writer->file, path, alloc, error);
    if (status != RF_OK) {
        release(writer);
        return status;
    }
    status = write_header(writer, command, selector, error);
    if (status != RF_OK)
        rf_trace_abandon(writer);
    else
        *writer_out = writer;
    return status;
}

static rf_status note_block(struct rf_trace_writer *writer, struct rf_error *error)
{
    if (writer->blocks == writer->index_room) {
        size_t room = writer->index_room == 0 ? 256 : 2 * writer->index_room;
        void *index = writer->index;
        if (room > UINT32_MAX / RF_TRACE_INDEX_ENTRY ||
            !rf_alloc_array(&writer->alloc, &index, writer->index_room * 2, room * 2,
                            sizeof *writer->index))
            return rf_fail(error, RF_ENOMEM, "%s: no memory for the index", writer->file.path);
        writer->index = index;
        writer->index_room = room;
    }
    rf_store64(&writer->index[2 * writer->blocks], writer->file.written);
    rf_store64(&writer->index[2 * writer->blocks + 1], writer->events);
    writer->blocks++;
    return RF_OK;
}

/* Pack the block into `stored`, head first. Returns its size, 0 when zstd refuses. */
static size_t pack(struct rf_trace_writer *writer)
{
    unsigned char *payload = writer->stored + RF_TRACE_HEAD_SIZE;
    writer->block.counts = writer->has_counts ? writer->counts : NULL;
    size_t raw = rf_trace_encode(writer->encoder, &writer->block, writer->raw);
    size_t n = ZSTD_compressCCtx(writer->zstd, payload, payload_room(), writer->raw, raw, LEVEL);
    if (ZSTD_isError(n))
        return 0;
    struct rf_trace_head head = {
        .kind = (uint8_t)writer->block.kind,
        .flags = writer->has_counts ? RF_TRACE_HAS_COUNTS : 0,
        .events = (uint32_t)writer->block.n,
        .raw = (uint32_t)raw,
        .stored = (uint32_t)n,
        .number = (uint32_t)writer->blocks,
        .first = writer->events,
        .sum = rf_checksum(payload, n),
    };
    rf_trace_head_write(&head, writer->stored);
    return RF_TRACE_HEAD_SIZE + n;
}

/* The gaps of the block that was written, or behind all of them. */
static rf_status write_gaps(struct rf_trace_writer *writer, uint8_t flags, struct rf_error *error)
{
    size_t each = rf_trace_gap_size(writer->block.kind), n = writer->gaps.n;
    unsigned char *payload = writer->stored + RF_TRACE_HEAD_SIZE;
    if (n == 0)
        return RF_OK;
    unsigned char *raw = rf_alloc_get(&writer->alloc, n * each);
    if (raw == NULL)
        return rf_fail(error, RF_ENOMEM, "%s: no memory for gaps", writer->file.path);
    for (size_t i = 0; i < n; i++)
        rf_trace_gap_write(&writer->gaps.list[i], writer->block.kind, raw + i * each);
    size_t packed = ZSTD_compressCCtx(writer->zstd, payload, payload_room(), raw, n * each, LEVEL);
    rf_alloc_free(&writer->alloc, raw, n * each);
    if (ZSTD_isError(packed))
        return rf_fail(error, RF_ENOMEM, "%s: cannot compress", writer->file.path);
    const struct rf_trace_head head = {.kind = RF_TRACE_GAPS_KIND,
                                       .flags = flags,
                                       .events = (uint32_t)n,
                                       .raw = (uint32_t)(n * each),
                                       .stored = (uint32_t)packed,
                                       .number = (uint32_t)writer->blocks,
                                       .first = writer->events,
                                       .sum = rf_checksum(payload, packed)};
    rf_trace_head_write(&head, writer->stored);
    writer->gaps.n = 0;
    return rf_newfile_write(&writer->file, writer->stored, RF_TRACE_HEAD_SIZE + packed, error);
}

static rf_status flush(struct rf_trace_writer *writer, struct rf_error *error)
{
    if (writer->block.n == 0)
        return write_gaps(writer, RF_TRACE_BEHIND, error);
    size_t n = pack(writer);
    if (n == 0)
        return rf_fail(error, RF_ENOMEM, "%s: cannot compress", writer->file.path);
    rf_status status = note_block(writer, error);
    if (status == RF_OK)
        status = rf_newfile_write(&writer->file, writer->stored, n, error);
    writer->events += writer->block.n;
    writer->block.n = 0;
    writer->has_counts = false;
    return status == RF_OK ? write_gaps(writer, 0, error) : status;
}

/* Remember a failure: begin_write returns it again. */
static rf_status settle(struct rf_trace_writer *writer, rf_status status,
                        const struct rf_error *error)
{
    if (status != RF_OK) {
        writer->failed = status;
        writer->failure = *error;
    }
    return status;
}

static rf_status begin_write(const struct rf_trace_writer *writer, enum rf_trace_kind kind,
                             struct rf_error *error)
{
    if (writer->failed != RF_OK)
        return rf_fail(error, writer->failed, "%s", writer->failure.message);
    if (writer->block.kind != kind)
        return rf_fail(error, RF_EINVAL, "%s: a trace holds tuples or records, not both",
                       writer->file.path);
    return RF_OK;
}

/* Counts for what the block holds so far. */
static rf_status begin_counts(struct rf_trace_writer *writer, struct rf_error *error)
{
    if (writer->counts == NULL)
        writer->counts = rf_alloc_get(&writer->alloc, BLOCK * sizeof *writer->counts);
    if (writer->counts == NULL)
        return rf_fail(error, RF_ENOMEM, "%s: no memory for counts", writer->file.path);
    for (size_t i = 0; i < writer->block.n; i++)
        writer->counts[i] = 1;
    writer->has_counts = true;
    return RF_OK;
}

/* So many of n events fit into the block. */
static size_t fitting(const struct rf_trace_events *block, size_t n)
{
    return n < BLOCK - block->n ? n : BLOCK - block->n;
}

static rf_status add_tuples(struct rf_trace_writer *writer, const struct rf_tuples *tuples,
                            struct rf_error *error)
{
    rf_status status = RF_OK;
    struct rf_trace_events *block = &writer->block;
    for (size_t i = 0, n; i < tuples->n && status == RF_OK; i += n) {
        n = fitting(block, tuples->n - i);
        if (tuples->counts != NULL && !writer->has_counts)
            status = begin_counts(writer, error);
        if (status != RF_OK)
            break;
        memcpy(block->tuples + block->n, tuples->tuples + i, n * sizeof *block->tuples);
        for (size_t k = 0; k < n && writer->has_counts; k++)
            writer->counts[block->n + k] = tuples->counts != NULL ? tuples->counts[i + k] : 1;
        block->n += n;
        if (block->n == BLOCK)
            status = flush(writer, error);
    }
    return status;
}

rf_status rf_trace_write_tuples(struct rf_trace_writer *writer, const struct rf_tuples *tuples,
                                struct rf_error *error)
{
    struct rf_error local = {""};
    error = error != NULL ? error : &local;
    rf_status status = begin_write(writer, RF_TRACE_TUPLES, error);
    if (status != RF_OK)
        return status;
    return settle(writer, add_tuples(writer, tuples, error), error);
}

static rf_status add_records(struct rf_trace_writer *writer, const struct rf_record *records,
                             size_t n_records, struct rf_error *error)
{
    rf_status status = RF_OK;
    struct rf_trace_events *block = &writer->block;
    for (size_t i = 0, n; i < n_records && status == RF_OK; i += n) {
        n = fitting(block, n_records - i);
        memcpy(block->records + block->n, records + i, n * sizeof *records);
        block->n += n;
        if (block->n == BLOCK)
            status = flush(writer, error);
    }
    return status;
}

rf_status rf_trace_write_records(struct rf_trace_writer *writer, const struct rf_record *records,
                                 size_t n, struct rf_error *error)
{
    struct rf_error local = {""};
    error = error != NULL ? error : &local;
    rf_status status = begin_write(writer, RF_TRACE_RECORDS, error);
    if (status != RF_OK)
        return status;
    for (size_t i = 0; i < n; i++)
        if (records[i].kind >= RF_CLASS_COUNT)
            return rf_fail(error, RF_EINVAL, "%s: record %zu has an unknown class (%u)",
                           writer->file.path, i, (unsigned)records[i].kind);
    return settle(writer, add_records(writer, records, n, error), error);
}

rf_status rf_trace_write_gap(struct rf_trace_writer *writer, const struct rf_trace_gap *gap,
                             struct rf_error *error)
{
    struct rf_error local = {""};
    error = error != NULL ? error : &local;
    rf_status status = begin_write(writer, writer->block.kind, error);
    if (status == RF_OK &&
        !rf_trace_gaps_add(&writer->gaps, (uint32_t)writer->block.n, gap, &writer->alloc))
        status = rf_fail(error, RF_ENOMEM, "%s: no memory for gaps", writer->file.path);
    return settle(writer, status, error);
}

static bool reserve_modules(struct rf_trace_writer *writer, size_t more)
{
    size_t needed = writer->modules_size + more, room = 2 * writer->modules_room + 4096;
    if (needed <= writer->modules_room)
        return true;
    void *bytes = writer->modules;
    room = room < needed ? needed : room;
    if (!rf_alloc_array(&writer->alloc, &bytes, writer->modules_room, room, 1))
        return false;
    writer->modules = bytes;
    writer->modules_room = room;
    return true;
}

rf_status rf_trace_add_module(struct rf_trace_writer *writer, const struct rf_module *module,
                              struct rf_error *error)
{
    size_t size = rf_trace_module_size(module);
    if (module->start > module->end || module->from_event > module->to_event)
        return rf_fail(error, RF_EINVAL, "%s: module %zu ends before it begins", writer->file.path,
                       writer->n_modules);
    if (size > RF_TRACE_MODULES_BYTES - writer->modules_size)
        return rf_fail(error, RF_ENOTSUP, "%s: no room for more than %zu modules",
                       writer->file.path, writer->n_modules);
    if (!reserve_modules(writer, size))
        return rf_fail(error, RF_ENOMEM, "%s: no memory for its modules", writer->file.path);
    rf_trace_module_write(module, writer->modules + writer->modules_size);
    writer->modules_size += size;
    writer->n_modules++;
    return RF_OK;
}

/* *size: the bytes that they take in the file. */
static rf_status write_modules(struct rf_trace_writer *writer, uint32_t *size,
                               struct rf_error *error)
{
    unsigned char bytes[RF_TRACE_HEAD_SIZE];
    uint32_t n = (uint32_t)writer->modules_size;
    *size = 0;
    if (n == 0)
        return RF_OK;
    const struct rf_trace_head head = {
        .kind = RF_TRACE_MODULES_KIND,
        .events = (uint32_t)writer->n_modules,
        .raw = n,
        .stored = n,
        .number = (uint32_t)writer->blocks,
        .first = writer->events,
        .sum = rf_checksum(writer->modules, n),
    };
    rf_trace_head_write(&head, bytes);
    *size = RF_TRACE_HEAD_SIZE + n;
    rf_status status = rf_newfile_write(&writer->file, bytes, sizeof bytes, error);
    return status == RF_OK ? rf_newfile_write(&writer->file, writer->modules, n, error) : status;
}

static rf_status write_index(struct rf_trace_writer *writer, uint32_t modules_size,
                             struct rf_error *error)
{
    unsigned char head_bytes[RF_TRACE_HEAD_SIZE], trailer[RF_TRACE_TRAILER_SIZE];
    uint64_t offset = writer->file.written, sum = rf_checksum_begin();
    for (size_t i = 0; i < 2 * writer->blocks; i++)
        sum = rf_checksum_word(sum, rf_load64(&writer->index[i]));
    size_t size = (size_t)writer->blocks * RF_TRACE_INDEX_ENTRY;
    struct rf_trace_head head = {
        .kind = RF_TRACE_INDEX_KIND,
        .events = modules_size,
        .raw = (uint32_t)size,
        .stored = (uint32_t)size,
        .number = (uint32_t)writer->blocks,
        .first = writer->events,
        .sum = sum,
    };
    rf_trace_head_write(&head, head_bytes);
    rf_trace_trailer_write(trailer, offset);
    rf_status status = rf_newfile_write(&writer->file, head_bytes, sizeof head_bytes, error);
    if (status == RF_OK)
        status = rf_newfile_write(&writer->file, writer->index, size, error);
    if (status == RF_OK)
        status = rf_newfile_write(&writer->file, trailer, sizeof trailer, error);
    return status;
}

rf_status rf_trace_finish(struct rf_trace_writer *writer, struct rf_error *error)
{
    rf_status status = begin_write(writer, writer->block.kind, error);
    if (status == RF_OK)
        status = flush(writer, error);
    uint32_t modules_size = 0;
    if (status == RF_OK)
        status = write_modules(writer, &modules_size, error);
    if (status == RF_OK)
        status = write_index(writer, modules_size, error);
    if (status != RF_OK) {
        rf_trace_abandon(writer);
        return status;
    }
    status = rf_newfile_finish(&writer->file, error);
    release(writer);
    return status;
}

void rf_trace_abandon(struct rf_trace_writer *writer)
{
    if (writer == NULL)
        return;
    rf_newfile_abandon(&writer->file);
    release(writer);
}
