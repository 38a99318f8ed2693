/* timing.c - the one-pass model: see timing.h for the picture.
 *
 * Instructions come in program order, so the times of fetch, dispatch and commit never decrease: a cycle and the
 * number that went through in it describe their bandwidth. Issue is out of order and needs a calendar
 * (calendar.h). The reorder buffer and the load/store queue free their entries in order, so a ring of commit
 * times tells when one is free. Reservation stations are freed at issue, in any order; the calendar counts them,
 * and need not turn its pages before more are booked than there are stations.
 *
 * Host time goes into instructions and into branches that cannot be predicted: about 150 and less than one per
 * timed instruction. Hence gates without a branch, queues that overwrite their oldest entry, a copy of the code
 * for cores that are four wide, and a search for the reason of a stall only when there was one.
 *
 * Departures from a real core: wrong-path instructions are not fetched and leave no trace in the caches; a load
 * knows all older store addresses. Departure from the cycle-by-cycle judge: caches see accesses in program order,
 * so when an older load asks for a line later than a younger one, the miss is charged to the older one. */
#include "machine/timing/timing.h"
#include "machine/timing/calendar.h"
#include "machine/timing/lines.h"
#include "machine/timing/predictor.h"
#include "machine/records.h"
#include "cache/cache.h"
#include "base/alloc.h"
#include "base/error.h"
#include <string.h>

enum {
    QUEUE_MAX = 1024, /* no queue of a core is longer */
    STORES = 1024,    /* recent stores that a load could take its value from */
    FILLS = 4096,     /* recent lines that are on their way */
    BACK_STAGES = 4,  /* issue, execute, write back, commit */
};

/* A gate lets a fixed number through per cycle, in order. It holds its next free slot: the cycle, and in the
 * low bits the number within the cycle. */
typedef uint64_t gate;

/* The width of each gate, and how many low bits there are. Cores that are four wide everywhere, as in all the
 * papers, get a copy of the code in which these are constants. */
struct widths {
    unsigned bits;
    uint64_t fetch, decode, commit;
};
static const struct widths FOUR = {2, 4, 4, 4};

/* A ring of cycles. The entry that is written next holds what was written `size` entries ago. */
struct queue {
    uint64_t at, size;
    uint64_t cycle[QUEUE_MAX];
};

/* What a class of instructions needs. */
struct kind {
    uint64_t unit; /* of the calendar */
    uint64_t latency;
    bool loads, stores, memory, transfers;
};

struct store {
    uint64_t word;    /* address / 8 */
    uint64_t data;    /* cycle when the value is there */
    uint64_t written; /* cycle when it leaves the write buffer */
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
    struct widths widths;
    uint64_t front_stages;           /* fetch to dispatch */
    uint64_t pause;                  /* of decode, at a sequence */
    unsigned code_shift, data_shift; /* from an address to its line */
    struct kind kinds[RF_OP_CLASS_COUNT];

    gate fetch, dispatch, commit;
    uint64_t line;              /* that was fetched from last, + 1 */
    uint64_t redirect;          /* fetch waits until this cycle */
    enum rf_stall fetch_reason; /* why it waited */
    uint64_t reason_until;      /* dispatch cycles up to which that reason counts */
    uint64_t count;             /* instructions dispatched */
    uint64_t charged;           /* up to this cycle, time has been charged to instructions */
    struct queue fetched;       /* when each was dispatched: a full front end holds fetch */
    struct queue rob, lsq;      /* when each entry becomes free */
    struct queue writes;        /* the write buffer: the same */
    uint64_t written;           /* cycle in which its last store is written */
    uint64_t ready[RF_REG_COUNT];
    struct rf_lines lines;
    struct rf_calendar issue;
    struct store stores[STORES];
    uint64_t fills_until; /* all of them have arrived by then */
    struct fill fills[FILLS];
};

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static inline uint64_t cycle_of(gate at, struct widths widths)
{
    return at >> widths.bits;
}

static inline gate start_of(uint64_t cycle, struct widths widths)
{
    return cycle << widths.bits;
}

/* The first slot of the next cycle. */
static inline gate skip_rest(gate at, struct widths widths)
{
    return (at | ((UINT64_C(1) << widths.bits) - 1)) + 1;
}

