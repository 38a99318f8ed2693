/* declare.c - what a microprogram says before it does anything.
 *
 *     .let    NAME = expression [ : [power] least .. most ]   a number; may be set from outside, between these limits
 *     .value  NAME = v3                            another name for a value register
 *     .const  NAME = expression                    a constant register
 *     .index  NAME : bits [ = start ]              an index register of this many bits
 *     .field  NAME = word [ "[" high ":" low "]" ]
 *     .field  NAME = hash(word, word [, seed]) : bits
 *     .base   NAME = assoc|data "[" first ":" size "]"
 *     .target NAME = label                         a branch-target register
 *     .on     class { "," class } goto label       which samples to take, and where they begin
 *     .slot   role = base[.lane] { "," ... }       what the host finds in a slot
 *     .profile selector                            what its tuples are: load -> pc,value
 *     .handler NAME                                who serves interrupts
 *
 *     expression = term { ("+" | "-") term }       term = factor { ("*" | "/") factor }
 *     factor     = number | NAME of a let | ASSOC | DATA | log2 "(" expression ")" | "(" expression ")"
 *
 * ASSOC and DATA are the words of the arrays, so that a program can fit itself to the machine. */
#include "coproc/assembler.h"
#include "base/text.h"
#include <string.h>

enum { NESTING_MAX = 20 };

/* --- expressions ------------------------------------------------------------------------------ */

static rf_status read_sum(struct rf_assembler *assembler, unsigned depth, uint64_t *value);

static unsigned log2_of(uint64_t value)
{
    return value == 0 ? 0 : 63 - (unsigned)__builtin_clzll(value);
}

static rf_status read_inside(struct rf_assembler *assembler, unsigned depth, uint64_t *value)
{
    if (depth > NESTING_MAX)
        return rf_scan_fail(&assembler->scan, &assembler->scan.token, "nested too deeply");
    rf_status status = rf_scan_want(&assembler->scan, "(");
    if (status == RF_OK)
        status = read_sum(assembler, depth + 1, value);
    return status == RF_OK ? rf_scan_want(&assembler->scan, ")") : status;
}

static rf_status read_factor(struct rf_assembler *assembler, unsigned depth, uint64_t *value)
{
    struct rf_scan *scan = &assembler->scan;
    struct rf_token token = scan->token;
    const struct rf_program_symbol *symbol;
    rf_status status = RF_OK;
    if (rf_token_is(&token, "("))
        return read_inside(assembler, depth, value);
    if (token.kind == RF_TOKEN_NUMBER) {
        *value = token.number;
        return rf_scan_next(scan);
    }
    if (rf_scan_take(scan, "log2", &status)) {
        status = read_inside(assembler, depth, value);
        *value = status == RF_OK ? log2_of(*value) : 0;
        return status;
    }
    if (rf_token_is(&token, "ASSOC") || rf_token_is(&token, "DATA")) {
        const struct rf_coproc_size *size = &assembler->program->size;
        *value = rf_token_is(&token, "DATA") ? size->data_words : size->match_words;
        return rf_scan_next(scan);
    }
    if (status != RF_OK)
        return status;
    if (token.kind != RF_TOKEN_WORD)
        return rf_scan_expected(scan, "a number");
    status = rf_assembler_known(assembler, RF_PROGRAM_LET, "a .let", &symbol);
    *value = status == RF_OK ? symbol->number : 0;
    return status;
}

/* Operands with one of two signs between them, from left to right. */
struct chain {
    const char *signs[2];
    rf_status (*read)(struct rf_assembler *assembler, unsigned depth, uint64_t *value);
    /* What is wrong with it; NULL: nothing. `second`: it is the second sign. */
    const char *(*apply)(bool second, uint64_t *value, uint64_t other);
};

