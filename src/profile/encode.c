/* encode.c - a run as the bytes of a .rfp file.
 *
 *     run -> payload of small numbers -> zstd -> header with lengths and checksums in front
 *
 * Numbers are written with seven bits per byte, as differences where neighbours are close (items are sorted
 * by count, heaviest first). Each field is written for all items in one go, which zstd compresses best. Level
 * and parameters are fixed and nothing of the time or machine goes in, so that the same
 * run gives the same bytes. doc/FORMATS.md has the layout field by field. */
#include "profile/file.h"
#include "profile/profile.h"
#include "base/alloc.h"
#include "base/bytes.h"
#include "base/checksum.h"
#include "base/error.h"
#include <string.h>
#include <zstd.h>

enum { LEVEL = 3, NUMBER_MAX = 10 };

const unsigned char rf_rfp_magic[RF_MAGIC_SIZE] = RF_MAGIC_PROFILE;

void rf_bytes_free(struct rf_bytes *bytes, const struct rf_alloc *alloc)
{
    rf_alloc_free(alloc, bytes->bytes, bytes->room);
    *bytes = (struct rf_bytes){NULL, 0, 0};
}

rf_status rf_bytes_reserve(struct rf_bytes *bytes, const struct rf_alloc *alloc, size_t more)
{
    size_t needed, room = bytes->room + bytes->room / 2 + 4096;
    if (__builtin_add_overflow(bytes->n, more, &needed) || needed > SIZE_MAX / 2)
        return RF_ENOMEM;
    if (needed <= bytes->room)
        return RF_OK;
    room = room < needed ? needed : room;
    void *array = bytes->bytes;
    if (!rf_alloc_array(alloc, &array, bytes->room, room, 1))
        return RF_ENOMEM;
    bytes->bytes = array;
    bytes->room = room;
    return RF_OK;
}

/* A writer that remembers its first failure and does nothing after it. */
struct writer {
    const struct rf_alloc *alloc;
    struct rf_bytes out;
    rf_status status;
};

static void put_bytes(struct writer *writer, const void *bytes, size_t n)
{
    if (writer->status == RF_OK)
        writer->status = rf_bytes_reserve(&writer->out, writer->alloc, n);
    if (writer->status != RF_OK || n == 0)
        return;
    /* NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): there is room for n > 0 bytes */
    memcpy(writer->out.bytes + writer->out.n, bytes, n);
    writer->out.n += n;
}

static void put_number(struct writer *writer, uint64_t number)
{
    unsigned char bytes[NUMBER_MAX];
    size_t n = 0;
    for (; number >= 0x80; number >>= 7)
        bytes[n++] = (unsigned char)(number | 0x80);
    bytes[n++] = (unsigned char)number;
    put_bytes(writer, bytes, n);
}

static void put_numbers(struct writer *writer, const uint64_t *numbers, size_t n)
{
    for (size_t i = 0; i < n; i++)
        put_number(writer, numbers[i]);
}

/* A difference modulo 2^64, small ones of either sign in few bytes. */
static void put_difference(struct writer *writer, uint64_t to, uint64_t from)
{
    uint64_t difference = to - from;
    put_number(writer, difference << 1 ^ (0 - (difference >> 63)));
}

static void put_double(struct writer *writer, double value)
{
    uint64_t bits;
    unsigned char bytes[8];
    memcpy(&bits, &value, sizeof bits);
    rf_store64(bytes, bits);
    put_bytes(writer, bytes, sizeof bytes);
}

static void put_text(struct writer *writer, const char *text)
{
    size_t n = strlen(text);
    put_number(writer, n);
    put_bytes(writer, text, n);
}

static void put_words(struct writer *writer, const struct rf_item *items, size_t n)
{
    uint64_t a = 0, b = 0;
    for (size_t i = 0; i < n; a = items[i++].a)
        put_difference(writer, items[i].a, a);
    for (size_t i = 0; i < n; b = items[i++].b)
        put_difference(writer, items[i].b, b);
    for (size_t i = 0; i < n; i++)
        put_number(writer, items[i].a_hi - items[i].a);
    for (size_t i = 0; i < n; i++)
        put_number(writer, items[i].b_hi - items[i].b);
}

static void put_counts(struct writer *writer, const struct rf_item *items, size_t n)
{
    uint64_t count = 0;
    for (size_t i = 0; i < n; count = items[i++].count)
        put_difference(writer, items[i].count, count);
    for (size_t i = 0; i < n; i++)
        put_difference(writer, items[i].lower, items[i].count);
    for (size_t i = 0; i < n; i++)
        put_difference(writer, items[i].upper, items[i].count);
    for (size_t i = 0; i < n; i++)
        put_number(writer, items[i].intervals);
}

static void put_items(struct writer *writer, const struct rf_item *items, size_t n)
{
    put_number(writer, n);
    put_words(writer, items, n);
    put_counts(writer, items, n);
}

static void put_intervals(struct writer *writer, const struct rf_profile *profile)
{
    uint64_t items = 0;
    for (size_t i = 0; i < profile->n_intervals; i++)
        items += profile->intervals[i].n;
    put_number(writer, profile->n_intervals);
    put_number(writer, items);
    for (size_t i = 0; i < profile->n_intervals; i++) {
        const struct rf_interval *interval = &profile->intervals[i];
        put_number(writer, interval->events);
        put_number(writer, interval->absent_upper);
        put_items(writer, rf_profile_interval_items(profile, i), interval->n);
    }
}

