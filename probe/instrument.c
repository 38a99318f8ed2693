/* SPDX-License-Identifier: GPL-2.0-or-later */
/* instrument.c - from Valgrind's intermediate code to events.
 *
 *     statement              event
 *     IMark                  insn; the instruction's bytes say whether it is a branch, a call ...
 *     t = LDle(..), LoadG    load: address, value, width
 *     STle(..) = .., StoreG  store
 *     CAS                    load (unless the instruction has loaded it already, as lock add does),
 *                            store if it succeeded
 *     LL, SC                 load; store if it succeeded
 *     Dirty with mFx         load, store or both: fld80, fxsave, xsave ..., low 64 bits as value
 *     Put, store             alu: the result of an instruction that computes
 *     Exit in jcc            branch, for that path alone: where it goes, taken or not
 *     end of the block       branch, jump, call or return, by the last instruction
 *
 * An instruction with a rep prefix is run by Valgrind as a loop of single steps: its loads and stores
 * are counted each, the instruction once, on the path that leaves it. Guest chasing is off, so that
 * every transfer of control ends its block, but for small loops, which Valgrind unrolls: there a
 * branch goes on to the next instruction of the block, wherever that is.
 *
 * Cannot: a fault in the middle of a block loses what came after the block's last exit. A load whose
 * value is never used within its block and overwritten there is taken out by Valgrind's optimiser
 * before we see it (2 of 5.5 million in gzip), unless results (alu) are wanted, too: those need every
 * register up to date at every instruction, and main.c asks for that. */
#include "ir.h"
#include "tour.h"
#include "base/name_match.h"

static Bool same_atom(const IRExpr *a, const IRExpr *b)
{
    return eqIRAtom(a, b);
}

/* ---- what is wanted where ---- */

static Bool in_ranges(Addr pc)
{
    for (Int i = 0; i < probe_options.n_ranges; i++)
        if (pc >= probe_options.range_low[i] && pc < probe_options.range_high[i])
            return True;
    return probe_options.n_ranges == 0;
}

Bool probe_is_own(const HChar *path)
{
    const HChar *name = VG_(basename)(path);
    return VG_(strncmp)(name, "vgpreload_", 10) == 0 ||
           VG_(strstr)(name, "riffle-amd64-linux") != NULL;
}

static Bool in_modules(Addr pc)
{
    const NSegment *segment = VG_(am_find_nsegment)(pc);
    const HChar *path = segment == NULL ? NULL : VG_(am_get_filename)(segment);
    if (path != NULL && probe_is_own(path))
        return False;
    if (probe_options.n_modules == 0)
        return True;
    for (Int i = 0; path != NULL && i < probe_options.n_modules; i++)
        if (VG_(strcmp)(path, probe_options.module[i]) == 0 ||
            VG_(strcmp)(VG_(basename)(path), probe_options.module[i]) == 0)
            return True;
    return False;
}

typedef enum rf_name_fit match(const char *written, const char *name);

static Bool is_asked_for(const HChar *name, match *fit)
{
    for (Int i = 0; i < probe_options.n_functions; i++)
        if (fit(probe_options.function[i], name) != RF_NAME_DIFFERS)
            return True;
    return False;
}

/* Valgrind tells functions that were inlined in a sentence only: `0x401136: mix (mix.h:7)`. */
static Bool names_asked_for(const HChar *sentence)
{
    HChar name[1024];
    const HChar *from = VG_(strstr)(sentence, ": "), *to = NULL;
    for (const HChar *at = from; at != NULL; at = VG_(strstr)(at + 1, " ("))
        to = at;
    if (from == NULL || to <= from + 2 || to - from - 2 >= (Int)sizeof name)
        return False;
    VG_(memcpy)(name, from + 2, to - from - 2);
    name[to - from - 2] = 0;
    return is_asked_for(name, rf_name_match_bare);
}

