/* timing.c - the one-pass model: see timing.h for the picture.
 *
 * Instructions come in program order, so fetch, dispatch and commit times never decrease: their
 * bandwidth is a cycle and how many went through in it. Issue is out of order: its bandwidth is a calendar
 * (calendar.h). The reorder buffer and the load/store queue give places back in order, so a ring of commit
 * times tells when one is free; reservation stations give them back at issue, in any order, so the calendar
 * does.
 *
 * Departures from a real core: wrong-path instructions are not fetched and leave no trace in the caches; a
 * load knows all older store addresses; a store leaves its cache access to an endless write buffer after
 * commit. From the cycle-by-cycle judge: caches see accesses in program order, so an older load that asks for
 * a line later than a younger one is told of the miss in its place. */
#include "machine/timing.h"
#include "machine/calendar.h"
#include "machine/lines.h"
#include "machine/predictor.h"
#include "machine/records.h"
#include "base/alloc.h"
#include "base/error.h"
#include <string.h>

enum {
    RING = 1024,     /* no buffer is larger */
    STORES = 1024,   /* recent stores that a load could take its value from */
    FILLS = 4096,    /* recent lines that are on their way */
    BACK_STAGES = 4, /* issue, execute, write back, commit */
};

/* A place that lets `width` through a cycle, in order. */
struct gate {
    uint64_t cycle;
    uint64_t used;
};

struct store {
    uint64_t word;    /* address / 8 */
    uint64_t data;    /* cycle when the value is there */
    uint64_t written; /* cycle when it leaves the queue */
};

struct fill {
    uint64_t line;
    uint64_t asked; /* cycle of the access that missed */
    uint64_t ready;
};

struct rf_timing {
    struct rf_timing_config config;
    struct rf_alloc alloc;
    size_t size; /* of this block */
    struct rf_cache *icache, *dcache;
    struct rf_predictor predictor;
    struct rf_timing_stats stats;
    uint64_t front_stages, fetch_queue; /* fetch to dispatch; instructions between them */
    unsigned code_shift, data_shift;    /* from an address to its line */
    uint64_t latency[RF_OP_CLASS_COUNT];

    struct gate fetch, dispatch, commit;
    uint64_t line;              /* being fetched from, + 1 */
    uint64_t redirect;          /* fetch may not go on before */
    enum rf_stall fetch_reason; /* why it went on late */
    uint64_t reason_until;      /* dispatch cycles up to which that reason counts */
    uint64_t fetch_count;       /* instructions fetched */
    uint64_t count;             /* instructions dispatched */
    uint64_t memory_count;      /* loads and stores dispatched */
    uint64_t dispatched[RING];  /* cycle, by fetch_count: backpressure on fetch */
    uint64_t committed[RING];   /* cycle, by count */
    uint64_t memory_committed[RING];
    uint64_t ready[RF_REG_COUNT];
    struct rf_lines lines;
    struct rf_calendar issue;
    struct store stores[STORES];
    uint64_t fills_until; /* from then on all of them are there */
    struct fill fills[FILLS];
};

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* The first cycle from `from` on that the gate lets one through. */
static uint64_t pass_gate(struct gate *gate, uint64_t from, uint64_t width)
{
    if (from > gate->cycle)
        *gate = (struct gate){from, 0};
    if (gate->used == width)
        *gate = (struct gate){gate->cycle + 1, 0};
    gate->used++;
    return gate->cycle;
}

/* --- opening ---------------------------------------------------------------------------------- */

static rf_status open_caches(struct rf_timing *timing, struct rf_error *error)
{
    char text[128];
    rf_cache_print(&timing->config.dcache, text, sizeof text);
    rf_status status = rf_cache_open(&timing->dcache, text, &timing->alloc, error);
    rf_cache_print(&timing->config.icache, text, sizeof text);
    if (status == RF_OK)
        status = rf_cache_open(&timing->icache, text, &timing->alloc, error);
    if (status == RF_OK)
        status = rf_cache_join(timing->icache, timing->dcache);
    return status;
}

