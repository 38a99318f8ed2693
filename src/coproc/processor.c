/* processor.c - the co-processor's state and its interpreter.
 *
 * Zilles and Sohi, "A Programmable Co-Processor for Profiling", section 3. Registers of all kinds lie in
 * one array in the order of the operand codes, so that an operand is one load. Each microinstruction is
 * looked up once, when the program is loaded: bases become a first word and a mask, lanes a shift and a
 * mask, targets an address.
 *
 * All operations of an instruction read before any register is written: results wait in locals. The arrays
 * change at once, since each has one operation per instruction.
 *
 * Guarantee: no program leaves its arrays (addresses are masked) or runs for ever (RF_PROCESSOR_CYCLES).
 * Departure: the shift register moves on by 32 steps when it is read, so that low bits of numbers in a row
 * have nothing in common; in hardware that is a net of xor gates. */
#include "coproc/processor.h"
#include "base/alloc.h"
#include "base/hash.h"
#include "base/random.h"
#include <string.h>

#define ALWAYS_INLINE inline __attribute__((always_inline))

/* Which unit is alone busy, and with what: the unit's kind and the operation. */
enum { KIND_IDLE, KIND_SEVERAL, KIND_VALUE = 16, KIND_INDEX = 32, KIND_MATCH = 48, KIND_DATA = 64 };

/* All signals of an instruction in one word, and the bit that its branch asks. */
enum { ASK_VALUE = 0, ASK_INDEX = 8, ASK_MATCH = 16, ASK_DATA = 24, ASK_ALWAYS = 32, ASK_NEVER };
static const uint64_t ASK_BITS = UINT64_C(1) << ASK_ALWAYS;

/* --- loading ---------------------------------------------------------------------------------- */

static bool reads_random(const struct rf_micro *m)
{
    return m->value_a == RF_OPERAND_RANDOM || m->value_b == RF_OPERAND_RANDOM ||
           m->index_b == RF_OPERAND_RANDOM || m->match_key == RF_OPERAND_RANDOM ||
           m->data_from == RF_OPERAND_RANDOM;
}

static uint32_t index_mask(const struct rf_program *program, unsigned index)
{
    return (UINT32_C(1) << program->indexes[index].bits) - 1;
}

static uint32_t register_mask(const struct rf_program *program, unsigned operand)
{
    return operand >= RF_OPERAND_INDEX && operand < RF_OPERAND_RANDOM
               ? index_mask(program, operand - RF_OPERAND_INDEX)
               : UINT32_MAX;
}

/* A target outside of the program is the end of the routine. */
static uint16_t target_of(const struct rf_program *program, unsigned at, const struct rf_micro *m)
{
    unsigned target = RF_STEP_DONE;
    if (m->to == RF_TO_INTERRUPT)
        return RF_STEP_INTERRUPT;
    if (m->to < RF_TO_REGISTER)
        target = at + m->to - RF_TO_HERE;
    else if (m->to < RF_TO_DONE)
        target = program->targets[m->to - RF_TO_REGISTER];
    return target < program->n ? (uint16_t)target : RF_STEP_DONE;
}

static void load_arrays(struct rf_processor_step *step, const struct rf_program *program)
{
    const struct rf_micro *m = &step->micro;
    const struct rf_program_base *match = &program->bases[m->match_base];
    const struct rf_program_base *data = &program->bases[m->data_base];
    step->match_first = match->first;
    step->match_mask = (UINT32_C(1) << match->log2) - 1;
    step->data_first = data->first;
    step->data_mask = (UINT32_C(1) << data->log2) - 1;
    step->lane_shift = (uint8_t)rf_lane_shift(m->data_lane);
    step->lane_mask = UINT32_MAX >> (32 - rf_lane_bits(m->data_lane));
    step->data_to = m->data_to < RF_RESULT_INDEX
                        ? m->data_to
                        : (uint8_t)(RF_OPERAND_INDEX + m->data_to - RF_RESULT_INDEX);
    step->found_mask = index_mask(program, m->match_index);
    step->key_mask = register_mask(program, m->match_key);
    step->result_mask = m->data_to < RF_RESULT_COUNT ? register_mask(program, step->data_to) : 0;
}

