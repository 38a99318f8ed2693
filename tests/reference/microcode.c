/* microcode.c - the co-processor stage by stage: fetch, decode, execute, with a latch between them.
 *
 * Slow and plain. It reads words, not what the assembler knows: the word is fetched, taken apart in decode,
 * and executed. All writes of a cycle are put down first and done at its end. */
#include "reference/microcode.h"
#include "base/hash.h"
#include "base/random.h"
#include <string.h>

enum { NOWHERE = -1, NEXT_SAMPLE = -2, HOST = -3 };

void plain_open(struct plain_processor *plain, const struct rf_program *program, uint32_t random)
{
    memset(plain, 0, sizeof *plain);
    plain->program = program;
    plain->random = random;
    for (int i = 0; i < RF_MICRO_INDEXES; i++)
        plain->indexes[i] = program->indexes[i].start;
    for (int i = 0; i < RF_MICRO_WORDS; i++)
        plain->predictor[i] = 1;
}

/* --- reading and writing ------------------------------------------------------------------------- */

static uint32_t bits_of(uint64_t word, unsigned shift, unsigned bits)
{
    return (uint32_t)(word >> shift & ((UINT64_C(1) << bits) - 1));
}

static uint32_t operand(const struct plain_processor *plain, unsigned code)
{
    if (code < 8)
        return plain->values[code];
    if (code < 24)
        return plain->program->constants[code - 8];
    if (code < 40)
        return plain->fields[code - 24];
    if (code < 56)
        return plain->indexes[code - 40];
    return plain->random;
}

static uint32_t most(const struct plain_processor *plain, unsigned index)
{
    return bits_of(UINT64_MAX, 0, plain->program->indexes[index].bits);
}

/* What a cycle will have written when it ends. */
struct writes {
    unsigned code[4];
    uint32_t what[4];
    unsigned n;
};

static void later(struct writes *writes, unsigned code, uint32_t what)
{
    writes->code[writes->n] = code;
    writes->what[writes->n++] = what;
}

static void write_all(struct plain_processor *plain, const struct writes *writes)
{
    for (unsigned i = 0; i < writes->n; i++) {
        if (writes->code[i] < 8)
            plain->values[writes->code[i]] = writes->what[i];
        else
            plain->indexes[writes->code[i] - 40] =
                writes->what[i] & most(plain, writes->code[i] - 40);
    }
}

/* --- the units ----------------------------------------------------------------------------------- */

struct signals {
    bool value[8], index[8]; /* == != < >= > <= full, not full */
    bool hit, zero, full;
};

static void say(bool signals[8], bool equal, bool less, bool full)
{
    const bool all[8] = {equal, !equal, less, !less, !less && !equal, less || equal, full, !full};
    memcpy(signals, all, sizeof all);
}

static void value_unit(const struct plain_processor *plain, const struct rf_micro *m,
                       struct writes *writes, struct signals *signals)
{
    uint64_t a = operand(plain, m->value_a), b = operand(plain, m->value_b), r = 0,
             all = UINT32_MAX;
    bool carry = false;
    switch (m->value_op) {
    case 0:
        return;
    case 1:
        r = a;
        break;
    case 2:
    case 3:
        carry = a + b > all;
        r = carry && m->value_op == 3 ? all : a + b;
        break;
    case 4:
    case 5:
        carry = a < b;
        r = carry && m->value_op == 5 ? 0 : a - b;
        break;
    case 6:
        r = a & b;
        break;
    case 7:
        r = a | b;
        break;
    case 8:
        r = a ^ b;
        break;
    case 9:
        r = a << (1 << m->value_b);
        break;
    case 10:
        r = a >> (1 << m->value_b);
        break;
    default:
        say(signals->value, a == b, a < b, false);
        return;
    }
    r &= all;
    later(writes, m->value_to, (uint32_t)r);
    say(signals->value, r == 0, carry, r == all);
}

static void index_unit(const struct plain_processor *plain, const struct rf_micro *m,
                       struct writes *writes, struct signals *signals)
{
    int64_t a = plain->indexes[m->index_a], b = operand(plain, m->index_b), r = 0;
    int64_t all = most(plain, m->index_to);
    bool carry = false;
    switch (m->index_op) {
    case 0:
        return;
    case 1:
        r = b;
        break;
    case 2:
    case 3:
        carry = a + b > all;
        r = carry && m->index_op == 3 ? all : a + b;
        break;
    case 4:
        carry = a < b;
        r = a - b;
        break;
    case 5:
        carry = a < b;
        r = carry ? 0 : a - b > all ? all : a - b;
        break;
    case 6:
        r = a & b;
        break;
    case 7:
        r = a | b;
        break;
    case 8:
        r = a ^ b;
        break;
    default:
        say(signals->index, a == b, a < b, false);
        return;
    }
    r &= all;
    later(writes, 40u + m->index_to, (uint32_t)r);
    say(signals->index, r == 0, carry, r == all);
}

