/* alloc.h - where the library gets memory from.
 *
 * Every object that allocates takes a `const struct rf_alloc *`; NULL means malloc. The allocator
 * must outlive the object. `resize` behaves like realloc with the old size handed back to it:
 * ptr NULL allocates, new_size 0 frees and returns NULL, failure returns NULL and leaves ptr alone.
 * Objects call it from whichever thread is using them. */
#ifndef RIFFLE_ALLOC_H
#define RIFFLE_ALLOC_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct rf_alloc {
    void *(*resize)(void *context, void *ptr, size_t old_size, size_t new_size);
    void *context;
};

#ifdef __cplusplus
}
#endif
#endif
