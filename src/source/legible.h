/* legible.h - the words of a piece that can be decoded now: one path after the other, up to a message. */
#ifndef RF_SOURCE_LEGIBLE_H
#define RF_SOURCE_LEGIBLE_H

#include "source/decode.h"

/* Where paths are read from. A copy, which the compiler can keep in registers. */
struct rf_legible {
    const uint64_t *words;
    size_t end;
    const struct rf_book_path *const *paths;
    size_t n_paths;
};

/* The last path or message of a part is left alone: it may still change. */
static inline struct rf_legible rf_legible_of(const struct rf_decode *decode)
{
    const struct rf_piece *piece = &decode->piece;
    const struct rf_book *book = &piece->process->book;
    bool spares = !piece->whole && !piece->last && piece->n > 0;
    return (struct rf_legible){piece->words, piece->n - spares, book->paths, book->n_paths};
}

/* The path that begins at `at`; NULL when no path does, or when it is not whole. */
static inline const struct rf_book_path *rf_legible_path(const struct rf_legible *view, size_t at)
{
    if (at >= view->end || view->words[at] >= view->n_paths)
        return NULL;
    const struct rf_book_path *path = view->paths[view->words[at]];
    return 1 + (size_t)path->words <= view->end - at ? path : NULL;
}

#endif
