/* engine.c - DISE with conditional control: Mousa and Krintz, sections 3 and 4.2.
 *
 *                       flags <------- counters <-- inc, dec, set --+
 *                         |                                         |
 *     instruction --> [pattern table] --+--> [replacement table] --> instantiation --> sequence
 *                                       \--> [conditionals table] --+
 *
 * All patterns are compared with the instruction and the flags at once. In each profile the most specific one with a
 * replacement gives the sequence, and the most specific one with a control gives the micro-instructions. Hardware
 * does this each time an instruction is decoded. We do it once per static instruction and state of the flags, and keep
 * the answer as an action. Each execution then runs the micro-instructions only; one that nothing matches costs nothing.
 *
 * Instructions that a handler is for are counted in bursts and between them. Hardware need not do that; we do it to
 * compare what was sampled with all there was.
 *
 *     inc_N  the counter goes up by one; from its maximum it wraps to 0 and sets overflow_N
 *     dec_N  it goes down by one; from 0 it wraps to its maximum, and overflow_N stays
 *     set_N  takes the low bits of the register; overflow_N is the bit above them. From max ~ n: of a random value
 *     zero_N is set whenever the counter is 0. overflow_N stays until set_N.
 *
 * So 2^bits - n, "max - n", overflows with the n-th inc_N, and max itself at once.
 *
 * Memory: the actions, 512 bytes each, one per combination of winners and state. */
#include "dise/engine.h"
#include "dise/instantiate.h"
#include "dise/told.h"
#include "machine/records.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/random.h"
#include "base/spread.h"
#include <assert.h>
#include <string.h>

enum { NONE = -1, OPS_MAX = RF_DISE_PROFILES * RF_DISE_OPS_EACH };

/* What becomes of an instruction in a state: the winners of each profile, and what follows from them. */
struct action {
    uint32_t state;
    int16_t replacement[RF_DISE_PROFILES], control[RF_DISE_PROFILES]; /* productions, or NONE */
    unsigned of_interest; /* 1 << profile: a handler of that is for such instructions */
    unsigned twice;       /* 1 << profile: each of them is two events, a load and a store */
    unsigned counted_by;  /* 1 << profile: its counters run */
    unsigned n_ops;
    bool expands;
    struct rf_dise_op ops[OPS_MAX];
};

struct rf_dise_engine {
    const struct rf_dise_program *program;
    struct rf_dise_sizes sizes;
    struct rf_alloc alloc;
    uint64_t *registers;
    uint64_t counters[RF_DISE_COUNTERS];
    uint64_t mask; /* of the bits of a counter */
    uint32_t flags, used;
    uint64_t bursts[RF_DISE_PROFILES];
    bool draws;
    struct rf_random random;
    uint32_t about, others; /* 1 << register: a random value; one that changes */
    uint32_t set_from;      /* the same: a counter was set from it by this instruction */
    unsigned restarted;     /* 1 << profile */
    int64_t owed[RF_DISE_PROFILES];
    size_t n_actions, room, room_taken;
    struct action *actions; /* number 0 is nobody's */
    uint64_t *taken;        /* how often each was */
};

/* --- opening ------------------------------------------------------------------------------------ */

/* Entries that an item takes: a call brings its arguments along, and its condition. */
static unsigned entries_of(const struct rf_dise_item *item)
{
    if (item->kind != RF_DISE_HANDLER)
        return 1;
    return 1 + RF_DISE_ARGUMENTS + (item->if_set != RF_REG_NONE);
}

static uint64_t length_of(const struct rf_dise_program *program, unsigned sequence)
{
    const struct rf_dise_sequence *of = &program->sequences[sequence];
    uint64_t n = 0;
    for (unsigned i = 0; i < of->n; i++)
        n += entries_of(&program->items[of->first + i]);
    return n;
}

/* What the program needs of one thing, and the first place at which it is more than there is. */
struct need {
    const char *what;
    uint64_t there, needed;
    const struct rf_dise_place *place;
};

static void note_need(struct need *need, uint64_t needed, const struct rf_dise_place *place)
{
    if (needed > need->there && need->place == NULL)
        need->place = place;
    need->needed = needed > need->needed ? needed : need->needed;
}

