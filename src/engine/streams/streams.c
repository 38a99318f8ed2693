/* streams.c - sequences of references that a program makes again and again: hot data streams.
 *
 *     tuples --> grammar (grammar.c) --end of the interval, or full--> hot rules (hot.c) --> items
 *
 * Larus, "Whole Program Paths", 1999; Chilimbi, "Efficient Representations and Abstractions for Quantifying and
 * Exploiting Data Reference Locality", 2001; Chilimbi and Hirzel 2002. HPS profiles them by bursts (section 4.3).
 *
 * A reference is a tuple, <pc, addr> in the preset `streams`. A stream of n references gives n items (item.h), one for
 * each position. The count of each is how often the stream occurred, so the counts of all items add up to the events
 * that streams cover. A stream's number is a hash of its references: the same stream has the same number in every
 * grammar, run and file, and profiles add up.
 *
 * Memory: `memory` bytes, allocated at the start. When the grammar has filled it, the interval ends: its streams are
 * added to the profile and a new grammar begins. A stream that crosses that border is seen as two.
 *
 * Guarantee: a stream occurred at least `count` times, at places that no other stream has. A stream
 * that is not listed, but is a rule of its grammar, made less than `heat` of the grammar's references.
 *
 * A gap (rf_tuples.gap) ends a string: no stream crosses it. The end of an interval does the same.
 *
 * Two rules may stand for the same tuples and are then one stream. So a table gathers the streams first. It has room
 * for one stream per 1 KiB of memory. If there are more, the threshold of heat doubles until they fit.
 *
 * Cannot: merge grammars; profiles of streams can be merged. A tuple with a count is a run of that length; past 4096
 * the rest of it counts as events outside of all streams. */
#include "engine/engine.h"
#include "engine/streams/hot.h"
#include "base/error.h"
#include "base/hash.h"
#include <string.h>

struct config {
    uint64_t memory, interval;
    uint64_t min, max;
    double heat;
};

static const struct rf_option options[] = {
    {.name = "min",
     .type = RF_OPTION_COUNT,
     .standard = "4",
     .brief = "references of the shortest stream",
     .min = 2,
     .max = 1024,
     .offset = offsetof(struct config, min)},
    {.name = "max",
     .type = RF_OPTION_COUNT,
     .standard = "100",
     .brief = "references of the longest stream",
     .min = 2,
     .max = 1024,
     .offset = offsetof(struct config, max)},
    {.name = "heat",
     .type = RF_OPTION_SHARE,
     .standard = "0.1%",
     .brief = "a stream's share of all references, length times occurrences, at least",
     .min = 0,
     .max = 1,
     .offset = offsetof(struct config, heat)},
    {.name = "memory",
     .type = RF_OPTION_COUNT,
     .standard = "4Mi",
     .brief = "bytes of the grammar; when it is full, a new one begins",
     .min = 16 << 10,
     .max = 1 << 30,
     .offset = offsetof(struct config, memory)},
    {.name = "interval",
     .type = RF_OPTION_COUNT,
     .standard = "0",
     .brief = "cut the stream every N events and start again; 0: never",
     .offset = offsetof(struct config, interval)},
    {
        .type = RF_OPTION_END,
    },
};

enum { LINE = 64, BYTES_PER_STREAM = 1024 };

/* A stream: one of the rules that stand for it, and the occurrences of all these rules. */
struct found {
    uint64_t number;
    uint32_t rule, count;
};

/* What figures are made of. */
struct totals {
    uint64_t events, covered, grammars;
    uint32_t symbols_max, rules_max;
};

struct state {
    struct config config;
    struct rf_grammar grammar;
    uint64_t outside; /* events of this interval that are not in the grammar */
    struct totals before;
    uint32_t *names, *work; /* each has room for one stream */
    struct found *found;    /* table of streams by their number; count 0: empty */
    size_t n_found_slots, found_max;
};

static size_t align(size_t size)
{
    return (size + LINE - 1) & ~(size_t)(LINE - 1);
}

static size_t streams_max(const struct config *config)
{
    return config->memory / BYTES_PER_STREAM;
}

/* Two slots for each. */
static size_t size_of_table(const struct config *config)
{
    return align(2 * streams_max(config) * sizeof(struct found));
}

