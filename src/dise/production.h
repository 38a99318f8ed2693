/* production.h - productions of HPS as plain data: what the parser gives and two engines run.
 *
 *     text -> rf_dise_read -> struct rf_dise_program -> the tables of the simulated core (engine.h)
 *                                                    \-> the probe: static part at translation, flags at run time
 *
 * A production is  pattern => replacement, control.  Its pattern is a union of boxes. A box has a static part,
 * which the instruction alone decides (rf_dise_box_matches), and a part over flags of counters (`set`, `clear`):
 *
 *     T.OPCLASS == branch && T.Target <= T.PC && !overflow_1
 *       classes      order[PC:TARGET]            clear = overflow_1
 *
 * Of the productions of one profile that match, the most specific one with a replacement gives the replacement, and
 * the most specific one with a control gives the control: the pattern table and the conditionals table
 * are looked up side by side. Several profiles at once: each has winners, counters and registers of its own;
 * their sequences are joined around the one T.INSN. All flags are read as they were before the instruction. */
#ifndef RF_DISE_PRODUCTION_H
#define RF_DISE_PRODUCTION_H

#include "machine/isa/isa.h"
#include <riffle/status.h>

/* What an instruction is; exactly one of these. The names of the language are unions: load is LOAD or ATOMIC. */
enum rf_dise_class {
    RF_DISE_CALL,
    RF_DISE_RETURN,
    RF_DISE_JUMP,   /* unconditional, neither call nor return */
    RF_DISE_BRANCH, /* conditional */
    RF_DISE_LOAD,
    RF_DISE_STORE,
    RF_DISE_ATOMIC, /* loads and stores */
    RF_DISE_ALU,
    RF_DISE_MULTIPLY, /* and divide */
    RF_DISE_FLOAT,
    RF_DISE_FENCE,
    RF_DISE_SYSTEM,
    RF_DISE_CLASSES
};

/* Fields whose value is a number. An instruction need not have all of them: it has T.Target when it says itself where it
 * goes, which an indirect jump does not. */
enum rf_dise_field {
    RF_DISE_OPCODE, /* enum rf_op; natively RF_DISE_X86 + a number of base/x86.h */
    RF_DISE_PC,
    RF_DISE_TARGET,
    RF_DISE_RS, /* register numbers as in isa.h; x0 is 0 */
    RF_DISE_RT,
    RF_DISE_RD,
    RF_DISE_IMM,
    RF_DISE_FIELDS
};

/* Pairs of fields that may be compared with each other, and the possible outcomes as bits. */
enum rf_dise_pair { RF_DISE_PC_TARGET, RF_DISE_RS_RT, RF_DISE_RS_RD, RF_DISE_RT_RD, RF_DISE_PAIRS };
enum { RF_DISE_LESS = 1, RF_DISE_EQUAL = 2, RF_DISE_MORE = 4, RF_DISE_ANY_ORDER = 7 };

enum {
    RF_DISE_COUNTERS = 15,    /* overflow_N is flag 2N, zero_N is flag 2N + 1 */
    RF_DISE_REGISTERS = 16,   /* private registers that a program may name */
    RF_DISE_PROFILES = 8,     /* files at once */
    RF_DISE_FILES = 16,       /* with those that they include */
    RF_DISE_NAME = 64,        /* bytes of a name, terminated */
    RF_DISE_BOXES_EACH = 128, /* of one pattern */
    RF_DISE_BOXES = 1024,
    RF_DISE_PRODUCTIONS = 256,
    RF_DISE_OPS = 512,
    RF_DISE_OPS_EACH = 8, /* of one control */
    RF_DISE_SEQUENCES = 128,
    RF_DISE_ITEMS = 4096,
    RF_DISE_ARGUMENTS = 2,  /* of a handler */
    RF_DISE_FUNCTION = 128, /* bytes of a function's name, terminated */
    RF_DISE_OFFSET_MAX = 1 << 28,
    RF_DISE_FUNCTIONS = 16, /* that productions for the probe may name */
};

