/* memory.c - one large reserved mapping, and one byte of rights per page of it. */
#include "machine/core/memory.h"
#include "base/error.h"
#include <string.h>
#include <sys/mman.h>

static const uint64_t SPACE = UINT64_C(1) << 32;

rf_status rf_memory_open(struct rf_memory *memory, struct rf_error *error)
{
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    memset(memory, 0, sizeof *memory);
    void *bytes = mmap(NULL, SPACE, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (bytes == MAP_FAILED)
        return rf_fail(error, RF_ENOMEM, "no address space for the simulated machine's memory");
    void *rights = mmap(NULL, SPACE >> RF_PAGE_BITS, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (rights == MAP_FAILED) {
        munmap(bytes, SPACE);
        return rf_fail(error, RF_ENOMEM, "no memory for the simulated machine's page table");
    }
    *memory = (struct rf_memory){bytes, rights, SPACE};
    return RF_OK;
}

void rf_memory_close(struct rf_memory *memory)
{
    if (memory->bytes == NULL)
        return;
    munmap(memory->bytes, SPACE);
    munmap(memory->rights, SPACE >> RF_PAGE_BITS);
    memory->bytes = NULL;
}

/* Whole pages inside the space, page 0 and the last one left out. */
static bool page_range(const struct rf_memory *memory, uint64_t address, uint64_t length,
                       uint64_t *first, uint64_t *n)
{
    uint64_t end;
    if (__builtin_add_overflow(address, length, &end) || end > memory->size - RF_PAGE)
        return false;
    *first = address >> RF_PAGE_BITS;
    *n = ((end + RF_PAGE - 1) >> RF_PAGE_BITS) - *first;
    return *first > 0;
}

bool rf_memory_map(struct rf_memory *memory, uint64_t address, uint64_t length, unsigned rights)
{
    uint64_t first, n;
    if (!page_range(memory, address, length, &first, &n))
        return false;
    memset(memory->rights + first, (int)(rights | RF_MAPPED), n);
    return true;
}

bool rf_memory_unmap(struct rf_memory *memory, uint64_t address, uint64_t length)
{
    uint64_t first, n;
    if (!page_range(memory, address, length, &first, &n))
        return false;
    memset(memory->rights + first, 0, n);
    return rf_memory_clear(memory, address, length);
}

bool rf_memory_clear(struct rf_memory *memory, uint64_t address, uint64_t length)
{
    uint64_t first, n;
    if (!page_range(memory, address, length, &first, &n))
        return false;
    uint8_t *bytes = memory->bytes + (first << RF_PAGE_BITS);
    if (madvise(bytes, n << RF_PAGE_BITS, MADV_DONTNEED) != 0)
        memset(bytes, 0, n << RF_PAGE_BITS);
    return true;
}

/* Does any of the pages have any of these rights? Also true when some lie outside the space. */
static bool has_any(const struct rf_memory *memory, uint64_t address, uint64_t length,
                    unsigned rights)
{
    uint64_t first, n;
    if (!page_range(memory, address, length, &first, &n))
        return true;
    for (uint64_t i = 0; i < n; i++)
        if ((memory->rights[first + i] & rights) != 0)
            return true;
    return false;
}

bool rf_memory_is_free(const struct rf_memory *memory, uint64_t address, uint64_t length)
{
    return !has_any(memory, address, length, RF_MAPPED);
}

bool rf_memory_has_code(const struct rf_memory *memory, uint64_t address, uint64_t length)
{
    return has_any(memory, address, length, RF_EXECUTE);
}

uint64_t rf_memory_find_free(const struct rf_memory *memory, uint64_t from, uint64_t length)
{
    uint64_t wanted = (length + RF_PAGE - 1) >> RF_PAGE_BITS, run = 0;
    uint64_t pages = memory->size >> RF_PAGE_BITS;
    for (uint64_t page = from >> RF_PAGE_BITS; page + 1 < pages; page++) {
        run = memory->rights[page] == 0 ? run + 1 : 0;
        if (run >= wanted && wanted > 0)
            return (page + 1 - wanted) << RF_PAGE_BITS;
    }
    return 0;
}

bool rf_memory_allows(const struct rf_memory *memory, uint64_t address, uint64_t length,
                      unsigned rights)
{
    uint64_t first, n;
    if (length == 0)
        return true;
    if (!page_range(memory, address, length, &first, &n))
        return false;
    for (uint64_t i = 0; i < n; i++)
        if ((memory->rights[first + i] & rights) != rights)
            return false;
    return true;
}

bool rf_memory_string(const struct rf_memory *memory, uint64_t address, char *text, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        const uint8_t *at = rf_memory_at(memory, address + i, 1, RF_READ);
        if (at == NULL)
            return false;
        text[i] = (char)*at;
        if (text[i] == '\0')
            return true;
    }
    return false;
}
