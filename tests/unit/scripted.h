/* scripted.h - a source made of hand-written batches. */
#ifndef RF_TESTS_UNIT_SCRIPTED_H
#define RF_TESTS_UNIT_SCRIPTED_H

#include "source/source.h"
#include "test.h"

struct scripted {
    struct rf_source base;
    const struct rf_batch *batches;
    size_t n, at;
    rf_status end;
    int *stop; /* raised when the second batch is asked for */
};

static rf_status next(struct rf_source *source, struct rf_batch *batch, struct rf_error *error)
{
    struct scripted *scripted = (struct scripted *)source;
    if (scripted->stop != NULL && scripted->at == 1)
        *scripted->stop = 1;
    if (scripted->at < scripted->n)
        *batch = scripted->batches[scripted->at++];
    else if (scripted->end != RF_OK)
        snprintf(error->message, sizeof error->message, "scripted end");
    return batch->n > 0 || scripted->at < scripted->n ? RF_OK : scripted->end;
}

static void stay(struct rf_source *source)
{
    (void)source;
}

static const struct rf_source_ops ops = {.name = "scripted", .next = next, .close = stay};

static struct scripted script(const struct rf_batch *batches, size_t n)
{
    return (struct scripted){.base = {.ops = &ops}, .batches = batches, .n = n};
}

static const struct rf_tuple six[] = {{1, 1}, {2, 2}, {3, 3}, {4, 4}, {5, 5}, {6, 6}};
static const uint64_t twice[] = {2, 2, 2, 2, 2, 2};

/* The counts of tuples 1 to 6 as digits. */
static void counts_text(const struct rf_profile *profile, char *text)
{
    strcpy(text, "000000");
    for (size_t i = 0; i < profile->n_items; i++)
        text[profile->items[i].a - 1] = (char)('0' + profile->items[i].count);
}

#endif
