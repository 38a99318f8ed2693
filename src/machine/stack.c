/* stack.c - push at a call, pop at a return. */
#include "machine/stack.h"
#include <stdbool.h>

static uint64_t kept(const struct rf_stack *stack)
{
    return stack->depth < RF_STACK_MAX ? stack->depth : RF_STACK_MAX;
}

/* Calls are two or four bytes long. */
static bool returns_behind(uint64_t site, uint64_t target)
{
    return target - site == 2 || target - site == 4;
}

static void pop(struct rf_stack *stack, uint64_t target)
{
    if (stack->depth > RF_STACK_MAX) { /* its site is not known: taken to match */
        stack->depth--;
        return;
    }
    for (uint64_t n = stack->depth; n > 0; n--)
        if (returns_behind(stack->site[n - 1], target)) {
            stack->depth = n - 1;
            return;
        }
}

void rf_stack_see(struct rf_stack *stack, const struct rf_record *record)
{
    if (record->kind == RF_CLASS_RETURN)
        pop(stack, record->target);
    if (record->kind != RF_CLASS_CALL)
        return;
    if (stack->depth < RF_STACK_MAX)
        stack->site[stack->depth] = record->pc;
    stack->depth++;
}

size_t rf_stack_frames(const struct rf_stack *stack, uint64_t pc, struct rf_record *out)
{
    size_t n = kept(stack);
    uint64_t context = 0;
    for (size_t i = 0; i <= n; i++) {
        uint64_t at = i < n ? stack->site[i] : pc;
        out[i] = (struct rf_record){.kind = RF_CLASS_FRAME, .pc = at, .value = context};
        context = rf_context_below(context, at);
    }
    return n + 1;
}
