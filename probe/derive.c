/* SPDX-License-Identifier: GPL-2.0-or-later */
/* derive.c - words that follow from another one, which is noted already.
 *
 *     t5 = LDle:I32(t4)         noted: site 7
 *     t6 = Add32(t5,0x1)        site 8, its result: 1 more than site 7's word
 *     STle(t4) = t6             site 9, what it stores: the same
 *
 * Of what blocks note, a third to a half follows so from something else that they note. Such words are not noted: the
 * collector is told once how to compute them (probe_words.h has the formula), which saves the program the note and the
 * merge, and leaves more of the table to others.
 *
 * Valgrind's intermediate code defines each temporary once. From the one that is to be told we go back from definition
 * to definition, as long as each has one operand that changes, until we meet one that is noted, or one that differs from a
 * noted one by a constant. Then the operations on the way are put into the formula; those that do not fit are noted.
 *
 * Both events must occur together: nothing follows across an exit of the block, nor from or to what has a guard. */
#include "ir.h"

static IRExpr **definitions; /* by temporary; NULL: none that can be followed */
static UInt n_definitions, room_definitions;

/* What is noted, or has counters, since the last exit. `temp` is `base` + `added`, in `bits` bits, if it has a base. */
struct source {
    IRTemp temp, base;
    UInt bits;
    ULong added;
    UInt number, n_derived;
};

enum { SOURCES_MAX = 64, WAY_MAX = 8 };
static struct source sources[SOURCES_MAX];
static UInt n_sources;

void derive_begin(const IRSB *in)
{
    n_definitions = 0;
    n_sources = 0;
    if (!probe_options.merges)
        return;
    while (room_definitions <= (UInt)in->tyenv->types_used)
        definitions =
            ring_grow(definitions, room_definitions, &room_definitions, sizeof *definitions);
    n_definitions = (UInt)in->tyenv->types_used;
    VG_(memset)(definitions, 0, n_definitions * sizeof *definitions);
}

void derive_see(const IRStmt *st)
{
    if (st->tag == Ist_WrTmp && st->Ist.WrTmp.tmp < n_definitions)
        definitions[st->Ist.WrTmp.tmp] = st->Ist.WrTmp.data;
}

void derive_forget(void)
{
    n_sources = 0;
}

/* ---- operations with one operand that changes ---- */

/* On numbers of `bits` bits. SAME: wider, with zeroes. EXTEND: from `number` bits, with the sign. MINUS: number - operand. */
enum kind { SAME, ADD, AND, TIMES, RIGHT, RIGHT_SIGNED, EXTEND, MINUS };

struct step {
    enum kind kind;
    UInt bits;
    ULong number;
};

static ULong low(UInt bits)
{
    return bits >= 64 ? ~0ULL : (1ULL << bits) - 1;
}

static Bool unary(IROp op, struct step *step)
{
    switch (op) {
    case Iop_8Uto16:
    case Iop_8Uto32:
    case Iop_8Uto64:
    case Iop_16Uto32:
    case Iop_16Uto64:
    case Iop_32Uto64:
        *step = (struct step){SAME, 64, 0};
        return True;
    case Iop_16to8:
    case Iop_32to8:
    case Iop_64to8:
        *step = (struct step){AND, 8, low(8)};
        return True;
    case Iop_32to16:
    case Iop_64to16:
        *step = (struct step){AND, 16, low(16)};
        return True;
    case Iop_64to32:
        *step = (struct step){AND, 32, low(32)};
        return True;
    case Iop_8Sto16:
        *step = (struct step){EXTEND, 16, 8};
        return True;
    case Iop_8Sto32:
        *step = (struct step){EXTEND, 32, 8};
        return True;
    case Iop_8Sto64:
        *step = (struct step){EXTEND, 64, 8};
        return True;
    case Iop_16Sto32:
        *step = (struct step){EXTEND, 32, 16};
        return True;
    case Iop_16Sto64:
        *step = (struct step){EXTEND, 64, 16};
        return True;
    case Iop_32Sto64:
        *step = (struct step){EXTEND, 64, 32};
        return True;
    case Iop_Not8:
    case Iop_Not16:
    case Iop_Not32:
    case Iop_Not64:
        *step = (struct step){MINUS, 8u << (op - Iop_Not8), low(8u << (op - Iop_Not8))};
        return True;
    default:
        return False;
    }
}

/* The four widths of an operation follow each other, as Valgrind promises; 0: it is another one. */
static UInt bits_of(IROp op, IROp of_8_bits)
{
    return op >= of_8_bits && op < of_8_bits + 4 ? 8u << (op - of_8_bits) : 0;
}

