/* The call stack of the simulated machine: calls, returns, and what leaves frames without returning. */
#include "machine/stack.h"
#include "test.h"

static struct rf_stack stack;
static struct rf_record frames[RF_STACK_MAX + 1];

static void call(uint64_t pc)
{
    rf_stack_see(&stack, &(struct rf_record){.kind = RF_CLASS_CALL, .pc = pc, .target = 0x9000});
}

static void return_to(uint64_t target)
{
    rf_stack_see(&stack, &(struct rf_record){.kind = RF_CLASS_RETURN, .pc = 1, .target = target});
}

/* The pcs of the frames, the outermost first, closed by 0. */
static void check_stack(const char *label, uint64_t pc, const uint64_t *sites)
{
    size_t n = rf_stack_frames(&stack, pc, frames), i = 0;
    uint64_t context = 0;
    for (; sites[i] != 0; i++) {
        CHECK_ROW(label, i < n && frames[i].pc == sites[i]);
        CHECK_ROW(label, frames[i].kind == RF_CLASS_FRAME && frames[i].value == context);
        context = rf_context_below(context, sites[i]);
    }
    CHECK_ROW(label, i == n);
}

#define STACK(label, pc, ...) check_stack(label, pc, (const uint64_t[]){__VA_ARGS__, 0})

TEST(calls_and_returns)
{
    stack.depth = 0;
    STACK("at the start", 0x10, 0x10);
    call(0x100);
    call(0x200);
    STACK("two calls", 0x304, 0x100, 0x200, 0x304);
    return_to(0x204);
    STACK("back by one", 0x208, 0x100, 0x208);
    call(0x240);
    return_to(0x242); /* a call of two bytes */
    STACK("a short call", 0x250, 0x100, 0x250);
    rf_stack_see(&stack, &(struct rf_record){.kind = RF_CLASS_LOAD, .pc = 0x100});
    STACK("other records change nothing", 0x250, 0x100, 0x250);
}

TEST(a_jump_out_of_several_frames)
{
    stack.depth = 0;
    call(0x100);
    call(0x200);
    call(0x300);
    return_to(0x104); /* longjmp */
    STACK("three frames left at once", 0x104, 0x104);
    call(0x100);
    return_to(0x7777);
    STACK("a return to nowhere that called", 0x7777, 0x100, 0x7777);
}

TEST(a_stack_that_is_too_deep_keeps_its_outer_frames)
{
    stack.depth = 0;
    for (uint64_t i = 0; i < 2 * RF_STACK_MAX; i++)
        call(0x1000 + 8 * i);
    CHECK_EQ(rf_stack_frames(&stack, 0x10, frames), RF_STACK_MAX + 1);
    CHECK_EQ(frames[0].pc, 0x1000);
    CHECK_EQ(frames[RF_STACK_MAX - 1].pc, 0x1000 + 8 * (RF_STACK_MAX - 1));
    CHECK_EQ(frames[RF_STACK_MAX].pc, 0x10);
    for (uint64_t i = 2 * RF_STACK_MAX; i > 1; i--)
        return_to(0x1004 + 8 * (i - 1));
    STACK("all but one returned", 0x20, 0x1000, 0x20);
}

TEST(contexts_tell_stacks_apart)
{
    CHECK(rf_context_below(0, 1) != 0);
    CHECK(rf_context_below(0, 1) != rf_context_below(0, 2));
    CHECK(rf_context_below(rf_context_below(0, 1), 2) !=
          rf_context_below(rf_context_below(0, 2), 1));
}

TEST_MAIN()
