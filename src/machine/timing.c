/* timing.c - the one-pass model: see timing.h for the picture.
 *
 * Instructions come in program order, so fetch, dispatch and commit times never decrease: their
 * bandwidth is a cycle and how many went through in it. Issue is out of order: its bandwidth is a calendar, a
 * count for each coming cycle. The reorder buffer and the load/store queue give places back in order, so a ring
 * of commit times tells when one is free; reservation stations give them back at issue, in any order, so a
 * calendar of departures does.
 *
 * Departures from a real core: wrong-path instructions are not fetched and leave no trace in the caches; a
 * load knows all older store addresses; a store leaves its cache access to an endless write buffer after
 * commit. From the cycle-by-cycle judge: caches see accesses in program order, so an older load that asks for
 * a line later than a younger one is told of the miss in its place. */
#include "machine/timing.h"
#include "machine/lines.h"
#include "machine/predictor.h"
#include "machine/records.h"
#include "base/alloc.h"
#include "base/error.h"
#include <string.h>

enum {
    CALENDAR = 1 << 15, /* cycles that it looks ahead; longer waits wrap around harmlessly */
    RING = 1024,        /* no buffer is larger */
    STORES = 1024,      /* recent stores that a load could take its value from */
    FILLS = 4096,       /* recent lines that are on their way */
    BACK_STAGES = 4,    /* issue, execute, write back, commit */
};

/* How often something was used in each cycle to come. */
struct calendar {
    uint64_t cycle[CALENDAR];
    uint16_t used[CALENDAR];
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

enum port { PORT_ALU, PORT_MULTIPLY, PORT_MEMORY, PORT_FP, PORT_COUNT };

struct rf_timing {
    struct rf_timing_config config;
    struct rf_alloc alloc;
    size_t size; /* of this block */
    struct rf_cache *icache, *dcache;
    struct rf_predictor predictor;
    struct rf_timing_stats stats;