static inline uint32_t rf_dise_overflow(unsigned counter)
{
    return UINT32_C(1) << 2 * counter;
}

static inline uint32_t rf_dise_zero(unsigned counter)
{
    return UINT32_C(2) << 2 * counter;
}

struct rf_dise_range {
    int64_t lo, hi; /* both in */
};

#define RF_DISE_NO_ROOM SIZE_MAX           /* what resolve says where no more names can be kept */
#define RF_DISE_X86     (INT64_C(1) << 40) /* behind all opcodes of RV64 */

/* One alternative of a pattern: all of this holds. */
struct rf_dise_box {
    uint32_t classes;                           /* 1 << enum rf_dise_class: one of these */
    uint16_t has, lacks;                        /* 1 << enum rf_dise_field */
    uint8_t order[RF_DISE_PAIRS];               /* outcomes that will do */
    struct rf_dise_range range[RF_DISE_FIELDS]; /* of the fields that it has */
    uint32_t set, clear;                        /* flags that must be, and must not be */
};

/* What patterns can know of an instruction. */
struct rf_dise_facts {
    uint8_t opclass; /* enum rf_dise_class */
    uint16_t has;    /* 1 << enum rf_dise_field */
    int64_t value[RF_DISE_FIELDS];
};

/* Where something stands in the text. */
struct rf_dise_place {
    uint16_t file; /* of the program's names */
    unsigned line, column;
};

enum rf_dise_micro { RF_DISE_INC, RF_DISE_DEC, RF_DISE_SET };

/* A micro-instruction of the conditionals table. */
struct rf_dise_op {
    uint8_t micro; /* enum rf_dise_micro */
    uint8_t counter;
    uint8_t from; /* of SET: the private register */
};

enum rf_dise_item_kind {
    RF_DISE_ORIGINAL, /* T.INSN */
    RF_DISE_CODE,     /* an instruction */
    RF_DISE_HANDLER,  /* call(handler), ccall(register, handler) */
};

/* Which parts of an instruction of a sequence are taken from the matched one. */
enum rf_dise_part {
    RF_DISE_PART_LITERAL,
    RF_DISE_PART_RS,
    RF_DISE_PART_RT,
    RF_DISE_PART_RD,
    RF_DISE_PART_IMM,
};

struct rf_dise_item {
    uint8_t kind;              /* enum rf_dise_item_kind */
    uint8_t handler;           /* of HANDLER: index for rf_dise_handlers */
    bool likely;               /* of CODE, a branch: taken more often than not */
    uint8_t if_set;            /* of HANDLER: only if this register is not 0; RF_REG_NONE: always */
    uint8_t rd, rs1, rs2, imm; /* of CODE: enum rf_dise_part; where a literal is not in insn */
    struct rf_insn insn;       /* of CODE; of a branch, imm is items to go ahead */
};

/* A replacement; a list of items. */
struct rf_dise_sequence {
    char name[RF_DISE_NAME];
    struct rf_dise_place place;
    unsigned profile, first, n;
    int original; /* which of them is T.INSN; -1: none, the instruction is dropped */
};

struct rf_dise_production {
    char name[RF_DISE_NAME]; /* "": it has none */
    struct rf_dise_place place;
    unsigned profile;
    unsigned first_box, n_boxes;
    int sequence; /* index; -1: null */
    unsigned first_op, n_ops;
};

/* A private register. Its number in the core is RF_REG_PRIVATE + its index. */
struct rf_dise_register {
    char name[RF_DISE_NAME];
    struct rf_dise_place place;
    unsigned profile;
    uint8_t from_max; /* the value is the counters' maximum, 2^bits, plus this */
    uint8_t
        about; /* max ~ n: a counter that is set from it gets max - m, m random with the mean n */
    int64_t value;
};

/* The counter as it is when the program starts. Numbers are unique over all profiles: the parser
 * gives the N of the text a place of its own for each profile. */
struct rf_dise_counter {
    unsigned profile, number; /* N of the text */
    int from;                 /* register that it is set from; -1: 0 */
    struct rf_dise_place place;
};

