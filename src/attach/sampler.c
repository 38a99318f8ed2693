/* sampler.c - sample a process until it ends, the time is up, or somebody says stop.
 *
 *     our thread: budget --> choose a thread that runs --> hold --> [ copy, step, step, ... ] --> release --> catch
 *                                                                                                               |
 *     the caller: every few milliseconds takes the catch, and an empty one goes back      <--------------------'
 *
 * Only this thread traces, and it has all signals blocked. When it ends, or the whole of riffle is killed, the kernel lets go
 * of whatever is held.
 *
 * Memory: two catches of 2.6 MB, 256 KiB of pages, 1 MB of decoded instructions. */
#include "attach/sampler.h"
#include "attach/admit.h"
#include "attach/beside.h"
#include "attach/budget.h"
#include "attach/frames.h"
#include "attach/hold.h"
#include "attach/step.h"
#include "attach/tasks.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/stop.h"
#include "source/import.h"
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    CATCH = 64 * 1024, /* records */
    BURST_MAX = 4096,  /* instructions; each has RF_TRAIL_MAX records at most */
    ENDS = 4096,
    ROOM = CATCH + BURST_MAX * RF_TRAIL_MAX + RF_FRAMES_MAX,
};

#define TAKE_PERIOD  0.05    /* seconds between two looks at the catch */
#define TAKE_LONG    0.2     /* where nothing was caught for a while */
#define MAPS_AGE_MIN 0.05    /* seconds between two readings of what is mapped */
#define STOPS_IN     0.0001  /* seconds in which a thread stops that has a processor */
#define AROUND       0.00004 /* seconds to take and give back its processor from another one */
#define GRACE        2       /* seconds that a thread in the kernel may take to be let go */

struct rf_sampler {
    struct rf_alloc alloc;
    struct rf_attach_setup setup;
    struct rf_stepper *stepper;
    struct rf_tasks tasks;
    struct rf_maps maps;
    struct rf_budget budget;
    struct rf_beside beside;
    struct rf_random random;
    struct rf_import_threads threads;
    int pidfd;
    double begun;
    uint64_t events;
    rf_status status; /* of the thread */
    struct rf_attach_outcome outcome;
    pthread_t thread;
    bool started, joined, abandoned;
    volatile int stop;    /* asked to end */
    pthread_mutex_t lock; /* of what follows */
    bool over;
    struct rf_catch catches[2];
    size_t filling; /* which of them */
};

/* ---- what was caught ---- */

static rf_status open_catches(struct rf_sampler *sampler)
{
    for (size_t i = 0; i < 2; i++) {
        struct rf_catch *one = &sampler->catches[i];
        one->records = rf_alloc_get(&sampler->alloc, ROOM * sizeof *one->records);
        one->ends = rf_alloc_get(&sampler->alloc, ENDS * sizeof *one->ends);
        if (one->records == NULL || one->ends == NULL)
            return RF_ENOMEM;
    }
    return RF_OK;
}

static bool has_room(struct rf_sampler *sampler)
{
    pthread_mutex_lock(&sampler->lock);
    const struct rf_catch *one = &sampler->catches[sampler->filling];
    bool room = one->n < CATCH && one->n_ends < ENDS;
    pthread_mutex_unlock(&sampler->lock);
    return room;
}

static void end_burst(struct rf_sampler *sampler, const struct rf_record *records, size_t n)
{
    pthread_mutex_lock(&sampler->lock);
    struct rf_catch *one = &sampler->catches[sampler->filling];
    memcpy(one->records + one->n, records, n * sizeof *records);
    one->n += n;
    if (n > 0)
        one->ends[one->n_ends++] = (uint32_t)one->n;
    one->bursts++;
    sampler->events += n;
    pthread_mutex_unlock(&sampler->lock);
}

/* ---- a burst ---- */

struct burst {
    struct rf_record *records;
    size_t n;
    uint16_t thread;
};

static void put_frames(struct rf_sampler *sampler, struct burst *burst)
{
    uint64_t frames[RF_FRAMES_MAX], context = 0;
    for (size_t i = rf_frames(sampler->stepper, &sampler->maps, frames); i-- > 0;) {
        burst->records[burst->n++] = (struct rf_record){
            .pc = frames[i], .value = context, .thread = burst->thread, .kind = RF_CLASS_FRAME};
        context = rf_context_below(context, frames[i]);
    }
}

static void note_cut(struct rf_attach_outcome *outcome, enum rf_stepped step)
{
    outcome->cut_kernel += step == RF_STEPPED_KERNEL;
    outcome->cut_unknown += step == RF_STEPPED_UNKNOWN;
    outcome->cut_unreadable += step == RF_STEPPED_UNREADABLE;
}

