/* life.c - start, threads and forks.
 *
 *     start      the constructor reads RIFFLE_HOOKS; without it, or without a ring behind it, hooks stay idle
 *     thread     its first event takes a lane: one that an ended thread left, or a new one
 *     its end    the lane is free for the next thread, with all the places that it knows; one that was not given back, when there is no other
 *     fork       the child begins anew, as a process without a parent
 *     exec       the new program reads RIFFLE_HOOKS again, where it has hooks
 *     end        nothing to do: counts and cursor lie in the shared memory */
#include "hooks.h"
#include <cpuid.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

struct rf_hooks_options rf_hooks_options = {.ring_fd = -1};
uint32_t rf_hooks_listening;
uint8_t rf_hooks_mode[RF_WORD_CLASSES];
__thread struct rf_hooks_lane *rf_hooks_lane;
uint8_t rf_hooks_wanted_2[RF_INPLACE_WANTED];

enum { NESTED_MAX = 8, NAME_BYTES = RF_WORD_NAME_BYTES };

static struct rf_hooks_lane *lanes; /* one for each slot of the ring */
static uint32_t n_lanes;            /* those behind them were never taken */

/* What a thread has that found none: always busy. So it needs no other word of its own. */
static struct rf_hooks_lane nowhere;
static uint32_t n_threads;
static pthread_key_t at_exit;
static bool has_key;
static char program_name[NAME_BYTES];
static char text[RF_HOOKS_TEXT]; /* of the options, which point into it */

RF_HOOKS_NOTED(RF_HOOKS_NOTE);

/* ---- threads ---- */

/* A word for the collector: this thread's events follow. */
static void tell_thread(struct rf_hooks_lane *lane)
{
    uint64_t *to = rf_hooks_reserve(lane, 2);
    to[0] = RF_WORD_HEADER(RF_WORD_THREAD, 2);
    to[1] = lane->thread < RF_WORD_THREADS_MAX ? lane->thread : RF_WORD_THREADS_MAX;
    rf_hooks_commit(lane, to + 2);
}

