/* crew.c - parcels of tuples from the thread that reads to the threads that count.
 *
 *     reader --copy--> [parcel of lane 0, being filled] --full--> queue --> thread 0 --> engine 0
 *                      [parcel of lane 1, being filled] --full--> queue --> thread 1 --> engine 1
 *                             ^------------------ free <--------------------'
 *
 * A run has one engine per profile, and the engines limit its speed. With a core for each, the run is as fast
 * as the slowest engine, instead of taking the sum of their times. A thread owns the parcels of its lanes:
 * one open
 * for each lane and SPARE more that queue. When all of them queue, the reader waits, and so does the profiled
 * program, because its ring fills: nothing is lost and memory stays bounded. Waking a thread costs as much as
 * a parcel of tuples. Therefore a thread sleeps until several parcels queue, and the reader until many are
 * free.
 *
 * Signals stay with the caller's thread, where a wait for the source can be interrupted.
 * Memory: 96 KiB per parcel; each thread has one parcel per lane of its own and SPARE more.
 * Cannot: split one engine; a lane is as fast as one core. After a failure or an interrupt, how far the lanes
 * of other threads got depends on timing; their profiles are right as far as they go. */
#include "collect/crew.h"
#include "base/alloc.h"
#include "base/error.h"
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>

enum { PARCEL = 4096, SPARE = 16, WORTH_WAKING = SPARE / 4, WORTH_GOING_ON = SPARE / 2 };

struct parcel {
    struct parcel *next;
    size_t lane, n;
    bool counted; /* else every tuple is there once */
    bool gap;     /* behind the last of them */
    struct rf_tuple tuples[PARCEL];
    uint64_t counts[PARCEL];
};

struct worker {
    struct rf_crew *crew;
    pthread_t thread;
    pthread_mutex_t lock; /* of everything below */
    pthread_cond_t work;  /* for the thread: enough parcels queue, someone waits, or the end */
    pthread_cond_t done;  /* for the reader: enough are free, or nothing is left to do */
    struct parcel *first, *last, *free;
    size_t n_queued, n_free;
    bool busy, ending;
    rf_status status;
    struct rf_error error;
};

struct rf_crew {
    struct rf_alloc alloc;
    size_t size; /* of this block */
    rf_crew_work *feed;
    void *context;
    size_t n_workers, n_lanes;
    size_t n_started;
    struct worker *workers;
    struct parcel **open; /* by lane; NULL: none */
    struct parcel *parcels;
};

static struct worker *worker_of(struct rf_crew *crew, size_t lane)
{
    return &crew->workers[lane % crew->n_workers];
}

/* --- the thread -------------------------------------------------------------------------------- */

/* The next parcel; NULL: that was all. With the lock held. */
static struct parcel *take(struct worker *worker)
{
    while (worker->first == NULL && !worker->ending)
        pthread_cond_wait(&worker->work, &worker->lock);
    struct parcel *parcel = worker->first;
    if (parcel == NULL)
        return NULL;
    worker->first = parcel->next;
    worker->n_queued--;
    worker->busy = true;
    return parcel;
}

static void give_back(struct worker *worker, struct parcel *parcel)
{
    parcel->next = worker->free;
    worker->free = parcel;
    worker->n_free++;
    worker->busy = false;
    if (worker->n_free >= WORTH_GOING_ON || worker->first == NULL)
        pthread_cond_signal(&worker->done);
}

static rf_status work_on(struct worker *worker, const struct parcel *parcel, struct rf_error *error)
{
    const struct rf_crew *crew = worker->crew;
    const struct rf_tuples tuples = {parcel->tuples, parcel->counted ? parcel->counts : NULL,
                                     parcel->n};
    rf_status status =
        parcel->n > 0 ? crew->feed(crew->context, parcel->lane, &tuples, error) : RF_OK;
    const struct rf_tuples nothing = {NULL, NULL, 0};
    return status == RF_OK && parcel->gap ? crew->feed(crew->context, parcel->lane, &nothing, error)
                                          : status;
}

