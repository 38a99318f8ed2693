/* block.c - blocks: what compilers call with -fsanitize-coverage=trace-pc (gcc, clang) and trace-pc-guard, indirect-calls
 * (clang).
 *
 * An edge is a pair of blocks that a thread runs one after the other, told as a branch from the first to the second. A
 * call and a return are such pairs, too. */
#include "hooks.h"

RF_HOOKS_APART static void tell_block(uint64_t pc)
{
    struct rf_hooks_lane *lane = rf_hooks_lane;
    uint64_t before = lane != NULL ? lane->last_block : 0;
    const struct rf_hooks_event event = {.pc = pc, .from = before, .kind = RF_WORD_BRANCH};
    if (before != 0)
        rf_hooks_tell(rf_hooks_pair(pc, before), &event);
    else if (lane == NULL)
        lane = rf_hooks_find_lane(rf_hooks_stack());
    if (lane != NULL)
        lane->last_block = pc;
}

RF_HOOKS_INLINE void enter_block(uint64_t pc)
{
    if (RF_HOOKS_UNLIKELY(rf_hooks_mode[RF_WORD_BRANCH] != RF_HOOKS_OFF))
        tell_block(pc);
}

void __sanitizer_cov_trace_pc(void);
RF_HOOKS_SHOWN void __sanitizer_cov_trace_pc(void)
{
    enter_block(RF_HOOKS_HERE);
}

void __sanitizer_cov_trace_pc_guard(uint32_t *guard);
RF_HOOKS_SHOWN void __sanitizer_cov_trace_pc_guard(uint32_t *guard)
{
    (void)guard;
    enter_block(RF_HOOKS_HERE);
}

/* Guards need no numbers: blocks are known by their addresses. */
void __sanitizer_cov_trace_pc_guard_init(uint32_t *start, uint32_t *end);
RF_HOOKS_SHOWN void __sanitizer_cov_trace_pc_guard_init(uint32_t *start, uint32_t *end)
{
    (void)start;
    (void)end;
}

/* Calls are told where they arrive (__tsan_func_entry), with the place that they come from. */
void __sanitizer_cov_trace_pc_indir(void *callee);
RF_HOOKS_SHOWN void __sanitizer_cov_trace_pc_indir(void *callee)
{
    (void)callee;
}
