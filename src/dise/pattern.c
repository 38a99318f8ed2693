/* pattern.c - patterns: && || ! over relations and flags, made into a union of boxes as they are read.
 *
 *     pattern  = single { "&&" single } | single { "||" single }
 *     single   = "!" single | "(" pattern ")" | overflow_N | zero_N | relation
 *     relation = T.FIELD ("==" | "!=" | "<" | "<=" | ">" | ">=") (T.FIELD | number | name)
 *
 * The two operators are not mixed without parentheses. Figure 3 of the paper makes a && b || c a && (b || c) where a is an
 * instruction pattern, and leaves open what it is between flags; other languages make it (a && b) || c.
 *
 * A name behind T.PC and T.Target is a function of the program, name + number a place in it.
 * A name behind T.OPCODE is an instruction of RV64, natively one of x86-64, which may have several opcodes: a box each.
 *
 * Under a "!" the two operators change places and each relation turns around, so no pattern has to be
 * complemented as a whole. A relation on a field that an instruction does not have does not hold. */
#include "dise/parse.h"
#include "dise/x86.h"
#include "base/text.h"
#include <string.h>

enum { DEPTH_MAX = 16 };

#define BIT(n) (1u << (n))
#define FIELDS "T.OPCLASS, T.OPCODE, T.PC, T.Target, T.RS, T.RT, T.RD, T.IMM"

/* Where we are in a pattern. */
struct nest {
    struct rf_dise_parser *parser;
    bool negated;
    unsigned depth;
};

static const struct {
    const char *name;
    uint32_t classes;
} class_names[] = {
    {"proc_call", BIT(RF_DISE_CALL)},
    {"return", BIT(RF_DISE_RETURN)},
    {"jump", BIT(RF_DISE_JUMP)},
    {"branch", BIT(RF_DISE_BRANCH)},
    {"load", BIT(RF_DISE_LOAD) | BIT(RF_DISE_ATOMIC)},
    {"store", BIT(RF_DISE_STORE) | BIT(RF_DISE_ATOMIC)},
    {"mem_op", BIT(RF_DISE_LOAD) | BIT(RF_DISE_STORE) | BIT(RF_DISE_ATOMIC)},
    {"alu", BIT(RF_DISE_ALU)},
    {"multiply", BIT(RF_DISE_MULTIPLY)},
    {"float", BIT(RF_DISE_FLOAT)},
    {"fence", BIT(RF_DISE_FENCE)},
    {"system", BIT(RF_DISE_SYSTEM)},
};

static const char *const field_names[RF_DISE_FIELDS] = {"T.OPCODE", "T.PC", "T.Target", "T.RS",
                                                        "T.RT",     "T.RD", "T.IMM"};

static const struct {
    uint8_t left, right, pair;
} comparable[] = {
    {RF_DISE_PC, RF_DISE_TARGET, RF_DISE_PC_TARGET},
    {RF_DISE_RS, RF_DISE_RT, RF_DISE_RS_RT},
    {RF_DISE_RS, RF_DISE_RD, RF_DISE_RS_RD},
    {RF_DISE_RT, RF_DISE_RD, RF_DISE_RT_RD},
};

static const struct {
    const char *sign;
    uint8_t outcomes;
} relations[] = {
    {"==", RF_DISE_EQUAL}, {"!=", RF_DISE_LESS | RF_DISE_MORE},
    {"<", RF_DISE_LESS},   {"<=", RF_DISE_LESS | RF_DISE_EQUAL},
    {">", RF_DISE_MORE},   {">=", RF_DISE_MORE | RF_DISE_EQUAL},
};

static bool starts_with(const struct rf_dise_token *token, const char *prefix)
{
    size_t n = strlen(prefix);
    return token->kind == RF_DISE_WORD && token->n >= n && memcmp(token->text, prefix, n) == 0;
}

static bool is_relation(const struct rf_dise_token *token)
{
    for (size_t i = 0; i < sizeof relations / sizeof *relations; i++)
        if (rf_dise_token_is(token, relations[i].sign))
            return true;
    return false;
}

