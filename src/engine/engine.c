/* engine.c - the handle around an engine: its block of memory, its intervals, its event count.
 *
 * Batches are cut where an interval ends, so that an engine is never fed across a boundary:
 *
 *     feed(.......|.........|...)   ->   feed(.......) report end_interval feed(.........) ...
 *                                                                                          */
#include "engine/engine.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/text.h"
#include "base/stop.h"
#include <string.h>

struct rf_engine {
    const struct rf_engine_ops *ops;
    struct rf_alloc alloc;
    const struct rf_sink *intervals;
    const volatile int *stop;
    uint64_t seed;
    uint64_t cut;    /* the caller's interval */
    uint64_t events; /* in all */
    uint64_t length; /* of the current interval, 0: endless */
    uint64_t inside; /* events in the current interval */
    bool is_full;    /* the interval ends because the engine's state is full */
    size_t state_size;
    void *block; /* as allocated */
    void *state; /* inside block, aligned */
    _Alignas(16) unsigned char config[RF_ENGINE_CONFIG_MAX];
};

enum { STATE_ALIGNMENT = 64 };
_Static_assert((STATE_ALIGNMENT & (STATE_ALIGNMENT - 1)) == 0, "it makes a mask");

/* One counted tuple may fill at most this many intervals, where the engine cannot take them all at once. */
enum { INTERVALS_MAX = 1 << 20 };

/* The longest run that a count puts into a sequence, and how much of it is fed at once. */
enum { RUN_MAX = 4096, RUN_PIECE = 64 };

static struct rf_engine_info info_of(const struct rf_engine_ops *ops)
{
    return (struct rf_engine_info){.name = ops->name,
                                   .brief = ops->brief,
                                   .options = ops->options,
                                   .grows = ops->grows,
                                   .any_order = ops->any_order,
                                   .merging = ops->merging,
                                   .merges_states = ops->merge != NULL};
}

rf_status rf_engine_list(size_t i, struct rf_engine_info *info)
{
    for (size_t k = 0; k <= i; k++)
        if (rf_engine_registry[k] == NULL)
            return RF_EINVAL;
    *info = info_of(rf_engine_registry[i]);
    return RF_OK;
}

rf_status rf_engine_describe(const char *text, struct rf_engine_info *info, struct rf_error *error)
{
    const struct rf_engine_ops *ops;
    _Alignas(16) unsigned char config[RF_ENGINE_CONFIG_MAX];
    rf_status status = rf_engine_parse(&ops, config, sizeof config, text, error);
    if (status == RF_OK)
        *info = info_of(ops);
    return status;
}

static uint64_t interval_length(const struct rf_engine *engine)
{
    uint64_t own = engine->ops->interval != NULL ? engine->ops->interval(engine->state) : 0;
    return own != 0 ? own : engine->cut;
}

/* The caller's interval wins over the one in the engine's text. */
static rf_status take_cut(struct rf_engine *engine, struct rf_error *error)
{
    const struct rf_engine_ops *ops = engine->ops;
    const struct rf_option *option = ops->options;
    char text[40];
    const char *p = text;
    while (option->type != RF_OPTION_END && !rf_text_equal(option->name, "interval", 8))
        option++;
    if (engine->cut == 0 || option->type == RF_OPTION_END)
        return RF_OK;
    rf_format(text, sizeof text, "(interval=%llu)", (unsigned long long)engine->cut);
    rf_status status = rf_engine_read_options(ops, engine->config, &p, error);
    return status == RF_OK && ops->check != NULL ? ops->check(engine->config, error) : status;
}

static rf_status make_state(struct rf_engine *engine, struct rf_error *error)
{
    const struct rf_engine_ops *ops = engine->ops;
    engine->state_size = ops->state_size(engine->config);
    engine->block = rf_alloc_get(&engine->alloc, engine->state_size + STATE_ALIGNMENT);
    if (engine->block == NULL)
        return rf_fail(error, RF_ENOMEM, "engine '%s': no memory for its %zu bytes of state",
                       ops->name, engine->state_size);
    engine->state = (void *)(((uintptr_t)engine->block + STATE_ALIGNMENT - 1) &
                             ~(uintptr_t)(STATE_ALIGNMENT - 1));
    memset(engine->state, 0, engine->state_size);
    struct rf_engine_env env = {&engine->alloc, engine->seed, engine->cut};
    return ops->init(engine->state, engine->config, &env, error);
}

