/* rap_hw.c - range-adaptive profiling as hardware: the tree in a ternary memory, with its cycles.
 *
 * Mysore et al., section 3.3 (the engine), 3.4 (its parts), 4 (the controller of the prototype).
 *
 *     stage 0    1               2           3                4
 *     queue  ->  TCAM match  ->  arbiter ->  counter SRAM ->  compare with the threshold
 *       ^        all ranges      longest     read, write      |
 *       |        that cover it   prefix                       +-> split: 16 states, 5 of them to flush
 *       +------- waits while a split or a merge stalls        +-> merge: stall, scan bottom-up
 *
 * There are no pointers. An entry is a prefix with its length and a counter. Entries stand in order of length,
 * so the last one that matches is the smallest range. Parents follow from the prefixes, so a split changes no
 * other entry. To keep the order, an insertion moves the first entry of each longer length behind its last one,
 * and a removal moves the last one to the front:
 *
 *     [root][4 4 4 4 4][6 6 6 _]        insert a 4:  [root][4 4 4 4 4 N][6 6 6]
 *
 * The rules are those of tree.c, and so is the tree: node for node, with a full TCAM too, which is
 * handled as the software handles a full pool (merge at once, then with a higher threshold).
 *
 * Cycles, by the paper where it states them: an event takes two of the TCAM and then two of the SRAM, 4 in all.
 * With `pipelined` the next event matches while one updates: 2 per event, but a split flushes more. A split
 * takes its 16 states and 2 cycles per entry moved. A merge, per set of siblings, reads b counters, searches b
 * times with wildcards (does the sibling have children?) and once for the parent; where it folds it removes b
 * entries. clock.h is the clock and the queue.
 *
 * Memory: 32 bytes per TCAM entry, 8 per entry of the queue. Cannot: two dimensions. */
#include "engine/rap/clock.h"
#include "engine/rap/rap_engine.h"
#include "base/error.h"
#include <string.h>

enum { LEVELS_MAX = 65, SPLIT_STATES = 16, MOVE_CYCLES = 2 };

struct config {
    struct rf_rap_config tree; /* first: the options of the tree have their places in it */
    uint64_t tcam, queue, arrival, pipelined;
};

#define ROW(...) RF_RAP_ROW(struct config, __VA_ARGS__)

static const struct rf_option options[] = {
    RF_RAP_TREE_ROWS("2, 4, 8 or 16", "a|b", "which word of the tuple"),
    RF_RAP_ENDS_ROW("1"),
    ROW(tcam, COUNT, "4096", "entries of the ternary memory, 16 b at least; past them eps widens",
        .min = 2 * RF_RAP_SETS_MIN, .max = 1048576),
    ROW(queue, COUNT, "1024", "entries of the queue in front", .min = 1, .max = 1048576),
    ROW(arrival, COUNT, "4", "cycles from one event to the next", .min = 1, .max = 1e9),
    ROW(pipelined, SWITCH, "no", "match an event while the one before updates its counter",
        .choices = NULL),
    {.type = RF_OPTION_END},
};

struct entry {
    uint64_t lo;
    uint64_t count;
    uint8_t shift;
};

struct state {
    struct config config;
    struct rf_rap_plan plan;
    struct entry *entries; /* by length: first[l] .. first[l] + n[l] - 1 */
    uint64_t *scratch;     /* sets of one length, while merging */
    uint32_t first[LEVELS_MAX], n[LEVELS_MAX];
    uint32_t sets, sets_max; /* of siblings */
    uint64_t events, limit, per_limit, wide, next_merge, outside;
    uint64_t splits, merges, early, moves, folds;
    struct rf_rap_clock clock;
};

static rf_status check(void *config, struct rf_error *error)
{
    struct config *c = config;
    c->tree.nodes = c->tcam - 1; /* all but the root */
    c->tree.cache = 0;
    c->tree.buffer = 0;
    return rf_rap_check_fan(&c->tree, "rap-hw", "tcam", c->tcam, error);
}

static size_t round64(size_t n)
{
    return (n + 63) & ~(size_t)63;
}

