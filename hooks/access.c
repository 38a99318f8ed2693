/* access.c - loads, stores and calls: what compilers call with -fsanitize=thread.
 *
 * A hook stands in front of the access, so a load's value is read here, right before the program reads it; what a
 * store will write is not known. Its pc is the call of the hook. */
#include "hooks.h"
#include <string.h>

#define MARK_SHIFT 48
#define PC         ((UINT64_C(1) << MARK_SHIFT) - 1)

/* The low 8 bytes of what is loaded. */
RF_HOOKS_INLINE uint64_t peek(const void *addr, size_t bytes)
{
    uint64_t value = 0;
    memcpy(&value, addr, bytes < 8 ? bytes : 8);
    return value;
}

RF_HOOKS_APART static void load_slowly(const void *addr, size_t bytes, uint64_t pc, uint64_t mark)
{
    bool valued = (rf_hooks_options.want[RF_WORD_LOAD] & RF_HOOKS_VALUE) != 0;
    const struct rf_hooks_event event = {.pc = pc,
                                         .addr = (uintptr_t)addr,
                                         .value = valued ? peek(addr, bytes) : 0,
                                         .kind = RF_WORD_LOAD,
                                         .bytes = (uint32_t)bytes};
    rf_hooks_tell(pc | mark, &event);
}

RF_HOOKS_APART static void store_slowly(const void *addr, size_t bytes, uint64_t pc, uint64_t mark)
{
    const struct rf_hooks_event event = {
        .pc = pc, .addr = (uintptr_t)addr, .kind = RF_WORD_STORE, .bytes = (uint32_t)bytes};
    rf_hooks_tell(pc | mark, &event);
}

/* ---- the usual cases: false means not here, and nothing was done ---- */

RF_HOOKS_INLINE struct rf_hooks_lane *enter(void)
{
    struct rf_hooks_lane *lane = rf_hooks_lane;
    if (RF_HOOKS_UNLIKELY(lane == NULL || lane->busy != 0))
        return NULL;
    __asm__ volatile("movq %%rsp, %0" : "=m"(lane->busy)::"memory");
    return lane;
}

/* Between bursts, unless something is to be decided. */
RF_HOOKS_INLINE bool is_skipped(uint64_t pc, unsigned kind)
{
    struct rf_hooks_lane *lane = enter();
    if (lane == NULL)
        return false;
    if (rf_hooks_is_gated()) {
        rf_hooks_leave(lane);
        return rf_hooks_is_between();
    }
    bool turns = pc <= lane->last_pc, skips = lane->skips && !(turns && lane->left == 1);
    if (skips) {
        lane->left -= turns;
        lane->last_pc = pc;
        lane->slot->counters.skipped[rf_hooks_options.group[kind]]++;
    }
    rf_hooks_leave(lane);
    return skips;
}

/* At a place that is known. */
RF_HOOKS_INLINE bool is_counted(uint64_t key, unsigned kind)
{
    struct rf_hooks_lane *lane = enter();
    if (lane == NULL)
        return false;
    struct rf_ring_place *place = rf_hooks_first(lane, key);
    bool known = place->key == key && place->path != RF_HOOKS_NO_PATH;
    if (RF_HOOKS_LIKELY(known)) {
        lane->slot->produced[kind]++;
        place->count++;
    }
    rf_hooks_leave(lane);
    return known;
}

/* A word that the table does not count yet. The lane is entered already. A key is pc | mark. */
RF_HOOKS_APART static void load_other(const void *addr, size_t bytes, uint64_t key,
                                      struct rf_ring_word *entry, uint64_t word)
{
    struct rf_hooks_lane *lane = rf_hooks_lane;
    const struct rf_ring_place *place = rf_hooks_first(lane, key);
    bool known = place->key == key && place->path != RF_HOOKS_NO_PATH;
    if (RF_HOOKS_LIKELY(known))
        rf_hooks_replace(lane, entry, place, word, RF_WORD_LOAD);
    rf_hooks_leave(lane);
    if (RF_HOOKS_UNLIKELY(!known))
        load_slowly(addr, bytes, key & PC, key & ~PC);
}

RF_HOOKS_INLINE void load_merged(const void *addr, size_t bytes, uint64_t key)
{
    struct rf_hooks_lane *lane = enter();
    if (RF_HOOKS_UNLIKELY(lane == NULL)) {
        load_slowly(addr, bytes, key & PC, key & ~PC);
        return;
    }
    uint64_t word = peek(addr, bytes);
    struct rf_ring_word *entry = rf_hooks_entry(lane, key, word);
    if (RF_HOOKS_UNLIKELY(!rf_hooks_is_merged(entry, key, word))) {
        load_other(addr, bytes, key, entry, word);
        return;
    }
    entry->count++;
    rf_hooks_leave(lane);
}

