/* points.c - the paper's calls for embedders (riffle/rap.h), on the state of the engine rap.
 *
 *     block: struct rf_rap | state of profile 0 | state of profile 1 | ...      each aligned to 64
 */
#include <riffle/rap.h>
#include "engine/rap/rap_engine.h"
#include "base/alloc.h"
#include "base/error.h"
#include <string.h>

struct rf_rap {
    struct rf_alloc alloc;
    size_t size; /* of the whole block */
    size_t profiles;
    size_t stride; /* from one state to the next */
    char *states;
};

enum { ALIGNMENT = 64, TEXT_MAX = 512 };

static size_t aligned(size_t size)
{
    return (size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
}

static struct rf_rap_state *state_of(const struct rf_rap *rap, size_t profile)
{
    return (void *)(rap->states + profile * rap->stride);
}

static rf_status make_block(struct rf_rap **made, size_t profiles,
                            const struct rf_rap_config *config, const struct rf_alloc *alloc,
                            struct rf_error *error)
{
    size_t stride = aligned(rf_rap.state_size(config)), size;
    if (__builtin_mul_overflow(stride, profiles, &size) ||
        __builtin_add_overflow(size, sizeof(struct rf_rap) + ALIGNMENT, &size))
        return rf_fail(error, RF_ENOMEM, "no memory for %zu profiles", profiles);
    struct rf_rap *rap = rf_alloc_zeroed(alloc, size);
    if (rap == NULL)
        return rf_fail(error, RF_ENOMEM, "no memory for %zu profiles of %zu bytes", profiles,
                       stride);
    *rap = (struct rf_rap){*alloc, size, profiles, stride,
                           (char *)aligned((size_t)(uintptr_t)(rap + 1))};
    *made = rap;
    return RF_OK;
}

rf_status rf_rap_init(struct rf_rap **opened, size_t profiles, const char *options,
                      const struct rf_alloc *alloc, struct rf_error *error)
{
    char text[TEXT_MAX];
    const struct rf_engine_ops *ops;
    struct rf_rap_config config;
    struct rf_rap *rap = NULL;
    *opened = NULL;
    size_t n = rf_format(text, sizeof text, "rap(%s)", options != NULL ? options : "");
    if (n >= sizeof text)
        return rf_fail(error, RF_EINVAL, "engine 'rap': options of %zu characters are too long", n);
    rf_status status = rf_engine_parse(&ops, &config, sizeof config, text, error);
    if (status == RF_OK)
        status = make_block(&rap, profiles, &config, rf_alloc_or_standard(alloc), error);
    struct rf_engine_env env = {0};
    for (size_t i = 0; status == RF_OK && i < profiles; i++)
        status = rf_rap.init(state_of(rap, i), &config, &env, error);
    if (status == RF_OK)
        *opened = rap;
    return status;
}

void rf_rap_free(struct rf_rap *rap)
{
    if (rap == NULL)
        return;
    rf_alloc_free(&rap->alloc, rap, rap->size);
}

void rf_rap_add_pairs(struct rf_rap *rap, uint64_t a, uint64_t b, uint64_t count, size_t profile)
{
    struct rf_rap_state *state = state_of(rap, profile);
    struct rf_tuple tuple = {a, b};
    size_t consumed;
    if (count == 1)
        rf_rap.feed(state, &tuple, 1, &consumed);
    else
        rf_rap.feed_counted(state, tuple, count);
}

void rf_rap_add_points(struct rf_rap *rap, uint64_t identifier, uint64_t count, size_t profile)
{
    rf_rap_add_pairs(rap, identifier, identifier, count, profile);
}

void rf_rap_query_pairs(const struct rf_rap *rap, size_t profile, uint64_t a, uint64_t a_hi,
                        uint64_t b, uint64_t b_hi, struct rf_rap_answer *answer)
{
    const struct rf_rap_state *state = state_of(rap, profile);
    struct rf_rap_bounds bounds = rf_rap_query_state(state, (struct rf_rap_box){a, a_hi, b, b_hi});
    *answer = (struct rf_rap_answer){bounds.lower, bounds.upper, rf_rap_events(state)};
}

void rf_rap_query(const struct rf_rap *rap, size_t profile, uint64_t lo, uint64_t hi,
                  struct rf_rap_answer *answer)
{
    rf_rap_query_pairs(rap, profile, lo, hi, 0, UINT64_MAX, answer);
}

rf_status rf_rap_finalize(const struct rf_rap *rap, size_t profile, const struct rf_sink *sink)
{
    return rf_rap.report(state_of(rap, profile), sink);
}

size_t rf_rap_memory(const struct rf_rap *rap)
{
    return rap->size;
}