static size_t state_size(const void *config)
{
    const struct config *c = config;
    return round64(sizeof(struct state)) + round64(c->tcam * sizeof(struct entry)) +
           round64(c->tcam * sizeof(uint64_t)) + c->queue * sizeof(uint64_t);
}

/* --- the ternary memory --- */

static unsigned level_shift(const struct state *state, unsigned level)
{
    const struct rf_rap_plan *plan = &state->plan;
    return level == 0 ? plan->bits : (plan->levels - level) * plan->step;
}

static void restart(struct state *state)
{
    memset(state->first, 0, sizeof state->first);
    memset(state->n, 0, sizeof state->n);
    rf_rap_clock_restart(&state->clock);
    state->entries[0] = (struct entry){.shift = (uint8_t)state->plan.bits};
    state->n[0] = 1;
    for (unsigned level = 1; level < LEVELS_MAX; level++)
        state->first[level] = 1;
    state->sets = state->sets_max = 0;
    state->events = state->outside = state->wide = 0;
    state->limit = 1;
    state->per_limit = state->plan.per_limit;
    state->next_merge = state->plan.first_merge;
    state->splits = state->merges = state->early = state->moves = state->folds = 0;
}

static rf_status init(void *memory, const void *config, const struct rf_engine_env *env,
                      struct rf_error *error)
{
    (void)env;
    (void)error;
    struct state *state = memory;
    state->config = *(const struct config *)config;
    rf_rap_plan_from(&state->plan, &state->config.tree);
    char *p = (char *)memory + round64(sizeof *state);
    state->entries = (void *)p;
    p += round64(state->config.tcam * sizeof(struct entry));
    state->scratch = (void *)p;
    p += round64(state->config.tcam * sizeof(uint64_t));
    state->clock = (struct rf_rap_clock){.queue = state->config.queue,
                                         .arrival = state->config.arrival,
                                         .pipelined = state->config.pipelined != 0,
                                         .left_at = (void *)p};
    restart(state);
    return RF_OK;
}

static uint64_t top(uint64_t value, unsigned shift)
{
    return shift >= 64 ? 0 : value >> shift;
}

static struct entry *exact(const struct state *state, uint64_t lo, unsigned level)
{
    struct entry *entry = &state->entries[state->first[level]];
    for (const struct entry *end = entry + state->n[level]; entry < end; entry++)
        if (entry->lo == lo)
            return entry;
    return NULL;
}

static uint64_t prefix(const struct state *state, uint64_t value, unsigned level)
{
    unsigned shift = level_shift(state, level);
    return shift >= 64 ? 0 : value >> shift << shift;
}

/* The last entry that matches, among those of at most that level. Prefixes of one length differ, so at most one of each
 * does. */
static struct entry *match(const struct state *state, uint64_t value, unsigned level,
                           unsigned *found)
{
    for (unsigned l = level + 1; l-- > 0;) {
        struct entry *entry = exact(state, prefix(state, value, l), l);
        if (entry != NULL) {
            *found = l;
            return entry;
        }
    }
    return NULL; /* not reached: the root matches everything */
}

/* A search with wildcards: is anything longer below this prefix? */
static bool anything_below(const struct state *state, uint64_t lo, unsigned level)
{
    unsigned shift = level_shift(state, level);
    for (unsigned l = level + 1; l <= state->plan.levels; l++)
        for (uint32_t i = 0; i < state->n[l]; i++)
            if (top(state->entries[state->first[l] + i].lo ^ lo, shift) == 0)
                return true;
    return false;
}

static uint64_t insert(struct state *state, uint64_t lo, unsigned level)
{
    uint64_t moves = 0;
    for (unsigned l = state->plan.levels; l > level; l--) {
        if (state->n[l] > 0) {
            state->entries[state->first[l] + state->n[l]] = state->entries[state->first[l]];
            moves++;
        }
        state->first[l]++;
    }
    state->entries[state->first[level] + state->n[level]++] =
        (struct entry){.lo = lo, .shift = (uint8_t)level_shift(state, level)};
    return moves;
}

