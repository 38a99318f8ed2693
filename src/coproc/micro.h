/* micro.h - the microinstruction: its slots, its operands, its word of 96 bits.
 *
 * One microinstruction has a place for one operation of each unit. All operations of one read the state as
 * the one before it left it, and write when it ends; the branch sees what the units found in the same
 * cycle. doc/COPROC.md describes the word bit by bit. */
#ifndef RF_COPROC_MICRO_H
#define RF_COPROC_MICRO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    RF_MICRO_WORDS = 256, /* of the microcode array */
    RF_MICRO_VALUES = 8,
    RF_MICRO_CONSTANTS = 16,
    RF_MICRO_FIELDS = 16,
    RF_MICRO_INDEXES = 16,
    RF_MICRO_BASES = 16,
    RF_MICRO_TARGETS = 8,
    RF_MICRO_INDEX_BITS = 16, /* of an index register, at the most */
};

/* What an operation may read: one code for every register. */
enum rf_micro_operand {
    RF_OPERAND_VALUE = 0,
    RF_OPERAND_CONSTANT = RF_OPERAND_VALUE + RF_MICRO_VALUES,
    RF_OPERAND_FIELD = RF_OPERAND_CONSTANT + RF_MICRO_CONSTANTS,
    RF_OPERAND_INDEX = RF_OPERAND_FIELD + RF_MICRO_FIELDS,
    RF_OPERAND_RANDOM = RF_OPERAND_INDEX + RF_MICRO_INDEXES,
    RF_OPERAND_COUNT,
};

/* Where a read of the data array goes. */
enum { RF_RESULT_INDEX = RF_MICRO_VALUES, RF_RESULT_COUNT = 24, RF_RESULT_NONE = 31 };

enum rf_value_op {
    RF_VALUE_NOP,
    RF_VALUE_MOVE, /* a */
    RF_VALUE_ADD,
    RF_VALUE_ADD_SATURATED,
    RF_VALUE_SUBTRACT,
    RF_VALUE_SUBTRACT_SATURATED,
    RF_VALUE_AND,
    RF_VALUE_OR,
    RF_VALUE_XOR,
    RF_VALUE_SHIFT_LEFT,  /* by 1 << b: 1, 2, 4, 8 or 16 */
    RF_VALUE_SHIFT_RIGHT, /* likewise */
    RF_VALUE_COMPARE,     /* a with b; writes nothing */
    RF_VALUE_OP_COUNT
};

enum rf_index_op {
    RF_INDEX_NOP,
    RF_INDEX_MOVE, /* b, cut to the width of the register */
    RF_INDEX_ADD,  /* modulo 2^width */
    RF_INDEX_ADD_SATURATED,
    RF_INDEX_SUBTRACT,
    RF_INDEX_SUBTRACT_SATURATED,
    RF_INDEX_AND,
    RF_INDEX_OR,
    RF_INDEX_XOR,
    RF_INDEX_COMPARE,
    RF_INDEX_OP_COUNT
};

enum rf_match_op {
    RF_MATCH_NOP,
    RF_MATCH_FIND,  /* the first valid entry with the key */
    RF_MATCH_NEXT,  /* the first one behind the entry that the index register names */
    RF_MATCH_FREE,  /* the first entry that is not valid */
    RF_MATCH_WRITE, /* the key, and valid */
    RF_MATCH_CLEAR, /* not valid any more; the key stays readable */
    RF_MATCH_READ,  /* the key, into the register that the key's field names */
    RF_MATCH_OP_COUNT
};

enum rf_data_op {
    RF_DATA_NOP,
    RF_DATA_READ,
    RF_DATA_WRITE,
    RF_DATA_INCREMENT, /* this and the next three stop at the ends of the lane; the result is the new value */
    RF_DATA_DECREMENT,
    RF_DATA_ADD,
    RF_DATA_SUBTRACT,
    RF_DATA_AND,
    RF_DATA_OR,
    RF_DATA_SWAP, /* writes; the result is the old value */
    RF_DATA_OP_COUNT
};

/* A part of a word of the data array. Little-endian: b0 and h0 are the low ends. */
enum rf_lane {
    RF_LANE_WORD,
    RF_LANE_HALF0,
    RF_LANE_HALF1,
    RF_LANE_BYTE0,
    RF_LANE_BYTE1,
    RF_LANE_BYTE2,
    RF_LANE_BYTE3,
    RF_LANE_COUNT
};