static Bool shift(IROp op, ULong by, struct step *step)
{
    UInt bits = bits_of(op, Iop_Shl8);
    if (bits > by) {
        *step = (struct step){TIMES, bits, 1ULL << by};
        return True;
    }
    bits = bits_of(op, Iop_Shr8);
    Bool is_signed = bits == 0;
    if (is_signed)
        bits = bits_of(op, Iop_Sar8);
    *step = (struct step){is_signed ? RIGHT_SIGNED : RIGHT, bits, by};
    return bits > by;
}

/* `number` op operand, where it does not matter which of them stands first. */
static Bool symmetric(IROp op, ULong number, struct step *step)
{
    UInt bits;
    if ((bits = bits_of(op, Iop_Add8)) != 0)
        *step = (struct step){ADD, bits, number};
    else if ((bits = bits_of(op, Iop_And8)) != 0)
        *step = (struct step){AND, bits, number};
    else if ((bits = bits_of(op, Iop_Mul8)) != 0)
        *step = (struct step){TIMES, bits, number};
    else if ((bits = bits_of(op, Iop_Xor8)) != 0 && number == low(bits))
        *step = (struct step){MINUS, bits, number};
    else
        return False;
    return True;
}

static Bool binary(const IRExpr *e, struct step *step, const IRExpr **operand)
{
    ULong number;
    IROp op = e->Iex.Binop.op;
    UInt minus = bits_of(op, Iop_Sub8);
    if (ir_bits(e->Iex.Binop.arg1, &number)) {
        *operand = e->Iex.Binop.arg2;
        *step = (struct step){MINUS, minus, number};
        return minus != 0 || symmetric(op, number, step);
    }
    *operand = e->Iex.Binop.arg1;
    if (!ir_bits(e->Iex.Binop.arg2, &number))
        return False;
    *step = (struct step){ADD, minus, -number};
    return minus != 0 || symmetric(op, number, step) || shift(op, number, step);
}

/* What made `temp` of another one. False: nothing that can be followed. */
static Bool step_back(IRTemp temp, struct step *step, IRTemp *before)
{
    const IRExpr *e = temp < n_definitions ? definitions[temp] : NULL, *operand;
    Bool is_known = False;
    if (e == NULL)
        return False;
    if (e->tag == Iex_RdTmp) {
        operand = e;
        *step = (struct step){SAME, 64, 0};
        is_known = True;
    } else if (e->tag == Iex_Unop) {
        operand = e->Iex.Unop.arg;
        is_known = unary(e->Iex.Unop.op, step);
    } else if (e->tag == Iex_Binop) {
        is_known = binary(e, step, &operand);
    }
    if (!is_known || operand->tag != Iex_RdTmp)
        return False;
    *before = operand->Iex.RdTmp.tmp;
    return True;
}

/* ---- the formula ---- */

/* How far it is filled: sum and mask; product and shift; sum and mask again. */
enum stage { FIRST, SCALED, SECOND };

struct formula {
    struct rf_derivation how;
    enum stage stage;
};

static Bool put_second(struct formula *f, ULong more, ULong last)
{
    f->how.part[RF_DERIVE_MORE] = more;
    f->how.part[RF_DERIVE_LAST] = last;
    f->stage = SECOND;
    return True;
}

/* A sum of so many bits goes into one that has the same mask. */
static Bool put_sum(struct formula *f, const struct step *step)
{
    uint64_t *part = f->how.part;
    ULong mask = low(step->bits);
    if (f->stage == FIRST && part[RF_DERIVE_MASK] == mask) {
        part[RF_DERIVE_ADD] += step->number;
        return True;
    }
    if (f->stage != SECOND)
        return put_second(f, step->number, mask);
    part[RF_DERIVE_MORE] += step->number;
    return part[RF_DERIVE_LAST] == mask;
}

static Bool put_mask(struct formula *f, ULong mask)
{
    if (f->stage == SCALED)
        return put_second(f, 0, mask);
    f->how.part[f->stage == FIRST ? RF_DERIVE_MASK : RF_DERIVE_LAST] &= mask;
    return True;
}

static Bool put_product(struct formula *f, const struct step *step)
{
    if (f->stage != FIRST)
        return False;
    f->how.part[RF_DERIVE_TIMES] = step->number;
    f->stage = SCALED;
    return step->bits == 64 || put_second(f, 0, low(step->bits));
}

static Bool put_shift(struct formula *f, const struct step *step)
{
    if (f->stage != FIRST && (f->stage != SCALED || f->how.shift != 0))
        return False;
    f->how.shift = (UInt)step->number;
    f->stage = SCALED;
    return True;
}

