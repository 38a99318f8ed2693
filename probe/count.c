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
 * Where there are no counters left (after 4 million), blocks are streamed. */
#include "ir.h"

extern SysRes VG_(am_shared_mmap_file_float_valgrind)(SizeT length, UInt prot, Int fd,
                                                      Off64T offset);

static ULong *counters; /* NULL: there are none */
static UInt n_guards;
static UChar *guard_kinds; /* by number */
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
           ring_next_path() + n_guards + RF_WORD_PATHS_MAX + RF_WORD_EVENTS_MAX < RF_RING_COUNTERS;
}

static void add_to(IRSB *out, UInt counter, IRExpr *amount)
{
    IRExpr *place = ir_number((ULong)&counters[counter]);
    IRTemp before = ir_assign(out, Ity_I64, IRExpr_Load(Iend_LE, Ity_I64, place));
    IRExpr *after = ir_binary(out, Ity_I64, Iop_Add64, IRExpr_RdTmp(before), amount);
    addStmtToIRSB(out, IRStmt_Store(Iend_LE, place, after));
}

void count_path(IRSB *out, UInt path)
{
    add_to(out, path, ir_number(1));
}

void count_guard(IRSB *out, IRExpr *guard, UInt kind)
{
    guard_kinds = ring_grow(guard_kinds, n_guards, &room_guards, sizeof *guard_kinds);
    guard_kinds[n_guards] = (UChar)kind;
    add_to(out, rf_word_guard_counter(n_guards++), ir_unary(out, Ity_I64, Iop_1Uto64, guard));
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
        totals[guard_kinds[i]] += counters[rf_word_guard_counter(i)];
}
