/* block.c - decoding code into blocks of steps.
 *
 *     enter | addi | ld | beq --taken--> another block's enter
 *                        | add | jalr
 *     enter | addi | ... 64 instructions ... | goto --> the next block's enter
 *
 * A block runs on past conditional branches and ends at an unconditional transfer, a system instruction, an
 * illegal one or after BLOCK_MAX. An instruction may be expanded into a sequence; it still counts as one. Steps are
 * taken from chunks. All chunks are given back together: when code has changed, and when there are CHUNKS_MAX of them,
 * since a guest may make code without end.
 *
 * Memory: 0.5 MiB of table and at most CHUNKS_MAX * CHUNK_STEPS * 48 bytes, 24 MiB. */
#include "machine/core/block.h"
#include "machine/records.h"
#include "base/alloc.h"
#include <assert.h>
#include <string.h>

enum { BLOCK_MAX = RF_CORE_BLOCK, CHUNK_STEPS = 8192, CHUNKS_MAX = 64 };

struct rf_block_chunk {
    struct rf_block_chunk *next;
    struct rf_step steps[CHUNK_STEPS];
};

void rf_block_flush(struct rf_core *core)
{
    struct rf_blocks *blocks = core->blocks;
    while (blocks->chunks != NULL) {
        struct rf_block_chunk *chunk = blocks->chunks;
        blocks->chunks = chunk->next;
        rf_alloc_free(&core->alloc, chunk, sizeof *chunk);
    }
    memset(blocks->table, 0, sizeof blocks->table);
    blocks->used = CHUNK_STEPS;
    blocks->n_chunks = 0;
    core->linking = NULL;
    core->cursor = NULL;
    core->stale = false;
}

/* Room for the longest block. */
static struct rf_step *get_steps(struct rf_core *core)
{
    struct rf_blocks *blocks = core->blocks;
    if (blocks->used + BLOCK_MAX + RF_BLOCK_STEPS_EACH + 2 > CHUNK_STEPS) {
        if (blocks->n_chunks == CHUNKS_MAX)
            rf_block_flush(core);
        struct rf_block_chunk *chunk = rf_alloc_get(&core->alloc, sizeof *chunk);
        if (chunk == NULL)
            return NULL;
        chunk->next = blocks->chunks;
        blocks->chunks = chunk;
        blocks->n_chunks++;
        blocks->used = 0;
    }
    return &blocks->chunks->steps[blocks->used];
}

/* The instruction at pc; false: it is not in executable memory. */
static bool fetch(const struct rf_core *core, uint64_t pc, struct rf_insn *insn)
{
    uint16_t low, high = 0;
    const uint8_t *at = rf_memory_at(&core->memory, pc, 2, RF_EXECUTE);
    if (at == NULL || (pc & 1) != 0)
        return false;
    memcpy(&low, at, 2);
    if ((low & 3) == 3) {
        at = rf_memory_at(&core->memory, pc + 2, 2, RF_EXECUTE);
        if (at == NULL)
            return false;
        memcpy(&high, at, 2);
    }
    *insn = rf_insn_decode((uint32_t)high << 16 | low);
    return true;
}

static bool ends_block(const struct rf_insn *insn)
{
    return insn->kind == RF_OP_CLASS_JUMP || insn->kind == RF_OP_CLASS_SYSTEM ||
           insn->kind == RF_OP_CLASS_FENCE;
}

static struct rf_step make_step(rf_step_run *run, const struct rf_insn *insn, uint64_t pc)
{
    return (struct rf_step){.run = run, .insn = *insn, .pc = pc};
}

/* --- the steps of an instruction ----------------------------------------------------------------- */

/* Where steps of one instruction are written to. */
struct layout {
    const struct rf_core *core;
    const struct rf_expansion *expansion;
    struct rf_step *steps;
    unsigned n;
    unsigned start[RF_EXPAND_MAX + 1]; /* of each item of the expansion, and the end */
    uint64_t pc;
    uint8_t length;
    bool replaced; /* false: the instruction stays as it is */
};

/* How many steps each kind of item takes. */
static const uint8_t steps_of[] = {[RF_PUT_CODE] = 1,   [RF_PUT_OWN] = 1,  [RF_PUT_SKIP] = 3,
                                   [RF_PUT_LIKELY] = 3, [RF_PUT_PASS] = 2, [RF_PUT_CALL] = 1};

