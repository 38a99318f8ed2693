/* course.c - the counters of a profile as they run, for the probe: how many intervals a profile is off and on.
 *
 *     state of the flags    controls: one set of instructions, in all states     replacements
 *     !ov1                  inc_1                                                none
 *     ov1 && !ov2           inc_2                                                one set of instructions
 *     ov1 && ov2            set_1, set_2                                         the same set
 *
 * Which states there are, and how many instructions of the first set each of them lasts, is found by running the
 * counters as the engine of the simulated core runs them: off, on, off, on. The first time off may be longer or shorter than
 * those that follow, and any of them may last for ever.
 *
 * Registers with random values have their mean here. Whether the distance is random is found by running the counters once
 * more with all these means one larger: then it is one longer, and the rest is as it was. */
#include "dise/course.h"
#include "dise/engine.h"
#include "base/error.h"
#include <string.h>

enum { COUNTER_BITS = 32, STEPS_MAX = 1 << 26 };

rf_status rf_dise_fail_at(const struct rf_dise_program *program, const struct rf_dise_place *place,
                          const char *what, struct rf_error *error)
{
    return rf_fail(error, RF_EINVAL, "%s:%u:%u: %s", program->file[place->file], place->line,
                   place->column, what);
}

rf_status rf_dise_refuse(const struct rf_dise_program *program, const struct rf_dise_place *place,
                         const char *what, struct rf_error *error)
{
    return rf_fail(error, RF_EINVAL, "%s:%u:%u: %s; riffle sim can", program->file[place->file],
                   place->line, place->column, what);
}

const struct rf_dise_place *rf_dise_first_place(const struct rf_dise_program *program,
                                                unsigned profile)
{
    const struct rf_dise_production *found = NULL;
    for (unsigned i = 0; i < program->n_productions; i++) {
        const struct rf_dise_production *production = &program->productions[i];
        if (production->profile == profile &&
            (found == NULL || (found->n_ops == 0 && production->n_ops > 0)))
            found = production;
    }
    return &found->place; /* a profile without productions is refused before */
}

/* ---- productions in a state ---- */

bool rf_dise_takes_part(const struct rf_dise_production *production, unsigned profile,
                        enum rf_dise_side part)
{
    return production->profile == profile &&
           (part == RF_DISE_CONTROL_SIDE ? production->n_ops > 0 : production->sequence >= 0);
}

/* The static part of a box alone. */
static struct rf_dise_box static_part(const struct rf_dise_box *box)
{
    struct rf_dise_box alone = *box;
    alone.set = alone.clear = 0;
    return alone;
}