/* Sequences and the longest expansion; a sequence stands in the table once. */
static void need_sequences(const struct rf_dise_program *program, struct need *table,
                           struct need *longest)
{
    uint64_t sum = 0, each[RF_DISE_PROFILES] = {0};
    bool counted[RF_DISE_SEQUENCES] = {false};
    for (unsigned i = 0; i < program->n_productions; i++) {
        const struct rf_dise_production *production = &program->productions[i];
        int sequence = production->sequence;
        if (sequence < 0)
            continue;
        uint64_t n = length_of(program, (unsigned)sequence), all = 0;
        sum += counted[sequence] ? 0 : n;
        counted[sequence] = true;
        each[production->profile] = n > each[production->profile] ? n : each[production->profile];
        for (unsigned k = 0; k < RF_DISE_PROFILES; k++)
            all += each[k];
        note_need(table, sum, &production->place);
        note_need(longest, all, &production->place);
    }
}

static rf_status check_sizes(const struct rf_dise_program *program,
                             const struct rf_dise_sizes *sizes, struct rf_error *error)
{
    struct need needs[] = {
        {.what = "entries of the pattern table", .there = sizes->patterns},
        {.what = "micro-instructions of the conditionals table", .there = sizes->conditionals},
        {.what = "entries of the replacement table", .there = sizes->replacements},
        {.what = "instructions in a sequence", .there = RF_EXPAND_MAX},
        {.what = "counters", .there = sizes->counters},
        {.what = "private registers", .there = sizes->registers},
    };
    for (unsigned i = 0; i < program->n_productions; i++) {
        const struct rf_dise_production *production = &program->productions[i];
        note_need(&needs[0], production->first_box + production->n_boxes, &production->place);
        note_need(&needs[1], production->first_op + production->n_ops, &production->place);
    }
    need_sequences(program, &needs[2], &needs[3]);
    for (unsigned i = 0; i < program->n_counters; i++)
        note_need(&needs[4], i + 1, &program->counters[i].place);
    for (unsigned i = 0; i < program->n_registers; i++)
        note_need(&needs[5], i + 1, &program->registers[i].place);
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++)
        if (needs[i].place != NULL)
            return rf_fail(error, RF_EINVAL,
                           "%s:%u:%u: the productions need %llu %s, the core has %llu",
                           program->file[needs[i].place->file], needs[i].place->line,
                           needs[i].place->column, (unsigned long long)needs[i].needed,
                           needs[i].what, (unsigned long long)needs[i].there);
    return RF_OK;
}

static void set_counter(struct rf_dise_engine *engine, unsigned counter, uint64_t value)
{
    uint32_t overflow = rf_dise_overflow(counter), zero = rf_dise_zero(counter);
    engine->counters[counter] = value & engine->mask;
    engine->flags &= ~(overflow | zero);
    engine->flags |= (value & (engine->mask + 1)) != 0 ? overflow : 0;
    engine->flags |= (value & engine->mask) == 0 ? zero : 0;
}

void rf_dise_load(struct rf_dise_engine *engine, unsigned index,
                  const struct rf_dise_register *value)
{
    uint32_t bit = UINT32_C(1) << index;
    engine->registers[index] = rf_dise_register_value(value, (unsigned)engine->sizes.counter_bits);
    engine->about = value->about ? engine->about | bit : engine->about & ~bit;
}

/* The value that a counter is set to from the register. */
static uint64_t value_from(struct rf_dise_engine *engine, unsigned from)
{
    const uint64_t max = engine->mask + 1, value = engine->registers[from], mean = max - value;
    if (!engine->draws || (engine->about >> from & 1) == 0 || value > max)
        return value;
    uint64_t drawn = rf_spread(rf_random_next(&engine->random), mean, max);
    engine->owed[engine->program->registers[from].profile] += (int64_t)mean - (int64_t)drawn;
    return max - drawn;
}

static void set_from(struct rf_dise_engine *engine, unsigned counter, unsigned from)
{
    set_counter(engine, counter, value_from(engine, from));
    engine->set_from |= UINT32_C(1) << from;
}

void rf_dise_start(struct rf_dise_engine *engine)
{
    for (unsigned i = 0; i < engine->program->n_counters; i++)
        if (engine->program->counters[i].from >= 0)
            set_from(engine, i, (unsigned)engine->program->counters[i].from);
        else
            set_counter(engine, i, 0);
    engine->set_from = 0;
}

static void set_first_values(struct rf_dise_engine *engine)
{
    for (unsigned i = 0; i < engine->program->n_registers; i++)
        rf_dise_load(engine, i, &engine->program->registers[i]);
    rf_dise_start(engine);
}

/* --- bursts ------------------------------------------------------------------------------------- */

/* Are replacements of the profile on in this state? */
static bool is_on(const struct rf_dise_program *program, unsigned profile, uint32_t state)
{
    for (unsigned i = 0; i < program->n_productions; i++) {
        const struct rf_dise_production *production = &program->productions[i];
        if (production->profile != profile || production->sequence < 0)
            continue;
        for (unsigned k = 0; k < production->n_boxes; k++)
            if (rf_dise_box_enabled(&program->boxes[production->first_box + k], state))
                return true;
    }
    return false;
}