static unsigned asked(unsigned when)
{
    static const uint8_t data[] = {0, 1, 6, 7}; /* zero, not zero, full, not full */
    if (when <= RF_WHEN_ALWAYS)
        return when == RF_WHEN_ALWAYS ? ASK_ALWAYS : ASK_NEVER;
    if (when <= RF_WHEN_MISS)
        return ASK_MATCH + when - RF_WHEN_HIT;
    if (when <= RF_WHEN_VALUE_NOT_FULL)
        return ASK_VALUE + when - RF_WHEN_VALUE_EQ;
    if (when <= RF_WHEN_INDEX_NOT_FULL)
        return ASK_INDEX + when - RF_WHEN_INDEX_EQ;
    return ASK_DATA + data[when - RF_WHEN_DATA_ZERO];
}

static unsigned kind_of(const struct rf_micro *m)
{
    int busy = (m->value_op != RF_VALUE_NOP) + (m->index_op != RF_INDEX_NOP) +
               (m->match_op != RF_MATCH_NOP) + (m->data_op != RF_DATA_NOP);
    if (busy != 1)
        return busy == 0 ? KIND_IDLE : KIND_SEVERAL;
    return m->value_op != RF_VALUE_NOP   ? (unsigned)KIND_VALUE + m->value_op
           : m->index_op != RF_INDEX_NOP ? (unsigned)KIND_INDEX + m->index_op
           : m->match_op != RF_MATCH_NOP ? (unsigned)KIND_MATCH + m->match_op
                                         : (unsigned)KIND_DATA + m->data_op;
}

static void load_step(struct rf_processor_step *step, const struct rf_program *program, unsigned at)
{
    step->micro = program->code[at];
    step->target = target_of(program, at, &step->micro);
    unsigned behind = at + 1 < program->n ? at + 1 : RF_STEP_DONE;
    step->conditional = step->micro.when > RF_WHEN_ALWAYS && step->target != behind;
    step->random = reads_random(&step->micro);
    step->kind = (uint8_t)kind_of(&step->micro);
    step->asks = (uint8_t)asked(step->micro.when);
    step->index_mask = index_mask(program, step->micro.index_to);
    load_arrays(step, program);
}

static void load_fields(struct rf_processor *processor)
{
    const struct rf_program *program = processor->program;
    unsigned n_hashes = 0;
    processor->n_fields = program->n_fields;
    for (unsigned i = 0; i < program->n_fields; i++) {
        const struct rf_program_field *field = &program->fields[i];
        processor->fields[i] =
            (struct rf_processor_field){.word = field->word,
                                        .shift = field->shift,
                                        .a = field->hash_a,
                                        .b = field->hash_b,
                                        .mask = UINT32_MAX >> (32 - field->bits)};
        if (field->word != RF_SAMPLE_HASH)
            continue;
        processor->fields[i].shift = (uint8_t)n_hashes; /* which one */
        rf_hash_paper_init(&processor->hashes[n_hashes++], field->bits, field->hash_seed);
    }
}

/* Linear over xor: what becomes of a state is the xor of what becomes of its bytes. */
static void load_leap(struct rf_processor *processor)
{
    for (unsigned byte = 0; byte < 4; byte++)
        for (uint32_t value = 0; value < 256; value++) {
            uint32_t state = value << 8 * byte;
            for (unsigned i = 0; i < 32; i++)
                state = rf_lfsr_next(state);
            processor->leap[byte][value] = state;
        }
}

static unsigned count_hashes(const struct rf_program *program)
{
    unsigned n = 0;
    for (unsigned i = 0; i < program->n_fields; i++)
        n += program->fields[i].word == RF_SAMPLE_HASH;
    return n;
}

/* The block: processor | hashes | associative array | data array. */
rf_status rf_processor_open(struct rf_processor **processor, const struct rf_program *program,
                            uint64_t seed, const struct rf_alloc *alloc)
{
    size_t hashes = (count_hashes(program) * sizeof(struct rf_hash_paper) + 7) / 8 * 8;
    size_t match = (rf_associative_size(program->size.match_words) + 7) / 8 * 8;
    size_t bytes =
        sizeof **processor + hashes + match + program->size.data_words * sizeof(uint32_t);
    alloc = rf_alloc_or_standard(alloc);
    struct rf_processor *p = rf_alloc_get(alloc, bytes);
    *processor = p;
    if (p == NULL)
        return RF_ENOMEM;
    memset(p, 0, bytes);
    p->program = program;
    p->alloc = *alloc;
    p->bytes = bytes;
    p->hashes = (struct rf_hash_paper *)(p + 1);
    rf_associative_init(&p->match, program->size.match_words, (char *)p->hashes + hashes);
    p->data = (uint32_t *)((char *)p->hashes + hashes + match);
    for (unsigned i = 0; i < program->n; i++)
        load_step(&p->steps[i], program, i);
    memcpy(p->entries, program->entries, sizeof p->entries);
    load_fields(p);
    load_leap(p);
    p->x[RF_OPERAND_RANDOM] = (uint32_t)rf_splitmix(&seed) | 1;
    rf_processor_reset(p);
    return RF_OK;
}

