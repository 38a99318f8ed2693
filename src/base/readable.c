/* readable.c - text that others wrote, made fit for a terminal.
 *
 * Names of functions and files, commands and messages may hold any bytes. A terminal obeys some of
 * them: ESC and the C1 controls (as the byte 0x9b or as U+009B) begin commands, the bidirectional
 * controls of Unicode show a name in another order than it has, and invisible characters make two
 * names look alike. Such a character is written as an escape that shows what it was:
 *
 *     ESC -> \x1b     the byte 0x9b -> \x9b     U+009B -> \u009b     U+202E -> \u202e
 *
 * Everything else passes as it is. A backslash passes, too: the text is for people, not for parsing. */
#include "base/text.h"

static bool continues(unsigned char c)
{
    return (c & 0xc0) == 0x80;
}

/* The length in bytes of a UTF-8 sequence that begins with `first`; 0: no sequence does. */
static size_t sequence_length(unsigned char first)
{
    if (first < 0x80)
        return 1;
    if (first < 0xc2 || first > 0xf4)
        return 0;
    return first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

/* The sequence at s is overlong, or its value is no character. */
static bool is_forbidden(const unsigned char *s)
{
    bool overlong = (s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xf0 && s[1] < 0x90);
    bool outside = (s[0] == 0xed && s[1] > 0x9f) || (s[0] == 0xf4 && s[1] > 0x8f);
    return overlong || outside;
}

static bool is_unfit(uint32_t code)
{
    static const struct {
        uint32_t low, high;
    } unfit[] = {
        {0x00, 0x1f},       /* C0 controls */
        {0x7f, 0x9f},       /* DEL, C1 controls */
        {0xad, 0xad},       /* soft hyphen */
        {0x61c, 0x61c},     /* bidirectional mark */
        {0x180e, 0x180e},   /* vowel separator, invisible */
        {0x200b, 0x200f},   /* zero width, bidirectional marks */
        {0x2028, 0x202e},   /* line separators, bidirectional embeddings and overrides */
        {0x2060, 0x206f},   /* invisible operators, bidirectional isolates */
        {0xfeff, 0xfeff},   /* zero width, byte order mark */
        {0xfff9, 0xfffb},   /* annotations */
        {0xe0000, 0xe0fff}, /* tags, invisible */
    };
    for (size_t i = 0; i < sizeof unfit / sizeof *unfit; i++)
        if (code >= unfit[i].low && code <= unfit[i].high)
            return true;
    return false;
}

struct rf_text_char rf_text_next(const char *text, size_t n)
{
    const unsigned char *s = (const unsigned char *)text;
    const struct rf_text_char invalid = {s[0], 1, RF_TEXT_INVALID};
    size_t length = sequence_length(s[0]);
    if (length == 0 || length > n)
        return invalid;
    uint32_t code = length == 1 ? s[0] : s[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if (!continues(s[i]))
            return invalid;
        code = code << 6 | (s[i] & 0x3fu);
    }
    if (length > 2 && is_forbidden(s))
        return invalid;
    return (struct rf_text_char){code, (uint8_t)length,
                                 is_unfit(code) ? RF_TEXT_UNFIT : RF_TEXT_FIT};
}

/* The escape for a character that is not fit. Returns its length. */
static size_t escape(char *out, struct rf_text_char c)
{
    static const char digits[] = "0123456789abcdef";
    bool is_byte = c.kind == RF_TEXT_INVALID || c.code < 0x80;
    size_t n_digits = is_byte ? 2 : c.code < 0x10000 ? 4 : 8;
    out[0] = '\\';
    out[1] = is_byte ? 'x' : n_digits == 4 ? 'u' : 'U';
    for (size_t i = 0; i < n_digits; i++)
        out[2 + i] = digits[c.code >> (4 * (n_digits - 1 - i)) & 15];
    return 2 + n_digits;
}

size_t rf_text_piece(char piece[RF_TEXT_PIECE], const char *text, size_t n)
{
    struct rf_text_char c = rf_text_next(text, n);
    size_t length = c.length;
    if (c.kind == RF_TEXT_FIT)
        for (size_t i = 0; i < length; i++)
            piece[i] = text[i];
    else
        length = escape(piece, c);
    piece[length] = '\0';
    return c.length;
}

size_t rf_text_readable(char *out, size_t size, const char *text)
{
    size_t left = rf_text_length(text), used = 0, written = 0;
    while (left > 0) {
        char piece[RF_TEXT_PIECE];
        size_t step = rf_text_piece(piece, text, left), length = rf_text_length(piece);
        if (used == written && used + length < size) {
            for (size_t i = 0; i < length; i++)
                out[used + i] = piece[i];
            written += length;
        }
        used += length;
        text += step;
        left -= step;
    }
    if (size > 0)
        out[written] = '\0';
    return used;
}

size_t rf_text_width(const char *text)
{
    size_t width = 0;
    for (; *text != '\0'; text++)
        width += !continues((unsigned char)*text);
    return width;
}