static void count_bursts(struct rf_dise_engine *engine, uint32_t before, uint32_t after)
{
    for (unsigned i = 0; i < engine->program->n_profiles; i++) {
        bool begins = (engine->restarted >> i & 1) != 0 || !is_on(engine->program, i, before);
        engine->bursts[i] += begins && is_on(engine->program, i, after);
    }
}

static void count_first_bursts(struct rf_dise_engine *engine)
{
    for (unsigned i = 0; i < engine->program->n_profiles; i++)
        engine->bursts[i] = is_on(engine->program, i, rf_dise_state(engine));
}

rf_status rf_dise_open(struct rf_dise_engine **opened, const struct rf_dise_program *program,
                       const struct rf_dise_sizes *sizes, uint64_t *registers,
                       const struct rf_alloc *alloc, struct rf_error *error)
{
    const struct rf_alloc *from = rf_alloc_or_standard(alloc);
    *opened = NULL;
    rf_status status = check_sizes(program, sizes, error);
    if (status != RF_OK)
        return status;
    struct rf_dise_engine *engine = rf_alloc_get(from, sizeof *engine);
    if (engine == NULL)
        return rf_fail(error, RF_ENOMEM, "no memory for the tables of productions");
    memset(engine, 0, sizeof *engine);
    engine->program = program;
    engine->sizes = *sizes;
    engine->alloc = *from;
    engine->registers = registers;
    engine->mask = (UINT64_C(1) << sizes->counter_bits) - 1;
    engine->used = rf_dise_flags_used(program);
    engine->n_actions = 1;
    set_first_values(engine);
    count_first_bursts(engine);
    *opened = engine;
    return RF_OK;
}

void rf_dise_draw(struct rf_dise_engine *engine, uint64_t seed, uint32_t others)
{
    rf_random_seed(&engine->random, seed);
    engine->draws = true;
    engine->others = others;
    rf_dise_start(engine);
    count_first_bursts(engine);
}

int64_t rf_dise_take_owed(struct rf_dise_engine *engine, unsigned profile)
{
    int64_t owed = engine->owed[profile];
    engine->owed[profile] = 0;
    return owed;
}

/* Whose counters this instruction has set from registers with other values each time. */
static unsigned find_restarted(struct rf_dise_engine *engine)
{
    uint32_t which = engine->set_from & (engine->others | (engine->draws ? engine->about : 0));
    unsigned profiles = 0;
    engine->set_from = 0;
    for (unsigned i = 0; which != 0; i++, which >>= 1)
        if ((which & 1) != 0)
            profiles |= 1u << engine->program->registers[i].profile;
    return profiles;
}

unsigned rf_dise_restarted(const struct rf_dise_engine *engine)
{
    return engine->restarted;
}

void rf_dise_close(struct rf_dise_engine *engine)
{
    if (engine == NULL)
        return;
    struct rf_alloc alloc = engine->alloc;
    rf_alloc_free(&alloc, engine->actions, engine->room * sizeof *engine->actions);
    rf_alloc_free(&alloc, engine->taken, engine->room_taken * sizeof *engine->taken);
    rf_alloc_free(&alloc, engine, sizeof *engine);
}

/* --- matching ----------------------------------------------------------------------------------- */

static bool matches(const struct rf_dise_program *program,
                    const struct rf_dise_production *production, const struct rf_dise_facts *facts,
                    uint32_t state)
{
    for (unsigned i = 0; i < production->n_boxes; i++) {
        const struct rf_dise_box *box = &program->boxes[production->first_box + i];
        if (rf_dise_box_enabled(box, state) && rf_dise_box_matches(box, facts))
            return true;
    }
    return false;
}

/* Take the place of a less specific one. */
static void compete(const struct rf_dise_program *program, int16_t *winner, unsigned candidate)
{
    if (*winner == NONE || rf_dise_is_within(program, &program->productions[candidate],
                                             &program->productions[*winner]))
        *winner = (int16_t)candidate;
}

/* The production of the profile that replaces the instruction in this state, or NONE. */
static int16_t find_replacement(const struct rf_dise_program *program,
                                const struct rf_dise_facts *facts, unsigned profile, uint32_t state)
{
    int16_t winner = NONE;
    for (unsigned i = 0; i < program->n_productions; i++) {
        const struct rf_dise_production *production = &program->productions[i];
        if (production->profile == profile && production->sequence >= 0 &&
            matches(program, production, facts, state))
            compete(program, &winner, i);
    }
    return winner;
}

