/* multihash.c - the tuples that make at least a given share of an interval.
 *
 * Narayanasamy et al., "Catching Accurate Profiles in Hardware", sections 5 and 6.
 *
 *     tuple -> [accumulator] hit: count there, done (shielding)
 *                  | miss
 *                  v
 *     table 1 [ | |c| | | ]   \
 *     table 2 [c| | | | | ]    > one counter per table; the smallest of them go up (conservative
 *     table 3 [ | | | |c| ]    > update); all have reached P: promote into the accumulator,
 *     table 4 [ |c| | | | ]   /  count = the smallest counter
 *
 * The stream is cut into intervals of a fixed number of events. A candidate is a tuple with at least
 * T = threshold x interval events; the candidates are what an interval reports. At its end the tables
 * go to zero; entries that were candidates stay (retaining) with a count of zero. Section 5.2 lets all of them stay
 * (linger), section 5.6.2 none (retain=no).
 *
 * Guarantee. Let f be a tuple's true count in the interval. Conservative update keeps every counter
 * of a tuple outside the accumulator at f or more: an event lifts the smallest of them by one, the others
 * are larger already, and nothing goes down. An entry gets the smallest counter m when it is promoted and
 * counts its own events from then on, the promoting one included, so
 *
 *     count - (m - 1) <= f <= count            and for a retained entry f = count.
 *
 * A replaced entry writes its count back into its counters where they are smaller: they stay upper
 * bounds. A tuple that is not reported is either outside, and f is at most the smallest over the tables
 * of the table's largest counter, or it is an entry below T. Two of the paper's options break the
 * invariant, and then `slack` says by how much: resetting takes from the counters of others what the
 * promoted tuple's held, so the largest of those is added for each promotion; replacing a retained entry without
 * writing back loses its count, so the largest of those is added. A counter at its cap says
 * nothing: the bound is then the events of the interval. No upper bound exceeds those.
 *
 * Memory. counters x 1.5 bytes (2 above 12 bits, 4 above 16), accumulator x 25 bytes and an index of 4
 * bytes per entry; the papers' hash adds 32 KiB for every four tables, which hardware would have
 * wired. As hardware: counters x counter_bits + accumulator x (128 + the bits of a count + 10). The
 * standard options make 17,392 bytes.
 *
 * Departures, all of them options that `paper` turns off: promotion at half the threshold, where the
 * coldest entry makes room and its count goes back; what an entry starts with (estimate.c); two tables in place
 * of four, of any size; narrow counters; a multiply hash. They take the error from several per cent to some tenths in the same
 * memory (doc/engines/multihash.md has the measurements). What the paper leaves open: a promoted tuple
 * starts with its smallest counter, T is rounded up, the replaceable entry that goes is the first in
 * the list.
 *
 * Cannot: see a tuple that is below T in every interval, however often it occurs in the run. */
#include "engine/multihash/multihash.h"
#include "base/error.h"
#include "base/random.h"
#include "base/text.h"

typedef struct rf_multihash_config config_t;

/* One row of the option table; what only some kinds have comes last. */
#define ROW(field, kind, value, text, ...)                                                         \
    {                                                                                              \
        .name = #field, .type = RF_OPTION_##kind, .standard = value, .brief = text,                \
        .offset = offsetof(struct rf_multihash_config, field), __VA_ARGS__                         \
    }
#define SWITCH_ROW(field, value, text) ROW(field, SWITCH, value, text, .choices = NULL)

