/* SPDX-License-Identifier: GPL-2.0-or-later */
/* burst.c - bursty sampling: most of the time nothing is told, but counted; now and then a burst is told.
 *
 * Mousa, Krintz, "HPS: Hybrid Profiling Support", section 4. A sampling interval ends with a call or with a
 * branch backwards (taken or not). `sparsity` intervals are skipped, then `burst` intervals are told, and so on.
 * The counters start at their maximum minus the threshold; what is looked at is their overflow, the sign bit.
 *
 * Two versions of each block exist side by side, at two addresses. Valgrind translates what stands at an address,
 * and keeps the translation under that address; but it can be told that the code of one address stands at another
 * one, which is how it replaces functions. So the code at X also stands at X + TOLD, where nothing is mapped:
 *
 *     X           skipped: acc += events (+ 1 interval); overflow? --+
 *                    ^                                               | at the end of an interval
 *                    |  burst over                                   v
 *     X + TOLD    told: words go to the ring; left += 1 interval; overflow? --> burst_end
 *
 * Each version goes on in its own kind, chained like any other code, so that the unsampled state costs one
 * addition per block with events, and one comparison per interval. A conditional branch ends an interval whichever
 * way it goes: where the counter overflows, the skipped version leaves for X + CROSSING in front of the branch. There
 * stands nothing but the branch, and goes on in the told version.
 *
 * acc, of each thread, holds two counters:
 *
 *     63        62 ............. 28   27 ............ 0
 *     overflow  intervals skipped     events of group 0
 *
 * The events are emptied into a wider counter each time the thread comes by the scheduler, every 100,000 blocks at
 * the latest. Further groups have words of their own. They all lie in the room that Valgrind has in each thread's state
 * for tools that shadow registers.
 *
 * Guarantee: every event of a wanted class is told or counted as skipped, once.
 * Where the thread stands is decided by acc alone: the sign is set exactly while it runs the told version. Whatever
 * comes through the scheduler (system calls, signals, other threads) goes on at a plain address and is put right in
 * __wrap_vgPlain_disp_run_translations. Signal frames and system calls see plain addresses only. */
#include "ir.h"

#define TOLD     0x2d4a000000001553ULL
#define CROSSING 0x5a94000000002aa9ULL

enum {
    EVENT_BITS = 28,
    WORD_ACC = 0,
    WORD_LEFT,
    WORD_GROUP, /* of group 1 */
    WORDS = WORD_GROUP + RF_WORD_CLASSES - 1,
    THREADS_MAX = 1024,
};

#define OVERFLOWED   (1ULL << 63)
#define ONE_INTERVAL (1ULL << EVENT_BITS)
#define EVENTS       (ONE_INTERVAL - 1)
#define SPARSITY_MAX ((1ULL << (63 - EVENT_BITS)) - 1)

extern Addr __real_vgPlain_redir_do_lookup(Addr address, Bool *is_wrap);
extern void __real_vgPlain_disp_run_translations(HWord *two_words, void *guest, Addr host);
extern void VG_(disp_cp_xindir)(void);
extern void VG_(set_IP)(ThreadId thread, Addr address);

static Int state_offset;               /* of our words in a thread's state */
static ULong *threads[THREADS_MAX];    /* their words; NULL: not seen yet, or over */
static ULong skipped[RF_WORD_CLASSES]; /* by group, not told of yet */
static UInt changes_seen;
static ULong random_state;

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

/* ---- counters ---- */