static void free_engine(struct rf_engine *engine)
{
    rf_alloc_free(&engine->alloc, engine->block, engine->state_size + STATE_ALIGNMENT);
    rf_alloc_free(&engine->alloc, engine, sizeof *engine);
}

rf_status rf_engine_open(struct rf_engine **opened, const char *text,
                         const struct rf_engine_setup *setup, struct rf_error *error)
{
    static const struct rf_engine_setup nothing;
    *opened = NULL;
    if (setup == NULL)
        setup = &nothing;
    const struct rf_alloc *alloc = rf_alloc_or_standard(setup->alloc);
    struct rf_engine *engine = rf_alloc_zeroed(alloc, sizeof *engine);
    if (engine == NULL)
        return rf_fail(error, RF_ENOMEM, "no memory for an engine");
    engine->alloc = *alloc;
    engine->intervals = setup->intervals;
    engine->stop = setup->stop;
    engine->seed = setup->seed;
    engine->cut = setup->interval;
    rf_status status =
        rf_engine_parse(&engine->ops, engine->config, sizeof engine->config, text, error);
    if (status == RF_OK)
        status = take_cut(engine, error);
    if (status == RF_OK)
        status = make_state(engine, error);
    if (status != RF_OK) {
        free_engine(engine);
        return status;
    }
    engine->length = interval_length(engine);
    *opened = engine;
    return RF_OK;
}

void rf_engine_close(struct rf_engine *engine)
{
    if (engine == NULL)
        return;
    if (engine->ops->release != NULL)
        engine->ops->release(engine->state);
    free_engine(engine);
}

rf_status rf_engine_report(const struct rf_engine *engine, const struct rf_sink *sink)
{
    return engine->ops->report(engine->state, sink);
}

size_t rf_engine_items(const struct rf_engine *engine)
{
    return engine->ops->items != NULL ? engine->ops->items(engine->state) : 0;
}

bool rf_engine_knows_items(const struct rf_engine *engine)
{
    return engine->ops->items != NULL;
}

bool rf_engine_starts_anew(void *state, uint64_t n)
{
    (void)state;
    (void)n;
    return true;
}

rf_status rf_engine_report_figures(const struct rf_sink *sink, const struct rf_figure *figures,
                                   size_t n)
{
    rf_status status = RF_OK;
    for (size_t i = 0; sink->figure != NULL && status == RF_OK && i < n; i++)
        status = sink->figure(sink->context, &figures[i]);
    return status;
}

rf_status rf_engine_pass_item(void *context, const struct rf_item *item)
{
    const struct rf_sink *sink = *(const struct rf_sink *const *)context;
    return sink->item(sink->context, item);
}

rf_status rf_engine_pass_figure(void *context, const struct rf_figure *figure)
{
    return rf_engine_report_figures(*(const struct rf_sink *const *)context, figure, 1);
}

/* A sink that gets each report together with how many intervals in a row it stands for. */
struct repeated {
    const struct rf_sink *sink;
    uint64_t times;
};

static rf_status repeated_end(void *context, const struct rf_summary *summary)
{
    const struct repeated *repeated = context;
    struct rf_summary all = *summary;
    all.repeats = repeated->times;
    return repeated->sink->end(repeated->sink->context, &all);
}

/* End the current interval and `times` - 1 more that are equal to it. */
static rf_status end_intervals(struct rf_engine *engine, uint64_t times, struct rf_error *error)
{
    if (engine->intervals != NULL) {
        struct repeated repeated = {engine->intervals, times};
        const struct rf_sink sink = {rf_engine_pass_item, rf_engine_pass_figure, repeated_end,
                                     &repeated};
        rf_status status = rf_engine_report(engine, &sink);
        if (status != RF_OK)
            return rf_fail(error, status, "engine '%s': an interval's items could not be kept: %s",
                           engine->ops->name, rf_status_text(status));
    }
    engine->ops->end_interval(engine->state);
    engine->inside = 0;
    engine->length = interval_length(engine);
    return RF_OK;
}

