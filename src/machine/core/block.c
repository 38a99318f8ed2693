/* block.c - decoding code into blocks of steps.
 *
 *     enter | addi | ld | beq --taken--> another block's enter
 *                        | add | jalr
 *     enter | addi | ... 64 instructions ... | goto --> the next block's enter
 *
 * A block runs on past conditional branches and ends at an unconditional transfer, a system instruction, an
 * illegal one or after BLOCK_MAX. An instruction may be expanded into a sequence, which is one instruction still. Steps come out of chunks that are given back all together: when code has
 * changed, and when there are CHUNKS_MAX of them, for a guest that makes code without end.
 *
 * Memory: 0.5 MiB of table and at most CHUNKS_MAX * CHUNK_STEPS * 48 bytes, 24 MiB. */
#include "machine/core/block.h"
#include "machine/records.h"
#include "base/alloc.h"
#include <assert.h>
#include <string.h>

enum { BLOCK_MAX = 64, CHUNK_STEPS = 8192, CHUNKS_MAX = 64 };

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
    if (blocks->used + BLOCK_MAX + RF_EXPAND_MAX + 2 > CHUNK_STEPS) {
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

static bool same(const struct rf_insn *a, const struct rf_insn *b)
{
    return a->op == b->op && a->rd == b->rd && a->rs1 == b->rs1 && a->rs2 == b->rs2 &&
           a->rs3 == b->rs3 && a->rm == b->rm && a->imm == b->imm;
}

/* The steps of one instruction: itself or what it is expanded to. Returns how many. */
static unsigned make_steps(const struct rf_core *core, struct rf_step *steps,
                           const struct rf_insn *insn, uint64_t pc)
{
    struct rf_insn sequence[RF_EXPAND_MAX];
    unsigned n = core->expand != NULL ? core->expand(core->expand_context, insn, pc, sequence) : 0;
    assert(n <= RF_EXPAND_MAX);
    if (n == 0) {
        sequence[0] = *insn;
        n = 1;
    }
    rf_step_run *const *table = core->chained ? rf_execute_chained : rf_execute_table;
    for (unsigned i = 0; i < n; i++) {
        assert(i + 1 == n || (!ends_block(&sequence[i]) && sequence[i].kind != RF_OP_CLASS_BRANCH));
        sequence[i].length = insn->length;
        steps[i] = make_step(table[sequence[i].op], &sequence[i], pc);
        steps[i].is_instruction = true;
        steps[i].fetched = i == 0;
        steps[i].own = same(&sequence[i], insn);
        steps[i].classes = steps[i].own ? rf_records_classes(insn) : 0;
    }
    return n;
}

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

/* The block at pc if it is decoded, moved to the front of its place. */
static struct rf_step *find_decoded(struct rf_blocks *blocks, uint64_t pc)
{
    struct rf_step **place = rf_block_place(blocks, pc);
    for (struct rf_step **at = place; *at != NULL; at = &(*at)->link) {
        struct rf_step *block = *at;
        if (block->pc != pc)
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
    struct rf_step *block = find_decoded(core->blocks, pc);
    if (block != NULL)
        return block;
    struct rf_step *steps = get_steps(core);
    unsigned n = steps != NULL ? decode_block(core, steps, pc) : 0;
    if (n == 0) {
        core->stop = steps != NULL ? RF_STOP_FETCH : RF_STOP_MEMORY;
        return NULL;
    }
    struct rf_step **place = rf_block_place(core->blocks, pc);
    steps[0] = make_step(rf_execute_enter, &steps[1].insn, pc);
    steps[0].left = steps[1].left;
    steps[0].link = *place;
    core->blocks->used += n + 2;
    *place = steps;
    return steps;
}
