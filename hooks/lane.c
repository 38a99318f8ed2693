/* lane.c - a thread's slot of the ring, as its producer sees it. ring_layout.h has the picture.
 *
 *     hook: words at the cursor, cursor += n      chunk full: publish it, wait until another is free
 *
 * The same as the probe's producer (probe/ring.c, another licence), but for this: there is no last word. A lane's counts
 * and its cursor lie in the shared memory, so the end of a process, however it comes, finds all of it there. */
#include "hooks.h"
#include <linux/futex.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <fcntl.h>
#include <errno.h>
#include <time.h>

enum { TICK_MS = 100, STDERR = 2 };

static struct rf_ring_control *control;
static uint32_t n_slots;
static bool is_counted;

/* As the C library's, but errno stays and no thread is cancelled here. */
long rf_hooks_syscall(long number, long a, long b, long c, long d, long e, long f)
{
    long result;
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

static void *map(size_t bytes, long flags, int fd, uint64_t offset)
{
    long at =
        rf_hooks_syscall(SYS_mmap, 0, (long)bytes, PROT_READ | PROT_WRITE, flags, fd, (long)offset);
    return at < 0 && at > -4096 ? NULL : (void *)at;
}

void *rf_hooks_allocate(size_t bytes)
{
    return map(bytes, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

void rf_hooks_release(void *memory, size_t bytes)
{
    if (memory != NULL)
        rf_hooks_syscall(SYS_munmap, (long)memory, (long)bytes, 0, 0, 0, 0);
}

const struct rf_ring_bursts *rf_hooks_bursts(void)
{
    return &control->bursts;
}

/* ---- the collector ---- */

static void ring_bell(void)
{
    __atomic_fetch_add(&control->bell, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&control->sleeping, __ATOMIC_SEQ_CST))
        rf_hooks_syscall(SYS_futex, (long)&control->bell, FUTEX_WAKE, 1, 0, 0, 0);
}

/* From now on hooks return at once. */
static void detach(const char *why)
{
    bool listened = __atomic_exchange_n(&rf_hooks_listening, 0, __ATOMIC_SEQ_CST) != 0;
    rf_hooks_stop();
    if (listened && why != NULL)
        rf_hooks_syscall(SYS_write, STDERR, (long)why, (long)strlen(why), 0, 0, 0);
}

/* "PID (name) STATE ..." */
static bool is_zombie(const char *path)
{
    char text[256];
    long fd = rf_hooks_syscall(SYS_open, (long)path, O_RDONLY | O_CLOEXEC, 0, 0, 0, 0);
    if (fd < 0)
        return false;
    long n = rf_hooks_syscall(SYS_read, fd, (long)text, sizeof text - 1, 0, 0, 0);
    rf_hooks_syscall(SYS_close, fd, 0, 0, 0, 0, 0);
    text[n > 0 ? n : 0] = '\0';
    const char *state = strrchr(text, ')');
    return state != NULL && (state[2] == 'Z' || state[2] == 'X');
}

static char collector_state[32]; /* "/proc/PID/stat" */

static bool collector_is_gone(void)
{
    return rf_hooks_syscall(SYS_kill, control->collector, 0, 0, 0, 0, 0) == -ESRCH ||
           is_zombie(collector_state);
}

/* The first of all processes says so. */
static void mourn(void)
{
    static const char gone[] =
        "riffle: the collector is gone; the program runs on without being profiled\n";
    detach(__atomic_exchange_n(&control->mourned, 1, __ATOMIC_SEQ_CST) == 0 ? gone : NULL);
}

/* ---- chunks ---- */

static uint64_t *chunk_start(const struct rf_hooks_lane *lane)
{
    uint8_t *memory = (uint8_t *)lane->slot;
    return (uint64_t *)(void *)(memory + rf_ring_chunk_offset(lane->slot->head));
}

static void begin_chunk(struct rf_hooks_lane *lane)
{
    uint64_t start = (uint64_t)(uintptr_t)chunk_start(lane);
    lane->slot->limit = start + RF_RING_CHUNK - RF_RING_SLACK;
    rf_hooks_then();
    __atomic_store_n(&lane->slot->cursor, start, __ATOMIC_RELEASE);
}

/* Also while it is being set: the cursor comes last, and where it was before lies in another chunk or is the same. */
static bool is_begun(const struct rf_hooks_lane *lane)
{
    uint64_t start = (uint64_t)(uintptr_t)chunk_start(lane);
    return lane->slot->limit == start + RF_RING_CHUNK - RF_RING_SLACK &&
           lane->slot->cursor - start <= RF_RING_CHUNK;
}

static bool is_full(const struct rf_ring_slot *slot)
{
    return slot->head - __atomic_load_n(&slot->tail, __ATOMIC_ACQUIRE) >= RF_RING_CHUNKS;
}

static void wait_for_room(struct rf_ring_slot *slot)
{
    struct timespec tick = {0, TICK_MS * 1000000L};
    while (is_full(slot) && rf_hooks_listening) {
        uint32_t seen = __atomic_load_n(&slot->tail, __ATOMIC_SEQ_CST);
        __atomic_store_n(&slot->waiting, 1, __ATOMIC_SEQ_CST);
        if (is_full(slot) && !control->detached)
            rf_hooks_syscall(SYS_futex, (long)&slot->tail, FUTEX_WAIT, seen, (long)&tick, 0, 0);
        __atomic_store_n(&slot->waiting, 0, __ATOMIC_SEQ_CST);
        if (control->detached)
            detach(NULL);
        else if (is_full(slot) && collector_is_gone())
            mourn();
    }
}

static void publish(struct rf_hooks_lane *lane)
{
    struct rf_ring_slot *slot = lane->slot;
    uint64_t start = (uint64_t)(uintptr_t)chunk_start(lane);
    rf_hooks_begin_slow(lane);
    slot->fill[slot->head % RF_RING_CHUNKS] = (uint32_t)(slot->cursor - start);
    __atomic_store_n(&slot->head, slot->head + 1, __ATOMIC_RELEASE);
    ring_bell();
    wait_for_room(slot);
    begin_chunk(lane);
    rf_hooks_end_slow(lane);
}

bool rf_hooks_mend_chunk(struct rf_hooks_lane *lane)
{
    if (lane->drops)
        return false;
    if (!is_begun(lane)) {
        ring_bell();
        wait_for_room(lane->slot);
        begin_chunk(lane);
    }
    return true;
}

/* ---- losing ---- */

static const uint64_t *skip_word(const struct rf_hooks_lane *lane, const uint64_t *at)
{
    return at + ((*at & RF_WORD_MESSAGE) ? (uint32_t)*at : 1u + (lane->kinds[(uint32_t)*at] >> 4));
}

static uint64_t times_of(uint64_t word)
{
    return (word >> 32) + 1;
}

/* Drop what the chunk holds but for the messages, which move to its front. False: too many of those. */
static bool drop(struct rf_hooks_lane *lane)
{
    uint64_t lost[RF_WORD_CLASSES] = {0}, *start = chunk_start(lane), *to = start;
    const uint64_t *end = (const uint64_t *)lane->slot->cursor, *next;
    lane->drops = true;
    rf_hooks_then();
    for (const uint64_t *at = start; at < end; at = next) {
        next = skip_word(lane, at);
        if (!(*at & RF_WORD_MESSAGE)) {
            lost[lane->kinds[(uint32_t)*at] & 15] += times_of(*at);
        } else if ((*at >> 32 & 0xff) == RF_WORD_LOST) {
            for (unsigned kind = 0; kind < RF_WORD_CLASSES; kind++)
                lost[kind] += at[1 + kind];
        } else {
            memmove(to, at, (size_t)(next - at) * 8);
            to += next - at;
        }
    }
    *to = RF_WORD_HEADER(RF_WORD_LOST, 1 + RF_WORD_CLASSES);
    memcpy(to + 1, lost, sizeof lost);
    to += 1 + RF_WORD_CLASSES;
    __atomic_store_n(&lane->slot->cursor, (uint64_t)(uintptr_t)to, __ATOMIC_RELEASE);
    rf_hooks_then();
    lane->drops = false;
    return to - start < RF_RING_CHUNK / 8 / 4;
}

void rf_hooks_flush(struct rf_hooks_lane *lane)
{
    const struct rf_ring_slot *slot = lane->slot;
    rf_hooks_begin_slow(lane);
    if (control->detached)
        detach(NULL);
    bool nearly_full =
        slot->head + 1 - __atomic_load_n(&slot->tail, __ATOMIC_ACQUIRE) >= RF_RING_CHUNKS;
    if (!rf_hooks_listening) {
        rf_hooks_merging_1 = &rf_hooks_nobody;
        begin_chunk(lane);
    } else if (!(rf_hooks_options.lossy && nearly_full && drop(lane)))
        publish(lane);
    rf_hooks_end_slow(lane);
}

/* ---- words ---- */

uint64_t *rf_hooks_reserve(struct rf_hooks_lane *lane, uint32_t n)
{
    uint64_t end = (uint64_t)(uintptr_t)chunk_start(lane) + RF_RING_CHUNK;
    if (lane->slot->cursor + (uint64_t)n * 8 > end)
        publish(lane);
    return (uint64_t *)lane->slot->cursor;
}

/* ---- slots ---- */

/* Of a ring with another layout nothing is known but its first word. The first of all programs says so, and marks the file. */
static void say_other(int fd, mode_t mode)
{
    static const char other[] =
        "riffle: a program that was linked by 'riffle cc' of another version of riffle runs "
        "without being profiled: build it again\n";
    if ((mode & S_ISVTX) == 0 &&
        rf_hooks_syscall(SYS_fchmod, fd, (long)((mode & 07777) | S_ISVTX), 0, 0, 0, 0) == 0)
        rf_hooks_syscall(SYS_write, STDERR, (long)other, sizeof other - 1, 0, 0, 0);
}

static bool is_ring(int fd)
{
    struct stat status;
    uint64_t magic = 0;
    if (rf_hooks_syscall(SYS_fstat, fd, (long)&status, 0, 0, 0, 0) != 0 ||
        !S_ISREG(status.st_mode) ||
        rf_hooks_syscall(SYS_pread64, fd, (long)&magic, sizeof magic, 0, 0, 0) != sizeof magic)
        return false;
    if (magic != RF_RING_MAGIC && (uint32_t)magic == (uint32_t)RF_RING_MAGIC)
        say_other(fd, status.st_mode);
    if (magic != RF_RING_MAGIC)
        return false;
    n_slots = rf_ring_slots_of((uint64_t)status.st_size);
    is_counted = rf_ring_is_counted((uint64_t)status.st_size);
    control = n_slots > 0 ? map(RF_RING_PAGE, MAP_SHARED, fd, 0) : NULL;
    if (control == NULL)
        return false;
    snprintf(collector_state, sizeof collector_state, "/proc/%u/stat", control->collector);
    return true;
}

/* The inherited descriptor, or, where a program closed it, the collector's own. */
bool rf_hooks_find_ring(void)
{
    struct rf_hooks_options *options = &rf_hooks_options;
    if (options->ring_fd >= 0 && is_ring(options->ring_fd))
        return true;
    if (options->ring_path == NULL)
        return false;
    long fd = rf_hooks_syscall(SYS_open, (long)options->ring_path, O_RDWR | O_CLOEXEC, 0, 0, 0, 0);
    options->ring_fd = (int)fd;
    return fd >= 0 && is_ring(options->ring_fd);
}

bool rf_hooks_can_merge(void)
{
    return is_counted;
}

static struct rf_ring_slot *claim(uint32_t *number)
{
    for (uint32_t i = 0; i < n_slots; i++) {
        struct rf_ring_slot *slot =
            map(RF_RING_SLOT, MAP_SHARED, rf_hooks_options.ring_fd, rf_ring_slot_offset(i));
        uint32_t expected = RF_RING_FREE;
        if (slot == NULL)
            return NULL;
        if (__atomic_compare_exchange_n(&slot->state, &expected, RF_RING_CLAIMED, false,
                                        __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
            *number = i;
            return slot;
        }
        rf_hooks_release(slot, RF_RING_SLOT);
    }
    return NULL;
}

/* The same in all copies of this run-time in a process, another one after exec. */
static uint32_t family(void)
{
    const uint32_t *random = (const uint32_t *)getauxval(AT_RANDOM);
    return (random != NULL ? random[0] : 0) | 1;
}

bool rf_hooks_open_lane(struct rf_hooks_lane *lane)
{
    uint32_t number;
    struct rf_ring_slot *slot = claim(&number);
    if (slot == NULL) {
        __atomic_fetch_add(&control->unfollowed, 1, __ATOMIC_SEQ_CST);
        return false;
    }
    lane->slot = slot;
    slot->pid = (uint32_t)rf_hooks_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0);
    slot->process = __atomic_add_fetch(&control->processes, 1, __ATOMIC_SEQ_CST);
    slot->family = family();
    slot->base = (uint64_t)(uintptr_t)slot;
    lane->is_shared = is_counted;
    lane->table = is_counted ? map(RF_RING_COUNTER_BYTES, MAP_SHARED, rf_hooks_options.ring_fd,
                                   rf_ring_counters_offset(n_slots, number))
                             : rf_hooks_allocate(RF_RING_COUNTER_BYTES);
    if (lane->table == NULL || !rf_hooks_begin_places(lane)) {
        __atomic_store_n(&slot->state, RF_RING_FREE, __ATOMIC_SEQ_CST);
        return false;
    }
    begin_chunk(lane);
    __atomic_store_n(&slot->state, RF_RING_LIVE, __ATOMIC_SEQ_CST);
    ring_bell();
    return true;
}

/* In a forked child the lane is the parent's. A hook that was interrupted may still write to it: to memory that nobody
 * reads. */
void rf_hooks_abandon_lane(struct rf_hooks_lane *lane)
{
    const long nowhere = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
    const long both = PROT_READ | PROT_WRITE;
    if (lane->busy) {
        struct rf_ring_slot page = *lane->slot;
        rf_hooks_syscall(SYS_mmap, (long)lane->slot, RF_RING_SLOT, both, nowhere, -1, 0);
        *lane->slot = page;
        rf_hooks_syscall(SYS_mmap, (long)lane->table, RF_RING_COUNTER_BYTES, both, nowhere, -1, 0);
        return;
    }
    rf_hooks_release(lane->slot, RF_RING_SLOT);
    rf_hooks_release(lane->table, RF_RING_COUNTER_BYTES);
}