/* Is the static part of the box among those of the state? */
static bool is_covered(const struct rf_dise_program *program, unsigned profile,
                       enum rf_dise_side part, uint32_t flags, const struct rf_dise_box *box)
{
    struct rf_dise_box inner = static_part(box);
    for (unsigned i = 0; i < program->n_productions; i++) {
        const struct rf_dise_production *production = &program->productions[i];
        for (unsigned k = 0;
             rf_dise_takes_part(production, profile, part) && k < production->n_boxes; k++) {
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
                                                        unsigned profile, enum rf_dise_side part,
                                                        uint32_t flags, uint32_t before)
{
    for (unsigned i = 0; i < program->n_productions; i++) {
        const struct rf_dise_production *production = &program->productions[i];
        for (unsigned k = 0;
             rf_dise_takes_part(production, profile, part) && k < production->n_boxes; k++) {
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
        if (rf_dise_takes_part(&program->productions[i], profile, RF_DISE_REPLACEMENT_SIDE) &&
            is_enabled(program, &program->productions[i], flags))
            return true;
    return false;
}

/* ---- running the counters ---- */

enum { STATES_MAX = 64 }; /* as the sentence below says */

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

static const struct rf_dise_place *place_of(const struct course *course)
{
    return rf_dise_first_place(course->program, course->profile);
}

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
        if (!rf_dise_takes_part(production, course->profile, RF_DISE_CONTROL_SIDE) ||
            !is_enabled(program, production, state->flags))
            continue;
        if (state->control != NULL && !same_ops(program, state->control, production))
            return rf_dise_refuse(
                program, &production->place,
                "the probe cannot run another control for some instructions than for others",
                error);
        state->control = production;
    }
    return RF_OK;
}

/* Does the state count and tell the same instructions as those before it? One that counts none lasts for ever. */
static rf_status check_state(const struct course *course, const struct state *state,
                             struct rf_error *error)
{
    const struct rf_dise_production *other = NULL;
    for (unsigned i = 0; state->control != NULL && i < course->n_states && other == NULL; i++)
        if (course->states[i].control != NULL)
            other = find_difference(course->program, course->profile, RF_DISE_CONTROL_SIDE,
                                    state->flags, course->states[i].flags);
    if (other != NULL)
        return rf_dise_refuse(
            course->program, &other->place,
            "the probe cannot count other instructions in one state than in another", error);
    for (unsigned i = 0; state->on && i < course->n_states && other == NULL; i++)
        if (course->states[i].on)
            other = find_difference(course->program, course->profile, RF_DISE_REPLACEMENT_SIDE,
                                    state->flags, course->states[i].flags);
    return other == NULL
               ? RF_OK
               : rf_dise_refuse(course->program, &other->place,
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
            rf_dise_refuse(course->program, place_of(course),
                           "the probe cannot run counters that have more than 64 states", error);
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
    return rf_dise_refuse(course->program, place_of(course),
                          "the probe needs bursts of one length at one distance, but for the "
                          "first, of less than 64 Mi intervals",
                          error);
}

_Static_assert((int)STEPS_MAX == 64 << 20, "as many as the sentence says");

enum { ROUNDS = 3 };

/* Off and on by turns, until one of them lasts for ever; those rounds are for ever, too. */
static rf_status run_rounds(struct course *course, uint64_t off[ROUNDS], uint64_t on[ROUNDS],
                            struct rf_error *error)
{
    rf_status status = RF_OK;
    bool ends = true;
    for (unsigned i = 0; i < ROUNDS && status == RF_OK; i++) {
        off[i] = on[i] = FOREVER;
        if (ends)
            status = measure(course, false, &off[i], error);
        ends &= off[i] != FOREVER;
        if (status == RF_OK && ends)
            status = measure(course, true, &on[i], error);
        ends &= on[i] != FOREVER;
    }
    return status;
}

/* From the second round on they must be alike. */
static rf_status run_course(struct course *course, struct rf_probe_bursts *bursts,
                            struct rf_error *error)
{
    uint64_t off[ROUNDS], on[ROUNDS];
    rf_status status = run_rounds(course, off, on, error);
    if (status != RF_OK)
        return status;
    bool is_once = off[1] == FOREVER; /* one burst, of whatever length */
    if (off[0] == FOREVER || (!is_once && (on[0] != on[1] || off[1] != off[2] || on[1] != on[2])))
        return no_bursts(course, error);
    *bursts =
        (struct rf_probe_bursts){.burst = on[0] == FOREVER ? RF_PROBE_FOREVER : (uint32_t)on[0],
                                 .sparsity = is_once ? UINT64_MAX : off[1],
                                 .first = off[0],
                                 .regular = 1};
    return RF_OK;
}

/* Random values of the profile become larger by one; false: there are none. */
static bool move_means(const struct course *course, uint64_t *registers)
{
    bool any = false;
    for (unsigned i = 0; i < course->program->n_registers; i++) {
        const struct rf_dise_register *reg = &course->program->registers[i];
        if (reg->profile != course->profile || !reg->about)
            continue;
        registers[i]--;
        any = true;
    }
    rf_dise_start(course->engine);
    return any;
}

/* Is the distance between bursts random, and nothing else? */
static rf_status find_random(struct course *course, uint64_t *registers,
                             struct rf_probe_bursts *bursts, struct rf_error *error)
{
    struct rf_probe_bursts moved = {0};
    if (!move_means(course, registers))
        return RF_OK;
    rf_status status = run_course(course, &moved, error);
    bool is_same = moved.burst == bursts->burst && moved.sparsity == bursts->sparsity &&
                   moved.first == bursts->first;
    bool is_longer = moved.burst == bursts->burst && moved.sparsity == bursts->sparsity + 1 &&
                     moved.first == moved.sparsity && bursts->first == bursts->sparsity;
    if (status != RF_OK || is_same)
        return status;
    bursts->regular = 0;
    return is_longer ? RF_OK
                     : rf_dise_refuse(course->program, place_of(course),
                                      "the probe cannot draw anything but all distances between "
                                      "bursts, with one mean",
                                      error);
}

rf_status rf_dise_find_bursts(const struct rf_dise_program *program, unsigned profile,
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
    if (status == RF_OK)
        status = find_random(&course, registers, bursts, error);
    rf_dise_close(course.engine);
    return status;
}
