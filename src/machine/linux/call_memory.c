/* call_memory.c - system calls on the address space.
 *
 *     | program | brk -> ... | mmap_from: mappings, lowest place first ... | stack | not the program's |
 *
 * The place of a mapping depends only on the calls before it, so every run is the same. Hints without
 * MAP_FIXED are ignored.
 *
 * Cannot: writable shared mappings of files. They are refused, because writes would not reach the file. A
 * private mapping reads the file once, when it is made. */
#include "machine/linux/calls.h"
#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { OFFSET_IN_PAGE = RF_PAGE - 1 };
enum { GUEST_MAP_SHARED = 1, GUEST_MAP_FIXED = 0x10, GUEST_MAP_ANONYMOUS = 0x20 };
enum { GUEST_MREMAP_MAYMOVE = 1, GUEST_MADV_DONTNEED = 4 };

static uint64_t page_up(uint64_t address)
{
    return (address + OFFSET_IN_PAGE) & ~(uint64_t)OFFSET_IN_PAGE;
}

static bool is_aligned(uint64_t address)
{
    return (address & OFFSET_IN_PAGE) == 0;
}

static bool is_the_programs(uint64_t address, uint64_t length)
{
    return address <= RF_PROGRAM_END && length <= RF_PROGRAM_END - address;
}

/* Code that was decoded from there is out of date. */
static void forget_code(struct rf_system *system, uint64_t address, uint64_t length)
{
    if (rf_memory_has_code(&system->core->memory, address, length))
        rf_core_flush(system->core);
}

int64_t rf_call_brk(struct rf_system *system, const uint64_t *a)
{
    struct rf_memory *memory = &system->core->memory;
    if (a[0] < system->brk_start || a[0] > system->mmap_from)
        return (int64_t)system->brk;
    uint64_t old = page_up(system->brk), wanted = page_up(a[0]);
    if (wanted > old && (!rf_memory_is_free(memory, old, wanted - old) ||
                         !rf_memory_map(memory, old, wanted - old, RF_READ | RF_WRITE)))
        return (int64_t)system->brk;
    if (wanted < old) {
        forget_code(system, wanted, old - wanted);
        rf_memory_unmap(memory, wanted, old - wanted);
    }
    system->brk = a[0];
    return (int64_t)system->brk;
}

/* The bits are the same three. On RISC-V a writable page is readable. */
static unsigned rights_of(uint64_t protection)
{
    unsigned rights = (unsigned)protection & (RF_READ | RF_WRITE | RF_EXECUTE);
    return (rights & RF_WRITE) != 0 ? rights | RF_READ : rights;
}

/* Read a file into fresh pages. */
static bool fill_from_file(struct rf_system *system, uint64_t address, const uint64_t *a)
{
    uint8_t *to = system->core->memory.bytes + address;
    uint64_t done = 0;
    while (done < a[1]) {
        ssize_t n = pread(rf_call_file(system, a[4]), to + done, a[1] - done, (off_t)(a[5] + done));
        if (n < 0)
            return false;
        if (n == 0)
            break;
        done += (uint64_t)n;
    }
    return true;
}

static int64_t check_mmap(const struct rf_system *system, const uint64_t *a)
{
    bool of_file = (a[3] & GUEST_MAP_ANONYMOUS) == 0;
    if (a[1] == 0 || !is_aligned(a[5]) || ((a[3] & GUEST_MAP_FIXED) != 0 && !is_aligned(a[0])))
        return -EINVAL;
    if (a[1] > system->core->memory.size)
        return -ENOMEM;
    if (of_file && rf_call_file(system, a[4]) < 0)
        return -EBADF;
    if (of_file && (a[3] & GUEST_MAP_SHARED) != 0 && (a[2] & RF_WRITE) != 0)
        return -ENODEV;
    return 0;
}

