/* atomic.c - atomics, which the compiler leaves to the run-time as a whole: do it, then tell it.
 *
 * A read-modify-write is one load, of the value before, and one store; a compare that fails is a load. Each operation is
 * done in the order that was asked for, or a stronger one. */
#include "hooks.h"

typedef uint8_t a8;
typedef uint16_t a16;
typedef uint32_t a32;
typedef uint64_t a64;
typedef unsigned __int128 a128;

RF_HOOKS_APART static void tell_load(const volatile void *addr, size_t bytes, uint64_t value,
                                     uint64_t pc)
{
    bool valued = (rf_hooks_options.want[RF_WORD_LOAD] & RF_HOOKS_VALUE) != 0;
    const struct rf_hooks_event event = {.pc = pc,
                                         .addr = (uintptr_t)addr,
                                         .value = valued ? value : 0,
                                         .kind = RF_WORD_LOAD,
                                         .bytes = (uint32_t)bytes};
    rf_hooks_tell(pc, &event);
}

RF_HOOKS_APART static void tell_store(const volatile void *addr, size_t bytes, uint64_t pc)
{
    const struct rf_hooks_event event = {
        .pc = pc, .addr = (uintptr_t)addr, .kind = RF_WORD_STORE, .bytes = (uint32_t)bytes};
    rf_hooks_tell(pc | RF_HOOKS_SECOND, &event);
}

static void told_load(const volatile void *addr, size_t bytes, uint64_t value, uint64_t pc)
{
    if (RF_HOOKS_UNLIKELY(rf_hooks_mode[RF_WORD_LOAD] != RF_HOOKS_OFF))
        tell_load(addr, bytes, value, pc);
}

static void told_store(const volatile void *addr, size_t bytes, uint64_t pc)
{
    if (RF_HOOKS_UNLIKELY(rf_hooks_mode[RF_WORD_STORE] != RF_HOOKS_OFF))
        tell_store(addr, bytes, pc);
}

static void told_both(const volatile void *addr, size_t bytes, uint64_t value, uint64_t pc)
{
    told_load(addr, bytes, value, pc);
    told_store(addr, bytes, pc);
}

/* Orders are numbered as in C11: 5 is sequential consistency, the only one for which a store differs on this machine. */
#define LOAD_AND_STORE(T)                                                                          \
    T __tsan_atomic_load_##T(const volatile T *addr,                                               \
                             int order) __asm__("__tsan_atomic" NUMBER(T) "_load");                \
    RF_HOOKS_SHOWN T __tsan_atomic_load_##T(const volatile T *addr, int order)                     \
    {                                                                                              \
        (void)order;                                                                               \
        T value = __atomic_load_n(addr, __ATOMIC_SEQ_CST);                                         \
        told_load(addr, sizeof value, (uint64_t)value, RF_HOOKS_HERE);                             \
        return value;                                                                              \
    }                                                                                              \
    void __tsan_atomic_store_##T(volatile T *addr, T value,                                        \
                                 int order) __asm__("__tsan_atomic" NUMBER(T) "_store");           \
    RF_HOOKS_SHOWN void __tsan_atomic_store_##T(volatile T *addr, T value, int order)              \
    {                                                                                              \
        told_store(addr, sizeof value, RF_HOOKS_HERE);                                             \
        if (order == __ATOMIC_SEQ_CST)                                                             \
            __atomic_store_n(addr, value, __ATOMIC_SEQ_CST);                                       \
        else                                                                                       \
            __atomic_store_n(addr, value, __ATOMIC_RELEASE);                                       \
    }

#define NUMBER(T)  NUMBER_##T
#define NUMBER_a8  "8"
#define NUMBER_a16 "16"
#define NUMBER_a32 "32"
#define NUMBER_a64 "64"

