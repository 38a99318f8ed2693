/* notation.h - compressors as the paper writes them, as text: H[P256]2048 A16. */
#ifndef RF_ENGINE_NOTATION_H
#define RF_ENGINE_NOTATION_H

#include "engine/stratified/part.h"
#include <riffle/status.h>

struct rf_notation {
    uint32_t n_specs;
    struct rf_part_spec specs[RF_PARTS_MAX];
};

/* Does the text look like one? Engines' names are in lower case, parts are not. */
bool rf_notation_claims(const char *text);

/* Read a chain, or with `behind` set the tables behind one that is already there. *text moves to the
 * end or to the "(" where options begin. Errors say what makes no sense and why. */
rf_status rf_notation_parse(struct rf_notation *notation, const char **text, bool behind,
                            struct rf_error *error);

/* From spec `from` on, terminated, cut to `size`; returns the length needed. */
size_t rf_notation_print(const struct rf_notation *notation, uint32_t from, char *text,
                         size_t size);

#endif
