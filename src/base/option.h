/* option.h - the words that option tables share with parsers of other text. */
#ifndef RF_BASE_OPTION_H
#define RF_BASE_OPTION_H

#include <stdbool.h>
#include <riffle/option.h>

/* Whether `name` is nearer to the word than *best edits, and not just because both are short; then *best is
 * how near. */
bool rf_option_is_near(const char *word, const char *name, unsigned *best);

#endif
