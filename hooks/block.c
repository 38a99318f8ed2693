/* block.c - blocks: what compilers call with -fsanitize-coverage=trace-pc (gcc, clang) and trace-pc-guard, indirect-calls
 * (clang).
 *
 * An edge is a pair of blocks that a thread runs one after the other, told as a branch from the first to the second. A
 * call and a return are such pairs, too. */
#include "hooks.h"

#define HERE ((uint64_t)(uintptr_t)__builtin_return_address(0))

static void enter_block(uint64_t pc)
{
    if (RF_HOOKS_LIKELY(!rf_hooks_listening) ||
        rf_hooks_options.mode[RF_WORD_BRANCH] == RF_HOOKS_OFF)
        return;
    struct rf_hooks_lane *lane = rf_hooks_enter();
    if (lane == NULL)
        return;
    if (lane->last_block != 0)
        rf_hooks_tell(lane, rf_hooks_key(pc, RF_WORD_BRANCH, 0), lane->last_block, 0, 0);
    lane->last_block = pc;
    rf_hooks_leave(lane);
}

void __sanitizer_cov_trace_pc(void);
RF_HOOKS_SHOWN void __sanitizer_cov_trace_pc(void)
{
    enter_block(HERE);
}

void __sanitizer_cov_trace_pc_guard(uint32_t *guard);
RF_HOOKS_SHOWN void __sanitizer_cov_trace_pc_guard(uint32_t *guard)
{
    (void)guard;
    enter_block(HERE);
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
