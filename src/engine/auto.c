/* auto.c - exact as long as that fits into a ceiling, multihash from there on.
 *
 *     tuples --> exact, up to `ceiling` bytes --full--> its `keep` heaviest tuples: the first interval
 *                                                 |
 *                                                 +---> multihash, interval after interval
 *
 * Most programs have few distinct tuples: theirs is the exact profile. A program that streams values past the
 * ceiling, or finds no memory before it, keeps what was counted as a first part. Whoever adds up intervals
 * (profiler.h) adds the two.
 *
 * Guarantee: lower <= truth <= upper for the run as a whole. What the first part lists is exact; what it leaves out,
 * tuples that occurred `c` times or less, makes its absent_upper c. Programs that get here have a million tuples, most of
 * which occurred once or twice, and c is small. Bounds of the rest are multihash's. Exact is full at the same tuple, however the stream is cut into
 * batches.
 *
 * Memory: `ceiling` at most, and multihash's 41 KiB, which are there from the beginning: handing over needs none. The part that is handed over
 * takes memory of its own where it is kept.
 *
 * Any order: exact does not care. multihash's bounds hold in any order, though which tuples it finds at the
 * threshold's edge may differ. Engines that are named by themselves keep the order of events, as in their papers.
 *
 * Cannot: go back to exact counting when the stream calms down. */
#include "engine/engine.h"
#include "engine/multihash/multihash.h"
#include "base/error.h"

struct config {
    uint64_t ceiling;
    uint64_t interval;
    double threshold;
    uint64_t keep;
};

static const struct rf_option options[] = {
    {.name = "ceiling",
     .type = RF_OPTION_COUNT,
     .standard = "64Mi",
     .brief = "bytes that exact counts may take",
     .offset = offsetof(struct config, ceiling)},
    {.name = "interval",
     .type = RF_OPTION_COUNT,
     .standard = "0",
     .brief = "cut the stream after every N events; 0: do not, and multihash every 1M",
     .max = RF_MULTIHASH_INTERVAL_MAX,
     .offset = offsetof(struct config, interval)},
    {.name = "threshold",
     .type = RF_OPTION_SHARE,
     .standard = "0.1%",
     .brief = "share of an interval that multihash looks for",
     .min = 1e-6,
     .max = 1,
     .offset = offsetof(struct config, threshold)},
    {.name = "keep",
     .type = RF_OPTION_COUNT,
     .standard = "64Ki",
     .brief = "tuples of the exact part that stay when it is full, the heaviest",
     .offset = offsetof(struct config, keep)},
    {
        .type = RF_OPTION_END,
    },
};

extern const struct rf_engine_ops rf_exact, rf_multihash;

/* The configs of the two parts. */
struct parts {
    _Alignas(16) unsigned char exact[RF_ENGINE_CONFIG_MAX];
    struct rf_multihash_config multihash;
};

struct state {
    void *exact, *multihash; /* in the same block */
    uint64_t interval;       /* the caller's cut; 0: none */
    uint64_t keep;
    bool is_full;        /* exact is; the interval that ends now is its last */
    bool is_over;        /* exact is; multihash counts */
    uint64_t events;     /* of the interval, while exact counts */
    uint64_t first_part; /* events that exact has counted, in all */
    size_t exact_memory; /* what it held when it was over */
};

static rf_status make_parts(const struct config *config, struct parts *parts,
                            struct rf_error *error)
{
    char text[64];
    const struct rf_engine_ops *ops;
    rf_format(text, sizeof text, "exact(memory=%llu)", (unsigned long long)config->ceiling);
    rf_status status = rf_engine_parse(&ops, parts->exact, sizeof parts->exact, text, error);
    if (status == RF_OK)
        status = rf_engine_parse(&ops, &parts->multihash, sizeof parts->multihash,
                                 "multihash(accumulator=auto)", error);
    if (status != RF_OK)
        return status;
    parts->multihash.threshold = config->threshold;
    if (config->interval != 0)
        parts->multihash.interval = config->interval;
    return RF_OK;
}

static rf_status check(void *memory, struct rf_error *error)
{
    struct parts parts;
    return make_parts(memory, &parts, error);
}

static size_t round_up(size_t size)
{
    return (size + 63) & ~(size_t)63;
}

static size_t state_size(const void *config)
{
    struct parts parts;
    if (make_parts(config, &parts, NULL) != RF_OK)
        return 0; /* check has refused it */
    return round_up(sizeof(struct state)) + round_up(rf_exact.state_size(parts.exact)) +
           rf_multihash.state_size(&parts.multihash);
}

