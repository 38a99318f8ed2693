/* source.c - a simulated machine with productions in its decode stage, as a source of tuples in bursts.
 *
 *     machine --expand, watch--> engine
 *        | call                                          every call is noted here: which profile
 *        v
 *     handler on the core --> buffer in its memory --full--> drained: tuples of each profile
 *
 * Handlers note events in the order in which they happen. The end of a burst is the number of events that its profile
 * had by then, so bursts are known to the event. A burst ends just before its last instruction runs; the event of that
 * instruction belongs to the burst. */
#include "dise/engine.h"
#include "dise/guest/blob.h"
#include "dise/guest/handlers.h"
#include "dise/productions.h"
#include "machine/hooks.h"
#include "machine/records.h"
#include "machine/timing/config.h"
#include "source/source.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/phases.h"
#include <riffle/selector.h>
#include <string.h>

/* A burst that is over, and the skipped intervals in front of it. */
struct closed {
    uint64_t called;             /* events of the profile by then */
    uint64_t intervals, sampled; /* of both, as many as there are on average; of the burst alone */
};

/* What a profile has told and not handed out. */
struct queue {
    bool tells; /* it calls a handler */
    uint32_t stream;
    struct rf_selector selector;
    uint64_t called; /* events put down, all told */
    uint64_t handed; /* events handed out */
    bool on, closing;
    uint64_t intervals, sampled; /* since the last burst: all, and those in the burst under way */
    int64_t owed;                /* what the intervals skipped in front of it lack to their mean */
    uint64_t over, over_told;    /* bursts */
    struct rf_phases phases;
    bool is_new; /* its registers have the values for that */
    uint64_t skipped_told;
    size_t n, n_closed, n_ends;
    struct rf_tuple tuples[2 * RF_DISE_BUFFER]; /* an atomic may be two */
    struct closed closed[RF_DISE_BUFFER + 1];   /* not handed out */
    uint32_t ends[RF_DISE_BUFFER + 1];          /* of the batch */
    double weights[RF_DISE_BUFFER + 1];         /* of the same bursts */
};

struct productions_source {
    struct rf_source base;
    struct rf_source *machine;
    struct rf_productions *productions;
    struct rf_dise_engine *engine;
    struct rf_timing_config config;
    uint64_t blob; /* where the handlers are in the guest's memory */
    struct rf_dise_buffer *buffer;
    uint32_t state;
    bool any_closing, ended;
    size_t next_change;
    uint64_t next_at; /* instructions when it is due */
    uint64_t drains;
    size_t n_tags;
    struct tag {
        uint8_t profile, handler;
    } tags[RF_DISE_BUFFER]; /* of the entries of the buffer */
    struct queue queues[RF_DISE_PROFILES];
};

static uint64_t *registers_of(const struct productions_source *source)
{
    return rf_machine_registers(source->machine) + RF_REG_PRIVATE;
}

/* --- bursts ------------------------------------------------------------------------------------- */

/* A burst stands for the distance that is usual in front of it, not for the random one that it has. */
static uint64_t usual_intervals(const struct queue *queue)
{
    int64_t usual = (int64_t)queue->intervals + queue->owed;
    return usual > (int64_t)queue->sampled ? (uint64_t)usual : queue->sampled;
}

static void close_burst(struct productions_source *source, unsigned profile)
{
    struct queue *queue = &source->queues[profile];
    uint64_t last = queue->n_closed > 0 ? queue->closed[queue->n_closed - 1].called : queue->handed;
    queue->over++;
    if (queue->called > last) /* those without events have no end */
        queue->closed[queue->n_closed++] =
            (struct closed){queue->called, usual_intervals(queue), queue->sampled};
    queue->intervals = queue->sampled = 0;
    queue->owed = rf_dise_take_owed(source->engine, profile);
    queue->closing = false;
}

static void close_bursts(struct productions_source *source)
{
    for (unsigned i = 0; i < source->productions->program.n_profiles; i++)
        if (source->queues[i].closing)
            close_burst(source, i);
    source->any_closing = false;
}

/* The instruction ends intervals of these profiles. */
static void count_intervals(struct productions_source *source, unsigned profiles, uint32_t bucket)
{
    for (unsigned i = 0; profiles != 0; i++, profiles >>= 1) {
        struct queue *queue = &source->queues[i];
        if ((profiles & 1) == 0)
            continue;
        queue->intervals++;
        queue->sampled += queue->on;
        if (queue->on)
            rf_phases_interval(&queue->phases, bucket);
    }
}

