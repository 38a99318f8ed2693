/* aside.c - memory that will be needed at the end, kept until then.
 *
 * It is asked for and never written to. In place of the standard allocator the system is asked, for addresses alone: a block
 * among the others would be copied as it grows, and leave holes between them, which cost a run of many tuples a fifth more
 * memory at its peak. A limit (ulimit -v) is on addresses. */
#include "collect/aside.h"
#include "base/alloc.h"
#include <sys/mman.h>

static void *resize_addresses(void *old, size_t old_size, size_t size)
{
    void *got = NULL;
    if (size == 0)
        munmap(old, old_size);
    else if (old != NULL)
        got = mremap(old, old_size, size, MREMAP_MAYMOVE);
    else
        got = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return got != MAP_FAILED ? got : NULL;
}

static bool resize(struct rf_aside *aside, const struct rf_alloc *alloc, size_t size)
{
    void *got = alloc == &rf_alloc_standard
                    ? resize_addresses(aside->block, aside->size, size)
                    : alloc->resize(alloc->context, aside->block, aside->size, size);
    if (got == NULL && size > 0)
        return false;
    *aside = (struct rf_aside){got, size};
    return true;
}

/* Somewhat more than is needed, where there is more. */
bool rf_aside_keep(struct rf_aside *aside, const struct rf_alloc *alloc, size_t needs)
{
    return needs <= aside->size || resize(aside, alloc, needs + needs / 4) ||
           resize(aside, alloc, needs);
}

void rf_aside_give_back(struct rf_aside *aside, const struct rf_alloc *alloc)
{
    if (aside->block != NULL)
        resize(aside, alloc, 0);
}
