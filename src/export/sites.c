/* sites.c - costs by instruction, as the view by pc has them. */
#include "export/export.h"
#include <riffle/view.h>

static rf_status prepare(const struct rf_export_sites *sites, const struct rf_export *export)
{
    size_t size = sites->n * sizeof(uint64_t);
    uint64_t *words = sites->n > 0 ? rf_alloc_get(&export->alloc, size) : NULL;
    if (words == NULL)
        return sites->n > 0 ? RF_ENOMEM : RF_OK;
    for (size_t i = 0; i < sites->n; i++)
        words[i] = sites->at[i].word;
    rf_status status = rf_export_prepare(export, words, sites->n);
    rf_alloc_free(&export->alloc, words, size);
    return status;
}

static void copy(struct rf_export_sites *sites, const struct rf_view *view)
{
    for (size_t i = 0; i < view->n_rows; i++)
        sites->at[i] = (struct rf_export_site){
            .word = rf_view_cell(view, i, RF_COLUMN_WORD)->number,
            .count = rf_view_cell(view, i, RF_COLUMN_COUNT)->number,
            .lower = rf_view_cell(view, i, RF_COLUMN_LOWER)->number,
            .upper = rf_view_cell(view, i, RF_COLUMN_UPPER)->number,
        };
}

rf_status rf_export_sites_open(struct rf_export_sites *sites, const struct rf_export *export,
                               const struct rf_profile *profile)
{
    const struct rf_view_setup setup = {.by = RF_BY_PC, .sort = RF_SORT_ADDRESS};
    struct rf_view view;
    *sites = (struct rf_export_sites){.n = 0};
    rf_status status = rf_view_open(&view, export->run, profile, &setup, export->error);
    if (status != RF_OK)
        return status;
    if (view.n_rows > 0)
        sites->at = rf_alloc_get(&export->alloc, view.n_rows * sizeof *sites->at);
    if (sites->at != NULL) {
        sites->n = view.n_rows;
        copy(sites, &view);
    } else if (view.n_rows > 0) {
        status = RF_ENOMEM;
    }
    sites->bound = view.bound;
    rf_view_close(&view);
    if (status == RF_OK)
        status = prepare(sites, export);
    if (status != RF_OK)
        rf_export_sites_close(sites, export);
    return status;
}

void rf_export_sites_close(struct rf_export_sites *sites, const struct rf_export *export)
{
    rf_alloc_free(&export->alloc, sites->at, sites->n * sizeof *sites->at);
    *sites = (struct rf_export_sites){.n = 0};
}
