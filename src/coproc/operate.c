/* operate.c - one line of operations, one microinstruction.
 *
 *     operation = place "=" operand [ sign operand ]     the alu of the place's kind: + - & | ^, and for
 *               | place "=" "sat" "(" operand ("+"|"-") operand ")"      value registers << >> by a number
 *               | place ("++" | "--")                    sat(place + 1), sat(place - 1)
 *               | index "=" ("match" | "next") "(" base "," operand ")"
 *               | index "=" "free" "(" base ")"
 *               | [ place "=" ] base "[" index "]" [ lane ] [ change ]   read, or change and read
 *               | [ place "=" ] ("++" | "--") base "[" index "]" [ lane ]
 *               | place "=" "swap" "(" base "[" index "]" [ lane ] "," operand ")"
 *               | "clear" base "[" index "]"
 *               | branch                                 branch.c
 *     change    = "=" operand | "++" | "--" | ("+=" | "-=" | "&=" | "|=") operand
 *     place     = a value or an index register
 *
 * A number, a .let and a .const are constants. */
#include "coproc/assembler.h"

/* An element of an array, as it is written. */
struct element {
    struct rf_token at;
    uint8_t base, index, lane;
    bool matches; /* of the associative array */
};

/* A register that is written to. */
struct place {
    struct rf_token at;
    bool given, is_index;
    uint8_t number;
};

rf_status rf_assembler_operand(struct rf_assembler *assembler, uint8_t *operand)
{
    static const uint8_t first[] = {[RF_PROGRAM_VALUE] = RF_OPERAND_VALUE,
                                    [RF_PROGRAM_CONSTANT] = RF_OPERAND_CONSTANT,
                                    [RF_PROGRAM_FIELD] = RF_OPERAND_FIELD,
                                    [RF_PROGRAM_INDEX] = RF_OPERAND_INDEX};
    struct rf_scan *scan = &assembler->scan;
    struct rf_token token = scan->token;
    rf_status status = RF_OK;
    if (rf_scan_take(scan, "random", &status)) {
        *operand = RF_OPERAND_RANDOM;
        return RF_OK;
    }
    if (status != RF_OK || (token.kind != RF_TOKEN_WORD && token.kind != RF_TOKEN_NUMBER))
        return status != RF_OK ? status : rf_scan_expected(scan, "a register, field or number");
    const struct rf_program_symbol *symbol =
        token.kind == RF_TOKEN_WORD ? rf_assembler_find(assembler, &token) : NULL;
    if (token.kind == RF_TOKEN_WORD && symbol == NULL)
        return rf_assembler_unknown(assembler, &token, "register or field");
    if (symbol == NULL || symbol->kind == RF_PROGRAM_LET) {
        uint64_t number = symbol != NULL ? symbol->number : token.number;
        status = rf_assembler_constant(assembler, &token, number, operand);
        *operand += RF_OPERAND_CONSTANT;
    } else if (symbol->kind <= RF_PROGRAM_INDEX) {
        *operand = (uint8_t)(first[symbol->kind] + symbol->number);
    } else {
        return rf_scan_fail(scan, &token, "'%s' cannot be computed with", symbol->name);
    }
    return status == RF_OK ? rf_scan_next(scan) : status;
}

static rf_status busy(struct rf_assembler *assembler, const struct rf_token *at, const char *unit)
{
    return rf_scan_fail(&assembler->scan, at,
                        "the %s does one operation per instruction, and this is its second", unit);
}

static bool is_index(unsigned operand)
{
    return operand >= RF_OPERAND_INDEX && operand < RF_OPERAND_RANDOM;
}

/* --- the arrays ------------------------------------------------------------------------------- */

/* base "[" index "]" [ lane ] */
static rf_status read_element(struct rf_assembler *assembler, struct element *element)
{
    const struct rf_program_symbol *symbol = NULL;
    element->at = assembler->scan.token;
    rf_status status = rf_assembler_known(assembler, RF_PROGRAM_BASE, "a base register", &symbol);
    if (status != RF_OK)
        return status;
    element->base = (uint8_t)symbol->number;
    element->matches = assembler->program->bases[element->base].kind == RF_BASE_MATCH;
    status = rf_scan_want(&assembler->scan, "[");
    if (status == RF_OK)
        status = rf_assembler_known(assembler, RF_PROGRAM_INDEX, "an index register", &symbol);
    if (status != RF_OK)
        return status;
    element->index = (uint8_t)symbol->number;
    status = rf_scan_want(&assembler->scan, "]");
    if (status == RF_OK)
        status = rf_assembler_lane(assembler, &element->lane);
    if (status == RF_OK && element->matches && element->lane != RF_LANE_WORD)
        return rf_scan_fail(&assembler->scan, &element->at, "the associative array has no lanes");
    return status;
}

