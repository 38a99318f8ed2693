/* define.h - the description of one superblock, as a DEFINE message gives it.
 *
 * Guarantee: whatever the words are, no index goes past the message, no event past the words of the paths that count
 * it, and no counter past the array. */
#ifndef RF_SOURCE_DEFINE_H
#define RF_SOURCE_DEFINE_H

#include "source/book.h"

struct rf_define_event {
    struct rf_book_record record;
    uint8_t first, last; /* paths that count it */
    uint32_t guard;      /* counter of its guard, or RF_BOOK_NO_COUNTER */
    uint32_t values;     /* counter of its value 0, those of others behind it, or the same */
    bool is_merged;      /* its one word comes with entries of the table, as word 1 */
    uint32_t site;       /* then */
    bool is_derived;     /* and its word follows from that of another one */
    uint32_t n_derived;  /* that follow from its own */
    struct rf_derivation derivation;
};

/* The caller sets the first three. */
struct rf_define {
    uint64_t bias;       /* added to code addresses */
    uint32_t first_site; /* of the block's merged events */
    uint32_t n_guards;   /* with counters, of all blocks before; then of this one, too */
    uint32_t n_merged;   /* events of this block */
    bool is_counted;
    uint32_t first, n_paths, n_events;
    const uint64_t *path_words;
    uint16_t merged[RF_WORD_EVENTS_MAX]; /* which events those are */
    struct rf_define_event events[RF_WORD_EVENTS_MAX];
};

/* False: it makes no sense. */
bool rf_define_read(struct rf_define *define, const uint64_t *words, size_t n);

#endif
