/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stack.c - samples of the call stack, every so many instructions, at no cost for the code itself.
 *
 * Valgrind counts blocks down to the end of a thread's time slice anyway. We shorten the slice to the next point in time
 * at which we want to look:
 *
 *     run 15,800 blocks | look: the next block has 7 instructions | run 9,100 blocks | look: 4 instructions | ...
 *
 * Points are random in blocks, but samples must be random in instructions. So a look becomes a sample with a chance
 * that is proportional to the instructions of the block that runs next. Every instruction then has the same chance, on
 * average one per period. The same program gives the same samples.
 *
 * Valgrind unwinds the stack by the program's own tables for exceptions and debugging, so frame pointers are not
 * needed. Cannot: a block that leaves early counts as a whole. */
#include "probe.h"
#include "pub_tool_hashtable.h"
#include "pub_tool_stacktrace.h"

enum { LOOKS = 64 }; /* per sample, at least: about as many as a block may have instructions */

struct block_size {
    struct block_size *next; /* these two are the table's */
    UWord address;
    UInt instructions;
};

static VgHashTable *sizes;
static Int until = 1; /* blocks to the next look */
static ULong random_state = 0x9e3779b97f4a7c15ULL;

static ULong draw(ULong below)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state % below;
}

static UInt count_instructions(const IRSB *in)
{
    UInt n = 0;
    for (Int i = 0; i < in->stmts_used; i++)
        n += in->stmts[i]->tag == Ist_IMark;
    return n;
}

void stack_see_block(const IRSB *in, Addr address)
{
    if (probe_options.stack_period == 0)
        return;
    if (sizes == NULL)
        sizes = VG_(HT_construct)("riffle.stack");
    struct block_size *size = VG_(HT_lookup)(sizes, address);
    if (size == NULL) {
        size = VG_(calloc)("riffle.stack", 1, sizeof *size);
        size->address = address;
        VG_(HT_add_node)(sizes, size);
    }
    size->instructions = count_instructions(in);
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

static ULong looks_apart(void)
{
    ULong apart = (ULong)probe_options.stack_period / LOOKS;
    return apart > 0 ? apart : 1;
}

/* The block at this address is about to run. One that was never translated has no size yet: it runs for the first
 * time. */
static void look(Addr address)
{
    ULong period = (ULong)probe_options.stack_period, apart = looks_apart();
    const struct block_size *size = sizes == NULL ? NULL : VG_(HT_lookup)(sizes, address);
    ULong chance = (size == NULL ? 1 : size->instructions) * apart; /* of period */
    for (ULong times = (chance + draw(period)) / period; times > 0; times--)
        tell();
    until = (Int)(1 + apart / 2 + draw(apart));
}

/* The counter is taken down at the top of each block; below 0 the slice is over. */
void stack_slice(VexGuestAMD64State *guest, void (*run)(HWord *, void *, Addr), HWord *two_words,
                 Addr host)
{
    Int given = (Int)guest->host_EvC_COUNTER;
    Int ours = until < given ? until : given;
    guest->host_EvC_COUNTER = (UInt)ours;
    run(two_words, guest, host);
    Int left = (Int)guest->host_EvC_COUNTER;
    until -= ours - left;
    if (left >= 0) /* something else is due: the rest of the slice is still to come */
        guest->host_EvC_COUNTER = (UInt)(left + given - ours);
    if (until <= 0)
        look(guest->guest_RIP);
}