static void *run(void *argument)
{
    struct worker *worker = argument;
    struct rf_error error = {""};
    pthread_mutex_lock(&worker->lock);
    for (struct parcel *parcel; (parcel = take(worker)) != NULL;) {
        rf_status status = worker->status;
        pthread_mutex_unlock(&worker->lock);
        if (status == RF_OK)
            status = work_on(worker, parcel, &error);
        pthread_mutex_lock(&worker->lock);
        if (worker->status == RF_OK && status != RF_OK) {
            worker->status = status;
            worker->error = error;
        }
        give_back(worker, parcel);
    }
    pthread_mutex_unlock(&worker->lock);
    return NULL;
}

/* --- the reader -------------------------------------------------------------------------------- */

/* Wait for an empty parcel for the lane. */
static struct parcel *open_parcel(struct rf_crew *crew, size_t lane, bool counted)
{
    struct worker *worker = worker_of(crew, lane);
    pthread_mutex_lock(&worker->lock);
    while (worker->free == NULL)
        pthread_cond_wait(&worker->done, &worker->lock);
    struct parcel *parcel = worker->free;
    worker->free = parcel->next;
    worker->n_free--;
    pthread_mutex_unlock(&worker->lock);
    parcel->lane = lane;
    parcel->n = 0;
    parcel->counted = counted;
    parcel->gap = false;
    return crew->open[lane] = parcel;
}

/* With the lock held. */
static rf_status status_of(const struct worker *worker, struct rf_error *error)
{
    if (worker->status != RF_OK && error != NULL)
        *error = worker->error;
    return worker->status;
}

/* Send the lane's open parcel to its thread. Returns that thread's status. */
static rf_status send(struct rf_crew *crew, size_t lane, struct rf_error *error)
{
    struct worker *worker = worker_of(crew, lane);
    struct parcel *parcel = crew->open[lane];
    crew->open[lane] = NULL;
    pthread_mutex_lock(&worker->lock);
    if (parcel != NULL) {
        parcel->next = NULL;
        if (worker->first == NULL)
            worker->first = parcel;
        else
            worker->last->next = parcel;
        worker->last = parcel;
        if (++worker->n_queued >= WORTH_WAKING)
            pthread_cond_signal(&worker->work);
    }
    rf_status status = status_of(worker, error);
    pthread_mutex_unlock(&worker->lock);
    return status;
}

static size_t fill(struct parcel *parcel, const struct rf_tuples *tuples, size_t from)
{
    size_t room = PARCEL - parcel->n, n = tuples->n - from < room ? tuples->n - from : room;
    memcpy(parcel->tuples + parcel->n, tuples->tuples + from, n * sizeof *parcel->tuples);
    if (parcel->counted)
        /* NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): counted is opened for counts alone */
        memcpy(parcel->counts + parcel->n, tuples->counts + from, n * sizeof *parcel->counts);
    parcel->n += n;
    return n;
}

rf_status rf_crew_feed(struct rf_crew *crew, size_t lane, const struct rf_tuples *tuples,
                       struct rf_error *error)
{
    bool counted = tuples->counts != NULL;
    rf_status status = RF_OK;
    for (size_t done = 0; done < tuples->n && status == RF_OK;) {
        struct parcel *parcel = crew->open[lane];
        if (parcel != NULL && (parcel->n == PARCEL || parcel->counted != counted)) {
            status = send(crew, lane, error);
            parcel = NULL;
        }
        if (parcel == NULL)
            parcel = open_parcel(crew, lane, counted);
        done += fill(parcel, tuples, done);
    }
    return status;
}

rf_status rf_crew_gap(struct rf_crew *crew, size_t lane, struct rf_error *error)
{
    struct parcel *parcel = crew->open[lane];
    if (parcel == NULL)
        parcel = open_parcel(crew, lane, false);
    parcel->gap = true;
    return send(crew, lane, error);
}

static rf_status wait_for(struct worker *worker, struct rf_error *error)
{
    pthread_mutex_lock(&worker->lock);
    pthread_cond_signal(&worker->work);
    while (worker->first != NULL || worker->busy)
        pthread_cond_wait(&worker->done, &worker->lock);
    rf_status status = status_of(worker, error);
    pthread_mutex_unlock(&worker->lock);
    return status;
}

