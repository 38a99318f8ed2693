/* native.c - productions for the probe: which instructions end sampling intervals, which are told, and how many intervals
 * there are in a burst and between two of them.
 *
 * Natively the flags decide one thing, whether we are in a burst; all else is static:
 *
 *     state of the flags    controls: one set of instructions, in all states     replacements
 *     !ov1                  inc_1                                                none
 *     ov1 && !ov2           inc_2                                                one set of instructions
 *     ov1 && ov2            set_1, set_2                                         the same set
 *
 * Which states there are, and how many instructions of the first set each of them lasts, is found by running the
 * counters as the engine of the simulated core runs them: off, on, off, on. What does not have that form is refused
 * with its place: controls that differ from instruction to instruction, replacements that are told in one state and
 * partly in another, fields that only RV64 has, code in replacements. riffle sim runs all of it. */
#include "dise/engine.h"
#include "dise/productions.h"
#include "base/alloc.h"
#include "base/error.h"
#include <riffle/event.h>
#include <riffle/selector.h>
#include <string.h>

#define BIT(n) (1u << (n))

enum {
    COUNTER_BITS = 32,
    STEPS_MAX = 1 << 26,
    TRANSFERS = BIT(RF_DISE_CALL) | BIT(RF_DISE_RETURN) | BIT(RF_DISE_JUMP) | BIT(RF_DISE_BRANCH),
    PLACES = BIT(RF_DISE_PC) | BIT(RF_DISE_TARGET),
};

/* ---- what the probe can see of an instruction ---- */

static rf_status refuse(const struct rf_dise_program *program, const struct rf_dise_place *place,
                        const char *what, struct rf_error *error)
{
    return rf_fail(error, RF_EINVAL, "%s:%u:%u: %s; riffle sim can", program->file[place->file],
                   place->line, place->column, what);
}

static bool is_whole(const struct rf_dise_range *range)
{
    return range->lo == INT64_MIN && range->hi == INT64_MAX;
}

static bool is_visible(const struct rf_dise_box *box)
{
    if (((box->has | box->lacks) & ~PLACES) != 0)
        return false;
    for (unsigned i = 0; i < RF_DISE_FIELDS; i++)
        if ((PLACES >> i & 1) == 0 && !is_whole(&box->range[i]))
            return false;
    for (unsigned i = 0; i < RF_DISE_PAIRS; i++)
        if (i != RF_DISE_PC_TARGET && box->order[i] != RF_DISE_ANY_ORDER)
            return false;
    return true;
}