/* Does the instruction come from a function that was inlined there? The last one told is the function around it. */
static Bool in_inlined(Addr pc)
{
    Bool found = False;
    InlIPCursor *cursor = VG_(new_IIPC)(VG_(current_DiEpoch)(), pc);
    while (cursor != NULL && !found) {
        Bool asked = names_asked_for(VG_(describe_IP)(VG_(current_DiEpoch)(), pc, cursor));
        if (!VG_(next_IIPC)(cursor))
            break;
        found = asked;
    }
    VG_(delete_IIPC)(cursor);
    return found;
}

static Bool in_functions(Addr pc)
{
    const HChar *name;
    if (probe_options.n_functions == 0)
        return True;
    if (VG_(get_fnname)(VG_(current_DiEpoch)(), pc, &name) && is_asked_for(name, rf_name_match))
        return True;
    return in_inlined(pc);
}

/* ---- memory ---- */

struct access {
    UInt kind; /* LOAD or STORE */
    UInt bytes;
    IRExpr *addr, *value, *guard;
};

static void tell_access(struct tour *tour, const struct access *access)
{
    if (!tour->insn.wanted || !wants(access->kind))
        return;
    UInt bits = access->bytes * 8;
    struct block_event event = {
        .kind = (UChar)access->kind,
        .width = (UShort)(bits > 0xffff ? 0xffff : bits),
        .pc = tour->insn.pc,
        .guard = access->guard,
        .addr = if_wanted(access->kind, WANT_ADDR, access->addr),
        .value = if_wanted(access->kind, WANT_VALUE, access->value),
        .target = if_wanted(access->kind, WANT_TARGET, access->kind == STORE ? tour->silent : NULL),
    };
    tell(tour, &event);
}

static void remember_load(struct tour *tour, IRExpr *addr)
{
    if (tour->insn.n_loaded < 8)
        tour->insn.loaded[tour->insn.n_loaded++] = addr;
}

static Bool has_loaded(const struct tour *tour, const IRExpr *addr)
{
    for (UInt i = 0; i < tour->insn.n_loaded; i++)
        if (same_atom(tour->insn.loaded[i], addr))
            return True;
    return False;
}

static void see_written(struct tour *tour, IRExpr *data)
{
    if (tour->insn.kind != INSN_ALU)
        return;
    tour->insn.result = data;
    tour->insn.result_offset = -1;
}

static void see_load(struct tour *tour, const IRStmt *st)
{
    const IRExpr *load = st->Ist.WrTmp.data;
    tell_access(tour, &(struct access){LOAD, (UInt)sizeofIRType(load->Iex.Load.ty),
                                       load->Iex.Load.addr, IRExpr_RdTmp(st->Ist.WrTmp.tmp), NULL});
    remember_load(tour, load->Iex.Load.addr);
}

static IRExpr *same_numbers(IRSB *out, IRExpr *a, IRExpr *b)
{
    return ir_binary(out, Ity_I1, Iop_CmpEQ64, ir_as_number(out, a), ir_as_number(out, b));
}

static IRExpr *upper_half(IRSB *out, IRExpr *atom)
{
    return ir_unary(out, Ity_I64, Iop_V128HIto64, atom);
}

/* In front of a store: does it write what is there already? NULL: nobody asks, or it is too wide to be told. */
static IRExpr *is_silent(struct tour *tour, const IRStmt *st)
{
    IRSB *out = tour->out;
    IRExpr *data = st->Ist.Store.data;
    IRType type = typeOfIRExpr(out->tyenv, data);
    if (!tour->insn.wanted || !(wants(STORE) & WANT_TARGET) || tour->version == OFF ||
        sizeofIRType(type) > 16 || type == Ity_I128 || type == Ity_F128 || type == Ity_D128 ||
        type == Ity_D32 || type == Ity_D64 || type == Ity_F16)
        return NULL;
    IRExpr *old =
        IRExpr_RdTmp(ir_assign(out, type, IRExpr_Load(Iend_LE, type, st->Ist.Store.addr)));
    IRExpr *same = same_numbers(out, old, data);
    if (type == Ity_V128)
        same = ir_both(out, same, same_numbers(out, upper_half(out, old), upper_half(out, data)));
    return ir_unary(out, Ity_I64, Iop_1Uto64, same);
}

