/* option.h - the words that option tables share with parsers of other text. */
#ifndef RF_BASE_OPTION_H
#define RF_BASE_OPTION_H

#include <stdbool.h>
#include <riffle/option.h>

/* True if `name` is fewer than *best edits away from the word, and not just because both are short. *best
 * then becomes that number of edits. */
bool rf_option_is_near(const char *word, const char *name, unsigned *best);

#endif