/* What is asked for again and again. */
static void derive(struct rf_timing *timing)
{
    const struct rf_timing_config *config = &timing->config;
    const uint64_t ports[RF_PORT_COUNT] = {config->alu_ports, config->multiply_ports,
                                           config->memory_ports, config->fp_ports};
    timing->front_stages = config->stages - BACK_STAGES;
    timing->fetch_queue = timing->front_stages * config->decode_width;
    timing->code_shift = (unsigned)__builtin_ctz(config->icache.levels[0].line);
    timing->data_shift = (unsigned)__builtin_ctz(config->dcache.levels[0].line);
    for (unsigned kind = 0; kind < RF_OP_CLASS_COUNT; kind++)
        timing->latency[kind] = 1;
    timing->latency[RF_OP_CLASS_MULTIPLY] = config->multiply;
    timing->latency[RF_OP_CLASS_DIVIDE] = config->divide;
    timing->latency[RF_OP_CLASS_FADD] = config->fp_add;
    timing->latency[RF_OP_CLASS_FMUL] = config->fp_multiply;
    timing->latency[RF_OP_CLASS_FMA] = config->fp_fused;
    timing->latency[RF_OP_CLASS_FDIV] = config->fp_divide;
    rf_calendar_open(&timing->issue, config->issue_width, ports);
}

rf_status rf_timing_open(struct rf_timing **opened, const struct rf_timing_config *config,
                         const struct rf_alloc *alloc, struct rf_error *error)
{
    size_t counters = (size_t)1 << config->history;
    size_t btb = config->btb * sizeof(struct rf_btb_entry);
    size_t size = sizeof(struct rf_timing) + counters + btb;
    struct rf_timing *timing = rf_alloc_get(rf_alloc_or_standard(alloc), size);
    *opened = NULL;
    if (timing == NULL)
        return rf_fail(error, RF_ENOMEM, "no memory for the timing model");
    memset(timing, 0, size);
    timing->config = *config;
    timing->alloc = *rf_alloc_or_standard(alloc);
    timing->size = size;
    timing->predictor = (struct rf_predictor){
        .history_bits = (unsigned)config->history,
        .btb_entries = (unsigned)config->btb,
        .ras_entries = (unsigned)config->ras,
        .btb = (struct rf_btb_entry *)(timing + 1),
        .direction = (uint8_t *)(timing + 1) + btb,
    };
    derive(timing);
    rf_status status = open_caches(timing, error);
    if (status != RF_OK) {
        rf_timing_close(timing);
        return status;
    }
    *opened = timing;
    return RF_OK;
}

void rf_timing_close(struct rf_timing *timing)
{
    if (timing == NULL)
        return;
    struct rf_alloc alloc = timing->alloc;
    rf_cache_close(timing->icache);
    rf_cache_close(timing->dcache);
    rf_alloc_free(&alloc, timing, timing->size);
}

/* --- the memory behind the first-level caches -------------------------------------------------- */

static struct fill *fill_of(struct rf_timing *timing, uint64_t address)
{
    return &timing->fills[(address >> timing->data_shift) % FILLS];
}

static uint64_t start_fill(struct rf_timing *timing, uint64_t address, uint64_t from,
                           unsigned levels)
{
    uint64_t ready = rf_lines_fetch(&timing->lines, &timing->config, from, levels);
    *fill_of(timing, address) = (struct fill){address >> timing->data_shift, from, ready};
    timing->fills_until = later(timing->fills_until, ready);
    timing->stats.l2_misses += levels > 1;
    return ready;
}

/* An older instruction asked for the line, but later than this one does, which is therefore the one
 * that misses. */
static void begin_earlier(struct rf_timing *timing, struct fill *fill, uint64_t from)
{
    fill->ready = rf_lines_advance(&timing->lines, &timing->config, fill->asked, from);
    fill->asked = from;
}

/* When the line of an access at `from` is there. */
static uint64_t data_ready(struct rf_timing *timing, uint64_t address, uint64_t from,
                           unsigned missed)
{
    if (missed > 0)
        return start_fill(timing, address, from, missed);
    uint64_t hit = from + timing->config.l1_hit;
    struct fill *fill = fill_of(timing, address);
    if (hit >= timing->fills_until || fill->line != address >> timing->data_shift)
        return hit;
    if (from < fill->asked)
        begin_earlier(timing, fill, from);
    return later(hit, fill->ready);
}

/* --- front end -------------------------------------------------------------------------------- */

static void hold_fetch(struct rf_timing *timing, uint64_t until, enum rf_stall reason)
{
    if (until <= timing->redirect)
        return;
    timing->redirect = until;
    timing->fetch_reason = reason;
    timing->reason_until = until + timing->front_stages;
}

/* A new line is asked for in the cycle in which its first instruction could be fetched. */
static void enter_line(struct rf_timing *timing, const struct rf_retired *retired, uint64_t from)
{
    unsigned missed =
        rf_cache_access(timing->icache, retired->pc, retired->insn->length, RF_CACHE_LOAD);
    timing->line = (retired->pc >> timing->code_shift) + 1;
    if (missed == 0)
        return;
    hold_fetch(timing, rf_lines_fetch(&timing->lines, &timing->config, from, missed),
               RF_STALL_ICACHE);
    timing->stats.icache_misses++;
    timing->stats.l2_misses += missed > 1;
}

