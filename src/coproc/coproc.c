/* coproc.c - records through filter, buffer and processor; interrupts to the host.
 *
 * Zilles and Sohi, sections 3.2 to 3.5. The processor takes samples from the buffer in the order of
 * retirement. Natively there is no clock: either records come `pace` cycles apart and a full buffer drops
 * them, or (pace 0) the core waits for room and nothing is lost. An interrupt halts the co-processor, and
 * the core is in the handler meanwhile: no records come, and the clock moves on by the handler's cost.
 *
 * Cost of a handler natively: enter + scan * slots looked at + fold * slots that went into the table. Beside the
 * simulated core the handler runs as code, and its cycles are what it takes; without timing the model says it. When
 * the program is over the slots are read once more, and nobody waits for that: it costs nothing. */
#include "coproc/coproc.h"
#include <riffle/selector.h>
#include "base/alloc.h"
#include "base/error.h"
#include <string.h>

/* --- the window -------------------------------------------------------------------------------- */

/* All of them anew: the window has been where the simulated program can write. */
static void show_roles(const struct rf_coproc *coproc, struct rf_window *window)
{
    const struct rf_program *program = &coproc->program;
    memset(window->roles, 0, sizeof window->roles);
    for (unsigned i = 0; coproc->kind->roles[i] != NULL; i++) {
        int number = rf_program_role(program, coproc->kind->roles[i]);
        if (number < 0)
            continue;
        const struct rf_program_role *role = &program->roles[number];
        const struct rf_program_base *base = &program->bases[role->base];
        window->roles[i] =
            (struct rf_window_role){.first = base->first,
                                    .shift = rf_lane_shift(role->lane),
                                    .mask = UINT32_MAX >> (32 - rf_lane_bits(role->lane)),
                                    .in_keys = base->kind == RF_BASE_MATCH};
    }
}

static void show_lets(const struct rf_coproc *coproc, struct rf_window *window)
{
    const struct rf_program *program = &coproc->program;
    memset(window->lets, 0, sizeof window->lets);
    for (unsigned i = 0; i < RF_HOST_LETS && coproc->kind->lets[i].name != NULL; i++) {
        const char *name = coproc->kind->lets[i].name;
        uint32_t standard = coproc->kind->lets[i].standard;
        unsigned kind = name[0] == '@'   ? RF_PROGRAM_INDEX
                        : name[0] == ':' ? RF_PROGRAM_LABEL
                                         : RF_PROGRAM_LET;
        const struct rf_program_symbol *symbol =
            rf_program_find(program, kind, name + (kind != RF_PROGRAM_LET));
        window->lets[i] = symbol != NULL ? (uint32_t)symbol->number : standard;
    }
}

/* As many as the smallest part of a slot has words. */
uint32_t rf_coproc_slots(const struct rf_coproc *coproc)
{
    const struct rf_program *program = &coproc->program;
    uint32_t slots = 0;
    for (unsigned i = 0; i < coproc->kind->slot_roles; i++) {
        int role = rf_program_role(program, coproc->kind->roles[i]);
        uint32_t words = role >= 0 ? 1u << program->bases[program->roles[role].base].log2 : slots;
        slots = slots == 0 || words < slots ? words : slots;
    }
    return slots;
}

static void show_registers(const struct rf_coproc *coproc, struct rf_window *window)
{
    for (unsigned i = 0; i < RF_MICRO_INDEXES; i++) {
        window->indexes[i] = coproc->processor->x[RF_OPERAND_INDEX + i];
        window->full[i] = (UINT32_C(1) << coproc->program.indexes[i].bits) - 1;
    }
}

void rf_coproc_show(struct rf_coproc *coproc, enum rf_reason reason)
{
    struct rf_window *window = coproc->window;
    const struct rf_processor *processor = coproc->processor;
    const struct rf_coproc_counts *counts = &coproc->counts;
    window->reason = reason;
    window->command = 0;
    window->events = (uint32_t)(counts->events - counts->last_events);
    window->samples = (uint32_t)(counts->samples - counts->last_samples);
    window->mask = coproc->filter.mask;
    window->match = coproc->filter.match;
    window->filter_bits = coproc->filter.bits;
    window->lifted = coproc->filter.lifted;
    window->look = coproc->quiet;
    window->random = processor->x[RF_OPERAND_RANDOM];
    window->slots = rf_coproc_slots(coproc);
    window->folded = window->scanned = 0;
    window->data_taken = RF_WINDOW_DATA;
    show_roles(coproc, window);
    show_lets(coproc, window);
    show_registers(coproc, window);
    memcpy(window->data, processor->data, coproc->program.size.data_words * sizeof(uint32_t));
    memcpy(window->keys, processor->match.keys,
           coproc->program.size.match_words * sizeof(uint32_t));
    memcpy(window->filter, coproc->filter.table, coproc->filter.bits / 8);
}