static void see_store(struct tour *tour, const IRStmt *st)
{
    IRExpr *data = st->Ist.Store.data;
    UInt bytes = (UInt)sizeofIRType(typeOfIRExpr(tour->out->tyenv, data));
    tell_access(tour, &(struct access){STORE, bytes, st->Ist.Store.addr, data, NULL});
    see_written(tour, data);
}

static UInt guarded_bytes(IRLoadGOp op)
{
    switch (op) {
    case ILGop_IdentV128:
        return 16;
    case ILGop_Ident64:
        return 8;
    case ILGop_Ident32:
        return 4;
    case ILGop_16Uto32:
    case ILGop_16Sto32:
        return 2;
    default:
        return 1;
    }
}

static void see_guarded_load(struct tour *tour, const IRLoadG *load)
{
    tell_access(tour, &(struct access){LOAD, guarded_bytes(load->cvt), load->addr,
                                       IRExpr_RdTmp(load->dst), load->guard});
}

static void see_guarded_store(struct tour *tour, const IRStoreG *store)
{
    UInt bytes = (UInt)sizeofIRType(typeOfIRExpr(tour->out->tyenv, store->data));
    tell_access(tour, &(struct access){STORE, bytes, store->addr, store->data, store->guard});
}

static IRExpr *equal(struct tour *tour, IRType type, IRTemp old, IRExpr *expected)
{
    IROp op = type == Ity_I8    ? Iop_CasCmpEQ8
              : type == Ity_I16 ? Iop_CasCmpEQ16
              : type == Ity_I32 ? Iop_CasCmpEQ32
                                : Iop_CasCmpEQ64;
    return ir_binary(tour->out, Ity_I1, op, IRExpr_RdTmp(old), expected);
}

static void see_cas(struct tour *tour, const IRCAS *cas)
{
    Bool is_double = cas->oldHi != IRTemp_INVALID;
    IRType type = typeOfIRExpr(tour->out->tyenv, cas->dataLo);
    UInt bytes = (UInt)sizeofIRType(type) * (is_double ? 2 : 1);
    see_written(tour, cas->dataLo);
    if (!has_loaded(tour, cas->addr))
        tell_access(tour, &(struct access){LOAD, bytes, cas->addr, IRExpr_RdTmp(cas->oldLo), NULL});
    if (!tour->insn.wanted || !wants(STORE))
        return;
    IRExpr *success = equal(tour, type, cas->oldLo, cas->expdLo);
    if (is_double)
        success = ir_both(tour->out, success, equal(tour, type, cas->oldHi, cas->expdHi));
    tell_access(tour, &(struct access){STORE, bytes, cas->addr, cas->dataLo, success});
}

static void see_linked(struct tour *tour, const IRStmt *st)
{
    IRExpr *data = st->Ist.LLSC.storedata;
    IRExpr *result = IRExpr_RdTmp(st->Ist.LLSC.result);
    IRType type = data == NULL ? typeOfIRTemp(tour->out->tyenv, st->Ist.LLSC.result)
                               : typeOfIRExpr(tour->out->tyenv, data);
    UInt bytes = (UInt)sizeofIRType(type);
    if (data == NULL)
        tell_access(tour, &(struct access){LOAD, bytes, st->Ist.LLSC.addr, result, NULL});
    else
        tell_access(tour, &(struct access){STORE, bytes, st->Ist.LLSC.addr, data, result});
}

