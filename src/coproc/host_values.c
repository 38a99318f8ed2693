/* host_values.c - the handler of the value profiler: records slots, masks loads that are known well enough,
 * splits a program that thrashes, looks at upper halves, and stops.
 *
 * Zilles and Sohi, sections 4.1 and appendix; compiled for the host and for the simulated core (host.h).
 *
 *     thrashing     nothing is recorded; the program is split into 2, 4 or 8 times as many parts by the pc
 *                   filter, the more the faster it showed
 *     otherwise     every slot is added to its load: value, hits, misses, total. A load is masked when the
 *                   invariance of its best value is clearly high or clearly low, or when it was recorded often.
 *                   Then the next part of the program, if it is split
 *     quiet         nobody called for long: record what there is. A round of quiet parts halves their number;
 *                   a quiet whole program without samples is a complete profile
 *
 * Slots hold 32 bits of a value. Loads that seem invariant are looked at a second time: the paper names that as what
 * it lacks. The host writes their best values into slots of another form and lets samples begin at another
 * routine, which finds the upper half that goes with each. For that pass the filter is turned over: all bits set,
 * but for those of these loads. */
#include "coproc/filter.h"
#include "coproc/host.h"

/* The load's entry; with `create` a new one if need be. NULL: there is none, and perhaps no room. */
static struct rf_values_entry *find(struct rf_table *table, uint32_t pc, bool create)
{
    uint32_t *places = rf_values_places(table);
    struct rf_values_entry *entries = rf_values_entries(table);
    for (uint32_t at = rf_table_hash(pc, 0);; at++) {
        uint32_t *place = &places[at & (table->entries - 1)];
        if (*place != 0 && entries[*place - 1].pc == pc)
            return &entries[*place - 1];
        if (*place != 0)
            continue;
        if (!create || table->used >= table->entries / 4 * 3) {
            table->refused += create;
            return 0;
        }
        *place = ++table->used;
        entries[*place - 1].pc = pc;
        return &entries[*place - 1];
    }
}

/* Add to the list of values; a full list gives up its weakest for a stronger one. */
static void add_value(struct rf_values_entry *entry, const struct rf_values_value *seen)
{
    uint32_t weakest = 0;
    for (uint32_t i = 0; i < entry->n; i++) {
        struct rf_values_value *value = &entry->values[i];
        if (value->value == seen->value) {
            value->hits += seen->hits;
            value->misses += seen->misses;
            value->times += seen->times;
            return;
        }
        if (value->hits < entry->values[weakest].hits)
            weakest = i;
    }
    if (entry->n < RF_VALUES_KEPT)
        entry->values[entry->n++] = *seen;
    else if (seen->hits > entry->values[weakest].hits)
        entry->values[weakest] = *seen;
}

/* The value that was hit most. */
static const struct rf_values_value *best_of(const struct rf_values_entry *entry)
{
    const struct rf_values_value *best = &entry->values[0];
    for (uint32_t i = 1; i < entry->n; i++)
        if (entry->values[i].hits > best->hits)
            best = &entry->values[i];
    return best;
}

/* Did it have at least so many per cent of the samples while it was active? */
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

