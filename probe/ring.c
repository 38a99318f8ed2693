/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ring.c - the producer's side of the shared memory.
 *
 *     instrumented code          ring_flush                          collector
 *     store words at cursor      chunk full: publish it, wait        copies, gives back
 *     cursor += n                until another is free   <-- futex --
 *
 * The process takes a free slot of the memory file by compare-and-swap. Translated code holds the
 * addresses of cursor and limit as constants, so a forked child maps its own new slot at the same
 * address as its parent's.
 *
 * When the ring is full the producer waits. Every tenth of a second it looks whether the collector is
 * still there; if not, it runs on and keeps nothing. With --lossy it does not wait: it counts
 * what stands in the chunk by class, keeps the messages (a lost DEFINE could not be made up for)
 * and fills the chunk anew.
 *
 *     [DEFINE][path..][path..][THREAD][path..]   ->   [LOST][DEFINE][THREAD]
 *
 * Other processes of the run can write into the slot. So where this one stands (cursor, limit, head) is its own, and the
 * slot has a copy for the collector. Of what is read back, the tail must be one that can be; words of a chunk are
 * rubbish until they were checked (paths.c). Whoever writes there can spoil the numbers, and nothing else.
 *
 * What is produced is counted by class: by counters (count.c), or when a chunk is flushed, for what has no counter. The
 * sums go out with END. The collector compares its own count with these, which were made before the ring. */
#include "probe.h"

extern SysRes VG_(am_shared_mmap_file_float_valgrind)(SizeT length, UInt prot, Int fd,
                                                      Off64T offset);

extern Int VG_(fd_hard_limit);

enum { FUTEX_WAIT_OP = 0, FUTEX_WAKE_OP = 1, TICK_MS = 100 };

static struct rf_ring_control *control;
static UChar *slot_memory;
static struct rf_ring_slot *slot;
static UInt n_slots; /* of the ring */
static Bool has_counters;
static UInt forks;
static Bool detached;
static ULong produced[RF_WORD_CLASSES];
static ULong counted_cursor; /* words before this one are in `produced` already */
static ULong cursor, limit;
static UInt head, process, collector;

ULong *ring_cursor(void)
{
    return &cursor;
}

ULong *ring_told_cursor(void)
{
    return (ULong *)&slot->cursor;
}

ULong *ring_limit(void)
{
    return &limit;
}

static void move_cursor(ULong to)
{
    cursor = to;
    __atomic_store_n(&slot->cursor, to, __ATOMIC_RELEASE);
}

static Long raw_syscall(ULong number, ULong a, ULong b, ULong c, ULong d, ULong e, ULong f)
{
    Long result;
    register ULong r10 __asm__("r10") = d;
    register ULong r8 __asm__("r8") = e;
    register ULong r9 __asm__("r9") = f;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

Long ring_syscall(ULong number, ULong a, ULong b, ULong c, ULong d)
{
    return raw_syscall(number, a, b, c, d, 0, 0);
}

Long ring_map(Addr where, SizeT length, ULong flags, Int fd, ULong offset)
{
    return raw_syscall(__NR_mmap, where, length, VKI_PROT_READ | VKI_PROT_WRITE,
                       VKI_MAP_FIXED | flags, (ULong)(Long)fd, offset);
}

static void wake(UInt *word)
{
    raw_syscall(__NR_futex, (ULong)word, FUTEX_WAKE_OP, 1, 0, 0, 0);
}

static void wait_for_change(UInt *word, UInt seen)
{
    struct vki_timespec tick = {0, TICK_MS * 1000000};
    raw_syscall(__NR_futex, (ULong)word, FUTEX_WAIT_OP, seen, (ULong)&tick, 0, 0);
}

static void ring_bell(void)
{
    __atomic_fetch_add(&control->bell, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&control->sleeping, __ATOMIC_SEQ_CST))
        wake(&control->bell);
}

void *ring_grow(void *array, UInt n, UInt *room, SizeT element)
{
    if (n < *room)
        return array;
    *room = *room == 0 ? 4096 : *room * 2;
    return VG_(realloc)("riffle.paths", array, *room * element);
}

struct rf_ring_slot *ring_slot(void)
{
    return slot;
}

ULong *ring_chunk(void)
{
    return (ULong *)(slot_memory + rf_ring_chunk_offset(head));
}

/* ---- chunks ---- */