/* --- changes while it runs ----------------------------------------------------------------------- */

static void plan_change(struct productions_source *source)
{
    const struct rf_productions *productions = source->productions;
    source->next_at = source->next_change < productions->n_changes
                          ? productions->changes[source->next_change].at
                          : UINT64_MAX;
}

/* Registers of the mask get their values. Those of a profile that sees something new get their values for that, if they
 * have any. */
static void load_registers(struct productions_source *source, uint32_t which)
{
    const struct rf_productions *productions = source->productions;
    const struct rf_dise_program *program = &productions->program;
    for (unsigned i = 0; i < program->n_registers; i++) {
        const struct rf_dise_register *reg = &program->registers[i];
        if ((productions->new_mask >> i & 1) != 0 && source->queues[reg->profile].is_new)
            reg = &productions->new_values[i];
        if ((which >> i & 1) != 0)
            rf_dise_load(source->engine, i, reg);
    }
}

static void make_change(struct productions_source *source)
{
    struct rf_productions *productions = source->productions;
    uint32_t which = 0;
    rf_dise_assign(&productions->program, productions->changes[source->next_change++].text, &which,
                   NULL);
    load_registers(source, which);
    plan_change(source);
}

/* --- phases --------------------------------------------------------------------------------------- */

/* A burst of the profile is over. The core counts where intervals end. Software compares the counts, which takes a cycle per
 * bucket and known phase. */
static void note_phase(struct productions_source *source, struct queue *queue)
{
    uint32_t windows = queue->phases.windows;
    rf_phases_burst(&queue->phases);
    if (queue->phases.windows == windows)
        return;
    rf_machine_charge(source->machine, RF_PHASES_BUCKETS * rf_phases_known(&queue->phases));
    bool is_new = rf_phases_is_new(&queue->phases) != 0;
    if (is_new == queue->is_new)
        return;
    queue->is_new = is_new;
    load_registers(source, source->productions->new_mask);
}

/* A burst of which the counters are set anew is over, also where the next one follows at once. */
static void note_state(struct productions_source *source)
{
    unsigned restarted = rf_dise_restarted(source->engine);
    for (unsigned i = 0; i < source->productions->program.n_profiles; i++) {
        struct queue *queue = &source->queues[i];
        bool on = rf_dise_is_on(source->engine, i);
        queue->closing = queue->on && (!on || (restarted >> i & 1) != 0);
        if (queue->closing && source->productions->new_mask != 0)
            note_phase(source, queue);
        source->any_closing |= queue->closing;
        queue->on = on;
    }
}

/* --- hooks --------------------------------------------------------------------------------------- */

enum { CLASSES_SHIFT = 16 }; /* in the number of a call */

/* Events of the profile that an instruction of these classes makes. */
static unsigned events_of(const struct queue *queue, uint32_t classes)
{
    return (unsigned)__builtin_popcount(queue->selector.classes & classes);
}

static void expand(void *context, const struct rf_insn *insn, uint64_t pc, uint32_t state,
                   struct rf_expansion *out)
{
    rf_dise_expand(((struct productions_source *)context)->engine, insn, pc, state, out);
    if (out->watch != 0)
        out->watch = out->watch << RF_PHASES_BITS | rf_phases_bucket(pc);
    for (unsigned i = 0; i < out->n; i++) /* so that `call` knows what it is called for */
        if (out->put[i] == RF_PUT_CALL)
            out->insn[i].imm |= (int32_t)(rf_records_classes(insn) << CLASSES_SHIFT);
}

/* Which action, and in which bucket its instruction is. */
static uint32_t watch(void *context, uint32_t watched)
{
    struct productions_source *source = context;
    uint32_t which = watched >> RF_PHASES_BITS, bucket = watched % RF_PHASES_BUCKETS;
    if (source->any_closing)
        close_bursts(source);
    while (rf_machine_instructions(source->machine) >= source->next_at)
        make_change(source);
    count_intervals(source, rf_dise_counted_by(source->engine, which), bucket);
    uint32_t state = rf_dise_watch(source->engine, which);
    if (state != source->state || rf_dise_restarted(source->engine) != 0)
        note_state(source);
    return source->state = state;
}

