/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pattern.c - the static part of productions: what an instruction is decides, when it is translated, whether it ends a
 * sampling interval and whose events it has. What counters and flags decide is left to burst.c.
 *
 * Patterns come as options, not through the shared memory: that can be written by the program, these cannot. */
#include "probe.h"

Bool pattern_parse(const HChar *text)
{
    ULong numbers[7];
    HChar *end = (HChar *)text;
    if (probe_options.n_patterns == PATTERNS_MAX)
        return False;
    for (UInt i = 0; i < 7; i++, text = end + 1) {
        numbers[i] = VG_(strtoull16)(text, &end);
        if (end == text || *end != (i < 6 ? ',' : 0))
            return False;
    }
    probe_options.patterns[probe_options.n_patterns++] =
        (struct pattern){(UInt)numbers[0], (UInt)numbers[1], (UInt)numbers[2], numbers[3],
                         numbers[4],       numbers[5],       numbers[6]};
    return numbers[0] < ROLE_SELECTOR + RF_WORD_CLASSES;
}

static UInt where(Addr pc, Addr target)
{
    if (target == NO_TARGET)
        return TARGET_NONE;
    return target < pc ? TARGET_BELOW : target == pc ? TARGET_SELF : TARGET_ABOVE;
}

static Bool matches(const struct pattern *pattern, UInt kind, Addr pc, Addr target)
{
    if (!(pattern->classes >> kind & 1) || !(pattern->target & where(pc, target)))
        return False;
    if (pc < pattern->pc_low || pc > pattern->pc_high)
        return False;
    return target == NO_TARGET || (target >= pattern->target_low && target <= pattern->target_high);
}

UInt pattern_roles(UInt kind, Addr pc, Addr target)
{
    UInt roles = 0;
    for (UInt i = 0; i < probe_options.n_patterns; i++)
        if (matches(&probe_options.patterns[i], kind, pc, target))
            roles |= 1u << probe_options.patterns[i].role;
    return roles;
}
