/* SPDX-License-Identifier: GPL-2.0-or-later */
/* transfer.c - branches, jumps, calls and returns: how a block can be left.
 *
 *     Exit in jcc            branch, for that path alone: where it goes, taken or not
 *     end of the block       branch, jump, call or return, by the last instruction
 *
 * They also end sampling intervals: after each exit the program goes on in the version that burst.c chooses. */
#include "ir.h"
#include "tour.h"

static struct block_event branch_event(const struct tour *tour, Addr to)
{
    return (struct block_event){
        .kind = BRANCH,
        .flags = to != tour->insn.pc + tour->insn.length ? FLAG_TAKEN : 0,
        .pc = tour->insn.pc,
        .target = ir_number(probe_options.n_patterns > 0 ? static_target(&tour->insn) : to),
    };
}

/* A branch that leaves the block this way and goes to `to`. */
static void tell_branch(struct tour *tour, Addr to)
{
    if (!tour->insn.wanted || !wants(BRANCH))
        return;
    struct block_event event = branch_event(tour, to);
    tell_here(tour, &event);
}

/* After a branch or jump the block itself goes on at `to`: a loop that Valgrind has unrolled, `loop`, or jrcxz. */
void tell_way_on(struct tour *tour, Addr to)
{
    UInt kind = tour->insn.kind == INSN_CONDITIONAL ? BRANCH : JUMP;
    Bool transfers = tour->insn.kind == INSN_CONDITIONAL || tour->insn.kind == INSN_JUMP;
    if (!transfers || !tour->insn.wanted || !wants(kind) || tour->insn.is_told)
        return;
    struct block_event event = branch_event(tour, to);
    event.kind = (UChar)kind;
    if (kind == JUMP)
        event.flags = 0;
    tell(tour, &event);
}

static Bool is_branch(const struct tour *tour, const IRStmt *st)
{
    return tour->insn.kind == INSN_CONDITIONAL && st->Ist.Exit.jk == Ijk_Boring;
}

static void tell_exit(struct tour *tour, const IRStmt *st)
{
    Addr to = st->Ist.Exit.dst->Ico.U64;
    if (tour->block == NULL)
        return;
    if (is_branch(tour, st))
        tell_branch(tour, to);
    if (tour->insn.kind == INSN_STRING && to != tour->insn.pc)
        tell_insn(tour);
    block_exit(tour->block);
}

/* Where the block goes on if it does not leave by this exit. Valgrind may have turned the branch round. */
static Addr way_on(const struct tour *tour, Addr to)
{
    Addr behind = tour->insn.pc + tour->insn.length;
    return to == behind ? static_target(&tour->insn) : behind;
}

/* A branch is one event, taken or not. It is counted here. `loop` has changed rcx already, and must not run again in
 * another version; in front of it, rcx may be out of date in Valgrind's memory. So it is left behind, not in front. */
static void skip_exit(struct tour *tour, IRStmt *st)
{
    Addr to = st->Ist.Exit.dst->Ico.U64;
    if (tour->insn.kind == INSN_STRING && to != tour->insn.pc && tour->insn.wanted && wants(INSN))
        burst_skip_if(tour->out, receivers(tour, INSN), st->Ist.Exit.guard);
    UInt ends = is_branch(tour, st) && !tour->has_ended ? ends_interval(tour, BRANCH) : 0;
    if (is_branch(tour, st) && !tour->insn.is_told)
        tell_branch(tour, to);
    tour->insn.is_told |= is_branch(tour, st);
    tour->has_ended |= ends != 0;
    if (insn_is_loop((const UChar *)tour->insn.pc, tour->insn.length)) {
        burst_off_behind(tour->out, ends, st, way_on(tour, to));
        return;
    }
    burst_off_exit(tour->out, ends, tour->insn.pc);
    addStmtToIRSB(tour->out, st);
}

/* In the version that tells events, a branch backwards leaves by the end of its block: burst_on_end says why. After
 * `loop` the block may go on; that exit stays as it is. */
