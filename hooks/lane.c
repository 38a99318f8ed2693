/* lane.c - a thread's slot of the ring, as its producer sees it. ring_layout.h has the picture.
 *
 *     hook: words at the cursor, cursor += n      chunk full: publish it, wait until another is free
 *
 * The same as the probe's producer (probe/ring.c, another licence), but for this: there is no last word. A lane's counts
 * and its cursor lie in the shared memory, so the end of a process, however it comes, finds all of it there. */
#include "hooks.h"
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
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
static uint64_t ring_device, ring_inode;

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
static uint32_t collector;

static bool collector_is_gone(void)
{
    return rf_hooks_syscall(SYS_kill, collector, 0, 0, 0, 0, 0) == -ESRCH ||
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
    return (uint64_t *)(void *)(memory + rf_ring_chunk_offset(lane->head));
}

static void begin_chunk(struct rf_hooks_lane *lane)
{
    uint64_t start = (uint64_t)(uintptr_t)chunk_start(lane);
    lane->chunk = start;
    rf_hooks_then();
    __atomic_store_n(&lane->slot->cursor, start, __ATOMIC_RELEASE);
}

/* A hook may write a little beyond the mark: up to the end of the chunk the cursor is a good one. */
static uint64_t *cursor_in_chunk(struct rf_hooks_lane *lane)
{
    uint64_t cursor = __atomic_load_n(&lane->slot->cursor, __ATOMIC_RELAXED);
    if (cursor - lane->chunk > RF_RING_CHUNK || cursor % 8 != 0)
        cursor = lane->chunk;
    return (uint64_t *)cursor;
}

/* The cursor is not where it should be. A handler may have jumped out in front of a flush: then there is room for an event all the same. */
RF_HOOKS_APART uint64_t *rf_hooks_spoilt(struct rf_hooks_lane *lane)
{
    enum { ROOM = 64 };
    uint64_t *cursor = cursor_in_chunk(lane);
    bool has_room = (uint64_t)(uintptr_t)cursor - lane->chunk <= RF_RING_CHUNK - ROOM;
    return has_room ? cursor : chunk_start(lane);
}

/* Also while it is being set: the cursor comes last, and where it was before lies in another chunk or is the same. */
static bool is_begun(const struct rf_hooks_lane *lane)
{
    uint64_t start = (uint64_t)(uintptr_t)chunk_start(lane);
    return lane->chunk == start && lane->slot->cursor - start <= RF_RING_CHUNK;
}

static uint32_t unread(const struct rf_hooks_lane *lane)
{
    return lane->head - __atomic_load_n(&lane->slot->tail, __ATOMIC_ACQUIRE);
}

static bool is_full(const struct rf_hooks_lane *lane)
{
    return unread(lane) >= RF_RING_CHUNKS;
}

/* A tail that cannot be was written by another process. The collector puts it right when it comes by, unless it was
 * deceived about our head, too: then nobody will. */
static bool is_spoilt(const struct rf_hooks_lane *lane, uint32_t *ticks)
{
    enum { PATIENCE_TICKS = 20 };
    *ticks = unread(lane) > RF_RING_CHUNKS ? *ticks + 1 : 0;
    return *ticks > PATIENCE_TICKS;
}

static void wait_for_room(struct rf_hooks_lane *lane)
{
    struct timespec tick = {0, TICK_MS * 1000000L};
    struct rf_ring_slot *slot = lane->slot;
    uint32_t ticks = 0;
    while (is_full(lane) && rf_hooks_listening && !lane->is_abandoned) {
        uint32_t seen = __atomic_load_n(&slot->tail, __ATOMIC_SEQ_CST);
        __atomic_store_n(&slot->waiting, 1, __ATOMIC_SEQ_CST);
        if (is_full(lane) && !control->detached)
            rf_hooks_syscall(SYS_futex, (long)&slot->tail, FUTEX_WAIT, seen, (long)&tick, 0, 0);
        __atomic_store_n(&slot->waiting, 0, __ATOMIC_SEQ_CST);
        if (control->detached || is_spoilt(lane, &ticks))
            detach(NULL);
        else if (is_full(lane) && collector_is_gone())
            mourn();
    }
}

