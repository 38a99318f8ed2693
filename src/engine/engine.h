/* engine.h - what an engine is made of: a const descriptor, one block of state, batches of tuples.
 *
 *     text --parse--> config --state_size--> block --init--> state
 *                                                              |  feed, feed, feed
 *                                              report <--------+------> end_interval
 *
 * To add an engine: write one file with a `const struct rf_engine_ops rf_NAME`, add it to the list
 * in registry.c, to the property tests (they take it from the registry) and to doc/. Engines make no
 * libc calls but memcpy, memset, memmove and memcmp, and allocate nothing after init; those that
 * must grow (`grows`) do it through the allocator they are handed at init.
 *
 * The wrapper (engine.c) parses options, owns the block, cuts the stream into intervals and counts
 * events, so an engine sees only calls that make sense. */
#ifndef RF_ENGINE_ENGINE_H
#define RF_ENGINE_ENGINE_H

#include <stdbool.h>
#include <riffle/engine.h>

/* What init gets besides its config. */
struct rf_engine_env {
    const struct rf_alloc *alloc; /* for engines that grow; outlives the state */
    uint64_t seed;
    uint64_t interval; /* the caller's cut, 0: none; an option `interval` says the same already */
};

/* A tuple that occurred `count` times, as far as is known. */
static inline struct rf_item rf_item_of_tuple(struct rf_tuple tuple, uint64_t count)
{
    return (struct rf_item){.a = tuple.a,
                            .b = tuple.b,
                            .a_hi = tuple.a,
                            .b_hi = tuple.b,
                            .count = count,
                            .lower = count,
                            .upper = count};
}

struct rf_engine_ops {
    const char *name;
    const char *brief;
    const struct rf_option *options; /* closed by RF_OPTION_END */
    size_t config_size;
    bool grows;
    /* Inside an interval the order of tuples does not matter to it: they may come in any order, and equal ones as one
     * with a count. What is found is the same, or differs within the bounds that it states. false: the order
     * decides what is found, as in the paper, and is kept. */
    bool any_order;

    /* For engines that are not written as name(options): whether the text is theirs, how to read it and how to
     * print it. All three or none. */
    bool (*claims)(const char *text);
    rf_status (*parse)(void *config, const char *text, struct rf_error *error);
    size_t (*print)(const void *config, char *text, size_t size);

    /* Set the options that a word such as "paper" stands for; false for any other word. May be NULL. */
    bool (*preset)(void *config, const char *word);

    /* Called when all options are in: check them against each other. May be NULL. */
    rf_status (*check)(void *config, struct rf_error *error);

    /* What its items are. NULL: tuples. */
    enum rf_shape (*shape)(const void *config);

    size_t (*state_size)(
        const void *config); /* bytes of the block; aligned to 64 when handed over */
    rf_status (*init)(void *state, const void *config, const struct rf_engine_env *env,
                      struct rf_error *error);
    void (*release)(void *state); /* gives back what it grew; NULL: nothing to give back */

    /* `consumed` tells how many tuples went in: equal to n, or fewer when it fails. RF_OK with fewer than n: the
     * state is full. The wrapper then ends the interval, early, and feeds the rest into the next. A fresh interval
     * takes one tuple at least. */
    rf_status (*feed)(void *state, const struct rf_tuple *tuples, size_t n, size_t *consumed);
    /* One tuple that occurred `count` times, in a time that does not grow with the count. */
    rf_status (*feed_counted)(void *state, struct rf_tuple tuple, uint64_t count);
    /* Many such, no count of them 0; `consumed` as for feed. NULL: feed_counted, one by one. */
    rf_status (*feed_weighted)(void *state, const struct rf_tuples *tuples, size_t *consumed);

    /* The next tuple does not follow those before it: a burst of sampling has ended, events were lost. For engines
     * that see sequences; NULL: order does not matter. Such an engine gets a counted tuple as that many tuples, up to
     * a limit; feed_counted is called for the rest, which belongs to no sequence.
     *
     * On the way here from a source: rf_batch.gap, .lost or .ends -> rf_lanes_gap -> rf_profiler_gap -> rf_engine_gap. */
    void (*gap)(void *state);

    /* Length in events of the interval that begins now; 0: endless. NULL: as the caller cuts. */
    uint64_t (*interval)(const void *state);
    /* The interval that is about to end held one tuple and nothing else, and so will the next `n`. Where
     * their reports and the state behind them would all be alike, account for them and return true. NULL:
     * they are never alike. */
    bool (*repeat_interval)(void *state, uint64_t n);
    /* The interval is over and was reported: begin the next. */
    void (*end_interval)(void *state);

    /* What merging means, in a sentence for people: of "states", where `merge` is there (else "states do not merge"), and of
     * "profiles", which all engines have. tests/property/merging.c looks for these words, and holds each engine to them. */
    const char *merging;
    rf_status (*merge)(void *state, const void *other, struct rf_error *error); /* NULL: cannot */
    /* Items of the current interval, then figures, then `end`. */
    rf_status (*report)(const void *state, const struct rf_sink *sink);
    size_t (*items)(const void *state);   /* of that report, about; NULL: few */
    size_t (*memory)(const void *state);  /* NULL: state_size */
    uint64_t (*bits)(const void *config); /* as hardware; NULL: no such form */
};

/* About how many items a report has: who keeps them can make room for all at once. 0: few, or not known. */
size_t rf_engine_items(const struct rf_engine *engine);
bool rf_engine_knows_items(const struct rf_engine *engine); /* false: 0 means nothing */

extern const struct rf_engine_ops *const rf_engine_registry[]; /* closed by NULL */

/* parse.c: between text and config. */
rf_status rf_engine_parse(const struct rf_engine_ops **ops, void *config, size_t config_room,
                          const char *text, struct rf_error *error);
size_t rf_engine_print_config(const struct rf_engine_ops *ops, const void *config, char *text,
                              size_t size);

/* For engines with a notation of their own: read a list of options in parentheses, if one begins at *p; check
 * that nothing is left; print the list. */
rf_status rf_engine_read_options(const struct rf_engine_ops *ops, void *config, const char **p,
                                 struct rf_error *error);
rf_status rf_engine_read_nothing(const struct rf_engine_ops *ops, const char *p,
                                 struct rf_error *error);
size_t rf_engine_print_options(const struct rf_engine_ops *ops, const void *config, char *text,
                               size_t size);

/* What many engines share: `repeat_interval` where every interval starts from nothing, and the figures of a
 * report, if the sink wants any. */
bool rf_engine_starts_anew(void *state, uint64_t n);
rf_status rf_engine_report_figures(const struct rf_sink *sink, const struct rf_figure *figures,
                                   size_t n);
/* For sinks that change the summary alone: they pass items and figures on. The context begins with the sink that gets
 * them, a const struct rf_sink *. */
rf_status rf_engine_pass_item(void *context, const struct rf_item *item);
rf_status rf_engine_pass_figure(void *context, const struct rf_figure *figure);

enum { RF_ENGINE_CONFIG_MAX = 1024 };

#endif
