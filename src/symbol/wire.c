/* wire.c - how the child that reads files answers: frames over a pipe.
 *
 *     frame    = length (4 bytes, of what follows) kind (1 byte) fields
 *     number   = 8 bytes, little-endian          text = length (2 bytes) bytes
 *
 *     'P' problem  text
 *     'G' segment  offset link file-size memory-size executable
 *     'S' section  link size executable name
 *     'Y' symbol   lo hi kind rank name parameters
 *     'A' spot     link lo hi n, then n + 1 times, the function itself first:
 *                  line start discriminator function linkage parameters file
 *     'L' line     link line file
 *     'T' the table is whole            'E' all is whole
 *
 * The writer runs in the child. The reader runs in the parent and trusts nothing: a length is checked against
 * what is there, a text against its greatest length, a count against the bytes left,
 * a range against its order. At the first frame that is wrong it stops; what came before is used. */
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include "base/bytes.h"
#include "symbol/symbol.h"

/* ---- writing ---- */

void rf_wire_flush(struct rf_wire *wire)
{
    size_t done = 0;
    while (done < wire->n && !wire->failed) {
        ssize_t written = write(wire->fd, wire->bytes + done, wire->n - done);
        if (written > 0)
            done += (size_t)written;
        else if (errno != EINTR)
            wire->failed = true;
    }
    wire->n = 0;
}

static void put(struct rf_wire *wire, const void *bytes, size_t n)
{
    memcpy(wire->bytes + wire->n, bytes, n);
    wire->n += n;
}

static void put64(struct rf_wire *wire, uint64_t x)
{
    uint8_t bytes[8];
    rf_store64(bytes, x);
    put(wire, bytes, sizeof bytes);
}

static void put_numbers(struct rf_wire *wire, const uint64_t *numbers, size_t n)
{
    for (size_t i = 0; i < n; i++)
        put64(wire, numbers[i]);
}

static void put_text(struct rf_wire *wire, const char *text)
{
    size_t n = strnlen(text, RF_WIRE_TEXT_MAX);
    uint8_t length[2] = {(uint8_t)n, (uint8_t)(n >> 8)};
    put(wire, length, sizeof length);
    put(wire, text, n);
}

/* A frame begins; there is room for `most` bytes of it. Returns where its length belongs. */
static size_t begin(struct rf_wire *wire, char kind, size_t most)
{
    if (wire->n + 5 + most > sizeof wire->bytes)
        rf_wire_flush(wire);
    size_t at = wire->n;
    put(wire, "\0\0\0", 4);
    put(wire, &kind, 1);
    return at;
}

static void end(struct rf_wire *wire, size_t at)
{
    rf_store32(wire->bytes + at, (uint32_t)(wire->n - at - 4));
}

enum { TEXT = RF_WIRE_TEXT_MAX + 2, NUMBERS = 64, FRAME = 3 * 8 + 4 * TEXT };

_Static_assert(5 + NUMBERS + (RF_INLINED_MAX + 1) * FRAME <= sizeof((struct rf_wire *)0)->bytes,
               "a frame fits into the buffer");

void rf_wire_problem(struct rf_wire *wire, const char *sentence)
{
    size_t at = begin(wire, 'P', TEXT);
    put_text(wire, sentence);
    end(wire, at);
}

void rf_wire_segment(struct rf_wire *wire, const struct rf_segment *segment)
{
    size_t at = begin(wire, 'G', NUMBERS);
    put_numbers(wire, RF_NUMBERS(segment->offset, segment->link, segment->file_size,
                                 segment->memory_size, segment->executable));
    end(wire, at);
}

void rf_wire_section(struct rf_wire *wire, const struct rf_section *section)
{
    size_t at = begin(wire, 'S', NUMBERS + TEXT);
    put_numbers(wire, RF_NUMBERS(section->link, section->size, section->executable));
    put_text(wire, section->name);
    end(wire, at);
}

void rf_wire_symbol(struct rf_wire *wire, const struct rf_symbol *symbol)
{
    size_t at = begin(wire, 'Y', NUMBERS + 2 * TEXT);
    put_numbers(wire, RF_NUMBERS(symbol->lo, symbol->hi, symbol->kind, symbol->rank));
    put_text(wire, symbol->name);
    put_text(wire, symbol->parameters);
    end(wire, at);
}

static void put_frame(struct rf_wire *wire, const struct rf_frame *frame)
{
    put_numbers(wire, RF_NUMBERS(frame->line, frame->start, frame->discriminator));
    put_text(wire, frame->function);
    put_text(wire, frame->linkage);
    put_text(wire, frame->parameters);
    put_text(wire, frame->file);
}

void rf_wire_spot(struct rf_wire *wire, const struct rf_spot *spot)
{
    uint32_t n = spot->n_inlined < RF_INLINED_MAX ? spot->n_inlined : RF_INLINED_MAX;
    size_t at = begin(wire, 'A', NUMBERS + (n + 1) * FRAME);
    put_numbers(wire, RF_NUMBERS(spot->link, spot->lo, spot->hi, n));
    put_frame(wire, &spot->own);
    for (uint32_t i = 0; i < n; i++)
        put_frame(wire, &spot->inlined[i]);
    end(wire, at);
}

void rf_wire_line(struct rf_wire *wire, const struct rf_symbol_line *line)
{
    size_t at = begin(wire, 'L', NUMBERS + TEXT);
    put_numbers(wire, RF_NUMBERS(line->address, line->line));
    put_text(wire, line->file);
    end(wire, at);
}

void rf_wire_end(struct rf_wire *wire, bool of_table)
{
    end(wire, begin(wire, of_table ? 'T' : 'E', 0));
    rf_wire_flush(wire);
}

/* ---- reading ---- */

