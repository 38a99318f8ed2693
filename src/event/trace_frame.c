/* trace_frame.c - the fixed parts of a .rft file: header, heads of blocks, trailer. */
#include "event/trace.h"
#include "base/bytes.h"
#include "base/checksum.h"
#include "base/magic.h"
#include <string.h>

const unsigned char rf_trace_magic[RF_MAGIC_SIZE] = RF_MAGIC_TRACE;
const unsigned char rf_trace_sync[4] = {0xb7, 'r', 'f', 'b'};
static const unsigned char trailer_magic[8] = {0xb7, 'r', 'f', 't', 'e', 'n', 'd', '\n'};

bool rf_trace_is_magic(const unsigned char *bytes, size_t n)
{
    unsigned same = 0;
    for (size_t i = 0; i < n && i < RF_MAGIC_SIZE; i++)
        same += bytes[i] == rf_trace_magic[i];
    return same >= RF_MAGIC_SIZE - 2 || (n > 0 && same == n);
}

void rf_trace_head_write(const struct rf_trace_head *head, unsigned char *bytes)
{
    memcpy(bytes, rf_trace_sync, 4);
    bytes[4] = head->kind;
    bytes[5] = head->flags;
    bytes[6] = bytes[7] = 0;
    rf_store32(bytes + 8, head->events);
    rf_store32(bytes + 12, head->raw);
    rf_store32(bytes + 16, head->stored);
    rf_store32(bytes + 20, head->number);
    rf_store64(bytes + 24, head->first);
    rf_store64(bytes + 32, head->sum);
    rf_store64(bytes + 40, rf_checksum(bytes, 40));
}

/* False for lengths that no writer makes. */
static bool is_within_limits(const struct rf_trace_head *head)
{
    if (head->kind == RF_TRACE_INDEX_KIND)
        return head->raw == head->stored && head->stored % RF_TRACE_INDEX_ENTRY == 0;
    if (head->kind == RF_TRACE_GAPS_KIND)
        return head->events > 0 && head->events <= RF_TRACE_GAPS_MAX &&
               (head->raw == head->events * rf_trace_gap_size(RF_TRACE_TUPLES) ||
                head->raw == head->events * rf_trace_gap_size(RF_TRACE_RECORDS)) &&
               head->stored <= 2 * rf_trace_raw_max(head->events);
    if (head->kind == RF_TRACE_MODULES_KIND)
        return head->raw == head->stored && head->stored <= RF_TRACE_MODULES_BYTES;
    return head->kind <= RF_TRACE_RECORDS && head->events > 0 &&
           head->events <= RF_TRACE_EVENTS_MAX && head->raw <= rf_trace_raw_max(head->events) &&
           head->stored <= 2 * rf_trace_raw_max(head->events);
}

bool rf_trace_head_read(struct rf_trace_head *head, const unsigned char *bytes)
{
    if (memcmp(bytes, rf_trace_sync, 4) != 0 || rf_load64(bytes + 40) != rf_checksum(bytes, 40))
        return false;
    *head = (struct rf_trace_head){.kind = bytes[4],
                                   .flags = bytes[5],
                                   .events = rf_load32(bytes + 8),
                                   .raw = rf_load32(bytes + 12),
                                   .stored = rf_load32(bytes + 16),
                                   .number = rf_load32(bytes + 20),
                                   .first = rf_load64(bytes + 24),
                                   .sum = rf_load64(bytes + 32)};
    return is_within_limits(head);
}

void rf_trace_trailer_write(unsigned char *bytes, uint64_t index_offset)
{
    rf_store64(bytes, index_offset);
    memcpy(bytes + 8, trailer_magic, 8);
}

bool rf_trace_trailer_read(const unsigned char *bytes, uint64_t *index_offset)
{
    *index_offset = rf_load64(bytes);
    return memcmp(bytes + 8, trailer_magic, 8) == 0;
}

/* magic | version | size | kind | lengths of three strings | 0 | strings | checksum of all before */
enum { VERSION_AT = 8, SIZE_AT = 12, KIND_AT = 16, LENGTHS_AT = 20, RESERVED_AT = 32 };

/* Where struct rf_trace_info has the header's strings, and how long they may be. */
struct strings {
    char *text[3];
    size_t room[3];
};

static struct strings strings_of(struct rf_trace_info *info)
{
    return (struct strings){
        {info->command, info->selector, info->riffle_version},
        {sizeof info->command, sizeof info->selector, sizeof info->riffle_version}};
}

size_t rf_trace_header_write(unsigned char *bytes, enum rf_trace_kind kind, const char *command,
                             const char *selector)
{
    static struct rf_trace_info *const none;
    const char *text[3] = {command, selector, RIFFLE_VERSION};
    const size_t room[3] = {sizeof none->command, sizeof none->selector,
                            sizeof none->riffle_version};
    unsigned char *p = bytes + RF_TRACE_HEADER_FIXED;
    memset(bytes, 0, RF_TRACE_HEADER_FIXED);
    memcpy(bytes, rf_trace_magic, RF_MAGIC_SIZE);
    rf_store32(bytes + VERSION_AT, RF_TRACE_VERSION);
    rf_store32(bytes + KIND_AT, kind);
    for (size_t i = 0; i < 3; i++) {
        size_t n = text[i] == NULL ? 0 : strnlen(text[i], room[i] - 1);
        rf_store32(bytes + LENGTHS_AT + 4 * i, (uint32_t)n);
        memcpy(p, n > 0 ? text[i] : "", n);
        p += n;
    }
    size_t size = (size_t)(p - bytes) + 8;
    rf_store32(bytes + SIZE_AT, (uint32_t)size);
    rf_store64(p, rf_checksum(bytes, size - 8));
    return size;
}

size_t rf_trace_header_size(const unsigned char *bytes)
{
    size_t size = rf_load32(bytes + SIZE_AT);
    return size >= RF_TRACE_HEADER_FIXED + 8 && size <= RF_TRACE_HEADER_MAX ? size : 0;
}

rf_status rf_trace_header_read(const unsigned char *bytes, size_t n, struct rf_trace_info *info)
{
    if (memcmp(bytes, rf_trace_magic, RF_MAGIC_SIZE) != 0 ||
        rf_load64(bytes + n - 8) != rf_checksum(bytes, n - 8))
        return RF_EDAMAGED;
    info->version = rf_load32(bytes + VERSION_AT);
    info->kind = rf_load32(bytes + KIND_AT) == 0 ? RF_TRACE_TUPLES : RF_TRACE_RECORDS;
    if (info->version > RF_TRACE_VERSION)
        return RF_EVERSION;
    struct strings strings = strings_of(info);
    const unsigned char *p = bytes + RF_TRACE_HEADER_FIXED;
    size_t left = n - RF_TRACE_HEADER_FIXED - 8;
    for (size_t i = 0; i < 3; i++) {
        size_t length = rf_load32(bytes + LENGTHS_AT + 4 * i);
        if (length > left || length >= strings.room[i])
            return RF_EDAMAGED;
        memcpy(strings.text[i], p, length);
        strings.text[i][length] = '\0';
        p += length;
        left -= length;
    }
    return RF_OK;
}
