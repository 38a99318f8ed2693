/* ring.c - the collector's side of the shared memory. ring_layout.h has the picture.
 *
 * The file is sealed against shrinking and growing before anybody else sees it, so that a target that
 * truncates it cannot make the collector fault. Published chunks are copied out and given back at
 * once. Where there is none, the collector may read the chunk that is being filled. Stores are seen
 * in order on x86, so everything before the cursor is there. But the last message before it may belong to a
 * block that still runs and will rewrite its path number. A reader leaves that message alone until the cursor
 * has moved on or the producer is dead. */
#include "source/ring.h"
#include "source/probe_words.h"
#include "base/error.h"
#include <riffle/probe.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static struct rf_ring_slot *slot_at(const struct rf_ring *ring, uint32_t slot)
{
    return (struct rf_ring_slot *)(void *)(ring->memory + rf_ring_slot_offset(slot));
}

static rf_status fail_to_make(struct rf_error *error, const char *what)
{
    bool limited = errno == EFBIG;
    return rf_fail(error, RF_EIO, "ring: cannot %s the shared memory: %s%s", what, strerror(errno),
                   limited ? " (ulimit -f; 2.1 MB are needed)" : "");
}

/* How many slots the limit on the size of files allows, without counters. */
static uint32_t slots_allowed(uint32_t slots, const struct rlimit *limit)
{
    while (slots > 0 && limit->rlim_cur != RLIM_INFINITY && rf_ring_bytes(slots) > limit->rlim_cur)
        slots--;
    return slots;
}

static bool set_size(struct rf_ring *ring, uint64_t size)
{
    int failed;
    ring->size = size;
    do
        failed = ftruncate(ring->fd, (off_t)size);
    while (failed != 0 && errno == EINTR);
    return failed == 0;
}

/* Counters are there for all slots or for none. */
static bool fits(uint64_t size, const struct rlimit *limit)
{
    return limit->rlim_cur == RLIM_INFINITY || size <= limit->rlim_cur;
}

/* Size the file. The limit on the size of files is raised for this moment, as far as it may be: it is meant
 * for files on disks. */
static bool size_file(struct rf_ring *ring, uint32_t slots, bool counted)
{
    struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
    getrlimit(RLIMIT_FSIZE, &limit);
    const struct rlimit raised = {limit.rlim_max, limit.rlim_max};
    const struct rlimit *now = setrlimit(RLIMIT_FSIZE, &raised) == 0 ? &raised : &limit;
    uint64_t whole = rf_ring_bytes_counted(slots);
    ring->slots = slots_allowed(slots, now);
    ring->is_counted = counted && fits(whole, now) && set_size(ring, whole);
    errno = EFBIG;
    bool sized =
        ring->is_counted || (ring->slots > 0 && set_size(ring, rf_ring_bytes(ring->slots)));
    int why = errno;
    setrlimit(RLIMIT_FSIZE, &limit);
    errno = why;
    return sized;
}

static bool map_file(struct rf_ring *ring)
{
    ring->memory = mmap(NULL, ring->size, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, 0);
    if (ring->memory == MAP_FAILED)
        ring->memory = NULL;
    return ring->memory != NULL;
}