bool rf_dise_starts_pattern(const struct rf_dise_parser *parser)
{
    const struct rf_dise_token *token = &parser->lexer.next;
    if (rf_dise_token_is(token, "T.INSN"))
        return is_relation(&parser->lexer.after); /* not there, but told of as what it is */
    return rf_dise_token_is(token, "(") || rf_dise_token_is(token, "!") ||
           starts_with(token, "T.") || rf_dise_is_numbered(token, "overflow_") ||
           rf_dise_is_numbered(token, "zero_");
}

/* --- relations ---------------------------------------------------------------------------------- */

static rf_status too_many(const struct nest *nest, const struct rf_dise_place *place)
{
    return rf_dise_fail(&nest->parser->lexer, place,
                        "this pattern takes more than %u entries of a pattern table",
                        RF_DISE_BOXES_EACH);
}

static void add_if_any(struct rf_dise_set *set, struct rf_dise_box box)
{
    if (rf_dise_box_tidy(&box))
        rf_dise_set_add(set, &box); /* a relation makes nine at the most */
}

/* A relation does not hold where a field is missing, or where the outcome is another one. */
static void add_lacking(struct rf_dise_set *set, unsigned field)
{
    struct rf_dise_box box = rf_dise_box_all();
    box.lacks = (uint16_t)BIT(field);
    add_if_any(set, box);
}

static rf_status parse_relation(const struct nest *nest, uint8_t *outcomes)
{
    struct rf_dise_lexer *lexer = &nest->parser->lexer;
    for (size_t i = 0; i < sizeof relations / sizeof *relations; i++)
        if (rf_dise_lex_accept(lexer, relations[i].sign)) {
            *outcomes =
                nest->negated ? relations[i].outcomes ^ RF_DISE_ANY_ORDER : relations[i].outcomes;
            return RF_OK;
        }
    return rf_dise_fail_expected(lexer, "one of == != < <= > >=");
}

/* Sets of names have no order. */
static rf_status parse_equality(const struct nest *nest, bool *equal)
{
    struct rf_dise_lexer *lexer = &nest->parser->lexer;
    bool is_equal = rf_dise_lex_accept(lexer, "==");
    if (!is_equal && !rf_dise_lex_accept(lexer, "!="))
        return rf_dise_fail_expected(lexer, "== or !=");
    *equal = is_equal != nest->negated;
    return RF_OK;
}

static rf_status parse_class(const struct nest *nest, struct rf_dise_set *set)
{
    struct rf_dise_lexer *lexer = &nest->parser->lexer;
    struct rf_dise_box box = rf_dise_box_all();
    bool equal = true;
    rf_status status = parse_equality(nest, &equal);
    if (status != RF_OK)
        return status;
    for (size_t i = 0; i < sizeof class_names / sizeof *class_names; i++)
        if (rf_dise_lex_accept(lexer, class_names[i].name)) {
            box.classes &= equal ? class_names[i].classes : ~class_names[i].classes;
            add_if_any(set, box);
            return RF_OK;
        }
    return rf_dise_fail_expected(lexer, "a class: proc_call, return, jump, branch, load, store, "
                                        "mem_op, alu, multiply, float, fence or system");
}

static unsigned find_field(const struct rf_dise_token *token)
{
    unsigned field = 0;
    while (field < RF_DISE_FIELDS && !rf_dise_token_is(token, field_names[field]))
        field++;
    return field;
}

static bool is_name(const struct rf_dise_token *token)
{
    return token->kind == RF_DISE_WORD || token->kind == RF_DISE_STRING;
}

static rf_status find_place(const struct nest *nest, const struct rf_dise_token *token,
                            int64_t *value)
{
    const struct rf_dise_lexer *lexer = &nest->parser->lexer;
    const struct rf_dise_program *program = nest->parser->program;
    char name[RF_DISE_FUNCTION];
    uint64_t address = 0;
    if (program->resolve == NULL)
        return rf_dise_fail(lexer, &token->place, "'%.*s': there is no program to find it in",
                            (int)token->n, token->text);
    if (token->n >= sizeof name)
        return rf_dise_fail(lexer, &token->place, "a name has at most %d bytes",
                            RF_DISE_FUNCTION - 1);
    memcpy(name, token->text, token->n);
    name[token->n] = '\0';
    size_t n = program->resolve(program->resolve_context, name, &address);
    if (n == RF_DISE_NO_ROOM)
        return rf_dise_fail(lexer, &token->place,
                            "more than %d functions by name, too many for the "
                            "probe",
                            RF_DISE_FUNCTIONS);
    if (n != 1)
        return rf_dise_fail(lexer, &token->place,
                            n == 0 ? "the program has no function '%s'"
                                   : "the program has several functions '%s'",
                            name);
    *value = (int64_t)address;
    return RF_OK;
}

