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
 * routine, which finds the upper half that goes with each. For that pass these loads are unmasked, and
 * masked again behind it. Samples of other loads find no slot there and end at once.
 *
 * Cost: the paper asks for data structures with few cache misses, and overlaps those that remain by modulo
 * scheduling (section 3.5). Here a load that has one or two values is one line of the cache, with its best value in
 * front. Slots are recorded in groups of GROUP: first all places are read, then all entries, then each is changed.
 * The misses of a group are on their way together. */
#include "coproc/filter.h"
#include "coproc/host.h"

enum { GROUP = 16, LINE = 64, PLACES_PER_LINE = LINE / sizeof(uint32_t) };

/* Loads of one stretch of code have places side by side: a line of the cache that one of them brings serves its
 * neighbours. Which stretches fall together is left to a hash. */
static inline uint64_t place_of(uint64_t pc)
{
    uint64_t stretch = (pc / (2 * PLACES_PER_LINE)) * UINT64_C(0x9e3779b97f4a7c15) >> 32;
    return stretch * PLACES_PER_LINE + (pc >> 1 & (PLACES_PER_LINE - 1));
}

/* A place holds the number of the line that the entry begins with, from the table's start. */
static inline struct rf_values_entry *entry_at(struct rf_table *table, uint64_t place)
{
    return (struct rf_values_entry *)((char *)table + place * LINE);
}

static inline uint32_t line_of(const struct rf_table *table, const struct rf_values_entry *entry)
{
    return (uint32_t)((size_t)((const char *)entry - (const char *)table) / LINE);
}

/* The load's entry; with `create` a new one if need be. NULL: there is none, and perhaps no room. */
static struct rf_values_entry *find(struct rf_table *table, uint32_t pc, bool create)
{
    uint32_t *places = rf_values_places(table);
    size_t most = table->entries - 1, at = place_of(pc) & most;
    while (places[at] != 0 && entry_at(table, places[at])->pc != pc)
        at = (at + 1) & most;
    if (places[at] != 0)
        return entry_at(table, places[at]);
    if (!create || table->used >= table->entries / 4 * 3) {
        table->refused += create;
        return 0;
    }
    struct rf_values_entry *entry = &rf_values_entries(table)[table->used++];
    places[at] = line_of(table, entry);
    entry->pc = pc;
    return entry;
}

static void count(uint16_t *counter)
{
    if (*counter < UINT16_MAX)
        ++*counter;
}

static void swap_values(struct rf_values_value *x, struct rf_values_value *y)
{
    struct rf_values_value old = *x;
    *x = *y;
    *y = old;
}

/* The value's place in the list; n when it is not there. */
static uint32_t place_of_value(const struct rf_values_entry *entry, uint32_t value)
{
    uint32_t at = 0;
    while (at < entry->n && entry->values[at].value != value)
        at++;
    return at;
}

static struct rf_values_value *weakest_of(struct rf_values_entry *entry)
{
    struct rf_values_value *weakest = &entry->values[0];
    for (uint32_t i = 1; i < entry->n; i++)
        weakest = entry->values[i].hits < weakest->hits ? &entry->values[i] : weakest;
    return weakest;
}

static inline void add_to(struct rf_values_value *value, uint32_t hits, uint32_t misses)
{
    value->hits += hits;
    value->misses += misses;
    count(&value->times);
}

/* Did it have at least this many per cent of the samples while it was active? */
static bool makes(const struct rf_values_value *value, uint32_t percent)
{
    uint64_t samples = (uint64_t)value->hits + value->misses;
    return (uint64_t)value->hits * 100 >= samples * percent;
}

/* --- the filter ---------------------------------------------------------------------------------- */

static uint32_t bit_of(const struct rf_window *window, uint32_t pc, unsigned function)
{
    return rf_filter_hash(pc, function) & (window->filter_bits - 1);
}

static void mask(struct rf_window *window, uint32_t pc)
{
    for (unsigned f = 0; f < RF_FILTER_FUNCTIONS; f++) {
        uint32_t bit = bit_of(window, pc, f);
        window->filter[bit / 32] |= UINT32_C(1) << bit % 32;
    }
}

static void set_part(struct rf_window *window, struct rf_table *table, uint32_t part)
{
    window->mask = (UINT32_C(1) << table->words[RF_VALUES_SPLIT]) - 1;
    window->match = table->words[RF_VALUES_PART] = part & window->mask;
}

/* --- passes -------------------------------------------------------------------------------------- */

static void unmask(struct rf_window *window, uint32_t pc)
{
    uint32_t bit = bit_of(window, pc, 0);
    window->filter[bit / 32] &= ~(UINT32_C(1) << bit % 32);
}

/* Loads that wait are a queue: each names the next. */
static void let_wait(struct rf_table *table, struct rf_values_entry *entry)
{
    uint32_t line = line_of(table, entry);
    if (table->words[RF_VALUES_WAITING]++ == 0)
        table->words[RF_VALUES_FIRST] = line;
    else
        entry_at(table, table->words[RF_VALUES_LAST])->last = line;
    table->words[RF_VALUES_LAST] = line;
    entry->state = RF_VALUES_WAITS;
}