int64_t rf_call_mmap(struct rf_system *system, const uint64_t *a)
{
    struct rf_memory *memory = &system->core->memory;
    bool fixed = (a[3] & GUEST_MAP_FIXED) != 0;
    int64_t status = check_mmap(system, a);
    if (status != 0)
        return status;
    uint64_t at = fixed ? a[0] : rf_memory_find_free(memory, system->mmap_from, a[1]);
    if (at == 0 || !is_the_programs(at, a[1]))
        return -ENOMEM;
    forget_code(system, at, a[1]);
    if ((fixed && !rf_memory_unmap(memory, at, a[1])) ||
        !rf_memory_map(memory, at, a[1], rights_of(a[2])))
        return -ENOMEM;
    if ((a[3] & GUEST_MAP_ANONYMOUS) == 0 && !fill_from_file(system, at, a)) {
        int why = errno;
        rf_memory_unmap(memory, at, a[1]);
        return -why;
    }
    return (int64_t)at;
}

int64_t rf_call_munmap(struct rf_system *system, const uint64_t *a)
{
    if (a[1] == 0 || !is_aligned(a[0]) || !is_the_programs(a[0], a[1]))
        return -EINVAL;
    forget_code(system, a[0], a[1]);
    return rf_memory_unmap(&system->core->memory, a[0], a[1]) ? 0 : -EINVAL;
}

/* 0, or why a call on these pages must fail. */
static int64_t check_mapped(const struct rf_memory *memory, uint64_t address, uint64_t n)
{
    if (!is_aligned(address))
        return -EINVAL;
    return is_the_programs(address, n) && rf_memory_allows(memory, address, n, RF_MAPPED) ? 0
                                                                                          : -ENOMEM;
}

int64_t rf_call_mprotect(struct rf_system *system, const uint64_t *a)
{
    struct rf_memory *memory = &system->core->memory;
    int64_t wrong = check_mapped(memory, a[0], a[1]);
    if (wrong != 0)
        return wrong;
    forget_code(system, a[0], a[1]);
    return a[1] == 0 || rf_memory_map(memory, a[0], a[1], rights_of(a[2])) ? 0 : -ENOMEM;
}

int64_t rf_call_madvise(struct rf_system *system, const uint64_t *a)
{
    struct rf_memory *memory = &system->core->memory;
    int64_t wrong = check_mapped(memory, a[0], a[1]);
    if (wrong != 0)
        return wrong;
    if (a[2] != GUEST_MADV_DONTNEED || a[1] == 0)
        return 0;
    forget_code(system, a[0], a[1]);
    return rf_memory_clear(memory, a[0], a[1]) ? 0 : -ENOMEM;
}

/* Make the mapping at `from` larger, in place or elsewhere; its rights are those of its first page. */
static int64_t grow(struct rf_system *system, uint64_t from, uint64_t old, uint64_t wanted,
                    bool may_move)
{
    struct rf_memory *memory = &system->core->memory;
    unsigned rights = memory->rights[from >> RF_PAGE_BITS];
    if (is_the_programs(from, wanted) && rf_memory_is_free(memory, from + old, wanted - old) &&
        rf_memory_map(memory, from + old, wanted - old, rights))
        return (int64_t)from;
    uint64_t at = may_move ? rf_memory_find_free(memory, system->mmap_from, wanted) : 0;
    if (at == 0 || !is_the_programs(at, wanted) || !rf_memory_map(memory, at, wanted, rights))
        return -ENOMEM;
    memcpy(memory->bytes + at, memory->bytes + from, old);
    forget_code(system, from, old);
    rf_memory_unmap(memory, from, old);
    return (int64_t)at;
}

int64_t rf_call_mremap(struct rf_system *system, const uint64_t *a)
{
    struct rf_memory *memory = &system->core->memory;
    if (!is_aligned(a[0]) || a[1] == 0 || a[2] == 0 ||
        (a[3] & ~(uint64_t)GUEST_MREMAP_MAYMOVE) != 0)
        return -EINVAL;
    if (a[1] > memory->size || a[2] > memory->size)
        return -ENOMEM;
    uint64_t old = page_up(a[1]), wanted = page_up(a[2]);
    if (!is_the_programs(a[0], old) || !rf_memory_allows(memory, a[0], old, RF_MAPPED))
        return -EFAULT;
    if (wanted > old)
        return grow(system, a[0], old, wanted, (a[3] & GUEST_MREMAP_MAYMOVE) != 0);
    if (wanted < old) {
        forget_code(system, a[0] + wanted, old - wanted);
        rf_memory_unmap(memory, a[0] + wanted, old - wanted);
    }
    return (int64_t)a[0];
}
