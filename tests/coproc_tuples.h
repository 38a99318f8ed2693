/* coproc_tuples.h - a stream of tuples as loads into a microprogram, and what its slots hold. */
#ifndef RF_TESTS_COPROC_TUPLES_H
#define RF_TESTS_COPROC_TUPLES_H

#include "test.h"
#include "base/random.h"
#include "coproc/coproc.h"

enum { SEEDS = 100, EVENTS = 20000 };

/* What the host reads of a slot. */
struct slot {
    struct rf_tuple tuple;
    uint64_t count;
};

static struct rf_coproc *open_program(const char *text)
{
    struct rf_error error = {""};
    struct rf_coproc *coproc;
    rf_coproc_open(&coproc, text, NULL, &error);
    CHECK_TEXT(error.message, "");
    return coproc;
}

/* Few tuples are heavy, many are light; which ones changes from time to time. */
static void make_stream(struct rf_tuple *tuples, uint64_t seed)
{
    struct rf_random random;
    rf_random_seed(&random, seed);
    for (size_t i = 0; i < EVENTS; i++) {
        if (i > 0 && rf_random_below(&random, 4) == 0) {
            tuples[i] = tuples[i - 1];
            continue;
        }
        uint64_t phase = i / 4000 % 3;
        uint64_t pc = 0x401000 + 4 * rf_random_below(&random, 1 + rf_random_below(&random, 30));
        uint64_t value = rf_random_below(&random, 1 + rf_random_below(&random, 6)) + phase;
        tuples[i] = (struct rf_tuple){pc, rf_random_below(&random, 8) == 0 ? ~value << 20 : value};
    }
}

static enum rf_processor_end run_one(struct rf_coproc *coproc, struct rf_tuple t)
{
    const struct rf_record record = {.kind = RF_CLASS_LOAD, .pc = t.a, .value = t.b};
    return rf_processor_run(coproc->processor, &record);
}

static struct slot read_slot(const struct rf_coproc *coproc, uint32_t slot)
{
    const struct rf_program *program = &coproc->program;
    const struct rf_processor *p = coproc->processor;
    uint64_t high = rf_processor_role(p, rf_program_role(program, "b_high"), slot);
    return (struct slot){
        .tuple = {rf_processor_role(p, rf_program_role(program, "a"), slot),
                  high << 32 | rf_processor_role(p, rf_program_role(program, "b"), slot)},
        .count = rf_processor_role(p, rf_program_role(program, "count"), slot)};
}

#endif