rf_status rf_engine_end_interval(struct rf_engine *engine, struct rf_error *error)
{
    return engine->inside == 0 ? RF_OK : end_intervals(engine, 1, error);
}

/* The state is full: the interval ends early. */
static rf_status end_full_interval(struct rf_engine *engine, struct rf_error *error)
{
    engine->is_full = true;
    rf_status status = rf_engine_end_interval(engine, error);
    engine->is_full = false;
    return status;
}

int rf_engine_is_full(const struct rf_engine *engine)
{
    return engine->is_full;
}

static rf_status explain(const struct rf_engine *engine, rf_status status, struct rf_error *error)
{
    if (status == RF_OK)
        return RF_OK;
    return rf_fail(error, status, "engine '%s': %s at event %llu; what was counted before stands",
                   engine->ops->name,
                   status == RF_ENOMEM ? "its memory ceiling was reached" : rf_status_text(status),
                   (unsigned long long)engine->events);
}

/* How many of `most` events fit into the current interval. After a merge it may be more than full: then it
 * ends with the next event. */
static uint64_t room(const struct rf_engine *engine, uint64_t most)
{
    if (engine->length == 0)
        return most;
    uint64_t left = engine->inside < engine->length ? engine->length - engine->inside : 1;
    return left < most ? left : most;
}

static rf_status advance(struct rf_engine *engine, uint64_t events, struct rf_error *error)
{
    engine->events += events;
    engine->inside += events;
    if (engine->length != 0 && engine->inside >= engine->length)
        return rf_engine_end_interval(engine, error);
    return RF_OK;
}

static rf_status feed_plain(struct rf_engine *engine, const struct rf_tuple *tuples, size_t n,
                            struct rf_error *error)
{
    while (n > 0) {
        size_t piece = (size_t)room(engine, n), consumed = piece;
        rf_status fed = engine->ops->feed(engine->state, tuples, piece, &consumed);
        rf_status status = advance(engine, consumed, error);
        if (fed != RF_OK)
            return explain(engine, fed, error);
        if (status == RF_OK && consumed < piece)
            status = end_full_interval(engine, error);
        if (status != RF_OK)
            return status;
        tuples += consumed;
        n -= consumed;
    }
    return RF_OK;
}

/* One tuple filled the whole interval, and `left` more of it come. How many of the next intervals are equal to it? */
static uint64_t alike(const struct rf_engine *engine, uint64_t left)
{
    uint64_t more = left / engine->length;
    if (more == 0 || engine->ops->repeat_interval == NULL)
        return 0;
    return engine->ops->repeat_interval(engine->state, more) ? more : 0;
}

static rf_status take_counted(struct rf_engine *engine, struct rf_tuple tuple, uint64_t count,
                              bool *full)
{
    const struct rf_engine_ops *ops = engine->ops;
    const struct rf_tuples one = {&tuple, &count, 1};
    size_t consumed = 1;
    rf_status status = ops->feed_weighted != NULL
                           ? ops->feed_weighted(engine->state, &one, &consumed)
                           : ops->feed_counted(engine->state, tuple, count);
    *full = consumed == 0;
    return status;
}

/* Call the engine once and take what it consumed off *count. *whole counts the intervals that this tuple filled alone. */
static rf_status feed_piece(struct rf_engine *engine, struct rf_tuple tuple, uint64_t *count,
                            unsigned *whole, struct rf_error *error)
{
    uint64_t piece = room(engine, *count), more = 0;
    bool fills = engine->inside == 0 && engine->length != 0 && piece == engine->length, full;
    rf_status status = take_counted(engine, tuple, piece, &full);
    if (status != RF_OK)
        return explain(engine, status, error);
    if (full)
        return end_full_interval(engine, error);
    *count -= piece;
    if (fills) {
        more = alike(engine, *count);
        *count -= more * piece;
        engine->events += (more + 1) * piece;
        engine->inside = piece;
        ++*whole;
        return end_intervals(engine, more + 1, error);
    }
    return advance(engine, piece, error);
}

