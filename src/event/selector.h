/* selector.h - the words of the selector language. */
#ifndef RF_EVENT_SELECTOR_H
#define RF_EVENT_SELECTOR_H

#include <riffle/selector.h>

/* Characters of a symbol that needs no quotes; `next` is the one behind `c`. A single dot belongs to
 * it (memcpy.part.0), two are the sign of a range. */
int rf_selector_is_symbol(char c, char next);

#endif
