/* SPDX-License-Identifier: GPL-2.0-or-later */
/* count.c - counters in the shared memory, for events that are the same whenever their code runs.
 *
 *     t1 = LDle:I64(counter)         in front of each exit whose path has such events, or whose
 *     STle(counter) = Add64(t1, 1)   branch tells one way from another
 *
 * probe_words.h says what a counter counts. Counter p is raised at the exit, not at the block's top: a block that is left
 * half-way by a fault counts what the stream would tell, nothing more. Threads take turns between blocks, so plain
 * loads and stores are enough. Translated code holds the addresses of counters, so that a forked child maps its own
 * over its parent's. A block that is translated anew has new paths and new counters; what the old ones hold stays.
 *
 * An event whose one word that changes is a byte has a counter for each value of it:
 *
 *     t2 = Add64(counters, Shl64(8Uto64(byte), 3))      in front of the next exit, too
 *     t1 = LDle:I64(t2)
 *     STle(t2) = Add64(t1, 1)
 *
 * That is less work than to note it (merge.c), and nothing of it needs to be sent. Each such event takes 2 KiB, of which
 * only what is used takes memory.
 *
 * Where there are no counters left (after 4 million), blocks are streamed. */
#include "ir.h"

extern SysRes VG_(am_shared_mmap_file_float_valgrind)(SizeT length, UInt prot, Int fd,
                                                      Off64T offset);

static ULong *counters; /* NULL: there are none */
static UInt n_guards;
enum { NO_CLASS = RF_WORD_CLASSES }; /* of a counter of a value: its event has another one */
static UChar *guard_kinds;           /* by number */
static UInt room_guards;

static struct path_counts *paths; /* by path; blocks without counters have zeroes */
static UInt n_paths, room_paths;

void count_open(UInt slots, UInt slot)
{
    SysRes map = VG_(am_shared_mmap_file_float_valgrind)(
        RF_RING_COUNTER_BYTES, VKI_PROT_READ | VKI_PROT_WRITE, probe_options.ring_fd,
        (Off64T)rf_ring_counters_offset(slots, slot));
    if (sr_isError(map))
        return;
    counters = (ULong *)sr_Res(map);
}

static Bool map_over(ULong flags, Int fd, ULong offset)
{
    if (counters == NULL)
        return True;
    Long map = ring_map((Addr)counters, RF_RING_COUNTER_BYTES, flags, fd, offset);
    return map == (Long)counters;
}

Bool count_in_child(UInt slots, UInt slot)
{
    return map_over(VKI_MAP_SHARED, probe_options.ring_fd, rf_ring_counters_offset(slots, slot));
}

void count_nowhere(void)
{
    map_over(VKI_MAP_PRIVATE | VKI_MAP_ANONYMOUS, -1, 0);
}

Addr count_table(void)
{
    return counters == NULL ? 0 : (Addr)(counters + RF_RING_COUNTERS);
}

/* ---- code ---- */

Bool count_begin(void)
{
    return counters != NULL && probe_options.counts &&
           path_next() + n_guards + RF_WORD_PATHS_MAX + RF_WORD_EVENTS_MAX < RF_RING_COUNTERS;
}

static void add_at(IRSB *out, IRExpr *place, IRExpr *amount)
{
    IRTemp before = ir_assign(out, Ity_I64, IRExpr_Load(Iend_LE, Ity_I64, place));
    IRExpr *after = ir_binary(out, Ity_I64, Iop_Add64, IRExpr_RdTmp(before), amount);
    addStmtToIRSB(out, IRStmt_Store(Iend_LE, place, after));
}

static void add_to(IRSB *out, UInt counter, IRExpr *amount)
{
    add_at(out, ir_number((ULong)&counters[counter]), amount);
}

void count_path(IRSB *out, UInt path)
{
    add_to(out, path, ir_number(1));
}

static UInt new_guard(UInt kind)
{
    guard_kinds = ring_grow(guard_kinds, n_guards, &room_guards, sizeof *guard_kinds);
    guard_kinds[n_guards] = (UChar)kind;
    return n_guards++;
}

void count_guard(IRSB *out, IRExpr *guard, UInt kind)
{
    add_to(out, rf_word_guard_counter(new_guard(kind)), ir_unary(out, Ity_I64, Iop_1Uto64, guard));
}

/* Half of the counters are for values at most. */
Bool count_has_values(const IRSB *out, const IRExpr *word)
{
    return typeOfIRExpr(out->tyenv, word) == Ity_I8 &&
           n_guards + RF_WORD_VALUES < RF_RING_COUNTERS / 2 &&
           path_next() + n_guards + RF_WORD_VALUES + RF_WORD_PATHS_MAX + RF_WORD_EVENTS_MAX <
               RF_RING_COUNTERS;
}

UInt count_new_values(void)
{
    UInt first = n_guards;
    for (UInt i = 0; i < RF_WORD_VALUES; i++)
        new_guard(NO_CLASS);
    return rf_word_value_counters(first);
}

void count_value(IRSB *out, UInt values, IRExpr *byte, IRExpr *guard)
{
    IRExpr *offset = ir_binary(out, Ity_I64, Iop_Shl64, ir_unary(out, Ity_I64, Iop_8Uto64, byte),
                               IRExpr_Const(IRConst_U8(3)));
    IRExpr *place = ir_binary(out, Ity_I64, Iop_Add64, ir_number((ULong)&counters[values]), offset);
    add_at(out, place, guard == NULL ? ir_number(1) : ir_unary(out, Ity_I64, Iop_1Uto64, guard));
}

/* ---- totals ---- */

void count_add_path(const struct path_counts *counts)
{
    paths = ring_grow(paths, n_paths, &room_paths, sizeof *paths);
    paths[n_paths++] = *counts;
}

/* Add what the counters say was executed, by class. */
void count_sum(ULong *totals)
{
    for (UInt i = 0; counters != NULL && i < n_paths; i++) {
        ULong here = counters[i] - (paths[i].is_last ? 0 : counters[i + 1]);
        for (UInt kind = 0; counters[i] != 0 && kind < RF_WORD_CLASSES; kind++)
            totals[kind] += paths[i].open[kind] * counters[i] + paths[i].here[kind] * here;
    }
    for (UInt i = 0; counters != NULL && i < n_guards; i++)
        if (guard_kinds[i] != NO_CLASS)
            totals[guard_kinds[i]] += counters[rf_word_guard_counter(i)];
}