RF_HOOKS_INLINE void load(const void *addr, size_t bytes, uint64_t pc)
{
    unsigned mode = rf_hooks_mode[RF_WORD_LOAD];
    if (RF_HOOKS_LIKELY(mode == RF_HOOKS_LOADED)) {
        load_merged(addr, bytes, pc);
        return;
    }
    if (RF_HOOKS_LIKELY(mode == RF_HOOKS_OFF))
        return;
    if (mode != RF_HOOKS_SAMPLE || !is_skipped(pc, RF_WORD_LOAD))
        load_slowly(addr, bytes, pc, 0);
}

/* The same for code in place of calls, where that could not do it: the pocket of this site is full, or there is none. */
RF_HOOKS_INLINE bool is_pocketed(const void *addr, size_t bytes, uint64_t key, uint64_t site)
{
    struct rf_hooks_lane *lane = rf_hooks_mode[RF_WORD_LOAD] == RF_HOOKS_LOADED ? enter() : NULL;
    if (lane == NULL)
        return false;
    bool told = rf_hooks_pocket(lane, site, key, peek(addr, bytes));
    rf_hooks_leave(lane);
    return told;
}

#define LOAD_IN_PLACE(bytes)                                                                       \
    void rf_hooks_load_2_##bytes(const void *addr, uint64_t unused, uint64_t unused_too,           \
                                 uint64_t site);                                                   \
    void rf_hooks_load_2_##bytes(const void *addr, uint64_t unused, uint64_t unused_too,           \
                                 uint64_t site)                                                    \
    {                                                                                              \
        (void)unused, (void)unused_too;                                                            \
        uint64_t pc = RF_HOOKS_HERE;                                                               \
        if (!is_pocketed(addr, bytes, pc, site))                                                   \
            load(addr, bytes, pc);                                                                 \
    }
LOAD_IN_PLACE(1)
LOAD_IN_PLACE(2)
LOAD_IN_PLACE(4)
LOAD_IN_PLACE(8)
LOAD_IN_PLACE(16)

_Static_assert((int)RF_INPLACE_MASK == (int)RF_RING_POCKET_MASK,
               "code in place of calls, in programs that are there already, knows this");

RF_HOOKS_INLINE void store(const void *addr, size_t bytes, uint64_t pc)
{
    unsigned mode = rf_hooks_mode[RF_WORD_STORE];
    if (RF_HOOKS_LIKELY(mode == RF_HOOKS_OFF))
        return;
    if (mode == RF_HOOKS_COUNT && is_counted(pc, RF_WORD_STORE))
        return;
    store_slowly(addr, bytes, pc, 0);
}

/* At the place of a load, too. */
RF_HOOKS_INLINE void store_again(const void *addr, size_t bytes, uint64_t pc)
{
    if (RF_HOOKS_UNLIKELY(rf_hooks_mode[RF_WORD_STORE] != RF_HOOKS_OFF))
        store_slowly(addr, bytes, pc, RF_HOOKS_SECOND);
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
        load(addr, bytes, RF_HOOKS_HERE);                                                          \
    }                                                                                              \
    RF_HOOKS_SHOWN void __tsan_write##bytes(void *addr)                                            \
    {                                                                                              \
        store(addr, bytes, RF_HOOKS_HERE);                                                         \
    }                                                                                              \
    RF_HOOKS_SHOWN void __tsan_unaligned_read##bytes(void *addr)                                   \
    {                                                                                              \
        load(addr, bytes, RF_HOOKS_HERE);                                                          \
    }                                                                                              \
    RF_HOOKS_SHOWN void __tsan_unaligned_write##bytes(void *addr)                                  \
    {                                                                                              \
        store(addr, bytes, RF_HOOKS_HERE);                                                         \
    }                                                                                              \
    RF_HOOKS_SHOWN void __tsan_volatile_read##bytes(void *addr)                                    \
    {                                                                                              \
        load(addr, bytes, RF_HOOKS_HERE);                                                          \
    }                                                                                              \
    RF_HOOKS_SHOWN void __tsan_volatile_write##bytes(void *addr)                                   \
    {                                                                                              \
        store(addr, bytes, RF_HOOKS_HERE);                                                         \
    }                                                                                              \
    RF_HOOKS_SHOWN void __tsan_unaligned_volatile_read##bytes(void *addr)                          \
    {                                                                                              \
        load(addr, bytes, RF_HOOKS_HERE);                                                          \
    }                                                                                              \
    RF_HOOKS_SHOWN void __tsan_unaligned_volatile_write##bytes(void *addr)                         \
    {                                                                                              \
        store(addr, bytes, RF_HOOKS_HERE);                                                         \
    }                                                                                              \
    RF_HOOKS_SHOWN void __tsan_read_write##bytes(void *addr)                                       \
    {                                                                                              \
        load(addr, bytes, RF_HOOKS_HERE);                                                          \
        store_again(addr, bytes, RF_HOOKS_HERE);                                                   \
    }                                                                                              \
    RF_HOOKS_SHOWN void __tsan_unaligned_read_write##bytes(void *addr)                             \
    {                                                                                              \
        load(addr, bytes, RF_HOOKS_HERE);                                                          \
        store_again(addr, bytes, RF_HOOKS_HERE);                                                   \
    }

