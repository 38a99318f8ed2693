/* attach.c - the co-processor beside the simulated core.
 *
 *     retired instructions, their records --> filter, buffer, processor     at the core's clock or a fraction of it
 *                                   | interrupt
 *                                   v
 *     trap --> the handler, as guest code, over a window and a table in guest memory --> returned
 *
 * The handler fetches, misses and mispredicts as all code does, and its table lies in the caches beside the
 * program's data: that is the overhead. The co-processor is halted meanwhile; its samples wait in the buffer.
 *
 * On a core without timing there is no clock: the core waits for the co-processor and nothing is dropped. Records then
 * come in groups; those behind the one that led to an interrupt wait until the handler is over, and what is
 * found is what rf_coproc_feed finds in the same records. Such a core has no caches either. What loads and stores miss
 * comes from a model of caches, as it does for the collector, which is asked later than we are.
 *
 * The window is written when the trap is taken, and read when the handler is over: nobody else looks at it in
 * between. Its words go through the data cache like other memory; a real bus to the co-processor would be
 * slower, and would not push the program's data out. */
#include "coproc/coproc.h"
#include "coproc/guest/blob.h"
#include "base/alloc.h"
#include "base/error.h"
#include "machine/hooks.h"
#include <riffle/cache.h>
#include <string.h>

enum { WAITING_MAX = 1 << 20, CHUNK = 256 };

struct attachment {
    struct rf_coproc *coproc;
    struct rf_source *source;
    uint64_t code, window, table; /* guest addresses */
    uint64_t entered;             /* when the trap was asked for */
    bool in_handler;
    struct rf_record *waiting; /* without timing: behind an interrupt */
    size_t n_waiting, room, done;
    struct rf_cache *cache; /* NULL: the records know what they missed, or nobody asks */
    struct rf_record chunk[CHUNK];
};

static uint64_t clock_of(const struct attachment *at)
{
    return rf_machine_cycles(at->source);
}

static struct rf_table *guest_table(const struct attachment *at)
{
    return (struct rf_table *)rf_machine_at(at->source, at->table, at->coproc->table_bytes);
}

static void trap(struct attachment *at, enum rf_reason reason)
{
    struct rf_coproc *coproc = at->coproc;
    const uint64_t arguments[] = {at->window, at->table};
    rf_coproc_show(coproc, reason);
    memcpy(rf_machine_at(at->source, at->window, sizeof *coproc->window), coproc->window,
           sizeof *coproc->window);
    coproc->halted = true;
    coproc->counts.quiets += reason == RF_REASON_QUIET;
    at->entered = clock_of(at);
    at->in_handler = rf_machine_trap(at->source, at->code, arguments, 2);
}

/* Is the handler due? */
static bool calls(struct attachment *at)
{
    if (at->in_handler)
        return true;
    if (at->coproc->halted)
        trap(at, RF_REASON_INTERRUPT);
    else if (rf_coproc_is_quiet(at->coproc))
        trap(at, RF_REASON_QUIET);
    return at->in_handler;
}

/* Those that wait, until the next interrupt. */
static void catch_up(struct attachment *at)
{
    while (at->done < at->n_waiting && !calls(at))
        at->done +=
            rf_coproc_run_until_due(at->coproc, at->waiting + at->done, at->n_waiting - at->done);
    if (at->done == at->n_waiting && !calls(at))
        at->done = at->n_waiting = 0;
}

/* They wait; where there is no memory for them, they are samples that were dropped. */
static void put_aside(struct attachment *at, const struct rf_record *records, size_t n)
{
    if (at->n_waiting + n > at->room) {
        size_t room = 2 * (at->n_waiting + n);
        void *grown = at->waiting;
        if (room > WAITING_MAX ||
            !rf_alloc_array(&at->coproc->alloc, &grown, at->room, room, sizeof *at->waiting)) {
            at->coproc->counts.samples += n;
            at->coproc->counts.drops += n;
            return;
        }
        at->waiting = grown;
        at->room = room;
    }
    memcpy(at->waiting + at->n_waiting, records, n * sizeof *records);
    at->n_waiting += n;
}

static void take_records(struct attachment *at, const struct rf_record *records, size_t n)
{
    struct rf_coproc *coproc = at->coproc;
    size_t i = 0;
    if (!coproc->waits) /* the buffer is for that */
        for (; i < n; i++)
            rf_coproc_offer(coproc, &records[i], clock_of(at));
    while (i < n && at->n_waiting == 0 && !calls(at))
        i += rf_coproc_run_until_due(coproc, records + i, n - i);
    if (i < n)
        put_aside(at, records + i, n - i);
    else
        calls(at);
}

static void recorded(void *context, const struct rf_record *records, size_t n)
{
    struct attachment *at = context;
    if (at->cache == NULL) {
        take_records(at, records, n);
        return;
    }
    for (size_t done = 0; done < n; done += CHUNK) {
        size_t piece = n - done < CHUNK ? n - done : CHUNK;
        memcpy(at->chunk, records + done, piece * sizeof *records);
        rf_cache_fill(at->cache, at->chunk, piece);
        take_records(at, at->chunk, piece);
    }
}