static uint64_t call(void *context, uint32_t number)
{
    struct productions_source *source = context;
    const struct tag tag = {(uint8_t)(number >> 8), (uint8_t)number};
    uint64_t offset;
    memcpy(&offset, rf_dise_blob + (RF_DISE_FIRST_ENTRY + tag.handler) * sizeof offset,
           sizeof offset);
    source->tags[source->n_tags++] = tag;
    source->queues[tag.profile].called +=
        events_of(&source->queues[tag.profile], number >> CLASSES_SHIFT);
    return source->blob + offset;
}

static struct rf_insn insn_at(const struct productions_source *source, uint64_t pc)
{
    uint32_t bits = 0;
    const uint8_t *at = rf_machine_at(source->machine, pc, 2);
    if (at != NULL)
        memcpy(&bits, at, 2);
    if ((bits & 3) == 3 && (at = rf_machine_at(source->machine, pc, 4)) != NULL)
        memcpy(&bits, at, 4);
    return rf_insn_decode(bits);
}

enum { RECORDS_EACH = 2 }; /* an atomic is a load and a store */

/* The instruction of an entry as records, each of another class; how many. */
static size_t make_records(const struct productions_source *source, size_t i,
                           struct rf_record *records)
{
    uint64_t pc = source->buffer->entries[i].pc, word = source->buffer->entries[i].word;
    struct rf_insn insn = insn_at(source, pc);
    uint32_t classes = rf_records_classes(&insn) & ~(1u << RF_CLASS_INSN);
    bool is_pair = rf_dise_handlers[source->tags[i].handler].what == RF_DISE_PAIR;
    size_t n = 0;
    for (unsigned kind = 0; kind < RF_CLASS_COUNT && n < RECORDS_EACH; kind++)
        if ((classes >> kind & 1) != 0)
            records[n++] = (struct rf_record){
                .pc = pc,
                .target = is_pair ? word : 0,
                .addr = is_pair ? 0 : word,
                .width = (uint16_t)(is_pair ? 0 : 8 * rf_records_bytes(&insn)),
                .kind = (uint8_t)kind,
                .flags = is_pair && insn.op == RF_OP_jalr ? RF_RECORD_INDIRECT : 0};
    return n;
}

/* What handlers have put down, into the queues. */
static void drain(struct productions_source *source)
{
    static const struct rf_record nothing = {0};
    for (size_t i = 0; i < source->n_tags; i++) {
        struct queue *queue = &source->queues[source->tags[i].profile];
        struct rf_record records[RECORDS_EACH];
        size_t n = make_records(source, i, records);
        queue->n += rf_selector_run(&queue->selector, records, n, &queue->tuples[queue->n]);
    }
    rf_machine_charge(source->machine, source->n_tags * source->config.dise_drain);
    source->drains++;
    source->n_tags = 0;
    source->buffer->n = 0;
    rf_machine_emit(source->machine, &nothing, 1); /* so that it hands over to us */
}

static void returned(void *context)
{
    struct productions_source *source = context;
    if (source->n_tags == RF_DISE_BUFFER)
        drain(source);
}

static void end(void *context)
{
    struct productions_source *source = context;
    close_bursts(source);
    for (unsigned i = 0; i < source->productions->program.n_profiles; i++)
        if (source->queues[i].on)
            close_burst(source, i);
    if (source->n_tags > 0)
        drain(source);
}

static size_t figures(void *context, struct rf_machine_figure *figures, size_t room)
{
    const struct productions_source *source = context;
    struct rf_productions_outcome sum = {0}, one;
    for (size_t i = 0; i < source->productions->program.n_profiles; i++) {
        rf_productions_outcome(&source->base, i, &one);
        sum.bursts += one.bursts;
        sum.sampled += one.sampled;
        sum.skipped += one.skipped;
    }
    const struct rf_machine_figure all[] = {
        {"expansions", rf_dise_expansions(source->engine)},
        {"bursts", sum.bursts},
        {"sampled", sum.sampled},
        {"skipped", sum.skipped},
        {"drains", source->drains},
    };
    size_t n = sizeof all / sizeof *all < room ? sizeof all / sizeof *all : room;
    memcpy(figures, all, n * sizeof *all);
    return n;
}

/* --- the source ---------------------------------------------------------------------------------- */

static uint64_t skipped_by(const struct productions_source *source, unsigned profile)
{
    struct rf_dise_stats stats = rf_dise_stats(source->engine, profile);
    return stats.of_interest - source->queues[profile].called;
}

