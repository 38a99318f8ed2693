/* SPDX-License-Identifier: GPL-2.0-or-later */
/* merge.c - repeats of an event are counted where they happen, and go to the ring once. probe_words.h has the table.
 *
 *     translated code                  merge_notes, when there are 1024
 *     [n] = site; [n + 8] = word       e = table + hash(site, word)
 *     ...                              of this site and word: count + 1
 *     note = n + 16, at an exit        of others: that entry goes to the ring, and this event takes its place
 *
 * A note is two stores, so that translated code stays small. Merging is a loop over many of them, in which entries are
 * fetched before they are needed. When translated code did this for each event, with 37 instructions, large programs
 * took longer: cc1 7.3 s of processor time and 5.9 s now; gzip, which is small, takes the same 1.1 s. Of the loads of
 * six programs, 70 to 95% find their entry. What goes to the ring and what stays in the table add up to what happened,
 * in another order; so this is for profiles that take any order. Table and notes lie in the shared memory: the collector
 * reads what is left of them when the process is over, however it ended. So the loop says how far it is, in one store
 * per note.
 *
 * Notes are made when a word is known, and count from the next exit on: a block that is left half-way by a fault has
 * noted nothing. Threads take turns between blocks, so plain loads and stores are enough. */
#include "ir.h"

Bool merge_is_possible(void)
{
    for (UInt kind = 0; kind < RF_WORD_CLASSES; kind++) {
        UInt want = probe_options.want[kind];
        UInt words = want & (WANT_ADDR | WANT_VALUE | WANT_TARGET);
        Bool has_one = (words & (words - 1)) == 0;
        if (want != 0 && (!(want & WANT_COUNT) || (want & WANT_STREAM) || !has_one))
            return False;
    }
    return probe_options.counts;
}

/* Where the next note goes. The slot has a copy for the collector; others can write to that, so it is never read here. */
static ULong own_note;

static ULong *first_note(void)
{
    return (ULong *)count_table() + 2 * RF_RING_TABLE;
}

void merge_open(void)
{
    struct rf_ring_slot *slot = ring_slot();
    slot->note = slot->notes = own_note = (ULong)first_note();
    slot->stage = 0;
    ULong *table = (ULong *)count_table();
    for (UInt i = 0; table != NULL && probe_options.merges && i < RF_RING_TABLE; i++)
        table[2 * i] = RF_ENTRY_NONE;
}

/* ---- merging ---- */

/* The program can be killed behind any store: they must stay in their order. */
static inline void put(ULong *place, ULong word)
{
    *(volatile ULong *)place = word;
}

#define COUNT (~0ULL << RF_ENTRY_COUNT_SHIFT)

/* Returns where the ring's chunk is filled to, in bytes. */
static inline ULong merge_one(UChar *chunk, ULong place, ULong *stage, ULong number, ULong *entry,
                              const ULong *note)
{
    ULong old = entry[0], old_word = entry[1], site = note[0], word = note[1];
    ULong *to = (ULong *)(chunk + place);
    put(&to[0], old);
    put(&to[1], old_word);
    ULong differs =
        ((old ^ site) & (((ULong)RF_ENTRY_FULL << RF_ENTRY_COUNT_SHIFT) | RF_ENTRY_SITES)) |
        (old_word ^ word);
    ULong goes = differs != 0; /* a branch would be guessed wrong every other time */
    ULong at = place + RF_STAGE_SAME + goes * (16 + RF_STAGE_OTHER - RF_STAGE_SAME);
    put(stage, (old & COUNT) + number + at);
    put(&entry[0], (old ^ ((old ^ site) & -goes)) + RF_ENTRY_ONCE);
    put(&entry[1], word);
    return at & ~RF_STAGE_KIND;
}

static inline ULong *entry_of(ULong *table, const ULong *note)
{
    ULong *entry = table + 2 * (ULong)rf_entry_place((UInt)note[0], note[1]);
    __builtin_prefetch(entry, 1);
    return entry;
}

/* All notes from the first on. Entries are fetched some notes before they are needed. Behind the last note stands
 * rubbish, up to the page behind all notes: what is fetched for it is not used. */