static void put_trail(const struct rf_sampler *sampler, struct burst *burst,
                      const struct rf_trail *trail)
{
    for (size_t i = 0; i < trail->n; i++) {
        struct rf_record *record = &burst->records[burst->n++];
        *record = trail->records[i];
        if (sampler->setup.no_values && record->kind <= RF_CLASS_STORE)
            record->value = 0;
    }
}

/* What the thread does next, on the copy, while it is held. */
static void run_burst(struct rf_sampler *sampler, const struct rf_hold *hold, struct burst *burst)
{
    struct rf_trail trail = {.classes = sampler->setup.classes, .thread = burst->thread};
    enum rf_stepped step = RF_STEPPED_DONE;
    uint64_t left = sampler->setup.burst;
    if (rf_hold_state(hold, rf_stepper_state(sampler->stepper), RF_EXECUTE_STATE_MAX) == 0)
        return;
    rf_stepper_begin(sampler->stepper, sampler->setup.pid, &hold->registers);
    if ((sampler->setup.classes >> RF_CLASS_FRAME & 1) != 0)
        put_frames(sampler, burst);
    for (; left > 0 && step == RF_STEPPED_DONE; left--) {
        step = rf_stepper_step(sampler->stepper, &trail);
        put_trail(sampler, burst, &trail);
        sampler->outcome.steps += step == RF_STEPPED_DONE;
    }
    note_cut(&sampler->outcome, step);
}

/* Where files were mapped since, or another program runs. */
static rf_status keep_maps(struct rf_sampler *sampler, uint64_t pc)
{
    double now = rf_budget_now();
    bool anew = sampler->tasks.execs != sampler->outcome.execs;
    bool unknown = !rf_maps_has_code(&sampler->maps, pc);
    if (!anew && (!unknown || now - sampler->maps.read_at < MAPS_AGE_MIN))
        return RF_OK;
    sampler->outcome.execs = sampler->tasks.execs;
    return rf_maps_read(&sampler->maps, sampler->setup.pid, sampler->events, anew, now);
}

/* In a system call it is not asked to stop. One that runs all the same, where we could have its processor, may enter a call before it stops:
 * it is left alone until another time. */
static enum rf_held may_ask(const struct rf_sampler *sampler, pid_t tid, int processor)
{
    enum rf_tasks_where where = rf_tasks_where(&sampler->tasks, tid);
    if (where == RF_TASKS_IN_CALL)
        return RF_HELD_KERNEL;
    bool missed = where == RF_TASKS_RUNNING && rf_beside_may_use(&sampler->beside, processor);
    return missed ? RF_HELD_ASLEEP : RF_HELD_RUNNING;
}

/* Stopped where its processor was taken from it; RF_HELD_ASLEEP: it does not run there. */
static enum rf_held hold_it(struct rf_sampler *sampler, struct rf_hold *hold, int processor)
{
    bool there = rf_tasks_runs(&sampler->tasks, hold->tid) && sampler->tasks.processor == processor;
    hold->held = there ? may_ask(sampler, hold->tid, processor) : RF_HELD_ASLEEP;
    bool asked = hold->held == RF_HELD_RUNNING && rf_hold_ask(hold);
    rf_beside_leave(&sampler->beside);
    return asked ? rf_hold_wait(hold) : hold->held;
}

/* False: it was asleep, and nothing was done. */
static bool sample(struct rf_sampler *sampler, pid_t tid, struct burst *burst)
{
    struct rf_hold hold;
    sampler->beside.crowded = sampler->budget.crowd > 0.5;
    bool apart = rf_beside_is_apart(&sampler->beside);
    int processor = sampler->tasks.processor;
    rf_hold_begin(&hold, tid, apart ? STOPS_IN : 0);
    rf_beside_stand(&sampler->beside, processor); /* we may have waited for it: nobody is held */
    double begun = rf_budget_now(), own = rf_budget_own();
    enum rf_held held = hold_it(sampler, &hold, processor);
    if (held == RF_HELD_RUNNING) {
        burst->thread = rf_import_thread(&sampler->threads, (uint64_t)tid);
        run_burst(sampler, &hold, burst);
    }
    double seconds = rf_budget_now() - begun - hold.queued;
    own = apart ? 0 : rf_budget_own() - own;
    if (held == RF_HELD_RUNNING)
        rf_release(&hold); /* from here on it may run, and we may not */
    if (held == RF_HELD_ASLEEP)
        return false;
    seconds += apart ? AROUND : 0;
    rf_budget_spend(&sampler->budget, seconds > 0 ? seconds : 0, own, &sampler->random);
    sampler->outcome.kernel += held == RF_HELD_KERNEL;
    sampler->outcome.refused += held == RF_HELD_REFUSED;
    sampler->outcome.cut_unknown += held == RF_HELD_FOREIGN;
    if (held == RF_HELD_GONE) {
        rf_tasks_forget(&sampler->tasks);
        if (tid == sampler->setup.pid && hold.status >= 0)
            sampler->outcome.wait_status = hold.status;
    }
    if (held != RF_HELD_RUNNING)
        return true;
    sampler->outcome.samples++;
    sampler->status = keep_maps(sampler, hold.registers.rip);
    end_burst(sampler, burst->records, burst->n);
    return true;
}

