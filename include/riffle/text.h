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

#ifdef __cplusplus
}
#endif
#endif