static struct rf_values_entry *next_waiting(struct rf_table *table)
{
    struct rf_values_entry *entry = entry_at(table, table->words[RF_VALUES_FIRST]);
    table->words[RF_VALUES_FIRST] = entry->last;
    table->words[RF_VALUES_WAITING]--;
    return entry;
}

/* Empty the slots of the second pass. Nothing after them is taken from the window. */
static void clear_slots(struct rf_window *window)
{
    uint32_t end = window->roles[RF_VALUES_LOWER].first + window->slots / 2;
    window->data_taken = end < RF_WINDOW_DATA ? end : RF_WINDOW_DATA;
    for (uint32_t i = 0; i < window->data_taken; i++)
        window->data[i] = 0;
    for (uint32_t i = 0; i < window->slots / 32; i++)
        window->valid[i] = 0;
}

/* Put the load's useful values into slots from n on. Returns how many slots are taken then. A value that was seen only
 * when it was selected is not useful. */
static uint32_t look_at(struct rf_window *window, struct rf_values_entry *entry, uint32_t n)
{
    uint32_t first = n, most = n + RF_VALUES_LOOKED_AT;
    for (uint32_t v = 0; v < entry->n && n < most; v++) {
        if (entry->values[v].hits == entry->values[v].times || entry->values[v].seen != 0)
            continue;
        rf_window_write(window, RF_VALUES_WANTED, n, entry->pc);
        rf_window_write(window, RF_VALUES_LOWER, n, entry->values[v].value);
        window->valid[n / 32] |= UINT32_C(1) << n % 32;
        n++;
    }
    entry->state = n > first ? RF_VALUES_LOOKS : RF_VALUES_LOOKED;
    if (n > first)
        unmask(window, entry->pc);
    return n;
}

