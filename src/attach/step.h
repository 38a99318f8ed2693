/* step.h - one instruction after the other, on the copy of a thread that stands still.
 *
 *     rf_stepper_open(&stepper, alloc, &error);
 *     rf_stepper_begin(stepper, pid, &registers, state, n);      as ptrace gives them
 *     while ((step = rf_stepper_step(stepper, &trail)) == RF_STEPPED_DONE) ...
 *
 * All signals are blocked meanwhile (execute.h). One thread at a time. */
#ifndef RF_ATTACH_STEP_H
#define RF_ATTACH_STEP_H

#include "attach/execute.h"
#include "attach/pages.h"
#include <riffle/event.h>
#include <sys/user.h>

enum rf_stepped {
    RF_STEPPED_DONE,
    RF_STEPPED_KERNEL,  /* a system call is next */
    RF_STEPPED_UNKNOWN, /* an instruction is next that cannot be stepped over */
    RF_STEPPED_UNREADABLE, /* memory that cannot be read, or too much of it; or a division that traps */
};

/* What an instruction did, as records; those of classes that nobody wants are left out. */
enum { RF_TRAIL_MAX = 8 };
struct rf_trail {
    uint32_t classes; /* wanted, 1 << enum rf_class */
    uint16_t thread;
    struct rf_record records[RF_TRAIL_MAX];
    size_t n;
};

struct rf_stepper;

rf_status rf_stepper_open(struct rf_stepper **stepper, const struct rf_alloc *alloc,
                          struct rf_error *error);
void rf_stepper_close(struct rf_stepper *stepper); /* NULL is fine */

/* The vector and floating-point registers are read into this before. */
unsigned char *rf_stepper_state(struct rf_stepper *stepper); /* RF_EXECUTE_STATE_MAX bytes */
void rf_stepper_begin(struct rf_stepper *stepper, pid_t pid,
                      const struct user_regs_struct *registers);

/* Where it stands now. What was not done left no trace, but for the records in the trail. */
enum rf_stepped rf_stepper_step(struct rf_stepper *stepper, struct rf_trail *trail);
uint64_t rf_stepper_pc(const struct rf_stepper *stepper);
const uint64_t *rf_stepper_registers(const struct rf_stepper *stepper); /* 16, and the flags */
struct rf_pages *rf_stepper_pages(struct rf_stepper *stepper);

#endif