static rf_status too_many_intervals(const struct rf_engine *engine, uint64_t count,
                                    struct rf_error *error)
{
    return rf_fail(error, RF_EINVAL,
                   "engine '%s': %llu more events of one tuple are more than %u intervals of %llu, "
                   "which cannot be taken at once here; what was counted before stands",
                   engine->ops->name, (unsigned long long)count, (unsigned)INTERVALS_MAX,
                   (unsigned long long)engine->length);
}

/* An engine of sequences gets a count as a run of equal tuples. Beyond RUN_MAX it gets only the number of the rest. */
static rf_status feed_run(struct rf_engine *engine, struct rf_tuple tuple, uint64_t *count,
                          struct rf_error *error)
{
    struct rf_tuple copies[RUN_PIECE];
    rf_status status = RF_OK;
    for (size_t i = 0; i < RUN_PIECE; i++)
        copies[i] = tuple;
    for (uint64_t left = *count < RUN_MAX ? *count : RUN_MAX; left > 0 && status == RF_OK;) {
        size_t n = left < RUN_PIECE ? (size_t)left : RUN_PIECE;
        status = feed_plain(engine, copies, n, error);
        left -= n;
        *count -= n;
    }
    return status;
}

static rf_status feed_counted(struct rf_engine *engine, struct rf_tuple tuple, uint64_t count,
                              struct rf_error *error)
{
    enum {
        UNTIL_ALIKE = 3
    }; /* after this many intervals of one tuple the engine's state may repeat */
    if (count == 1)
        return feed_plain(engine, &tuple, 1, error);
    if (engine->ops->gap != NULL) {
        rf_status status = feed_run(engine, tuple, &count, error);
        if (status != RF_OK)
            return status;
    }
    for (unsigned whole = 0; count > 0;) {
        rf_status status = feed_piece(engine, tuple, &count, &whole, error);
        if (status != RF_OK)
            return status;
        if (whole >= UNTIL_ALIKE && count / engine->length > INTERVALS_MAX)
            return too_many_intervals(engine, count, error);
    }
    return RF_OK;
}

static rf_status check_total(const struct rf_engine *engine, uint64_t more, struct rf_error *error)
{
    if (more <= RF_EVENTS_MAX - engine->events)
        return RF_OK;
    return rf_fail(error, RF_EINVAL,
                   "engine '%s': %llu events after %llu are more than the 2^63 of a stream",
                   engine->ops->name, (unsigned long long)more, (unsigned long long)engine->events);
}

static rf_status check_stop(const struct rf_engine *engine, struct rf_error *error)
{
    if (!rf_stop_is_set(engine->stop))
        return RF_OK;
    return rf_fail(error, RF_ESTOPPED, "stopped after %llu events",
                   (unsigned long long)engine->events);
}

static rf_status feed_one(struct rf_engine *engine, struct rf_tuple tuple, uint64_t count,
                          struct rf_error *error)
{
    rf_status status = check_total(engine, count, error);
    return status == RF_OK ? feed_counted(engine, tuple, count, error) : status;
}

static uint64_t sum(const uint64_t *counts, size_t n)
{
    uint64_t events = 0;
    for (size_t i = 0; i < n; i++)
        events += counts[i];
    return events;
}

/* How many of the first tuples fit, with their whole counts, into the interval and the stream. No count is 0. */
static size_t fitting(const struct rf_engine *engine, const struct rf_tuples *in)
{
    uint64_t left = room(engine, RF_EVENTS_MAX - engine->events);
    size_t n = 0;
    while (n < in->n && in->counts[n] != 0 && in->counts[n] <= left)
        left -= in->counts[n++];
    return n;
}