static struct rf_step *add_step(struct layout *layout, unsigned item, rf_step_run *run)
{
    const struct rf_expansion *expansion = layout->expansion;
    struct rf_step *step = &layout->steps[layout->n++];
    *step = make_step(run, &expansion->insn[item], layout->pc);
    step->insn.length = layout->length;
    step->is_instruction = step->is_inside = true;
    step->entry = item > 0 ? RF_ENTRY_INJECTED : RF_ENTRY_FETCHED;
    if (item == 0 && layout->replaced && layout->core->expansion_pauses)
        step->entry = RF_ENTRY_EXPANDED;
    return step;
}

static rf_step_run *run_of(const struct layout *layout, unsigned item)
{
    if (layout->expansion->tally != 0)
        return layout->core->chained ? rf_execute_tallied_chained : rf_execute_tallied;
    rf_step_run *const *table = layout->core->chained ? rf_execute_chained : rf_execute_table;
    return table[layout->expansion->insn[item].op];
}

/* Steps from the one to be written next to the item that a branch goes to. */
static uint32_t ahead(const struct layout *layout, unsigned item)
{
    unsigned to = item + (unsigned)layout->expansion->insn[item].imm;
    assert(to > item && to <= layout->expansion->n);
    return layout->start[to] - layout->n;
}

/* A branch within the sequence. The step `choose` does not count as an instruction; the step that it goes to does. */
static void add_branch(struct layout *layout, unsigned item)
{
    unsigned put = layout->expansion->put[item];
    struct rf_step *choose = add_step(layout, item, rf_execute_choose);
    choose->is_instruction = false;
    choose->which = put != RF_PUT_PASS;
    if (put != RF_PUT_PASS)
        add_step(layout, item, rf_execute_stay)->insn.kind =
            put == RF_PUT_LIKELY ? RF_OP_CLASS_SKIP : RF_OP_CLASS_ALU;
    uint32_t steps = ahead(layout, item);
    struct rf_step *leave = add_step(layout, item, rf_execute_ahead);
    leave->insn.kind = put == RF_PUT_SKIP ? RF_OP_CLASS_SKIP : RF_OP_CLASS_ALU;
    leave->which = steps;
}

/* Classes whose steps write their records themselves. */
static uint32_t recorded_classes(const struct rf_core *core)
{
    return core->chained && core->state != RF_STATE_HANDLER ? core->recording.classes : 0;
}

static void add_own(struct layout *layout, unsigned item)
{
    struct rf_step *step = add_step(layout, item, run_of(layout, item));
    step->classes = rf_records_classes(&step->insn);
    if ((step->classes & recorded_classes(layout->core)) != 0)
        step->run = rf_execute_recorded[step->insn.op];
    step->which = layout->expansion->tally;
}

static void add_item(struct layout *layout, unsigned item)
{
    const struct rf_insn *insn = &layout->expansion->insn[item];
    switch (layout->expansion->put[item]) {
    case RF_PUT_OWN:
        add_own(layout, item);
        break;
    case RF_PUT_CODE:
        assert(!ends_block(insn) && insn->kind != RF_OP_CLASS_BRANCH);
        add_step(layout, item, run_of(layout, item));
        break;
    case RF_PUT_CALL:
        add_step(layout, item, rf_execute_call)->insn.kind = RF_OP_CLASS_SKIP;
        break;
    default:
        add_branch(layout, item);
    }
}

static void add_watch(struct layout *layout)
{
    struct rf_step *watch = add_step(layout, 0, rf_execute_watch);
    watch->is_instruction = false;
    watch->entry = RF_ENTRY_FETCHED;
    watch->which = layout->expansion->watch;
}

/* Returns false if the instruction stays as it is. */
static bool get_expansion(const struct rf_core *core, const struct rf_insn *insn, uint64_t pc,
                          struct rf_expansion *expansion)
{
    expansion->n = 0;
    expansion->watch = 0;
    expansion->tally = 0;
    if (core->expand != NULL && core->state != RF_STATE_HANDLER)
        core->expand(core->expand_context, insn, pc, core->state, expansion);
    assert(expansion->n <= RF_EXPAND_MAX);
    assert(expansion->tally == 0 || (expansion->n == 0 && expansion->watch == 0));
    if (expansion->n > 0)
        return true;
    expansion->n = 1;
    expansion->put[0] = RF_PUT_OWN;
    expansion->insn[0] = *insn;
    return false;
}