/* The first cycle from `from` on that the gate lets one through. */
static inline uint64_t pass_gate(gate *passed, uint64_t from, uint64_t width, struct widths widths)
{
    uint64_t last = width - 1, mask = (UINT64_C(1) << widths.bits) - 1;
    gate at = later(*passed, start_of(from, widths));
    *passed = last == mask || (at & mask) != last ? at + 1 : skip_rest(at, widths);
    return cycle_of(at, widths);
}

/* What was put in `size` entries ago. */
static inline uint64_t oldest(const struct queue *queue)
{
    return queue->cycle[queue->at];
}

static inline void put(struct queue *queue, uint64_t cycle)
{
    uint64_t next = queue->at + 1;
    queue->cycle[queue->at] = cycle;
    queue->at = next == queue->size ? 0 : next;
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

static void derive_kinds(struct rf_timing *timing)
{
    const struct rf_timing_config *config = &timing->config;
    static const uint8_t ports[RF_OP_CLASS_COUNT] = {
        [RF_OP_CLASS_MULTIPLY] = RF_PORT_MULTIPLY, [RF_OP_CLASS_DIVIDE] = RF_PORT_MULTIPLY,
        [RF_OP_CLASS_LOAD] = RF_PORT_MEMORY,       [RF_OP_CLASS_STORE] = RF_PORT_MEMORY,
        [RF_OP_CLASS_ATOMIC] = RF_PORT_MEMORY,     [RF_OP_CLASS_FADD] = RF_PORT_FP,
        [RF_OP_CLASS_FMUL] = RF_PORT_FP,           [RF_OP_CLASS_FMA] = RF_PORT_FP,
        [RF_OP_CLASS_FDIV] = RF_PORT_FP,           [RF_OP_CLASS_FMOVE] = RF_PORT_FP,
    };
    const uint64_t latency[RF_OP_CLASS_COUNT] = {
        [RF_OP_CLASS_MULTIPLY] = config->multiply, [RF_OP_CLASS_DIVIDE] = config->divide,
        [RF_OP_CLASS_FADD] = config->fp_add,       [RF_OP_CLASS_FMUL] = config->fp_multiply,
        [RF_OP_CLASS_FMA] = config->fp_fused,      [RF_OP_CLASS_FDIV] = config->fp_divide,
    };
    for (unsigned i = 0; i < RF_OP_CLASS_COUNT; i++)
        timing->kinds[i] = (struct kind){
            .unit = rf_calendar_unit(ports[i]),
            .latency = latency[i] != 0 ? latency[i] : 1,
            .loads = i == RF_OP_CLASS_LOAD || i == RF_OP_CLASS_ATOMIC,
            .stores = i == RF_OP_CLASS_STORE || i == RF_OP_CLASS_ATOMIC,
            .memory = ports[i] == RF_PORT_MEMORY,
            .transfers = i == RF_OP_CLASS_BRANCH || i == RF_OP_CLASS_JUMP || i == RF_OP_CLASS_SKIP,
        };
}

/* Values that every instruction needs. */
static void derive(struct rf_timing *timing)
{
    const struct rf_timing_config *config = &timing->config;
    const uint64_t ports[RF_PORT_COUNT] = {config->alu_ports, config->multiply_ports,
                                           config->memory_ports, config->fp_ports};
    timing->front_stages = config->stages - BACK_STAGES;
    timing->widths =
        (struct widths){4, config->fetch_width, config->decode_width, config->commit_width};
    if (config->fetch_width == 4 && config->decode_width == 4 && config->commit_width == 4)
        timing->widths = FOUR;
    timing->dispatch = timing->commit = 1; /* nothing gets that far in cycle 0 */
    timing->fetched.size = timing->front_stages * config->decode_width;
    timing->rob.size = config->rob;
    timing->lsq.size = config->lsq;
    timing->writes.size = config->write_buffer;
    timing->code_shift = (unsigned)__builtin_ctz(config->icache.levels[0].line);
    timing->data_shift = (unsigned)__builtin_ctz(config->dcache.levels[0].line);
    derive_kinds(timing);
    rf_calendar_open(&timing->issue, config->issue_width, ports);
}

rf_status rf_timing_open(struct rf_timing **opened, const struct rf_timing_config *config,
                         const struct rf_alloc *alloc, struct rf_error *error)
{
    size_t counters = (size_t)1 << config->history;
    size_t btb = config->btb * sizeof(struct rf_btb_entry);
    size_t size = sizeof(struct rf_timing) + counters + btb;
    struct rf_timing *timing = rf_alloc_zeroed(rf_alloc_or_standard(alloc), size);
    *opened = NULL;
    if (timing == NULL)
        return rf_fail(error, RF_ENOMEM, "no memory for the timing model");
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
    rf_cache_close(timing->icache);
    rf_cache_close(timing->dcache);
    rf_alloc_free(&timing->alloc, timing, timing->size);
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

/* An older instruction asked for the line, but at a later cycle than this one. So this one starts the miss. */
static void begin_earlier(struct rf_timing *timing, struct fill *fill, uint64_t from)
{
    fill->ready = rf_lines_advance(&timing->lines, &timing->config, fill->asked, from);
    fill->asked = from;
}

/* When the line of an access at `from` arrives. A line in the cache that is not on its way was there before. */
static inline uint64_t line_ready(struct rf_timing *timing, uint64_t address, uint64_t from,
                                  unsigned missed)
{
    if (missed > 0)
        return start_fill(timing, address, from, missed);
    struct fill *fill = fill_of(timing, address);
    if (from >= timing->fills_until || fill->line != address >> timing->data_shift)
        return from;
    if (from < fill->asked)
        begin_earlier(timing, fill, from);
    return fill->ready;
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

/* A new line is asked for in the cycle in which its first instruction could be fetched. Inlined: code with
 * many jumps comes here often. */
static inline __attribute__((always_inline)) void
enter_line(struct rf_timing *timing, const struct rf_retired *retired, uint64_t from)
{
    timing->line = (retired->pc >> timing->code_shift) + 1;
    if (rf_cache_is_recent(timing->icache, retired->pc, retired->insn.length))
        return;
    unsigned missed =
        rf_cache_access(timing->icache, retired->pc, retired->insn.length, RF_CACHE_LOAD);
    if (missed == 0)
        return;
    hold_fetch(timing, rf_lines_fetch(&timing->lines, &timing->config, from, missed),
               RF_STALL_ICACHE);
    timing->stats.icache_misses++;
    timing->stats.l2_misses += missed > 1;
}

/* The cycle in which the instruction comes out of the instruction cache. */
static inline uint64_t fetch(struct rf_timing *timing, const struct rf_retired *retired,
                             struct widths widths)
{
    uint64_t from = later(timing->redirect, oldest(&timing->fetched));
    if ((retired->pc >> timing->code_shift) + 1 != timing->line) {
        enter_line(timing, retired, later(from, cycle_of(timing->fetch, widths)));
        from = later(timing->redirect, from);
    }
    return pass_gate(&timing->fetch, from, widths.fetch, widths);
}

/* Predict and learn a transfer of control; hold fetch where the prediction was late or wrong. True: wrong. */
static inline bool predict(struct rf_timing *timing, const struct rf_retired *retired,
                           uint64_t fetched, uint64_t complete, struct widths widths)
{
    if (__builtin_expect(retired->insn.kind == RF_OP_CLASS_SKIP, 0)) {
        hold_fetch(timing, complete + 1, RF_STALL_TRAP); /* nobody predicts it */
        return false;
    }
    bool taken = retired->next_pc != retired->pc + retired->insn.length;
    enum rf_prediction prediction =
        rf_predictor_see(&timing->predictor, &retired->insn, retired->pc, retired->next_pc);
    timing->stats.branches++;
    if (taken) /* a fetch group ends here */
        timing->fetch = skip_rest(timing->fetch - 1, widths);
    if (prediction == RF_MISPREDICTED) {
        timing->stats.mispredicts++;
        hold_fetch(timing, complete + 1, RF_STALL_MISPREDICT);
    } else if (prediction == RF_PREDICTED_LATE) {
        hold_fetch(timing, fetched + 1 + timing->config.btb_miss, RF_STALL_FETCH);
    }
    return prediction == RF_MISPREDICTED;
}

/* --- dispatch --------------------------------------------------------------------------------- */

/* The cycle from which each thing allows the instruction to be dispatched. */
struct room {
    uint64_t decoded, rob, lsq, station;
};

/* Count the cycles in which nothing was dispatched. What allowed it last is the reason. */
static void note_stall(struct rf_timing *timing, const struct room *room, uint64_t before,
                       uint64_t dispatched)
{
    enum rf_stall reason =
        room->decoded <= timing->reason_until ? timing->fetch_reason : RF_STALL_FETCH;
    uint64_t t = later(room->decoded, before);
    if (room->rob > t) {
        t = room->rob;
        reason = RF_STALL_ROB;
    }
    if (room->lsq > t) {
        t = room->lsq;
        reason = RF_STALL_LSQ;
    }
    if (room->station > t)
        reason = RF_STALL_RS;
    timing->stats.stall[reason] += dispatched - before - 1;
}

/* The calendar's `now` lags, so it may count too many stations as taken, never too few. */
static inline uint64_t dispatch(struct rf_timing *timing, bool memory, uint64_t decoded,
                                struct widths widths)
{
    uint64_t before = cycle_of(timing->dispatch - 1, widths);
    struct room room = {.decoded = decoded, .rob = oldest(&timing->rob)};
    if (memory)
        room.lsq = oldest(&timing->lsq);
    room.station = later(later(decoded, before), later(room.rob, room.lsq));
    if (timing->issue.waiting >= timing->config.rs)
        room.station = rf_calendar_wait(&timing->issue, room.station, timing->config.rs);
    uint64_t t = pass_gate(&timing->dispatch, room.station, widths.decode, widths);
    if (t > before + 1)
        note_stall(timing, &room, before, t);
    return t;
}

/* --- issue and execution ---------------------------------------------------------------------- */

static uint64_t operands_ready(const struct rf_timing *timing, const struct rf_insn *insn)
{
    uint64_t t = later(timing->ready[insn->rs1], timing->ready[insn->rs2]);
    return later(t, timing->ready[insn->rs3]);
}

/* Levels missed. */
static inline unsigned access_data(struct rf_timing *timing, const struct rf_retired *retired,
                                   enum rf_cache_use use)
{
    unsigned bytes = rf_records_bytes(&retired->insn);
    if (rf_cache_is_recent(timing->dcache, retired->address, bytes))
        return 0;
    unsigned missed = rf_cache_access(timing->dcache, retired->address, bytes, use);
    timing->stats.dcache_misses += missed > 0;
    return missed;
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
    *missed = access_data(timing, retired, RF_CACHE_LOAD);
    return later(issued + timing->config.l1_hit, line_ready(timing, address, issued, *missed));
}

/* A store leaves the write buffer, behind those before it, when its line is there. */
static inline void write_back(struct rf_timing *timing, const struct rf_retired *retired,
                              uint64_t complete, uint64_t committed, unsigned *missed)
{
    uint64_t address = retired->address;
    timing->stats.stores++;
    *missed = access_data(timing, retired, RF_CACHE_STORE);
    uint64_t there = line_ready(timing, address, committed, *missed);
    timing->written = later(timing->written, later(there, committed + 1));
    timing->stores[address / 8 % STORES] = (struct store){address / 8, complete, timing->written};
    put(&timing->writes, timing->written);
}

/* What decode puts in is there in the cycle of the one before, unless that sent fetch elsewhere: then the
 * instruction comes through fetch again, up to its place in the sequence. */
static uint64_t bring_in_injected(struct rf_timing *timing, bool memory, uint64_t *fetched,
                                  struct widths widths)
{
    uint64_t decoded = cycle_of(timing->dispatch - 1, widths);
    *fetched = cycle_of(timing->fetch - 1, widths);
    return dispatch(timing, memory, later(decoded, timing->redirect + timing->front_stages),
                    widths);
}

/* What productions put in, and what they replace, which decode pauses for. Kept out of the way of the others. */
static __attribute__((noinline)) uint64_t bring_in_rare(struct rf_timing *timing,
                                                        const struct rf_retired *retired,
                                                        bool memory, uint64_t *fetched,
                                                        struct widths widths)
{
    if (retired->entry == RF_ENTRY_INJECTED)
        return bring_in_injected(timing, memory, fetched, widths);
    *fetched = fetch(timing, retired, widths);
    uint64_t decoded = later(*fetched + timing->front_stages, cycle_of(timing->dispatch, widths));
    uint64_t dispatched = dispatch(timing, memory, decoded + timing->pause, widths);
    put(&timing->fetched, dispatched);
    return dispatched;
}

/* The cycle in which it is dispatched; *fetched is when it was fetched. */
static inline uint64_t bring_in(struct rf_timing *timing, const struct rf_retired *retired,
                                bool memory, uint64_t *fetched, struct widths widths)
{
    if (__builtin_expect(retired->entry != RF_ENTRY_FETCHED, 0))
        return bring_in_rare(timing, retired, memory, fetched, widths);
    *fetched = fetch(timing, retired, widths);
    uint64_t dispatched = dispatch(timing, memory, *fetched + timing->front_stages, widths);
    put(&timing->fetched, dispatched);
    return dispatched;
}

/* Charge the time since the last commit. Behind a wrong prediction nothing commits before the right path has come
 * through all stages: fetched at complete + 1, dispatched, issued, completed. */
static inline uint32_t blame(struct rf_timing *timing, const struct rf_retired *retired,
                             uint64_t complete, uint64_t committed)
{
    uint64_t until = committed;
    if (__builtin_expect(retired->mispredicted, 0))
        until = later(until, complete + 1 + timing->front_stages + BACK_STAGES - 2);
    uint32_t cycles = (uint32_t)(until > timing->charged ? until - timing->charged : 0);
    timing->charged = later(timing->charged, until);
    return cycles;
}

/* Widths, and whether `cycles` is NULL, are constants where it matters. */
static inline __attribute__((always_inline)) void
retire(struct rf_timing *timing, struct rf_retired *retired, struct widths widths, uint32_t *cycles)
{
    const struct rf_insn *insn = &retired->insn;
    const struct kind *kind = &timing->kinds[insn->kind];
    unsigned missed = 0;
    uint64_t fetched, dispatched = bring_in(timing, retired, kind->memory, &fetched, widths);
    uint64_t from = later(dispatched + 1, operands_ready(timing, insn));
    uint64_t issued = rf_calendar_book(&timing->issue, dispatched, from, kind->unit);
    uint64_t complete =
        kind->loads ? load(timing, retired, issued, &missed) : issued + kind->latency;
    timing->ready[insn->rd] = complete;
    timing->ready[RF_REG_NONE] = 0; /* an operand that is no register is always ready */
    if (kind->transfers)
        retired->mispredicted = predict(timing, retired, fetched, complete, widths);
    uint64_t written = kind->stores ? oldest(&timing->writes) : 0;
    uint64_t committed =
        pass_gate(&timing->commit, later(complete + 1, written), widths.commit, widths);
    if (kind->stores)
        write_back(timing, retired, complete, committed, &missed);
    put(&timing->rob, committed + 1);
    if (kind->memory) {
        put(&timing->lsq, committed + 1);
        retired->missed = (uint8_t)missed;
    }
    if (cycles != NULL)
        *cycles = blame(timing, retired, complete, committed);
}

void rf_timing_retire(struct rf_timing *timing, struct rf_retired *retired, size_t n,
                      uint32_t *cycles)
{
    const struct rf_retired *end = retired + n;
    timing->count += n;
    if (timing->widths.bits == FOUR.bits && cycles == NULL)
        for (; retired < end; retired++)
            retire(timing, retired, FOUR, NULL);
    else if (timing->widths.bits == FOUR.bits)
        for (; retired < end; retired++)
            retire(timing, retired, FOUR, cycles++);
    else
        for (uint32_t ignored; retired < end; retired++)
            retire(timing, retired, timing->widths, cycles != NULL ? cycles++ : &ignored);
}

/* The cycle in which the last one committed. */
static uint64_t last_commit(const struct rf_timing *timing)
{
    return cycle_of(timing->commit - 1, timing->widths);
}

void rf_timing_charge(struct rf_timing *timing, uint64_t cycles)
{
    if (cycles > 0)
        timing->commit = start_of(last_commit(timing) + cycles, timing->widths) + 1;
    timing->line = 0;
    timing->charged = later(timing->charged, last_commit(timing));
    hold_fetch(timing, last_commit(timing) + 1, RF_STALL_TRAP);
}

void rf_timing_call(struct rf_timing *timing, uint64_t return_address)
{
    rf_predictor_push(&timing->predictor, return_address);
    timing->line = 0;
}

void rf_timing_set_pause(struct rf_timing *timing, uint64_t cycles)
{
    timing->pause = cycles;
}

uint64_t rf_timing_cycles(const struct rf_timing *timing)
{
    return last_commit(timing);
}

struct rf_timing_stats rf_timing_stats(const struct rf_timing *timing)
{
    struct rf_timing_stats stats = timing->stats;
    stats.cycles = last_commit(timing);
    stats.instructions = timing->count;
    return stats;
}