static bool take(struct rf_hooks_lane *lane, uint32_t state)
{
    return __atomic_compare_exchange_n(&lane->state, &state, RF_HOOKS_TAKEN, false,
                                       __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

static struct rf_hooks_lane *take_any(uint32_t state, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (lanes[i].state == state && take(&lanes[i], state))
            return &lanes[i];
    return NULL;
}

static void reach(uint32_t n)
{
    uint32_t seen = __atomic_load_n(&n_lanes, __ATOMIC_SEQ_CST);
    while (seen < n && !__atomic_compare_exchange_n(&n_lanes, &seen, n, false, __ATOMIC_SEQ_CST,
                                                    __ATOMIC_SEQ_CST))
        ;
}

/* Whose lane it is: a kernel's thread, of which there may be another one with the same number later. */
static uint64_t owner_after(uint64_t owner, uint32_t tid)
{
    return ((owner >> 32) + 1) << 32 | tid;
}

static uint32_t own_tid(void)
{
    return (uint32_t)rf_hooks_syscall(SYS_gettid, 0, 0, 0, 0, 0, 0);
}

/* In a child that no handler of pthread_atfork has seen, lanes are still those of its parent, whose threads it does not know. */
static bool is_gone(const struct rf_hooks_lane *lane, uint32_t tid)
{
    long pid = rf_hooks_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0);
    return lane->slot->pid == pid && rf_hooks_syscall(SYS_tgkill, pid, tid, 0, 0, 0, 0) == -ESRCH;
}

static void use_lane(struct rf_hooks_lane *lane)
{
    rf_hooks_use_pockets(NULL); /* until both are set: a signal may come in between */
    rf_hooks_then();
    rf_hooks_lane = lane;
    rf_hooks_then();
    rf_hooks_use_pockets(lane);
}

/* A signal handler that interrupts a hook runs at least this far below it on the stack: there are 128 bytes that the hook may use,
 * 512 or more of vectors, and about 440 of all else that Linux keeps. A later hook at the same depth stands a little below, never so far:
 * code in place of calls says the program's own stack pointer. */
enum { HANDLER_BELOW = 1024 };

static bool is_handler_of(uint64_t busy, uint64_t stack)
{
    return stack + HANDLER_BELOW <= busy;
}

/* A hook that stands so far below is taken for a handler's: its events go to another lane. The first one that does not shows that the
 * hook inside was left. */
bool rf_hooks_was_left(uint64_t busy, uint64_t stack)
{
    stack_t other;
    if (rf_hooks_syscall(SYS_sigaltstack, 0, (long)&other, 0, 0, 0, 0) != 0)
        return false;
    uint64_t start = (uint64_t)(uintptr_t)other.ss_sp;
    bool was_there = busy >= start && busy - start < other.ss_size;
    if ((other.ss_flags & SS_ONSTACK) != 0)
        return was_there && !is_handler_of(busy, stack);
    return was_there || !is_handler_of(busy, stack);
}

/* A hook was left. Where it was in the middle of something larger, that is brought to an end. False: that cannot be. */
static bool mend(struct rf_hooks_lane *lane, uint64_t stack)
{
    if (lane->slow == 0)
        return true;
    lane->busy = stack;
    rf_hooks_then();
    if (!rf_hooks_mend_chunk(lane))
        return false;
    rf_hooks_mend_places(lane);
    lane->slow = 0;
    return true;
}

/* ---- taking a lane ---- */

static struct rf_hooks_lane *take_idle(void)
{
    struct rf_hooks_lane *lane = take_any(RF_HOOKS_IDLE, n_lanes);
    if (lane != NULL)
        lane->owner = owner_after(lane->owner, own_tid());
    return lane;
}

static struct rf_hooks_lane *take_fresh(void)
{
    struct rf_hooks_lane *lane = take_any(RF_HOOKS_EMPTY, rf_hooks_slots());
    if (lane == NULL)
        return NULL;
    reach((uint32_t)(lane - lanes) + 1);
    if (!rf_hooks_open_lane(lane)) {
        __atomic_store_n(&lane->state, RF_HOOKS_EMPTY, __ATOMIC_SEQ_CST);
        return NULL;
    }
    if (rf_hooks_options.n_groups > 0)
        rf_hooks_begin_bursts(lane);
    lane->owner = owner_after(lane->owner, own_tid());
    return lane;
}

/* One that a thread took in the last of its destructors, behind end_thread, and never gave back. To look for those takes a system
 * call each, so that is only done where there is no other. */
static struct rf_hooks_lane *take_orphan(void)
{
    for (uint32_t i = 0; i < n_lanes; i++) {
        struct rf_hooks_lane *lane = &lanes[i];
        uint64_t owner = __atomic_load_n(&lane->owner, __ATOMIC_SEQ_CST);
        bool is_left = lane->state == RF_HOOKS_TAKEN && !lane->is_abandoned &&
                       (uint32_t)owner != 0 && is_gone(lane, (uint32_t)owner);
        if (is_left &&
            __atomic_compare_exchange_n(&lane->owner, &owner, owner_after(owner, own_tid()), false,
                                        __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST) &&
            mend(lane, rf_hooks_stack())) {
            lane->busy = 0;
            return lane;
        }
    }
    return NULL;
}

/* What end_thread is called with. */
static void keep(const void *what)
{
    if (__atomic_load_n(&has_key, __ATOMIC_SEQ_CST))
        pthread_setspecific(at_exit, what);
}

/* One that has ended its lane keeps its number in the place of that: destructors may be behind it. */
static uint32_t number_of_thread(void)
{
    uintptr_t kept = has_key ? (uintptr_t)pthread_getspecific(at_exit) : 0;
    if (rf_hooks_lane != NULL && rf_hooks_lane != &nowhere)
        return rf_hooks_lane->thread;
    return (kept & 1) != 0 ? (uint32_t)(kept >> 1)
                           : __atomic_add_fetch(&n_threads, 1, __ATOMIC_SEQ_CST);
}

/* A lane of this thread: one that was used before, or a new one. */
static struct rf_hooks_lane *take_lane(void)
{
    struct rf_hooks_lane *lane = take_idle();
    if (lane == NULL)
        lane = take_fresh();
    if (lane == NULL)
        lane = take_orphan();
    if (lane == NULL)
        return NULL;
    lane->thread = number_of_thread();
    lane->above = NULL;
    tell_thread(lane);
    return lane;
}

static struct rf_hooks_lane *begin_thread(void)
{
    struct rf_hooks_lane *lane = take_lane();
    if (lane == NULL) {
        rf_hooks_lane = &nowhere;
        rf_hooks_count_unfollowed();
        return NULL;
    }
    if (rf_hooks_lane != &nowhere)
        lane->above = rf_hooks_lane; /* a signal came in between and took one */
    use_lane(lane);
    keep(lane);
    return lane;
}

/* The first event of a thread, or one of a signal handler that runs inside of a hook. Where a hook was left, its lane is mended; one that
 * cannot be mended is not used again, and all that it committed is counted. */
struct rf_hooks_lane *rf_hooks_find_lane(uint64_t stack)
{
    struct rf_hooks_lane **at = &rf_hooks_lane;
    if (*at == NULL)
        return rf_hooks_listening ? begin_thread() : NULL;
    if (*at == &nowhere)
        return NULL;
    for (int depth = 0; *at != NULL && depth < NESTED_MAX;) {
        struct rf_hooks_lane *lane = *at;
        bool left = lane->busy != 0 && rf_hooks_was_left(lane->busy, stack);
        if (lane->busy == 0 || (left && mend(lane, stack)))
            return lane;
        if (left && (lane->above != NULL || at != &rf_hooks_lane)) {
            *at = lane->above;
            use_lane(rf_hooks_lane);
            continue;
        }
        at = &lane->above;
        depth++;
    }
    if (*at == NULL)
        *at = take_lane();
    return *at != NULL && (*at)->busy == 0 ? *at : NULL;
}

/* Whose name is its own. */
static void tell_name(struct rf_hooks_lane *lane)
{
    char name[NAME_BYTES] = "";
    rf_hooks_syscall(SYS_prctl, PR_GET_NAME, (long)name, 0, 0, 0, 0);
    if (lane->thread == 1 || strcmp(name, program_name) == 0)
        return;
    uint64_t *to = rf_hooks_reserve(lane, 2 + NAME_BYTES / 8);
    to[0] = RF_WORD_HEADER(RF_WORD_NAME, 2 + NAME_BYTES / 8);
    to[1] = lane->thread < RF_WORD_THREADS_MAX ? lane->thread : RF_WORD_THREADS_MAX;
    memcpy(to + 2, name, NAME_BYTES);
    rf_hooks_commit(lane, to + 2 + NAME_BYTES / 8);
}

/* The number is kept, for what destructors do behind this one. So this is called again in each of the last rounds, and a lane that they took
 * in between is given back, too. */
static void end_thread(void *was)
{
    struct rf_hooks_lane *lane = rf_hooks_lane, *above;
    const void *kept = lane != NULL                ? (void *)((uintptr_t)lane->thread << 1 | 1)
                       : ((uintptr_t)was & 1) != 0 ? was
                                                   : NULL;
    keep(kept);
    use_lane(NULL);
    for (; lane != NULL; lane = above) {
        above = lane->above;
        if (!mend(lane, rf_hooks_stack()))
            continue;
        lane->slow = 1;
        lane->busy = rf_hooks_stack();
        tell_name(lane);
        lane->busy = lane->slow = 0;
        lane->owner = owner_after(lane->owner, 0);
        __atomic_store_n(&lane->state, RF_HOOKS_IDLE, __ATOMIC_SEQ_CST);
    }
}

/* ---- forks ---- */

void rf_hooks_begin_child(void)
{
    if (!rf_hooks_options.follow) {
        rf_hooks_listening = 0;
        rf_hooks_stop();
    }
    n_threads = 0;
    keep(NULL);
    use_lane(NULL);
    for (uint32_t i = 0; i < n_lanes; i++) {
        struct rf_hooks_lane *lane = &lanes[i];
        if (lane->slot == NULL)
            continue;
        rf_hooks_abandon_lane(lane);
        if (lane->busy) /* whoever is inside still uses it */
            continue;
        rf_hooks_release(lane->kinds, RF_RING_PLACES_MAX);
        rf_hooks_end_pockets(lane);
        memset(lane, 0, offsetof(struct rf_hooks_lane, spans));
    }
}

/* ---- options ---- */

static void read_classes(const char *value)
{
    static const char *const names[] = {[RF_WORD_LOAD] = "load",
                                        [RF_WORD_STORE] = "store",
                                        [RF_WORD_BRANCH] = "branch",
                                        [RF_WORD_CALL] = "call"};
    for (unsigned kind = 0; kind < sizeof names / sizeof names[0]; kind++) {
        const char *at = names[kind] != NULL ? strstr(value, names[kind]) : NULL;
        if (at == NULL)
            continue;
        rf_hooks_options.mode[kind] = RF_HOOKS_STREAM;
        for (at += strlen(names[kind]) + 1; *at != ',' && *at != '\0'; at++)
            rf_hooks_options.want[kind] |= *at == 'a'   ? RF_HOOKS_ADDR
                                           : *at == 'v' ? RF_HOOKS_VALUE
                                                        : 0;
    }
}

static void read_groups(char *value)
{
    char *rest = value;
    while (*rest != '\0' && rf_hooks_options.n_groups < RF_RING_GROUPS) {
        unsigned long classes = strtoul(rest, &rest, 16);
        for (unsigned kind = 0; kind < RF_WORD_CLASSES; kind++)
            if (classes >> kind & 1)
                rf_hooks_options.group[kind] = rf_hooks_options.n_groups;
        rf_hooks_options.n_groups++;
        rest += *rest == ',';
    }
}

static void read_range(const char *value)
{
    struct rf_hooks_options *options = &rf_hooks_options;
    char *end;
    uint64_t low = strtoull(value, &end, 16);
    if (*end == '-' && options->n_ranges < RF_HOOKS_RANGES_MAX) {
        options->ranges[options->n_ranges].low = low;
        options->ranges[options->n_ranges++].high = strtoull(end + 1, NULL, 16);
    }
}

static void read_option(char *name, char *value)
{
    struct rf_hooks_options *options = &rf_hooks_options;
    if (strcmp(name, "ring-fd") == 0)
        options->ring_fd = atoi(value);
    else if (strcmp(name, "ring-path") == 0)
        options->ring_path = value;
    else if (strcmp(name, "want") == 0)
        read_classes(value);
    else if (strcmp(name, "groups") == 0)
        read_groups(value);
    else if (strcmp(name, "range") == 0)
        read_range(value);
    else if (strcmp(name, "module") == 0 && options->n_modules < RF_HOOKS_MODULES_MAX)
        options->modules[options->n_modules++] = value;
    else if (strcmp(name, "lossy") == 0)
        options->lossy = true;
    else if (strcmp(name, "follow") == 0)
        options->follow = true;
    else if (strcmp(name, "threads") == 0)
        options->threads = true;
    else if (strcmp(name, "merge") == 0)
        options->merge = true;
}

/* Does this processor have the instruction by which words are found (crc32, of SSE 4.2)? */
static bool can_hash(void)
{
    unsigned a, b, c, d;
    return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_SSE4_2) != 0;
}