static void begin_upper(struct rf_window *window, struct rf_table *table)
{
    uint32_t n = 0, room = window->slots / 2 - RF_VALUES_LOOKED_AT;
    clear_slots(window);
    while (table->words[RF_VALUES_WAITING] > 0 && n < room)
        n = look_at(window, next_waiting(table), n);
    table->words[RF_VALUES_PASS] = 1;
    table->words[RF_VALUES_LOOKING] = n;
    table->passes++;
    window->mask = window->match = 0;
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
static void record_upper(struct rf_window *window, struct rf_table *table, uint32_t slot)
{
    struct rf_values_entry *entry =
        find(table, rf_window_read(window, RF_VALUES_WANTED, slot), false);
    uint32_t lower = rf_window_read(window, RF_VALUES_LOWER, slot);
    if (entry == 0)
        return;
    mask(window, entry->pc);
    window->folded++;
    uint32_t at = place_of_value(entry, lower);
    uint32_t seen = rf_window_read(window, RF_VALUES_SEEN, slot);
    if (entry->state == RF_VALUES_LOOKS)
        entry->state = RF_VALUES_MISSED;
    if (at == entry->n || seen == 0)
        return;
    entry->state = RF_VALUES_LOOKED;
    set_upper(&entry->values[at], rf_window_read(window, RF_VALUES_UPPER, slot), seen,
              rf_window_read(window, RF_VALUES_SAME, slot));
}

static void end_upper(struct rf_window *window, struct rf_table *table)
{
    for (uint32_t i = 0; i < table->words[RF_VALUES_LOOKING]; i++)
        record_upper(window, table, i);
    window->scanned += table->words[RF_VALUES_LOOKING];
    table->words[RF_VALUES_PASS] = 0;
    window->entry = RF_WINDOW_AS_DECLARED;
    set_part(window, table, table->words[RF_VALUES_PART] + 1);
}

/* --- slots --------------------------------------------------------------------------------------- */

static bool has_second_pass(const struct rf_window *window)
{
    return window->lets[RF_VALUES_ROUTINE] != RF_WINDOW_AS_DECLARED &&
           window->slots / 2 > RF_VALUES_LOOKED_AT;
}

/* The load was known already; this value of it, it seems, was not. */
static void reconsider(struct rf_window *window, struct rf_table *table,
                       struct rf_values_entry *entry, const struct rf_values_value *value)
{
    if (entry->state < RF_VALUES_LOOKED || value->seen != 0 || value->hits == value->times ||
        !has_second_pass(window) ||
        (uint64_t)value->hits * 100 < (uint64_t)entry->total * window->lets[RF_VALUES_LOW])
        return;
    let_wait(table, entry);
}

/* A value that is not the first of the list. A full list gives up its weakest for a stronger one; the best of them
 * moves to the front. */
static __attribute__((noinline)) void add_other(struct rf_window *window, struct rf_table *table,
                                                struct rf_values_entry *entry,
                                                const struct rf_values_value *seen)
{
    uint32_t at = place_of_value(entry, seen->value);
    struct rf_values_value *to = &entry->values[at];
    if (at == entry->n && at == RF_VALUES_KEPT) {
        to = weakest_of(entry);
        if (seen->hits < to->hits)
            return;
    }
    if (at == entry->n) {
        *to = (struct rf_values_value){.value = seen->value};
        entry->n = (uint8_t)(at < RF_VALUES_KEPT ? at + 1 : at);
    }
    add_to(to, seen->hits, seen->misses);
    reconsider(window, table, entry, to);
    if (to->hits > entry->values[0].hits)
        swap_values(to, &entry->values[0]);
}

static void judge(struct rf_window *window, struct rf_table *table, struct rf_values_entry *entry)
{
    const struct rf_values_value *best = &entry->values[0];
    bool clear =
        best->hits + best->misses >= window->lets[RF_VALUES_ENOUGH] &&
        (makes(best, window->lets[RF_VALUES_HIGH]) || !makes(best, window->lets[RF_VALUES_LOW]));
    if (!clear && entry->times < window->lets[RF_VALUES_TIMES])
        return;
    bool wants_upper = has_second_pass(window) && makes(best, window->lets[RF_VALUES_WORTH]);
    entry->state = RF_VALUES_KNOWN;
    if (wants_upper)
        let_wait(table, entry);
    table->masked++;
    mask(window, entry->pc);
}

/* Slots of a load that is not known yet, or whose upper half was missed. */
static __attribute__((noinline)) void find_open(struct rf_window *window, struct rf_table *table,
                                                struct rf_values_entry *entry)
{
    if (entry->state == RF_VALUES_MISSED) {
        let_wait(table, entry);
        return;
    }
    if (entry->last != table->words[RF_VALUES_SERVED])
        count(&entry->times);
    entry->last = table->words[RF_VALUES_SERVED];
    judge(window, table, entry);
}

/* A slot that is to be recorded. */
struct pending {
    uint64_t slot, pc;
    uint64_t place;                /* what is in the load's first place */
    struct rf_values_entry *entry; /* NULL: it is not in that place */
};

/* The next ones from slot *from on, which moves behind them. Returns how many, GROUP at the most. */
static inline size_t gather(struct pending *group, const struct rf_window *window,
                            struct rf_table *table, size_t *from)
{
    const struct rf_window_lane total = rf_window_lane(window, RF_VALUES_TOTAL),
                                pc = rf_window_lane(window, RF_VALUES_PC);
    const uint32_t *places = rf_values_places(table);
    uint64_t most = table->entries - 1, least = window->lets[RF_VALUES_LEAST];
    least = window->reason == RF_REASON_END || least == 0 ? 1 : least;
    size_t slots = window->slots, slot = *from;
    struct pending *to = group;
    for (; slot < slots && to < group + GROUP; slot++) {
        if (rf_lane_read(total, slot) < least)
            continue;
        to->slot = slot;
        to->pc = rf_lane_read(pc, slot);
        to->place = places[place_of(to->pc) & most];
        to++;
    }
    *from = slot;
    return (size_t)(to - group);
}

/* Entries of the loads that are known; of the others, the lines that they are going to get. */
static inline void look_up(struct pending *group, size_t n, struct rf_table *table)
{
    struct rf_values_entry *next = rf_values_entries(table) + table->used;
    for (struct pending *p = group; p < group + n; p++) {
        struct rf_values_entry *entry = p->place != 0 ? entry_at(table, p->place) : next;
        next += p->place == 0;
        p->entry = entry->pc == p->pc ? entry : 0;
    }
}

static inline void record_group(struct rf_window *window, struct rf_table *table,
                                const struct pending *group, size_t n)
{
    const struct rf_window_lane value = rf_window_lane(window, RF_VALUES_VALUE);
    const struct rf_window_lane hits = rf_window_lane(window, RF_VALUES_HITS);
    const struct rf_window_lane misses = rf_window_lane(window, RF_VALUES_MISSES);
    const struct rf_window_lane total = rf_window_lane(window, RF_VALUES_TOTAL);
    for (const struct pending *p = group; p < group + n; p++) {
        uint32_t seen = (uint32_t)rf_lane_read(value, p->slot);
        uint32_t hit = (uint32_t)rf_lane_read(hits, p->slot);
        uint32_t missed = (uint32_t)rf_lane_read(misses, p->slot);
        struct rf_values_entry *entry =
            p->entry != 0 ? p->entry : find(table, (uint32_t)p->pc, true);
        if (entry == 0)
            continue;
        window->folded++;
        entry->total += (uint32_t)rf_lane_read(total, p->slot);
        if (entry->values[0].value == seen && entry->n > 0)
            add_to(&entry->values[0], hit, missed);
        else
            add_other(window, table, entry,
                      &(struct rf_values_value){.value = seen, .hits = hit, .misses = missed});
        if (entry->state <= RF_VALUES_MISSED)
            find_open(window, table, entry);
    }
}

static void record_slots(struct rf_window *window, struct rf_table *table)
{
    struct pending group[GROUP];
    for (size_t at = 0; at < window->slots;) {
        size_t n = gather(group, window, table, &at);
        look_up(group, n, table);
        record_group(window, table, group, n);
    }
    window->scanned += window->slots;
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
    record_slots(window, table);
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
