/* text.c - tuples as text, one per line, scanned fast.
 *
 *     0x400a10 17          the tuple <0x400a10, 17>, once
 *     0x400a10 17 250      250 times; a count of 0 is no event at all
 *     42                   a lone word: <42, 0>, as a selector with one field makes them
 *     # anything           and empty lines are skipped; a comment may also follow a tuple
 *     gap                  events are missing here: see rf_batch.gap
 *
 * Numbers are decimal or 0x hexadecimal, up to 64 bits; spaces, tabs and a carriage return may stand
 * between and behind them. The last line needs no newline. Anything else is RF_EINVAL with the line's
 * number and text; all lines before it have been handed out by then. So is a line whose count takes the
 * stream past RF_EVENTS_MAX.
 *
 *     [ ... scanned | whole lines ...................\n| begin of a line | free ... | 8 bytes pad ]
 *       ^ start       ^ at                           ^ whole             ^ end
 *
 * Only whole lines are scanned, so that every number is followed by a byte that ends it: the scanner
 * looks at no bounds, and reads eight bytes at a time (into the pad at worst). Eight digits are taken
 * in one step: the mask of non-digits gives their number, a shift lines them up, three multiplies
 * (decimal) or three shift-and-masks (hexadecimal) make the value.
 *
 * Memory: 256 KiB of text, 16 Ki tuples, and as many counts once a line has one. A line longer than
 * the text buffer is an error. */
#include "source/source.h"
#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"
#include <string.h>
#include <unistd.h>

enum { TEXT_ROOM = 256 * 1024, PAD = 8, SHOWN_MAX = 60 };

struct text {
    struct rf_source base;
    int fd;
    bool close_fd;
    bool at_eof;
    char name[200];
    uint64_t line;        /* number of the line at `at`, from 1 */
    uint64_t events_left; /* of RF_EVENTS_MAX */
    uint64_t bytes_done;
    size_t at, whole, end; /* offsets into bytes */
    char *bytes;
    struct rf_tuple *tuples;
    uint64_t *counts; /* NULL until a line has a count */
};

/* One number of up to 64 bits, of any length; for those that the fast functions do not handle. */
static const char *scan_long(const char *p, unsigned base, uint64_t *value)
{
    uint64_t n = 0;
    const char *start = p;
    for (;; p++) {
        unsigned c = (unsigned char)*p, lower = c | 0x20;
        unsigned digit = c - '0' < 10 ? c - '0' : base == 16 && lower - 'a' < 6 ? lower - 87 : 99;
        if (digit == 99)
            break;
        if (__builtin_mul_overflow(n, base, &n) || __builtin_add_overflow(n, digit, &n))
            return NULL;
    }
    *value = n;
    return p > start ? p : NULL;
}

#define EACH(byte) (UINT64_C(0x0101010101010101) * (byte))

/* How many of the eight characters are digits, counted from the first up to a non-digit. Carries may change
 * bytes after that one, which does not matter. */
static inline unsigned count_decimal(uint64_t chars)
{
    uint64_t t = chars ^ EACH('0');
    uint64_t other = ((t + EACH(0x76)) | t) & EACH(0x80);
    return other == 0 ? 8 : (unsigned)__builtin_ctzll(other) / 8;
}

static inline unsigned count_hex(uint64_t chars)
{
    uint64_t t = chars ^ EACH('0');
    uint64_t no_digit = (t + EACH(0x76)) | t;
    uint64_t u = (chars | EACH(0x20)) ^ EACH(0x60); /* 'a'..'f' are 1..6 */
    uint64_t no_letter = ~(u + EACH(0x7f)) | (u + EACH(0x79)) | u;
    uint64_t other = no_digit & no_letter & EACH(0x80);
    return other == 0 ? 8 : (unsigned)__builtin_ctzll(other) / 8;
}

