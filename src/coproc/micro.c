/* micro.c - the microinstruction as a word of bits and back. */
#include "coproc/micro.h"
#include <string.h>

const struct rf_micro_field rf_micro_fields[] = {
    {"value op", 4},    {"value to", 3},   {"value a", 6}, {"value b", 6},   {"index op", 4},
    {"index to", 4},    {"index a", 4},    {"index b", 6}, {"match op", 3},  {"match key", 6},
    {"match index", 4}, {"match base", 4}, {"data op", 4}, {"data lane", 3}, {"data base", 4},
    {"data index", 4},  {"data from", 6},  {"data to", 5}, {"when", 5},      {"to", 7},
    {NULL, 0},
};

enum { FIELDS = sizeof(struct rf_micro), USED_BITS = 92 };
_Static_assert(FIELDS == sizeof rf_micro_fields / sizeof *rf_micro_fields - 1,
               "a byte for each field");

static void put_bit(struct rf_micro_word *word, unsigned at, unsigned bit)
{
    word->w[at / 32] |= (uint32_t)bit << at % 32;
}

static unsigned get_bit(const struct rf_micro_word *word, unsigned at)
{
    return word->w[at / 32] >> at % 32 & 1;
}

struct rf_micro_word rf_micro_pack(const struct rf_micro *micro)
{
    struct rf_micro_word word = {{0, 0, 0}};
    uint8_t bytes[FIELDS];
    unsigned at = 0;
    memcpy(bytes, micro, FIELDS);
    for (unsigned f = 0; f < FIELDS; f++)
        for (unsigned b = 0; b < rf_micro_fields[f].bits; b++)
            put_bit(&word, at++, bytes[f] >> b & 1);
    return word;
}

const char *rf_micro_unpack(struct rf_micro *micro, const struct rf_micro_word *word)
{
    uint8_t bytes[FIELDS] = {0};
    unsigned at = 0;
    for (unsigned f = 0; f < FIELDS; f++)
        for (unsigned b = 0; b < rf_micro_fields[f].bits; b++)
            bytes[f] |= (uint8_t)(get_bit(word, at++) << b);
    memcpy(micro, bytes, FIELDS);
    if (word->w[2] >> (USED_BITS - 64) != 0)
        return "a bit is set above the last field";
    return rf_micro_check(micro);
}

static const char *check_value(const struct rf_micro *m)
{
    unsigned op = m->value_op;
    bool shifts = op == RF_VALUE_SHIFT_LEFT || op == RF_VALUE_SHIFT_RIGHT;
    bool two = op > RF_VALUE_MOVE;
    if (op >= RF_VALUE_OP_COUNT || m->value_a >= RF_OPERAND_COUNT ||
        m->value_b >= RF_OPERAND_COUNT || (shifts && m->value_b > 4))
        return "the value alu has no such operation";
    if ((!rf_value_has_result(op) && m->value_to != 0) || (!two && m->value_b != 0) ||
        (op == RF_VALUE_NOP && m->value_a != 0))
        return "the value alu does not use a field that is set";
    return NULL;
}

static const char *check_index(const struct rf_micro *m)
{
    unsigned op = m->index_op;
    if (op >= RF_INDEX_OP_COUNT || m->index_b >= RF_OPERAND_COUNT)
        return "the index alu has no such operation";
    if ((!rf_index_has_result(op) && m->index_to != 0) ||
        (op <= RF_INDEX_MOVE && m->index_a != 0) || (op == RF_INDEX_NOP && m->index_b != 0))
        return "the index alu does not use a field that is set";
    return NULL;
}

/* A read of the associative array may go to a value or an index register. */
static bool is_register(unsigned operand)
{
    return operand < RF_OPERAND_CONSTANT ||
           (operand >= RF_OPERAND_INDEX && operand < RF_OPERAND_RANDOM);
}

static const char *check_match(const struct rf_micro *m)
{
    unsigned op = m->match_op;
    if (op >= RF_MATCH_OP_COUNT || m->match_key >= RF_OPERAND_COUNT ||
        (op == RF_MATCH_READ && !is_register(m->match_key)))
        return "the associative array has no such operation";
    if ((!rf_match_has_key(op) && m->match_key != 0) ||
        (op == RF_MATCH_NOP && (m->match_index != 0 || m->match_base != 0)))
        return "the associative array does not use a field that is set";
    return NULL;
}

