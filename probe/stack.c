/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stack.c - samples of the call stack, one every N instructions.
 *
 *     left -= instructions of the block
 *     if (left < 0) yield to the scheduler               at the top of each block
 *
 * The scheduler comes back to us (burst.c wraps it), we take the sample, and the block starts again. That is cheaper than
 * a call: four instructions per block and no register in use. Valgrind's own count of blocks does not serve: it leaves
 * out those that are entered by a jump forwards.
 *
 * The distance is random around the wanted one, so that no loop runs in step with it; the same program gives the same
 * samples. Valgrind unwinds the stack by the program's own tables for exceptions and debugging, so frame pointers are not
 * needed. Cannot: a block that leaves early counts as a whole. */
#include "ir.h"
#include "pub_tool_stacktrace.h"

static Long left; /* of the thread that runs it is in the word behind its registers */
enum { LEFT = sizeof(VexGuestAMD64State) };
static ULong random_state = 0x9e3779b97f4a7c15ULL;

static Long draw_distance(void)
{
    ULong period = (ULong)probe_options.stack_period;
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (Long)(1 + period / 2 + random_state % period);
}

static UInt count_instructions(const IRSB *in)
{
    UInt n = 0;
    for (Int i = 0; i < in->stmts_used; i++)
        n += in->stmts[i]->tag == Ist_IMark;
    return n;
}

Bool stack_count(IRSB *out, const IRSB *in, Addr pc)
{
    if (probe_options.stack_period == 0)
        return False;
    IRExpr *before = IRExpr_RdTmp(ir_assign(out, Ity_I64, IRExpr_Get(LEFT, Ity_I64)));
    IRExpr *after = ir_binary(out, Ity_I64, Iop_Sub64, before, ir_number(count_instructions(in)));
    addStmtToIRSB(out, IRStmt_Put(LEFT, after));
    IRExpr *due = ir_binary(out, Ity_I1, Iop_CmpLT64S, after, ir_number(0));
    addStmtToIRSB(out, IRStmt_Exit(due, Ijk_Yield, IRConst_U64(pc), out->offsIP));
    return True;
}

/* Behind the first function of all there is nothing, but the unwinder goes on. */
static UInt drop_nonsense(const Addr *frames, UInt n)
{
    while (n > 1) {
        const NSegment *segment = VG_(am_find_nsegment)(frames[n - 1]);
        if (segment != NULL && segment->hasX)
            break;
        n--;
    }
    return n;
}

/* The innermost frame first; the others are inside of the calls. */
static void tell(void)
{
    Addr frames[RF_WORD_FRAMES_MAX];
    UInt n = VG_(get_StackTrace)(VG_(get_running_tid)(), frames, RF_WORD_FRAMES_MAX, NULL, NULL, 0);
    if (n == 0)
        return;
    n = drop_nonsense(frames, n);
    ULong *to = ring_reserve(1 + n);
    to[0] = RF_WORD_HEADER(RF_WORD_STACK, 1 + n);
    VG_(memcpy)(to + 1, frames, n * sizeof *frames);
    ring_commit(1 + n);
}

void stack_go_on(void *guest)
{
    *(Long *)((UChar *)guest + LEFT) = left;
}

/* Between two blocks, with all registers of the program in their places. */
void stack_look(const void *guest)
{
    left = *(const Long *)((const UChar *)guest + LEFT);
    if (left >= 0)
        return;
    tell();
    left = draw_distance();
}