struct input {
    const uint8_t *at, *end;
    struct rf_arena *arena;
    bool bad;
    bool no_memory;
};

static uint64_t get64(struct input *in)
{
    if (in->end - in->at < 8) {
        in->bad = true;
        return 0;
    }
    in->at += 8;
    return rf_load64(in->at - 8);
}

static uint32_t get_line(struct input *in)
{
    uint64_t line = get64(in);
    in->bad |= line > UINT32_MAX;
    return (uint32_t)line;
}

static const char *get_text(struct input *in)
{
    size_t n = in->end - in->at < 2 ? SIZE_MAX : (size_t)(in->at[0] | in->at[1] << 8);
    if (in->bad || n > RF_WIRE_TEXT_MAX || n > (size_t)(in->end - in->at) - 2) {
        in->bad = true;
        return "";
    }
    const char *text = rf_arena_text(in->arena, (const char *)in->at + 2, n);
    in->at += 2 + n;
    in->no_memory |= text == NULL;
    return text != NULL ? text : "";
}

/* Append an element to a list of `file`, if it was read completely. */
#define KEEP(in, list, element)                                                                    \
    do {                                                                                           \
        (in)->bad |= (in)->at != (in)->end;                                                        \
        if ((in)->bad || (in)->no_memory)                                                          \
            return;                                                                                \
        (in)->no_memory = !rf_list_add((in)->arena->alloc, list, element);                         \
    } while (0)

static void read_segment(struct input *in, struct rf_file *file)
{
    struct rf_segment segment = {get64(in), get64(in), get64(in), get64(in), get64(in) != 0};
    uint64_t last;
    in->bad |= __builtin_add_overflow(segment.offset, segment.file_size, &last) ||
               __builtin_add_overflow(segment.link, segment.file_size, &last) ||
               __builtin_add_overflow(segment.link, segment.memory_size, &last);
    KEEP(in, &file->segments, segment);
}

static void read_section(struct input *in, struct rf_file *file)
{
    struct rf_section section = {.link = get64(in), .size = get64(in)};
    uint64_t last;
    section.executable = get64(in) != 0;
    section.name = get_text(in);
    in->bad |= __builtin_add_overflow(section.link, section.size, &last);
    KEEP(in, &file->sections, section);
}

static void read_symbol(struct input *in, struct rf_file *file)
{
    struct rf_symbol symbol = {.lo = get64(in), .hi = get64(in)};
    uint64_t kind = get64(in), rank = get64(in);
    symbol.name = get_text(in);
    symbol.parameters = get_text(in);
    in->bad |= symbol.hi < symbol.lo || kind > RF_SYMBOL_INLINED || rank > UINT8_MAX;
    symbol.kind = (uint8_t)kind;
    symbol.rank = (uint8_t)rank;
    if (kind == RF_SYMBOL_INLINED)
        KEEP(in, &file->inlined, symbol);
    else
        KEEP(in, &file->symbols, symbol);
}

static void read_place(struct input *in, struct rf_frame *frame)
{
    frame->line = get_line(in);
    frame->start = get_line(in);
    frame->discriminator = get_line(in);
    frame->function = get_text(in);
    frame->linkage = get_text(in);
    frame->parameters = get_text(in);
    frame->file = get_text(in);
}

static const struct rf_frame *read_frames(struct input *in, uint64_t n)
{
    if (in->bad || n > RF_INLINED_MAX) {
        in->bad = true;
        return NULL;
    }
    struct rf_frame *frames = n > 0 ? rf_arena_get(in->arena, n * sizeof *frames) : NULL;
    in->no_memory |= n > 0 && frames == NULL;
    for (uint64_t i = 0; i < n && frames != NULL; i++)
        read_place(in, &frames[i]);
    return frames;
}

static void read_spot(struct input *in, struct rf_file *file)
{
    struct rf_spot spot = {.link = get64(in), .lo = get64(in), .hi = get64(in)};
    uint64_t n = get64(in);
    read_place(in, &spot.own);
    spot.inlined = read_frames(in, n);
    spot.n_inlined = (uint32_t)n;
    in->bad |= spot.hi < spot.lo;
    KEEP(in, &file->spots, spot);
}

static void read_line(struct input *in, struct rf_file *file)
{
    struct rf_symbol_line line = {.address = get64(in)};
    line.line = get_line(in);
    line.file = get_text(in);
    KEEP(in, &file->lines, line);
}

static void read_frame(struct input *in, struct rf_file *file, unsigned *ends)
{
    switch (*in->at++) {
    case 'P':
        file->problem = get_text(in);
        break;
    case 'G':
        read_segment(in, file);
        break;
    case 'S':
        read_section(in, file);
        break;
    case 'Y':
        read_symbol(in, file);
        break;
    case 'A':
        read_spot(in, file);
        break;
    case 'L':
        read_line(in, file);
        break;
    case 'T':
        *ends |= RF_WIRE_TABLE_WHOLE;
        break;
    case 'E':
        *ends |= RF_WIRE_ALL_WHOLE;
        break;
    default:
        in->bad = true;
    }
}

unsigned rf_wire_decode(struct rf_file *file, struct rf_arena *arena, const uint8_t *bytes,
                        size_t n, rf_status *status)
{
    unsigned ends = 0;
    size_t at = 0;
    *status = RF_OK;
    while (n - at >= 5) {
        size_t length = rf_load32(bytes + at);
        at += 4;
        if (length == 0 || length > n - at)
            break;
        struct input in = {.at = bytes + at, .end = bytes + at + length, .arena = arena};
        read_frame(&in, file, &ends);
        if (in.no_memory)
            *status = RF_ENOMEM;
        if (in.bad || in.no_memory)
            break;
        at += length;
    }
    return ends;
}