static size_t size_of_names(const struct config *config)
{
    return align(2 * config->max * sizeof(uint32_t));
}

/* The table is part of `memory`. */
static size_t state_size(const void *config)
{
    const struct config *c = config;
    return align(sizeof(struct state)) + size_of_names(c) + align(c->memory);
}

static rf_status check(void *config, struct rf_error *error)
{
    const struct config *c = config;
    if (c->min <= c->max)
        return RF_OK;
    return rf_fail(error, RF_EINVAL, "engine 'streams': min must be no more than max");
}

static enum rf_shape shape(const void *config)
{
    (void)config;
    return RF_SHAPE_STREAM;
}

static rf_status init(void *memory, const void *config, const struct rf_engine_env *env,
                      struct rf_error *error)
{
    struct state *state = memory;
    (void)env;
    (void)error;
    memcpy(&state->config, config, sizeof state->config);
    size_t table = size_of_table(&state->config);
    state->names = (uint32_t *)((char *)memory + align(sizeof *state));
    state->work = state->names + state->config.max;
    state->found = (struct found *)((char *)state->names + size_of_names(&state->config));
    state->found_max = streams_max(&state->config);
    state->n_found_slots = 2 * state->found_max;
    rf_grammar_init(&state->grammar, (char *)state->found + table,
                    align(state->config.memory) - table);
    return RF_OK;
}

/* Fewer than n: the grammar is full, and the wrapper ends the interval. */
static rf_status feed(void *memory, const struct rf_tuple *tuples, size_t n, size_t *consumed)
{
    struct state *state = memory;
    *consumed = rf_grammar_add_all(&state->grammar, tuples, n);
    return RF_OK;
}

/* What is too long a run for a grammar. */
static rf_status feed_counted(void *memory, struct rf_tuple tuple, uint64_t count)
{
    struct state *state = memory;
    (void)tuple;
    state->outside += count;
    return RF_OK;
}

/* A grammar that is full ends with the next tuple, and that ends the string as well. */
static void gap(void *memory)
{
    struct state *state = memory;
    rf_grammar_cut(&state->grammar);
}

static uint64_t interval(const void *memory)
{
    return ((const struct state *)memory)->config.interval;
}

static uint64_t events_of(const struct state *state)
{
    return state->grammar.length + state->outside;
}

static struct rf_hot_limits limits_of(const struct state *state)
{
    const struct config *config = &state->config;
    double heat = config->heat * (double)events_of(state);
    uint64_t least = 2 * config->min; /* what occurs once is no repetition */
    return (struct rf_hot_limits){(uint32_t)config->min, (uint32_t)config->max,
                                  heat > (double)least ? (uint64_t)heat : least};
}

/* --- what was found --------------------------------------------------------------------------- */

/* The stream's number: the same for the same tuples in the same order, whoever saw them. */
static uint64_t number_of(const struct state *state, uint32_t length)
{
    uint64_t number = length;
    for (uint32_t i = 0; i < length; i++) {
        uint64_t hash =
            rf_hash_multiply(*rf_grammar_tuple(&state->grammar, state->names[i]), rf_hash_key(0));
        number = ((number << 23 | number >> 41) ^ hash ^ hash >> 32) * RF_HASH_MULTIPLY_A;
    }
    return number ^ number >> 29;
}

static uint32_t length_of(const struct state *state, uint32_t rule)
{
    return rf_grammar_rule(&state->grammar, rule)->length;
}

/* Filling the table. */
struct search {
    const struct state *state;
    size_t n;
    uint64_t covered;
};

static rf_status add_stream(void *context, uint32_t rule, uint32_t count)
{
    struct search *search = context;
    const struct state *state = search->state;
    uint32_t length = length_of(state, rule);
    search->covered += (uint64_t)length * count;
    rf_hot_expand(&state->grammar, rule, state->names, state->work);
    uint64_t number = number_of(state, length);
    size_t i = number % state->n_found_slots;
    while (state->found[i].count != 0 && state->found[i].number != number)
        i = i + 1 < state->n_found_slots ? i + 1 : 0;
    if (state->found[i].count == 0 && search->n++ == state->found_max)
        return RF_ENOMEM;
    state->found[i] = (struct found){number, rule, state->found[i].count + count};
    return RF_OK;
}