static const struct rf_option options[] = {
    ROW(tables, COUNT, "2", "hash tables", .min = 1, .max = RF_MULTIHASH_TABLES_MAX),
    ROW(counters, COUNT, "5460", "counters in all tables together", .min = 2, .max = 1 << 20),
    ROW(interval, COUNT, "1M", "events in an interval; auto: the steadiest of 10K, 100K, 1M",
        .choices = "auto", .max = RF_MULTIHASH_INTERVAL_MAX),
    ROW(threshold, SHARE, "0.1%", "share of an interval that makes a candidate", .min = 1e-6,
        .max = 1),
    SWITCH_ROW(conservative, "yes", "only the smallest counters of a tuple go up (C1)"),
    SWITCH_ROW(reset, "no", "a promoted tuple's counters go to zero (R1)"),
    SWITCH_ROW(retain, "yes", "candidates stay in the accumulator (P1)"),
    SWITCH_ROW(linger, "no", "all entries stay, those below the threshold, too"),
    SWITCH_ROW(shield, "yes", "what is in the accumulator does not touch the tables"),
    ROW(accumulator, COUNT, "300", "entries; auto: as many as there can be candidates",
        .choices = "auto", .max = RF_ACCUMULATOR_SLOTS_MAX),
    ROW(counter_bits, COUNT, "auto", "of a counter, where it saturates; auto: 12, or as T needs",
        .choices = "auto", .max = 31),
    ROW(hash, CHOICE, "multiply", "how tuples find their counters", .choices = "multiply|paper"),
    ROW(promote, SHARE, "50%", "share of the threshold at which a tuple is promoted", .min = 0.001,
        .max = 1),
    ROW(replace, CHOICE, "coldest", "what makes room in a full accumulator",
        .choices = "retained|coldest"),
    ROW(estimate, CHOICE, "rate", "what an entry had before: its counter, or by its rate since",
        .choices = "upper|rate"),
    ROW(seed, COUNT, "0", "of the hashes, beside the caller's", .choices = NULL),
    ROW(loop, CHOICE, "adapt", "how tuples are worked through; changes speed, not results",
        .choices = "adapt|singly|batch|portable|plain"),
    {.type = RF_OPTION_END},
};

static bool preset(void *memory, const char *word)
{
    config_t *config = memory;
    bool single = rf_text_equal(word, "paper-single", 12);
    if (!single && !rf_text_equal(word, "paper", 5))
        return false;
    config->tables = single ? 1 : 4;
    config->counters = 2048;
    config->conservative = !single;
    config->reset = single;
    config->retain = config->shield = 1;
    config->accumulator = 0;
    config->counter_bits = 24;
    config->hash = RF_MULTIHASH_PAPER;
    config->promote = 1;
    config->replace = RF_MULTIHASH_RETAINED;
    config->estimate = RF_MULTIHASH_UPPER;
    return true;
}

static uint64_t longest_interval(const config_t *config)
{
    return config->interval != 0 ? config->interval : rf_multihash_pace_longest();
}

/* Rounded up, but not for the last bits of a product that should have been whole. */
static uint32_t round_up(double events)
{
    uint32_t whole = (uint32_t)events;
    whole += (double)whole < events * (1 - 1e-12);
    return whole > 0 ? whole : 1;
}

uint32_t rf_multihash_candidate(const config_t *config, uint64_t interval)
{
    return round_up(config->threshold * (double)interval);
}

static uint32_t promote_at(const config_t *config, uint64_t interval)
{
    return round_up(config->promote * rf_multihash_candidate(config, interval));
}

/* Of a table's index; -1 where the table's size is no power of two. */
static int index_bits(const config_t *config)
{
    uint64_t size = config->counters / config->tables;
    return (size & (size - 1)) == 0 ? __builtin_ctzll(size) : -1;
}

static size_t entries(const config_t *config)
{
    if (config->accumulator != 0)
        return (size_t)config->accumulator;
    double most = 1 / config->threshold * (1 + 1e-12);
    return most < RF_ACCUMULATOR_SLOTS_MAX ? (size_t)most : RF_ACCUMULATOR_SLOTS_MAX;
}

/* Auto: the narrowest that we pack in which four times the threshold fits. */
static unsigned counter_bits(const config_t *config)
{
    static const unsigned widths[] = {12, 16, 24};
    if (config->counter_bits != 0)
        return (unsigned)config->counter_bits;
    uint64_t most = UINT64_C(4) * rf_multihash_candidate(config, longest_interval(config));
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++)
        if (most >> widths[i] == 0)
            return widths[i];
    return 31;
}

static uint32_t counter_cap(const config_t *config)
{
    return (UINT32_C(1) << counter_bits(config)) - 1;
}

static rf_status check(void *memory, struct rf_error *error)
{
    const config_t *config = memory;
    uint64_t size = config->counters / config->tables;
    if (config->counters % config->tables != 0 || size < 2 || size > RF_MULTIHASH_TABLE_MAX)
        return rf_fail(error, RF_EINVAL,
                       "engine 'multihash': %llu counters cannot be divided evenly among %llu "
                       "tables of 2 to 65536",
                       (unsigned long long)config->counters, (unsigned long long)config->tables);
    if (config->hash == RF_MULTIHASH_PAPER && index_bits(config) < 0)
        return rf_fail(
            error, RF_EINVAL,
            "engine 'multihash': hash=paper needs a power of two of counters per table, not %llu",
            (unsigned long long)size);
    if (config->interval == 0 && (!config->retain || config->linger))
        return rf_fail(error, RF_EINVAL,
                       "engine 'multihash': interval=auto needs retain=yes and linger=no");
    return RF_OK;
}