static uint64_t remove_entry(struct state *state, struct entry *entry, unsigned level)
{
    uint64_t moves = 0;
    *entry = state->entries[state->first[level] + --state->n[level]];
    for (unsigned l = level + 1; l <= state->plan.levels; l++) {
        state->first[l]--;
        if (state->n[l] > 0) {
            state->entries[state->first[l]] = state->entries[state->first[l] + state->n[l]];
            moves++;
        }
    }
    return moves;
}

/* --- siblings --- */

/* The i-th sibling of the set around lo; false: it lies outside of the universe. */
static bool sibling(const struct state *state, uint64_t lo, unsigned level, uint32_t i,
                    uint64_t *value)
{
    unsigned shift = level_shift(state, level);
    unsigned bits = state->plan.bits - shift;
    if (bits < state->plan.fan_bits && i >> bits != 0)
        return false;
    *value = lo + ((uint64_t)i << shift);
    return true;
}

static uint64_t set_base(const struct state *state, uint64_t value, unsigned level)
{
    unsigned shift = level_shift(state, level) + state->plan.step;
    return shift >= 64 ? 0 : value >> shift << shift;
}

struct family {
    uint64_t weight; /* of the siblings */
    unsigned with_children;
};

static struct family weigh(const struct state *state, uint64_t base, unsigned level)
{
    struct family family = {0, 0};
    for (uint32_t i = 0; i < 1u << state->plan.fan_bits; i++) {
        uint64_t lo;
        if (!sibling(state, base, level, i, &lo))
            continue;
        family.weight += exact(state, lo, level)->count;
        family.with_children += anything_below(state, lo, level);
    }
    return family;
}

static void fold(struct state *state, uint64_t base, unsigned level, uint64_t *cycles)
{
    struct family family = weigh(state, base, level);
    unsigned at;
    struct entry *parent = match(state, base, level - 1, &at);
    *cycles += 2u << state->plan.fan_bits;
    *cycles += 1;
    if (family.with_children > 1 || parent->count + family.weight >= state->limit)
        return;
    parent->count += family.weight;
    *cycles += RF_RAP_SRAM_CYCLES;
    for (uint32_t i = 0; i < 1u << state->plan.fan_bits; i++) {
        uint64_t lo;
        if (!sibling(state, base, level, i, &lo))
            continue;
        uint64_t moves = remove_entry(state, exact(state, lo, level), level);
        state->moves += moves;
        *cycles += 1 + MOVE_CYCLES * moves;
    }
    state->sets--;
    state->folds++;
}

/* Bottom-up: longest prefixes first. Returns the cycles it takes. */
static uint64_t merge_all(struct state *state)
{
    uint64_t cycles = 0;
    for (unsigned level = state->plan.levels; level > 0; level--) {
        uint32_t sets = 0;
        for (uint32_t i = 0; i < state->n[level]; i++) {
            uint64_t lo = state->entries[state->first[level] + i].lo;
            if (set_base(state, lo, level) == lo)
                state->scratch[sets++] = lo;
        }
        for (uint32_t i = 0; i < sets; i++)
            fold(state, state->scratch[i], level, &cycles);
    }
    return cycles;
}

static void set_limit(struct state *state)
{
    uint64_t limit = state->events / state->per_limit;
    state->limit = limit > 0 ? limit : 1;
}

/* --- one event --- */

static uint64_t make_room(struct state *state)
{
    uint64_t cycles = merge_all(state);
    state->early++;
    while (state->plan.sets - 1 - state->sets < state->plan.sets / 4 && state->per_limit > 1) {
        state->per_limit -= state->per_limit / 4 > 0 ? state->per_limit / 4 : 1;
        set_limit(state);
        cycles += merge_all(state);
    }
    return cycles;
}

/* As in tree.c: room that a merge left makes the threshold lower again. */
static void narrow(struct state *state)
{
    uint64_t per_limit = rf_rap_narrowed(&state->plan, state->per_limit, state->sets);
    if (per_limit == state->per_limit)
        return;
    if (state->limit > state->wide)
        state->wide = state->limit;
    state->per_limit = per_limit;
    set_limit(state);
}

static bool ripe(const struct state *state, const struct entry *entry)
{
    return entry->shift != 0 && entry->count >= state->limit;
}