ACCESS(1)
ACCESS(2)
ACCESS(4)
ACCESS(8)
ACCESS(16)

/* Whole structures: one access. Its width is what fits the field, 4095 bytes; each width is a place of its own. */
static size_t shown(size_t bytes)
{
    enum { MOST = 4095 };
    return bytes < MOST ? bytes : MOST;
}

static uint64_t mark_of(size_t bytes)
{
    return (uint64_t)shown(bytes) << MARK_SHIFT;
}

/* gcc has no other hook for what may lie at any address, of whatever width. */
RF_HOOKS_INLINE void load_range(const void *addr, size_t bytes, uint64_t pc)
{
    if (RF_HOOKS_LIKELY(bytes == 4))
        load_merged(addr, 4, pc | UINT64_C(4) << MARK_SHIFT);
    else if (RF_HOOKS_LIKELY(bytes >= 8))
        load_merged(addr, shown(bytes), pc | mark_of(bytes));
    else if (bytes == 2)
        load_merged(addr, 2, pc | UINT64_C(2) << MARK_SHIFT);
    else
        load_slowly(addr, bytes, pc, mark_of(bytes));
}

RF_HOOKS_INLINE void read_range(const void *addr, size_t bytes, uint64_t pc)
{
    if (RF_HOOKS_LIKELY(rf_hooks_mode[RF_WORD_LOAD] == RF_HOOKS_OFF) || bytes == 0)
        return;
    if (rf_hooks_mode[RF_WORD_LOAD] == RF_HOOKS_LOADED)
        load_range(addr, bytes, pc);
    else
        load_slowly(addr, shown(bytes), pc, mark_of(bytes));
}

void __tsan_read_range(const void *addr, size_t bytes);
RF_HOOKS_SHOWN void __tsan_read_range(const void *addr, size_t bytes)
{
    read_range(addr, bytes, RF_HOOKS_HERE);
}

/* The same for code in place of calls, which knows the width. */
void rf_hooks_load_range_2(const void *addr, size_t bytes, uint64_t unused, uint64_t site);
void rf_hooks_load_range_2(const void *addr, size_t bytes, uint64_t unused, uint64_t site)
{
    uint64_t pc = RF_HOOKS_HERE;
    (void)unused;
    if (!is_pocketed(addr, bytes, pc | mark_of(bytes), site))
        read_range(addr, bytes, pc);
}

void __tsan_write_range(const void *addr, size_t bytes);
RF_HOOKS_SHOWN void __tsan_write_range(const void *addr, size_t bytes)
{
    if (bytes > 0 && rf_hooks_mode[RF_WORD_STORE] != RF_HOOKS_OFF)
        store_slowly(addr, shown(bytes), RF_HOOKS_HERE, mark_of(bytes));
}

/* The pointer to a C++ object's table of virtual functions. */
void __tsan_vptr_update(void **addr, void *to);
RF_HOOKS_SHOWN void __tsan_vptr_update(void **addr, void *to)
{
    (void)to;
    store(addr, sizeof *addr, RF_HOOKS_HERE);
}

void __tsan_vptr_read(void **addr);
RF_HOOKS_SHOWN void __tsan_vptr_read(void **addr)
{
    load(addr, sizeof *addr, RF_HOOKS_HERE);
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

RF_HOOKS_APART static void call_slowly(uint64_t from, uint64_t pc)
{
    const struct rf_hooks_event event = {.pc = pc, .from = from, .kind = RF_WORD_CALL};
    rf_hooks_tell(rf_hooks_pair(pc, from), &event);
}

/* At the beginning of a function: `from` is where it will return to. A call ends an interval of bursts. */
void __tsan_func_entry(void *from);
RF_HOOKS_SHOWN void __tsan_func_entry(void *from)
{
    unsigned mode = rf_hooks_mode[RF_WORD_CALL];
    if (RF_HOOKS_LIKELY(mode == RF_HOOKS_OFF)) {
        if (RF_HOOKS_UNLIKELY(rf_hooks_options.n_groups > 0 && rf_hooks_lane != NULL))
            rf_hooks_lane->last_pc = UINT64_MAX;
        return;
    }
    uint64_t pc = RF_HOOKS_HERE;
    if (mode == RF_HOOKS_COUNT && is_counted(rf_hooks_pair(pc, (uintptr_t)from), RF_WORD_CALL))
        return;
    call_slowly((uintptr_t)from, pc);
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