/* Where a limit on memory leaves no room for the counters, the ring does without them. */
static const char *make_memory(struct rf_ring *ring, uint32_t slots, bool counted)
{
    if (!size_file(ring, slots, counted))
        return "size";
    bool mapped = map_file(ring);
    if (!mapped && ring->is_counted) {
        if (!size_file(ring, slots, false))
            return "size";
        mapped = map_file(ring);
    }
    if (!mapped)
        return "map";
    return fcntl(ring->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0 ? NULL
                                                                                        : "seal";
}

rf_status rf_ring_open(struct rf_ring *ring, uint32_t slots, bool counted, struct rf_error *error)
{
    memset(ring, 0, sizeof *ring);
    ring->fd = -1;
    if (slots > RF_RING_SLOTS_MAX)
        return rf_fail(error, RF_EINVAL, "ring: at most %d slots, not %u", RF_RING_SLOTS_MAX,
                       slots);
    ring->fd = memfd_create("riffle-ring", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (ring->fd < 0)
        return fail_to_make(error, "make");
    const char *what = make_memory(ring, slots != 0 ? slots : RF_RING_SLOTS, counted);
    if (what != NULL) {
        rf_status status = fail_to_make(error, what);
        if (ring->memory != NULL)
            munmap(ring->memory, ring->size);
        close(ring->fd);
        ring->memory = NULL;
        return status;
    }
    ring->control = (struct rf_ring_control *)(void *)ring->memory;
    ring->control->magic = RF_RING_MAGIC;
    ring->control->collector = (uint32_t)getpid();
    return RF_OK;
}

void rf_ring_close(struct rf_ring *ring)
{
    if (ring->memory == NULL)
        return;
    rf_ring_detach(ring);
    munmap(ring->memory, ring->size);
    close(ring->fd);
    ring->memory = NULL;
}

_Static_assert((int)RF_PROBE_CLOCKS_MAX == (int)RF_RING_CLOCKS, "a clock for each set of bursts");
_Static_assert((int)RF_PROBE_SLOTS_MAX == (int)RF_RING_SLOTS_MAX, "a slot for each process");

void rf_ring_change_bursts(struct rf_ring_bursts *shared, const struct rf_probe_bursts *bursts,
                           size_t n)
{
    shared->seed = bursts[0].seed;
    for (size_t i = 0; i < n; i++)
        shared->clocks[i] = (struct rf_ring_clock){
            .sparsity = bursts[i].sparsity,
            .first = bursts[i].first,
            .burst = bursts[i].burst,
            .regular = bursts[i].regular != 0,
            .phases = bursts[i].phases != 0,
            .new_sparsity = bursts[i].new_sparsity,
            .profiles = bursts[i].profiles != 0 ? bursts[i].profiles : UINT32_MAX};
    shared->n_clocks = (uint32_t)n;
    __atomic_fetch_add(&shared->changes, 1, __ATOMIC_RELEASE);
}

size_t rf_ring_read_bursts(const struct rf_ring_bursts *shared, struct rf_probe_bursts *bursts)
{
    size_t n = shared->n_clocks < RF_RING_CLOCKS ? shared->n_clocks : RF_RING_CLOCKS;
    for (size_t i = 0; i < n; i++)
        bursts[i] = (struct rf_probe_bursts){.burst = shared->clocks[i].burst,
                                             .sparsity = shared->clocks[i].sparsity,
                                             .seed = shared->seed,
                                             .regular = shared->clocks[i].regular != 0,
                                             .first = shared->clocks[i].first,
                                             .phases = shared->clocks[i].phases != 0,
                                             .new_sparsity = shared->clocks[i].new_sparsity,
                                             .profiles = shared->clocks[i].profiles};
    return n;
}

uint64_t rf_ring_count_skipped(const struct rf_ring *ring, const struct rf_ring_reader *reader,
                               unsigned group)
{
    return rf_ring_skipped(&slot_at(ring, reader->slot)->counters, group);
}

static void futex_wake(uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

uint32_t rf_ring_holder(const struct rf_ring *ring, uint32_t slot)
{
    if (slot >= ring->slots)
        return 0;
    const struct rf_ring_slot *shared = slot_at(ring, slot);
    uint32_t state = __atomic_load_n(&shared->state, __ATOMIC_ACQUIRE);
    return state == RF_RING_LIVE || state == RF_RING_DONE ? shared->process : 0;
}

void rf_ring_attach(const struct rf_ring *ring, uint32_t slot, struct rf_ring_reader *reader)
{
    const struct rf_ring_slot *shared = slot_at(ring, slot);
    *reader = (struct rf_ring_reader){.slot = slot,
                                      .pid = shared->pid,
                                      .process = shared->process,
                                      .parent = shared->parent,
                                      .fork = shared->fork,
                                      .family = shared->family,
                                      .base = shared->base};
}

bool rf_ring_is_done(const struct rf_ring *ring, const struct rf_ring_reader *reader)
{
    return __atomic_load_n(&slot_at(ring, reader->slot)->state, __ATOMIC_ACQUIRE) == RF_RING_DONE;
}

static void give_back(struct rf_ring_slot *shared, struct rf_ring_reader *reader)
{
    reader->tail++;
    reader->taken = 0;
    __atomic_store_n(&shared->tail, reader->tail, __ATOMIC_SEQ_CST);
    uint32_t unread = __atomic_load_n(&shared->head, __ATOMIC_ACQUIRE) - reader->tail;
    if (__atomic_load_n(&shared->waiting, __ATOMIC_SEQ_CST) &&
        unread <= RF_RING_CHUNKS - RF_RING_WAKE)
        futex_wake(&shared->tail);
}

static size_t copy_out(const struct rf_ring *ring, const struct rf_ring_reader *reader,
                       uint64_t *words, uint32_t end)
{
    const uint8_t *chunk =
        ring->memory + rf_ring_slot_offset(reader->slot) + rf_ring_chunk_offset(reader->tail);
    memcpy(words, chunk + reader->taken, end - reader->taken);
    return (end - reader->taken) / 8;
}

static uint64_t read_stage(const struct rf_ring_slot *shared)
{
    uint64_t stage = __atomic_load_n(&shared->stage, __ATOMIC_ACQUIRE);
    bool is_one = rf_stage_kind(stage) <= RF_STAGE_PART && rf_stage_place(stage) <= RF_RING_CHUNK &&
                  rf_stage_note(stage) <= RF_RING_NOTES_ROOM;
    return is_one ? stage : 0;
}

/* The position of the producer in the chunk that it is filling; `taken` when that makes no sense. Where it was killed
 * while it merged notes, the stage knows it. */
static uint32_t committed(const struct rf_ring_slot *shared, const struct rf_ring_reader *reader,
                          enum rf_ring_how how)
{
    uint64_t cursor = __atomic_load_n(&shared->cursor, __ATOMIC_ACQUIRE);
    uint64_t offset = cursor - reader->base - rf_ring_chunk_offset(reader->tail);
    uint64_t stage = how == RF_RING_REST ? read_stage(shared) : 0;
    if (rf_stage_kind(stage) != RF_STAGE_STILL)
        offset = rf_stage_place(stage);
    return offset <= RF_RING_CHUNK && offset % 8 == 0 && offset > reader->taken ? (uint32_t)offset
                                                                                : reader->taken;
}

/* There is nothing to read. Where somebody else has written to the tail, the producer may wait for room that it has. */
static void mend_tail(struct rf_ring_slot *shared, const struct rf_ring_reader *reader)
{
    if (__atomic_load_n(&shared->tail, __ATOMIC_SEQ_CST) == reader->tail)
        return;
    __atomic_store_n(&shared->tail, reader->tail, __ATOMIC_SEQ_CST);
    futex_wake(&shared->tail);
}

rf_status rf_ring_read(struct rf_ring *ring, struct rf_ring_reader *reader, enum rf_ring_how how,
                       uint64_t *words, size_t *n, bool *whole)
{
    struct rf_ring_slot *shared = slot_at(ring, reader->slot);
    uint32_t head = __atomic_load_n(&shared->head, __ATOMIC_ACQUIRE);
    *n = 0;
    *whole = false;
    if (head - reader->tail > RF_RING_CHUNKS)
        return RF_EDAMAGED;
    if (head != reader->tail) {
        uint32_t fill = shared->fill[reader->tail % RF_RING_CHUNKS];
        if (fill > RF_RING_CHUNK || fill % 8 != 0 || fill < reader->taken)
            return RF_EDAMAGED;
        *n = copy_out(ring, reader, words, fill);
        *whole = true;
        give_back(shared, reader);
        return RF_OK;
    }
    mend_tail(shared, reader);
    if (how != RF_RING_WHOLE)
        *n = copy_out(ring, reader, words, committed(shared, reader, how));
    return RF_OK;
}

uint32_t rf_ring_head(const struct rf_ring *ring, const struct rf_ring_reader *reader)
{
    return __atomic_load_n(&slot_at(ring, reader->slot)->head, __ATOMIC_ACQUIRE);
}

void rf_ring_advance(struct rf_ring_reader *reader, size_t n)
{
    reader->taken += (uint32_t)n * 8;
}

const uint64_t *rf_ring_counters(const struct rf_ring *ring, const struct rf_ring_reader *reader)
{
    if (!ring->is_counted)
        return NULL;
    return (const uint64_t *)(const void *)(ring->memory +
                                            rf_ring_counters_offset(ring->slots, reader->slot));
}

const struct rf_ring_place *rf_ring_places(const struct rf_ring *ring,
                                           const struct rf_ring_reader *reader, size_t *n)
{
    const uint64_t *counters = rf_ring_counters(ring, reader);
    uint64_t size = __atomic_load_n(&slot_at(ring, reader->slot)->places, __ATOMIC_ACQUIRE);
    bool is_size =
        size >= RF_RING_PLACES_MIN && size <= RF_RING_PLACES_MAX && (size & (size - 1)) == 0;
    *n = is_size ? (size_t)size : 0;
    if (counters == NULL || !is_size)
        return NULL;
    return (const struct rf_ring_place *)(const void *)counters + rf_ring_places_offset(size);
}

const struct rf_ring_word *rf_ring_words(const struct rf_ring *ring,
                                         const struct rf_ring_reader *reader)
{
    if (!ring->is_counted)
        return NULL;
    return rf_ring_words_in(ring->memory + rf_ring_counters_offset(ring->slots, reader->slot));
}

const struct rf_ring_pocket *rf_ring_pockets(const struct rf_ring *ring,
                                             const struct rf_ring_reader *reader, size_t *n)
{
    uint64_t count = __atomic_load_n(&slot_at(ring, reader->slot)->pockets, __ATOMIC_ACQUIRE);
    *n = ring->is_counted && count <= RF_RING_POCKETS ? (size_t)count : 0;
    if (!ring->is_counted)
        return NULL;
    return rf_ring_pockets_in(ring->memory + rf_ring_counters_offset(ring->slots, reader->slot));
}

uint64_t rf_ring_count_produced(const struct rf_ring *ring, const struct rf_ring_reader *reader,
                                unsigned kind)
{
    return __atomic_load_n(&slot_at(ring, reader->slot)->produced[kind], __ATOMIC_ACQUIRE);
}

bool rf_ring_remains(const struct rf_ring *ring, const struct rf_ring_reader *reader,
                     struct rf_remains *remains)
{
    const struct rf_ring_slot *shared = slot_at(ring, reader->slot);
    const uint64_t *counters = rf_ring_counters(ring, reader);
    if (counters == NULL)
        return false;
    uint64_t bytes = __atomic_load_n(&shared->note, __ATOMIC_ACQUIRE) - shared->notes;
    *remains = (struct rf_remains){
        .table = counters + RF_RING_COUNTERS,
        .notes = counters + RF_RING_COUNTERS + 2 * (size_t)RF_RING_TABLE,
        .n_notes = bytes <= RF_RING_NOTES_ROOM * 16 ? (uint32_t)(bytes / 16) : 0,
        .stage = read_stage(shared)};
    return true;
}

bool rf_ring_is_mapped_by(const struct rf_ring *ring, pid_t pid)
{
    char line[4300], wanted[32];
    struct stat status;
    bool found = false;
    rf_format(line, sizeof line, "/proc/%d/maps", (int)pid);
    FILE *maps = fopen(line, "re");
    if (maps == NULL || fstat(ring->fd, &status) != 0)
        return false;
    rf_format(wanted, sizeof wanted, " %llu ", (unsigned long long)status.st_ino);
    while (!found && fgets(line, sizeof line, maps) != NULL)
        found = strstr(line, wanted) != NULL && strstr(line, "riffle-ring") != NULL;
    fclose(maps);
    return found;
}

void rf_ring_release(struct rf_ring *ring, const struct rf_ring_reader *reader)
{
    struct rf_ring_slot *shared = slot_at(ring, reader->slot);
    uint64_t counters = rf_ring_counters_offset(ring->slots, reader->slot);
    if (ring->is_counted && fallocate(ring->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                                      (off_t)counters, RF_RING_COUNTER_BYTES) != 0)
        memset(ring->memory + counters, 0, RF_RING_COUNTER_BYTES);
    /* Give the slot's memory back to the system. The state, which is part of it, becomes 0: free. */
    if (fallocate(ring->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                  (off_t)rf_ring_slot_offset(reader->slot), RF_RING_SLOT) != 0)
        __atomic_store_n(&shared->state, RF_RING_FREE, __ATOMIC_SEQ_CST);
}

uint32_t rf_ring_bell(const struct rf_ring *ring)
{
    return __atomic_load_n(&ring->control->bell, __ATOMIC_SEQ_CST);
}

void rf_ring_wait(struct rf_ring *ring, uint32_t bell, unsigned milliseconds)
{
    struct timespec tick = {milliseconds / 1000, (long)(milliseconds % 1000) * 1000000};
    __atomic_store_n(&ring->control->sleeping, 1, __ATOMIC_SEQ_CST);
    if (rf_ring_bell(ring) == bell)
        syscall(SYS_futex, &ring->control->bell, FUTEX_WAIT, bell, &tick, NULL, 0);
    __atomic_store_n(&ring->control->sleeping, 0, __ATOMIC_SEQ_CST);
}

void rf_ring_detach(struct rf_ring *ring)
{
    __atomic_store_n(&ring->control->detached, 1, __ATOMIC_SEQ_CST);
    for (uint32_t i = 0; i < ring->slots; i++)
        if (__atomic_load_n(&slot_at(ring, i)->state, __ATOMIC_ACQUIRE) != RF_RING_FREE)
            futex_wake(&slot_at(ring, i)->tail);
}
