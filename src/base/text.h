/* text.h - the few string operations that the library's parsers share; see also riffle/text.h. */
#ifndef RF_BASE_TEXT_H
#define RF_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <riffle/text.h>

size_t rf_text_length(const char *text);
bool rf_text_equal(const char *text, const char *word, size_t word_length); /* text == word[0..n) */
const char *rf_text_last_part(const char *path); /* what follows the last slash */
char *rf_text_put(char *copy, const char *text,
                  size_t n); /* n characters and an end; returns `copy` */
bool rf_text_is_space(char c);
bool rf_text_is_word(char c); /* letters, digits, '_', '-', '.' */

#endif