static rf_status read_chain(struct rf_assembler *assembler, const struct chain *chain,
                            unsigned depth, uint64_t *value)
{
    struct rf_scan *scan = &assembler->scan;
    rf_status status = chain->read(assembler, depth, value);
    while (status == RF_OK && (rf_token_is(&scan->token, chain->signs[0]) ||
                               rf_token_is(&scan->token, chain->signs[1]))) {
        struct rf_token sign = scan->token;
        uint64_t other = 0;
        status = rf_scan_next(scan);
        if (status == RF_OK)
            status = chain->read(assembler, depth, &other);
        const char *wrong = status == RF_OK
                                ? chain->apply(rf_token_is(&sign, chain->signs[1]), value, other)
                                : NULL;
        if (wrong != NULL)
            status = rf_scan_fail(scan, &sign, "%s", wrong);
    }
    return status;
}

static const char *multiply(bool divides, uint64_t *value, uint64_t by)
{
    if (!divides)
        return __builtin_mul_overflow(*value, by, value) ? "the product is above 2^64" : NULL;
    if (by == 0)
        return "a division by 0";
    *value /= by;
    return NULL;
}

static const char *add(bool subtracts, uint64_t *value, uint64_t other)
{
    bool overflows = subtracts ? __builtin_sub_overflow(*value, other, value)
                               : __builtin_add_overflow(*value, other, value);
    return overflows ? "the result is below 0 or above 2^64" : NULL;
}

static rf_status read_product(struct rf_assembler *assembler, unsigned depth, uint64_t *value)
{
    static const struct chain products = {{"*", "/"}, read_factor, multiply};
    return read_chain(assembler, &products, depth, value);
}

static rf_status read_sum(struct rf_assembler *assembler, unsigned depth, uint64_t *value)
{
    static const struct chain sums = {{"+", "-"}, read_product, add};
    return read_chain(assembler, &sums, depth, value);
}

/* An expression between two limits. */
static rf_status read_number(struct rf_assembler *assembler, uint64_t least, uint64_t most,
                             const char *what, uint64_t *value)
{
    struct rf_token at = assembler->scan.token;
    rf_status status = read_sum(assembler, 0, value);
    if (status == RF_OK && (*value < least || *value > most))
        return rf_scan_fail(&assembler->scan, &at, "%s is between %llu and %llu, not %llu", what,
                            (unsigned long long)least, (unsigned long long)most,
                            (unsigned long long)*value);
    return status;
}

/* --- declarations ------------------------------------------------------------------------------ */

/* The name that is declared, and the sign behind it. */
static rf_status read_new_name(struct rf_assembler *assembler, struct rf_token *name,
                               const char *sign)
{
    *name = assembler->scan.token;
    if (name->kind != RF_TOKEN_WORD)
        return rf_scan_expected(&assembler->scan, "a new name");
    rf_status status = rf_scan_next(&assembler->scan);
    return status == RF_OK ? rf_scan_want(&assembler->scan, sign) : status;
}

static rf_status too_many(struct rf_assembler *assembler, const struct rf_token *name,
                          const char *what, unsigned most)
{
    return rf_scan_fail(&assembler->scan, name, "more than %u %s", most, what);
}

/* What a number may be: `1 .. 16`, or `power 1 .. 16` for powers of two. */
static rf_status read_limits(struct rf_assembler *assembler, const struct rf_token *name,
                             uint64_t value)
{
    struct rf_scan *scan = &assembler->scan;
    uint64_t least = 0, most = 0;
    rf_status status = RF_OK;
    bool power = rf_scan_take(scan, "power", &status);
    if (status == RF_OK)
        status = read_sum(assembler, 0, &least);
    if (status == RF_OK)
        status = rf_scan_want(scan, "..");
    if (status == RF_OK)
        status = read_sum(assembler, 0, &most);
    bool fits = value >= least && value <= most && (!power || (value & (value - 1)) == 0);
    if (status != RF_OK || fits)
        return status;
    return rf_scan_fail(scan, name, "%.*s is %s between %llu and %llu, not %llu",
                        (int)(name->n < 40 ? name->n : 40), name->start,
                        power ? "a power of two" : "a number", (unsigned long long)least,
                        (unsigned long long)most, (unsigned long long)value);
}