static rf_status init(void *memory, const void *config, const struct rf_engine_env *env,
                      struct rf_error *error)
{
    struct state *state = memory;
    struct parts parts;
    rf_status status = make_parts(config, &parts, error);
    if (status != RF_OK)
        return status;
    state->interval = ((const struct config *)config)->interval;
    state->keep = ((const struct config *)config)->keep;
    state->exact = (char *)memory + round_up(sizeof *state);
    state->multihash = (char *)state->exact + round_up(rf_exact.state_size(parts.exact));
    status = rf_multihash.init(state->multihash, &parts.multihash, env, error);
    return status == RF_OK ? rf_exact.init(state->exact, parts.exact, env, error) : status;
}

static void hand_over(struct state *state)
{
    state->exact_memory = rf_exact.memory(state->exact);
    rf_exact.release(state->exact);
    state->is_full = false;
    state->is_over = true;
}

static void release(void *memory)
{
    struct state *state = memory;
    if (!state->is_over)
        rf_exact.release(state->exact);
}

/* What exact says of a batch. Full is no failure: the interval ends, and multihash takes the rest. */
static rf_status judge(struct state *state, rf_status status, uint64_t events)
{
    state->events += events;
    state->is_full = status == RF_ENOMEM;
    return state->is_full ? RF_OK : status;
}

static rf_status feed(void *memory, const struct rf_tuple *tuples, size_t n, size_t *consumed)
{
    struct state *state = memory;
    if (state->is_over)
        return rf_multihash.feed(state->multihash, tuples, n, consumed);
    *consumed = n;
    rf_status status = rf_exact.feed(state->exact, tuples, n, consumed);
    return judge(state, status, *consumed);
}

static uint64_t sum(const uint64_t *counts, size_t n)
{
    uint64_t events = 0;
    for (size_t i = 0; i < n; i++)
        events += counts[i];
    return events;
}

static rf_status feed_weighted(void *memory, const struct rf_tuples *tuples, size_t *consumed)
{
    struct state *state = memory;
    *consumed = tuples->n;
    if (state->is_over)
        return rf_multihash.feed_weighted(state->multihash, tuples, consumed);
    rf_status status = rf_exact.feed_weighted(state->exact, tuples, consumed);
    return judge(state, status, sum(tuples->counts, *consumed));
}

static rf_status feed_counted(void *memory, struct rf_tuple tuple, uint64_t count)
{
    size_t consumed;
    const struct rf_tuples one = {&tuple, &count, 1};
    rf_status status = feed_weighted(memory, &one, &consumed);
    return status == RF_OK && consumed == 0 ? RF_ENOMEM : status;
}

static uint64_t interval(const void *memory)
{
    const struct state *state = memory;
    return state->is_over ? rf_multihash.interval(state->multihash) : state->interval;
}

static bool repeat_interval(void *memory, uint64_t n)
{
    struct state *state = memory;
    if (state->is_over)
        return rf_multihash.repeat_interval(state->multihash, n);
    state->first_part += n * state->events;
    return true;
}

static void end_interval(void *memory)
{
    struct state *state = memory;
    if (state->is_over) {
        rf_multihash.end_interval(state->multihash);
        return;
    }
    state->first_part += state->events;
    state->events = 0;
    if (state->is_full)
        hand_over(state);
    else
        rf_exact.end_interval(state->exact);
}

/* ---- merge ---- */

static rf_status pour_item(void *context, const struct rf_item *item)
{
    return rf_multihash.feed_counted(context, (struct rf_tuple){item->a, item->b}, item->count);
}

static rf_status pour_end(void *context, const struct rf_summary *summary)
{
    (void)context;
    (void)summary;
    return RF_OK;
}

/* What exact has counted in `from`, into the multihash of `to`. */
static rf_status pour(struct state *to, const struct state *from)
{
    const struct rf_sink sink = {pour_item, NULL, pour_end, to->multihash};
    return rf_exact.report(from->exact, &sink);
}

static uint64_t events_of(const struct state *state)
{
    return state->is_over ? ((const struct rf_multihash *)state->multihash)->events : state->events;
}

/* Two parts of which one is over, or that do not fit the ceiling together, become one interval of multihash. */
static rf_status merge_over(struct state *state, const struct state *other, struct rf_error *error)
{
    if (events_of(state) + events_of(other) > RF_MULTIHASH_EVENTS_MAX)
        return rf_fail(error, RF_EINVAL, "engine 'auto': %llu events are too many for one interval",
                       (unsigned long long)(events_of(state) + events_of(other)));
    if (!state->is_over) {
        pour(state, state);
        hand_over(state);
    }
    return other->is_over ? rf_multihash.merge(state->multihash, other->multihash, error)
                          : pour(state, other);
}