/* name [+ number] */
static rf_status parse_place(const struct nest *nest, int64_t *value)
{
    struct rf_dise_lexer *lexer = &nest->parser->lexer;
    struct rf_dise_token token = rf_dise_lex_take(lexer);
    int64_t offset = 0;
    rf_status status = find_place(nest, &token, value);
    if (status == RF_OK && rf_dise_lex_accept(lexer, "+"))
        status = rf_dise_parse_number(nest->parser, &offset);
    if (status == RF_OK && (offset < 0 || offset > RF_DISE_OFFSET_MAX))
        return rf_dise_fail(lexer, &token.place,
                            "a place in a function is at most %d bytes behind it",
                            RF_DISE_OFFSET_MAX);
    *value += offset;
    return status;
}

static rf_status parse_value(const struct nest *nest, unsigned field, int64_t *value)
{
    struct rf_dise_lexer *lexer = &nest->parser->lexer;
    const struct rf_dise_token *token = &lexer->next;
    if ((field == RF_DISE_PC || field == RF_DISE_TARGET) && is_name(token))
        return parse_place(nest, value);
    bool is_register = field == RF_DISE_RS || field == RF_DISE_RT || field == RF_DISE_RD;
    int reg = is_register ? rf_reg_find(token->text, token->n) : -1;
    unsigned op = field == RF_DISE_OPCODE ? rf_dise_find_op(token) : RF_OP_COUNT;
    if (field == RF_DISE_OPCODE && op == RF_OP_COUNT)
        return rf_dise_fail_expected(lexer, "the name of an instruction, such as jalr");
    if (is_register && reg < 0)
        return rf_dise_fail_expected(lexer, "the name of a register, such as a0, or a field");
    if (reg < 0 && op == RF_OP_COUNT)
        return rf_dise_parse_number(nest->parser, value);
    *value = reg >= 0 ? reg : (int64_t)op;
    rf_dise_lex_take(lexer);
    return RF_OK;
}

/* field OUTCOMES value */
static void add_ranges(struct rf_dise_set *set, unsigned field, uint8_t outcomes, int64_t value)
{
    struct rf_dise_box box = rf_dise_box_all();
    box.has = (uint16_t)BIT(field);
    const struct rf_dise_range ranges[] = {{INT64_MIN, value - (value != INT64_MIN)},
                                           {value, value},
                                           {value + (value != INT64_MAX), INT64_MAX}};
    bool none[] = {value == INT64_MIN, false, value == INT64_MAX};
    struct rf_dise_range range = {1, 0};
    for (unsigned i = 0; i < 3; i++) { /* neighbours are one range */
        if ((outcomes >> i & 1) == 0 || none[i])
            continue;
        if (range.lo <= range.hi && range.hi == ranges[i].lo - 1)
            range.hi = ranges[i].hi;
        else {
            box.range[field] = range;
            add_if_any(set, box);
            range = ranges[i];
        }
    }
    box.range[field] = range;
    add_if_any(set, box);
}

static void add_opcodes(struct rf_dise_set *set, uint32_t low, uint32_t high)
{
    struct rf_dise_box box = rf_dise_box_all();
    box.has = (uint16_t)BIT(RF_DISE_OPCODE);
    box.range[RF_DISE_OPCODE] = (struct rf_dise_range){RF_DISE_X86 + low, RF_DISE_X86 + high};
    if (low <= high)
        add_if_any(set, box);
}