/* Where things lie in the block. */
static size_t state_bytes(void)
{
    return (sizeof(struct rf_multihash) + 63) & ~(size_t)63;
}

static size_t lookup_bytes(const config_t *config)
{
    size_t words = (size_t)(config->tables + RF_MULTIHASH_LANES - 1) / RF_MULTIHASH_LANES;
    return config->hash == RF_MULTIHASH_PAPER ? words * sizeof(struct rf_multihash_lookup) : 0;
}

static enum rf_multihash_width counter_width(const config_t *config)
{
    unsigned bits = counter_bits(config);
    if (bits > 16)
        return RF_MULTIHASH_32;
    return bits > 12 ? RF_MULTIHASH_16 : RF_MULTIHASH_12;
}

static size_t counter_bytes(const config_t *config)
{
    static const size_t half_bytes[] = {3, 4, 8};
    size_t bytes = (size_t)config->counters * half_bytes[counter_width(config)] / 2 + 1;
    return (bytes + 15) & ~(size_t)15;
}

static size_t state_size(const void *memory)
{
    const config_t *config = memory;
    return state_bytes() + lookup_bytes(config) + counter_bytes(config) +
           rf_accumulator_size(entries(config));
}

static void make_lookup(struct rf_multihash *state, uint64_t seed)
{
    for (unsigned i = 0; i < state->tables; i++) {
        struct rf_hash_paper hash;
        struct rf_multihash_lookup *lookup = &state->lookup[i / RF_MULTIHASH_LANES];
        rf_hash_paper_init(&hash, (unsigned)index_bits(&state->config), rf_splitmix(&seed));
        for (unsigned byte = 0; byte < 16; byte++)
            for (unsigned value = 0; value < 256; value++)
                lookup->byte[byte][value] |= (uint64_t)hash.byte[byte][value]
                                             << rf_multihash_lane(i);
    }
}

static void set_interval(struct rf_multihash *state, uint64_t interval)
{
    state->interval = interval;
    state->candidate = rf_multihash_candidate(&state->config, interval);
    state->promote_at = promote_at(&state->config, interval);
    if (state->promote_at > state->cap) /* only with auto, in a longer interval than was foreseen */
        state->promote_at = state->cap;
    state->bar = state->promote_at;
}

static void place(struct rf_multihash *state, const config_t *config)
{
    char *p = (char *)state + state_bytes();
    if (config->hash == RF_MULTIHASH_PAPER)
        state->lookup = (struct rf_multihash_lookup *)(void *)p;
    p += lookup_bytes(config);
    state->counters = p;
    p += counter_bytes(config);
    rf_accumulator_place(&state->accumulator, entries(config), p);
}

static rf_status init(void *memory, const void *config, const struct rf_engine_env *env,
                      struct rf_error *error)
{
    struct rf_multihash *state = memory;
    state->config = *(const config_t *)config;
    uint64_t seed = env->seed ^ state->config.seed * 0x9e3779b97f4a7c15u;
    state->key = rf_hash_key(seed);
    state->tables = (unsigned)state->config.tables;
    state->words = (state->tables + RF_MULTIHASH_LANES - 1) / RF_MULTIHASH_LANES;
    state->table_size = (uint32_t)(state->config.counters / state->config.tables);
    state->cap = counter_cap(config);
    state->width = counter_width(config);
    state->counter_bytes = counter_bytes(config);
    if (env->interval != 0)
        state->config.interval = env->interval;
    uint64_t longest = longest_interval(&state->config);
    if (state->config.counter_bits != 0 && promote_at(&state->config, longest) > state->cap)
        return rf_fail(error, RF_EINVAL,
                       "engine 'multihash': counters of %u bits cannot reach the %u events at "
                       "which a tuple of an interval of %llu is promoted",
                       (unsigned)state->config.counter_bits, promote_at(&state->config, longest),
                       (unsigned long long)longest);
    place(state, config);
    state->cursor = 1;
    state->first = true;
    rf_multihash_choose_loop(state);
    if (state->lookup != NULL)
        make_lookup(state, seed);
    rf_multihash_pace_begin(&state->pace);
    set_interval(state, state->config.interval != 0 ? state->config.interval
                                                    : rf_multihash_pace_length(&state->pace));
    return RF_OK;
}