rf_status rf_crew_wait(struct rf_crew *crew, struct rf_error *error)
{
    rf_status first = RF_OK;
    for (size_t lane = 0; lane < crew->n_lanes; lane++)
        send(crew, lane, NULL);
    for (size_t i = 0; i < crew->n_workers; i++) {
        rf_status status = wait_for(&crew->workers[i], first == RF_OK ? error : NULL);
        first = first == RF_OK ? status : first;
    }
    return first;
}

/* --- opening and closing ------------------------------------------------------------------------ */

static void hand_out_parcels(struct rf_crew *crew)
{
    struct parcel *next = crew->parcels;
    for (size_t i = 0; i < crew->n_workers; i++) {
        size_t lanes = (crew->n_lanes - i + crew->n_workers - 1) / crew->n_workers;
        for (size_t k = 0; k < lanes + SPARE; k++, next++) {
            next->next = crew->workers[i].free;
            crew->workers[i].free = next;
            crew->workers[i].n_free++;
        }
    }
}

/* Signals are for the caller's thread. */
static bool start(struct worker *worker)
{
    sigset_t all, before;
    pthread_mutex_init(&worker->lock, NULL);
    pthread_cond_init(&worker->work, NULL);
    pthread_cond_init(&worker->done, NULL);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = pthread_create(&worker->thread, NULL, run, worker) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

static void start_all(struct rf_crew *crew)
{
    for (size_t i = 0; i < crew->n_workers; i++) {
        crew->workers[i].crew = crew;
        if (!start(&crew->workers[i]))
            return;
        crew->n_started++;
    }
}

rf_status rf_crew_open(struct rf_crew **opened, size_t threads, size_t n_lanes, rf_crew_work *work,
                       void *context, const struct rf_alloc *alloc, struct rf_error *error)
{
    size_t n = threads < n_lanes ? threads : n_lanes;
    size_t n_parcels = n_lanes + n * SPARE;
    size_t size = sizeof(struct rf_crew) + n * sizeof(struct worker) +
                  n_lanes * sizeof(struct parcel *) + n_parcels * sizeof(struct parcel);
    *opened = NULL;
    if (n == 0)
        return RF_OK;
    alloc = rf_alloc_or_standard(alloc);
    struct rf_crew *crew = rf_alloc_get(alloc, size);
    if (crew == NULL)
        return rf_fail(error, RF_ENOMEM, "no memory for %zu threads", n);
    struct worker *workers = (struct worker *)(crew + 1);
    struct parcel *parcels = (struct parcel *)(workers + n);
    *crew = (struct rf_crew){.alloc = *alloc,
                             .size = size,
                             .feed = work,
                             .context = context,
                             .n_workers = n,
                             .n_lanes = n_lanes,
                             .workers = workers,
                             .parcels = parcels,
                             .open = (struct parcel **)(parcels + n_parcels)};
    memset(workers, 0, n * sizeof *workers);
    memset(crew->open, 0, n_lanes * sizeof(struct parcel *));
    hand_out_parcels(crew);
    start_all(crew);
    if (crew->n_started == n)
        *opened = crew;
    else
        rf_crew_close(crew);
    return RF_OK;
}

static void stop(struct worker *worker)
{
    pthread_mutex_lock(&worker->lock);
    worker->ending = true;
    pthread_cond_signal(&worker->work);
    pthread_mutex_unlock(&worker->lock);
    pthread_join(worker->thread, NULL);
    pthread_mutex_destroy(&worker->lock);
    pthread_cond_destroy(&worker->work);
    pthread_cond_destroy(&worker->done);
}

void rf_crew_close(struct rf_crew *crew)
{
    if (crew == NULL)
        return;
    for (size_t i = 0; i < crew->n_started; i++)
        stop(&crew->workers[i]);
    rf_alloc_free(&crew->alloc, crew, crew->size);
}