/* The opcodes in the ranges, or those between them. */
static void add_x86(struct rf_dise_set *set, const struct rf_dise_x86_range *ranges, size_t n,
                    bool equal)
{
    uint32_t from = 0;
    for (size_t i = 0; i < n; i++) {
        if (equal)
            add_opcodes(set, ranges[i].low, ranges[i].high);
        else if (ranges[i].low > from)
            add_opcodes(set, from, ranges[i].low - 1);
        from = ranges[i].high + 1;
    }
    if (!equal)
        add_opcodes(set, from, RF_X86_OPCODE_MAX << RF_X86_GROUP_BITS | 7);
}

/* T.OPCODE natively: == or !=, and a name or the bytes of an opcode as a number. */
static rf_status parse_x86(const struct nest *nest, struct rf_dise_set *set)
{
    struct rf_dise_lexer *lexer = &nest->parser->lexer;
    struct rf_dise_x86_range ranges[RF_DISE_X86_RANGES];
    bool equal = true;
    size_t n = 0;
    rf_status status = parse_equality(nest, &equal);
    if (status != RF_OK)
        return status;
    const struct rf_dise_token *token = &lexer->next;
    if (token->kind == RF_DISE_WORD)
        n = rf_dise_x86_find(token->text, token->n, ranges);
    else if (token->kind == RF_DISE_NUMBER && rf_dise_x86_is_opcode(token->number))
        ranges[n++] = rf_dise_x86_opcode((uint32_t)token->number);
    if (n == 0)
        return rf_dise_fail_expected(lexer, "an instruction of x86-64, such as movzx, or the bytes "
                                            "of its opcode, such as 0x0fb6");
    rf_dise_lex_take(lexer);
    add_x86(set, ranges, n, equal);
    return RF_OK;
}

/* left OUTCOMES right; false: these two cannot be compared. */
static bool add_order(struct rf_dise_set *set, unsigned left, unsigned right, uint8_t outcomes)
{
    static const uint8_t turned[] = {0, 4, 2, 6, 1, 5, 3, 7};
    for (size_t i = 0; i < sizeof comparable / sizeof *comparable; i++) {
        struct rf_dise_box box = rf_dise_box_all();
        bool straight = comparable[i].left == left && comparable[i].right == right;
        if (!straight && (comparable[i].left != right || comparable[i].right != left))
            continue;
        box.has = (uint16_t)(BIT(left) | BIT(right));
        box.order[comparable[i].pair] = straight ? outcomes : turned[outcomes];
        add_if_any(set, box);
        return true;
    }
    return false;
}

static rf_status parse_right(const struct nest *nest, unsigned left, struct rf_dise_set *set)
{
    struct rf_dise_lexer *lexer = &nest->parser->lexer;
    uint8_t outcomes = 0;
    int64_t value = 0;
    bool equal = true;
    rf_status status =
        left == RF_DISE_OPCODE ? parse_equality(nest, &equal) : parse_relation(nest, &outcomes);
    if (left == RF_DISE_OPCODE)
        outcomes = equal ? RF_DISE_EQUAL : RF_DISE_LESS | RF_DISE_MORE;
    if (status != RF_OK)
        return status;
    unsigned right = find_field(&lexer->next);
    if (right < RF_DISE_FIELDS) {
        if (!add_order(set, left, right, outcomes))
            return rf_dise_fail(lexer, &lexer->next.place, "%s cannot be compared with %s",
                                field_names[left], field_names[right]);
        rf_dise_lex_take(lexer);
        if (nest->negated)
            add_lacking(set, right);
    } else {
        status = parse_value(nest, left, &value);
        if (status != RF_OK)
            return status;
        add_ranges(set, left, outcomes, value);
    }
    if (nest->negated)
        add_lacking(set, left);
    return RF_OK;
}

static rf_status parse_field(const struct nest *nest, struct rf_dise_set *set)
{
    struct rf_dise_lexer *lexer = &nest->parser->lexer;
    unsigned field = find_field(&lexer->next);
    if (rf_dise_lex_accept(lexer, "T.OPCLASS"))
        return parse_class(nest, set);
    if (rf_dise_token_is(&lexer->next, "T.INSN"))
        return rf_dise_fail(lexer, &lexer->next.place,
                            "T.INSN stands in replacements, for the instruction itself; a pattern "
                            "asks for its fields: " FIELDS);
    if (field == RF_DISE_FIELDS)
        return rf_dise_fail_expected(lexer, FIELDS ", overflow_N or zero_N");
    if (nest->parser->program->native && field >= RF_DISE_RS)
        return rf_dise_fail(lexer, &lexer->next.place,
                            "%s is an operand of RV64, which instructions of x86-64 do not have; "
                            "riffle sim can match it",
                            field_names[field]);
    rf_dise_lex_take(lexer);
    return nest->parser->program->native && field == RF_DISE_OPCODE ? parse_x86(nest, set)
                                                                    : parse_right(nest, field, set);
}

