/* memory.h - the guest's address space: 4 GiB reserved, pages with rights, every access checked.
 *
 * Guest addresses are offsets into one reserved mapping, so an access is an addition; a byte of
 * rights a page makes a wild access a clean end instead of a crash of ours. Pages nobody touches cost
 * nothing. */
#ifndef RF_MACHINE_MEMORY_H
#define RF_MACHINE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <riffle/status.h>

enum { RF_PAGE = 4096, RF_PAGE_BITS = 12 };
/* Rights of a page. One that is there has RF_MAPPED, whatever else it lacks; 0 is a free one. */
enum { RF_READ = 1, RF_WRITE = 2, RF_EXECUTE = 4, RF_MAPPED = 8 };

struct rf_memory {
    uint8_t *bytes;  /* of address 0 */
    uint8_t *rights; /* one a page */
    uint64_t size;
};

rf_status rf_memory_open(struct rf_memory *memory, struct rf_error *error);
void rf_memory_close(struct rf_memory *memory);

/* All of these work on whole pages and answer false when those are not inside the address space.
 * Map sets rights, RF_MAPPED by itself; fresh pages are zero, pages that were there keep what they hold. */
bool rf_memory_map(struct rf_memory *memory, uint64_t address, uint64_t length, unsigned rights);
/* Take pages away and forget what they held. */
bool rf_memory_unmap(struct rf_memory *memory, uint64_t address, uint64_t length);
/* Forget what they held, keep the rights. */
bool rf_memory_clear(struct rf_memory *memory, uint64_t address, uint64_t length);
/* Is none of it mapped? */
bool rf_memory_is_free(const struct rf_memory *memory, uint64_t address, uint64_t length);
/* Is any of it executable? */
bool rf_memory_has_code(const struct rf_memory *memory, uint64_t address, uint64_t length);
/* The lowest free stretch of `length` bytes at or above `from`; 0: none. */
uint64_t rf_memory_find_free(const struct rf_memory *memory, uint64_t from, uint64_t length);

/* May all of it be used so? */
bool rf_memory_allows(const struct rf_memory *memory, uint64_t address, uint64_t length,
                      unsigned rights);

/* Where an access of `width` bytes (at most a page) goes, or NULL: it is not allowed. */
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

/* A string of the guest, copied, terminated; false: not readable or too long. */
bool rf_memory_string(const struct rf_memory *memory, uint64_t address, char *text, size_t size);

#endif
