/* sequitur.h - Sequitur as its paper tells it, without a table: a pair is looked for in the whole grammar.
 *
 * Nevill-Manning and Witten 1997, section 3. Values are any numbers; a value that occurs once is in no rule, which is
 * how cuts are written. */
#ifndef RF_TESTS_REFERENCE_SEQUITUR_H
#define RF_TESTS_REFERENCE_SEQUITUR_H

#include <stddef.h>
#include <stdint.h>

struct ref_sequitur;

struct ref_sequitur *ref_sequitur_new(void);
void ref_sequitur_add(struct ref_sequitur *grammar, uint64_t value);
size_t ref_sequitur_symbols(const struct ref_sequitur *grammar); /* on all right-hand sides */
size_t ref_sequitur_expand(const struct ref_sequitur *grammar, uint64_t *values, size_t room);
void ref_sequitur_free(struct ref_sequitur *grammar);

#endif