static rf_status feed(void *memory, const struct rf_tuple *tuples, size_t n, size_t *consumed)
{
    rf_multihash_feed(memory, tuples, n);
    *consumed = n;
    return RF_OK;
}

static rf_status feed_counted(void *memory, struct rf_tuple tuple, uint64_t count)
{
    rf_multihash_feed_counted(memory, tuple, count);
    return RF_OK;
}

static rf_status feed_weighted(void *memory, const struct rf_tuples *tuples, size_t *consumed)
{
    rf_multihash_feed_weighted(memory, tuples);
    *consumed = tuples->n;
    return RF_OK;
}

static uint64_t interval(const void *memory)
{
    return ((const struct rf_multihash *)memory)->interval;
}

/* The candidates of the interval, and how many of them were candidates of the one before. */
struct candidates {
    uint32_t all, again;
};

/* Of an entry that stayed `since` says whether it was a candidate: it was there from the beginning on. */
static bool was_candidate(const struct rf_multihash *state, uint32_t slot)
{
    return (state->accumulator.doubts[slot] & RF_MULTIHASH_RETAINED_BIT) != 0 &&
           state->accumulator.since[slot] != 0;
}

static struct candidates count_candidates(const struct rf_multihash *state)
{
    struct candidates found = {0, 0};
    for (uint32_t i = 1; i <= state->accumulator.used; i++)
        if (state->accumulator.counts[i] >= state->candidate) {
            found.all++;
            found.again += was_candidate(state, i);
        }
    return found;
}

static bool stays(const struct rf_multihash *state, uint32_t count)
{
    return state->config.linger || (state->config.retain && count >= state->candidate);
}

/* Keep the candidates, or all, in their order, as retained entries. */
static void retain(struct rf_multihash *state)
{
    struct rf_accumulator *accumulator = &state->accumulator;
    uint32_t kept = 0;
    state->candidates = 0;
    for (uint32_t i = 1; i <= accumulator->used; i++) {
        if (!stays(state, accumulator->counts[i]))
            continue;
        accumulator->tuples[++kept] = accumulator->tuples[i];
        accumulator->since[kept] = accumulator->counts[i] >= state->candidate;
        state->candidates += accumulator->since[kept];
        accumulator->counts[kept] = 0;
        accumulator->doubts[kept] = RF_MULTIHASH_RETAINED_BIT;
    }
    accumulator->used = state->retained = kept;
    rf_multihash_reindex(state);
}

static double change(const struct rf_multihash *state)
{
    struct candidates found = count_candidates(state);
    return rf_multihash_change(state->candidates, found.all, found.again);
}

/* An interval of one tuple leaves that tuple retained, or nothing; the next such interval begins so and ends so. Where all
 * entries stay (linger), that is so from the first interval on that brings no new entry and no other candidate. Lengths
 * that follow the candidates (interval=auto) do not repeat. */
static bool repeat_interval(void *memory, uint64_t n)
{
    struct rf_multihash *state = memory;
    uint32_t used = state->accumulator.used;
    bool kept = stays(state, UINT32_MAX);
    bool in_step = state->retained == (kept ? used : 0) && !state->first &&
                   (state->config.linger ? change(state) == 0 : used == 1);
    if (!in_step || state->config.interval == 0)
        return false;
    state->changed += (double)n * change(state);
    state->comparisons += n;
    state->promotions += kept ? 0 : n;
    return true;
}

static void end_interval(void *memory)
{
    struct rf_multihash *state = memory;
    double changed = change(state);
    if (!state->first) {
        state->changed += changed;
        state->comparisons++;
    }
    if (state->config.interval == 0)
        rf_multihash_pace_step(&state->pace, changed);
    retain(state);
    memset(state->counters, 0, state->counter_bytes);
    state->events = 0;
    state->first = false;
    state->slack = 0;
    state->slack_entry = 0;
    state->cursor = 1;
    state->saturated = false;
    set_interval(state, state->config.interval != 0 ? state->config.interval
                                                    : rf_multihash_pace_length(&state->pace));
}