static void take_data(struct rf_coproc *coproc)
{
    uint32_t words = coproc->program.size.data_words, taken = coproc->window->data_taken;
    memcpy(coproc->processor->data, coproc->window->data,
           (taken < words ? taken : words) * sizeof(uint32_t));
}

static void take_arrays(struct rf_coproc *coproc)
{
    const struct rf_window *window = coproc->window;
    struct rf_processor *processor = coproc->processor;
    if ((window->command & RF_COMMAND_RESET) != 0)
        rf_processor_reset(processor);
    if ((window->command & RF_COMMAND_DATA) != 0)
        take_data(coproc);
    if ((window->command & RF_COMMAND_KEYS) == 0)
        return;
    rf_associative_clear_all(&processor->match);
    for (uint32_t i = 0; i < coproc->program.size.match_words; i++)
        if ((window->valid[i / 32] >> i % 32 & 1) != 0)
            rf_associative_write(&processor->match, i, window->keys[i]);
    for (unsigned i = 0; i < RF_MICRO_INDEXES; i++)
        processor->x[RF_OPERAND_INDEX + i] = window->indexes[i] & window->full[i];
}

/* Every class that has an entry begins there. What waits in the buffer was tagged for another routine. */
static void take_entry(struct rf_coproc *coproc)
{
    uint32_t entry = coproc->window->entry;
    if ((entry != RF_WINDOW_AS_DECLARED) != coproc->upper) {
        coproc->counts.drops += coproc->buffer_n;
        coproc->buffer_n = 0;
    }
    coproc->upper = entry != RF_WINDOW_AS_DECLARED;
    for (unsigned i = 0; i < RF_OPCODE_COUNT; i++)
        if (coproc->program.entries[i] != RF_NO_ENTRY)
            coproc->processor->entries[i] =
                entry < coproc->program.n ? (uint16_t)entry : coproc->program.entries[i];
}

void rf_coproc_take(struct rf_coproc *coproc)
{
    const struct rf_window *window = coproc->window;
    struct rf_coproc_counts *counts = &coproc->counts;
    counts->folded += window->folded;
    counts->scanned += window->scanned;
    counts->again += coproc->upper ? counts->samples - counts->last_samples : 0;
    counts->last_events = counts->events;
    counts->last_samples = counts->samples;
    coproc->filter.mask = window->mask;
    coproc->filter.match = window->match;
    coproc->filter.lifted = window->lifted != 0;
    coproc->look = window->look;
    memcpy(coproc->filter.table, window->filter, coproc->filter.bits / 8);
    take_arrays(coproc);
    take_entry(coproc);
    coproc->rests = (window->command & RF_COMMAND_REST) != 0 ||
                    (coproc->rests && window->reason == RF_REASON_END);
    coproc->halted = false;
}

uint64_t rf_coproc_price(const struct rf_coproc *coproc)
{
    const struct rf_coproc_options *o = &coproc->options;
    return o->enter + o->scan * coproc->window->scanned + o->fold * coproc->window->folded;
}

uint64_t rf_coproc_serve(struct rf_coproc *coproc, enum rf_reason reason)
{
    rf_coproc_show(coproc, reason);
    coproc->kind->serve(coproc->window, coproc->table);
    uint64_t cycles = reason != RF_REASON_END ? rf_coproc_price(coproc) : 0;
    rf_coproc_take(coproc);
    coproc->counts.overhead += cycles;
    return cycles;
}

/* --- samples ----------------------------------------------------------------------------------- */

uint64_t rf_coproc_widen(const struct rf_coproc *coproc, uint32_t address)
{
    return (uint64_t)coproc->high[address >> 20] << 32 | address;
}

static void learn_high(struct rf_coproc *coproc, uint64_t pc)
{
    coproc->high[(uint32_t)pc >> 20] = (uint32_t)(pc >> 32);
}

