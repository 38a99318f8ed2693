/* csv.c - one line per item, for tools; riffle/report.h says what they can rely on.
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

static void write_word(FILE *out, const char *column, uint64_t word)
{
    char text[RF_REPORT_NUMBER_MAX];
    rf_report_word(text, sizeof text, column, word);
    fprintf(out, "%s,", text);
}

static void write_ends(FILE *out, const char *column, uint64_t lo, uint64_t hi)
{
    write_word(out, column, lo);
    write_word(out, column, hi);
}

static void write_tuple(FILE *out, const struct rf_columns *columns, const struct rf_item *item)
{
    write_word(out, columns->a.name, item->a);
    write_word(out, columns->b.name, item->b);
    fprintf(out, "%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n", item->count, item->lower, item->upper);
}

static void write_box(FILE *out, const struct rf_report_table *table,
                      const struct rf_columns *columns, size_t i)
{
    enum rf_shape shape = table->profile->shape;
    const struct rf_item item = rf_report_item(columns, &table->items[i]);
    if (shape != RF_SHAPE_RANGE_B)
        write_ends(out, columns->a.name, item.a, item.a_hi);
    if (shape != RF_SHAPE_RANGE_A)
        write_ends(out, columns->b.name, item.b, item.b_hi);
    fprintf(out, "%" PRIu64 ",%" PRIu64 "\n", item.count, table->totals[i]);
}

static void write_item(FILE *out, const struct rf_report_table *table,
                       const struct rf_columns *columns, size_t i)
{
    const struct rf_item *item = &table->items[i];
    if (table->profile->shape == RF_SHAPE_STREAM)
        fprintf(out, "0x%" PRIx64 ",%" PRIu32 ",%" PRIu32 ",", item->a_hi, rf_stream_length(item),
                rf_stream_position(item));
    if (rf_shape_has_tuples(table->profile->shape))
        write_tuple(out, columns, item);
    else
        write_box(out, table, columns, i);
}

static rf_status write_table(FILE *out, const struct rf_profile *profile,
                             const struct rf_report_setup *setup, size_t i)
{
    struct rf_report_table table;
    rf_status status = rf_report_table_open(&table, profile, setup, i);
    if (status != RF_OK)
        return status;
    struct rf_columns columns;
    rf_report_table_columns(&columns, profile);
    for (size_t k = 0; k < table.shown && !ferror(out); k++) {
        if (setup->per_interval)
            fprintf(out, "%zu,", table.interval);
        write_item(out, &table, &columns, k);
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
    .brief = "one line per item, for tools",
    .write = write_run,
};
