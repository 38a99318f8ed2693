/* text.h - numbers and words as people write them: 1M, 16Ki, 0x10, 0.1%, "exat".
 *
 * K, M, G are 1000, 1000^2, 1000^3 for counts of events (the papers' 1M interval is 1,000,000);
 * Ki, Mi, Gi are 1024, 1024^2, 1024^3, for sizes. */
#ifndef RIFFLE_TEXT_H
#define RIFFLE_TEXT_H

#include <stddef.h>
#include <stdint.h>
#include <riffle/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Text of `n` characters, all of which must belong to the number. RF_EINVAL otherwise and on
 * overflow. A count may have a fraction when the unit makes it whole: 1.5M. */
rf_status rf_units_count(const char *text, size_t n, uint64_t *count);
rf_status rf_units_share(const char *text, size_t n, double *share); /* 0.1% or 0.001 or 1e-3 */

/* The same backwards: the shortest text that reads back as the same number ("1M", "2048", "0.1%").
 * Terminated; returns the length. RF_UNITS_MAX characters are enough. */
enum { RF_UNITS_MAX = 32 };
size_t rf_units_print_count(char *text, size_t size, uint64_t count);
size_t rf_units_print_share(char *text, size_t size, double share);

/* How many edits (insert, delete, change, swap neighbours) turn one into the other; both are taken
 * to be at most 32 characters long, longer ones count as far apart. For "did you mean". */
unsigned rf_text_distance(const char *a, const char *b);

/* One character of a text that somebody else wrote. */
enum rf_text_kind {
    RF_TEXT_FIT,   /* for a terminal */
    RF_TEXT_UNFIT, /* UTF-8, but a control character, invisible, or changing the order of others */
    RF_TEXT_INVALID, /* a byte that is not part of UTF-8 */
};
struct rf_text_char {
    uint32_t code;  /* Unicode; the byte where it is invalid */
    uint8_t length; /* in bytes; at least 1 */
    uint8_t kind;   /* enum rf_text_kind */
};
struct rf_text_char rf_text_next(const char *text, size_t n); /* n: bytes there are, at least 1 */

/* The first character of a text of n bytes, as a terminal may show it: itself, or an escape such as
 * \x1b or \u202e. Returns how many bytes of the text that was. */
enum { RF_TEXT_PIECE = 11 };
size_t rf_text_piece(char piece[RF_TEXT_PIECE], const char *text, size_t n);

/* The whole text like that. Terminated, cut between characters to fit `size`; returns the length that
 * it has uncut. `out` and `text` may not overlap. */
size_t rf_text_readable(char *out, size_t size, const char *text);

/* Columns that a readable text takes, each character taken as one wide. */
size_t rf_text_width(const char *text);

#ifdef __cplusplus
}
#endif
#endif
