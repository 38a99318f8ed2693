/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ir.h - small pieces of Valgrind's intermediate code. */
#ifndef RF_PROBE_IR_H
#define RF_PROBE_IR_H

#include "probe.h"

static inline IRExpr *ir_number(ULong value)
{
    return IRExpr_Const(IRConst_U64(value));
}

static inline IRTemp ir_assign(IRSB *out, IRType type, IRExpr *value)
{
    IRTemp temp = newIRTemp(out->tyenv, type);
    addStmtToIRSB(out, IRStmt_WrTmp(temp, value));
    return temp;
}

static inline IRExpr *ir_unary(IRSB *out, IRType type, IROp op, IRExpr *a)
{
    return IRExpr_RdTmp(ir_assign(out, type, IRExpr_Unop(op, a)));
}

static inline IRExpr *ir_binary(IRSB *out, IRType type, IROp op, IRExpr *a, IRExpr *b)
{
    return IRExpr_RdTmp(ir_assign(out, type, IRExpr_Binop(op, a, b)));
}

/* Both of two bits. */
static inline IRExpr *ir_both(IRSB *out, IRExpr *a, IRExpr *b)
{
    return ir_binary(out, Ity_I1, Iop_And1, a, b);
}

static inline Bool ir_constant(const IRExpr *atom, Addr *address)
{
    if (atom->tag != Iex_Const || atom->Iex.Const.con->tag != Ico_U64)
        return False;
    *address = atom->Iex.Const.con->Ico.U64;
    return True;
}

#endif