void rf_processor_close(struct rf_processor *processor)
{
    if (processor == NULL)
        return;
    struct rf_alloc alloc = processor->alloc;
    rf_alloc_free(&alloc, processor, processor->bytes);
}

void rf_processor_reset(struct rf_processor *processor)
{
    const struct rf_program *program = processor->program;
    rf_associative_clear_all(&processor->match);
    memset(processor->data, 0, program->size.data_words * sizeof *processor->data);
    memset(processor->x, 0, RF_MICRO_VALUES * sizeof *processor->x);
    memcpy(&processor->x[RF_OPERAND_CONSTANT], program->constants, sizeof program->constants);
    for (unsigned i = 0; i < RF_MICRO_INDEXES; i++)
        processor->x[RF_OPERAND_INDEX + i] = program->indexes[i].start;
    memset(processor->predictor, 1, sizeof processor->predictor);
}

/* --- the decoder ------------------------------------------------------------------------------- */

uint64_t rf_processor_word(const struct rf_record *record, unsigned word)
{
    switch (word) {
    case RF_SAMPLE_PC:
        return record->pc;
    case RF_SAMPLE_ADDR:
        return record->addr;
    case RF_SAMPLE_VALUE:
        return record->value;
    case RF_SAMPLE_TARGET:
        return record->target;
    case RF_SAMPLE_WIDTH:
        return record->width;
    case RF_SAMPLE_THREAD:
        return record->thread;
    case RF_SAMPLE_MISS:
        return record->miss;
    case RF_SAMPLE_TAKEN:
        return (record->flags & RF_RECORD_TAKEN) != 0;
    case RF_SAMPLE_INDIRECT:
        return (record->flags & RF_RECORD_INDIRECT) != 0;
    default:
        return rf_opcode_of(record);
    }
}

static inline void cut_fields(struct rf_processor *p, const struct rf_record *record)
{
    for (unsigned i = 0; i < p->n_fields; i++) {
        const struct rf_processor_field *field = &p->fields[i];
        uint64_t word;
        if (field->word <= RF_SAMPLE_TARGET)
            memcpy(&word, (const char *)record + 8 * field->word, sizeof word);
        else if (field->word < RF_SAMPLE_HASH)
            word = rf_processor_word(record, field->word);
        else {
            struct rf_tuple tuple = {rf_processor_word(record, field->a),
                                     rf_processor_word(record, field->b)};
            p->x[RF_OPERAND_FIELD + i] = rf_hash_paper(&p->hashes[field->shift], tuple);
            continue;
        }
        p->x[RF_OPERAND_FIELD + i] = (uint32_t)(word >> field->shift) & field->mask;
    }
}
_Static_assert(offsetof(struct rf_record, pc) == 8 * RF_SAMPLE_PC &&
                   offsetof(struct rf_record, addr) == 8 * RF_SAMPLE_ADDR &&
                   offsetof(struct rf_record, value) == 8 * RF_SAMPLE_VALUE &&
                   offsetof(struct rf_record, target) == 8 * RF_SAMPLE_TARGET,
               "the words of a record lie in the order of enum rf_sample_word");

/* --- the units --------------------------------------------------------------------------------- */

/* What a unit tells the branch, a bit for each relation, in the order of enum rf_when: == != < >= > <= full, not
 * full. Of the associative array == is a hit, of the data array zero. */
typedef uint8_t signals;

static inline signals say(bool equal, bool less, bool full)
{
    static const signals relations[4] = {0x1a, 0x29, 0x26, 0x25}; /* by equal and less */
    return (signals)(relations[equal + 2 * less] | (full ? 0x40 : 0x80));
}

