/* notation.c - reading and writing the sampler algebra.
 *
 *     chain   = part { A k }                      one behind the other
 *     part    = sampler | "C" sampler | "H[" chain "]" n | "A" k
 *     sampler = "P" r | "R" r | "D" r
 *
 * Everything that makes sense is read: H[CR256]2048 A16, H[P256 A4]64, H[H[P8]4]512, A4096 alone. What
 * does not is refused with the reason. */
#include "engine/stratified/notation.h"
#include "base/error.h"
#include "base/text.h"
#include "base/units.h"

enum { DEPTH_MAX = 4, RATE_MAX = 1 << 30, ENTRIES_MAX = 1 << 16, CELLS_MAX = 1 << 24 };

struct reader {
    const char *text; /* for columns */
    const char *p;
    struct rf_notation *notation;
    struct rf_error *error;
};

static bool is_one_of(char c, const char *set)
{
    for (; *set != '\0'; set++)
        if (c == *set)
            return true;
    return false;
}

bool rf_notation_claims(const char *text)
{
    return is_one_of(text[0], "PRDCHA") && is_one_of(text[1], "0123456789[ PRDCHA");
}

static unsigned column(const struct reader *reader)
{
    return (unsigned)(reader->p - reader->text) + 1;
}

static void skip_space(struct reader *reader)
{
    while (rf_text_is_space(*reader->p))
        reader->p++;
}

static rf_status read_number(struct reader *reader, const char *what, uint64_t max,
                             uint32_t *number)
{
    const char *start = reader->p, *p = start;
    while (rf_text_is_word(*p))
        p++;
    uint64_t count;
    if (rf_units_count(start, (size_t)(p - start), &count) != RF_OK || count == 0 || count > max)
        return rf_fail(reader->error, RF_EINVAL,
                       "column %u: %s must be a number from 1 to %llu, got '%.*s'", column(reader),
                       what, (unsigned long long)max, (int)(p - start), start);
    reader->p = p;
    *number = (uint32_t)count;
    return RF_OK;
}

static rf_status add_spec(struct reader *reader, enum rf_part_kind kind, struct rf_part_spec **spec)
{
    struct rf_notation *notation = reader->notation;
    *spec = NULL;
    if (notation->n_specs == RF_PARTS_MAX)
        return rf_fail(reader->error, RF_EINVAL, "column %u: more than %d parts", column(reader),
                       RF_PARTS_MAX);
    *spec = &notation->specs[notation->n_specs++];
    **spec = (struct rf_part_spec){.kind = kind};
    reader->p++; /* the letter */
    return RF_OK;
}

/* P, R, D and A: a letter and a number. */
static rf_status read_simple(struct reader *reader)
{
    static const struct {
        char letter;
        enum rf_part_kind kind;
        const char *what;
        uint64_t max;
    } simple[] = {
        {'P', RF_PART_PERIODIC, "the rate of P", RATE_MAX},
        {'R', RF_PART_RANDOM, "the rate of R", RATE_MAX},
        {'D', RF_PART_COUNTDOWN, "the rate of D", RATE_MAX},
        {'A', RF_PART_TABLE, "the entries of A", ENTRIES_MAX},
    };
    unsigned i = 0;
    while (simple[i].letter != *reader->p)
        i++;
    struct rf_part_spec *spec;
    rf_status status = add_spec(reader, simple[i].kind, &spec);
    return status != RF_OK ? status : read_number(reader, simple[i].what, simple[i].max, &spec->n);
}

static rf_status read_counter(struct reader *reader)
{
    struct rf_part_spec *spec;
    rf_status status = add_spec(reader, RF_PART_COUNTER, &spec);
    if (status != RF_OK)
        return status;
    skip_space(reader);
    if (!is_one_of(*reader->p, "PRD") || *reader->p == '\0')
        return rf_fail(
            reader->error, RF_EINVAL,
            "column %u: C counts what enters one sampler, so P, R or D must follow it; a "
            "counter in every substream is written H[CR256]2048",
            column(reader));
    spec->inside = 1;
    return read_simple(reader);
}

static rf_status read_chain(struct reader *reader, unsigned depth, bool behind);

static rf_status read_strata(struct reader *reader, struct rf_part_spec *spec)
{
    skip_space(reader);
    rf_status status = read_number(reader, "the number of substreams of H", CELLS_MAX, &spec->n);
    if (status == RF_OK && (spec->n < 2 || (spec->n & (spec->n - 1)) != 0))
        status =
            rf_fail(reader->error, RF_EINVAL,
                    "column %u: H splits by the bits of a hash, so the number of substreams must "
                    "be a power of two, got %u",
                    column(reader), (unsigned)spec->n);
    return status;
}

