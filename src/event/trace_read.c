/* trace_read.c - blocks out of a .rft file, whatever state it is in.
 *
 *     header? --> head? --sound--> payload --checksum--> zstd --> columns --> events
 *                  |  ^                        | wrong
 *                  |  +-- next sound head <----+
 *                  +-- index: compare what it says with what was read
 *
 * Every head has a checksum of its own and begins with four bytes of sync. Where there is no sound head,
 * the reader looks for the next one byte by byte; what lies between belongs to a damaged block. Numbers in the
 * heads, and in the index at the end, tell how much is missing. The header is for people: a file without a
 * sound one still gives its blocks.
 *
 * A change of any byte is noticed: the header, heads, payloads and the index have checksums. The index holds
 * where each block begins, and the trailer where the index begins.
 *
 * Memory: the buffers grow to the largest block that has a sound head; heads with lengths that no writer
 * makes are not sound, so the limit is 24 MiB. */
#define ZSTD_STATIC_LINKING_ONLY
#include "event/trace.h"
#include "base/alloc.h"
#include "base/bytes.h"
#include "base/checksum.h"
#include "base/error.h"
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

enum { BUFFER_LEAST = 256 * 1024, MISSING_TEXT = 400 };

/* What is wrong with a file. */
struct damage {
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
    uint64_t index_sum; /* of what the index should hold */
    struct rf_trace_modules modules;
    size_t modules_size; /* their bytes in the stream, head included */
    struct damage damage;

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

static rf_status no_memory(const struct rf_trace_reader *reader, struct rf_error *error)
{
    return rf_fail(error, RF_ENOMEM, "%s: no memory to read it", reader->name);
}

/* --- bytes -------------------------------------------------------------------------------------- */

static rf_status read_some(struct rf_trace_reader *reader, struct rf_error *error)
{
    ssize_t n;
    do
        n = read(reader->fd, reader->buffer + reader->end, reader->room - reader->end);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return rf_fail(error, RF_EIO, "%s: cannot read: %s", reader->name, strerror(errno));
    reader->end += (size_t)n;
    reader->at_eof = n == 0;
    return RF_OK;
}

/* Read until n bytes from `at` on are there, or the file ends; have() tells how many there are. */
static rf_status need(struct rf_trace_reader *reader, size_t n, struct rf_error *error)
{
    if (reader->end - reader->at >= n)
        return RF_OK;
    memmove(reader->buffer, reader->buffer + reader->at, reader->end - reader->at);
    reader->base += reader->at;
    reader->end -= reader->at;
    reader->at = 0;
    if (n > reader->room) {
        void *buffer = reader->buffer;
        if (!rf_alloc_array(&reader->alloc, &buffer, reader->room, n, 1))
            return no_memory(reader, error);
        reader->buffer = buffer;
        reader->room = n;
    }
    rf_status status = RF_OK;
    while (reader->end < n && !reader->at_eof && status == RF_OK)
        status = read_some(reader, error);
    return status;
}

static size_t have(const struct rf_trace_reader *reader)
{
    return reader->end - reader->at;
}

static const unsigned char *bytes_at(const struct rf_trace_reader *reader)
{
    return reader->buffer + reader->at;
}

static void skip(struct rf_trace_reader *reader, size_t n)
{
    reader->at += n;
    reader->damage.skipped += n;
}

/* --- header and trailer ------------------------------------------------------------------------- */

static rf_status read_header(struct rf_trace_reader *reader, struct rf_error *error)
{
    rf_status status = need(reader, RF_TRACE_HEADER_FIXED, error);
    if (status != RF_OK)
        return status;
    size_t size = have(reader) < RF_TRACE_HEADER_FIXED ? 0 : rf_trace_header_size(bytes_at(reader));
    if (size > 0)
        status = need(reader, size, error);
    if (status != RF_OK)
        return status;
    status = size == 0 || have(reader) < size
                 ? RF_EDAMAGED
                 : rf_trace_header_read(bytes_at(reader), size, &reader->info);
    if (status == RF_EVERSION)
        return rf_fail(error, status, "%s: a trace of version %u; this riffle reads up to %d",
                       reader->name, reader->info.version, RF_TRACE_VERSION);
    reader->damage.header = status != RF_OK;
    reader->at += status == RF_OK ? size : 0;
    reader->begun = true;
    return RF_OK;
}

/* Does the end of the file follow? */
static rf_status read_trailer(struct rf_trace_reader *reader, uint64_t index_offset,
                              struct rf_error *error)
{
    uint64_t offset = 0;
    rf_status status = need(reader, RF_TRACE_TRAILER_SIZE + 1, error);
    if (status != RF_OK)
        return status;
    reader->damage.trailer = have(reader) != RF_TRACE_TRAILER_SIZE ||
                             !rf_trace_trailer_read(bytes_at(reader), &offset) ||
                             offset != index_offset;
    reader->at = reader->end;
    return RF_OK;
}

static rf_status read_index(struct rf_trace_reader *reader, const struct rf_trace_head *head,
                            struct rf_error *error)
{
    uint64_t offset = reader->base + reader->at, sum = rf_checksum_begin();
    reader->at += RF_TRACE_HEAD_SIZE;
    for (uint32_t left = head->stored; left > 0; left -= 8) {
        rf_status status = need(reader, 8, error);
        if (status != RF_OK)
            return status;
        if (have(reader) < 8)
            break;
        sum = rf_checksum_word(sum, rf_load64(bytes_at(reader)));
        reader->at += 8;
    }
    if (head->number < reader->next_number || head->first < reader->next_first) {
        reader->damage.index = true;
    } else {
        reader->damage.blocks += head->number - reader->next_number;
        reader->damage.events += head->first - reader->next_first;
    }
    reader->damage.modules |= head->events != reader->modules_size;
    bool all_read = reader->damage.blocks == 0 && !reader->sought;
    reader->damage.index |= sum != head->sum || (all_read && sum != reader->index_sum);
    reader->ended = true;
    return read_trailer(reader, offset, error);
}

/* --- blocks ------------------------------------------------------------------------------------- */

/* Look for the next four bytes of sync behind `at`. */
static rf_status find_sync(struct rf_trace_reader *reader, struct rf_error *error)
{
    if (have(reader) > 0)
        skip(reader, 1);
    for (;;) {
        rf_status status = need(reader, RF_TRACE_HEAD_SIZE, error);
        if (status != RF_OK)
            return status;
        const unsigned char *from = bytes_at(reader);
        const unsigned char *found = memmem(from, have(reader), rf_trace_sync, 4);
        if (found != NULL) {
            skip(reader, (size_t)(found - from));
            return RF_OK;
        }
        if (reader->at_eof) {
            skip(reader, have(reader));
            return RF_OK;
        }
        skip(reader, have(reader) - 3); /* sync may begin in the last three */
    }
}

/* Is there, at `at`, a block that can come now, with a whole payload? */
static rf_status check_block(struct rf_trace_reader *reader, struct rf_trace_head *head,
                             bool *whole, struct rf_error *error)
{
    *whole = false;
    rf_status status = need(reader, RF_TRACE_HEAD_SIZE, error);
    if (status != RF_OK || have(reader) < RF_TRACE_HEAD_SIZE ||
        !rf_trace_head_read(head, bytes_at(reader)))
        return status;
    if (head->kind == RF_TRACE_INDEX_KIND) {
        *whole = true;
        return RF_OK;
    }
    if (head->number < reader->next_number || head->first < reader->next_first)
        return RF_OK;
    size_t size = RF_TRACE_HEAD_SIZE + (size_t)head->stored;
    status = need(reader, size, error);
    if (status != RF_OK || have(reader) < size)
        return status;
    *whole = rf_checksum(bytes_at(reader) + RF_TRACE_HEAD_SIZE, head->stored) == head->sum;
    return RF_OK;
}

static bool get_arrays(struct rf_trace_reader *reader, const struct rf_trace_head *head)
{
    const struct rf_alloc *alloc = &reader->alloc;
    bool records = head->kind == RF_TRACE_RECORDS, counts = head->flags & RF_TRACE_HAS_COUNTS;
    if (records && reader->records == NULL)
        reader->records = rf_alloc_get(alloc, RF_TRACE_EVENTS_MAX * sizeof *reader->records);
    if (!records && reader->tuples == NULL)
        reader->tuples = rf_alloc_get(alloc, RF_TRACE_EVENTS_MAX * sizeof *reader->tuples);
    if (counts && reader->counts == NULL)
        reader->counts = rf_alloc_get(alloc, RF_TRACE_EVENTS_MAX * sizeof *reader->counts);
    return (records ? reader->records != NULL : reader->tuples != NULL) &&
           (!counts || reader->counts != NULL);
}

/* What a block of this head needs. */
static bool get_memory(struct rf_trace_reader *reader, const struct rf_trace_head *head)
{
    if (reader->zstd == NULL) {
        reader->zstd_size = ZSTD_estimateDCtxSize();
        reader->zstd_room = rf_alloc_get(&reader->alloc, reader->zstd_size);
        if (reader->zstd_room == NULL)
            return false;
        reader->zstd = ZSTD_initStaticDCtx(reader->zstd_room, reader->zstd_size);
    }
    if (reader->decoder_events < head->events) {
        rf_trace_decoder_free(reader->decoder);
        reader->decoder = rf_trace_decoder_new(head->events, &reader->alloc);
        reader->decoder_events = reader->decoder != NULL ? head->events : 0;
    }
    size_t raw = (size_t)head->raw + RF_TRACE_SLACK;
    if (raw > reader->raw_room) {
        void *grown = reader->raw;
        if (!rf_alloc_array(&reader->alloc, &grown, reader->raw_room, raw, 1))
            return false;
        reader->raw = grown;
        reader->raw_room = raw;
    }
    return reader->zstd != NULL && reader->decoder != NULL && get_arrays(reader, head);
}

static rf_status unpack(struct rf_trace_reader *reader, const struct rf_trace_head *head,
                        struct rf_trace_events *events)
{
    events->kind = (enum rf_trace_kind)head->kind;
    events->n = head->events;
    if (reader->depth == RF_TRACE_HEADS)
        return RF_OK;
    if (!get_memory(reader, head))
        return RF_ENOMEM;
    size_t n = ZSTD_decompressDCtx(reader->zstd, reader->raw, head->raw,
                                   bytes_at(reader) + RF_TRACE_HEAD_SIZE, head->stored);
    if (ZSTD_isError(n) || n != head->raw)
        return RF_EDAMAGED;
    memset(reader->raw + n, 0, RF_TRACE_SLACK);
    events->tuples = head->kind == RF_TRACE_TUPLES ? reader->tuples : NULL;
    events->counts = head->flags & RF_TRACE_HAS_COUNTS ? reader->counts : NULL;
    events->records = head->kind == RF_TRACE_RECORDS ? reader->records : NULL;
    return rf_trace_decode(reader->decoder, events, reader->raw, n);
}

static void accept(struct rf_trace_reader *reader, const struct rf_trace_head *head)
{
    reader->damage.blocks += head->number - reader->next_number;
    reader->damage.events += head->first - reader->next_first;
    reader->next_number = head->number + 1;
    reader->next_first = head->first + head->events;
    uint64_t offset = reader->base + reader->at;
    reader->index_sum = rf_checksum_word(reader->index_sum, offset);
    reader->index_sum = rf_checksum_word(reader->index_sum, head->first);
    reader->info.events += head->events;
    reader->info.blocks++;
    reader->at += RF_TRACE_HEAD_SIZE + (size_t)head->stored;
}

/* The reader has reached the modules: `at` is the position of a whole block of them. */
static rf_status take_modules(struct rf_trace_reader *reader, const struct rf_trace_head *head)
{
    struct rf_trace_modules modules;
    rf_status status = rf_trace_modules_read(&modules, bytes_at(reader) + RF_TRACE_HEAD_SIZE,
                                             head->stored, head->events, &reader->alloc);
    if (status == RF_ENOMEM)
        return status;
    reader->damage.modules |= status != RF_OK || reader->modules_size > 0;
    reader->modules_size = RF_TRACE_HEAD_SIZE + (size_t)head->stored;
    reader->at += reader->modules_size;
    if (reader->modules.n == 0)
        reader->modules = modules;
    else
        rf_trace_modules_free(&modules, &reader->alloc);
    return RF_OK;
}

/* --- the end ------------------------------------------------------------------------------------ */

struct sentence {
    char text[MISSING_TEXT];
    size_t n;
};

static void say(struct sentence *sentence, bool is_so, const char *what)
{
    if (!is_so || sentence->n >= sizeof sentence->text)
        return;
    size_t room = sizeof sentence->text - sentence->n;
    sentence->n +=
        rf_format(sentence->text + sentence->n, room, "%s%s", sentence->n > 0 ? ", " : "", what);
}

static rf_status verdict(const struct rf_trace_reader *reader, struct rf_error *error)
{
    const struct damage *damage = &reader->damage;
    struct sentence sentence = {.n = 0};
    char missing[128], cut[128], skipped[64];
    rf_format(missing, sizeof missing, "%llu blocks with %llu events are missing",
              (unsigned long long)damage->blocks, (unsigned long long)damage->events);
    rf_format(cut, sizeof cut, "it has no index: cut off behind event %llu or damaged there",
              (unsigned long long)reader->next_first);
    rf_format(skipped, sizeof skipped, "%llu bytes belong to no whole block",
              (unsigned long long)damage->skipped);
    say(&sentence, damage->header, "the header is damaged");
    say(&sentence, damage->blocks > 0 || damage->events > 0, missing);
    say(&sentence, damage->skipped > 0, skipped);
    say(&sentence, damage->no_index, cut);
    say(&sentence, damage->modules, "the list of modules is damaged");
    say(&sentence, damage->index, "the index is damaged");
    say(&sentence, damage->trailer, "the end is damaged");
    if (sentence.n == 0)
        return RF_OK;
    return rf_fail(error, RF_EDAMAGED, "%s: damaged: %s", reader->name, sentence.text);
}

rf_status rf_trace_reader_next(struct rf_trace_reader *reader, struct rf_trace_events *events,
                               struct rf_error *error)
{
    struct rf_trace_head head;
    bool whole;
    memset(events, 0, sizeof *events);
    rf_status status = reader->begun ? RF_OK : read_header(reader, error);
    while (status == RF_OK && !reader->ended) {
        status = check_block(reader, &head, &whole, error);
        if (status != RF_OK)
            break;
        if (whole && head.kind == RF_TRACE_INDEX_KIND) {
            status = read_index(reader, &head, error);
            continue;
        }
        if (whole && head.kind == RF_TRACE_MODULES_KIND) {
            status = take_modules(reader, &head);
            if (status == RF_ENOMEM)
                return no_memory(reader, error);
            continue;
        }
        status = whole ? unpack(reader, &head, events) : RF_EDAMAGED;
        if (status == RF_OK) {
            accept(reader, &head);
            return RF_OK;
        }
        if (status == RF_ENOMEM)
            return no_memory(reader, error);
        reader->ended = reader->damage.no_index = have(reader) == 0;
        status = reader->ended ? RF_OK : find_sync(reader, error);
    }
    events->n = 0;
    return status == RF_OK ? verdict(reader, error) : status;
}

/* --- seeking ------------------------------------------------------------------------------------ */

static bool read_at(const struct rf_trace_reader *reader, void *bytes, size_t n, uint64_t offset)
{
    return offset <= INT64_MAX && pread(reader->fd, bytes, n, (off_t)offset) == (ssize_t)n;
}

/* The index's head and where its entries begin. */
static bool find_index(const struct rf_trace_reader *reader, struct rf_trace_head *head,
                       uint64_t *entries)
{
    unsigned char bytes[RF_TRACE_HEAD_SIZE];
    struct stat status;
    uint64_t offset;
    if (fstat(reader->fd, &status) != 0 || !S_ISREG(status.st_mode))
        return false;
    uint64_t trailer = (uint64_t)status.st_size - RF_TRACE_TRAILER_SIZE;
    if (!read_at(reader, bytes, RF_TRACE_TRAILER_SIZE, trailer) ||
        !rf_trace_trailer_read(bytes, &offset) || offset > trailer ||
        !read_at(reader, bytes, sizeof bytes, offset) || !rf_trace_head_read(head, bytes))
        return false;
    *entries = offset + RF_TRACE_HEAD_SIZE;
    return head->kind == RF_TRACE_INDEX_KIND && head->number > 0 &&
           (uint64_t)head->number * RF_TRACE_INDEX_ENTRY == head->stored &&
           *entries + head->stored == trailer;
}

/* The last entry that begins at or before `event`. */
static bool find_entry(const struct rf_trace_reader *reader, uint64_t entries, uint32_t n,
                       uint64_t event, uint64_t *offset)
{
    unsigned char entry[RF_TRACE_INDEX_ENTRY];
    uint32_t lo = 0, hi = n; /* lo's begins before, hi's behind */
    while (hi - lo > 1) {
        uint32_t middle = lo + (hi - lo) / 2;
        if (!read_at(reader, entry, sizeof entry, entries + (uint64_t)middle * sizeof entry))
            return false;
        if (rf_load64(entry + 8) <= event)
            lo = middle;
        else
            hi = middle;
    }
    if (!read_at(reader, entry, sizeof entry, entries + (uint64_t)lo * sizeof entry))
        return false;
    *offset = rf_load64(entry);
    return true;
}

rf_status rf_trace_reader_seek(struct rf_trace_reader *reader, uint64_t event, uint64_t *first)
{
    unsigned char bytes[RF_TRACE_HEAD_SIZE];
    struct rf_trace_head index, head;
    uint64_t entries, offset;
    if (!find_index(reader, &index, &entries) || event >= index.first ||
        !find_entry(reader, entries, index.number, event, &offset) ||
        !read_at(reader, bytes, sizeof bytes, offset) || !rf_trace_head_read(&head, bytes) ||
        head.kind == RF_TRACE_INDEX_KIND || head.first > event || event - head.first >= head.events)
        return RF_ENOTSUP;
    rf_status status = reader->begun ? RF_OK : read_header(reader, NULL);
    if (status != RF_OK || lseek(reader->fd, (off_t)offset, SEEK_SET) < 0)
        return RF_ENOTSUP;
    reader->at = reader->end = 0;
    reader->base = offset;
    reader->at_eof = false;
    reader->sought = true;
    reader->next_number = head.number;
    reader->next_first = *first = head.first;
    return RF_OK;
}

/* --- modules ------------------------------------------------------------------------------------ */

/* The head of the modules and where their bytes begin, by what the index says. */
static bool find_modules(const struct rf_trace_reader *reader, struct rf_trace_head *head,
                         uint64_t *offset)
{
    unsigned char bytes[RF_TRACE_HEAD_SIZE];
    struct rf_trace_head index;
    uint64_t entries;
    if (!find_index(reader, &index, &entries) || entries < RF_TRACE_HEAD_SIZE + index.events)
        return false;
    uint64_t begin = entries - RF_TRACE_HEAD_SIZE - index.events;
    *offset = begin + RF_TRACE_HEAD_SIZE;
    return read_at(reader, bytes, sizeof bytes, begin) && rf_trace_head_read(head, bytes) &&
           head->kind == RF_TRACE_MODULES_KIND && RF_TRACE_HEAD_SIZE + head->stored == index.events;
}

/* Damage found here is not reported: the reader meets it again when it reads on, and reports it then. */
static rf_status load_modules(struct rf_trace_reader *reader)
{
    struct rf_trace_head head;
    uint64_t offset;
    if (!find_modules(reader, &head, &offset))
        return RF_OK;
    unsigned char *bytes = rf_alloc_get(&reader->alloc, head.stored);
    if (bytes == NULL)
        return RF_ENOMEM;
    rf_status status = RF_OK;
    if (read_at(reader, bytes, head.stored, offset) && rf_checksum(bytes, head.stored) == head.sum)
        status = rf_trace_modules_read(&reader->modules, bytes, head.stored, head.events,
                                       &reader->alloc);
    rf_alloc_free(&reader->alloc, bytes, head.stored);
    return status == RF_EDAMAGED ? RF_OK : status;
}

rf_status rf_trace_reader_modules(struct rf_trace_reader *reader, const struct rf_module **modules,
                                  size_t *n)
{
    rf_status status = reader->modules.n == 0 && !reader->ended ? load_modules(reader) : RF_OK;
    *modules = reader->modules.list;
    *n = reader->modules.n;
    return status;
}

/* --- life --------------------------------------------------------------------------------------- */

rf_status rf_trace_reader_open(struct rf_trace_reader **reader_out,
                               const struct rf_trace_input *input, const struct rf_alloc *alloc,
                               struct rf_error *error)
{
    alloc = rf_alloc_or_standard(alloc);
    *reader_out = NULL;
    struct rf_trace_reader *reader = rf_alloc_zeroed(alloc, sizeof *reader);
    if (reader == NULL)
        return rf_fail(error, RF_ENOMEM, "%s: no memory to read it", input->name);
    reader->alloc = *alloc;
    reader->fd = input->fd;
    reader->depth = input->depth;
    reader->index_sum = rf_checksum_begin();
    rf_format(reader->name, sizeof reader->name, "%s", input->name);
    reader->buffer = rf_alloc_get(alloc, BUFFER_LEAST);
    if (reader->buffer == NULL) {
        rf_status status = no_memory(reader, error);
        rf_trace_reader_close(reader);
        return status;
    }
    reader->room = BUFFER_LEAST;
    memcpy(reader->buffer, input->n_head > 0 ? (const char *)input->head : "", input->n_head);
    reader->end = input->n_head;
    *reader_out = reader;
    return RF_OK;
}

rf_status rf_trace_reader_begin(struct rf_trace_reader *reader, struct rf_error *error)
{
    rf_status status = reader->begun ? RF_OK : read_header(reader, error);
    if (status == RF_OK && reader->damage.header)
        return rf_fail(error, RF_EDAMAGED, "%s: the header is damaged", reader->name);
    return status;
}

void rf_trace_reader_info(const struct rf_trace_reader *reader, struct rf_trace_info *info)
{
    *info = reader->info;
    info->bytes = rf_trace_reader_offset(reader);
    info->modules = reader->modules.n;
}

uint64_t rf_trace_reader_offset(const struct rf_trace_reader *reader)
{
    return reader->base + reader->at;
}

void rf_trace_reader_close(struct rf_trace_reader *reader)
{
    if (reader == NULL)
        return;
    rf_trace_decoder_free(reader->decoder);
    rf_trace_modules_free(&reader->modules, &reader->alloc);
    rf_alloc_free(&reader->alloc, reader->zstd_room, reader->zstd_size);
    rf_alloc_free(&reader->alloc, reader->raw, reader->raw_room);
    rf_alloc_free(&reader->alloc, reader->tuples, RF_TRACE_EVENTS_MAX * sizeof *reader->tuples);
    rf_alloc_free(&reader->alloc, reader->counts, RF_TRACE_EVENTS_MAX * sizeof *reader->counts);
    rf_alloc_free(&reader->alloc, reader->records, RF_TRACE_EVENTS_MAX * sizeof *reader->records);
    rf_alloc_free(&reader->alloc, reader->buffer, reader->room);
    rf_alloc_free(&reader->alloc, reader, sizeof *reader);
}