static rf_status declare_let(struct rf_assembler *assembler)
{
    struct rf_token name;
    uint64_t value = 0;
    rf_status status = read_new_name(assembler, &name, "=");
    if (status == RF_OK)
        status = read_number(assembler, 0, UINT64_MAX, "a .let", &value);
    for (size_t i = 0; i < assembler->n_lets; i++)
        if (rf_token_is(&name, assembler->lets[i].name)) {
            value = assembler->lets[i].value;
            assembler->lets[i].used = true;
        }
    if (rf_scan_take(&assembler->scan, ":", &status))
        status = read_limits(assembler, &name, value);
    return status == RF_OK ? rf_assembler_name(assembler, &name, RF_PROGRAM_LET, value) : status;
}

static rf_status declare_value(struct rf_assembler *assembler)
{
    struct rf_token name;
    const struct rf_program_symbol *symbol = NULL;
    rf_status status = read_new_name(assembler, &name, "=");
    if (status == RF_OK)
        status = rf_assembler_known(assembler, RF_PROGRAM_VALUE, "a value register", &symbol);
    return status == RF_OK ? rf_assembler_name(assembler, &name, RF_PROGRAM_VALUE, symbol->number)
                           : status;
}

static rf_status declare_const(struct rf_assembler *assembler)
{
    struct rf_token name;
    uint64_t value = 0;
    uint8_t number = 0;
    rf_status status = read_new_name(assembler, &name, "=");
    if (status == RF_OK)
        status = read_number(assembler, 0, UINT32_MAX, "a constant", &value);
    if (status == RF_OK)
        status = rf_assembler_constant(assembler, &name, value, &number);
    return status == RF_OK ? rf_assembler_name(assembler, &name, RF_PROGRAM_CONSTANT, number)
                           : status;
}

static rf_status declare_index(struct rf_assembler *assembler)
{
    struct rf_program *program = assembler->program;
    struct rf_token name;
    uint64_t bits = 0, start = 0;
    rf_status status = read_new_name(assembler, &name, ":");
    if (status == RF_OK)
        status =
            read_number(assembler, 1, RF_MICRO_INDEX_BITS, "the width of an index register", &bits);
    if (status == RF_OK && rf_scan_take(&assembler->scan, "=", &status))
        status = read_number(assembler, 0, (UINT64_C(1) << bits) - 1, "its start", &start);
    if (status != RF_OK)
        return status;
    if (program->n_indexes == RF_MICRO_INDEXES)
        return too_many(assembler, &name, "index registers", RF_MICRO_INDEXES);
    program->indexes[program->n_indexes] =
        (struct rf_program_index){(uint8_t)bits, (uint16_t)start};
    return rf_assembler_name(assembler, &name, RF_PROGRAM_INDEX, program->n_indexes++);
}

static rf_status read_sample_word(struct rf_assembler *assembler, uint8_t *word)
{
    for (unsigned i = 0; i < RF_SAMPLE_COUNT; i++)
        if (rf_token_is(&assembler->scan.token, rf_sample_names[i])) {
            *word = (uint8_t)i;
            return rf_scan_next(&assembler->scan);
        }
    return rf_scan_expected(&assembler->scan,
                            "pc, addr, value, target, width, thread, miss, taken, indirect, "
                            "opcode or hash");
}

static rf_status read_cut(struct rf_assembler *assembler, struct rf_program_field *field)
{
    uint64_t high = 0, low = 0;
    struct rf_token at = assembler->scan.token;
    rf_status status = read_number(assembler, 0, 63, "a bit", &high);
    if (status == RF_OK)
        status = rf_scan_want(&assembler->scan, ":");
    if (status == RF_OK)
        status = read_number(assembler, 0, 63, "a bit", &low);
    if (status == RF_OK)
        status = rf_scan_want(&assembler->scan, "]");
    if (status == RF_OK && (high < low || high - low > 31))
        return rf_scan_fail(&assembler->scan, &at,
                            "a field is 1 to 32 bits, the high bit first: [31:0]");
    field->shift = (uint8_t)low;
    field->bits = (uint8_t)(high - low + 1);
    return status;
}

