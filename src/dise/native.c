/* native.c - productions for the probe: which instructions end sampling intervals, which are told, and how many intervals
 * there are in a burst and between two of them.
 *
 * Natively the flags decide one thing per file, whether it is in a burst (course.c); all else is static.
 *
 * Files share a clock of the probe when they have the same bursts and their intervals end with the same instructions.
 * Productions of another form are refused, with their place: controls that differ from instruction to instruction,
 * replacements that are told wholly in one state and partly in another, fields that only RV64 has, code in
 * replacements. riffle sim runs all of these. */
#include "dise/course.h"
#include "dise/productions.h"
#include "dise/told.h"
#include "base/error.h"
#include <riffle/event.h>
#include <riffle/selector.h>
#include <string.h>

#define BIT(n) (1u << (n))

enum {
    COUNTER_BITS = 32,
    TRANSFERS = BIT(RF_DISE_CALL) | BIT(RF_DISE_RETURN) | BIT(RF_DISE_JUMP) | BIT(RF_DISE_BRANCH),
    SEEN = BIT(RF_DISE_OPCODE) | BIT(RF_DISE_PC) | BIT(RF_DISE_TARGET),
};

/* ---- what the probe can see of an instruction ---- */

static bool is_whole(const struct rf_dise_range *range)
{
    return range->lo == INT64_MIN && range->hi == INT64_MAX;
}

static bool is_visible(const struct rf_dise_box *box)
{
    const struct rf_dise_range *opcode = &box->range[RF_DISE_OPCODE];
    if (((box->has | box->lacks) & ~SEEN) != 0 || (!is_whole(opcode) && opcode->lo < RF_DISE_X86))
        return false;
    for (unsigned i = 0; i < RF_DISE_FIELDS; i++)
        if ((SEEN >> i & 1) == 0 && !is_whole(&box->range[i]))
            return false;
    for (unsigned i = 0; i < RF_DISE_PAIRS; i++)
        if (i != RF_DISE_PC_TARGET && box->order[i] != RF_DISE_ANY_ORDER)
            return false;
    return true;
}

static uint8_t target_of(const struct rf_dise_box *box)
{
    unsigned order = box->order[RF_DISE_PC_TARGET];
    uint8_t target = (uint8_t)(((order & RF_DISE_LESS) != 0 ? RF_PROBE_TARGET_ABOVE : 0) |
                               ((order & RF_DISE_EQUAL) != 0 ? RF_PROBE_TARGET_SELF : 0) |
                               ((order & RF_DISE_MORE) != 0 ? RF_PROBE_TARGET_BELOW : 0));
    if ((box->lacks & BIT(RF_DISE_TARGET)) != 0)
        return RF_PROBE_TARGET_NONE;
    return (box->has & BIT(RF_DISE_TARGET)) != 0 ? target : target | RF_PROBE_TARGET_NONE;
}

static uint64_t low_end(const struct rf_dise_range *range)
{
    return range->lo < 0 ? 0 : (uint64_t)range->lo;
}

static uint64_t high_end(const struct rf_dise_range *range)
{
    return range->hi == INT64_MAX ? UINT64_MAX : range->hi < 0 ? 0 : (uint64_t)range->hi;
}

static bool is_same(const struct rf_probe_pattern *a, const struct rf_probe_pattern *b)
{
    return a->role == b->role && a->classes == b->classes && a->target == b->target &&
           a->pc_low == b->pc_low && a->pc_high == b->pc_high && a->target_low == b->target_low &&
           a->target_high == b->target_high && a->opcode_low == b->opcode_low &&
           a->opcode_high == b->opcode_high && a->pc_function == b->pc_function &&
           a->target_function == b->target_function;
}

static bool has_pattern(const struct rf_productions_native *native,
                        const struct rf_probe_pattern *pattern)
{
    for (size_t i = 0; i < native->n_patterns; i++)
        if (is_same(&native->patterns[i], pattern))
            return true;
    return false;
}

/* The function that the range names: its address begins the range, and the end is a place in it. 0: the range has no
 * name. -1: a name stands in a comparison by order. */
static int function_of(struct rf_dise_range *range)
{
    const int64_t first = (int64_t)RF_DISE_FUNCTION_AT(0),
                  behind = (int64_t)RF_DISE_FUNCTION_AT(RF_DISE_FUNCTIONS);
    bool low = range->lo >= first && range->lo < behind,
         high = range->hi >= first && range->hi < behind;
    if (!low && !high)
        return 0;
    int64_t number = (range->lo - first) >> 32;
    if (!low || !high || (range->hi - first) >> 32 != number)
        return -1;
    range->lo -= (int64_t)RF_DISE_FUNCTION_AT(number);
    range->hi -= (int64_t)RF_DISE_FUNCTION_AT(number);
    return 1 + (int)number;
}