static void publish(struct rf_hooks_lane *lane)
{
    struct rf_ring_slot *slot = lane->slot;
    uint64_t start = (uint64_t)(uintptr_t)chunk_start(lane);
    rf_hooks_begin_slow(lane);
    slot->fill[lane->head % RF_RING_CHUNKS] =
        (uint32_t)((uint64_t)(uintptr_t)cursor_in_chunk(lane) - start);
    lane->head++;
    __atomic_store_n(&slot->head, lane->head, __ATOMIC_RELEASE);
    ring_bell();
    wait_for_room(lane);
    begin_chunk(lane);
    rf_hooks_end_slow(lane);
}

bool rf_hooks_mend_chunk(struct rf_hooks_lane *lane)
{
    if (lane->drops)
        return false;
    if (!is_begun(lane)) {
        ring_bell();
        __atomic_store_n(&lane->slot->head, lane->head, __ATOMIC_RELEASE);
        wait_for_room(lane);
        begin_chunk(lane);
    }
    return true;
}

/* ---- losing ---- */

/* What was told of a path; others can write into a chunk, so it may be none. */
static uint8_t kind_of(const struct rf_hooks_lane *lane, uint64_t word)
{
    return (uint32_t)word < RF_RING_PLACES_MAX ? lane->kinds[(uint32_t)word] : 0;
}

static const uint64_t *skip_word(const struct rf_hooks_lane *lane, uint64_t word,
                                 const uint64_t *at, const uint64_t *end)
{
    uint32_t n = (word & RF_WORD_MESSAGE) ? (uint32_t)word : 1u + (kind_of(lane, word) >> 4);
    return n == 0 || n > (uint64_t)(end - at) ? end : at + n;
}

static uint64_t times_of(uint64_t word)
{
    return (word >> 32) + 1;
}

/* Drop what the chunk holds but for the messages, which move to its front. False: too many of those. */
static bool drop(struct rf_hooks_lane *lane)
{
    uint64_t lost[RF_WORD_CLASSES] = {0}, *start = chunk_start(lane), *to = start;
    const uint64_t *end = cursor_in_chunk(lane), *next;
    lane->drops = true;
    rf_hooks_then();
    for (const uint64_t *at = start; at < end; at = next) {
        uint64_t word = __atomic_load_n(at, __ATOMIC_RELAXED);
        next = skip_word(lane, word, at, end);
        if (!(word & RF_WORD_MESSAGE)) {
            lost[(kind_of(lane, word) & 15) % RF_WORD_CLASSES] += times_of(word);
        } else if ((word >> 32 & 0xff) == RF_WORD_LOST && next - at == 1 + RF_WORD_CLASSES) {
            for (unsigned kind = 0; kind < RF_WORD_CLASSES; kind++)
                lost[kind] += at[1 + kind];
        } else if ((word >> 32 & 0xff) == RF_WORD_POCKET) {
            lost[RF_WORD_LOAD] += RF_RING_POCKET_WORDS;
            lane->slot->produced[RF_WORD_LOAD] +=
                RF_RING_POCKET_WORDS; /* the collector will not see it */
        } else {
            memmove(to, at, (size_t)(next - at) * 8);
            to += next - at;
        }
    }
    if (to - start > RF_RING_CHUNK / 8 - (1 + RF_WORD_CLASSES))
        to = start;
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
    rf_hooks_begin_slow(lane);
    if (control->detached)
        detach(NULL);
    bool nearly_full = unread(lane) + 1 >= RF_RING_CHUNKS;
    if (!rf_hooks_listening) {
        rf_hooks_use_pockets(NULL);
        begin_chunk(lane);
    } else if (!(rf_hooks_options.lossy && nearly_full && drop(lane)))
        publish(lane);
    rf_hooks_end_slow(lane);
}

/* ---- words ---- */

