/* inside.h - the machine as its own files see it. */
#ifndef RF_MACHINE_INSIDE_H
#define RF_MACHINE_INSIDE_H

#include "machine/handler.h"
#include "machine/hooks.h"
#include "machine/linux/loader.h"
#include "machine/linux/system.h"
#include "machine/records.h"
#include "machine/stack.h"
#include "machine/timing/timing.h"
#include "base/random.h"
#include "source/source.h"
#include <limits.h>

/* Instructions that run before the timing model looks at them: a loop over many of them is faster
 * than a call for each. */
enum { TIMED_TOGETHER = 256 };

/* Records of a group that runs without timing: few enough to be in the first cache still when a hook looks at them. */
enum { RECORDS_TOGETHER = 512 };

enum { STACK_PERIOD = 100000 }; /* unless the setup says another */

struct machine {
    struct rf_source base;
    struct rf_machine_setup setup;
    struct rf_core core;
    struct rf_system system;
    struct rf_loader_program program;
    char path[PATH_MAX]; /* of the program's file */
    struct rf_timing *timing;
    struct rf_machine_hooks hooks;
    struct rf_handler handler;
    bool core_open;
    bool yields; /* records have to be handed out before it goes on */
    bool ended;  /* nothing more will run */
    bool told;   /* and the hooks know of it */
    bool cut;    /* but it could have: the limit of instructions ended it */
    int exit_status;
    double seconds;
    char fault[160];
    size_t n_retired; /* have run and are not settled yet */
    struct rf_retired retired[TIMED_TOGETHER];
    uint32_t cycles[TIMED_TOGETHER];         /* that each of them took, where that is asked for */
    size_t first_record[TIMED_TOGETHER + 1]; /* of each of them, and the end */
    struct rf_stack stack;
    uint64_t next_sample; /* of the stack, in instructions; UINT64_MAX: never */
    struct rf_random random;
    size_t n_records;
    struct rf_record
        records[RF_SOURCE_BATCH + TIMED_TOGETHER * RF_RECORDS_EACH + RF_MACHINE_EMIT_MAX];
};

/* A sequence put in at decode has stopped the core to call a handler: it is to be entered next. */
void rf_machine_begin_call(struct machine *machine);

#endif