static uint64_t least_of(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* The most events that the tuple of an entry can have had. */
static uint64_t upper_of(const struct rf_multihash *state, uint32_t slot)
{
    uint64_t count = state->accumulator.counts[slot];
    if (state->accumulator.doubts[slot] & RF_MULTIHASH_RETAINED_BIT)
        return count;
    return state->saturated ? state->events : least_of(count + state->slack, state->events);
}

/* No tuple outside the accumulator has more events than this. */
static uint64_t upper_outside(const struct rf_multihash *state)
{
    uint32_t least = UINT32_MAX;
    for (unsigned t = 0; t < state->tables; t++) {
        uint32_t most = 0;
        for (size_t i = 0; i < state->table_size; i++) {
            uint32_t count = rf_multihash_load(state, (size_t)t * state->table_size + i);
            most = count > most ? count : most;
        }
        least = most < least ? most : least;
    }
    if (least == state->cap || (state->saturated && state->config.reset))
        return state->events;
    return least_of(least + state->slack, state->events);
}

static struct rf_item item_of(const struct rf_multihash *state, uint32_t slot, uint32_t noise)
{
    struct rf_tuple t = state->accumulator.tuples[slot];
    uint64_t count = state->accumulator.counts[slot];
    uint64_t doubt = state->accumulator.doubts[slot] & ~RF_MULTIHASH_RETAINED_BIT;
    uint64_t lower = count - doubt, upper = upper_of(state, slot);
    count = least_of(rf_multihash_estimate(state, slot, noise), state->events);
    return (struct rf_item){t.a, t.b, t.a, t.b, count, lower, upper < count ? count : upper, 0};
}

/* multihash.md says which figures are of the current interval alone. */
static rf_status report_figures(const struct rf_multihash *state, const struct rf_sink *sink)
{
    double comparisons = state->comparisons > 0 ? (double)state->comparisons : 1;
    const struct rf_figure figures[] = {
        {"interval", (double)state->interval},
        {"candidates-changed", change(state)},
        {"candidates-changed-mean", state->changed / comparisons},
        {"promotions", (double)state->promotions},
        {"entries-replaced", (double)state->replaced},
    };
    return rf_engine_report_figures(sink, figures, sizeof figures / sizeof *figures);
}

static rf_status report(const void *memory, const struct rf_sink *sink)
{
    const struct rf_multihash *state = memory;
    uint64_t absent = upper_outside(state);
    uint32_t noise = rf_multihash_noise(state);
    for (uint32_t i = 1; i <= state->accumulator.used; i++) {
        struct rf_item item = item_of(state, i, noise);
        rf_status status = RF_OK;
        if (state->accumulator.counts[i] >= state->candidate)
            status = sink->item(sink->context, &item);
        else
            absent = item.upper > absent ? item.upper : absent;
        if (status != RF_OK)
            return status;
    }
    rf_status status = report_figures(state, sink);
    if (status != RF_OK)
        return status;
    struct rf_summary summary = {.events = state->events,
                                 .absent_upper = absent,
                                 .shape = RF_SHAPE_TUPLE,
                                 .bound = RF_BOUND_HARD};
    return sink->end(sink->context, &summary);
}

static uint64_t bits_of_count(uint64_t events)
{
    uint64_t bits = 1;
    while (events >> bits != 0)
        bits++;
    return bits;
}

/* Tag, count, valid, replaceable and the moment of its promotion for each entry. */
static uint64_t bits(const void *memory)
{
    const config_t *config = memory;
    uint64_t entry = 128 + bits_of_count(longest_interval(config)) + 2 +
                     (config->estimate == RF_MULTIHASH_RATE ? 8 : 0);
    return config->counters * counter_bits(config) + entries(config) * entry;
}

_Static_assert(sizeof(config_t) <= RF_ENGINE_CONFIG_MAX, "the wrapper has room for it");

const struct rf_engine_ops rf_multihash = {
    .name = "multihash",
    .brief = "the tuples above a threshold, interval by interval",
    .options = options,
    .config_size = sizeof(config_t),
    .preset = preset,
    .check = check,
    .state_size = state_size,
    .init = init,
    .feed = feed,
    .feed_counted = feed_counted,
    .feed_weighted = feed_weighted,
    .interval = interval,
    .repeat_interval = repeat_interval,
    .end_interval = end_interval,
    .merging = "states of equal options and seed: counters add up, the heaviest entries stay; "
               "profiles of any options: counts and bounds add up",
    .merge = rf_multihash_merge,
    .report = report,
    .bits = bits,
};
