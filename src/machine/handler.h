/* handler.h - a guest function that runs between two instructions of the program. */
#ifndef RF_MACHINE_HANDLER_H
#define RF_MACHINE_HANDLER_H

#include "machine/core/core.h"

enum { RF_HANDLER_ARGUMENTS = 8 };

/* All zero to begin with. */
struct rf_handler {
    bool pending, running;
    bool called; /* by a sequence put in at decode; false: a trap */
    uint64_t entry, arguments[RF_HANDLER_ARGUMENTS];
    uint64_t home;              /* guest address of its ebreak and stack; 0: not made yet */
    uint64_t x[RF_REG_COUNT];   /* the program's registers while it runs */
    uint64_t pc, program_count; /* the program's: where it goes on, what it had run */
    uint32_t frm, fflags;
    bool reserved;
    uint64_t reserved_address;
    uint32_t state;               /* that the program's code is decoded for */
    const struct rf_step *rest;   /* of the program's instruction that called it */
    uint64_t traps, instructions; /* traps taken; instructions run by handlers */
};

/* Make the stack and the ebreak that it returns to. False: the guest's memory has no room. */
bool rf_handler_open(struct rf_handler *handler, struct rf_memory *memory);
/* At the boundary of two instructions, with a trap pending. */
void rf_handler_enter(struct rf_handler *handler, struct rf_core *core);
/* The core has stopped at the ebreak that ends it. */
void rf_handler_leave(struct rf_handler *handler, struct rf_core *core);

#endif