/* ---- the thread ---- */

static bool has_ended(const struct rf_sampler *sampler)
{
    struct pollfd one = {.fd = sampler->pidfd, .events = POLLIN};
    return poll(&one, 1, 0) > 0;
}

static bool is_over(struct rf_sampler *sampler, double now)
{
    sampler->outcome.ended = has_ended(sampler);
    return sampler->outcome.ended || rf_stop_is_set(&sampler->stop) || sampler->status != RF_OK ||
           rf_stop_is_set(sampler->setup.stop) ||
           (sampler->setup.seconds > 0 && now - sampler->begun >= sampler->setup.seconds);
}

static void rest(double seconds)
{
    struct timespec time = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    nanosleep(&time, NULL);
}

/* The program that is meant runs now; false: not yet. */
static bool begin_program(struct rf_sampler *sampler)
{
    if (sampler->tasks.execs == 0)
        return false;
    sampler->setup.before_exec = 0;
    sampler->tasks.execs = 0;
    rf_admit_program(sampler->setup.pid, sampler->outcome.program, sizeof sampler->outcome.program);
    sampler->status = rf_maps_read(&sampler->maps, sampler->setup.pid, 0, false, rf_budget_now());
    return sampler->status == RF_OK;
}

/* A look at the process, if one may be had now. Returns the seconds until the next one. */
static double look(struct rf_sampler *sampler, double now, struct rf_record *records)
{
    double seconds = 0;
    if (!has_room(sampler))
        return TAKE_PERIOD;
    if (!rf_budget_allows(&sampler->budget, now, &seconds))
        return seconds;
    pid_t tid = rf_tasks_choose(&sampler->tasks, &sampler->random, now);
    if (tid != 0 && sampler->setup.before_exec && !begin_program(sampler))
        return TAKE_PERIOD / 50;
    struct burst burst = {.records = records};
    if (tid != 0 && sample(sampler, tid, &burst))
        return rf_budget_pause(&sampler->random);
    rf_budget_miss(&sampler->budget);
    sampler->outcome.asleep++;
    return 0.001 + 0.004 * rf_random_unit(&sampler->random);
}

static void note_end(struct rf_sampler *sampler)
{
    struct rf_attach_outcome *outcome = &sampler->outcome;
    outcome->wall_seconds = rf_budget_now() - sampler->begun;
    outcome->cpu_seconds = sampler->budget.cpu - sampler->budget.begun;
    outcome->held_seconds = sampler->budget.held;
    outcome->spent_seconds = rf_budget_spent(&sampler->budget);
    outcome->threads = sampler->threads.n;
}

static void *run(void *context)
{
    struct rf_sampler *sampler = context;
    rf_beside_begin(&sampler->beside);
    struct rf_record *records = rf_alloc_get(&sampler->alloc, (ROOM - CATCH) * sizeof *records);
    if (records == NULL)
        sampler->status = RF_ENOMEM;
    sampler->budget.processors = sampler->beside.processors;
    for (double now; !is_over(sampler, now = rf_budget_now());) {
        double seconds = look(sampler, now, records);
        if (seconds > 0)
            rest(seconds);
    }
    rf_alloc_free(&sampler->alloc, records, (ROOM - CATCH) * sizeof *records);
    note_end(sampler);
    rf_beside_end(&sampler->beside);
    pthread_mutex_lock(&sampler->lock);
    sampler->over = true;
    pthread_mutex_unlock(&sampler->lock);
    return NULL;
}

/* Signals stay with the other threads. */
static rf_status start(struct rf_sampler *sampler, struct rf_error *error)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(&sampler->thread, NULL, run, sampler);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    sampler->started = failed == 0;
    if (failed != 0)
        return rf_fail(error, RF_EIO, "cannot start a thread: %s", strerror(failed));
    return RF_OK;
}

/* ---- for the caller ---- */