static rf_status read_hash(struct rf_assembler *assembler, struct rf_program_field *field)
{
    struct rf_scan *scan = &assembler->scan;
    uint64_t bits = 0;
    field->word = RF_SAMPLE_HASH;
    rf_status status = rf_scan_want(scan, "(");
    if (status == RF_OK)
        status = read_sample_word(assembler, &field->hash_a);
    if (status == RF_OK)
        status = rf_scan_want(scan, ",");
    if (status == RF_OK)
        status = read_sample_word(assembler, &field->hash_b);
    if (status == RF_OK && rf_scan_take(scan, ",", &status))
        status = read_number(assembler, 0, UINT64_MAX, "a seed", &field->hash_seed);
    if (status == RF_OK)
        status = rf_scan_want(scan, ")");
    if (status == RF_OK)
        status = rf_scan_want(scan, ":");
    if (status == RF_OK)
        status = read_number(assembler, 1, 32, "the width of a hash", &bits);
    field->bits = (uint8_t)bits;
    return status;
}

static rf_status declare_field(struct rf_assembler *assembler)
{
    struct rf_program *program = assembler->program;
    struct rf_program_field field = {.bits = 32};
    struct rf_token name;
    rf_status status = read_new_name(assembler, &name, "=");
    if (status != RF_OK)
        return status;
    if (rf_scan_take(&assembler->scan, "hash", &status))
        status = read_hash(assembler, &field);
    else if (status == RF_OK) {
        status = read_sample_word(assembler, &field.word);
        if (status == RF_OK && rf_scan_take(&assembler->scan, "[", &status))
            status = read_cut(assembler, &field);
    }
    if (status != RF_OK)
        return status;
    if (program->n_fields == RF_MICRO_FIELDS)
        return too_many(assembler, &name, "fields", RF_MICRO_FIELDS);
    program->fields[program->n_fields] = field;
    return rf_assembler_name(assembler, &name, RF_PROGRAM_FIELD, program->n_fields++);
}

static rf_status read_part(struct rf_assembler *assembler, uint64_t *first, uint64_t *size)
{
    rf_status status = rf_scan_want(&assembler->scan, "[");
    if (status == RF_OK)
        status = read_sum(assembler, 0, first);
    if (status == RF_OK)
        status = rf_scan_want(&assembler->scan, ":");
    if (status == RF_OK)
        status = read_sum(assembler, 0, size);
    return status == RF_OK ? rf_scan_want(&assembler->scan, "]") : status;
}

/* Aligned powers of two: the address is put together without an adder. */
static rf_status check_part(struct rf_assembler *assembler, const struct rf_token *at,
                            uint64_t words, uint64_t first, uint64_t size)
{
    if (size == 0 || (size & (size - 1)) != 0)
        return rf_scan_fail(&assembler->scan, at, "the size is a power of two, not %llu",
                            (unsigned long long)size);
    if (first % size != 0)
        return rf_scan_fail(&assembler->scan, at, "the first word is a multiple of the size %llu",
                            (unsigned long long)size);
    if (first >= words || size > words - first)
        return rf_scan_fail(&assembler->scan, at, "the array has %llu words, and this ends at %llu",
                            (unsigned long long)words, (unsigned long long)(first + size));
    if (log2_of(size) > RF_MICRO_INDEX_BITS)
        return rf_scan_fail(&assembler->scan, at, "an index reaches 64 Ki words");
    return RF_OK;
}

static rf_status declare_base(struct rf_assembler *assembler)
{
    struct rf_program *program = assembler->program;
    struct rf_scan *scan = &assembler->scan;
    struct rf_token name, at;
    uint64_t first = 0, size = 0;
    rf_status status = read_new_name(assembler, &name, "=");
    if (status != RF_OK)
        return status;
    at = scan->token;
    bool match = rf_scan_take(scan, "assoc", &status);
    if (!match && status == RF_OK && !rf_scan_take(scan, "data", &status))
        return status == RF_OK ? rf_scan_expected(scan, "assoc or data") : status;
    if (status == RF_OK)
        status = read_part(assembler, &first, &size);
    if (status == RF_OK)
        status =
            check_part(assembler, &at, match ? program->size.match_words : program->size.data_words,
                       first, size);
    if (status != RF_OK)
        return status;
    if (program->n_bases == RF_MICRO_BASES)
        return too_many(assembler, &name, "base registers", RF_MICRO_BASES);
    program->bases[program->n_bases] = (struct rf_program_base){
        match ? RF_BASE_MATCH : RF_BASE_DATA, (uint8_t)log2_of(size), (uint32_t)first};
    return rf_assembler_name(assembler, &name, RF_PROGRAM_BASE, program->n_bases++);
}