static bool calls_in(const struct rf_dise_program *program, const struct rf_dise_facts *facts,
                     unsigned profile, uint32_t state)
{
    int16_t winner = find_replacement(program, facts, profile, state);
    return winner != NONE && rf_dise_called_by(program, &program->productions[winner]) >= 0;
}

/* Is a handler told of such instructions in some state of the flags? A production that calls may be beaten by a more specific one
 * that does not: what that one lets pass is no event. States that are tried are those in which as few flags as can be are set,
 * or as many, for each box. */
static bool is_told(const struct rf_dise_program *program, const struct rf_dise_facts *facts,
                    unsigned profile)
{
    for (unsigned i = 0; i < program->n_productions; i++) {
        const struct rf_dise_production *production = &program->productions[i];
        if (production->profile != profile || rf_dise_called_by(program, production) < 0)
            continue;
        for (unsigned k = 0; k < production->n_boxes; k++) {
            const struct rf_dise_box *box = &program->boxes[production->first_box + k];
            if (rf_dise_box_matches(box, facts) && (calls_in(program, facts, profile, box->set) ||
                                                    calls_in(program, facts, profile, ~box->clear)))
                return true;
        }
    }
    return false;
}

static void find_interest(const struct rf_dise_program *program, const struct rf_insn *insn,
                          const struct rf_dise_facts *facts, struct action *action)
{
    uint32_t classes = rf_records_classes(insn);
    for (unsigned i = 0; i < program->n_profiles; i++) {
        unsigned events =
            program->told[i] == 0 ? 1 : (unsigned)__builtin_popcount(program->told[i] & classes);
        if (events == 0 || !is_told(program, facts, i))
            continue;
        action->of_interest |= 1u << i;
        action->twice |= events > 1 ? 1u << i : 0;
    }
}

/* Returns whether there is anything to do or to count. */
static bool find_winners(const struct rf_dise_engine *engine, const struct rf_dise_facts *facts,
                         uint32_t state, struct action *action)
{
    const struct rf_dise_program *program = engine->program;
    bool any = false;
    for (unsigned i = 0; i < RF_DISE_PROFILES; i++)
        action->replacement[i] = action->control[i] = NONE;
    for (unsigned i = 0; i < program->n_productions; i++) {
        const struct rf_dise_production *production = &program->productions[i];
        if (!matches(program, production, facts, state))
            continue;
        if (production->sequence >= 0)
            compete(program, &action->replacement[production->profile], i);
        if (production->n_ops > 0)
            compete(program, &action->control[production->profile], i);
        any |= production->sequence >= 0 || production->n_ops > 0;
    }
    return any || action->of_interest != 0;
}

static void collect_ops(const struct rf_dise_engine *engine, struct action *action)
{
    const struct rf_dise_program *program = engine->program;
    for (unsigned i = 0; i < program->n_profiles; i++) {
        action->expands |= action->replacement[i] != NONE;
        if (action->control[i] == NONE)
            continue;
        action->counted_by |= 1u << i;
        const struct rf_dise_production *production = &program->productions[action->control[i]];
        for (unsigned k = 0; k < production->n_ops; k++)
            action->ops[action->n_ops++] = program->ops[production->first_op + k];
    }
}

static bool same_winners(const struct action *a, const struct action *b)
{
    return a->state == b->state && a->of_interest == b->of_interest && a->twice == b->twice &&
           memcmp(a->replacement, b->replacement, sizeof a->replacement) == 0 &&
           memcmp(a->control, b->control, sizeof a->control) == 0;
}

static bool grow(struct rf_dise_engine *engine)
{
    size_t room = engine->room != 0 ? 2 * engine->room : 16;
    if (!rf_alloc_array(&engine->alloc, (void **)&engine->taken, engine->room_taken, room,
                        sizeof *engine->taken))
        return false;
    engine->room_taken = room;
    if (!rf_alloc_array(&engine->alloc, (void **)&engine->actions, engine->room, room,
                        sizeof *engine->actions))
        return false;
    engine->room = room;
    return true;
}

/* The action with these winners, a new one if need be; 0: no memory for it. */
static uint32_t keep_action(struct rf_dise_engine *engine, struct action *action)
{
    for (size_t i = 1; i < engine->n_actions; i++)
        if (same_winners(&engine->actions[i], action))
            return (uint32_t)i;
    if (engine->n_actions >= engine->room && !grow(engine))
        return 0;
    collect_ops(engine, action);
    engine->actions[engine->n_actions] = *action;
    engine->taken[engine->n_actions] = 0;
    return (uint32_t)engine->n_actions++;
}