static uint64_t split(struct state *state, const struct entry *entry, unsigned level)
{
    uint64_t base = entry->lo, cycles = SPLIT_STATES;
    for (uint32_t i = 0; i < 1u << state->plan.fan_bits; i++) {
        uint64_t lo;
        if (!sibling(state, base, level + 1, i, &lo))
            continue;
        uint64_t moves = insert(state, lo, level + 1);
        state->moves += moves;
        cycles += MOVE_CYCLES * moves;
    }
    state->splits++;
    if (++state->sets > state->sets_max)
        state->sets_max = state->sets;
    return cycles;
}

static struct rf_rap_stall update(struct state *state, uint64_t value)
{
    struct rf_rap_stall stall = {0, 0};
    unsigned level;
    state->events++;
    set_limit(state);
    struct entry *entry = match(state, value, state->plan.levels, &level);
    entry->count++;
    if (ripe(state, entry) && state->sets == state->plan.sets - 1) {
        stall.merge += make_room(state);
        entry = match(state, value, state->plan.levels, &level);
    }
    if (ripe(state, entry))
        stall.split += split(state, entry, level);
    if (state->events == state->next_merge) {
        stall.merge += merge_all(state);
        narrow(state);
        state->merges++;
        uint64_t next;
        state->next_merge =
            __builtin_mul_overflow(state->next_merge, state->plan.q, &next) ? UINT64_MAX : next;
    }
    return stall;
}

static void feed_value(struct state *state, uint64_t value)
{
    uint64_t number = state->events;
    rf_rap_clock_tick(&state->clock, number, update(state, value));
}

/* The word that counts; false: outside of the universe. */
static bool project(const struct state *state, struct rf_tuple tuple, uint64_t *value)
{
    *value = state->config.tree.key == RF_RAP_B ? tuple.b : tuple.a;
    return top(*value, state->plan.bits) == 0;
}

static rf_status feed(void *memory, const struct rf_tuple *tuples, size_t n, size_t *consumed)
{
    struct state *state = memory;
    uint64_t value;
    *consumed = n;
    for (size_t i = 0; i < n; i++)
        if (project(state, tuples[i], &value))
            feed_value(state, value);
        else
            state->outside++;
    return RF_OK;
}

/* First all events that only count, then the one that may split or merge. */
static rf_status feed_counted(void *memory, struct rf_tuple tuple, uint64_t count)
{
    struct state *state = memory;
    uint64_t value;
    if (!project(state, tuple, &value)) {
        state->outside += count;
        return RF_OK;
    }
    while (count > 0) {
        unsigned level;
        struct entry *entry = match(state, value, state->plan.levels, &level);
        uint64_t until_merge = state->next_merge - state->events;
        uint64_t piece = count < until_merge ? count : until_merge;
        if (entry->shift != 0)
            piece = rf_rap_room(state->events, state->per_limit, entry->count, piece);
        entry->count += piece - 1;
        rf_rap_clock_run(&state->clock, state->events, piece - 1);
        state->events += piece - 1;
        feed_value(state, value);
        count -= piece;
    }
    return RF_OK;
}

static void end_interval(void *memory)
{
    restart(memory);
}

/* --- reports --- */

static bool covers(const struct entry *outer, const struct entry *inner)
{
    return outer->shift >= inner->shift && top(outer->lo ^ inner->lo, outer->shift) == 0;
}

static uint32_t entry_count(const struct state *state)
{
    uint32_t n = 0;
    for (unsigned level = 0; level <= state->plan.levels; level++)
        n += state->n[level];
    return n;
}

static struct rf_item item_of(const struct state *state, const struct entry *entry)
{
    struct rf_item item = {
        .count = entry->count, .a_hi = UINT64_MAX, .b_hi = UINT64_MAX, .lower = 0, .upper = 0};
    uint64_t hi = entry->lo + (entry->shift >= 64 ? UINT64_MAX : (UINT64_C(1) << entry->shift) - 1);
    if (state->config.tree.key == RF_RAP_B) {
        item.b = entry->lo;
        item.b_hi = hi;
    } else {
        item.a = entry->lo;
        item.a_hi = hi;
    }
    for (uint32_t i = 0, n = entry_count(state); i < n; i++) {
        const struct entry *other = &state->entries[i];
        if (covers(entry, other))
            item.lower += other->count;
        if (covers(entry, other) || covers(other, entry))
            item.upper += other->count;
    }
    return item;
}