static void put_end(struct queue *queue, const struct closed *closed)
{
    queue->ends[queue->n_ends] = (uint32_t)(closed->called - queue->handed);
    queue->weights[queue->n_ends++] =
        closed->sampled > 0 ? (double)closed->intervals / (double)closed->sampled : 1;
}

/* False: the profile has nothing to tell. */
static bool hand_out(struct productions_source *source, unsigned profile, struct rf_batch *batch)
{
    struct queue *queue = &source->queues[profile];
    uint64_t skipped = skipped_by(source, profile);
    if (!queue->tells || (queue->n == 0 && !(source->ended && (skipped > queue->skipped_told ||
                                                               queue->over > queue->over_told))))
        return false;
    size_t kept = 0;
    queue->n_ends = 0;
    for (size_t i = 0; i < queue->n_closed; i++)
        if (queue->closed[i].called <= queue->handed + queue->n)
            put_end(queue, &queue->closed[i]);
        else
            queue->closed[kept++] = queue->closed[i];
    queue->n_closed = kept;
    *batch = (struct rf_batch){.tuples = {queue->tuples, NULL, queue->n},
                               .stream = queue->stream,
                               .n = queue->n,
                               .ends = queue->ends,
                               .n_ends = queue->n_ends,
                               .weights = queue->weights,
                               .bursts = queue->over - queue->over_told,
                               .skipped = skipped - queue->skipped_told};
    queue->handed += queue->n;
    queue->over_told = queue->over;
    queue->skipped_told = skipped;
    queue->n = 0;
    return true;
}

static rf_status next(struct rf_source *base, struct rf_batch *batch, struct rf_error *error)
{
    struct productions_source *source = (struct productions_source *)base;
    for (;;) {
        for (unsigned i = 0; i < source->productions->program.n_profiles; i++)
            if (hand_out(source, i, batch))
                return RF_OK;
        if (source->ended)
            return RF_OK;
        struct rf_batch ignored;
        rf_status status = rf_source_next(source->machine, &ignored, error);
        if (status != RF_OK)
            return status;
        source->ended = rf_batch_is_end(&ignored);
    }
}

static void progress(const struct rf_source *base, uint64_t *done, uint64_t *total)
{
    rf_source_progress(((const struct productions_source *)base)->machine, done, total);
}

static rf_status modules(struct rf_source *base, const struct rf_module **found, size_t *n)
{
    return rf_source_modules(((struct productions_source *)base)->machine, found, n);
}

static void close_source(struct rf_source *base)
{
    struct productions_source *source = (struct productions_source *)base;
    const struct rf_alloc alloc = base->alloc;
    rf_source_close(source->machine);
    rf_dise_close(source->engine);
    rf_alloc_free(&alloc, source, sizeof *source);
}

static const struct rf_source_ops ops = {.name = "productions",
                                         .next = next,
                                         .progress = progress,
                                         .modules = modules,
                                         .close = close_source};

/* --- opening ------------------------------------------------------------------------------------- */

static rf_status open_queues(struct productions_source *source, struct rf_error *error)
{
    uint32_t stream = 0;
    rf_status status = RF_OK;
    for (unsigned i = 0; status == RF_OK && i < source->productions->program.n_profiles; i++) {
        struct queue *queue = &source->queues[i];
        const char *selector = rf_productions_selector(source->productions, i);
        queue->on = rf_dise_is_on(source->engine, i);
        queue->owed = rf_dise_take_owed(source->engine, i);
        queue->tells = selector != NULL;
        queue->is_new = true;
        rf_phases_begin(&queue->phases, &(struct rf_phases_setup){0});
        if (!queue->tells)
            continue;
        queue->stream = stream++;
        status = rf_selector_parse(&queue->selector, selector, error);
    }
    return status;
}

/* The handlers' code and their buffer into the guest's memory. */
static rf_status place_handlers(struct productions_source *source, struct rf_error *error)
{
    uint64_t table[RF_DISE_FIRST_ENTRY];
    if (rf_dise_blob_size == 0)
        return rf_fail(error, RF_ENOTSUP,
                       "this riffle was built without riscv64-linux-gnu-gcc, so it has no code of "
                       "handlers for the simulated core");
    memcpy(table, rf_dise_blob, sizeof table);
    const struct rf_machine_code code = {.bytes = rf_dise_blob,
                                         .size = rf_dise_blob_size,
                                         .data =
                                             table[RF_DISE_DATA_ENDS] - table[RF_DISE_DATA_BEGINS]};
    rf_status status = rf_machine_place_with(source->machine, &code, &source->blob, error);
    if (status == RF_OK)
        source->buffer = (struct rf_dise_buffer *)(void *)rf_machine_at(
            source->machine, source->blob + table[RF_DISE_THE_BUFFER], sizeof *source->buffer);
    return status;
}