struct outcome {
    uint32_t result;
    signals signals;
};

static inline struct outcome result_of(uint32_t result, bool carry, uint32_t mask)
{
    return (struct outcome){result, say(result == 0, carry, result == mask)};
}

static inline struct outcome compare(uint32_t a, uint32_t b)
{
    return (struct outcome){0, say(a == b, a < b, false)};
}

static ALWAYS_INLINE struct outcome value_alu(const struct rf_processor *p,
                                              const struct rf_micro *m, unsigned op)
{
    uint32_t a = p->x[m->value_a], b = p->x[m->value_b];
    switch (op) {
    case RF_VALUE_MOVE:
        return result_of(a, false, UINT32_MAX);
    case RF_VALUE_ADD:
        return result_of(a + b, a + b < a, UINT32_MAX);
    case RF_VALUE_ADD_SATURATED:
        return result_of(a + b < a ? UINT32_MAX : a + b, a + b < a, UINT32_MAX);
    case RF_VALUE_SUBTRACT:
        return result_of(a - b, a < b, UINT32_MAX);
    case RF_VALUE_SUBTRACT_SATURATED:
        return result_of(a < b ? 0 : a - b, a < b, UINT32_MAX);
    case RF_VALUE_AND:
        return result_of(a & b, false, UINT32_MAX);
    case RF_VALUE_OR:
        return result_of(a | b, false, UINT32_MAX);
    case RF_VALUE_XOR:
        return result_of(a ^ b, false, UINT32_MAX);
    case RF_VALUE_SHIFT_LEFT:
        return result_of(a << (1u << m->value_b), false, UINT32_MAX);
    case RF_VALUE_SHIFT_RIGHT:
        return result_of(a >> (1u << m->value_b), false, UINT32_MAX);
    default:
        return compare(a, b);
    }
}

/* Sums are of 33 bits before they are cut to the width of the register. */
static ALWAYS_INLINE struct outcome index_alu(const struct rf_processor *p,
                                              const struct rf_processor_step *step, unsigned op)
{
    const struct rf_micro *m = &step->micro;
    uint32_t a = p->x[RF_OPERAND_INDEX + m->index_a], b = p->x[m->index_b], mask = step->index_mask;
    uint64_t sum = (uint64_t)a + b;
    switch (op) {
    case RF_INDEX_MOVE:
        return result_of(b & mask, false, mask);
    case RF_INDEX_ADD:
        return result_of((uint32_t)sum & mask, sum > mask, mask);
    case RF_INDEX_ADD_SATURATED:
        return result_of(sum > mask ? mask : (uint32_t)sum, sum > mask, mask);
    case RF_INDEX_SUBTRACT:
        return result_of((a - b) & mask, a < b, mask);
    case RF_INDEX_SUBTRACT_SATURATED:
        return result_of(a < b ? 0 : a - b > mask ? mask : a - b, a < b, mask);
    case RF_INDEX_AND:
        return result_of(a & b & mask, false, mask);
    case RF_INDEX_OR:
        return result_of((a | b) & mask, false, mask);
    case RF_INDEX_XOR:
        return result_of((a ^ b) & mask, false, mask);
    default:
        return compare(a, b);
    }
}

/* The result is the entry that was found, from the start of the part, or the key that was read. */
static ALWAYS_INLINE struct outcome match_unit(struct rf_processor *p,
                                               const struct rf_processor_step *step, unsigned op)
{
    const struct rf_micro *m = &step->micro;
    uint32_t first = step->match_first, end = first + step->match_mask + 1;
    uint32_t index = p->x[RF_OPERAND_INDEX + m->match_index];
    uint32_t entry = first + (index & step->match_mask), found;
    switch (op) {
    case RF_MATCH_FIND:
        found = rf_associative_find(&p->match, p->x[m->match_key], first, end);
        break;
    case RF_MATCH_NEXT:
        found = rf_associative_find(&p->match, p->x[m->match_key], entry + 1, end);
        break;
    case RF_MATCH_FREE:
        found = rf_associative_free(&p->match, first, end);
        break;
    case RF_MATCH_WRITE:
        rf_associative_write(&p->match, entry, p->x[m->match_key]);
        return (struct outcome){0, 0};
    case RF_MATCH_CLEAR:
        rf_associative_clear(&p->match, entry);
        return (struct outcome){0, 0};
    default:
        return (struct outcome){p->match.keys[entry], 0};
    }
    bool hit = found != RF_ASSOCIATIVE_END;
    return (struct outcome){hit ? found - first : index, say(hit, false, false)};
}