static void begin_chunk(void)
{
    move_cursor((ULong)ring_chunk());
    limit = cursor + RF_RING_CHUNK - RF_RING_SLACK;
    counted_cursor = cursor;
}

/* Chunks that the collector has not taken yet. It looks for them once per tick, however few there are. */
static UInt unread(void)
{
    return head - __atomic_load_n(&slot->tail, __ATOMIC_ACQUIRE);
}

static Bool is_full(void)
{
    return unread() >= RF_RING_CHUNKS;
}

/* The program's standard error, as it was at the start. What Valgrind says goes to the collector's log instead. */
static Int stderr_at_start = -1;

static void keep_stderr(void)
{
    enum { STDERR = 2, DUPLICATE_CLOEXEC = 1030 }; /* F_DUPFD_CLOEXEC */
    stderr_at_start =
        (Int)raw_syscall(__NR_fcntl, STDERR, DUPLICATE_CLOEXEC, VG_(fd_hard_limit), 0, 0, 0);
}

static void detach(const HChar *why)
{
    HChar text[128];
    if (!detached && why != NULL && stderr_at_start >= 0) {
        UInt n = VG_(snprintf)(text, sizeof text,
                               "riffle: %s; the program runs on without being profiled\n", why);
        VG_(write)(stderr_at_start, text, (Int)n);
    }
    detached = True;
}

/* The first of all processes says so. */
static void mourn(void)
{
    detach(__atomic_exchange_n(&control->mourned, 1, __ATOMIC_SEQ_CST) == 0
               ? "the collector is gone"
               : NULL);
}

/* A process that died but was not waited for still has an entry; its state says so. */
static Bool collector_is_gone(void)
{
    HChar path[64], text[256];
    if (raw_syscall(__NR_kill, collector, 0, 0, 0, 0, 0) == -VKI_ESRCH)
        return True;
    VG_(sprintf)(path, "/proc/%u/stat", collector);
    SysRes fd = VG_(open)(path, VKI_O_RDONLY, 0);
    if (sr_isError(fd))
        return False;
    Int n = VG_(read)((Int)sr_Res(fd), text, sizeof text - 1);
    VG_(close)((Int)sr_Res(fd));
    text[n > 0 ? n : 0] = 0;
    const HChar *state = VG_(strrchr)(text, ')');
    return state != NULL && (state[2] == 'Z' || state[2] == 'X');
}

/* A tail that cannot be was written by somebody else. The collector puts it right when it comes by (src/source/ring.c),
 * unless it was deceived about our head, too: then nobody will. */
static Bool is_spoilt(UInt *ticks)
{
    enum { PATIENCE_TICKS = 20 };
    *ticks = unread() > RF_RING_CHUNKS ? *ticks + 1 : 0;
    return *ticks > PATIENCE_TICKS;
}

static void wait_for_room(void)
{
    UInt ticks = 0;
    while (is_full() && !detached) {
        UInt seen = __atomic_load_n(&slot->tail, __ATOMIC_SEQ_CST);
        __atomic_store_n(&slot->waiting, 1, __ATOMIC_SEQ_CST);
        if (is_full() && !control->detached)
            wait_for_change(&slot->tail, seen);
        __atomic_store_n(&slot->waiting, 0, __ATOMIC_SEQ_CST);
        if (control->detached || is_spoilt(&ticks))
            detach(NULL);
        else if (is_full() && collector_is_gone())
            mourn();
    }
}

/* Events that have counters are added at the end. */
static void count_produced(void)
{
    if (path_some_uncounted())
        path_count(produced, (ULong *)counted_cursor, (ULong *)cursor, PATH_UNCOUNTED);
    counted_cursor = cursor;
}

static void publish(void)
{
    ULong *start = ring_chunk();
    count_produced();
    slot->fill[head % RF_RING_CHUNKS] = (UInt)(cursor - (ULong)start);
    __atomic_store_n(&slot->head, ++head, __ATOMIC_RELEASE);
    if (unread() >= RF_RING_WAKE)
        ring_bell();
    wait_for_room();
    begin_chunk();
}

/* Drop all of the chunk but its messages. False: there are too many messages, so the chunk must be sent. Each word that says how
 * long something is, is read once. */