static rf_status parse_flag(const struct nest *nest, bool overflow, struct rf_dise_set *set)
{
    struct rf_dise_token token = rf_dise_lex_take(&nest->parser->lexer);
    struct rf_dise_box box = rf_dise_box_all();
    uint8_t counter = 0;
    rf_status status =
        rf_dise_parse_counter(nest->parser, &token, overflow ? "overflow_" : "zero_", &counter);
    if (status != RF_OK)
        return status;
    uint32_t flag = overflow ? rf_dise_overflow(counter) : rf_dise_zero(counter);
    box.set = nest->negated ? 0 : flag;
    box.clear = nest->negated ? flag : 0;
    add_if_any(set, box);
    return RF_OK;
}

/* --- operators ---------------------------------------------------------------------------------- */

static rf_status parse_list(const struct nest *nest, struct rf_dise_set *set);

static rf_status parse_single(const struct nest *nest, struct rf_dise_set *set)
{
    struct rf_dise_lexer *lexer = &nest->parser->lexer;
    struct nest inner = {nest->parser, nest->negated, nest->depth + 1};
    set->n = 0;
    if (inner.depth > DEPTH_MAX)
        return rf_dise_fail(lexer, &lexer->next.place, "more than %u levels of ! and parentheses",
                            DEPTH_MAX);
    if (rf_dise_lex_accept(lexer, "!")) {
        inner.negated = !nest->negated;
        return parse_single(&inner, set);
    }
    if (rf_dise_lex_accept(lexer, "(")) {
        rf_status status = parse_list(&inner, set);
        return status != RF_OK ? status : rf_dise_lex_expect(lexer, ")", "')'");
    }
    if (rf_dise_is_numbered(&lexer->next, "overflow_"))
        return parse_flag(nest, true, set);
    if (rf_dise_is_numbered(&lexer->next, "zero_"))
        return parse_flag(nest, false, set);
    return parse_field(nest, set);
}

static rf_status refuse_mixture(const struct rf_dise_lexer *lexer)
{
    return rf_dise_fail(lexer, &lexer->next.place,
                        "&& and || are mixed: put parentheses around what belongs together");
}

/* Operands with one operator between them, && or ||. */
static rf_status parse_list(const struct nest *nest, struct rf_dise_set *set)
{
    struct rf_dise_lexer *lexer = &nest->parser->lexer;
    struct rf_dise_set right;
    struct rf_dise_place place = lexer->next.place;
    rf_status status = parse_single(nest, set);
    const char *sign = rf_dise_token_is(&lexer->next, "&&") ? "&&" : "||";
    const bool joins = (sign[0] == '|') != nest->negated;
    while (status == RF_OK && rf_dise_lex_accept(lexer, sign)) {
        status = parse_single(nest, &right);
        if (status == RF_OK &&
            !(joins ? rf_dise_set_join(set, &right) : rf_dise_set_meet(set, &right)))
            status = too_many(nest, &place);
    }
    if (status == RF_OK &&
        (rf_dise_token_is(&lexer->next, "&&") || rf_dise_token_is(&lexer->next, "||")))
        return refuse_mixture(lexer);
    return status;
}

rf_status rf_dise_parse_pattern(struct rf_dise_parser *parser, struct rf_dise_set *pattern)
{
    struct rf_dise_place place = parser->lexer.next.place;
    const struct nest nest = {parser, false, 0};
    rf_status status = parse_list(&nest, pattern);
    if (status == RF_OK && pattern->n == 0)
        return rf_dise_fail(&parser->lexer, &place, "no instruction can match this pattern");
    return status;
}