#define MODIFY(T, name, builtin)                                                                   \
    T __tsan_atomic_##name##_##T(volatile T *addr, T value,                                        \
                                 int order) __asm__("__tsan_atomic" NUMBER(T) "_" #name);          \
    RF_HOOKS_SHOWN T __tsan_atomic_##name##_##T(volatile T *addr, T value, int order)              \
    {                                                                                              \
        (void)order;                                                                               \
        T before = builtin(addr, value, __ATOMIC_SEQ_CST);                                         \
        told_both(addr, sizeof before, (uint64_t)before, RF_HOOKS_HERE);                           \
        return before;                                                                             \
    }

/* The compiler's own three forms: strong and weak, which put the value seen in *expected, and the one that returns it. */
#define COMPARE(T, name)                                                                           \
    int __tsan_atomic_##name##_##T(volatile T *addr, T *expected, T value, int order,              \
                                   int failed) __asm__("__tsan_atomic" NUMBER(T) "_" #name);       \
    RF_HOOKS_SHOWN int __tsan_atomic_##name##_##T(volatile T *addr, T *expected, T value,          \
                                                  int order, int failed)                           \
    {                                                                                              \
        (void)order;                                                                               \
        (void)failed;                                                                              \
        bool done = __atomic_compare_exchange_n(addr, expected, value, false, __ATOMIC_SEQ_CST,    \
                                                __ATOMIC_SEQ_CST);                                 \
        if (done)                                                                                  \
            told_both(addr, sizeof value, (uint64_t)*expected, RF_HOOKS_HERE);                     \
        else                                                                                       \
            told_load(addr, sizeof value, (uint64_t)*expected, RF_HOOKS_HERE);                     \
        return done;                                                                               \
    }

#define COMPARE_VALUE(T)                                                                           \
    T __tsan_atomic_compare_val_##T(                                                               \
        volatile T *addr, T expected, T value, int order,                                          \
        int failed) __asm__("__tsan_atomic" NUMBER(T) "_compare_exchange_val");                    \
    RF_HOOKS_SHOWN T __tsan_atomic_compare_val_##T(volatile T *addr, T expected, T value,          \
                                                   int order, int failed)                          \
    {                                                                                              \
        (void)order;                                                                               \
        (void)failed;                                                                              \
        if (__atomic_compare_exchange_n(addr, &expected, value, false, __ATOMIC_SEQ_CST,           \
                                        __ATOMIC_SEQ_CST))                                         \
            told_both(addr, sizeof value, (uint64_t)expected, RF_HOOKS_HERE);                      \
        else                                                                                       \
            told_load(addr, sizeof value, (uint64_t)expected, RF_HOOKS_HERE);                      \
        return expected;                                                                           \
    }

#define ATOMICS(T)                                                                                 \
    LOAD_AND_STORE(T)                                                                              \
    MODIFY(T, exchange, __atomic_exchange_n)                                                       \
    MODIFY(T, fetch_add, __atomic_fetch_add)                                                       \
    MODIFY(T, fetch_sub, __atomic_fetch_sub)                                                       \
    MODIFY(T, fetch_and, __atomic_fetch_and)                                                       \
    MODIFY(T, fetch_or, __atomic_fetch_or)                                                         \
    MODIFY(T, fetch_xor, __atomic_fetch_xor)                                                       \
    MODIFY(T, fetch_nand, __atomic_fetch_nand)                                                     \
    COMPARE(T, compare_exchange_strong)                                                            \
    COMPARE(T, compare_exchange_weak)                                                              \
    COMPARE_VALUE(T)

ATOMICS(a8)
ATOMICS(a16)
ATOMICS(a32)
ATOMICS(a64)

/* ---- 16 bytes ---- */

/* cmpxchg16b: every x86-64 of this century has it. The value before; *addr is `value` if that was `expected`. */
static a128 swap_128(volatile a128 *addr, a128 expected, a128 value)
{
    uint64_t low = (uint64_t)expected, high = (uint64_t)(expected >> 64);
    __asm__ volatile("lock cmpxchg16b %0"
                     : "+m"(*addr), "+a"(low), "+d"(high)
                     : "b"((uint64_t)value), "c"((uint64_t)(value >> 64))
                     : "memory", "cc");
    return (a128)high << 64 | low;
}

#define WIDE(name) __asm__("__tsan_atomic128_" name)