/* The value of eight characters, the first most significant; zero bytes in front are fine. */
static inline uint64_t decimal_value(uint64_t digits)
{
    digits = (digits & EACH(0x0f)) * (10 * 256 + 1) >> 8;
    digits = (digits & UINT64_C(0x00ff00ff00ff00ff)) * (100 * 65536 + 1) >> 16;
    return (digits & UINT64_C(0x0000ffff0000ffff)) * (10000 * UINT64_C(0x100000000) + 1) >> 32;
}

static inline uint64_t hex_value(uint64_t chars)
{
    uint64_t x = (chars & EACH(0x0f)) + (chars >> 6 & EACH(1)) * 9;
    x = __builtin_bswap64(x);
    x = (x | x >> 4) & UINT64_C(0x00ff00ff00ff00ff);
    x = (x | x >> 8) & UINT64_C(0x0000ffff0000ffff);
    return (x | x >> 16) & UINT64_C(0xffffffff);
}

static inline const char *scan_decimal(const char *p, uint64_t *value)
{
    static const uint32_t power[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
    uint64_t chars = rf_load64(p);
    unsigned n = count_decimal(chars);
    if (n == 0)
        return NULL;
    uint64_t first = decimal_value(chars << (64 - 8 * n));
    if (n < 8) {
        *value = first;
        return p + n;
    }
    chars = rf_load64(p + 8);
    n = count_decimal(chars);
    if (n == 8)
        return scan_long(p, 10, value);
    *value = first * power[n] + (n == 0 ? 0 : decimal_value(chars << (64 - 8 * n)));
    return p + 8 + n;
}

static inline const char *scan_hex(const char *p, uint64_t *value)
{
    uint64_t chars = rf_load64(p);
    unsigned n = count_hex(chars);
    if (n == 0)
        return NULL;
    uint64_t first = hex_value(chars << (64 - 8 * n));
    if (n < 8) {
        *value = first;
        return p + n;
    }
    chars = rf_load64(p + 8);
    n = count_hex(chars);
    if (n == 8)
        return scan_long(p, 16, value);
    *value = first << 4 * n | (n == 0 ? 0 : hex_value(chars << (64 - 8 * n)));
    return p + 8 + n;
}

static inline const char *scan_number(const char *p, uint64_t *value)
{
    bool is_hex = p[0] == '0' && (p[1] | 0x20) == 'x';
    return is_hex ? scan_hex(p + 2, value) : scan_decimal(p, value);
}

static inline const char *skip_blanks(const char *p)
{
    while (*p == ' ' || *p == '\t' || *p == '\r')
        p++;
    return p;
}

static const char *end_of_line(const char *p)
{
    while (*p != '\n')
        p++;
    return p;
}

/* Behind a number: blanks, or the end of the line. */
static inline bool ends_word(char c)
{
    return c == '\n' || c == ' ' || c == '\t' || c == '\r' || c == '#';
}

/* What follows the first number of a line: returns the line's end, or NULL for a bad line. */
static const char *scan_rest(const char *p, struct rf_tuple *tuple, uint64_t *count)
{
    uint64_t *words[] = {&tuple->b, count};
    for (unsigned i = 0;; i++) {
        if (!ends_word(*p))
            return NULL;
        p = skip_blanks(p);
        if (*p == '\n')
            return p;
        if (*p == '#')
            return end_of_line(p);
        p = i < 2 ? scan_number(p, words[i]) : NULL;
        if (p == NULL)
            return NULL;
    }
}

/* One line from `p`, which is followed by a newline somewhere. *count is 0 when there is no tuple in
 * it. Returns the newline, or NULL for a bad line. */
static inline const char *scan_line(const char *p, struct rf_tuple *tuple, uint64_t *count)
{
    *count = 1;
    tuple->b = 0;
    const char *q = scan_number(p, &tuple->a);
    if (q != NULL && *q == ' ') { /* nearly every line: a, one space, b */
        const char *r = scan_number(q + 1, &tuple->b);
        if (r != NULL && *r == '\n')
            return r;
        tuple->b = 0;
    }
    if (q != NULL)
        return scan_rest(q, tuple, count);
    p = skip_blanks(p);
    if (*p == '\n' || *p == '#') {
        *count = 0;
        return end_of_line(p);
    }
    q = scan_number(p, &tuple->a);
    return q == NULL ? NULL : scan_rest(q, tuple, count);
}

static rf_status bad_line(const struct text *text, struct rf_error *error)
{
    char shown[SHOWN_MAX + 4];
    const char *p = text->bytes + text->at;
    size_t n = 0;
    for (; n < SHOWN_MAX && p[n] != '\n' && p[n] != '\r'; n++)
        shown[n] = p[n] >= ' ' && p[n] <= '~' ? p[n] : '.';
    memcpy(shown + n, n == SHOWN_MAX ? "..." : "", n == SHOWN_MAX ? 4 : 1);
    return rf_fail(error, RF_EINVAL,
                   "%s: line %llu: expected 'a b [count]', numbers of 64 bits, got '%s'",
                   text->name, (unsigned long long)text->line, shown);
}

static rf_status too_many(const struct text *text, uint64_t count, struct rf_error *error)
{
    return rf_fail(error, RF_EINVAL,
                   "%s: line %llu: with its count of %llu the stream has more than 2^63 events",
                   text->name, (unsigned long long)text->line, (unsigned long long)count);
}

/* What is wrong with the line at `at`. */
static rf_status refuse_line(const struct text *text, struct rf_error *error)
{
    struct rf_tuple tuple;
    uint64_t count;
    if (scan_line(text->bytes + text->at, &tuple, &count) == NULL)
        return bad_line(text, error);
    return too_many(text, count, error);
}

/* The first count of the batch: every tuple before it occurred once. */
static rf_status begin_counts(struct text *text, size_t n, struct rf_error *error)
{
    if (text->counts == NULL)
        text->counts = rf_alloc_get(&text->base.alloc, RF_SOURCE_BATCH * sizeof *text->counts);
    if (text->counts == NULL)
        return rf_fail(error, RF_ENOMEM, "%s: no memory for counts", text->name);
    for (size_t i = 0; i < n; i++)
        text->counts[i] = 1;
    return RF_OK;
}

static const char gap_line[] = "gap\n";
enum { GAP_LENGTH = sizeof gap_line - 1 };

static bool is_gap(const struct text *text)
{
    return text->whole - text->at >= GAP_LENGTH &&
           memcmp(text->bytes + text->at, gap_line, GAP_LENGTH) == 0;
}

static void skip_gap(struct text *text, struct rf_batch *batch)
{
    text->at += GAP_LENGTH;
    text->line++;
    batch->gap = 1;
}

/* Whole lines into tuples, until either runs out or a line is bad. A gap ends the batch before it. */
static rf_status scan(struct text *text, struct rf_batch *batch, struct rf_error *error)
{
    const char *p = text->bytes + text->at, *whole = text->bytes + text->whole;
    bool counted = false;
    size_t n = 0;
    while (p < whole && n < RF_SOURCE_BATCH) {
        uint64_t count;
        const char *end = scan_line(p, &text->tuples[n], &count);
        if (end == NULL || count > text->events_left)
            break;
        text->events_left -= count;
        if (count != 1 && count != 0 && !counted) {
            rf_status status = begin_counts(text, n, error);
            if (status != RF_OK)
                return status;
            counted = true;
        }
        if (counted)
            text->counts[n] = count;
        n += count != 0;
        text->line++;
        p = end + 1;
    }
    text->at = (size_t)(p - text->bytes);
    bool is_bad = p < whole && n < RF_SOURCE_BATCH;
    if (is_bad && n == 0)
        return is_gap(text) ? RF_OK : refuse_line(text, error);
    batch->tuples = (struct rf_tuples){text->tuples, counted ? text->counts : NULL, n};
    batch->n = n;
    return RF_OK;
}

static void find_whole(struct text *text, size_t searched)
{
    const char *last = memrchr(text->bytes + searched, '\n', text->end - searched);
    if (last != NULL)
        text->whole = (size_t)(last - text->bytes) + 1;
}

/* Move the beginning of the cut line to the front, and read more text after it. */
static rf_status fill(struct text *text, struct rf_error *error)
{
    memmove(text->bytes, text->bytes + text->at, text->end - text->at);
    text->end -= text->at;
    text->at = text->whole = 0;
    if (text->end == TEXT_ROOM)
        return rf_fail(error, RF_EINVAL, "%s: line %llu is longer than %d bytes", text->name,
                       (unsigned long long)text->line, TEXT_ROOM);
    size_t n, searched = text->end; /* no newline up to here */
    rf_status status = rf_source_read(text->fd, text->name, text->bytes + text->end,
                                      TEXT_ROOM - text->end, &n, error);
    if (status != RF_OK)
        return status;
    text->bytes_done += n;
    text->end += n;
    text->at_eof = n == 0;
    if (text->at_eof && text->end > 0)
        text->bytes[text->end++] = '\n';
    find_whole(text, searched);
    return RF_OK;
}

static rf_status next(struct rf_source *source, struct rf_batch *batch, struct rf_error *error)
{
    struct text *text = (struct text *)source;
    rf_status status = RF_OK;
    while (status == RF_OK && batch->n == 0) {
        if (is_gap(text))
            skip_gap(text, batch);
        else if (text->at < text->whole)
            status = scan(text, batch, error);
        else if (text->at_eof)
            return RF_OK;
        else
            status = fill(text, error);
        source->done = text->bytes_done - (text->end - text->at);
    }
    return status;
}

static void close_text(struct rf_source *source)
{
    struct text *text = (struct text *)source;
    struct rf_alloc alloc = source->alloc;
    if (text->close_fd)
        close(text->fd);
    rf_alloc_free(&alloc, text->bytes, TEXT_ROOM + PAD);
    rf_alloc_free(&alloc, text->tuples, RF_SOURCE_BATCH * sizeof *text->tuples);
    rf_alloc_free(&alloc, text->counts, RF_SOURCE_BATCH * sizeof *text->counts);
    rf_alloc_free(&alloc, text, sizeof *text);
}

static const struct rf_source_ops text_ops = {
    .name = "text",
    .next = next,
    .close = close_text,
};

static bool is_text(const struct rf_source_input *input)
{
    (void)input;
    return true;
}

static rf_status open_text(struct rf_source **source, const struct rf_source_input *input,
                           const struct rf_alloc *alloc, struct rf_error *error)
{
    *source = NULL;
    struct text *text = rf_source_new(&text_ops, sizeof *text, alloc);
    if (text == NULL)
        return rf_fail(error, RF_ENOMEM, "%s: no memory to read it", input->name);
    text->bytes = rf_alloc_get(&text->base.alloc, TEXT_ROOM + PAD);
    text->tuples = rf_alloc_get(&text->base.alloc, RF_SOURCE_BATCH * sizeof *text->tuples);
    if (text->bytes == NULL || text->tuples == NULL) {
        close_text(&text->base);
        return rf_fail(error, RF_ENOMEM, "%s: no memory to read it", input->name);
    }
    memset(text->bytes, 0, TEXT_ROOM + PAD);
    memcpy(text->bytes, input->head, input->n_head);
    text->end = text->bytes_done = input->n_head;
    find_whole(text, 0);
    text->base.total = rf_source_file_size(input->fd);
    rf_format(text->name, sizeof text->name, "%s", input->name);
    text->fd = input->fd;
    text->close_fd = input->close_fd;
    text->line = 1;
    text->events_left = RF_EVENTS_MAX;
    *source = &text->base;
    return RF_OK;
}

const struct rf_source_format rf_source_text = {.name = "text", .is = is_text, .open = open_text};