/* The cycle in which the instruction comes out of the instruction cache. */
static uint64_t fetch(struct rf_timing *timing, const struct rf_retired *retired)
{
    uint64_t width = timing->config.fetch_width;
    uint64_t from = timing->fetch.cycle + (timing->fetch.used == width);
    from = later(timing->redirect, from);
    if (timing->fetch_count >= timing->fetch_queue)
        from = later(from, timing->dispatched[(timing->fetch_count - timing->fetch_queue) % RING]);
    if ((retired->pc >> timing->code_shift) + 1 != timing->line) {
        enter_line(timing, retired, from);
        from = later(timing->redirect, from);
    }
    return pass_gate(&timing->fetch, from, width);
}

/* Learn from a transfer of control and hold fetch as long as it takes. */
static void predict(struct rf_timing *timing, const struct rf_retired *retired, uint64_t fetched,
                    uint64_t complete)
{
    bool taken = retired->next_pc != retired->pc + retired->insn->length;
    enum rf_prediction prediction =
        rf_predictor_see(&timing->predictor, retired->insn, retired->pc, retired->next_pc);
    timing->stats.branches++;
    if (taken) { /* a fetch group ends here */
        timing->fetch.used = timing->config.fetch_width;
        timing->line = 0;
    }
    if (prediction == RF_MISPREDICTED) {
        timing->stats.mispredicts++;
        hold_fetch(timing, complete + 1, RF_STALL_MISPREDICT);
    } else if (prediction == RF_PREDICTED_LATE) {
        hold_fetch(timing, fetched + 1 + timing->config.btb_miss, RF_STALL_FETCH);
    }
}

/* --- dispatch --------------------------------------------------------------------------------- */

/* The cycle from which an entry given back in order, `size` ago, can be used again. */
static uint64_t free_from(const uint64_t *ring, uint64_t count, uint64_t size)
{
    return count >= size ? ring[(count - size) % RING] + 1 : 0;
}

/* The first cycle from `from` on with a free reservation station. */
static uint64_t wait_for_station(struct rf_timing *timing, uint64_t from)
{
    struct rf_calendar *calendar = &timing->issue;
    while (calendar->now < from || calendar->waiting >= timing->config.rs)
        rf_calendar_turn(calendar);
    return calendar->now;
}

/* When there is room behind dispatch, from `t` on, and what it had to wait for. */
static uint64_t wait_for_room(struct rf_timing *timing, bool memory, uint64_t t,
                              enum rf_stall *reason)
{
    const struct rf_timing_config *config = &timing->config;
    uint64_t rob = free_from(timing->committed, timing->count, config->rob);
    if (rob > t) {
        t = rob;
        *reason = RF_STALL_ROB;
    }
    uint64_t lsq =
        memory ? free_from(timing->memory_committed, timing->memory_count, config->lsq) : 0;
    if (lsq > t) {
        t = lsq;
        *reason = RF_STALL_LSQ;
    }
    uint64_t station = wait_for_station(timing, t);
    if (station > t)
        *reason = RF_STALL_RS;
    return station;
}

static uint64_t dispatch(struct rf_timing *timing, bool memory, uint64_t decoded)
{
    uint64_t before = timing->dispatch.cycle;
    enum rf_stall reason = decoded <= timing->reason_until ? timing->fetch_reason : RF_STALL_FETCH;
    uint64_t t = wait_for_room(timing, memory, later(decoded, before), &reason);
    t = pass_gate(&timing->dispatch, t, timing->config.decode_width);
    wait_for_station(timing, t);
    if (t > before + 1)
        timing->stats.stall[reason] += t - before - 1;
    return t;
}

/* --- issue and execution ---------------------------------------------------------------------- */

/* What a class of instructions needs, known without looking at the configuration. */
static const struct kind {
    uint8_t port; /* enum rf_port */
    bool loads, stores, transfers;
} kinds[RF_OP_CLASS_COUNT] = {
    [RF_OP_CLASS_MULTIPLY] = {.port = RF_PORT_MULTIPLY},
    [RF_OP_CLASS_DIVIDE] = {.port = RF_PORT_MULTIPLY},
    [RF_OP_CLASS_LOAD] = {.port = RF_PORT_MEMORY, .loads = true},
    [RF_OP_CLASS_STORE] = {.port = RF_PORT_MEMORY, .stores = true},
    [RF_OP_CLASS_ATOMIC] = {.port = RF_PORT_MEMORY, .loads = true, .stores = true},
    [RF_OP_CLASS_BRANCH] = {.port = RF_PORT_ALU, .transfers = true},
    [RF_OP_CLASS_JUMP] = {.port = RF_PORT_ALU, .transfers = true},
    [RF_OP_CLASS_FADD] = {.port = RF_PORT_FP},
    [RF_OP_CLASS_FMUL] = {.port = RF_PORT_FP},
    [RF_OP_CLASS_FMA] = {.port = RF_PORT_FP},
    [RF_OP_CLASS_FDIV] = {.port = RF_PORT_FP},
    [RF_OP_CLASS_FMOVE] = {.port = RF_PORT_FP},
};