/* The first entry of a part, from an offset on, that is free or, with a key, valid and alike. */
static bool search(const struct plain_processor *plain, const struct rf_program_base *base,
                   uint32_t from, const uint32_t *key, uint32_t *found)
{
    for (uint32_t i = from; i < 1u << base->log2; i++) {
        bool valid = plain->match[base->first + i].valid;
        if (key == NULL ? !valid : valid && plain->match[base->first + i].key == *key) {
            *found = i;
            return true;
        }
    }
    return false;
}

static void match_unit(struct plain_processor *plain, const struct rf_micro *m,
                       struct writes *writes, struct signals *signals)
{
    const struct rf_program_base *base = &plain->program->bases[m->match_base];
    uint32_t at = plain->indexes[m->match_index] & ((1u << base->log2) - 1);
    uint32_t entry = base->first + at, key = operand(plain, m->match_key), found = 0;
    if (m->match_op == 4) {
        plain->match[entry].valid = true;
        plain->match[entry].key = key;
    } else if (m->match_op == 5) {
        plain->match[entry].valid = false;
    } else if (m->match_op == 6) {
        later(writes, m->match_key, plain->match[entry].key);
    } else if (m->match_op != 0) {
        signals->hit = search(plain, base, m->match_op == 2 ? at + 1 : 0,
                              m->match_op == 3 ? NULL : &key, &found);
        if (signals->hit)
            later(writes, 40u + m->match_index, found);
    }
}

static int64_t changed(unsigned op, int64_t old, int64_t by)
{
    switch (op) {
    case 3:
        return old + 1;
    case 4:
        return old - 1;
    case 5:
        return old + by;
    case 6:
        return old - by;
    case 7:
        return old & by;
    default:
        return old | by;
    }
}

static void data_unit(struct plain_processor *plain, const struct rf_micro *m,
                      struct writes *writes, struct signals *signals)
{
    static const unsigned shifts[] = {0, 0, 16, 0, 8, 16, 24}, bits[] = {32, 16, 16, 8, 8, 8, 8};
    const struct rf_program_base *base = &plain->program->bases[m->data_base];
    if (m->data_op == 0)
        return;
    uint32_t *word =
        &plain->data[base->first | (plain->indexes[m->data_index] & ((1u << base->log2) - 1))];
    unsigned shift = shifts[m->data_lane];
    int64_t all = (INT64_C(1) << bits[m->data_lane]) - 1;
    int64_t old = *word >> shift & all, by = operand(plain, m->data_from), now = old;
    if (m->data_op == 2 || m->data_op == 9)
        now = by & all;
    else if (m->data_op == 8 || m->data_op == 7)
        now = changed(m->data_op, old, by) & all;
    else if (m->data_op != 1)
        now = changed(m->data_op, old, by);
    now = now < 0 ? 0 : now > all ? all : now;
    *word = (uint32_t)((*word & ~((uint64_t)all << shift)) | (uint64_t)now << shift);
    int64_t result = m->data_op == 9 ? old : now;
    signals->zero = result == 0;
    signals->full = result == all;
    if (m->data_to != 31)
        later(writes, m->data_to < 8 ? m->data_to : m->data_to + 32u, (uint32_t)result);
}

static bool asks(const struct signals *signals, unsigned when)
{
    const bool others[] = {false, true, signals->hit, !signals->hit};
    const bool data[] = {signals->zero, !signals->zero, signals->full, !signals->full};
    return when < 4    ? others[when]
           : when < 12 ? signals->value[when - 4]
           : when < 20 ? signals->index[when - 12]
                       : data[when - 20];
}

static bool execute(struct plain_processor *plain, const struct rf_micro *m)
{
    struct writes writes = {.n = 0};
    struct signals signals = {.hit = false};
    value_unit(plain, m, &writes, &signals);
    index_unit(plain, m, &writes, &signals);
    match_unit(plain, m, &writes, &signals);
    data_unit(plain, m, &writes, &signals);
    write_all(plain, &writes);
    bool random = m->value_a == 56 || m->value_b == 56 || m->index_b == 56 || m->match_key == 56 ||
                  m->data_from == 56;
    for (int i = 0; random && i < 32; i++)
        plain->random = rf_lfsr_next(plain->random);
    return asks(&signals, m->when);
}

/* --- the pipeline ---------------------------------------------------------------------------------- */

