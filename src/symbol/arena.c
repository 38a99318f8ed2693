/* arena.c - texts and lists of the symbols, freed all at once.
 *
 * Names are many, small and all live until rf_symbols_close: they are cut from chunks that grow with
 * what is in use. A chunk holds its own size, which the allocator needs when it is freed. */
#include <string.h>
#include "base/text.h"
#include "symbol/symbol.h"

struct rf_arena_chunk {
    struct rf_arena_chunk *next;
    size_t size, used; /* bytes, this header included */
};

enum { CHUNK = 64 * 1024 };

static struct rf_arena_chunk *add_chunk(struct rf_arena *arena, size_t least)
{
    size_t size = least > CHUNK ? least : CHUNK;
    struct rf_arena_chunk *chunk = rf_alloc_get(arena->alloc, size);
    if (chunk == NULL)
        return NULL;
    *chunk = (struct rf_arena_chunk){arena->chunks, size, sizeof *chunk};
    return arena->chunks = chunk;
}

void *rf_arena_get(struct rf_arena *arena, size_t size)
{
    size = (size + 7) & ~(size_t)7;
    struct rf_arena_chunk *chunk = arena->chunks;
    if (chunk == NULL || chunk->size - chunk->used < size)
        chunk = add_chunk(arena, sizeof *chunk + size);
    if (chunk == NULL)
        return NULL;
    void *got = (char *)chunk + chunk->used;
    chunk->used += size;
    return got;
}

const char *rf_arena_text(struct rf_arena *arena, const char *text, size_t n)
{
    if (n == 0)
        return "";
    char *copy = rf_arena_get(arena, n + 1);
    return copy != NULL ? rf_text_put(copy, text, n) : NULL;
}

void rf_arena_release(struct rf_arena *arena)
{
    while (arena->chunks != NULL) {
        struct rf_arena_chunk *chunk = arena->chunks;
        arena->chunks = chunk->next;
        rf_alloc_free(arena->alloc, chunk, chunk->size);
    }
}

void rf_file_release(struct rf_file *file, const struct rf_alloc *alloc)
{
    rf_list_free(alloc, &file->segments);
    rf_list_free(alloc, &file->sections);
    rf_list_free(alloc, &file->symbols);
    rf_list_free(alloc, &file->inlined);
    rf_list_free(alloc, &file->spots);
    rf_list_free(alloc, &file->lines);
}
