/* failing.h - an allocator that counts what is held and fails the n-th allocation.
 *
 *     struct failing failing = {.fail_at = n};
 *     struct rf_alloc alloc = failing_alloc(&failing);
 *
 * fail_at 0 never fails. Once it has failed it goes on failing. `held` must be 0 at the end; a size
 * handed back that is not the one asked for counts as `mistakes`. */
#ifndef RF_TESTS_FAILING_H
#define RF_TESTS_FAILING_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <riffle/alloc.h>

struct failing {
    uint64_t fail_at;
    uint64_t allocations;
    size_t held, most; /* bytes, now and at once */
    unsigned mistakes;
};

enum { FAILING_HEADER = 16 };

static void *failing_resize(void *context, void *ptr, size_t old_size, size_t new_size)
{
    struct failing *failing = context;
    char *block = ptr != NULL ? (char *)ptr - FAILING_HEADER : NULL;
    if (block != NULL) {
        size_t given;
        memcpy(&given, block, sizeof given);
        failing->mistakes += given != old_size;
    }
    if (new_size == 0) {
        failing->held -= ptr != NULL ? old_size : 0;
        free(block);
        return NULL;
    }
    failing->allocations++;
    if (failing->fail_at != 0 && failing->allocations >= failing->fail_at)
        return NULL;
    block = realloc(block, new_size + FAILING_HEADER);
    if (block == NULL)
        return NULL;
    memcpy(block, &new_size, sizeof new_size);
    failing->held += new_size - (ptr != NULL ? old_size : 0);
    failing->most = failing->held > failing->most ? failing->held : failing->most;
    return block + FAILING_HEADER;
}

__attribute__((unused)) static struct rf_alloc failing_alloc(struct failing *failing)
{
    return (struct rf_alloc){failing_resize, failing};
}

#endif