/* What stands in memory where a helper reads or has written: its low bytes. */
static IRExpr *peek(struct tour *tour, const IRDirty *call, UInt kind)
{
    if (!(wants(kind) & WANT_VALUE) || !tour->insn.wanted || tour->version == OFF)
        return NULL;
    IRType type = call->mSize >= 8 ? Ity_I64 : call->mSize >= 4 ? Ity_I32 : Ity_I8;
    ULong always;
    if (call->guard->tag == Iex_Const) {
        always = call->guard->Iex.Const.con->Ico.U1;
        return always ? IRExpr_RdTmp(
                            ir_assign(tour->out, type, IRExpr_Load(Iend_LE, type, call->mAddr)))
                      : NULL;
    }
    if (type != Ity_I64)
        return NULL;
    IRTemp value = newIRTemp(tour->out->tyenv, type);
    addStmtToIRSB(tour->out, IRStmt_LoadG(Iend_LE, ILGop_Ident64, value, call->mAddr,
                                          IRExpr_Const(IRConst_U64(0)), call->guard));
    return IRExpr_RdTmp(value);
}

static void tell_helper(struct tour *tour, const IRDirty *call, UInt kind)
{
    Bool always = call->guard->tag == Iex_Const;
    if (always && !call->guard->Iex.Const.con->Ico.U1)
        return;
    tell_access(tour, &(struct access){kind, (UInt)call->mSize, call->mAddr, peek(tour, call, kind),
                                       always ? NULL : call->guard});
}

static void see_helper(struct tour *tour, IRStmt *st)
{
    const IRDirty *call = st->Ist.Dirty.details;
    if (call->mFx == Ifx_Read || call->mFx == Ifx_Modify)
        tell_helper(tour, call, LOAD);
    addStmtToIRSB(tour->out, st);
    if (call->mFx == Ifx_Write || call->mFx == Ifx_Modify)
        tell_helper(tour, call, STORE);
}

/* ---- instructions, arithmetic ---- */

void tell_insn(struct tour *tour)
{
    if (!tour->insn.wanted || !wants(INSN))
        return;
    struct block_event event = {.kind = INSN, .pc = tour->insn.pc};
    if (tour->insn.kind == INSN_STRING)
        tell_here(tour, &event);
    else
        tell(tour, &event);
}

/* An instruction that computes puts its result into memory or into an integer register; of two
 * registers (a product, a quotient and its remainder) the first is rax, with the low half. */
static void see_put(struct tour *tour, const IRStmt *st)
{
    Int offset = st->Ist.Put.offset;
    if (tour->insn.kind != INSN_ALU || offset < (Int)offsetof(VexGuestAMD64State, guest_RAX) ||
        offset >= (Int)(offsetof(VexGuestAMD64State, guest_R15) + 8))
        return;
    if (tour->insn.result == NULL || offset < tour->insn.result_offset) {
        tour->insn.result = st->Ist.Put.data;
        tour->insn.result_offset = offset;
    }
}

/* The instruction is over: tell what it computed. */
void tell_result(struct tour *tour)
{
    IRExpr *value = tour->insn.result;
    if (value == NULL || !tour->insn.wanted || !wants(ALU))
        return;
    IRType type = typeOfIRExpr(tour->out->tyenv, value);
    struct block_event event = {
        .kind = ALU,
        .width = (UShort)(sizeofIRType(type) * 8),
        .pc = tour->insn.pc,
        .value = if_wanted(ALU, WANT_VALUE, value),
    };
    tell(tour, &event);
    tour->insn.result = NULL;
}

static Bool any_class_wanted(void)
{
    for (UInt kind = 0; kind < RF_WORD_CLASSES; kind++)
        if (wants(kind))
            return True;
    return False;
}

