/* SPDX-License-Identifier: GPL-2.0-or-later */
/* block.c - one superblock being told: the code that stores its words, and its DEFINE message.
 *
 *     out:   if (cursor > limit) ring_flush()           once, at the top
 *            c = cursor
 *            ...
 *            t5 = LDle:I64(t4)       the program's own
 *            [c + 8] = t5            its value, wanted
 *            ...
 *            [c] = 1041; cursor = c + 16                before each exit: which path, how far
 *            if (t9) goto 0x401080
 *            [c] = 1042                                 no words since: the cursor stands right
 *            goto 0x401010
 *
 * Values are stored as they are, without widening: the collector knows the width. Wider ones than 64
 * bits overwrite the words behind them, which are stored later and so win; a flush leaves more
 * than enough room for the last. */
#include "ir.h"

struct told {
    ULong shape;
    Addr pc;
    ULong constant[3];
    UInt n_constants;
};

struct path {
    UInt words;
    struct path_totals totals;
};

struct block {
    IRSB *out;
    IRTemp cursor;
    UInt n_words; /* dynamic, so far */
    UInt committed;
    Bool is_committed;
    UInt n_here; /* events that the next path alone counts */
    UInt n_open; /* events that it shares with later ones */
    UInt n_events;
    UInt n_paths;
    struct path_totals totals; /* of the open events */
    struct path_totals here;
    struct told events[RF_WORD_EVENTS_MAX];
    struct path paths[RF_WORD_PATHS_MAX];
};

static struct block the_block; /* blocks are told one at a time */

static void emit_check(IRSB *out)
{
    IRTemp cursor =
        ir_assign(out, Ity_I64, IRExpr_Load(Iend_LE, Ity_I64, ir_number((ULong)ring_cursor())));
    IRTemp limit =
        ir_assign(out, Ity_I64, IRExpr_Load(Iend_LE, Ity_I64, ir_number((ULong)ring_limit())));
    IRTemp full = ir_assign(out, Ity_I1,
                            IRExpr_Binop(Iop_CmpLT64U, IRExpr_RdTmp(limit), IRExpr_RdTmp(cursor)));
    IRDirty *call =
        unsafeIRDirty_0_N(0, "ring_flush", VG_(fnptr_to_fnentry)(ring_flush), mkIRExprVec_0());
    call->guard = IRExpr_RdTmp(full);
    addStmtToIRSB(out, IRStmt_Dirty(call));
}

struct block *block_begin(IRSB *out)
{
    struct block *block = &the_block;
    VG_(memset)(block, 0, offsetof(struct block, events));
    block->out = out;
    emit_check(out);
    block->cursor =
        ir_assign(out, Ity_I64, IRExpr_Load(Iend_LE, Ity_I64, ir_number((ULong)ring_cursor())));
    return block;
}

static IRExpr *place(struct block *block, UInt word)
{
    if (word == 0)
        return IRExpr_RdTmp(block->cursor);
    return IRExpr_RdTmp(ir_assign(
        block->out, Ity_I64,
        IRExpr_Binop(Iop_Add64, IRExpr_RdTmp(block->cursor), ir_number((ULong)word * 8))));
}

static void emit_word(struct block *block, IRExpr *value)
{
    tl_assert(block->n_words < RF_WORD_DYNAMIC_MAX);
    addStmtToIRSB(block->out, IRStmt_Store(Iend_LE, place(block, 1 + block->n_words), value));
    block->n_words++;
}

static Bool constant_bits(const IRExpr *atom, ULong *bits)
{
    if (atom->tag != Iex_Const)
        return False;
    const IRConst *c = atom->Iex.Const.con;
    switch (c->tag) {
    case Ico_U1:
        *bits = c->Ico.U1;
        return True;
    case Ico_U8:
        *bits = c->Ico.U8;
        return True;
    case Ico_U16:
        *bits = c->Ico.U16;
        return True;
    case Ico_U32:
        *bits = c->Ico.U32;
        return True;
    case Ico_U64:
        *bits = c->Ico.U64;
        return True;
    case Ico_F32i:
        *bits = c->Ico.F32i;
        return True;
    case Ico_F64i:
        *bits = c->Ico.F64i;
        return True;
    case Ico_V128: /* one bit for each byte */
        *bits = 0;
        for (Int i = 0; i < 8; i++)
            *bits |= (c->Ico.V128 >> i & 1) ? 0xffULL << 8 * i : 0;
        return True;
    default:
        return False;
    }
}