uint64_t *rf_hooks_reserve(struct rf_hooks_lane *lane, uint32_t n)
{
    uint64_t end = lane->chunk + RF_RING_CHUNK, *to = cursor_in_chunk(lane);
    if ((uint64_t)(uintptr_t)(to + n) > end) {
        publish(lane);
        to = chunk_start(lane);
    }
    return to;
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

/* Of the path, "/proc/PID/fd/N": what stands in the shared memory may not be true. */
static uint32_t find_collector(void)
{
    const char *path = rf_hooks_options.ring_path;
    return path != NULL && strncmp(path, "/proc/", 6) == 0 ? (uint32_t)strtoul(path + 6, NULL, 10)
                                                           : control->collector;
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
    ring_device = status.st_dev;
    ring_inode = status.st_ino;
    n_slots = rf_ring_slots_of((uint64_t)status.st_size);
    is_counted = rf_ring_is_counted((uint64_t)status.st_size);
    control = n_slots > 0 ? map(RF_RING_PAGE, MAP_SHARED, fd, 0) : NULL;
    if (control == NULL)
        return false;
    collector = find_collector();
    snprintf(collector_state, sizeof collector_state, "/proc/%u/stat", collector);
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

uint32_t rf_hooks_slots(void)
{
    return n_slots;
}

bool rf_hooks_can_merge(void)
{
    return is_counted;
}

static bool is_same_ring(int fd)
{
    struct stat status;
    return rf_hooks_syscall(SYS_fstat, fd, (long)&status, 0, 0, 0, 0) == 0 &&
           status.st_dev == ring_device && status.st_ino == ring_inode;
}

/* A program may have closed the descriptor since, or made it one of its own files. */
static bool has_ring(void)
{
    struct rf_hooks_options *options = &rf_hooks_options;
    if (is_same_ring(options->ring_fd))
        return true;
    long fd = options->ring_path != NULL ? rf_hooks_syscall(SYS_open, (long)options->ring_path,
                                                            O_RDWR | O_CLOEXEC, 0, 0, 0, 0)
                                         : -1;
    if (fd >= 0 && is_same_ring((int)fd)) {
        options->ring_fd = (int)fd;
        return true;
    }
    if (fd >= 0)
        rf_hooks_syscall(SYS_close, fd, 0, 0, 0, 0, 0);
    return false;
}

/* Those in front of the last one are this process's or its parents', mostly: to look at one takes two system calls. */
static struct rf_ring_slot *claim(uint32_t *number)
{
    static uint32_t next;
    uint32_t first = __atomic_load_n(&next, __ATOMIC_RELAXED);
    if (!has_ring())
        return NULL;
    for (uint32_t tried = 0; tried < n_slots; tried++) {
        uint32_t i = (first + tried) % n_slots;
        struct rf_ring_slot *slot =
            map(RF_RING_SLOT, MAP_SHARED, rf_hooks_options.ring_fd, rf_ring_slot_offset(i));
        uint32_t expected = RF_RING_FREE;
        if (slot == NULL)
            return NULL;
        if (__atomic_compare_exchange_n(&slot->state, &expected, RF_RING_CLAIMED, false,
                                        __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
            *number = i;
            __atomic_store_n(&next, i + 1, __ATOMIC_RELAXED);
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

void rf_hooks_count_unfollowed(void)
{
    __atomic_fetch_add(&control->unfollowed, 1, __ATOMIC_SEQ_CST);
}

void rf_hooks_count_untold(void)
{
    __atomic_fetch_add(&control->untold, 1, __ATOMIC_RELAXED);
}

bool rf_hooks_open_lane(struct rf_hooks_lane *lane)
{
    uint32_t number;
    struct rf_ring_slot *slot = claim(&number);
    if (slot == NULL)
        return false;
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
        rf_hooks_release(lane->kinds, RF_RING_PLACES_MAX);
        rf_hooks_release(lane->table, RF_RING_COUNTER_BYTES);
        lane->slot = NULL;
        __atomic_store_n(&slot->state, RF_RING_FREE, __ATOMIC_SEQ_CST);
        rf_hooks_release(slot, RF_RING_SLOT);
        return false;
    }
    if (rf_hooks_mode[RF_WORD_LOAD] == RF_HOOKS_LOADED)
        rf_hooks_begin_pockets(lane);
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
    lane->is_abandoned = true;
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