static rf_status use_label(struct rf_assembler *assembler, unsigned what, unsigned at)
{
    if (assembler->scan.token.kind != RF_TOKEN_WORD)
        return rf_scan_expected(&assembler->scan, "a label");
    rf_assembler_use(assembler, &assembler->scan.token, what, at);
    return rf_scan_next(&assembler->scan);
}

static rf_status declare_target(struct rf_assembler *assembler)
{
    struct rf_program *program = assembler->program;
    struct rf_token name;
    rf_status status = read_new_name(assembler, &name, "=");
    if (status == RF_OK && program->n_targets == RF_MICRO_TARGETS)
        return too_many(assembler, &name, "branch targets", RF_MICRO_TARGETS);
    if (status == RF_OK)
        status = use_label(assembler, RF_USE_TARGET, program->n_targets);
    return status == RF_OK
               ? rf_assembler_name(assembler, &name, RF_PROGRAM_TARGET, program->n_targets++)
               : status;
}

static rf_status read_opcode(struct rf_assembler *assembler, uint32_t *classes)
{
    struct rf_scan *scan = &assembler->scan;
    for (unsigned i = 0; i < RF_OPCODE_COUNT; i++) {
        if (!rf_token_is(&scan->token, rf_opcode_names[i]))
            continue;
        if (assembler->program->entries[i] != RF_NO_ENTRY || (*classes >> i & 1) != 0)
            return rf_scan_fail(scan, &scan->token, "class '%s' has an entry already",
                                rf_opcode_names[i]);
        *classes |= 1u << i;
        return rf_scan_next(scan);
    }
    return rf_scan_expected(scan,
                            "load, store, branch, jump, ijump, call, icall, return, alu or insn");
}

static rf_status declare_on(struct rf_assembler *assembler)
{
    uint32_t classes = 0;
    rf_status status;
    do
        status = read_opcode(assembler, &classes);
    while (status == RF_OK && rf_scan_take(&assembler->scan, ",", &status));
    if (status == RF_OK)
        status = rf_scan_want(&assembler->scan, "goto");
    struct rf_token label = assembler->scan.token;
    if (status == RF_OK && label.kind != RF_TOKEN_WORD)
        return rf_scan_expected(&assembler->scan, "a label");
    for (unsigned i = 0; i < RF_OPCODE_COUNT && status == RF_OK; i++)
        if ((classes >> i & 1) != 0) {
            assembler->program->entries[i] = 0; /* until the label is known */
            rf_assembler_use(assembler, &label, RF_USE_ENTRY, i);
        }
    return status == RF_OK ? rf_scan_next(&assembler->scan) : status;
}

rf_status rf_assembler_lane(struct rf_assembler *assembler, uint8_t *lane)
{
    rf_status status = RF_OK;
    *lane = RF_LANE_WORD;
    if (!rf_scan_take(&assembler->scan, ".", &status))
        return status;
    for (unsigned i = 0; i < RF_LANE_COUNT; i++)
        if (rf_token_is(&assembler->scan.token, rf_lane_names[i])) {
            *lane = (uint8_t)i;
            return rf_scan_next(&assembler->scan);
        }
    return rf_scan_expected(&assembler->scan, "a lane: w, h0, h1, b0, b1, b2 or b3");
}

