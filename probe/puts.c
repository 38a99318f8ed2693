/* SPDX-License-Identifier: GPL-2.0-or-later */
/* puts.c - registers that are written for nobody.
 *
 * Results of instructions (alu) are told even where they are soon overwritten. Valgrind takes such writes out before we
 * see them, unless it is asked to keep every register up to date at every instruction (main.c asks). Then the program
 * pays for all of them: an add writes its result, four words of flags and the instruction pointer. So we look at them
 * all, and take them out afterwards, by Valgrind's own rule:
 *
 *     PUT(cc_dep1) = t5      taken out: written again before anybody looks
 *     PUT(rax) = t5          stays: the block may be left behind it
 *     if (t7) goto 0x401080
 *     PUT(cc_dep1) = t9      stays: the block ends
 *
 * At an exit all registers are up to date; at an access to memory, which may fault, those by which the stack is unwound.
 * What only served to compute what was taken out, Valgrind takes out itself. */
#include "ir.h"

enum { STATE = sizeof(VexGuestAMD64State) };

/* By byte of the program's registers: it is written again before anybody looks. Filled from the end of a block on. */
static UChar is_dead[STATE];

static void set(Int offset, Int n, Bool dead)
{
    if (offset >= 0 && offset + n <= STATE)
        VG_(memset)(is_dead + offset, dead, (SizeT)n);
}

static Bool are_dead(Int offset, Int n)
{
    for (Int i = offset; i < offset + n; i++)
        if (i < 0 || i >= STATE || !is_dead[i])
            return False;
    return True;
}

static void look_at_all(void)
{
    set(0, STATE, False);
}

/* A fault shows where the program is, and its stack. */
static void look_at_frame(void)
{
    set(offsetof(VexGuestAMD64State, guest_RIP), 8, False);
    set(offsetof(VexGuestAMD64State, guest_RSP), 8, False);
    set(offsetof(VexGuestAMD64State, guest_RBP), 8, False);
}

static void look_by(const IRSB *out, const IRExpr *data)
{
    if (data->tag == Iex_Get)
        set(data->Iex.Get.offset, sizeofIRType(data->Iex.Get.ty), False);
    else if (data->tag == Iex_GetI)
        look_at_all();
    else if (data->tag == Iex_Load)
        look_at_frame();
}

static void look_by_call(const IRDirty *call)
{
    if (call->nFxState > 0)
        look_at_all();
    else if (call->mFx != Ifx_None)
        look_at_frame();
}

/* Is the write of no use? */
static Bool is_useless(const IRSB *out, const IRStmt *st)
{
    Int n = sizeofIRType(typeOfIRExpr(out->tyenv, st->Ist.Put.data));
    if (are_dead(st->Ist.Put.offset, n))
        return True;
    set(st->Ist.Put.offset, n, True);
    return False;
}

static void look(const IRSB *out, const IRStmt *st)
{
    switch (st->tag) {
    case Ist_WrTmp:
        look_by(out, st->Ist.WrTmp.data);
        break;
    case Ist_Dirty:
        look_by_call(st->Ist.Dirty.details);
        break;
    case Ist_Store:
    case Ist_StoreG:
    case Ist_LoadG:
    case Ist_CAS:
    case Ist_LLSC:
        look_at_frame();
        break;
    case Ist_Exit:
        look_at_all();
        break;
    default:
        break;
    }
}

void puts_clean(IRSB *out)
{
    look_at_all();
    set(out->offsIP, 8, True); /* the end of the block writes it */
    for (Int i = out->stmts_used - 1; i >= 0; i--) {
        IRStmt *st = out->stmts[i];
        if (st->tag != Ist_Put)
            look(out, st);
        else if (is_useless(out, st))
            out->stmts[i] = IRStmt_NoOp();
    }
}
