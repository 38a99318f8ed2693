/* SPDX-License-Identifier: GPL-2.0-or-later */
/* block.c - one superblock being told: the code that stores its words, and its DEFINE message.
 *
 *     out:   if (cursor > limit) ring_flush()           once, at the top, if anything is streamed
 *            c = cursor
 *            ...
 *            t5 = LDle:I64(t4)       the program's own
 *            [c + 8] = t5            its value, wanted
 *            ...
 *            [c] = 1041; cursor = c + 16                before each exit: which path, how far (ring.c: in two places)
 *            counter[1041] += 1                         what of it is static and wanted
 *            if (t9) goto 0x401080
 *            [c] = 1042                                 no words since: the cursor is right
 *            counter[1042] += 1
 *            goto 0x401010
 *
 * Static events of counted classes are left to counters (count.c). A block that has no others does not touch the ring.
 * Where all that changes is merged with its repeats (merge.c), it is noted instead, and no path number is written:
 *
 *            [n] = 7; [n + 8] = t5   site 7 of the program, its value
 *            note = n + 16           before each exit
 *
 * or, where it follows from what is noted already, left to the collector (derive.c).
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
    Bool is_merged;  /* the word that changes is */
    Bool has_values; /* and each of its values has a counter */
    Bool is_derived; /* or it follows from another one */
    struct rf_derivation how;
};

/* A byte whose counter is to be raised in front of the next exit. */
struct value {
    UInt counters;
    IRExpr *byte, *guard;
};

struct path {
    UInt words;
    struct path_totals totals;
    struct path_counts counts;
};

struct block {
    IRSB *out;
    Int top;          /* of the block, in statements */
    Bool is_counted;  /* there are counters for it */
    Bool is_streamed; /* some of it goes to the ring */
    Bool at_top;      /* the check for room is to be put there */
    Bool has_cursor;
    IRTemp first_cursor, cursor;
    Bool is_noted; /* what changes is merged */
    struct notes notes;
    UInt n_merged; /* words, so far */
    UInt n_derived;
    UInt n_values; /* that wait for the next exit */
    UInt n_words;  /* dynamic, so far */
    UInt committed;
    Bool is_committed;
    UInt n_here; /* events that the next path alone counts */
    UInt n_open; /* events that it shares with later ones */
    UInt n_events;
    UInt n_paths;
    struct path_totals totals; /* of the open events */
    struct path_totals here;
    struct path_counts counts; /* of what the next path begins to count */
    Bool counts_before;        /* the path before counts something alone */
    struct told events[RF_WORD_EVENTS_MAX];
    struct value values[RF_WORD_EVENTS_MAX];
    struct path paths[RF_WORD_PATHS_MAX];
};

/* Of a block: so that its description fits a message. */
enum { DERIVED_MAX = 256 };

static struct block the_block; /* blocks are told one at a time */
static UInt n_sites;           /* of all blocks */

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
    block->top = out->stmts_used;
    block->is_counted = count_begin();
    return block;
}

static void emit_begin(struct block *block)
{
    if (block->is_noted) {
        merge_begin(block->out, block->first_cursor);
        return;
    }
    emit_check(block->out);
    addStmtToIRSB(block->out,
                  IRStmt_WrTmp(block->first_cursor,
                               IRExpr_Load(Iend_LE, Ity_I64, ir_number((ULong)ring_cursor()))));
}

/* Move what was added to the end since `n` to the top of the block. */
static void move_to_top(struct block *block, Int n)
{
    enum { MOST = 16 };
    IRStmt *moved[MOST];
    IRStmt **stmts = block->out->stmts;
    Int count = block->out->stmts_used - n;
    tl_assert(count <= MOST);
    VG_(memcpy)(moved, stmts + n, (SizeT)count * sizeof *stmts);
    for (Int i = n - 1; i >= block->top; i--)
        stmts[i + count] = stmts[i];
    VG_(memcpy)(stmts + block->top, moved, (SizeT)count * sizeof *stmts);
}

static Bool streams_all(UInt kind)
{
    UInt want = probe_options.want[kind];
    return !(want & WANT_COUNT) || (want & WANT_STREAM);
}

/* Something goes to the ring, so check for room once. Most blocks do it at their top, where few registers are in use.
 * A block that only stores a word at its end (the target of an indirect call) does it there. */
