/* host_values.c - the handler of the value profiler: records slots, masks loads that are known well enough,
 * splits a program that thrashes, looks at upper halves, and stops.
 *
 * Zilles and Sohi, sections 4.1 and appendix; compiled for the host and for the simulated core (host.h).
 *
 *     thrashing     nothing is recorded; the pc filter splits the program into 2, 4 or 8 times as many parts. The
 *                   sooner thrashing showed, the more parts
 *     otherwise     every slot of `least` samples is added to its load: value, hits, misses, total; the paper, too, leaves
 *                   out what tells little (section 3.5). A load is masked when the
 *                   invariance of its best value is clearly high or clearly low, or when it was recorded often.
 *                   Then the next part of the program, if it is split
 *     quiet         nobody called for long: record what there is. A round of quiet parts halves their number;
 *                   a quiet whole program without samples is a complete profile
 *     lift          about every `age` loads the masks are ignored for `glance` loads, and what ran then is added
 *
 * The lift is the paper's periodic re-sampling: "phase behavior [makes it] necessary [to] periodically re-sample"
 * (section 4.1.3). It says no more than that; an explicit phase detector could time it better. Ours: all loads at
 * once, by one bit of the filter that turns its table off, so that nothing has to be masked anew; each lift comes
 * age/2 to 3/2 age loads after the last. The samples of all lifts weigh alike, so early phases do not count for
 * more than later ones. A lift costs a visit that does nothing else, and one that records.
 *
 * Slots hold 32 bits of a value. Loads that seem invariant are looked at a second time: the paper names that as what
 * it lacks. The host writes their best values into slots of another form and lets samples begin at another
 * routine, which finds the upper half that goes with each. The masks are lifted for that pass. Samples of other loads find
 * no slot there and end at once. */
#include "coproc/host_values.h"

static void set_part(struct rf_window *window, struct rf_table *table, uint32_t part)
{
    window->mask = (UINT32_C(1) << table->words[RF_VALUES_SPLIT]) - 1;
    window->match = table->words[RF_VALUES_PART] = part & window->mask;
}

/* --- passes -------------------------------------------------------------------------------------- */

static struct rf_values_entry *next_waiting(struct rf_table *table)
{
    struct rf_values_entry *entry = rf_values_at(table, table->words[RF_VALUES_FIRST]);
    table->words[RF_VALUES_FIRST] = entry->last;
    table->words[RF_VALUES_WAITING]--;
    return entry;
}

/* Where the slots of the second pass lie. */
struct second {
    struct rf_window_lane wanted, lower, upper, seen, same;
};

static inline struct second second_of(struct rf_window *window)
{
    return (struct second){.wanted = rf_window_lane(window, RF_VALUES_WANTED),
                           .lower = rf_window_lane(window, RF_VALUES_LOWER),
                           .upper = rf_window_lane(window, RF_VALUES_UPPER),
                           .seen = rf_window_lane(window, RF_VALUES_SEEN),
                           .same = rf_window_lane(window, RF_VALUES_SAME)};
}

/* Of the data array, n lower halves are taken from the window and what is in front of them; a reset clears the rest. */
static void take_lowers(struct rf_window *window, uint32_t n)
{
    const struct rf_window_role *lower = &window->roles[RF_VALUES_LOWER];
    uint32_t first = lower->in_keys ? 0 : lower->first;
    window->data_taken = lower->in_keys ? 0 : first + n;
    for (uint32_t i = 0; i < first; i++)
        window->data[i] = 0;
}

/* Put the load's useful values into slots from n on. Returns how many slots are taken then. A value that was seen only
 * when it was selected is not useful. */
static uint32_t look_at(const struct second *at, struct rf_values_entry *entry, uint32_t n)
{
    uint32_t first = n, most = n + RF_VALUES_LOOKED_AT;
    for (uint32_t v = 0; v < entry->n && n < most; v++) {
        if (entry->values[v].hits == entry->values[v].times || entry->values[v].seen != 0)
            continue;
        rf_lane_set(at->wanted, n, entry->pc);
        rf_lane_set(at->lower, n, entry->values[v].value);
        n++;
    }
    entry->state = n > first ? RF_VALUES_LOOKS : RF_VALUES_LOOKED;
    return n;
}

