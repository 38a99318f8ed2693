/* trace_seek.c - what the index of a .rft file is for: to begin in the middle, and to know the modules from the start. */
#include "event/trace_reader.h"
#include "event/input.h"
#include "base/alloc.h"
#include "base/bytes.h"
#include "base/checksum.h"
#include <sys/stat.h>
#include <unistd.h>

/* --- seeking ------------------------------------------------------------------------------------ */

static bool read_at(const struct rf_trace_reader *reader, void *bytes, size_t n, uint64_t offset)
{
    return offset <= INT64_MAX && rf_input_at(reader->fd, bytes, n, (off_t)offset) == (ssize_t)n;
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

/* To the block that holds this event; its head comes back. */
static rf_status seek_block(struct rf_trace_reader *reader, uint64_t event,
                            struct rf_trace_head *head)
{
    unsigned char bytes[RF_TRACE_HEAD_SIZE];
    struct rf_trace_head index;
    uint64_t entries, offset;
    if (!find_index(reader, &index, &entries) || event >= index.first ||
        !find_entry(reader, entries, index.number, event, &offset) ||
        !read_at(reader, bytes, sizeof bytes, offset) || !rf_trace_head_read(head, bytes) ||
        head->kind > RF_TRACE_RECORDS || head->first > event || event - head->first >= head->events)
        return RF_ENOTSUP;
    rf_status status = rf_trace_reader_begin(reader, NULL);
    if (status != RF_OK || lseek(reader->fd, (off_t)offset, SEEK_SET) < 0)
        return RF_ENOTSUP;
    reader->at = reader->end = 0;
    reader->base = offset;
    reader->at_eof = false;
    reader->sought = true;
    reader->next_number = head->number;
    reader->next_first = head->first;
    return RF_OK;
}

rf_status rf_trace_reader_seek(struct rf_trace_reader *reader, uint64_t event, uint64_t *first)
{
    struct rf_trace_head head;
    rf_status status = seek_block(reader, event, &head);
    if (status == RF_OK)
        *first = head.first;
    return status;
}

/* --- pieces ------------------------------------------------------------------------------------- */

/* The first event of a block; of the block behind the last one, how many events there are. */
static bool find_first(const struct rf_trace_reader *reader, const struct rf_trace_head *index,
                       uint64_t entries, uint64_t block, uint64_t *first)
{
    unsigned char entry[RF_TRACE_INDEX_ENTRY];
    *first = index->first;
    if (block >= index->number)
        return true;
    if (!read_at(reader, entry, sizeof entry, entries + block * sizeof entry))
        return false;
    *first = rf_load64(entry + 8);
    return true;
}

/* The index has the place of each block, and its checksum is in its head; so is that of a block's payload in its own. */
static uint64_t identify(uint64_t entries, const struct rf_trace_head *index,
                         const struct rf_trace_head *block)
{
    const uint64_t words[] = {entries,    index->events, index->number, index->first,
                              index->sum, block->number, block->first,  block->sum};
    uint64_t sum = rf_checksum_begin();
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        sum = rf_checksum_word(sum, words[i]);
    return sum;
}

rf_status rf_trace_reader_part(struct rf_trace_reader *reader, size_t part, size_t parts,
                               struct rf_trace_piece *piece)
{
    struct rf_trace_head index, block = {.number = 0};
    uint64_t entries, first, behind;
    if (parts == 0 || part >= parts || parts > UINT32_MAX || !find_index(reader, &index, &entries))
        return RF_ENOTSUP;
    uint64_t from = (uint64_t)index.number * part / parts;
    uint64_t to = (uint64_t)index.number * (part + 1) / parts;
    if (!find_first(reader, &index, entries, from, &first) ||
        !find_first(reader, &index, entries, to, &behind) || first > behind ||
        (part == 0 && first > 0))
        return RF_ENOTSUP;
    *piece = (struct rf_trace_piece){first, behind - first, identify(entries, &index, &block)};
    if (first == behind) { /* more pieces than blocks */
        rf_status status = rf_trace_reader_begin(reader, NULL);
        reader->ended = true;
        return status == RF_OK ? RF_OK : RF_ENOTSUP;
    }
    if (seek_block(reader, first, &block) != RF_OK || block.first != first)
        return RF_ENOTSUP;
    piece->identity = identify(entries, &index, &block);
    reader->until = to < index.number ? behind : 0;
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