/* False: there is no room for it. */
static bool add_pattern(struct rf_productions_native *native, const struct rf_dise_box *box,
                        unsigned role)
{
    struct rf_dise_range places[] = {box->range[RF_DISE_PC], box->range[RF_DISE_TARGET]};
    const struct rf_dise_range *pc = &places[0], *target = &places[1];
    int functions[] = {function_of(&places[0]), function_of(&places[1])};
    const struct rf_dise_range *opcode = &box->range[RF_DISE_OPCODE];
    bool any = is_whole(opcode);
    const struct rf_probe_pattern pattern = {.opcode_low = any ? 0 : (uint32_t)opcode->lo,
                                             .opcode_high = any ? UINT32_MAX : (uint32_t)opcode->hi,
                                             .pc_function = (uint8_t)functions[0],
                                             .target_function = (uint8_t)functions[1],
                                             .role = (uint8_t)role,
                                             .classes = rf_dise_record_classes(box->classes),
                                             .target = target_of(box),
                                             .pc_low = low_end(pc),
                                             .pc_high = high_end(pc),
                                             .target_low = low_end(target),
                                             .target_high = high_end(target)};
    if (has_pattern(native, &pattern))
        return true;
    if (native->n_patterns == RF_PROBE_PATTERNS_MAX)
        return false;
    native->patterns[native->n_patterns++] = pattern;
    return true;
}

/* ---- one profile ---- */

static rf_status check_boxes(const struct rf_dise_program *program,
                             const struct rf_dise_production *production, struct rf_error *error)
{
    for (unsigned k = 0; k < production->n_boxes; k++) {
        const struct rf_dise_box *box = &program->boxes[production->first_box + k];
        if (!is_visible(box))
            return rf_dise_refuse(
                program, &production->place,
                "the probe cannot match anything but T.OPCLASS, T.OPCODE, T.PC and T.Target",
                error);
        struct rf_dise_range pc = box->range[RF_DISE_PC], target = box->range[RF_DISE_TARGET];
        if (function_of(&pc) < 0 || function_of(&target) < 0)
            return rf_dise_refuse(program, &production->place,
                                  "the probe cannot order functions of different files: name == "
                                  "T.PC, or both ends of a range in one function",
                                  error);
        if (production->n_ops > 0 && (box->classes & ~(uint32_t)TRANSFERS) != 0)
            return rf_dise_refuse(
                program, &production->place,
                "the probe cannot count anything but calls, returns, jumps and branches", error);
        if (rf_dise_record_classes(box->classes) == 0)
            return rf_dise_refuse(program, &production->place,
                                  "the probe cannot tell instructions of this class", error);
    }
    return RF_OK;
}

/* The handler of a replacement that is `call(handler) T.INSN`, or -1. */
static int handler_of(const struct rf_dise_program *program,
                      const struct rf_dise_production *production)
{
    const struct rf_dise_sequence *sequence = &program->sequences[production->sequence];
    int handler = -1;
    for (unsigned i = 0; i < sequence->n; i++) {
        const struct rf_dise_item *item = &program->items[sequence->first + i];
        if (item->kind == RF_DISE_CODE ||
            (item->kind == RF_DISE_HANDLER && (handler >= 0 || item->if_set != RF_REG_NONE)))
            return -1;
        if (item->kind == RF_DISE_HANDLER)
            handler = item->handler;
    }
    return sequence->original >= 0 ? handler : -1;
}

static bool is_of(const struct rf_dise_production *production, unsigned profile)
{
    return production->profile == profile;
}

/* The handler that all replacements of the profile call. */
static rf_status find_handler(const struct rf_dise_program *program, unsigned profile, int *told,
                              struct rf_error *error)
{
    *told = -1;
    for (unsigned i = 0; i < program->n_productions; i++) {
        const struct rf_dise_production *production = &program->productions[i];
        if (!is_of(production, profile) || production->sequence < 0)
            continue;
        int handler = handler_of(program, production);
        if (handler < 0 || (*told >= 0 && *told != handler))
            return rf_dise_refuse(
                program, &production->place,
                "the probe cannot replace an instruction but by call(handler) T.INSN, "
                "one handler per file",
                error);
        *told = handler;
    }
    return *told >= 0 ? RF_OK
                      : rf_dise_fail_at(program, rf_dise_first_place(program, profile),
                                        "no production calls a handler, so there is nothing to "
                                        "profile",
                                        error);
}

/* Patterns of all productions of the profile that count, or that are replaced, for this role. */
static rf_status add_patterns(const struct rf_dise_program *program, unsigned profile,
                              enum rf_dise_side part, struct rf_productions_native *native,
                              unsigned role, struct rf_error *error)
{
    rf_status status = RF_OK;
    for (unsigned i = 0; i < program->n_productions; i++) {
        const struct rf_dise_production *production = &program->productions[i];
        for (unsigned k = 0; rf_dise_takes_part(production, profile, part) &&
                             k < production->n_boxes && status == RF_OK;
             k++)
            if (!add_pattern(native, &program->boxes[production->first_box + k], role))
                status = rf_dise_fail_at(program, &production->place,
                                         "the productions have more than 64 patterns up to here, "
                                         "too many for the probe",
                                         error);
    }
    return status;
}

