/* program.h - a microprogram ready to load: its words and all that is configured with them.
 *
 * Plain data. rf_program_assemble makes it from text; rf_program_print makes text of it that assembles to
 * the same program. */
#ifndef RF_COPROC_PROGRAM_H
#define RF_COPROC_PROGRAM_H

#include "coproc/micro.h"
#include <riffle/event.h>
#include <riffle/status.h>

/* How large the machine is. The arrays are powers of two. */
struct rf_coproc_size {
    uint32_t match_words;  /* of the associative array, 32 bits each */
    uint32_t data_words;   /* of the data array, 32 bits each */
    uint32_t buffer_bytes; /* of the sample buffer */
    uint32_t filter_bits;  /* of the table that masks instructions */
};

/* Opcode classes of the decoder: those of records, indirect jumps and calls apart. */
enum rf_opcode {
    RF_OPCODE_LOAD,
    RF_OPCODE_STORE,
    RF_OPCODE_BRANCH,
    RF_OPCODE_JUMP,
    RF_OPCODE_CALL,
    RF_OPCODE_RETURN,
    RF_OPCODE_ALU,
    RF_OPCODE_INSN,
    RF_OPCODE_INDIRECT_JUMP,
    RF_OPCODE_INDIRECT_CALL,
    RF_OPCODE_COUNT
};
extern const char *const rf_opcode_names[RF_OPCODE_COUNT];

static inline unsigned rf_opcode_of(const struct rf_record *record)
{
    if ((record->flags & RF_RECORD_INDIRECT) == 0)
        return record->kind;
    return record->kind == RF_CLASS_JUMP   ? RF_OPCODE_INDIRECT_JUMP
           : record->kind == RF_CLASS_CALL ? RF_OPCODE_INDIRECT_CALL
                                           : record->kind;
}

/* What a field can be cut out of. */
enum rf_sample_word {
    RF_SAMPLE_PC,
    RF_SAMPLE_ADDR,
    RF_SAMPLE_VALUE,
    RF_SAMPLE_TARGET,
    RF_SAMPLE_WIDTH,
    RF_SAMPLE_THREAD,
    RF_SAMPLE_MISS,
    RF_SAMPLE_TAKEN,
    RF_SAMPLE_INDIRECT,
    RF_SAMPLE_OPCODE,
    RF_SAMPLE_COUNT,
    RF_SAMPLE_HASH = RF_SAMPLE_COUNT, /* of two of them, in `bits` bits */
};
extern const char *const rf_sample_names[RF_SAMPLE_COUNT];

enum {
    RF_PROGRAM_NAME_MAX = 24,
    RF_SLOT_ROLES = 12,
    RF_PROGRAM_SYMBOLS = 512,
    RF_PROFILE_MAX = 120
};

struct rf_program_field {
    uint8_t word;        /* enum rf_sample_word */
    uint8_t shift, bits; /* bits 1..32 */
    uint8_t hash_a, hash_b;
    uint64_t hash_seed;
};

struct rf_program_index {
    uint8_t bits; /* 0: not declared */
    uint16_t start;
};

enum rf_base_kind { RF_BASE_NONE, RF_BASE_MATCH, RF_BASE_DATA };

/* An aligned part of an array. */
struct rf_program_base {
    uint8_t kind;
    uint8_t log2;
    uint32_t first;
};

/* What the host finds in a slot: which part of which array is the pc, the count, ... */
struct rf_program_role {
    char name[RF_PROGRAM_NAME_MAX];
    uint8_t base, lane;
    uint32_t line, column;
};

enum rf_symbol_kind {
    RF_PROGRAM_VALUE,
    RF_PROGRAM_CONSTANT,
    RF_PROGRAM_FIELD,
    RF_PROGRAM_INDEX,
    RF_PROGRAM_BASE,
    RF_PROGRAM_TARGET,
    RF_PROGRAM_LABEL,
    RF_PROGRAM_LET,
};

struct rf_program_symbol {
    char name[RF_PROGRAM_NAME_MAX];
    uint8_t kind;
    uint32_t line, column;
    uint64_t number; /* of the register, the address, or the value of a let */
};

enum { RF_NO_ENTRY = 0xffff };

struct rf_program {
    struct rf_coproc_size size; /* it was assembled for */
    struct rf_micro code[RF_MICRO_WORDS];
    uint32_t lines[RF_MICRO_WORDS]; /* of the source */
    unsigned n;
    uint16_t entries[RF_OPCODE_COUNT];
    struct rf_program_field fields[RF_MICRO_FIELDS];
    unsigned n_fields;
    uint32_t constants[RF_MICRO_CONSTANTS];
    unsigned n_constants;
    struct rf_program_index indexes[RF_MICRO_INDEXES];
    unsigned n_indexes;
    struct rf_program_base bases[RF_MICRO_BASES];
    unsigned n_bases;
    uint16_t targets[RF_MICRO_TARGETS];
    unsigned n_targets;
    struct rf_program_role roles[RF_SLOT_ROLES];
    unsigned n_roles;
    char profile[RF_PROFILE_MAX]; /* what its tuples are, as a selector; "": not said */
    uint32_t profile_line;
    char handler[RF_PROGRAM_NAME_MAX]; /* "": none */
    uint32_t handler_line;
    struct rf_program_symbol symbols[RF_PROGRAM_SYMBOLS];
    unsigned n_symbols;
};

/* A value that takes the place of a program's `.let`. */
struct rf_program_let {
    char name[RF_PROGRAM_NAME_MAX];
    uint64_t value;
    bool used;
};

/* From text, terminated. What is wrong is told as "line 12, column 5: ...". A let that the program does not
 * have is refused, too. */
rf_status rf_program_assemble(struct rf_program *program, const char *text,
                              const struct rf_coproc_size *size, struct rf_program_let *lets,
                              size_t n_lets, struct rf_error *error);

/* The source that makes this program again. Like snprintf: returns the length of the whole text. */
size_t rf_program_print(const struct rf_program *program, char *text, size_t size);
/* Address, word and source line of every microinstruction. */
size_t rf_program_list(const struct rf_program *program, const char *source, char *text,
                       size_t size);
/* One microinstruction as the assembler reads it. */
size_t rf_program_print_micro(const struct rf_program *program, unsigned at, char *text,
                              size_t size);

/* NULL: there is none of that kind and name. */
const struct rf_program_symbol *rf_program_find(const struct rf_program *program, unsigned kind,
                                                const char *name);
/* The number of a role; -1: the slots have none. */
int rf_program_role(const struct rf_program *program, const char *name);
/* The value of a let; `standard` where the program has none. */
uint64_t rf_program_let(const struct rf_program *program, const char *name, uint64_t standard);
/* The classes of records that it has an entry for, 1 << enum rf_class. */
uint32_t rf_program_classes(const struct rf_program *program);

#endif