/* The steps of one instruction: itself or what it is expanded to. Returns how many. */
static unsigned make_steps(const struct rf_core *core, struct rf_step *steps,
                           const struct rf_insn *insn, uint64_t pc)
{
    struct rf_expansion expansion;
    struct layout layout = {
        .core = core, .expansion = &expansion, .steps = steps, .pc = pc, .length = insn->length};
    layout.replaced = get_expansion(core, insn, pc, &expansion);
    unsigned at = expansion.watch != 0;
    for (unsigned i = 0; i < expansion.n; i++) {
        layout.start[i] = at;
        at += steps_of[expansion.put[i]];
    }
    layout.start[expansion.n] = at;
    if (expansion.watch != 0)
        add_watch(&layout);
    for (unsigned i = 0; i < expansion.n; i++)
        add_item(&layout, i);
    for (unsigned i = 0; i < layout.n; i++)
        steps[i].rest = (uint8_t)(layout.n - 1 - i);
    return layout.n;
}

const struct rf_step *rf_block_detour(struct rf_core *core, const struct rf_step *step)
{
    struct rf_step *detour = core->blocks->detour;
    unsigned n = step->rest;
    if (step >= detour && step <= detour + RF_BLOCK_STEPS_EACH)
        return n > 0 ? step + 1 : NULL;
    if (n == 0)
        return NULL;
    for (unsigned i = 0; i < n; i++) {
        detour[i] = step[1 + i];
        detour[i].left = 1; /* a block of its own */
        detour[i].link = NULL;
    }
    detour[n] = make_step(rf_execute_goto, &step->insn, step->pc + step->insn.length);
    return detour;
}

/* --- blocks -------------------------------------------------------------------------------------- */

/* Decode from pc into steps[1..]; returns how many steps. */
static unsigned decode_block(const struct rf_core *core, struct rf_step *steps, uint64_t pc)
{
    unsigned n = 0, instructions = 0;
    struct rf_insn insn = {0};
    while (n < BLOCK_MAX && fetch(core, pc, &insn)) {
        unsigned more = make_steps(core, &steps[n + 1], &insn, pc);
        for (unsigned i = 1; i <= more; i++)
            steps[n + i].left = (uint16_t)instructions; /* turned around below */
        n += more;
        instructions++;
        pc += insn.length;
        if (ends_block(&insn))
            break;
    }
    steps[n + 1] = make_step(rf_execute_goto, &insn, pc);
    for (unsigned i = 1; i <= n; i++)
        steps[i].left = (uint16_t)(instructions - steps[i].left);
    return n;
}

/* The block at pc if it is decoded for the state, moved to the front of its place. */
static struct rf_step *find_decoded(struct rf_blocks *blocks, uint64_t pc, uint32_t state)
{
    struct rf_step **place = rf_block_place(blocks, pc, state);
    for (struct rf_step **at = place; *at != NULL; at = &(*at)->link) {
        struct rf_step *block = *at;
        if (block->pc != pc || block->which != state)
            continue;
        *at = block->link;
        block->link = *place;
        *place = block;
        return block;
    }
    return NULL;
}

struct rf_step *rf_block_find(struct rf_core *core, uint64_t pc)
{
    struct rf_step *block = find_decoded(core->blocks, pc, core->state);
    if (block != NULL)
        return block;
    struct rf_step *steps = get_steps(core);
    unsigned n = steps != NULL ? decode_block(core, steps, pc) : 0;
    if (n == 0) {
        core->stop = steps != NULL ? RF_STOP_FETCH : RF_STOP_MEMORY;
        return NULL;
    }
    struct rf_step **place = rf_block_place(core->blocks, pc, core->state);
    steps[0] = make_step(rf_execute_enter, &steps[1].insn, pc);
    steps[0].left = steps[1].left;
    steps[0].which = core->state;
    steps[0].link = *place;
    core->blocks->used += n + 2;
    *place = steps;
    return steps;
}