static rf_status put_data(struct rf_assembler *assembler, struct rf_micro *micro,
                          const struct element *element, unsigned op)
{
    if (micro->data_op != RF_DATA_NOP)
        return busy(assembler, &element->at, "data array");
    if (element->matches)
        return rf_scan_fail(&assembler->scan, &element->at,
                            "the associative array can be read, written and cleared, no more");
    micro->data_op = (uint8_t)op;
    micro->data_base = element->base;
    micro->data_index = element->index;
    micro->data_lane = element->lane;
    micro->data_to = RF_RESULT_NONE;
    return RF_OK;
}

static rf_status put_match(struct rf_assembler *assembler, struct rf_micro *micro,
                           const struct element *element, unsigned op)
{
    if (micro->match_op != RF_MATCH_NOP)
        return busy(assembler, &element->at, "associative array");
    if (!element->matches)
        return rf_scan_fail(&assembler->scan, &element->at, "this is a part of the data array");
    micro->match_op = (uint8_t)op;
    micro->match_base = element->base;
    micro->match_index = element->index;
    return RF_OK;
}

static void put_data_result(struct rf_micro *micro, const struct place *place)
{
    if (place->given)
        micro->data_to =
            (uint8_t)(place->is_index ? RF_RESULT_INDEX + place->number : place->number);
}

/* place = base[index], no change behind it. */
static rf_status read_array(struct rf_assembler *assembler, struct rf_micro *micro,
                            const struct place *place, const struct element *element)
{
    if (!place->given)
        return rf_scan_expected(&assembler->scan, "'=', '++' or another change");
    if (!element->matches) {
        rf_status status = put_data(assembler, micro, element, RF_DATA_READ);
        put_data_result(micro, place);
        return status;
    }
    rf_status status = put_match(assembler, micro, element, RF_MATCH_READ);
    if (status == RF_OK)
        micro->match_key =
            (uint8_t)(place->is_index ? RF_OPERAND_INDEX + place->number : place->number);
    return status;
}

static rf_status write_array(struct rf_assembler *assembler, struct rf_micro *micro,
                             const struct place *place, const struct element *element)
{
    if (place->given)
        return rf_scan_fail(&assembler->scan, &element->at,
                            "a write has no result; 'swap' gives the old value");
    if (!element->matches) {
        rf_status status = put_data(assembler, micro, element, RF_DATA_WRITE);
        return status == RF_OK ? rf_assembler_operand(assembler, &micro->data_from) : status;
    }
    rf_status status = put_match(assembler, micro, element, RF_MATCH_WRITE);
    return status == RF_OK ? rf_assembler_operand(assembler, &micro->match_key) : status;
}

static const struct {
    const char *sign;
    uint8_t op;
} changes[] = {{"++", RF_DATA_INCREMENT}, {"--", RF_DATA_DECREMENT}, {"+=", RF_DATA_ADD},
               {"-=", RF_DATA_SUBTRACT},  {"&=", RF_DATA_AND},       {"|=", RF_DATA_OR}};

static rf_status change_array(struct rf_assembler *assembler, struct rf_micro *micro,
                              const struct place *place, const struct element *element)
{
    struct rf_scan *scan = &assembler->scan;
    rf_status status = RF_OK;
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        if (!rf_scan_take(scan, changes[i].sign, &status))
            continue;
        status = put_data(assembler, micro, element, changes[i].op);
        if (status == RF_OK && rf_data_has_source(changes[i].op))
            status = rf_assembler_operand(assembler, &micro->data_from);
        put_data_result(micro, place);
        return status;
    }
    if (rf_scan_take(scan, "=", &status))
        return write_array(assembler, micro, place, element);
    return status == RF_OK ? read_array(assembler, micro, place, element) : status;
}

static rf_status operate_element(struct rf_assembler *assembler, struct rf_micro *micro,
                                 const struct place *place)
{
    struct element element;
    rf_status status = read_element(assembler, &element);
    return status == RF_OK ? change_array(assembler, micro, place, &element) : status;
}