static ALWAYS_INLINE struct outcome data_unit(struct rf_processor *p,
                                              const struct rf_processor_step *step, unsigned op)
{
    const struct rf_micro *m = &step->micro;
    uint32_t mask = step->lane_mask;
    uint32_t *word =
        &p->data[step->data_first + (p->x[RF_OPERAND_INDEX + m->data_index] & step->data_mask)];
    uint32_t old = *word >> step->lane_shift & mask, by = p->x[m->data_from], now;
    switch (op) {
    case RF_DATA_READ:
        return result_of(old, false, mask);
    case RF_DATA_INCREMENT:
        now = old + (old != mask);
        break;
    case RF_DATA_DECREMENT:
        now = old - (old != 0);
        break;
    case RF_DATA_ADD:
        now = by > mask - old ? mask : old + by;
        break;
    case RF_DATA_SUBTRACT:
        now = by > old ? 0 : old - by;
        break;
    case RF_DATA_AND:
        now = old & by;
        break;
    case RF_DATA_OR:
        now = (old | by) & mask;
        break;
    default: /* write, swap */
        now = by & mask;
        break;
    }
    *word = (*word & ~(mask << step->lane_shift)) | now << step->lane_shift;
    return result_of(op == RF_DATA_SWAP ? old : now, false, mask);
}

/* --- one instruction --------------------------------------------------------------------------- */

static ALWAYS_INLINE void write_found(struct rf_processor *p, const struct rf_processor_step *step,
                                      unsigned op, uint32_t result)
{
    const struct rf_micro *m = &step->micro;
    if (rf_match_finds(op))
        p->x[RF_OPERAND_INDEX + m->match_index] = result & step->found_mask;
    else if (op == RF_MATCH_READ)
        p->x[m->match_key] = result & step->key_mask;
}

static inline uint32_t leap(const struct rf_processor *p, uint32_t state)
{
    return p->leap[0][state & 255] ^ p->leap[1][state >> 8 & 255] ^ p->leap[2][state >> 16 & 255] ^
           p->leap[3][state >> 24];
}

/* The operations of an instruction, 0 where a unit is idle. */
struct operations {
    unsigned value, index, match, data;
};

/* Execute with operations that the compiler may know: then all but these fall away. Is the branch taken? */
static ALWAYS_INLINE bool execute_known(struct rf_processor *p,
                                        const struct rf_processor_step *step,
                                        const struct operations op)
{
    const struct rf_micro *m = &step->micro;
    struct outcome value = {0, 0}, index = {0, 0}, match = {0, 0}, data = {0, 0};
    if (op.value != RF_VALUE_NOP)
        value = value_alu(p, m, op.value);
    if (op.index != RF_INDEX_NOP)
        index = index_alu(p, step, op.index);
    if (op.match != RF_MATCH_NOP)
        match = match_unit(p, step, op.match);
    if (op.data != RF_DATA_NOP)
        data = data_unit(p, step, op.data);
    if (rf_value_has_result(op.value))
        p->x[m->value_to] = value.result;
    if (rf_index_has_result(op.index))
        p->x[RF_OPERAND_INDEX + m->index_to] = index.result;
    write_found(p, step, op.match, match.result);
    if (op.data != RF_DATA_NOP && m->data_to != RF_RESULT_NONE)
        p->x[step->data_to] = data.result & step->result_mask;
    if (step->random)
        p->x[RF_OPERAND_RANDOM] = leap(p, p->x[RF_OPERAND_RANDOM]);
    uint64_t all = ASK_BITS | (uint64_t)value.signals | (uint64_t)index.signals << ASK_INDEX |
                   (uint64_t)match.signals << ASK_MATCH | (uint64_t)data.signals << ASK_DATA;
    return (all >> step->asks & 1) != 0;
}

static bool execute_any(struct rf_processor *p, const struct rf_processor_step *step)
{
    const struct rf_micro *m = &step->micro;
    return execute_known(p, step,
                         (struct operations){m->value_op, m->index_op, m->match_op, m->data_op});
}

#define ALONE(unit, number, kind)                                                                  \
    case (kind) + (number):                                                                        \
        return execute_known(p, step, (struct operations){.unit = (number)})