static rf_status declare_role(struct rf_assembler *assembler)
{
    struct rf_program *program = assembler->program;
    const struct rf_program_symbol *symbol = NULL;
    struct rf_program_role role = {.lane = RF_LANE_WORD};
    struct rf_token name;
    rf_status status = read_new_name(assembler, &name, "=");
    if (status == RF_OK)
        status = rf_assembler_known(assembler, RF_PROGRAM_BASE, "a base register", &symbol);
    if (status == RF_OK)
        status = rf_assembler_lane(assembler, &role.lane);
    if (status != RF_OK)
        return status;
    if (program->n_roles == RF_SLOT_ROLES)
        return too_many(assembler, &name, "parts of a slot", RF_SLOT_ROLES);
    if (name.n >= RF_PROGRAM_NAME_MAX)
        return rf_scan_fail(&assembler->scan, &name, "a name has at most %d characters",
                            RF_PROGRAM_NAME_MAX - 1);
    memcpy(role.name, name.start, name.n);
    if (rf_program_role(program, role.name) >= 0)
        return rf_scan_fail(&assembler->scan, &name, "a slot has one '%s'", role.name);
    role.base = (uint8_t)symbol->number;
    role.line = name.line;
    role.column = name.column;
    program->roles[program->n_roles++] = role;
    return RF_OK;
}

static rf_status declare_slot(struct rf_assembler *assembler)
{
    rf_status status;
    do
        status = declare_role(assembler);
    while (status == RF_OK && rf_scan_take(&assembler->scan, ",", &status));
    return status;
}

/* What is said once; `line` is where it was said, 0: not yet. */
static rf_status check_once(struct rf_assembler *assembler, const char *what, uint32_t line)
{
    if (line == 0)
        return RF_OK;
    return rf_scan_fail(&assembler->scan, &assembler->scan.token,
                        "a program has one .%s, and line %u has it", what, line);
}

/* The rest of the line as it is, up to a comment. */
static rf_status declare_profile(struct rf_assembler *assembler)
{
    struct rf_scan *scan = &assembler->scan;
    struct rf_program *program = assembler->program;
    const char *start = scan->token.start;
    size_t n = strcspn(start, "\n#");
    while (n > 0 && rf_text_is_space(start[n - 1]))
        n--;
    if (rf_scan_at_end(scan) || n >= RF_PROFILE_MAX)
        return rf_scan_expected(scan, "a selector of less than 120 characters");
    rf_status status = check_once(assembler, "profile", program->profile_line);
    if (status != RF_OK)
        return status;
    memset(program->profile, 0, sizeof program->profile);
    memcpy(program->profile, start, n);
    program->profile_line = scan->token.line;
    scan->p = start + n;
    return rf_scan_next(scan);
}

static rf_status declare_handler(struct rf_assembler *assembler)
{
    const struct rf_token *name = &assembler->scan.token;
    if (name->kind != RF_TOKEN_WORD || name->n >= RF_PROGRAM_NAME_MAX)
        return rf_scan_expected(&assembler->scan, "the name of a handler");
    rf_status status = check_once(assembler, "handler", assembler->program->handler_line);
    if (status != RF_OK)
        return status;
    memset(assembler->program->handler, 0, RF_PROGRAM_NAME_MAX);
    memcpy(assembler->program->handler, name->start, name->n);
    assembler->program->handler_line = name->line;
    return rf_scan_next(&assembler->scan);
}

rf_status rf_assembler_declare(struct rf_assembler *assembler)
{
    static const struct {
        const char *name;
        rf_status (*read)(struct rf_assembler *);
    } words[] = {
        {"let", declare_let},         {"value", declare_value},    {"const", declare_const},
        {"index", declare_index},     {"field", declare_field},    {"base", declare_base},
        {"target", declare_target},   {"on", declare_on},          {"slot", declare_slot},
        {"profile", declare_profile}, {"handler", declare_handler}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (rf_token_is(&assembler->scan.token, words[i].name)) {
            rf_status status = rf_scan_next(&assembler->scan);
            return status == RF_OK ? words[i].read(assembler) : status;
        }
    return rf_scan_expected(&assembler->scan,
                            "let, value, const, index, field, base, target, on, slot, profile "
                            "or handler");
}