static rf_status merge(void *memory, const void *other_memory, struct rf_error *error)
{
    struct state *state = memory;
    const struct state *other = other_memory;
    if (state->is_over || other->is_over ||
        rf_exact.merge(state->exact, other->exact, NULL) == RF_ENOMEM)
        return merge_over(state, other, error);
    state->events += other->events;
    state->first_part += other->first_part;
    return RF_OK;
}

/* ---- report ---- */

/* How many tuples occurred how often, up to a count that is heavy anyway. */
enum { COUNTS = 1024 };

struct weights {
    uint64_t tuples[COUNTS];
};

static rf_status weigh_item(void *context, const struct rf_item *item)
{
    struct weights *weights = context;
    weights->tuples[item->count < COUNTS ? item->count : COUNTS - 1]++;
    return RF_OK;
}

static rf_status weigh_end(void *context, const struct rf_summary *summary)
{
    (void)context;
    (void)summary;
    return RF_OK;
}

/* The least c, below COUNTS, such that at most `keep` tuples occurred more often. */
static uint64_t least_kept(const struct state *state)
{
    struct weights weights = {{0}};
    const struct rf_sink sink = {weigh_item, NULL, weigh_end, &weights};
    rf_exact.report(state->exact, &sink);
    uint64_t c = COUNTS - 1, heavier = weights.tuples[COUNTS - 1];
    if (heavier > state->keep)
        return c - 1;
    while (c > 1 && heavier + weights.tuples[c - 1] <= state->keep)
        heavier += weights.tuples[--c];
    return c - 1;
}

/* A sink that gets only what occurred more often than c. */
struct heavy {
    const struct rf_sink *sink;
    uint64_t c;
};

static rf_status heavy_item(void *context, const struct rf_item *item)
{
    const struct heavy *heavy = context;
    return item->count > heavy->c ? heavy->sink->item(heavy->sink->context, item) : RF_OK;
}

static rf_status heavy_end(void *context, const struct rf_summary *summary)
{
    const struct heavy *heavy = context;
    struct rf_summary all = *summary;
    all.absent_upper = heavy->c;
    all.bound = heavy->c > 0 ? RF_BOUND_HARD : summary->bound;
    return heavy->sink->end(heavy->sink->context, &all);
}

static rf_status report_first_part(const struct state *state, const struct rf_sink *sink)
{
    struct heavy heavy = {sink, least_kept(state)};
    const struct rf_sink some = {heavy_item, NULL, heavy_end, &heavy};
    return rf_exact.report(state->exact, &some);
}

/* A sink that is also told how much the first part was. */
struct report {
    const struct rf_sink *sink;
    uint64_t first_part;
};

static rf_status report_end(void *context, const struct rf_summary *summary)
{
    const struct report *report = context;
    const struct rf_figure figure = {"exact-until", (double)report->first_part};
    rf_status status = rf_engine_report_figures(report->sink, &figure, 1);
    return status == RF_OK ? report->sink->end(report->sink->context, summary) : status;
}

static rf_status report(const void *memory, const struct rf_sink *sink)
{
    const struct state *state = memory;
    if (!state->is_over)
        return state->is_full ? report_first_part(state, sink)
                              : rf_exact.report(state->exact, sink);
    struct report report = {sink, state->first_part};
    const struct rf_sink told = {rf_engine_pass_item, rf_engine_pass_figure, report_end, &report};
    return rf_multihash.report(state->multihash, &told);
}

static size_t items(const void *memory)
{
    const struct state *state = memory;
    size_t n = state->is_over ? 0 : rf_exact.items(state->exact);
    return state->is_full && n > state->keep ? (size_t)state->keep : n;
}

static size_t memory_held(const void *memory)
{
    const struct state *state = memory;
    size_t exact = state->is_over ? state->exact_memory : rf_exact.memory(state->exact);
    const struct rf_multihash *multihash = state->multihash;
    return exact + sizeof *state + rf_multihash.state_size(&multihash->config);
}

const struct rf_engine_ops rf_auto = {
    .name = "auto",
    .brief = "exact as long as it fits a ceiling, then multihash; grows",
    .options = options,
    .config_size = sizeof(struct config),
    .grows = true,
    .any_order = true,
    .check = check,
    .state_size = state_size,
    .init = init,
    .release = release,
    .feed = feed,
    .feed_counted = feed_counted,
    .feed_weighted = feed_weighted,
    .interval = interval,
    .repeat_interval = repeat_interval,
    .end_interval = end_interval,
    .merging =
        "states and profiles: exact parts add up and stay exact while they fit the ceiling; past "
        "it counts and bounds add up, as of multihash",
    .merge = merge,
    .report = report,
    .items = items,
    .memory = memory_held,
};