static void begin_upper(struct rf_window *window, struct rf_table *table)
{
    const struct second at = second_of(window);
    uint32_t n = 0, room = window->slots / 2 - RF_VALUES_LOOKED_AT;
    while (table->words[RF_VALUES_WAITING] > 0 && n < room)
        n = look_at(&at, next_waiting(table), n);
    for (uint32_t i = 0; i < window->slots / 32; i++)
        window->valid[i] = i < n / 32 ? UINT32_MAX : i == n / 32 ? (UINT32_C(1) << n % 32) - 1 : 0;
    take_lowers(window, n);
    table->words[RF_VALUES_PASS] = 1;
    table->words[RF_VALUES_LOOKING] = n;
    table->passes++;
    window->mask = window->match = 0;
    window->lifted = 1;
    window->indexes[window->lets[RF_VALUES_LEFT]] = n;
    window->entry = window->lets[RF_VALUES_ROUTINE];
    window->command |= RF_COMMAND_DATA | RF_COMMAND_KEYS;
}

/* For programs with counters of 32 bits: scale them down and keep their ratio. */
static void set_upper(struct rf_values_value *value, uint32_t upper, uint32_t seen, uint32_t same)
{
    for (; seen > UINT16_MAX; seen /= 2)
        same /= 2;
    value->upper = upper;
    value->seen = (uint16_t)seen;
    value->same = (uint16_t)(same < seen ? same : seen);
}

/* Add what a slot of the second pass found to its value. A value that was not seen again is given up. */
static void record_upper(struct rf_values_entry *entry, const struct second *from, uint32_t slot)
{
    uint32_t at = rf_values_place(entry, (uint32_t)rf_lane_read(from->lower, slot));
    uint32_t seen = (uint32_t)rf_lane_read(from->seen, slot);
    if (entry->state == RF_VALUES_LOOKS)
        entry->state = RF_VALUES_MISSED;
    if (at == entry->n || seen == 0)
        return;
    entry->state = RF_VALUES_LOOKED;
    set_upper(&entry->values[at], (uint32_t)rf_lane_read(from->upper, slot), seen,
              (uint32_t)rf_lane_read(from->same, slot));
}

static void end_upper(struct rf_window *window, struct rf_table *table)
{
    const struct second from = second_of(window);
    struct rf_values_entry *entry = 0;
    uint32_t n = table->words[RF_VALUES_LOOKING];
    for (uint32_t i = 0; i < n; i++) {
        uint32_t pc = (uint32_t)rf_lane_read(from.wanted, i);
        if (entry == 0 || entry->pc != pc) /* the values of a load lie side by side */
            entry = rf_values_find(table, pc, false);
        if (entry == 0)
            continue;
        record_upper(entry, &from, i);
        window->folded++;
    }
    window->scanned += n;
    window->lifted = 0;
    table->words[RF_VALUES_PASS] = 0;
    window->entry = RF_WINDOW_AS_DECLARED;
    set_part(window, table, table->words[RF_VALUES_PART] + 1);
}

/* --- what to do next ------------------------------------------------------------------------------ */

/* Thrashing showed after this many samples: few mean that hardly any load came twice. */
static void split(struct rf_window *window, struct rf_table *table)
{
    uint32_t least = window->full[window->lets[RF_VALUES_DROPPED]];
    uint32_t more = window->samples < 2 * least ? 3 : window->samples < 4 * least ? 2 : 1;
    uint32_t *parts = &table->words[RF_VALUES_SPLIT];
    *parts = *parts + more < RF_VALUES_SPLIT_MAX ? *parts + more : RF_VALUES_SPLIT_MAX;
    table->words[RF_VALUES_STILL] = 0;
    set_part(window, table, 0);
}

static void go_on(struct rf_window *window, struct rf_table *table, bool quiet)
{
    uint32_t *still = &table->words[RF_VALUES_STILL], *parts = &table->words[RF_VALUES_SPLIT];
    *still = quiet ? *still + 1 : 0;
    if (quiet && *parts > 0 && *still >= UINT32_C(1) << *parts) {
        (*parts)--;
        *still = 0;
    }
    set_part(window, table, table->words[RF_VALUES_PART] + 1);
}

/* A part that gives no samples: look at upper halves, or it is the whole program and the profile is complete. */
static void after_quiet(struct rf_window *window, struct rf_table *table)
{
    bool silent = window->samples < window->events / 1024;
    if (silent && table->words[RF_VALUES_WAITING] > 0)
        begin_upper(window, table);
    else if (silent && table->words[RF_VALUES_SPLIT] == 0) {
        table->complete = 1; /* what is new is still sampled, and may call */
        window->command |= RF_COMMAND_REST;
    } else
        go_on(window, table, true);
}

/* --- looking again -------------------------------------------------------------------------------- */

/* Events from one lift to the next: `age`, half of it less or more, so that no period of the program hides from
 * it. */