struct rf_dise_program {
    /* Where a name of a function is; how many places it has. NULL: patterns cannot name any. Set before reading. */
    size_t (*resolve)(void *context, const char *name, uint64_t *address);
    void *resolve_context;
    bool native; /* the instructions are those of x86-64. Set before reading */
    unsigned n_profiles, n_files, n_boxes, n_productions, n_ops, n_sequences, n_items, n_registers,
        n_counters;
    unsigned profile_file[RF_DISE_PROFILES]; /* which of the names each was read from */
    uint8_t told[RF_DISE_PROFILES]; /* 1 << enum rf_class: what each tells (told.h); 0: not known */
    char file[RF_DISE_FILES][256];
    struct rf_dise_register registers[RF_DISE_REGISTERS];
    struct rf_dise_counter counters[RF_DISE_COUNTERS];
    struct rf_dise_op ops[RF_DISE_OPS];
    struct rf_dise_sequence sequences[RF_DISE_SEQUENCES];
    struct rf_dise_production productions[RF_DISE_PRODUCTIONS];
    struct rf_dise_item items[RF_DISE_ITEMS];
    struct rf_dise_box boxes[RF_DISE_BOXES];
};

/* Handlers that call() can name; what they make is records of a class, for a selector of that name. */
struct rf_dise_handler {
    const char *name;     /* "CallPair_handler"; NULL ends the table */
    const char *selector; /* the profile that it makes by itself: "calls" */
    enum rf_dise_what {
        RF_DISE_PAIR,      /* <pc, target> */
        RF_DISE_REFERENCE, /* <pc, address> */
    } what;
};
extern const struct rf_dise_handler rf_dise_handlers[];

/* --- reading ---------------------------------------------------------------------------------- */

/* Read a file of productions as one more profile; a program begins as all zero. Errors name file,
 * line and column: "hot.hps:3:7: ...". After an error the program is not to be used. */
rf_status rf_dise_read(struct rf_dise_program *program, const char *path, struct rf_error *error);
/* The same from text; `name` is what errors call it. It can include nothing. */
rf_status rf_dise_read_text(struct rf_dise_program *program, const char *name, const char *text,
                            size_t n, struct rf_error *error);

/* `name=value`: another initial value for a register of that name, in every profile that has one, or,
 * with `profile.name=value`, in that one. Values are numbers, `max`, `max - number` and `max ~ number`. *which, if not NULL,
 * is those registers, 1 << index. */
rf_status rf_dise_assign(struct rf_dise_program *program, const char *text, uint32_t *which,
                         struct rf_error *error);

/* "max-99" alone, into from_max, about and value. */
rf_status rf_dise_parse_value(const char *text, struct rf_dise_register *reg,
                              struct rf_error *error);

/* What a register holds at the start, where counters have this many bits. */
uint64_t rf_dise_register_value(const struct rf_dise_register *reg, unsigned counter_bits);

/* --- matching --------------------------------------------------------------------------------- */

/* Facts of an RV64 instruction. */
struct rf_dise_facts rf_dise_facts(const struct rf_insn *insn, uint64_t pc);
/* The static part. */
bool rf_dise_box_matches(const struct rf_dise_box *box, const struct rf_dise_facts *facts);
/* The part over flags. */
static inline bool rf_dise_box_enabled(const struct rf_dise_box *box, uint32_t flags)
{
    return (flags & box->set) == box->set && (flags & box->clear) == 0;
}
/* Everything that `inner` matches, `outer` matches. */
bool rf_dise_box_within(const struct rf_dise_box *inner, const struct rf_dise_box *outer);
/* Is there something that both match? */
bool rf_dise_box_meets(const struct rf_dise_box *a, const struct rf_dise_box *b);

/* Flags that any pattern of the program asks for. */
uint32_t rf_dise_flags_used(const struct rf_dise_program *program);

/* Does `inner` match only what `outer` matches, too? Then it is the more specific one. */
bool rf_dise_is_within(const struct rf_dise_program *program,
                       const struct rf_dise_production *inner,
                       const struct rf_dise_production *outer);

#endif