static void returned(void *context)
{
    struct attachment *at = context;
    struct rf_coproc *coproc = at->coproc;
    memcpy(coproc->window, rf_machine_at(at->source, at->window, sizeof *coproc->window),
           sizeof *coproc->window);
    uint64_t now = clock_of(at);
    coproc->counts.overhead += coproc->waits ? rf_coproc_price(coproc) : now - at->entered;
    rf_coproc_take(coproc);
    coproc->free_at = coproc->free_at > now ? coproc->free_at : now;
    at->in_handler = false;
    catch_up(at);
}

static rf_status place(struct attachment *at, struct rf_error *error)
{
    struct rf_coproc *coproc = at->coproc;
    uint64_t address = 0, entry;
    size_t window = (sizeof *coproc->window + 63) / 64 * 64;
    const struct rf_machine_code code = {rf_coproc_blob, rf_coproc_blob_size,
                                         window + coproc->table_bytes};
    rf_status status = rf_machine_place_with(at->source, &code, &address, error);
    if (status != RF_OK)
        return status;
    memcpy(&entry, rf_coproc_blob + coproc->kind->guest * sizeof entry, sizeof entry);
    at->code = address + entry;
    at->window = address + (rf_coproc_blob_size + RF_PAGE - 1) / RF_PAGE * RF_PAGE;
    at->table = at->window + window;
    if (guest_table(at) == NULL)
        return rf_fail(error, RF_ENOMEM, "no guest memory for the co-processor's handler");
    memcpy(guest_table(at), coproc->table, coproc->table_bytes);
    return RF_OK;
}

static void detach(void *context)
{
    struct attachment *at = context;
    struct rf_alloc alloc = at->coproc->alloc;
    rf_cache_close(at->cache);
    rf_alloc_free(&alloc, at->waiting, at->room * sizeof *at->waiting);
    at->coproc->attachment = NULL;
    rf_alloc_free(&alloc, at, sizeof *at);
}

static rf_status open_cache(struct attachment *at, const char *shape, struct rf_error *error)
{
    struct rf_selector wants;
    rf_coproc_wants(at->coproc, &wants);
    if (shape == NULL || rf_machine_is_timed(at->source) ||
        (wants.fields & 1u << RF_FIELD_MISS) == 0)
        return RF_OK;
    return rf_cache_open(&at->cache, shape, &at->coproc->alloc, error);
}

static void install(struct attachment *at)
{
    struct rf_coproc *coproc = at->coproc;
    coproc->attachment = at;
    coproc->waits = !rf_machine_is_timed(at->source);
    const struct rf_machine_hooks hooks = {.context = at,
                                           .recorded = recorded,
                                           .each = !coproc->waits,
                                           .returned = returned,
                                           .close = detach};
    rf_machine_hook(at->source, &hooks);
}

rf_status rf_coproc_attach(struct rf_coproc *coproc, struct rf_source *source, const char *cache,
                           struct rf_error *error)
{
    if (rf_coproc_blob_size == 0)
        return rf_fail(error, RF_ENOTSUP,
                       "the handlers for the simulated core are not there: no RISC-V compiler was "
                       "found when Riffle was built");
    struct attachment *at = rf_alloc_get(&coproc->alloc, sizeof *at);
    if (at == NULL)
        return rf_fail(error, RF_ENOMEM, "no memory for the co-processor");
    *at = (struct attachment){.coproc = coproc, .source = source};
    rf_status status = open_cache(at, cache, error);
    if (status == RF_OK)
        status = place(at, error);
    if (status != RF_OK) {
        rf_cache_close(at->cache);
        rf_alloc_free(&coproc->alloc, at, sizeof *at);
        return status;
    }
    install(at);
    return RF_OK;
}

/* What the handler knows is taken over from the guest's memory; from here on it runs natively. */
rf_status rf_coproc_collect(struct rf_coproc *coproc, struct rf_error *error)
{
    struct attachment *at = coproc->attachment;
    if (at == NULL)
        return RF_OK;
    uint32_t entries = coproc->table->entries;
    const struct rf_table *table = guest_table(at);
    if (table != NULL)
        memcpy(coproc->table, table, coproc->table_bytes);
    if (table == NULL || coproc->table->entries != entries ||
        !coproc->kind->is_sound(coproc->table, rf_coproc_slots(coproc))) {
        memset(coproc->table, 0, coproc->table_bytes);
        coproc->table->entries = entries;
        return rf_fail(error, RF_EINVAL,
                       "the program has overwritten the memory of the co-processor's handler");
    }
    if (at->in_handler)
        rf_coproc_serve(coproc, coproc->window->reason);
    rf_coproc_feed_natively(coproc, at->waiting + at->done, at->n_waiting - at->done);
    at->done = at->n_waiting = 0;
    return RF_OK;
}