static rf_status open_parts(struct rf_sampler *sampler, struct rf_error *error)
{
    pid_t pid = sampler->setup.pid;
    rf_status status =
        rf_admit(pid, sampler->outcome.program, sizeof sampler->outcome.program, error);
    if (status != RF_OK)
        return status;
    sampler->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (sampler->pidfd < 0)
        return rf_admit_unseen(pid, errno, error);
    if (open_catches(sampler) != RF_OK)
        return rf_fail(error, RF_ENOMEM, "no memory to attach");
    status = rf_stepper_open(&sampler->stepper, &sampler->alloc, error);
    if (status != RF_OK)
        return status;
    sampler->begun = rf_budget_now();
    rf_tasks_know(&sampler->tasks);
    if (!sampler->setup.before_exec &&
        rf_maps_read(&sampler->maps, pid, 0, false, sampler->begun) != RF_OK)
        return rf_fail(error, RF_ENOMEM, "no memory to attach");
    if (!rf_budget_begin(&sampler->budget, pid, sampler->setup.overhead))
        return rf_fail(error, RF_EINVAL, "process %d has ended", (int)pid);
    return start(sampler, error);
}

static void fill_setup(struct rf_sampler *sampler, const struct rf_attach_setup *setup)
{
    sampler->setup = *setup;
    if (setup->overhead <= 0)
        sampler->setup.overhead = RF_ATTACH_OVERHEAD;
    if (setup->burst == 0)
        sampler->setup.burst = RF_ATTACH_BURST;
    if (setup->burst > BURST_MAX)
        sampler->setup.burst = BURST_MAX;
}

rf_status rf_sampler_open(struct rf_sampler **opened, const struct rf_attach_setup *setup,
                          struct rf_error *error)
{
    const struct rf_alloc *alloc = rf_alloc_or_standard(setup->alloc);
    struct rf_sampler *sampler = *opened = rf_alloc_zeroed(alloc, sizeof *sampler);
    if (sampler == NULL)
        return rf_fail(error, RF_ENOMEM, "no memory to attach");
    sampler->alloc = *alloc;
    sampler->pidfd = -1;
    sampler->outcome.wait_status = -1;
    fill_setup(sampler, setup);
    pthread_mutex_init(&sampler->lock, NULL);
    rf_random_seed(&sampler->random, setup->seed);
    rf_tasks_init(&sampler->tasks, setup->pid, &sampler->alloc);
    rf_maps_init(&sampler->maps, &sampler->alloc);
    rf_status status = open_parts(sampler, error);
    if (status != RF_OK) {
        rf_sampler_close(sampler);
        *opened = NULL;
    }
    return status;
}

bool rf_sampler_take(struct rf_sampler *sampler, const struct rf_catch **taken)
{
    for (double period = TAKE_PERIOD;; period = period < TAKE_LONG ? 2 * period : period) {
        pthread_mutex_lock(&sampler->lock);
        struct rf_catch *full = &sampler->catches[sampler->filling];
        bool over = sampler->over, some = full->bursts > 0;
        if (some) {
            sampler->filling = 1 - sampler->filling;
            struct rf_catch *empty = &sampler->catches[sampler->filling];
            empty->n = empty->n_ends = 0;
            empty->bursts = 0;
        }
        pthread_mutex_unlock(&sampler->lock);
        *taken = full;
        if (some || over)
            return some;
        rest(period);
    }
}

/* A thread of the process that does not leave the kernel (a disk that hangs) cannot be let go before it does. Then our thread
 * stays and waits for it, or the end of riffle does it. */
void rf_sampler_stop(struct rf_sampler *sampler)
{
    struct timespec until;
    if (!sampler->started || sampler->joined || sampler->abandoned)
        return;
    __atomic_store_n(&sampler->stop, 1, __ATOMIC_RELAXED);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += GRACE;
    sampler->joined = pthread_timedjoin_np(sampler->thread, NULL, &until) == 0;
    sampler->abandoned = !sampler->joined;
}

void rf_sampler_close(struct rf_sampler *sampler)
{
    if (sampler == NULL)
        return;
    rf_sampler_stop(sampler);
    if (sampler->abandoned)
        return; /* its memory is still used */
    const struct rf_alloc alloc = sampler->alloc;
    for (size_t i = 0; i < 2; i++) {
        rf_alloc_free(&alloc, sampler->catches[i].records,
                      ROOM * sizeof *sampler->catches[i].records);
        rf_alloc_free(&alloc, sampler->catches[i].ends, ENDS * sizeof *sampler->catches[i].ends);
    }
    rf_stepper_close(sampler->stepper);
    rf_tasks_free(&sampler->tasks);
    rf_maps_free(&sampler->maps);
    if (sampler->pidfd >= 0)
        close(sampler->pidfd);
    pthread_mutex_destroy(&sampler->lock);
    rf_alloc_free(&alloc, sampler, sizeof *sampler);
}

void rf_sampler_outcome(const struct rf_sampler *sampler, struct rf_attach_outcome *outcome)
{
    *outcome = sampler->outcome;
}

const struct rf_modules *rf_sampler_modules(const struct rf_sampler *sampler)
{
    return &sampler->maps.modules;
}
