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
#include "event/trace_reader.h"
#include "base/alloc.h"
#include "base/bytes.h"
#include "base/checksum.h"
#include "base/error.h"
#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { BUFFER_LEAST = 256 * 1024, MISSING_TEXT = 400 };

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

/* Look for the next four bytes of sync behind the one at `at`. */
static rf_status find_sync(struct rf_trace_reader *reader, struct rf_error *error)
{
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

/* Is there a sound head at `at`? */
static rf_status look_at_head(struct rf_trace_reader *reader, struct rf_trace_head *head,
                              bool *sound, struct rf_error *error)
{
    rf_status status = need(reader, RF_TRACE_HEAD_SIZE, error);
    *sound = status == RF_OK && have(reader) >= RF_TRACE_HEAD_SIZE &&
             rf_trace_head_read(head, bytes_at(reader));
    return status;
}

/* Is there, at `at`, a block that can come now, with a whole payload? */
static rf_status check_block(struct rf_trace_reader *reader, struct rf_trace_head *head,
                             bool *whole, struct rf_error *error)
{
    rf_status status = look_at_head(reader, head, whole, error);
    if (!*whole || head->kind == RF_TRACE_INDEX_KIND)
        return status;
    *whole = false;
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

/* Room for the unpacked payload. */
static bool get_raw(struct rf_trace_reader *reader, const struct rf_trace_head *head)
{
    if (reader->zstd == NULL) {
        reader->zstd_size = ZSTD_estimateDCtxSize();
        reader->zstd_room = rf_alloc_get(&reader->alloc, reader->zstd_size);
        if (reader->zstd_room == NULL)
            return false;
        reader->zstd = ZSTD_initStaticDCtx(reader->zstd_room, reader->zstd_size);
    }
    size_t raw = (size_t)head->raw + RF_TRACE_SLACK;
    if (raw > reader->raw_room) {
        void *grown = reader->raw;
        if (!rf_alloc_array(&reader->alloc, &grown, reader->raw_room, raw, 1))
            return false;
        reader->raw = grown;
        reader->raw_room = raw;
    }
    return reader->zstd != NULL;
}

/* What a block of this head needs. */
static bool get_memory(struct rf_trace_reader *reader, const struct rf_trace_head *head)
{
    if (reader->decoder_events < head->events) {
        rf_trace_decoder_free(reader->decoder);
        reader->decoder = rf_trace_decoder_new(head->events, &reader->alloc);
        reader->decoder_events = reader->decoder != NULL ? head->events : 0;
    }
    return get_raw(reader, head) && reader->decoder != NULL && get_arrays(reader, head);
}

static bool unpack_raw(struct rf_trace_reader *reader, const struct rf_trace_head *head)
{
    size_t n = ZSTD_decompressDCtx(reader->zstd, reader->raw, head->raw,
                                   bytes_at(reader) + RF_TRACE_HEAD_SIZE, head->stored);
    return !ZSTD_isError(n) && n == head->raw;
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
    if (!unpack_raw(reader, head))
        return RF_EDAMAGED;
    memset(reader->raw + head->raw, 0, RF_TRACE_SLACK);
    events->tuples = head->kind == RF_TRACE_TUPLES ? reader->tuples : NULL;
    events->counts = head->flags & RF_TRACE_HAS_COUNTS ? reader->counts : NULL;
    events->records = head->kind == RF_TRACE_RECORDS ? reader->records : NULL;
    return rf_trace_decode(reader->decoder, events, reader->raw, head->raw);
}

/* What should have come before this block and did not. */
static void count_missing(struct rf_trace_reader *reader, const struct rf_trace_head *head)
{
    reader->damage.blocks += head->number - reader->next_number;
    reader->damage.events += head->first - reader->next_first;
}

static void accept(struct rf_trace_reader *reader, const struct rf_trace_head *head)
{
    count_missing(reader, head);
    reader->next_number = head->number + 1;
    reader->next_first = head->first + head->events;
    uint64_t offset = reader->base + reader->at;
    reader->index_sum = rf_checksum_word(reader->index_sum, offset);
    reader->index_sum = rf_checksum_word(reader->index_sum, head->first);
    reader->info.events += head->events;
    reader->info.blocks++;
    reader->at += RF_TRACE_HEAD_SIZE + (size_t)head->stored;
}

/* `at` is the position of whole gaps, behind a block of `events` events. RF_EDAMAGED: they make no sense. */
static rf_status take_gaps(struct rf_trace_reader *reader, const struct rf_trace_head *head,
                           uint32_t events)
{
    rf_status status = RF_OK;
    size_t tuples = head->events * rf_trace_gap_size(RF_TRACE_TUPLES);
    if (reader->depth == RF_TRACE_EVENTS) {
        if (!get_raw(reader, head))
            return RF_ENOMEM;
        status = !unpack_raw(reader, head)
                     ? RF_EDAMAGED
                     : rf_trace_gaps_read(&reader->gaps,
                                          head->raw == tuples ? RF_TRACE_TUPLES : RF_TRACE_RECORDS,
                                          reader->raw, head->events, events, &reader->alloc);
    }
    if (status != RF_OK)
        return status;
    reader->info.gaps += head->events;
    reader->at += RF_TRACE_HEAD_SIZE + (size_t)head->stored;
    return RF_OK;
}

/* Are there gaps behind the block that was just read? Whatever else is there is left for the next call,
 * which computes its checksum: here the head alone is looked at. */
static rf_status look_for_gaps(struct rf_trace_reader *reader, uint32_t events,
                               struct rf_error *error)
{
    struct rf_trace_head head;
    bool whole;
    rf_status status = look_at_head(reader, &head, &whole, error);
    if (!whole || head.kind != RF_TRACE_GAPS_KIND || (head.flags & RF_TRACE_BEHIND) != 0)
        return status;
    status = check_block(reader, &head, &whole, error);
    if (!whole)
        return status;
    status = take_gaps(reader, &head, events);
    return status == RF_ENOMEM ? no_memory(reader, error) : RF_OK;
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
        rf_format(sentence->text + sentence->n, room, "%s%s", sentence->n != 0 ? ", " : "", what);
}

static rf_status verdict(const struct rf_trace_reader *reader, struct rf_error *error)
{
    const struct rf_trace_damage *damage = &reader->damage;
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
    reader->gaps.n = 0;
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
        if (whole && head.kind <= RF_TRACE_RECORDS && reader->until != 0 &&
            head.first >= reader->until) {
            count_missing(reader, &head);
            reader->ended = true;
            continue;
        }
        bool gaps = whole && head.kind == RF_TRACE_GAPS_KIND; /* behind no block */
        status = !whole ? RF_EDAMAGED
                 : gaps ? take_gaps(reader, &head, 0)
                        : unpack(reader, &head, events);
        if (status == RF_OK && gaps)
            continue;
        if (status == RF_OK) {
            accept(reader, &head);
            return look_for_gaps(reader, head.events, error);
        }
        if (status == RF_ENOMEM)
            return no_memory(reader, error);
        reader->ended = reader->damage.no_index = have(reader) == 0;
        status = reader->ended ? RF_OK : find_sync(reader, error);
    }
    events->n = 0;
    return status == RF_OK ? verdict(reader, error) : status;
}

const struct rf_trace_gaps *rf_trace_reader_gaps(const struct rf_trace_reader *reader)
{
    return &reader->gaps;
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
    rf_trace_gaps_free(&reader->gaps, &reader->alloc);
    rf_alloc_free(&reader->alloc, reader->zstd_room, reader->zstd_size);
    rf_alloc_free(&reader->alloc, reader->raw, reader->raw_room);
    rf_alloc_free(&reader->alloc, reader->tuples, RF_TRACE_EVENTS_MAX * sizeof *reader->tuples);
    rf_alloc_free(&reader->alloc, reader->counts, RF_TRACE_EVENTS_MAX * sizeof *reader->counts);
    rf_alloc_free(&reader->alloc, reader->records, RF_TRACE_EVENTS_MAX * sizeof *reader->records);
    rf_alloc_free(&reader->alloc, reader->buffer, reader->room);
    rf_alloc_free(&reader->alloc, reader, sizeof *reader);
}