/* Is the highest of so many bits always 0? */
static Bool is_positive(const struct formula *f, UInt bits)
{
    return f->stage == FIRST && f->how.part[RF_DERIVE_MASK] >> (bits - 1) == 0;
}

/* A number of so many bits with a sign, shifted, is one without that is 1 << (bits - 1) more. */
static Bool put_signed(struct formula *f, UInt bits, UInt by, ULong last)
{
    ULong half = 1ULL << (bits - 1);
    if (f->stage != FIRST || f->how.part[RF_DERIVE_MASK] != low(bits))
        return False;
    f->how.part[RF_DERIVE_ADD] += half;
    f->how.shift = by;
    return put_second(f, -(half >> by), last);
}

static Bool put_difference(struct formula *f, const struct step *step)
{
    if (f->stage != FIRST)
        return False;
    f->how.part[RF_DERIVE_TIMES] = -1ULL;
    return put_second(f, step->number, low(step->bits));
}

static Bool put(struct formula *f, const struct step *step)
{
    switch (step->kind) {
    case SAME:
        return True;
    case ADD:
        return put_sum(f, step);
    case AND:
        return put_mask(f, step->number);
    case TIMES:
        return put_product(f, step);
    case RIGHT:
        return put_shift(f, step);
    case RIGHT_SIGNED:
        return is_positive(f, step->bits)
                   ? put_shift(f, step)
                   : put_signed(f, step->bits, (UInt)step->number, low(step->bits));
    case EXTEND:
        return is_positive(f, (UInt)step->number) ||
               put_signed(f, (UInt)step->number, 0, low(step->bits));
    case MINUS:
        return put_difference(f, step);
    }
    return False;
}

static UInt width(const IRSB *out, IRTemp temp)
{
    IRType type = typeOfIRTemp(out->tyenv, temp);
    return type == Ity_I8 ? 8 : type == Ity_I16 ? 16 : type == Ity_I32 ? 32 : 64;
}

/* From the source to what is told, by n steps, the last one first. */
static Bool fill(const IRSB *out, const struct source *source, Bool from_base,
                 const struct step *way, UInt n, struct rf_derivation *how)
{
    struct formula f = {RF_DERIVATION_NONE, FIRST};
    ULong all = low(from_base ? source->bits : width(out, source->temp));
    f.how.of = source->number;
    f.how.part[RF_DERIVE_MASK] = all;
    f.how.part[RF_DERIVE_ADD] = from_base ? -source->added : 0;
    while (n > 0)
        if (!put(&f, &way[--n]))
            return False;
    if (f.how.part[RF_DERIVE_ADD] == 0 && f.how.part[RF_DERIVE_MASK] == all)
        f.how.part[RF_DERIVE_MASK] = ~0ULL; /* no word of it is wider */
    *how = f.how;
    return True;
}

/* The source that is `temp`, or differs from it by a constant. */
static struct source *find_source(IRTemp temp)
{
    for (UInt i = 0; i < n_sources; i++)
        if ((sources[i].temp == temp || sources[i].base == temp) &&
            sources[i].n_derived < RF_DERIVED_MAX)
            return &sources[i];
    return NULL;
}

Bool derive_find(const IRSB *out, const IRExpr *atom, struct rf_derivation *how)
{
    struct step way[WAY_MAX];
    if (atom->tag != Iex_RdTmp)
        return False;
    IRTemp temp = atom->Iex.RdTmp.tmp;
    for (UInt n = 0; n_sources > 0; n++) {
        struct source *source = find_source(temp);
        if (source != NULL) {
            Bool is_found = fill(out, source, source->temp != temp, way, n, how);
            source->n_derived += is_found;
            return is_found;
        }
        if (n == WAY_MAX || !step_back(temp, &way[n], &temp))
            return False;
    }
    return False;
}

void derive_add(const IRExpr *atom, UInt number)
{
    struct step step;
    IRTemp before;
    if (n_sources == SOURCES_MAX || atom->tag != Iex_RdTmp)
        return;
    struct source *source = &sources[n_sources++];
    *source = (struct source){atom->Iex.RdTmp.tmp, IRTemp_INVALID, 0, 0, number, 0};
    for (IRTemp temp = source->temp; step_back(temp, &step, &before); temp = before) {
        Bool is_sum = step.kind == ADD && (source->bits == 0 || source->bits == step.bits);
        if (!is_sum && (step.kind != SAME || source->bits != 0))
            return;
        if (!is_sum)
            continue;
        source->bits = step.bits;
        source->base = before;
        source->added += step.number;
    }
}
