/* SPDX-License-Identifier: GPL-2.0-or-later */
/* burst.c - bursty sampling: most of the time events are only counted; now and then a burst of them is told.
 *
 * Mousa, Krintz, "HPS: Hybrid Profiling Support", section 4. A sampling interval ends with a call or with a
 * branch backwards (taken or not). `sparsity` intervals are skipped, then `burst` intervals are told, and so on.
 * The counters start at their maximum minus the threshold. The code tests their overflow, the sign bit.
 *
 * Two versions of each block exist side by side, at two addresses. Valgrind translates the code at an address
 * and keeps the translation under that address. But a tool may say that the code of one address is at another one;
 * Valgrind replaces functions in this way. So the code at X is also the code of X + TOLD, where nothing is mapped:
 *
 *     X           skipped: acc += events (+ 1 interval); overflow? --+
 *                    ^                                               | at the end of an interval
 *                    |  burst over                                   v
 *     X + TOLD    told: words go to the ring; left += 1 interval; overflow? --> burst_end
 *
 * Each version goes on in its own kind, chained like any other code, so that the unsampled state costs one
 * addition per block with events, and one comparison per interval. A conditional branch ends an interval whichever
 * way it goes: where the counter overflows, the skipped version leaves for X + CROSSING before the branch. The
 * code there is only the branch, and it continues in the told version.
 *
 * With several sets of bursts, one per clock, each has counters of its own. The told version runs while any of them is in
 * a burst. It tells everything; a message in front says whose events count. Where a clock overflows, a helper writes
 * that message.
 *
 * The counters lie in the shared memory (ring_layout.h has them), those of one group of events in the same word as the first
 * clock. clock.c says which thread's counters they are.
 *
 * Guarantee: every event of a wanted class is told or counted as skipped, once.
 * Only acc decides which version a thread runs: the sign of one is set exactly while it runs the told version. After
 * the scheduler (system calls, signals, other threads) a thread continues at a plain address, which is put right in
 * __wrap_vgPlain_disp_run_translations. Signal frames and system calls see plain addresses only. */
#include "ir.h"
#include "base/phases.h"

#define TOLD     0x2d4a000000001553ULL
#define CROSSING 0x5a94000000002aa9ULL

extern Addr __real_vgPlain_redir_do_lookup(Addr address, Bool *is_wrap);
extern void __real_vgPlain_disp_run_translations(HWord *two_words, void *guest, Addr host);
extern void VG_(disp_cp_xindir)(void);
extern void VG_(set_IP)(ThreadId thread, Addr address);

/* ---- versions ---- */

static Bool is_plain(Addr address)
{
    return (Long)(address << 16) >> 16 == (Long)address;
}

enum version burst_version(Addr address)
{
    if (!probe_options.bursts)
        return WHOLE;
    if (is_plain(address - TOLD))
        return ON;
    return is_plain(address - CROSSING) ? CROSS : OFF;
}

static Addr plain(Addr address)
{
    if (is_plain(address))
        return address;
    if (is_plain(address - TOLD))
        return address - TOLD;
    return is_plain(address - CROSSING) ? address - CROSSING : address;
}

/* Valgrind asks: where does the code of this address stand? */
Addr __wrap_vgPlain_redir_do_lookup(Addr address, Bool *is_wrap)
{
    if (is_wrap != NULL)
        *is_wrap = False;
    return __real_vgPlain_redir_do_lookup(probe_options.bursts ? plain(address) : address, is_wrap);
}

/* ---- threads ---- */

/* The frame that the handler sees shows where the program thinks it is. */
void burst_before_signal(ThreadId thread, Int number, Bool alternative)
{
    VG_(set_IP)(thread, plain(VG_(get_IP)(thread)));
}

/* The thread runs on, in the version that its counters ask for. True: its address was changed. */
static Bool put_right(VexGuestAMD64State *guest)
{
    Bool told = clock_enter(VG_(get_running_tid)());
    if (told == !is_plain(guest->guest_RIP) || guest->guest_NRADDR != 0)
        return False;
    guest->guest_RIP = told ? guest->guest_RIP + TOLD : plain(guest->guest_RIP);
    return True;
}

void __wrap_vgPlain_disp_run_translations(HWord *two_words, void *guest, Addr host)
{
    if (probe_options.bursts && put_right(guest))
        host = (Addr)&VG_(disp_cp_xindir);
    if (probe_options.stack_period > 0)
        stack_go_on(guest);
    __real_vgPlain_disp_run_translations(two_words, guest, host);
    if (probe_options.stack_period > 0)
        stack_look(guest);
}

/* ---- code: what both versions need ---- */

static UInt n_clocks(void)
{
    return (UInt)probe_options.n_clocks;
}

static IRExpr *get(IRSB *out, ULong *word)
{
    IRExpr *load = IRExpr_Load(Iend_LE, Ity_I64, ir_number((ULong)word));
    return IRExpr_RdTmp(ir_assign(out, Ity_I64, load));
}