/* When this many samples were given up and none has ended, none will. */
enum { HOPELESS = 64 };

static __attribute__((noinline)) void give_up(struct rf_coproc *coproc)
{
    const struct rf_coproc_counts *counts = &coproc->counts;
    uint64_t overruns = coproc->processor->overruns;
    if (overruns < HOPELESS || overruns < counts->samples - counts->drops - coproc->buffer_n)
        return;
    coproc->hopeless = true;
    coproc->filter.mask = 0; /* no pc has this hash */
    coproc->filter.match = 1;
}

/* One sample through the processor. */
static void run(struct rf_coproc *coproc, const struct rf_record *record)
{
    uint64_t before = coproc->processor->cycles;
    enum rf_processor_end end = rf_processor_run(coproc->processor, record);
    coproc->free_at += (coproc->processor->cycles - before) * coproc->options.clock;
    if (end == RF_PROCESSOR_DONE)
        return;
    if (end == RF_PROCESSOR_OVERRUN) {
        give_up(coproc);
        return;
    }
    coproc->counts.interrupts++;
    coproc->halted = true;
}

void rf_coproc_advance(struct rf_coproc *coproc, uint64_t now)
{
    while (coproc->buffer_n > 0 && coproc->free_at <= now && !coproc->halted) {
        uint32_t at = coproc->buffer_first;
        coproc->buffer_first = at + 1 < coproc->buffer_size ? at + 1 : 0;
        coproc->buffer_n--;
        run(coproc, &coproc->buffer[at]);
    }
    coproc->now = now;
}

static bool is_tagged(struct rf_coproc *coproc, const struct rf_record *record)
{
    if (coproc->program.entries[rf_opcode_of(record)] == RF_NO_ENTRY)
        return false;
    coproc->counts.events++;
    if (!rf_filter_in_part(&coproc->filter, record->pc)) {
        coproc->counts.elsewhere++;
        return false;
    }
    if (rf_filter_masks(&coproc->filter, record->pc)) {
        coproc->counts.masked++;
        return false;
    }
    coproc->counts.samples++;
    learn_high(coproc, record->pc);
    if (record->target != 0)
        learn_high(coproc, record->target);
    return true;
}

static void put_into_buffer(struct rf_coproc *coproc, const struct rf_record *record)
{
    if (coproc->buffer_n == coproc->buffer_size) {
        coproc->counts.drops++;
        return;
    }
    if (coproc->buffer_n == 0 && coproc->free_at <= coproc->now) /* it finds the processor idle */
        coproc->free_at = coproc->now + RF_PROCESSOR_FILL * coproc->options.clock;
    uint32_t at = coproc->buffer_first + coproc->buffer_n++;
    coproc->buffer[at < coproc->buffer_size ? at : at - coproc->buffer_size] = *record;
}

void rf_coproc_offer(struct rf_coproc *coproc, const struct rf_record *record, uint64_t now)
{
    rf_coproc_advance(coproc, now);
    if (!is_tagged(coproc, record))
        return;
    if (coproc->waits && !coproc->halted)
        run(coproc, record);
    else
        put_into_buffer(coproc, record);
}

/* --- natively ---------------------------------------------------------------------------------- */

bool rf_coproc_is_quiet(const struct rf_coproc *coproc)
{
    return coproc->look != 0 && coproc->counts.events - coproc->counts.last_events >= coproc->look;
}

static void serve_natively(struct rf_coproc *coproc)
{
    if (!coproc->halted && !rf_coproc_is_quiet(coproc))
        return;
    coproc->counts.quiets += !coproc->halted;
    coproc->now += rf_coproc_serve(coproc, coproc->halted ? RF_REASON_INTERRUPT : RF_REASON_QUIET);
    coproc->free_at = coproc->free_at > coproc->now ? coproc->free_at : coproc->now;
}

static void feed_paced(struct rf_coproc *coproc, const struct rf_record *records, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        rf_coproc_offer(coproc, &records[i], coproc->now + coproc->options.pace);
        serve_natively(coproc);
    }
}

/* Events from the last visit on until it is due again are counted against `end`: one comparison per event. */
size_t rf_coproc_run_until_due(struct rf_coproc *coproc, const struct rf_record *records, size_t n)
{
    uint64_t end = coproc->look != 0 ? coproc->counts.last_events + coproc->look : UINT64_MAX;
    size_t i = 0;
    while (i < n && !coproc->halted && coproc->counts.events < end) {
        const struct rf_record *record = &records[i++];
        if (is_tagged(coproc, record))
            run(coproc, record);
    }
    return i;
}

