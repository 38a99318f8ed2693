/* alloc.c - the standard allocator, on malloc. */
#include "base/alloc.h"
#include <stdlib.h>

static void *resize(void *context, void *ptr, size_t old_size, size_t new_size)
{
    (void)context;
    (void)old_size;
    if (new_size == 0) {
        free(ptr);
        return NULL;
    }
    return realloc(ptr, new_size);
}

const struct rf_alloc rf_alloc_standard = {resize, NULL};