/* word += amount; the sum. */
static IRExpr *add(IRSB *out, ULong *word, IRExpr *amount)
{
    IRExpr *sum = ir_binary(out, Ity_I64, Iop_Add64, get(out, word), amount);
    addStmtToIRSB(out, IRStmt_Store(Iend_LE, ir_number((ULong)word), sum));
    return sum;
}

static ULong *acc_of(UInt clock)
{
    return (ULong *)&ring_counters()->acc[clock];
}

/* A word whose sign is that of either; the first may be NULL. */
static IRExpr *either(IRSB *out, IRExpr *a, IRExpr *b)
{
    return a == NULL ? b : ir_binary(out, Ity_I64, Iop_Or64, a, b);
}

/* A word whose sign is set while some clock is in a burst. */
static IRExpr *any_burst(IRSB *out)
{
    IRExpr *all = NULL;
    for (UInt i = 0; i < n_clocks(); i++)
        all = either(out, all, get(out, acc_of(i)));
    return all;
}

/* Call `helper` if `guard`: it changes the counters. */
static void call_if(IRSB *out, const HChar *name, void (*helper)(void), IRExpr *guard)
{
    IRDirty *call = unsafeIRDirty_0_N(0, name, VG_(fnptr_to_fnentry)(helper), mkIRExprVec_0());
    call->guard = guard;
    call->mFx = Ifx_Modify;
    call->mAddr = ir_number((ULong)ring_counters());
    call->mSize = (Int)sizeof(struct rf_ring_counters);
    addStmtToIRSB(out, IRStmt_Dirty(call));
}

static IRExpr *is_overflowed(IRSB *out, IRExpr *counter)
{
    return ir_binary(out, Ity_I1, Iop_CmpLT64S, counter, ir_number(0));
}

/* next + distance where the counter has overflowed, next where not. */
static IRExpr *moved(IRSB *out, IRExpr *next, IRExpr *counter, ULong distance)
{
    IRExpr *mask = ir_binary(out, Ity_I64, Iop_Sar64, counter, IRExpr_Const(IRConst_U8(63)));
    IRExpr *added = ir_binary(out, Ity_I64, Iop_And64, mask, ir_number(distance));
    return ir_binary(out, Ity_I64, Iop_Add64, next, added);
}

static Bool goes_on(IRJumpKind kind)
{
    return kind == Ijk_Boring || kind == Ijk_Call || kind == Ijk_Ret;
}

static void add_exit(IRSB *out, IRExpr *guard, Addr to)
{
    addStmtToIRSB(out, IRStmt_Exit(guard, Ijk_Boring, IRConst_U64(to), out->offsIP));
}

/* ---- code: skipped ---- */

static ULong pending[RF_WORD_CLASSES]; /* events by group that the code does not count yet */

/* Those of group 0 are counted with the intervals of the first clock. */
static ULong *group_word(UInt group)
{
    return group == 0 ? acc_of(0) : (ULong *)&ring_counters()->group[group];
}

void burst_begin(void)
{
    VG_(memset)(pending, 0, sizeof pending);
}

void burst_skip(UInt groups)
{
    for (UInt i = 0; i < probe_options.n_groups; i++)
        pending[i] += groups >> i & 1;
}

void burst_skip_if(IRSB *out, UInt groups, IRExpr *guard)
{
    for (UInt i = 0; i < probe_options.n_groups; i++)
        if (groups >> i & 1)
            add(out, group_word(i), ir_unary(out, Ity_I64, Iop_1Uto64, guard));
}

/* Count what is pending, and the intervals that end here. A word whose sign is set if one of their clocks has
 * overflowed; NULL: no interval ends. */
static IRExpr *commit(IRSB *out, UInt ends)
{
    IRExpr *overflow = NULL;
    for (UInt i = 1; i < probe_options.n_groups; i++)
        if (pending[i] > 0)
            add(out, group_word(i), ir_number(pending[i]));
    for (UInt i = 0; i < n_clocks(); i++) {
        ULong amount = (ends >> i & 1) * CLOCK_ONE_INTERVAL + (i == 0 ? pending[0] : 0);
        IRExpr *acc = amount > 0 ? add(out, acc_of(i), ir_number(amount)) : NULL;
        if (ends >> i & 1)
            overflow = either(out, overflow, acc);
    }
    VG_(memset)(pending, 0, sizeof pending);
    if (overflow != NULL && n_clocks() > 1)
        call_if(out, "clock_begin_burst", clock_begin_burst, is_overflowed(out, overflow));
    return overflow;
}

void burst_off_exit(IRSB *out, UInt ends, Addr pc)
{
    IRExpr *overflow = commit(out, ends);
    if (overflow != NULL)
        add_exit(out, is_overflowed(out, overflow), pc + CROSSING);
}

/* The thread goes on in the told version behind the branch `st`, not with it: where `st` goes, or `otherwise`. `st` is
 * added, too. */
void burst_off_behind(IRSB *out, UInt ends, IRStmt *st, Addr otherwise)
{
    IRExpr *overflow = commit(out, ends);
    if (overflow == NULL) {
        addStmtToIRSB(out, st);
        return;
    }
    IRExpr *now = is_overflowed(out, overflow);
    add_exit(out, ir_both(out, st->Ist.Exit.guard, now), st->Ist.Exit.dst->Ico.U64 + TOLD);
    addStmtToIRSB(out, st);
    add_exit(out, now, otherwise + TOLD);
}

