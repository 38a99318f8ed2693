/* assembler.h - what the files of the microassembler share.
 *
 *     text -> scan -> assemble (lines, labels) -> declare (.field, .base, ...)
 *                                              -> operate (one microinstruction per line)
 */
#ifndef RF_COPROC_ASSEMBLER_H
#define RF_COPROC_ASSEMBLER_H

#include "coproc/program.h"
#include "coproc/scan.h"

/* A label that is used before it is known. */
struct rf_assembler_use {
    struct rf_token token;
    uint16_t at;  /* the word, target register or opcode class that wants it */
    uint8_t what; /* enum below */
};
enum { RF_USE_BRANCH, RF_USE_TARGET, RF_USE_ENTRY };
enum { RF_ASSEMBLER_USES = RF_MICRO_WORDS + RF_MICRO_TARGETS + RF_OPCODE_COUNT };

struct rf_assembler {
    struct rf_scan scan;
    struct rf_program *program;
    struct rf_program_let *lets; /* values given from outside */
    size_t n_lets;
    struct rf_assembler_use uses[RF_ASSEMBLER_USES];
    unsigned n_uses;
};

/* assemble.c */
const struct rf_program_symbol *rf_assembler_find(const struct rf_assembler *assembler,
                                                  const struct rf_token *token);
/* Remember a name; refused when it is taken or reserved. */
rf_status rf_assembler_name(struct rf_assembler *assembler, const struct rf_token *token,
                            unsigned kind, uint64_t number);
/* Read a name that must be known and of this kind. */
rf_status rf_assembler_known(struct rf_assembler *assembler, unsigned kind, const char *what,
                             const struct rf_program_symbol **symbol);
/* "no X is called 'y'; did you mean 'z'?" */
rf_status rf_assembler_unknown(struct rf_assembler *assembler, const struct rf_token *token,
                               const char *what);
/* The register of a constant with this value, a new one where there is none yet. */
rf_status rf_assembler_constant(struct rf_assembler *assembler, const struct rf_token *at,
                                uint64_t value, uint8_t *number);
void rf_assembler_use(struct rf_assembler *assembler, const struct rf_token *label, unsigned what,
                      unsigned at);

/* declare.c: behind a '.'. */
rf_status rf_assembler_declare(struct rf_assembler *assembler);
/* `.b0`, `.h1`, or nothing for the whole word. */
rf_status rf_assembler_lane(struct rf_assembler *assembler, uint8_t *lane);

/* operate.c: one line of operations. */
rf_status rf_assembler_operate(struct rf_assembler *assembler);

/* branch.c: the condition and target of a branch; `compare` is called for `if a < b`. */
rf_status rf_assembler_branch(struct rf_assembler *assembler, struct rf_micro *micro);
/* operate.c: for branch.c: an operand into its code. */
rf_status rf_assembler_operand(struct rf_assembler *assembler, uint8_t *operand);

extern const char *const rf_lane_names[RF_LANE_COUNT];

#endif
