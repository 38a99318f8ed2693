/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tour.h - one walk through a superblock: what its instructions are, and who is told of their events. */
#ifndef RF_PROBE_TOUR_H
#define RF_PROBE_TOUR_H

#include "probe.h"

/* The instruction that is being looked at. */
struct insn {
    Addr pc;
    UInt length;
    enum insn_kind kind;
    Bool wanted;
    IRExpr *loaded[8]; /* addresses it has loaded from */
    UInt n_loaded;
    IRExpr *result; /* of a computation; NULL: not seen yet */
    Int result_offset;
    Bool is_told; /* OFF: it is counted for all ways that it can go */
};

struct tour {
    IRSB *out;
    enum version version;
    Bool active;         /* the first wanted instruction has come */
    struct block *block; /* NULL: before that, or nothing is told in this version */
    struct insn insn;
    IRExpr *silent; /* of the store that is being looked at; NULL: nobody asks */
    IRExpr
        *last; /* ON: a bit, a burst ends or begins with this interval; NULL: none has ended yet */
    Bool has_ended; /* OFF: the interval is counted already, and so is the branch that ends it */
};

/* What of a class is wanted at all: WANT_..., and a field of it or NULL. */
static inline UInt wants(UInt kind)
{
    return probe_options.want[kind];
}

static inline IRExpr *if_wanted(UInt kind, UInt field, IRExpr *atom)
{
    return (wants(kind) & field) ? atom : NULL;
}

/* tour.c: an event goes to whom it is for, or is counted where the version does not tell. The first for every later
 * path, the second for the next one alone. */
void tell(struct tour *tour, struct block_event *event);
void tell_here(struct tour *tour, struct block_event *event);
UInt receivers(const struct tour *tour, UInt kind);     /* one bit each; 0: nobody */
UInt ends_interval(const struct tour *tour, UInt kind); /* of which clocks: one bit each */
Addr static_target(const struct insn *insn); /* where it says that it goes, or NO_TARGET */

/* instrument.c */
void tell_insn(struct tour *tour);
void tell_result(struct tour *tour); /* the instruction is over: what it computed */

/* transfer.c: exits, the end, and the way on behind a branch of an unrolled loop. */
void tell_way_on(struct tour *tour, Addr to);
void see_exit(struct tour *tour, IRStmt *st); /* adds it, or what stands for it */
void see_end(struct tour *tour);

#endif
