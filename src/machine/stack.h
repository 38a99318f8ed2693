/* stack.h - the call stack of the guest, from its calls and returns.
 *
 *     call at 0x100 -> call at 0x240 -> ... -> pc        frames, the outermost first
 *
 * A return takes away the call that it returns behind, with all that were made since: longjmp and exceptions
 * leave frames without returning from them. A return to any other place is left alone. */
#ifndef RF_MACHINE_STACK_H
#define RF_MACHINE_STACK_H

#include <riffle/event.h>

enum { RF_STACK_MAX = 256 }; /* frames; of a deeper stack, the outermost ones are kept */

struct rf_stack {
    uint64_t depth; /* may be more than is kept */
    uint64_t site[RF_STACK_MAX];
};

/* A record, of any class, in the order of execution. */
void rf_stack_see(struct rf_stack *stack, const struct rf_record *record);

/* The frames when `pc` is about to run, which is the last of them. Returns how many, RF_STACK_MAX + 1 at most. */
size_t rf_stack_frames(const struct rf_stack *stack, uint64_t pc, struct rf_record *out);

#endif