static void copy_filter(uint32_t *to, const uint32_t *from, uint32_t bits)
{
    for (uint32_t i = 0; i < bits / 32; i++)
        to[i] = from[i];
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

/* Nothing in the arrays, all masked. */
static void prepare_upper(struct rf_window *window)
{
    for (uint32_t i = 0; i < window->filter_bits / 32; i++)
        window->filter[i] = UINT32_MAX;
    for (uint32_t i = 0; i < 2 * window->slots; i++)
        window->data[i] = 0;
    for (uint32_t i = 0; i < window->slots / 32; i++)
        window->valid[i] = 0;
}

/* The load's values that are worth it into slots from n on; how many slots are taken then. */
static uint32_t look_at(struct rf_window *window, struct rf_values_entry *entry, uint32_t n)
{
    uint32_t most = n + RF_VALUES_LOOKED_AT;
    for (uint32_t v = 0; v < entry->n && n < most; v++) {
        if (entry->values[v].hits == entry->values[v].times) /* never seen but to be selected */
            continue;
        rf_window_write(window, RF_VALUES_WANTED, n, entry->pc);
        rf_window_write(window, RF_VALUES_LOWER, n, entry->values[v].value);
        window->valid[n / 32] |= UINT32_C(1) << n % 32;
        n++;
    }
    unmask(window, entry->pc);
    entry->state = RF_VALUES_LOOKS;
    return n;
}

static void begin_upper(struct rf_window *window, struct rf_table *table)
{
    struct rf_values_entry *entries = rf_values_entries(table);
    uint32_t n = 0, room = window->slots / 2 - RF_VALUES_LOOKED_AT;
    copy_filter(table->filter, window->filter, window->filter_bits);
    prepare_upper(window);
    for (uint32_t i = 0; i < table->used && n < room; i++)
        if (entries[i].state == RF_VALUES_WAITS) {
            n = look_at(window, &entries[i], n);
            table->words[RF_VALUES_WAITING]--;
        }
    table->words[RF_VALUES_PASS] = 1;
    table->words[RF_VALUES_LOOKING] = n;
    table->passes++;
    window->mask = window->match = 0;
    window->indexes[window->lets[RF_VALUES_LEFT]] = n;
    window->entry = window->lets[RF_VALUES_ROUTINE];
    window->command |= RF_COMMAND_DATA | RF_COMMAND_KEYS;
}

/* What a slot of the second pass found, to its value. What was not seen again is not waited for. */
static void record_upper(struct rf_window *window, struct rf_table *table, uint32_t slot)
{
    struct rf_values_entry *entry =
        find(table, rf_window_read(window, RF_VALUES_WANTED, slot), false);
    uint32_t lower = rf_window_read(window, RF_VALUES_LOWER, slot);
    if (entry == 0)
        return;
    entry->state = RF_VALUES_LOOKED;
    for (uint32_t v = 0; v < entry->n; v++)
        if (entry->values[v].value == lower) {
            entry->values[v].upper = rf_window_read(window, RF_VALUES_UPPER, slot);
            entry->values[v].seen = rf_window_read(window, RF_VALUES_SEEN, slot);
            entry->values[v].same = rf_window_read(window, RF_VALUES_SAME, slot);
        }
    window->folded++;
}

static void end_upper(struct rf_window *window, struct rf_table *table)
{
    for (uint32_t i = 0; i < table->words[RF_VALUES_LOOKING]; i++)
        record_upper(window, table, i);
    window->scanned += table->words[RF_VALUES_LOOKING];
    table->words[RF_VALUES_PASS] = 0;
    window->entry = RF_WINDOW_AS_DECLARED;
    copy_filter(window->filter, table->filter, window->filter_bits);
    set_part(window, table, table->words[RF_VALUES_PART] + 1);
}

/* --- slots --------------------------------------------------------------------------------------- */

static void judge(struct rf_window *window, struct rf_table *table, struct rf_values_entry *entry)
{
    const struct rf_values_value *best = best_of(entry);
    bool clear =
        best->hits + best->misses >= window->lets[RF_VALUES_ENOUGH] &&
        (makes(best, window->lets[RF_VALUES_HIGH]) || !makes(best, window->lets[RF_VALUES_LOW]));
    if (!clear && entry->times < window->lets[RF_VALUES_TIMES])
        return;
    bool wants_upper = window->lets[RF_VALUES_ROUTINE] != RF_WINDOW_AS_DECLARED &&
                       makes(best, window->lets[RF_VALUES_WORTH]);
    entry->state = wants_upper ? RF_VALUES_WAITS : RF_VALUES_KNOWN;
    table->words[RF_VALUES_WAITING] += wants_upper;
    table->masked++;
    mask(window, entry->pc);
}

static void record_slot(struct rf_window *window, struct rf_table *table, uint32_t slot,
                        uint32_t total)
{
    const struct rf_values_value seen = {.value = rf_window_read(window, RF_VALUES_VALUE, slot),
                                         .hits = rf_window_read(window, RF_VALUES_HITS, slot),
                                         .misses = rf_window_read(window, RF_VALUES_MISSES, slot),
                                         .times = 1};
    struct rf_values_entry *entry = find(table, rf_window_read(window, RF_VALUES_PC, slot), true);
    if (entry == 0)
        return;
    window->folded++;
    entry->total += total;
    entry->times += entry->last != table->words[RF_VALUES_SERVED];
    entry->last = table->words[RF_VALUES_SERVED];
    add_value(entry, &seen);
    if (entry->state == RF_VALUES_OPEN)
        judge(window, table, entry);
}

static void record_slots(struct rf_window *window, struct rf_table *table)
{
    const struct rf_window_role role = window->roles[RF_VALUES_TOTAL];
    const uint32_t *words = (role.in_keys ? window->keys : window->data) + role.first;
    uint32_t slots = window->slots;
    for (uint32_t i = 0; i < slots; i++) {
        uint32_t total = words[i] >> role.shift & role.mask;
        if (total != 0)
            record_slot(window, table, i, total);
    }
    window->scanned += slots;
}

/* --- what to do next ------------------------------------------------------------------------------ */

/* Thrashing showed after so many samples: few mean that hardly any load came twice. */
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

static void serve_lower(struct rf_window *window, struct rf_table *table)
{
    uint32_t dropped = window->lets[RF_VALUES_DROPPED];
    bool thrashes =
        window->reason == RF_REASON_INTERRUPT && window->indexes[dropped] == window->full[dropped];
    if (thrashes && table->words[RF_VALUES_SPLIT] < RF_VALUES_SPLIT_MAX) {
        split(window, table);
        return;
    }
    record_slots(window, table);
    if (table->words[RF_VALUES_WAITING] >= window->slots / 4)
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
    table->words[RF_VALUES_SERVED]++;
    if (table->words[RF_VALUES_PASS] == 1)
        serve_upper(window, table);
    else
        serve_lower(window, table);
    window->command |= RF_COMMAND_RESET;
}