static ULong next_random(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

/* How many intervals are skipped before the next burst: as many as wanted, on average. */
static ULong draw_sparsity(const struct rf_ring_bursts *wanted)
{
    ULong sparsity = wanted->sparsity < SPARSITY_MAX / 2 ? wanted->sparsity : SPARSITY_MAX / 2;
    if (sparsity == 0 || wanted->regular)
        return sparsity;
    return 1 + next_random() % (2 * sparsity - 1);
}

static void arm(ULong *words)
{
    const struct rf_ring_bursts *wanted = ring_bursts();
    ULong sparsity = wanted->paused ? SPARSITY_MAX : draw_sparsity(wanted);
    words[WORD_ACC] = OVERFLOWED - sparsity * ONE_INTERVAL;
    words[WORD_LEFT] = OVERFLOWED - (wanted->burst > 0 ? wanted->burst : 1);
}

/* Empty the thread's counters of events. */
static void fold(ULong *words)
{
    skipped[0] += words[WORD_ACC] & EVENTS;
    words[WORD_ACC] &= ~EVENTS;
    for (UInt i = 1; i < RF_WORD_CLASSES; i++) {
        skipped[i] += words[WORD_GROUP + i - 1];
        words[WORD_GROUP + i - 1] = 0;
    }
}

static void tell_skipped(UInt type)
{
    UInt n = 1 + probe_options.n_groups;
    ULong *to = ring_reserve(n);
    to[0] = RF_WORD_HEADER(type, n);
    VG_(memcpy)(to + 1, skipped, probe_options.n_groups * sizeof skipped[0]);
    ring_commit(n);
    VG_(memset)(skipped, 0, sizeof skipped);
}

/* Called from the told version when the thread has seen its last interval of a burst. */
static void burst_end(UChar *guest)
{
    ULong *words = (ULong *)(guest + state_offset);
    fold(words);
    tell_skipped(RF_WORD_BURST);
    arm(words);
}

/* ---- threads ---- */

static void begin_thread(ThreadId thread, ULong *words)
{
    if (random_state == 0)
        random_state = (ring_bursts()->seed * 64 + ring_process()) * 0x9e3779b97f4a7c15ULL | 1;
    VG_(memset)(words, 0, WORDS * sizeof *words);
    threads[thread] = words;
    arm(words);
}

void burst_forget_thread(ThreadId thread)
{
    if (thread >= THREADS_MAX || threads[thread] == NULL)
        return;
    fold(threads[thread]);
    threads[thread] = NULL;
}

void burst_finish(void)
{
    if (!probe_options.bursts)
        return;
    for (UInt i = 0; i < THREADS_MAX; i++)
        if (threads[i] != NULL)
            fold(threads[i]);
    tell_skipped(RF_WORD_SKIPPED);
}

/* What was counted so far is the parent's; of its threads one alone lives on here. */
void burst_in_child(ThreadId thread)
{
    for (UInt i = 0; i < THREADS_MAX; i++) {
        if (threads[i] != NULL)
            fold(threads[i]);
        if (i != thread)
            threads[i] = NULL;
    }
    VG_(memset)(skipped, 0, sizeof skipped);
}

/* The frame that the handler sees shows where the program thinks it is. */
void burst_before_signal(ThreadId thread, Int number, Bool alternative)
{
    VG_(set_IP)(thread, plain(VG_(get_IP)(thread)));
}

/* Somebody has set other bursts: all threads begin anew, those in a burst when it is over. */
static void see_changes(void)
{
    UInt changes = __atomic_load_n(&ring_bursts()->changes, __ATOMIC_ACQUIRE);
    if (changes == changes_seen)
        return;
    changes_seen = changes;
    for (UInt i = 0; i < THREADS_MAX; i++) {
        if (threads[i] == NULL || threads[i][WORD_ACC] & OVERFLOWED)
            continue;
        fold(threads[i]);
        arm(threads[i]);
    }
}

/* The thread runs on: in the version that its counter asks for. True: elsewhere than it says. */
static Bool put_right(VexGuestAMD64State *guest)
{
    ThreadId thread = VG_(get_running_tid)();
    ULong *words = (ULong *)((UChar *)guest + state_offset);
    tl_assert(thread < THREADS_MAX);
    if (state_offset == 0)
        return False; /* nothing is translated yet */
    if (threads[thread] == NULL)
        begin_thread(thread, words);
    see_changes();
    fold(words);
    Bool told = (words[WORD_ACC] & OVERFLOWED) != 0;
    if (told == !is_plain(guest->guest_RIP) || guest->guest_NRADDR != 0)
        return False;
    guest->guest_RIP = told ? guest->guest_RIP + TOLD : plain(guest->guest_RIP);
    return True;
}

void __wrap_vgPlain_disp_run_translations(HWord *two_words, void *guest, Addr host)
{
    if (probe_options.bursts && put_right(guest))
        host = (Addr)&VG_(disp_cp_xindir);
    __real_vgPlain_disp_run_translations(two_words, guest, host);
}

/* ---- code: what both versions need ---- */

static Int place(UInt word)
{
    return state_offset + (Int)(word * sizeof(ULong));
}

static IRExpr *get(IRSB *out, UInt word)
{
    return IRExpr_RdTmp(ir_assign(out, Ity_I64, IRExpr_Get(place(word), Ity_I64)));
}

/* word += amount; the sum. */
static IRExpr *add(IRSB *out, UInt word, IRExpr *amount)
{
    IRExpr *sum = ir_binary(out, Ity_I64, Iop_Add64, get(out, word), amount);
    addStmtToIRSB(out, IRStmt_Put(place(word), sum));
    return sum;
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

static UInt group_word(UInt group)
{
    return group == 0 ? (UInt)WORD_ACC : (UInt)(WORD_GROUP + group - 1);
}

void burst_begin(Int guest_size)
{
    state_offset = guest_size;
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

/* Count what is pending, and an interval where one ends here; acc, or NULL when it has not changed. */
static IRExpr *commit(IRSB *out, Bool ends_interval)
{
    ULong amount = pending[0] + (ends_interval ? ONE_INTERVAL : 0);
    for (UInt i = 1; i < probe_options.n_groups; i++)
        if (pending[i] > 0)
            add(out, group_word(i), ir_number(pending[i]));
    VG_(memset)(pending, 0, sizeof pending);
    return amount > 0 ? add(out, WORD_ACC, ir_number(amount)) : NULL;
}

void burst_off_exit(IRSB *out, Bool ends_interval, Addr pc)
{
    IRExpr *acc = commit(out, ends_interval);
    if (ends_interval)
        add_exit(out, is_overflowed(out, acc), pc + CROSSING);
}

void burst_off_end(IRSB *out, Bool ends_interval)
{
    Addr to;
    IRExpr *acc = commit(out, ends_interval);
    if (!ends_interval)
        return;
    if (ir_constant(out->next, &to))
        add_exit(out, is_overflowed(out, acc), to + TOLD);
    else
        out->next = moved(out, out->next, acc, TOLD);
}

/* ---- code: told ---- */

void burst_on_begin(IRSB *out, Addr pc)
{
    addStmtToIRSB(out, IRStmt_Put(out->offsIP, ir_number(pc)));
}

/* One interval is over; a bit that tells whether it was the last. */
IRExpr *burst_count_interval(IRSB *out)
{
    return is_overflowed(out, add(out, WORD_LEFT, ir_number(1)));
}

/* If `guard`: the burst is over. The sign of acc tells afterwards whether another one follows at once. */
static IRExpr *end_burst_if(IRSB *out, IRExpr *guard)
{
    IRDirty *call = unsafeIRDirty_0_N(0, "burst_end", VG_(fnptr_to_fnentry)(burst_end),
                                      mkIRExprVec_1(IRExpr_GSPTR()));
    call->guard = guard;
    call->nFxState = 1;
    VG_(memset)(&call->fxState, 0, sizeof call->fxState);
    call->fxState[0].fx = Ifx_Modify;
    call->fxState[0].offset = (UShort)state_offset;
    call->fxState[0].size = WORDS * sizeof(ULong);
    addStmtToIRSB(out, IRStmt_Dirty(call));
    return get(out, WORD_ACC);
}

/* The exit, in its own version; `last` (NULL: no interval ends here) if it ends a burst. */
void burst_on_exit(IRSB *out, IRExpr *guard, IRJumpKind kind, Addr to, IRExpr *last)
{
    if (last != NULL) {
        IRExpr *told = is_overflowed(out, end_burst_if(out, ir_both(out, guard, last)));
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
        out->next = moved(out, out->next, end_burst_if(out, last), TOLD);
    else if (!ir_constant(out->next, &to))
        out->next = ir_binary(out, Ity_I64, Iop_Add64, out->next, ir_number(TOLD));
    else if (to <= pc)
        out->next = moved(out, out->next, get(out, WORD_ACC), TOLD);
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