/* What may be merged, is: with one changing word or none. */
static uint8_t mode_of(unsigned want)
{
    if (rf_hooks_options.n_groups > 0)
        return rf_hooks_options.n_modules + rf_hooks_options.n_ranges == 0 ? RF_HOOKS_SAMPLE
                                                                           : RF_HOOKS_SAMPLE_SOME;
    if (!rf_hooks_options.merge || !rf_hooks_can_merge() || !can_hash() ||
        rf_hooks_options.threads || want == (RF_HOOKS_ADDR | RF_HOOKS_VALUE))
        return RF_HOOKS_STREAM;
    return want == 0 ? RF_HOOKS_COUNT : want == RF_HOOKS_ADDR ? RF_HOOKS_ADDRESS : RF_HOOKS_LOADED;
}

static void choose_modes(void)
{
    for (unsigned kind = 0; kind < RF_WORD_CLASSES; kind++)
        if (rf_hooks_options.mode[kind] != RF_HOOKS_OFF)
            rf_hooks_options.mode[kind] = mode_of(rf_hooks_options.want[kind]);
}

/* "ring-fd=1027\x1fring-path=...\x1f..."; a separator that no path has, usually. */
static bool read_options(const char *given)
{
    size_t length = strlen(given);
    if (length >= sizeof text)
        return false;
    memcpy(text, given, length + 1);
    for (char *rest = text, *option; (option = strsep(&rest, "\x1f")) != NULL;) {
        char *value = strchr(option, '=');
        if (value == NULL)
            continue;
        *value++ = '\0';
        read_option(option, value);
    }
    return true;
}