/* "++" or "--" was read. */
static rf_status step_element(struct rf_assembler *assembler, struct rf_micro *micro,
                              const struct place *place, unsigned op)
{
    struct element element;
    rf_status status = read_element(assembler, &element);
    if (status == RF_OK)
        status = put_data(assembler, micro, &element, op);
    if (status == RF_OK)
        put_data_result(micro, place);
    return status;
}

static rf_status operate_swap(struct rf_assembler *assembler, struct rf_micro *micro,
                              const struct place *place)
{
    struct element element;
    rf_status status = rf_scan_want(&assembler->scan, "(");
    if (status == RF_OK)
        status = read_element(assembler, &element);
    if (status == RF_OK)
        status = put_data(assembler, micro, &element, RF_DATA_SWAP);
    if (status == RF_OK)
        status = rf_scan_want(&assembler->scan, ",");
    if (status == RF_OK)
        status = rf_assembler_operand(assembler, &micro->data_from);
    put_data_result(micro, place);
    return status == RF_OK ? rf_scan_want(&assembler->scan, ")") : status;
}

static rf_status operate_clear(struct rf_assembler *assembler, struct rf_micro *micro)
{
    struct element element;
    rf_status status = read_element(assembler, &element);
    return status == RF_OK ? put_match(assembler, micro, &element, RF_MATCH_CLEAR) : status;
}

/* match, next or free was read. */
static rf_status operate_match(struct rf_assembler *assembler, struct rf_micro *micro,
                               const struct place *place, unsigned op)
{
    const struct rf_program *program = assembler->program;
    const struct rf_program_symbol *symbol = NULL;
    struct element element = {.at = place->at, .matches = true, .index = place->number};
    if (!place->is_index)
        return rf_scan_fail(&assembler->scan, &place->at,
                            "what a match finds goes to an index register");
    rf_status status = rf_scan_want(&assembler->scan, "(");
    struct rf_token at = assembler->scan.token;
    if (status == RF_OK)
        status = rf_assembler_known(assembler, RF_PROGRAM_BASE, "a base register", &symbol);
    if (status != RF_OK)
        return status;
    element.base = (uint8_t)symbol->number;
    const struct rf_program_base *base = &program->bases[element.base];
    if (base->kind != RF_BASE_MATCH)
        return rf_scan_fail(&assembler->scan, &at, "'%s' is a part of the data array",
                            symbol->name);
    if (program->indexes[place->number].bits < base->log2)
        return rf_scan_fail(&assembler->scan, &place->at,
                            "the register has %u bits, and '%s' needs %u",
                            program->indexes[place->number].bits, symbol->name, base->log2);
    status = put_match(assembler, micro, &element, op);
    if (status == RF_OK && op != RF_MATCH_FREE)
        status = rf_scan_want(&assembler->scan, ",");
    if (status == RF_OK && op != RF_MATCH_FREE)
        status = rf_assembler_operand(assembler, &micro->match_key);
    return status == RF_OK ? rf_scan_want(&assembler->scan, ")") : status;
}

/* --- the alus --------------------------------------------------------------------------------- */

static const struct {
    const char *sign;
    uint8_t value_op, index_op;
    bool turns; /* a op b = b op a */
} sums[] = {{"+", RF_VALUE_ADD, RF_INDEX_ADD, true},
            {"-", RF_VALUE_SUBTRACT, RF_INDEX_SUBTRACT, false},
            {"&", RF_VALUE_AND, RF_INDEX_AND, true},
            {"|", RF_VALUE_OR, RF_INDEX_OR, true},
            {"^", RF_VALUE_XOR, RF_INDEX_XOR, true},
            {"<<", RF_VALUE_SHIFT_LEFT, RF_INDEX_NOP, false},
            {">>", RF_VALUE_SHIFT_RIGHT, RF_INDEX_NOP, false}};
enum { SUMS = sizeof sums / sizeof *sums };

/* What an alu is to do: a alone, or a and b. */
struct sum {
    struct rf_token at;
    uint8_t a, b;
    int sign; /* of `sums`; -1: a alone */
    bool saturates;
};

static rf_status put_value(struct rf_assembler *assembler, struct rf_micro *micro,
                           const struct place *place, const struct sum *sum)
{
    if (micro->value_op != RF_VALUE_NOP)
        return busy(assembler, &place->at, "value alu");
    micro->value_op = sum->sign < 0 ? RF_VALUE_MOVE : sums[sum->sign].value_op;
    micro->value_op += sum->saturates; /* each is followed by its saturating form */
    micro->value_to = place->number;
    micro->value_a = sum->a;
    micro->value_b = sum->b;
    return RF_OK;
}