static uint64_t operands_ready(const struct rf_timing *timing, const struct rf_insn *insn)
{
    uint64_t t = later(timing->ready[insn->rs1], timing->ready[insn->rs2]);
    return later(t, timing->ready[insn->rs3]);
}

/* When a load's value is there. */
static uint64_t load(struct rf_timing *timing, const struct rf_retired *retired, uint64_t issued,
                     unsigned *missed)
{
    uint64_t address = retired->address;
    const struct store *store = &timing->stores[address / 8 % STORES];
    timing->stats.loads++;
    if (store->word == address / 8 && store->written > issued) {
        timing->stats.forwards++;
        return later(issued, store->data) + timing->config.forward;
    }
    *missed =
        rf_cache_access(timing->dcache, address, rf_records_bytes(retired->insn), RF_CACHE_LOAD);
    timing->stats.dcache_misses += *missed > 0;
    return data_ready(timing, address, issued, *missed);
}

/* A store writes its line after it has committed, and nobody waits for it. */
static void write_back(struct rf_timing *timing, const struct rf_retired *retired,
                       uint64_t complete, uint64_t committed, unsigned *missed)
{
    uint64_t address = retired->address;
    timing->stats.stores++;
    *missed =
        rf_cache_access(timing->dcache, address, rf_records_bytes(retired->insn), RF_CACHE_STORE);
    timing->stats.dcache_misses += *missed > 0;
    timing->stores[address / 8 % STORES] = (struct store){address / 8, complete, committed};
    if (*missed > 0)
        start_fill(timing, address, committed, *missed);
}

/* Give back in order what is given back at commit. */
static void leave(struct rf_timing *timing, bool memory, uint64_t committed)
{
    timing->committed[timing->count++ % RING] = committed;
    if (memory)
        timing->memory_committed[timing->memory_count++ % RING] = committed;
    timing->stats.instructions++;
}

/* The cycle in which it is dispatched; *fetched is when it was fetched. What decode puts in is there in
 * the cycle of the one before. */
static uint64_t bring_in(struct rf_timing *timing, const struct rf_retired *retired, bool memory,
                         uint64_t *fetched)
{
    uint64_t decoded = timing->dispatch.cycle;
    *fetched = timing->fetch.cycle;
    if (!retired->injected) {
        *fetched = fetch(timing, retired);
        decoded = *fetched + timing->front_stages;
    }
    uint64_t dispatched = dispatch(timing, memory, decoded);
    if (!retired->injected)
        timing->dispatched[timing->fetch_count++ % RING] = dispatched;
    return dispatched;
}

unsigned rf_timing_retire(struct rf_timing *timing, const struct rf_retired *retired)
{
    const struct rf_insn *insn = retired->insn;
    const struct kind *kind = &kinds[insn->kind];
    bool memory = kind->loads || kind->stores;
    unsigned missed = 0;
    uint64_t fetched, dispatched = bring_in(timing, retired, memory, &fetched);
    uint64_t from = later(dispatched + 1, operands_ready(timing, insn));
    uint64_t issued = rf_calendar_book(&timing->issue, from, kind->port);
    uint64_t complete =
        kind->loads ? load(timing, retired, issued, &missed) : issued + timing->latency[insn->kind];
    if (insn->rd != RF_REG_NONE)
        timing->ready[insn->rd] = complete;
    if (kind->transfers)
        predict(timing, retired, fetched, complete);
    uint64_t committed = pass_gate(&timing->commit, complete + 1, timing->config.commit_width);
    if (kind->stores)
        write_back(timing, retired, complete, committed, &missed);
    leave(timing, memory, committed);
    return missed;
}

void rf_timing_charge(struct rf_timing *timing, uint64_t cycles)
{
    if (cycles > 0)
        timing->commit = (struct gate){timing->commit.cycle + cycles, 0};
    timing->line = 0;
    hold_fetch(timing, timing->commit.cycle + 1, RF_STALL_TRAP);
}

struct rf_timing_stats rf_timing_stats(const struct rf_timing *timing)
{
    struct rf_timing_stats stats = timing->stats;
    stats.cycles = timing->commit.cycle;
    return stats;
}
