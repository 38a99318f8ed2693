/* csv.c - one line an item, for tools; the contract is in riffle/report.h.
 *
 * A run of several profiles gives several tables, an empty line between two. */
#include "report/report.h"
#include <inttypes.h>

static const char *const headers[] = {
    [RF_SHAPE_TUPLE] = "a,b,count,lower,upper",
    [RF_SHAPE_RANGE_A] = "lo,hi,count,total",
    [RF_SHAPE_RANGE_B] = "lo,hi,count,total",
    [RF_SHAPE_RECTANGLE] = "a_lo,a_hi,b_lo,b_hi,count,total",
    [RF_SHAPE_STREAM] = "stream,length,position,a,b,count,lower,upper",
};

static void write_item(FILE *out, const struct rf_report_table *table, size_t i)
{
    const struct rf_item *item = &table->items[i];
    switch (table->profile->shape) {
    case RF_SHAPE_STREAM:
        fprintf(out, "0x%" PRIx64 ",%" PRIu32 ",%" PRIu32 ",", item->a_hi, rf_stream_length(item),
                rf_stream_position(item));
        /* fall through */
    case RF_SHAPE_TUPLE:
        fprintf(out, "0x%" PRIx64 ",0x%" PRIx64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n", item->a,
                item->b, item->count, item->lower, item->upper);
        break;
    case RF_SHAPE_RANGE_A:
        fprintf(out, "0x%" PRIx64 ",0x%" PRIx64 ",%" PRIu64 ",%" PRIu64 "\n", item->a, item->a_hi,
                item->count, table->totals[i]);
        break;
    case RF_SHAPE_RANGE_B:
        fprintf(out, "0x%" PRIx64 ",0x%" PRIx64 ",%" PRIu64 ",%" PRIu64 "\n", item->b, item->b_hi,
                item->count, table->totals[i]);
        break;
    default:
        fprintf(out, "0x%" PRIx64 ",0x%" PRIx64 ",0x%" PRIx64 ",0x%" PRIx64, item->a, item->a_hi,
                item->b, item->b_hi);
        fprintf(out, ",%" PRIu64 ",%" PRIu64 "\n", item->count, table->totals[i]);
        break;
    }
}

static rf_status write_table(FILE *out, const struct rf_profile *profile,
                             const struct rf_report_setup *setup, size_t i)
{
    struct rf_report_table table;
    rf_status status = rf_report_table_open(&table, profile, setup, i);
    if (status != RF_OK)
        return status;
    for (size_t k = 0; k < table.shown && !ferror(out); k++) {
        if (setup->per_interval)
            fprintf(out, "%zu,", table.interval);
        write_item(out, &table, k);
    }
    rf_report_table_close(&table);
    return RF_OK;
}

static rf_status write_profile(FILE *out, const struct rf_profile *profile,
                               const struct rf_report_setup *setup)
{
    size_t n;
    rf_status status = rf_report_table_count(profile, setup, &n);
    if (status != RF_OK)
        return status;
    if (profile->shape > RF_SHAPE_STREAM)
        return RF_ENOTSUP;
    fprintf(out, "%s%s\n", setup->per_interval ? "interval," : "", headers[profile->shape]);
    for (size_t i = 0; i < n && status == RF_OK; i++)
        status = write_table(out, profile, setup, i);
    return status;
}

static rf_status write_run(FILE *out, const struct rf_run *run, const struct rf_report_setup *setup)
{
    for (size_t i = 0; i < run->n_profiles; i++) {
        if (i > 0)
            fputc('\n', out);
        rf_status status = write_profile(out, run->profiles[i], setup);
        if (status != RF_OK)
            return status;
    }
    return rf_report_end(out);
}

const struct rf_report_form rf_report_csv = {
    .name = "csv",
    .brief = "one line an item, for tools",
    .write = write_run,
};