static rf_status put_index(struct rf_assembler *assembler, struct rf_micro *micro,
                           const struct place *place, struct sum sum)
{
    if (micro->index_op != RF_INDEX_NOP)
        return busy(assembler, &place->at, "index alu");
    if (sum.sign >= 0 && sums[sum.sign].index_op == RF_INDEX_NOP)
        return rf_scan_fail(&assembler->scan, &sum.at, "the index alu does not shift");
    if (sum.sign >= 0 && !is_index(sum.a) && sums[sum.sign].turns) {
        uint8_t a = sum.a;
        sum.a = sum.b;
        sum.b = a;
    }
    if (sum.sign >= 0 && !is_index(sum.a))
        return rf_scan_fail(&assembler->scan, &sum.at,
                            "the index alu computes with an index register on the left");
    micro->index_op = sum.sign < 0 ? RF_INDEX_MOVE : sums[sum.sign].index_op;
    micro->index_op += sum.saturates;
    micro->index_to = place->number;
    micro->index_a = sum.sign < 0 ? 0 : (uint8_t)(sum.a - RF_OPERAND_INDEX);
    micro->index_b = sum.sign < 0 ? sum.a : sum.b;
    return RF_OK;
}

static rf_status put_sum(struct rf_assembler *assembler, struct rf_micro *micro,
                         const struct place *place, const struct sum *sum)
{
    return place->is_index ? put_index(assembler, micro, place, *sum)
                           : put_value(assembler, micro, place, sum);
}

static rf_status read_shift(struct rf_assembler *assembler, uint8_t *code)
{
    struct rf_token token = assembler->scan.token;
    uint64_t by = token.number;
    if (token.kind != RF_TOKEN_NUMBER || by == 0 || by > 16 || (by & (by - 1)) != 0)
        return rf_scan_expected(&assembler->scan, "a shift by 1, 2, 4, 8 or 16");
    *code = (uint8_t)__builtin_ctzll(by);
    return rf_scan_next(&assembler->scan);
}

/* operand [ sign operand ] */
static rf_status read_sum_of_two(struct rf_assembler *assembler, struct sum *sum)
{
    struct rf_scan *scan = &assembler->scan;
    sum->at = scan->token;
    rf_status status = rf_assembler_operand(assembler, &sum->a);
    for (int i = 0; i < SUMS && status == RF_OK && sum->sign < 0; i++)
        if (rf_scan_take(scan, sums[i].sign, &status))
            sum->sign = i;
    if (status != RF_OK || sum->sign < 0)
        return status;
    return sums[sum->sign].value_op >= RF_VALUE_SHIFT_LEFT
               ? read_shift(assembler, &sum->b)
               : rf_assembler_operand(assembler, &sum->b);
}

static rf_status read_saturated(struct rf_assembler *assembler, struct sum *sum)
{
    rf_status status = rf_scan_want(&assembler->scan, "(");
    if (status == RF_OK)
        status = read_sum_of_two(assembler, sum);
    if (status == RF_OK && (sum->sign < 0 || sums[sum->sign].value_op > RF_VALUE_SUBTRACT))
        return rf_scan_fail(&assembler->scan, &sum->at, "sat() takes a sum or a difference");
    sum->saturates = true;
    return status == RF_OK ? rf_scan_want(&assembler->scan, ")") : status;
}

/* --- operations -------------------------------------------------------------------------------- */

static rf_status step_place(struct rf_assembler *assembler, struct rf_micro *micro,
                            const struct place *place, int sign)
{
    struct sum sum = {.at = place->at, .sign = sign, .saturates = true};
    sum.a = (uint8_t)(place->number + (place->is_index ? RF_OPERAND_INDEX : RF_OPERAND_VALUE));
    rf_status status = rf_assembler_constant(assembler, &place->at, 1, &sum.b);
    sum.b += RF_OPERAND_CONSTANT;
    return status == RF_OK ? put_sum(assembler, micro, place, &sum) : status;
}

static bool names_base(const struct rf_assembler *assembler)
{
    const struct rf_token *token = &assembler->scan.token;
    const struct rf_program_symbol *symbol =
        token->kind == RF_TOKEN_WORD ? rf_assembler_find(assembler, token) : NULL;
    return symbol != NULL && symbol->kind == RF_PROGRAM_BASE;
}