static ULong merge_all(UChar *chunk, ULong place, ULong *stage, const ULong *notes, UInt n)
{
    enum { AHEAD = 32 };
    ULong *table = (ULong *)count_table(), *entries[AHEAD], number = 0;
    for (UInt i = 0; i < AHEAD; i++)
        entries[i] = entry_of(table, notes + 2 * i);
    for (UInt i = 0; i < n; i++, notes += 2) {
        ULong *entry = entries[i % AHEAD];
        entries[i % AHEAD] = entry_of(table, notes + 2 * AHEAD);
        place = merge_one(chunk, place, stage, number, entry, notes);
        number += 1ULL << RF_STAGE_NOTE_SHIFT;
    }
    return place;
}

void merge_notes(void)
{
    struct rf_ring_slot *slot = ring_slot();
    if (count_table() == 0 || own_note == 0)
        return;
    UInt n = (UInt)((own_note - (ULong)first_note()) / 16);
    ULong *start = ring_reserve(2 * n);
    UChar *chunk = (UChar *)ring_chunk();
    UInt place = (UInt)((UChar *)start - chunk);
    UInt filled = (UInt)merge_all(chunk, place, (ULong *)&slot->stage, first_note(), n);
    put((ULong *)&slot->stage, rf_stage(n, filled, RF_STAGE_PART));
    ring_commit((filled - place) / 8);
    own_note = (ULong)first_note();
    put((ULong *)&slot->note, own_note);
    put((ULong *)&slot->stage, 0);
}

/* ---- noting ---- */

static IRExpr *behind(IRSB *out, IRTemp at, ULong bytes)
{
    return ir_binary(out, Ity_I64, Iop_Add64, IRExpr_RdTmp(at), ir_number(bytes));
}

static IRExpr *next_note(void)
{
    return ir_number((ULong)&own_note);
}

void merge_begin(IRSB *out, IRTemp to)
{
    IRTemp before = ir_assign(out, Ity_I64, IRExpr_Load(Iend_LE, Ity_I64, next_note()));
    IRExpr *limit = ir_number((ULong)(first_note() + 2 * RF_RING_NOTES));
    IRExpr *full = ir_binary(out, Ity_I1, Iop_CmpLT64U, limit, IRExpr_RdTmp(before));
    IRDirty *call =
        unsafeIRDirty_0_N(0, "merge_notes", VG_(fnptr_to_fnentry)(merge_notes), mkIRExprVec_0());
    call->guard = full;
    addStmtToIRSB(out, IRStmt_Dirty(call));
    addStmtToIRSB(out, IRStmt_WrTmp(to, IRExpr_Load(Iend_LE, Ity_I64, next_note())));
}

void merge_note(IRSB *out, struct notes *notes, UInt site, const struct block_event *event,
                IRExpr *word)
{
    ULong here = 16 * (ULong)notes->n;
    word = ir_as_number(out, word);
    addStmtToIRSB(out, IRStmt_Store(Iend_LE, behind(out, notes->next, here), ir_number(site)));
    addStmtToIRSB(out, IRStmt_Store(Iend_LE, behind(out, notes->next, here + 8), word));
    notes->is_new = True;
    if (event->guard == NULL) {
        notes->n++;
        return;
    }
    IRExpr *step =
        ir_binary(out, Ity_I64, Iop_Shl64, ir_unary(out, Ity_I64, Iop_1Uto64, event->guard),
                  IRExpr_Const(IRConst_U8(4)));
    notes->next =
        ir_assign(out, Ity_I64, IRExpr_Binop(Iop_Add64, behind(out, notes->next, here), step));
    notes->n = 0;
}

void merge_commit(IRSB *out, struct notes *notes)
{
    if (!notes->is_new)
        return;
    IRExpr *next = behind(out, notes->next, 16 * (ULong)notes->n);
    addStmtToIRSB(out, IRStmt_Store(Iend_LE, next_note(), next));
    addStmtToIRSB(out, IRStmt_Store(Iend_LE, ir_number((ULong)&ring_slot()->note), next));
    notes->is_new = False;
}