static rf_status read_splitter(struct reader *reader, unsigned depth)
{
    struct rf_part_spec *spec;
    if (depth == DEPTH_MAX)
        return rf_fail(reader->error, RF_EINVAL, "column %u: more than %d splitters in each other",
                       column(reader), DEPTH_MAX);
    rf_status status = add_spec(reader, RF_PART_SPLITTER, &spec);
    if (status != RF_OK)
        return status;
    skip_space(reader);
    if (*reader->p != '[')
        return rf_fail(reader->error, RF_EINVAL, "column %u: '[' must follow H, as in H[P256]2048",
                       column(reader));
    reader->p++;
    uint32_t before = reader->notation->n_specs;
    status = read_chain(reader, depth + 1, false);
    if (status != RF_OK)
        return status;
    spec->inside = reader->notation->n_specs - before;
    if (*reader->p != ']')
        return rf_fail(reader->error, RF_EINVAL, "column %u: the closing ']' of H is missing",
                       column(reader));
    reader->p++;
    return read_strata(reader, spec);
}

static rf_status read_part(struct reader *reader, unsigned depth, bool first)
{
    char letter = *reader->p;
    if (letter == 't')
        return rf_fail(reader->error, RF_EINVAL,
                       "column %u: tagged splits its stream itself and stands at the very front",
                       column(reader));
    if (!is_one_of(letter, "PRDCHA"))
        return rf_fail(reader->error, RF_EINVAL,
                       "column %u: '%c' is no part; there are P, R, D, C, H[..] and A",
                       column(reader), letter);
    if (!first && letter != 'A')
        return rf_fail(
            reader->error, RF_EINVAL,
            "column %u: %c would sample messages, not events: behind a part only a table A "
            "can stand",
            column(reader), letter);
    if (letter == 'C')
        return read_counter(reader);
    return letter == 'H' ? read_splitter(reader, depth) : read_simple(reader);
}

static bool at_end(const struct reader *reader)
{
    return is_one_of(*reader->p, "](") || *reader->p == '\0';
}

static rf_status read_chain(struct reader *reader, unsigned depth, bool behind)
{
    bool first = !behind;
    skip_space(reader);
    if (first && at_end(reader))
        return rf_fail(reader->error, RF_EINVAL, "column %u: a part is missing, for example P256",
                       column(reader));
    for (; !at_end(reader); first = false) {
        rf_status status = read_part(reader, depth, first);
        if (status != RF_OK)
            return status;
        skip_space(reader);
    }
    return RF_OK;
}

static uint64_t cells(const struct rf_part_spec *specs, uint32_t n)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < n; i += 1 + specs[i].inside) {
        uint64_t inside = cells(specs + i + 1, specs[i].inside), own = 1;
        if (specs[i].kind == RF_PART_TABLE)
            own = specs[i].n;
        if (specs[i].kind == RF_PART_SPLITTER)
            own = specs[i].n * inside;
        sum += own < CELLS_MAX ? own : CELLS_MAX;
    }
    return sum;
}

rf_status rf_notation_parse(struct rf_notation *notation, const char **text, bool behind,
                            struct rf_error *error)
{
    struct reader reader = {*text, *text, notation, error};
    rf_status status = read_chain(&reader, 0, behind);
    if (status != RF_OK)
        return status;
    if (*reader.p == ']')
        return rf_fail(error, RF_EINVAL, "column %u: this ']' closes nothing", column(&reader));
    if (cells(notation->specs, notation->n_specs) >= CELLS_MAX)
        return rf_fail(error, RF_EINVAL, "too many counters; fewer than %d are allowed", CELLS_MAX);
    *text = reader.p;
    return RF_OK;
}

struct writer {
    char *text;
    size_t size, n;
};

static size_t room(const struct writer *writer)
{
    return writer->n < writer->size ? writer->size - writer->n : 0;
}

static char *place(const struct writer *writer)
{
    return writer->text + (writer->n < writer->size ? writer->n : writer->size);
}

static void write_chain(struct writer *writer, const struct rf_part_spec *specs, uint32_t n);

static void write_part(struct writer *writer, const struct rf_part_spec *spec)
{
    static const char letters[] = {
        [RF_PART_PERIODIC] = 'P', [RF_PART_RANDOM] = 'R',   [RF_PART_COUNTDOWN] = 'D',
        [RF_PART_COUNTER] = 'C',  [RF_PART_SPLITTER] = 'H', [RF_PART_TABLE] = 'A',
    };
    bool brackets = spec->kind == RF_PART_SPLITTER;
    writer->n +=
        rf_format(place(writer), room(writer), "%c%s", letters[spec->kind], brackets ? "[" : "");
    write_chain(writer, spec + 1, spec->inside);
    writer->n += rf_format(place(writer), room(writer), "%s", brackets ? "]" : "");
    if (spec->kind != RF_PART_COUNTER)
        writer->n += rf_format(place(writer), room(writer), "%u", (unsigned)spec->n);
}

static void write_chain(struct writer *writer, const struct rf_part_spec *specs, uint32_t n)
{
    for (uint32_t i = 0; i < n; i += 1 + specs[i].inside) {
        if (i > 0)
            writer->n += rf_format(place(writer), room(writer), " ");
        write_part(writer, &specs[i]);
    }
}

size_t rf_notation_print(const struct rf_notation *notation, uint32_t from, char *text, size_t size)
{
    struct writer writer = {text, size, 0};
    if (size > 0)
        text[0] = '\0';
    write_chain(&writer, notation->specs + from, notation->n_specs - from);
    return writer.n;
}