static uint32_t draw_due(const struct rf_window *window, const struct rf_table *table)
{
    uint64_t age = window->lets[RF_VALUES_AGE];
    uint64_t random = rf_table_hash(window->random, table->words[RF_VALUES_SERVED]);
    return (uint32_t)(age / 2 + (age * random >> 32));
}

static bool is_due(const struct rf_window *window, struct rf_table *table)
{
    if (window->lets[RF_VALUES_AGE] == 0)
        return false;
    if (table->words[RF_VALUES_DUE] == 0)
        table->words[RF_VALUES_DUE] = draw_due(window, table);
    return window->reason == RF_REASON_QUIET && window->lifted == 0 &&
           table->words[RF_VALUES_SINCE] >= table->words[RF_VALUES_DUE];
}

/* What is in the slots stays there. */
static void lift(struct rf_window *window, struct rf_table *table)
{
    table->words[RF_VALUES_SINCE] = 0;
    table->words[RF_VALUES_DUE] = draw_due(window, table);
    window->lifted = 1;
    set_part(window, table, 0);
}

/* All parts of the program were looked at again. Loads that wait run now: look at their upper halves at once. */
static void end_lift(struct rf_window *window, struct rf_table *table)
{
    window->lifted = 0;
    if (table->words[RF_VALUES_WAITING] > 0)
        begin_upper(window, table);
    else if (table->complete)
        window->command |= RF_COMMAND_REST;
}

static uint32_t smaller(uint32_t a, uint32_t b)
{
    return a == 0 || (b != 0 && b < a) ? b : a; /* 0 is never */
}

/* When the host looks next if nobody calls: soon while loads become known, then later and later, up to `quiet`. If it
 * never looks again at what is masked it is slow to mask: always `quiet`. */
static void set_look(struct rf_window *window, struct rf_table *table, bool learned)
{
    uint32_t since = table->words[RF_VALUES_SINCE], due = table->words[RF_VALUES_DUE];
    uint32_t left = due > since ? due - since : due != 0;
    uint32_t *patience = &table->words[RF_VALUES_PATIENCE];
    uint32_t glance = window->lets[RF_VALUES_AGE] == 0
                          ? window->look
                          : smaller(window->lets[RF_VALUES_GLANCE], window->look);
    *patience = smaller(learned ? glance : 2 * *patience, window->look);
    if (table->words[RF_VALUES_PASS] == 1)
        window->look = smaller(window->lets[RF_VALUES_SECOND], window->look);
    else if (window->lifted != 0)
        window->look = glance;
    else if ((window->command & RF_COMMAND_REST) != 0)
        window->look = left;
    else
        window->look = smaller(*patience, left);
}

/* --- one visit ------------------------------------------------------------------------------------ */

static bool is_thrashing(const struct rf_window *window, const struct rf_table *table)
{
    uint32_t dropped = window->lets[RF_VALUES_DROPPED];
    return window->reason == RF_REASON_INTERRUPT &&
           window->indexes[dropped] == window->full[dropped] &&
           table->words[RF_VALUES_SPLIT] < RF_VALUES_SPLIT_MAX;
}

static void serve_lower(struct rf_window *window, struct rf_table *table)
{
    if (is_thrashing(window, table)) {
        split(window, table);
        return;
    }
    rf_values_record(window, table);
    if (window->lifted != 0) {
        go_on(window, table, false);
        if (table->words[RF_VALUES_PART] == 0)
            end_lift(window, table);
    } else if (table->words[RF_VALUES_WAITING] > window->slots / 16)
        begin_upper(window, table);
    else if (window->reason == RF_REASON_QUIET)
        after_quiet(window, table);
    else
        go_on(window, table, false);
}

static void serve_upper(struct rf_window *window, struct rf_table *table)
{
    end_upper(window, table);
    if (table->words[RF_VALUES_WAITING] > 0)
        begin_upper(window, table);
}

void rf_host_values(struct rf_window *window, struct rf_table *table)
{
    uint32_t masked = table->masked;
    table->words[RF_VALUES_SERVED]++;
    table->words[RF_VALUES_SINCE] += window->events;
    bool due = table->words[RF_VALUES_PASS] == 0 && is_due(window, table);
    if (due)
        lift(window, table);
    else if (table->words[RF_VALUES_PASS] == 1)
        serve_upper(window, table);
    else
        serve_lower(window, table);
    window->command |= due ? 0 : RF_COMMAND_RESET;
    set_look(window, table, table->masked > masked || table->words[RF_VALUES_SERVED] == 1);
}
