/* branch.c - the branch of a microinstruction.
 *
 *     branch    = [ "if" condition ] ( "goto" target | "done" | "interrupt" )
 *     condition = "hit" | "miss"
 *               | [ "not" ] ("v" | "i" | "d") "." ("zero" | "full" | "less")
 *               | operand ("==" | "!=" | "<" | ">=" | ">" | "<=") operand
 *
 * A comparison takes an alu of the same line: the index alu where one side is an index register and that
 * alu is free, the value alu otherwise. */
#include "coproc/assembler.h"

/* In the order of enum rf_when, for both alus; `turned` is for the sides exchanged. */
static const struct {
    const char *sign;
    uint8_t turned;
} relations[] = {{"==", 0}, {"!=", 1}, {"<", 4}, {">=", 5}, {">", 2}, {"<=", 3}};
enum { RELATIONS = sizeof relations / sizeof *relations };

static bool is_index(unsigned operand)
{
    return operand >= RF_OPERAND_INDEX && operand < RF_OPERAND_RANDOM;
}

static rf_status put_comparison(struct rf_assembler *assembler, struct rf_micro *micro,
                                const struct rf_token *at, const uint8_t sides[2],
                                unsigned relation)
{
    bool turn = !is_index(sides[0]);
    if ((is_index(sides[0]) || is_index(sides[1])) && micro->index_op == RF_INDEX_NOP) {
        micro->index_op = RF_INDEX_COMPARE;
        micro->index_a = (uint8_t)(sides[turn] - RF_OPERAND_INDEX);
        micro->index_b = sides[!turn];
        micro->when = (uint8_t)(RF_WHEN_INDEX_EQ + (turn ? relations[relation].turned : relation));
        return RF_OK;
    }
    if (micro->value_op != RF_VALUE_NOP)
        return rf_scan_fail(&assembler->scan, at,
                            "the comparison needs an alu, and this line uses it already");
    micro->value_op = RF_VALUE_COMPARE;
    micro->value_a = sides[0];
    micro->value_b = sides[1];
    micro->when = (uint8_t)(RF_WHEN_VALUE_EQ + relation);
    return RF_OK;
}

static rf_status read_comparison(struct rf_assembler *assembler, struct rf_micro *micro)
{
    struct rf_scan *scan = &assembler->scan;
    struct rf_token at = scan->token;
    uint8_t sides[2];
    unsigned relation = RELATIONS;
    rf_status status = rf_assembler_operand(assembler, &sides[0]);
    for (unsigned i = 0; i < RELATIONS && status == RF_OK && relation == RELATIONS; i++)
        if (rf_scan_take(scan, relations[i].sign, &status))
            relation = i;
    if (status == RF_OK && relation == RELATIONS)
        return rf_scan_expected(scan, "==, !=, <, >=, > or <=");
    if (status == RF_OK)
        status = rf_assembler_operand(assembler, &sides[1]);
    return status == RF_OK ? put_comparison(assembler, micro, &at, sides, relation) : status;
}

static const struct {
    const char *unit, *state;
    uint8_t when, not_when;
} states[] = {
    {"v", "zero", RF_WHEN_VALUE_EQ, RF_WHEN_VALUE_NE},
    {"v", "less", RF_WHEN_VALUE_LT, RF_WHEN_VALUE_GE},
    {"v", "full", RF_WHEN_VALUE_FULL, RF_WHEN_VALUE_NOT_FULL},
    {"i", "zero", RF_WHEN_INDEX_EQ, RF_WHEN_INDEX_NE},
    {"i", "less", RF_WHEN_INDEX_LT, RF_WHEN_INDEX_GE},
    {"i", "full", RF_WHEN_INDEX_FULL, RF_WHEN_INDEX_NOT_FULL},
    {"d", "zero", RF_WHEN_DATA_ZERO, RF_WHEN_DATA_NOT_ZERO},
    {"d", "full", RF_WHEN_DATA_FULL, RF_WHEN_DATA_NOT_FULL},
};

static rf_status read_state(struct rf_assembler *assembler, struct rf_micro *micro, bool negated)
{
    struct rf_scan *scan = &assembler->scan;
    struct rf_token unit = scan->token;
    rf_status status = rf_scan_next(scan);
    if (status == RF_OK)
        status = rf_scan_want(scan, ".");
    if (status != RF_OK)
        return status;
    for (size_t i = 0; i < sizeof states / sizeof *states; i++)
        if (rf_token_is(&unit, states[i].unit) && rf_token_is(&scan->token, states[i].state)) {
            micro->when = negated ? states[i].not_when : states[i].when;
            return rf_scan_next(scan);
        }
    return rf_scan_expected(scan, rf_token_is(&unit, "d") ? "zero or full" : "zero, full or less");
}

static rf_status read_condition(struct rf_assembler *assembler, struct rf_micro *micro)
{
    struct rf_scan *scan = &assembler->scan;
    rf_status status = RF_OK;
    micro->when = RF_WHEN_ALWAYS;
    if (rf_scan_take(scan, "hit", &status))
        micro->when = RF_WHEN_HIT;
    else if (rf_scan_take(scan, "miss", &status))
        micro->when = RF_WHEN_MISS;
    if (micro->when != RF_WHEN_ALWAYS || status != RF_OK)
        return status;
    bool negated = rf_scan_take(scan, "not", &status);
    if (status == RF_OK && (rf_token_is(&scan->token, "v") || rf_token_is(&scan->token, "i") ||
                            rf_token_is(&scan->token, "d")))
        return read_state(assembler, micro, negated);
    if (negated)
        return rf_scan_expected(scan, "v, i or d");
    return status == RF_OK ? read_comparison(assembler, micro) : status;
}

static rf_status read_target(struct rf_assembler *assembler, struct rf_micro *micro)
{
    struct rf_scan *scan = &assembler->scan;
    struct rf_token token = scan->token;
    if (token.kind != RF_TOKEN_WORD)
        return rf_scan_expected(scan, "a label");
    const struct rf_program_symbol *symbol = rf_assembler_find(assembler, &token);
    if (symbol != NULL && symbol->kind == RF_PROGRAM_TARGET)
        micro->to = (uint8_t)(RF_TO_REGISTER + symbol->number);
    else
        rf_assembler_use(assembler, &token, RF_USE_BRANCH, assembler->program->n);
    return rf_scan_next(scan);
}

rf_status rf_assembler_branch(struct rf_assembler *assembler, struct rf_micro *micro)
{
    struct rf_scan *scan = &assembler->scan;
    rf_status status = RF_OK;
    if (micro->when != RF_WHEN_NEVER)
        return rf_scan_fail(scan, &scan->token,
                            "an instruction has one branch, and this is its second");
    if (rf_scan_take(scan, "if", &status))
        status = read_condition(assembler, micro);
    else
        micro->when = RF_WHEN_ALWAYS;
    if (status != RF_OK)
        return status;
    if (rf_scan_take(scan, "done", &status))
        micro->to = RF_TO_DONE;
    else if (rf_scan_take(scan, "interrupt", &status))
        micro->to = RF_TO_INTERRUPT;
    else if (rf_scan_take(scan, "goto", &status))
        status = read_target(assembler, micro);
    else if (status == RF_OK)
        status = rf_scan_expected(scan, "goto, done or interrupt");
    return status;
}
