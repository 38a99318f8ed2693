/* memory.h - the guest's address space: 4 GiB reserved, pages with rights, every access checked.
 *
 * Guest addresses are offsets into one reserved mapping, so an access is an addition. One
 * byte of rights per page turns a wild access into a clean end of the program instead of a crash of ours.
 * Pages that nobody touches cost nothing. */
#ifndef RF_MACHINE_MEMORY_H
#define RF_MACHINE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <riffle/status.h>

enum { RF_PAGE = 4096, RF_PAGE_BITS = 12 };
/* Rights of a page. Every mapped page has RF_MAPPED, even without any other right; 0 is a free page. */
enum { RF_READ = 1, RF_WRITE = 2, RF_EXECUTE = 4, RF_MAPPED = 8 };
/* Where the program's memory ends. Above are code and tables of handlers, which it cannot map or unmap. */
static const uint64_t RF_PROGRAM_END = 0xf0000000;

struct rf_memory {
    uint8_t *bytes;  /* the host's address of guest address 0 */
    uint8_t *rights; /* one per page */
    uint64_t size;
};

rf_status rf_memory_open(struct rf_memory *memory, struct rf_error *error);
void rf_memory_close(struct rf_memory *memory);

/* All of these work on whole pages and answer false when those are not inside the address space.
 * rf_memory_map sets the rights and adds RF_MAPPED. Fresh pages are zero; mapped ones keep their content. */
bool rf_memory_map(struct rf_memory *memory, uint64_t address, uint64_t length, unsigned rights);
/* Unmap pages and forget their content. */
bool rf_memory_unmap(struct rf_memory *memory, uint64_t address, uint64_t length);
/* Forget their content, keep their rights. */
bool rf_memory_clear(struct rf_memory *memory, uint64_t address, uint64_t length);
/* Is none of it mapped? */
bool rf_memory_is_free(const struct rf_memory *memory, uint64_t address, uint64_t length);
/* Is any of it executable? */
bool rf_memory_has_code(const struct rf_memory *memory, uint64_t address, uint64_t length);
/* The lowest free stretch of `length` bytes at or above `from`; 0: none. */
uint64_t rf_memory_find_free(const struct rf_memory *memory, uint64_t from, uint64_t length);

/* Does every page of the range have all of these rights? */
bool rf_memory_allows(const struct rf_memory *memory, uint64_t address, uint64_t length,
                      unsigned rights);

/* The host's memory for an access of `width` bytes (at most a page); NULL: it is not allowed. */
static inline uint8_t *rf_memory_at(const struct rf_memory *memory, uint64_t address, size_t width,
                                    unsigned right)
{
    if (__builtin_expect(address >= memory->size - RF_PAGE, 0))
        return NULL;
    uint64_t first = address >> RF_PAGE_BITS, last = (address + width - 1) >> RF_PAGE_BITS;
    if (__builtin_expect((memory->rights[first] & memory->rights[last] & right) == 0, 0))
        return NULL;
    return memory->bytes + address;
}

/* Copy a string of the guest with its end; false: it is not readable, or longer than `size`. */
bool rf_memory_string(const struct rf_memory *memory, uint64_t address, char *text, size_t size);

#endif
