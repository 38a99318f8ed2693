/* processor.h - the co-processor itself: a sample in, its routine run, cycles counted.
 *
 *     rf_processor_open(&processor, &program, seed, alloc);
 *     switch (rf_processor_run(processor, &record)) ...
 *
 * Fetch, decode, execute: one microinstruction per cycle, and two cycles lost for each branch that was
 * predicted wrongly. All latencies are fixed, so cycles are counted while instructions run, without
 * stepping stages; tests/reference/microcode.c does step them, and agrees. */
#ifndef RF_COPROC_PROCESSOR_H
#define RF_COPROC_PROCESSOR_H

#include "coproc/associative.h"
#include "coproc/program.h"
#include <riffle/alloc.h>
#include <riffle/coproc.h>

enum rf_processor_end {
    RF_PROCESSOR_DONE,
    RF_PROCESSOR_INTERRUPT,
    RF_PROCESSOR_OVERRUN, /* it did not come to an end in RF_PROCESSOR_CYCLES: the sample is given up */
};

enum {
    RF_PROCESSOR_CYCLES = RF_COPROC_CYCLES, /* for one sample, at the most */
    RF_PROCESSOR_FILL = 2, /* cycles from a sample in an idle machine to its first execution */
    RF_PROCESSOR_MISPREDICT = 2,
};

/* A microinstruction with its registers looked up. */
struct rf_processor_step {
    struct rf_micro micro;
    uint16_t target;     /* word, or one of the two below */
    uint8_t conditional; /* the prediction matters */
    uint8_t random;      /* it reads the random number */
    uint8_t kind;        /* of operation, for one that is alone */
    uint8_t asks;        /* the signal that the branch depends on */
    uint32_t match_first, match_mask;
    uint32_t data_first, data_mask;
    uint32_t index_mask;  /* of index_to */
    uint32_t found_mask;  /* of match_index */
    uint32_t key_mask;    /* of match_key, when it is read into */
    uint32_t result_mask; /* of data_to */
    uint32_t lane_mask;
    uint8_t lane_shift;
    uint8_t data_to; /* operand code */
};
enum { RF_STEP_DONE = 0xfffe, RF_STEP_INTERRUPT = 0xffff };

/* A field, ready to be cut. */
struct rf_processor_field {
    uint8_t word, shift, a, b;
    uint32_t mask;
};

struct rf_hash_paper;

struct rf_processor {
    uint32_t x[RF_OPERAND_COUNT]; /* all that can be read, by operand code */
    struct rf_processor_step steps[RF_MICRO_WORDS];
    uint8_t predictor[RF_MICRO_WORDS]; /* 0, 1: not taken; 2, 3: taken */
    struct rf_associative match;
    uint32_t *data;
    const struct rf_program *program;
    uint16_t entries
        [RF_OPCODE_COUNT]; /* where samples begin; as the program has it, until the host changes it */
    struct rf_processor_field fields[RF_MICRO_FIELDS];
    unsigned n_fields;
    struct rf_hash_paper *hashes; /* one for each field that is a hash */
    uint32_t leap[4]
                 [256]; /* 32 steps of the shift register at once: the xor of one word per byte */
    uint64_t cycles, instructions, mispredicts, overruns;
    unsigned
        overrun_at; /* the instruction that would have been next when the last one was given up */
    struct rf_alloc alloc;
    size_t bytes; /* of the block */
};

/* The program must outlive it. */
rf_status rf_processor_open(struct rf_processor **processor, const struct rf_program *program,
                            uint64_t seed, const struct rf_alloc *alloc);
void rf_processor_close(struct rf_processor *processor); /* NULL is fine */

/* Everything as at the start but the random number and the counts of cycles. */
void rf_processor_reset(struct rf_processor *processor);

/* The record's class must have an entry. */
enum rf_processor_end rf_processor_run(struct rf_processor *processor,
                                       const struct rf_record *record);

/* What the host reads of slot i: the part of an array that a role names. */
uint32_t rf_processor_role(const struct rf_processor *processor, int role, uint32_t slot);
/* As many slots as the smallest of the parts has words; 0: no roles. */
uint32_t rf_processor_slots(const struct rf_processor *processor);
/* A word of the record, as fields are cut from it. */
uint64_t rf_processor_word(const struct rf_record *record, unsigned word);

#endif