static Bool drop(void)
{
    static ULong held[RF_RING_CHUNK / 8 / 4];
    ULong *start = ring_chunk(), *to = held + 1 + RF_WORD_CLASSES;
    const ULong *end = (ULong *)cursor;
    ULong dropped[RF_WORD_CLASSES] = {0};
    for (const ULong *at = start, *next; at < end; at = next) {
        ULong word = path_read(at);
        next = path_skip(word, at, end);
        SizeT n = (SizeT)(next - at);
        if (!(word & RF_WORD_MESSAGE)) {
            path_count(dropped, at, next, PATH_ALL);
        } else if ((word >> 32 & 0xff) == RF_WORD_LOST && n == 1 + RF_WORD_CLASSES) {
            for (UInt kind = 0; kind < RF_WORD_CLASSES; kind++)
                dropped[kind] += at[1 + kind];
        } else {
            if (n > (SizeT)(held + sizeof held / 8 - to))
                return False;
            VG_(memcpy)(to, at, n * 8);
            to += n;
        }
    }
    held[0] = RF_WORD_HEADER(RF_WORD_LOST, 1 + RF_WORD_CLASSES);
    VG_(memcpy)(held + 1, dropped, sizeof dropped);
    count_produced();
    VG_(memcpy)(start, held, (UChar *)to - (UChar *)held);
    move_cursor((ULong)(start + (to - held)));
    counted_cursor = cursor;
    return True;
}

void ring_flush(void)
{
    if (control->detached)
        detach(NULL);
    if (detached) {
        begin_chunk();
        return;
    }
    if (probe_options.lossy && unread() + 1 >= RF_RING_CHUNKS && drop())
        return;
    publish();
}

ULong *ring_reserve(UInt n)
{
    tl_assert(n <= RF_WORD_MESSAGE_MAX);
    ULong end = (ULong)ring_chunk() + RF_RING_CHUNK;
    if (cursor + (ULong)n * 8 > end - RF_WORD_WIDEST) /* a wide store may write behind its word */
        ring_flush();
    end = (ULong)ring_chunk() + RF_RING_CHUNK;
    if (cursor + (ULong)n * 8 > end - RF_WORD_WIDEST)
        publish();
    return (ULong *)cursor;
}

void ring_commit(UInt n)
{
    move_cursor(cursor + (ULong)n * 8);
}

UInt ring_process(void)
{
    return process;
}

const struct rf_ring_bursts *ring_bursts(void)
{
    return &control->bursts;
}

struct rf_ring_counters *ring_counters(void)
{
    return &slot->counters;
}

/* ---- slots ---- */

static void start_slot(UInt parent, UInt fork)
{
    slot->process = process = __atomic_add_fetch(&control->processes, 1, __ATOMIC_SEQ_CST);
    slot->parent = parent;
    slot->fork = fork;
    slot->head = slot->tail = slot->waiting = head = 0;
    slot->base = (ULong)slot;
    VG_(memset)(&slot->counters, 0, sizeof slot->counters);
    begin_chunk();
    merge_open();
    __atomic_store_n(&slot->state, RF_RING_LIVE, __ATOMIC_SEQ_CST);
    ring_bell();
}

static Bool is_ring(void)
{
    struct vg_stat stat;
    if (VG_(fstat)(probe_options.ring_fd, &stat) != 0)
        return False;
    n_slots = rf_ring_slots_of((ULong)stat.size);
    if (n_slots == 0)
        return False;
    has_counters = rf_ring_is_counted((ULong)stat.size);
    SysRes map = VG_(am_shared_mmap_file_float_valgrind)(
        RF_RING_PAGE, VKI_PROT_READ | VKI_PROT_WRITE, probe_options.ring_fd, 0);
    if (sr_isError(map))
        return False;
    control = (struct rf_ring_control *)sr_Res(map);
    if (control->magic == RF_RING_MAGIC)
        return True;
    VG_(am_munmap_valgrind)((Addr)control, RF_RING_PAGE);
    return False;
}

/* The inherited descriptor, or, where a program closed it before an exec, the collector's own. */
static Bool find_ring(void)
{
    if (probe_options.ring_fd >= 0 && is_ring())
        return True;
    if (probe_options.ring_path == NULL)
        return False;
    SysRes fd = VG_(open)(probe_options.ring_path, VKI_O_RDWR, 0);
    if (sr_isError(fd))
        return False;
    SysRes moved = VG_(dup2)((Int)sr_Res(fd), probe_options.ring_fd);
    if (sr_isError(moved))
        probe_options.ring_fd = (Int)sr_Res(fd);
    else
        VG_(close)((Int)sr_Res(fd));
    return is_ring();
}

