/* productions.h - what stands behind <riffle/productions.h>. */
#ifndef RF_DISE_PRODUCTIONS_H
#define RF_DISE_PRODUCTIONS_H

#include "dise/production.h"
#include <riffle/alloc.h>
#include <riffle/productions.h>

enum { RF_DISE_CHANGES = 64, RF_DISE_CHANGE_TEXT = 128 };

/* A register gets another value when the program has run `at` instructions. */
struct rf_dise_change {
    uint64_t at;
    char text[RF_DISE_CHANGE_TEXT];
};

/* Functions that the probe finds when it runs. Until then each stands for an address that no program has. */
#define RF_DISE_FUNCTION_AT(i) ((UINT64_C(1) << 62) + ((uint64_t)(i) << 32))

struct rf_productions {
    struct rf_alloc alloc;
    size_t n_functions;
    char functions[RF_DISE_FUNCTIONS][RF_DISE_FUNCTION];
    struct rf_dise_program program;
    size_t n_changes;
    struct rf_dise_change changes[RF_DISE_CHANGES]; /* in order of time */
    /* Other values while what the program does is new (base/phases.h), of the registers in the mask. */
    char selectors[RF_DISE_PROFILES][128]; /* of what each tells; "": it tells nothing */
    uint64_t seed;                         /* of the values that are random */
    uint32_t new_mask;
    struct rf_dise_register new_values[RF_DISE_REGISTERS];
};

/* Which of the handlers the profile calls; -1: none. */
int rf_dise_handler_of(const struct rf_dise_program *program, unsigned profile);

/* The profile was read: what does it tell? */
rf_status rf_dise_complete(struct rf_productions *productions, struct rf_error *error);

/* Do all values that counters are set to fit counters of this many bits? The second: also those of later on. */
rf_status rf_dise_check_registers(const struct rf_dise_program *program, unsigned counter_bits,
                                  struct rf_error *error);
rf_status rf_dise_check_values(struct rf_productions *productions, unsigned counter_bits,
                               struct rf_error *error);

#endif