/* Feed as many as fit in one call. *n is how many the engine took, which may be fewer. */
static rf_status feed_fitting(struct rf_engine *engine, const struct rf_tuples *in, size_t *n,
                              struct rf_error *error)
{
    const struct rf_tuples piece = {in->tuples, in->counts, *n};
    rf_status fed = engine->ops->feed_weighted(engine->state, &piece, n);
    rf_status status = advance(engine, sum(in->counts, *n), error);
    if (fed != RF_OK)
        return explain(engine, fed, error);
    return status == RF_OK && *n < piece.n ? end_full_interval(engine, error) : status;
}

/* Tuples that fill up an interval, or more than one, are fed alone. */
static rf_status feed_weighted(struct rf_engine *engine, const struct rf_tuples *in,
                               struct rf_error *error)
{
    rf_status status = RF_OK;
    for (size_t done = 0, n; done < in->n && status == RF_OK; done += n) {
        const struct rf_tuples rest = {in->tuples + done, in->counts + done, in->n - done};
        n = fitting(engine, &rest);
        status = check_stop(engine, error);
        if (status == RF_OK && n > 0) {
            status = feed_fitting(engine, &rest, &n, error);
        } else if (status == RF_OK) {
            status = feed_one(engine, rest.tuples[0], rest.counts[0], error);
            n = 1;
        }
    }
    return status;
}

rf_status rf_engine_feed(struct rf_engine *engine, const struct rf_tuples *in,
                         struct rf_error *error)
{
    if (in->counts == NULL) {
        rf_status status = check_total(engine, in->n, error);
        return status != RF_OK ? status : feed_plain(engine, in->tuples, in->n, error);
    }
    if (engine->ops->feed_weighted != NULL)
        return feed_weighted(engine, in, error);
    for (size_t i = 0; i < in->n; i++) {
        rf_status status = check_stop(engine, error);
        if (status == RF_OK)
            status = feed_one(engine, in->tuples[i], in->counts[i], error);
        if (status != RF_OK)
            return status;
    }
    return RF_OK;
}

void rf_engine_gap(struct rf_engine *engine)
{
    if (engine->ops->gap != NULL)
        engine->ops->gap(engine->state);
}

int rf_engine_minds_gaps(const struct rf_engine *engine)
{
    return engine->ops->gap != NULL;
}

rf_status rf_engine_merge(struct rf_engine *engine, const struct rf_engine *other,
                          struct rf_error *error)
{
    const struct rf_engine_ops *ops = engine->ops;
    if (ops->merge == NULL)
        return rf_fail(error, RF_ENOTSUP, "engine '%s' cannot merge states", ops->name);
    if (ops != other->ops || engine->seed != other->seed || engine->cut != other->cut ||
        memcmp(engine->config, other->config, ops->config_size) != 0)
        return rf_fail(error, RF_EINVAL,
                       "engine '%s': only engines with the same options and seed can merge",
                       ops->name);
    rf_status status = check_total(engine, other->events, error);
    if (status == RF_OK)
        status = ops->merge(engine->state, other->state, error);
    if (status == RF_OK) {
        engine->events += other->events;
        engine->inside += other->inside;
        engine->length = interval_length(engine);
    }
    return status;
}

size_t rf_engine_print(const struct rf_engine *engine, char *text, size_t size)
{
    return rf_engine_print_config(engine->ops, engine->config, text, size);
}

enum rf_shape rf_engine_shape(const struct rf_engine *engine)
{
    return engine->ops->shape != NULL ? engine->ops->shape(engine->config) : RF_SHAPE_TUPLE;
}

uint64_t rf_engine_events(const struct rf_engine *engine)
{
    return engine->events;
}

size_t rf_engine_memory(const struct rf_engine *engine)
{
    return engine->ops->memory != NULL ? engine->ops->memory(engine->state) : engine->state_size;
}

uint64_t rf_engine_bits(const struct rf_engine *engine)
{
    return engine->ops->bits != NULL ? engine->ops->bits(engine->config) : 0;
}

uint64_t rf_engine_interval(const struct rf_engine *engine)
{
    return engine->length;
}