void rf_coproc_feed_natively(struct rf_coproc *coproc, const struct rf_record *records, size_t n)
{
    for (size_t i = 0; i < n;) {
        i += rf_coproc_run_until_due(coproc, records + i, n - i);
        serve_natively(coproc);
    }
}

rf_status rf_coproc_feed(struct rf_coproc *coproc, const struct rf_record *records, size_t n,
                         struct rf_error *error)
{
    unsigned line;
    if (coproc->attachment != NULL) /* it has seen them */
        n = 0;
    if (coproc->options.pace > 0)
        feed_paced(coproc, records, n);
    else
        rf_coproc_feed_natively(coproc, records, n);
    if (!coproc->hopeless)
        return RF_OK;
    rf_coproc_overruns(coproc, &line);
    return rf_fail(error, RF_EINVAL,
                   "%.*s: line %u: the program runs for ever: none of the first %d samples came to "
                   "an end in %d cycles",
                   (int)strcspn(coproc->text, "("), coproc->text, line, HOPELESS,
                   RF_PROCESSOR_CYCLES);
}

uint64_t rf_coproc_overruns(const struct rf_coproc *coproc, unsigned *line)
{
    const struct rf_processor *processor = coproc->processor;
    *line = processor->overruns > 0 ? coproc->program.lines[processor->overrun_at] : 0;
    return processor->overruns;
}

rf_status rf_coproc_end(struct rf_coproc *coproc, struct rf_error *error)
{
    rf_status status = rf_coproc_collect(coproc, error);
    if (status != RF_OK)
        return status;
    while (coproc->buffer_n > 0) {
        rf_coproc_advance(coproc, UINT64_MAX);
        if (coproc->halted)
            rf_coproc_serve(coproc, RF_REASON_INTERRUPT);
    }
    rf_coproc_serve(coproc, RF_REASON_END);
    return RF_OK;
}

/* --- what it found ------------------------------------------------------------------------------ */

static rf_status put_figure(const struct rf_sink *sink, const char *name, double value)
{
    struct rf_figure figure = {.value = value};
    if (sink->figure == NULL)
        return RF_OK;
    rf_format(figure.name, sizeof figure.name, "%s", name);
    return sink->figure(sink->context, &figure);
}

static double share(uint64_t part, uint64_t whole)
{
    return whole > 0 ? (double)part / (double)whole : 0;
}

/* Samples that the table knows of, or that those stand for; no more than were taken for it. */
static uint64_t count_recorded(const struct rf_coproc *coproc)
{
    const struct rf_coproc_counts *c = &coproc->counts;
    uint64_t taken = c->samples - c->drops, recorded;
    taken = taken > c->again ? taken - c->again : 0;
    if (__builtin_mul_overflow(coproc->kind->recorded(coproc->table),
                               rf_program_let(&coproc->program, "one_of", 1), &recorded))
        return taken;
    return recorded < taken ? recorded : taken;
}

static rf_status put_figures(const struct rf_coproc *coproc, const struct rf_sink *sink)
{
    const struct rf_coproc_counts *c = &coproc->counts;
    const struct rf_processor *p = coproc->processor;
    const struct {
        const char *name;
        double value;
    } figures[] = {
        {"class-events", (double)c->events},
        {"samples", (double)c->samples},
        {"drops", (double)c->drops},
        {"masked-events", (double)c->masked},
        {"interrupts", (double)(c->interrupts + c->quiets)},
        {"looks", (double)c->quiets},
        {"slots-folded", (double)c->folded},
        {"overhead-cycles", (double)c->overhead},
        {"coproc-cycles", (double)p->cycles},
        {"microinstructions", (double)p->instructions},
        {"mispredicts", (double)p->mispredicts},
        {"overruns", (double)p->overruns},
        {"covered-share", share(c->masked + c->again + count_recorded(coproc), c->events)},
        {"complete", coproc->rests},
        {"sampled-share", share(c->samples - c->drops, c->events)},
        {"table-refused", (double)coproc->table->refused},
    };
    rf_status status = RF_OK;
    for (size_t i = 0; i < sizeof figures / sizeof *figures && status == RF_OK; i++)
        status = put_figure(sink, figures[i].name, figures[i].value);
    if (status == RF_OK && coproc->kind->totals_in_bounds)
        status = put_figure(sink, "totals-in-bounds", 1);
    return status;
}