/* ---- start ---- */

void rf_hooks_listen(void)
{
    __atomic_store_n(&rf_hooks_listening, 1, __ATOMIC_SEQ_CST);
    memcpy(rf_hooks_mode, rf_hooks_options.mode, sizeof rf_hooks_mode);
    rf_hooks_wanted_2[RF_INPLACE_LOADS] = rf_hooks_mode[RF_WORD_LOAD] != RF_HOOKS_OFF;
    rf_hooks_wanted_2[RF_INPLACE_STORES] = rf_hooks_mode[RF_WORD_STORE] != RF_HOOKS_OFF;
    /* in bursts, calls end intervals */
    rf_hooks_wanted_2[RF_INPLACE_CALLS] =
        rf_hooks_mode[RF_WORD_CALL] != RF_HOOKS_OFF || rf_hooks_options.n_groups > 0;
}

void rf_hooks_stop(void)
{
    memset(rf_hooks_mode, RF_HOOKS_OFF, sizeof rf_hooks_mode);
    memset(rf_hooks_wanted_2, 0, sizeof rf_hooks_wanted_2);
}

static void start(void)
{
    static uint32_t started;
    if (__atomic_exchange_n(&started, 1, __ATOMIC_SEQ_CST) != 0)
        return;
    const char *given = secure_getenv("RIFFLE_HOOKS");
    if (given == NULL || !read_options(given) || !rf_hooks_can_restart() || !rf_hooks_find_ring())
        return;
    choose_modes();
    if (!rf_hooks_options.follow)
        unsetenv("RIFFLE_HOOKS");
    rf_hooks_syscall(SYS_prctl, PR_GET_NAME, (long)program_name, 0, 0, 0, 0);
    nowhere.busy = UINT64_MAX;
    lanes = rf_hooks_allocate(rf_hooks_slots() * sizeof *lanes);
    has_key = lanes != NULL && pthread_key_create(&at_exit, end_thread) == 0;
    if (has_key && pthread_atfork(NULL, NULL, rf_hooks_begin_child) == 0)
        rf_hooks_listen();
}

void rf_hooks_close(void)
{
    if (__atomic_exchange_n(&has_key, false, __ATOMIC_SEQ_CST))
        pthread_key_delete(at_exit);
}

/* Called by a constructor of each compiled file, before its own code. */
void __tsan_init(void);
RF_HOOKS_SHOWN void __tsan_init(void)
{
    start();
}

__attribute__((constructor(101))) static void start_first(void)
{
    start();
}