    struct gate fetch, dispatch, commit;
    uint64_t line;              /* being fetched from, + 1 */
    uint64_t redirect;          /* fetch may not go on before */
    enum rf_stall fetch_reason; /* why it went on late */
    uint64_t reason_until;      /* dispatch cycles up to which that reason counts */
    uint64_t count;             /* instructions dispatched */
    uint64_t memory_count;      /* loads and stores dispatched */
    uint64_t dispatched[RING];  /* cycle, by count: backpressure on fetch */
    uint64_t committed[RING];   /* cycle, by count */
    uint64_t memory_committed[RING];
    uint64_t rs_used, rs_cycle; /* stations in use at rs_cycle */
    uint64_t ready[RF_REG_NONE + 1];
    struct rf_lines lines;
    struct calendar issue, left_rs, ports[PORT_COUNT];
    struct store stores[STORES];
    struct fill fills[FILLS];
};

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint16_t *calendar_at(struct calendar *calendar, uint64_t cycle)
{
    size_t i = cycle % CALENDAR;
    if (calendar->cycle[i] != cycle) {
        calendar->cycle[i] = cycle;
        calendar->used[i] = 0;
    }
    return &calendar->used[i];
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
    return &timing->fills[address / 64 % FILLS];
}

static uint64_t start_fill(struct rf_timing *timing, uint64_t address, uint64_t from,
                           unsigned levels)
{
    uint64_t ready = rf_lines_fetch(&timing->lines, &timing->config, from, levels);
    *fill_of(timing, address) = (struct fill){address / 64, from, ready};
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
    struct fill *fill = fill_of(timing, address);
    if (fill->line != address / 64)
        return from + timing->config.l1_hit;
    if (from < fill->asked)
        begin_earlier(timing, fill, from);
    return later(from + timing->config.l1_hit, fill->ready);
}

/* --- front end -------------------------------------------------------------------------------- */

static void hold_fetch(struct rf_timing *timing, uint64_t until, enum rf_stall reason)
{
    if (until <= timing->redirect)
        return;
    timing->redirect = until;
    timing->fetch_reason = reason;
    timing->reason_until = until + timing->config.stages - BACK_STAGES;
}

/* A new line is asked for in the cycle in which its first instruction could be fetched. */
static void enter_line(struct rf_timing *timing, const struct rf_retired *retired, uint64_t from)
{
    unsigned missed =
        rf_cache_access(timing->icache, retired->pc, retired->insn->length, RF_CACHE_LOAD);
    timing->line = retired->pc / 64 + 1;
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
    const struct rf_timing_config *config = &timing->config;
    uint64_t queue = (config->stages - BACK_STAGES) * config->decode_width;
    uint64_t from = timing->fetch.cycle + (timing->fetch.used == config->fetch_width);
    from = later(timing->redirect, from);
    if (timing->count >= queue)
        from = later(from, timing->dispatched[(timing->count - queue) % RING]);
    if (retired->pc / 64 + 1 != timing->line) {
        enter_line(timing, retired, from);
        from = later(timing->redirect, from);
    }
    return pass_gate(&timing->fetch, from, config->fetch_width);
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

static bool touches_memory(const struct rf_insn *insn)
{
    return insn->kind == RF_OP_CLASS_LOAD || insn->kind == RF_OP_CLASS_STORE ||
           insn->kind == RF_OP_CLASS_ATOMIC;
}

/* The cycle from which an entry given back in order, `size` ago, can be used again. */
static uint64_t free_from(const uint64_t *ring, uint64_t count, uint64_t size)
{
    return count >= size ? ring[(count - size) % RING] + 1 : 0;
}

/* The first cycle from `from` on with a free reservation station. */
static uint64_t wait_for_station(struct rf_timing *timing, uint64_t from)
{
    if (from > timing->rs_cycle + CALENDAR) { /* all of them have left long since */
        timing->rs_used = 0;
        timing->rs_cycle = from;
    }
    while (timing->rs_cycle < from || timing->rs_used >= timing->config.rs) {
        timing->rs_cycle++;
        timing->rs_used -= *calendar_at(&timing->left_rs, timing->rs_cycle);
    }
    return timing->rs_cycle;
}

static uint64_t dispatch(struct rf_timing *timing, const struct rf_retired *retired,
                         uint64_t fetched)
{
    const struct rf_timing_config *config = &timing->config;
    enum rf_stall reason = RF_STALL_FETCH;
    uint64_t before = timing->dispatch.cycle;
    uint64_t t = retired->injected ? before : fetched + config->stages - BACK_STAGES;
    if (t <= timing->reason_until)
        reason = timing->fetch_reason;
    uint64_t rob = free_from(timing->committed, timing->count, config->rob);
    if (rob > t) {
        t = rob;
        reason = RF_STALL_ROB;
    }
    if (touches_memory(retired->insn)) {
        uint64_t lsq = free_from(timing->memory_committed, timing->memory_count, config->lsq);
        if (lsq > t) {
            t = lsq;
            reason = RF_STALL_LSQ;
        }
    }
    uint64_t station = wait_for_station(timing, later(t, before));
    if (station > later(t, before)) {
        t = station;
        reason = RF_STALL_RS;
    }
    t = pass_gate(&timing->dispatch, t, config->decode_width);
    t = wait_for_station(timing, t);
    if (t > before + 1)
        timing->stats.stall[reason] += t - before - 1;
    timing->rs_used++;
    return t;
}

/* --- issue and execution ---------------------------------------------------------------------- */

static enum port port_of(const struct rf_insn *insn)
{
    switch (insn->kind) {
    case RF_OP_CLASS_MULTIPLY:
    case RF_OP_CLASS_DIVIDE:
        return PORT_MULTIPLY;
    case RF_OP_CLASS_LOAD:
    case RF_OP_CLASS_STORE:
    case RF_OP_CLASS_ATOMIC:
        return PORT_MEMORY;
    case RF_OP_CLASS_FADD:
    case RF_OP_CLASS_FMUL:
    case RF_OP_CLASS_FMA:
    case RF_OP_CLASS_FDIV:
    case RF_OP_CLASS_FMOVE:
        return PORT_FP;
    default:
        return PORT_ALU;
    }
}

static uint64_t ports_of(const struct rf_timing_config *config, enum port port)
{
    const uint64_t ports[PORT_COUNT] = {config->alu_ports, config->multiply_ports,
                                        config->memory_ports, config->fp_ports};
    return ports[port];
}

static uint64_t latency_of(const struct rf_timing_config *config, const struct rf_insn *insn)
{
    switch (insn->kind) {
    case RF_OP_CLASS_MULTIPLY:
        return config->multiply;
    case RF_OP_CLASS_DIVIDE:
        return config->divide;
    case RF_OP_CLASS_FADD:
        return config->fp_add;
    case RF_OP_CLASS_FMUL:
        return config->fp_multiply;
    case RF_OP_CLASS_FMA:
        return config->fp_fused;
    case RF_OP_CLASS_FDIV:
        return config->fp_divide;
    default:
        return 1;
    }
}

static uint64_t operands_ready(const struct rf_timing *timing, const struct rf_insn *insn)
{
    uint64_t t = later(timing->ready[insn->rs1], timing->ready[insn->rs2]);
    return later(t, timing->ready[insn->rs3]);
}

static uint64_t issue(struct rf_timing *timing, const struct rf_insn *insn, uint64_t from)
{
    enum port port = port_of(insn);
    uint64_t ports = ports_of(&timing->config, port);
    struct calendar *calendar = &timing->ports[port];
    while (*calendar_at(&timing->issue, from) >= timing->config.issue_width ||
           *calendar_at(calendar, from) >= ports)
        from++;
    ++*calendar_at(&timing->issue, from);
    ++*calendar_at(calendar, from);
    ++*calendar_at(&timing->left_rs, from);
    return from;
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

static uint64_t complete_of(struct rf_timing *timing, const struct rf_retired *retired,
                            uint64_t issued, unsigned *missed)
{
    const struct rf_insn *insn = retired->insn;
    if (insn->kind == RF_OP_CLASS_LOAD || insn->kind == RF_OP_CLASS_ATOMIC)
        return load(timing, retired, issued, missed);
    return issued + latency_of(&timing->config, insn);
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

unsigned rf_timing_retire(struct rf_timing *timing, const struct rf_retired *retired)
{
    const struct rf_insn *insn = retired->insn;
    unsigned missed = 0;
    uint64_t fetched = retired->injected ? timing->fetch.cycle : fetch(timing, retired);
    uint64_t dispatched = dispatch(timing, retired, fetched);
    uint64_t issued = issue(timing, insn, later(dispatched + 1, operands_ready(timing, insn)));
    uint64_t complete = complete_of(timing, retired, issued, &missed);
    if (insn->rd != RF_REG_NONE)
        timing->ready[insn->rd] = complete;
    if (insn->kind == RF_OP_CLASS_BRANCH || insn->kind == RF_OP_CLASS_JUMP)
        predict(timing, retired, fetched, complete);
    uint64_t committed = pass_gate(&timing->commit, complete + 1, timing->config.commit_width);
    if (insn->kind == RF_OP_CLASS_STORE || insn->kind == RF_OP_CLASS_ATOMIC)
        write_back(timing, retired, complete, committed, &missed);

    timing->dispatched[timing->count % RING] = dispatched;
    timing->committed[timing->count % RING] = committed;
    timing->count++;
    if (touches_memory(insn))
        timing->memory_committed[timing->memory_count++ % RING] = committed;
    timing->stats.instructions++;
    return missed;
}

void rf_timing_charge(struct rf_timing *timing, uint64_t cycles)
{
    uint64_t until = timing->commit.cycle + cycles;
    timing->commit = (struct gate){until, 0};
    hold_fetch(timing, until, RF_STALL_FETCH);
}

struct rf_timing_stats rf_timing_stats(const struct rf_timing *timing)
{
    struct rf_timing_stats stats = timing->stats;
    stats.cycles = timing->commit.cycle;
    return stats;
}