/* Memory that nobody reads, for translated code that still writes. */
static void map_nowhere(void)
{
    ring_map((Addr)slot_memory, RF_RING_SLOT, VKI_MAP_PRIVATE | VKI_MAP_ANONYMOUS, -1, 0);
    count_nowhere();
    detached = True;
    begin_chunk();
    merge_open();
}

/* There is no ring where one should be: it was spoilt, or the collector is gone and a program has closed the descriptor.
 * The program is to run all the same. */
static void do_without(void)
{
    control = VG_(am_shadow_alloc)(RF_RING_PAGE);
    slot_memory = VG_(am_shadow_alloc)(RF_RING_SLOT);
    slot = (struct rf_ring_slot *)slot_memory;
    map_nowhere();
}

/* Of the path, "/proc/PID/fd/N": what stands in the shared memory may not be true. */
static UInt find_collector(void)
{
    const HChar *path = probe_options.ring_path;
    return path != NULL && VG_(strncmp)(path, "/proc/", 6) == 0
               ? (UInt)VG_(strtoull10)(path + 6, NULL)
               : control->collector;
}

void ring_open(void)
{
    keep_stderr();
    if (probe_options.ring_fd < 0) {
        VG_(message)
        (Vg_UserMsg, "riffle: this tool is started by 'riffle run', which also reads "
                     "what it writes\n");
        VG_(exit)(2);
    }
    if (!find_ring()) {
        do_without();
        return;
    }
    collector = find_collector();
    Int number = claim_slot(control, n_slots);
    SysRes map = VG_(am_shared_mmap_file_float_valgrind)(
        RF_RING_SLOT, VKI_PROT_READ | VKI_PROT_WRITE, probe_options.ring_fd,
        (Off64T)rf_ring_slot_offset(number < 0 ? 0 : (UInt)number));
    if (sr_isError(map)) {
        VG_(message)(Vg_UserMsg, "riffle: the ring cannot be mapped\n");
        VG_(exit)(2);
    }
    slot_memory = (UChar *)sr_Res(map);
    slot = (struct rf_ring_slot *)slot_memory;
    if (number >= 0) {
        if (has_counters && probe_options.counts)
            count_open(n_slots, (UInt)number);
        start_slot(0, 0);
        return;
    }
    __atomic_fetch_add(&control->unfollowed, 1, __ATOMIC_SEQ_CST);
    map_nowhere();
}

void ring_before_fork(UInt threads)
{
    if (detached || !probe_options.follow)
        return;
    ULong *word = ring_reserve(3);
    word[0] = RF_WORD_HEADER(RF_WORD_FORK, 3);
    word[1] = ++forks;
    word[2] = threads;
    ring_commit(3);
    publish();
}

void ring_in_child(void)
{
    UInt parent = process;
    if (detached)
        return;
    Int number = probe_options.follow ? claim_slot(control, n_slots) : -1;
    if (number < 0) {
        if (probe_options.follow)
            __atomic_fetch_add(&control->unfollowed, 1, __ATOMIC_SEQ_CST);
        map_nowhere();
        return;
    }
    Long map = ring_map((Addr)slot_memory, RF_RING_SLOT, VKI_MAP_SHARED, probe_options.ring_fd,
                        rf_ring_slot_offset((UInt)number));
    if (map != (Long)slot_memory || !count_in_child(n_slots, (UInt)number)) {
        map_nowhere();
        return;
    }
    VG_(memset)(produced, 0, sizeof produced);
    start_slot(parent, forks);
    forks = 0;
}

void ring_finish(void)
{
    if (detached)
        return;
    clock_finish();
    merge_notes();
    ULong *word = ring_reserve(1 + RF_WORD_CLASSES);
    count_produced();
    word[0] = RF_WORD_HEADER(RF_WORD_END, 1 + RF_WORD_CLASSES);
    VG_(memcpy)(word + 1, produced, sizeof produced);
    count_sum(word + 1);
    ring_commit(1 + RF_WORD_CLASSES);
    publish();
}

void ring_go_on(void)
{
    if (detached)
        return;
    *ring_reserve(1) = RF_WORD_HEADER(RF_WORD_GOES_ON, 1);
    ring_commit(1);
}

/* A program whose events are all counted never calls ring_flush, so it may not know yet that the collector is gone. */
void ring_close(void)
{
    if (!detached && collector_is_gone())
        mourn();
    ring_finish();
    if (detached)
        return;
    __atomic_store_n(&slot->state, RF_RING_DONE, __ATOMIC_SEQ_CST);
    ring_bell();
}