static void put_profile(struct writer *writer, const struct rf_profile *profile)
{
    put_text(writer, profile->selector);
    put_text(writer, profile->engine);
    put_numbers(writer, RF_NUMBERS(profile->seed, profile->shape, profile->bound));
    put_double(writer, profile->confidence);
    put_numbers(writer,
                RF_NUMBERS(profile->produced, profile->consumed, profile->lost, profile->memory,
                           profile->bits, profile->absent_upper, profile->interval_length,
                           profile->n_intervals_seen, profile->n_figures));
    for (size_t i = 0; i < profile->n_figures; i++) {
        put_text(writer, profile->figures[i].name);
        put_double(writer, profile->figures[i].value);
    }
    put_items(writer, profile->items, profile->n_items);
    put_intervals(writer, profile);
}

static void put_module(struct writer *writer, const struct rf_module *module)
{
    put_text(writer, module->path);
    put_text(writer, module->build_id);
    put_numbers(writer, RF_NUMBERS(module->process, module->start, module->end, module->offset,
                                   module->from_event, module->to_event));
}

static void put_run(struct writer *writer, const struct rf_run *run)
{
    put_text(writer, run->command);
    put_text(writer, run->version);
    put_number(writer, run->n_notes);
    for (size_t i = 0; i < run->n_notes; i++) {
        put_text(writer, run->notes[i].name);
        put_text(writer, run->notes[i].text);
    }
    put_number(writer, run->n_modules);
    for (size_t i = 0; i < run->n_modules; i++)
        put_module(writer, &run->modules[i]);
    put_number(writer, run->n_profiles);
    for (size_t i = 0; i < run->n_profiles; i++)
        put_profile(writer, run->profiles[i]);
}

static void fill_header(unsigned char *header, const struct rf_bytes *payload, uint64_t packed)
{
    memset(header, 0, RF_RFP_HEADER);
    memcpy(header, rf_rfp_magic, sizeof rf_rfp_magic);
    rf_store32(header + RF_RFP_AT_VERSION, RF_RFP_VERSION);
    rf_store64(header + RF_RFP_AT_LENGTH, payload->n);
    rf_store64(header + RF_RFP_AT_PACKED, packed);
    rf_store64(header + RF_RFP_AT_CHECKSUM, rf_checksum(header + RF_RFP_HEADER, packed));
    rf_store64(header + RF_RFP_AT_HEADER_CHECKSUM, rf_checksum(header, RF_RFP_AT_HEADER_CHECKSUM));
}

/* A frame of zeros that zstd skips. It pads a file that compressed better than readers accept. */
static size_t fill_up(unsigned char *bytes, size_t packed, size_t length)
{
    enum { SKIPPED = 0x184d2a50, HEAD = 8 };
    size_t least = length > RF_RFP_LENGTH_FREE ? length / RF_RFP_RATIO_MAX + 1 : 0;
    if (packed >= least)
        return packed;
    size_t zeros = least - packed;
    rf_store32(bytes + packed, SKIPPED);
    rf_store32(bytes + packed + 4, (uint32_t)zeros);
    memset(bytes + packed + HEAD, 0, zeros);
    return packed + HEAD + zeros;
}

static rf_status pack(const struct rf_alloc *alloc, const struct rf_bytes *payload,
                      struct rf_bytes *file)
{
    size_t most = ZSTD_compressBound(payload->n);
    rf_status status = rf_bytes_reserve(file, alloc, RF_RFP_HEADER + most);
    if (status != RF_OK)
        return status;
    size_t packed =
        ZSTD_compress(file->bytes + RF_RFP_HEADER, most, payload->bytes, payload->n, LEVEL);
    if (ZSTD_isError(packed))
        return RF_ENOMEM; /* the only possible failure when there is room for the bound */
    packed = fill_up(file->bytes + RF_RFP_HEADER, packed, payload->n);
    fill_header(file->bytes, payload, packed);
    file->n = RF_RFP_HEADER + packed;
    return RF_OK;
}

rf_status rf_run_encode(const struct rf_run *run, struct rf_bytes *file, struct rf_error *error)
{
    *file = (struct rf_bytes){NULL, 0, 0};
    for (size_t i = 0; i < run->n_profiles; i++) {
        const char *wrong = rf_profile_contradiction(run->profiles[i]);
        if (wrong != NULL)
            return rf_fail(error, RF_EINVAL, "profile %zu cannot be saved: %s", i, wrong);
    }
    struct writer writer = {.alloc = &run->alloc};
    put_run(&writer, run);
    if (writer.status == RF_OK && writer.out.n > RF_RFP_LENGTH_MAX)
        writer.status = RF_ENOTSUP;
    if (writer.status == RF_OK)
        writer.status = pack(&run->alloc, &writer.out, file);
    rf_bytes_free(&writer.out, &run->alloc);
    if (writer.status == RF_OK)
        return RF_OK;
    rf_bytes_free(file, &run->alloc);
    return rf_fail(error, writer.status, "the run cannot be written: %s",
                   rf_status_text(writer.status));
}