static rf_status report_figures(const struct state *state, const struct rf_sink *sink)
{
    const struct rf_rap_clock *clock = &state->clock;
    double events = state->events > 0 ? (double)state->events : 1;
    double busy = (double)state->events * (RF_RAP_TCAM_CYCLES + RF_RAP_SRAM_CYCLES) /
                      (state->config.pipelined ? 2 : 1) +
                  (double)(clock->split + clock->merge);
    const struct rf_figure figures[] = {
        {"eps-max", rf_rap_eps(&state->plan, state->per_limit, state->wide, state->events)},
        {"entries", (double)entry_count(state)},
        {"sets", (double)state->sets},
        {"sets-max", (double)state->sets_max},
        {"splits", (double)state->splits},
        {"merges", (double)state->merges},
        {"early-merges", (double)state->early},
        {"outside", (double)state->outside},
        {"cycles", (double)clock->finished + clock->skipped},
        {"cycles-mean", busy / events},
        {"stall-split", (double)clock->split},
        {"stall-merge", (double)clock->merge},
        {"entries-moved", (double)state->moves},
        {"flushed", (double)clock->flushed},
        {"queue-max", (double)clock->deepest},
        {"queue-overflow", (double)clock->overflow},
        {"source-waits", clock->waited},
    };
    return rf_engine_report_figures(sink, figures, sizeof figures / sizeof *figures);
}

static rf_status report_outside(const struct state *state, const struct rf_sink *sink)
{
    if (state->outside == 0)
        return RF_OK;
    struct rf_item item = {.a_hi = UINT64_MAX,
                           .b_hi = UINT64_MAX,
                           .count = state->outside,
                           .lower = state->outside,
                           .upper = state->outside};
    uint64_t from = UINT64_C(1) << state->plan.bits;
    *(state->config.tree.key == RF_RAP_B ? &item.b : &item.a) = from;
    return sink->item(sink->context, &item);
}

static rf_status report(const void *memory, const struct rf_sink *sink)
{
    const struct state *state = memory;
    uint64_t hidden = 0;
    rf_status status = report_outside(state, sink);
    for (uint32_t i = 0, n = entry_count(state); i < n && status == RF_OK; i++) {
        const struct entry *entry = &state->entries[i];
        struct rf_item item = item_of(state, entry);
        uint64_t above = item.upper - item.lower + item.count;
        if (entry->shift != 0 && above > hidden)
            hidden = above;
        if (item.lower > 0)
            status = sink->item(sink->context, &item);
    }
    if (status == RF_OK)
        status = report_figures(state, sink);
    if (status != RF_OK)
        return status;
    struct rf_summary summary = {
        .events = state->events + state->outside,
        .absent_upper = hidden,
        .shape = (uint8_t)rf_rap_shape(&state->config.tree),
        .bound = RF_BOUND_HARD,
    };
    return sink->end(sink->context, &summary);
}

/* A prefix with its mask and the valid bit, a counter of 32 bits; the queue. */
static uint64_t bits(const void *config)
{
    const struct config *c = config;
    return c->tcam * (2 * c->tree.bits + 32) + c->queue * c->tree.bits;
}

const struct rf_engine_ops rf_rap_hw = {
    .name = "rap-hw",
    .brief = "rap as a pipeline over a ternary memory: the same ranges, with their cycles",
    .options = options,
    .config_size = sizeof(struct config),
    .check = check,
    .shape = rf_rap_shape,
    .state_size = state_size,
    .init = init,
    .feed = feed,
    .feed_counted = feed_counted,
    .repeat_interval = rf_engine_starts_anew,
    .end_interval = end_interval,
    .merging = "profiles: counts and bounds of ranges add up; states do not merge",
    .report = report,
    .bits = bits,
};