static const char *check_data(const struct rf_micro *m)
{
    unsigned op = m->data_op;
    bool result = m->data_to < RF_RESULT_COUNT;
    if (op >= RF_DATA_OP_COUNT || m->data_lane >= RF_LANE_COUNT || m->data_from >= RF_OPERAND_COUNT)
        return "the data array has no such operation";
    if (op == RF_DATA_NOP)
        return m->data_lane != 0 || m->data_base != 0 || m->data_index != 0 || m->data_from != 0 ||
                       m->data_to != 0
                   ? "the data array does not use a field that is set"
                   : NULL;
    if (!result && m->data_to != RF_RESULT_NONE)
        return "the data array has no such register to write to";
    if (!result && (op == RF_DATA_READ || op == RF_DATA_SWAP))
        return "what is read goes nowhere";
    if ((!rf_data_has_source(op) && m->data_from != 0) || (op == RF_DATA_WRITE && result))
        return "the data array does not use a field that is set";
    return NULL;
}

/* A comparison serves its branch alone. Of any other result a branch can ask whether it is 0, and for the carry. */
static const char *check_asked(unsigned when, unsigned first, bool idle, bool compares)
{
    bool relation = when >= first && when <= first + RF_WHEN_VALUE_LE - RF_WHEN_VALUE_EQ;
    bool full = when > first + RF_WHEN_VALUE_LE - RF_WHEN_VALUE_EQ &&
                when <= first + RF_WHEN_VALUE_NOT_FULL - RF_WHEN_VALUE_EQ;
    if (compares && !relation)
        return "nobody asks for the comparison";
    if (!relation && !full)
        return NULL;
    if (idle)
        return "the branch asks an alu that is idle";
    return relation && !compares && when >= first + RF_WHEN_VALUE_GT - RF_WHEN_VALUE_EQ
               ? "the branch asks for a comparison, and there is none"
               : NULL;
}

static const char *check_alus_asked(const struct rf_micro *m)
{
    const char *wrong = check_asked(m->when, RF_WHEN_VALUE_EQ, m->value_op == RF_VALUE_NOP,
                                    m->value_op == RF_VALUE_COMPARE);
    return wrong != NULL ? wrong
                         : check_asked(m->when, RF_WHEN_INDEX_EQ, m->index_op == RF_INDEX_NOP,
                                       m->index_op == RF_INDEX_COMPARE);
}

static const char *check_branch(const struct rf_micro *m)
{
    if (m->when >= RF_WHEN_COUNT || m->to >= RF_TO_COUNT)
        return "the branch has no such condition or target";
    if (m->when == RF_WHEN_NEVER && m->to != 0)
        return "the branch does not use its target";
    if (m->when == RF_WHEN_HIT || m->when == RF_WHEN_MISS)
        return rf_match_finds(m->match_op) ? NULL
                                           : "the branch asks for a match, and there is none";
    if (m->when >= RF_WHEN_DATA_ZERO)
        return m->data_op != RF_DATA_NOP ? NULL : "the branch asks the data array, which is idle";
    return NULL;
}

/* A bit for each register that is written; `twice` has those that are written twice. */
static void mark(uint64_t *written, bool *twice, unsigned operand)
{
    *twice = *twice || (*written >> operand & 1) != 0;
    *written |= UINT64_C(1) << operand;
}

static bool writes_twice(const struct rf_micro *m)
{
    uint64_t written = 0;
    bool twice = false;
    if (rf_value_has_result(m->value_op))
        mark(&written, &twice, RF_OPERAND_VALUE + m->value_to);
    if (rf_index_has_result(m->index_op))
        mark(&written, &twice, RF_OPERAND_INDEX + m->index_to);
    if (rf_match_finds(m->match_op))
        mark(&written, &twice, RF_OPERAND_INDEX + m->match_index);
    if (m->match_op == RF_MATCH_READ)
        mark(&written, &twice, m->match_key);
    if (m->data_op != RF_DATA_NOP && m->data_to < RF_RESULT_COUNT)
        mark(&written, &twice,
             m->data_to < RF_RESULT_INDEX ? m->data_to
                                          : RF_OPERAND_INDEX + m->data_to - RF_RESULT_INDEX);
    return twice;
}

const char *rf_micro_check(const struct rf_micro *micro)
{
    typedef const char *check(const struct rf_micro *micro);
    static check *const checks[] = {check_value, check_index,  check_match,
                                    check_data,  check_branch, check_alus_asked};
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        const char *wrong = checks[i](micro);
        if (wrong != NULL)
            return wrong;
    }
    return writes_twice(micro) ? "two operations write the same register" : NULL;
}