/* When to branch. Six relations of each alu: of what it compared, or of a result with 0; "less" after an
 * addition or subtraction is its carry. Full: the result is as large as the register or lane can hold. */
enum rf_when {
    RF_WHEN_NEVER,
    RF_WHEN_ALWAYS,
    RF_WHEN_HIT,
    RF_WHEN_MISS,
    RF_WHEN_VALUE_EQ,
    RF_WHEN_VALUE_NE,
    RF_WHEN_VALUE_LT,
    RF_WHEN_VALUE_GE,
    RF_WHEN_VALUE_GT,
    RF_WHEN_VALUE_LE,
    RF_WHEN_VALUE_FULL,
    RF_WHEN_VALUE_NOT_FULL,
    RF_WHEN_INDEX_EQ,
    RF_WHEN_INDEX_NE,
    RF_WHEN_INDEX_LT,
    RF_WHEN_INDEX_GE,
    RF_WHEN_INDEX_GT,
    RF_WHEN_INDEX_LE,
    RF_WHEN_INDEX_FULL,
    RF_WHEN_INDEX_NOT_FULL,
    RF_WHEN_DATA_ZERO,
    RF_WHEN_DATA_NOT_ZERO,
    RF_WHEN_DATA_FULL,
    RF_WHEN_DATA_NOT_FULL,
    RF_WHEN_COUNT
};

/* Where to: 0..63 are 32 words back to 31 words ahead of this one. */
enum {
    RF_TO_HERE = 32,
    RF_TO_REGISTER = 64,
    RF_TO_DONE = RF_TO_REGISTER + RF_MICRO_TARGETS, /* the next sample */
    RF_TO_INTERRUPT,                                /* halt and call the host */
    RF_TO_COUNT
};

/* One microinstruction, a byte for each field of its word, in the order of the word. What an operation does
 * not use is 0. */
struct rf_micro {
    uint8_t value_op, value_to, value_a, value_b;
    uint8_t index_op, index_to, index_a, index_b;
    uint8_t match_op, match_key, match_index, match_base;
    uint8_t data_op, data_lane, data_base, data_index, data_from, data_to;
    uint8_t when, to;
};

struct rf_micro_word {
    uint32_t w[3]; /* bits 31..0, 63..32, 95..64 */
};

/* The fields of the word in their order, closed by bits 0. */
struct rf_micro_field {
    const char *name;
    unsigned bits;
};
extern const struct rf_micro_field rf_micro_fields[];

struct rf_micro_word rf_micro_pack(const struct rf_micro *micro);
/* NULL, or what is wrong with the word: a code that is none, a field set that nothing uses. */
const char *rf_micro_unpack(struct rf_micro *micro, const struct rf_micro_word *word);
/* NULL, or what is wrong with it, as above. */
const char *rf_micro_check(const struct rf_micro *micro);

/* Which fields an operation uses. */
static inline bool rf_value_has_result(unsigned op)
{
    return op != RF_VALUE_NOP && op != RF_VALUE_COMPARE;
}

static inline bool rf_index_has_result(unsigned op)
{
    return op != RF_INDEX_NOP && op != RF_INDEX_COMPARE;
}

static inline bool rf_data_has_source(unsigned op)
{
    return op == RF_DATA_WRITE || op >= RF_DATA_ADD;
}

static inline bool rf_match_has_key(unsigned op)
{
    return op == RF_MATCH_FIND || op == RF_MATCH_NEXT || op == RF_MATCH_WRITE ||
           op == RF_MATCH_READ;
}

static inline bool rf_match_finds(unsigned op)
{
    return op == RF_MATCH_FIND || op == RF_MATCH_NEXT || op == RF_MATCH_FREE;
}

static inline unsigned rf_lane_bits(unsigned lane)
{
    return lane == RF_LANE_WORD ? 32 : lane <= RF_LANE_HALF1 ? 16 : 8;
}

static inline unsigned rf_lane_shift(unsigned lane)
{
    return lane == RF_LANE_WORD    ? 0
           : lane <= RF_LANE_HALF1 ? 16 * (lane - RF_LANE_HALF0)
                                   : 8 * (lane - RF_LANE_BYTE0);
}

#endif