void burst_off_end(IRSB *out, UInt ends)
{
    Addr to;
    IRExpr *overflow = commit(out, ends);
    if (overflow == NULL)
        return;
    if (ir_constant(out->next, &to))
        add_exit(out, is_overflowed(out, overflow), to + TOLD);
    else
        out->next = moved(out, out->next, overflow, TOLD);
}

/* ---- code: told ---- */

void burst_on_begin(IRSB *out, Addr pc)
{
    addStmtToIRSB(out, IRStmt_Put(out->offsIP, ir_number(pc)));
}

/* Of several clocks: an interval counts for the burst if the clock was in one; else it brings the burst nearer. The sign
 * of the result: the burst is over, or begins. */
static IRExpr *step_clock(IRSB *out, UInt clock)
{
    IRExpr *before = get(out, acc_of(clock));
    IRExpr *was_on = ir_binary(out, Ity_I64, Iop_Shr64, before, IRExpr_Const(IRConst_U8(63)));
    IRExpr *left = add(out, (ULong *)&ring_counters()->left[clock], was_on);
    IRExpr *after = add(out, acc_of(clock), ir_number(CLOCK_ONE_INTERVAL));
    return either(out, left, ir_binary(out, Ity_I64, Iop_Xor64, before, after));
}

/* The places where intervals end tell phases apart. */
static void note_interval(IRSB *out, UInt ends, Addr pc)
{
    IRExpr **arguments = mkIRExprVec_2(ir_number(ends), ir_number(rf_phases_bucket(pc)));
    addStmtToIRSB(out, IRStmt_Dirty(unsafeIRDirty_0_N(0, "clock_note_interval",
                                                      VG_(fnptr_to_fnentry)(clock_note_interval),
                                                      arguments)));
}

IRExpr *burst_count_interval(IRSB *out, UInt ends, Addr pc)
{
    IRExpr *change = NULL;
    if (clock_has_phases(ends))
        note_interval(out, ends, pc);
    if (n_clocks() == 1)
        change = add(out, (ULong *)&ring_counters()->left[0], ir_number(1));
    for (UInt i = 0; n_clocks() > 1 && i < n_clocks(); i++)
        if (ends >> i & 1)
            change = either(out, change, step_clock(out, i));
    return is_overflowed(out, change);
}

/* If `guard`: bursts end or begin. The sign of the result tells whether the thread is in one afterwards. */
static IRExpr *change_bursts_if(IRSB *out, IRExpr *guard)
{
    call_if(out, "clock_change_burst", clock_change_burst, guard);
    return any_burst(out);
}

/* The exit, in its own version; `last` (NULL: no interval ends here) if it ends a burst. */
void burst_on_exit(IRSB *out, IRExpr *guard, IRJumpKind kind, Addr to, IRExpr *last)
{
    if (last != NULL) {
        IRExpr *told = is_overflowed(out, change_bursts_if(out, ir_both(out, guard, last)));
        IRExpr *skipped_now = ir_unary(out, Ity_I1, Iop_Not1, told);
        add_exit(out, ir_both(out, guard, skipped_now), to);
    }
    Addr there = goes_on(kind) ? to + TOLD : to;
    addStmtToIRSB(out, IRStmt_Exit(guard, kind, IRConst_U64(there), out->offsIP));
}

/* Jumps backwards must not be constant: Valgrind takes X + TOLD for a forward one, and looks for waiting signals
 * and threads on backward ones alone. */
void burst_on_end(IRSB *out, IRExpr *last, Addr pc)
{
    Addr to;
    if (!goes_on(out->jumpkind))
        return;
    if (last != NULL)
        out->next = moved(out, out->next, change_bursts_if(out, last), TOLD);
    else if (!ir_constant(out->next, &to))
        out->next = ir_binary(out, Ity_I64, Iop_Add64, out->next, ir_number(TOLD));
    else if (to <= pc)
        out->next = moved(out, out->next, any_burst(out), TOLD);
    else
        out->next = ir_number(to + TOLD);
}

/* A wrapped function is to be told its plain address. */
IRStmt *burst_on_put(IRStmt *st)
{
    Addr address;
    if (st->Ist.Put.offset != (Int)offsetof(VexGuestAMD64State, guest_NRADDR) ||
        !ir_constant(st->Ist.Put.data, &address))
        return st;
    return IRStmt_Put(st->Ist.Put.offset, ir_number(plain(address)));
}

IRSB *burst_cross(IRSB *in)
{
    IRSB *out = deepCopyIRSBExceptStmts(in);
    for (Int i = 0; i < in->stmts_used; i++) {
        IRStmt *st = in->stmts[i];
        if (st->tag == Ist_Exit)
            burst_on_exit(out, st->Ist.Exit.guard, st->Ist.Exit.jk, st->Ist.Exit.dst->Ico.U64,
                          NULL);
        else
            addStmtToIRSB(out, st);
    }
    burst_on_end(out, NULL, 0);
    return out;
}