static IRStmt *turn(struct tour *tour, IRStmt *st)
{
    Addr next, to = st->Ist.Exit.dst->Ico.U64;
    if (to > tour->insn.pc || !is_branch(tour, st) || !ir_constant(tour->out->next, &next) ||
        next != tour->insn.pc + tour->insn.length)
        return st;
    tour->out->next = ir_number(to);
    return IRStmt_Exit(ir_unary(tour->out, Ity_I1, Iop_Not1, st->Ist.Exit.guard), Ijk_Boring,
                       IRConst_U64(next), st->Ist.Exit.offsIP);
}

void see_exit(struct tour *tour, IRStmt *st)
{
    if (tour->version == ON) {
        st = turn(tour, st);
        tell_exit(tour, st);
        UInt ends = is_branch(tour, st) ? ends_interval(tour, BRANCH) : 0;
        if (ends != 0 && tour->last == NULL)
            tour->last = burst_count_interval(tour->out, ends, tour->insn.pc);
        burst_on_exit(tour->out, st->Ist.Exit.guard, st->Ist.Exit.jk, st->Ist.Exit.dst->Ico.U64,
                      tour->last);
        return;
    }
    if (tour->version == OFF) {
        skip_exit(tour, st);
        return;
    }
    tell_exit(tour, st);
    addStmtToIRSB(tour->out, st);
}

static void tell_transfer(struct tour *tour, UInt kind, IRExpr *next)
{
    if (!tour->insn.wanted || !wants(kind))
        return;
    Bool is_direct = next->tag == Iex_Const;
    struct block_event event = {
        .kind = (UChar)kind,
        .flags = kind != RETURN && !is_direct ? FLAG_INDIRECT : 0,
        .pc = tour->insn.pc,
        .target = is_direct ? next : if_wanted(kind, WANT_TARGET, next),
    };
    tell_here(tour, &event);
}

/* What the end of the block tells. */
static void tell_end(struct tour *tour)
{
    IRExpr *next = tour->out->next;
    IRJumpKind how = tour->out->jumpkind;
    Addr to = 0;
    Bool is_constant = ir_constant(next, &to);
    tell_result(tour);
    if (how == Ijk_Call)
        tell_transfer(tour, CALL, next);
    else if (how == Ijk_Ret)
        tell_transfer(tour, RETURN, next);
    else if (how == Ijk_Boring && tour->insn.kind == INSN_CONDITIONAL && is_constant &&
             !tour->insn.is_told)
        tell_branch(tour, to);
    else if (how == Ijk_Boring && tour->insn.kind == INSN_JUMP)
        tell_transfer(tour, JUMP, next);
    if (tour->insn.kind == INSN_STRING && !(is_constant && to == tour->insn.pc))
        tell_insn(tour);
    if (tour->block != NULL)
        block_exit(tour->block);
}

/* What class of transfer ends the block; RF_WORD_CLASSES: none. */
static UInt end_kind(const struct tour *tour)
{
    switch (tour->out->jumpkind) {
    case Ijk_Call:
        return CALL;
    case Ijk_Ret:
        return RETURN;
    case Ijk_Boring:
        return tour->insn.kind == INSN_CONDITIONAL ? BRANCH
               : tour->insn.kind == INSN_JUMP      ? JUMP
                                                   : RF_WORD_CLASSES;
    default:
        return RF_WORD_CLASSES;
    }
}

void see_end(struct tour *tour)
{
    UInt kind = end_kind(tour);
    UInt ends = kind < RF_WORD_CLASSES ? ends_interval(tour, kind) : 0;
    if (tour->active)
        tell_end(tour);
    if (tour->version == OFF)
        burst_off_end(tour->out, tour->has_ended ? 0 : ends);
    if (tour->version != ON)
        return;
    if (ends != 0 && tour->last == NULL)
        tour->last = burst_count_interval(tour->out, ends, tour->insn.pc);
    burst_on_end(tour->out, tour->last, tour->insn.pc);
}
