/* alloc.c - the standard allocator, on malloc.
 *
 * Large blocks are aligned to huge pages and the kernel is asked to use them. A table of 200 MB then takes a
 * hundred page faults instead of fifty thousand, and random access to it misses the TLB far
 * less. */
#include "base/alloc.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { HUGE_PAGE = 2 << 20, LARGE = 2 * HUGE_PAGE };

/* In whole huge pages; 0: too large. */
static size_t round_up(size_t size)
{
    size_t rounded;
    if (__builtin_add_overflow(size, (size_t)HUGE_PAGE - 1, &rounded))
        return 0;
    return rounded & ~((size_t)HUGE_PAGE - 1);
}

static void *get_large(size_t size)
{
    size_t rounded = round_up(size);
    if (rounded == 0)
        return NULL;
    void *block = aligned_alloc(HUGE_PAGE, rounded);
#ifdef MADV_HUGEPAGE
    if (block != NULL)
        madvise(block, rounded, MADV_HUGEPAGE);
#endif
    return block;
}

void *rf_alloc_resize(void *context, void *ptr, size_t old_size, size_t new_size)
{
    (void)context;
    if (new_size == 0) {
        free(ptr);
        return NULL;
    }
    if (new_size < LARGE)
        return realloc(ptr, new_size);
    if (old_size >= LARGE && round_up(old_size) == round_up(new_size))
        return ptr; /* an array that grows by one element stays where it is */
    void *block = get_large(new_size);
    if (block == NULL || ptr == NULL)
        return block;
    memcpy(block, ptr, old_size < new_size ? old_size : new_size);
    free(ptr);
    return block;
}

__attribute__((weak)) const struct rf_alloc rf_alloc_standard = {rf_alloc_resize, NULL};