static void tell_field(struct block *block, struct told *told, IRExpr *atom, UInt shift)
{
    ULong bits;
    if (atom == NULL)
        return;
    if (constant_bits(atom, &bits)) {
        told->shape |= (ULong)RF_HOW_CONSTANT << shift;
        told->constant[told->n_constants++] = bits;
        return;
    }
    told->shape |= (ULong)RF_HOW_DYNAMIC << shift;
    emit_word(block, atom);
}

static void tell_guard(struct block *block, struct told *told, const struct block_event *event,
                       struct path_totals *totals)
{
    IRTemp wide = ir_assign(block->out, Ity_I64, IRExpr_Unop(Iop_1Uto64, event->guard));
    UInt index = ring_add_guard((UShort)block->n_words, event->kind);
    if (totals->n_guards++ == 0)
        totals->guards = index;
    told->shape |= RF_SHAPE_GUARD;
    emit_word(block, IRExpr_RdTmp(wide));
}

static void add(struct block *block, const struct block_event *event, UInt last,
                struct path_totals *totals)
{
    tl_assert(block->n_events < RF_WORD_EVENTS_MAX);
    struct told *told = &block->events[block->n_events++];
    VG_(memset)(told, 0, sizeof *told);
    told->shape = event->kind | (ULong)event->flags << 8 | (ULong)event->width << 16 |
                  (ULong)block->n_paths << RF_SHAPE_FIRST_SHIFT |
                  (ULong)last << RF_SHAPE_LAST_SHIFT | (ULong)event->only << RF_SHAPE_FOR_SHIFT;
    told->pc = event->pc;
    if (event->guard != NULL)
        tell_guard(block, told, event, totals);
    else
        totals->events.of[event->kind]++; /* at most a few of each instruction */
    tell_field(block, told, event->addr, RF_SHAPE_ADDR_SHIFT);
    tell_field(block, told, event->value, RF_SHAPE_VALUE_SHIFT);
    tell_field(block, told, event->target, RF_SHAPE_TARGET_SHIFT);
}

void block_add(struct block *block, const struct block_event *event)
{
    add(block, event, RF_WORD_PATHS_MAX, &block->totals);
    block->n_open++;
}

void block_add_here(struct block *block, const struct block_event *event)
{
    tl_assert(event->guard == NULL);
    add(block, event, block->n_paths, &block->here);
    block->n_here++;
}

static void emit_commit(struct block *block)
{
    UInt id = ring_next_path() + block->n_paths;
    addStmtToIRSB(block->out,
                  IRStmt_Store(Iend_LE, IRExpr_RdTmp(block->cursor), ir_number((ULong)id)));
    if (block->is_committed && block->committed == block->n_words)
        return;
    addStmtToIRSB(block->out, IRStmt_Store(Iend_LE, ir_number((ULong)ring_cursor()),
                                           place(block, 1 + block->n_words)));
    block->committed = block->n_words;
    block->is_committed = True;
}

void block_exit(struct block *block)
{
    /* A path without events must still be told where an earlier one has put its number. */
    if (block->n_open + block->n_here == 0 && block->n_paths == 0)
        return;
    tl_assert(block->n_paths < RF_WORD_PATHS_MAX);
    emit_commit(block);
    struct path *path = &block->paths[block->n_paths++];
    path->words = block->n_words;
    path->totals = block->totals;
    path->totals.words = (UShort)block->n_words;
    for (UInt kind = 0; kind < RF_WORD_CLASSES; kind++)
        path->totals.events.of[kind] += block->here.events.of[kind];
    VG_(memset)(&block->here, 0, sizeof block->here);
    block->n_here = 0;
}

static UInt define_length(const struct block *block)
{
    UInt n = 3 + block->n_paths;
    for (UInt i = 0; i < block->n_events; i++)
        n += 2 + block->events[i].n_constants;
    return n;
}

Bool block_end(struct block *block)
{
    if (block->n_paths == 0)
        return False;
    UInt n = define_length(block);
    ULong *to = ring_reserve(n);
    *to++ = RF_WORD_HEADER(RF_WORD_DEFINE, n);
    *to++ = ring_next_path() | (ULong)block->n_paths << 32;
    *to++ = block->n_events;
    for (UInt i = 0; i < block->n_paths; i++)
        *to++ = block->paths[i].words;
    for (UInt i = 0; i < block->n_events; i++) {
        const struct told *told = &block->events[i];
        *to++ = told->shape;
        *to++ = told->pc;
        for (UInt j = 0; j < told->n_constants; j++)
            *to++ = told->constant[j];
    }
    ring_commit(n);
    for (UInt i = 0; i < block->n_paths; i++)
        ring_add_path(&block->paths[i].totals);
    return True;
}
