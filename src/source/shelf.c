/* shelf.c - memory for books that is never given back before the end: pieces of large slabs. */
#include "source/book.h"
#include "base/alloc.h"

enum { SLAB = 256 * 1024 };

struct rf_book_slab {
    struct rf_book_slab *next;
    size_t size, used;
};

void *rf_book_shelf_get(struct rf_book_shelf *shelf, size_t size)
{
    struct rf_book_slab *slab = shelf->slabs;
    size = (size + 15) & ~(size_t)15;
    if (slab == NULL || slab->size - slab->used < size) {
        size_t room = (sizeof *slab + 15) / 16 * 16 + size;
        room = room < SLAB ? SLAB : room;
        slab = rf_alloc_get(shelf->alloc, room);
        if (slab == NULL)
            return NULL;
        *slab = (struct rf_book_slab){shelf->slabs, room, (sizeof *slab + 15) / 16 * 16};
        shelf->slabs = slab;
    }
    void *piece = (char *)slab + slab->used;
    slab->used += size;
    return piece;
}

void rf_book_shelf_clear(struct rf_book_shelf *shelf)
{
    while (shelf->slabs != NULL) {
        struct rf_book_slab *slab = shelf->slabs;
        shelf->slabs = slab->next;
        rf_alloc_free(shelf->alloc, slab, slab->size);
    }
}
