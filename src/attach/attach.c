/* attach.c - the sampler as a source: bursts of records. */
#include <riffle/attach.h>
#include "attach/sampler.h"
#include "base/alloc.h"
#include "base/error.h"
#include "source/source.h"

struct attach {
    struct rf_source base;
    struct rf_sampler *sampler;
};

static rf_status next(struct rf_source *source, struct rf_batch *batch, struct rf_error *error)
{
    struct attach *attach = (struct attach *)source;
    const struct rf_catch *taken;
    (void)error;
    if (!rf_sampler_take(attach->sampler, &taken)) {
        rf_sampler_stop(attach->sampler);
        return RF_OK;
    }
    batch->records = taken->records;
    batch->n = taken->n;
    batch->ends = taken->ends;
    batch->n_ends = taken->n_ends;
    batch->bursts = taken->bursts;
    batch->uncounted = 1;
    return RF_OK;
}

static rf_status modules(struct rf_source *source, const struct rf_module **list, size_t *n)
{
    struct attach *attach = (struct attach *)source;
    rf_sampler_stop(attach->sampler);
    *list = rf_sampler_modules(attach->sampler)->list;
    *n = rf_sampler_modules(attach->sampler)->n;
    return RF_OK;
}

static void close_attach(struct rf_source *source)
{
    struct attach *attach = (struct attach *)source;
    const struct rf_alloc alloc = source->alloc;
    rf_sampler_close(attach->sampler);
    rf_alloc_free(&alloc, attach, sizeof *attach);
}

static const struct rf_source_ops ops = {
    .name = "attach", .next = next, .modules = modules, .close = close_attach};

rf_status rf_source_open_attach(struct rf_source **source, const struct rf_attach_setup *setup,
                                struct rf_error *error)
{
    struct attach *attach = rf_source_new(&ops, sizeof *attach, setup->alloc);
    *source = NULL;
    if (attach == NULL)
        return rf_fail(error, RF_ENOMEM, "no memory to attach");
    rf_status status = rf_sampler_open(&attach->sampler, setup, error);
    if (status == RF_OK)
        *source = &attach->base;
    else
        rf_alloc_free(&attach->base.alloc, attach, sizeof *attach);
    return status;
}

void rf_attach_outcome(const struct rf_source *source, struct rf_attach_outcome *outcome)
{
    rf_sampler_outcome(((const struct attach *)source)->sampler, outcome);
}
