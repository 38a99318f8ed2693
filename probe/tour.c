/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tour.c - who is told of an event: all selectors, or those that a pattern names. In the version of a block that tells
 * nothing, the counters of skipped events are told. */
#include "tour.h"
#include "base/x86.h"

/* The target that the instruction itself names. */
Addr static_target(const struct insn *insn)
{
    Bool transfers =
        insn->kind == INSN_CONDITIONAL || insn->kind == INSN_JUMP || insn->kind == INSN_CALL;
    return transfers ? insn_target((const UChar *)insn->pc, insn->length, insn->pc) : NO_TARGET;
}

/* Roles of an event of the instruction. Only a transfer of control has a target. */
static UInt roles_of(const struct tour *tour, UInt kind)
{
    Bool transfers = kind == BRANCH || kind == JUMP || kind == CALL;
    Addr pc = tour->insn.pc;
    return pattern_roles(kind, pc, transfers ? static_target(&tour->insn) : NO_TARGET,
                         rf_x86_opcode((const UChar *)pc, tour->insn.length));
}

/* Who wants an event of this class, as bits. With patterns these are selectors. Without, it is the group whose counter
 * counts the event while it is skipped. 0: nobody wants it. */
UInt receivers(const struct tour *tour, UInt kind)
{
    if (probe_options.n_patterns > 0)
        return roles_of(tour, kind) >> ROLE_SELECTOR;
    UInt group = 0;
    while (group < probe_options.n_groups && !(probe_options.groups[group] >> kind & 1))
        group++;
    return 1u << group;
}

/* `add` tells it: to every later path, or to the next one alone. */
static void tell_by(struct tour *tour, struct block_event *event,
                    void (*add)(struct block *, const struct block_event *))
{
    UInt bits = receivers(tour, event->kind);
    event->only = probe_options.n_patterns > 0 ? (UChar)bits : 0;
    if (bits == 0)
        return;
    if (tour->version != OFF)
        add(tour->block, event);
    else if (event->guard != NULL)
        burst_skip_if(tour->out, bits, event->guard);
    else
        burst_skip(bits);
}

void tell(struct tour *tour, struct block_event *event)
{
    tell_by(tour, event, block_add);
}

void tell_here(struct tour *tour, struct block_event *event)
{
    tell_by(tour, event, block_add_here);
}

/* The clocks whose sampling interval the instruction ends. */
UInt ends_interval(const struct tour *tour, UInt kind)
{
    if (probe_options.n_patterns > 0)
        return roles_of(tour, kind) & ((1u << probe_options.n_clocks) - 1);
    return kind == CALL ||
           ((kind == BRANCH || kind == JUMP) && static_target(&tour->insn) <= tour->insn.pc);
}