/* Behind "place =". */
static rf_status assign(struct rf_assembler *assembler, struct rf_micro *micro,
                        const struct place *place)
{
    static const struct {
        const char *word;
        uint8_t op;
    } finds[] = {{"match", RF_MATCH_FIND}, {"next", RF_MATCH_NEXT}, {"free", RF_MATCH_FREE}};
    struct rf_scan *scan = &assembler->scan;
    rf_status status = RF_OK;
    struct sum sum = {.sign = -1};
    for (size_t i = 0; i < sizeof finds / sizeof *finds; i++)
        if (rf_scan_take(scan, finds[i].word, &status))
            return operate_match(assembler, micro, place, finds[i].op);
    if (rf_scan_take(scan, "swap", &status))
        return operate_swap(assembler, micro, place);
    if (rf_scan_take(scan, "++", &status))
        return step_element(assembler, micro, place, RF_DATA_INCREMENT);
    if (rf_scan_take(scan, "--", &status))
        return step_element(assembler, micro, place, RF_DATA_DECREMENT);
    if (status == RF_OK && names_base(assembler))
        return operate_element(assembler, micro, place);
    if (rf_scan_take(scan, "sat", &status))
        status = read_saturated(assembler, &sum);
    else if (status == RF_OK)
        status = read_sum_of_two(assembler, &sum);
    return status == RF_OK ? put_sum(assembler, micro, place, &sum) : status;
}

static rf_status operate_place(struct rf_assembler *assembler, struct rf_micro *micro)
{
    struct rf_scan *scan = &assembler->scan;
    struct place place = {.at = scan->token, .given = true};
    rf_status status = RF_OK;
    if (place.at.kind != RF_TOKEN_WORD)
        return rf_scan_expected(scan, "an operation");
    const struct rf_program_symbol *symbol = rf_assembler_find(assembler, &place.at);
    if (symbol == NULL)
        return rf_assembler_unknown(assembler, &place.at, "register");
    if (symbol->kind != RF_PROGRAM_VALUE && symbol->kind != RF_PROGRAM_INDEX)
        return rf_scan_fail(scan, &place.at, "'%s' cannot be written to", symbol->name);
    place.is_index = symbol->kind == RF_PROGRAM_INDEX;
    place.number = (uint8_t)symbol->number;
    status = rf_scan_next(scan);
    if (rf_scan_take(scan, "++", &status))
        return step_place(assembler, micro, &place, 0);
    if (rf_scan_take(scan, "--", &status))
        return step_place(assembler, micro, &place, 1);
    if (status == RF_OK)
        status = rf_scan_want(scan, "=");
    return status == RF_OK ? assign(assembler, micro, &place) : status;
}

static rf_status operate(struct rf_assembler *assembler, struct rf_micro *micro)
{
    struct rf_scan *scan = &assembler->scan;
    const struct place nowhere = {.at = scan->token};
    rf_status status = RF_OK;
    if (rf_token_is(&scan->token, "if") || rf_token_is(&scan->token, "goto") ||
        rf_token_is(&scan->token, "done") || rf_token_is(&scan->token, "interrupt"))
        return rf_assembler_branch(assembler, micro);
    if (rf_scan_take(scan, "clear", &status))
        return operate_clear(assembler, micro);
    if (rf_scan_take(scan, "++", &status))
        return step_element(assembler, micro, &nowhere, RF_DATA_INCREMENT);
    if (rf_scan_take(scan, "--", &status))
        return step_element(assembler, micro, &nowhere, RF_DATA_DECREMENT);
    if (status != RF_OK)
        return status;
    return names_base(assembler) ? operate_element(assembler, micro, &nowhere)
                                 : operate_place(assembler, micro);
}

rf_status rf_assembler_operate(struct rf_assembler *assembler)
{
    struct rf_program *program = assembler->program;
    struct rf_token first = assembler->scan.token;
    rf_status status = RF_OK;
    if (program->n == RF_MICRO_WORDS)
        return rf_scan_fail(&assembler->scan, &first, "more than %d instructions", RF_MICRO_WORDS);
    struct rf_micro *micro = &program->code[program->n];
    do
        status = operate(assembler, micro);
    while (status == RF_OK && rf_scan_take(&assembler->scan, ";", &status));
    if (status != RF_OK)
        return status;
    const char *wrong = rf_micro_check(micro);
    if (wrong != NULL)
        return rf_scan_fail(&assembler->scan, &first, "%s", wrong);
    program->lines[program->n++] = first.line;
    return RF_OK;
}