static int target_of(const struct rf_program *program, int at, const struct rf_micro *m)
{
    int to = m->to == 73   ? HOST
             : m->to == 72 ? NEXT_SAMPLE
             : m->to >= 64 ? program->targets[m->to - 64]
                           : at + m->to - 32;
    return to == HOST || (to >= 0 && to < (int)program->n) ? to : NEXT_SAMPLE;
}

/* Where fetch goes after the word at `at`, as the counter beside it predicts. */
static int predicted(const struct plain_processor *plain, int at)
{
    const struct rf_micro *m = &plain->program->code[at];
    bool taken = m->when == 1 || (m->when > 1 && plain->predictor[at] >= 2);
    int next = at + 1 < (int)plain->program->n ? at + 1 : NEXT_SAMPLE;
    return taken ? target_of(plain->program, at, m) : next;
}

static void learn(struct plain_processor *plain, int at, bool taken)
{
    int *counter = &plain->predictor[at];
    if (plain->program->code[at].when > 1)
        *counter = taken ? (*counter < 3 ? *counter + 1 : 3) : (*counter > 0 ? *counter - 1 : 0);
}

static void cut_fields(struct plain_processor *plain, const struct rf_record *record)
{
    const uint64_t words[] = {record->pc,
                              record->addr,
                              record->value,
                              record->target,
                              record->width,
                              record->thread,
                              record->miss,
                              record->flags & RF_RECORD_TAKEN,
                              (record->flags & RF_RECORD_INDIRECT) / RF_RECORD_INDIRECT,
                              rf_opcode_of(record)};
    for (unsigned i = 0; i < plain->program->n_fields; i++) {
        const struct rf_program_field *field = &plain->program->fields[i];
        struct rf_hash_paper hash;
        if (field->word == RF_SAMPLE_HASH) {
            rf_hash_paper_init(&hash, field->bits, field->hash_seed);
            plain->fields[i] = rf_hash_paper_steps(
                &hash, (struct rf_tuple){words[field->hash_a], words[field->hash_b]});
        } else {
            plain->fields[i] = bits_of(words[field->word], field->shift, field->bits);
        }
    }
}

/* What stands in a latch: an instruction, where it was and where fetch went on from it. */
struct latch {
    int at, went;
    struct rf_micro micro;
};

/* One cycle of the last stage. Where the routine goes on; NOWHERE: nothing to execute. */
static int execute_stage(struct plain_processor *plain, const struct latch *latch)
{
    if (latch->at < 0)
        return NOWHERE;
    bool taken = execute(plain, &latch->micro);
    learn(plain, latch->at, taken);
    int next = latch->at + 1 < (int)plain->program->n ? latch->at + 1 : NEXT_SAMPLE;
    return taken ? target_of(plain->program, latch->at, &latch->micro) : next;
}

static struct latch fetch_stage(const struct plain_processor *plain, int at)
{
    return (struct latch){.at = at, .went = at < 0 ? NOWHERE : predicted(plain, at)};
}

static void decode_stage(const struct plain_processor *plain, struct latch *latch)
{
    if (latch->at < 0)
        return;
    struct rf_micro_word word = rf_micro_pack(&plain->program->code[latch->at]);
    rf_micro_unpack(&latch->micro, &word);
}

unsigned plain_run(struct plain_processor *plain, const struct rf_record *record,
                   enum rf_processor_end *end)
{
    struct latch decode = {.at = NOWHERE}, executes = {.at = NOWHERE};
    int fetch = plain->program->entries[rf_opcode_of(record)];
    unsigned fill = 2;
    cut_fields(plain, record);
    for (unsigned cycle = 1;; cycle++) {
        int next = execute_stage(plain, &executes);
        bool wrong = next != NOWHERE && next != executes.went;
        if (next == NEXT_SAMPLE || next == HOST) {
            /* Behind a wrong prediction the next sample's first word is fetched anew. */
            *end = next == HOST ? RF_PROCESSOR_INTERRUPT : RF_PROCESSOR_DONE;
            return cycle - fill + (wrong ? 2 : 0);
        }
        if (next != NOWHERE && cycle - fill + (wrong ? 2 : 0) >= RF_PROCESSOR_CYCLES) {
            *end = RF_PROCESSOR_OVERRUN;
            return cycle - fill + (wrong ? 2 : 0);
        }
        if (wrong) { /* what came behind it is thrown away */
            decode.at = executes.at = NOWHERE;
            fetch = next;
            continue;
        }
        executes = decode;
        decode_stage(plain, &executes);
        decode = fetch_stage(plain, fetch);
        fetch = decode.at >= 0 ? decode.went : fetch;
    }
}