/* Bits of the arrays, the filter's table, the buffer and the registers. */
static uint64_t count_bits(const struct rf_coproc *coproc)
{
    const struct rf_coproc_size *size = &coproc->program.size;
    return (uint64_t)RF_MICRO_WORDS * (96 + 2) + (uint64_t)size->match_words * 33 +
           (uint64_t)size->data_words * 32 + size->filter_bits + (uint64_t)size->buffer_bytes * 8 +
           (RF_MICRO_VALUES + RF_MICRO_CONSTANTS) * 32 + RF_MICRO_INDEXES * RF_MICRO_INDEX_BITS +
           RF_MICRO_BASES * 16 + RF_MICRO_TARGETS * 8 + 32;
}

rf_status rf_coproc_report(const struct rf_coproc *coproc, const struct rf_sink *sink,
                           struct rf_coproc_totals *totals)
{
    *totals = (struct rf_coproc_totals){.samples = coproc->counts.samples,
                                        .drops = coproc->counts.drops,
                                        .memory = sizeof *coproc + coproc->processor->bytes +
                                                  sizeof *coproc->window + coproc->table_bytes +
                                                  coproc->buffer_size * sizeof *coproc->buffer,
                                        .bits = count_bits(coproc)};
    rf_status status = coproc->kind->report(coproc, sink);
    if (status == RF_OK)
        status = put_figures(coproc, sink);
    const struct rf_summary summary = {.events = coproc->counts.samples - coproc->counts.drops,
                                       .absent_upper =
                                           coproc->counts.samples - coproc->counts.drops,
                                       .shape = RF_SHAPE_TUPLE,
                                       .bound = RF_BOUND_ESTIMATE};
    return status == RF_OK ? sink->end(sink->context, &summary) : status;
}

void rf_coproc_wants(const struct rf_coproc *coproc, struct rf_selector *selector)
{
    static const uint8_t fields[RF_SAMPLE_COUNT] = {[RF_SAMPLE_PC] = RF_FIELD_PC,
                                                    [RF_SAMPLE_ADDR] = RF_FIELD_ADDR,
                                                    [RF_SAMPLE_VALUE] = RF_FIELD_VALUE,
                                                    [RF_SAMPLE_TARGET] = RF_FIELD_TARGET,
                                                    [RF_SAMPLE_WIDTH] = RF_FIELD_WIDTH,
                                                    [RF_SAMPLE_THREAD] = RF_FIELD_THREAD,
                                                    [RF_SAMPLE_MISS] = RF_FIELD_MISS,
                                                    [RF_SAMPLE_TAKEN] = RF_FIELD_TAKEN,
                                                    [RF_SAMPLE_INDIRECT] = RF_FIELD_INDIRECT,
                                                    [RF_SAMPLE_OPCODE] = RF_FIELD_INDIRECT};
    const struct rf_program *program = &coproc->program;
    *selector = (struct rf_selector){.classes = rf_program_classes(program),
                                     .fields = 1u << RF_FIELD_PC | 1u << RF_FIELD_INDIRECT,
                                     .project_a = RF_FIELD_PC};
    for (unsigned i = 0; i < program->n_fields; i++) {
        const struct rf_program_field *field = &program->fields[i];
        bool hash = field->word == RF_SAMPLE_HASH;
        selector->fields |= 1u << fields[hash ? field->hash_a : field->word] |
                            1u << fields[hash ? field->hash_b : field->word];
    }
}

const char *rf_coproc_text(const struct rf_coproc *coproc)
{
    return coproc->text;
}

uint64_t rf_coproc_let(const struct rf_coproc *coproc, const char *name, uint64_t otherwise)
{
    return rf_program_let(&coproc->program, name, otherwise);
}

const char *rf_coproc_selector(const struct rf_coproc *coproc)
{
    return coproc->selector;
}

size_t rf_coproc_list(const struct rf_coproc *coproc, char *text, size_t size)
{
    return rf_program_list(&coproc->program, coproc->source, text, size);
}

size_t rf_coproc_disassemble(const struct rf_coproc *coproc, char *text, size_t size)
{
    return rf_program_print(&coproc->program, text, size);
}