/* Classes of records; an atomic instruction is a load and a store natively, and told as both. */
static uint8_t record_classes(uint32_t classes)
{
    static const uint8_t to[RF_DISE_CLASSES] = {
        [RF_DISE_CALL] = BIT(RF_CLASS_CALL), [RF_DISE_RETURN] = BIT(RF_CLASS_RETURN),
        [RF_DISE_JUMP] = BIT(RF_CLASS_JUMP), [RF_DISE_BRANCH] = BIT(RF_CLASS_BRANCH),
        [RF_DISE_LOAD] = BIT(RF_CLASS_LOAD), [RF_DISE_STORE] = BIT(RF_CLASS_STORE),
        [RF_DISE_ALU] = BIT(RF_CLASS_ALU),   [RF_DISE_MULTIPLY] = BIT(RF_CLASS_ALU),
    };
    uint8_t out = 0;
    for (unsigned i = 0; i < RF_DISE_CLASSES; i++)
        out |= (classes >> i & 1) != 0 ? to[i] : 0;
    return out;
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

static rf_status add_pattern(struct rf_productions_native *native, const struct rf_dise_box *box,
                             unsigned role, struct rf_error *error)
{
    if (native->n_patterns == RF_PROBE_PATTERNS_MAX)
        return rf_fail(error, RF_EINVAL,
                       "the productions have more than %d patterns, too many for the probe",
                       RF_PROBE_PATTERNS_MAX);
    const struct rf_dise_range *pc = &box->range[RF_DISE_PC], *target = &box->range[RF_DISE_TARGET];
    native->patterns[native->n_patterns++] =
        (struct rf_probe_pattern){.role = (uint8_t)role,
                                  .classes = record_classes(box->classes),
                                  .target = target_of(box),
                                  .pc_low = low_end(pc),
                                  .pc_high = high_end(pc),
                                  .target_low = low_end(target),
                                  .target_high = high_end(target)};
    return RF_OK;
}

/* ---- productions in a state ---- */

enum part { CONTROLS, REPLACEMENTS };

static bool takes_part(const struct rf_dise_production *production, unsigned profile,
                       enum part part)
{
    return production->profile == profile &&
           (part == CONTROLS ? production->n_ops > 0 : production->sequence >= 0);
}

/* The static part of a box alone. */
static struct rf_dise_box static_part(const struct rf_dise_box *box)
{
    struct rf_dise_box alone = *box;
    alone.set = alone.clear = 0;
    return alone;
}

/* Is the static part of the box among those of the state? */
static bool is_covered(const struct rf_dise_program *program, unsigned profile, enum part part,
                       uint32_t flags, const struct rf_dise_box *box)
{
    struct rf_dise_box inner = static_part(box);
    for (unsigned i = 0; i < program->n_productions; i++) {
        const struct rf_dise_production *production = &program->productions[i];
        for (unsigned k = 0; takes_part(production, profile, part) && k < production->n_boxes;
             k++) {
            const struct rf_dise_box *other = &program->boxes[production->first_box + k];
            struct rf_dise_box outer = static_part(other);
            if (rf_dise_box_enabled(other, flags) && rf_dise_box_within(&inner, &outer))
                return true;
        }
    }
    return false;
}

/* What is enabled in `flags` has the same static part as what is enabled in `before`. */
static const struct rf_dise_production *find_difference(const struct rf_dise_program *program,
                                                        unsigned profile, enum part part,
                                                        uint32_t flags, uint32_t before)
{
    for (unsigned i = 0; i < program->n_productions; i++) {
        const struct rf_dise_production *production = &program->productions[i];
        for (unsigned k = 0; takes_part(production, profile, part) && k < production->n_boxes;
             k++) {
            const struct rf_dise_box *box = &program->boxes[production->first_box + k];
            if ((rf_dise_box_enabled(box, flags) &&
                 !is_covered(program, profile, part, before, box)) ||
                (rf_dise_box_enabled(box, before) &&
                 !is_covered(program, profile, part, flags, box)))
                return production;
        }
    }
    return NULL;
}

static bool is_enabled(const struct rf_dise_program *program,
                       const struct rf_dise_production *production, uint32_t flags)
{
    for (unsigned k = 0; k < production->n_boxes; k++)
        if (rf_dise_box_enabled(&program->boxes[production->first_box + k], flags))
            return true;
    return false;
}

static bool is_on(const struct rf_dise_program *program, unsigned profile, uint32_t flags)
{
    for (unsigned i = 0; i < program->n_productions; i++)
        if (takes_part(&program->productions[i], profile, REPLACEMENTS) &&
            is_enabled(program, &program->productions[i], flags))
            return true;
    return false;
}

/* ---- running the counters ---- */

enum { STATES_MAX = 64 };

struct state {
    uint32_t flags;
    bool on;
    const struct rf_dise_production *control; /* NULL: none */
};

/* One profile as it runs. */
struct course {
    const struct rf_dise_program *program;
    unsigned profile;
    struct rf_dise_engine *engine;
    struct state states[STATES_MAX]; /* that it came through */
    unsigned n_states;
};

static bool same_ops(const struct rf_dise_program *program, const struct rf_dise_production *a,
                     const struct rf_dise_production *b)
{
    return a->n_ops == b->n_ops && memcmp(&program->ops[a->first_op], &program->ops[b->first_op],
                                          a->n_ops * sizeof program->ops[0]) == 0;
}

/* The control of the state, if it has one; all that are enabled must be the same. */
static rf_status find_control(const struct course *course, struct state *state,
                              struct rf_error *error)
{
    const struct rf_dise_program *program = course->program;
    for (unsigned i = 0; i < program->n_productions; i++) {
        const struct rf_dise_production *production = &program->productions[i];
        if (!takes_part(production, course->profile, CONTROLS) ||
            !is_enabled(program, production, state->flags))
            continue;
        if (state->control != NULL && !same_ops(program, state->control, production))
            return refuse(
                program, &production->place,
                "the probe cannot run another control for some instructions than for others",
                error);
        state->control = production;
    }
    return RF_OK;
}

/* Does the state count and tell the same instructions as those before it? */
static rf_status check_state(const struct course *course, const struct state *state,
                             struct rf_error *error)
{
    const struct rf_dise_production *other = NULL;
    for (unsigned i = 0; i < course->n_states && other == NULL; i++)
        other = find_difference(course->program, course->profile, CONTROLS, state->flags,
                                course->states[i].flags);
    if (other != NULL)
        return refuse(course->program, &other->place,
                      "the probe cannot count other instructions in one state than in another",
                      error);
    for (unsigned i = 0; state->on && i < course->n_states && other == NULL; i++)
        if (course->states[i].on)
            other = find_difference(course->program, course->profile, REPLACEMENTS, state->flags,
                                    course->states[i].flags);
    return other == NULL ? RF_OK
                         : refuse(course->program, &other->place,
                                  "the probe cannot tell other instructions in one part of a burst "
                                  "than in another",
                                  error);
}

static rf_status add_state(struct course *course, uint32_t flags, struct rf_error *error)
{
    struct state state = {.flags = flags, .on = is_on(course->program, course->profile, flags)};
    rf_status status = find_control(course, &state, error);
    if (status == RF_OK)
        status = check_state(course, &state, error);
    if (status == RF_OK && course->n_states == STATES_MAX)
        status =
            rf_fail(error, RF_EINVAL,
                    "the productions have more than %d states, too many for the probe", STATES_MAX);
    if (status == RF_OK)
        course->states[course->n_states++] = state;
    return status;
}

/* The state that the flags are in. */
static rf_status find_state(struct course *course, const struct state **state,
                            struct rf_error *error)
{
    uint32_t flags = rf_dise_flags(course->engine);
    rf_status status = RF_OK;
    unsigned i = 0;
    while (i < course->n_states && course->states[i].flags != flags)
        i++;
    if (i == course->n_states)
        status = add_state(course, flags, error);
    *state = &course->states[i];
    return status;
}

/* Where the counters stand, in one number: equal ones are equal positions of a profile with one or two counters. */
static uint64_t position(const struct course *course)
{
    uint64_t sum = rf_dise_flags(course->engine);
    for (unsigned i = 0; i < course->program->n_counters; i++)
        sum = sum * 0x9e3779b97f4a7c15 + rf_dise_counter(course->engine, i);
    return sum;
}

enum { FOREVER = STEPS_MAX };

/* How many intervals it stays on, or off. FOREVER: it comes back to where it was, or that takes too long. */
static rf_status measure(struct course *course, bool on, uint64_t *n, struct rf_error *error)
{
    const uint64_t begin = position(course);
    for (*n = 0; *n < FOREVER; (*n)++) {
        const struct state *state;
        rf_status status = find_state(course, &state, error);
        if (status != RF_OK || state->on != on)
            return status;
        if (state->control != NULL)
            rf_dise_run(course->engine, &course->program->ops[state->control->first_op],
                        state->control->n_ops);
        if (position(course) == begin)
            break;
    }
    *n = FOREVER;
    return RF_OK;
}

static rf_status no_bursts(const struct course *course, struct rf_error *error)
{
    const struct rf_dise_program *program = course->program;
    return rf_fail(error, RF_EINVAL,
                   "%s: the probe needs bursts of one length at one distance, of less than %d "
                   "intervals; riffle sim "
                   "runs all productions",
                   program->file[program->profile_file[course->profile]], STEPS_MAX);
}

/* Two rounds must be alike. A profile that is on from the first step to the last has no bursts: all is told. */
static rf_status run_course(struct course *course, struct rf_probe_bursts *bursts,
                            struct rf_error *error)
{
    uint64_t off[2] = {0, 0}, on[2] = {0, 0};
    rf_status status = RF_OK;
    for (unsigned i = 0; i < 2 && status == RF_OK && on[0] != FOREVER; i++) {
        status = measure(course, false, &off[i], error);
        if (status == RF_OK && off[i] != FOREVER)
            status = measure(course, true, &on[i], error);
    }
    if (status != RF_OK || (off[0] == 0 && on[0] == FOREVER))
        return status;
    if (off[0] != off[1] || on[0] != on[1] || off[0] == FOREVER || on[0] == FOREVER)
        return no_bursts(course, error);
    *bursts = (struct rf_probe_bursts){.burst = (uint32_t)on[0], .sparsity = off[0], .regular = 1};
    return RF_OK;
}

static rf_status find_bursts(const struct rf_dise_program *program, unsigned profile,
                             struct rf_probe_bursts *bursts, struct rf_error *error)
{
    uint64_t registers[RF_DISE_REGISTERS];
    const struct rf_dise_sizes sizes = {.patterns = RF_DISE_BOXES,
                                        .replacements = UINT64_MAX,
                                        .conditionals = RF_DISE_OPS,
                                        .counters = RF_DISE_COUNTERS,
                                        .counter_bits = COUNTER_BITS,
                                        .registers = RF_DISE_REGISTERS};
    struct course course = {.program = program, .profile = profile};
    memset(bursts, 0, sizeof *bursts);
    rf_status status = rf_dise_open(&course.engine, program, &sizes, registers, NULL, error);
    if (status == RF_OK)
        status = run_course(&course, bursts, error);
    rf_dise_close(course.engine);
    return status;
}

/* ---- one profile ---- */

static rf_status check_boxes(const struct rf_dise_program *program,
                             const struct rf_dise_production *production, struct rf_error *error)
{
    for (unsigned k = 0; k < production->n_boxes; k++) {
        const struct rf_dise_box *box = &program->boxes[production->first_box + k];
        if (!is_visible(box))
            return refuse(program, &production->place,
                          "the probe cannot match anything but T.OPCLASS, T.PC and T.Target",
                          error);
        if (production->n_ops > 0 && (box->classes & ~(uint32_t)TRANSFERS) != 0)
            return refuse(program, &production->place,
                          "the probe cannot count anything but calls, returns, jumps and branches",
                          error);
        if (record_classes(box->classes) == 0)
            return refuse(program, &production->place,
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

/* Classes that are told, and what the handler makes of them: "call,branch -> target". */
static void write_selector(char *text, size_t size, uint8_t classes, int handler)
{
    struct rf_selector preset;
    char canonical[128];
    size_t n = 0;
    rf_selector_parse(&preset, rf_dise_handlers[handler].selector, NULL);
    rf_selector_print(&preset, canonical, sizeof canonical);
    for (unsigned kind = 0; kind < RF_CLASS_COUNT; kind++)
        if ((classes >> kind & 1) != 0)
            n += rf_format(text + n, size - n, "%s%s", n > 0 ? "," : "", rf_class_name(kind));
    rf_format(text + n, size - n, " %s", strstr(canonical, "->"));
}

/* Patterns of all productions of the profile that are enabled in some state of a burst, or count. */
static rf_status add_profile(const struct rf_dise_program *program, unsigned profile,
                             struct rf_productions_native *native, struct rf_error *error)
{
    uint8_t classes = 0;
    int told = -1;
    rf_status status = RF_OK;
    for (unsigned i = 0; i < program->n_productions && status == RF_OK; i++) {
        const struct rf_dise_production *production = &program->productions[i];
        if (production->profile != profile)
            continue;
        status = check_boxes(program, production, error);
        int handler = production->sequence >= 0 ? handler_of(program, production) : told;
        if (status == RF_OK && production->sequence >= 0 &&
            (handler < 0 || (told >= 0 && told != handler)))
            status = refuse(program, &production->place,
                            "the probe cannot replace an instruction but by call(handler) T.INSN, "
                            "one handler per file",
                            error);
        told = handler;
        for (unsigned k = 0; k < production->n_boxes && status == RF_OK; k++) {
            const struct rf_dise_box *box = &program->boxes[production->first_box + k];
            if (production->n_ops > 0 && profile == 0)
                status = add_pattern(native, box, 0, error);
            if (status == RF_OK && production->sequence >= 0) {
                classes |= record_classes(box->classes);
                status = add_pattern(native, box, 1 + profile, error);
            }
        }
    }
    if (status == RF_OK && told < 0)
        return rf_fail(error, RF_EINVAL,
                       "%s: no production calls a handler, so there is nothing to profile",
                       program->file[program->profile_file[profile]]);
    if (status == RF_OK)
        write_selector(native->selector[profile], sizeof native->selector[profile], classes, told);
    return status;
}

/* All profiles share the probe's one pair of counters. */
static rf_status check_alike(const struct rf_dise_program *program, unsigned profile,
                             const struct rf_probe_bursts *bursts,
                             const struct rf_probe_bursts *first, struct rf_error *error)
{
    if (bursts->burst == first->burst && bursts->sparsity == first->sparsity)
        return RF_OK;
    return rf_fail(
        error, RF_EINVAL,
        "%s: the probe cannot run profiles with other bursts beside those of %s; riffle sim can",
        program->file[program->profile_file[profile]], program->file[program->profile_file[0]]);
}

_Static_assert((int)RF_PROBE_PROFILES_MAX == (int)RF_DISE_PROFILES,
               "as many profiles here as there");

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
    for (unsigned i = 0; i < program->n_profiles && status == RF_OK; i++) {
        struct rf_probe_bursts bursts = {0};
        status = add_profile(program, i, native, error);
        if (status == RF_OK)
            status = find_bursts(program, i, &bursts, error);
        if (status == RF_OK && i == 0)
            native->bursts = bursts;
        if (status == RF_OK)
            status = check_alike(program, i, &bursts, &native->bursts, error);
    }
    return status;
}