/* Most instructions keep one unit busy: each operation has code of its own, reached in one jump. */
static inline bool execute(struct rf_processor *p, const struct rf_processor_step *step)
{
    switch (step->kind) {
        ALONE(value, RF_VALUE_MOVE, KIND_VALUE);
        ALONE(value, RF_VALUE_ADD, KIND_VALUE);
        ALONE(value, RF_VALUE_AND, KIND_VALUE);
        ALONE(value, RF_VALUE_SHIFT_LEFT, KIND_VALUE);
        ALONE(value, RF_VALUE_COMPARE, KIND_VALUE);
        ALONE(index, RF_INDEX_MOVE, KIND_INDEX);
        ALONE(index, RF_INDEX_ADD, KIND_INDEX);
        ALONE(index, RF_INDEX_ADD_SATURATED, KIND_INDEX);
        ALONE(index, RF_INDEX_COMPARE, KIND_INDEX);
        ALONE(match, RF_MATCH_FIND, KIND_MATCH);
        ALONE(match, RF_MATCH_WRITE, KIND_MATCH);
        ALONE(match, RF_MATCH_CLEAR, KIND_MATCH);
        ALONE(data, RF_DATA_READ, KIND_DATA);
        ALONE(data, RF_DATA_WRITE, KIND_DATA);
        ALONE(data, RF_DATA_INCREMENT, KIND_DATA);
        ALONE(data, RF_DATA_ADD, KIND_DATA);
    case KIND_IDLE:
        return execute_known(p, step, (struct operations){.value = 0});
    default:
        return execute_any(p, step);
    }
}

/* The counter beside the word learns; its value before that. */
static inline uint8_t learn(uint8_t *counter, bool taken)
{
    uint8_t old = *counter;
    *counter = (uint8_t)(taken ? old + (old < 3) : old - (old > 0));
    return old;
}

/* Was the branch predicted wrongly? A word that branches to itself is fetched again before it has learned;
 * that makes no difference, since what it learns from a right prediction does not change the next. */
static inline bool mispredicts(struct rf_processor *p, unsigned at, bool taken)
{
    bool wrong = (learn(&p->predictor[at], taken) >= 2) != taken;
    p->mispredicts += wrong;
    return wrong;
}

enum rf_processor_end rf_processor_run(struct rf_processor *processor,
                                       const struct rf_record *record)
{
    unsigned at = processor->entries[rf_opcode_of(record)];
    unsigned cycles = 0, instructions = 0, n = processor->program->n;
    cut_fields(processor, record);
    while (at < n && cycles < RF_PROCESSOR_CYCLES) {
        const struct rf_processor_step *step = &processor->steps[at];
        bool taken = execute(processor, step);
        cycles++;
        instructions++;
        if (step->conditional && mispredicts(processor, at, taken))
            cycles += RF_PROCESSOR_MISPREDICT;
        at = taken ? step->target : at + 1;
    }
    processor->cycles += cycles;
    processor->instructions += instructions;
    if (at < n) {
        processor->overruns++;
        processor->overrun_at = at;
        return RF_PROCESSOR_OVERRUN;
    }
    return at == RF_STEP_INTERRUPT ? RF_PROCESSOR_INTERRUPT : RF_PROCESSOR_DONE;
}

/* --- what the host reads ------------------------------------------------------------------------ */

uint32_t rf_processor_role(const struct rf_processor *processor, int role, uint32_t slot)
{
    const struct rf_program_role *r = &processor->program->roles[role];
    const struct rf_program_base *base = &processor->program->bases[r->base];
    uint32_t at = base->first + (slot & ((UINT32_C(1) << base->log2) - 1));
    if (base->kind == RF_BASE_MATCH)
        return processor->match.keys[at];
    return processor->data[at] >> rf_lane_shift(r->lane) &
           UINT32_MAX >> (32 - rf_lane_bits(r->lane));
}

uint32_t rf_processor_slots(const struct rf_processor *processor)
{
    const struct rf_program *program = processor->program;
    uint32_t slots = 0;
    for (unsigned i = 0; i < program->n_roles; i++) {
        uint32_t words = UINT32_C(1) << program->bases[program->roles[i].base].log2;
        slots = slots == 0 || words < slots ? words : slots;
    }
    return slots;
}
