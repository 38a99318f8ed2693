/* core.c - opening a core and the loop around its blocks. */
#include "machine/core/core.h"
#include "machine/core/block.h"
#include "base/alloc.h"
#include "base/error.h"
#include <string.h>

rf_status rf_core_open(struct rf_core *core, const struct rf_alloc *alloc, struct rf_error *error)
{
    memset(core, 0, sizeof *core);
    core->alloc = *rf_alloc_or_standard(alloc);
    core->budget = UINT64_MAX;
    core->blocks = rf_alloc_get(&core->alloc, sizeof *core->blocks);
    if (core->blocks == NULL)
        return rf_fail(error, RF_ENOMEM, "no memory for the simulated core's decoded code");
    core->blocks->chunks = NULL;
    rf_block_flush(core);
    rf_status status = rf_memory_open(&core->memory, error);
    if (status != RF_OK)
        rf_alloc_free(&core->alloc, core->blocks, sizeof *core->blocks);
    return status;
}

void rf_core_close(struct rf_core *core)
{
    rf_block_flush(core);
    rf_alloc_free(&core->alloc, core->blocks, sizeof *core->blocks);
    rf_memory_close(&core->memory);
}

void rf_core_flush(struct rf_core *core)
{
    core->stale = true;
}

void rf_core_enter(struct rf_core *core)
{
    rf_fp_enter(&core->host, core->fflags);
    core->running = true;
    core->stop = RF_STOP_NONE;
}

void rf_core_leave(struct rf_core *core)
{
    core->fflags = rf_fp_leave(&core->host);
    core->running = false;
}

uint32_t rf_core_flags(const struct rf_core *core)
{
    return core->running ? rf_fp_flags() : core->fflags;
}

void rf_core_set_flags(struct rf_core *core, uint32_t fflags)
{
    if (core->running)
        rf_fp_set_flags(fflags);
    else
        core->fflags = fflags;
}

void rf_core_go_to(struct rf_core *core, uint64_t pc)
{
    core->pc = pc;
    core->cursor = NULL;
    core->linking = NULL;
    core->rest = NULL;
}

static void set_chained(struct rf_core *core, bool chained, uint32_t recorded)
{
    core->stale |= core->chained != chained || core->recording.classes != recorded;
    core->chained = chained;
    core->recording.classes = recorded;
}

void rf_core_unchain(struct rf_core *core)
{
    set_chained(core, false, 0);
}

/* The block at pc, linked to the jump that wanted it. */
static struct rf_step *next_block(struct rf_core *core)
{
    if (core->stale)
        rf_block_flush(core);
    struct rf_step *block = rf_block_find(core, core->pc);
    if (core->linking != NULL)
        core->linking->link = block;
    core->linking = NULL;
    return block;
}

static const struct rf_step *take_rest(struct rf_core *core)
{
    const struct rf_step *rest = core->rest;
    core->rest = NULL;
    return rest;
}

const struct rf_step *rf_core_find(struct rf_core *core)
{
    const struct rf_step *step = core->cursor;
    if (core->rest != NULL)
        return core->cursor = take_rest(core);
    if (core->stale || step == NULL || step->run != rf_execute_enter)
        step = next_block(core);
    return core->cursor = step != NULL ? step + 1 : NULL; /* past `enter` */
}

/* The last few instructions of a budget that ends inside a block. */
static void run_to_budget(struct rf_core *core)
{
    rf_core_unchain(core);
    core->cursor = NULL;
    while (core->stop == RF_STOP_NONE && core->instructions < core->budget) {
        const struct rf_step *step = rf_core_peek(core);
        if (step != NULL)
            rf_core_step(core, step);
    }
    core->cursor = NULL;
    if (core->stop == RF_STOP_NONE)
        core->stop = RF_STOP_BUDGET;
}

static void run_blocks(struct rf_core *core)
{
    core->cursor = NULL;
    while (core->stop == RF_STOP_NONE) {
        const struct rf_step *step = core->rest != NULL ? take_rest(core) : next_block(core);
        core->instructions += step != NULL && step->is_inside ? step->left : 0;
        while (step != NULL)
            step = step->run(core, step);
    }
}

void rf_core_run_recording(struct rf_core *core, uint32_t classes, struct rf_record **to,
                           const struct rf_record *full)
{
    uint64_t budget = core->budget;
    rf_core_enter(core);
    set_chained(core, true, classes);
    core->recording.next = *to;
    core->recording.full = full;
    run_blocks(core);
    *to = core->recording.next;
    core->budget = budget; /* whoever puts down the last record spends it */
    rf_core_leave(core);
}

void rf_core_run(struct rf_core *core)
{
    rf_core_enter(core);
    set_chained(core, true, 0);
    run_blocks(core);
    if (core->stop == RF_STOP_BUDGET) {
        core->stop = RF_STOP_NONE;
        run_to_budget(core);
    }
    rf_core_leave(core);
}
