/* book.h - what the collector knows about a process's superblocks, and how words become tuples.
 *
 * Each path that a DEFINE message announces is kept ready to run: one list of tuples, of all selectors, in which
 * only dynamic words are missing. probe_words.h has the format.
 *
 *     step     a     b     word  bits   lane            from the words [path][7][9]
 *              0x40  0     1     32     0               lane 0:  <0x40, 7> <0x48, 9>
 *              0x44  0x80  -     0      1               lane 1:  <0x44, 0x80>
 *              0x48  0     2     64     0
 *
 * What a counter tells is not among the steps. The first path of a block has the list of all such tuples, each
 * with the counters that say how often it occurred. Nor are merged events: each of those has a site. */
#ifndef RF_SOURCE_BOOK_H
#define RF_SOURCE_BOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <riffle/alloc.h>
#include <riffle/event.h>
#include <riffle/selector.h>
#include <riffle/status.h>
#include "source/probe_words.h"

/* <a, b + the low `bits` bits of a word> for a selector's lane. Words are counted from the path number, which
 * is word 0. */
struct rf_book_step {
    uint64_t a, b;
    uint16_t word;
    uint8_t bits, lane; /* bits 0: constant */
};

/* The general form of one tuple of one selector: a may have a dynamic word, too, and a guard (0: none) is the
 * word that says whether it happened. */
struct rf_book_item {
    uint64_t a, b;
    uint16_t word_a, word_b, guard;
    uint8_t bits_a, bits_b; /* of the dynamic part; 0: constant */
};

/* A tuple of a selector that occurred counter[plus] - counter[minus] times; minus may be RF_BOOK_NO_COUNTER. Or, where there
 * is a site, the words 0 to 255 of that site, which occurred counter[plus + word] times each. */
struct rf_book_count {
    struct rf_tuple tuple;
    uint32_t plus, minus;
    uint32_t lane, site;
};
#define RF_BOOK_NO_COUNTER UINT32_MAX
#define RF_BOOK_NO_SITE    UINT32_MAX

/* One record without its dynamic words (0: constant). */
struct rf_book_record {
    struct rf_record base;
    uint16_t addr, value, target, guard;
    uint8_t only;     /* selectors that it is for, one bit each; 0: all */
    uint32_t counted; /* selectors for which it is counted and not streamed, one bit each */
};

enum rf_book_form {
    RF_BOOK_STEPS,   /* among the path's steps */
    RF_BOOK_GENERAL, /* items */
    RF_BOOK_SELECT,  /* conditions on what is dynamic: through the path's records */
};

struct rf_book_piece {
    const struct rf_book_item *items;
    uint32_t n;    /* tuples at most */
    uint32_t form; /* enum rf_book_form */
};

struct rf_book_path {
    uint32_t words; /* dynamic ones */
    uint16_t most;  /* tuples that one selector can get */
    uint16_t n_steps;
    uint32_t n_records; /* all events of the path */
    uint32_t n_counts;  /* of its block; 0 for all but the first path */
    const struct rf_book_count *counts;
    const struct rf_book_record *records; /* NULL where nobody needs them */
    const struct rf_book_piece *pieces;   /* one for each selector; NULL where all are steps */
    struct rf_book_step steps[];          /* of all selectors */
};

/* What few sites have. */
struct rf_book_site_more {
    const struct rf_book_path *path; /* an entry is expanded as this path; NULL: it is not */
    struct rf_derivation derivation;
};

/* What becomes of an entry of the table of merged events, [key][word]: <a, b + the low `bits` bits of the word> for a
 * lane. Sites whose word follows from that of another one hang on that one, each on the one before. Two of them fit into
 * a cache line, since a program has thousands that are hot. */
struct rf_book_site {
    uint64_t a, b;
    const struct rf_book_site_more *more;
    uint32_t next; /* site that hangs on it; 0: none */
    uint8_t bits, lane;
    bool is_path;    /* more->path is expanded instead */
    bool is_derived; /* its word is derived by more->derivation; else it comes with entries */
};

