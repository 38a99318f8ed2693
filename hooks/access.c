/* access.c - loads, stores and calls: what compilers call with -fsanitize=thread.
 *
 * A hook stands in front of the access, so a load's value is read here, right before the program reads it; what a
 * store will write is not known. Its pc is the call of the hook. */
#include "hooks.h"
#include <string.h>

#define HERE ((uint64_t)(uintptr_t)__builtin_return_address(0))

/* The low 8 bytes of what is loaded. */
RF_HOOKS_INLINE uint64_t peek(const void *addr, size_t bytes)
{
    uint64_t value = 0;
    memcpy(&value, addr, bytes < 8 ? bytes : 8);
    return value;
}

RF_HOOKS_INLINE void load(const void *addr, size_t bytes, uint64_t pc)
{
    if (RF_HOOKS_LIKELY(!rf_hooks_listening) || rf_hooks_options.mode[RF_WORD_LOAD] == RF_HOOKS_OFF)
        return;
    struct rf_hooks_lane *lane = rf_hooks_enter();
    if (lane == NULL)
        return;
    uint64_t value =
        (rf_hooks_options.want[RF_WORD_LOAD] & RF_HOOKS_VALUE) != 0 ? peek(addr, bytes) : 0;
    rf_hooks_tell(lane, rf_hooks_key(pc, RF_WORD_LOAD, (unsigned)bytes), 0, (uintptr_t)addr, value);
    rf_hooks_leave(lane);
}

RF_HOOKS_INLINE void store(const void *addr, size_t bytes, uint64_t pc)
{
    if (RF_HOOKS_LIKELY(!rf_hooks_listening) ||
        rf_hooks_options.mode[RF_WORD_STORE] == RF_HOOKS_OFF)
        return;
    struct rf_hooks_lane *lane = rf_hooks_enter();
    if (lane == NULL)
        return;
    rf_hooks_tell(lane, rf_hooks_key(pc, RF_WORD_STORE, (unsigned)bytes), 0, (uintptr_t)addr, 0);
    rf_hooks_leave(lane);
}

/* Both compilers' names for accesses of one width. */
#define ACCESS(bytes)                                                                              \
    void __tsan_read##bytes(void *addr);                                                           \
    void __tsan_write##bytes(void *addr);                                                          \
    void __tsan_unaligned_read##bytes(void *addr);                                                 \
    void __tsan_unaligned_write##bytes(void *addr);                                                \
    void __tsan_volatile_read##bytes(void *addr);                                                  \
    void __tsan_volatile_write##bytes(void *addr);                                                 \
    void __tsan_unaligned_volatile_read##bytes(void *addr);                                        \
    void __tsan_unaligned_volatile_write##bytes(void *addr);                                       \
    void __tsan_read_write##bytes(void *addr);                                                     \
    void __tsan_unaligned_read_write##bytes(void *addr);                                           \
    RF_HOOKS_SHOWN void __tsan_read##bytes(void *addr)                                             \
    {                                                                                              \
        load(addr, bytes, HERE);                                                                   \
    }                                                                                              \
    RF_HOOKS_SHOWN void __tsan_write##bytes(void *addr)                                            \
    {                                                                                              \
        store(addr, bytes, HERE);                                                                  \
    }                                                                                              \
    RF_HOOKS_SHOWN void __tsan_unaligned_read##bytes(void *addr)                                   \
    {                                                                                              \
        load(addr, bytes, HERE);                                                                   \
    }                                                                                              \
    RF_HOOKS_SHOWN void __tsan_unaligned_write##bytes(void *addr)                                  \
    {                                                                                              \
        store(addr, bytes, HERE);                                                                  \
    }                                                                                              \
    RF_HOOKS_SHOWN void __tsan_volatile_read##bytes(void *addr)                                    \
    {                                                                                              \
        load(addr, bytes, HERE);                                                                   \
    }                                                                                              \
    RF_HOOKS_SHOWN void __tsan_volatile_write##bytes(void *addr)                                   \
    {                                                                                              \
        store(addr, bytes, HERE);                                                                  \
    }                                                                                              \
    RF_HOOKS_SHOWN void __tsan_unaligned_volatile_read##bytes(void *addr)                          \
    {                                                                                              \
        load(addr, bytes, HERE);                                                                   \
    }                                                                                              \
    RF_HOOKS_SHOWN void __tsan_unaligned_volatile_write##bytes(void *addr)                         \
    {                                                                                              \
        store(addr, bytes, HERE);                                                                  \
    }                                                                                              \
    RF_HOOKS_SHOWN void __tsan_read_write##bytes(void *addr)                                       \
    {                                                                                              \
        load(addr, bytes, HERE);                                                                   \
        store(addr, bytes, HERE);                                                                  \
    }                                                                                              \
    RF_HOOKS_SHOWN void __tsan_unaligned_read_write##bytes(void *addr)                             \
    {                                                                                              \
        load(addr, bytes, HERE);                                                                   \
        store(addr, bytes, HERE);                                                                  \
    }