/* Returns the events that the streams cover; *limits are those that they fit by. */
static uint64_t find_streams(const struct state *state, struct rf_hot_limits *limits)
{
    for (*limits = limits_of(state);; limits->heat *= 2) {
        struct search search = {state, 0, 0};
        memset(state->found, 0, state->n_found_slots * sizeof *state->found);
        if (rf_hot_find(&state->grammar, limits, add_stream, &search) == RF_OK)
            return search.covered;
    }
}

static rf_status tell_stream(const struct state *state, const struct found *found,
                             const struct rf_sink *sink)
{
    uint32_t length = length_of(state, found->rule);
    rf_status status = RF_OK;
    rf_hot_expand(&state->grammar, found->rule, state->names, state->work);
    for (uint32_t i = 0; i < length && status == RF_OK; i++) {
        const struct rf_tuple *tuple = rf_grammar_tuple(&state->grammar, state->names[i]);
        const struct rf_item item = {.a = tuple->a,
                                     .b = tuple->b,
                                     .a_hi = found->number,
                                     .b_hi = rf_stream_place(length, i),
                                     .count = found->count,
                                     .lower = found->count,
                                     .upper = found->count};
        status = sink->item(sink->context, &item);
    }
    return status;
}

static uint32_t larger(uint32_t x, uint32_t y)
{
    return x > y ? x : y;
}

/* With the grammar of the current interval. */
static struct totals totals_of(const struct state *state, uint64_t covered)
{
    const struct rf_grammar *grammar = &state->grammar;
    struct totals totals = state->before;
    totals.events += events_of(state);
    totals.covered += covered;
    totals.grammars += grammar->length > 0;
    totals.symbols_max = larger(totals.symbols_max, rf_grammar_symbols(grammar));
    totals.rules_max = larger(totals.rules_max, grammar->n_rules - 1);
    return totals;
}

static rf_status tell_figures(const struct totals *totals, const struct rf_sink *sink)
{
    const struct rf_figure figures[] = {
        {"coverage-share",
         totals->events > 0 ? (double)totals->covered / (double)totals->events : 0},
        {"grammars", (double)totals->grammars},
        {"grammar-symbols-max", totals->symbols_max},
        {"grammar-rules-max", totals->rules_max},
    };
    rf_status status = RF_OK;
    for (size_t i = 0; i < sizeof figures / sizeof *figures && status == RF_OK; i++)
        status = sink->figure(sink->context, &figures[i]);
    return status;
}

static rf_status report(const void *memory, const struct rf_sink *sink)
{
    const struct state *state = memory;
    struct rf_hot_limits limits;
    struct totals totals = totals_of(state, find_streams(state, &limits));
    rf_status status = RF_OK;
    for (size_t i = 0; i < state->n_found_slots && status == RF_OK; i++)
        if (state->found[i].count > 0)
            status = tell_stream(state, &state->found[i], sink);
    if (status == RF_OK && sink->figure != NULL)
        status = tell_figures(&totals, sink);
    if (status != RF_OK)
        return status;
    const struct rf_summary summary = {.events = events_of(state),
                                       .absent_upper = (limits.heat - 1) / limits.min,
                                       .shape = RF_SHAPE_STREAM,
                                       .bound = RF_BOUND_HARD};
    return sink->end(sink->context, &summary);
}

static void end_interval(void *memory)
{
    struct state *state = memory;
    struct rf_hot_limits limits;
    state->before = totals_of(state, find_streams(state, &limits));
    state->outside = 0;
    rf_grammar_reset(&state->grammar);
}

const struct rf_engine_ops rf_streams = {
    .name = "streams",
    .brief = "sequences of references that repeat: hot data streams",
    .options = options,
    .config_size = sizeof(struct config),
    .check = check,
    .shape = shape,
    .state_size = state_size,
    .init = init,
    .feed = feed,
    .feed_counted = feed_counted,
    .gap = gap,
    .interval = interval,
    .end_interval = end_interval,
    .merging =
        "profiles: counts of equal streams add up; a stream that two parts share the halves of is "
        "found by neither; states do not merge",
    .report = report,
};
