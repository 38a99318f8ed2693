/* text.h - the few string operations that the library's parsers share. */
#ifndef RF_BASE_TEXT_H
#define RF_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

size_t rf_text_length(const char *text);
bool rf_text_equal(const char *text, const char *word, size_t word_length); /* text == word[0..n) */
bool rf_text_is_space(char c);
bool rf_text_is_word(char c); /* letters, digits, '_', '-', '.' */

/* How many edits (insert, delete, change, swap neighbours) turn one into the other; both are taken
 * to be at most 32 characters long, longer ones count as far apart. For "did you mean". */
unsigned rf_text_distance(const char *a, const char *b);

#endif
