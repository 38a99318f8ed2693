/* words.h - what the two words of an item are, and how they are written. */
#ifndef RF_VIEW_WORDS_H
#define RF_VIEW_WORDS_H

#include <stdbool.h>
#include <riffle/profile.h>

struct rf_word {
    const char *name; /* the selector's field, or "a" and "b"; empty: there is no such word */
    unsigned field;   /* enum rf_field; RF_FIELD_NONE for bare tuples */
    enum rf_meaning meaning;
};

struct rf_words {
    struct rf_word a, b;
    bool by_pc;    /* a is the address of the instruction itself */
    bool calls;    /* the events are calls, nothing else */
    bool indirect; /* calls through a pointer, nothing else */
};

void rf_view_words(struct rf_words *words, const struct rf_profile *profile);

/* A code address as the program had it, without the collector's number of the program. */
uint64_t rf_view_address(uint64_t word);

/* The word with that meaning: 0 for a, 1 for b, -1: none has it. */
int rf_view_find_word(const struct rf_words *words, unsigned field);

/* A word as every form shows it: threads in decimal, everything else in hex, code addresses as the program had
 * them. Terminated, cut to `size`; returns the length. */
enum { RF_VIEW_NUMBER_MAX = 32 };
size_t rf_view_print_word(char *text, size_t size, const struct rf_word *word, uint64_t value);
/* The same for a range, both ends in: "0x10..0x1f". */
size_t rf_view_print_range(char *text, size_t size, const struct rf_word *word, uint64_t lo,
                           uint64_t hi);
/* A box whose code addresses are as the program had them. A range over several programs stays as it is. */
struct rf_item rf_view_shown_item(const struct rf_words *words, const struct rf_item *item);
bool rf_view_is_decimal(const struct rf_word *word);

#endif
