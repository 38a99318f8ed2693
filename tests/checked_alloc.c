/* checked_alloc.c - the standard allocator of unit and property tests: that of the library, and four checks.
 *
 *     [size | 8 bytes of guard][what the caller has][16 bytes of guard]
 *
 * The size that goes back must be the one that was asked for, the guards must be as they were, new memory holds junk
 * in place of zeros, and at the end nothing may be held. What is wrong ends the test. */
#include "base/alloc.h"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { BEFORE = 16, BEHIND = 16, JUNK = 0xa5, JUNK_MAX = 1 << 16 };
#define GUARD UINT64_C(0x6472617567206672)

static size_t blocks_held, bytes_held; /* threads take and give back, too */
static pid_t whose;

static void refuse(const char *what, size_t given, size_t asked)
{
    fflush(stdout);
    fprintf(stderr, "# memory: %s (%zu bytes, asked for %zu)\n", what, given, asked);
    abort();
}

static void put_guards(unsigned char *block, size_t size)
{
    const uint64_t words[2] = {size, GUARD}, behind[2] = {GUARD, GUARD};
    memcpy(block, words, sizeof words);
    memcpy(block + BEFORE + size, behind, sizeof behind);
}

static void check_guards(const unsigned char *block, size_t size)
{
    uint64_t words[2], behind[2];
    memcpy(words, block, sizeof words);
    if (words[1] != GUARD)
        refuse("written before a block, or none of ours", size, 0);
    if (words[0] != size)
        refuse("another size goes back", size, (size_t)words[0]);
    memcpy(behind, block + BEFORE + size, sizeof behind);
    if (behind[0] != GUARD || behind[1] != GUARD)
        refuse("written behind a block", size, size);
}

static void note(size_t more, size_t less)
{
    __atomic_add_fetch(&blocks_held, (size_t)(more > 0) - (less > 0), __ATOMIC_RELAXED);
    __atomic_add_fetch(&bytes_held, more - less, __ATOMIC_RELAXED);
}

static void *checked_resize(void *context, void *ptr, size_t old_size, size_t new_size)
{
    unsigned char *block = ptr != NULL ? (unsigned char *)ptr - BEFORE : NULL;
    size_t had = ptr != NULL ? old_size : 0, all;
    if (block != NULL)
        check_guards(block, old_size);
    if (new_size == 0) {
        note(0, had);
        return rf_alloc_resize(context, block, had + BEFORE + BEHIND, 0);
    }
    if (__builtin_add_overflow(new_size, (size_t)(BEFORE + BEHIND), &all))
        return NULL;
    block = rf_alloc_resize(context, block, block != NULL ? had + BEFORE + BEHIND : 0, all);
    if (block == NULL)
        return NULL;
    if (new_size > had)
        memset(block + BEFORE + had, JUNK, new_size - had < JUNK_MAX ? new_size - had : JUNK_MAX);
    put_guards(block, new_size);
    note(new_size, had);
    return block + BEFORE;
}

const struct rf_alloc rf_alloc_standard = {checked_resize, NULL};

__attribute__((constructor)) static void begin(void)
{
    whose = getpid();
}

/* Children that a test forks off may leave what they like. */
__attribute__((destructor)) static void end(void)
{
    if (getpid() != whose || blocks_held == 0)
        return;
    fflush(stdout);
    fprintf(stderr, "# memory: %zu blocks of %zu bytes are still held\n", blocks_held, bytes_held);
    _exit(1);
}
