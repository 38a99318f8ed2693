/* pocket.c - words that came at one place, until there are enough of them to tell.
 *
 *     code in place of a load             pocket of its place, in shared memory
 *     word --> [ 5 more bytes in use | path ][ 7 ][ 7 ][ 9 ][ word ]        up to 63 words
 *              full: [ path, bits ][ what all have ][ the low bits of each ] to the ring; no bits where all are the same
 *
 * To put a word into its pocket takes no search and no comparison, so this is what the usual case of a load does
 * (cli/inplace.c). It reads how full the pocket is, stores the word, and adds 8 in one last instruction. A signal handler that comes in
 * between may put words into the same pocket, and one would overwrite the other. So these steps are a restartable sequence (rseq(2)): the
 * kernel sends a thread that it interrupts there to another address, and the load is told by a call. Where the system has no such
 * sequences, or the C library has not asked for them, there are no pockets, and all loads are told by calls.
 *
 * A child that no handler of pthread_atfork has seen (_Fork, a bare system call) has an empty table: Linux wipes it. It would share the
 * pockets of its parent otherwise.
 *
 * A pocket that is full belongs to whoever holds the lane: no code in place touches it until it is emptied.
 *
 * Where each pocket lies is known to the thread alone: a table of addresses as long as the program's image, of which little is
 * touched. `fill` can be spoilt by other processes of the run. Masked, it is a place within the pocket in any case.
 *
 * Memory: 512 bytes per place and thread. Cannot: more than RF_RING_POCKETS places per thread; the rest goes through the table of
 * words (hooks.h). */
#include "hooks.h"
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

enum { STDERR = 2, NOT_WIPED = 1 };

/* Of the C library since 2.35: where a thread keeps its sequence, from %fs on. */
extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned __rseq_size __attribute__((weak));
/* Of the linker: the program's image, without what begins as zeros. */
extern const char __executable_start __attribute__((weak, visibility("hidden")));
extern const char _edata __attribute__((weak, visibility("hidden")));

static bool has_avx2, has_sequences;
__thread uint64_t rf_hooks_pockets_2 __attribute__((tls_model("initial-exec")));

/* What code in place goes by, one per object. */
extern const int32_t __start_rf_hooks_rseq[] __attribute__((weak, visibility("hidden")));
extern const int32_t __stop_rf_hooks_rseq[] __attribute__((weak, visibility("hidden")));
_Static_assert(sizeof(struct rf_ring_pocket) / 8 == 64, "numbers of a message");

static size_t image_bytes(void)
{
    return (size_t)(&_edata - &__executable_start);
}

/* Does code in place know where this C library keeps sequences? It writes there, and could write to something else. */
static bool is_where_code_thinks(void)
{
    ptrdiff_t offset = &__rseq_offset != NULL ? __rseq_offset + RF_INPLACE_SEQUENCE : 0;
    for (const int32_t *at = __start_rf_hooks_rseq; at != __stop_rf_hooks_rseq; at++)
        if (*at != offset)
            return false;
    return true;
}

bool rf_hooks_can_restart(void)
{
    static const char other[] =
        "riffle: a program that was built with another C library runs without being profiled: "
        "build it again, with RIFFLE_CC_CALLS=1 if need be\n";
    __builtin_cpu_init();
    has_avx2 = __builtin_cpu_supports("avx2");
    has_sequences = &__rseq_size != NULL && __rseq_size > 0;
    if (is_where_code_thinks())
        return true;
    rf_hooks_syscall(SYS_write, STDERR, (long)other, sizeof other - 1, 0, 0, 0);
    return false;
}

void rf_hooks_begin_pockets(struct rf_hooks_lane *lane)
{
    if (!has_sequences || !lane->is_shared)
        return;
    lane->pockets = rf_hooks_allocate(image_bytes());
    if (lane->pockets != NULL) {
        rf_hooks_syscall(SYS_madvise, (long)lane->pockets, (long)image_bytes(), MADV_WIPEONFORK, 0,
                         0, 0);
        *(uint64_t *)(void *)lane->pockets = NOT_WIPED; /* no site lies at the start of an image */
    }
    lane->pocket_memory = rf_ring_pockets_in(lane->table);
}

void rf_hooks_end_pockets(struct rf_hooks_lane *lane)
{
    rf_hooks_release(lane->pockets, image_bytes());
}

void rf_hooks_use_pockets(const struct rf_hooks_lane *lane)
{
    rf_hooks_pockets_2 =
        lane != NULL && lane->pockets != NULL
            ? (uint64_t)(uintptr_t)lane->pockets - (uint64_t)(uintptr_t)&__executable_start
            : 0;
}

/* ---- a full pocket ---- */

/* Bits in which words differ from the first. Then all 64 words of a pocket, its head among them, so that processors can do several at
 * once: once for any, once for those with AVX2. */
