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

/* A number of 64 bits from an atom of any type up to that size; a wider one gives its low half. */
static inline IRExpr *ir_as_number(IRSB *out, IRExpr *atom)
{
    switch (typeOfIRExpr(out->tyenv, atom)) {
    case Ity_I8:
        return ir_unary(out, Ity_I64, Iop_8Uto64, atom);
    case Ity_I16:
        return ir_unary(out, Ity_I64, Iop_16Uto64, atom);
    case Ity_I32:
        return ir_unary(out, Ity_I64, Iop_32Uto64, atom);
    case Ity_F32:
        return ir_as_number(out, ir_unary(out, Ity_I32, Iop_ReinterpF32asI32, atom));
    case Ity_F64:
        return ir_unary(out, Ity_I64, Iop_ReinterpF64asI64, atom);
    case Ity_V128:
        return ir_unary(out, Ity_I64, Iop_V128to64, atom);
    case Ity_V256:
        return ir_unary(out, Ity_I64, Iop_V256to64_0, atom);
    default:
        return atom;
    }
}

/* block.c: the bits of a constant of any type; False: it is none. */
Bool ir_bits(const IRExpr *atom, ULong *bits);

static inline Bool ir_constant(const IRExpr *atom, Addr *address)
{
    if (atom->tag != Iex_Const || atom->Iex.Const.con->tag != Ico_U64)
        return False;
    *address = atom->Iex.Const.con->Ico.U64;
    return True;
}

#endif