static bool any_tells(const struct productions_source *source)
{
    for (unsigned i = 0; i < RF_DISE_PROFILES; i++)
        if (source->queues[i].tells)
            return true;
    return false;
}

/* Registers and those for what is new change places. */
static void swap_new(struct rf_productions *productions)
{
    for (unsigned i = 0; i < RF_DISE_REGISTERS; i++) {
        const struct rf_dise_register reg = productions->program.registers[i];
        if ((productions->new_mask >> i & 1) == 0)
            continue;
        productions->program.registers[i] = productions->new_values[i];
        productions->new_values[i] = reg;
    }
}

static rf_status open_engine(struct productions_source *source, struct rf_error *error)
{
    const struct rf_timing_config *config = &source->config;
    const struct rf_dise_sizes sizes = {.patterns = config->dise_patterns,
                                        .replacements = config->dise_replacements,
                                        .conditionals = config->dise_conditionals,
                                        .counters = config->dise_counters,
                                        .counter_bits = config->dise_counter_bits,
                                        .registers = config->dise_registers};
    rf_status status =
        rf_dise_check_values(source->productions, (unsigned)config->dise_counter_bits, error);
    if (status != RF_OK)
        return status;
    swap_new(source->productions); /* the start is new */
    status = rf_dise_open(&source->engine, &source->productions->program, &sizes,
                          registers_of(source), &source->base.alloc, error);
    swap_new(source->productions);
    if (status == RF_OK)
        rf_dise_draw(source->engine, source->productions->seed, source->productions->new_mask);
    if (status == RF_OK)
        status = open_queues(source, error);
    if (status == RF_OK && any_tells(source))
        status = place_handlers(source, error);
    return status;
}

static void attach(struct productions_source *source)
{
    const struct rf_machine_hooks hooks = {.context = source,
                                           .expand = expand,
                                           .watch = watch,
                                           .tallies = rf_dise_tallies(source->engine),
                                           .state = rf_dise_state(source->engine),
                                           .pause = source->config.dise_cycles,
                                           .call = call,
                                           .returned = returned,
                                           .end = end,
                                           .figures = figures};
    source->state = hooks.state;
    plan_change(source);
    rf_machine_hook(source->machine, &hooks);
}

rf_status rf_source_open_productions(struct rf_source **opened, struct rf_source *machine,
                                     struct rf_productions *productions, const char *core,
                                     struct rf_error *error)
{
    struct productions_source *source = rf_source_new(&ops, sizeof *source, &machine->alloc);
    *opened = NULL;
    if (source == NULL) {
        rf_source_close(machine);
        return rf_fail(error, RF_ENOMEM, "no memory for productions in the simulated core");
    }
    source->machine = machine;
    source->productions = productions;
    rf_status status = rf_timing_config_parse(&source->config, core, error);
    if (status == RF_OK)
        status = open_engine(source, error);
    if (status != RF_OK) {
        close_source(&source->base);
        return status;
    }
    attach(source);
    *opened = &source->base;
    return RF_OK;
}

static bool is_random(const struct rf_productions *productions, unsigned profile)
{
    const struct rf_dise_program *program = &productions->program;
    for (unsigned i = 0; i < program->n_registers; i++)
        if (program->registers[i].profile == profile && program->registers[i].about)
            return true;
    return false;
}

void rf_productions_outcome(const struct rf_source *base, size_t i,
                            struct rf_productions_outcome *outcome)
{
    const struct productions_source *source = (const struct productions_source *)base;
    struct rf_dise_stats stats = rf_dise_stats(source->engine, (unsigned)i);
    uint64_t sampled = source->queues[i].called;
    *outcome = (struct rf_productions_outcome){
        .intervals = stats.events,
        .in_bursts = stats.in_bursts,
        .bursts = stats.bursts,
        .expansions = stats.expansions,
        .sampled = sampled,
        .skipped = stats.of_interest - sampled,
        .random = is_random(source->productions, (unsigned)i),
        .phases = source->productions->new_mask != 0 ? source->queues[i].phases.found : 0};
}