static void begin_words(struct block *block, const struct block_event *event, Bool is_here)
{
    if (block->has_cursor)
        return;
    block->has_cursor = True;
    block->first_cursor = block->cursor = newIRTemp(block->out->tyenv, Ity_I64);
    block->notes.next = block->first_cursor;
    block->at_top = !is_here || streams_all(event->kind);
    if (!block->at_top)
        emit_begin(block);
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

Bool ir_bits(const IRExpr *atom, ULong *bits)
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

/* The one word of an event that changes: it follows from another one, has counters, or is noted. */
static void merge_field(struct block *block, struct told *told, const struct block_event *event,
                        IRExpr *atom)
{
    UInt number = block->n_merged++;
    if (told->is_derived) {
        told->shape |= RF_SHAPE_DERIVED;
        return;
    }
    if (event->guard == NULL)
        derive_add(atom, number);
    if (told->has_values) {
        told->shape |= RF_SHAPE_VALUES;
        block->values[block->n_values++] = (struct value){count_new_values(), atom, event->guard};
        return;
    }
    tl_assert(2 * block->n_merged <= RF_WORD_DYNAMIC_MAX);
    merge_note(block->out, &block->notes, n_sites + number, event, atom);
}

static void tell_field(struct block *block, struct told *told, const struct block_event *event,
                       IRExpr *atom, UInt shift)
{
    ULong bits;
    if (atom == NULL)
        return;
    if (ir_bits(atom, &bits)) {
        told->shape |= (ULong)RF_HOW_CONSTANT << shift;
        told->constant[told->n_constants++] = bits;
    } else if (told->is_merged) {
        told->shape |= (ULong)RF_HOW_MERGED << shift;
        merge_field(block, told, event, atom);
    } else {
        told->shape |= (ULong)RF_HOW_DYNAMIC << shift;
        emit_word(block, atom);
    }
}

static void tell_guard(struct block *block, struct told *told, const struct block_event *event,
                       struct path_totals *totals)
{
    IRTemp wide = ir_assign(block->out, Ity_I64, IRExpr_Unop(Iop_1Uto64, event->guard));
    UInt index = path_add_guard((UShort)block->n_words, event->kind);
    if (totals->n_guards++ == 0)
        totals->guards = index;
    told->shape |= RF_SHAPE_GUARD;
    emit_word(block, IRExpr_RdTmp(wide));
}

static Bool is_dynamic(IRExpr *atom)
{
    ULong bits;
    return atom != NULL && !ir_bits(atom, &bits);
}

/* The first word of the event that changes; NULL: none does. */
static IRExpr *what_changes(const struct block_event *event)
{
    if (is_dynamic(event->addr))
        return event->addr;
    if (is_dynamic(event->value))
        return event->value;
    return is_dynamic(event->target) ? event->target : NULL;
}

static Bool is_counted(const struct block *block, const struct block_event *event)
{
    return block->is_counted && (probe_options.want[event->kind] & WANT_COUNT);
}

static void count(struct block *block, const struct block_event *event, struct told *told,
                  UChar *counts)
{
    if (event->guard == NULL) {
        counts[event->kind]++;
        return;
    }
    told->shape |= RF_SHAPE_GUARD_COUNTS;
    count_guard(block->out, event->guard, event->kind);
}

static void stream(struct block *block, const struct block_event *event, struct told *told,
                   struct path_totals *totals, Bool is_here)
{
    begin_words(block, event, is_here);
    block->is_streamed = True;
    if (event->guard != NULL)
        tell_guard(block, told, event, totals);
    else
        totals->events.of[event->kind]++; /* at most a few of each instruction */
}

static void add(struct block *block, const struct block_event *event, UInt last,
                struct path_totals *totals)
{
    tl_assert(block->n_events < RF_WORD_EVENTS_MAX);
    struct told *told = &block->events[block->n_events++];
    Bool is_here = last != RF_WORD_PATHS_MAX;
    VG_(memset)(told, 0, sizeof *told);
    told->shape = event->kind | (ULong)event->flags << 8 | (ULong)event->width << 16 |
                  (ULong)block->n_paths << RF_SHAPE_FIRST_SHIFT |
                  (ULong)last << RF_SHAPE_LAST_SHIFT | (ULong)event->only << RF_SHAPE_FOR_SHIFT;
    told->pc = event->pc;
    if (is_counted(block, event))
        count(block, event, told, is_here ? block->counts.here : block->counts.open);
    IRExpr *changes = what_changes(event);
    told->is_merged = changes != NULL && probe_options.merges && is_counted(block, event);
    told->is_derived = told->is_merged && event->guard == NULL && block->n_derived < DERIVED_MAX &&
                       derive_find(block->out, changes, &told->how);
    block->n_derived += told->is_derived;
    told->has_values =
        told->is_merged && !told->is_derived && count_has_values(block->out, changes);
    Bool is_noted = told->is_merged && !told->is_derived && !told->has_values;
    block->is_noted |= is_noted;
    if (is_noted)
        begin_words(block, event, is_here);
    else if (!told->is_merged &&
             (changes != NULL || !is_counted(block, event) || streams_all(event->kind)))
        stream(block, event, told, totals, is_here);
    tell_field(block, told, event, event->addr, RF_SHAPE_ADDR_SHIFT);
    tell_field(block, told, event, event->value, RF_SHAPE_VALUE_SHIFT);
    tell_field(block, told, event, event->target, RF_SHAPE_TARGET_SHIFT);
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
    UInt id = path_next() + block->n_paths;
    addStmtToIRSB(block->out,
                  IRStmt_Store(Iend_LE, IRExpr_RdTmp(block->cursor), ir_number((ULong)id)));
    if (block->is_committed && block->committed == block->n_words)
        return;
    IRExpr *next = place(block, 1 + block->n_words);
    addStmtToIRSB(block->out, IRStmt_Store(Iend_LE, ir_number((ULong)ring_cursor()), next));
    addStmtToIRSB(block->out, IRStmt_Store(Iend_LE, ir_number((ULong)ring_told_cursor()), next));
    block->committed = block->n_words;
    block->is_committed = True;
}

static Bool has_counts(const UChar *counts)
{
    UInt all = 0;
    for (UInt kind = 0; kind < RF_WORD_CLASSES; kind++)
        all += counts[kind];
    return all > 0;
}

/* Raise the path's counter if anything depends on it: events that begin here, events of this path alone, or events of
 * the path before alone. */
static void emit_count(struct block *block)
{
    Bool counts_here = has_counts(block->counts.here);
    if (counts_here || block->counts_before || has_counts(block->counts.open))
        count_path(block->out, path_next() + block->n_paths);
    block->counts_before = counts_here;
}

void block_exit(struct block *block)
{
    /* A path without events must still write its number if an earlier path has written one. */
    if (block->n_open + block->n_here == 0 && block->n_paths == 0)
        return;
    tl_assert(block->n_paths < RF_WORD_PATHS_MAX);
    tl_assert(!block->is_noted || !block->is_streamed);
    derive_forget();
    if (block->is_streamed)
        emit_commit(block);
    merge_commit(block->out, &block->notes);
    for (UInt i = 0; i < block->n_values; i++)
        count_value(block->out, block->values[i].counters, block->values[i].byte,
                    block->values[i].guard);
    block->n_values = 0;
    emit_count(block);
    struct path *path = &block->paths[block->n_paths++];
    path->counts = block->counts;
    VG_(memset)(&block->counts, 0, sizeof block->counts);
    path->words = block->n_words;
    path->totals = block->totals;
    path->totals.words = (UShort)block->n_words;
    path->totals.is_counted = block->is_counted;
    for (UInt kind = 0; kind < RF_WORD_CLASSES; kind++)
        path->totals.events.of[kind] += block->here.events.of[kind];
    VG_(memset)(&block->here, 0, sizeof block->here);
    block->n_here = 0;
}

/* Parts of a derivation that change something, one bit each. */
static UInt parts_of(const struct rf_derivation *how)
{
    static const struct rf_derivation none = RF_DERIVATION_NONE;
    UInt parts = 0;
    for (UInt i = 0; i < RF_DERIVE_PARTS; i++)
        parts |= (UInt)(how->part[i] != none.part[i]) << i;
    return parts;
}

static UInt derivation_length(const struct told *told)
{
    return told->is_derived ? 1 + (UInt)__builtin_popcount(parts_of(&told->how)) : 0;
}

static ULong *tell_derivation(const struct rf_derivation *how, ULong *to)
{
    UInt parts = parts_of(how);
    *to++ = how->of | how->shift << RF_DERIVE_SHIFT_SHIFT | (ULong)parts << RF_DERIVE_PARTS_SHIFT;
    for (UInt i = 0; i < RF_DERIVE_PARTS; i++)
        if (parts >> i & 1)
            *to++ = how->part[i];
    return to;
}

static UInt define_length(const struct block *block)
{
    UInt n = 3 + block->n_paths;
    for (UInt i = 0; i < block->n_events; i++)
        n += 2 + block->events[i].n_constants + derivation_length(&block->events[i]);
    return n;
}

static void tell_block(const struct block *block)
{
    UInt n = define_length(block);
    ULong *to = ring_reserve(n);
    *to++ = RF_WORD_HEADER(RF_WORD_DEFINE, n);
    *to++ = path_next() | (ULong)block->n_paths << 32;
    *to++ = block->n_events | (block->is_counted ? RF_DEFINE_COUNTED : 0);
    for (UInt i = 0; i < block->n_paths; i++)
        *to++ = block->paths[i].words;
    for (UInt i = 0; i < block->n_events; i++) {
        const struct told *told = &block->events[i];
        *to++ = told->shape;
        *to++ = told->pc;
        for (UInt j = 0; j < told->n_constants; j++)
            *to++ = told->constant[j];
        if (told->is_derived)
            to = tell_derivation(&told->how, to);
    }
    ring_commit(n);
}

Bool block_end(struct block *block)
{
    if (block->n_paths == 0)
        return False;
    if (block->at_top) {
        Int end = block->out->stmts_used;
        emit_begin(block);
        move_to_top(block, end);
    }
    tell_block(block);
    n_sites += block->n_merged;
    block->paths[block->n_paths - 1].counts.is_last = True;
    for (UInt i = 0; i < block->n_paths; i++) {
        path_add(&block->paths[i].totals);
        count_add_path(&block->paths[i].counts);
    }
    return True;
}
