/* alloc.h - shorthands for struct rf_alloc. */
#ifndef RF_BASE_ALLOC_H
#define RF_BASE_ALLOC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <riffle/alloc.h>

/* malloc and free. alloc.c is the only file of base and engine that calls libc. Tests put an allocator in its place that
 * checks what it is given (tests/checked_alloc.c). */
extern const struct rf_alloc rf_alloc_standard;
void *rf_alloc_resize(void *context, void *ptr, size_t old_size, size_t new_size);

static inline const struct rf_alloc *rf_alloc_or_standard(const struct rf_alloc *alloc)
{
    return alloc != NULL ? alloc : &rf_alloc_standard;
}

static inline void *rf_alloc_get(const struct rf_alloc *alloc, size_t size)
{
    return alloc->resize(alloc->context, NULL, 0, size);
}

/* The same, filled with zero bytes. */
static inline void *rf_alloc_zeroed(const struct rf_alloc *alloc, size_t size)
{
    void *got = rf_alloc_get(alloc, size);
    return got != NULL ? memset(got, 0, size) : NULL;
}

/* `alloc` may lie in the block that is freed: it is read before the call. */
static inline void rf_alloc_free(const struct rf_alloc *alloc, void *ptr, size_t size)
{
    if (ptr != NULL)
        alloc->resize(alloc->context, ptr, size, 0);
}

/* Grow an array to `n` elements of `element` bytes; false, and nothing changed, when there is no memory. */
static inline bool rf_alloc_array(const struct rf_alloc *alloc, void **array, size_t old_n,
                                  size_t n, size_t element)
{
    size_t size;
    if (__builtin_mul_overflow(n, element, &size))
        return false;
    void *grown = alloc->resize(alloc->context, *array, old_n * element, size);
    if (grown == NULL && size > 0)
        return false;
    *array = grown;
    return true;
}

/* Twice the room of an array that is full; false as above. */
static inline bool rf_list_double(const struct rf_alloc *alloc, void **array, size_t *room,
                                  size_t element)
{
    size_t more = *room == 0 ? 16 : 2 * *room;
    if (!rf_alloc_array(alloc, array, *room, more, element))
        return false;
    *room = more;
    return true;
}

/* Room for one more in a struct with `at`, `n` and `room`; false: no memory. */
#define rf_list_grow(alloc, list)                                                                  \
    ((list)->n < (list)->room ||                                                                   \
     rf_list_double((alloc), (void **)&(list)->at, &(list)->room, sizeof *(list)->at))

/* One more element behind the others; false: no memory. */
#define rf_list_add(alloc, list, ...)                                                              \
    (rf_list_grow((alloc), (list)) && ((list)->at[(list)->n++] = (__VA_ARGS__), true))

/* Give all of it back: the list is empty then. */
#define rf_list_free(alloc, list)                                                                  \
    (rf_alloc_free((alloc), (list)->at, (list)->room * sizeof *(list)->at), (list)->at = NULL,     \
     (list)->n = (list)->room = 0)

#endif
