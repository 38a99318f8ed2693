/* SPDX-License-Identifier: GPL-2.0-or-later */
/* merge.c - repeats of an event are counted where they happen, and go to the ring once. probe_words.h has the table.
 *
 *     e = table + hash(site, word)
 *     [c] = [e]; [c + 8] = [e + 8]               the old entry, behind the cursor
 *     same = the old entry is of this site and word, and not full
 *     cursor = c + (same ? 0 : 16)               it goes to the ring, or it does not
 *     [e] = (same ? [e] : site) + 1
 *     [e + 8] = word
 *
 * There is no branch: which of the two happens, no processor could predict. Of the loads of six programs, 70 to 95%
 * find their entry. What goes to the ring and what stays in the table add up to what happened, in another order; so
 * this is for profiles that take any order. The table lies in the shared memory: the collector reads what is left in
 * it when the process is over, however it ended.
 *
 * Threads take turns between blocks, so plain loads and stores are enough. */
#include "ir.h"

/* Results of alu repeat too seldom: with them, merging took gzip 7.1 s of processor time, program and collector, and
 * streaming 6.3 s. */
static Bool does_repeat(void)
{
    return !(probe_options.want[ALU] & WANT_VALUE);
}

Bool merge_is_possible(void)
{
    for (UInt kind = 0; kind < RF_WORD_CLASSES; kind++) {
        UInt want = probe_options.want[kind];
        UInt words = want & (WANT_ADDR | WANT_VALUE | WANT_TARGET);
        Bool has_one = (words & (words - 1)) == 0;
        if (want != 0 && (!(want & WANT_COUNT) || (want & WANT_STREAM) || !has_one))
            return False;
    }
    return probe_options.counts && does_repeat();
}

void merge_open(void)
{
    ULong *table = (ULong *)count_table();
    for (UInt i = 0; probe_options.merges && i < RF_RING_TABLE; i++)
        table[2 * i] = RF_ENTRY_EMPTY;
}

static IRExpr *load(IRSB *out, IRExpr *at)
{
    return IRExpr_RdTmp(ir_assign(out, Ity_I64, IRExpr_Load(Iend_LE, Ity_I64, at)));
}

static void store(IRSB *out, IRExpr *at, IRExpr *word)
{
    addStmtToIRSB(out, IRStmt_Store(Iend_LE, at, word));
}

static IRExpr *shift_right(IRSB *out, IRExpr *word, UInt bits)
{
    return ir_binary(out, Ity_I64, Iop_Shr64, word, IRExpr_Const(IRConst_U8((UChar)bits)));
}

static IRExpr *plus(IRSB *out, IRExpr *word, ULong number)
{
    return ir_binary(out, Ity_I64, Iop_Add64, word, ir_number(number));
}

static IRExpr *choose(IRSB *out, IRExpr *bit, IRExpr *yes, IRExpr *no)
{
    return IRExpr_RdTmp(ir_assign(out, Ity_I64, IRExpr_ITE(bit, yes, no)));
}

/* The address of the entry: rf_entry_place, times 16. */
static IRExpr *entry_of(IRSB *out, ULong key, IRExpr *word)
{
    IRExpr *mixed =
        ir_binary(out, Ity_I64, Iop_Mul64, ir_binary(out, Ity_I64, Iop_Xor64, word, ir_number(key)),
                  ir_number(RF_ENTRY_MULTIPLIER));
    IRExpr *offset =
        ir_binary(out, Ity_I64, Iop_And64, shift_right(out, mixed, RF_ENTRY_PLACE_SHIFT - 4),
                  ir_number((ULong)(RF_RING_TABLE - 1) << 4));
    return plus(out, offset, count_table());
}

/* A bit: the old entry is not of this key and word, or it is full. */
static IRExpr *differs(IRSB *out, IRExpr *old_key, ULong key, IRExpr *old_word, IRExpr *word)
{
    IRExpr *keys =
        shift_right(out, ir_binary(out, Ity_I64, Iop_Xor64, old_key, ir_number(key)), 31);
    IRExpr *words = ir_binary(out, Ity_I64, Iop_Xor64, old_word, word);
    return ir_unary(out, Ity_I1, Iop_CmpNEZ64, ir_binary(out, Ity_I64, Iop_Or64, keys, words));
}

void merge_word(IRSB *out, IRTemp *cursor, UInt site, IRExpr *word, IRExpr *guard)
{
    ULong key = rf_entry_key(site);
    word = ir_as_number(out, word);
    IRExpr *key_at = entry_of(out, key, word), *word_at = plus(out, key_at, 8);
    IRExpr *old_key = load(out, key_at), *old_word = load(out, word_at);
    IRExpr *before = IRExpr_RdTmp(*cursor);
    store(out, before, old_key);
    store(out, plus(out, before, 8), old_word);
    IRExpr *other = differs(out, old_key, key, old_word, word);
    IRExpr *new_key = plus(out, choose(out, other, ir_number(key), old_key), 1);
    if (guard != NULL) {
        other = ir_both(out, other, guard);
        new_key = choose(out, guard, new_key, old_key);
        word = choose(out, guard, word, old_word);
    }
    IRExpr *moved = ir_binary(out, Ity_I64, Iop_Shl64, ir_unary(out, Ity_I64, Iop_1Uto64, other),
                              IRExpr_Const(IRConst_U8(4)));
    *cursor = ir_assign(out, Ity_I64, IRExpr_Binop(Iop_Add64, before, moved));
    store(out, ir_number((ULong)ring_cursor()), IRExpr_RdTmp(*cursor));
    store(out, key_at, new_key);
    store(out, word_at, word);
}
