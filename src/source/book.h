/* book.h - what the collector knows of a process's superblocks, and how words become tuples.
 *
 * Each path that a DEFINE message announces is kept ready to run: for every selector a list of tuples in
 * which only the dynamic words are missing. probe_words.h has the format. */
#ifndef RF_SOURCE_BOOK_H
#define RF_SOURCE_BOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <riffle/alloc.h>
#include <riffle/event.h>
#include <riffle/selector.h>
#include <riffle/status.h>
#include "source/probe_words.h"

/* One tuple of one selector: a + (word & mask), b + (word & mask). Words are counted from the path
 * number, which is word 0; a guard of 0 means none. */
struct rf_book_item {
    uint64_t a, b;
    uint16_t word_a, word_b, guard;
    uint8_t bits_a, bits_b; /* of the dynamic part; 0: constant */
};

/* One record, but for its dynamic words (0: constant). */
struct rf_book_record {
    struct rf_record base;
    uint16_t addr, value, target, guard;
};

enum rf_book_form {
    RF_BOOK_CONSTANT, /* tuples, to be copied as they are */
    RF_BOOK_VALUE,    /* items with a constant a and b = a word */
    RF_BOOK_GENERAL,  /* items */
    RF_BOOK_SELECT,   /* conditions on what is dynamic: through the path's records */
};

struct rf_book_piece {
    const void *list; /* struct rf_tuple or struct rf_book_item */
    uint32_t n;       /* tuples at most */
    uint32_t form;    /* enum rf_book_form */
};

struct rf_book_path {
    uint32_t words;                       /* dynamic ones */
    uint32_t n_records;                   /* all events of the path */
    const struct rf_book_record *records; /* NULL where nobody needs them */
    struct rf_book_piece pieces[];        /* one for each selector */
};

/* What all processes of a run share: the selectors, and memory that lives as long as the run. */
struct rf_book_shelf {
    const struct rf_alloc *alloc;
    const struct rf_selector *selectors;
    size_t n_selectors;
    bool keep_records; /* records are handed out */
    struct rf_book_slab *slabs;
    struct rf_book_bench *bench; /* room to work in */
};

/* The paths of one process. */
struct rf_book {
    struct rf_book_shelf *shelf;
    const struct rf_book_path **paths;
    size_t n_paths, room;
    uint64_t bias; /* added to code addresses: pcs and targets */
};

/* The selectors and the allocator stay the caller's. */
rf_status rf_book_shelf_init(struct rf_book_shelf *shelf, const struct rf_selector *selectors,
                             size_t n_selectors, const struct rf_alloc *alloc);
void rf_book_shelf_free(struct rf_book_shelf *shelf);

void rf_book_init(struct rf_book *book, struct rf_book_shelf *shelf);
void rf_book_free(struct rf_book *book);
/* `child` begins with what `parent` knows. */
rf_status rf_book_copy(struct rf_book *child, const struct rf_book *parent);

/* A DEFINE message of n words. RF_EDAMAGED with a sentence when it is not one. */
rf_status rf_book_define(struct rf_book *book, const uint64_t *words, size_t n,
                         struct rf_error *error);

static inline uint64_t rf_book_low_bits(uint64_t word, unsigned bits)
{
    return bits == 0 ? 0 : word & (UINT64_MAX >> (64 - bits));
}

/* The rarer forms of rf_book_expand. */
size_t rf_book_expand_other(const struct rf_book *book, const struct rf_book_path *path, size_t i,
                            const uint64_t *words, uint16_t thread, struct rf_tuple *out);

/* The tuples of the i-th selector, from the words of one run of the path; returns how many. */
static inline size_t rf_book_expand(const struct rf_book *book, const struct rf_book_path *path,
                                    size_t i, const uint64_t *words, uint16_t thread,
                                    struct rf_tuple *out)
{
    const struct rf_book_piece *piece = &path->pieces[i];
    if (piece->form == RF_BOOK_CONSTANT) {
        for (uint32_t j = 0; j < piece->n; j++)
            out[j] = ((const struct rf_tuple *)piece->list)[j];
        return piece->n;
    }
    if (piece->form != RF_BOOK_VALUE)
        return rf_book_expand_other(book, path, i, words, thread, out);
    const struct rf_book_item *item = piece->list;
    for (uint32_t j = 0; j < piece->n; j++, item++) {
        out[j].a = item->a;
        out[j].b = item->b + rf_book_low_bits(words[item->word_b], item->bits_b);
    }
    return piece->n;
}
/* The records; returns how many. */
size_t rf_book_records(const struct rf_book_path *path, const uint64_t *words, uint16_t thread,
                       struct rf_record *out);

#endif