/* What all processes of a run share: the selectors, and memory that lives as long as the run. */
struct rf_book_shelf {
    const struct rf_alloc *alloc;
    const struct rf_selector *selectors;
    size_t n_selectors;
    uint32_t counted;  /* 1 << selector: what is static is counted, where a block has counters */
    bool keep_records; /* records are handed out */
    struct rf_book_slab *slabs;
    struct rf_book_bench *bench; /* room to work in */
};

/* The paths and sites of one process. */
struct rf_book {
    struct rf_book_shelf *shelf;
    const struct rf_book_path **paths;
    size_t n_paths, room;
    struct rf_book_site *sites;
    size_t n_sites, room_sites;
    uint32_t n_guards; /* that have counters */
    uint64_t bias;     /* added to code addresses: pcs and targets */
};

/* The selectors and the allocator stay the caller's, who sets `counted` and `keep_records`. */
rf_status rf_book_shelf_init(struct rf_book_shelf *shelf, const struct rf_selector *selectors,
                             size_t n_selectors, const struct rf_alloc *alloc);
void rf_book_shelf_free(struct rf_book_shelf *shelf);
/* shelf.c: memory that lives as long as the shelf, aligned to 16 bytes; NULL: there is none. Give all of it back. */
void *rf_book_shelf_get(struct rf_book_shelf *shelf, size_t size);
void rf_book_shelf_clear(struct rf_book_shelf *shelf);

void rf_book_init(struct rf_book *book, struct rf_book_shelf *shelf);
void rf_book_free(struct rf_book *book);
/* `child` begins with what `parent` knows. */
rf_status rf_book_copy(struct rf_book *child, const struct rf_book *parent);

/* A DEFINE message of n words. RF_EDAMAGED with a sentence when it is not one. */
rf_status rf_book_define(struct rf_book *book, const uint64_t *words, size_t n,
                         struct rf_error *error);

extern const uint64_t rf_book_masks[65]; /* the low n bits */

/* The part of rf_book_expand for pieces that are not steps. */
void rf_book_expand_others(const struct rf_book *book, const struct rf_book_path *path,
                           const uint64_t *words, uint16_t thread, struct rf_tuple **next);

/* Is this the first word of an entry that makes sense? One of no site does. */
static inline bool rf_book_has(const struct rf_book *book, uint64_t key)
{
    return rf_entry_is_one(key) &&
           (rf_entry_site(key) < book->n_sites || rf_entry_site(key) == RF_ENTRY_SITES);
}

static inline struct rf_tuple rf_book_site_tuple(const struct rf_book_site *site, uint64_t word)
{
    return (struct rf_tuple){site->a, site->b + (word & rf_book_masks[site->bits])};
}

static inline struct rf_tuple rf_book_tuple(const struct rf_book_step *step, const uint64_t *words)
{
    return (struct rf_tuple){step->a, step->b + (words[step->word] & rf_book_masks[step->bits])};
}

/* Write the tuples of all selectors, from the words of one run of the path. Those of selector i go to
 * next[i], which advances past them. Each has room for path->most tuples. */
static inline void rf_book_expand(const struct rf_book *book, const struct rf_book_path *path,
                                  const uint64_t *words, uint16_t thread, struct rf_tuple **next)
{
    const struct rf_book_step *step = path->steps;
    for (unsigned left = path->n_steps; left > 0; left--, step++)
        *next[step->lane]++ = rf_book_tuple(step, words);
    if (__builtin_expect(path->pieces != NULL, 0))
        rf_book_expand_others(book, path, words, thread, next);
}

/* Write the records; returns how many. */
size_t rf_book_records(const struct rf_book_path *path, const uint64_t *words, uint16_t thread,
                       struct rf_record *out);

#endif
