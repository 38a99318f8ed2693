/* predictor.h - gshare for directions, a tagged table for targets, a stack for returns. */
#ifndef RF_MACHINE_PREDICTOR_H
#define RF_MACHINE_PREDICTOR_H

#include "machine/isa/isa.h"
#include <stdbool.h>

enum { RF_PREDICTOR_HISTORY_MAX = 20, RF_PREDICTOR_BTB_MAX = 65536, RF_PREDICTOR_RAS_MAX = 64 };

struct rf_predictor {
    unsigned history_bits, btb_entries, ras_entries;
    uint64_t history;
    unsigned ras_top;
    uint64_t ras[RF_PREDICTOR_RAS_MAX];
    uint8_t *direction; /* 2-bit counters, 1 << history_bits */
    struct rf_btb_entry {
        uint64_t pc, target;
    } * btb;
};

enum rf_prediction {
    RF_PREDICTED,      /* right, at fetch */
    RF_PREDICTED_LATE, /* right, but the direct target was found at decode */
    RF_MISPREDICTED,   /* found wrong at execution */
};

/* Predict one transfer of control, then learn what it did. */
enum rf_prediction rf_predictor_see(struct rf_predictor *predictor, const struct rf_insn *insn,
                                    uint64_t pc, uint64_t next_pc);

/* A call that needs no prediction: its return is predicted all the same. */
void rf_predictor_push(struct rf_predictor *predictor, uint64_t return_address);

#endif