static rf_status add_profile(const struct rf_dise_program *program, unsigned profile,
                             struct rf_productions_native *native, struct rf_error *error)
{
    uint8_t classes = 0;
    int told;
    rf_status status = RF_OK;
    for (unsigned i = 0; i < program->n_productions && status == RF_OK; i++)
        if (is_of(&program->productions[i], profile))
            status = check_boxes(program, &program->productions[i], error);
    if (status == RF_OK)
        status = find_handler(program, profile, &told, error);
    size_t first = native->n_patterns;
    if (status == RF_OK)
        status = add_patterns(program, profile, RF_DISE_REPLACEMENT_SIDE, native,
                              RF_PROBE_ROLE_SELECTOR + profile, error);
    for (size_t i = first; i < native->n_patterns; i++)
        classes |= native->patterns[i].classes;
    if (status == RF_OK)
        rf_dise_write_selector(native->selector[profile], sizeof native->selector[profile], classes,
                               told);
    return status;
}

/* ---- clocks ---- */

/* Does each pattern of this role in `list` stand in `in`, there with the role `other`? */
static bool are_within(const struct rf_productions_native *list, unsigned role,
                       const struct rf_productions_native *in, unsigned other)
{
    for (size_t i = 0; i < list->n_patterns; i++) {
        struct rf_probe_pattern pattern = list->patterns[i];
        if (pattern.role != role)
            continue;
        pattern.role = (uint8_t)other;
        if (!has_pattern(in, &pattern))
            return false;
    }
    return true;
}

/* The same bursts, and intervals that end with the same instructions. `own` has the patterns of the new one, role 0. */
static bool is_alike(const struct rf_productions_native *native, unsigned clock,
                     const struct rf_probe_bursts *bursts, const struct rf_productions_native *own)
{
    const struct rf_probe_bursts *known = &native->bursts[clock];
    return known->burst == bursts->burst && known->sparsity == bursts->sparsity &&
           known->first == bursts->first && are_within(own, 0, native, clock) &&
           are_within(native, clock, own, 0);
}

/* The profile's bursts: those of another one, or a new clock. */
static rf_status add_clock(const struct rf_dise_program *program, unsigned profile,
                           struct rf_productions_native *native,
                           const struct rf_probe_bursts *bursts, struct rf_error *error)
{
    struct rf_productions_native own = {.n_patterns = 0};
    unsigned clock = 0;
    rf_status status = add_patterns(program, profile, RF_DISE_CONTROL_SIDE, &own, 0, error);
    if (status != RF_OK)
        return status;
    while (native->bursts[clock].burst > 0 && !is_alike(native, clock, bursts, &own))
        clock++;
    uint32_t profiles = native->bursts[clock].profiles;
    native->bursts[clock] = *bursts;
    native->bursts[clock].profiles = profiles | BIT(profile);
    return add_patterns(program, profile, RF_DISE_CONTROL_SIDE, native, clock, error);
}

/* Where everything is told, and always, there are no bursts. */
static void forget_endless(struct rf_productions_native *native)
{
    const struct rf_probe_bursts *first = &native->bursts[0];
    if (first->burst == RF_PROBE_FOREVER && first->first == 0 && native->bursts[1].burst == 0)
        memset(native->bursts, 0, sizeof native->bursts);
}

_Static_assert((int)RF_PROBE_PROFILES_MAX == (int)RF_DISE_PROFILES,
               "as many profiles here as there");

_Static_assert((int)RF_PROBE_PATTERNS_MAX == 64, "as the sentence says");

_Static_assert((int)RF_PROBE_CLOCKS_MAX >= (int)RF_DISE_PROFILES, "each may have its own bursts");

_Static_assert((int)RF_PROBE_FUNCTIONS_MAX == (int)RF_DISE_FUNCTIONS, "and functions");

rf_status rf_productions_native(const struct rf_productions *productions,
                                struct rf_productions_native *native, struct rf_error *error)
{
    const struct rf_dise_program *program = &productions->program;
    rf_status status = RF_OK;
    memset(native, 0, sizeof *native);
    if (productions->n_changes > 0)
        return rf_fail(
            error, RF_EINVAL,
            "'%s': the probe counts no instructions to change a register at; see riffle control",
            productions->changes[0].text);
    if (productions->new_mask != 0)
        return rf_fail(error, RF_EINVAL,
                       "a register with '@new' is for riffle sim; riffle run has --phases");
    status = rf_dise_check_registers(program, COUNTER_BITS, error);
    for (size_t i = 0; i < productions->n_functions; i++)
        native->functions[i] = productions->functions[i];
    for (unsigned i = 0; i < program->n_profiles && status == RF_OK; i++) {
        struct rf_probe_bursts bursts = {0};
        status = add_profile(program, i, native, error);
        if (status == RF_OK)
            status = rf_dise_find_bursts(program, i, &bursts, error);
        if (status == RF_OK)
            status = add_clock(program, i, native, &bursts, error);
    }
    forget_endless(native);
    return status;
}