static void begin_insn(struct tour *tour, const IRStmt *st)
{
    Addr pc = st->Ist.IMark.addr + st->Ist.IMark.delta;
    UInt length = st->Ist.IMark.len;
    tour->insn =
        (struct insn){.pc = pc, .length = length, .kind = insn_classify((const UChar *)pc, length)};
    tour->insn.wanted = any_class_wanted() && in_ranges(pc) && in_modules(pc) && in_functions(pc);
    tour->active |= tour->insn.wanted;
    if (tour->active && tour->block == NULL && tour->version != OFF)
        tour->block = block_begin(tour->out);
    if (tour->insn.kind != INSN_STRING)
        tell_insn(tour);
}

/* ---- the walk ---- */

static void see(struct tour *tour, IRStmt *st)
{
    derive_see(st);
    if (st->tag == Ist_IMark) {
        if (tour->active) {
            tell_result(tour);
            tell_way_on(tour, st->Ist.IMark.addr + st->Ist.IMark.delta);
        }
        addStmtToIRSB(tour->out, st);
        begin_insn(tour, st);
        return;
    }
    if (st->tag == Ist_Exit) {
        see_exit(tour, st);
        return;
    }
    if (st->tag == Ist_Dirty && tour->active) {
        see_helper(tour, st);
        return;
    }
    tour->silent = st->tag == Ist_Store ? is_silent(tour, st) : NULL;
    if (st->tag == Ist_Put && tour->version == ON)
        st = burst_on_put(st);
    addStmtToIRSB(tour->out, st);
    if (!tour->active)
        return;
    switch (st->tag) {
    case Ist_WrTmp:
        if (st->Ist.WrTmp.data->tag == Iex_Load)
            see_load(tour, st);
        break;
    case Ist_Put:
        see_put(tour, st);
        break;
    case Ist_Store:
        see_store(tour, st);
        break;
    case Ist_LoadG:
        see_guarded_load(tour, st->Ist.LoadG.details);
        break;
    case Ist_StoreG:
        see_guarded_store(tour, st->Ist.StoreG.details);
        break;
    case Ist_CAS:
        see_cas(tour, st->Ist.CAS.details);
        break;
    case Ist_LLSC:
        see_linked(tour, st);
        break;
    default:
        break;
    }
}

/* Valgrind checks its intermediate code several times on its way, which takes a tenth of the time to translate. That is for
 * who changes the code here: with RIFFLE_CHECK_CODE in its environment a program is translated with these checks. */
void __real_sanityCheckIRSB(const IRSB *block, const HChar *caller, Bool is_flat, IRType guest);
void __wrap_sanityCheckIRSB(const IRSB *block, const HChar *caller, Bool is_flat, IRType guest);

void __wrap_sanityCheckIRSB(const IRSB *block, const HChar *caller, Bool is_flat, IRType guest)
{
    static enum { UNKNOWN, NO, YES } wanted;
    if (wanted == UNKNOWN)
        wanted = VG_(getenv)("RIFFLE_CHECK_CODE") != NULL ? YES : NO;
    if (wanted == YES)
        __real_sanityCheckIRSB(block, caller, is_flat, guest);
}

IRSB *instrument(VgCallbackClosure *closure, IRSB *in, const VexGuestLayout *layout,
                 const VexGuestExtents *extents, const VexArchInfo *arch, IRType guest_word,
                 IRType host_word)
{
    struct tour tour = {.version = burst_version(closure->nraddr)};
    if (guest_word != host_word)
        VG_(tool_panic)("riffle: only 64-bit programs can be profiled");
    if (tour.version == CROSS)
        return burst_cross(in);
    tour.out = deepCopyIRSBExceptStmts(in);
    burst_begin();
    derive_begin(in);
    Bool is_sampled = stack_count(tour.out, in, closure->nraddr);
    if (tour.version == ON)
        burst_on_begin(tour.out, closure->readdr);
    for (Int i = 0; i < in->stmts_used; i++)
        see(&tour, in->stmts[i]);
    see_end(&tour);
    Bool is_told = tour.block != NULL && block_end(tour.block);
    if (wants(ALU))
        puts_clean(tour.out);
    return is_told || is_sampled || tour.version != WHOLE ? tour.out : in;
}
