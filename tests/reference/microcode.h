/* microcode.h - the co-processor as doc/COPROC.md describes it, stage by stage and word by word. */
#ifndef RF_TESTS_MICROCODE_H
#define RF_TESTS_MICROCODE_H

#include "coproc/processor.h"

struct plain_processor {
    const struct rf_program *program;
    uint32_t values[RF_MICRO_VALUES], fields[RF_MICRO_FIELDS], indexes[RF_MICRO_INDEXES], random;
    struct {
        uint32_t key;
        bool valid;
    } match[1024];
    uint32_t data[1024];
    int predictor[RF_MICRO_WORDS];
};

void plain_open(struct plain_processor *plain, const struct rf_program *program, uint32_t random);
/* Cycles of the routine, from its first execution to the next sample's. */
unsigned plain_run(struct plain_processor *plain, const struct rf_record *record,
                   enum rf_processor_end *end);

#endif
