/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pattern.c - the static part of productions. When an instruction is translated, patterns decide whether it ends a
 * sampling interval and which profiles get its events. burst.c does what depends on counters and flags.
 *
 * Patterns come as options, not through the shared memory: the program can write to the shared memory, but not to
 * options. */
#include "probe.h"
#include "base/name_match.h"

enum { NUMBERS = 11 }; /* of a pattern */

Bool pattern_parse(const HChar *text)
{
    ULong numbers[NUMBERS];
    HChar *end = (HChar *)text;
    if (probe_options.n_patterns == PATTERNS_MAX)
        return False;
    for (UInt i = 0; i < NUMBERS; i++, text = end + 1) {
        numbers[i] = VG_(strtoull16)(text, &end);
        if (end == text || *end != (i + 1 < NUMBERS ? ',' : 0))
            return False;
    }
    probe_options.patterns[probe_options.n_patterns++] =
        (struct pattern){(UInt)numbers[0], (UInt)numbers[1], (UInt)numbers[2], numbers[3],
                         numbers[4],       numbers[5],       numbers[6],       (UInt)numbers[7],
                         (UInt)numbers[8], (UInt)numbers[9], (UInt)numbers[10]};
    if (numbers[7] > NAMES_MAX || numbers[8] > NAMES_MAX)
        return False;
    return numbers[0] < ROLE_SELECTOR + RF_WORD_CLASSES;
}

static UInt where(Addr pc, Addr target)
{
    if (target == NO_TARGET)
        return TARGET_NONE;
    return target < pc ? TARGET_BELOW : target == pc ? TARGET_SELF : TARGET_ABOVE;
}

/* Cut "name+12", as Valgrind writes a place, behind the name. Returns the offset. */
static ULong cut_offset(HChar *text)
{
    HChar *plus = VG_(strrchr)(text, '+'), *end;
    if (plus == NULL || plus[1] == 0)
        return 0;
    ULong offset = (ULong)VG_(strtoll10)(plus + 1, &end);
    if (*end != 0)
        return 0; /* operator+ */
    *plus = 0;
    return offset;
}

/* Does the address lie that far behind the beginning of the function? Without a function (0) the range is of addresses. */
static Bool is_within(Addr address, UInt function, ULong low, ULong high)
{
    HChar place[512];
    const HChar *found;
    if (function == 0)
        return address >= low && address <= high;
    if (!VG_(get_fnname_w_offset)(VG_(current_DiEpoch)(), address, &found))
        return False;
    VG_(strncpy)(place, found, sizeof place - 1);
    place[sizeof place - 1] = 0;
    ULong offset = cut_offset(place);
    return offset >= low && offset <= high &&
           rf_name_match(probe_options.pattern_function[function - 1], place) != RF_NAME_DIFFERS;
}

static Bool matches(const struct pattern *pattern, UInt kind, Addr pc, Addr target, UInt opcode)
{
    if (opcode < pattern->opcode_low || opcode > pattern->opcode_high)
        return False;
    if (!(pattern->classes >> kind & 1) || !(pattern->target & where(pc, target)))
        return False;
    if (!is_within(pc, pattern->pc_function, pattern->pc_low, pattern->pc_high))
        return False;
    return target == NO_TARGET ||
           is_within(target, pattern->target_function, pattern->target_low, pattern->target_high);
}

UInt pattern_roles(UInt kind, Addr pc, Addr target, UInt opcode)
{
    UInt roles = 0;
    for (UInt i = 0; i < probe_options.n_patterns; i++)
        if (matches(&probe_options.patterns[i], kind, pc, target, opcode))
            roles |= 1u << probe_options.patterns[i].role;
    return roles;
}