a128 rf_hooks_load_128(const volatile a128 *addr, int order) WIDE("load");
RF_HOOKS_SHOWN a128 rf_hooks_load_128(const volatile a128 *addr, int order)
{
    (void)order;
    a128 value = swap_128((volatile a128 *)(uintptr_t)addr, 0, 0);
    told_load(addr, sizeof value, (uint64_t)value, RF_HOOKS_HERE);
    return value;
}

/* Replace the value until nobody was in between; returns the value before. */
#define MODIFY_128(name, expression)                                                               \
    static inline a128 change_##name(volatile a128 *addr, a128 value)                              \
    {                                                                                              \
        for (a128 seen = swap_128(addr, 0, 0);;) {                                                 \
            a128 now = swap_128(addr, seen, expression);                                           \
            if (now == seen)                                                                       \
                return now;                                                                        \
            seen = now;                                                                            \
        }                                                                                          \
    }                                                                                              \
    a128 rf_hooks_##name##_128(volatile a128 *addr, a128 value, int order) WIDE(#name);            \
    RF_HOOKS_SHOWN a128 rf_hooks_##name##_128(volatile a128 *addr, a128 value, int order)          \
    {                                                                                              \
        (void)order;                                                                               \
        a128 before = change_##name(addr, value);                                                  \
        told_both(addr, sizeof before, (uint64_t)before, RF_HOOKS_HERE);                           \
        return before;                                                                             \
    }

MODIFY_128(exchange, value)
MODIFY_128(fetch_add, seen + value)
MODIFY_128(fetch_sub, seen - value)
MODIFY_128(fetch_and, seen &value)
MODIFY_128(fetch_or, seen | value)
MODIFY_128(fetch_xor, seen ^ value)
MODIFY_128(fetch_nand, ~(seen &value))

void rf_hooks_store_128(volatile a128 *addr, a128 value, int order) WIDE("store");
RF_HOOKS_SHOWN void rf_hooks_store_128(volatile a128 *addr, a128 value, int order)
{
    (void)order;
    told_store(addr, sizeof value, RF_HOOKS_HERE);
    change_exchange(addr, value);
}

static a128 compare_128(volatile a128 *addr, a128 expected, a128 value, uint64_t pc)
{
    a128 seen = swap_128(addr, expected, value);
    if (seen == expected)
        told_both(addr, sizeof seen, (uint64_t)seen, pc);
    else
        told_load(addr, sizeof seen, (uint64_t)seen, pc);
    return seen;
}

#define COMPARE_128(name)                                                                          \
    int rf_hooks_##name##_128(volatile a128 *addr, a128 *expected, a128 value, int order,          \
                              int failed) WIDE(#name);                                             \
    RF_HOOKS_SHOWN int rf_hooks_##name##_128(volatile a128 *addr, a128 *expected, a128 value,      \
                                             int order, int failed)                                \
    {                                                                                              \
        (void)order;                                                                               \
        (void)failed;                                                                              \
        a128 wanted = *expected, seen = compare_128(addr, wanted, value, RF_HOOKS_HERE);           \
        *expected = seen;                                                                          \
        return seen == wanted;                                                                     \
    }

COMPARE_128(compare_exchange_strong)
COMPARE_128(compare_exchange_weak)

a128 rf_hooks_compare_val_128(volatile a128 *addr, a128 expected, a128 value, int order, int failed)
    WIDE("compare_exchange_val");
RF_HOOKS_SHOWN a128 rf_hooks_compare_val_128(volatile a128 *addr, a128 expected, a128 value,
                                             int order, int failed)
{
    (void)order;
    (void)failed;
    return compare_128(addr, expected, value, RF_HOOKS_HERE);
}

/* ---- fences ---- */

void __tsan_atomic_thread_fence(int order);
RF_HOOKS_SHOWN void __tsan_atomic_thread_fence(int order)
{
    (void)order;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

void __tsan_atomic_signal_fence(int order);
RF_HOOKS_SHOWN void __tsan_atomic_signal_fence(int order)
{
    (void)order;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}