void rf_dise_expand(void *context, const struct rf_insn *insn, uint64_t pc, uint32_t state,
                    struct rf_expansion *out)
{
    struct rf_dise_engine *engine = context;
    struct rf_dise_facts facts = rf_dise_facts(insn, pc);
    struct action action = {.state = state};
    find_interest(engine->program, insn, &facts, &action);
    if (!find_winners(engine, &facts, state, &action))
        return;
    uint32_t which = keep_action(engine, &action);
    bool only_counts =
        which == 0 || (engine->actions[which].n_ops == 0 && !engine->actions[which].expands);
    out->watch = only_counts ? 0 : which;
    out->tally = only_counts ? which : 0;
    if (only_counts)
        return;
    int sequences[RF_DISE_PROFILES];
    unsigned n = 0;
    for (unsigned i = 0; i < engine->program->n_profiles; i++)
        if (action.replacement[i] != NONE)
            sequences[n++] = engine->program->productions[action.replacement[i]].sequence;
    if (n > 0)
        rf_dise_instantiate(engine->program, sequences, n, insn, out);
}

/* --- running ------------------------------------------------------------------------------------ */

static void step_counter(struct rf_dise_engine *engine, unsigned counter, uint64_t by)
{
    uint64_t value = (engine->counters[counter] + by) & engine->mask;
    uint32_t zero = rf_dise_zero(counter);
    if (value == 0 && by == 1)
        engine->flags |= rf_dise_overflow(counter);
    engine->flags = value == 0 ? engine->flags | zero : engine->flags & ~zero;
    engine->counters[counter] = value;
}

static void run_op(struct rf_dise_engine *engine, const struct rf_dise_op *op)
{
    if (op->micro == RF_DISE_SET)
        set_from(engine, op->counter, op->from);
    else
        step_counter(engine, op->counter, op->micro == RF_DISE_INC ? 1 : UINT64_MAX);
}

void rf_dise_run(struct rf_dise_engine *engine, const struct rf_dise_op *ops, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        run_op(engine, &ops[i]);
}

uint32_t rf_dise_watch(void *context, uint32_t watch)
{
    struct rf_dise_engine *engine = context;
    assert(watch > 0 && watch < engine->n_actions);
    const struct action *action = &engine->actions[watch];
    engine->taken[watch]++;
    rf_dise_run(engine, action->ops, action->n_ops);
    uint32_t state = rf_dise_state(engine);
    engine->restarted = find_restarted(engine);
    if (state != action->state || engine->restarted != 0)
        count_bursts(engine, action->state, state);
    return state;
}

unsigned rf_dise_counted_by(const struct rf_dise_engine *engine, uint32_t watch)
{
    return engine->actions[watch].counted_by;
}

uint64_t *const *rf_dise_tallies(const struct rf_dise_engine *engine)
{
    return &engine->taken;
}

uint32_t rf_dise_state(const struct rf_dise_engine *engine)
{
    return engine->flags & engine->used;
}

uint32_t rf_dise_flags(const struct rf_dise_engine *engine)
{
    return engine->flags;
}

uint64_t rf_dise_counter(const struct rf_dise_engine *engine, unsigned counter)
{
    return engine->counters[counter];
}

struct rf_dise_stats rf_dise_stats(const struct rf_dise_engine *engine, unsigned profile)
{
    struct rf_dise_stats stats = {.bursts = engine->bursts[profile]};
    for (size_t i = 1; i < engine->n_actions; i++) {
        const struct action *action = &engine->actions[i];
        bool counts = action->control[profile] != NONE;
        stats.events += counts ? engine->taken[i] : 0;
        if (counts && is_on(engine->program, profile, action->state))
            stats.in_bursts += engine->taken[i];
        stats.of_interest += (action->of_interest >> profile & 1) != 0 ? engine->taken[i] : 0;
        stats.of_interest += (action->twice >> profile & 1) != 0 ? engine->taken[i] : 0;
        stats.expansions += action->replacement[profile] != NONE ? engine->taken[i] : 0;
    }
    return stats;
}

bool rf_dise_is_on(const struct rf_dise_engine *engine, unsigned profile)
{
    return is_on(engine->program, profile, rf_dise_state(engine));
}

uint64_t rf_dise_expansions(const struct rf_dise_engine *engine)
{
    uint64_t n = 0;
    for (size_t i = 1; i < engine->n_actions; i++)
        n += engine->actions[i].expands ? engine->taken[i] : 0;
    return n;
}