#define LOOPS(name, target)                                                                        \
    target static uint64_t differences_##name(const struct rf_ring_pocket *pocket)                 \
    {                                                                                              \
        uint64_t first = pocket->words[0], differ = 0;                                             \
        for (unsigned i = 0; i < RF_RING_POCKET_WORDS; i++)                                        \
            differ |= pocket->words[i] ^ first;                                                    \
        return differ;                                                                             \
    }                                                                                              \
    target static void pack_8_##name(uint8_t *to, const uint64_t *from)                            \
    {                                                                                              \
        for (unsigned i = 0; i < 64; i++)                                                          \
            to[i] = (uint8_t)from[i];                                                              \
    }                                                                                              \
    target static void pack_16_##name(uint16_t *to, const uint64_t *from)                          \
    {                                                                                              \
        for (unsigned i = 0; i < 64; i++)                                                          \
            to[i] = (uint16_t)from[i];                                                             \
    }                                                                                              \
    target static void pack_32_##name(uint32_t *to, const uint64_t *from)                          \
    {                                                                                              \
        for (unsigned i = 0; i < 64; i++)                                                          \
            to[i] = (uint32_t)from[i];                                                             \
    }
#ifdef __clang__ /* which does several at once without being asked */
#define WIDE
#else
#define WIDE __attribute__((optimize("O3")))
#endif
LOOPS(any, WIDE)
LOOPS(avx2, WIDE __attribute__((target("avx2"))))

static uint64_t differences(const struct rf_ring_pocket *pocket)
{
    return has_avx2 ? differences_avx2(pocket) : differences_any(pocket);
}

static void pack_numbers(uint64_t *to, const uint64_t *from, unsigned bits)
{
    void *numbers = to;
    if (bits == 8)
        has_avx2 ? pack_8_avx2(numbers, from) : pack_8_any(numbers, from);
    else if (bits == 16)
        has_avx2 ? pack_16_avx2(numbers, from) : pack_16_any(numbers, from);
    else if (bits == 32)
        has_avx2 ? pack_32_avx2(numbers, from) : pack_32_any(numbers, from);
    else if (bits == 64)
        memcpy(to, from, RF_RING_POCKET);
}

static unsigned bits_of(uint64_t differ)
{
    return differ == 0         ? 0
           : differ >> 8 == 0  ? 8
           : differ >> 16 == 0 ? 16
           : differ >> 32 == 0 ? 32
                               : 64;
}

static uint64_t *pack(uint64_t *to, const struct rf_ring_pocket *pocket, uint64_t differ)
{
    const uint64_t *from = (const uint64_t *)(const void *)pocket;
    unsigned bits = bits_of(differ);
    to[0] = RF_WORD_HEADER(RF_WORD_POCKET, RF_WORD_POCKET_HEAD + bits);
    to[1] = pocket->path | (uint64_t)bits << 32;
    to[2] = bits < 64 ? pocket->words[0] >> bits << bits : 0;
    pack_numbers(to + RF_WORD_POCKET_HEAD, from, bits);
    for (unsigned i = 64; i < bits * 8; i += 64)
        rf_hooks_fetch_ahead((uint64_t)(uintptr_t)to + i);
    return to + RF_WORD_POCKET_HEAD + bits;
}

/* What it holds goes to the ring. The collector counts it as produced when it comes: a kill between these two stores loses it, and a kill
 * before or behind them finds it once. */
static void empty(struct rf_hooks_lane *lane, struct rf_ring_pocket *pocket)
{
    uint64_t *end = pack(rf_hooks_cursor(lane), pocket, differences(pocket));
    __atomic_store_n(&pocket->fill, 0, __ATOMIC_RELEASE);
    rf_hooks_commit(lane, end);
}

static void begin_with(struct rf_ring_pocket *pocket, uint64_t word)
{
    pocket->words[0] = word;
    __atomic_store_n(&pocket->fill, 16, __ATOMIC_RELEASE);
}

/* ---- a place ---- */

/* A child that nobody has told of its fork begins anew, as others do. No system call is needed to see that: a sandbox may forbid
 * them. */
static bool is_forked(const struct rf_hooks_lane *lane)
{
    bool wiped = *(const uint64_t *)(const void *)lane->pockets != NOT_WIPED;
    if (wiped)
        rf_hooks_begin_child();
    return wiped;
}

static bool begin(struct rf_hooks_lane *lane, struct rf_ring_pocket **at,
                  const struct rf_ring_place *place, uint64_t word)
{
    if (lane->n_pockets == RF_RING_POCKETS)
        return false;
    struct rf_ring_pocket *pocket = &lane->pocket_memory[lane->n_pockets];
    pocket->path = place->path;
    begin_with(pocket, word);
    __atomic_store_n(&lane->slot->pockets, ++lane->n_pockets, __ATOMIC_RELEASE);
    rf_hooks_then();
    *at = pocket;
    return true;
}

bool rf_hooks_pocket(struct rf_hooks_lane *lane, uint64_t site, uint64_t key, uint64_t word)
{
    uint64_t offset = site - (uint64_t)(uintptr_t)&__executable_start;
    if (lane->pockets == NULL || offset >= image_bytes())
        return false;
    struct rf_ring_pocket **at = (struct rf_ring_pocket **)(void *)(lane->pockets + offset);
    const struct rf_ring_place *place = rf_hooks_first(lane, key);
    if (*at == NULL)
        return place->key == key && place->path != RF_HOOKS_NO_PATH && !is_forked(lane) &&
               begin(lane, at, place, word);
    uint32_t fill = __atomic_load_n(&(*at)->fill, __ATOMIC_RELAXED);
    if (RF_HOOKS_UNLIKELY((fill & RF_RING_POCKET_MASK) != 0)) /* a signal came in between */
        return false;
    if (RF_HOOKS_LIKELY(fill == RF_RING_POCKET))
        empty(lane, *at);
    begin_with(*at, word);
    return true;
}