ACCESS(1)
ACCESS(2)
ACCESS(4)
ACCESS(8)
ACCESS(16)

/* Whole structures: one access. Its width is what fits the field, 4095 bytes. */
enum { RANGE_MAX = 4095 };

void __tsan_read_range(const void *addr, size_t bytes);
RF_HOOKS_SHOWN void __tsan_read_range(const void *addr, size_t bytes)
{
    if (bytes > 0)
        load(addr, bytes < RANGE_MAX ? bytes : RANGE_MAX, HERE);
}

void __tsan_write_range(const void *addr, size_t bytes);
RF_HOOKS_SHOWN void __tsan_write_range(const void *addr, size_t bytes)
{
    if (bytes > 0)
        store(addr, bytes < RANGE_MAX ? bytes : RANGE_MAX, HERE);
}

/* The pointer to a C++ object's table of virtual functions. */
void __tsan_vptr_update(void **addr, void *to);
RF_HOOKS_SHOWN void __tsan_vptr_update(void **addr, void *to)
{
    (void)to;
    store(addr, sizeof *addr, HERE);
}

void __tsan_vptr_read(void **addr);
RF_HOOKS_SHOWN void __tsan_vptr_read(void **addr)
{
    load(addr, sizeof *addr, HERE);
}

/* clang makes these of memcpy and its like where it does not expand them. What libc does is not told. */
void *__tsan_memcpy(void *to, const void *from, size_t bytes);
RF_HOOKS_SHOWN void *__tsan_memcpy(void *to, const void *from, size_t bytes)
{
    return memcpy(to, from, bytes);
}

void *__tsan_memmove(void *to, const void *from, size_t bytes);
RF_HOOKS_SHOWN void *__tsan_memmove(void *to, const void *from, size_t bytes)
{
    return memmove(to, from, bytes);
}

void *__tsan_memset(void *to, int value, size_t bytes);
RF_HOOKS_SHOWN void *__tsan_memset(void *to, int value, size_t bytes)
{
    return memset(to, value, bytes);
}

/* ---- calls ---- */

/* At the beginning of a function: `from` is where it will return to. */
void __tsan_func_entry(void *from);
RF_HOOKS_SHOWN void __tsan_func_entry(void *from)
{
    if (RF_HOOKS_LIKELY(!rf_hooks_listening))
        return;
    if (rf_hooks_options.mode[RF_WORD_CALL] == RF_HOOKS_OFF) {
        if (rf_hooks_lane != NULL) /* a call ends an interval of bursts */
            rf_hooks_lane->last_pc = UINT64_MAX;
        return;
    }
    struct rf_hooks_lane *lane = rf_hooks_enter();
    if (lane == NULL)
        return;
    rf_hooks_tell(lane, rf_hooks_key(HERE, RF_WORD_CALL, 0), (uintptr_t)from, 0, 0);
    rf_hooks_leave(lane);
}

void __tsan_func_exit(void);
RF_HOOKS_SHOWN void __tsan_func_exit(void)
{
}

/* clang calls these around code that is not to be looked at. */
void __tsan_ignore_thread_begin(void);
RF_HOOKS_SHOWN void __tsan_ignore_thread_begin(void)
{
}

void __tsan_ignore_thread_end(void);
RF_HOOKS_SHOWN void __tsan_ignore_thread_end(void)
{
}

/* ---- for atomic.c ---- */

void rf_hooks_load(const void *addr, size_t bytes, uint64_t value, uint64_t pc);
void rf_hooks_load(const void *addr, size_t bytes, uint64_t value, uint64_t pc)
{
    if (rf_hooks_options.mode[RF_WORD_LOAD] == RF_HOOKS_OFF)
        return;
    struct rf_hooks_lane *lane = rf_hooks_enter();
    if (lane == NULL)
        return;
    value = (rf_hooks_options.want[RF_WORD_LOAD] & RF_HOOKS_VALUE) != 0 ? value : 0;
    rf_hooks_tell(lane, rf_hooks_key(pc, RF_WORD_LOAD, (unsigned)bytes), 0, (uintptr_t)addr, value);
    rf_hooks_leave(lane);
}

void rf_hooks_store(const void *addr, size_t bytes, uint64_t pc);
void rf_hooks_store(const void *addr, size_t bytes, uint64_t pc)
{
    store(addr, bytes, pc);
}
